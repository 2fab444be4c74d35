package scheduling_test

import (
	"math"
	"testing"

	"github.com/fleetwright/fleetwright/internal/randproblem"
	. "github.com/fleetwright/fleetwright/scheduling"
)

// optimum tries every way of dividing the pods over new nodes and those that exist, and returns the
// lowest price per hour of the new ones.
func (o *oracle) optimum(pods []int32) int64 {
	memo := map[int]int64{}
	cheapest := func(set int) int64 { // of one new node with the pods of the set
		if price, known := memo[set]; known {
			return price
		}
		price := int64(math.MaxInt64)
		content := o.readAll(members(pods, set))
		for _, c := range o.columns {
			if o.fits(c, sets{}, content) {
				price = c.price
				break // columns are cheapest first
			}
		}
		memo[set] = price
		return price
	}
	best := map[int]int64{0: 0} // the price of placing the pods of the set on new nodes only
	for set := 1; set < 1<<len(pods); set++ {
		best[set] = math.MaxInt64
		first := set & -set
		for rest := set &^ first; ; rest = (rest - 1) & (set &^ first) {
			node, others := cheapest(rest|first), best[set&^(rest|first)]
			if node < math.MaxInt64 && others < math.MaxInt64 {
				best[set] = min(best[set], node+others)
			}
			if rest == 0 {
				break
			}
		}
	}
	return o.withNodes(pods, (1<<len(pods))-1, 0, best)
}

// withNodes puts any part of the pods on each existing node in turn, the rest on new ones.
func (o *oracle) withNodes(pods []int32, set, node int, best map[int]int64) int64 {
	if node == len(o.problem.Nodes) {
		return best[set]
	}
	price := int64(math.MaxInt64)
	for part := set; ; part = (part - 1) & set {
		if part == 0 || o.fitsOn(node, members(pods, part)) {
			price = min(price, o.withNodes(pods, set&^part, node+1, best))
		}
		if part == 0 {
			return price
		}
	}
}

func members(pods []int32, set int) []int32 {
	var out []int32
	for i, p := range pods {
		if set&(1<<i) != 0 {
			out = append(out, p)
		}
	}
	return out
}

func placed(plan *Plan) []int32 {
	var out []int32
	for _, l := range plan.Launches {
		out = append(out, l.Pods...)
	}
	for _, p := range plan.Placements {
		out = append(out, p.Pod)
	}
	return out
}

// On problems small enough to try everything: no plan is cheaper than the cheapest, no bound is above it, and
// the solver comes near.
func TestAgainstTheOptimum(t *testing.T) {
	var ours, least int64
	same := 0
	for seed := range uint64(1000) {
		problem := randproblem.New(seed, randproblem.Tiny())
		plan, err := trial(problem, Options{Preferences: PreferencesIgnore})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		optimum := newOracle(problem).optimum(placed(plan))
		price := plan.Totals.Price.Nano()
		if price < optimum && len(problem.DaemonSets) > 0 {
			continue // Verify has accepted it: the oracle counts DaemonSets that a settled label keeps away
		}
		if price < optimum {
			t.Errorf("seed %d: price %v is below the optimum %v: plan or oracle is wrong", seed, plan.Totals.Price, PriceFromNano(optimum))
			continue
		}
		if bound := plan.Totals.LowerBound; bound.Known() && bound.Nano() > optimum {
			t.Errorf("seed %d: lower bound %v is above the optimum %v", seed, bound, PriceFromNano(optimum))
		}
		if ours, least = ours+price, least+optimum; price == optimum {
			same++
		}
	}
	t.Logf("%d of 1000 plans are optimal; all prices together %v, optimal %v", same, PriceFromNano(ours), PriceFromNano(least))
	if ours > least+least/20 {
		t.Errorf("plans cost %v where %v would do", PriceFromNano(ours), PriceFromNano(least))
	}
}

// With nothing finite in the way (limits, nodes that exist), a pod that a new node would hold is placed.
func TestEveryPodThatFitsIsPlaced(t *testing.T) {
	size := randproblem.Small()
	size.Plain = true
	left := 0
	for seed := range uint64(400) {
		problem := randproblem.New(seed, size)
		plan, err := trial(problem, Options{})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		o := newOracle(problem)
		for _, u := range plan.Unplaced {
			left++
			for _, c := range o.columns {
				if o.fits(c, sets{}, o.readAll([]int32{u.Pod})) {
					t.Errorf("seed %d: %s is left out with %s, but fits %s", seed, problem.Pods[u.Pod].Name, plan.Reasons[u.Reason].Code,
						problem.Pools[c.pool].InstanceTypes[c.at.Type].Name)
					break
				}
			}
		}
	}
	if left == 0 {
		t.Error("no pod was ever left out")
	}
}
