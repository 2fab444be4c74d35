package pack

import (
	"slices"
	"testing"
)

// reservedLadder sells 4 and 8 CPU. Nodes of 8 CPU can be had from reservation 0 for 1, two of them; from
// reservation 1, which has one node of either size, for 2; else they cost 40 and 80.
func reservedLadder() *Space {
	return &Space{Dims: 1, Rows: 2, Alloc: []int64{4, 8}, Offer: []int64{2e9, 40e9, 1e9, 2e9, 80e9}, OfferStart: []int32{0, 2, 5},
		Reservation: []int32{1, -1, 0, 1, -1}, Reserved: []int64{2, 1}, Pool: []int32{0, 0}, Type: []int32{0, 1}, Tiers: [][]int32{{0}}}
}

func TestReservationsAreUsedWhileTheyLast(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		req          int64
		count        int32
		mask         Mask
		price        int64
		nodes        int64
		left         int32
	}{
		{"one", "the cheapest node that there is", 8, 1, Mask{3, 7}, 1, 1, 0},
		{"two", "both of the first reservation", 8, 2, Mask{3, 7}, 2, 2, 0},
		{"three", "then the other", 8, 3, Mask{3, 7}, 4, 3, 0},
		{"four", "then what has no end", 8, 4, Mask{3, 7}, 84, 4, 0},
		{"small", "six of them fill the reserved nodes of 8, one the reserved node of 4", 4, 5, Mask{3, 7}, 4, 3, 0},
		{"only reserved", "what must have a reservation does without a node when it is used up", 8, 4, Mask{0, 3}, 4, 3, 1},
		{"shared", "reservation 1 has one node, whichever row it is", 4, 3, Mask{1, 2}, 2, 1, 1},
		{"not allowed", "pods that may not use it pay", 8, 1, Mask{2, 4}, 80, 1, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &world{s: reservedLadder(), rounds: [][]Job{{{Req: []int64{tc.req}, Mask: tc.mask, Count: tc.count}}}}
			res := w.packed(t, Guided, &Budget{})
			w.check(t, res, false)
			if res.Price != tc.price*nano || res.Nodes != tc.nodes || res.Left[0] != tc.left {
				t.Errorf("price %d, %d nodes, %v left; want %d, %d and %d: %s", res.Price, res.Nodes, res.Left, tc.price, tc.nodes, tc.left, tc.reason)
			}
		})
	}
}

func TestFirstFitClosesNodesIntoReservations(t *testing.T) {
	w := &world{s: reservedLadder(), rounds: [][]Job{{{Req: []int64{8}, Mask: Mask{3, 7}, Count: 5}}}}
	res := w.packed(t, FirstFit, &Budget{})
	w.check(t, res, true)
	var prices []int64
	for _, r := range res.Runs {
		p, _ := w.s.Price(int(r.Row), r.Bits)
		prices = append(prices, slices.Repeat([]int64{p / nano}, int(r.Mult))...)
	}
	if want := []int64{1, 1, 2, 80, 80}; !slices.Equal(prices, want) {
		t.Errorf("nodes cost %v, want %v", prices, want)
	}
}

