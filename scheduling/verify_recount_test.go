package scheduling_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// The recount is kube-scheduler's filters word by word: for each pod all nodes and all pods are gone
// through again, nothing is kept. Nodes are maps of labels; a launch may become one thing only.

type recountNode struct {
	labels map[string]string
	taint  bool
	pods   []*corev1.Pod
}

type recount struct {
	namespaces map[string]map[string]string
	// nodes exist or are launched; offers are what one more node could be.
	nodes, offers []*recountNode
}

// suits: selector and taint; wild offers have a hostname of which nobody knows.
func (n *recountNode) suits(p *corev1.Pod) bool {
	return n.matches(p) && (!n.taint || len(p.Spec.Tolerations) > 0)
}

func (n *recountNode) matches(p *corev1.Pod) bool {
	return labels.SelectorFromSet(p.Spec.NodeSelector).Matches(labels.Set(n.labels))
}

// hasKeys: a node without a label that one of the pod's spreads counts by cannot take the pod.
func (n *recountNode) hasKeys(p *corev1.Pod) bool {
	for _, c := range p.Spec.TopologySpreadConstraints {
		if _, has := n.labels[c.TopologyKey]; !has && c.WhenUnsatisfiable == corev1.DoNotSchedule {
			return false
		}
	}
	return true
}

func recountSelects(owner *corev1.Pod, s *metav1.LabelSelector, match, mismatch []string, p *corev1.Pod) bool {
	sel, err := metav1.LabelSelectorAsSelector(s)
	if err != nil || !sel.Matches(labels.Set(p.Labels)) {
		return false
	}
	for _, k := range match {
		if mine, some := owner.Labels[k]; some && !labels.SelectorFromSet(labels.Set{k: mine}).Matches(labels.Set(p.Labels)) {
			return false
		}
	}
	for _, k := range mismatch {
		if mine, some := owner.Labels[k]; some && labels.SelectorFromSet(labels.Set{k: mine}).Matches(labels.Set(p.Labels)) {
			return false
		}
	}
	return true
}

func (r *recount) termSelects(owner *corev1.Pod, t *corev1.PodAffinityTerm, p *corev1.Pod) bool {
	in := slices.Contains(t.Namespaces, p.Namespace)
	if t.NamespaceSelector != nil {
		sel, _ := metav1.LabelSelectorAsSelector(t.NamespaceSelector)
		in = in || sel.Matches(labels.Set(r.namespaces[p.Namespace]))
	} else if len(t.Namespaces) == 0 {
		in = p.Namespace == owner.Namespace
	}
	return in && recountSelects(owner, t.LabelSelector, t.MatchLabelKeys, t.MismatchLabelKeys, p)
}

// faults lists the rules that binding the pod to the node breaks.
func (r *recount) faults(p *corev1.Pod, at *recountNode) []string {
	var out []string
	for i := range p.Spec.TopologySpreadConstraints {
		if !r.spreadHolds(p, &p.Spec.TopologySpreadConstraints[i], at) {
			out = append(out, "spread "+p.Name)
		}
	}
	if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil && !r.affinityHolds(p, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, at) {
		out = append(out, "affinity "+p.Name)
	}
	if !r.antiHolds(p, at) {
		out = append(out, "antiAffinity "+p.Name)
	}
	return out
}

func (r *recount) spreadHolds(p *corev1.Pod, c *corev1.TopologySpreadConstraint, at *recountNode) bool {
	here, has := at.labels[c.TopologyKey]
	if !has {
		return false
	}
	counts := map[string]int{}
	for _, n := range r.nodes {
		counted := true
		for _, other := range p.Spec.TopologySpreadConstraints {
			_, some := n.labels[other.TopologyKey]
			counted = counted && some
		}
		if c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor {
			counted = counted && n.matches(p)
		}
		if c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor {
			counted = counted && (!n.taint || len(p.Spec.Tolerations) > 0)
		}
		if !counted {
			continue
		}
		counts[n.labels[c.TopologyKey]] += 0
		for _, q := range n.pods {
			if q.Namespace == p.Namespace && recountSelects(p, c.LabelSelector, c.MatchLabelKeys, nil, q) {
				counts[n.labels[c.TopologyKey]]++
			}
		}
	}
	for _, n := range r.offers {
		if d, has := n.labels[c.TopologyKey]; has && n.suits(p) && n.hasKeys(p) {
			counts[d] += 0
		}
	}
	least := -1
	for _, n := range counts {
		if least < 0 || n < least {
			least = n
		}
	}
	if c.MinDomains != nil && len(counts) < int(*c.MinDomains) || len(counts) == 0 {
		least = 0
	}
	self := 0
	if recountSelects(p, c.LabelSelector, c.MatchLabelKeys, nil, p) {
		self = 1
	}
	return counts[here]+self-least <= int(c.MaxSkew)
}

