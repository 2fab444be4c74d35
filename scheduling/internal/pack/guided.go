package pack

import (
	"cmp"
	"math/bits"
	"slices"
)

// Packer builds one packing, round by round. Not safe for concurrent use.
type Packer struct {
	s    *Space
	ru   *Rules
	b    *Budget
	jobs []Job
	left []int32
	// active is the first job of the round under way.
	active int
	led    Ledger
	runs   []Run
	// free and content are the state of the existing nodes, placed what went there.
	free    []int64
	content [][]Content
	placed  [][]Content
	// floor packs by first fit instead of by price; bags are its open nodes.
	floor bool
	bags  []bag

	inTier []bool // per pool
	// byPrice lists the tier's rows, cheapest first.
	byPrice []int32
	// worth of one pod of each job, in billionths.
	worth []int64
	// share of a pod's worth that is its first resource, in thousandths.
	share  []int32
	groups map[int32]*group
	// order lists the tier's jobs, largest worth first; ratio the same by share.
	order, ratio []int32
	// least is the least of each resource that a job left asks for, demand what all of them do.
	least   []int64
	demand  []float64
	lax     bool // minValues are let go
	scratch [2]filling
}

// group is what jobs with one mask have in common in a tier.
type group struct {
	worth []float64
	// weight is by what a node's resources are balanced: worth, or where that is blind to cpu or to
	// memory, what a unit is of the best row.
	weight []float64
	// buckets hold rows of similar size, largest first, the most worth for the money first in each.
	buckets [][]offer
	usable  map[int32][]int64
}

// Guided returns a packer that chooses nodes by price: each node is the row and content that give the
// most worth for the money, the largest pod left always among the content, and every pattern is
// repeated while pods last. What pods are worth comes from the fluid relaxation of their mask.
func Guided(s *Space, ru *Rules, b *Budget) *Packer { return newPacker(s, ru, b, false) }

// FirstFit returns a packer that does as the peers do: pods by decreasing size, each into the first open
// node that still has a row to hold it, else into a new node; at the end each node becomes the
// cheapest row that holds it. It is the floor under Guided: the cheaper of the two is kept. It uses
// no pool with minValues and charges limits with the largest row a node may become, so it may leave pods
// that Guided places.
func FirstFit(s *Space, ru *Rules, b *Budget) *Packer { return newPacker(s, ru, b, true) }

func newPacker(s *Space, ru *Rules, b *Budget, floor bool) *Packer {
	e := &Packer{s: s, ru: ru, b: b, floor: floor, led: NewLedger(s), inTier: make([]bool, s.pools())}
	e.least, e.demand = make([]int64, s.Dims), make([]float64, s.Dims)
	for i := range s.Nodes {
		e.free = append(e.free, s.Nodes[i].Free...)
		e.content = append(e.content, s.Nodes[i].Content)
	}
	e.placed = make([][]Content, len(s.Nodes))
	return e
}

func (s *Space) pools() int {
	n := int32(0)
	for _, t := range s.Tiers {
		for _, p := range t {
			n = max(n, p+1)
		}
	}
	return int(n)
}

// Run packs more jobs: onto existing nodes, into nodes opened in earlier rounds, into new nodes.
// It returns how many pods of each are left.
func (e *Packer) Run(jobs []Job) []int32 {
	e.active = len(e.jobs)
	e.jobs = append(e.jobs, jobs...)
	for i := range jobs {
		e.left = append(e.left, jobs[i].Count)
	}
	e.worth = append(e.worth, make([]int64, len(jobs))...)
	e.share = append(e.share, make([]int32, len(jobs))...)
	e.placeOnNodes()
	for _, tier := range e.s.Tiers {
		e.enter(tier)
		if e.floor {
			e.firstFitTier()
		} else {
			e.guidedTier()
		}
	}
	return e.left[e.active:]
}

// Result closes the packing.
func (e *Packer) Result() *Result {
	for i := range e.bags {
		e.close(&e.bags[i])
	}
	e.bags = nil
	res := &Result{Runs: e.runs, OnNodes: e.placed, Left: e.left, Steps: e.b.Spent}
	e.s.total(res)
	return res
}

