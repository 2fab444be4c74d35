package board

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

const unlimited = pack.Unlimited

// front is what is worth buying for pods with one mask, and what their resources are worth.
type front struct {
	// rows that no other row beats in room, price and offerings, by tier, cheapest first; all has every row.
	rows, all [][]int32
	worth     []float64
	// full is what the room of a row is worth, by place in rows.
	full [][]float64
}

func newFront(m *Model, mask pack.Mask) *front {
	s := m.Space
	f := &front{}
	demand := make([]float64, s.Dims)
	for d := range min(2, s.Dims) {
		demand[d] = 1
	}
	f.worth = s.Worth(mask, demandOf(m, mask))
	f.all = make([][]int32, max(len(s.Tiers), 1))
	for r, b := range mask {
		if b != 0 && s.OfferStart[r] < s.OfferStart[r+1] {
			t := m.tier[s.Pool[r]]
			f.all[t] = append(f.all[t], int32(r))
		}
	}
	price := func(r int32) int64 { p, _ := s.Price(int(r), mask[r]); return p }
	for _, rows := range f.all {
		slices.SortStableFunc(rows, func(a, b int32) int { return cmp.Compare(price(a), price(b)) })
		var keep []int32
		var full []float64
		for _, r := range rows {
			if slices.ContainsFunc(keep, func(k int32) bool { return m.beats(k, r, mask) }) {
				continue
			}
			keep = append(keep, r)
			w := 0.0
			for d, a := range s.AllocOf(int(r)) {
				if a > 0 && a < unlimited {
					w += float64(f.worth[d] * float64(a))
				}
			}
			full = append(full, w)
		}
		f.rows, f.full = append(f.rows, keep), append(f.full, full)
	}
	return f
}

// demandOf is one pod of each shape that may use the mask's rows, summed up.
func demandOf(m *Model, mask pack.Mask) []float64 {
	demand := make([]float64, m.Space.Dims)
	for s := range m.Shapes {
		for x, q := range m.Shapes[s].Req {
			demand[x] += float64(q)
		}
	}
	return demand
}

// beats reports whether whoever could buy row r might as well buy k: as much room, no dearer, in the same pool, in every
// domain that r is in, with open labels in the same states.
func (m *Model) beats(k, r int32, mask pack.Mask) bool {
	s := m.Space
	if s.Pool[k] != s.Pool[r] || s.Cap != nil || s.Reservation != nil {
		return false
	}
	if s.OpenStart != nil && !slices.Equal(s.OpenStart[k], s.OpenStart[r]) {
		return false
	}
	a, c := s.AllocOf(int(k)), s.AllocOf(int(r))
	for d := range a {
		if a[d] < c[d] {
			return false
		}
	}
	for key := range m.Keys {
		for _, dm := range m.Keys[key].Mask {
			if dm[r]&mask[r] != 0 && dm[k]&mask[k] == 0 {
				return false
			}
		}
	}
	// Offerings are cheapest first: the i-th of k must not be dearer than the i-th of r.
	x, y := mask[k], mask[r]
	if bits.OnesCount64(x) < bits.OnesCount64(y) {
		return false
	}
	for ; y != 0; x, y = x&(x-1), y&(y-1) {
		p, _ := s.Price(int(k), x)
		if q, _ := s.Price(int(r), y); p > q {
			return false
		}
	}
	return true
}

// Want is a number of pods that need a place.
type Want struct {
	Class, Variant, Count int32
}

