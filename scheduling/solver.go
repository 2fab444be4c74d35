package scheduling

import (
	"context"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
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
	report(opts, "compile", 0, p.PodCount())
	c := newCompiler(p, opts)
	c.hashed = make(chan string, 1)
	defer c.digest() // nothing reads the problem after the call
	if err := c.compile(); err != nil {
		return nil, err
	}
	report(opts, "pack", 0, p.PodCount())
	budget := &pack.Budget{Max: opts.Steps, Stop: func() bool { return ctx.Err() != nil }}
	var best *outcome
	if c.capsPreferences() {
		best = capped(c, budget)
	} else {
		best = newSolve(c, budget, nil).best()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	report(opts, "explain", p.PodCount(), p.PodCount())
	plan := c.finish(best, budget)
	plan.Stats.Steps = budget.Spent
	return plan, nil
}

func report(opts *Options, stage string, done, total int) {
	if opts.Progress != nil {
		opts.Progress(Progress{Stage: stage, Done: done, Total: total})
	}
}

// solve is one search for a plan.
type solve struct {
	c      *compiler
	budget *pack.Budget
	rules  *pack.Rules
	// start is the board before anything is placed; nil if pods mean nothing to each other.
	start *board.Board
	// first is the first round of the packing that was tried before: every packing begins with the same one.
	first *opening
	// twice is set if more than one packing will be tried.
	twice bool
	// keep is, by class, how many pods may keep their preferences; nil: all.
	keep []int32
	// div remembers what dividing classes needs to know whatever is placed.
	div *divider
	// cover is set if nodes are chosen together, starting from what seed holds.
	cover *pack.Cover
	// seed is the packing that the first run came to.
	seed *attempt
}

func newSolve(c *compiler, budget *pack.Budget, keep []int32) *solve {
	sv := &solve{c: c, budget: budget, rules: &pack.Rules{}, keep: keep}
	if c.constrained {
		c.model.Prepare()
		sv.rules = c.nodeRules(keep)
		sv.start = board.New(&c.model)
		sv.div = newDivider(c, sv.start)
		c.turns(sv.div)
	}
	return sv
}

// construct makes a plan: fewest pods left over, those of high priority first, then price, then nodes.
func (sv *solve) construct() *outcome {
	todo := sv.todo(nil)
	best := sv.run(todo, false)
	if best.leftTotal() > 0 && sv.c.bands() > 1 && !sv.budget.Out() {
		// Something finite ran out: who is to have it is a matter of priority.
		if banded := sv.run(todo, true); banded.better(best) {
			best = banded
		}
	}
	return sv.gangs(sv.improve(sv.gangs(sv.improve(best))))
}

// todo lists the classes that can be placed at all, apart from those in without.
func (sv *solve) todo(without map[int32]bool) []*pending {
	c := sv.c
	var todo []*pending
	for _, id := range c.order {
		cl := &c.classes[id]
		if !c.places(id) || without[id] {
			continue
		}
		n := int32(len(cl.pods))
		if k := sv.kept(id); k < n {
			if k > 0 {
				todo = append(todo, &pending{class: id, left: k})
			}
			todo = append(todo, &pending{class: id, left: n - k, variant: int32(len(c.variantsOf(id))) - 1})
			continue
		}
		todo = append(todo, &pending{class: id, left: n})
	}
	return todo
}

// kept is how many pods of the class may keep their preferences.
func (sv *solve) kept(id int32) int32 {
	n := int32(len(sv.c.classes[id].pods))
	if sv.keep == nil || !sv.c.picky(id) {
		return n
	}
	return min(sv.keep[id], n)
}

// run packs, by price and by first fit, and commits the better packing.
func (sv *solve) run(todo []*pending, banded bool) *outcome {
	bands := [][]*pending{todo}
	if banded {
		bands = sv.c.byPriority(todo)
	}
	best := sv.pack(bands, banded)
	sv.first = nil
	if sv.seed == nil {
		sv.seed = best
	}
	sv.c.space.Merge(best.result, best.packer.Jobs(), sv.rules)
	if sv.start == nil {
		return sv.plain(best)
	}
	return sv.commit(best, bands)
}

// pack returns the best packing of those that are tried.
func (sv *solve) pack(bands [][]*pending, banded bool) *attempt {
	if sv.cover != nil {
		return sv.attempt(bands, pack.Covering(&sv.c.space, sv.rules, sv.budget, *sv.cover), "by covering")
	}
	var floor *attempt
	fit := func() *attempt {
		return sv.attempt(bands, pack.FirstFit(&sv.c.space, sv.rules, sv.budget), "first fit")
	}
	sv.twice = !banded
	if sv.start != nil && !banded && sv.crowded(bands[0]) {
		sv.twice = false // most likely this is the only one
		if floor = fit(); floor.result.LeftTotal() == 0 {
			return floor
		}
	}
	best := sv.attempt(bands, pack.Guided(&sv.c.space, sv.rules, sv.budget), "by price")
	if sv.budget.Out() || banded || len(sv.c.space.MinValues) > 0 && sv.c.space.Tiered() {
		return best // first fit passes pools with minValues over, whatever their weight
	}
	if floor == nil {
		floor = fit()
	}
	// The floor shares what the budget has left; half a floor is never better than a plan.
	if !sv.budget.Out() && floor.result.Better(best.result) {
		return floor
	}
	return best
}

// attempt is one construction of a packing.
type attempt struct {
	name   string
	packer *pack.Packer
	result *pack.Result
	jobs   []jobInfo
	div    *divider
	// pds are the classes that took part, as often as they came to it.
	pds []*pending
}

// jobInfo says what a job of the kernel stands for: pods of one class, or of several that nothing on a single node
// tells apart.
type jobInfo struct {
	class, variant int32
	// shares are the classes of a merged job, with what they have in it.
	shares []share
}

type share struct {
	// of indexes attempt.pds.
	of    int32
	cell  int32
	count int32
}

// pending is a class on its way through an attempt.
type pending struct {
	// at is its place in attempt.pds.
	at      int32
	class   int32
	left    int32
	variant int32
	cells   []cell
	banned  []bool
}

// attempt packs in rounds: all classes with the strictest variant of their constraints; then what is left of those that
// are divided over domains, without the cells that were full; then with preferences given up one by one.
func (sv *solve) attempt(bands [][]*pending, p *pack.Packer, name string) *attempt {
	a := &attempt{name: name, packer: p}
	if sv.start != nil {
		a.div = sv.div.another(sv.start)
	}
	for _, band := range bands {
		todo := make([]*pending, 0, len(band))
		for _, pd := range band {
			if sv.start == nil || !sv.c.model.Together(pd.class) {
				fresh := *pd
				todo = append(todo, &fresh)
			}
		}
		sv.rounds(a, todo)
	}
	a.result = p.Result()
	sv.c.space.Resettle(a.result, p.Jobs())
	return a
}

// rounds packs until nothing is left to try.
func (sv *solve) rounds(a *attempt, todo []*pending) {
	if a.div != nil {
		a.div.expect(todo)
		todo = sv.c.inTurn(todo)
	}
	for round := 0; len(todo) > 0; round++ {
		base := len(a.jobs)
		var jobs []pack.Job
		if round == 0 && a.div != nil {
			jobs, todo = sv.opening(a, todo)
		} else {
			jobs = sv.jobs(a, todo)
		}
		left := a.packer.Run(jobs)
		for i := range jobs {
			a.settleShares(base+i, left[i])
		}
		todo = sv.nextRound(a, todo)
	}
}

// settleShares takes what the kernel placed of a job off its classes, and what it could not out of the counts.
func (a *attempt) settleShares(job int, left int32) {
	info := &a.jobs[job]
	for k := len(info.shares) - 1; k >= 0; k-- {
		s := &info.shares[k]
		n := min(left, s.count)
		left -= n
		s.count -= n
		pd := a.pds[s.of]
		pd.left -= s.count
		if n > 0 && s.cell >= 0 {
			a.div.tally.Count(pd.class, pd.cells[s.cell].domain, -n)
			pd.banned[s.cell] = true
		}
	}
}

// jobs divides the classes and merges what no rule tells apart.
func (sv *solve) jobs(a *attempt, todo []*pending) []pack.Job {
	jobs, at := make([]pack.Job, 0, len(todo)), make(map[jobKey]int, len(todo))
	base := len(a.jobs)
	a.jobs = slices.Grow(a.jobs, len(todo))
	store := make([]share, 0, 2*len(todo)) // the first share of most jobs is the only one
	add := func(pd *pending, v *board.Variant, cell, n int32) {
		key := jobKey{v: v, first: sv.c.classes[pd.class].first, alone: -1}
		req := sv.c.model.Shapes[sv.c.model.Classes[pd.class].Shape].Req
		key.req = &req[0]
		if sv.start == nil || sv.alone(pd.class) {
			key.alone = pd.class
		}
		k, ok := at[key]
		if !ok {
			k = len(jobs)
			at[key] = k
			jobs = append(jobs, sv.job(pd.class, v, key.alone, req))
			a.jobs = append(a.jobs, jobInfo{class: pd.class, variant: pd.variant})
		}
		jobs[k].Count += n
		if s := len(store); a.jobs[base+k].shares == nil && s < cap(store) {
			store = store[:s+1]
			a.jobs[base+k].shares = store[s : s : s+1]
		}
		a.jobs[base+k].shares = append(a.jobs[base+k].shares, share{of: pd.at, cell: cell, count: n})
	}
	for _, pd := range todo {
		pd.at = int32(len(a.pds))
		a.pds = append(a.pds, pd)
		v := sv.c.variantOf(pd.class, pd.variant)
		if a.div == nil || len(sv.c.model.KeysOf(pd.class)) == 0 {
			add(pd, v, -1, pd.left)
			continue
		}
		sv.reach(a, pd, v)
		keys := sv.c.model.KeysOf(pd.class)
		for i, n := range a.div.assign(pd.class, pd.variant, pd.left, pd.cells, pd.banned) {
			if n > 0 {
				cut := v
				for k, key := range keys {
					cut = a.div.cut(cut, key, pd.cells[i].domain[k])
				}
				add(pd, cut, int32(i), n)
			}
		}
	}
	return jobs
}

// jobKey tells jobs apart that must not be merged.
type jobKey struct {
	v     *board.Variant
	req   *int64
	alone int32
	first bool
}

// alone reports whether rules on a single node have to do with the class.
func (sv *solve) alone(class int32) bool {
	return len(sv.rules.Excludes[class]) > 0 || len(sv.rules.Caps[class]) > 0
}

// job is a job of the kernel without a count. Merged jobs have a class beyond all others, which no rule knows.
func (sv *solve) job(class int32, v *board.Variant, alone int32, req []int64) pack.Job {
	j := pack.Job{Class: alone, Req: req, Mask: v.Mask, MaskID: v.MaskID, Alternatives: v.Alts, Urgent: sv.c.classes[class].first}
	if alone < 0 {
		j.Class = int32(len(sv.c.model.Classes))
	}
	j.Fits = v.Has
	return j
}

// reach finds the cells of a class under its current variant.
func (sv *solve) reach(a *attempt, pd *pending, v *board.Variant) {
	if pd.banned == nil {
		pd.cells = a.div.cellsOf(pd.class, v)
		pd.banned = make([]bool, len(pd.cells))
	}
}

// nextRound decides what to try again, and how.
func (sv *solve) nextRound(a *attempt, todo []*pending) []*pending {
	var out []*pending
	for _, pd := range todo {
		if pd.left == 0 {
			continue
		}
		if pd.banned != nil && a.div.open(pd) {
			out = append(out, pd)
			continue
		}
		if int(pd.variant)+1 < len(sv.c.variantsOf(pd.class)) && !sv.c.model.SoftOnHosts(pd.class) {
			pd.variant++
			pd.banned = nil
			out = append(out, pd)
		}
	}
	return out
}
