package scheduling_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/randproblem"
	. "github.com/fleetwright/fleetwright/scheduling"
)

// Changes to a problem whose effect on the plan is known without knowing the plan.

// rename gives nodes and pools other names in all places, keeping their order.
func rename(t *testing.T, p *Problem) *Problem {
	t.Helper()
	text := regexp.MustCompile(`"(node|pool)-(\d+)"`).ReplaceAllString(mustText(p), `"renamed-$1-$2"`)
	var out Problem
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

var digestLine = regexp.MustCompile(`"problemDigest": "[^"]*"`)

func TestNamesOfNodesAndPoolsDoNotMatter(t *testing.T) {
	for seed := range uint64(200) {
		problem := randproblem.New(seed, randproblem.Small())
		opts := variants()[seed%4]
		want := digestLine.ReplaceAllString(document(t, problem, opts), "")
		got := digestLine.ReplaceAllString(document(t, rename(t, problem), opts), "")
		if got = strings.ReplaceAll(got, "renamed-", ""); got != want {
			t.Fatalf("seed %d: other names, another plan: %s", seed, firstDifference(want, got))
		}
	}
}

// outcome is what a change that means nothing must leave alone: where each pod goes, up to the
// number of a launch.
func outcome(t *testing.T, problem *Problem, opts Options) string {
	t.Helper()
	plan, err := Solve(context.Background(), problem, &opts)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	d := plan.Document()
	for _, l := range d.Launches {
		lines = append(lines, fmt.Sprintf("launch %s %s %s %v %v", l.InstanceType, l.Zone, l.CapacityType, l.Price, l.Pods))
	}
	for _, p := range d.Placements {
		lines = append(lines, fmt.Sprintf("placement %v", p))
	}
	for _, u := range d.Unplaced {
		lines = append(lines, "unplaced "+u.Pod)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestUselessTypeChangesNothing(t *testing.T) {
	for seed := range uint64(200) {
		problem := randproblem.New(seed, randproblem.Small())
		opts := variants()[seed%4]
		want := outcome(t, problem, opts)
		more := *problem
		more.Pools = slices.Clone(problem.Pools)
		for i := range more.Pools {
			// No pod fits it: there is room for none.
			useless := *more.Pools[i].InstanceTypes[0]
			useless.Name = "useless"
			useless.Requirements = append([]Requirement{in(corev1.LabelInstanceTypeStable, "useless")}, useless.Requirements[1:]...)
			useless.Capacity = list("cpu", "1", "memory", "1Gi", "pods", "0")
			more.Pools[i].InstanceTypes = append(slices.Clone(more.Pools[i].InstanceTypes), &useless)
		}
		if got := outcome(t, &more, opts); got != want {
			t.Fatalf("seed %d: a type that holds no pod changed the plan: %s", seed, firstDifference(want, got))
		}
	}
}

func TestUselessPoolChangesNothing(t *testing.T) {
	for seed := range uint64(200) {
		problem := randproblem.New(seed, randproblem.Small())
		opts := variants()[seed%4]
		want := outcome(t, problem, opts)
		more := *problem
		closed := problem.Pools[0]
		closed.Name, closed.Weight, closed.Limits = "closed", 1000, nil
		closed.InstanceTypes = nil
		more.Pools = append([]Pool{closed}, problem.Pools...)
		if got := outcome(t, &more, opts); got != want {
			t.Fatalf("seed %d: a pool without types changed the plan: %s", seed, firstDifference(want, got))
		}
	}
}

// One pool's types in two pools that are otherwise alike: between equal weights the price decides.
func TestSplitPoolCostsTheSame(t *testing.T) {
	size := randproblem.Small()
	size.Plain, size.Pools = true, 1
	differ := uint64(0)
	for seed := range uint64(200) {
		problem := randproblem.New(seed, size)
		opts := Options{Preferences: PreferencesIgnore}
		split := *problem
		a, b := problem.Pools[0], problem.Pools[0]
		a.InstanceTypes, b.InstanceTypes = nil, nil
		b.Name = "pool-0-more"
		for i, x := range problem.Pools[0].InstanceTypes {
			if i%2 == 0 {
				a.InstanceTypes = append(a.InstanceTypes, x)
			} else {
				b.InstanceTypes = append(b.InstanceTypes, x)
			}
		}
		split.Pools = []Pool{a, b}
		want, got := totals(t, problem, opts), totals(t, &split, opts)
		if got != want {
			// Nodes are put together within a pool only, so now and then there is one more.
			t.Logf("seed %d: split in two, %s became %s", seed, want, got)
			if differ++; differ > 5 {
				t.Errorf("%d of %d problems cost another price", differ, seed+1)
			}
		}
	}
}

func totals(t *testing.T, problem *Problem, opts Options) string {
	t.Helper()
	plan, err := Solve(context.Background(), problem, &opts)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d nodes for %v, %d pods left", plan.Totals.Nodes, plan.Totals.Price, plan.Totals.Unplaced)
}

// A cheaper price for everything changes no choice, and the total in proportion.
func TestPricesInProportionChangeNoChoice(t *testing.T) {
	for seed := range uint64(200) {
		problem := randproblem.New(seed, randproblem.Small())
		opts := variants()[seed%4]
		want := outcome(t, problem, opts)
		scaled := *problem
		scaled.Pools = slices.Clone(problem.Pools)
		done := map[*InstanceType]*InstanceType{}
		for i := range scaled.Pools {
			scaled.Pools[i].InstanceTypes = slices.Clone(scaled.Pools[i].InstanceTypes)
			for j, x := range scaled.Pools[i].InstanceTypes {
				if done[x] == nil {
					c := *x
					c.Offerings = slices.Clone(x.Offerings)
					for k := range c.Offerings {
						if o := &c.Offerings[k]; o.Price.Known() {
							o.Price = PriceFromNano(o.Price.Nano() * 3)
						}
					}
					done[x] = &c
				}
				scaled.Pools[i].InstanceTypes[j] = done[x]
			}
		}
		got := outcome(t, &scaled, opts)
		price := regexp.MustCompile(`(launch \S+ \S+ \S+) \S+`)
		want, got = price.ReplaceAllString(want, "$1"), price.ReplaceAllString(got, "$1")
		if got != want {
			t.Fatalf("seed %d: three times the price, another choice: %s", seed, firstDifference(want, got))
		}
	}
}
