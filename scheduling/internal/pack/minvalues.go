package pack

import "slices"

// wants reports whether the pool has minValues.
func (s *Space) wants(pool int32) bool {
	for i := range s.MinValues {
		if s.MinValues[i].Pool == pool {
			return true
		}
	}
	return false
}

// covers reports whether m allows at least one of the offerings that seed allows on each row of the pool.
func (s *Space) covers(m, seed Mask, pool int32) bool {
	for r, b := range seed {
		if b != 0 && s.Pool[r] == pool && m[r]&b == 0 {
			return false
		}
	}
	return true
}

// usable shrinks row's vector until enough rows with distinct values can take its place: the
// componentwise minimum over row and the rows that cost least room. Nil: there are not enough.
func (s *Space) usable(m Mask, row int32) []int64 {
	u := append([]int64(nil), s.AllocOf(int(row))...)
	members := []int32{row}
	for k := range s.MinValues {
		mv := &s.MinValues[k]
		if mv.Pool != s.Pool[row] {
			continue
		}
		for distinct(mv, members) < mv.Need {
			next := s.leastLoss(mv, m, members, u)
			if next < 0 {
				return nil
			}
			members = append(members, next)
			for d, a := range s.AllocOf(int(next)) {
				u[d] = min(u[d], a)
			}
		}
	}
	return u
}

func distinct(mv *MinValues, rows []int32) int {
	seen := map[int32]bool{}
	for _, r := range rows {
		if v := mv.Value[r]; v >= 0 {
			seen[v] = true
		}
	}
	return len(seen)
}

// leastLoss finds the row of a new value that keeps the largest fraction of u, cheapest first.
func (s *Space) leastLoss(mv *MinValues, m Mask, members []int32, u []int64) int32 {
	have := map[int32]bool{}
	for _, r := range members {
		have[mv.Value[r]] = true
	}
	best, bestKept, bestPrice := int32(-1), 0.0, int64(0)
	for r := range s.Rows {
		if m[r] == 0 || s.Pool[r] != mv.Pool || mv.Value[r] < 0 || have[mv.Value[r]] {
			continue
		}
		kept := 1.0
		for d, a := range s.AllocOf(r) {
			if u[d] > 0 {
				kept = min(kept, float64(max(a, 0))/float64(u[d]))
			}
		}
		p, _ := s.Price(r, m[r])
		if best < 0 || kept > bestKept || kept == bestKept && p < bestPrice {
			best, bestKept, bestPrice = int32(r), kept, p
		}
	}
	return best
}

// chargeOf is what a node takes of its pool's limits: what its row has or, where minValues need others to be
// able to take its place, the most that any of those has.
func (e *Packer) chargeOf(f *filling) []int64 {
	charge := append([]int64(nil), e.s.capOf(int(f.row))...)
	if e.lax || !e.s.wants(e.s.Pool[f.row]) {
		return charge
	}
	members := []int32{f.row}
	for _, h := range e.holdersOf(e.s.Pool[f.row], f.used, e.repsOf(f)) {
		for k := range e.s.MinValues {
			mv := &e.s.MinValues[k]
			if mv.Pool != e.s.Pool[f.row] {
				continue
			}
			if n := distinct(mv, members); n < mv.Need && distinct(mv, append(members, h)) > n {
				members = append(members, h)
				for d, c := range e.s.capOf(int(h)) {
					charge[d] = max(charge[d], c)
				}
			}
		}
	}
	return charge
}

// holdersOf lists the rows of the pool that could hold the content, those that have least first.
func (e *Packer) holdersOf(pool int32, used []int64, content []Content) []int32 {
	var holders []int32
	for r := range e.s.Rows {
		if e.s.Pool[r] != pool || !Holds(e.s.AllocOf(r), used) {
			continue
		}
		if _, _, ok := e.admit(int32(r), content); ok {
			holders = append(holders, int32(r))
		}
	}
	if e.s.Cap != nil {
		slices.SortStableFunc(holders, func(a, b int32) int {
			return slices.Compare(e.s.capOf(int(a)), e.s.capOf(int(b)))
		})
	}
	return holders
}

// flexible reports whether the rows of the pool that could hold the content satisfy its minValues.
func (e *Packer) flexible(pool int32, used []int64, content []Content) bool {
	holders := e.holdersOf(pool, used, content)
	for k := range e.s.MinValues {
		if mv := &e.s.MinValues[k]; mv.Pool == pool && distinct(mv, holders) < mv.Need {
			return false
		}
	}
	return true
}
