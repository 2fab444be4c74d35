package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/measure"
	"github.com/fleetwright/fleetwright/internal/workload"
	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

// result is what planning one file gave.
type result struct {
	pods, placed, nodes int
	unplaced            map[scheduling.Code]int
	price, lower        scheduling.Price
	solve               time.Duration
	// ratio is the time of Solve over that of copying the pods.
	ratio float64
	// fault is what Verify says.
	fault error
}

func measureFile(ctx context.Context, c config, path string) (*result, error) {
	p, err := readProblem(path, c.asSpecified)
	if err != nil {
		return nil, err
	}
	var plan *scheduling.Plan
	var solves, copies []time.Duration
	for range c.runs {
		plan = nil
		solves = append(solves, measure.Time(func() { plan, err = new(scheduling.Solver).Solve(ctx, p, nil) }))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out := make([]*corev1.Pod, len(p.Pods))
		copies = append(copies, measure.Time(func() {
			for i, pod := range p.Pods {
				out[i] = pod.DeepCopy()
			}
		}))
	}
	r := &result{
		pods: len(p.Pods), placed: plan.Totals.Pods, nodes: plan.Totals.Nodes, unplaced: map[scheduling.Code]int{},
		price: plan.Totals.Price, lower: plan.Totals.LowerBound, solve: measure.Median(solves),
	}
	r.ratio = float64(r.solve) / float64(measure.Median(copies))
	for _, u := range plan.Unplaced {
		r.unplaced[plan.Reasons[u.Reason].Code]++
	}
	r.fault = scheduling.Verify(p, plan)
	return r, nil
}

// readProblem gives every pool of the file the region's types.
func readProblem(path string, asSpecified bool) (*scheduling.Problem, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w, err := workload.Read(f, path)
	if err != nil {
		return nil, err
	}
	known, err := catalog.Embedded()
	if err != nil {
		return nil, err
	}
	filter := catalog.Filter{Arch: []string{"amd64"}, CapacityTypes: []string{catalog.OnDemand}}
	if asSpecified {
		filter = catalog.Filter{}
	}
	region := w.Region
	if region == "" {
		region = "us-east-1"
	}
	types, origin, err := known.InstanceTypes(region, filter, instancetype.Settings{})
	if err != nil {
		return nil, err
	}
	for i := range w.Pools {
		w.Pools[i].InstanceTypes = types
	}
	if !asSpecified {
		dropCapacityTypes(w)
	}
	return &scheduling.Problem{Pods: w.Pods, Pools: w.Pools, DaemonSets: w.DaemonSets, Catalog: origin}, nil
}

// dropCapacityTypes removes conditions on the capacity type from pods and pools, in place; pods of a group share
// what is changed.
func dropCapacityTypes(w *workload.Workload) {
	for i := range w.Pools {
		w.Pools[i].Requirements = slices.DeleteFunc(w.Pools[i].Requirements, func(r scheduling.Requirement) bool {
			return r.Key == scheduling.CapacityTypeLabel
		})
	}
	for _, pod := range w.Pods {
		delete(pod.Spec.NodeSelector, scheduling.CapacityTypeLabel)
		if a := pod.Spec.Affinity; a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
			continue
		}
		terms := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		for i := range terms {
			terms[i].MatchExpressions = slices.DeleteFunc(terms[i].MatchExpressions, func(r corev1.NodeSelectorRequirement) bool {
				return r.Key == scheduling.CapacityTypeLabel
			})
			if len(terms[i].MatchExpressions) == 0 {
				// A term without conditions would match no node at all.
				pod.Spec.Affinity.NodeAffinity = nil
				break
			}
		}
	}
}

// codes lists why pods were left over: `TooLarge:12 NotOffered:3`.
func (r *result) codes() string {
	var out []string
	for _, code := range slices.Sorted(maps.Keys(r.unplaced)) {
		out = append(out, fmt.Sprintf("%s:%d", code, r.unplaced[code]))
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, " ")
}

func (r *result) ownBound() string {
	if !r.lower.Known() {
		return "-"
	}
	return dash(float64(r.lower.Nano()) / 1e9)
}

// comparable reports whether the plan pays for all the pods that the bound counts.
func (r *result) comparable(b bound) bool { return b.bound > 0 && r.placed >= b.pods }

func (r *result) gap(b bound) string {
	if !r.comparable(b) {
		return "-"
	}
	return fmt.Sprintf("%.3f", float64(r.price.Nano())/1e9/b.bound)
}

// wrong says what is wrong with the plan, if anything. Prices in bounds.csv are rounded to four places.
func (r *result) wrong(b bound) error {
	cost := float64(r.price.Nano()) / 1e9
	switch {
	case r.fault != nil:
		return r.fault
	case r.comparable(b) && cost < b.bound-0.0001:
		return errors.New("costs less than is possible")
	case r.lower.Known() && r.lower.Nano() > r.price.Nano():
		return errors.New("costs less than its own lower bound")
	}
	return nil
}

func dash(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.4f", v)
}

// bound is a row of bounds.csv.
type bound struct {
	pods               int
	bound, ffd, greedy float64
}

// readBounds returns the rows for one kind of offers by file. No file: no bounds.
func readBounds(path, offers string) (map[string]bound, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	column := map[string]int{}
	for i, name := range slices.Concat(rows[:min(1, len(rows))]...) {
		column[name] = i
	}
	for _, name := range []string{"workload", "offers", "pods", "bound", "ffd_largest", "greedy"} {
		if _, ok := column[name]; !ok {
			return nil, fmt.Errorf("%s: has no column %s", path, name)
		}
	}
	out := map[string]bound{}
	for _, row := range rows[1:] {
		if row[column["offers"]] != offers {
			continue
		}
		number := func(name string) float64 {
			v, _ := strconv.ParseFloat(row[column[name]], 64)
			return v
		}
		out[row[column["workload"]]] = bound{
			pods: int(number("pods")), bound: number("bound"), ffd: number("ffd_largest"), greedy: number("greedy"),
		}
	}
	return out, nil
}
