package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"text/tabwriter"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/measure"
	"github.com/fleetwright/fleetwright/scheduling"
)

// tenth is how many of the plain pods, and half how many of their shapes, the problem for one core has.
const (
	tenth = 10
	half  = 2
)

// efforts checks what the default effort may cost, and shows the others beside it.
func (b *bench) efforts(ctx context.Context) (kept bool, err error) {
	took, _, ok, err := b.everyEffort(ctx, b.pods/tenth, max(1, b.shapes/half), 1)
	if err != nil {
		return false, err
	}
	kept = promise("Solve at the default effort, one core", took.Seconds(), maxOneCore, " s") && ok
	took, deepCopy, ok, err := b.everyEffort(ctx, b.pods, b.shapes, runtime.GOMAXPROCS(0))
	if err != nil {
		return false, err
	}
	return promise("Solve at the default effort / DeepCopy", float64(took)/float64(deepCopy), maxDefault, "") && ok && kept, nil
}

// everyEffort prints a row for each effort and returns the time at the default, and that of DeepCopy.
func (b *bench) everyEffort(ctx context.Context, pods, shapes, cores int) (took, deepCopy time.Duration, ok bool, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	p := b.shapedProblem(pods, shapes)
	deepCopy = deepCopies(p.Pods, b.runs)
	fmt.Printf("\n%d plain pods in %d shapes, %d amd64 types of us-east-1, seed %d, GOMAXPROCS %d; DeepCopy %v\n",
		pods, shapes, len(b.types), b.seed, cores, deepCopy.Round(time.Microsecond))
	tab := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "effort\tseconds\t/ DeepCopy\tnodes\t$/h\tbound\tabove it\tVerify\t")
	ok = true
	for _, effort := range []scheduling.Effort{scheduling.EffortFast, scheduling.EffortDefault, scheduling.EffortBest} {
		runs := b.runs
		if effort == scheduling.EffortBest {
			runs = 1 // may take a minute
		}
		t, plan, err := b.timed(ctx, p, effort, runs)
		if err != nil {
			return 0, 0, false, err
		}
		if effort == scheduling.EffortDefault {
			took = t
		}
		verdict, above := "ok", "-"
		if err := scheduling.Verify(p, plan); err != nil {
			verdict, ok = err.Error(), false
		}
		if lower := plan.Totals.LowerBound; lower.Known() && lower.Nano() > 0 {
			above = fmt.Sprintf("%.2f %%", 100*(float64(plan.Totals.Price.Nano())/float64(lower.Nano())-1))
		}
		fmt.Fprintf(tab, "%v\t%.4f\t%.3g\t%d\t%v\t%v\t%s\t%s\t\n", effort, t.Seconds(), float64(t)/float64(deepCopy),
			plan.Totals.Nodes, plan.Totals.Price, plan.Totals.LowerBound, above, verdict)
	}
	return took, deepCopy, ok, tab.Flush()
}

func (b *bench) timed(ctx context.Context, p *scheduling.Problem, effort scheduling.Effort, runs int) (time.Duration, *scheduling.Plan, error) {
	var plan *scheduling.Plan
	var took []time.Duration
	for range runs {
		var err error
		plan = nil
		took = append(took, measure.Time(func() {
			plan, err = new(scheduling.Solver).Solve(ctx, p, &scheduling.Options{Effort: effort})
		}))
		if err != nil {
			return 0, nil, err
		}
	}
	return measure.Median(took), plan, nil
}

// deepCopies is the median time to copy all the pods.
func deepCopies(pods []*corev1.Pod, runs int) time.Duration {
	var took []time.Duration
	for range runs {
		out := make([]*corev1.Pod, len(pods))
		took = append(took, measure.Time(func() {
			for i, pod := range pods {
				out[i] = pod.DeepCopy()
			}
		}))
	}
	return measure.Median(took)
}
