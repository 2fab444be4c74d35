package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/internal/bench/karpenter"
	"github.com/fleetwright/fleetwright/internal/measure"
	"github.com/fleetwright/fleetwright/scheduling"
)

// enough is the time of a run that is not repeated for the sake of a median.
const enough = 5 * time.Second

// row is all that is known of one workload.
type row struct {
	name, kind, region, moved string
	pods                      int
	planted                   scheduling.Price
	check                     check
	ours                      []outcome
	// peer is nil if the peer was not asked.
	peer *outcome
}

// outcome is one plan and how it came about.
type outcome struct {
	effort        scheduling.Effort
	price, lower  scheduling.Price
	nodes, placed int
	// left are the pods left over, codes the reasons (ours only).
	left  []int32
	codes map[scheduling.Code]int
	took  time.Duration
	// leavesOut is what the bound takes no account of.
	leavesOut []string
	// fault is what Verify says of the plan, or why there is none.
	fault error
	// late: the peer did not come to an end.
	late bool
}

func (c config) measure(ctx context.Context, s source, progress io.Writer) (*row, error) {
	p, err := c.pose(ctx, s)
	if err != nil {
		return nil, err
	}
	r := &row{
		name: s.name, kind: p.kind, region: p.region, moved: p.moved, pods: len(p.problem.Pods), planted: p.planted,
	}
	for _, effort := range c.efforts {
		o, err := c.solve(ctx, p.problem, effort)
		if err != nil {
			return nil, err
		}
		r.ours = append(r.ours, *o)
		fmt.Fprintf(progress, "%s, %v: %v $/h, bound %v, %d nodes, %d of %d pods, %v\n",
			s.name, effort, o.price, o.lower, o.nodes, o.placed, r.pods, o.took)
	}
	if c.peer > 0 {
		if r.peer, err = c.askPeer(ctx, p.problem); err != nil {
			return nil, err
		}
		fmt.Fprintf(progress, "%s, peer: %v $/h, %d nodes, %d of %d pods, %v, late %t, %.200v\n",
			s.name, r.peer.price, r.peer.nodes, r.peer.placed, r.pods, r.peer.took, r.peer.late, r.peer.fault)
	}
	return r, nil
}

// solve plans with a new Solver each time: nothing is kept from one run to the next.
func (c config) solve(ctx context.Context, p *scheduling.Problem, effort scheduling.Effort) (*outcome, error) {
	var plan *scheduling.Plan
	var took []time.Duration
	for len(took) < max(1, c.runs) && (len(took) == 0 || took[len(took)-1] < enough) {
		var err error
		plan = nil
		took = append(took, measure.Time(func() {
			plan, err = new(scheduling.Solver).Solve(ctx, p, &scheduling.Options{Effort: effort})
		}))
		if err != nil {
			return nil, err
		}
	}
	o := judge(p, plan)
	o.effort, o.took = effort, measure.Median(took)
	o.lower, o.leavesOut = plan.Totals.LowerBound, plan.BoundLeavesOut
	for _, u := range plan.Unplaced {
		if o.codes == nil {
			o.codes = map[scheduling.Code]int{}
		}
		o.codes[plan.Reasons[u.Reason].Code]++
	}
	return o, nil
}

// judge reads prices off a plan that it checks.
func judge(p *scheduling.Problem, plan *scheduling.Plan) *outcome {
	o := &outcome{
		price: plan.Totals.Price, nodes: plan.Totals.Nodes, placed: plan.Totals.Pods, fault: scheduling.Verify(p, plan),
	}
	for _, u := range plan.Unplaced {
		o.left = append(o.left, u.Pod)
	}
	slices.Sort(o.left)
	return o
}

// askPeer runs the peer once. That it takes too long, or that its result makes no plan, is an outcome.
func (c config) askPeer(ctx context.Context, p *scheduling.Problem) (*outcome, error) {
	deadline, cancel := context.WithTimeout(ctx, c.peer)
	defer cancel()
	scheduler, err := karpenter.NewScheduler(deadline, karpenter.NewInput(p), c.workers)
	if err != nil {
		return nil, err
	}
	runtime.GC()
	start := time.Now()
	err = scheduler.Solve(deadline)
	took := time.Since(start)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return &outcome{took: took, late: true}, nil
	case err != nil:
		return nil, err
	}
	plan, err := scheduler.Plan()
	if err != nil {
		return &outcome{took: took, fault: err}, nil
	}
	o := judge(p, plan)
	o.took = took
	return o, nil
}

// leftOver lists why pods were left over: `12 TooLarge, 3 NotOffered`.
func (o *outcome) leftOver() string {
	var out []string
	for _, code := range slices.Sorted(maps.Keys(o.codes)) {
		out = append(out, fmt.Sprintf("%d %s", o.codes[code], code))
	}
	return strings.Join(out, ", ")
}

// broken counts the rules that Verify finds broken.
func (o *outcome) broken() int {
	var v *scheduling.VerifyError
	switch {
	case errors.As(o.fault, &v):
		return len(v.Violations)
	case o.fault != nil:
		return 1
	}
	return 0
}
