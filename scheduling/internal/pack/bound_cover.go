package pack

import (
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/cover"
)

// CoverBound is a lower bound, in billionths, on the price of nodes that hold the lots beside the free room of the
// existing nodes. Other than Bound it knows that pods cannot be cut in pieces. Existing nodes and reservations are there
// as often as there are such; limits, tiers, minValues and rules between pods are relaxed. best asks for
// more work.
func (s *Space) CoverBound(lots []Lot, best bool, b *Budget) int64 {
	if len(lots) == 0 {
		return 0
	}
	q := newPoser(s)
	q.relaxed = true
	groups := map[[2]int32]int{}
	var fits []func(int) bool // by group
	var of []int              // group by lot
	for i := range lots {
		l := &lots[i]
		key := [2]int32{l.MaskID, l.FitsID}
		g, ok := groups[key]
		if !ok {
			g = q.group(l.Mask)
			groups[key], fits = g, append(fits, l.Fits)
		}
		of = append(of, g)
		most := l.Most
		if most == 0 {
			most = l.Count
		}
		q.item(g, cover.Item{Req: l.Req, Count: l.Count, Most: most})
	}
	for _, n := range s.Reserved {
		q.finite(n)
	}
	for r := range int32(s.Rows) {
		for _, c := range q.cellsOf(r, ^uint64(0)) {
			var claims []cover.Claim
			if c.reserved >= 0 {
				claims = q.claim(nil, c.reserved, c.draw)
			}
			q.site(spot{r, c.bits, -1}, s.AllocOf(int(r)), c.price, c.groups, claims)
		}
	}
	q.nodes(lots, of, fits)
	o := cover.Effort(best)
	o.Spend = b.spend
	return cover.Bound(&q.p, &o).Bound
}

// maxNodeSites is how many sites existing nodes become at most: where there are more, their room is rounded up.
const maxNodeSites = 256

// free is existing nodes that are alike.
type free struct {
	room   []int64
	groups []uint64
	count  int64
}

// nodes adds the existing nodes that have room for a pod.
func (q *poser) nodes(lots []Lot, of []int, fits []func(int) bool) {
	s := q.s
	var list []free
	most := make([]int64, s.Dims)
	for i := range s.Nodes {
		f := free{room: s.Nodes[i].Free, groups: make([]uint64, (len(q.masks)+63)/64), count: 1}
		for l := range lots {
			if g := of[l]; f.groups[g>>6]>>(g&63)&1 == 0 && Holds(f.room, lots[l].Req) && fits[g](i) {
				f.groups[g>>6] |= 1 << (g & 63)
			}
		}
		if slices.ContainsFunc(f.groups, func(w uint64) bool { return w != 0 }) {
			list = append(list, f)
			for d, a := range f.room {
				most[d] = max(most[d], a)
			}
		}
	}
	out := alike(list, make([]int64, s.Dims))
	for parts := int64(64); len(out) > maxNodeSites && parts > 0; parts /= 2 {
		steps := slices.Clone(most)
		for d := range steps {
			steps[d] = steps[d]/parts + 1
		}
		out = alike(list, steps)
	}
	for _, f := range out {
		claims := q.claim(nil, q.finite(f.count), 1)
		q.site(spot{-1, 0, -1}, f.room, 0, f.groups, claims)
	}
}

// alike joins nodes whose room is within the same steps, 0 being none, and gives each the most of them.
func alike(list []free, steps []int64) (out []free) {
	at := map[string]int{}
	var key []byte
	for _, f := range list {
		key = key[:0]
		word := func(v uint64) {
			for s := 0; s < 64; s += 8 {
				key = append(key, byte(v>>s))
			}
		}
		for d, a := range f.room {
			a = max(a, 0)
			if steps[d] > 0 {
				a = (a + steps[d] - 1) / steps[d]
			}
			word(uint64(a))
		}
		for _, w := range f.groups {
			word(w)
		}
		k, ok := at[string(key)]
		if !ok {
			k = len(out)
			at[string(key)] = k
			out = append(out, free{room: slices.Clone(f.room), groups: f.groups})
		}
		for d, a := range f.room {
			out[k].room[d] = max(out[k].room[d], a)
		}
		out[k].count += f.count
	}
	return out
}
