package pack

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestFit(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		rem, req     []int64
		limit        int32
		want         int32
	}{
		{"exact", "three thirds", []int64{9, 30}, []int64{3, 10}, 9, 3},
		{"least binds", "the scarcer resource decides", []int64{9, 19}, []int64{3, 10}, 9, 1},
		{"limit", "no more than asked", []int64{100}, []int64{1}, 7, 7},
		{"none", "not even one", []int64{2}, []int64{3}, 7, 0},
		{"not asked for", "an overdrawn resource binds only those who ask", []int64{-5, 8}, []int64{0, 2}, 9, 4},
		{"overdrawn", "there is less than nothing", []int64{-5, 8}, []int64{1, 2}, 9, 0},
		{"asks for nothing", "the limit is all that binds", []int64{0}, []int64{0}, 9, 9},
		{"limit 0", "nobody to place", []int64{9}, []int64{1}, 0, 0},
		{"large", "petabytes of one pod each, and int32 pods", []int64{1 << 50}, []int64{1 << 20}, math.MaxInt32, 1 << 30},
		{"larger than an int32", "the limit holds", []int64{1 << 60}, []int64{1}, math.MaxInt32, math.MaxInt32},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Fit(tc.rem, tc.req, tc.limit); got != tc.want {
				t.Errorf("fit: got %d, want %d: %s", got, tc.want, tc.reason)
			}
			used := make([]int64, len(tc.rem))
			if got := fitUsed(tc.rem, used, tc.req, tc.limit); got != tc.want {
				t.Errorf("fitUsed: got %d, want %d: %s", got, tc.want, tc.reason)
			}
			all := make([]int64, len(tc.rem))
			for d, q := range tc.req {
				all[d] = q * int64(tc.want)
			}
			if !Holds(tc.rem, all) {
				t.Errorf("holds: %v does not hold %v", tc.rem, all)
			}
		})
	}
}

func TestCompareRatio(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	t.Log("seed 3")
	equal := 0
	for range 5000 {
		a, b, c, d := rng.Int64()>>rng.IntN(60), 1+rng.Int64()>>rng.IntN(60), rng.Int64()>>rng.IntN(60), 1+rng.Int64()>>rng.IntN(60)
		b, d = max(b, 1), max(d, 1)
		if rng.IntN(4) == 0 && a < 1<<30 && b < 1<<30 {
			c, d = 3*a, 3*b
			equal++
		}
		if got, want := compareRatio(a, b, c, d), big.NewRat(a, b).Cmp(big.NewRat(c, d)); got != want {
			t.Fatalf("%d/%d to %d/%d: got %d, want %d", a, b, c, d, got, want)
		}
	}
	if equal < 100 {
		t.Errorf("only %d equal ratios", equal)
	}
}

func TestNodeCap(t *testing.T) {
	// Class 0 excludes itself, 1 and 2 each other. Group 0: owned by 3 and 4, counts 3 and 5, at most 2.
	ru := &Rules{
		Excludes: [][]int32{{0}, {2}, {1}, nil, nil, nil},
		Caps:     [][]Cap{nil, nil, nil, {{0, 2, true, true}}, {{0, 2, false, true}}, {{0, 2, true, false}}},
	}
	for _, tc := range []struct {
		name, reason string
		rules        *Rules
		class        int32
		content      []Content
		want         int32
	}{
		{"no rules", "anything goes", nil, 0, nil, 9},
		{"empty node, excludes itself", "one a node", ru, 0, nil, 1},
		{"one there", "no second", ru, 0, []Content{{Class: 0, Count: 1}}, 0},
		{"others there", "they do not mind", ru, 0, []Content{{Class: 1, Count: 4}}, 1},
		{"excluded", "2 is there", ru, 1, []Content{{Class: 3, Count: 1}, {Class: 2, Count: 1}}, 0},
		{"own kind", "1 excludes 2, not 1", ru, 1, []Content{{Class: 1, Count: 3}}, 9},
		{"owner, empty node", "at most 2", ru, 3, nil, 2},
		{"owner, one counted", "one more", ru, 3, []Content{{Class: 5, Count: 1}}, 1},
		{"owner, full", "none", ru, 3, []Content{{Class: 5, Count: 2}}, 0},
		{"owner, too full", "less than none is none", ru, 3, []Content{{Class: 5, Count: 7}}, 0},
		{"counted, no owner", "the cap holds with owners only", ru, 5, []Content{{Class: 5, Count: 7}}, 9},
		{"counted, owner there", "the owner minds", ru, 5, []Content{{Class: 4, Count: 1}, {Class: 5, Count: 1}}, 1},
		{"owner that is not counted", "it adds nothing to what is allowed", ru, 4, []Content{{Class: 5, Count: 2}}, 9},
		{"owner that is not counted, too full", "it may not go where there are more", ru, 4, []Content{{Class: 5, Count: 3}}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.rules.nodeCap(tc.class, tc.content, 9); got != tc.want {
				t.Errorf("got %d, want %d: %s", got, tc.want, tc.reason)
			}
		})
	}
}

