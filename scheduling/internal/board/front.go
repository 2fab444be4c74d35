package board

import (
	"cmp"
	"math/bits"
	"slices"

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
	f.worth = s.Worth(mask, demandOf(m))
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
