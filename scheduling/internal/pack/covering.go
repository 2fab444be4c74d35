package pack

import (
	"math/bits"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/cover"
)

// Cover says how Covering goes about it. The zero value is the usual effort without a start.
type Cover struct {
	// Best asks for more work. Pods is how many there are in all rounds: each round and tier has its share of the work.
	Best bool
	Pods int64
	// NoProof is set if the bound is of no use, because the jobs say more than the pods do.
	NoProof bool
	// Seed is another packing of the same first jobs, SeedJobs all jobs that it was made of; what its nodes hold is
	// a start. Neither is written to.
	Seed     *Result
	SeedJobs []Job
}

// Covering returns a packer that chooses the nodes of a tier together: contents that pay at the worth of the pods,
// and how often to buy each. What cannot be had that way, because limits end or rules between pods
// forbid it, is packed as by Guided.
func Covering(s *Space, ru *Rules, b *Budget, how Cover) *Packer {
	e := newPacker(s, ru, b, false)
	e.cov = &covering{how: how}
	return e
}

// covering is what a packer remembers of the problems it posed.
type covering struct {
	how Cover
	// rounds counts those that were posed.
	rounds int
	proof  Proof
}

// Proof is what a covering says of all packings of the pods in Lots.
type Proof struct {
	// Bound is in billionths an hour. It holds if Whole is set: the problem has nothing that was not posed.
	Bound int64
	Whole bool
	Lots  []Lot
}

// Lot is a number of pods that are alike to a new node.
type Lot struct {
	Req    []int64
	Mask   Mask
	MaskID int32
	Count  int64
	// Most is how many of them a node may hold; 0: nothing bounds that.
	Most int64
	// Fits is as a job's; it is asked only if there are existing nodes, FitsID is equal for equal answers.
	Fits   func(node int) bool
	FitsID int32
}

// Proof returns what the packer proved in its first round.
func (e *Packer) Proof() Proof {
	if e.cov == nil {
		return Proof{}
	}
	return e.cov.proof
}

// leastPart is the part of the work that a few pods get.
const leastPart = 0.02

// fewPods are not worth a problem of their own in rounds after the first.
const fewPods = 8

// coverTier buys the nodes of a tier.
func (e *Packer) coverTier() {
	pods := int64(0)
	for k := range e.kinds {
		pods += e.kinds[k].left
	}
	if pods == 0 || e.cov.rounds > 0 && pods < fewPods || e.b.Out() {
		return
	}
	e.cov.rounds++
	t := e.pose()
	if len(t.p.Sites) == 0 {
		return
	}
	o := cover.Effort(e.cov.how.Best)
	o.Spend = e.b.spend
	if e.cov.how.NoProof {
		o.Proofs = 0
	}
	if all := e.cov.how.Pods; pods < all {
		part := max(float64(pods)/float64(all), leastPart)
		o.Work, o.Improve = int64(float64(o.Work)*part), int64(float64(o.Improve)*part)
	}
	if e.cov.rounds == 1 && e.active == 0 {
		o.Seeds = t.seeds(e.cov.how.Seed, e.cov.how.SeedJobs)
	}
	if e.tally != nil || e.s.OpenStart != nil || len(e.s.MinValues) > 0 {
		o.Admit = t.admit
	}
	a := cover.Solve(&t.p, &o)
	if e.cov.rounds == 1 {
		e.cov.proof = t.proof(a)
	}
	for _, i := range t.order(a.Patterns) {
		t.realise(&a.Patterns[i])
	}
}

// task is a tier as a problem.
type task struct {
	*poser
	e *Packer
	// kindOf is by item, itemOf by kind, -1: none.
	kindOf, itemOf []int32
	// groupOf is by the packer's group.
	groupOf []int32
	// covered tells, by pool and groups, whether the one keeps the types that minValues of the other count on.
	covered map[[3]int32]bool
	limited []limited
}

// limited is a limit of a pool that counts: the finite amount that stands for it, in units.
type limited struct {
	pool, finite int32
	// dim is -1 for the number of nodes.
	dim int
}

// pose states what is left of the tier.
func (e *Packer) pose() *task {
	t := &task{poser: newPoser(e.s), e: e, covered: map[[3]int32]bool{}}
	t.itemOf, t.groupOf = make([]int32, len(e.kinds)), make([]int32, len(e.groups))
	for g := range t.groupOf {
		t.groupOf[g] = -1
	}
	for k := range e.kinds {
		kd := &e.kinds[k]
		t.itemOf[k] = -1
		if kd.left == 0 {
			continue
		}
		if t.groupOf[kd.group] < 0 {
			t.groupOf[kd.group] = int32(t.group(kd.mask))
		}
		t.itemOf[k] = int32(len(t.kindOf))
		t.kindOf = append(t.kindOf, int32(k))
		t.item(int(t.groupOf[kd.group]), cover.Item{Req: kd.req, Count: kd.left, Most: kd.avail})
	}
	t.limits()
	for r := range int32(e.s.Rows) {
		if e.inTier[e.s.Pool[r]] && e.led.Room(r, 0, nil, 1) > 0 {
			t.row(r)
		}
	}
	return t
}

