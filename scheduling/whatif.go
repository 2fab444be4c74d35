package scheduling

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
)

// Outcome is what changes would lead to. Its pods are the caller's.
type Outcome struct {
	// Moves put pods on nodes that exist, in an order in which each pod's constraints hold when it is bound, launches'
	// pods between them.
	Moves []Move
	// Launches are the nodes to start.
	Launches []OutcomeLaunch
	// Left are pods with nowhere to go.
	Left []*corev1.Pod
	// Price per hour of the launches.
	Price Price
	// Saved is the price per hour of the nodes that go; unknown if one of them is of no known pool, type or price.
	Saved Price
}

// Move puts a pod on an existing node.
type Move struct {
	Pod  *corev1.Pod
	Node string
}

// OutcomeLaunch is a node to start: pool, type and offering by their indexes in the problem.
type OutcomeLaunch struct {
	Pool, Type, Offering int32
	Price                Price
	Pods                 []*corev1.Pod
}

// whatIf is memory that questions use again.
type whatIf struct {
	wants []board.Want
	// queue are the displaced pods, by class; next the first that has no place yet.
	moved []displaced
	start []int32
	// extra are pods that wait already and are asked about too.
	extra []displaced
}

type displaced struct {
	class int32
	pod   *corev1.Pod
}

// WhatIf tells what would become of the pods that the changes displace or add; the snapshot stays as it is. Pods that
// waited before are not looked at. Each question costs what it moves; one that adds nodes or pods, or changes
// offerings, limits or reservations, is compiled first, which costs as much as Compile.
//
// It is one pass without improvement: pods go where Solve would find room too, but a plan of all pending pods
// together may be cheaper.
func (s *Snapshot) WhatIf(ch Changes) (*Outcome, error) {
	if err := s.fresh(); err != nil {
		return nil, err
	}
	if !ch.light() {
		return s.heavy(ch)
	}
	w := &s.spare
	w.moved = w.moved[:0]
	mark := s.board.Mark()
	defer s.board.Rollback(mark)
	out := &Outcome{}
	saved, known := int64(0), true
	for k, names := range [2][]string{ch.DrainNodes, ch.RemoveNodes} {
		for _, name := range names {
			i, ok := s.nodes[name]
			if !ok || s.board.Closed(i) {
				_, err := s.problem.with(&ch)
				return nil, err
			}
			if k == 0 {
				w.displace(&s.c.nodes[i])
			}
			s.board.Close(i)
			if known = known && s.c.prices[i] >= 0; known {
				saved += s.c.prices[i]
			}
		}
	}
	if known {
		out.Saved = PriceFromNano(saved)
	}
	s.place(w, out)
	return out, nil
}

// heavy answers a question that must be compiled first.
func (s *Snapshot) heavy(ch Changes) (*Outcome, error) {
	drain := Changes{DrainNodes: ch.DrainNodes, RemoveNodes: ch.RemoveNodes}
	added := ch.AddPods
	ch.DrainNodes, ch.RemoveNodes = nil, nil
	f := &Snapshot{opts: s.opts}
	var err error
	if f.problem, err = s.problem.with(&ch); err != nil {
		return nil, err
	}
	if err := f.compile(); err != nil {
		return nil, err
	}
	waiting := map[*corev1.Pod]bool{}
	for _, p := range added {
		waiting[p] = true
	}
	for id := range f.c.classes {
		for _, i := range f.c.classes[id].pods {
			if int(i) < len(f.problem.Pods) && waiting[f.problem.Pods[i]] {
				f.spare.extra = append(f.spare.extra, displaced{int32(id), f.problem.Pods[i]})
			}
		}
	}
	return f.WhatIf(drain)
}

func (w *whatIf) displace(n *oldNode) {
	for k, p := range n.node.Pods {
		if n.classes[k] >= 0 && movable(p) {
			w.moved = append(w.moved, displaced{n.classes[k], p})
		}
	}
}

// place finds places for the displaced pods and writes them down.
func (s *Snapshot) place(w *whatIf, out *Outcome) {
	w.moved = append(w.moved, w.extra...)
	c := s.c
	slices.SortStableFunc(w.moved, func(a, b displaced) int {
		if a.class == b.class {
			return 0
		}
		return c.before(a.class, b.class)
	})
	w.wants, w.start = w.wants[:0], w.start[:0]
	variants := 1
	for i, m := range w.moved {
		if c.classes[m.class].refused != nil || c.constraints[c.classes[m.class].constraint].fault != "" {
			continue
		}
		if k := len(w.wants) - 1; k >= 0 && w.wants[k].Class == m.class {
			w.wants[k].Count++
			continue
		}
		w.wants, w.start = append(w.wants, board.Want{Class: m.class, Count: 1}), append(w.start, int32(i))
		variants = max(variants, len(c.variantsOf(m.class)))
	}
	mark := s.board.Mark()
	for v := range int32(variants) {
		for again := true; again; {
			again = s.pass(w.wants, v)
		}
	}
	s.write(w, out, mark)
}

// before orders classes for placing: what others wait for, then priority, then size.
func (c *compiler) before(a, b int32) int {
	x, y := &c.classes[a], &c.classes[b]
	return cmp.Or(cmp.Compare(c.depth[a], c.depth[b]), cmp.Compare(y.rank(), x.rank()), slices.Compare(y.req, x.req), cmp.Compare(c.place[a], c.place[b]))
}

// pass tries what is left under one variant, on nodes that are there and then on new ones.
func (s *Snapshot) pass(wants []board.Want, v int32) (progress bool) {
	left := int32(0)
	for i := range wants {
		w := &wants[i]
		if w.Count == 0 {
			continue
		}
		if last := int32(len(s.c.variantsOf(w.Class))) - 1; v > last {
			continue
		}
		w.Variant = v
		n := s.board.Place(w.Class, v, w.Count)
		w.Count -= n
		left += w.Count
		progress = progress || n > 0
	}
	if left > 0 && s.board.Buy(wants) < left {
		progress = true
	}
	return progress
}

// write takes what happened since the mark off the board.
func (s *Snapshot) write(w *whatIf, out *Outcome, mark int) {
	all, old := s.board.Nodes()
	out.Launches = make([]OutcomeLaunch, all-old)
	price := int64(0)
	for i := range out.Launches {
		row, allowed, _ := s.board.Node(old + i)
		_, bit := s.c.space.Price(int(row), allowed)
		r := &s.c.rows[row]
		out.Launches[i] = OutcomeLaunch{Pool: r.pool, Type: r.typ, Offering: r.offerings[bit], Price: PriceFromNano(r.prices[bit])}
		price += r.prices[bit]
	}
	out.Price = PriceFromNano(price)
	next := w.start
	taken := 0
	s.board.JoinsSince(mark, func(node, class, _, n int32) {
		k := slices.IndexFunc(w.wants, func(x board.Want) bool { return x.Class == class })
		for range n {
			pod := w.moved[next[k]].pod
			w.moved[next[k]].pod = nil
			next[k]++
			taken++
			if int(node) < old {
				out.Moves = append(out.Moves, Move{Pod: pod, Node: s.c.nodes[node].node.Name})
			} else {
				l := &out.Launches[int(node)-old]
				l.Pods = append(l.Pods, pod)
			}
		}
	})
	for _, m := range w.moved {
		if m.pod != nil {
			out.Left = append(out.Left, m.pod)
		}
	}
}
