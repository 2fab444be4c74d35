package cover

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// random makes a small problem: few sizes of pods, sites of several sizes whose price is not quite linear.
func random(seed uint64, pods int) *Problem {
	r := rand.New(rand.NewPCG(seed, 7))
	dims := 2 + r.IntN(2)
	p := &Problem{}
	for n := 0; n < pods; {
		it := Item{Req: make([]int64, dims), Count: int64(1 + r.IntN(3)), Most: math.MaxInt32}
		for d := range it.Req {
			it.Req[d] = int64(r.IntN(40) + 1)
		}
		if dims == 3 && r.IntN(2) == 0 {
			it.Req[2] = 0
		}
		if r.IntN(4) == 0 {
			it.Most = int64(1 + r.IntN(2))
		}
		it.Count = min(it.Count, int64(pods-n))
		n += int(it.Count)
		p.Items = append(p.Items, it)
	}
	all := make([]int32, len(p.Items))
	for i := range all {
		all[i] = int32(i)
	}
	p.Shelves = [][]int32{all}
	if r.IntN(2) == 0 {
		var some []int32
		for _, i := range all {
			if r.IntN(3) > 0 {
				some = append(some, i)
			}
		}
		p.Shelves = append(p.Shelves, some)
	}
	for range 3 + r.IntN(4) {
		s := Site{Room: make([]int64, dims), Shelf: int32(r.IntN(len(p.Shelves)))}
		size := float64(40 + r.IntN(100))
		for d := range s.Room {
			s.Room[d] = int64(size * (0.5 + r.Float64()))
		}
		s.Price = int64(size * (0.8 + 0.4*r.Float64()) * 1e7)
		if r.IntN(5) == 0 {
			s.Price /= 2
			s.Claims = []Claim{{int32(len(p.Finite)), 1}}
			p.Finite = append(p.Finite, int64(r.IntN(3)))
		}
		p.Sites = append(p.Sites, s)
	}
	big := make([]int64, dims)
	for d := range big {
		big[d] = 45
	}
	p.Sites = append(p.Sites, Site{Room: big, Price: 6e8}) // every pod has a place
	return p
}

// optimum tries every way of dividing the pods over nodes. -1: there is none.
func optimum(p *Problem) int64 {
	count := make([]int64, len(p.Items))
	for i := range p.Items {
		count[i] = p.Items[i].Count
	}
	known := map[string]int64{}
	var solve func(left, finite []int64) int64
	solve = func(left, finite []int64) int64 {
		key := fmt.Sprint(left, finite)
		if v, ok := known[key]; ok {
			return v
		}
		first := slices.IndexFunc(left, func(n int64) bool { return n > 0 })
		if first < 0 {
			return 0
		}
		best := int64(-1)
		for s := range p.Sites {
			contents(p, int32(s), left, first, func(n []int64) {
				rest, still := slices.Clone(left), slices.Clone(finite)
				for i := range n {
					rest[i] -= n[i]
				}
				for _, c := range p.Sites[s].Claims {
					if still[c.Finite] -= c.Amount; still[c.Finite] < 0 {
						return
					}
				}
				if v := solve(rest, still); v >= 0 && (best < 0 || v+p.Sites[s].Price < best) {
					best = v + p.Sites[s].Price
				}
			})
		}
		known[key] = best
		return best
	}
	return solve(count, slices.Clone(p.Finite))
}

// contents visits every content of the site with a pod of the first item.
func contents(p *Problem, site int32, left []int64, first int, visit func(n []int64)) {
	s := &p.Sites[site]
	n, room := make([]int64, len(left)), slices.Clone(s.Room)
	var add func(i int)
	add = func(i int) {
		if i == len(left) {
			if n[first] > 0 {
				visit(n)
			}
			return
		}
		add(i + 1)
		if !slices.Contains(p.Shelves[s.Shelf], int32(i)) || n[i] >= min(left[i], p.Items[i].Most) || !holds(room, p.Items[i].Req) {
			return
		}
		for d, q := range p.Items[i].Req {
			room[d] -= q
		}
		n[i]++
		add(i)
		n[i]--
		for d, q := range p.Items[i].Req {
			room[d] += q
		}
	}
	// A content comes about once only if items are added in order; add(i) after add(i+1) may repeat, which is harmless.
	add(0)
	_ = n
}

