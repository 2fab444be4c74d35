package scheduling

import (
	"context"
	"errors"
)

// Solve plans where the problem's pods go. See the package comment for what it weighs. Bad input gives
// an error that lists every fault found (see InputError); pods that fit nowhere are in the plan, not
// in the error. Cancelling ctx returns its error and no plan. Safe for concurrent use.
func Solve(ctx context.Context, p *Problem, opts *Options) (*Plan, error) {
	var s Solver
	return s.Solve(ctx, p, opts)
}

// Solver solves many problems one after another and keeps its buffers in between. The zero
// value is ready. Not safe for concurrent use.
type Solver struct{}

// Solve is the function Solve with the solver's buffers.
func (s *Solver) Solve(ctx context.Context, p *Problem, opts *Options) (*Plan, error) {
	return nil, errors.New("scheduling: not built yet")
}
