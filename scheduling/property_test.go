package scheduling_test

import (
	"context"
	"encoding/json"
	"fmt"
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
	if plan, err = Solve(context.Background(), problem, &opts); err != nil {
		return nil, err
	}
	return plan, Verify(problem, plan)
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

func TestVerifyAcceptsEveryPlan(t *testing.T) {
	for name, size := range families() {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(600) {
				problem := randproblem.New(seed, size)
				before := mustText(problem)
				opts := variants()[seed%4]
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