func TestResettleMovesNodesBetweenReservations(t *testing.T) {
	jobs := []Job{{Req: []int64{4}, Mask: Mask{3, 7}, Count: 9}}
	run := func(row int32, bits uint64, mult int32) Run {
		return Run{Row: row, Bits: bits, Mult: mult, Used: []int64{4}, Content: []Content{{Job: 0, Count: 1}}}
	}
	for _, tc := range []struct {
		name, reason string
		reserved     []int64
		runs         []Run
		want         []int64 // price of each node
		left         []int64
	}{
		{"nothing reserved", "nodes of 4 are cheapest", []int64{0, 0}, []Run{run(1, 4, 3)}, []int64{40, 40, 40}, []int64{0, 0}},
		{"some", "the run is split over the reservations", []int64{2, 1}, []Run{run(1, 4, 5)}, []int64{1, 1, 2, 40, 40}, []int64{0, 0}},
		{"its own", "a run may use what it holds", []int64{2, 1}, []Run{run(1, 1, 2), run(0, 1, 1)}, []int64{1, 1, 2}, []int64{0, 0}},
		{"given back", "what the first run leaves, the second may have", []int64{1, 1}, []Run{run(1, 2, 1), run(1, 4, 1)}, []int64{1, 2}, []int64{0, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := reservedLadder()
			s.Reserved = tc.reserved
			res := &Result{Runs: tc.runs}
			s.Resettle(res, jobs)
			var prices []int64
			for _, r := range res.Runs {
				p, _ := s.Price(int(r.Row), r.Bits)
				prices = append(prices, slices.Repeat([]int64{p / nano}, int(r.Mult))...)
			}
			if !slices.Equal(prices, tc.want) {
				t.Errorf("nodes cost %v, want %v: %s", prices, tc.want, tc.reason)
			}
			if l := s.Rest(res); !slices.Equal(l.reserved, tc.left) {
				t.Errorf("%v are left, want %v: %s", l.reserved, tc.left, tc.reason)
			}
		})
	}
}

func TestLedgerShutsReservationsThatAreUsedUp(t *testing.T) {
	s := reservedLadder()
	l := NewLedger(s)
	open := func(want0, want1 uint64, when string) {
		t.Helper()
		if a, b := l.Open(0, 3), l.Open(1, 7); a != want0 || b != want1 {
			t.Errorf("%s: open are %b and %b, want %b and %b", when, a, b, want0, want1)
		}
	}
	open(3, 7, "new")
	l.Charge(1, 7, nil, 2)
	open(3, 6, "both of reservation 0 are taken")
	if n := l.Room(1, 7, nil, 5); n != 0 {
		t.Errorf("there is room for %d more of it", n)
	}
	if n := l.Room(1, 4, nil, 5); n != 5 {
		t.Errorf("room for %d without a reservation, want 5", n)
	}
	c := l.Clone()
	l.Charge(0, 1, nil, 1)
	open(2, 4, "reservation 1 is gone from both rows")
	l.Refund(1, 7, nil, 1)
	open(2, 5, "one came back")
	if c.Open(0, 3) != 3 || c.Open(1, 7) != 6 {
		t.Errorf("the clone changed too")
	}
}

func TestBoundCountsReservations(t *testing.T) {
	// Nodes of 4 CPU for 4; from a reservation of n nodes for 1.
	for _, tc := range []struct {
		name, reason string
		n            int64
		cpu          float64
		want         float64
	}{
		{"none left", "1 a CPU", 0, 40, 40},
		{"some", "two nodes save 3 each", 2, 40, 34},
		{"more than needed", "all at the price of the reservation", 100, 40, 10},
		{"overdrawn", "less than none is none", -1, 40, 40},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &Space{Dims: 1, Rows: 1, Alloc: []int64{4}, Offer: []int64{1e9, 4e9}, OfferStart: []int32{0, 2}, Reservation: []int32{0, -1}, Reserved: []int64{tc.n}}
			got := float64(s.Bound([]Demand{{Mask{3}, []float64{tc.cpu}}})) / nano
			if got > tc.want || got < tc.want-1e-6 {
				t.Errorf("got %v, want %v: %s", got, tc.want, tc.reason)
			}
		})
	}
}

func TestTallyDoesAsNodeCap(t *testing.T) {
	asked := 0
	eachWorld(t, 500, everything, func(t *testing.T, w *world) {
		if w.ru == nil {
			return
		}
		tl := newTally(w.ru)
		for round := range 5 {
			tl.reset()
			var content []Content
			for i := range 12 {
				class := int32((i*7 + round*3) % len(w.ru.Excludes))
				want := w.ru.nodeCap(class, content, 4)
				if got := tl.room(class, 4); got != want {
					t.Errorf("%d pods of class %d may join %v, the tally says %d", want, class, content, got)
				}
				if asked++; want > 0 {
					content = append(content, Content{Class: class, Count: want})
					tl.add(class, want)
				}
			}
		}
	})
	if asked < 5000 {
		t.Errorf("asked %d times", asked)
	}
}
