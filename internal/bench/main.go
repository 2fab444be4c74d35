// Command bench gives the same pods and instance types to scheduling.Solve and to the scheduler of
// sigs.k8s.io/karpenter (the peer) in one process, and prints time, nodes, price and allocations of both.
//
// Ours is cold: every run compiles pods and types with a new Solver and fills the whole plan, once at effort Fast,
// whose times are the ones promised, and once at the default. The peer gets a new
// scheduler per run, with one worker and with GOMAXPROCS workers; only its Solve call is timed, not the
// making of its cluster, topology and scheduler, and the faster setting is the one compared with. Runs
// alternate, garbage is collected between them, and the median counts. Nodes and price are compared with the best
// that any run of the peer gave, since its runs differ. Converting the peer's instance types to ours
// is done once and not timed: it is what a program that embeds the library does anyway.
//
// scheduling.Verify judges both; package karpenter says how a result of the peer's becomes a plan. What it finds in the peer's result is printed; the exit status is 1 only if a plan of ours breaks its problem.
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
	"strings"

	"github.com/fleetwright/fleetwright/internal/bench/karpenter"
)

type config struct {
	rows        string
	pods, types int
	runs        runs
	seed        int64
}

func main() {
	// The peer takes most of a minute for a run of the preference mix.
	c := config{runs: runs{all: 5, except: map[string]int{"preferences": 3}}}
	flag.StringVar(&c.rows, "mix", "plain,diverse,microservices@us-east-1:small,preferences,diverse@us-east-1",
		"comma-separated mixes of pods ("+strings.Join(mixNames(), ", ")+"); MIX@REGION takes that region's amd64 types, on-demand, "+
			"MIX@REGION:small those of families c, m and r from generation 3 up to 32 cpus, in three zones")
	flag.IntVar(&c.pods, "pods", 0, "number of pods; 0: the mix's own")
	flag.IntVar(&c.types, "types", 400, "number of the peer's made-up instance types")
	flag.Var(&c.runs, "runs", "runs of each scheduler, of which the median counts, with exceptions: 5,preferences=3")
	flag.Int64Var(&c.seed, "seed", 42, "seed of the pods' sizes and labels")
	flag.Parse()
	if err := run(context.Background(), c, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run prints a table for each row; the error joins all that is wrong with plans of ours.
func run(ctx context.Context, c config, out, progress io.Writer) error {
	if c.pods < 0 || c.types < 1 {
		return errors.New("-pods must be 0 or more, -types 1 or more")
	}
	karpenter.Silence()
	var faults []error
	for _, row := range strings.Split(c.rows, ",") {
		in, err := rowInput(c, row)
		if err != nil {
			return err
		}
		name, _, _ := strings.Cut(row, "@")
		found := contest{name: row, in: in, runs: c.runs.of(row), promised: mixes[name].promised, progress: progress}
		if c.types != 400 || c.pods != 0 || row != mixes[name].row {
			found.promised = 0 // promises are about one size of the problem
		}
		if err := found.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", row, err)
		}
		if err := found.print(out); err != nil {
			return err
		}
		faults = append(faults, found.fault())
	}
	return errors.Join(faults...)
}

// rowInput makes the problem that MIX, MIX@REGION or MIX@REGION:small names.
func rowInput(c config, row string) (*karpenter.Input, error) {
	name, region, elsewhere := strings.Cut(row, "@")
	pods, err := makePods(name, c.pods, c.seed)
	if err != nil {
		return nil, err
	}
	var in *karpenter.Input
	if elsewhere {
		region, small := strings.CutSuffix(region, ":small")
		if in, err = regionInput(pods, region, small); err != nil {
			return nil, err
		}
	} else {
		in = karpenter.MadeUp(pods, c.types, poolLimits(false))
	}
	in.IgnorePreferences = mixes[name].ignorePreferences
	return in, nil
}
