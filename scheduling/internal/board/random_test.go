package board

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// world draws a model: a few rows in three zones and two capacity types, existing nodes, and classes with groups of
// every kind.
func world(seed uint64) (*Model, *rand.Rand) {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := &pack.Space{Dims: 2, OfferStart: []int32{0}, Tiers: [][]int32{{0}}}
	const zones = 3
	zone := Key{Open: -1, Mask: make([]pack.Mask, zones), State: make([]int32, zones)}
	kind := Key{Open: -1, Mask: make([]pack.Mask, 2), State: make([]int32, 2)}
	rows := 2 + rng.IntN(4)
	for range rows {
		s.Alloc = append(s.Alloc, int64(2+rng.IntN(14)), int64(2+rng.IntN(14)))
		s.Pool, s.Type = append(s.Pool, 0), append(s.Type, int32(s.Rows))
		n := 1 + rng.IntN(4)
		var prices []int64
		for range n {
			prices = append(prices, int64(1+rng.IntN(20)))
		}
		slices.Sort(prices)
		s.Offer = append(s.Offer, prices...)
		s.OfferStart = append(s.OfferStart, int32(len(s.Offer)))
		zm, km := make([]uint64, zones), make([]uint64, 2)
		for bit := range n {
			zm[rng.IntN(zones)] |= 1 << bit
			if rng.IntN(4) > 0 {
				km[rng.IntN(2)] |= 1 << bit
			}
		}
		for z := range zones {
			zone.Mask[z] = append(zone.Mask[z], zm[z])
		}
		for k := range 2 {
			kind.Mask[k] = append(kind.Mask[k], km[k])
		}
		s.Rows++
	}
	if rng.IntN(3) == 0 {
		s.Limits, s.NodeLimit = []int64{int64(10 + rng.IntN(30)), pack.Unlimited}, []int64{int64(1 + rng.IntN(4))}
		s.Cap = slices.Clone(s.Alloc)
	}
	m := &Model{Space: s, Keys: []Key{zone, kind}}
	nodes := rng.IntN(5)
	for range nodes {
		s.Nodes = append(s.Nodes, pack.Node{Free: []int64{int64(rng.IntN(10)), int64(rng.IntN(10))},
			Domain: []int32{int32(rng.IntN(zones+1) - 1), int32(rng.IntN(3) - 1)}})
	}
	for range 1 + rng.IntN(5) {
		g := Group{Kind: Kind(rng.IntN(3)), Key: int32(rng.IntN(3) - 1), Soft: false, MaxSkew: int32(1 + rng.IntN(2)), MinDomains: int32(1 + rng.IntN(2)), Set: -1}
		if g.Kind == Affinity {
			g.Set = m.Sets
			m.Sets++
		}
		if g.Key != Host {
			for range m.Keys[g.Key].Mask {
				g.Eligible = append(g.Eligible, rng.IntN(5) > 0)
			}
		}
		if rng.IntN(4) == 0 {
			g.Rows = make(pack.Mask, s.Rows)
			for r := range g.Rows {
				g.Rows[r] = rng.Uint64()
			}
			for range nodes {
				g.Old = append(g.Old, rng.IntN(2) == 0)
			}
		}
		m.Groups = append(m.Groups, g)
	}
	for range 1 + rng.IntN(4) {
		v := Variant{Mask: make(pack.Mask, s.Rows), MaskID: int32(len(m.Shapes)), Fits: make([]uint64, 1)}
		for r := range v.Mask {
			v.Mask[r] = rng.Uint64() & rowBits(s, int32(r))
		}
		v.Fits[0] = rng.Uint64()
		m.Shapes = append(m.Shapes, Shape{Req: []int64{int64(1 + rng.IntN(4)), int64(rng.IntN(4))}, Variants: []Variant{v}})
	}
	for id := range 2 + rng.IntN(5) {
		c := Class{Shape: int32(rng.IntN(len(m.Shapes)))}
		for g := range m.Groups {
			if rng.IntN(3) == 0 {
				c.Owns = append(c.Owns, int32(g))
			}
			if rng.IntN(2) == 0 {
				c.In = append(c.In, int32(g))
			}
		}
		if rng.IntN(6) == 0 {
			c.Excludes = []int32{int32(id)}
		}
		m.Classes = append(m.Classes, c)
	}
	for i := range s.Nodes {
		if rng.IntN(2) == 0 {
			s.Nodes[i].Content = []pack.Content{{Class: int32(rng.IntN(len(m.Classes))), Job: -1, Count: 1}}
		}
	}
	m.Prepare()
	return m, rng
}

// scarce draws what offerings of the model take of a few finite amounts.
func scarce(m *Model, rng *rand.Rand) {
	s := m.Space
	for range 1 + rng.IntN(2) {
		s.Reserved = append(s.Reserved, rng.Int64N(12))
	}
	for range s.Offer {
		s.Reservation = append(s.Reservation, rng.Int32N(int32(len(s.Reserved)+1))-1)
		s.Draw = append(s.Draw, 1+rng.Int64N(5))
	}
}

