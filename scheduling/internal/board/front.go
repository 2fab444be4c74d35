package board

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

const unlimited = pack.Unlimited

// front is what is worth buying for pods with one mask, and what their resources are worth.
//
// Each half is made when it is first asked for, since few masks are; boards of one model may ask at the same time.
type front struct {
	m       *Model
	mask    pack.Mask
	listing sync.Once
	picking sync.Once
	// every has all rows by tier, cheapest first; use all and pick.
	every [][]int32
	best  pick
}

// pick is the part of a front that purchases need.
type pick struct {
	// rows that no other row beats in room, price and offerings, by tier, cheapest first.
	rows  [][]int32
	worth []float64
	// full is what the room of a row is worth, by place in rows.
	full [][]float64
}

// all is every row by tier, cheapest first.
func (f *front) all() [][]int32 {
	f.listing.Do(f.list)
	return f.every
}

// pick is what is worth buying.
func (f *front) pick() *pick {
	f.picking.Do(f.choose)
	return &f.best
}

func (f *front) price(r int32) int64 {
	p, _ := f.m.Space.Price(int(r), f.mask[r])
	return p
}

func (f *front) list() {
	s := f.m.Space
	f.every = make([][]int32, max(len(s.Tiers), 1))
	for r, b := range f.mask {
		if b != 0 && s.OfferStart[r] < s.OfferStart[r+1] {
			t := f.m.tier[s.Pool[r]]
			f.every[t] = append(f.every[t], int32(r))
		}
	}
	for _, rows := range f.every {
		slices.SortStableFunc(rows, func(a, b int32) int { return cmp.Compare(f.price(a), f.price(b)) })
	}
}

func (f *front) choose() {
	m, s, mask := f.m, f.m.Space, f.mask
	p := &f.best
	p.worth = s.Worth(mask, demandOf(m))
	for _, rows := range f.all() {
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
					w += float64(p.worth[d] * float64(a))
				}
			}
			full = append(full, w)
		}
		p.rows, p.full = append(p.rows, keep), append(p.full, full)
	}
}

// demandOf is one pod of each shape, summed up.
func demandOf(m *Model) []float64 {
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
