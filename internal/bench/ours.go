package main

import (
	"context"

	"github.com/fleetwright/fleetwright/internal/bench/karpenter"
	"github.com/fleetwright/fleetwright/scheduling"
)

// oursAt returns a run of ours at an effort. It solves with a new Solver: nothing is kept from one run to the
// next. The plan is verified after the clock has stopped.
func oursAt(effort scheduling.Effort) func(context.Context, *karpenter.Input) (sample, error) {
	return func(ctx context.Context, in *karpenter.Input) (sample, error) {
		var s sample
		var plan *scheduling.Plan
		err := measure(&s, func() (err error) {
			plan, err = new(scheduling.Solver).Solve(ctx, in.Problem, oursOptions(in, effort))
			return err
		})
		if err != nil {
			return s, err
		}
		s.fault = scheduling.Verify(in.Problem, plan)
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
}

// oursOptions are ours for what the peer is told by options of its own.
func oursOptions(in *karpenter.Input, effort scheduling.Effort) *scheduling.Options {
	o := &scheduling.Options{Effort: effort}
	if in.IgnorePreferences {
		o.Preferences = scheduling.PreferencesIgnore
	}
	return o
}
