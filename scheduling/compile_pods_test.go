package scheduling

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// compiled compiles the problem.
func compiled(t testing.TB, p *Problem, opts *Options) *compiler {
	t.Helper()
	if opts == nil {
		opts = &Options{}
	}
	c := newCompiler(p, opts)
	if err := c.compile(); err != nil {
		t.Fatal(err)
	}
	return c
}

func selects(pairs ...string) *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		s.MatchLabels[pairs[i]] = pairs[i+1]
	}
	return s
}

// zoneTypes are two types in three zones.
func zoneTypes() []*InstanceType {
	var out []*InstanceType
	for _, name := range []string{"small", "large"} {
		it := testType(name, map[string]string{"small": "4", "large": "16"}[name], "32Gi", "1", "0.5")
		it.Requirements = slices.DeleteFunc(it.Requirements, func(r Requirement) bool { return r.Key == corev1.LabelTopologyZone })
		for _, o := range it.Offerings[:2:2] {
			o.Zone, o.Labels = "us-east-1c", nil
			it.Offerings = append(it.Offerings, o)
		}
		out = append(out, it)
	}
	return out
}

// fullPod has one of everything that constrains pods.
func fullPod(name string) *corev1.Pod {
	p := testPod("shop", name, list("cpu", "1"))
	p.Labels = map[string]string{"app": "web", "tier": "front", "version": "7", "group": "g"}
	s := &p.Spec
	s.Priority = ptr(int32(5))
	s.NodeSelector = map[string]string{corev1.LabelArchStable: "amd64"}
	s.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: "Exists"}}
	s.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr("train")}
	s.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}}
	s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
		{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: "DoNotSchedule", LabelSelector: selects("app", "web"),
			MinDomains: ptr(int32(2)), MatchLabelKeys: []string{"version"}},
		{MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: "ScheduleAnyway", LabelSelector: selects("app", "web")},
	}
	term := func() corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{TopologyKey: corev1.LabelTopologyZone, LabelSelector: selects("app", "web")}
	}
	s.Affinity = &corev1.Affinity{
		NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
			{Weight: 3, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: corev1.LabelTopologyZone, Operator: "In", Values: []string{"us-east-1a"}}}}}}},
		PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  []corev1.PodAffinityTerm{term()},
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 10, PodAffinityTerm: term()}},
		},
		PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  []corev1.PodAffinityTerm{term()},
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 20, PodAffinityTerm: term()}},
		},
	}
	return p
}

