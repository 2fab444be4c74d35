package pack

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// packers are the two constructions, which share most of their promises.
var packers = []struct {
	name  string
	new   func(*Space, *Rules, *Budget) *Packer
	floor bool
}{
	{"by price", Guided, false},
	{"first fit", FirstFit, true},
}

func TestResultsAreValid(t *testing.T) {
	for _, p := range packers {
		t.Run(p.name, func(t *testing.T) {
			runs, shared, onNodes := 0, 0, 0
			eachWorld(t, 3000, everything, func(t *testing.T, w *world) {
				res := w.packed(t, p.new, &Budget{})
				w.check(t, res, p.floor)
				for _, r := range res.Runs {
					runs++
					if len(r.Content) > 1 {
						shared++
					}
				}
				for _, c := range res.OnNodes {
					onNodes += len(c)
				}
			})
			if runs < 3000 || shared < 500 || onNodes < 500 {
				t.Errorf("the worlds test little: %d runs, %d of several jobs, %d entries on existing nodes", runs, shared, onNodes)
			}
		})
	}
}

func TestPackingIsDeterministic(t *testing.T) {
	for _, p := range packers {
		t.Run(p.name, func(t *testing.T) {
			eachWorld(t, 500, everything, func(t *testing.T, w *world) {
				a, b := w.packed(t, p.new, &Budget{}), w.packed(t, p.new, &Budget{})
				if !reflect.DeepEqual(a, b) {
					t.Errorf("two results differ:\n%+v\n%+v", a, b)
				}
			})
		})
	}
}

// The space is shared by all attempts, so none may leave traces in it.
func TestPackingDoesNotWriteToTheSpace(t *testing.T) {
	for _, p := range packers {
		t.Run(p.name, func(t *testing.T) {
			eachWorld(t, 300, everything, func(t *testing.T, w *world) {
				before := *w.s
				before.Limits, before.NodeLimit = slices.Clone(w.s.Limits), slices.Clone(w.s.NodeLimit)
				before.Alloc, before.Cap = slices.Clone(w.s.Alloc), slices.Clone(w.s.Cap)
				before.Nodes, before.OpenStart = nil, nil
				for _, n := range w.s.Nodes {
					before.Nodes = append(before.Nodes, Node{Free: slices.Clone(n.Free), Content: slices.Clone(n.Content)})
				}
				for _, o := range w.s.OpenStart {
					before.OpenStart = append(before.OpenStart, slices.Clone(o))
				}
				res := w.packed(t, p.new, &Budget{})
				w.s.Resettle(res, w.jobs())
				before.Meet, w.s.Meet = nil, nil // functions never compare equal
				if !reflect.DeepEqual(&before, w.s) {
					t.Errorf("the space was changed from\n%+v to\n%+v", before, *w.s)
				}
			})
		})
	}
}

// Without limits and minValues there is always another node to be had.
func TestOnlyPodsThatFitNowhereAreLeft(t *testing.T) {
	pick := func(rng *rand.Rand) features {
		f := everything(rng)
		f.limits, f.minValues, f.reserved = false, false, false
		return f
	}
	for _, p := range packers {
		t.Run(p.name, func(t *testing.T) {
			left := 0
			eachWorld(t, 3000, pick, func(t *testing.T, w *world) {
				res := w.packed(t, p.new, &Budget{})
				for ji, j := range w.jobs() {
					if res.Left[ji] == 0 {
						continue
					}
					left++
					one := Run{Used: j.Req, Content: []Content{{Class: j.Class, Job: int32(ji), Count: 1}}}
					for r := range int32(w.s.Rows) {
						if w.takes(r, &one, w.jobs()) {
							t.Errorf("%d pods of job %d are left, row %d takes one", res.Left[ji], ji, r)
						}
					}
				}
			})
			if left < 100 {
				t.Errorf("only %d jobs were left: the worlds test little", left)
			}
		})
	}
}

