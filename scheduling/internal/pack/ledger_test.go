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

// drawnLadder sells 4 CPU for 40, 8 for 80, and both cheaper while the amount lasts: 4 CPU draw 3 of it for 10, 8 CPU
// draw 5 for 30.
func drawnLadder(amount int64) *Space {
	return &Space{Dims: 1, Rows: 2, Alloc: []int64{4, 8}, Offer: []int64{10e9, 40e9, 30e9, 80e9}, OfferStart: []int32{0, 2, 4},
		Reservation: []int32{0, -1, 0, -1}, Reserved: []int64{amount}, Draw: []int64{3, 1, 5, 1}, Pool: []int32{0, 0}, Type: []int32{0, 1}, Tiers: [][]int32{{0}}}
}

func TestNodesDrawAmounts(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		amount       int64
		count        int32
		price        int64
	}{
		{"nothing", "2 CPU each, two pods a node of 4", 0, 4, 80},
		{"not enough for one", "less than a node draws pays for no part of one", 2, 4, 80},
		{"one", "the second node pays the ordinary price", 3, 4, 50},
		{"the rest is too little", "3 of 4 are drawn; 1 is no use", 4, 4, 50},
		{"two", "6 for two nodes of 4", 6, 4, 20},
		{"runs out", "9 pay for three of four nodes", 9, 8, 70},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := &world{s: drawnLadder(tc.amount), rounds: [][]Job{{{Req: []int64{2}, Mask: Mask{3, 3}, Count: tc.count}}}}
			res := w.packed(t, Guided, &Budget{})
			if w.check(t, res, false); res.Price != tc.price*nano {
				t.Errorf("price %d, want %d: %s", res.Price/nano, tc.price, tc.reason)
			}
		})
	}
}

func TestLedgerShutsWhatDrawsTooMuch(t *testing.T) {
	l := NewLedger(drawnLadder(8))
	for _, step := range []struct {
		reason     string
		row        int32
		n          int32
		want       [2]uint64
		room4      int32
		to8        uint64
		turnedOver int
	}{
		{"8 are there", 0, 0, [2]uint64{3, 3}, 2, 3, 0},
		{"5 are left, which is enough for either", 0, 1, [2]uint64{3, 3}, 1, 3, 0},
		{"2 are left: neither. A node of 4 that moves to 8 has 3 of its own", 0, 1, [2]uint64{2, 2}, 0, 3, 1},
		{"5 again", 0, -1, [2]uint64{3, 3}, 1, 3, 2},
		{"nothing: the 3 that a node of 4 has are too few for 8", 1, 1, [2]uint64{2, 2}, 0, 2, 3},
	} {
		if step.n >= 0 {
			l.Charge(step.row, 3, nil, step.n)
		} else {
			l.Refund(step.row, 3, nil, -step.n)
		}
		got := [2]uint64{l.Open(0, 3), l.Open(1, 3)}
		if room, to := l.Room(0, 3, nil, 9), l.OpenTo(1, 3, 0, 3); got != step.want || room != step.room4 || to != step.to8 || l.turns != step.turnedOver {
			t.Errorf("open %b, room for %d, to 8: %b, %d turns; want %b, %d, %b and %d: %s", got, room, to, l.turns,
				step.want, step.room4, step.to8, step.turnedOver, step.reason)
		}
	}
	if other := l.OpenTo(0, 3, 1, 2); other != 2 {
		t.Errorf("a node that draws nothing has %b open, want only the ordinary price", other)
	}
}

// Nodes that move within a reservation leave the others of their run what these hold.
func TestResettleWithinAnAmount(t *testing.T) {
	s := drawnLadder(9)
	s.Offer[0], s.Draw[0] = 35e9, 3 // now 8 CPU cost less and draw more
	jobs := []Job{{Req: []int64{4}, Mask: Mask{3, 3}, Count: 9}}
	res := &Result{Runs: []Run{{Row: 0, Bits: 1, Mult: 3, Used: []int64{4}, Content: []Content{{Job: 0, Count: 1}}}}}
	s.Resettle(res, jobs)
	if l := s.Rest(res); l.reserved[0] < 0 || res.Nodes != 3 {
		t.Errorf("%d nodes draw %d more than there is", res.Nodes, -l.reserved[0])
	}
	s.Reserved[0] = 11 // one of them can have the 2 that are left
	res = &Result{Runs: []Run{{Row: 0, Bits: 1, Mult: 3, Used: []int64{4}, Content: []Content{{Job: 0, Count: 1}}}}}
	s.Resettle(res, jobs)
	if want := int64(30+35+35) * nano; res.Price != want || s.rest0(res) != 0 {
		t.Errorf("price %d with %d left, want %d and nothing", res.Price, s.rest0(res), want)
	}
}

func (s *Space) rest0(res *Result) int64 {
	l := s.Rest(res)
	return l.reserved[0]
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
			for range 2 {
				got := float64(s.Bound([]Demand{{Mask{3}, []float64{tc.cpu}}})) / nano
				if got > tc.want || got < tc.want-1e-6 {
					t.Errorf("got %v, want %v: %s", got, tc.want, tc.reason)
				}
				s.Reserved[0], s.Draw = 7*tc.n, []int64{7, 1} // the same in other units
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
