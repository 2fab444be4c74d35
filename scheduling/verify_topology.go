package scheduling

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// verifyCompany holds the constraints between pods, each once for all pods that state it alike.
type verifyCompany struct {
	groups map[string]*verifyGroup
	// of and antis remember what a pod states, kinds how it is known to others.
	of    map[*corev1.Pod]*verifyStated
	antis map[*corev1.Pod][]*verifyGroup
	kinds map[string]*verifyKind
	known map[*corev1.Pod]*verifyKind
	// hinted lists the groups by a label that all pods they count have, the rest is under "".
	hinted map[string][]*verifyGroup
	views  map[string]*verifyView
	// selectors remembers what default spreads select.
	selectors map[string]labels.Selector
}

func newVerifyCompany() *verifyCompany {
	return &verifyCompany{
		groups: map[string]*verifyGroup{}, of: map[*corev1.Pod]*verifyStated{}, antis: map[*corev1.Pod][]*verifyGroup{},
		kinds: map[string]*verifyKind{}, known: map[*corev1.Pod]*verifyKind{}, hinted: map[string][]*verifyGroup{}, views: map[string]*verifyView{},
		selectors: map[string]labels.Selector{},
	}
}

// verifyStated is what one pod requires of other pods.
type verifyStated struct {
	spreads, antis []*verifyGroup
	// affinity is one group for all required terms of the pod together.
	affinity *verifyGroup
}

// verifyKind is a pod as selectors see it.
type verifyKind struct {
	namespace string
	labels    labels.Set
	// groups are those that count such pods; valid once sought.
	groups []*verifyGroup
	sought bool
}

// verifyGroup is one constraint: whom it counts, by which topology keys, and how many there are.
type verifyGroup struct {
	id     string
	spread *corev1.TopologySpreadConstraint
	anti   bool
	// peers are the conditions on a pod that counts, all of which hold: the terms of an affinity, or one.
	peers []*verifyPeers
	// views look at nodes by the topology keys of the peers.
	views []*verifyView
	// counts are by view and domain.
	counts []map[string]verifyCount
	// owned are the pods that state an anti-affinity, by domain.
	owned map[string]verifyCount
	// seen counts the pods on nodes that have one of the keys; here those on each launch.
	seen int
	here map[int]int
}

// verifyCount is how many pods a constraint counts in a domain.
type verifyCount struct {
	// sure are there whatever launches become, may also those that fall into it under some alternative.
	sure, may int
	// first names one that may be.
	first string
}

// verifyPeers is a label selector with namespaces, as the pod that states it means it.
type verifyPeers struct {
	namespaces      func(string) bool
	selector        labels.Selector
	pod             *corev1.Pod
	match, mismatch []string
}

func (s *verifyPeers) selects(k *verifyKind) bool {
	return s.namespaces(k.namespace) && s.selector.Matches(k.labels) && verifyMatchKeys(s.pod, k.labels, s.match, s.mismatch)
}

// selects: "a pod counts only if it matches all terms".
func (g *verifyGroup) selects(k *verifyKind) bool {
	for _, s := range g.peers {
		if !s.selects(k) {
			return false
		}
	}
	return true
}

// verifyMatchKeys: "keys in matchLabelKeys look up values from the incoming pod's labels, and those
// are ANDed with labelSelector"; mismatchLabelKeys likewise with NotIn. Keys the pod lacks are ignored.
func verifyMatchKeys(pod *corev1.Pod, other labels.Set, match, mismatch []string) bool {
	for _, k := range match {
		if mine, some := pod.Labels[k]; some {
			if theirs, have := other[k]; !have || theirs != mine {
				return false
			}
		}
	}
	for _, k := range mismatch {
		if mine, some := pod.Labels[k]; some {
			if theirs, have := other[k]; have && theirs == mine {
				return false
			}
		}
	}
	return true
}

// verifySelector: a nil selector selects nothing, an empty one everything, a wrong one nothing.
func verifySelector(s *metav1.LabelSelector) labels.Selector {
	sel, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing()
	}
	return sel
}

// kind tells how selectors see the pod.
func (v *verifier) kind(pod *corev1.Pod) *verifyKind {
	c := v.company
	if k := c.known[pod]; k != nil {
		return k
	}
	var b strings.Builder
	b.WriteString(pod.Namespace)
	for _, key := range verifyKeys(pod.Labels) {
		fmt.Fprintf(&b, "\x00%s\x00%s", key, pod.Labels[key])
	}
	k := c.kinds[b.String()]
	if k == nil {
		k = &verifyKind{namespace: pod.Namespace, labels: pod.Labels}
		c.kinds[b.String()] = k
	}
	c.known[pod] = k
	return k
}

// counting lists the groups that count such pods. All groups must be known by then.
func (v *verifier) counting(k *verifyKind) []*verifyGroup {
	if k.sought {
		return k.groups
	}
	k.sought = true
	candidates := slices.Clone(v.company.hinted[""])
	for _, key := range verifyKeys(k.labels) {
		candidates = append(candidates, v.company.hinted[key+"="+k.labels[key]]...)
	}
	for _, g := range candidates {
		if g.selects(k) {
			k.groups = append(k.groups, g)
		}
	}
	return k.groups
}

