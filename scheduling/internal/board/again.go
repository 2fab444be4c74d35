package board

import "slices"

// Again takes back what happened since the mark and does it once more in the same order, with all new nodes that hold
// something there from the beginning: one that was opened late can be the first of a domain, and then spreads that
// its pods have nothing to do with count a 0. It returns what does not hold any more, as proposals. There must
// have been no new node before the mark.
func (b *Board) Again(mark int) (refused []Proposal) {
	type opened struct {
		node
		used bool
	}
	var nodes []opened
	for i := b.old; i < len(b.nodes); i++ {
		nd := &b.nodes[i]
		used := !nd.gone && slices.ContainsFunc(nd.items, func(it Item) bool { return it.Count > 0 })
		nodes = append(nodes, opened{node{row: nd.row, bits: nd.bits, open: nd.open, charge: nd.charge}, used})
	}
	var joins []Proposal
	b.JoinsSince(mark, func(i, class, variant, n int32) {
		joins = append(joins, Proposal{Class: class, Variant: variant, Node: i, Count: n})
	})
	b.Rollback(mark)
	at := make([]int32, len(nodes))
	for i := range nodes {
		at[i] = -1
		if n := &nodes[i]; n.used {
			at[i] = b.OpenFor(n.row, n.bits, n.open, n.charge)
		}
	}
	for _, p := range joins {
		if int(p.Node) >= b.old {
			p.Node = at[int(p.Node)-b.old]
		}
		for p.Count > 0 {
			k := int32(0)
			if p.Node >= 0 {
				k = b.Join(p.Class, p.Variant, p.Node, p.Count)
			}
			if k == 0 {
				refused = append(refused, p)
				break
			}
			p.Count -= k
		}
	}
	return refused
}
