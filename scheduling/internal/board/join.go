package board

import (
	"math/bits"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// scratch is memory that is used again.
type scratch struct {
	room, used []int64
	taken      []int32
	order      []int32
	rows       []int32
	reach      []bool
}

// joining is what a class asks under a variant, worked out once for many nodes.
type joining struct {
	class, variant int32
	shape          *Shape
	v              *Variant
	l              *links
	// choices are by key of the class.
	choices []Choice
	// best is the least rank among the domains allowed.
	best int32
}

// prepare works out which domains the pods may join now. False: none of some key.
func (b *Board) prepare(class, variant int32) (joining, bool) {
	sh := &b.m.Shapes[b.m.Classes[class].Shape]
	j := joining{class: class, variant: variant, shape: sh, v: &sh.Variants[variant], l: &b.m.links[class]}
	ok := true
	for k := range j.l.keys {
		for len(b.choices) <= k {
			b.choices = append(b.choices, Choice{})
		}
		c := &b.choices[k]
		b.tally.choose(class, variant, k, c)
		best := int32(-1)
		for d, good := range c.OK {
			if good && (best < 0 || c.Rank[d] < best) {
				best = c.Rank[d]
			}
		}
		ok = ok && (best >= 0 || c.None)
		j.best += max(best, 0)
	}
	j.choices = b.choices[:len(j.l.keys)]
	return j, ok
}

// atOnce is how many pods may be placed before the domains must be looked at again.
func (j *joining) atOnce(n int32) int32 {
	if j.l.any && len(j.l.keys) > 0 {
		for k := range j.l.of {
			for _, x := range j.l.of[k] {
				if x.owns {
					return 1
				}
			}
		}
		if int(j.variant) < len(j.l.soft) && len(j.l.soft[j.variant]) > 0 {
			return 1
		}
	}
	return n
}

// Join puts up to n pods of the class on the node under the variant and returns how many. Nothing is counted
// as placed that a constraint or the room forbids.
func (b *Board) Join(class, variant, i, n int32) int32 {
	j, ok := b.prepare(class, variant)
	if !ok {
		return 0
	}
	return b.join(&j, i, n)
}

// join puts at most j.atOnce pods on the node.
func (b *Board) join(j *joining, i, n int32) int32 {
	nd := &b.nodes[i]
	b.Steps++
	if b.m.Ignores != nil && int(j.variant) < len(j.shape.Variants)-1 && b.ignores(nd) {
		return b.joinCareless(j, i, n)
	}
	if nd.gone {
		return 0
	}
	n = j.atOnce(n)
	if n = b.fit(nd, j.class, j.shape.Req, n); n == 0 {
		return 0
	}
	if nd.row < 0 {
		if !j.v.Has(int(i)) {
			return 0
		}
		if _, ok := j.rank(nd.domain); !ok {
			return 0
		}
		if n = b.rules(i, j.class, j.variant, n); n > 0 {
			b.put(i, j.class, j.variant, n)
		}
		return n
	}
	allowed, open, ok := b.narrow(j, nd)
	if !ok || allowed == 0 || !b.holds(nd, allowed) {
		return 0
	}
	if n = b.rules(i, j.class, j.variant, n); n == 0 {
		return 0
	}
	mark := b.Mark()
	b.pin(j, i, allowed, open)
	b.put(i, j.class, j.variant, n)
	if !b.Lax && b.wants(b.m.Space.Pool[nd.row]) && !b.flexible(i) {
		b.Rollback(mark)
		return 0
	}
	return n
}

// ignores reports whether preferences do not count on the node.
func (b *Board) ignores(nd *node) bool {
	if nd.row < 0 {
		return b.m.IgnoresOld
	}
	return b.m.Ignores[b.m.Space.Pool[nd.row]]
}

// joinCareless joins as if the pods had no preferences.
func (b *Board) joinCareless(j *joining, i, n int32) int32 {
	last, ok := b.prepare(j.class, int32(len(j.shape.Variants))-1)
	if ok {
		n = b.join(&last, i, n)
	} else {
		n = 0
	}
	*j, _ = b.prepare(j.class, j.variant) // both use the same memory
	return n
}

// rank tells how many pods are counted in the node's domains, and whether the pods may join them.
func (j *joining) rank(domain []int32) (int32, bool) {
	r := int32(0)
	for k, key := range j.l.keys {
		c := &j.choices[k]
		if d := domain[key]; d < 0 {
			if !c.None {
				return 0, false
			}
		} else if !c.OK[d] {
			return 0, false
		} else {
			r += c.Rank[d]
		}
	}
	return r, true
}

// narrow finds what is left of a new node's offerings and open labels when the pods join it: those in the domains
// of the cheapest offering that the pods may join, the least counted ones of equal price.
func (b *Board) narrow(j *joining, nd *node) (uint64, []int32, bool) {
	if len(j.v.Alts) == 0 && !j.l.any {
		allowed := nd.bits & j.v.Mask[nd.row]
		return allowed, nd.open, allowed != 0
	}
	job := pack.Job{Mask: j.v.Mask, Alternatives: j.v.Alts}
	if !j.l.any {
		return b.m.Space.Narrow(&job, nd.row, nd.bits, nd.open)
	}
	s := b.m.Space
	bestPrice, bestRank, bestBit := int64(-1), int32(0), -1
	for left := nd.bits & j.v.Mask[nd.row]; left != 0; left &= left - 1 {
		bit := bits.TrailingZeros64(left)
		price := s.Offer[s.OfferStart[nd.row]+int32(bit)]
		if bestBit >= 0 && price > bestPrice {
			break
		}
		if r, ok := b.rankOf(j, nd, bit); ok && (bestBit < 0 || r < bestRank) {
			bestPrice, bestRank, bestBit = price, r, bit
		}
	}
	if bestBit < 0 {
		return 0, nil, false
	}
	allowed, open := nd.bits, nd.open
	for k, key := range j.l.keys {
		d := b.domainAt(j, nd, k, bestBit)
		allowed &= b.in(key, d, nd.row)
		if o := b.m.Keys[key].Open; d >= 0 && o >= 0 && open != nil && nd.domain[key] == free {
			next := s.Meet(open[o], b.m.Keys[key].State[d])
			if next < 0 {
				return 0, nil, false
			}
			open = slices.Clone(open)
			open[o] = next
		}
	}
	allowed = b.alike(j, nd, allowed, bestBit)
	allowed, open, ok := s.Narrow(&job, nd.row, allowed, open)
	if !ok || allowed>>bestBit&1 == 0 {
		return 0, nil, false
	}
	return allowed, b.decide(j, open), true
}

// decide settles the open keys on which it depends whether groups of the class count the node, so that they do if
// that is possible.
func (b *Board) decide(j *joining, open []int32) []int32 {
	s := b.m.Space
	for _, want := range j.l.opens {
		was := open[want.Key]
		now := s.Meet(was, want.State)
		if now < 0 {
			now = was
		}
		if now = s.Settle(now); now != was {
			open = slices.Clone(open)
			open[want.Key] = now
		}
	}
	return open
}

// in is the offerings of a row that are in a domain.
func (b *Board) in(key, d, row int32) uint64 {
	if d >= 0 {
		return b.m.Keys[key].Mask[d][row]
	}
	all := uint64(0)
	for _, m := range b.m.Keys[key].Mask {
		all |= m[row]
	}
	return ^all
}

// alike leaves those offerings that the class's groups count, or do not, as they do the one with the bit.
func (b *Board) alike(j *joining, nd *node, allowed uint64, bit int) uint64 {
	for k := range j.l.of {
		for _, x := range j.l.of[k] {
			allowed = b.alikeFor(x.group, nd, allowed, bit)
		}
	}
	for _, x := range j.l.host {
		allowed = b.alikeFor(x.group, nd, allowed, bit)
	}
	return allowed
}

func (b *Board) alikeFor(g int32, nd *node, allowed uint64, bit int) uint64 {
	rows := b.m.Groups[g].Rows
	if rows == nil {
		return allowed
	}
	if rows[nd.row]>>bit&1 != 0 {
		return allowed & rows[nd.row]
	}
	return allowed &^ rows[nd.row]
}

// rankOf is rank for an offering of a new node.
func (b *Board) rankOf(j *joining, nd *node, bit int) (int32, bool) {
	r := int32(0)
	for k := range j.l.keys {
		c := &j.choices[k]
		if d := b.domainAt(j, nd, k, bit); d >= 0 {
			r += c.Rank[d]
		} else if d != Absent || !c.None {
			return 0, false
		}
	}
	return r, true
}

// domainAt is the domain that the node gets for the class's k-th key under an offering: the one it is in, or
// that the offering is in, or the least counted one that its open label allows; below Absent: none.
func (b *Board) domainAt(j *joining, nd *node, k, bit int) int32 {
	key := j.l.keys[k]
	c := &j.choices[k]
	d := nd.domain[key]
	if d == free {
		d = b.m.DomainOf(key, nd.row, bit)
	}
	if d >= 0 && !c.OK[d] {
		return free
	}
	if d != several {
		return d
	}
	best := int32(free)
	ky := &b.m.Keys[key]
	for v := range ky.Mask {
		if !c.OK[v] || ky.Mask[v][nd.row]>>bit&1 == 0 || best >= 0 && c.Rank[v] >= c.Rank[best] {
			continue
		}
		if ky.Open < 0 || nd.open == nil || b.asks(j, nd, bit, pack.OpenReq{Key: ky.Open, State: ky.State[v]}) {
			best = int32(v)
		}
	}
	return best
}

// asks reports whether the open label of a new node can take the state, and the pods can do with it.
func (b *Board) asks(j *joining, nd *node, bit int, want pack.OpenReq) bool {
	s := b.m.Space
	if s.Meet(nd.open[want.Key], want.State) < 0 {
		return false
	}
	may := len(j.v.Alts) == 0
	for i := 0; !may && i < len(j.v.Alts); i++ {
		alt := &j.v.Alts[i]
		may = alt.Mask[nd.row]>>bit&1 != 0 && !slices.ContainsFunc(alt.Open, func(o pack.OpenReq) bool {
			return o.Key == want.Key && s.Meet(o.State, want.State) < 0
		})
	}
	return may
}

// holds reports whether the reservation of the node's new target has enough left, what the node holds included.
func (b *Board) holds(nd *node, allowed uint64) bool {
	return b.led.OpenTo(nd.row, allowed&-allowed, nd.row, nd.bits) != 0
}

// pin settles the domains of the class's keys on a new node.
func (b *Board) pin(j *joining, i int32, allowed uint64, open []int32) {
	nd := &b.nodes[i]
	bit := bits.TrailingZeros64(allowed)
	b.setBits(i, allowed, open)
	for _, key := range j.l.keys {
		if nd.domain[key] != free {
			continue
		}
		d := b.m.DomainOf(key, nd.row, bit)
		if d == several {
			d = b.settled(nd.open[b.m.Keys[key].Open], key)
		}
		b.log = append(b.log, entry{kind: pinned, node: i, a: key})
		nd.domain[key] = d
	}
}

// settled is the domain that the state of an open label stands for.
func (b *Board) settled(state, key int32) int32 {
	ky := &b.m.Keys[key]
	for v := range ky.Mask {
		if state == ky.State[v] {
			return int32(v)
		}
	}
	return Absent
}

// setBits narrows a new node. What stands where may change with its cheapest offering.
func (b *Board) setBits(i int32, allowed uint64, open []int32) {
	nd := &b.nodes[i]
	if allowed == nd.bits && sameSlice(open, nd.open) {
		return
	}
	b.note(entry{kind: narrowed, node: i})
	b.rebit(i, allowed, open)
}

func (b *Board) rebit(i int32, allowed uint64, open []int32) {
	nd := &b.nodes[i]
	if allowed&-allowed == nd.bits&-nd.bits && (b.m.Space.OpenStart == nil || sameSlice(open, nd.open)) {
		nd.bits, nd.open = allowed, open
		return
	}
	b.stand(i, -1)
	b.led.Refund(nd.row, nd.bits, nd.charge, 1)
	nd.bits, nd.open = allowed, open
	b.led.Charge(nd.row, nd.bits, nd.charge, 1)
	b.stand(i, 1)
}

func sameSlice(a, b []int32) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// put adds n pods to the node; everything has been checked.
func (b *Board) put(i, class, variant, n int32) {
	b.log = append(b.log, entry{kind: joined, node: i, a: class, b: variant, n: n})
	b.change(i, class, variant, n)
}

// change adds n pods to what the node holds, or takes them away with n below 0.
func (b *Board) change(i, class, variant, n int32) {
	nd := &b.nodes[i]
	if s := b.m.Classes[class].Shape; s >= 0 {
		for x, q := range b.m.Shapes[s].Req {
			nd.free[x] -= q * int64(n)
		}
	}
	if len(b.m.Classes[class].Volumes) > 0 {
		b.attach(nd, class, n, true)
	}
	b.count(i, class, n)
	k := slices.IndexFunc(nd.items, func(it Item) bool { return it.Class == class && it.Variant == variant })
	if k < 0 {
		k = len(nd.items)
		if cap(nd.items) == 0 {
			nd.items = portion(&b.items)
		}
		nd.items = append(nd.items, Item{Class: class, Variant: variant})
	}
	nd.items[k].Count += n
	if nd.items[k].Count == 0 && k == len(nd.items)-1 {
		nd.items = nd.items[:k]
	}
	if n < 0 && nd.row < 0 && !nd.gone {
		b.raise(int(i))
	}
}

func lowest(m uint64) int { return bits.TrailingZeros64(m) }
