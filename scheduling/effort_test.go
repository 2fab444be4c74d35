package scheduling_test

import (
	"testing"

	"github.com/fleetwright/fleetwright/internal/randproblem"
	. "github.com/fleetwright/fleetwright/scheduling"
)

// More effort never gives a dearer plan or a plan that leaves out more pods, and no bound is above any of the plans for the same
// pods.
func TestMoreEffortIsNeverDearer(t *testing.T) {
	all := families()
	wide := randproblem.Small()
	wide.Pods, wide.Kinds, wide.Types, wide.Nodes = 120, 25, 30, 0
	all["wide"] = wide
	commitments := randproblem.Small()
	commitments.With = randproblem.Commitments
	all["commitments"] = commitments
	for name, size := range all {
		t.Run(name, func(t *testing.T) {
			cheaper := 0
			n := uint64(60)
			if name == "wide" {
				n = 6 // the largest
			}
			for seed := range seeds(n) {
				problem := randproblem.New(seed, size)
				opts := variants()[seed%4]
				var plans []*Plan
				for _, effort := range []Effort{EffortFast, EffortDefault, EffortBest} {
					opts.Effort = effort
					plan, err := trial(problem, opts)
					if err != nil {
						t.Fatalf("seed %d, options %+v: %v\n%s", seed, opts, err, explain(problem, opts, err))
					}
					plans = append(plans, plan)
				}
				for i, plan := range plans[1:] {
					was := plans[i]
					if a, b := len(plan.Unplaced), len(was.Unplaced); a > b || a == b && plan.Totals.Price.Nano() > was.Totals.Price.Nano() && samePods(plan, was) {
						t.Errorf("seed %d, %v: price %v with %d pods left over, %v with %d before", seed, plan.Options.Effort, plan.Totals.Price, a, was.Totals.Price, b)
					}
					if samePods(plan, was) && plan.Totals.Price.Nano() < was.Totals.Price.Nano() {
						cheaper++
					}
				}
				for _, a := range plans {
					for _, b := range plans {
						if samePods(a, b) && a.Totals.LowerBound.Nano() > b.Totals.Price.Nano() {
							t.Errorf("seed %d: the bound of %v is %v, the plan of %v costs %v", seed, a.Options.Effort, a.Totals.LowerBound, b.Options.Effort, b.Totals.Price)
						}
					}
				}
			}
			t.Logf("%d plans are cheaper than those of less effort", cheaper)
			if cheaper == 0 && name != "tiny" && name != "commitments" {
				t.Error("more effort never helped")
			}
		})
	}
}

// samePods reports whether both plans leave the same pods over.
func samePods(a, b *Plan) bool {
	left := map[int32]bool{}
	for _, u := range a.Unplaced {
		left[u.Pod] = true
	}
	for _, u := range b.Unplaced {
		if !left[u.Pod] {
			return false
		}
	}
	return len(a.Unplaced) == len(b.Unplaced)
}

// Neither does the order of slices decide what a plan is where nodes are chosen together.
func TestOrderDoesNotMatterAtAnyEffort(t *testing.T) {
	size := randproblem.Small()
	size.Pods, size.Kinds = 80, 20
	for seed := range seeds(20) {
		problem := randproblem.New(seed, size)
		for _, effort := range []Effort{EffortFast, EffortBest} {
			opts := variants()[seed%4]
			opts.Effort = effort
			want := document(t, problem, opts)
			if got := document(t, randproblem.Shuffle(problem, seed), opts); got != want {
				t.Fatalf("seed %d, %v: the plan changed with the order of slices: %s", seed, effort, firstDifference(want, got))
			}
		}
	}
}
