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
//
// Offerings of reservations are either taken for offerings without an end, or for nodes that are there, which
// save at most what they are worth beyond their price; again the better bound counts.
func (s *Space) Bound(demands []Demand) int64 {
	if len(demands) == 0 {
		return 0
	}
	bound := int64(0)
	together, apart := []Demand{s.union(demands)}, s.few(demands)
	for _, list := range [][]Demand{together, apart} {
		bound = max(bound, s.bound(list, list))
		if s.Reservation != nil {
			bound = max(bound, s.bound(list, s.unreserved(list)))
		}
		if len(demands) == 1 {
			break // apart is together
		}
	}
	return bound
}

// bound values the demands by what they are worth on the masks of sale, which may be less than their own.
func (s *Space) bound(demands, sale []Demand) int64 {
	worths := make([][]float64, len(sale))
	for i := range sale {
		worths[i] = s.fluid(sale[i].Mask, sale[i].Amount)
	}
	if len(sale) > 1 {
		s.reconcile(sale, worths)
	}
	saved := 0.0
	if &demands[0] != &sale[0] {
		saved = s.saved(demands, worths)
	}
	return s.boundOf(demands, worths, saved)
}

// unreserved are the demands without the offerings of reservations.
func (s *Space) unreserved(demands []Demand) []Demand {
	reserved := s.reservedBits()
	out := slices.Clone(demands)
	for i := range out {
		out[i].Mask = slices.Clone(out[i].Mask)
		for r, b := range reserved {
			out[i].Mask[r] &^= b
		}
	}
	return out
}

// reservedBits are the offerings of each row that draw on a reservation; nil without reservations.
func (s *Space) reservedBits() []uint64 {
	if s.Reservation == nil {
		return nil
	}
	out := make([]uint64, s.Rows)
	for r := range out {
		for k, id := range s.Reservation[s.OfferStart[r]:s.OfferStart[r+1]] {
			if id >= 0 {
				out[r] |= 1 << k
			}
		}
	}
	return out
}

// saved is the most that the reservations may save: what they have times the most that one of their nodes, full of
// what pays best, is worth beyond its price for each unit that it draws.
func (s *Space) saved(demands []Demand, worths [][]float64) float64 {
	best := make([]float64, len(s.Reserved))
	var users []int
	for r := range s.Rows {
		for bit, id := range s.Reservation[s.OfferStart[r]:s.OfferStart[r+1]] {
			if id < 0 {
				continue
			}
			users = users[:0]
			for i := range demands {
				if demands[i].Mask[r]>>bit&1 != 0 {
					users = append(users, i)
				}
			}
			worth := 0.0
			for d, a := range s.AllocOf(r) {
				if a > 0 {
					worth += float64(dearest(users, worths, d) * float64(a))
				}
			}
			at := int(s.OfferStart[r]) + bit
			best[id] = max(best[id], (worth-float64(s.Offer[at])/nano)/float64(s.drawOf(at)))
		}
	}
	sum := 0.0
	for id, n := range s.Reserved {
		sum += float64(float64(max(n, 0)) * best[id])
	}
	return sum
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

func (s *Space) boundOf(demands []Demand, worths [][]float64, saved float64) int64 {
	v := -saved
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
	return max(int64((v-saved*1e-9)*(1-1e-9)*nano)-1, 0)
}