func TestRowsThatTheRelaxationHoldsForWorthless(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		alloc        []int64 // cpu and gpus of two rows
		offer        []int64
		jobs         []Job
	}{
		{"beside gpus", "gpu nodes bring cpu enough for nothing, but not in one piece", []int64{192, 0, 64, 8}, []int64{500 * cent, 1000 * cent},
			[]Job{{Req: []int64{4, 1}, Count: 80}, {Class: 1, Req: []int64{100, 0}, Count: 1}}},
		{"free row", "beside a row for nothing all others are worthless", []int64{4, 0, 8, 0}, []int64{0, 5 * cent},
			[]Job{{Req: []int64{2, 0}, Count: 3}, {Class: 1, Req: []int64{6, 0}, Count: 2}}},
		{"free rows only", "nothing is worth anything", []int64{4, 0, 8, 0}, []int64{0, 0},
			[]Job{{Req: []int64{2, 0}, Count: 3}, {Class: 1, Req: []int64{6, 0}, Count: 2}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for i := range tc.jobs {
				tc.jobs[i].Mask = Mask{1, 1}
			}
			w := &world{rounds: [][]Job{tc.jobs}, s: &Space{Dims: 2, Rows: 2, Alloc: tc.alloc, Offer: tc.offer, OfferStart: []int32{0, 1, 2},
				Pool: []int32{0, 0}, Type: []int32{0, 1}, Tiers: [][]int32{{0}}}}
			res := w.packed(t, Guided, &Budget{})
			w.check(t, res, false)
			if res.LeftTotal() > 0 {
				t.Errorf("%v pods are left: %s", res.Left, tc.reason)
			}
		})
	}
}

// Row choice: whatever a node holds in the end, no row of its tier that could hold it is cheaper.
func TestGuidedNodesAreTheCheapestThatHoldTheirPods(t *testing.T) {
	pick := func(rng *rand.Rand) features {
		f := everything(rng)
		f.limits, f.minValues, f.open, f.reserved = false, false, false, false
		return f
	}
	eachWorld(t, 2000, pick, func(t *testing.T, w *world) {
		w.rounds = w.rounds[:1]
		res := w.packed(t, Guided, &Budget{})
		jobs := w.jobs()
		for i := range res.Runs {
			run := &res.Runs[i]
			price := lowestPrice(w.s, run.Row, run.Bits)
			for _, r := range w.sameTier(run.Row) {
				if !w.takes(r, run, jobs) {
					continue
				}
				b := ^uint64(0)
				for _, c := range run.Content {
					b &= jobs[c.Job].Mask[r]
				}
				if p := lowestPrice(w.s, r, b); p < price {
					t.Errorf("run %d costs %d on row %d, row %d holds it for %d", i, price, run.Row, r, p)
				}
			}
		}
	})
}

// Pods of a later round go into nodes that are there, as far as those do not become dearer.
func TestLaterRoundsJoinNodesThatAreThere(t *testing.T) {
	// 4 and 8 CPU; zone a is cheaper than zone b.
	s := &Space{Dims: 1, Rows: 2, Alloc: []int64{4, 8}, Offer: []int64{4 * cent, 5 * cent, 8*cent + 1, 10 * cent}, OfferStart: []int32{0, 2, 4},
		Pool: []int32{0, 0}, Type: []int32{0, 1}, Tiers: [][]int32{{0}}}
	both, zoneB := Mask{3, 3}, Mask{2, 2}
	for _, tc := range []struct {
		name, reason string
		first, then  Job
		ru           *Rules
		nodes, mixed int64
	}{
		{"one each", "three nodes have 1 CPU free", Job{Req: []int64{3}, Count: 3, Mask: both}, Job{Req: []int64{1}, Count: 3, Mask: both}, nil, 3, 3},
		{"fewer", "the last node stays as it is", Job{Req: []int64{3}, Count: 3, Mask: both}, Job{Req: []int64{1}, Count: 2, Mask: both}, nil, 3, 2},
		{"more", "the rest gets a node of its own", Job{Req: []int64{3}, Count: 3, Mask: both}, Job{Req: []int64{1}, Count: 5, Mask: both}, nil, 4, 3},
		{"three and one", "each node has room for three: the second gets the fourth", Job{Req: []int64{5}, Count: 2, Mask: both}, Job{Req: []int64{1}, Count: 4, Mask: both}, nil, 2, 2},
		{"other zone", "zone a nodes do not become zone b nodes", Job{Req: []int64{3}, Count: 1, Mask: both}, Job{Req: []int64{1}, Count: 1, Mask: zoneB}, nil, 2, 0},
		{"excluded", "they must not share a node", Job{Req: []int64{3}, Count: 1, Mask: both}, Job{Class: 1, Req: []int64{1}, Count: 1, Mask: both},
			&Rules{Excludes: [][]int32{{1}, {0}}, Caps: make([][]Cap, 2)}, 2, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.then.MaskID = 1
			w := &world{s: s, ru: tc.ru, rounds: [][]Job{{tc.first}, {tc.then}}}
			res := w.packed(t, Guided, &Budget{})
			w.check(t, res, false)
			mixed := int64(0)
			for _, r := range res.Runs {
				if len(r.Content) > 1 {
					mixed += int64(r.Mult)
				}
			}
			if res.Nodes != tc.nodes || mixed != tc.mixed || res.LeftTotal() != 0 {
				t.Errorf("%d nodes, %d with pods of both rounds, %v left; want %d and %d: %s", res.Nodes, mixed, res.Left, tc.nodes, tc.mixed, tc.reason)
			}
		})
	}
}

