package board

import "slices"

// entry is one step that can be taken back.
type entry struct {
	kind uint8
	node int32
	a, b int32
	n    int32
}

// state is what a new node was like before it was narrowed or moved; Board.was has one for each such entry.
type state struct {
	bits   uint64
	open   []int32
	charge []int64
}

// note logs a step that changes what a new node is like.
func (b *Board) note(e entry) {
	nd := &b.nodes[e.node]
	b.log = append(b.log, e)
	b.was = append(b.was, state{nd.bits, nd.open, nd.charge})
}

// before takes the last state back.
func (b *Board) before() state {
	k := len(b.was) - 1
	s := b.was[k]
	b.was[k] = state{}
	b.was = b.was[:k]
	return s
}

const (
	joined uint8 = iota
	left
	pinned
	narrowed
	opened
	closed
	moved
	dropped
)

// Mark is a point to come back to.
func (b *Board) Mark() int { return len(b.log) }

// Forget makes everything since the beginning final: no mark before is valid any more.
func (b *Board) Forget() {
	clear(b.was)
	b.log, b.was = b.log[:0], b.was[:0]
}

// Joins lists what was placed since the board was made, in order, as far as it was not taken back.
func (b *Board) Joins(yield func(node, class, variant, n int32)) { b.JoinsSince(0, yield) }

// JoinsSince lists what was placed since the mark.
func (b *Board) JoinsSince(mark int, yield func(node, class, variant, n int32)) {
	for i := range b.log[mark:] {
		if e := &b.log[mark+i]; e.kind == joined {
			yield(e.node, e.a, e.b, e.n)
		}
	}
}

// Rollback takes back everything since the mark.
func (b *Board) Rollback(mark int) {
	for k := len(b.log) - 1; k >= mark; k-- {
		e := &b.log[k]
		nd := &b.nodes[e.node]
		switch e.kind {
		case joined:
			b.change(e.node, e.a, e.b, -e.n)
		case left:
			b.change(e.node, e.a, e.b, e.n)
		case pinned:
			nd.domain[e.a] = free
		case narrowed:
			s := b.before()
			b.rebit(e.node, s.bits, s.open)
		case opened:
			b.stand(e.node, -1)
			b.led.Refund(nd.row, nd.bits, nd.charge, 1)
			b.nodes = b.nodes[:e.node]
		case closed:
			nd.gone = false
			b.stand(e.node, 1)
			b.refund(e.node, -1)
		case dropped:
			nd.gone = false
			b.led.Charge(nd.row, nd.bits, nd.charge, 1)
			b.stand(e.node, 1)
		case moved:
			s := b.before()
			b.turn(e.node, e.a, s.bits, s.open, s.charge)
		}
	}
	b.log = b.log[:mark]
}

// Leave takes n pods of a class off a node where they ran before the board was made, or were placed.
func (b *Board) Leave(i, class, variant, n int32) {
	b.log = append(b.log, entry{kind: left, node: i, a: class, b: variant, n: n})
	b.change(i, class, variant, -n)
}

// DropEmpty gives new nodes up that hold nothing.
func (b *Board) DropEmpty() {
	for i := b.old; i < len(b.nodes); i++ {
		nd := &b.nodes[i]
		if nd.gone || slices.ContainsFunc(nd.items, func(it Item) bool { return it.Count > 0 }) {
			continue
		}
		b.log = append(b.log, entry{kind: dropped, node: int32(i)})
		b.stand(int32(i), -1)
		b.led.Refund(nd.row, nd.bits, nd.charge, 1)
		nd.gone = true
	}
}

// Close takes an existing node away; pods that are still on it go with it.
func (b *Board) Close(i int32) {
	nd := &b.nodes[i]
	nd.gone = true
	for _, it := range slices.Clone(nd.items) {
		if it.Count > 0 {
			b.Leave(i, it.Class, it.Variant, it.Count)
		}
	}
	b.log = append(b.log, entry{kind: closed, node: i})
	b.stand(i, -1)
	b.refund(i, 1)
}

// Closed reports whether a node was taken away.
func (b *Board) Closed(i int32) bool { return b.nodes[i].gone }

// Clone is a board in the same state, with a journal of its own.
func (b *Board) Clone() *Board {
	out := &Board{m: b.m, old: b.old, most: slices.Clone(b.most), led: b.led.Clone(), Lax: b.Lax}
	out.tally.Copy(&b.tally)
	out.nodes = slices.Clone(b.nodes)
	for i := range out.nodes {
		n := &out.nodes[i]
		n.free, n.items, n.hosts, n.attached = slices.Clone(n.free), slices.Clone(n.items), slices.Clone(n.hosts), slices.Clone(n.attached)
		if n.row >= 0 {
			n.domain = slices.Clone(n.domain)
		}
	}
	return out
}

// CloneWithLog is Clone with what led there, so that Joins tells it.
func (b *Board) CloneWithLog() *Board {
	out := b.Clone()
	out.log, out.was = slices.Clone(b.log), slices.Clone(b.was)
	return out
}

// refund gives what an existing node charges to its pool's limits back.
func (b *Board) refund(i int32, n int64) {
	if b.m.NodePool != nil && b.m.NodePool[i] >= 0 {
		b.led.Release(b.m.NodePool[i], b.m.NodeCap[i], n)
	}
}
