package pack

import (
	"cmp"
	"slices"
)

// Demand is what pods with one mask ask for together.
type Demand struct {
	Mask   Mask
	Amount []float64
}

// maxDemands is how many demands get worths of their own in Bound.
const maxDemands = 64

// Bound is a lower bound, in billionths, on the price of nodes that hold the demands beside the free
// room of the existing nodes, whatever the packing: what they are worth under worths that make no
// row worth more than its cheapest offering costs. Two such sets of worths are tried, one for all
// demands together and one for each by itself; the better bound counts. Both relax everything but
// resources and masks.
func (s *Space) Bound(demands []Demand) int64 {
	if len(demands) == 0 {
		return 0
	}
	all := s.union(demands)
	worth := s.fluid(all.Mask, all.Amount)
	together := s.boundOf([]Demand{all}, [][]float64{worth})
	apart := s.few(demands)
	worths := make([][]float64, len(apart))
	for i := range apart {
		worths[i] = s.fluid(apart[i].Mask, apart[i].Amount)
	}
	s.reconcile(apart, worths)
	return max(together, s.boundOf(apart, worths))
}

func (s *Space) union(demands []Demand) Demand {
	all := Demand{Mask: make(Mask, s.Rows), Amount: make([]float64, s.Dims)}
	for _, d := range demands {
		for r, b := range d.Mask {
			all.Mask[r] |= b
		}
		for i, q := range d.Amount {
			all.Amount[i] += q
		}
	}
	return all
}

// few joins the smallest demands when there are many: a demand may always be given more choice.
func (s *Space) few(demands []Demand) []Demand {
	if len(demands) <= maxDemands {
		return slices.Clone(demands)
	}
	sorted := slices.Clone(demands)
	slices.SortStableFunc(sorted, func(a, b Demand) int { return slices.Compare(b.Amount, a.Amount) })
	return append(sorted[:maxDemands-1:maxDemands-1], s.union(sorted[maxDemands-1:]))
}

// reconcile lowers worths until no offering is worth more than its price, whichever of the demands that may
// use it fills each of its resources. Worths only fall, so an offering that was put right stays right.
func (s *Space) reconcile(demands []Demand, worths [][]float64) {
	var users []int
	for r := range s.Rows {
		for bit := range s.OfferStart[r+1] - s.OfferStart[r] {
			users = users[:0]
			for i := range demands {
				if demands[i].Mask[r]>>bit&1 != 0 {
					users = append(users, i)
				}
			}
			if len(users) == 0 {
				continue
			}
			worth := 0.0
			for d, a := range s.AllocOf(r) {
				if a > 0 {
					worth += float64(dearest(users, worths, d) * float64(a))
				}
			}
			limit := float64(s.Offer[s.OfferStart[r]+bit]) / nano
			if worth <= limit {
				continue
			}
			for _, i := range users {
				for d := range worths[i] {
					worths[i][d] *= limit / worth / (1 + 1e-9)
				}
			}
		}
	}
}

// dearest is the most that one of the demands pays for a resource.
func dearest(users []int, worths [][]float64, d int) float64 {
	w := 0.0
	for _, i := range users {
		w = max(w, worths[i][d])
	}
	return w
}

func (s *Space) boundOf(demands []Demand, worths [][]float64) int64 {
	v := 0.0
	for i := range demands {
		for d, q := range demands[i].Amount {
			v += float64(worths[i][d] * q)
		}
	}
	for n := range s.Nodes {
		for d, free := range s.Nodes[n].Free {
			if free <= 0 {
				continue
			}
			most := slices.MaxFunc(worths, func(a, b []float64) int { return cmp.Compare(a[d], b[d]) })
			v -= float64(most[d] * float64(free))
		}
	}
	// A billionth covers the rounding of sums over millions of pods.
	return max(int64(v*(1-1e-9)*nano)-1, 0)
}
