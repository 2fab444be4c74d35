package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
)

// Outcome is what changes would lead to. Its pods are the caller's, and each pod that was asked about is in one of
// Moves, Launches and Left.
type Outcome struct {
	// Moves put pods on nodes that exist.
	Moves []Move
	// Launches are the nodes to start, with the pods that go there.
	Launches []OutcomeLaunch
	// BindOrder lists the pods of Moves and Launches in an order in which each one's constraints hold when it is bound,
	// once all launches are there. Nil: any order does.
	BindOrder []*corev1.Pod
	// Left are the pods with nowhere to go.
	Left []*corev1.Pod
	// Price per hour of the launches.
	Price Price
	// Saved is the price per hour of the nodes that go; unknown if that of one of them is. A node costs what the offering
	// does that its labels name, in its pool.
	Saved Price
}

// Move puts a pod on an existing node.
type Move struct {
	Pod  *corev1.Pod
	Node string
}

// OutcomeLaunch is a node to start.
type OutcomeLaunch struct {
	// Pool indexes Problem.Pools, Type its InstanceTypes and Offering the Offerings of that.
	Pool, Type, Offering int32
	// Price per hour.
	Price Price
	// CustomLabels are labels that the pool left open and this launch decides. Read only.
	CustomLabels map[string]string
	Pods         []*corev1.Pod
}

// Difference is how much more per hour the cluster would cost, in billionths; below 0 it would cost less. Not
// known where Saved is not. Pods that are left over cost nothing, so look at Left too.
func (o *Outcome) Difference() (nano int64, known bool) {
	return o.Price.nano - o.Saved.nano, o.Price.known && o.Saved.known
}

// whatIf is memory that questions use again.
type whatIf struct {
	wants []board.Want
	// moved are the pods that need a place, by class; next is, by want, the first that has none yet.
	moved []displaced
	next  []int32
	// joins are what happened; held is, by new node, how many pods are on it, at which launch it is.
	joins    []board.Proposal
	held, at []int32
	labels   launchLabels
}

type displaced struct {
	class int32
	pod   *corev1.Pod
}

// WhatIf tells what would become of the pods that the changes displace or add; the snapshot stays as it is. Pods that
// waited before are not looked at, nor do they take room. An error says which change cannot be made.
//
// Draining and removing nodes costs what is moved: each kind of pod looks for room on existing nodes, 32 at a time, and a
// launch tries some rows of the catalogue. Any other change is compiled first, which costs as much as a Compile.
//
// It is one pass: pods go where there is room, on nodes that exist if possible, largest first after those that others
// need near them and those of higher priority; then nodes are bought by what they are worth. A pod finds a place where
// [Solve] finds one, as long as nothing finite (existing room, limits, reservations) is short and no pod's place depends
// on another's: there Solve searches longer. Launches cost about what Solve's do: on random
// problems at most 10 % more all together (2 % when this was written), and no answer more than three times as much, unless
// what commitments cover costs next to nothing. Preferences are met whatever they cost, also under [PreferencesCap].
//
// A displaced pod of a gang is placed like any other, alone if need be: what is left of the gang runs on meanwhile. So
// is each pod of a gang that is added; Plan keeps gangs together. Nobody is preempted.
func (s *Snapshot) WhatIf(ch Changes) (*Outcome, error) {
	if err := s.fresh(); err != nil {
		return nil, err
	}
	if !ch.nodesOnly() {
		return s.heavy(&ch)
	}
	w := &s.spare
	w.moved = w.moved[:0]
	mark := s.board.Mark()
	defer s.board.Rollback(mark)
	out := &Outcome{}
	var saved total
	for k, names := range [2][]string{ch.DrainNodes, ch.RemoveNodes} {
		for _, name := range names {
			i, ok := s.nodes[name]
			if !ok || s.board.Closed(i) { // by an earlier change, or by this one
				_, _, err := s.problem.with(&ch)
				return nil, err
			}
			if k == 0 {
				w.displace(&s.c.nodes[i])
			}
			s.board.Close(i)
			saved.add(s.c.prices[i])
		}
	}
	out.Saved = saved.price()
	s.place(w, out)
	return out, nil
}

// total sums prices up; one of -1 makes it unknown.
type total struct {
	nano    int64
	unknown bool
}

func (t *total) add(nano int64) {
	t.nano, t.unknown = t.nano+nano, t.unknown || nano < 0
}

func (t *total) price() Price {
	if t.unknown {
		return Price{}
	}
	return PriceFromNano(t.nano)
}

// heavy answers a question that must be compiled first: about a problem of its own in which all that is asked has
// happened, but for the places of the pods that were not waiting before.
func (s *Snapshot) heavy(ch *Changes) (*Outcome, error) {
	f := &Snapshot{opts: s.opts}
	var err error
	if f.problem, _, err = s.problem.with(ch); err != nil {
		return nil, err
	}
	if err := f.compile(false); err != nil {
		return nil, err
	}
	before := make(map[*corev1.Pod]bool, len(s.problem.Pods))
	for _, p := range s.problem.Pods {
		before[p] = true
	}
	w := &f.spare
	for id := range f.c.classes {
		for _, i := range f.c.classes[id].pods {
			if int(i) < len(f.problem.Pods) && !before[f.problem.Pods[i]] {
				w.moved = append(w.moved, displaced{int32(id), f.problem.Pods[i]})
			}
		}
	}
	out := &Outcome{Saved: f.c.saved(s.problem, ch)}
	f.place(w, out)
	return out, nil
}

// saved is what the nodes that go cost, by the prices that the changes leave.
func (c *compiler) saved(before *Problem, ch *Changes) Price {
	var sum total
	if len(ch.DrainNodes)+len(ch.RemoveNodes) > 0 {
		prices := c.priceList(before.Nodes)
		for i := range before.Nodes {
			if n := &before.Nodes[i]; slices.Contains(ch.DrainNodes, n.Name) || slices.Contains(ch.RemoveNodes, n.Name) {
				sum.add(prices.of(n.Pool, c.nodeLabels(n.Labels)))
			}
		}
	}
	return sum.price()
}

func (w *whatIf) displace(n *oldNode) {
	for k, p := range n.node.Pods {
		if n.classes[k] >= 0 && movable(p) {
			w.moved = append(w.moved, displaced{n.classes[k], p})
		}
	}
}
