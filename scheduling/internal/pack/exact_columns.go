package pack

import (
	"cmp"
	"math/bits"
	"slices"
)

// column is an offering of a row.
type column struct {
	row   int32
	bit   int32
	price int64
	// place is what the Judge knows its nodes by.
	place, tier int32
	// reservation is what it draws on, -1: nothing, and draw how much.
	reservation int32
	draw        int64
	lots        uint64 // that may go there
}

// choice is a new node for a set.
type choice struct {
	column int32
	cost   int64
	charge []int64
	open   []int32
}

// listColumns finds what could be bought for some pod, cheapest first, without what others are better than in every way.
func (x *division) listColumns() {
	s := x.Space
	most := x.sizeOf(x.sets - 1)
	tierOf, tiered := s.tierOf(), s.Tiered()
	for r := range int32(s.Rows) {
		for at := s.OfferStart[r]; at < s.OfferStart[r+1]; at++ {
			c := column{row: r, bit: at - s.OfferStart[r], price: s.Offer[at], reservation: -1, tier: tierOf[s.Pool[r]]}
			for k := range x.lots {
				if j := x.lots[k].job; j.Mask[r]>>c.bit&1 != 0 && Holds(s.AllocOf(int(r)), j.Req) {
					c.lots |= 1 << k
				}
			}
			if c.lots == 0 || c.price > x.dearest && !tiered {
				continue
			}
			if s.Reservation != nil {
				c.reservation, c.draw = s.DrawOf(r, 1<<c.bit)
			}
			if x.Judge != nil {
				c.place = x.Judge.Place(r, int(c.bit))
			}
			x.columns = append(x.columns, c)
		}
	}
	slices.SortStableFunc(x.columns, func(a, b column) int { return cmp.Compare(a.price, b.price) })
	x.findTiers()
	type key struct {
		place, reservation, tier int32
		lots                     uint64
	}
	kept := map[key][]int32{}
	out := x.columns[:0]
	for _, c := range x.columns {
		for k := range x.lots {
			if x.lots[k].tier != c.tier {
				c.lots &^= 1 << k
			}
		}
		if c.lots == 0 || c.price > x.dearest {
			continue
		}
		id := key{c.place, c.reservation, c.tier, c.lots}
		if slices.ContainsFunc(kept[id], func(i int32) bool { return x.beats(&out[i], &c, most) }) {
			continue
		}
		kept[id] = append(kept[id], int32(len(out)))
		out = append(out, c)
	}
	x.columns = out
}

// beats reports whether whoever could buy b might as well buy a, which costs no more and takes the same pods.
func (x *division) beats(a, b *column, most []int64) bool {
	s := x.Space
	if s.wants(s.Pool[a.row]) || s.wants(s.Pool[b.row]) || a.draw > b.draw || !roomier(s.AllocOf(int(a.row)), s.AllocOf(int(b.row)), most) {
		return false
	}
	if s.Limits != nil {
		if s.Pool[a.row] != s.Pool[b.row] {
			return false
		}
		for d, q := range s.capOf(int(a.row)) {
			if q > s.capOf(int(b.row))[d] {
				return false
			}
		}
	}
	if a.row == b.row || s.OpenStart == nil {
		return x.sameAlternatives(a, b)
	}
	return slices.Equal(s.OpenStart[a.row], s.OpenStart[b.row]) && x.sameAlternatives(a, b)
}

// sameAlternatives reports whether jobs can go to both columns in the same ways.
func (x *division) sameAlternatives(a, b *column) bool {
	if x.Space.OpenStart == nil {
		return true
	}
	for k := range x.lots {
		for i := range x.lots[k].job.Alternatives {
			m := x.lots[k].job.Alternatives[i].Mask
			if m[a.row]>>a.bit&1 != m[b.row]>>b.bit&1 {
				return false
			}
		}
	}
	return true
}

// findTiers finds, for each lot, the heaviest tier with a node for one of its pods, which is the only one whose new
// nodes it may go to.
func (x *division) findTiers() {
	if x.only {
		return
	}
	for k := range x.lots {
		l := &x.lots[k]
		l.tier = -1
		for i := range x.columns {
			c := &x.columns[i]
			if c.lots>>k&1 == 0 || l.tier >= 0 && c.tier >= l.tier {
				continue
			}
			if _, ok := x.admits(c, x.stride[k]); ok {
				l.tier = c.tier
			}
		}
	}
}

// admits reports whether a new node of the column may hold the set, and how its open keys end up.
func (x *division) admits(c *column, set int32) ([]int32, bool) {
	s := x.Space
	if !x.legal[set] || !Holds(s.AllocOf(int(c.row)), x.sizeOf(set)) {
		return nil, false
	}
	n := x.of(set)
	for k := range n {
		if n[k] > 0 && c.lots>>k&1 == 0 {
			return nil, false
		}
	}
	open, ok := x.narrow(c.row, uint64(1)<<c.bit, n, nil)
	if !ok || s.wants(s.Pool[c.row]) && !x.flexes(s.Pool[c.row], set) {
		return nil, false
	}
	return open, true
}

