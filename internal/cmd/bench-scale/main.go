// Command bench-scale checks the solver's promises of scale on this machine, against DeepCopy of the same pods as the
// measure of what a pod costs to touch at all. All cases run on every amd64 type of us-east-1:
//
//   - plain: pods of 200 shapes, and ten times as many of them;
//   - spread: a Deployment for every ten pods, each spread over zones;
//   - services: a service for every ten pods, with all that a busy shared cluster asks for (see workload.Services);
//   - efforts: plain pods at every effort, 10,000 in 100 shapes on one core and 100,000 in 200 shapes.
//
// The first three are about effort Fast, the promises of the last about the default.
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
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/measure"
	"github.com/fleetwright/fleetwright/scheduling"
)

// The promises.
const (
	maxPlain     = 0.7  // time of Solve over that of DeepCopy, plain pods, effort Fast
	maxTied      = 1.5  // the same for pods with constraints between them
	maxHeapBytes = 1024 // peak extra heap per plain pod
	maxGrowth    = 1.3  // time per plain pod, large over small
	maxDefault   = 3.0  // time of Solve over that of DeepCopy, plain pods, default effort
	maxOneCore   = 1.0  // seconds for 10,000 plain pods in 100 shapes on one core, default effort
)

type config struct {
	cases                     string
	pods, large, shapes, runs int
	verify                    int
	seed                      uint64
}

func main() {
	var c config
	flag.StringVar(&c.cases, "case", "plain,spread,services,efforts", "comma-separated cases to run")
	flag.IntVar(&c.pods, "pods", 100_000, "number of pods")
	flag.IntVar(&c.large, "large", 1_000_000, "number of pods of the large plain problem; 0: leave it out")
	flag.IntVar(&c.shapes, "shapes", 200, "number of different plain pods")
	flag.IntVar(&c.runs, "runs", 5, "runs of each; the median counts")
	flag.Uint64Var(&c.seed, "seed", 1, "seed of the pods")
	flag.IntVar(&c.verify, "verify", 5_000, "most pods with constraints between them whose plan is checked by Verify")
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
	b := bench{config: c}
	if b.types, b.origin, err = amd64Types(); err != nil {
		return false, err
	}
	kept = true
	for _, name := range strings.Split(c.cases, ",") {
		var ok bool
		switch name {
		case "plain":
			ok, err = b.plain(ctx)
		case "spread":
			ok, err = b.tied(ctx, "%d pods in %d Deployments, each spread over zones", b.spreadProblem)
		case "services":
			ok, err = b.tied(ctx, "%d pods of %d services with constraints of all kinds", b.servicesProblem)
		case "efforts":
			ok, err = b.efforts(ctx)
		default:
			err = fmt.Errorf("no case %q; there are plain, spread, services, efforts", name)
		}
		if err != nil {
			return false, err
		}
		kept = kept && ok
	}
	return kept, nil
}

// plain checks all the promises about pods that have nothing to do with each other.
func (b *bench) plain(ctx context.Context) (kept bool, err error) {
	small := b.plainProblem(b.pods)
	m, err := b.measure(ctx, fmt.Sprintf("%d plain pods in %d shapes", b.pods, b.shapes), small)
	if err != nil {
		return false, err
	}
	kept = sound(small, m.plan)
	kept = promise("Solve / DeepCopy", m.ratio, maxPlain, "") && kept
	kept = promise("peak extra heap per pod", m.heapPerPod, maxHeapBytes, " bytes") && kept
	if b.large == 0 {
		return kept, nil
	}
	// Both sizes are timed again in turn, so that a change of the machine's load does not pass for growth.
	growth, err := growth(ctx, small, b.plainProblem(b.large), b.runs)
	if err != nil {
		return false, err
	}
	return promise(fmt.Sprintf("time per pod, %d over %d pods", b.large, b.pods), growth, maxGrowth, "") && kept, nil
}

// tied checks the promise about pods with constraints between them. Verify looks at every pair of a pod and a
// constraint, so that it gets a problem of the same kind that is small enough.
func (b *bench) tied(ctx context.Context, what string, problem func(pods int) *scheduling.Problem) (kept bool, err error) {
	m, err := b.measure(ctx, fmt.Sprintf(what, b.pods, b.pods/10), problem(b.pods))
	if err != nil {
		return false, err
	}
	small := problem(min(b.pods, b.verify))
	plan, err := solveFast(ctx, small)
	if err != nil {
		return false, err
	}
	kept = sound(small, plan)
	fmt.Printf("%-45s %8.3g bytes\n", "peak extra heap per pod", m.heapPerPod)
	return promise("Solve / DeepCopy", m.ratio, maxTied, "") && kept, nil
}

func solveFast(ctx context.Context, p *scheduling.Problem) (*scheduling.Plan, error) {
	return new(scheduling.Solver).Solve(ctx, p, &scheduling.Options{Effort: scheduling.EffortFast})
}

func sound(p *scheduling.Problem, plan *scheduling.Plan) bool {
	start := time.Now()
	err := scheduling.Verify(p, plan)
	if err != nil {
		fmt.Println(err)
	} else {
		fmt.Printf("Verify accepts the plan for %d of such pods, in %v\n", len(p.Pods), time.Since(start).Round(time.Millisecond))
	}
	return err == nil
}

type measured struct {
	plan              *scheduling.Plan
	ratio, heapPerPod float64
}

// measure prints a problem's plan and times.
func (b *bench) measure(ctx context.Context, what string, p *scheduling.Problem) (m measured, err error) {
	fmt.Printf("\n%s, %d amd64 types of us-east-1, seed %d\n", what, len(b.types), b.seed)
	solve, deepCopy, plan, err := alternate(ctx, p, b.runs)
	if err != nil {
		return m, err
	}
	peak, err := peakHeap(ctx, p)
	if err != nil {
		return m, err
	}
	fmt.Printf("plan: %d nodes, %v per hour, %d pods placed, %d left over%s\n",
		plan.Totals.Nodes, plan.Totals.Price, plan.Totals.Pods, plan.Totals.Unplaced, leftOver(plan))
	fmt.Printf("solve %v, DeepCopy %v (medians of %d)\n", solve.Round(time.Microsecond), deepCopy.Round(time.Microsecond), b.runs)
	return measured{plan, float64(solve) / float64(deepCopy), float64(peak) / float64(len(p.Pods))}, nil
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
		solves = append(solves, measure.Time(func() { plan, err = solveFast(ctx, p) }))
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
	peak := measure.PeakHeap(func() { plan, err = solveFast(ctx, p) })
	if err == nil && plan == nil {
		err = fmt.Errorf("no plan")
	}
	return peak, err
}

// growth returns the time per pod of the large problem over that of the small one.
func growth(ctx context.Context, small, large *scheduling.Problem, runs int) (float64, error) {
	perPod := func(p *scheduling.Problem) (float64, error) {
		var err error
		t := measure.Time(func() { _, err = solveFast(ctx, p) })
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
