package pack

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/fleetwright/fleetwright/scheduling/internal/cover"
)

// coveringFrom builds a packer that starts from what another one packed, in the form that packed takes.
func coveringFrom(seed *Result, jobs []Job, best bool) func(*Space, *Rules, *Budget) *Packer {
	return func(s *Space, ru *Rules, b *Budget) *Packer {
		return Covering(s, ru, b, Cover{Best: best, Seed: seed, SeedJobs: jobs})
	}
}

// Whatever the world has, a covering keeps what the kernel promises, and does the same each time.
func TestCoveringKeepsPromises(t *testing.T) {
	cheaper, dearer := 0, 0
	eachWorld(t, 600, everything, func(t *testing.T, w *world) {
		guided := w.packed(t, Guided, &Budget{})
		build := coveringFrom(guided, w.jobs(), false)
		res := w.packed(t, build, &Budget{})
		w.check(t, res, false)
		if again := w.packed(t, build, &Budget{}); !reflect.DeepEqual(res, again) {
			t.Errorf("%+v, then %+v", res, again)
		}
		if res.LeftTotal() != guided.LeftTotal() {
			return
		}
		cheaper += int(b2i(res.Price < guided.Price))
		dearer += int(b2i(res.Price > guided.Price))
	})
	t.Logf("%d cheaper, %d dearer than by price", cheaper, dearer)
	if cheaper < 60 || dearer > cheaper/3 {
		t.Errorf("cheaper %d times, dearer %d times", cheaper, dearer)
	}
}

// A budget that ends leaves a packing that is short, not wrong.
func TestCoveringOnABudget(t *testing.T) {
	eachWorld(t, 200, everything, func(t *testing.T, w *world) {
		for _, steps := range []int64{1, 30, 1000} {
			w.check(t, w.packed(t, coveringFrom(nil, nil, false), &Budget{Max: steps}), false)
		}
	})
}

// No packing that places all pods costs less than the bounds.
func TestCoverBoundHolds(t *testing.T) {
	pick := func(rng *rand.Rand) features {
		f := everything(rng)
		f.limits = false
		return f
	}
	proven, tight, whole := 0, 0, 0
	eachWorld(t, 500, pick, func(t *testing.T, w *world) {
		w.rounds = [][]Job{w.jobs()}
		var lots []Lot
		for i, j := range w.jobs() {
			lots = append(lots, Lot{Req: j.Req, Mask: j.Mask, MaskID: j.MaskID, Count: int64(j.Count), Fits: j.Fits, FitsID: int32(i)})
		}
		guided := w.packed(t, Guided, &Budget{})
		e := Covering(w.s, w.ru, &Budget{}, Cover{})
		e.Run(slices.Clone(w.rounds[0]))
		price := int64(-1)
		for _, res := range []*Result{guided, w.packed(t, FirstFit, &Budget{}), e.Result()} {
			if res.LeftTotal() == 0 && (price < 0 || res.Price < price) {
				price = res.Price
			}
		}
		if price < 0 {
			return
		}
		bound := w.s.CoverBound(lots, false, &Budget{})
		if bound > price {
			t.Errorf("bound %d, a packing costs %d", bound, price)
		}
		if p := e.Proof(); p.Whole {
			whole++
			if p.Bound > price {
				t.Errorf("the covering's bound is %d, a packing costs %d", p.Bound, price)
			}
		}
		proven++
		tight += int(b2i(float64(bound) >= 0.9*float64(price)))
	})
	t.Logf("%d bounds, %d within 10 %%, %d of coverings", proven, tight, whole)
	if proven < 200 || tight < proven/3 || whole < 20 {
		t.Errorf("%d bounds, %d within 10 %%, %d of coverings: the worlds show little", proven, tight, whole)
	}
}

