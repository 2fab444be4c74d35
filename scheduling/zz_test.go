package scheduling_test

import (
	"testing"

	"github.com/fleetwright/fleetwright/internal/randproblem"

	. "github.com/fleetwright/fleetwright/scheduling"
)

func TestZZSeed(t *testing.T) {
	size := randproblem.Constrained()
	
	p := randproblem.New(7, size)
	Finger(t, "a", p)
	Finger(t, "b", randproblem.Shuffle(p, 0))
}