func (r *recount) affinityHolds(p *corev1.Pod, terms []corev1.PodAffinityTerm, at *recountNode) bool {
	all := func(q *corev1.Pod) bool {
		return !slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool { return !r.termSelects(p, &t, q) })
	}
	met, anywhere := true, false
	for i := range terms {
		here, has := at.labels[terms[i].TopologyKey]
		if !has {
			return false
		}
		near := false
		for _, n := range r.nodes {
			d, some := n.labels[terms[i].TopologyKey]
			if some && slices.ContainsFunc(n.pods, all) {
				anywhere = true
				near = near || d == here
			}
		}
		met = met && near
	}
	return met || !anywhere && all(p)
}

func (r *recount) antiHolds(p *corev1.Pod, at *recountNode) bool {
	clash := func(owner, other *corev1.Pod, n *recountNode) bool {
		if owner.Spec.Affinity == nil || owner.Spec.Affinity.PodAntiAffinity == nil {
			return false
		}
		return slices.ContainsFunc(owner.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, func(t corev1.PodAffinityTerm) bool {
			a, some := at.labels[t.TopologyKey]
			b, same := n.labels[t.TopologyKey]
			return some && same && a == b && r.termSelects(owner, &t, other)
		})
	}
	for _, n := range r.nodes {
		for _, q := range n.pods {
			if clash(p, q, n) || clash(q, p, n) {
				return false
			}
		}
	}
	return true
}

// recountDraw draws a problem with all that pods can say of each other, small enough to go wrong often.
type recountDraw struct{ *rand.Rand }

func one[T any](r recountDraw, s ...T) T { return s[r.IntN(len(s))] }

func (r recountDraw) key() string {
	return one(r, zoneKey, zoneKey, hostKey, CapacityTypeLabel, "rack", corev1.LabelInstanceTypeStable)
}

func (r recountDraw) selector() *metav1.LabelSelector {
	return one(r, selecting("app", "a"), selecting("app", "a"), selecting("app", "b"), selecting(), nil, selecting("app", "a", "rev", "1"),
		&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}}}})
}

func (r recountDraw) term() corev1.PodAffinityTerm {
	t := term(r.key(), r.selector())
	t.Namespaces = one(r, nil, nil, []string{"other"}, []string{"ns", "other"})
	t.NamespaceSelector = one(r, nil, nil, nil, selecting(), selecting("team", "x"))
	t.MatchLabelKeys, t.MismatchLabelKeys = one(r, nil, nil, []string{"rev"}), one(r, nil, nil, nil, []string{"rev"})
	return t
}

