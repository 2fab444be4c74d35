package scheduling

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// verifySpot is a pod where it runs or will run.
type verifySpot struct {
	p *verifyPod
	// index of the problem's pod; -1 for one that is bound already.
	index int32
	// node is an existing node, or -1 and launch is one of the plan's.
	node, launch int
	bound        bool
}

// verifyGroup is one constraint as all the pods see it that state it alike.
type verifyGroup struct {
	spread *corev1.TopologySpreadConstraint
	key    string
	// selects tells whether a pod counts.
	selects func(*corev1.Pod) bool
	owners  []int // indexes of spots
	// sample is one of the owners, for what they have in common.
	sample *verifyPod
}

// checkTopology: spread, pod affinity and anti-affinity hold in the state that the plan leads to; with
// a bind order, spread holds at each step instead. Only what the plan placed is judged.
func (v *verifier) checkTopology() {
	spots := v.spots()
	groups := v.groups(spots)
	for _, id := range verifyKeys(groups) {
		g := groups[id]
		switch {
		case g.spread != nil:
			v.checkSpread(g, spots)
		case strings.HasPrefix(id, "anti "):
			v.repellers = append(v.repellers, g)
			v.checkAnti(g, spots)
		}
	}
	v.checkAffinity(groups, spots)
}

// spots lists all pods that are anywhere, in the bind order if there is one.
func (v *verifier) spots() []verifySpot {
	var out, planned []verifySpot
	for i := range v.problem.Nodes {
		for _, pod := range v.problem.Nodes[i].Pods {
			// A pod on its way out is not counted, as kube-scheduler does not.
			if pod != nil && !verifyFinished(pod) && pod.DeletionTimestamp == nil {
				out = append(out, verifySpot{p: v.read(pod), index: -1, node: i, launch: -1, bound: true})
			}
		}
		for _, p := range v.on[i] {
			planned = append(planned, verifySpot{p: v.read(v.pod(p)), index: p, node: i, launch: -1})
		}
	}
	for i, l := range v.plan.Launches {
		if !verifyInRange(l.Shape, v.plan.Shapes) || !v.goodShape[l.Shape] {
			continue
		}
		for _, p := range l.Pods {
			if v.pod(p) != nil {
				planned = append(planned, verifySpot{p: v.read(v.pod(p)), index: p, node: -1, launch: i})
			}
		}
	}
	rank := map[int32]int{}
	for i, p := range v.plan.BindOrder {
		rank[p] = i
	}
	slices.SortStableFunc(planned, func(a, b verifySpot) int { return rank[a.index] - rank[b.index] })
	return append(out, planned...)
}

// groups collects the constraints of all pods: spreads and affinity of those that the plan placed, and
// anti-affinity of all.
func (v *verifier) groups(spots []verifySpot) map[string]*verifyGroup {
	out := map[string]*verifyGroup{}
	join := func(id string, i int, make func() *verifyGroup) {
		if out[id] == nil {
			out[id] = make()
			out[id].sample = spots[i].p
		}
		out[id].owners = append(out[id].owners, i)
	}
	for i := range spots {
		p := spots[i].p
		spec := &p.pod.Spec
		for j := range spec.TopologySpreadConstraints {
			c := &spec.TopologySpreadConstraints[j]
			if spots[i].bound || c.WhenUnsatisfiable != corev1.DoNotSchedule {
				continue
			}
			id := verifyID("spread", p.pod.Namespace, c, verifyPick(p.pod, c.MatchLabelKeys), p.key)
			join(id, i, func() *verifyGroup { return v.spreadGroup(c, p) })
		}
		if a := spec.Affinity; a != nil && a.PodAntiAffinity != nil {
			for _, t := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				join(v.termID("anti", p.pod, &t), i, func() *verifyGroup { return v.termGroup(&t, p) })
			}
		}
		if a := spec.Affinity; a != nil && a.PodAffinity != nil && !spots[i].bound {
			for _, t := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				join(v.termID("with", p.pod, &t), i, func() *verifyGroup { return v.termGroup(&t, p) })
			}
		}
	}
	return out
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