func TestClassesTellPodsApart(t *testing.T) {
	spread := func(p *corev1.Pod, i int) *corev1.TopologySpreadConstraint {
		return &p.Spec.TopologySpreadConstraints[i]
	}
	with := func(p *corev1.Pod) *corev1.PodAffinityTerm {
		return &p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
	}
	without := func(p *corev1.Pod) *corev1.PodAffinityTerm {
		return &p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
	}
	softWith := func(p *corev1.Pod) *corev1.WeightedPodAffinityTerm {
		return &p.Spec.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0]
	}
	softWithout := func(p *corev1.Pod) *corev1.WeightedPodAffinityTerm {
		return &p.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0]
	}
	tests := []struct {
		name   string
		change func(p *corev1.Pod)
		same   bool
	}{
		{"nothing", func(*corev1.Pod) {}, true},
		{"a label that nobody reads", func(p *corev1.Pod) { p.Labels["colour"] = "red" }, true},
		{"a label that a selector reads", func(p *corev1.Pod) { p.Labels["app"] = "api" }, false},
		{"a label that is missing", func(p *corev1.Pod) { delete(p.Labels, "app") }, false},
		{"a label of matchLabelKeys", func(p *corev1.Pod) { p.Labels["version"] = "8" }, false},
		{"namespace", func(p *corev1.Pod) { p.Namespace = "ops" }, false},
		{"annotation", func(p *corev1.Pod) { p.Annotations = map[string]string{"a": "b"} }, true},
		{"priority", func(p *corev1.Pod) { p.Spec.Priority = ptr(int32(6)) }, false},
		{"gang", func(p *corev1.Pod) { p.Spec.SchedulingGroup.PodGroupName = ptr("other") }, false},
		{"gang by label", func(p *corev1.Pod) { p.Spec.SchedulingGroup = nil }, false},
		{"host port", func(p *corev1.Pod) { p.Spec.Containers[0].Ports[0].HostPort = 81 }, false},
		{"resource claim", func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} }, false},
		{"maxSkew", func(p *corev1.Pod) { spread(p, 0).MaxSkew = 2 }, false},
		{"minDomains", func(p *corev1.Pod) { spread(p, 0).MinDomains = ptr(int32(3)) }, false},
		{"no minDomains", func(p *corev1.Pod) { spread(p, 0).MinDomains = nil }, false},
		{"minDomains 1 is none", func(p *corev1.Pod) { spread(p, 1).MinDomains = ptr(int32(1)) }, true},
		{"topology key", func(p *corev1.Pod) { spread(p, 0).TopologyKey = "rack" }, false},
		{"hard becomes soft", func(p *corev1.Pod) { spread(p, 0).WhenUnsatisfiable = "ScheduleAnyway" }, false},
		{"nodeAffinityPolicy", func(p *corev1.Pod) { spread(p, 0).NodeAffinityPolicy = ptr(corev1.NodeInclusionPolicyIgnore) }, false},
		{"nodeAffinityPolicy as by default", func(p *corev1.Pod) { spread(p, 0).NodeAffinityPolicy = ptr(corev1.NodeInclusionPolicyHonor) }, true},
		{"nodeTaintsPolicy", func(p *corev1.Pod) { spread(p, 0).NodeTaintsPolicy = ptr(corev1.NodeInclusionPolicyHonor) }, false},
		{"selector of a spread", func(p *corev1.Pod) { spread(p, 0).LabelSelector = selects("app", "web", "tier", "front") }, false},
		{"no selector", func(p *corev1.Pod) { spread(p, 0).LabelSelector = nil }, false},
		{"empty selector", func(p *corev1.Pod) { spread(p, 0).LabelSelector = selects() }, false},
		{"matchLabelKeys of a spread", func(p *corev1.Pod) { spread(p, 0).MatchLabelKeys = nil }, false},
		{"soft spread gone", func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints = p.Spec.TopologySpreadConstraints[:1] }, false},
		{"selector of a soft spread", func(p *corev1.Pod) { spread(p, 1).LabelSelector = selects("app", "api") }, false},
		{"affinity's key", func(p *corev1.Pod) { with(p).TopologyKey = corev1.LabelHostname }, false},
		{"affinity's selector", func(p *corev1.Pod) { with(p).LabelSelector = selects("app", "api") }, false},
		{"affinity's namespaces", func(p *corev1.Pod) { with(p).Namespaces = []string{"ops"} }, false},
		{"affinity's namespaceSelector", func(p *corev1.Pod) { with(p).NamespaceSelector = selects() }, false},
		{"affinity's matchLabelKeys", func(p *corev1.Pod) { with(p).MatchLabelKeys = []string{"version"} }, false},
		{"affinity's mismatchLabelKeys", func(p *corev1.Pod) { with(p).MismatchLabelKeys = []string{"version"} }, false},
		{"anti-affinity's selector", func(p *corev1.Pod) { without(p).LabelSelector = selects("app", "api") }, false},
		{"anti-affinity's mismatchLabelKeys", func(p *corev1.Pod) { without(p).MismatchLabelKeys = []string{"version"} }, false},
		{"weight of an affinity", func(p *corev1.Pod) { softWith(p).Weight = 11 }, false},
		{"preferred affinity", func(p *corev1.Pod) { softWith(p).PodAffinityTerm.LabelSelector = selects("app", "api") }, false},
		{"weight of an anti-affinity", func(p *corev1.Pod) { softWithout(p).Weight = 11 }, false},
		{"preferred anti-affinity", func(p *corev1.Pod) { softWithout(p).PodAffinityTerm.TopologyKey = "rack" }, false},
		{"preference for nodes", func(p *corev1.Pod) {
			p.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].Weight = 4
		}, false},
	}
	for _, tt := range tests {
		a, b := fullPod("web-1"), fullPod("web-2")
		tt.change(b)
		c := compiled(t, &Problem{Pods: []*corev1.Pod{a, b}, Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}}, GangLabels: []string{"group"}}, nil)
		if same := len(c.classes) == 1; same != tt.same {
			t.Errorf("%s: %d classes", tt.name, len(c.classes))
		}
	}
}

func TestSoftConstraintsDoNotMatterWhereTheyAreIgnored(t *testing.T) {
	a, b := fullPod("web-1"), fullPod("web-2")
	b.Spec.TopologySpreadConstraints = b.Spec.TopologySpreadConstraints[:1]
	b.Spec.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = nil
	b.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].Weight = 7
	p := &Problem{Pods: []*corev1.Pod{a, b}, Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}}}
	if c := compiled(t, p, &Options{Preferences: PreferencesIgnore}); len(c.classes) != 1 {
		t.Errorf("%d classes although nobody weighs preferences", len(c.classes))
	}
	p.Pools[0].Preferences = ptr(PreferencesRespect)
	if c := compiled(t, p, &Options{Preferences: PreferencesIgnore}); len(c.classes) != 2 {
		t.Errorf("%d classes although the pool respects preferences", len(c.classes))
	}
}

