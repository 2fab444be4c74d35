package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/fleetwright/fleetwright/scheduling"
)

// The promises, about the small cluster.
const (
	maxSlack = 50 * time.Microsecond  // mean of a what-if where there is room
	maxFull  = 100 * time.Microsecond // mean of one where every pod needs a launch
	// maxGrowth is how much more a what-if may allocate on the large cluster; the rest is noise of the runtime.
	maxGrowth = 1.1
)

// result is what the what-ifs on one cluster took.
type result struct {
	compile, mean, p50, p99 time.Duration
	// allocations and bytes are means.
	allocations, bytes float64
	// moves, launches and leftOver are sums.
	moves, launches, leftOver int
	// price is what the launches cost per hour, saved what the drained nodes do.
	price, saved float64
}

func run(c config, out io.Writer) (kept bool, err error) {
	kept = true
	fmt.Fprintf(out, "%6s %6s %8s %9s %9s %9s %9s %8s %9s %9s %9s %9s %9s %9s\n",
		"room", "nodes", "compile", "what-ifs", "mean", "p50", "p99", "allocs", "bytes", "moves", "launches", "left over", "$/h", "saved")
	for _, full := range []bool{false, true} {
		name, most := "slack", maxSlack
		if full {
			name, most = "full", maxFull
		}
		var results [2]result
		for i, nodes := range []int{c.small, c.large} {
			if results[i], err = ask(nodes, c.asked, full, c.seed); err != nil {
				return false, err
			}
			r := &results[i]
			fmt.Fprintf(out, "%6s %6d %8v %9d %9v %9v %9v %8.1f %9.0f %9d %9d %9d %9.2f %9.2f\n", name, nodes, r.compile.Round(time.Millisecond),
				c.asked, r.mean, r.p50, r.p99, r.allocations, r.bytes, r.moves, r.launches, r.leftOver, r.price, r.saved)
		}
		small, large := results[0], results[1]
		kept = promise(out, name+": mean of a what-if, microseconds", micros(small.mean), micros(most)) && kept
		kept = promise(out, name+": allocations, large over small", ratio(large.allocations, small.allocations), maxGrowth) && kept
		kept = promise(out, name+": bytes, large over small", ratio(large.bytes, small.bytes), maxGrowth) && kept
		for _, r := range results {
			if full && r.moves > 0 || !full && r.launches > 0 || r.moves+r.launches == 0 || r.leftOver > 0 {
				fmt.Fprintf(out, "%s: the what-ifs do not answer what they should\n", name)
				kept = false
			}
		}
	}
	return kept, nil
}

// ask drains each of the first nodes of a cluster, one at a time.
func ask(nodes, asked int, full bool, seed uint64) (result, error) {
	var r result
	p, err := cluster(nodes, full, seed)
	if err != nil {
		return r, err
	}
	start := time.Now()
	snapshot, err := scheduling.Compile(p, nil)
	if err != nil {
		return r, err
	}
	r.compile = time.Since(start)
	changes := make([]scheduling.Changes, asked)
	for i := range changes {
		changes[i] = scheduling.Changes{DrainNodes: []string{p.Nodes[i].Name}}
	}
	for i := range changes {
		o, err := snapshot.WhatIf(changes[i])
		if err != nil {
			return r, err
		}
		r.moves, r.launches, r.leftOver = r.moves+len(o.Moves), r.launches+len(o.Launches), r.leftOver+len(o.Left)
		r.price, r.saved = r.price+float64(o.Price.Nano())/1e9, r.saved+float64(o.Saved.Nano())/1e9
		if !o.Saved.Known() {
			return r, fmt.Errorf("node %s has no price", p.Nodes[i].Name)
		}
	}
	times := make([]time.Duration, asked)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range changes {
		start := time.Now()
		if _, err := snapshot.WhatIf(changes[i]); err != nil {
			return r, err
		}
		times[i] = time.Since(start)
	}
	runtime.ReadMemStats(&after)
	r.allocations = float64(after.Mallocs-before.Mallocs) / float64(asked)
	r.bytes = float64(after.TotalAlloc-before.TotalAlloc) / float64(asked)
	var sum time.Duration
	for _, t := range times {
		sum += t
	}
	slices.Sort(times)
	r.mean, r.p50, r.p99 = sum/time.Duration(asked), times[asked/2], times[asked*99/100]
	return r, nil
}

func promise(out io.Writer, what string, got, most float64) bool {
	verdict := "ok"
	if got > most {
		verdict = "MISSED"
	}
	fmt.Fprintf(out, "%-45s %8.3g (at most %g) %s\n", what, got, most, verdict)
	return got <= most
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// ratio of two means; with nothing allocated on the small cluster nothing may be on the large one.
func ratio(large, small float64) float64 {
	if large < 1 && small < 1 {
		return 1
	}
	return large / max(small, 1)
}
