// Command bench-workloads plans every file of the external workloads on the embedded catalogue, verifies each plan,
// and prints it beside the proven bounds and reference packings that come with the data.
//
// The types are all amd64 types of the file's region, on-demand; with -as-specified, both architectures
// and spot besides. The bounds are for the former and ignore what pods say about capacity types, so
// without -as-specified such conditions are dropped here too. Everything else that files ask for is kept:
// pools, taints, spread, affinity, zones.
//
// Exit status: 0 all plans hold (or the data is not there, which is said), 1 some plan does not, or costs less
// than is possible, 2 something could not be read.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/fleetwright/fleetwright/internal/extdata"
)

type config struct {
	dir         string
	asSpecified bool
	runs        int
	match       string
}

func main() {
	var c config
	flag.BoolVar(&c.asSpecified, "as-specified", false, "plan with both architectures and spot, and compare with the bounds for that")
	flag.IntVar(&c.runs, "runs", 3, "runs of each solve; the median counts")
	flag.StringVar(&c.match, "match", "*", "glob over the names of the files")
	flag.Parse()
	dir, ok := extdata.Dir("workloads")
	if !ok {
		fmt.Printf("bench-workloads: the external workloads are not here, nothing is measured; set %s to the directory that has workloads/\n", extdata.Env)
		return
	}
	c.dir = dir
	hold, err := run(context.Background(), c, os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench-workloads:", err)
		os.Exit(2)
	case !hold:
		os.Exit(1)
	}
}

func run(ctx context.Context, c config, out io.Writer) (hold bool, err error) {
	files, err := workloadFiles(c.dir, c.match)
	if err != nil {
		return false, err
	}
	offers := "amd64-od"
	if c.asSpecified {
		offers = "as-specified"
	}
	bounds, err := readBounds(filepath.Join(c.dir, "bounds.csv"), offers)
	if err != nil {
		return false, err
	}
	tab := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "file\tpods\tplaced\tunplaced\tnodes\t$/h\town bound\tbound\tgap\tffd\tgreedy\tsolve ms\t/DeepCopy\tverify")
	hold = true
	var broken []string
	for _, file := range files {
		r, err := measureFile(ctx, c, file)
		if err != nil {
			return false, err
		}
		b := bounds[filepath.Base(file)]
		verdict := "ok"
		if wrong := r.wrong(b); wrong != nil {
			verdict, hold = "BROKEN", false
			broken = append(broken, fmt.Sprintf("%s: %v\n", filepath.Base(file), wrong))
		}
		fmt.Fprintf(tab, "%s\t%d\t%d\t%s\t%d\t%v\t%s\t%s\t%s\t%s\t%s\t%.2f\t%.2f\t%s\n",
			filepath.Base(file), r.pods, r.placed, r.codes(), r.nodes, r.price, r.ownBound(), dash(b.bound), r.gap(b),
			dash(b.ffd), dash(b.greedy), r.solve.Seconds()*1e3, r.ratio, verdict)
	}
	if err := tab.Flush(); err != nil {
		return false, err
	}
	fmt.Fprintf(out, "prices per hour; gap is $/h over bound, where as many pods are placed as the bound counts\n%s", strings.Join(broken, ""))
	return hold, nil
}

// workloadFiles lists the files that hold pods; the directory has two other tables.
func workloadFiles(dir, match string) ([]string, error) {
	if _, err := filepath.Match(match, ""); err != nil {
		return nil, fmt.Errorf("-match %q: %w", match, err)
	}
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, path := range all {
		name := filepath.Base(path)
		base := strings.TrimSuffix(name, ".gz")
		chosen, _ := filepath.Match(match, name)
		switch {
		case !chosen, name == "bounds.csv", strings.HasSuffix(base, "-nodes.csv"):
		case strings.HasSuffix(base, ".csv"), strings.HasSuffix(base, ".jsonl"):
			out = append(out, path)
		}
	}
	return out, nil
}
