package pack

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// lp is a little space of one offering per row, and what is demanded of it.
type lp struct {
	s      *Space
	mask   Mask
	demand []float64
}

func newLP(rng *rand.Rand) lp {
	l := lp{s: &Space{Dims: 2 + rng.IntN(2), Rows: 1 + rng.IntN(6), OfferStart: []int32{0}}}
	scale := []int64{1, 1000, 1 << 30}
	for r := range l.s.Rows {
		for d := range l.s.Dims {
			a := int64(rng.IntN(20)) * scale[d]
			if rng.IntN(3) == 0 && r > 0 {
				a = l.s.Alloc[d] // equal rows make the simplex degenerate
			}
			l.s.Alloc = append(l.s.Alloc, a)
		}
		l.s.Offer = append(l.s.Offer, int64(1+rng.IntN(30))*cent)
		l.s.OfferStart = append(l.s.OfferStart, int32(r+1))
		l.mask = append(l.mask, uint64(min(rng.IntN(6), 1)))
	}
	for d := range l.s.Dims {
		l.demand = append(l.demand, float64(rng.IntN(50)*int(scale[d])))
	}
	return l
}

// sold lists the resources that are demanded and for sale: the others are worth nothing.
func (l *lp) sold() (dims []int) {
	for d, q := range l.demand {
		for r, b := range l.mask {
			if q > 0 && b != 0 && l.s.AllocOf(r)[d] > 0 {
				dims = append(dims, d)
				break
			}
		}
	}
	return dims
}

// best tries every vertex: each choice of as many rows (worth exactly their price) and resources
// (worth nothing) as there are resources.
func (l *lp) best(dims []int) float64 {
	n, best := len(dims), 0.0
	var rows [][]float64 // a.x <= b, b last; those of x >= 0 have negative coefficients
	for r, b := range l.mask {
		if b == 0 {
			continue
		}
		row := make([]float64, n+1)
		for i, d := range dims {
			row[i] = float64(l.s.AllocOf(r)[d])
		}
		row[n] = float64(l.s.Offer[r]) / nano
		rows = append(rows, row)
	}
	for i := range n {
		row := make([]float64, n+1)
		row[i] = -1
		rows = append(rows, row)
	}
	pick := make([]int, n)
	var walk func(k, from int)
	walk = func(k, from int) {
		if k < n {
			for i := from; i < len(rows); i++ {
				pick[k] = i
				walk(k+1, i+1)
			}
			return
		}
		if x, ok := vertex(rows, pick); ok {
			v := 0.0
			for i, d := range dims {
				v += x[i] * l.demand[d]
			}
			best = max(best, v)
		}
	}
	walk(0, 0)
	return best
}

// vertex solves the picked rows as equations, exactly, and reports whether the point obeys them all.
func vertex(rows [][]float64, pick []int) ([]float64, bool) {
	n := len(pick)
	a := make([][]*big.Rat, n)
	for i, k := range pick {
		for _, v := range rows[k] {
			a[i] = append(a[i], new(big.Rat).SetFloat64(v))
		}
	}
	for c := range n {
		p := slices.IndexFunc(a[c:], func(row []*big.Rat) bool { return row[c].Sign() != 0 })
		if p < 0 {
			return nil, false
		}
		a[c], a[c+p] = a[c+p], a[c]
		for i := range n {
			if i == c {
				continue
			}
			f := new(big.Rat).Quo(a[i][c], a[c][c])
			for k := range a[i] {
				a[i][k] = new(big.Rat).Sub(a[i][k], new(big.Rat).Mul(f, a[c][k]))
			}
		}
	}
	x, exact := make([]float64, n), make([]*big.Rat, n)
	for i := range n {
		exact[i] = new(big.Rat).Quo(a[i][n], a[i][i])
		x[i], _ = exact[i].Float64()
	}
	for _, row := range rows {
		sum := new(big.Rat)
		for i := range n {
			sum.Add(sum, new(big.Rat).Mul(new(big.Rat).SetFloat64(row[i]), exact[i]))
		}
		if sum.Cmp(new(big.Rat).SetFloat64(row[n])) > 0 {
			return nil, false
		}
	}
	return x, true
}

// dear reports whether the row is worth more than its cheapest offering in m, computed exactly.
func dear(s *Space, m Mask, r int, worth []float64) bool {
	sum := new(big.Rat)
	for d, a := range s.AllocOf(r) {
		if a > 0 {
			sum.Add(sum, new(big.Rat).Mul(new(big.Rat).SetFloat64(worth[d]), new(big.Rat).SetInt64(a)))
		}
	}
	return sum.Cmp(big.NewRat(lowestPrice(s, int32(r), m[r]), nano)) > 0
}