// A selector that shows up late decides about pods read before it, whoever states it.
func TestLabelsOfLateSelectorsTellPodsApart(t *testing.T) {
	pods := func() []*corev1.Pod {
		var out []*corev1.Pod
		for i := range 40 {
			p := testPod("shop", "web-"+string(rune('a'+i/26))+string(rune('a'+i%26)), list("cpu", "1"))
			p.Labels = map[string]string{"k" + string(rune('a'+i%20)): "v"}
			out = append(out, p)
		}
		return out
	}
	tests := []struct {
		name   string
		reason string
		give   func(p *Problem)
		want   int
	}{
		{"none", "no selector, no labels", func(*Problem) {}, 1},
		{"last pod", "39 pods are read before it", func(p *Problem) {
			p.Pods[39].Spec.TopologySpreadConstraints = fullPod("any").Spec.TopologySpreadConstraints[:1]
			p.Pods[39].Spec.TopologySpreadConstraints[0].LabelSelector = selects("ka", "v")
		}, 3},
		{"many selectors", "each new key starts the reading again, in the end all are looked for first", func(p *Problem) {
			for i := range 20 {
				p.Pods[i].Spec.TopologySpreadConstraints = slices.Clone(fullPod("any").Spec.TopologySpreadConstraints[:1])
				p.Pods[i].Spec.TopologySpreadConstraints[0].LabelSelector = selects("k"+string(rune('a'+i)), "v")
			}
		}, 40},
		{"running pod", "its anti-affinity concerns the others, and a pending pod has a selector of its own", func(p *Problem) {
			running := fullPod("old")
			running.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector = selects("ka", "v")
			p.Nodes = []Node{{Name: "n", Pods: []*corev1.Pod{running}}}
			p.Pods[39].Spec.TopologySpreadConstraints = fullPod("any").Spec.TopologySpreadConstraints[:1]
			p.Pods[39].Spec.TopologySpreadConstraints[0].LabelSelector = selects("kb", "v")
		}, 4},
		{"demand", "it is read apart from the pods", func(p *Problem) {
			d := fullPod("more")
			d.Spec.TopologySpreadConstraints[0].LabelSelector = selects("ka", "v")
			p.Demands = []Demand{{Template: d, Count: 2}}
		}, 3},
		{"service", "by default pods are spread over what it selects", func(p *Problem) {
			p.DefaultSpread = DefaultSpread{Constraints: []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: "DoNotSchedule"}},
				Services: []*corev1.Service{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"ka": "v"}}}}}
		}, 2},
	}
	for _, tt := range tests {
		p := &Problem{Pods: pods(), Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}}}
		tt.give(p)
		c := compiled(t, p, nil)
		if len(c.classes) != tt.want {
			t.Errorf("%s (%s): %d classes, want %d", tt.name, tt.reason, len(c.classes), tt.want)
		}
	}
}

// However many goroutines read the pods, and in whatever order they come, the model is the same.
func TestModelDependsOnContentOnly(t *testing.T) {
	p := &Problem{Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}}}
	for i := range 3 * minChunk {
		pod := fullPod("web-" + string(rune('a'+i/676)) + string(rune('a'+i/26%26)) + string(rune('a'+i%26)))
		app := selects("app", string(rune('a'+i%26)))
		pod.Labels["app"] = app.MatchLabels["app"]
		pod.Spec.SchedulingGroup = nil
		pod.Spec.TopologySpreadConstraints[0].LabelSelector = app
		if i%3 == 0 {
			pod.Spec.Affinity = nil
		}
		if i%5 == 0 {
			pod.Spec.TopologySpreadConstraints = nil
		}
		p.Pods = append(p.Pods, pod)
	}
	p.Demands = []Demand{{Template: fullPod("more"), Count: 5}, {Template: testPod("shop", "room", nil), Count: 2, Buffer: true}}
	want := modelText(compiled(t, p, &Options{Parallelism: 1}))
	for seed := range uint64(4) {
		if got := modelText(compiled(t, shuffled(p, seed), &Options{Parallelism: int(seed) + 1})); got != want {
			t.Fatalf("seed %d: another model:\n%s\nwant\n%s", seed, got, want)
		}
	}
}