func TestBudgetSpend(t *testing.T) {
	b := &Budget{Max: 10}
	for i, want := range []bool{true, true, true, false, false} {
		if got := b.spend(3); got != want || b.Out() != !want {
			t.Errorf("spend %d of 3 with a budget of 10: %t, out %t; want %t", i, got, b.Out(), want)
		}
	}
	if b = new(Budget); !b.spend(math.MaxInt32) || b.Out() {
		t.Error("the zero value has a bound")
	}
	calls := 0
	b = &Budget{Stop: func() bool { calls++; return calls == 2 }}
	for range 300_000 {
		b.spend(1)
	}
	if calls != 2 || !b.Out() {
		t.Errorf("Stop was asked %d times, out %t: want it asked until it says yes, the second time, and not again", calls, b.Out())
	}
}

func TestBetter(t *testing.T) {
	base := Result{Left: []int32{1, 2}, Price: 100, Nodes: 5}
	for _, tc := range []struct {
		name, reason string
		r            Result
		better       bool
	}{
		{"equal", "neither is", Result{Left: []int32{0, 3}, Price: 100, Nodes: 5}, false},
		{"fewer left", "pods before money", Result{Left: []int32{0, 2}, Price: 900, Nodes: 50}, true},
		{"more left", "pods before money", Result{Left: []int32{2, 2}, Price: 1, Nodes: 1}, false},
		{"cheaper", "money before nodes", Result{Left: []int32{1, 2}, Price: 99, Nodes: 50}, true},
		{"dearer", "money before nodes", Result{Left: []int32{1, 2}, Price: 101, Nodes: 1}, false},
		{"fewer nodes", "of equal price", Result{Left: []int32{1, 2}, Price: 100, Nodes: 4}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.r.Better(&base); got != tc.better {
				t.Errorf("got %t: %s", got, tc.reason)
			}
			if tc.better && base.Better(&tc.r) {
				t.Error("both are better than the other")
			}
		})
	}
}

func TestLedgerRoom(t *testing.T) {
	const free = Unlimited
	for _, tc := range []struct {
		name, reason  string
		limits, nodes []int64
		charge        []int64
		want          int32
	}{
		{"no limits", "all that are asked for", nil, nil, []int64{4, 4}, 9},
		{"unlimited", "all that are asked for", []int64{free, free}, []int64{free}, []int64{4, 4}, 9},
		{"one resource", "7 has room for one 4", []int64{7, free}, []int64{free}, []int64{4, 4}, 1},
		{"both", "the scarcer decides", []int64{9, 30}, []int64{free}, []int64{4, 4}, 2},
		{"nodes", "a number of nodes", []int64{90, free}, []int64{3}, []int64{4, 4}, 3},
		{"charges nothing", "what a node lacks does not bind it", []int64{0, 8}, []int64{free}, []int64{0, 4}, 2},
		{"overdrawn", "a limit below zero is none left", []int64{-3, free}, []int64{free}, []int64{4, 4}, 0},
		{"no nodes", "none left", []int64{free, free}, []int64{-1}, []int64{4, 4}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := NewLedger(&Space{Dims: 2, Pool: []int32{0}, Limits: tc.limits, NodeLimit: tc.nodes})
			got := l.Room(0, 0, tc.charge, 9)
			if got != tc.want {
				t.Errorf("got %d, want %d: %s", got, tc.want, tc.reason)
			}
			if tc.limits != nil && got > 0 && got < 9 {
				if l.Charge(0, 0, tc.charge, got); l.Room(0, 0, tc.charge, 9) != 0 {
					t.Errorf("there is room for more after %d were charged", got)
				}
			}
		})
	}
}
