// Command cost plans workloads at every effort and says how far above a proven bound each plan is, how that compares with
// what is promised, and what the scheduler of sigs.k8s.io/karpenter (the peer) would pay in the same run.
//
// The workloads are the files of the external data directory, and more seeds of the generator that comes with them. They
// are planned in us-east-1 with all amd64 types, on-demand, in the file's pools and with its DaemonSets. What pods
// and pools say of capacity types is taken as met. A file about another region is moved: its zones keep their letters, and
// a region without that zone would show as pods left over.
//
// A bound counts for every plan that places the same pods, so the proven bound of a workload is the largest of those that
// the plans state, and of the optimum that a planted workload was made from. It is checked against every price it
// should be below, the peer's included. bounds.csv of the data directory, computed elsewhere, is shown beside it and checked.
//
// Every plan is judged by scheduling.Verify after the clock has stopped, the peer's too (package karpenter says how that
// becomes a plan). Exit status: 0 all promises are kept (or there is no data, which is said), 1 one is not, or a plan
// does not hold, 2 something could not be read or run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/internal/bench/karpenter"
	"github.com/fleetwright/fleetwright/internal/extdata"
	"github.com/fleetwright/fleetwright/scheduling"
)

type config struct {
	dir, match          string
	generate, generator string
	efforts             efforts
	runs                int
	peer                time.Duration
	workers             int
	asSpecified         bool
	file, date          string
}

func main() {
	c := config{efforts: efforts{scheduling.EffortFast, scheduling.EffortDefault, scheduling.EffortBest}}
	flag.StringVar(&c.match, "match", "*", "comma-separated globs over the names of files and of generated workloads")
	flag.StringVar(&c.generate, "generate", defaultSeeds, "comma-separated workloads to generate besides: KIND:SEED or KIND:SEED:PODS; empty: none")
	flag.StringVar(&c.generator, "generator", "", "the generator, a Python program; empty: the one that comes with the data")
	flag.Var(&c.efforts, "effort", "comma-separated efforts to plan with, the least first")
	flag.IntVar(&c.runs, "runs", 3, "runs of each solve, of which the median counts; one is enough where it takes 5 s")
	flag.DurationVar(&c.peer, "peer", 10*time.Minute, "longest that the peer may take for a workload; 0: leave it out")
	flag.IntVar(&c.workers, "workers", runtime.GOMAXPROCS(0), "workers of the peer")
	flag.BoolVar(&c.asSpecified, "as-specified", false, "plan in the file's own region with both architectures and spot; nothing is promised of that")
	flag.StringVar(&c.file, "o", "", "write the tables to this file too, anew after each workload")
	flag.StringVar(&c.date, "date", time.Now().Format(time.DateOnly), "the date in the tables")
	flag.Parse()
	dir, ok := extdata.Dir("workloads")
	if !ok {
		fmt.Printf("bench-cost: the external workloads are not here, nothing is measured; set %s to the directory that has workloads/\n", extdata.Env)
		return
	}
	c.dir = dir
	if c.generator == "" {
		c.generator = filepath.Join(dir, "..", "..", "tools", "gen_workload.py")
	}
	karpenter.Silence()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	kept, err := run(ctx, c, os.Stdout, os.Stderr)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench-cost:", err)
		os.Exit(2)
	case !kept:
		os.Exit(1)
	}
}

// run measures one workload after the other. If it is interrupted it reports those that are done.
func run(ctx context.Context, c config, out, progress io.Writer) (kept bool, err error) {
	sources, skipped, err := c.sources()
	if err != nil {
		return false, err
	}
	offers := "amd64-od"
	if c.asSpecified {
		offers = "as-specified"
	}
	checks, err := readBounds(filepath.Join(c.dir, "bounds.csv"), offers)
	if err != nil {
		return false, err
	}
	r := report{config: c, skipped: skipped}
	for _, s := range sources {
		found, err := c.measure(ctx, s, progress)
		if errors.Is(err, context.Canceled) {
			r.skipped = append(r.skipped, "interrupted: "+s.name+" and what follows it")
			break
		}
		if err != nil {
			return false, fmt.Errorf("%s: %w", s.name, err)
		}
		found.check = checks[s.name]
		r.rows = append(r.rows, found)
		if c.file != "" {
			if err := os.WriteFile(c.file, []byte(r.markdown()), 0o666); err != nil {
				return false, err
			}
		}
	}
	_, err = io.WriteString(out, r.markdown())
	return len(r.misses()) == 0, err
}

// efforts is the flag that says with which efforts to plan.
type efforts []scheduling.Effort

// String prints what Set reads.
func (e *efforts) String() string {
	var names []string
	for _, effort := range *e {
		names = append(names, strings.ToLower(effort.String()))
	}
	return strings.Join(names, ",")
}

// Set reads "fast,best"; the order is always that of effort.
func (e *efforts) Set(text string) error {
	*e = nil
	for _, name := range strings.Split(text, ",") {
		var effort scheduling.Effort
		if err := effort.UnmarshalText([]byte(upper(name))); err != nil {
			return err
		}
		*e = append(*e, effort)
	}
	rank := []scheduling.Effort{scheduling.EffortFast, scheduling.EffortDefault, scheduling.EffortBest}
	slices.SortFunc(*e, func(a, b scheduling.Effort) int { return slices.Index(rank, a) - slices.Index(rank, b) })
	*e = slices.Compact(*e)
	return nil
}
