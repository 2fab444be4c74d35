package board

import (
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// Expect makes room for so many new nodes.
func (b *Board) Expect(n int) { b.nodes = slices.Grow(b.nodes, n) }

// Open adds an empty new node of the row with the given offerings and open labels and returns its number; -1: limits
// or reservations leave no room for it.
func (b *Board) Open(row int32, allowed uint64, open []int32) int32 {
	return b.OpenFor(row, allowed, open, nil)
}

// OpenFor is Open for a node that takes more of its pool's limits than its row has.
func (b *Board) OpenFor(row int32, allowed uint64, open []int32, charge []int64) int32 {
	s := b.m.Space
	allowed = b.led.Open(row, allowed&rowBits(s, row))
	if allowed == 0 || b.led.Room(row, allowed, charge, 1) == 0 {
		return -1
	}
	if open == nil && s.OpenStart != nil {
		open = s.OpenStart[row]
	}
	i := len(b.nodes)
	if i < cap(b.nodes) {
		b.nodes = b.nodes[:i+1]
	} else {
		b.nodes = append(b.nodes, node{})
	}
	nd := &b.nodes[i]
	if nd.free == nil {
		nd.free, nd.domain = b.vector(s.Dims), b.list(len(b.m.Keys))
	}
	*nd = node{row: row, bits: allowed, open: open, domain: nd.domain[:0], free: append(nd.free[:0], s.AllocOf(int(row))...),
		items: nd.items[:0], hosts: nd.hosts[:0], attached: nd.attached[:0], charge: charge}
	for range b.m.Keys {
		nd.domain = append(nd.domain, free)
	}
	b.led.Charge(row, allowed, charge, 1)
	b.log = append(b.log, entry{kind: opened, node: int32(i)})
	b.stand(int32(i), 1)
	return int32(i)
}

// portion returns an empty list with room for as much as most nodes have, many of which share memory.
func portion[T any](store *[]T) []T {
	const each, chunk = 2, 128
	if len(*store) < each {
		*store = make([]T, chunk)
	}
	out := (*store)[:0:each]
	*store = (*store)[each:]
	return out
}

// vector and list return empty slices with room for n, many of which share memory.
func (b *Board) vector(n int) []int64 {
	if cap(b.vectors)-len(b.vectors) < n {
		b.vectors = make([]int64, 0, max(64*n, n))
	}
	k := len(b.vectors)
	b.vectors = b.vectors[:k+n]
	return b.vectors[k : k : k+n]
}

func (b *Board) list(n int) []int32 {
	if cap(b.lists)-len(b.lists) < n {
		b.lists = make([]int32, 0, max(64*n, n))
	}
	k := len(b.lists)
	b.lists = b.lists[:k+n]
	return b.lists[k : k : k+n]
}

// Price is what a new node costs per hour.
func (b *Board) Price(i int32) int64 {
	nd := &b.nodes[i]
	p, _ := b.m.Space.Price(int(nd.row), nd.bits)
	return p
}

// used is what is taken of a new node's room, in scratch memory.
func (b *Board) used(nd *node) []int64 {
	used := append(b.spare.used[:0], b.m.Space.AllocOf(int(nd.row))...)
	b.spare.used = used
	for x := range used {
		used[x] -= nd.free[x]
	}
	return used
}

// Settle moves a new node to the cheapest row of its pool that holds what is on it.
func (b *Board) Settle(i int32) {
	nd := &b.nodes[i]
	s := b.m.Space
	if nd.row < 0 || nd.gone || len(nd.items) == 0 {
		return
	}
	was := nd.row
	// Pods that were to come and did not may have narrowed it.
	if allowed, open, ok := b.admit(nd, was); ok && allowed != nd.bits {
		b.move(i, was, allowed, open)
	}
	pool := s.Pool[nd.row]
	f := b.m.fronts[b.variant(nd.items[0]).MaskID]
	used := b.used(nd)
	for _, r := range f.all()[b.m.tier[pool]] {
		price := b.Price(i)
		if f.price(r) >= price {
			break // nor do those after it cost less
		}
		if s.Pool[r] != pool || r == nd.row || s.Offer[s.OfferStart[r]] >= price || !pack.Holds(s.AllocOf(int(r)), used) {
			continue
		}
		allowed, open, ok := b.admit(nd, r)
		if !ok {
			continue
		}
		if p, _ := s.Price(int(r), allowed); p < price {
			b.move(i, r, allowed, open)
		}
	}
	if nd.row != was && b.wants(pool) && !b.Lax {
		b.flexible(i) // which rows could hold it is the same, what the least of them charge may not be
	}
}

// SettleAll settles every new node.
func (b *Board) SettleAll() {
	for i := b.old; i < len(b.nodes); i++ {
		b.Settle(int32(i))
	}
}

// Grow makes a new node one of the cheapest row of its pool that holds one more pod of the class, and puts it there.
func (b *Board) Grow(class, variant, i int32) bool {
	nd := &b.nodes[i]
	if nd.row < 0 || nd.gone {
		return false
	}
	s := b.m.Space
	sh := &b.m.Shapes[b.m.Classes[class].Shape]
	used := slices.Clone(b.used(nd))
	for x, q := range sh.Req {
		used[x] += q
	}
	pool := s.Pool[nd.row]
	for _, r := range b.m.fronts[sh.Variants[variant].MaskID].all()[b.m.tier[pool]] {
		if s.Pool[r] != pool || r == nd.row || !pack.Holds(s.AllocOf(int(r)), used) {
			continue
		}
		mark := b.Mark()
		if allowed, open, ok := b.admit(nd, r); ok {
			b.move(i, r, allowed, open)
			if nd.row == r && b.Join(class, variant, i, 1) > 0 {
				return true
			}
		}
		b.Rollback(mark)
	}
	return false
}

// move makes a new node one of another row of its pool, if limits and reservations leave room for that.
func (b *Board) move(i, r int32, allowed uint64, open []int32) {
	nd := &b.nodes[i]
	b.led.Refund(nd.row, nd.bits, nd.charge, 1)
	room := b.led.Room(r, allowed, nil, 1) > 0
	b.led.Charge(nd.row, nd.bits, nd.charge, 1)
	if !room {
		return
	}
	b.note(entry{kind: moved, node: i, a: nd.row})
	b.turn(i, r, allowed, open, nil)
}

// turn changes a new node's row, whatever that means for limits.
func (b *Board) turn(i, r int32, allowed uint64, open []int32, charge []int64) {
	nd := &b.nodes[i]
	s := b.m.Space
	b.stand(i, -1)
	b.led.Refund(nd.row, nd.bits, nd.charge, 1)
	was, now := s.AllocOf(int(nd.row)), s.AllocOf(int(r))
	for x := range nd.free {
		nd.free[x] += now[x] - was[x]
	}
	nd.row, nd.bits, nd.open, nd.charge = r, allowed, open, charge
	b.led.Charge(r, allowed, charge, 1)
	b.stand(i, 1)
}

// wants reports whether the pool has minValues.
func (b *Board) wants(pool int32) bool {
	for k := range b.m.Space.MinValues {
		if b.m.Space.MinValues[k].Pool == pool {
			return true
		}
	}
	return false
}

// flexible reports whether the rows of the node's pool that could hold what is on it satisfy the pool's minValues,
// and makes the node charge what the least of those rows have at most: alternatives that limits would
// cut are no flexibility. False also if there is no room for that.
func (b *Board) flexible(i int32) bool {
	nd := &b.nodes[i]
	s := b.m.Space
	pool := s.Pool[nd.row]
	holders := b.holders(nd, pool)
	members := []int32{nd.row}
	for k := range s.MinValues {
		mv := &s.MinValues[k]
		if mv.Pool != pool {
			continue
		}
		for _, h := range holders {
			if n := distinct(mv, members); n < mv.Need && distinct(mv, append(members, h)) > n {
				members = append(members, h)
			}
		}
		if distinct(mv, members) < mv.Need {
			return false
		}
	}
	if s.Limits == nil {
		return true
	}
	charge := slices.Clone(s.CapOf(int(nd.row)))
	for _, r := range members {
		for x, c := range s.CapOf(int(r)) {
			charge[x] = max(charge[x], c)
		}
	}
	return b.charge(i, charge)
}

// charge makes a new node take so much of its pool's limits, if there is room.
func (b *Board) charge(i int32, charge []int64) bool {
	nd := &b.nodes[i]
	b.led.Refund(nd.row, nd.bits, nd.charge, 1)
	if b.led.Room(nd.row, nd.bits, charge, 1) == 0 {
		b.led.Charge(nd.row, nd.bits, nd.charge, 1)
		return false
	}
	b.note(entry{kind: moved, node: i, a: nd.row})
	nd.charge = charge
	b.led.Charge(nd.row, nd.bits, charge, 1)
	return true
}

// holders lists the rows of the pool that could hold what is on the node, those that charge least first.
func (b *Board) holders(nd *node, pool int32) (rows []int32) {
	s := b.m.Space
	used := b.used(nd)
	for r := range s.Rows {
		if s.Pool[r] == pool && pack.Holds(s.AllocOf(r), used) {
			if _, _, ok := b.admit(nd, int32(r)); ok {
				rows = append(rows, int32(r))
			}
		}
	}
	if s.Cap != nil {
		slices.SortStableFunc(rows, func(x, y int32) int { return slices.Compare(s.CapOf(int(x)), s.CapOf(int(y))) })
	}
	return rows
}

func distinct(mv *pack.MinValues, rows []int32) int {
	seen := map[int32]bool{}
	for _, r := range rows {
		if v := mv.Value[r]; v >= 0 {
			seen[v] = true
		}
	}
	return len(seen)
}

// offered leaves the offerings of a row that a node may move to: of reservations those with enough left, what the node
// itself holds included.
func (b *Board) offered(nd *node, r int32, allowed uint64) uint64 {
	return b.led.OpenTo(r, allowed, nd.row, nd.bits)
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
	if allowed = b.offered(nd, r, allowed); allowed == 0 {
		return 0, nil, false
	}
	if s.OpenStart == nil {
		return allowed, nil, true
	}
	open := slices.Clone(s.OpenStart[r])
	for k, state := range nd.open {
		if s.Settle(state) == state { // what is settled stays so
			if open[k] = s.Meet(open[k], state); open[k] < 0 {
				return 0, nil, false
			}
		}
	}
	for key, d := range nd.domain {
		if o := b.m.Keys[key].Open; d >= 0 && o >= 0 {
			next := s.Meet(open[o], b.m.Keys[key].State[d])
			if next < 0 {
				return 0, nil, false
			}
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

// Shut takes domains out of the minimum of the class's spreads in which there is no node and, by limits and
// reservations, can be none. It is for the end of a search: nodes that get smaller later would open them again.
func (b *Board) Shut(class int32) (changed bool) {
	for _, g := range b.m.Classes[class].Owns {
		gr := &b.m.Groups[g]
		if gr.Kind != Spread || gr.Key == Host {
			continue
		}
		owners := b.owners(g)
		for d := range gr.Eligible {
			at := int(b.m.at[g]) + d
			if !gr.Eligible[d] || b.tally.shut != nil && b.tally.shut[at] || b.inhabited(gr, int32(d)) || b.canOpen(gr.Key, d, owners) {
				continue
			}
			if b.tally.shut == nil {
				b.tally.shut = make([]bool, len(b.tally.in))
			}
			b.tally.shut[at], changed = true, true
		}
	}
	return changed
}

// Unshut makes Shut undone. No journal knows of either.
func (b *Board) Unshut() { b.tally.shut = nil }

// inhabited reports whether a node that counts for the group is, or may turn out to be, in the domain.
func (b *Board) inhabited(gr *Group, d int32) bool {
	for i := range b.nodes {
		nd := &b.nodes[i]
		if nd.gone || !b.counts(int32(i), gr) {
			continue
		}
		if nd.domain[gr.Key] == d || nd.row >= 0 && nd.domain[gr.Key] == free && b.m.Keys[gr.Key].Mask[d][nd.row]&nd.bits != 0 {
			return true
		}
	}
	return false
}

// owners are the shapes of the classes that state the group.
func (b *Board) owners(g int32) (out []*Shape) {
	for c := range b.m.Classes {
		if cl := &b.m.Classes[c]; cl.Shape >= 0 && contains(cl.Owns, g) {
			out = append(out, &b.m.Shapes[cl.Shape])
		}
	}
	return out
}

// canOpen reports whether limits and reservations have room for a node in the domain that one of the shapes could be on.
func (b *Board) canOpen(key int32, d int, owners []*Shape) bool {
	s := b.m.Space
	for r, m := range b.m.Keys[key].Mask[d] {
		if m = b.led.Open(int32(r), m&rowBits(s, int32(r))); m == 0 || b.led.Room(int32(r), m, nil, 1) == 0 {
			continue
		}
		if b.m.Waits {
			return true
		}
		for _, sh := range owners {
			if sh.Variants[len(sh.Variants)-1].Mask[r]&m != 0 && pack.Holds(s.AllocOf(r), sh.Req) {
				return true
			}
		}
	}
	return false
}