func (v *verifier) termID(kind string, pod *corev1.Pod, t *corev1.PodAffinityTerm) string {
	return verifyID(kind, pod.Namespace, t, verifyPick(pod, t.MatchLabelKeys, t.MismatchLabelKeys))
}

// verifySelector: a nil selector selects nothing, an empty one everything, a wrong one nothing.
func verifySelector(s *metav1.LabelSelector) labels.Selector {
	sel, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing()
	}
	return sel
}

// verifyMatchKeys: "keys in matchLabelKeys look up values from the incoming pod's labels, and those
// are ANDed with labelSelector"; mismatchLabelKeys likewise with NotIn. Keys the pod lacks are ignored.
func verifyMatchKeys(pod, other *corev1.Pod, match, mismatch []string) bool {
	for _, k := range match {
		if mine, some := pod.Labels[k]; some {
			if theirs, have := other.Labels[k]; !have || theirs != mine {
				return false
			}
		}
	}
	for _, k := range mismatch {
		if mine, some := pod.Labels[k]; some && other.Labels[k] == mine {
			return false
		}
	}
	return true
}

func (v *verifier) spreadGroup(c *corev1.TopologySpreadConstraint, p *verifyPod) *verifyGroup {
	selector := verifySelector(c.LabelSelector)
	return &verifyGroup{spread: c, key: v.key(c.TopologyKey), selects: func(q *corev1.Pod) bool {
		return q.Namespace == p.pod.Namespace && selector.Matches(labels.Set(q.Labels)) &&
			verifyMatchKeys(p.pod, q, c.MatchLabelKeys, nil)
	}}
}

// termGroup: "namespaces and namespaceSelector are ORed; with neither it is the pod's own namespace,
// and an empty namespaceSelector means all".
func (v *verifier) termGroup(t *corev1.PodAffinityTerm, p *verifyPod) *verifyGroup {
	selector := verifySelector(t.LabelSelector)
	term := *t
	spaces := verifySelector(t.NamespaceSelector)
	return &verifyGroup{key: v.key(t.TopologyKey), selects: func(q *corev1.Pod) bool {
		in := slices.Contains(term.Namespaces, q.Namespace) ||
			term.NamespaceSelector != nil && spaces.Matches(labels.Set(v.problem.Namespaces[q.Namespace])) ||
			len(term.Namespaces) == 0 && term.NamespaceSelector == nil && q.Namespace == p.pod.Namespace
		return in && selector.Matches(labels.Set(q.Labels)) &&
			verifyMatchKeys(p.pod, q, term.MatchLabelKeys, term.MismatchLabelKeys)
	}}
}

// domains lists where, in terms of a label key, a pod may find itself: one domain on an existing
// node, one per value among a launch's alternatives, none without the label.
func (v *verifier) domains(s *verifySpot, key string) []string {
	if s.node >= 0 {
		if d, ok := v.nodeDomain(s.node, key); ok {
			return []string{d}
		}
		return nil
	}
	return v.launchDomains(s.launch, key)
}

func (v *verifier) nodeDomain(node int, key string) (string, bool) {
	n := v.existing[node]
	values, finite := v.label(n, key).Finite()
	if finite && len(values) == 1 {
		return values[0], true
	}
	return "\x00node " + n.name, key == corev1.LabelHostname
}

func (v *verifier) launchDomains(launch int, key string) []string {
	if key == corev1.LabelHostname {
		return []string{fmt.Sprintf("\x00launch %d", launch)}
	}
	s := &v.plan.Shapes[v.plan.Launches[launch].Shape]
	var out []string
	for _, a := range append([]Alternative{s.Choice}, s.Alternatives...) {
		values, finite := v.label(v.freshNode(s.Pool, a.Type, a.Offering, s.CustomLabels), key).Finite()
		if !finite {
			continue
		}
		for _, x := range values {
			if !slices.Contains(out, x) {
				out = append(out, x)
			}
		}
	}
	return out
}

