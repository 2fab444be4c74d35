package scheduling

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// held is what each node of a shape holds, by resource: its pods, and all with the DaemonSets.
type held struct {
	row       int32
	pods, all []int64
}

// splitPrices says what the price of each shape pays for, and sums that up by pool.
func (f *finisher) splitPrices() {
	dims := f.c.space.Dims
	worths := f.worths()
	idle := make([]int64, len(f.plan.Shapes)*dims)
	for i := range f.plan.Shapes {
		s := &f.plan.Shapes[i]
		f.split(s, &f.held[i], worths[s.Pool], idle[i*dims:(i+1)*dims])
	}
	f.sumPools(idle)
}

// worths is, for each pool that launches nodes, what a unit of each resource is worth to the pods on them, in money
// an hour. The pods may buy fractions of every offering that one of them could use, at least cost; the worths are the
// dual prices of that, so that a resource that comes with others in plenty is worth nothing.
func (f *finisher) worths() [][]float64 {
	c, s := f.c, &f.c.space
	demands, masks := make([][]float64, len(c.p.Pools)), make([]pack.Mask, len(c.p.Pools))
	seen := map[[2]int32]bool{}
	for i := range f.o.result.Runs {
		r := &f.o.result.Runs[i]
		pool := c.rows[r.Row].pool
		if masks[pool] == nil {
			demands[pool], masks[pool] = make([]float64, s.Dims), make(pack.Mask, s.Rows)
		}
		for d, q := range r.Used {
			if !c.attachDim[d] {
				demands[pool][d] += float64(float64(q) * float64(r.Mult))
			}
		}
		for _, x := range r.Content {
			j := &f.jobs[x.Job]
			if k := [2]int32{pool, j.MaskID}; !seen[k] {
				seen[k] = true
				for row, b := range j.Mask {
					if s.Pool[row] == pool {
						masks[pool][row] |= b
					}
				}
			}
		}
	}
	out := make([][]float64, len(c.p.Pools))
	for pool, m := range masks {
		if m != nil {
			out[pool] = s.Worth(c.lasting(m, demands[pool]), demands[pool])
		}
	}
	return out
}

// lasting is the mask without offerings that are finite or cost nothing: what these cost says nothing of what more
// would. It is the mask itself if some resource is to be had nowhere else.
func (c *compiler) lasting(m pack.Mask, demand []float64) pack.Mask {
	s := &c.space
	out := slices.Clone(m)
	for r := range out {
		for left := m[r]; left != 0; left &= left - 1 {
			at := int(s.OfferStart[r]) + bits.TrailingZeros64(left)
			if s.Offer[at] == 0 || s.Reservation != nil && s.Reservation[at] >= 0 {
				out[r] &^= left & -left
			}
		}
	}
	for d, q := range demand {
		sold := func(r int, b uint64) bool { return b != 0 && s.AllocOf(r)[d] > 0 }
		if q > 0 && !anyRow(out, sold) && anyRow(m, sold) {
			return m
		}
	}
	return out
}

func anyRow(m pack.Mask, is func(row int, bits uint64) bool) bool {
	for r, b := range m {
		if is(r, b) {
			return true
		}
	}
	return false
}

// split divides the shape's price, and says what of each resource's part is idle, in billionths.
func (f *finisher) split(s *Shape, h *held, worth []float64, idle []int64) {
	alloc := f.paidFor(h.row)
	value := func(amounts []int64) (v float64) {
		for d, q := range amounts {
			if q > 0 {
				v += float64(worth[d] * float64(q))
			}
		}
		return v
	}
	whole := value(alloc)
	if !(whole > 0) { // the pods of the pool have a use for none of what this type has
		worth = onlyFullest(h.all, alloc)
		whole = value(alloc)
	}
	part := func(v float64) int64 {
		if !(whole > 0) {
			return 0
		}
		return int64(math.Round(float64(s.Price.nano) * min(max(v/whole, 0), 1)))
	}
	pods, all := part(value(h.pods)), part(value(h.all))
	s.Why.PodsPrice, s.Why.DaemonsPrice = PriceFromNano(pods), PriceFromNano(max(all-pods, 0))
	for d, a := range alloc {
		if rest := a - h.all[d]; rest > 0 {
			idle[d] = part(float64(worth[d] * float64(rest)))
		}
	}
}

// forAll is what pods and DaemonSets share on the row's nodes. It is overwritten by the next call.
func (f *finisher) forAll(row int32) []int64 {
	c := f.c
	f.alloc = append(f.alloc[:0], c.space.AllocOf(int(row))...)
	for _, d := range c.rows[row].daemons {
		for x, q := range c.daemons[d].req {
			f.alloc[x] += q
		}
	}
	return f.alloc
}

// paidFor is forAll without how many volumes can be attached, which nobody pays for.
func (f *finisher) paidFor(row int32) []int64 {
	alloc := f.forAll(row)
	for d := range alloc {
		if f.c.attachDim[d] {
			alloc[d] = 0
		}
	}
	return alloc
}

// onlyFullest gives a worth to the resource of which the largest share is in use, and to no other.
func onlyFullest(used, alloc []int64) []float64 {
	worth, most, at := make([]float64, len(used)), -1.0, 0
	for d, a := range alloc {
		if share := float64(used[d]) / float64(a); a > 0 && share > most {
			most, at = share, d
		}
	}
	worth[at] = 1
	return worth
}

// sumPools adds up the launches of each pool; idle is by shape and resource.
func (f *finisher) sumPools(idle []int64) {
	c, dims := f.c, f.c.space.Dims
	uses := make([]PoolUse, len(c.p.Pools))
	sums := make([]ResourceUse, len(c.p.Pools)*dims)
	for _, l := range f.plan.Launches {
		s, h := &f.plan.Shapes[l.Shape], &f.held[l.Shape]
		u := &uses[s.Pool]
		if u.Nodes == 0 {
			*u = PoolUse{Pool: s.Pool, Price: PriceFromNano(0), PodsPrice: PriceFromNano(0), DaemonsPrice: PriceFromNano(0)}
		}
		u.Nodes++
		u.Price = u.Price.plus(s.Price)
		u.PodsPrice, u.DaemonsPrice = u.PodsPrice.plus(s.Why.PodsPrice), u.DaemonsPrice.plus(s.Why.DaemonsPrice)
		for d, a := range f.paidFor(h.row) {
			r := &sums[int(s.Pool)*dims+d]
			r.Allocatable, r.Pods = min(r.Allocatable+a, maxAmount), min(r.Pods+h.pods[d], maxAmount)
			r.Daemons = min(r.Daemons+h.all[d]-h.pods[d], maxAmount)
			r.StrandedPrice = PriceFromNano(r.StrandedPrice.nano + idle[int(l.Shape)*dims+d])
		}
	}
	for pool := range uses {
		u := &uses[pool]
		if u.Nodes == 0 {
			continue
		}
		for d, r := range sums[pool*dims : (pool+1)*dims] {
			if d < 2 || r.Pods+r.Daemons > 0 && !c.attachDim[d] { // cpu and memory come first
				r.Name = c.dims[d]
				u.Resources = append(u.Resources, r)
			}
		}
		slices.SortFunc(u.Resources, func(a, b ResourceUse) int { return cmp.Compare(a.Name, b.Name) })
		f.plan.Pools = append(f.plan.Pools, *u)
	}
	slices.SortFunc(f.plan.Pools, func(a, b PoolUse) int { return cmp.Compare(c.p.Pools[a.Pool].Name, c.p.Pools[b.Pool].Name) })
}
