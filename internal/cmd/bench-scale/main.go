// Command bench-scale checks the solver's promises of scale on this machine: plain pods of 200 shapes on every
// amd64 type of us-east-1, against DeepCopy of the same pods as the measure of what a pod costs to touch at all.
//
// Every solve is cold: a new Solver, types and pods compiled, the whole plan filled. Solve and DeepCopy
// run in turn in one process, with a garbage collection before each run, and medians are compared. The exit
// status is 1 if a promise is not kept; a busy machine may be the reason.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/measure"
	"github.com/fleetwright/fleetwright/internal/workload"
	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

// The promises.
const (
	maxRatio     = 0.7  // time of Solve over that of DeepCopy
	maxHeapBytes = 1024 // peak extra heap per pod
	maxGrowth    = 1.3  // time per pod, large over small
)

type config struct {
	pods, large, shapes, runs int
	seed                      uint64
}

func main() {
	var c config
	flag.IntVar(&c.pods, "pods", 100_000, "number of pods")
	flag.IntVar(&c.large, "large", 1_000_000, "number of pods of the large problem; 0: leave it out")
	flag.IntVar(&c.shapes, "shapes", 200, "number of different pods")
	flag.IntVar(&c.runs, "runs", 5, "runs of each; the median counts")
	flag.Uint64Var(&c.seed, "seed", 1, "seed of the pods")
	flag.Parse()
	kept, err := run(context.Background(), c)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-scale:", err)
		os.Exit(2)
	}
	if !kept {
		os.Exit(1)
	}
}

func run(ctx context.Context, c config) (kept bool, err error) {
	known, err := catalog.Embedded()
	if err != nil {
		return false, err
	}
	types, origin, err := known.InstanceTypes("us-east-1", catalog.Filter{Arch: []string{"amd64"}}, instancetype.Settings{})
	if err != nil {
		return false, err
	}
	problem := func(pods int) *scheduling.Problem {
		return &scheduling.Problem{
			Pods:    workload.Plain(pods, c.shapes, c.seed),
			Pools:   []scheduling.Pool{{Name: "default", InstanceTypes: types}},
			Catalog: origin,
		}
	}
	small := problem(c.pods)
	fmt.Printf("%d plain pods in %d shapes, %d amd64 types of us-east-1, seed %d\n", c.pods, c.shapes, len(types), c.seed)
	solve, deepCopy, plan, err := alternate(ctx, small, c.runs)
	if err != nil {
		return false, err
	}
	peak, err := peakHeap(ctx, small)
	if err != nil {
		return false, err
	}
	fmt.Printf("plan: %d nodes, %v per hour, %d pods placed, %d left over\n", plan.Totals.Nodes, plan.Totals.Price, plan.Totals.Pods, plan.Totals.Unplaced)
	kept = true
	if err := scheduling.Verify(small, plan); err != nil {
		fmt.Println(err)
		kept = false
	}
	fmt.Printf("solve %v, DeepCopy %v (medians of %d)\n", solve.Round(time.Microsecond), deepCopy.Round(time.Microsecond), c.runs)
	kept = promise("Solve / DeepCopy", float64(solve)/float64(deepCopy), maxRatio, "") && kept
	kept = promise("peak extra heap per pod", float64(peak)/float64(c.pods), maxHeapBytes, " bytes") && kept
	if c.large == 0 {
		return kept, nil
	}
	// Both sizes are timed again in turn, so that a change of the machine's load does not pass for growth.
	big := problem(c.large)
	growth, err := growth(ctx, small, big, c.runs)
	if err != nil {
		return false, err
	}
	return promise(fmt.Sprintf("time per pod, %d over %d pods", c.large, c.pods), growth, maxGrowth, "") && kept, nil
}

func promise(what string, got, most float64, unit string) bool {
	verdict := "ok"
	if got > most {
		verdict = "MISSED"
	}
	fmt.Printf("%-45s %8.3g%s (at most %g%s) %s\n", what, got, unit, most, unit, verdict)
	return got <= most
}

// alternate times cold solves and deep copies in turn and returns the medians and one plan.
func alternate(ctx context.Context, p *scheduling.Problem, runs int) (solve, deepCopy time.Duration, plan *scheduling.Plan, err error) {
	var solves, copies []time.Duration
	for range runs {
		plan = nil
		solves = append(solves, measure.Time(func() { plan, err = new(scheduling.Solver).Solve(ctx, p, nil) }))
		if err != nil {
			return 0, 0, nil, err
		}
		out := make([]*corev1.Pod, len(p.Pods))
		copies = append(copies, measure.Time(func() {
			for i, pod := range p.Pods {
				out[i] = pod.DeepCopy()
			}
		}))
	}
	return measure.Median(solves), measure.Median(copies), plan, nil
}

func peakHeap(ctx context.Context, p *scheduling.Problem) (int64, error) {
	var plan *scheduling.Plan
	var err error
	peak := measure.PeakHeap(func() { plan, err = new(scheduling.Solver).Solve(ctx, p, nil) })
	if err == nil && plan == nil {
		err = fmt.Errorf("no plan")
	}
	return peak, err
}

// growth returns the time per pod of the large problem over that of the small one.
func growth(ctx context.Context, small, large *scheduling.Problem, runs int) (float64, error) {
	perPod := func(p *scheduling.Problem) (float64, error) {
		var err error
		t := measure.Time(func() { _, err = new(scheduling.Solver).Solve(ctx, p, nil) })
		return float64(t) / float64(len(p.Pods)), err
	}
	var times [2][]float64
	for range runs {
		for i, p := range []*scheduling.Problem{small, large} {
			t, err := perPod(p)
			if err != nil {
				return 0, err
			}
			times[i] = append(times[i], t)
		}
	}
	return measure.Median(times[1]) / measure.Median(times[0]), nil
}
