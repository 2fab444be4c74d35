package scheduling

import (
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// best constructs a plan node after node and, unless that is to be all, others in which the nodes are chosen together. It
// picks the best of them, so that more effort never gives a dearer plan.
func (sv *solve) best() *outcome {
	best := sv.construct()
	efforts := map[Effort][]bool{EffortDefault: {false}, EffortBest: {false, true}}[sv.c.opts.Effort]
	for _, most := range efforts {
		if best.result.Nodes == 0 || sv.budget.Out() {
			break
		}
		if o := sv.covered(most); o.better(best) {
			o.proof = better(o, best)
			best = o
		} else {
			best.proof = better(best, o)
		}
	}
	return best
}

// covered constructs a plan in which the nodes are chosen together. It has what the budget has left and does not use it up:
// there is a plan already.
func (sv *solve) covered(most bool) *outcome {
	budget := *sv.budget
	if budget.Max > 0 {
		budget.Max, budget.Spent = budget.Max-budget.Spent, 0
	}
	next := *sv
	next.budget = &budget
	next.cover = &pack.Cover{Best: most, Seed: sv.seed.result, SeedJobs: sv.seed.packer.Jobs()}
	o := next.construct()
	return o
}
