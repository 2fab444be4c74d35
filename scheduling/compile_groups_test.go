package scheduling

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

func zoneSpread(edit ...func(*corev1.TopologySpreadConstraint)) corev1.TopologySpreadConstraint {
	s := corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: "DoNotSchedule",
		LabelSelector: selects("app", "web")}
	for _, e := range edit {
		e(&s)
	}
	return s
}

func antiTerm(edit ...func(*corev1.PodAffinityTerm)) corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: selects("app", "web")}
	for _, e := range edit {
		e(&t)
	}
	return t
}

// stating returns two pods of different sizes, app and version that state what give says.
func stating(give func(p *corev1.Pod, second bool)) *Problem {
	p := &Problem{Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}}}
	for i, cpu := range []string{"1", "2"} {
		pod := testPod("shop", fmt.Sprintf("web-%d", i+1), list("cpu", cpu))
		pod.Labels = map[string]string{"app": "web", "version": fmt.Sprint(i + 1)}
		give(pod, i == 1)
		p.Pods = append(p.Pods, pod)
	}
	return p
}

// Constraints that agree in content are one group, whatever their pods differ in otherwise.
func TestGroupIdentity(t *testing.T) {
	spreads := func(first, second corev1.TopologySpreadConstraint) func(*corev1.Pod, bool) {
		return func(p *corev1.Pod, is bool) {
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{first}
			if is {
				p.Spec.TopologySpreadConstraints[0] = second
			}
		}
	}
	antis := func(first, second corev1.PodAffinityTerm) func(*corev1.Pod, bool) {
		return func(p *corev1.Pod, is bool) {
			terms := []corev1.PodAffinityTerm{first}
			if is {
				terms[0] = second
			}
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
		}
	}
	type tsc = corev1.TopologySpreadConstraint
	type term = corev1.PodAffinityTerm
	inApp := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "In", Values: []string{"web", "web"}}}}
	honor, ignore := ptr(corev1.NodeInclusionPolicyHonor), ptr(corev1.NodeInclusionPolicyIgnore)
	tests := []struct {
		name, reason string
		give         func(*corev1.Pod, bool)
		want         int
	}{
		{"same spread", "sizes of pods are no matter of it", spreads(zoneSpread(), zoneSpread()), 1},
		{"maxSkew", "the bound", spreads(zoneSpread(), zoneSpread(func(s *tsc) { s.MaxSkew = 2 })), 2},
		{"minDomains", "the reference forgets it", spreads(zoneSpread(), zoneSpread(func(s *tsc) { s.MinDomains = ptr(int32(5)) })), 2},
		{"minDomains 1", "is the default", spreads(zoneSpread(), zoneSpread(func(s *tsc) { s.MinDomains = ptr(int32(1)) })), 1},
		{"key", "other domains", spreads(zoneSpread(), zoneSpread(func(s *tsc) { s.TopologyKey = CapacityTypeLabel })), 2},
		{"old spelling of the key", "nodes have one label", spreads(zoneSpread(), zoneSpread(func(s *tsc) { s.TopologyKey = corev1.LabelFailureDomainBetaZone })), 1},
		{"spelling of the selector", "In with one value is equality", spreads(zoneSpread(), zoneSpread(func(s *tsc) { s.LabelSelector = inApp })), 1},
		{"nil selector", "selects nothing, not everything", spreads(zoneSpread(func(s *tsc) { s.LabelSelector = nil }),
			zoneSpread(func(s *tsc) { s.LabelSelector = selects() })), 2},
		{"matchLabelKeys", "each revision counts its own", spreads(zoneSpread(func(s *tsc) { s.MatchLabelKeys = []string{"version"} }),
			zoneSpread(func(s *tsc) { s.MatchLabelKeys = []string{"version"} })), 2},
		{"matchLabelKeys in the selector already", "newer API servers merge them in", spreads(zoneSpread(func(s *tsc) { s.MatchLabelKeys = []string{"app"} }), zoneSpread()), 1},
		{"soft", "a preference is another rule", spreads(zoneSpread(), zoneSpread(func(s *tsc) { s.WhenUnsatisfiable = "ScheduleAnyway" })), 2},
		{"policies without effect", "no node is left out", spreads(zoneSpread(func(s *tsc) { s.NodeAffinityPolicy, s.NodeTaintsPolicy = ignore, honor }), zoneSpread()), 1},
		{"affinity policy", "the second pod counts on few nodes only", func(p *corev1.Pod, is bool) {
			p.Spec.TopologySpreadConstraints = []tsc{zoneSpread()}
			if is {
				p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "us-east-1a"}
			}
		}, 2},
		{"affinity policy Ignore", "node selectors do not matter then", func(p *corev1.Pod, is bool) {
			p.Spec.TopologySpreadConstraints = []tsc{zoneSpread(func(s *tsc) { s.NodeAffinityPolicy = ignore })}
			if is {
				p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "us-east-1a"}
			}
		}, 1},
		{"tolerations", "taints are ignored by default", func(p *corev1.Pod, is bool) {
			p.Spec.TopologySpreadConstraints = []tsc{zoneSpread()}
			if is {
				p.Spec.Tolerations = []corev1.Toleration{{Operator: "Exists"}}
			}
		}, 1},
		{"namespace of a spread", "only pods of its own count", func(p *corev1.Pod, is bool) {
			p.Spec.TopologySpreadConstraints = []tsc{zoneSpread()}
			if is {
				p.Namespace = "ops"
			}
		}, 2},
		{"same anti-affinity", "one rule", antis(antiTerm(), antiTerm()), 1},
		{"own namespace by name", "what it means without a list", antis(antiTerm(), antiTerm(func(t *term) { t.Namespaces = []string{"shop"} })), 1},
		{"more namespaces", "others count", antis(antiTerm(), antiTerm(func(t *term) { t.Namespaces = []string{"shop", "ops"} })), 2},
		{"order of namespaces", "means nothing", antis(antiTerm(func(t *term) { t.Namespaces = []string{"ops", "shop"} }),
			antiTerm(func(t *term) { t.Namespaces = []string{"shop", "ops"} })), 1},
		{"all namespaces", "an empty selector, whatever the list", antis(antiTerm(func(t *term) { t.NamespaceSelector = selects() }),
			antiTerm(func(t *term) { t.NamespaceSelector, t.Namespaces = selects(), []string{"ops"} })), 1},
		{"namespaceSelector", "chooses by labels", antis(antiTerm(func(t *term) { t.NamespaceSelector = selects("team", "a") }),
			antiTerm(func(t *term) { t.NamespaceSelector = selects("team", "b") })), 2},
		{"mismatchLabelKeys", "each pod wants to be away from others", antis(antiTerm(func(t *term) { t.MismatchLabelKeys = []string{"version"} }),
			antiTerm(func(t *term) { t.MismatchLabelKeys = []string{"version"} })), 2},
		{"mismatchLabelKeys nobody has", "are ignored", antis(antiTerm(func(t *term) { t.MismatchLabelKeys = []string{"colour"} }), antiTerm()), 1},
	}
	for _, tt := range tests {
		c := compiled(t, stating(tt.give), nil)
		if len(c.model.Groups) != tt.want {
			t.Errorf("%s (%s): %d groups, want %d:\n%s", tt.name, tt.reason, len(c.model.Groups), tt.want, modelText(c))
		}
	}
}