func TestFluidIsTheBestVertex(t *testing.T) {
	const seeds = 2000
	t.Logf("seeds 0 to %d", seeds-1)
	positive := 0
	for seed := range uint64(seeds) {
		l := newLP(rand.New(rand.NewPCG(seed, 2)))
		worth := l.s.fluid(l.mask, l.demand)
		got := 0.0
		for d, w := range worth {
			if w < 0 || math.IsNaN(w) || math.IsInf(w, 0) {
				t.Fatalf("seed %d: worths %v", seed, worth)
			}
			got += w * l.demand[d]
		}
		for r, b := range l.mask {
			if b != 0 && dear(l.s, l.mask, r, worth) {
				t.Errorf("seed %d: row %d is worth more than its price with %v", seed, r, worth)
			}
		}
		want := l.best(l.sold())
		if math.Abs(got-want) > 1e-6*want {
			t.Errorf("seed %d: demand is worth %v, the best vertex says %v (%+v, demand %v, mask %v)", seed, got, want, *l.s, l.demand, l.mask)
		}
		if want > 0 {
			positive++
		}
	}
	if positive < seeds/2 {
		t.Errorf("only %d of %d demands are worth something", positive, seeds)
	}
}

func TestFluidOfSpecialCases(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		alloc        []int64
		offer        []int64
		mask         Mask
		demand       []float64
		want         []float64
	}{
		{"no demand", "what nobody wants is worth nothing", []int64{4, 8}, []int64{1e9}, Mask{1}, []float64{0, 0}, []float64{0, 0}},
		{"one resource", "a quarter of the row's price", []int64{4, 8}, []int64{1e9}, Mask{1}, []float64{1, 0}, []float64{.25, 0}},
		{"nothing for sale", "an empty mask sells nothing", []int64{4, 8}, []int64{1e9}, Mask{0}, []float64{1, 1}, []float64{0, 0}},
		{"nobody sells it", "the second resource would be worth any price", []int64{4, 0}, []int64{1e9}, Mask{1}, []float64{1, 5}, []float64{.25, 0}},
		{"sold by others only", "the seller is not in the mask", []int64{4, 0, 4, 4}, []int64{1e9, 1e9}, Mask{1, 0}, []float64{1, 1}, []float64{.25, 0}},
		{"all zero", "an empty row sells nothing", []int64{0, 0}, []int64{1e9}, Mask{1}, []float64{1, 1}, []float64{0, 0}},
		{"overdrawn", "less than nothing is nothing", []int64{4, -8}, []int64{1e9}, Mask{1}, []float64{1, 1}, []float64{.25, 0}},
		{"excess", "the second resource comes for free with the first", []int64{4, 100}, []int64{1e9}, Mask{1}, []float64{4, 4}, []float64{.25, 0}},
		{"cheaper row", "the better of two", []int64{4, 4, 8, 8}, []int64{1e9, 1e9}, Mask{1, 1}, []float64{1, 0}, []float64{.125, 0}},
		{"two rows", "one row for each resource", []int64{4, 0, 0, 8}, []int64{1e9, 1e9}, Mask{1, 1}, []float64{1, 1}, []float64{.25, .125}},
		{"free", "what is to be had for nothing is worth nothing", []int64{4, 8}, []int64{0}, Mask{1}, []float64{1, 0}, []float64{0, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &Space{Dims: 2, Rows: len(tc.offer), Alloc: tc.alloc, Offer: tc.offer}
			for i := range len(tc.offer) + 1 {
				s.OfferStart = append(s.OfferStart, int32(i))
			}
			got := s.fluid(tc.mask, tc.demand)
			for d := range got {
				if math.Abs(got[d]-tc.want[d]) > 1e-8*tc.want[d] || math.IsNaN(got[d]) {
					t.Fatalf("got %v, want %v: %s", got, tc.want, tc.reason)
				}
			}
		})
	}
}

// pod is one pod of the exact search, without open keys and rules.
type pod struct {
	req  []int64
	mask Mask
}

const never = int64(math.MaxInt64 / 4)

// way is a way to pay for a node: with what a reservation gives, -1 for none.
type way struct {
	id   int32
	draw int64
}

