package scheduling

import (
	"cmp"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// capsPreferences reports whether the call, or a pool, bounds what preferences may cost.
func (c *compiler) capsPreferences() bool {
	return c.opts.Preferences == PreferencesCap || slices.ContainsFunc(c.p.Pools, func(p Pool) bool {
		return p.Preferences != nil && *p.Preferences == PreferencesCap
	})
}

// capped keeps as many preferences as the cap pays for. It solves without any, with all, and then by bisection for as many
// pods as keep theirs within the cap, those first whose preferences cost least; what it reports as cost is the
// difference between two such plans.
func capped(c *compiler, budget *pack.Budget) *outcome {
	full := newSolve(c, budget, nil)
	all := full.best()
	n := int32(0)
	for id := range c.classes {
		if c.picky(int32(id)) {
			n += int32(len(c.classes[id].pods))
		}
	}
	if n == 0 || budget.Out() {
		return all
	}
	none := newSolve(c, budget, make([]int32, len(c.classes))).best()
	limit := none.result.Price + c.opts.PreferenceCap.Nano()
	within := func(o *outcome) bool { return o.result.Price <= limit && o.leftTotal() <= none.leftTotal() }
	if within(all) || budget.Out() {
		return all
	}
	order := c.byCost(all, none)
	best, keep := none, make([]int32, len(c.classes))
	for lo, hi := int32(0), n; hi-lo > 1 && !budget.Out(); {
		mid := (lo + hi) / 2
		kept := keepFirst(c, order, mid)
		if o := newSolve(c, budget, kept).once(); within(o) {
			lo, best, keep = mid, o, kept
		} else {
			hi = mid
		}
	}
	if best != none && !budget.Out() {
		best = newSolve(c, budget, keep).best()
	}
	best.costs = c.costsOfKeeping(budget, best, keep)
	return best
}

// picky reports whether pods of the class have preferences that could be given up.
func (c *compiler) picky(id int32) bool { return c.places(id) && len(c.variantsOf(id)) > 1 }

// keepFirst lets n pods keep their preferences, class after class.
func keepFirst(c *compiler, order []int32, n int32) []int32 {
	keep := make([]int32, len(c.classes))
	for _, id := range order {
		keep[id] = min(n, int32(len(c.classes[id].pods)))
		n -= keep[id]
	}
	return keep
}

// byCost orders the classes with preferences by what a pod's share of its node costs more with them than without.
func (c *compiler) byCost(with, without *outcome) []int32 {
	a, b := with.shares(), without.shares()
	var order []int32
	for _, id := range c.order {
		if c.picky(id) {
			order = append(order, id)
		}
	}
	more := func(id int32) float64 { return (a[id] - b[id]) / float64(max(len(c.classes[id].pods), 1)) }
	slices.SortStableFunc(order, func(x, y int32) int { return cmp.Compare(more(x), more(y)) })
	return order
}

// shares divides the price of every launch over its pods, by what they use of its resources.
func (o *outcome) shares() []float64 {
	out := make([]float64, len(o.left))
	if o.board == nil {
		for i := range o.result.Runs {
			r := &o.result.Runs[i]
			var items []board.Item
			for _, x := range r.Content {
				items = append(items, board.Item{Class: o.infos[x.Job].class, Count: x.Count})
			}
			o.share(r.Row, r.Bits, r.Mult, items, out)
		}
		return out
	}
	all, old := o.board.Nodes()
	for i := old; i < all; i++ {
		row, allowed, _ := o.board.Node(i)
		o.share(row, allowed, 1, o.board.Items(i), out)
	}
	return out
}

// share adds what the items' classes pay for a number of nodes.
func (o *outcome) share(row int32, allowed uint64, mult int32, items []board.Item, out []float64) {
	s := &o.c.space
	weigh := func(it board.Item) (w float64) {
		for d, a := range s.AllocOf(int(row)) {
			if a > 0 && a != pack.Unlimited {
				w += float64(o.c.classes[it.Class].req[d]) / float64(a)
			}
		}
		return w * float64(it.Count)
	}
	total := 0.0
	for _, it := range items {
		total += weigh(it)
	}
	price, _ := s.Price(int(row), allowed)
	for _, it := range items {
		if total > 0 {
			out[it.Class] += float64(price) * float64(mult) * (weigh(it) / total)
		}
	}
}

// maxCosts is how many classes' costs are worked out by solving once more.
const maxCosts = 16

// costsOfKeeping is how much dearer the plan would be with all preferences of each class that had to give some up.
func (c *compiler) costsOfKeeping(budget *pack.Budget, o *outcome, keep []int32) map[int32]int64 {
	costs := map[int32]int64{}
	if c.opts.Effort != EffortFast { // like is compared with like
		o = newSolve(c, budget, keep).once()
	}
	for _, id := range c.order {
		if !c.picky(id) || int(keep[id]) == len(c.classes[id].pods) || len(costs) == maxCosts || budget.Out() {
			continue
		}
		more := slices.Clone(keep)
		more[id] = int32(len(c.classes[id].pods))
		costs[id] = max(newSolve(c, budget, more).once().result.Price-o.result.Price, 0)
	}
	return costs
}
