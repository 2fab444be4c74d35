package scheduling_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/randproblem"
	. "github.com/fleetwright/fleetwright/scheduling"
)

// The oracle and Verify were written apart from each other. What the one plans, the other accepts.
func TestOraclePlansAreAccepted(t *testing.T) {
	size := randproblem.Small()
	size.Plain = true
	var launches, placements, unplaced int
	for seed := range uint64(500) {
		problem := randproblem.New(seed, size)
		plan := newOracle(problem).plan()
		if err := Verify(problem, plan); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		launches, placements, unplaced = launches+len(plan.Launches), placements+len(plan.Placements), unplaced+len(plan.Unplaced)
	}
	t.Logf("%d launches, %d placements, %d unplaced", launches, placements, unplaced)
	if launches < 1000 || placements < 500 || unplaced < 200 {
		t.Errorf("only %d launches, %d placements, %d unplaced: the problems are too poor", launches, placements, unplaced)
	}
}

// families are the kinds of problems that properties are tested on.
func families() map[string]randproblem.Size {
	plain, broken, crowded := randproblem.Small(), randproblem.Small(), randproblem.Small()
	plain.Plain = true
	broken.Broken = true
	crowded.Kinds, crowded.Nodes = 0, 12 // every pod of its own kind, many nodes
	return map[string]randproblem.Size{
		"tiny": randproblem.Tiny(), "small": randproblem.Small(), "plain": plain, "broken": broken, "crowded": crowded,
	}
}

// variants are options that change what a plan must obey.
func variants() []Options {
	return []Options{
		{},
		{Preferences: PreferencesIgnore},
		{MinValues: MinValuesBestEffort, Limits: LimitOneFallback},
		{MaxAlternatives: 2},
	}
}

// trial solves and verifies; a panic is an error like any other, so that the seed gets printed.
func trial(problem *Problem, opts Options) (plan *Plan, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("panic: %v", x)
		}
	}()
	opts.Pools = known(problem, opts.Pools)
	if plan, err = Solve(context.Background(), problem, &opts); err != nil {
		return nil, err
	}
	return plan, Verify(problem, plan)
}

// known leaves those pools that the problem has.
func known(problem *Problem, pools []string) []string {
	return slices.DeleteFunc(slices.Clone(pools), func(name string) bool {
		return !slices.ContainsFunc(problem.Pools, func(p Pool) bool { return p.Name == name })
	})
}

// symptom is what stays the same of an error while a problem shrinks.
func symptom(err error) string {
	if r := rules(err); r != nil {
		return r[0]
	}
	return fmt.Sprintf("%T", err)
}

// explain prints the smallest problem that shows the same symptom.
func explain(problem *Problem, opts Options, err error) string {
	small := randproblem.Shrink(problem, func(q *Problem) bool {
		_, e := trial(q, opts)
		return e != nil && symptom(e) == symptom(err)
	})
	_, err = trial(small, opts)
	return fmt.Sprintf("%v\nin the smallest such problem:\n%s", err, mustText(small))
}

func mustText(p *Problem) string {
	text, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestVerifyAcceptsEveryPlan(t *testing.T) { acceptsAll(t, families(), variants(), 600) }

// acceptsAll solves random problems of each family under one option after another: Verify accepts the plans, and the
// problems stay as they were.
func acceptsAll(t *testing.T, families map[string]randproblem.Size, variants []Options, n uint64) {
	for name, size := range families {
		t.Run(name, func(t *testing.T) {
			for seed := range seeds(n) {
				problem := randproblem.New(seed, size)
				before := mustText(problem)
				opts := variants[seed%uint64(len(variants))]
				if _, err := trial(problem, opts); err != nil {
					t.Fatalf("seed %d, options %+v: %v\n%s", seed, opts, err, explain(problem, opts, err))
				}
				if mustText(problem) != before {
					t.Fatalf("seed %d: Solve changed the problem", seed)
				}
			}
		})
	}
}

// document is a plan in names, without what tells how it came about.
func document(t *testing.T, problem *Problem, opts Options) string {
	t.Helper()
	opts.Pools = known(problem, opts.Pools)
	plan, err := Solve(context.Background(), problem, &opts)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(plan.Document(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The order of a problem's slices carries no meaning, and there is no randomness.
func TestOrderDoesNotMatter(t *testing.T) { anyOrder(t, families(), variants(), 150) }

// anyOrder solves random problems again with their slices shuffled.
func anyOrder(t *testing.T, families map[string]randproblem.Size, variants []Options, n uint64) {
	for name, size := range families {
		t.Run(name, func(t *testing.T) {
			for seed := range seeds(n) {
				problem := randproblem.New(seed, size)
				opts := variants[seed%uint64(len(variants))]
				if testing.Short() && seed > 0 {
					opts.Effort = EffortFast // one seed of each family shows the rest to the race detector
				}
				want := document(t, problem, opts)
				for shuffle := range uint64(2) {
					if got := document(t, randproblem.Shuffle(problem, shuffle), opts); got != want {
						t.Fatalf("seed %d, shuffle %d: the plan changed with the order of slices: %s", seed, shuffle, firstDifference(want, got))
					}
				}
			}
		})
	}
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d:\n  %s\nbecame\n  %s\nafter\n%s", i, a[i], b[i], strings.Join(a[max(0, i-8):i], "\n"))
		}
	}
	return fmt.Sprintf("%d lines became %d", len(a), len(b))
}

// A step budget cuts a plan short, never wrong; and what was not looked at comes first next time.
func TestBudgetedPlansAreAccepted(t *testing.T) {
	partial := 0
	for seed := range uint64(100) {
		problem := randproblem.New(seed, randproblem.Small())
		for _, steps := range []int64{1, 10, 100, 1000} {
			opts := Options{Steps: steps}
			plan, err := trial(problem, opts)
			if err != nil {
				t.Fatalf("seed %d, %d steps: %v\n%s", seed, steps, err, explain(problem, opts, err))
			}
			if plan.Partial() {
				partial++
			}
		}
	}
	if partial == 0 {
		t.Error("no budget was ever too small")
	}
}

// The solver is never dearer than the oracle, and leaves out no pod that the oracle places. There are no
// nodes yet: who gets the room on those is a matter of taste, and changes what is left to buy.
func TestNeverDearerThanTheOracle(t *testing.T) {
	size := randproblem.Small()
	// One pool: between several a first-fit node is of one pool in the oracle, of any in the solver.
	size.Plain, size.Nodes, size.Pools = true, 0, 1
	var ours, theirs int64
	for seed := range uint64(500) {
		problem := randproblem.New(seed, size)
		naive := newOracle(problem).plan()
		plan, err := trial(problem, Options{Preferences: PreferencesIgnore})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		if len(plan.Unplaced) < len(naive.Unplaced) {
			continue // more pods cost more
		}
		if len(plan.Unplaced) > len(naive.Unplaced) {
			t.Errorf("seed %d: %d pods are left over, %d by the oracle", seed, len(plan.Unplaced), len(naive.Unplaced))
			continue
		}
		if plan.Totals.Price.Nano() > naive.Totals.Price.Nano() {
			t.Errorf("seed %d: price %v, the oracle's %v", seed, plan.Totals.Price, naive.Totals.Price)
		}
		ours, theirs = ours+plan.Totals.Price.Nano(), theirs+naive.Totals.Price.Nano()
	}
	t.Logf("all prices together: %v, the oracle's %v", PriceFromNano(ours), PriceFromNano(theirs))
}