// nodePrices is what one node for the set costs at least in each way.
func nodePrices(s *Space, pods []pod, set int, used []int64) map[way]int64 {
	out := map[way]int64{}
	for r := range s.Rows {
		if !holdsAll(s.AllocOf(r), used) {
			continue
		}
		b := ^uint64(0)
		for i := range pods {
			if set>>i&1 == 1 {
				b &= pods[i].mask[r]
			}
		}
		for k := s.OfferStart[r]; k < s.OfferStart[r+1]; k++ {
			how := way{-1, 0}
			if s.Reservation != nil && s.Reservation[k] >= 0 {
				if how = (way{s.Reservation[k], 1}); s.Draw != nil {
					how.draw = s.Draw[k]
				}
			}
			if old, ok := out[how]; b>>(k-s.OfferStart[r])&1 == 1 && (!ok || s.Offer[k] < old) {
				out[how] = s.Offer[k]
			}
		}
	}
	return out
}

// exact is the least price of new nodes for all pods beside the free room of existing nodes; false:
// some pod fits nowhere. It tries every way to part the pods, so there should be few.
func exact(s *Space, pods []pod) (int64, bool) {
	all := 1<<len(pods) - 1
	on := make([]bool, all+1) // the existing nodes can hold the set
	on[0] = true
	sum := func(set int) []int64 {
		used := make([]int64, s.Dims)
		for i := range pods {
			for d := range used {
				used[d] += pods[i].req[d] * int64(set>>i&1)
			}
		}
		return used
	}
	one := make([]map[way]int64, all+1)
	for set := 1; set <= all; set++ {
		one[set] = nodePrices(s, pods, set, sum(set))
	}
	have := slices.Clone(s.Reserved)
	var least func(set int) int64
	least = func(set int) int64 {
		if set == 0 {
			return 0
		}
		best, first := never, set&-set
		for rest := set &^ first; ; rest = (rest - 1) & (set &^ first) { // the first pod with some of the rest
			for how, price := range one[rest|first] {
				if how.id >= 0 && have[how.id] < how.draw {
					continue
				}
				if how.id >= 0 {
					have[how.id] -= how.draw
				}
				best = min(best, price+least(set&^first&^rest))
				if how.id >= 0 {
					have[how.id] += how.draw
				}
			}
			if rest == 0 {
				return best
			}
		}
	}
	for _, n := range s.Nodes {
		next := slices.Clone(on)
		for set := range on {
			for part := set; part > 0 && !next[set]; part = (part - 1) & set {
				next[set] = on[set&^part] && holdsAll(n.Free, sum(part))
			}
		}
		on = next
	}
	best := never
	for set := range on {
		if on[set] {
			best = min(best, least(all&^set))
		}
	}
	return best, best < never
}

// On tiny spaces everything can be tried: bound <= optimum <= what the packers find.
func TestBoundOptimumAndPackers(t *testing.T) {
	pick := func(rng *rand.Rand) features {
		return features{nodes: rng.IntN(2) == 0, scarce: rng.IntN(2) == 0, zeroPrices: rng.IntN(4) == 0, reserved: rng.IntN(2) == 0}
	}
	sum, worlds := map[string]float64{}, 0
	eachWorld(t, 2000, pick, func(t *testing.T, w *world) {
		w.rounds = w.rounds[:1]
		w.s.Tiers = [][]int32{slices.Concat(w.s.Tiers...)}
		w.s.Nodes = w.s.Nodes[:min(len(w.s.Nodes), 2)]
		var pods []pod
		demands := map[int32]*Demand{}
		var order []int32
		for i := range w.rounds[0] {
			j := &w.rounds[0][i]
			j.Count = min(1+j.Count%3, int32(6-len(pods)))
			j.Fits = func(int) bool { return true }
			d := demands[j.MaskID]
			if d == nil {
				d = &Demand{Mask: j.Mask, Amount: make([]float64, w.s.Dims)}
				demands[j.MaskID] = d
				order = append(order, j.MaskID)
			}
			for range j.Count {
				pods = append(pods, pod{j.Req, j.Mask})
				for k, q := range j.Req {
					d.Amount[k] += float64(q)
				}
			}
		}
		best, ok := exact(w.s, pods)
		if !ok {
			return
		}
		worlds++
		var list []Demand
		for _, id := range order {
			list = append(list, *demands[id])
		}
		bound := w.s.Bound(list)
		if bound > best || bound < 0 {
			t.Errorf("bound %d, optimum %d", bound, best)
		}
		sum["bound"] += float64(bound)
		sum["optimum"] += float64(best)
		for _, p := range packers {
			res := w.packed(t, p.new, &Budget{})
			if res.LeftTotal() == 0 && res.Price < best {
				t.Errorf("%s: price %d, below the optimum %d", p.name, res.Price, best)
			}
			sum[p.name] += float64(max(res.Price, best))
		}
	})
	if worlds < 1000 {
		t.Errorf("only %d worlds can be packed", worlds)
	}
	t.Logf("in all, of the optimum: bound %.3f, by price %.3f, first fit %.3f", sum["bound"]/sum["optimum"], sum["by price"]/sum["optimum"], sum["first fit"]/sum["optimum"])
	if sum["by price"] > 1.1*sum["optimum"] {
		t.Errorf("by price costs %.3f of the optimum, want at most 1.1", sum["by price"]/sum["optimum"])
	}
}

