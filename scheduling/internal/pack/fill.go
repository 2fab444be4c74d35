package pack

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"
)

// filling is a node that has been thought of.
type filling struct {
	row   int32
	bits  uint64
	used  []int64
	rem   []int64
	parts []part
	open  []int32
	worth int64
	price int64
	use   int64
}

// shared is a kind and its share.
type shared struct {
	share, kind int32
}

// part is the pods of one kind on a node.
type part struct {
	kind, n int32
}

// partOf says which part of a filling a kind has.
type partOf struct {
	filling, part int32
}

// betterThan compares worth for money. Where that is nearly equal the fuller node is better: what the fluid
// relaxation holds for worthless is scarce to the pods that come later. Then worth, then rows.
func (f *filling) betterThan(g *filling) bool {
	if g.price == 0 {
		return true
	}
	if d := f.use - g.use; d > clearlyFuller && compareRatio(f.worth+f.worth/closeEnough, f.price, g.worth, g.price) > 0 {
		return true
	} else if -d > clearlyFuller && compareRatio(g.worth+g.worth/closeEnough, g.price, f.worth, f.price) > 0 {
		return false
	}
	if c := compareRatio(f.worth, f.price, g.worth, g.price); c != 0 {
		return c > 0
	}
	if f.worth != g.worth {
		return f.worth > g.worth
	}
	return f.row < g.row
}

// clearlyFuller is the difference in use, in thousandths, that counts.
const clearlyFuller = 20

// useOf is how much of cpu and memory is used, in thousandths, both weighing the same.
func (e *Packer) useOf(f *filling) int64 {
	use, n := 0.0, 0
	for d, a := range e.s.AllocOf(int(f.row))[:min(2, e.s.Dims)] {
		if a > 0 && e.demand[d] > 0 {
			use += float64(f.used[d]) / float64(a)
			n++
		}
	}
	return int64(use * 1000 / float64(max(n, 1)))
}

// compareRatio compares a/b with c/d, exactly; none is negative, b and d are not 0.
func compareRatio(a, b, c, d int64) int {
	ahi, alo := bits.Mul64(uint64(a), uint64(d))
	chi, clo := bits.Mul64(uint64(c), uint64(b))
	if ahi != chi {
		return cmp.Compare(ahi, chi)
	}
	return cmp.Compare(alo, clo)
}

// mode is a way to choose the pods of a node.
type mode int

const (
	// largestFirst takes the largest pods first.
	largestFirst mode = iota
	// balanced takes whatever balances the resources left.
	balanced
	// slice takes the same fraction of all pods left, as many as fit, so that those that stay are
	// the same mix. It suits nodes that hold many pods of every kind.
	slice
	// modes are tried in this order, until one leaves hardly anything of the node.
	modes
)

// fill fills a new node of the row, starting with a pod of the i-th kind. The offering is the cheapest
// that the first pod allows and stays so. In the end the node shrinks to the cheapest row that
// holds what it got. False: no such node.
func (e *Packer) fill(f *filling, i int, row int32, m mode) bool {
	kd := &e.kinds[i]
	e.fills++
	f.row, f.parts, f.worth, f.price, f.open = row, f.parts[:0], 0, 0, nil
	if e.tally != nil {
		e.tally.reset()
	}
	if e.s.OpenStart != nil {
		f.open = e.s.OpenStart[row]
	}
	allowed, open, ok := e.s.Narrow(&e.jobs[kd.job], row, e.led.Open(row, ^uint64(0)), f.open)
	if !ok {
		return false
	}
	price, bit := e.s.Price(int(row), allowed)
	if price <= 0 {
		price = 1 // a free node is still a node
	}
	f.bits, f.open = allowed, open
	f.rem = append(f.rem[:0], e.usable(kd, row)...)
	fraction := 0.0
	seed := int64(1)
	switch m {
	case largestFirst:
		seed = kd.avail
	case slice:
		if fraction = e.fraction(f.rem); fraction*float64(kd.left) < 1 {
			return false
		}
		seed = min(int64(fraction*float64(kd.left)), kd.avail)
	}
	if !e.put(f, int32(i), fitMany(f.rem, kd.req, seed)) {
		return false
	}
	target := uint64(1) << bit
	e.near = e.fitting(row, target)
	switch m {
	case largestFirst:
		e.fillLargest(f, i+1, target)
	case balanced:
		e.fillByRatio(f, i, target)
	case slice:
		e.fillSlice(f, i+1, target, fraction)
		e.fillLargest(f, i, target)
	}
	e.b.spend(int64(len(f.parts)) + 1)
	f.used = f.used[:0]
	for d, a := range e.usable(kd, row) {
		f.used = append(f.used, a-f.rem[d])
	}
	f.price = price
	if !e.lax && e.s.wants(e.s.Pool[row]) && !e.flexible(e.s.Pool[row], f.used, e.repsOf(f)) {
		return false
	}
	e.shrink(f)
	f.use = e.useOf(f)
	return true
}