// Adopt takes over a result that was changed after it was closed: pods taken out of runs or off nodes. More
// jobs may be run then.
func (e *Packer) Adopt(res *Result) {
	e.runs, e.placed, e.left = res.Runs, res.OnNodes, res.Left
	e.led = NewLedger(e.s)
	for i := range e.runs {
		r := &e.runs[i]
		e.led.Charge(r.Row, r.Bits, r.Charge, r.Mult)
	}
	e.free = e.free[:0]
	for i := range e.s.Nodes {
		e.free = append(e.free, e.s.Nodes[i].Free...)
		e.content[i] = append(slices.Clone(e.s.Nodes[i].Content), e.placed[i]...)
		rem := e.free[i*e.s.Dims:]
		for _, c := range e.placed[i] {
			for d, q := range e.jobs[c.Job].Req {
				rem[d] -= q * int64(c.Count)
			}
		}
	}
}

// enter makes the pools the current tier.
func (e *Packer) enter(pools []int32) {
	clear(e.inTier)
	for _, p := range pools {
		e.inTier[p] = !e.floor || !e.s.wants(p)
	}
	e.byPrice = e.byPrice[:0]
	for r := range e.s.Rows {
		if e.inTier[e.s.Pool[r]] && e.s.OfferStart[r] < e.s.OfferStart[r+1] {
			e.byPrice = append(e.byPrice, int32(r))
		}
	}
	slices.SortStableFunc(e.byPrice, func(a, b int32) int {
		pa, _ := e.s.Price(int(a), 1)
		pb, _ := e.s.Price(int(b), 1)
		return cmp.Compare(pa, pb)
	})
	e.collect()
}

func (e *Packer) guidedTier() {
	e.appraise()
	e.join()
	for lax := range 2 {
		if e.lax = lax == 1; e.lax && (!e.s.BestEffort || len(e.s.MinValues) == 0) {
			break
		}
		for i, ji := range e.order {
			for e.left[ji] > 0 && !e.b.Out() && e.open(i) {
			}
		}
	}
	e.lax = false
}

// collect lists the jobs that some row of the tier can hold.
func (e *Packer) collect() {
	e.order = e.order[:0]
	e.groups = map[int32]*group{}
	for ji := e.active; ji < len(e.jobs); ji++ {
		j := &e.jobs[ji]
		if e.left[ji] == 0 {
			continue
		}
		feasible := false
		for _, r := range e.byPrice {
			if j.Mask[r] != 0 && Holds(e.s.AllocOf(int(r)), j.Req) {
				feasible = true
				break
			}
		}
		if !feasible {
			continue
		}
		e.order = append(e.order, int32(ji))
		if e.groups[j.MaskID] == nil {
			e.groups[j.MaskID] = &group{}
		}
	}
}

// appraise solves the fluid relaxation of every group and sorts jobs and rows by the result.
func (e *Packer) appraise() {
	demand := map[int32][]float64{}
	for _, ji := range e.order {
		j := &e.jobs[ji]
		d := demand[j.MaskID]
		if d == nil {
			d = make([]float64, e.s.Dims)
			demand[j.MaskID] = d
		}
		for i, q := range j.Req {
			d[i] += float64(q) * float64(e.left[ji])
		}
	}
	for _, ji := range e.order {
		j := &e.jobs[ji]
		g := e.groups[j.MaskID]
		if g.worth == nil {
			m := make(Mask, e.s.Rows)
			for _, r := range e.byPrice {
				m[r] = j.Mask[r]
			}
			g.worth = e.s.fluid(m, demand[j.MaskID])
			g.buckets = e.s.buckets(m, g.worth)
			g.weight = e.s.weights(g)
		}
		e.value(ji, g)
	}
	slices.SortStableFunc(e.order, func(a, b int32) int {
		if ua, ub := e.jobs[a].Urgent, e.jobs[b].Urgent; ua != ub {
			if ua {
				return -1
			}
			return 1
		}
		return cmp.Compare(e.worth[b], e.worth[a])
	})
	e.ratio = append(e.ratio[:0], e.order...)
	slices.SortStableFunc(e.ratio, func(a, b int32) int { return cmp.Compare(e.share[a], e.share[b]) })
}

func (e *Packer) value(ji int32, g *group) {
	total, weight, first := 0.0, 0.0, 0.0
	for d, q := range e.jobs[ji].Req {
		total += float64(g.worth[d]*float64(q)) * nano
		w := float64(g.weight[d] * float64(q))
		weight += w
		if d == 0 {
			first = w
		}
	}
	e.worth[ji] = max(int64(total), 1)
	e.share[ji] = 0
	if weight > 0 {
		e.share[ji] = int32(first * 1000 / weight)
	}
}

