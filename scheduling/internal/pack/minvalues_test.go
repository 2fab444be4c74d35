package pack

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestUsableUnderMinValues(t *testing.T) {
	// 2, 4, 8 and 16 CPU in pool 0, each a value of its own but the last, which has none; 8 CPU in pool 1.
	s := &Space{Dims: 1, Rows: 5, Alloc: []int64{2, 4, 8, 16, 8}, Offer: []int64{1, 2, 4, 8, 4}, OfferStart: []int32{0, 1, 2, 3, 4, 5},
		Pool: []int32{0, 0, 0, 0, 1}, Type: []int32{0, 1, 2, 3, 2}, Tiers: [][]int32{{0, 1}}}
	all := Mask{1, 1, 1, 1, 1}
	for _, tc := range []struct {
		name, reason string
		need         int
		mask         Mask
		row          int32
		want         []int64
	}{
		{"itself", "one value is its own", 1, all, 2, []int64{8}},
		{"two", "the next smaller must hold it too", 2, all, 2, []int64{4}},
		{"two, smallest", "larger ones can take its place", 2, all, 0, []int64{2}},
		{"three", "all down to the smallest", 3, all, 2, []int64{2}},
		{"no value", "it does not count itself", 1, all, 3, []int64{8}},
		{"too many", "there are three values", 4, all, 2, nil},
		{"not allowed", "pods that refuse a row cannot count on it", 2, Mask{1, 0, 1, 1, 1}, 2, []int64{2}},
		{"other pool", "its minValues are not this pool's", 3, all, 4, []int64{8}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s.MinValues = []MinValues{{Pool: 0, Need: tc.need, Value: []int32{0, 1, 2, -1, 2}}}
			if got := s.usable(tc.mask, tc.row); !slices.Equal(got, tc.want) || (got == nil) != (tc.want == nil) {
				t.Errorf("got %v, want %v: %s", got, tc.want, tc.reason)
			}
		})
	}
}

// usable's promise: enough rows with distinct values hold whatever stays within it, the row among them.
func TestUsableKeepsItsPromise(t *testing.T) {
	pick := func(*rand.Rand) features { return features{minValues: true} }
	smaller, none := 0, 0
	eachWorld(t, 2000, pick, func(t *testing.T, w *world) {
		for _, j := range w.jobs() {
			for r := range int32(w.s.Rows) {
				u := w.s.usable(j.Mask, r)
				if u == nil {
					none++
					continue
				}
				if !slices.Equal(u, w.s.AllocOf(int(r))) {
					smaller++
				}
				if !holdsAll(w.s.AllocOf(int(r)), u) {
					t.Errorf("row %d has %v, usable is %v", r, w.s.AllocOf(int(r)), u)
				}
				for _, mv := range w.s.MinValues {
					values := map[int32]bool{}
					for h := range int32(w.s.Rows) {
						if (h == r || j.Mask[h] != 0) && w.s.Pool[h] == mv.Pool && mv.Value[h] >= 0 && holdsAll(w.s.AllocOf(int(h)), u) {
							values[mv.Value[h]] = true
						}
					}
					if mv.Pool == w.s.Pool[r] && len(values) < mv.Need {
						t.Errorf("row %d: %v is held by rows of %d values, %d are needed", r, u, len(values), mv.Need)
					}
				}
			}
		}
	})
	if smaller < 500 || none < 500 {
		t.Errorf("%d vectors were shrunk, %d impossible: the worlds test little", smaller, none)
	}
}

func TestMinValuesShapeTheNodes(t *testing.T) {
	// 2, 4 and 8 CPU, each a value.
	for _, tc := range []struct {
		name, reason string
		need         int
		bestEffort   bool
		limit        int64
		req          int64
		count        int32
		row          int32
		nodes, left  int64
	}{
		{"one", "the cheapest for four", 1, false, Unlimited, 1, 4, 1, 1, 0},
		{"two", "4 CPU on 8 or 4", 2, false, Unlimited, 1, 4, 1, 1, 0},
		{"three", "2 CPU a node, so that all three types can hold it", 3, false, Unlimited, 1, 4, 0, 2, 0},
		{"three, too large", "3 CPU have two types only", 3, false, Unlimited, 3, 4, -1, 0, 4},
		{"three, best effort", "what cannot be had is let go", 3, true, Unlimited, 3, 4, 1, 4, 0},
		{"limit", "each node charges the largest type it may need: 8", 3, false, 17, 1, 8, 0, 2, 4},
		{"small limit", "the largest type has no room", 3, false, 7, 1, 4, -1, 0, 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &Space{Dims: 1, Rows: 3, Alloc: []int64{2, 4, 8}, Offer: []int64{2 * cent, 4 * cent, 8*cent + 1}, OfferStart: []int32{0, 1, 2, 3},
				Pool: []int32{0, 0, 0}, Type: []int32{0, 1, 2}, Tiers: [][]int32{{0}}, BestEffort: tc.bestEffort,
				MinValues: []MinValues{{Pool: 0, Need: tc.need, Value: []int32{0, 1, 2}}}}
			if tc.limit != Unlimited {
				s.Cap, s.Limits, s.NodeLimit = s.Alloc, []int64{tc.limit}, []int64{Unlimited}
			}
			e := Guided(s, nil, &Budget{})
			e.Run([]Job{{Req: []int64{tc.req}, Mask: Mask{1, 1, 1}, Count: tc.count}})
			res := e.Result()
			if res.Nodes != tc.nodes || res.LeftTotal() != tc.left {
				t.Errorf("%d nodes and %d pods left, want %d and %d: %s", res.Nodes, res.LeftTotal(), tc.nodes, tc.left, tc.reason)
			}
			for _, r := range res.Runs {
				if r.Row != tc.row {
					t.Errorf("a node of row %d, want %d: %s", r.Row, tc.row, tc.reason)
				}
			}
		})
	}
}

// Two jobs may each keep the types that minValues count on, and not together.
func TestMinValuesOfJobsThatShareANode(t *testing.T) {
	// Two equal types of two offerings each. All pods allow both of the first, each job one of the second.
	s := &Space{Dims: 1, Rows: 2, Alloc: []int64{8, 8}, Offer: []int64{4 * cent, 5 * cent, 4 * cent, 5 * cent}, OfferStart: []int32{0, 2, 4},
		Pool: []int32{0, 0}, Type: []int32{0, 1}, Tiers: [][]int32{{0}}, MinValues: []MinValues{{Pool: 0, Need: 2, Value: []int32{0, 1}}}}
	job := func(class int32, second uint64) Job {
		return Job{Class: class, MaskID: class, Req: []int64{2}, Mask: Mask{3, second}, Count: 1}
	}
	w := &world{s: s, rounds: [][]Job{{job(0, 3), job(1, 1), job(2, 2)}}}
	res := w.packed(t, Guided, &Budget{})
	w.check(t, res, false)
	if res.LeftTotal() > 0 {
		t.Errorf("%v pods are left: each can have a node that two types hold", res.Left)
	}
}