func fitMany(rem, req []int64, limit int64) int32 { return Fit(rem, req, int32(min(limit, noLimit))) }

// put adds up to n pods of the kind as far as the rules between pods allow.
func (e *Packer) put(f *filling, k, n int32) bool {
	kd := &e.kinds[k]
	if kd.tangled {
		n = e.tally.room(e.jobs[kd.job].Class, n)
	}
	if n <= 0 {
		return false
	}
	for d, q := range kd.req {
		f.rem[d] -= q * int64(n)
	}
	f.worth += kd.worth * int64(n)
	if kd.tangled {
		e.tally.add(e.jobs[kd.job].Class, n)
	}
	if at := &e.partOf[k]; at.filling == e.fills {
		f.parts[at.part].n += n
	} else {
		*at = partOf{e.fills, int32(len(f.parts))}
		f.parts = append(f.parts, part{k, n})
	}
	return true
}

// take narrows the node for the kind and adds up to n of its pods.
func (e *Packer) take(f *filling, k int32, target uint64, n int32) bool {
	kd := &e.kinds[k]
	if seed := &e.kinds[f.parts[0].kind]; !e.lax && kd.group != seed.group && e.s.wants(e.s.Pool[f.row]) &&
		!e.s.covers(kd.mask, seed.mask, e.s.Pool[f.row]) {
		return false // it would cost the node types that minValues count on
	}
	j := &e.jobs[kd.job]
	allowed, open, ok := e.s.Narrow(j, f.row, f.bits, f.open)
	if !ok || allowed&target == 0 {
		if allowed, open, ok = e.s.Narrow(j, f.row, target, f.open); !ok {
			return false
		}
	}
	if !e.put(f, k, n) {
		return false
	}
	f.bits, f.open = allowed, open
	return true
}

// more is how many more pods of the kind the filling may have and holds.
func (e *Packer) more(f *filling, k int32) int32 {
	kd := &e.kinds[k]
	n := kd.avail
	if at := &e.partOf[k]; at.filling == e.fills {
		n -= int64(f.parts[at.part].n)
	}
	if n <= 0 {
		return 0
	}
	return fitMany(f.rem, kd.req, n)
}

func (e *Packer) full(f *filling) bool {
	for d, l := range e.least {
		if l > f.rem[d] {
			return true
		}
	}
	return false
}

// patience is how many kinds in a row that may use the offering can be refused before the search skips to kinds of
// half the size, if there are more than manyKinds. It bounds the cost of a filling: 24 x the logarithm of
// their range.
const patience, manyKinds = 24, 2048

// fraction is how much of all that is left a node has room for.
func (e *Packer) fraction(room []int64) float64 {
	f := 1.0
	for d, q := range e.demand {
		if q > 0 {
			f = min(f, float64(max(room[d], 0))/q)
		}
	}
	return f
}

func (e *Packer) fillSlice(f *filling, from int, target uint64, fraction float64) {
	list := e.near.kinds
	at, _ := slices.BinarySearch(list, int32(from))
	for _, k := range list[at:] {
		kd := &e.kinds[k]
		if n := int64(fraction * float64(kd.left)); n > 0 && kd.mask[f.row]&target != 0 {
			if n = min(n, int64(e.more(f, k))); n > 0 {
				e.take(f, k, target, int32(n))
			}
		}
	}
}

func (e *Packer) fillLargest(f *filling, from int, target uint64) {
	misses := 0
	list := e.near.kinds
	at, _ := slices.BinarySearch(list, int32(from))
	for ; at < len(list) && !e.full(f); at++ {
		k := list[at]
		kd := &e.kinds[k]
		if kd.left == 0 {
			e.near.gone++
			continue
		}
		if kd.mask[f.row]&target == 0 {
			continue
		}
		if n := e.more(f, k); n > 0 && e.take(f, k, target, n) {
			misses = 0
			continue
		}
		if misses++; misses > patience && len(e.kinds) > manyKinds {
			at, _ = slices.BinarySearch(list, int32(e.skip(int(k))+1))
			at--
			misses = 0
		}
	}
}

