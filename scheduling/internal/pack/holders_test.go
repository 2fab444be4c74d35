package pack

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func TestRemove(t *testing.T) {
	// Three nodes with 2 pods of job 0 (3 each) and 1 pod of job 1 (5).
	run := Run{Row: 4, Mult: 3, Bits: 1, Used: []int64{11}, Content: []Content{{Class: 7, Job: 0, Count: 2}, {Class: 8, Job: 1, Count: 1}}}
	whole := func(mult int32) Run { r := run; r.Mult = mult; return r }
	part := func(used int64, content ...Content) Run {
		return Run{Row: 4, Mult: 1, Bits: 1, Used: []int64{used}, Content: content}
	}
	alone := Run{Row: 4, Mult: 3, Bits: 1, Used: []int64{6}, Content: []Content{{Job: 0, Count: 2}}}
	for _, tc := range []struct {
		name, reason string
		run          Run
		job          int32
		n            int32
		want         []Run
		removed      int32
	}{
		{"none", "nothing to do leaves the run whole", run, 0, 0, []Run{whole(3)}, 0},
		{"one", "only the last node changes", run, 0, 1, []Run{whole(2), part(8, Content{7, 0, 1}, Content{8, 1, 1})}, 1},
		{"a node's", "the node stays, it has a pod of the other job", run, 0, 2, []Run{whole(2), part(5, Content{8, 1, 1})}, 2},
		{"three", "the second last node gives the third", run, 0, 3,
			[]Run{whole(1), part(5, Content{8, 1, 1}), part(8, Content{7, 0, 1}, Content{8, 1, 1})}, 3},
		{"more than there are", "it says how many there were", run, 1, 9,
			[]Run{part(6, Content{7, 0, 2}), part(6, Content{7, 0, 2}), part(6, Content{7, 0, 2})}, 3},
		{"empty node", "a node without pods is not launched", alone, 0, 2, []Run{{Row: 4, Mult: 2, Bits: 1, Used: []int64{6}, Content: alone.Content}}, 2},
		{"all", "no run is left", alone, 0, 6, nil, 6},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := Run{Row: 4, Mult: 3, Bits: 1, Used: slices.Clone(tc.run.Used), Content: slices.Clone(tc.run.Content)}
			got, removed := tc.run.Remove(tc.job, []int64{[]int64{3, 5}[tc.job]}, tc.n)
			if removed != tc.removed {
				t.Errorf("removed %d, want %d: %s", removed, tc.removed, tc.reason)
			}
			if sorted(got); !reflect.DeepEqual(got, sorted(tc.want)) {
				t.Errorf("got\n%+v, want\n%+v: %s", got, tc.want, tc.reason)
			}
			if !reflect.DeepEqual(tc.run, before) {
				t.Errorf("the run itself became %+v", tc.run)
			}
		})
	}
}

// sorted orders runs by what they use, most first: the order among changed nodes means nothing.
func sorted(runs []Run) []Run {
	slices.SortStableFunc(runs, func(a, b Run) int {
		if a.Mult != b.Mult {
			return int(b.Mult - a.Mult)
		}
		return int(a.Used[0] - b.Used[0])
	})
	return runs
}

// ladder sells 2, 4 and 8 CPU in pool 0 and 8 CPU in pool 1; caps are 1 above the room for pods.
func ladder(limits ...int64) *Space {
	s := &Space{Dims: 1, Rows: 4, Alloc: []int64{2, 4, 8, 8}, Offer: []int64{20, 25, 40, 80, 10}, OfferStart: []int32{0, 2, 3, 4, 5},
		Pool: []int32{0, 0, 0, 1}, Type: []int32{0, 1, 2, 3}, Tiers: [][]int32{{0, 1}}}
	if limits != nil {
		s.Cap, s.Limits, s.NodeLimit = []int64{3, 5, 9, 9}, limits, []int64{Unlimited, 5}
	}
	return s
}