// hint is a label that every pod the group counts has, as key=value; empty if it names none.
func (g *verifyGroup) hint() string {
	for _, s := range g.peers {
		list, _ := s.selector.Requirements()
		for _, r := range list {
			op := r.Operator()
			if values := r.Values().UnsortedList(); len(values) == 1 && (op == selection.In || op == selection.Equals || op == selection.DoubleEquals) {
				return r.Key() + "=" + values[0]
			}
		}
	}
	return ""
}

// join returns the group of that name, which make describes the first time.
func (v *verifier) join(id string, make func(g *verifyGroup)) *verifyGroup {
	c := v.company
	if g := c.groups[id]; g != nil {
		return g
	}
	g := &verifyGroup{id: id, owned: map[string]verifyCount{}, here: map[int]int{}}
	make(g)
	for range g.peers {
		g.counts = append(g.counts, map[string]verifyCount{})
	}
	c.groups[id] = g
	hint := g.hint()
	c.hinted[hint] = append(c.hinted[hint], g)
	return g
}

// stated reads what the pod requires of other pods.
func (v *verifier) stated(p *verifyPod) *verifyStated {
	pod := p.pod
	if s := v.company.of[pod]; s != nil {
		return s
	}
	s := &verifyStated{antis: v.antis(pod)}
	v.company.of[pod] = s
	spreads := v.spreads(pod)
	keys := []string{}
	for i := range spreads {
		keys = append(keys, v.key(spreads[i].constraint.TopologyKey))
	}
	for i := range spreads {
		x := &spreads[i]
		selects := x.selector.String()
		if x.selector == labels.Nothing() {
			selects = "\x00nothing"
		}
		id := verifyID("spread", pod.Namespace, x.constraint, selects, verifyPick(pod, x.constraint.MatchLabelKeys), keys, p.key)
		s.spreads = append(s.spreads, v.join(id, func(g *verifyGroup) {
			g.spread = x.constraint
			g.peers = []*verifyPeers{{selector: x.selector, pod: pod, match: x.constraint.MatchLabelKeys,
				namespaces: func(ns string) bool { return ns == pod.Namespace }}}
			g.views = []*verifyView{v.spreadView(x.constraint, keys, p)}
		}))
	}
	a := pod.Spec.Affinity
	if a != nil && a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
		parts := []any{pod.Namespace}
		terms := a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		for i := range terms {
			parts = append(parts, terms[i], verifyPick(pod, terms[i].MatchLabelKeys, terms[i].MismatchLabelKeys))
		}
		s.affinity = v.join(verifyID("with", parts...), func(g *verifyGroup) {
			for i := range terms {
				v.addTerm(g, pod, &terms[i])
			}
		})
	}
	return s
}

// antis lists the required anti-affinity terms of the pod.
func (v *verifier) antis(pod *corev1.Pod) []*verifyGroup {
	a := pod.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil {
		return nil
	}
	if known, asked := v.company.antis[pod]; asked {
		return known
	}
	var out []*verifyGroup
	for _, t := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		id := verifyID("anti", pod.Namespace, t, verifyPick(pod, t.MatchLabelKeys, t.MismatchLabelKeys))
		out = append(out, v.join(id, func(g *verifyGroup) { g.anti = true; v.addTerm(g, pod, &t) }))
	}
	v.company.antis[pod] = out
	return out
}

// addTerm: "namespaces and namespaceSelector are ORed; with neither it is the pod's own namespace,
// and an empty namespaceSelector means all".
func (v *verifier) addTerm(g *verifyGroup, pod *corev1.Pod, t *corev1.PodAffinityTerm) {
	list, own := t.Namespaces, len(t.Namespaces) == 0 && t.NamespaceSelector == nil
	spaces := verifySelector(t.NamespaceSelector)
	g.peers = append(g.peers, &verifyPeers{
		selector: verifySelector(t.LabelSelector), pod: pod, match: t.MatchLabelKeys, mismatch: t.MismatchLabelKeys,
		namespaces: func(ns string) bool {
			return slices.Contains(list, ns) || own && ns == pod.Namespace || spaces.Matches(labels.Set(v.problem.Namespaces[ns]))
		},
	})
	g.views = append(g.views, v.plainView(t.TopologyKey))
}

func verifyID(kind string, parts ...any) string {
	text, _ := json.Marshal(parts)
	return kind + " " + string(text)
}

// verifyPick lists those of the pod's labels that a constraint's match keys name.
func verifyPick(pod *corev1.Pod, keys ...[]string) map[string]string {
	out := map[string]string{}
	for _, k := range slices.Concat(keys...) {
		if value, some := pod.Labels[k]; some {
			out[k] = value
		}
	}
	return out
}
