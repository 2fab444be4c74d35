package pack

import (
	"cmp"
	"math/bits"
	"slices"
)

// group is what jobs with one mask have in common in a tier.
type group struct {
	mask Mask // of the tier's rows
	// byPrice lists those rows, cheapest first.
	byPrice []int32
	worth   []float64
	// weight is by what a node's resources are balanced: worth, or where that is blind to cpu or to
	// memory, what a unit is of the best row.
	weight []float64
	// buckets hold rows of similar size, largest first, the most worth for the money first in each.
	buckets [][]offer
	// turns is what the ledger's were when the buckets were made.
	turns  int
	usable map[int32][]int64
}

// appraise solves the fluid relaxation of every group and sorts kinds and rows by the result.
func (e *Packer) appraise() {
	demand := make([][]float64, len(e.groups))
	for k := range e.kinds {
		kd := &e.kinds[k]
		if demand[kd.group] == nil {
			demand[kd.group] = make([]float64, e.s.Dims)
		}
		for i, q := range kd.req {
			demand[kd.group][i] += float64(q) * float64(kd.left)
		}
	}
	for k := range e.kinds {
		kd := &e.kinds[k]
		g := e.groups[kd.group]
		if g.worth == nil {
			g.mask, g.byPrice = make(Mask, e.s.Rows), make([]int32, 0, len(e.byPrice))
			for _, r := range e.byPrice {
				if g.mask[r] = kd.mask[r]; g.mask[r] != 0 {
					g.byPrice = append(g.byPrice, r)
				}
			}
			g.worth = e.s.fluid(e.lasting(g.mask), demand[kd.group])
			e.sort(g)
			g.weight = e.s.weights(g)
		}
		g.value(kd)
	}
	slices.SortStableFunc(e.kinds, func(a, b kind) int {
		if a.urgent != b.urgent {
			if a.urgent {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.worth, a.worth)
	})
	e.ratio = e.ratio[:0]
	for k := range e.kinds {
		e.ratio = append(e.ratio, shared{e.kinds[k].share, int32(k)})
	}
	slices.SortStableFunc(e.ratio, func(a, b shared) int { return cmp.Compare(a.share, b.share) })
	e.sortOut()
	e.partOf = append(e.partOf[:0], make([]partOf, len(e.kinds))...)
}

// lasting is the mask without reservations, which have an end and say little of what the last pods will
// cost; or all of it, if there is nothing else.
func (e *Packer) lasting(m Mask) Mask {
	if e.reserved == nil {
		return m
	}
	out, some := slices.Clone(m), false
	for r := range out {
		out[r] &^= e.reserved[r]
		some = some || out[r] != 0
	}
	if !some {
		return m
	}
	return out
}

// sort makes the group's buckets of the offerings that are to be had now.
func (e *Packer) sort(g *group) {
	m := g.mask
	if e.reserved != nil {
		m = slices.Clone(m)
		for r := range m {
			m[r] = e.led.Open(int32(r), m[r])
		}
	}
	g.buckets, g.turns = e.s.buckets(m, g.worth), e.led.turns
}

func (g *group) value(kd *kind) {
	total, weight, first := 0.0, 0.0, 0.0
	for d, q := range kd.req {
		total += float64(g.worth[d]*float64(q)) * nano
		w := float64(g.weight[d] * float64(q))
		weight += w
		if d == 0 {
			first = w
		}
	}
	kd.worth = max(int64(total), 1)
	kd.share = 0
	if weight > 0 {
		kd.share = int32(first * 1000 / weight)
	}
}

func (s *Space) weights(g *group) []float64 {
	if s.Dims < 2 || g.worth[0] > 0 && g.worth[1] > 0 {
		return g.worth
	}
	w := make([]float64, s.Dims)
	best := offer{row: -1}
	for _, bucket := range g.buckets {
		if o := bucket[0]; best.row < 0 || compareRatio(o.worth, o.price, best.worth, best.price) > 0 {
			best = o
		}
	}
	if best.row >= 0 {
		for d, a := range s.AllocOf(int(best.row))[:2] {
			if a > 0 {
				w[d] = 1 / float64(a)
			}
		}
	}
	return w
}

// offer is a row as its pods see it: what it would be worth full, and its least price.
type offer struct {
	row          int32
	bucket       int
	worth, price int64
}

// buckets groups the rows of m by size (powers of two of their worth).
func (s *Space) buckets(m Mask, worth []float64) [][]offer {
	var cs []offer
	for r, b := range m {
		if b == 0 {
			continue
		}
		p, _ := s.Price(r, b)
		// Rows that the relaxation holds for worthless come last, by price: they may be all that
		// holds some pod.
		w := max(int64(s.worthOf(r, worth)*nano), 1)
		cs = append(cs, offer{int32(r), bits.Len64(uint64(w)), w, max(p, 1)})
	}
	slices.SortStableFunc(cs, func(a, b offer) int {
		if a.bucket != b.bucket {
			return b.bucket - a.bucket
		}
		return compareRatio(b.worth, b.price, a.worth, a.price)
	})
	var out [][]offer
	for i, c := range cs {
		if i == 0 || c.bucket != cs[i-1].bucket {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], c)
	}
	return out
}