// verify says what is wrong with the answer's patterns.
func verify(p *Problem, a *Answer) error {
	left, finite := make([]int64, len(p.Items)), slices.Clone(p.Finite)
	for i := range left {
		left[i] = p.Items[i].Count
	}
	price := int64(0)
	for _, t := range a.Patterns {
		s := &p.Sites[t.Site]
		price += s.Price * t.Count
		room := slices.Clone(s.Room)
		for _, x := range t.Parts {
			if !slices.Contains(p.Shelves[s.Shelf], x.Item) || int64(x.N) > p.Items[x.Item].Most {
				return fmt.Errorf("%d of item %d on site %d", x.N, x.Item, t.Site)
			}
			left[x.Item] -= int64(x.N) * t.Count
			for d, q := range p.Items[x.Item].Req {
				if room[d] -= q * int64(x.N); room[d] < 0 && q > 0 {
					return fmt.Errorf("site %d is too full: %v", t.Site, t.Parts)
				}
			}
		}
		for _, c := range s.Claims {
			if finite[c.Finite] -= c.Amount * t.Count; finite[c.Finite] < 0 {
				return fmt.Errorf("too much of %d", c.Finite)
			}
		}
	}
	for i, n := range left {
		if n != 0 {
			return fmt.Errorf("%d of item %d left", n, i)
		}
	}
	if price != a.Price {
		return fmt.Errorf("price %d, want %d", a.Price, price)
	}
	return nil
}

// On problems small enough to try everything no bound is above the optimum, no plan below it, and plans come near.
func TestAgainstTheOptimum(t *testing.T) {
	n := uint64(400)
	if testing.Short() {
		n = 60
	}
	for _, best := range []bool{false, true} {
		o := Effort(best)
		same, ours, least, bounds := 0, 0.0, 0.0, 0.0
		for seed := range n {
			p := random(seed, 7)
			want := optimum(p)
			a := Solve(p, &o)
			if err := verify(p, a); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if a.Bound > want || a.Price < want {
				t.Fatalf("seed %d, best %v: bound %d, price %d, optimum %d", seed, best, a.Bound, a.Price, want)
			}
			if b := Bound(p, &o); b.Bound > want {
				t.Fatalf("seed %d, best %v: bound alone %d, optimum %d", seed, best, b.Bound, want)
			}
			if a.Price == want {
				same++
			}
			ours, least, bounds = ours+float64(a.Price), least+float64(want), bounds+float64(a.Bound)
		}
		t.Logf("best %v: %d of %d optimal, %.2f%% above the optimum, bounds %.2f%% below", best, same, n, 100*(ours/least-1), 100*(1-bounds/least))
		if ours > 1.06*least || bounds < 0.8*least {
			t.Errorf("best %v: prices %.3f, bounds %.3f of the optimum", best, ours/least, bounds/least)
		}
	}
}

