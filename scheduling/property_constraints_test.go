package scheduling_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/fleetwright/fleetwright/internal/randproblem"
	. "github.com/fleetwright/fleetwright/scheduling"
)

// seeds is how many problems a property is tested on, fewer where time matters.
func seeds(n uint64) uint64 {
	if testing.Short() {
		return max(n/20, 4) // the race detector makes each of them ten times as slow
	}
	return n
}

// constrainedVariants are options under which plans with constraints must hold.
func constrainedVariants() []Options {
	return append(variants(),
		Options{Preferences: PreferencesCap, PreferenceCap: PriceFromNano(100_000_000)},
		Options{Preferences: PreferencesCap, PreferenceCap: PriceFromNano(0), Limits: LimitOneFallback},
		Options{Reserved: ReservedStrict},
		Options{Reserved: ReservedStrict, Preferences: PreferencesIgnore, MinValues: MinValuesBestEffort},
		Options{Pools: []string{"pool-0", "pool-2"}},
	)
}

func constrainedFamilies() map[string]randproblem.Size {
	crowded, broken, large := randproblem.Constrained(), randproblem.Constrained(), randproblem.Constrained()
	crowded.Kinds, crowded.Nodes = 0, 12
	broken.Broken = true
	large.Pods, large.Kinds, large.Nodes = 150, 15, 8
	return map[string]randproblem.Size{
		"tiny": randproblem.TinyConstrained(), "small": randproblem.Constrained(), "crowded": crowded, "broken": broken, "large": large,
	}
}

func TestVerifyAcceptsConstrainedPlans(t *testing.T) {
	acceptsAll(t, constrainedFamilies(), constrainedVariants(), 150)
}

func TestOrderOfConstraintsDoesNotMatter(t *testing.T) {
	anyOrder(t, constrainedFamilies(), constrainedVariants(), 40)
}

// knownMisses are seeds of TinyConstrained for which there is a plan with more pods than Solve's, and why. At most one
// of 1,000 may be here. A seed that is solved meanwhile has to go.
func knownMisses() map[uint64]string {
	return map[uint64]string{
		548: "nodes for pods without constraints go to the cheapest zone, which makes a domain of it in which a spread counts nobody; " +
			"with all of them in the dearer zone one more pod, whose volume is there, could be bound",
	}
}

// statesPerSearch bounds one search; few need as many.
const statesPerSearch = 100_000

// contest compares a plan of Solve with what is possible at all.
type contest struct {
	missed    map[uint64]*Plan // by seed: a plan with more pods
	undecided []uint64
	left      int // seeds with pods left over
	compared  int
	shown     int
	longest   time.Duration
}

// run solves one tiny problem and searches for a better plan.
func (c *contest) run(t *testing.T, seed uint64, size randproblem.Size) {
	t.Helper()
	problem := randproblem.New(seed, size)
	plan, err := trial(problem, contestOptions(seed))
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
		return
	}
	start := time.Now()
	o := newTinyOracle(problem)
	got := o.set(plan)
	c.compared++
	if got != o.all() {
		c.left++
		better, decided := o.better(o.counts(got), statesPerSearch)
		switch {
		case better != nil:
			c.missed[seed] = better
		case !decided:
			c.undecided = append(c.undecided, seed)
		}
	}
	if seed%5 == 0 && got != 0 { // the search must find plans that are as good
		beat := o.counts(got)
		for i := len(beat) - 1; i >= 0; i-- {
			if beat[i] > 0 {
				beat[i]--
				break
			}
		}
		if same, decided := o.better(beat, statesPerSearch); same == nil && decided {
			t.Errorf("seed %d: the oracle does not find what Solve found", seed)
		}
	}
	c.longest = max(c.longest, time.Since(start))
}

func (c *contest) log(t *testing.T) {
	t.Helper()
	t.Logf("%d problems compared, pods left over in %d, more possible in %d, undecided %v, longest search %v",
		c.compared, c.left, len(c.missed), c.undecided, c.longest)
	if len(c.undecided) > 10 {
		t.Errorf("%d searches were given up: the problems are too large", len(c.undecided))
	}
}

// Trying everything places more pods than Solve in at most one of 1,000 problems.
func TestNothingPlacesMorePods(t *testing.T) {
	size := randproblem.TinyConstrained()
	size.With = randproblem.Everything &^ randproblem.Commitments
	c := contest{missed: map[uint64]*Plan{}}
	for seed := range seeds(1000) {
		c.run(t, seed, size)
	}
	c.log(t)
	known := knownMisses()
	c.report(t, size, known)
	for seed, why := range known {
		if seed < seeds(1000) && c.missed[seed] == nil {
			t.Errorf("seed %d (%s) is solved now: take it off the table", seed, why)
		}
	}
	if len(known) > 1 {
		t.Errorf("%d of 1000 are too many", len(known))
	}
}

