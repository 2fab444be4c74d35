package pack

import "testing"

// Merging must keep all that packing promises, and never costs more or takes more nodes.
func TestMergeOfRandomResults(t *testing.T) {
	for _, p := range packers {
		t.Run(p.name, func(t *testing.T) {
			merged := 0
			eachWorld(t, 3000, everything, func(t *testing.T, w *world) {
				res := w.packed(t, p.new, &Budget{})
				price, nodes := res.Price, res.Nodes
				w.s.Merge(res, w.jobs(), w.ru)
				w.check(t, res, p.floor)
				if res.Price > price || res.Nodes > nodes {
					t.Errorf("%d nodes for %d became %d for %d", nodes, price, res.Nodes, res.Price)
				}
				if res.Nodes < nodes {
					merged++
				}
			})
			if merged < 2 {
				t.Errorf("the worlds test little: nodes were merged in %d", merged)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	all := Mask{3, 1, 1, 1}
	small := func(n int32) Run {
		return Run{Row: 0, Mult: n, Bits: 3, Used: []int64{2}, Content: []Content{{Count: 2}}, Charge: []int64{3}}
	}
	on := func(row int32, cpu int64) Run {
		return Run{Row: row, Mult: 1, Bits: 1, Used: []int64{cpu}, Content: []Content{{Count: int32(cpu)}}, Charge: []int64{cpu + 1}}
	}
	limited := func(limit int64) *Space {
		s := ladder(limit, Unlimited)
		s.Cap[1] = 7
		return s
	}
	flexible := ladder()
	flexible.MinValues = []MinValues{{Pool: 0, Need: 1, Value: []int32{0, 1, 2, -1}}}
	cap := func(most int32) *Rules {
		return &Rules{Excludes: make([][]int32, 1), Caps: [][]Cap{{{Max: most, In: true, Owns: true}}}}
	}
	for _, tc := range []struct {
		name, reason string
		s            *Space
		ru           *Rules
		mask         Mask
		runs         []Run
		nodes, price int64
	}{
		{"two", "4 CPU cost what twice 2 do", ladder(), nil, all, []Run{small(2)}, 1, 40},
		{"four", "what was merged is merged again", ladder(), nil, all, []Run{small(4)}, 1, 80},
		{"three", "the third has none to go with: 6 CPU need a node for 80", ladder(), nil, all, []Run{small(3)}, 2, 60},
		{"different", "5 CPU need a node for 80, 3 and 2 cost 60", ladder(), nil, all, []Run{on(1, 3), small(1)}, 2, 60},
		{"spare", "2 more fit beside 2 on 4 CPU", ladder(), nil, all, []Run{on(1, 2), small(1)}, 1, 40},
		{"one", "there is nothing to merge", ladder(), nil, all, []Run{small(1)}, 1, 20},
		{"mask", "the pods refuse 4 CPU", ladder(), nil, Mask{3, 0, 1, 1}, []Run{small(2)}, 2, 40},
		{"other pool", "a node stays in its pool, though the other's costs 10", ladder(), nil, all, []Run{on(3, 2), small(1)}, 2, 30},
		{"limit", "4 CPU charge 7, and 6 is all there may be", limited(6), nil, all, []Run{small(2)}, 2, 40},
		{"limit with room", "7 are there, 6 of them from the nodes that go", limited(7), nil, all, []Run{small(2)}, 1, 40},
		{"minValues", "such pools stay flexible as they were packed", flexible, nil, all, []Run{small(2)}, 2, 40},
		{"one a node", "the class excludes itself", ladder(), &Rules{Excludes: [][]int32{{0}}, Caps: make([][]Cap, 1)}, all, []Run{small(2)}, 2, 40},
		{"cap", "a node may have 3", ladder(), cap(3), all, []Run{small(2)}, 2, 40},
		{"cap with room", "a node may have 4", ladder(), cap(4), all, []Run{small(2)}, 1, 40},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pods := func(runs []Run) (n int32) {
				for _, r := range runs {
					for _, c := range r.Content {
						n += c.Count * r.Mult
					}
				}
				return n
			}
			before := pods(tc.runs)
			res := &Result{Runs: tc.runs, Left: []int32{0}}
			tc.s.Merge(res, []Job{{Req: []int64{1}, Mask: tc.mask, Count: before}}, tc.ru)
			if tc.s.total(res); res.Nodes != tc.nodes || res.Price != tc.price {
				t.Errorf("%d nodes for %d, want %d for %d: %s", res.Nodes, res.Price, tc.nodes, tc.price, tc.reason)
			}
			if n := pods(res.Runs); n != before {
				t.Errorf("%d pods of %d are left", n, before)
			}
		})
	}
}