// overdrawn checks that the nodes draw what the ledger says, and no more than there is.
func overdrawn(b *Board) error {
	s := b.m.Space
	if s.Reservation == nil {
		return nil
	}
	left := slices.Clone(s.Reserved)
	for i := b.old; i < len(b.nodes); i++ {
		if n := &b.nodes[i]; !n.gone {
			if id, draw := s.DrawOf(n.row, n.bits); id >= 0 {
				left[id] -= draw
			}
		}
	}
	for r := range s.Rows {
		for k, id := range s.Reservation[s.OfferStart[r]:s.OfferStart[r+1]] {
			switch open := b.led.Open(int32(r), 1<<k) != 0; {
			case id < 0:
			case left[id] < 0:
				return fmt.Errorf("%v are left of %v", left, s.Reserved)
			case open != (left[id] >= s.Draw[int(s.OfferStart[r])+k]):
				return fmt.Errorf("offering %d of row %d is open: %t, with %v left", k, r, open, left)
			}
		}
	}
	return nil
}

// dump writes down everything that a rollback must restore.
func (b *Board) dump() string {
	out := fmt.Sprintln(b.tally.in, b.tally.own, b.tally.sum, b.tally.nodes)
	for i := range b.nodes {
		n := &b.nodes[i]
		var items []Item
		for _, it := range n.items {
			if it.Count != 0 {
				items = append(items, it)
			}
		}
		var hosts []hostCount
		for _, h := range n.hosts {
			if h.in != 0 || h.own != 0 {
				hosts = append(hosts, h)
			}
		}
		slices.SortFunc(hosts, func(a, b hostCount) int { return int(a.group - b.group) })
		out += fmt.Sprintln(i, n.row, n.bits, n.open, n.domain, n.free, items, hosts, n.gone, b.led.Room(0, 0, nil, 1000))
	}
	return out
}

// recount checks the tally against the definition.
func recount(b *Board) error {
	m := b.m
	want := NewTally(m)
	for i := range b.nodes {
		n := &b.nodes[i]
		if n.gone {
			continue
		}
		for _, it := range n.items {
			cl := &m.Classes[it.Class]
			for g := range m.Groups {
				gr := &m.Groups[g]
				if !b.counts(int32(i), gr) {
					continue
				}
				d := int32(0)
				if gr.Key != Host {
					if d = n.domain[gr.Key]; d < 0 {
						if d == free && (contains(cl.In, int32(g)) || contains(cl.Owns, int32(g))) {
							return fmt.Errorf("node %d has pods of class %d but no settled domain for group %d", i, it.Class, g)
						}
						continue
					}
				}
				if contains(cl.In, int32(g)) {
					want.sum[g] += it.Count
					if gr.Key != Host {
						want.in[m.at[g]+d] += it.Count
					}
				}
				if gr.Key != Host && gr.Kind == Anti && contains(cl.Owns, int32(g)) {
					want.own[m.at[g]+d] += it.Count
				}
			}
		}
	}
	if !slices.Equal(want.in, b.tally.in) || !slices.Equal(want.own, b.tally.own) || !slices.Equal(want.sum, b.tally.sum) {
		return fmt.Errorf("counts %v %v %v, by definition %v %v %v", b.tally.in, b.tally.own, b.tally.sum, want.in, want.own, want.sum)
	}
	return nil
}

// Whatever is done, the counts are those of the definition, nothing is overfull, and a rollback restores all.
func TestRandomSteps(t *testing.T) {
	joins, opens, rollbacks := 0, 0, 0
	for seed := range uint64(3000) {
		m, rng := world(seed)
		if seed%3 == 0 {
			scarce(m, rand.New(rand.NewPCG(seed, 2)))
		}
		b := New(m)
		type point struct {
			mark int
			dump string
		}
		marks := []point{{b.Mark(), b.dump()}}
		for step := range 25 {
			class := int32(rng.IntN(len(m.Classes)))
			switch rng.IntN(6) {
			case 0, 1:
				joins += int(b.Place(class, 0, int32(1+rng.IntN(3))))
			case 2:
				w := []Want{{class, 0, int32(1 + rng.IntN(5))}, {int32(rng.IntN(len(m.Classes))), 0, 2}}
				all, _ := b.Nodes()
				b.Buy(w)
				now, _ := b.Nodes()
				opens += now - all
			case 3:
				marks = append(marks, point{b.Mark(), b.dump()})
			case 4:
				p := marks[rng.IntN(len(marks))]
				b.Rollback(p.mark)
				if got := b.dump(); got != p.dump {
					t.Fatalf("seed %d step %d: after the rollback\n%s\nbefore\n%s", seed, step, got, p.dump)
				}
				marks = slices.DeleteFunc(marks, func(q point) bool { return q.mark > p.mark })
				rollbacks++
			case 5:
				if b.old > 0 {
					i := int32(rng.IntN(b.old))
					if n := &b.nodes[i]; !n.gone && rng.IntN(3) == 0 {
						b.Close(i)
					} else if !n.gone && len(n.items) > 0 && n.items[0].Count > 0 {
						b.Leave(i, n.items[0].Class, n.items[0].Variant, 1)
					}
				}
			}
			if err := recount(b); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
			if err := overdrawn(b); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, step, err)
			}
			for i := b.old; i < len(b.nodes); i++ {
				if n := &b.nodes[i]; n.free[0] < 0 || n.free[1] < 0 || n.bits == 0 {
					t.Fatalf("seed %d step %d: node %d is %+v", seed, step, i, n)
				}
			}
		}
		b.Rollback(0)
		if got := b.dump(); got != marks[0].dump {
			t.Fatalf("seed %d: after the last rollback\n%s\nat first\n%s", seed, got, marks[0].dump)
		}
	}
	t.Logf("%d joins, %d nodes opened, %d rollbacks", joins, opens, rollbacks)
	if joins < 1000 || opens < 1000 || rollbacks < 1000 {
		t.Error("too little happened")
	}
}