func (w *world) sameTier(row int32) (rows []int32) {
	for _, tier := range w.s.Tiers {
		if slices.Contains(tier, w.s.Pool[row]) {
			for r := range int32(w.s.Rows) {
				if slices.Contains(tier, w.s.Pool[r]) {
					rows = append(rows, r)
				}
			}
		}
	}
	return rows
}

// A lighter pool gets what no heavier one can hold, and nothing else.
func TestHeavierPoolsGoFirst(t *testing.T) {
	pick := func(*rand.Rand) features { return features{tiers: true} }
	for _, p := range packers {
		t.Run(p.name, func(t *testing.T) {
			eachWorld(t, 1000, pick, func(t *testing.T, w *world) {
				jobs := w.jobs()
				res := w.packed(t, p.new, &Budget{})
				for i, run := range res.Runs {
					for _, c := range run.Content {
						one := Run{Used: jobs[c.Job].Req, Content: []Content{{Class: c.Class, Job: c.Job, Count: 1}}}
						for _, tier := range w.s.Tiers {
							if slices.Contains(tier, w.s.Pool[run.Row]) {
								break
							}
							for r := range int32(w.s.Rows) {
								if slices.Contains(tier, w.s.Pool[r]) && w.takes(r, &one, jobs) && len(run.Content) == 1 {
									t.Errorf("run %d of pool %d has pods of job %d only, which row %d of the heavier pool %d takes",
										i, w.s.Pool[run.Row], c.Job, r, w.s.Pool[r])
								}
							}
						}
					}
				}
			})
		})
	}
}

func TestStepBudget(t *testing.T) {
	for _, p := range packers {
		t.Run(p.name, func(t *testing.T) {
			stopped := 0
			eachWorld(t, 1500, everything, func(t *testing.T, w *world) {
				most := int64(1 + len(w.s.Offer)%40)
				b := &Budget{Max: most}
				res := w.packed(t, p.new, b)
				w.check(t, res, p.floor)
				if res.Steps != b.Spent {
					t.Errorf("the result says %d steps, the budget %d", res.Steps, b.Spent)
				}
				// A row under way is finished, in every mode; every round and tier notices on its own.
				slack := int64(int(modes)*(len(w.jobs())+1) + 3*len(w.rounds)*(1+len(w.s.Tiers)))
				if b.Spent > most+slack {
					t.Errorf("%d steps spent of %d", b.Spent, most)
				}
				free := w.packed(t, p.new, &Budget{})
				if b.Out() {
					stopped++
				} else if !reflect.DeepEqual(res, free) {
					t.Errorf("a budget of %d that did not run out (%d) changed the result", most, b.Spent)
				}
				if b.Out() != (free.Steps > most) {
					t.Errorf("out of %d steps: %t, without a budget it takes %d", most, b.Out(), free.Steps)
				}
			})
			if stopped < 100 {
				t.Errorf("only %d budgets ran out: the worlds test little", stopped)
			}
		})
	}
}

func TestStopIsHonoured(t *testing.T) {
	s, jobs := catalogue(400, 200, 300)
	for _, p := range packers {
		t.Run(p.name, func(t *testing.T) {
			free := &Budget{}
			full := p.new(s, nil, free)
			full.Run(slices.Clone(jobs))
			asked := 0
			b := &Budget{Stop: func() bool { asked++; return true }}
			e := p.new(s, nil, b)
			for asked == 0 && b.Spent < math.MaxInt32 {
				before := b.Spent
				e.Run(slices.Clone(jobs))
				if b.Spent == before {
					break
				}
			}
			if asked != 1 || !b.Out() {
				t.Fatalf("asked %d times, out: %t, after %d steps (all take %d)", asked, b.Out(), b.Spent, free.Spent)
			}
			if most := int64(1<<16 + 10_000); b.Spent > most {
				t.Errorf("stopped after %d steps, want at most %d", b.Spent, most)
			}
			w := &world{s: s}
			for range len(e.Jobs()) / len(jobs) {
				w.rounds = append(w.rounds, jobs)
			}
			w.check(t, e.Result(), p.floor)
		})
	}
}