// Grouping many items changes nothing of that.
func TestGroupsAgainstTheOptimum(t *testing.T) {
	for seed := range uint64(100) {
		p := random(seed, 7)
		o := Effort(false)
		o.Rows = 2
		a, want := Solve(p, &o), optimum(p)
		if a.Bound > want {
			t.Fatalf("seed %d: bound %d above %d", seed, a.Bound, want)
		}
		if a.Patterns != nil {
			if err := verify(p, a); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}

// Contents that are not admitted are not in the answer.
func TestAdmit(t *testing.T) {
	for seed := range uint64(100) {
		p := random(seed, 12)
		o := Effort(false)
		o.Admit = func(site int32, parts []Part) []Part { // items 0 and 1 do not go together
			if len(parts) > 1 && parts[0].Item == 0 && parts[1].Item == 1 {
				return append(slices.Clone(parts[:1]), parts[2:]...)
			}
			return parts
		}
		a := Solve(p, &o)
		if a.Patterns == nil {
			continue
		}
		if err := verify(p, a); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, x := range a.Patterns {
			if len(x.Parts) > 1 && x.Parts[0].Item == 0 && x.Parts[1].Item == 1 {
				t.Fatalf("seed %d: items 0 and 1 share a node", seed)
			}
		}
	}
}

// The best content of a site and the bound on it, against all of its contents.
func TestContents(t *testing.T) {
	levels := Effort(true).Levels
	for seed := range uint64(600) {
		p := random(seed, 9)
		q, kept := p.prepare()
		left := make([]int64, len(p.Items))
		y := make([]float64, len(p.Items))
		r := rand.New(rand.NewPCG(seed, 3))
		for i := range left {
			left[i] = p.Items[i].Count
			y[i] = 1e7 * (1 + 20*r.Float64()) * float64(p.Items[i].Req[0]+p.Items[i].Req[1]) / 40
		}
		c := newCounter(q, kept, left)
		for _, site := range kept {
			best := 0.0
			for first := range left {
				contents(p, site, left, first, func(n []int64) {
					v := 0.0
					for i := range n {
						v += y[i] * float64(n[i])
					}
					best = max(best, v)
				})
			}
			for k := -1; k < len(levels); k++ {
				var lv *Level
				if k >= 0 {
					lv = &levels[k]
				}
				price := best * (0.5 + r.Float64())
				found := 0.0
				bound := c.price(site, y, price, lv, func(parts []Part, worth float64) { found = max(found, worth) })
				if bound < best*(1-1e-9) && bound < price*(1-1e-9) {
					t.Fatalf("seed %d, site %d, level %d: bound %v, best content %v, price %v", seed, site, k, bound, best, price)
				}
				if bound < best*(1-1e-9) && bound > price*(1+1e-9) {
					t.Fatalf("seed %d, site %d, level %d: bound %v is below the best content %v", seed, site, k, bound, best)
				}
				if lv != nil && best > price*(1+2*lv.Slack) && found == 0 {
					t.Errorf("seed %d, site %d, level %d: best %v above price %v not found", seed, site, k, best, price)
				}
				if found > best*(1+1e-9) {
					t.Fatalf("seed %d: found %v, best %v", seed, found, best)
				}
			}
		}
	}
}

// The same problem gives the same answer, and work is counted, not timed.
func TestDeterministic(t *testing.T) {
	p := random(5, 60)
	o := Effort(false)
	a := Solve(p, &o)
	for range 3 {
		b := Solve(p, &o)
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("%v, then %v", a, b)
		}
	}
}

// Two items of 3 and 1 of 4: with prices by size, one site of each is right; with a discount for size, the large one.
func TestByHand(t *testing.T) {
	for _, c := range []struct {
		name  string
		large int64
		want  int64
	}{
		{"the large site is dear", 90, 60},
		{"the large site is cheap", 50, 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &Problem{
				Items:   []Item{{Req: []int64{3}, Count: 1, Most: 9}, {Req: []int64{1}, Count: 1, Most: 9}, {Req: []int64{2}, Count: 1, Most: 9}},
				Sites:   []Site{{Room: []int64{4}, Price: 40}, {Room: []int64{2}, Price: 20}, {Room: []int64{8}, Price: c.large}},
				Shelves: [][]int32{{0, 1, 2}},
			}
			o := Effort(false)
			if a := Solve(p, &o); a.Price != c.want {
				t.Errorf("price %d, want %d: %v", a.Price, c.want, a.Patterns)
			}
		})
	}
}