// narrow finds a way in which all the pods agree about the open keys of a row under one of the offerings, whichever of
// their alternatives that takes.
func (x *division) narrow(row int32, want uint64, n []uint8, open []int32) ([]int32, bool) {
	s := x.Space
	if s.OpenStart == nil {
		return nil, true
	}
	if open == nil {
		open = s.OpenStart[row]
	}
	k := 0
	for k < len(n) && (n[k] == 0 || len(x.lots[k].job.Alternatives) == 0) {
		k++
	}
	if k == len(n) {
		return open, true
	}
	rest := slices.Clone(n)
	rest[k] = 0
	for i := range x.lots[k].job.Alternatives {
		alt := &x.lots[k].job.Alternatives[i]
		if alt.Mask[row]&want == 0 {
			continue
		}
		if next, ok := s.meet(alt, open); ok {
			if next, ok = x.narrow(row, alt.Mask[row]&want, rest, next); ok {
				return next, true
			}
		}
	}
	return nil, false
}

// flexes reports whether the rows of a pool that could hold the set satisfy its minValues.
func (x *division) flexes(pool, set int32) bool {
	id := int64(pool)<<32 | int64(set)
	if known, ok := x.flexible[id]; ok {
		return known
	}
	holders := x.holders(pool, set)
	ok := true
	for k := range x.Space.MinValues {
		if mv := &x.Space.MinValues[k]; mv.Pool == pool && distinct(mv, holders) < mv.Need {
			ok = false
		}
	}
	if x.flexible == nil {
		x.flexible = map[int64]bool{}
	}
	x.flexible[id] = ok
	return ok
}

// holders lists the rows of a pool that could hold the set, those that charge least first.
func (x *division) holders(pool, set int32) (out []int32) {
	s, n := x.Space, x.of(set)
	for r := range int32(s.Rows) {
		if s.Pool[r] != pool || !Holds(s.AllocOf(int(r)), x.sizeOf(set)) {
			continue
		}
		m := ^uint64(0)
		for k := range n {
			if n[k] > 0 {
				m &= x.lots[k].job.Mask[r]
			}
		}
		for ; m != 0; m &= m - 1 {
			if _, ok := x.narrow(r, m&-m, n, nil); ok {
				out = append(out, r)
				break
			}
		}
	}
	if s.Cap != nil {
		slices.SortStableFunc(out, func(a, b int32) int { return slices.Compare(s.capOf(int(a)), s.capOf(int(b))) })
	}
	return out
}

// charge is what a new node of the row with the set takes of its pool's limits.
func (x *division) charge(row, set int32) []int64 {
	s := x.Space
	if s.Limits == nil {
		return nil
	}
	out := slices.Clone(s.capOf(int(row)))
	if !s.wants(s.Pool[row]) {
		return out
	}
	members := []int32{row}
	for _, h := range x.holders(s.Pool[row], set) {
		for k := range s.MinValues {
			mv := &s.MinValues[k]
			if mv.Pool != s.Pool[row] {
				continue
			}
			if n := distinct(mv, members); n < mv.Need && distinct(mv, append(members, h)) > n {
				members = append(members, h)
				for d, c := range s.capOf(int(h)) {
					out[d] = max(out[d], c)
				}
			}
		}
	}
	return out
}

// choices lists the new nodes that could hold the set, cheapest first: of those that limits, reservations and the Judge
// cannot tell apart only one.
func (x *division) choices(set int32) []choice {
	if x.memo == nil {
		x.memo = make([][]choice, x.sets)
	}
	if x.memo[set] != nil {
		return x.memo[set]
	}
	s := x.Space
	out := make([]choice, 0, 4)
	for i := range x.columns {
		c := &x.columns[i]
		if slices.ContainsFunc(out, func(o choice) bool { return x.equals(&x.columns[o.column], o.charge, c, set) }) {
			continue
		}
		if open, ok := x.admits(c, set); ok {
			out = append(out, choice{column: int32(i), cost: c.price*perNode + 1, open: open, charge: x.charge(c.row, set)})
			if s.Limits == nil && s.Reservation == nil && x.Judge == nil {
				break
			}
		}
	}
	x.memo[set] = out
	return out
}

// equals reports whether a choice makes another needless that costs no less.
func (x *division) equals(a *column, charge []int64, b *column, set int32) bool {
	s := x.Space
	if a.place != b.place || a.reservation >= 0 && (a.reservation != b.reservation || a.draw > b.draw) {
		return false
	}
	if s.Limits == nil {
		return true
	}
	if s.Pool[a.row] != s.Pool[b.row] {
		return false
	}
	for d, q := range s.capOf(int(b.row)) {
		if charge[d] > q {
			return false
		}
	}
	return true
}

// bitsOf are the offerings of the choice's row that the set may have, from the chosen one on.
func (x *division) bitsOf(c *column, set int32) uint64 {
	out := ^uint64(0)
	for k, n := range x.of(set) {
		if n > 0 {
			out &= x.lots[k].job.Mask[c.row]
		}
	}
	out &^= uint64(1)<<c.bit - 1
	if x.Space.OpenStart == nil || bits.OnesCount64(out) == 1 {
		return out
	}
	return out & -out
}