func TestResettle(t *testing.T) {
	all := Mask{3, 1, 1, 1}
	for _, tc := range []struct {
		name, reason string
		limits       []int64
		mask         Mask
		run          Run
		want         Run
		price        int64
	}{
		{"smaller", "2 of 8 CPU fit in the smallest type", nil, all,
			Run{Row: 2, Mult: 3, Bits: 1, Used: []int64{2}}, Run{Row: 0, Mult: 3, Bits: 3, Used: []int64{2}}, 60},
		{"middle", "3 CPU need the type with 4", nil, all,
			Run{Row: 2, Mult: 1, Bits: 1, Used: []int64{3}}, Run{Row: 1, Mult: 1, Bits: 1, Used: []int64{3}}, 40},
		{"other pool", "pool 1 is cheaper, but the node is of pool 0", nil, all,
			Run{Row: 2, Mult: 1, Bits: 1, Used: []int64{8}}, Run{Row: 2, Mult: 1, Bits: 1, Used: []int64{8}}, 80},
		{"not allowed", "the pods refuse the smallest type", nil, Mask{0, 1, 1, 1},
			Run{Row: 2, Mult: 1, Bits: 1, Used: []int64{1}}, Run{Row: 1, Mult: 1, Bits: 1, Used: []int64{1}}, 40},
		{"one offering allowed", "the offering is the cheapest that the pods allow", nil, Mask{2, 1, 1, 1},
			Run{Row: 2, Mult: 1, Bits: 1, Used: []int64{1}}, Run{Row: 0, Mult: 1, Bits: 2, Used: []int64{1}}, 25},
		{"limits", "the charge of the larger type stays: it is paid", []int64{9, 9}, all,
			Run{Row: 2, Mult: 1, Bits: 1, Used: []int64{2}, Charge: []int64{9}}, Run{Row: 0, Mult: 1, Bits: 3, Used: []int64{2}, Charge: []int64{9}}, 20},
		{"same", "nothing cheaper holds it", nil, all,
			Run{Row: 0, Mult: 1, Bits: 3, Used: []int64{2}}, Run{Row: 0, Mult: 1, Bits: 3, Used: []int64{2}}, 20},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.run.Content = []Content{{Count: int32(tc.run.Used[0])}}
			tc.want.Content = tc.run.Content
			res := &Result{Runs: []Run{tc.run}, Left: []int32{0}}
			ladder(tc.limits...).Resettle(res, []Job{{Req: []int64{1}, Mask: tc.mask}})
			if !reflect.DeepEqual(res.Runs[0], tc.want) {
				t.Errorf("got %+v, want %+v: %s", res.Runs[0], tc.want, tc.reason)
			}
			if res.Price != tc.price || res.Nodes != int64(tc.run.Mult) {
				t.Errorf("price %d of %d nodes, want %d: %s", res.Price, res.Nodes, tc.price, tc.reason)
			}
		})
	}
}

func TestResettleRespectsLimits(t *testing.T) {
	// The cheaper row charges 10 where the dearer one charges 8.
	s := &Space{Dims: 1, Rows: 2, Alloc: []int64{8, 8}, Cap: []int64{8, 10}, Offer: []int64{100, 50}, OfferStart: []int32{0, 1, 2},
		Pool: []int32{0, 0}, Type: []int32{0, 1}, Tiers: [][]int32{{0}}, NodeLimit: []int64{Unlimited}}
	for _, tc := range []struct {
		name, reason string
		limit        int64
		rows         [2]int32
	}{
		{"room for both", "two nodes of 10", 20, [2]int32{1, 1}},
		{"room for one", "10 and 8", 18, [2]int32{1, 0}},
		{"room for none", "8 and 8 are all", 17, [2]int32{0, 0}},
		{"no limit", "the cheaper row", Unlimited, [2]int32{1, 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.Limits = []int64{tc.limit}
			node := func() Run {
				return Run{Row: 0, Mult: 1, Bits: 1, Used: []int64{4}, Content: []Content{{Count: 1}}, Charge: []int64{8}}
			}
			res := &Result{Runs: []Run{node(), node()}, Left: []int32{0}}
			s.Resettle(res, []Job{{Req: []int64{4}, Mask: Mask{1, 1}, Count: 2}})
			if got := [2]int32{res.Runs[0].Row, res.Runs[1].Row}; got != tc.rows {
				t.Errorf("rows %v, want %v: %s", got, tc.rows, tc.reason)
			}
			if left, _ := s.Left(res); left[0] < 0 {
				t.Errorf("%d over the limit", -left[0])
			}
		})
	}
}

