package scheduling

import (
	"context"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// Solve plans where the problem's pods go. See the package comment for what it weighs. Bad input gives
// an [InputError] that lists every fault found; pods that fit nowhere are in the plan, not in the error.
// Cancelling ctx returns its error and no plan. Safe for concurrent use.
func Solve(ctx context.Context, p *Problem, opts *Options) (*Plan, error) {
	var s Solver
	return s.Solve(ctx, p, opts)
}

// Solver solves many problems one after another. The zero value is ready. Not safe for
// concurrent use.
type Solver struct{}

// Solve does as the function [Solve].
func (s *Solver) Solve(ctx context.Context, p *Problem, opts *Options) (*Plan, error) {
	if opts == nil {
		opts = &Options{}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	report(opts, "compile", 0, len(p.Pods))
	c := newCompiler(p, opts)
	if err := c.compile(); err != nil {
		return nil, err
	}
	topo := newTopology(c)
	budget := &pack.Budget{Max: opts.Steps, Stop: func() bool { return ctx.Err() != nil }}
	report(opts, "pack", 0, len(p.Pods))
	best := c.attempt(topo, pack.Guided(&c.space, &topo.rules, budget), "by price")
	if !budget.Out() {
		// The floor shares what the budget has left; half a floor is never better than a plan.
		floor := c.attempt(topo, pack.FirstFit(&c.space, &topo.rules, budget), "first fit")
		if !budget.Out() && floor.result.Better(best.result) {
			best = floor
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	report(opts, "explain", len(p.Pods), len(p.Pods))
	plan := c.finish(topo, best, budget.Out())
	plan.Stats.Steps = budget.Spent
	return plan, nil
}

func report(opts *Options, stage string, done, total int) {
	if opts.Progress != nil {
		opts.Progress(Progress{Stage: stage, Done: done, Total: total})
	}
}

// attempt is one construction of a plan.
type attempt struct {
	name   string
	packer *pack.Packer
	result *pack.Result
	jobs   []jobInfo
	split  *splitter
	// cells are, per class, what it can reach; nil for classes nothing divides.
	cells [][]reach
}

// jobInfo says what a job of the kernel stands for.
type jobInfo struct {
	class   int32
	variant int32
	cell    cell
	// divided is set if the cell means something.
	divided bool
}

// pending is a class on its way through an attempt.
type pending struct {
	class   int32
	left    int32
	variant int32
	all     []reach
	banned  []bool
}

// attempt packs in rounds: all classes with the strictest variant of their constraints; then what
// is left of those that are divided over zones, without the zones that were full; then with
// preferences given up one by one.
func (c *compiler) attempt(t *topology, p *pack.Packer, name string) *attempt {
	a := &attempt{name: name, packer: p, split: newSplitter(t), cells: make([][]reach, len(c.classes))}
	var todo []*pending
	for _, id := range c.order {
		cl := &c.classes[id]
		if k := &c.constraints[cl.constraint]; cl.refused == nil && k.fault == "" {
			todo = append(todo, &pending{class: id, left: int32(len(cl.pods))})
		}
	}
	all := slices.Clone(todo)
	// A repair may make room for pods that were refused before; what they bring with them may
	// need another repair. In practice one pass does.
	for range maxRepairs {
		c.rounds(t, a, todo)
		a.result = p.Result()
		f := &finisher{c: c, t: t, a: a, jobs: p.Jobs()}
		f.resettle()
		if len(t.groups) == 0 || !f.repair() {
			break
		}
		p.Adopt(a.result)
		todo = slices.DeleteFunc(slices.Clone(all), func(pd *pending) bool { return pd.left == 0 || t.involved[pd.class] })
		if len(todo) == 0 {
			break
		}
	}
	return a
}

const maxRepairs = 3

// rounds packs until nothing is left to try.
func (c *compiler) rounds(t *topology, a *attempt, todo []*pending) {
	for len(todo) > 0 {
		var jobs []pack.Job
		var of []*pending
		for _, pd := range todo {
			for _, j := range a.jobsOf(c, t, pd) {
				jobs, of = append(jobs, j), append(of, pd)
			}
		}
		base := len(a.jobs) - len(jobs)
		left := a.packer.Run(jobs)
		for i := range jobs {
			of[i].left -= jobs[i].Count - left[i]
			if left[i] > 0 {
				a.overflow(&a.jobs[base+i], of[i], left[i])
			}
		}
		todo = c.nextRound(t, a, todo)
	}
}

// variant is the variant of its class's constraint that a job stands for.
func (c *compiler) variant(j *jobInfo) *variant {
	return &c.constraints[c.classes[j.class].constraint].variants[j.variant]
}

// jobOf is the job of a class under its current variant, not divided.
func (c *compiler) jobOf(pd *pending) pack.Job {
	cl := &c.classes[pd.class]
	k := &c.constraints[cl.constraint]
	v := &k.variants[pd.variant]
	j := pack.Job{Class: pd.class, Req: cl.req, Mask: v.mask, MaskID: v.maskID, Alternatives: v.alts, Count: pd.left, Urgent: cl.first}
	j.Fits = func(node int) bool {
		return c.matchesNode(k, v, node) && !portsClash(cl.ports, c.nodes[node].ports)
	}
	if len(cl.ports) > 0 {
		c.portMask(cl, &j)
	}
	return j
}

// portMask takes away the rows on which a DaemonSet has one of the ports.
func (c *compiler) portMask(cl *class, j *pack.Job) {
	var taken []int
	for i := range c.rows {
		for _, d := range c.rows[i].daemons {
			if portsClash(cl.ports, c.daemons[d].ports) {
				taken = append(taken, i)
				break
			}
		}
	}
	if len(taken) == 0 {
		return
	}
	without := func(m pack.Mask) pack.Mask {
		m = append(pack.Mask(nil), m...)
		for _, i := range taken {
			m[i] = 0
		}
		return m
	}
	j.Mask = without(j.Mask)
	j.MaskID = c.maskID(j.Mask)
	alts := make([]pack.Alternative, len(j.Alternatives))
	for i, alt := range j.Alternatives {
		alts[i] = pack.Alternative{Mask: without(alt.Mask), Open: alt.Open}
	}
	j.Alternatives = alts
}

// jobsOf divides a class into jobs and records them.
func (a *attempt) jobsOf(c *compiler, t *topology, pd *pending) []pack.Job {
	j := c.jobOf(pd)
	if !t.involved[pd.class] {
		a.jobs = append(a.jobs, jobInfo{class: pd.class, variant: pd.variant, cell: cell{anyDomain, anyDomain}})
		return []pack.Job{j}
	}
	if pd.all == nil {
		// Domains count whatever the pods prefer; only where they may go depends on the variant.
		last := *pd
		last.variant = int32(len(c.constraints[c.classes[pd.class].constraint].variants) - 1)
		whole := c.jobOf(&last)
		pd.all = a.split.reachable(pd.class, &whole)
		a.cells[pd.class] = pd.all
	}
	if pd.banned == nil {
		pd.banned = make([]bool, len(pd.all))
		now := a.split.reachable(pd.class, &j)
		for i, k := range pd.all {
			pd.banned[i] = !slices.ContainsFunc(now, func(r reach) bool { return r.cell == k.cell })
		}
	}
	var out []pack.Job
	for i, n := range a.split.assign(pd.class, pd.left, pd.all, pd.banned) {
		if n == 0 {
			continue
		}
		part := a.split.restrict(j, pd.all[i].cell)
		part.Count = n
		a.jobs = append(a.jobs, jobInfo{class: pd.class, variant: pd.variant, cell: pd.all[i].cell, divided: true})
		out = append(out, part)
	}
	return out
}

// overflow takes n pods that found no room back out of the counts.
func (a *attempt) overflow(j *jobInfo, pd *pending, n int32) {
	if !j.divided {
		return
	}
	a.split.count(j.class, j.cell, -n)
	for i := range pd.all {
		if pd.all[i].cell == j.cell {
			pd.banned[i] = true
		}
	}
}

// nextRound decides what to try again, and how.
func (c *compiler) nextRound(t *topology, a *attempt, todo []*pending) []*pending {
	var out []*pending
	for _, pd := range todo {
		if pd.left == 0 {
			continue
		}
		if t.involved[pd.class] {
			k := func(i int) bool { return !pd.banned[i] }
			if _, ok := a.split.next(pd.class, pd.all, k); ok {
				out = append(out, pd)
				continue
			}
		}
		if n := len(c.constraints[c.classes[pd.class].constraint].variants); int(pd.variant)+1 < n {
			pd.variant++
			pd.banned = nil
			out = append(out, pd)
		}
	}
	return out
}