func (s *Space) weights(g *group) []float64 {
	if s.Dims < 2 || g.worth[0] > 0 && g.worth[1] > 0 {
		return g.worth
	}
	w := make([]float64, s.Dims)
	best := offer{row: -1}
	for _, bucket := range g.buckets {
		if o := bucket[0]; best.row < 0 || compareRatio(o.worth, o.price, best.worth, best.price) > 0 {
			best = o
		}
	}
	if best.row >= 0 {
		for d, a := range s.AllocOf(int(best.row))[:2] {
			if a > 0 {
				w[d] = 1 / float64(a)
			}
		}
	}
	return w
}

// offer is a row as its pods see it: what it would be worth full, and its least price.
type offer struct {
	row          int32
	bucket       int
	worth, price int64
}

// buckets groups the rows of m by size (powers of two of their worth).
func (s *Space) buckets(m Mask, worth []float64) [][]offer {
	var cs []offer
	for r, b := range m {
		if b == 0 {
			continue
		}
		p, _ := s.Price(r, b)
		// Rows that the relaxation holds for worthless come last, by price: they may be all that
		// holds some pod.
		w := max(int64(s.worthOf(r, worth)*nano), 1)
		cs = append(cs, offer{int32(r), bits.Len64(uint64(w)), w, max(p, 1)})
	}
	slices.SortStableFunc(cs, func(a, b offer) int {
		if a.bucket != b.bucket {
			return b.bucket - a.bucket
		}
		return compareRatio(b.worth, b.price, a.worth, a.price)
	})
	var out [][]offer
	for i, c := range cs {
		if i == 0 || c.bucket != cs[i-1].bucket {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], c)
	}
	return out
}

// perBucket is how many rows of each size are tried for a node. More cost time in proportion and
// gave less than 0.1 % on the workloads we measure with.
const perBucket = 5

// closeEnough is the fraction of a node's price that is not worth a further search.
const closeEnough int64 = 256

// open starts the best nodes for the i-th job of the order; false: there is none.
func (e *Packer) open(i int) bool {
	ji := e.order[i]
	g := e.groups[e.jobs[ji].MaskID]
	e.leastLeft(i)
	best := &e.scratch[0]
	best.price = 0
	slack := -closeEnough
	if len(e.groups) > 1 {
		slack = 10
	}
	for _, bucket := range g.buckets {
		tried := 0
		for _, o := range bucket {
			// No filling of the row is worth more for the money than the row full, as long as
			// its pods are of one group; others may be worth a little more than it says.
			if best.price > 0 && compareRatio(o.worth+o.worth/slack, o.price, best.worth, best.price) <= 0 {
				break
			}
			if tried == perBucket {
				break
			}
			if !e.b.spend(1) {
				return false
			}
			r := o.row
			if !e.fits(ji, r) {
				continue
			}
			tried++
			for m := range modes {
				f := &e.scratch[1]
				if m != largestFirst && len(e.order) == 1 || !e.fill(f, i, r, m) {
					continue
				}
				if f.betterThan(best) {
					e.scratch[0], e.scratch[1] = e.scratch[1], e.scratch[0]
					best = &e.scratch[0]
					f = best
				}
				if f.use > 1000-clearlyFuller && e.worthLeft(f)*closeEnough < f.worth {
					break
				}
			}
		}
	}
	if best.price == 0 {
		return false
	}
	e.settle(best, e.byPrice) // a filling that was nearly full has not looked for a cheaper row yet
	return e.commit(best)
}

// fits reports whether one pod of the job can have a new node of the row to itself.
func (e *Packer) fits(ji, row int32) bool {
	j := &e.jobs[ji]
	if !Holds(e.usable(ji, row), j.Req) {
		return false
	}
	return e.led.Room(row, 0, nil, 1) > 0
}

// usable is what pods may use on a new node of the row: all of it, or less where minValues want smaller
// rows to be able to take its place; nil if they cannot be had.
func (e *Packer) usable(ji, row int32) []int64 {
	if !e.s.wants(e.s.Pool[row]) || e.lax {
		return e.s.AllocOf(int(row))
	}
	g := e.groups[e.jobs[ji].MaskID]
	if u, ok := g.usable[row]; ok {
		return u
	}
	if g.usable == nil {
		g.usable = map[int32][]int64{}
	}
	u := e.s.usable(e.jobs[ji].Mask, row)
	if u == nil {
		u = make([]int64, e.s.Dims)
	}
	g.usable[row] = u
	return u
}

