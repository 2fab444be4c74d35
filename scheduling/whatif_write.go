package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// write takes what happened since the mark off the board.
func (s *Snapshot) write(w *whatIf, out *Outcome, mark int) {
	all, old := s.board.Nodes()
	w.joins, w.held = w.joins[:0], slices.Grow(w.held[:0], all-old)[:all-old]
	clear(w.held)
	moves, placed := int32(0), int32(0)
	s.board.JoinsSince(mark, func(node, class, variant, n int32) {
		w.joins = append(w.joins, board.Proposal{Class: class, Variant: variant, Node: node, Count: n})
		if placed += n; int(node) < old {
			moves += n
		} else {
			w.held[int(node)-old] += n
		}
	})
	s.launches(w, out, make([]*corev1.Pod, placed-moves))
	if moves > 0 {
		out.Moves = make([]Move, 0, moves)
	}
	if placed > 0 && len(s.c.model.Groups) > 0 {
		out.BindOrder = make([]*corev1.Pod, 0, placed)
	}
	w.next = slices.Grow(w.next[:0], len(w.wants))[:len(w.wants)]
	for i := len(w.moved) - 1; i >= 0; i-- {
		if k := w.want(w.moved[i].class); k >= 0 {
			w.next[k] = int32(i)
		}
	}
	for _, j := range w.joins {
		k := w.want(j.Class)
		for range j.Count {
			m := &w.moved[w.next[k]]
			w.next[k]++
			if int(j.Node) < old {
				out.Moves = append(out.Moves, Move{Pod: m.pod, Node: s.c.nodes[j.Node].node.Name})
			} else {
				l := &out.Launches[w.at[int(j.Node)-old]]
				l.Pods = append(l.Pods, m.pod)
			}
			if out.BindOrder != nil {
				out.BindOrder = append(out.BindOrder, m.pod)
			}
			m.pod = nil
		}
	}
	for _, m := range w.moved {
		if m.pod != nil {
			out.Left = append(out.Left, m.pod)
		}
	}
}

// want finds the want of a class; -1: nobody could place its pods.
func (w *whatIf) want(class int32) int {
	return slices.IndexFunc(w.wants, func(x board.Want) bool { return x.Class == class })
}

// launches describes the new nodes that hold something, with room for their pods in the list.
func (s *Snapshot) launches(w *whatIf, out *Outcome, pods []*corev1.Pod) {
	_, old := s.board.Nodes()
	w.at = w.at[:0]
	n := int32(0)
	for _, held := range w.held {
		w.at = append(w.at, n)
		n += int32(min(held, 1))
	}
	if n > 0 {
		out.Launches = make([]OutcomeLaunch, 0, n)
	}
	var price total
	for i, held := range w.held {
		if held == 0 {
			continue
		}
		row, allowed, open := s.board.Node(old + i)
		_, bit := s.c.space.Price(int(row), allowed)
		r := &s.c.rows[row]
		out.Launches = append(out.Launches, OutcomeLaunch{Pool: r.pool, Type: r.typ, Offering: r.offerings[bit], Price: PriceFromNano(r.prices[bit]),
			CustomLabels: w.labels.of(s.c, row, bit, open), Pods: pods[:0:held]})
		pods = pods[held:]
		price.add(r.prices[bit])
	}
	out.Price = price.price()
}

// launchLabels remembers what a launch of a row and offering decides where pods have no say in it.
type launchLabels struct {
	c    *compiler
	memo map[[2]int32]map[string]string
}

// of is the labels that the pool left open and the launch decides.
func (l *launchLabels) of(c *compiler, row int32, bit int, open []int32) map[string]string {
	if l.c != c {
		l.c, l.memo = c, map[[2]int32]map[string]string{}
	}
	key := [2]int32{row, int32(bit)}
	if labels, ok := l.memo[key]; ok && open == nil {
		return labels
	}
	// What labels read, states and what types say, grows as it is asked for, by any fork.
	c.stateLock.Lock()
	defer c.stateLock.Unlock()
	f := finisher{c: c}
	labels := f.customLabels(&pack.Run{Row: row, Open: open}, &c.rows[row], bit)
	if open == nil {
		l.memo[key] = labels
	}
	return labels
}