// The required affinity terms of a pod count the pods that match all of them.
func TestAffinitySets(t *testing.T) {
	pod := func(name string, terms ...corev1.PodAffinityTerm) *corev1.Pod {
		p := testPod("shop", name, list("cpu", "1"))
		p.Labels = map[string]string{"app": name[:3], "tier": name[len(name)-1:]}
		if terms != nil {
			p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
		}
		return p
	}
	term := func(key string, pairs ...string) corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: selects(pairs...)}
	}
	zone, host := corev1.LabelTopologyZone, corev1.LabelHostname
	p := &Problem{Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}}, Pods: []*corev1.Pod{
		pod("web-1"), pod("web-2"), pod("api-1"),
		pod("one-x", term(zone, "app", "web")),
		pod("two-x", term(zone, "app", "web"), term(host, "tier", "1")),
		pod("two-y", term(host, "tier", "1"), term(zone, "app", "web")),
		pod("bis-x", term(zone, "app", "web"), term(zone, "tier", "1")),
	}}
	c := compiled(t, p, nil)
	want := map[string][]string{
		"one-x": {"pod affinity over topology.kubernetes.io/zone set # of [web-1 web-2]"},
		"two-x": {"pod affinity over kubernetes.io/hostname set # of [web-1]", "pod affinity over topology.kubernetes.io/zone set # of [web-1]"},
		"two-y": {"pod affinity over kubernetes.io/hostname set # of [web-1]", "pod affinity over topology.kubernetes.io/zone set # of [web-1]"},
		"bis-x": {"pod affinity over topology.kubernetes.io/zone set # of [web-1]"},
	}
	owns := map[string][]int32{}
	for i := range c.classes {
		name := podNames(c, &c.classes[i])[0]
		owns[name] = c.model.Classes[i].Owns
		var got []string
		for _, g := range owns[name] {
			text := groupText(c, g)
			got = append(got, strings.Replace(text, fmt.Sprintf("set %d", c.model.Groups[g].Set), "set #", 1))
		}
		slices.Sort(got)
		if !slices.Equal(got, want[name]) {
			t.Errorf("%s owns %q, want %q", name, got, want[name])
		}
	}
	if !slices.Equal(owns["two-x"], owns["two-y"]) {
		t.Errorf("terms in another order are another set: %v and %v", owns["two-x"], owns["two-y"])
	}
	if c.model.Sets != 3 {
		t.Errorf("%d sets, want 3", c.model.Sets)
	}
}