func TestResettlePaysOnlyForWhereItGoes(t *testing.T) {
	// Rows ever cheaper: the second charges much of one resource, the third of the other.
	s := &Space{Dims: 2, Rows: 3, Alloc: []int64{8, 8, 8, 8, 8, 8}, Cap: []int64{8, 8, 12, 8, 8, 12}, Offer: []int64{100, 50, 25}, OfferStart: []int32{0, 1, 2, 3},
		Pool: []int32{0, 0, 0}, Type: []int32{0, 1, 2}, Tiers: [][]int32{{0}}, Limits: []int64{12, 12}, NodeLimit: []int64{Unlimited}}
	charge := []int64{8, 8}
	res := &Result{Left: []int32{0}, Runs: []Run{{Row: 0, Mult: 1, Bits: 1, Used: []int64{4, 4}, Content: []Content{{Count: 1}}, Charge: charge}}}
	s.Resettle(res, []Job{{Req: []int64{4, 4}, Mask: Mask{1, 1, 1}, Count: 1}})
	if r := res.Runs[0]; r.Row != 2 || !slices.Equal(r.Charge, []int64{8, 12}) {
		t.Errorf("row %d charging %v, want row 2 charging 8 and 12", r.Row, r.Charge)
	}
	if !slices.Equal(charge, []int64{8, 8}) {
		t.Errorf("a charge that other runs may share became %v", charge)
	}
}

// Pods are taken out at random, as repairs do, the nodes shrink, the packer goes on; all stays valid.
func TestRemoveResettleAdoptOnRandomResults(t *testing.T) {
	for _, p := range packers {
		t.Run(p.name, func(t *testing.T) {
			removed, cheaper := int32(0), 0
			eachWorld(t, 2000, everything, func(t *testing.T, w *world) {
				e := p.new(w.s, w.ru, &Budget{})
				for _, round := range w.rounds {
					e.Run(slices.Clone(round))
				}
				res := e.Result()
				w.s.Resettle(res, w.jobs())
				w.check(t, res, p.floor)
				rng := rand.New(rand.NewPCG(uint64(w.s.Rows), uint64(res.Price)))
				for i := len(res.Runs) - 1; i >= 0; i-- {
					if rng.IntN(2) == 0 {
						continue
					}
					job := res.Runs[i].Content[rng.IntN(len(res.Runs[i].Content))].Job
					parts, n := res.Runs[i].Remove(job, w.jobs()[job].Req, 1+rng.Int32N(9))
					res.Left[job] += n
					removed += n
					res.Runs = slices.Replace(res.Runs, i, i+1, parts...)
				}
				w.s.Sum(res)
				w.check(t, res, p.floor)
				before := res.Price
				w.s.Resettle(res, w.jobs())
				w.check(t, res, p.floor)
				if res.Price > before {
					t.Errorf("resettling raised the price from %d to %d", before, res.Price)
				}
				if res.Price < before {
					cheaper++
				}
				e.Adopt(res)
				again := slices.Clone(w.rounds[0])
				w.rounds = append(w.rounds, again)
				e.Run(again)
				w.check(t, e.Result(), p.floor)
			})
			if removed < 5000 || cheaper < 100 {
				t.Errorf("%d pods were removed, %d results became cheaper: the worlds test little", removed, cheaper)
			}
		})
	}
}

