package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetwright/fleetwright/internal/randproblem"
	. "github.com/fleetwright/fleetwright/scheduling"
)

func runningFamilies() map[string]randproblem.Size {
	plain, small, constrained, crowded := randproblem.Small(), randproblem.Small(), randproblem.Constrained(), randproblem.Constrained()
	plain.Plain = true
	free := randproblem.Constrained()
	free.With &^= randproblem.Limits | randproblem.Reservations
	for _, s := range []*randproblem.Size{&plain, &small, &constrained, &free} {
		s.Nodes = 10
	}
	crowded.Nodes = 30
	return map[string]randproblem.Size{"plain": plain, "small": small, "constrained": constrained, "crowded": crowded, "free": free}
}

// comparison is what WhatIf does with what Solve does.
type comparison struct {
	asked, pods, fewer, more int
	ours, solve              int64
	worst                    float64
	worstSeed                uint64
}

func (c *comparison) add(seed uint64, o *Outcome, plan *Plan) {
	c.asked++
	n := placedBy(o)
	c.pods += n
	switch d := plan.Totals.Pods - n; {
	case d > 0:
		c.fewer += d
		return
	case d < 0:
		c.more -= d
		return
	}
	c.ours, c.solve = c.ours+o.Price.Nano(), c.solve+plan.Totals.Price.Nano()
	if q := float64(o.Price.Nano()) / float64(max(plan.Totals.Price.Nano(), 1)); plan.Totals.Price.Nano() > 0 && q > c.worst {
		c.worst, c.worstSeed = q, seed
	}
}

func (c *comparison) String() string {
	return fmt.Sprintf("%d questions, %d pods placed, Solve placed %d more and %d fewer; price %v, Solve's %v (%+.2f %%); worst %.3f (seed %d)", c.asked, c.pods, c.fewer, c.more,
		PriceFromNano(c.ours), PriceFromNano(c.solve), 100*(float64(c.ours)/float64(max(c.solve, 1))-1), c.worst, c.worstSeed)
}

func TestWhatIfAgainstSolve(t *testing.T) {
	for name, size := range runningFamilies() {
		t.Run(name, func(t *testing.T) {
			var c comparison
			for seed := range seeds(200) {
				p := settled(seed, size)
				opts := Options{MinValues: MinValuesPolicy(seed % 2), Preferences: PreferencePolicy(seed / 2 % 2)}
				ch := newAsking(seed, p).changes(int(seed % 7))
				q := byHand(p, ch)
				before := mustText(p)
				s, err := Compile(p, &opts)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				state := State(s)
				o, err := s.WhatIf(ch)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if err := judgeOutcome(q, o); err != nil {
					t.Errorf("seed %d: %v\nchanges %+v", seed, err, ch)
				}
				if now := State(s); now != state || mustText(p) != before {
					t.Errorf("seed %d: the question left something behind: %s", seed, cmp.Diff(state, now))
				}
				twice, err := s.WhatIf(ch)
				if d := cmp.Diff(o, twice); err != nil || d != "" {
					t.Errorf("seed %d: another answer the second time, %v: %s", seed, err, d)
				}
				if placedBy(o)+len(o.Left) != len(q.Pods) {
					t.Errorf("seed %d: %d pods placed, %d left, %d asked about", seed, placedBy(o), len(o.Left), len(q.Pods))
				}
				if err := s.Apply(ch); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if d := cmp.Diff(mustText(q), mustText(s.Problem())); d != "" {
					t.Errorf("seed %d: the problem is not the one written by hand: %s", seed, d)
				}
				plan, err := s.Plan(t.Context(), nil)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				c.add(seed, o, plan)
			}
			t.Log(&c)
		})
	}
}