// As above, where some offerings are to be had under commitments, a few of them not otherwise.
func TestNothingPlacesMorePodsUnderCommitments(t *testing.T) {
	size := randproblem.TinyConstrained()
	size.With = randproblem.Everything
	c := contest{missed: map[uint64]*Plan{}}
	for seed := range seeds(300) {
		c.run(t, seed, size)
	}
	c.log(t)
	c.report(t, size, nil)
}

// report fails the test for each seed that is not known, the first ones with the smallest problem that shows it.
func (c *contest) report(t *testing.T, size randproblem.Size, known map[uint64]string) {
	t.Helper()
	for _, seed := range slices.Sorted(maps.Keys(c.missed)) {
		if _, ok := known[seed]; ok {
			continue
		}
		if c.shown >= 20 {
			t.Errorf("seed %d as well", seed)
			continue
		}
		problem, opts := randproblem.New(seed, size), contestOptions(seed)
		t.Errorf("seed %d, options %+v: %d pods can be placed:\n%s", seed, opts, c.missed[seed].Totals.Pods, tinyText(problem, c.missed[seed]))
		if c.shown++; c.shown > 3 {
			continue
		}
		small := randproblem.Shrink(problem, func(q *Problem) bool {
			plan, err := trial(q, opts)
			if err != nil {
				return false
			}
			o := newTinyOracle(q)
			better, _ := o.better(o.counts(o.set(plan)), statesPerSearch)
			return better != nil
		})
		best, _ := newTinyOracle(small).best(statesPerSearch)
		t.Logf("the smallest such problem, where %d pods can be placed:\n%s%s", best.Totals.Pods, tinyText(small, best), mustText(small))
	}
}

func contestOptions(seed uint64) Options {
	return []Options{{}, {Preferences: PreferencesIgnore}, {Preferences: PreferencesCap, PreferenceCap: PriceFromNano(50_000_000)}}[seed%3]
}

// With nothing finite and no pod that needs or minds another, nothing at all places more.
func TestNothingPlacesMoreThanFreePods(t *testing.T) {
	size := randproblem.TinyConstrained()
	size.Nodes = 0
	size.With = randproblem.Everything &^ (randproblem.Limits | randproblem.Reservations | randproblem.Commitments | randproblem.Gangs | randproblem.Affinities)
	c := contest{missed: map[uint64]*Plan{}}
	for seed := range seeds(1000) {
		c.run(t, seed, size)
	}
	c.log(t)
	c.report(t, size, nil)
}

// Of plans for up to ten pods that mean something to each other, 99 of 100 are the cheapest there are for the same pods, none
// costs more than a tenth above that, and no lower bound is above it.
func TestConstrainedPlansAgainstTheOptimum(t *testing.T) {
	againstTheOptimum(t, randproblem.Everything&^randproblem.PoolPreferences, seeds(1000)) // which count whatever the options say
}

// As above, for commitments alone, which are worth more than they cost: a node under one takes it from others.
func TestPlansUnderCommitmentsAgainstTheOptimum(t *testing.T) {
	againstTheOptimum(t, randproblem.Commitments, seeds(500))
}

func againstTheOptimum(t *testing.T, with randproblem.Features, n uint64) {
	t.Helper()
	same, compared, undecided, proven := 0, 0, 0, 0
	for seed := range n {
		size := randproblem.TinyConstrained()
		size.With = with
		if seed%5 == 0 {
			size.Pods = 9 // and one by the number
		}
		problem := randproblem.New(seed, size)
		plan, err := trial(problem, Options{Preferences: PreferencesIgnore})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		o := newTinyOracle(problem)
		cheapest, decided := o.cheapest(o.set(plan), statesPerSearch)
		if cheapest == nil || !decided {
			undecided++
			continue
		}
		price, optimum, bound := plan.Totals.Price.Nano(), cheapest.Totals.Price.Nano(), plan.Totals.LowerBound.Nano()
		if price < optimum {
			t.Errorf("seed %d: price %v is below the optimum %v: plan or oracle is wrong", seed, plan.Totals.Price, cheapest.Totals.Price)
			continue
		}
		if bound > optimum {
			t.Errorf("seed %d: lower bound %v is above the optimum %v", seed, plan.Totals.LowerBound, cheapest.Totals.Price)
		}
		if price > optimum+optimum/10 {
			t.Errorf("seed %d: price %v, the optimum is %v", seed, plan.Totals.Price, cheapest.Totals.Price)
		}
		compared++
		same += b2i(price == optimum)
		proven += b2i(price == bound)
	}
	t.Logf("%d of %d plans are optimal, %d with a bound that says so; %d undecided", same, compared, proven, undecided)
	if same*100 < compared*99 || undecided*100 > compared {
		t.Errorf("%d of %d plans are optimal, %d undecided", same, compared, undecided)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