// plenty is how many times what the pods ask for a limit must have left to be left aside.
const plenty = 4

// limits finds the limits that may be reached, and the reservations.
func (t *task) limits() {
	e, l := t.e, &t.e.led
	for _, n := range l.reserved {
		t.finite(n)
	}
	if l.left == nil {
		return
	}
	e.leastLeft(0)
	pods := int64(0)
	for _, k := range t.kindOf {
		pods += e.kinds[k].left
	}
	for pool, in := range e.inTier {
		if !in {
			continue
		}
		if n := l.nodes[pool]; n < pods {
			t.limited = append(t.limited, limited{int32(pool), t.finite(n), -1})
		}
		for d, left := range l.left[pool*e.s.Dims : (pool+1)*e.s.Dims] {
			if left != Unlimited && float64(left) < plenty*e.demand[d] {
				t.limited = append(t.limited, limited{int32(pool), t.finite(left), d})
			}
		}
	}
}

// claims are what a node of the row takes of the limits.
func (t *task) claims(row int32) (out []cover.Claim) {
	for _, l := range t.limited {
		switch {
		case l.pool != t.e.s.Pool[row]:
		case l.dim < 0:
			out = t.claim(out, l.finite, 1)
		default:
			out = t.claim(out, l.finite, max(t.e.s.capOf(int(row))[l.dim], 0))
		}
	}
	return out
}

// row adds the sites of a row.
func (t *task) row(r int32) {
	e := t.e
	claims := t.claims(r)
	for _, c := range t.cellsOf(r, e.led.Open(r, ^uint64(0))) {
		claims := claims[:len(claims):len(claims)]
		if c.reserved >= 0 {
			claims = t.claim(claims, c.reserved, c.draw)
		}
		if !e.s.wants(e.s.Pool[r]) {
			t.site(spot{r, c.bits, -1}, e.s.AllocOf(int(r)), c.price, c.groups, claims)
			continue
		}
		for g := range t.masks {
			if c.groups[g>>6]>>(g&63)&1 == 0 {
				continue
			}
			room := e.usable(&e.kinds[t.kindOf[t.items[g][0]]], r)
			groups := t.flexible(e.s.Pool[r], int32(g), c.groups)
			if slices.ContainsFunc(room, func(a int64) bool { return a > 0 }) {
				t.site(spot{r, c.bits, int32(g)}, room, c.price, groups, claims)
			}
		}
	}
}

// flexible are those of the groups that may join pods of the seed without taking types that minValues count on.
func (t *task) flexible(pool, seed int32, groups []uint64) []uint64 {
	out := slices.Clone(groups)
	for g := range t.masks {
		if int32(g) == seed || groups[g>>6]>>(g&63)&1 == 0 {
			continue
		}
		key := [3]int32{pool, seed, int32(g)}
		ok, known := t.covered[key]
		if !known {
			ok = t.s.covers(t.masks[g], t.masks[seed], pool)
			t.covered[key] = ok
		}
		if !ok {
			out[g>>6] &^= 1 << (g & 63)
		}
	}
	return out
}

// seeds are the contents of the packing's runs that have a site.
func (t *task) seeds(res *Result, jobs []Job) (out []cover.Pattern) {
	if res == nil {
		return nil
	}
	kindOf := make([]int32, len(t.e.jobs))
	for ji := range kindOf {
		kindOf[ji] = -1
	}
	for k := range t.e.kinds {
		for _, ji := range t.e.kinds[k].jobs {
			kindOf[ji] = int32(k)
		}
	}
	at := map[[2]int32]int32{}
	for i, s := range t.spots {
		for b := s.bits; b != 0; b &= b - 1 {
			at[[2]int32{s.row, int32(bits.TrailingZeros64(b))}] = int32(i)
		}
	}
next:
	for i := range res.Runs {
		r := &res.Runs[i]
		site, ok := at[[2]int32{r.Row, int32(bits.TrailingZeros64(r.Bits))}]
		if !ok {
			continue
		}
		shelf := t.p.Shelves[t.p.Sites[site].Shelf]
		pt := cover.Pattern{Site: site, Count: int64(r.Mult)}
		for _, c := range r.Content {
			if int(c.Job) >= len(kindOf) || kindOf[c.Job] < 0 || !slices.Equal(jobs[c.Job].Req, t.e.jobs[c.Job].Req) {
				continue next
			}
			item := t.itemOf[kindOf[c.Job]]
			if _, ok := slices.BinarySearch(shelf, item); !ok {
				continue next
			}
			if k := slices.IndexFunc(pt.Parts, func(p cover.Part) bool { return p.Item == item }); k >= 0 {
				pt.Parts[k].N += c.Count
			} else {
				pt.Parts = append(pt.Parts, cover.Part{Item: item, N: c.Count})
			}
		}
		slices.SortFunc(pt.Parts, func(a, b cover.Part) int { return int(a.Item - b.Item) })
		out = append(out, pt)
	}
	return out
}