// Open adds an empty new node of the row with the given offerings and open labels and returns its number; -1: limits
// or reservations leave no room for it.
func (b *Board) Open(row int32, allowed uint64, open []int32) int32 {
	s := b.m.Space
	allowed = b.offered(row, allowed)
	if allowed == 0 {
		return -1
	}
	i := len(b.nodes)
	if i < cap(b.nodes) {
		b.nodes = b.nodes[:i+1]
	} else {
		b.nodes = append(b.nodes, node{})
	}
	nd := &b.nodes[i]
	*nd = node{row: row, bits: allowed, open: open, domain: nd.domain[:0], free: append(nd.free[:0], s.AllocOf(int(row))...),
		items: nd.items[:0], hosts: nd.hosts[:0], attached: nd.attached[:0], charge: nd.charge[:0]}
	if i < b.old {
		panic("board: an existing node was closed for good")
	}
	for range b.m.Keys {
		nd.domain = append(nd.domain, free)
	}
	if b.left != nil {
		nd.charge = append(nd.charge, s.CapOf(int(row))...)
		if !b.affords(s.Pool[row], nd.charge) {
			b.nodes = b.nodes[:i]
			return -1
		}
	}
	b.pay(nd, 1)
	b.log = append(b.log, entry{kind: opened, node: int32(i)})
	b.stand(int32(i), 1)
	return int32(i)
}

// offered takes away the offerings of reservations that have nothing left.
func (b *Board) offered(row int32, allowed uint64) uint64 {
	s := b.m.Space
	allowed &= rowBits(s, row)
	if b.reserved == nil {
		return allowed
	}
	for left := allowed; left != 0; left &= left - 1 {
		bit := bits.TrailingZeros64(left)
		if id := s.Reservation[s.OfferStart[row]+int32(bit)]; id >= 0 && b.reserved[id] <= 0 {
			allowed &^= 1 << bit
		}
	}
	return allowed
}

// affords reports whether the pool's limits leave room for one node with the charge.
func (b *Board) affords(pool int32, charge []int64) bool {
	if b.nodesLeft[pool] <= 0 {
		return false
	}
	d := b.m.Space.Dims
	for x, c := range charge {
		if v := b.left[int(pool)*d+x]; v != unlimited && c > v && c > 0 {
			return false
		}
	}
	return true
}

// pay charges a new node to limits, n below 0 gives it back. A reservation is held by Settle.
func (b *Board) pay(nd *node, n int64) {
	if b.left != nil {
		b.chargeLimits(b.m.Space.Pool[nd.row], nd.charge, n)
	}
}

// Price is what a new node costs per hour.
func (b *Board) Price(i int32) int64 {
	nd := &b.nodes[i]
	p, _ := b.m.Space.Price(int(nd.row), nd.bits)
	return p
}

// Settle moves a new node to the cheapest row of its pool that holds what is on it.
func (b *Board) Settle(i int32) {
	nd := &b.nodes[i]
	s := b.m.Space
	if nd.row < 0 || len(nd.items) == 0 {
		return
	}
	price := b.Price(i)
	pool := s.Pool[nd.row]
	it := nd.items[0]
	f := b.m.fronts[b.m.Shapes[b.m.Classes[it.Class].Shape].Variants[it.Variant].MaskID]
	used := append(b.spare.room[:0], s.AllocOf(int(nd.row))...)
	b.spare.room = used
	for x := range used {
		used[x] -= nd.free[x]
	}
	rows := f.rows[b.m.tier[pool]]
	for _, r := range rows {
		if s.Pool[r] != pool || s.Offer[s.OfferStart[r]] >= price {
			continue
		}
		if r == nd.row || !pack.Holds(s.AllocOf(int(r)), used) {
			continue
		}
		allowed, open, ok := b.admit(nd, r)
		if !ok {
			continue
		}
		if p, _ := s.Price(int(r), allowed); p < price && b.canMove(nd, r) {
			b.move(i, r, allowed, open)
			price = p
		}
	}
}

// canMove reports whether limits leave room for the difference.
func (b *Board) canMove(nd *node, r int32) bool {
	if b.left == nil {
		return true
	}
	d := b.m.Space.Dims
	pool := int(b.m.Space.Pool[r])
	for x, c := range b.m.Space.CapOf(int(r)) {
		if v := b.left[pool*d+x]; v != unlimited && c-nd.charge[x] > v && c > nd.charge[x] {
			return false
		}
	}
	return true
}

// move makes a new node one of another row of its pool.
func (b *Board) move(i, r int32, allowed uint64, open []int32) {
	nd := &b.nodes[i]
	b.log = append(b.log, entry{kind: moved, node: i, a: nd.row, bits: nd.bits, open: nd.open})
	b.repay(i, r, allowed, open, nil)
}

