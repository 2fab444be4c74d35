package main

import (
	"context"

	"github.com/fleetwright/fleetwright/scheduling"
)

// runOurs solves with a new Solver: nothing is kept from one run to the next. The plan is verified after
// the clock has stopped.
func runOurs(ctx context.Context, in *input) (sample, error) {
	var s sample
	var plan *scheduling.Plan
	err := measure(&s, func() (err error) {
		plan, err = new(scheduling.Solver).Solve(ctx, in.ours, in.options())
		return err
	})
	if err != nil {
		return s, err
	}
	s.fault = scheduling.Verify(in.ours, plan)
	s.nodes, s.unplaced = plan.Totals.Nodes, plan.Totals.Unplaced
	s.price = float64(plan.Totals.Price.Nano()) / 1e9
	for _, u := range plan.Unplaced {
		if s.reasons == nil {
			s.reasons = map[scheduling.Code]int{}
		}
		s.reasons[plan.Reasons[u.Reason].Code]++
	}
	return s, nil
}

// options are ours for what the peer is told by options of its own.
func (in *input) options() *scheduling.Options {
	if in.ignorePreferences {
		return &scheduling.Options{Preferences: scheduling.PreferencesIgnore}
	}
	return nil
}
