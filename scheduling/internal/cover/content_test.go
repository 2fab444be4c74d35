package cover

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// site is one site with what may go there, and what that is worth.
type siteCase struct {
	p *Problem
	y []float64
}

// randomSite makes a site that brute force can still deal with: one to four resources, some asked for by few, items
// that are there once and several times.
func randomSite(seed uint64) siteCase {
	r := rand.New(rand.NewPCG(seed, 11))
	dims := 1 + r.IntN(4)
	s := siteCase{p: &Problem{Shelves: make([][]int32, 1)}}
	coarse := int64(1 + r.IntN(3)*r.IntN(5))
	for i := range 3 + r.IntN(6) {
		it := Item{Req: make([]int64, dims), Count: 1, Most: math.MaxInt32}
		if r.IntN(2) == 0 {
			it.Count += int64(r.IntN(5))
		}
		sum := 0.0
		for d := range it.Req {
			if d == 0 || r.IntN(dims) > 0 {
				it.Req[d] = coarse * int64(1+r.IntN(30)*r.IntN(20)/(1+10*(d%2)))
			}
			sum += float64(it.Req[d])
		}
		s.p.Items = append(s.p.Items, it)
		s.p.Shelves[0] = append(s.p.Shelves[0], int32(i))
		if r.IntN(20) == 0 {
			clear(it.Req)
		}
		y := sum * (0.7 + 0.6*r.Float64())
		if r.IntN(3) == 0 {
			y = math.Round(y/100) * 100 // equal worths
		}
		s.y = append(s.y, y)
	}
	room := make([]int64, dims)
	for d := range room {
		room[d] = coarse * int64(100+r.IntN(900)) / int64(1+8*(d%2))
	}
	s.p.Sites = []Site{{Room: room, Price: 1}}
	return s
}

// optimum is the most any content is worth.
func (s siteCase) optimum() float64 {
	best := 0.0
	room := slices.Clone(s.p.Sites[0].Room)
	var try func(i int, value float64)
	try = func(i int, value float64) {
		best = max(best, value)
		if i == len(s.y) {
			return
		}
		n := int64(0)
		for ; n <= s.p.Items[i].Count; n++ {
			try(i+1, value+s.y[i]*float64(n))
			if !less(room, s.p.Items[i].Req) {
				break
			}
		}
		for d, q := range s.p.Items[i].Req {
			room[d] += q * n
		}
	}
	try(0, 0)
	return best
}

// chooser prices the site by the relaxation, and loads what may be in anything worth more than goal.
func (s siteCase) chooser(goal float64) (t *chooser, c *counter, relaxed float64, ok bool) {
	left := make([]int64, len(s.p.Items))
	for i := range left {
		left[i] = s.p.Items[i].Count
	}
	c = newCounter(s.p, []int32{0}, left)
	relaxed = c.price(0, s.y, 0, nil, func([]Part, float64) {})
	c.s.load(c, 0, &c.shelves[0])
	t = &c.t
	t.floor, t.goal = goal, goal
	return t, c, relaxed, t.load(&c.s, relaxed-goal)
}

// Whatever the grid and however few labels, no bound is below the optimum, and with enough labels it is found.
func TestChooser(t *testing.T) {
	for seed := range uint64(8000) {
		s := randomSite(seed)
		best := s.optimum()
		r := rand.New(rand.NewPCG(seed, 5))
		goal := best * (0.3 + 0.8*r.Float64())
		ch, c, relaxed, ok := s.chooser(goal)
		if relaxed < best*(1-1e-9) {
			t.Fatalf("seed %d: relaxation %v, optimum %v", seed, relaxed, best)
		}
		if !ok {
			if best > goal*(1+1e-9) {
				t.Fatalf("seed %d: nothing above goal %v, optimum %v", seed, goal, best)
			}
			continue
		}
		st := stage{8 << r.IntN(10), []int{1, 3, 20, 100_000}[r.IntN(4)]}
		ch.grid.part = r.IntN(len(gridParts))
		tol := []float64{0, 0.05}[r.IntN(2)]
		bound := ch.attempt(st, tol)
		ch.collect(&c.s)
		if r.IntN(2) == 0 && bound > ch.goal { // the next stage begins with what this one leaves
			ch.reduce()
			bound = min(bound, ch.attempt(stage{8 << r.IntN(10), st.width}, tol))
			ch.collect(&c.s)
		}
		bound = max(bound, ch.goal)
		if bound < best*(1-1e-9) {
			t.Fatalf("seed %d, %v: bound %v, optimum %v", seed, st, bound, best)
		}
		found := 0.0
		for _, a := range ch.best() {
			s.check(t, seed, a)
			found = max(found, a.worth)
		}
		if st.width == 100_000 && goal < best*(1-1e-9) && found*(1+tol) < best*(1-1e-9) {
			t.Fatalf("seed %d, %v: found %v, optimum %v, goal %v", seed, st, found, best, goal)
		}
	}
}

