package scheduling

import (
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// best constructs a plan node after node and, unless that is to be all, others in which the nodes are chosen together. It
// picks the best of them, so that more effort never gives a dearer plan. Small ones are weighed as a whole first.
func (sv *solve) best() *outcome {
	best := sv.once()
	var efforts []bool
	switch effort := sv.c.opts.Effort; {
	case best.result.Nodes == 0 || best.proven >= best.result.Price:
	case effort == EffortBest:
		efforts = []bool{false, true}
	case effort == EffortDefault && !sv.throng():
		efforts = []bool{false}
	}
	for _, most := range efforts {
		next := sv.covered(most)
		if next == nil {
			break
		}
		proof := next.proof
		if next.better(best) {
			if slices.Equal(next.left, best.left) {
				next.proven = best.proven
			}
			best = next
		}
		if proof.Bound > best.proof.Bound {
			best.proof = proof
		}
	}
	return best
}

// once constructs one plan, and weighs it as a whole if it is small.
func (sv *solve) once() *outcome { return sv.exact(sv.construct()) }

// covered constructs a plan in which the nodes are chosen together; nil if the budget has nothing left.
func (sv *solve) covered(most bool) *outcome {
	next := *sv
	if sv.budget.Out() {
		return nil
	}
	if next.budget = sv.budget.Rest(); next.budget == nil {
		return nil
	}
	next.cover = &pack.Cover{Best: most, Seed: sv.seed.result, SeedJobs: sv.seed.packer.Jobs()}
	next.cover.Pods, next.cover.NoProof = sv.waiting(), sv.start != nil // then jobs are tied to zones
	o := next.construct()
	sv.budget.Add(next.budget)
	return o
}

// throngPods is how many pods of a crowd are planned for once only at the default effort.
const throngPods = 20_000

// throng reports whether rules on single nodes make a second plan take far longer than the first, which took long.
func (sv *solve) throng() bool {
	return sv.start != nil && sv.waiting() > throngPods && sv.crowded(sv.todo(nil))
}

// waiting is how many pods are to be placed.
func (sv *solve) waiting() (n int64) {
	for id := range sv.c.classes {
		if sv.c.places(int32(id)) {
			n += int64(len(sv.c.classes[id].pods))
		}
	}
	return n
}