// Running pods keep others away and are counted, unless they are finished or on their way out.
func TestRunningPodsInGroups(t *testing.T) {
	running := func(name string, edit func(*corev1.Pod)) *corev1.Pod {
		p := testPod("shop", name, list("cpu", "1"))
		p.Labels = map[string]string{"app": "web"}
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{zoneSpread()}
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{antiTerm(func(t *corev1.PodAffinityTerm) { t.LabelSelector = selects("app", "new") })}}}
		edit(p)
		return p
	}
	pending := testPod("shop", "new-1", list("cpu", "1"))
	c := compiled(t, &Problem{Pods: []*corev1.Pod{pending}, Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}}, Nodes: []Node{{Name: "n", Pods: []*corev1.Pod{
		running("old-1", func(*corev1.Pod) {}), running("old-2", func(*corev1.Pod) {}),
		running("old-3", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }),
		running("old-4", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
		running("api-1", func(p *corev1.Pod) { p.Labels["app"], p.Spec.Affinity = "api", nil }),
	}}}}, nil)
	if len(c.model.Groups) != 1 || groupText(c, 0) != "pod anti-affinity over kubernetes.io/hostname of [new-1]" {
		t.Fatalf("groups are wrong:\n%s", modelText(c))
	}
	content := c.space.Nodes[0].Content
	if len(content) != 2 || content[0].Count != 2 || content[1].Count != 1 {
		t.Fatalf("content is %+v, want two of one class and one of another", content)
	}
	old, api := c.model.Classes[content[0].Class], c.model.Classes[content[1].Class]
	if !slices.Equal(old.Owns, []int32{0}) || len(api.Owns) > 0 || !slices.Equal(c.model.Classes[0].In, []int32{0}) {
		t.Errorf("links are %+v, %+v and %+v", old, api, c.model.Classes[0])
	}
}