// check tells whether a content is one.
func (s siteCase) check(t *testing.T, seed uint64, a content) {
	room := slices.Clone(s.p.Sites[0].Room)
	worth := 0.0
	for i, n := range a.n {
		worth += s.y[i] * float64(n)
		if int64(n) > s.p.Items[i].Count {
			t.Fatalf("seed %d: %d of item %d", seed, n, i)
		}
		for range n {
			if !less(room, s.p.Items[i].Req) {
				t.Fatalf("seed %d: no room for %v", seed, a.n)
			}
		}
	}
	if math.Abs(worth-a.worth) > 1e-9*worth {
		t.Fatalf("seed %d: worth %v, said %v", seed, worth, a.worth)
	}
}

// Grids hold for every part that items pay, from every item on, and never leave out an item of the best content.
func TestGrid(t *testing.T) {
	for seed := range uint64(4000) {
		s := randomSite(seed)
		best := s.optimum()
		ch, _, _, ok := s.chooser(best * (1 - 1e-6))
		if !ok {
			t.Fatalf("seed %d: nothing above goal", seed)
		}
		r := rand.New(rand.NewPCG(seed, 6))
		g := &ch.grid
		g.plan(ch, 8<<r.IntN(10))
		for part := range gridParts {
			if top := g.paying(ch, part); top < best*(1-1e-9) {
				t.Fatalf("seed %d: %v cells, part %d: %v, optimum %v", seed, g.size, part, top, best)
			}
		}
		g.paying(ch, r.IntN(len(gridParts)))
		ch.reduce()
		rest := siteCase{p: &Problem{Sites: []Site{{Room: ch.room}}}, y: slices.Clone(ch.y[:ch.n])}
		for x := range ch.n {
			rest.p.Items = append(rest.p.Items, Item{Req: ch.of(x), Count: int64(ch.u[x])})
		}
		if got := rest.optimum() + ch.base; math.Abs(got-best) > 1e-9*best {
			t.Fatalf("seed %d: optimum %v, without what was left out %v", seed, best, got)
		}
		g.prepare(ch)
		g.all(ch)
		for x := range ch.n + 1 {
			rest.p.Items, rest.y = rest.p.Items[min(1, x):], rest.y[min(1, x):]
			want := rest.optimum()
			if got := exceed(g.at(ch, x)[g.cells-1]) + ch.pays(g.pay, ch.room); got < want*(1-1e-9) {
				t.Fatalf("seed %d: from %d on %v, optimum %v", seed, x, got, want)
			}
		}
	}
}