// Sites are what differs to some pod, and name what is finite.
func TestPoseSites(t *testing.T) {
	// Two rows of 4 and 8 CPU. Offerings of the first: reserved at 1, two zones at 4, another at 5; of the second 8.
	space := func() *Space {
		return &Space{Dims: 1, Rows: 2, Alloc: []int64{4, 8}, Offer: []int64{1, 4, 4, 5, 8}, OfferStart: []int32{0, 4, 5}, Pool: []int32{0, 0},
			Type: []int32{0, 1}, Tiers: [][]int32{{0}}, Reservation: []int32{0, -1, -1, -1, -1}, Reserved: []int64{3}}
	}
	job := func(id int32, count int32, mask ...uint64) Job {
		return Job{MaskID: id, Class: id, Req: []int64{2}, Mask: mask, Count: count}
	}
	anywhere, zoneB := job(0, 5, 15, 1), job(1, 5, 4, 1)
	for _, tc := range []struct {
		name, reason string
		change       func(s *Space)
		jobs         []Job
		want         []cover.Site
		shelves      [][]int32
		finite       []int64
	}{
		{"one kind", "zones of one price are one site, a dearer one is none", nil, []Job{anywhere}, []cover.Site{
			{Room: []int64{4}, Price: 1, Claims: []cover.Claim{{Finite: 0, Amount: 1}}}, {Room: []int64{4}, Price: 4}, {Room: []int64{8}, Price: 8}},
			[][]int32{{0}}, []int64{3}},
		{"two kinds", "the zone that both may use replaces the other and the dearer one", nil, []Job{anywhere, zoneB}, []cover.Site{
			{Room: []int64{4}, Price: 1, Shelf: 0, Claims: []cover.Claim{{Finite: 0, Amount: 1}}}, {Room: []int64{4}, Price: 4, Shelf: 0},
			{Room: []int64{4}, Price: 4, Shelf: 1}, {Room: []int64{8}, Price: 8, Shelf: 1}},
			[][]int32{{0}, {0, 1}}, []int64{3}},
		{"used up", "nothing is left of the reservation", func(s *Space) { s.Reserved[0] = 0 }, []Job{anywhere}, []cover.Site{
			{Room: []int64{4}, Price: 4}, {Room: []int64{8}, Price: 8}}, [][]int32{{0}}, []int64{0}},
		{"amount", "a node may draw more than one", func(s *Space) { s.Draw = []int64{2, 1, 1, 1, 1} }, []Job{anywhere}, []cover.Site{
			{Room: []int64{4}, Price: 1, Claims: []cover.Claim{{Finite: 0, Amount: 2}}}, {Room: []int64{4}, Price: 4}, {Room: []int64{8}, Price: 8}},
			[][]int32{{0}}, []int64{3}},
		{"limits", "each node takes its capacity and one of the nodes; plenty is left aside",
			func(s *Space) {
				s.Reservation, s.Reserved = nil, nil
				s.Cap, s.Limits, s.NodeLimit = []int64{4, 8}, []int64{12}, []int64{2}
			}, []Job{anywhere}, []cover.Site{
				{Room: []int64{4}, Price: 1, Claims: []cover.Claim{{Finite: 0, Amount: 1}, {Finite: 1, Amount: 4}}},
				{Room: []int64{8}, Price: 8, Claims: []cover.Claim{{Finite: 0, Amount: 1}, {Finite: 1, Amount: 8}}}},
			[][]int32{{0}}, []int64{2, 12}},
		{"far limits", "five pods of 2 CPU are far from 100 CPU and 50 nodes",
			func(s *Space) {
				s.Reservation, s.Reserved = nil, nil
				s.Cap, s.Limits, s.NodeLimit = []int64{4, 8}, []int64{100}, []int64{50}
			}, []Job{anywhere}, []cover.Site{{Room: []int64{4}, Price: 1}, {Room: []int64{8}, Price: 8}}, [][]int32{{0}}, nil},
		{"minValues", "the larger row has room for what the smaller holds too; the kind that would cost the seed a type stays out",
			func(s *Space) {
				s.Reservation, s.Reserved = nil, nil
				s.MinValues = []MinValues{{Pool: 0, Need: 2, Value: []int32{0, 1}}}
			}, []Job{anywhere, job(1, 5, 0, 1)}, []cover.Site{
				{Room: []int64{4}, Price: 1, Shelf: 0}, {Room: []int64{4}, Price: 8, Shelf: 0}}, [][]int32{{0}}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := space()
			if tc.change != nil {
				tc.change(s)
			}
			e := Covering(s, nil, &Budget{}, Cover{})
			e.jobs = tc.jobs
			for _, j := range tc.jobs {
				e.left = append(e.left, j.Count)
			}
			e.enlist()
			e.enter(s.Tiers[0])
			e.appraise()
			got := e.pose()
			if !reflect.DeepEqual(got.p.Sites, tc.want) || !reflect.DeepEqual(got.p.Shelves, tc.shelves) || !slices.Equal(got.p.Finite, tc.finite) {
				t.Errorf("sites %+v\nwant  %+v\nshelves %v, want %v; finite %v, want %v: %s", got.p.Sites, tc.want, got.p.Shelves, tc.shelves, got.p.Finite, tc.finite, tc.reason)
			}
		})
	}
}

// Existing nodes that are alike are one site; where there are too many, their room is rounded up, never down.
func TestExistingNodesAsSites(t *testing.T) {
	s := &Space{Dims: 2}
	room := map[int64]int64{}
	for i := range int64(1000) {
		s.Nodes = append(s.Nodes, Node{Free: []int64{i * 1_000_003, 7}}, Node{Free: []int64{i * 1_000_003, 0}})
		room[i*1_000_003]++
	}
	all := func(int) bool { return true }
	lots := []Lot{{Req: []int64{1_000_003, 1}}}
	q := newPoser(s)
	q.item(q.group(nil), cover.Item{Req: lots[0].Req, Count: 9})
	q.nodes(lots, []int{0}, []func(int) bool{all})
	total := int64(0)
	for i, site := range q.p.Sites {
		if site.Price != 0 || len(site.Claims) != 1 || site.Claims[0] != (cover.Claim{Finite: int32(i), Amount: 1}) {
			t.Fatalf("site %d: %+v", i, site)
		}
		total += q.p.Finite[i]
		have := int64(0)
		for r, n := range room {
			if r <= site.Room[0] && r > 0 {
				have += n
			}
		}
		below := int64(0)
		for k := range q.p.Sites {
			if q.p.Sites[k].Room[0] <= site.Room[0] {
				below += q.p.Finite[k]
			}
		}
		if below > have {
			t.Errorf("%d nodes have at most %d, there are %d", below, site.Room[0], have)
		}
	}
	if total != 999 || len(q.p.Sites) > maxNodeSites || len(q.p.Sites) < maxNodeSites/4 {
		t.Errorf("%d nodes in %d sites: half of 2000 have none of the second resource, and one none of the first", total, len(q.p.Sites))
	}
}