// The index finds what looking at every class with Kubernetes' own selectors finds.
func TestSelectorsAgainstKubernetes(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		pick := func(all ...string) string { return all[r.IntN(len(all))] }
		key := func() string { return pick("app", "tier", "x.io/rev", "bad key") }
		value := func() string { return pick("a", "b", "c", "", "-") }
		randomLabels := func() map[string]string {
			out := map[string]string{}
			for range r.IntN(4) {
				out[key()] = value()
			}
			return out
		}
		selector := func() *metav1.LabelSelector {
			if r.IntN(8) == 0 {
				return nil
			}
			s := &metav1.LabelSelector{}
			if r.IntN(2) == 0 {
				s.MatchLabels = randomLabels()
			}
			for range r.IntN(3) {
				q := metav1.LabelSelectorRequirement{Key: key(), Operator: metav1.LabelSelectorOperator(pick("In", "NotIn", "Exists", "DoesNotExist", "Gt"))}
				for range r.IntN(3) {
					q.Values = append(q.Values, value())
				}
				s.MatchExpressions = append(s.MatchExpressions, q)
			}
			return s
		}
		p := &Problem{Namespaces: map[string]map[string]string{"n1": {"team": "a"}, "n2": {"team": "b"}, "n3": {}}}
		for i := range 40 {
			pod := testPod(pick("n1", "n2", "n3", "n4"), fmt.Sprintf("pod-%d", i), list("cpu", fmt.Sprint(i+1)))
			pod.Labels = randomLabels()
			p.Pods = append(p.Pods, pod)
		}
		c := newCompiler(p, &Options{})
		for i, pod := range p.Pods {
			c.classes = append(c.classes, class{pod: pod, pods: []int32{int32(i)}})
		}
		c.constraints = make([]constraint, 1)
		x, index := newSelectors(0), newClassIndex(p.Namespaces, p.Pods)
		for range 30 {
			owner := p.Pods[r.IntN(len(p.Pods))]
			term := corev1.PodAffinityTerm{LabelSelector: selector(), MatchLabelKeys: []string{key()}}
			if r.IntN(2) == 0 {
				term.MismatchLabelKeys = []string{key()}
			}
			if r.IntN(2) == 0 {
				term.Namespaces = []string{pick("n1", "n4"), "n2"}
			}
			if r.IntN(3) == 0 {
				term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": pick("a", "b", "c")}}
			} else if r.IntN(4) == 0 {
				term.NamespaceSelector = &metav1.LabelSelector{}
			}
			got := index.find(x.of(term.LabelSelector, owner, term.MatchLabelKeys, term.MismatchLabelKeys), x.namespacesOf(owner, &term))
			var want []int32
			for i, pod := range p.Pods {
				if selectedBy(p, &term, owner, pod) {
					want = append(want, int32(i))
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: %+v of %v selects %v, want %v", seed, term, owner.Labels, got, want)
			}
		}
	}
}

// selectedBy decides as kube-scheduler does, with its own selectors.
func selectedBy(p *Problem, t *corev1.PodAffinityTerm, owner, pod *corev1.Pod) bool {
	spaces, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector)
	if err != nil {
		spaces = labels.Nothing()
	}
	in := slices.Contains(t.Namespaces, pod.Namespace) || t.NamespaceSelector != nil && spaces.Matches(labels.Set(p.Namespaces[pod.Namespace])) ||
		len(t.Namespaces) == 0 && t.NamespaceSelector == nil && pod.Namespace == owner.Namespace
	sel, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil || !in || !sel.Matches(labels.Set(pod.Labels)) {
		return false
	}
	for _, k := range t.MatchLabelKeys {
		if v, ok := owner.Labels[k]; ok {
			if have, has := pod.Labels[k]; !has || have != v {
				return false
			}
		}
	}
	for _, k := range t.MismatchLabelKeys {
		if v, ok := owner.Labels[k]; ok {
			if have, has := pod.Labels[k]; has && have == v {
				return false
			}
		}
	}
	return true
}