// nodeOf is the node of a spot; that of a launch's choice.
func (v *verifier) nodeOf(s *verifySpot) *verifyNode {
	if s.node >= 0 {
		return v.existing[s.node]
	}
	return v.choiceNode(s.launch)
}

func (v *verifier) choiceNode(launch int) *verifyNode {
	s := &v.plan.Shapes[v.plan.Launches[launch].Shape]
	return v.freshNode(s.Pool, s.Choice.Type, s.Choice.Offering, s.CustomLabels)
}

// checkAnti: "anti-affinity: no other pod that the term selects is in the same domain". Whichever
// alternative a launch becomes.
func (v *verifier) checkAnti(g *verifyGroup, spots []verifySpot) {
	selected := map[string][]int{}
	for i := range spots {
		if g.selects(spots[i].p.pod) {
			for _, d := range v.domains(&spots[i], g.key) {
				selected[d] = append(selected[d], i)
			}
		}
	}
	for _, o := range g.owners {
		for _, d := range v.domains(&spots[o], g.key) {
			for _, i := range selected[d] {
				if i == o || spots[i].bound && spots[o].bound {
					continue
				}
				subject := spots[i].p.name
				if spots[i].bound {
					subject = spots[o].p.name
				}
				v.report("antiAffinity", subject, "%s must not be with %s in one %s, both may be in %s",
					spots[o].p.name, spots[i].p.name, g.key, verifyDomainName(d))
				break
			}
		}
	}
}

func verifyDomainName(d string) string { return strings.TrimPrefix(d, "\x00") }

// checkAffinity binds pods whose terms are met one after another; "if no pod matches anywhere and
// the pod matches its own term, it may be the first". Who is never bound breaks the plan.
func (v *verifier) checkAffinity(groups map[string]*verifyGroup, spots []verifySpot) {
	terms := map[int][]*verifyGroup{}
	for _, id := range verifyKeys(groups) {
		if strings.HasPrefix(id, "with ") {
			for _, o := range groups[id].owners {
				terms[o] = append(terms[o], groups[id])
			}
		}
	}
	if len(terms) == 0 {
		return
	}
	bound := map[*verifyGroup]map[string]bool{}
	bind := func(i int) {
		for _, id := range verifyKeys(groups) {
			g := groups[id]
			if strings.HasPrefix(id, "with ") && g.selects(spots[i].p.pod) {
				if bound[g] == nil {
					bound[g] = map[string]bool{}
				}
				for _, d := range v.domains(&spots[i], g.key) {
					bound[g][d] = true
				}
			}
		}
	}
	var waiting []int
	for i := range spots {
		if terms[i] == nil {
			bind(i)
		} else {
			waiting = append(waiting, i)
		}
	}
	for _, first := range []bool{false, true} {
		for again := true; again; {
			again = false
			waiting = slices.DeleteFunc(waiting, func(i int) bool {
				ok := v.affinityHolds(terms[i], &spots[i], bound, first)
				if ok {
					bind(i)
				}
				again = again || ok
				return ok
			})
		}
	}
	for _, i := range waiting {
		v.report("affinity", spots[i].p.name, "has to be with pods of which none is in the same %s", terms[i][0].key)
	}
}

func (v *verifier) affinityHolds(terms []*verifyGroup, s *verifySpot, bound map[*verifyGroup]map[string]bool, first bool) bool {
	for _, g := range terms {
		domains := v.domains(s, g.key)
		if len(domains) == 0 {
			return false
		}
		start := first && len(bound[g]) == 0 && g.selects(s.p.pod)
		for _, d := range domains {
			if !bound[g][d] && !start {
				return false
			}
		}
	}
	return true
}