func TestLeft(t *testing.T) {
	const free = Unlimited
	for _, tc := range []struct {
		name, reason string
		limits       []int64
		runs         []Run
		want         []int64
		nodes        []int64
	}{
		{"no limits", "there is nothing to be left", nil, []Run{{Row: 0, Mult: 2}}, nil, nil},
		{"no runs", "all is left", []int64{10, free}, nil, []int64{10, free}, []int64{free, 5}},
		{"two nodes", "the charge counts, not the row", []int64{10, free}, []Run{{Row: 0, Mult: 2, Charge: []int64{4}}}, []int64{2, free}, []int64{free, 5}},
		{"unlimited", "stays unlimited, nodes are counted", []int64{10, free}, []Run{{Row: 3, Mult: 2, Charge: []int64{9}}}, []int64{10, free}, []int64{free, 3}},
		{"both pools", "each has limits of its own", []int64{10, 20}, []Run{{Row: 1, Mult: 1, Charge: []int64{5}}, {Row: 3, Mult: 2, Charge: []int64{9}}},
			[]int64{5, 2}, []int64{free, 3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := ladder(tc.limits...)
			limits, nodes := s.Left(&Result{Runs: tc.runs})
			if !slices.Equal(limits, tc.want) || !slices.Equal(nodes, tc.nodes) {
				t.Errorf("got %v and %v, want %v and %v: %s", limits, nodes, tc.want, tc.nodes, tc.reason)
			}
			if !slices.Equal(s.Limits, tc.limits) {
				t.Errorf("the space's limits became %v", s.Limits)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		limits       []int64
		row          int
		want         bool
	}{
		{"no limits", "anything goes", nil, 2, true},
		{"just enough", "the cap is 9", []int64{9, 0}, 2, true},
		{"too little", "what pods may use would fit, the cap does not", []int64{8, 0}, 2, false},
		{"nothing left", "0 is a limit", []int64{9, 0}, 3, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := ladder(tc.limits...).Open(tc.row); got != tc.want {
				t.Errorf("got %t, want %t: %s", got, tc.want, tc.reason)
			}
		})
	}
}

func TestHolders(t *testing.T) {
	jobs := []Job{{Mask: Mask{3, 1, 1, 1}}, {Mask: Mask{2, 0, 1, 1}, MaskID: 1},
		{Mask: Mask{3, 1, 1, 1}, Alternatives: []Alternative{
			{Mask: Mask{1, 0, 0, 0}, Open: []OpenReq{{0, 1}}}, {Mask: Mask{2, 1, 0, 0}, Open: []OpenReq{{0, 2}}}, {Mask: Mask{0, 0, 1, 1}}}}}
	open := [][]int32{{7}, {7}, {7}, {7}}
	for _, tc := range []struct {
		name, reason string
		run          Run
		start        [][]int32
		want         []Holder
	}{
		{"small", "every type of the pool, none of the other", Run{Row: 2, Used: []int64{1}, Content: []Content{{Job: 0, Count: 1}}}, nil,
			[]Holder{{0, 3}, {1, 1}, {2, 1}}},
		{"large", "only types with room", Run{Row: 2, Used: []int64{3}, Content: []Content{{Job: 0, Count: 3}}}, nil, []Holder{{1, 1}, {2, 1}}},
		{"two jobs", "offerings that both allow", Run{Row: 2, Used: []int64{2}, Content: []Content{{Job: 0, Count: 1}, {Job: 1, Count: 1}}}, nil,
			[]Holder{{0, 2}, {2, 1}}},
		{"other pool", "the run's pool counts", Run{Row: 3, Used: []int64{2}, Content: []Content{{Job: 0, Count: 1}}}, nil, []Holder{{3, 1}}},
		{"open, undecided", "each offering by one alternative or another", Run{Row: 0, Used: []int64{1}, Content: []Content{{Job: 2, Count: 1}}, Open: []int32{-1}}, open,
			[]Holder{{0, 3}, {1, 1}, {2, 1}}},
		{"open, decided", "the label is 1: the alternative that wants 2 is out", Run{Row: 0, Used: []int64{1}, Content: []Content{{Job: 2, Count: 1}}, Open: []int32{1}}, open,
			[]Holder{{0, 1}, {2, 1}}},
		{"open, decided otherwise", "the label is 4: only the alternative that does not ask is left", Run{Row: 2, Used: []int64{1}, Content: []Content{{Job: 2, Count: 1}}, Open: []int32{4}}, open,
			[]Holder{{2, 1}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := ladder()
			s.Meet, s.OpenStart = meetSets, tc.start
			if got := s.Holders(&tc.run, jobs, nil); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v: %s", got, tc.want, tc.reason)
			}
		})
	}
}

// Whatever took a run can hold it: a run's own row and its cheapest offering are among its holders.
func TestHoldersHaveTheRunsOwnRow(t *testing.T) {
	for _, p := range packers {
		t.Run(p.name, func(t *testing.T) {
			eachWorld(t, 1000, everything, func(t *testing.T, w *world) {
				res := w.packed(t, p.new, &Budget{})
				for i := range res.Runs {
					run := &res.Runs[i]
					own := false
					for _, h := range w.s.Holders(run, w.jobs(), nil) {
						own = own || h.Row == run.Row && h.Bits&run.Bits&-run.Bits != 0
						if !w.takes(h.Row, run, w.jobs()) {
							t.Errorf("run %d: row %d does not take its content", i, h.Row)
						}
					}
					if !own {
						t.Errorf("run %d of row %d: not among its own holders", i, run.Row)
					}
				}
			})
		})
	}
}