// leastLeft finds the least of each resource that a pod left asks for, and what all of them do.
func (e *Packer) leastLeft(from int) {
	clear(e.demand)
	first := true
	for _, ji := range e.order[from:] {
		n := e.left[ji]
		if n == 0 {
			continue
		}
		for d, q := range e.jobs[ji].Req {
			if first || q < e.least[d] {
				e.least[d] = q
			}
			e.demand[d] += float64(q) * float64(n)
		}
		first = false
	}
}

// commit opens as many nodes with the filling's content as pods and limits allow; false: none.
func (e *Packer) commit(f *filling) bool {
	n := int32(1<<31 - 1)
	for _, c := range f.content {
		n = min(n, e.left[c.Job]/c.Count)
	}
	run := Run{Row: f.row, Bits: f.bits, Content: slices.Clone(f.content), Used: slices.Clone(f.used)}
	if f.open != nil {
		run.Open = slices.Clone(f.open)
	}
	if e.led.Limited() {
		run.Charge = e.chargeOf(f)
	}
	if n = e.led.Room(f.row, f.bits, run.Charge, n); n == 0 {
		return false
	}
	e.led.Charge(f.row, f.bits, run.Charge, n)
	run.Mult = n
	for _, c := range f.content {
		e.left[c.Job] -= n * c.Count
	}
	e.runs = append(e.runs, run)
	return true
}

// join puts pods into nodes opened before, as far as that makes none of them dearer.
func (e *Packer) join() {
	if len(e.runs) == 0 {
		return
	}
	for _, ji := range e.order {
		j := &e.jobs[ji]
		for r := 0; r < len(e.runs) && e.left[ji] > 0; r++ {
			if !e.b.spend(1) {
				return
			}
			run := &e.runs[r]
			if e.s.wants(e.s.Pool[run.Row]) {
				continue // its flexibility was settled when it was opened
			}
			n := fitUsed(e.s.AllocOf(int(run.Row)), run.Used, j.Req, e.left[ji])
			if n == 0 {
				continue
			}
			bit := run.Bits & -run.Bits
			_, open, ok := e.s.Narrow(j, run.Row, bit, run.Open)
			if !ok {
				continue
			}
			if n = e.ru.nodeCap(j.Class, run.Content, n); n == 0 {
				continue
			}
			bitsLeft, _, _ := e.s.Narrow(j, run.Row, run.Bits, run.Open)
			e.add(r, ji, n, bitsLeft, open)
		}
	}
}

func fitUsed(alloc, used, req []int64, limit int32) int32 {
	n := int64(limit)
	for d, q := range req {
		if q <= 0 {
			continue
		}
		if n = min(n, (alloc[d]-used[d])/q); n <= 0 {
			return 0
		}
	}
	return int32(n)
}

// add puts n pods of the job on each node of run r; where they do not go round, the run is split.
func (e *Packer) add(r int, ji, n int32, allowed uint64, open []int32) {
	full := min(e.left[ji]/n, e.runs[r].Mult)
	rest := int32(0)
	if full < e.runs[r].Mult {
		rest = e.left[ji] % n
	}
	grow := func(run Run, mult, n int32) Run {
		run.Mult = mult
		run.Bits = allowed
		run.Open = open
		run.Content = append(slices.Clone(run.Content), Content{Class: e.jobs[ji].Class, Job: ji, Count: n})
		run.Used = slices.Clone(run.Used)
		for d, q := range e.jobs[ji].Req {
			run.Used[d] += q * int64(n)
		}
		return run
	}
	old := e.runs[r]
	var parts []Run
	if full > 0 {
		parts = append(parts, grow(old, full, n))
	}
	if rest > 0 {
		parts = append(parts, grow(old, 1, rest))
		full++
	}
	if old.Mult > full {
		old.Mult -= full
		parts = append(parts, old)
	}
	e.left[ji] -= (full-b2i(rest > 0))*n + rest
	e.runs = slices.Replace(e.runs, r, r+1, parts...)
}

func b2i(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