func (r recountDraw) pod(name string) *corev1.Pod {
	p := actor(name, labelled("app", one(r, "a", "a", "b")), inNamespace(one(r, "ns", "ns", "ns", "other")))
	if r.IntN(2) == 0 {
		labelled("rev", one(r, "1", "2"))(p)
	}
	if r.IntN(5) == 0 {
		p.Spec.NodeSelector = one(r, map[string]string{zoneKey: "a"}, map[string]string{CapacityTypeLabel: "spot"})
	}
	if r.IntN(4) == 0 {
		p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
	policy := func() *corev1.NodeInclusionPolicy {
		return one(r, nil, ptr(corev1.NodeInclusionPolicyHonor), ptr(corev1.NodeInclusionPolicyIgnore))
	}
	for range one(r, 0, 0, 1, 1, 2) {
		spreads(r.key(), func(c *corev1.TopologySpreadConstraint) {
			c.MaxSkew, c.MinDomains, c.LabelSelector = one(r, int32(1), 1, 2), one(r, nil, nil, ptr(int32(2)), ptr(int32(4))), r.selector()
			c.NodeAffinityPolicy, c.NodeTaintsPolicy, c.MatchLabelKeys = policy(), policy(), one(r, nil, nil, []string{"rev"})
		})(p)
	}
	if r.IntN(4) == 0 {
		terms := []corev1.PodAffinityTerm{r.term()}
		if r.IntN(3) == 0 {
			terms = append(terms, r.term())
		}
		with(terms...)(p)
	}
	if r.IntN(4) == 0 {
		apart(r.term())(p)
	}
	return p
}

// draw makes a problem, what the recount knows of it, and the names of all places.
func (r recountDraw) draw() (*stage, *recount, map[string]*recountNode) {
	s := newStage(nil)
	s.Problem.Namespaces = map[string]map[string]string{"ns": {}, "other": {"team": "x"}}
	var pools []Pool
	book, places := &recount{namespaces: s.Problem.Namespaces}, map[string]*recountNode{}
	for i, zones := range [][]string{{"a", "b"}, {"b", "c"}} {
		t := verifyTestType(fmt.Sprintf("t%d", i), "4", "0.1", zones...)
		t.Offerings[1].CapacityType, t.Capacity["pods"] = "spot", *quantity("20")
		pool := Pool{Name: fmt.Sprintf("pool%d", i), InstanceTypes: []*InstanceType{t}}
		rack, taint := r.IntN(2) == 0, i == 1 && r.IntN(2) == 0
		if rack {
			pool.Labels = map[string]string{"rack": fmt.Sprint(i)}
		}
		if taint {
			pool.Taints = []corev1.Taint{{Key: "own", Effect: corev1.TaintEffectNoSchedule}}
		}
		for _, o := range t.Offerings {
			n := &recountNode{labels: map[string]string{zoneKey: o.Zone, CapacityTypeLabel: o.CapacityType, PoolLabel: pool.Name,
				corev1.LabelInstanceTypeStable: t.Name, hostKey: "new"}, taint: taint}
			if rack {
				n.labels["rack"] = fmt.Sprint(i)
			}
			book.offers = append(book.offers, n)
			for k := range r.IntN(3) {
				launch := *n
				launch.labels = map[string]string{}
				for key, value := range n.labels {
					launch.labels[key] = value
				}
				name := fmt.Sprintf("%d%s%d:%s/%s", i, o.Zone, k, t.Name, o.Zone)
				launch.labels[hostKey] = name
				places[name] = &launch
			}
		}
		pools = append(pools, pool)
	}
	s.Problem.Pools, s.Problem.Nodes = pools, nil
	for i := range r.IntN(5) {
		n := Node{Name: fmt.Sprintf("n%d", i), Allocatable: list("pods", "50"), Labels: map[string]string{hostKey: fmt.Sprintf("n%d", i)}}
		if r.IntN(5) > 0 {
			n.Labels[zoneKey] = one(r, "a", "b", "d")
		}
		if r.IntN(2) > 0 {
			n.Labels["rack"] = one(r, "0", "1", "2")
		}
		for k := range r.IntN(4) {
			n.Pods = append(n.Pods, r.pod(fmt.Sprintf("old-%d-%d", i, k)))
		}
		book.nodes = append(book.nodes, &recountNode{labels: n.Labels, pods: slices.Clone(n.Pods)})
		places[n.Name] = book.nodes[len(book.nodes)-1]
		s.Problem.Nodes = append(s.Problem.Nodes, n)
	}
	return s, book, places
}

// plan places pods anywhere, mostly where it seems right, and returns all that is wrong with it.
func (r recountDraw) plan(s *stage, book *recount, places map[string]*recountNode) []string {
	names := sortedNames(places)
	var where []string
	guess := recount{namespaces: book.namespaces, offers: book.offers}
	for _, name := range names {
		n := *places[name]
		guess.nodes = append(guess.nodes, &n)
	}
	for i := range 1 + r.IntN(12) {
		p := r.pod(fmt.Sprintf("p%02d", i))
		careful := r.IntN(10) > 0
		for _, k := range r.Perm(len(names)) {
			if n := guess.nodes[k]; n.suits(p) && !(careful && len(guess.faults(p, n)) > 0) {
				s.Problem.Pods = append(s.Problem.Pods, p)
				where = append(where, names[k])
				n.pods = append(slices.Clone(n.pods), p)
				break
			}
		}
	}
	// Only launches that hold pods are launched, and all of them are there from the start.
	for _, name := range names {
		if slices.Contains(where, name) && strings.Contains(name, ":") {
			book.nodes = append(book.nodes, places[name])
		}
	}
	s.place(where...)
	if r.IntN(3) == 0 {
		r.Shuffle(len(where), func(a, b int) { s.Plan.BindOrder[a], s.Plan.BindOrder[b] = s.Plan.BindOrder[b], s.Plan.BindOrder[a] })
	}
	var faults []string
	for _, i := range s.Plan.BindOrder {
		p, n := s.Problem.Pods[i], places[where[i]]
		faults = append(faults, book.faults(p, n)...)
		n.pods = append(n.pods, p)
	}
	slices.Sort(faults)
	return faults
}

func sortedNames(m map[string]*recountNode) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Verify keeps counts, shares groups and looks at domains; the recount does not. They find the same faults.
func TestVerifyAgreesWithARecount(t *testing.T) {
	seen, clean := map[string]int{}, 0
	for seed := range uint64(8000) {
		if testing.Short() && seed == 2000 {
			break
		}
		r := recountDraw{rand.New(rand.NewPCG(seed, 3))}
		s, book, places := r.draw()
		want := r.plan(s, book, places)
		var got []string
		var e *VerifyError
		if err := Verify(s.Problem, s.Plan); errors.As(err, &e) {
			for _, w := range e.Violations {
				got = append(got, w.Rule+" "+w.Subject[strings.Index(w.Subject, "/")+1:])
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: Verify finds %q, the recount %q\n%v\n%s\n%+v", seed, got, want, e, mustText(s.Problem), s.Plan)
		}
		if len(want) == 0 {
			clean++
		}
		for _, f := range want {
			rule, _, _ := strings.Cut(f, " ")
			seen[rule]++
		}
	}
	t.Logf("faults found: %v, plans without: %d", seen, clean)
	if min(seen["spread"], seen["affinity"], seen["antiAffinity"], clean) < 100 {
		t.Errorf("too few faults or plans without: %v, %d", seen, clean)
	}
}
