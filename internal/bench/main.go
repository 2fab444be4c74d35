// Command bench gives the same pods and instance types to scheduling.Solve and to the scheduler of
// sigs.k8s.io/karpenter (the peer) in one process, and prints time, nodes, price and allocations of both.
//
// Ours is cold: every run compiles pods and types with a new Solver and fills the whole plan. The peer gets a new
// scheduler per run, with one worker and with GOMAXPROCS workers; only its Solve call is timed, not the
// making of its cluster, topology and scheduler, and the faster setting is the one compared with. Runs
// alternate, garbage is collected between them, and the median counts. Converting the peer's instance
// types to ours is done once and not timed: it is what a program that embeds the library does anyway.
//
// This is a module of its own so that the peer and what it needs stay out of the library's go.mod.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

type config struct {
	mixes       string
	region      string
	pods, types int
	runs        int
	seed        uint64
}

func main() {
	var c config
	flag.StringVar(&c.mixes, "mix", "plain", "comma-separated mixes of pods: "+strings.Join(mixNames(), ", "))
	flag.IntVar(&c.pods, "pods", 5000, "number of pods")
	flag.IntVar(&c.types, "types", 400, "number of the peer's made-up instance types")
	flag.StringVar(&c.region, "region", "", "take the amd64 types of this region, on-demand, instead")
	flag.IntVar(&c.runs, "runs", 5, "runs of each scheduler; the median counts")
	flag.Uint64Var(&c.seed, "seed", 42, "seed of the pods' sizes and labels")
	flag.Parse()
	if err := run(context.Background(), c, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// sample is what one run of a scheduler gave.
type sample struct {
	seconds  float64
	nodes    int
	price    float64
	unplaced int
	// allocations and bytes are all that was allocated during the run, not what was in use.
	allocations, bytes uint64
	// fault is what is wrong with the plan.
	fault error
}

func run(ctx context.Context, c config, out io.Writer) error {
	if c.pods < 1 || c.types < 1 || c.runs < 1 {
		return errors.New("-pods, -types and -runs must be 1 or more")
	}
	silencePeer()
	var faults []error
	tab := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "pods\ttypes\tmix\tscheduler\tseconds\tpods/s\tratio\tnodes\t$/h\tunplaced\tallocs\tMB\t")
	for _, mix := range strings.Split(c.mixes, ",") {
		pods, err := makePods(mix, c.pods, c.seed)
		if err != nil {
			return err
		}
		in := fakeInput(pods, c.types)
		if c.region != "" {
			if in, err = regionInput(pods, c.region); err != nil {
				return err
			}
		}
		fault, err := compare(ctx, c, mix, in, tab)
		if err != nil {
			return err
		}
		faults = append(faults, fault)
	}
	return errors.Join(append(faults, tab.Flush())...)
}

// compare runs every scheduler on one input in turn and prints a row for each. The first error is about a
// plan of ours that breaks its problem, the second about a run that failed.
func compare(ctx context.Context, c config, mix string, in *input, out io.Writer) (faults, err error) {
	schedulers := []struct {
		name string
		run  func(context.Context, *input) (sample, error)
	}{{"fleetwright", runOurs}, {"karpenter, 1 worker", peerWith(1)}}
	if n := runtime.GOMAXPROCS(0); n > 1 {
		schedulers = append(schedulers, struct {
			name string
			run  func(context.Context, *input) (sample, error)
		}{fmt.Sprintf("karpenter, %d workers", n), peerWith(n)})
	}
	samples := make([][]sample, len(schedulers))
	for range c.runs {
		// Ours runs before each of the peer's settings, so that both meet the same load.
		for i := 1; i < len(schedulers); i++ {
			for _, n := range []int{0, i} {
				got, err := schedulers[n].run(ctx, in)
				if err != nil {
					return nil, fmt.Errorf("%s, mix %s: %w", schedulers[n].name, mix, err)
				}
				samples[n] = append(samples[n], got)
			}
		}
	}
	for _, s := range samples[0] {
		if s.fault != nil {
			faults = s.fault
		}
	}
	ours, best := median(samples[0]), median(samples[1])
	for i, s := range schedulers {
		m := median(samples[i])
		if i > 0 && m.seconds < best.seconds {
			best = m
		}
		fmt.Fprintf(out, "%d\t%d\t%s\t%s\t%.4f\t%.0f\t%.4g\t%d\t%.4f\t%d\t%d\t%.1f\t\n", c.pods, len(in.types), mix, s.name, m.seconds,
			float64(c.pods)/m.seconds, m.seconds/ours.seconds, m.nodes, m.price, m.unplaced, m.allocations, float64(m.bytes)/1e6)
	}
	fmt.Fprintf(out, "\t\t%s\tverdict\t\t\t%.4g\t%+d\t%+.4f\t\t\t\t\n", mix, best.seconds/ours.seconds, ours.nodes-best.nodes, ours.price-best.price)
	return faults, nil
}

// median returns the sample whose time is the median one.
func median(samples []sample) sample {
	sorted := slices.SortedFunc(slices.Values(samples), func(a, b sample) int {
		switch {
		case a.seconds < b.seconds:
			return -1
		case a.seconds > b.seconds:
			return 1
		}
		return 0
	})
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