func TestBoundOfSpecialCases(t *testing.T) {
	// 4 and 16 CPU; the second offering of each is dearer.
	s := Space{Dims: 1, Rows: 2, Alloc: []int64{4, 16}, Offer: []int64{4e9, 8e9, 12e9, 40e9}, OfferStart: []int32{0, 2, 4}}
	for _, tc := range []struct {
		name, reason string
		nodes        []Node
		demands      []Demand
		want         float64
	}{
		{"nothing", "no demand, no price", nil, nil, 0},
		{"nothing at all", "a demand of 0", nil, []Demand{{Mask{3, 3}, []float64{0}}}, 0},
		{"cheapest", ".75 a CPU", nil, []Demand{{Mask{3, 3}, []float64{16}}}, 12},
		{"small only", "1 a CPU where the large type is not allowed", nil, []Demand{{Mask{3, 0}, []float64{16}}}, 16},
		{"dear only", "2 a CPU", nil, []Demand{{Mask{2, 0}, []float64{16}}}, 32},
		{"apart", "each at its own price: nothing is shared", nil, []Demand{{Mask{1, 0}, []float64{8}}, {Mask{0, 1}, []float64{16}}}, 20},
		{"free room", "8 of 16 CPU are there", []Node{{Free: []int64{8}}}, []Demand{{Mask{3, 3}, []float64{16}}}, 6},
		{"more room than demand", "a bound is never negative", []Node{{Free: []int64{80}}}, []Demand{{Mask{3, 3}, []float64{16}}}, 0},
		{"overdrawn node", "less than nothing is nothing", []Node{{Free: []int64{-8}}}, []Demand{{Mask{3, 3}, []float64{16}}}, 12},
		{"not for sale", "without any offering there is no bound", nil, []Demand{{Mask{0, 0}, []float64{16}}}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := s
			s.Nodes = tc.nodes
			if got := float64(s.Bound(tc.demands)) / nano; math.Abs(got-tc.want) > 1e-6 || got > tc.want {
				t.Errorf("got %v, want %v: %s", got, tc.want, tc.reason)
			}
		})
	}
}

// Demands whose masks overlap share what a row offers: it is not to be counted for each of them.
func TestBoundOfDemandsThatShareRows(t *testing.T) {
	// 4 CPU and 4 GiB for 1; 4 GiB alone for the price given.
	for _, tc := range []struct {
		name, reason string
		memory       int64
		want         float64
	}{
		{"memory is dear", "a node of the first row holds both", 2e9, 1},
		{"memory is cheap", "memory adds a tenth; still, one node holds both", 1e8, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &Space{Dims: 2, Rows: 2, Alloc: []int64{4, 4, 0, 4}, Offer: []int64{1e9, tc.memory}, OfferStart: []int32{0, 1, 2}}
			got := float64(s.Bound([]Demand{{Mask{1, 0}, []float64{4, 0}}, {Mask{1, 1}, []float64{0, 4}}})) / nano
			if got > tc.want || got < tc.want-1e-6 {
				t.Errorf("got %v, want %v: %s", got, tc.want, tc.reason)
			}
		})
	}
}

// More demands than have worths of their own: the bound may be weak, not wrong.
func TestBoundJoinsManyDemands(t *testing.T) {
	s := &Space{Dims: 1, Rows: 100, OfferStart: []int32{0}}
	var demands []Demand
	want := 0.0
	for r := range 100 {
		s.Alloc, s.Offer, s.OfferStart = append(s.Alloc, 4), append(s.Offer, int64(1+r)*nano), append(s.OfferStart, int32(r+1))
		d := Demand{Mask: make(Mask, 100), Amount: []float64{float64(4 * (1 + r%7))}}
		d.Mask[r] = 1
		demands = append(demands, d)
		want += d.Amount[0] / 4 * float64(1+r)
	}
	few := float64(s.Bound(demands)) / nano
	if few > want || few < want/2 {
		t.Errorf("bound %v, the price is %v", few, want)
	}
	own := float64(s.Bound(demands[:maxDemands])) / nano
	if few < own/2 {
		t.Errorf("bound %v, of %d demands alone %v", few, maxDemands, own)
	}
}