// admit takes those parts out of a content that may not be there beside the others.
func (t *task) admit(site int32, parts []cover.Part) []cover.Part {
	f := &t.e.scratch[0]
	if !t.replay(f, site, parts) {
		return nil
	}
	out := make([]cover.Part, 0, len(f.parts))
	for _, p := range f.parts {
		out = append(out, cover.Part{Item: t.itemOf[p.kind], N: p.n})
	}
	slices.SortFunc(out, func(a, b cover.Part) int { return int(a.Item - b.Item) })
	return out
}

// replay fills a new node of the site with the parts, as far as that is possible; false: not at all.
func (t *task) replay(f *filling, site int32, parts []cover.Part) bool {
	e, at := t.e, t.spots[site]
	target := e.led.Open(at.row, at.bits)
	target &= -target
	if target == 0 || len(parts) == 0 {
		return false
	}
	first := 0
	if at.seed >= 0 {
		of := func(p cover.Part) bool { return t.groupOf[e.kinds[t.kindOf[p.Item]].group] == at.seed }
		first = max(slices.IndexFunc(parts, of), 0)
	}
	if !t.begin(f, at.row, target, t.kindOf[parts[first].Item], parts[first].N) {
		return false
	}
	for i, p := range parts {
		if k := t.kindOf[p.Item]; i != first {
			if n := min(p.N, e.more(f, k)); n > 0 {
				e.take(f, k, target, n)
			}
		}
	}
	f.used = f.used[:0]
	for d, a := range e.s.AllocOf(int(at.row)) {
		f.used = append(f.used, a-f.rem[d])
	}
	price, _ := e.s.Price(int(f.row), f.bits)
	f.price = max(price, 1)
	return e.lax || !e.s.wants(e.s.Pool[f.row]) || e.flexible(e.s.Pool[f.row], f.used, e.repsOf(f))
}

// begin opens a node of the row with n pods of the kind; the target stays allowed.
func (t *task) begin(f *filling, row int32, target uint64, k, n int32) bool {
	e := t.e
	kd := &e.kinds[k]
	e.fills++
	f.row, f.parts, f.worth, f.price, f.open = row, f.parts[:0], 0, 0, nil
	if e.tally != nil {
		e.tally.reset()
	}
	if e.s.OpenStart != nil {
		f.open = e.s.OpenStart[row]
	}
	j := &e.jobs[kd.job]
	allowed, open, ok := e.s.Narrow(j, row, e.led.Open(row, ^uint64(0)), f.open)
	if !ok || allowed&target == 0 {
		if allowed, open, ok = e.s.Narrow(j, row, target, f.open); !ok {
			return false
		}
	}
	f.bits, f.open = allowed, open
	f.rem = append(f.rem[:0], e.s.AllocOf(int(row))...)
	return e.put(f, k, min(n, fitMany(f.rem, kd.req, kd.avail)))
}

// order puts patterns first that have pods to be placed first, then those that draw on something finite.
func (t *task) order(patterns []cover.Pattern) []int {
	rank := func(pt *cover.Pattern) int {
		urgent := slices.ContainsFunc(pt.Parts, func(p cover.Part) bool { return t.e.kinds[t.kindOf[p.Item]].urgent })
		return 2*int(b2i(!urgent)) + int(b2i(len(t.p.Sites[pt.Site].Claims) == 0))
	}
	out := make([]int, len(patterns))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int { return rank(&patterns[a]) - rank(&patterns[b]) })
	return out
}

// realise buys the pattern's nodes, as many as can be had nearly whole.
func (t *task) realise(pt *cover.Pattern) {
	e := t.e
	worth := int64(0)
	for _, p := range pt.Parts {
		worth += e.kinds[t.kindOf[p.Item]].worth * int64(p.N)
	}
	for left := pt.Count; left > 0; {
		f := &e.scratch[0]
		if !t.replay(f, pt.Site, pt.Parts) || f.worth < worth-worth/8 {
			return
		}
		e.settle(f, e.rowsOf(f))
		n := e.commit(f, left)
		if n == 0 {
			return
		}
		left -= n
	}
}

// proof is what the answer says of all packings.
func (t *task) proof(a *cover.Answer) Proof {
	e := t.e
	p := Proof{Bound: a.Bound, Whole: !e.cov.how.NoProof && e.active == 0 && len(e.s.Tiers) == 1 && len(e.s.Nodes) == 0 && len(e.s.MinValues) == 0 && e.s.Limits == nil}
	for i, k := range t.kindOf {
		it, j := &t.p.Items[i], &e.jobs[e.kinds[k].job]
		p.Whole = p.Whole && it.Most == it.Count
		p.Lots = append(p.Lots, Lot{Req: j.Req, Mask: j.Mask, MaskID: j.MaskID, Count: it.Count})
	}
	return p
}