// kinds are sites as they come up: what makes each hard is a reason of its own.
var kinds = []struct {
	name   string
	reason string
	make   func(r *rand.Rand) siteCase
}{
	{"batch", "eight pods to a node, worth by how many fit rather than by size", func(r *rand.Rand) siteCase {
		s := siteCase{p: &Problem{Sites: []Site{{Room: []int64{1930, 1450 << 20, 8}}}}}
		for range 400 {
			cpu := int64(13+r.IntN(180)) * 10
			mem := int64(32+r.IntN(40)*r.IntN(36)) << 20
			slots := math.Ceil(8 * max(float64(cpu)/1930, float64(mem)/float64(1450<<20)))
			s.item(min(slots, 8)/8*(0.9+0.1*r.Float64()), 1+r.Int64N(4), cpu, mem, 1)
		}
		return s
	}},
	{"accelerators", "eight GPUs and as many sizes of pods as trainings, cpu-only pods to fill up", func(r *rand.Rand) siteCase {
		s := siteCase{p: &Problem{Sites: []Site{{Room: []int64{95_690, 346 << 30, 737, 8}}}}}
		for i := range 190 {
			gpus := int64(1)
			if i%6 == 0 {
				gpus = 0
			} else if i%20 == 1 {
				gpus = 2 << r.IntN(3)
			}
			cpu, mem := int64(1+r.IntN(16))*1000*max(gpus, 1), int64(2+r.IntN(60))<<30*max(gpus, 1)
			if i%4 == 0 {
				cpu += int64(r.IntN(10)) * 100
			}
			y := 0.055*float64(gpus) + 0.25*float64(cpu)/95_690 + 0.28*float64(mem)/float64(346<<30)
			s.item(y*(0.95+0.1*r.Float64()), 1+r.Int64N(8), cpu, mem, 1, gpus)
		}
		return s
	}},
	{"singles", "no two pods alike, twenty to a node", func(r *rand.Rand) siteCase {
		s := siteCase{p: &Problem{Sites: []Site{{Room: []int64{31_850, 251_190_575_104, 234}}}}}
		for range 450 {
			cpu, mem := int64(math.Exp(2.3+7.5*r.Float64())), int64(math.Exp(18+6.5*r.Float64()))>>20<<20
			y := 0.55*float64(cpu)/31_850 + 0.48*float64(mem)/251_190_575_104
			s.item(y*(0.85+0.2*r.Float64()), 1, cpu, mem, 1)
		}
		return s
	}},
	{"services", "many small pods of round sizes, up to forty to a node", func(r *rand.Rand) siteCase {
		s := siteCase{p: &Problem{Sites: []Site{{Room: []int64{3620, 854 << 24, 54, 17 << 30}}}}}
		cpus := []int64{10, 25, 50, 100, 150, 200, 250, 500, 1000, 1500, 2000}
		for range 220 {
			cpu := cpus[r.IntN(len(cpus))]
			mem := int64(3+r.IntN(20)+int(cpu)/4*r.IntN(3)) << 24
			y := 0.004 + 0.6*float64(cpu)/3620 + 0.35*float64(mem)/float64(854<<24)
			s.item(y*(0.9+0.15*r.Float64()), 1+r.Int64N(30), cpu, mem, 1, int64(r.IntN(20)/19)<<28)
		}
		return s
	}},
}

func (s *siteCase) item(y float64, n int64, req ...int64) {
	s.p.Items = append(s.p.Items, Item{Req: req, Count: n, Most: math.MaxInt32})
	s.p.Shelves = [][]int32{append(slices.Concat(s.p.Shelves...), int32(len(s.y)))}
	s.y = append(s.y, y)
}

// price prices the site with a level, and returns the best found, the bound and the work.
func (s siteCase) price(lv *Level) (best, bound float64, found int, work int64) {
	left := make([]int64, len(s.p.Items))
	for i := range left {
		left[i] = s.p.Items[i].Count
	}
	c := newCounter(s.p, []int32{0}, left)
	bound = c.price(0, s.y, 0.5, lv, func(_ []Part, worth float64) { best = max(best, worth); found++ })
	return best, bound, found, c.work
}

// Sites of every kind are closed to within the slack, and give several contents.
func TestKinds(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			for seed := range uint64(3) {
				s := kind.make(rand.New(rand.NewPCG(seed, 9)))
				lv := Level{Branches: 100, Stages: 3, Slack: 0.002, Prove: true}
				best, bound, found, work := s.price(&lv)
				if gap := bound/best - 1; gap > lv.Slack*(1+1e-6) {
					t.Errorf("seed %d: found %.5f, bound %.5f, %.2f%%: %s", seed, best, bound, 100*gap, kind.reason)
				}
				if found < 2 || work > 30e6 {
					t.Errorf("seed %d: found %d contents with %d steps: %s", seed, found, work, kind.reason)
				}
			}
		})
	}
}

func BenchmarkContent(b *testing.B) {
	for _, kind := range kinds {
		for stages := 2; stages <= 4; stages++ {
			b.Run(fmt.Sprintf("%s/%d", kind.name, stages), func(b *testing.B) {
				s := kind.make(rand.New(rand.NewPCG(1, 9)))
				var best, bound float64
				var work int64
				for b.Loop() {
					best, bound, _, work = s.price(&Level{Branches: 100, Stages: stages, Slack: 0.001, Prove: true})
				}
				b.ReportMetric(100*(bound/best-1), "gap%")
				b.ReportMetric(float64(work)/1e6, "Msteps")
			})
		}
	}
}