// skip returns the position before the first kind worth at most half of the k-th.
func (e *Packer) skip(k int) int {
	half := e.kinds[k].worth / 2
	lo, hi := k+1, len(e.kinds)
	for lo < hi {
		if m := (lo + hi) / 2; e.kinds[m].worth > half {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo - 1
}

// fillByRatio repeatedly takes a third of what fits of the kind whose share of the first resource is
// nearest to that of the room left.
func (e *Packer) fillByRatio(f *filling, i int, target uint64) {
	worth := e.groups[e.kinds[i].group].weight
	for range 64 {
		if e.full(f) {
			return
		}
		total := 0.0
		for d, r := range f.rem {
			total += float64(worth[d] * float64(max(r, 0)))
		}
		if total <= 0 {
			return
		}
		share := int32(float64(worth[0]*float64(max(f.rem[0], 0))) / total * 1000)
		if !e.takeNearest(f, share, target) {
			return
		}
	}
}

func (e *Packer) takeNearest(f *filling, share int32, target uint64) bool {
	ratio := e.near.ratio
	lo, hi := 0, len(ratio)
	for lo < hi {
		if m := (lo + hi) / 2; ratio[m].share < share {
			lo = m + 1
		} else {
			hi = m
		}
	}
	lo--
	for range 4 * patience {
		var k int32
		switch {
		case lo < 0 && hi >= len(ratio):
			return false
		case lo < 0 || hi < len(ratio) && ratio[hi].share-share < share-ratio[lo].share:
			k = ratio[hi].kind
			hi++
		default:
			k = ratio[lo].kind
			lo--
		}
		kd := &e.kinds[k]
		if kd.avail == 0 || kd.mask[f.row]&target == 0 {
			continue
		}
		if n := e.more(f, k); n > 0 && e.take(f, k, target, (n+2)/3) {
			return true
		}
	}
	return false
}

// shrink moves the filling to the cheapest row and offering of the tier that holds its content.
func (e *Packer) shrink(f *filling) {
	if e.worthLeft(f)*12 < f.worth && !e.s.wants(e.s.Pool[f.row]) {
		return // nearly full: a cheaper row that holds it would have been a candidate itself
	}
	// By the fluid relaxation no row costs less than what it holds is worth; reservations do.
	from, rows := 0, e.rowsOf(f)
	if e.reserved == nil {
		from = sort.Search(len(rows), func(i int) bool {
			p, _ := e.s.Price(int(rows[i]), 1)
			return p >= f.worth-f.worth/8
		})
	}
	e.settle(f, rows[from:])
}

// rowsOf are the rows that the first pod of the filling allows, by price.
func (e *Packer) rowsOf(f *filling) []int32 { return e.groups[e.kinds[f.parts[0].kind].group].byPrice }

func (e *Packer) worthLeft(f *filling) int64 {
	g := e.groups[e.kinds[f.parts[0].kind].group]
	v := 0.0
	for d, r := range f.rem {
		if r > 0 {
			v += float64(g.worth[d] * float64(r))
		}
	}
	return int64(v * nano)
}

// settle moves the filling to the cheapest of the rows that holds it; rows are sorted by price.
func (e *Packer) settle(f *filling, rows []int32) {
	best, bestBits, bestOpen := f.row, f.bits, f.open
	price, reps := f.price, e.repsOf(f)
	for _, r := range rows {
		p, _ := e.s.Price(int(r), 1)
		if p >= price {
			break
		}
		if !Holds(e.s.AllocOf(int(r)), f.used) {
			continue
		}
		allowed, open, ok := e.admit(r, reps)
		if !ok {
			continue
		}
		if p, _ = e.s.Price(int(r), allowed); p >= price {
			continue
		}
		if e.led.Room(r, 0, nil, 1) == 0 {
			continue
		}
		if !e.lax && e.s.wants(e.s.Pool[r]) && !e.flexible(e.s.Pool[r], f.used, reps) {
			continue
		}
		best, bestBits, bestOpen, price = r, allowed, open, p
	}
	f.row, f.bits, f.open, f.price = best, bestBits, bestOpen, max(price, 1)
}

// repsOf has one job for each look of the filling's pods: what rows allow depends on no more.
func (e *Packer) repsOf(f *filling) []Content {
	e.reps = e.reps[:0]
	for _, p := range f.parts {
		e.reps = append(e.reps, Content{Job: e.kinds[p.kind].job})
	}
	e.reps = distinctLooks(e.reps, e.jobs)
	return e.reps
}

// admit is the space's, for what is in the ledger.
func (e *Packer) admit(row int32, content []Content) (uint64, []int32, bool) {
	return e.s.admit(row, e.led.Open(row, ^uint64(0)), content, e.jobs, nil)
}