func (b *Board) repay(i, r int32, allowed uint64, open []int32, _ []int64) {
	nd := &b.nodes[i]
	s := b.m.Space
	b.stand(i, -1)
	b.pay(nd, -1)
	was, now := s.AllocOf(int(nd.row)), s.AllocOf(int(r))
	for x := range nd.free {
		nd.free[x] += now[x] - was[x]
	}
	nd.row, nd.bits, nd.open = r, allowed, open
	if b.left != nil {
		nd.charge = append(nd.charge[:0], s.CapOf(int(r))...)
	}
	b.pay(nd, 1)
	b.stand(i, 1)
}

// admit tells which offerings of a row all that is on the node allows, in the domains it is in, and what
// becomes of the row's open labels.
func (b *Board) admit(nd *node, r int32) (uint64, []int32, bool) {
	s := b.m.Space
	allowed := rowBits(s, r)
	for key, d := range nd.domain {
		if d == free {
			continue
		}
		allowed &= b.in(int32(key), d, r)
	}
	for _, it := range nd.items {
		v := b.variant(it)
		if allowed &= v.Mask[r]; allowed == 0 {
			return 0, nil, false
		}
		allowed = b.alikeOn(it.Class, nd, r, allowed)
	}
	if allowed = b.offered(r, allowed); allowed == 0 {
		return 0, nil, false
	}
	if s.OpenStart == nil {
		return allowed, nil, true
	}
	open := s.OpenStart[r]
	for key, d := range nd.domain {
		if o := b.m.Keys[key].Open; d >= 0 && o >= 0 {
			next := s.Meet(open[o], b.m.Keys[key].State[d])
			if next < 0 {
				return 0, nil, false
			}
			open = slices.Clone(open)
			open[o] = next
		}
	}
	for _, it := range nd.items {
		v := b.variant(it)
		job := pack.Job{Mask: v.Mask, Alternatives: v.Alts}
		var ok bool
		if allowed, open, ok = s.Narrow(&job, r, allowed, open); !ok || allowed == 0 {
			return 0, nil, false
		}
	}
	return allowed, open, true
}

func (b *Board) variant(it Item) *Variant {
	return &b.m.Shapes[b.m.Classes[it.Class].Shape].Variants[it.Variant]
}

// alikeOn leaves those offerings of another row that the class's groups count, or do not, as they do the node.
func (b *Board) alikeOn(class int32, nd *node, r int32, allowed uint64) uint64 {
	l := &b.m.links[class]
	if !l.any {
		return allowed
	}
	one := func(g int32) {
		rows := b.m.Groups[g].Rows
		if rows == nil {
			return
		}
		if rows[nd.row]&(nd.bits&-nd.bits) != 0 {
			allowed &= rows[r]
		} else {
			allowed &^= rows[r]
		}
	}
	for k := range l.of {
		for _, x := range l.of[k] {
			one(x.group)
		}
	}
	for _, x := range l.host {
		one(x.group)
	}
	return allowed
}

// Buy opens new nodes for the wants, largest first, each with the row and content that give the most worth for the
// money. It takes from the counts what it placed and returns how many pods are left.
func (b *Board) Buy(wants []Want) int32 {
	left := int32(0)
	for k := range wants {
		for wants[k].Count > 0 {
			if !b.buyFor(wants, k) {
				break
			}
		}
		left += wants[k].Count
	}
	return left
}

// buyFor opens one node whose first pod is of the k-th want; false: nothing can hold it.
func (b *Board) buyFor(wants []Want, k int) bool {
	w := wants[k]
	v := &b.m.Shapes[b.m.Classes[w.Class].Shape].Variants[w.Variant]
	f := b.m.fronts[v.MaskID]
	if j, ok := b.prepare(w.Class, w.Variant); !ok {
		_ = j
		return false
	}
	for t := range f.rows {
		row := b.bestRow(wants, k, f, t)
		if row < 0 {
			row = b.anyRow(w, f.all[t])
		}
		if row < 0 {
			continue
		}
		if i := b.fill(wants, k, row, t); i >= 0 {
			b.Settle(i)
			for x := k; x < len(wants); x++ {
				wants[x].Count -= b.spare.taken[x]
			}
			return true
		}
	}
	return false
}

