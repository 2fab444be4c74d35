package scheduling_test

import (
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
