package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fleetwright/fleetwright/internal/bench/karpenter"
	"github.com/fleetwright/fleetwright/scheduling"
)

// sample is what one run of a scheduler gave.
type sample struct {
	seconds  float64
	nodes    int
	price    float64
	unplaced int
	// reasons counts the pods left over by code; ours only.
	reasons map[scheduling.Code]int
	// allocations and bytes are all that was allocated during the run, not what was in use.
	allocations, bytes uint64
	// fault is what Verify says of the plan.
	fault error
}

// contestant is a scheduler and what its runs gave.
type contestant struct {
	name    string
	run     func(context.Context, *karpenter.Input) (sample, error)
	samples []sample
}

// contest is one row: both schedulers on one problem.
type contest struct {
	name     string
	in       *karpenter.Input
	runs     int
	promised float64
	progress io.Writer
	// ours is in the order of effort, the least first.
	ours, theirs []*contestant
}

// run fills in who takes part, and lets them run.
func (c *contest) run(ctx context.Context) error {
	c.ours = []*contestant{
		{name: "fleetwright, fast", run: oursAt(scheduling.EffortFast)},
		{name: "fleetwright, default", run: oursAt(scheduling.EffortDefault)},
	}
	c.theirs = []*contestant{{name: "karpenter, 1 worker", run: peerWith(1)}}
	if n := runtime.GOMAXPROCS(0); n > 1 {
		c.theirs = append(c.theirs, &contestant{name: fmt.Sprintf("karpenter, %d workers", n), run: peerWith(n)})
	}
	return c.alternate(ctx)
}

// alternate runs ours before each of the peer's settings, so that both meet the same load.
func (c *contest) alternate(ctx context.Context) error {
	for k := range c.runs {
		for _, theirs := range c.theirs {
			for _, who := range append(slices.Clip(c.ours), theirs) {
				got, err := who.run(ctx, c.in)
				if err != nil {
					return fmt.Errorf("%s: %w", who.name, err)
				}
				who.samples = append(who.samples, got)
				fmt.Fprintf(c.progress, "%s, run %d of %d, %s: %.4g s, %d nodes, %.4f $/h, %d unplaced, %d violations\n",
					c.name, k+1, c.runs, who.name, got.seconds, got.nodes, got.price, got.unplaced, len(violations(got.fault)))
			}
		}
	}
	return nil
}

// fault is what is wrong with a plan of ours.
func (c *contest) fault() error {
	for _, who := range c.ours {
		for _, s := range who.samples {
			if s.fault != nil {
				return fmt.Errorf("%s, %s: %w", c.name, who.name, s.fault)
			}
		}
	}
	return nil
}

func (c *contest) print(out io.Writer) error {
	fmt.Fprintf(out, "\n%s: %d pods, %d types, medians of %d runs\n", c.name, len(c.in.Problem.Pods), len(c.in.Problem.Pools[0].InstanceTypes), c.runs)
	tab := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "scheduler\tseconds\tpods/s\tratio\tnodes\t$/h\tunplaced\tallocs\tMB\tviolations\t")
	ours := median(c.ours[0].samples)
	all := slices.Concat(c.ours, c.theirs)
	for _, who := range all {
		m := median(who.samples)
		fmt.Fprintf(tab, "%s\t%.4f\t%.0f\t%.4g\t%d\t%.4f\t%d\t%d\t%.1f\t%d\t\n", who.name, m.seconds,
			float64(len(c.in.Problem.Pods))/m.seconds, m.seconds/ours.seconds, m.nodes, m.price, m.unplaced, m.allocations,
			float64(m.bytes)/1e6, len(violations(m.fault)))
	}
	err := tab.Flush()
	for _, who := range c.ours {
		c.printVerdict(out, who)
	}
	for _, who := range all {
		printViolations(out, who)
	}
	return err
}

// printVerdict compares one of ours with the peer's faster setting, and with the best of all its runs. What is
// promised of times is promised of the least effort.
func (c *contest) printVerdict(out io.Writer, who *contestant) {
	ours := median(who.samples)
	fastest := slices.MinFunc(c.theirs, func(a, b *contestant) int {
		return cmp.Compare(median(a.samples).seconds, median(b.samples).seconds)
	})
	var theirs []sample
	for _, their := range c.theirs {
		theirs = append(theirs, their.samples...)
	}
	best := bestOf(theirs)
	fmt.Fprintf(out, "%s is %.4g times as fast as %s", who.name, median(fastest.samples).seconds/ours.seconds, fastest.name)
	if c.promised > 0 && who == c.ours[0] {
		fmt.Fprintf(out, " (promised: %g)", c.promised)
	}
	fmt.Fprintf(out, "; against the peer's best run: nodes %+d (%d), price %+.4f (%.4f), unplaced %+d\n",
		ours.nodes-best.nodes, best.nodes, ours.price-best.price, best.price, ours.unplaced-best.unplaced)
	if len(ours.reasons) > 0 {
		var parts []string
		for _, code := range slices.Sorted(maps.Keys(ours.reasons)) {
			parts = append(parts, fmt.Sprintf("%d %s", ours.reasons[code], code))
		}
		fmt.Fprintf(out, "ours leaves over %s: times, nodes and price are not comparable\n", strings.Join(parts, ", "))
	}
}

// bestOf returns the fewest nodes and the lowest price of the runs that leave over the fewest pods.
func bestOf(samples []sample) sample {
	best := samples[0]
	for _, s := range samples[1:] {
		switch {
		case s.unplaced < best.unplaced:
			best = s
		case s.unplaced == best.unplaced:
			best.nodes, best.price = min(best.nodes, s.nodes), min(best.price, s.price)
		}
	}
	return best
}

// printViolations sums up by rule what Verify found in all runs, with one example of each rule.
func printViolations(out io.Writer, who *contestant) {
	count, broken := map[string]int{}, 0
	example := map[string]scheduling.Violation{}
	for _, s := range who.samples {
		found := violations(s.fault)
		if len(found) > 0 {
			broken++
		}
		for _, v := range found {
			if count[v.Rule] == 0 {
				example[v.Rule] = v
			}
			count[v.Rule]++
		}
	}
	if broken == 0 {
		fmt.Fprintf(out, "Verify accepts every run of %s\n", who.name)
		return
	}
	fmt.Fprintf(out, "Verify finds fault with %d of %d runs of %s:\n", broken, len(who.samples), who.name)
	for _, rule := range slices.Sorted(maps.Keys(count)) {
		text := example[rule].String()
		fmt.Fprintf(out, "  %d times %s, first: %.300s\n", count[rule], rule, text)
	}
}

// violations unpacks what Verify returned; another error counts as one.
func violations(fault error) []scheduling.Violation {
	var v *scheduling.VerifyError
	switch {
	case fault == nil:
		return nil
	case errors.As(fault, &v):
		return v.Violations
	}
	return []scheduling.Violation{{Rule: "error", Detail: fault.Error()}}
}

// median returns the sample whose time is the median one.
func median(samples []sample) sample {
	sorted := slices.SortedFunc(slices.Values(samples), func(a, b sample) int { return cmp.Compare(a.seconds, b.seconds) })
	return sorted[len(sorted)/2]
}

// measure times f after a garbage collection and counts what it allocates.
func measure(s *sample, f func() error) error {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	err := f()
	s.seconds = time.Since(start).Seconds()
	runtime.ReadMemStats(&after)
	s.allocations, s.bytes = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	return err
}
