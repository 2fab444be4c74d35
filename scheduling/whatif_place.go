package scheduling

import (
	"cmp"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
)

// place finds places for the displaced pods and writes them down.
func (s *Snapshot) place(w *whatIf, out *Outcome) {
	c := s.c
	slices.SortFunc(w.moved, func(x, y displaced) int {
		if x.class == y.class {
			return compareNames(x.pod, y.pod)
		}
		return c.before(x.class, y.class)
	})
	mark := s.board.Mark()
	s.attempt(w, mark, nil)
	s.failedFirst(w, mark)
	if scarce := c.space.Limits != nil || c.space.Reservation != nil; scarce && s.shut(w.wants) {
		// Some spreads waited for domains that limits and reservations have closed.
		s.complete(w.wants)
		s.rebind(w, mark)
		s.board.Unshut()
	}
	s.write(w, out, mark)
}

// attempt places everything from the mark on, the classes in first before others of their priority.
func (s *Snapshot) attempt(w *whatIf, mark int, first []int32) {
	s.board.Rollback(mark)
	w.wants = w.wants[:0]
	for _, m := range w.moved {
		if k := len(w.wants) - 1; k >= 0 && w.wants[k].Class == m.class {
			w.wants[k].Count++
		} else if s.c.places(m.class) {
			w.wants = append(w.wants, board.Want{Class: m.class, Count: 1})
		}
	}
	if len(first) > 0 {
		slices.SortStableFunc(w.wants, func(x, y board.Want) int {
			return cmp.Or(cmp.Compare(s.c.classes[y.Class].rank(), s.c.classes[x.Class].rank()),
				cmp.Compare(b2i(slices.Contains(first, y.Class)), b2i(slices.Contains(first, x.Class))))
		})
	}
	s.complete(w.wants)
	s.rebind(w, mark)
}

// failedFirst places everything once more where pods are left over, these before others, as long as that helps.
func (s *Snapshot) failedFirst(w *whatIf, mark int) {
	var failed []int32
	for range replaceTries {
		n := len(failed)
		for _, x := range w.wants {
			if x.Count > 0 && !slices.Contains(failed, x.Class) {
				failed = append(failed, x.Class)
			}
		}
		if len(failed) == n || len(failed) == len(w.wants) {
			return
		}
		was := slices.Clone(w.wants)
		s.attempt(w, mark, failed)
		if !s.better(w.wants, was) {
			s.attempt(w, mark, failed[:n])
			return
		}
	}
}

// better reports whether fewer pods are left now, those of the highest priority first.
func (s *Snapshot) better(now, was []board.Want) bool {
	fewer := map[int64]int64{}
	for i := range now {
		fewer[s.c.classes[now[i].Class].rank()] -= int64(now[i].Count)
		fewer[s.c.classes[was[i].Class].rank()] += int64(was[i].Count)
	}
	ranks := sortedInts(fewer)
	for k := len(ranks) - 1; k >= 0; k-- {
		if d := fewer[ranks[k]]; d != 0 {
			return d > 0
		}
	}
	return false
}

// before orders classes for placing: what others wait for, then priority, then size.
func (c *compiler) before(a, b int32) int {
	x, y := &c.classes[a], &c.classes[b]
	return cmp.Or(cmp.Compare(c.depth[a], c.depth[b]), cmp.Compare(y.rank(), x.rank()), slices.Compare(y.req, x.req), cmp.Compare(c.place[a], c.place[b]))
}

// complete places what it can of the wants, with as many preferences as can be had.
func (s *Snapshot) complete(wants []board.Want) {
	variants := 0
	for i := range wants {
		if wants[i].Count > 0 {
			variants = max(variants, len(s.c.variantsOf(wants[i].Class)))
		}
	}
	for v := range int32(variants) {
		for s.pass(wants, v) {
		}
	}
	if s.c.space.BestEffort && variants > 0 && !s.board.Lax && left(wants) > 0 {
		s.board.Lax = true
		s.complete(wants)
		s.board.Lax = false
	}
}

// pass tries what is left under one variant, or its last, on nodes that are there and then on new ones. It
// reports whether to try again: something found a place, and something has none.
func (s *Snapshot) pass(wants []board.Want, v int32) bool {
	before := left(wants)
	if before == 0 {
		return false
	}
	for i := range wants {
		w := &wants[i]
		if w.Count == 0 {
			continue
		}
		w.Variant = min(v, int32(len(s.c.variantsOf(w.Class)))-1)
		w.Count -= s.board.Place(w.Class, w.Variant, w.Count)
	}
	now := left(wants)
	if now > 0 {
		now = s.board.Buy(wants)
	}
	return 0 < now && now < before
}

func left(wants []board.Want) (n int32) {
	for i := range wants {
		n += wants[i].Count
	}
	return n
}

// rebind places everything once more with all launches there from the beginning, where that can make a difference, and
// then what does not hold any more.
func (s *Snapshot) rebind(w *whatIf, mark int) {
	b := s.board
	for try := 0; s.c.model.Loose() && try < 2*maxRebinds; try++ {
		if all, old := b.Nodes(); all == old {
			return
		}
		b.Lax = s.c.space.BestEffort
		refused := b.Again(mark)
		if len(refused) > 0 {
			slices.SortStableFunc(refused, func(x, y board.Proposal) int {
				return cmp.Or(s.c.before(x.Class, y.Class), cmp.Compare(x.Variant, y.Variant))
			})
			b.Replay(refused)
		}
		b.Lax = false
		some := false
		for _, p := range refused {
			w.wants[w.want(p.Class)].Count += p.Count
			some = some || p.Count > 0
		}
		if !some {
			return
		}
		if try < maxRebinds {
			s.complete(w.wants)
		}
	}
}

// shut takes domains that nobody can open any more out of the spreads of pods that are left.
func (s *Snapshot) shut(wants []board.Want) (changed bool) {
	for i := range wants {
		if wants[i].Count > 0 {
			changed = s.board.Shut(wants[i].Class) || changed
		}
	}
	return changed
}