// anyRow is the cheapest row that takes one pod of the want.
func (b *Board) anyRow(w Want, rows []int32) int32 {
	for _, r := range rows {
		mark := b.Mark()
		i := b.openFor(w, r)
		ok := i >= 0 && b.Join(w.Class, w.Variant, i, 1) > 0
		b.Rollback(mark)
		if ok {
			return r
		}
	}
	return -1
}

func (b *Board) openFor(w Want, r int32) int32 {
	s := b.m.Space
	if !pack.Holds(s.AllocOf(int(r)), b.m.Shapes[b.m.Classes[w.Class].Shape].Req) {
		return -1
	}
	var open []int32
	if s.OpenStart != nil {
		open = s.OpenStart[r]
	}
	return b.Open(r, ^uint64(0), open)
}

// bestRow tries the front's rows of a tier and returns the one whose filling is worth most for its money; -1: none.
func (b *Board) bestRow(wants []Want, k int, f *front, t int) int32 {
	total := 0.0
	for _, w := range wants[k:] {
		total += b.worth(f, w.Class) * float64(w.Count)
	}
	best, bestScore := int32(-1), 0.0
	order := b.spare.order[:0]
	for x := range f.rows[t] {
		order = append(order, int32(x))
	}
	b.spare.order = order
	bound := func(x int32) float64 {
		r := f.rows[t][x]
		p := max(b.m.Space.Offer[b.m.Space.OfferStart[r]], 1)
		return min(total, f.full[t][x]) / float64(p)
	}
	sort.SliceStable(order, func(a, c int) bool { return bound(order[a]) > bound(order[c]) })
	for tried, x := range order {
		if bound(x) <= bestScore || tried >= maxTried && best >= 0 {
			break
		}
		mark := b.Mark()
		if i := b.fill(wants, k, f.rows[t][x], t); i >= 0 {
			b.Settle(i)
			got := 0.0
			for y := k; y < len(wants); y++ {
				got += b.worth(f, wants[y].Class) * float64(b.spare.taken[y])
			}
			if score := got / float64(max(b.Price(i), 1)); score > bestScore {
				best, bestScore = f.rows[t][x], score
			}
		}
		b.Rollback(mark)
	}
	return best
}

// maxTried bounds how many rows are filled for one node.
const maxTried = 12

func (b *Board) worth(f *front, class int32) float64 {
	w := 0.0
	for d, q := range b.m.Shapes[b.m.Classes[class].Shape].Req {
		w += float64(f.worth[d] * float64(q))
	}
	return w
}

// fill opens a node of the row, puts a pod of the k-th want on it and then what else fits; b.spare.taken tells how
// many of each want. Returns -1 if the first pod does not fit.
func (b *Board) fill(wants []Want, k int, row int32, tier int) int32 {
	taken := append(b.spare.taken[:0], make([]int32, len(wants))...)
	b.spare.taken = taken
	mark := b.Mark()
	i := b.openFor(wants[k], row)
	if i < 0 {
		return -1
	}
	if taken[k] = b.Join(wants[k].Class, wants[k].Variant, i, 1); taken[k] == 0 {
		b.Rollback(mark)
		return -1
	}
	price := b.Price(i)
	for x := k; x < len(wants); x++ {
		w := &wants[x]
		for taken[x] < w.Count {
			n := b.joinAt(w, i, w.Count-taken[x], price)
			if n == 0 {
				break
			}
			taken[x] += n
		}
	}
	return i
}

// joinAt joins if that makes the node no dearer.
func (b *Board) joinAt(w *Want, i, n int32, price int64) int32 {
	mark := b.Mark()
	if n = b.Join(w.Class, w.Variant, i, n); n > 0 && b.Price(i) > price {
		b.Rollback(mark)
		return 0
	}
	return n
}
