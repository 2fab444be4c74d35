package scheduling

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// finisher turns a packing into a plan.
type finisher struct {
	c     *compiler
	t     *topology
	a     *attempt
	plan  *Plan
	jobs  []pack.Job
	taken []int32 // per class: how many of its pods are placed
	// byJob are the pods of each job of a divided class and where they are, for the bind order.
	byJob   [][]bound
	relaxed map[[2]int32][]int32
	share   []int64 // per pool and resource: how much more than its choice a launch may charge
	holders []pack.Holder
	// partial is set if the step budget ran out.
	partial bool
}

// finish writes the plan of an attempt.
func (c *compiler) finish(t *topology, a *attempt, partial bool) *Plan {
	f := &finisher{c: c, t: t, a: a, jobs: a.packer.Jobs(), taken: make([]int32, len(c.classes)), relaxed: map[[2]int32][]int32{}, partial: partial}
	f.plan = &Plan{problem: c.p, Options: *c.opts, Catalog: c.p.Catalog, Digest: digestWithPods(c.p, &c.hasher, c.podSum)}
	f.plan.Options.Progress, f.plan.Options.First, f.plan.Options.Parallelism = nil, nil, 0
	if len(t.groups) > 0 {
		f.byJob = make([][]bound, len(f.jobs))
		a.split = f.recount()
	}
	f.limitShares()
	f.onNodes()
	f.launches()
	f.leftOver()
	f.relaxations()
	f.bindOrder()
	f.totals()
	return f.plan
}

// resettle gives every node the cheapest type that holds it in the end.
func (f *finisher) resettle() { f.c.space.Resettle(f.a.result, f.jobs) }

// bound is a pod and its node: an existing one, or the row and offering of a new one.
type bound struct {
	pod, node, row int32
	bit            int
}

// take returns the next n pods of the job's class; at says where they go.
func (f *finisher) take(job, n int32, at bound) []int32 {
	info := &f.a.jobs[job]
	cl := &f.c.classes[info.class]
	pods := cl.pods[f.taken[info.class] : f.taken[info.class]+n]
	f.taken[info.class] += n
	if f.byJob != nil && f.t.involved[info.class] {
		for _, p := range pods {
			at.pod = p
			f.byJob[job] = append(f.byJob[job], at)
		}
	}
	if v := f.c.variant(info); len(v.given) > 0 {
		k := [2]int32{info.class, info.variant}
		f.relaxed[k] = append(f.relaxed[k], pods...)
	}
	return pods
}

func (f *finisher) onNodes() {
	for i, content := range f.a.result.OnNodes {
		var pods []int32
		for _, x := range content {
			pods = append(pods, f.take(x.Job, x.Count, bound{node: int32(i)})...)
		}
		sortByName(f.c.p.Pods, pods)
		for _, p := range pods {
			f.plan.Placements = append(f.plan.Placements, Placement{Pod: p, Node: f.c.nodes[i].index})
		}
	}
}

func (f *finisher) launches() {
	n, pods := int64(0), int64(0)
	for i := range f.a.result.Runs {
		r := &f.a.result.Runs[i]
		n += int64(r.Mult)
		for _, x := range r.Content {
			pods += int64(r.Mult) * int64(x.Count)
		}
	}
	f.plan.Launches = make([]Launch, 0, n)
	store := make([]int32, 0, pods)
	for i := range f.a.result.Runs {
		r := &f.a.result.Runs[i]
		shape := f.shape(r)
		_, bit := f.c.space.Price(int(r.Row), r.Bits)
		at := bound{node: -1, row: r.Row, bit: bit}
		for range r.Mult {
			from := len(store)
			for _, x := range r.Content {
				store = append(store, f.take(x.Job, x.Count, at)...)
			}
			f.plan.Launches = append(f.plan.Launches, Launch{Shape: shape, Pods: store[from:len(store):len(store)]})
		}
	}
}

// shape describes what the nodes of a run have in common.
func (f *finisher) shape(r *pack.Run) int32 {
	c := f.c
	rw := &c.rows[r.Row]
	_, bit := c.space.Price(int(r.Row), r.Bits)
	s := Shape{Pool: rw.pool, Choice: Alternative{Type: rw.typ, Offering: rw.offerings[bit]}, Price: PriceFromNano(rw.prices[bit])}
	s.CustomLabels = f.customLabels(r, rw, bit)
	used := slices.Clone(r.Used)
	for _, d := range rw.daemons {
		if c.daemonRuns(&c.daemons[d], int(r.Row), bit, s.CustomLabels) {
			s.DaemonSets = append(s.DaemonSets, c.daemons[d].index)
			for x, q := range c.daemons[d].req {
				used[x] += q
			}
		}
	}
	for x, q := range used {
		if q != 0 {
			s.Requests = append(s.Requests, Quantity{Name: c.dims[x], Amount: q})
		}
	}
	slices.SortFunc(s.Requests, func(a, b Quantity) int { return cmp.Compare(a.Name, b.Name) })
	f.settleOpen(r, s.CustomLabels)
	f.alternatives(r, &s)
	s.Why.Binding, s.Why.Used = c.binding(r)
	f.plan.Shapes = append(f.plan.Shapes, s)
	return int32(len(f.plan.Shapes) - 1)
}

// binding is the resource of which the node has least left, and its use in percent.
func (c *compiler) binding(r *pack.Run) (name corev1.ResourceName, percent int) {
	most := -1.0
	for d, a := range c.space.AllocOf(int(r.Row)) {
		if a > 0 {
			if u := float64(r.Used[d]) / float64(a); u > most {
				most, name, percent = u, c.dims[d], int(u*100)
			}
		}
	}
	return name, percent
}

// customLabels settles the labels that the pool left open: to what the pods ask for, or to the set's
// own representative where the label must be there.
func (f *finisher) customLabels(r *pack.Run, rw *row, bit int) map[string]string {
	c := f.c
	var out map[string]string
	sets := c.poolSets(&c.p.Pools[rw.pool])
	settle := func(key string, s ValueSet) {
		if v, ok := s.Any(); ok && !s.HasAbsent() {
			if out == nil {
				out = map[string]string{}
			}
			out[key] = v
		}
	}
	decided := func(key string) bool {
		_, ok := offeringValue(&rw.t.Offerings[rw.offerings[bit]], key)
		return ok || key == "kubernetes.io/hostname"
	}
	for k, key := range c.openKeys {
		if r.Open != nil && !decided(key) {
			start := c.states[c.space.OpenStart[r.Row][k]]
			if vals, finite := start.Finite(); !finite || len(vals) > 1 {
				settle(key, c.states[r.Open[k]])
			}
		}
	}
	for _, fixed := range rw.fixed {
		if !decided(fixed.key) && (r.Open == nil || !slices.Contains(c.openKeys, fixed.key)) {
			settle(fixed.key, fixed.set)
		} else if vals, finite := fixed.set.Finite(); finite && len(vals) == 1 {
			settle(fixed.key, fixed.set)
		}
	}
	for _, key := range sortedKeys(sets) {
		if slices.Contains(c.openKeys, key) || decided(key) || slices.ContainsFunc(rw.fixed, func(k keySet) bool { return k.key == key }) {
			continue
		}
		s := c.labelSet(rw, sets, key)
		if vals, finite := s.Finite(); !finite || len(vals) > 1 {
			settle(key, s)
		}
	}
	return out
}

// settleOpen replaces the states of the run's open labels by what customLabels made of them: whatever
// takes the run's place must agree with that, and with no more.
func (f *finisher) settleOpen(r *pack.Run, custom map[string]string) {
	c := f.c
	if r.Open == nil {
		return
	}
	open := make([]int32, len(r.Open))
	for k, key := range c.openKeys {
		open[k] = -1
		start := c.states[c.space.OpenStart[r.Row][k]]
		if vals, finite := start.Finite(); finite && len(vals) <= 1 {
			continue // the row itself decides
		}
		if v, ok := custom[key]; ok {
			open[k] = c.state(Values(v))
		} else {
			open[k] = c.state(AbsentValue())
		}
	}
	r.Open = open
}

// daemonRuns re-checks a DaemonSet against the labels that were settled in the end: the row counted
// it if any label it asks for was possible.
func (c *compiler) daemonRuns(d *daemon, rowIndex, bit int, custom map[string]string) bool {
	if len(c.openKeys) == 0 {
		return true
	}
	k := &c.constraints[d.constraint]
	return slices.ContainsFunc(k.terms, func(term []int32) bool {
		return !slices.ContainsFunc(term, func(a int32) bool {
			at := &c.atoms[a]
			if at.mask[rowIndex]>>bit&1 == 0 {
				return true
			}
			if at.open < 0 {
				return false
			}
			start := c.states[c.space.OpenStart[rowIndex][at.openKey]]
			if vals, finite := start.Finite(); finite && len(vals) <= 1 {
				return false
			}
			v, ok := custom[at.key]
			return ok && !at.set.Has(v) || !ok && !at.set.HasAbsent()
		})
	})
}

// option is an offering that could hold a run.
type option struct {
	row, bit int32
	price    int64
}

// alternatives lists every offering that would hold the run, cheapest first, as far as options and
// limits let it.
func (f *finisher) alternatives(r *pack.Run, s *Shape) {
	c := f.c
	f.holders = c.space.Holders(r, f.jobs, f.holders[:0])
	f.holders = slices.DeleteFunc(f.holders, func(h pack.Holder) bool {
		return h.Row != r.Row && (!f.affordable(r, h.Row) || !sameFixed(c.rows[h.Row].fixed, c.rows[r.Row].fixed))
	})
	cheapest := map[int32]int64{} // by type
	for _, h := range f.holders {
		p, _ := c.space.Price(int(h.Row), h.Bits)
		if have, ok := cheapest[c.rows[h.Row].typ]; !ok || p < have {
			cheapest[c.rows[h.Row].typ] = p
		}
	}
	s.Why.Candidates = len(cheapest)
	for _, h := range f.holders {
		s.AlternativeCount += bits.OnesCount64(h.Bits)
	}
	keep := f.keepTypes(r, s, cheapest)
	var opts []option
	for _, h := range f.holders {
		if !keep[c.rows[h.Row].typ] {
			continue
		}
		for b := h.Bits; b != 0; b &= b - 1 {
			bit := bits.TrailingZeros64(b)
			opts = append(opts, option{h.Row, int32(bit), c.rows[h.Row].prices[bit]})
		}
	}
	_, chosen := c.space.Price(int(r.Row), r.Bits)
	slices.SortStableFunc(opts, func(a, b option) int {
		first := func(o option) int { return b2i(o.row != r.Row || int(o.bit) != chosen) }
		return cmp.Or(cmp.Compare(a.price, b.price), cmp.Compare(first(a), first(b)), cmp.Compare(a.row, b.row), cmp.Compare(a.bit, b.bit))
	})
	s.Alternatives = make([]Alternative, len(opts))
	for i, o := range opts {
		rw := &c.rows[o.row]
		s.Alternatives[i] = Alternative{Type: rw.typ, Offering: rw.offerings[o.bit]}
		if !s.Why.RunnerUpPrice.Known() && rw.typ != s.Choice.Type {
			s.Why.RunnerUp, s.Why.RunnerUpPrice = s.Alternatives[i], PriceFromNano(o.price)
		}
	}
}

// sameFixed reports whether two rows of a pool settle its open labels alike.
func sameFixed(a, b []keySet) bool {
	return slices.EqualFunc(a, b, func(x, y keySet) bool { return x.key == y.key && x.set.Equal(y.set) })
}

// affordable reports whether the pool's limit holds even if the run falls back to the row.
func (f *finisher) affordable(r *pack.Run, alt int32) bool {
	c := f.c
	if c.space.Cap == nil {
		return true
	}
	dims := c.space.Dims
	pool := int(c.rows[r.Row].pool)
	for d := range dims {
		if more := c.space.Cap[int(alt)*dims+d] - r.Charge[d]; more > 0 && more > f.share[pool*dims+d] {
			return false
		}
	}
	return true
}

// limitShares divides what is left of each limit over the pool's launches, so that all of them
// may fall back at once; or lets each have all of it, if the caller said that one at a time is enough.
func (f *finisher) limitShares() {
	s := &f.c.space
	if s.Cap == nil {
		return
	}
	left, _ := s.Left(f.a.result)
	f.share = left
	count := make([]int64, len(f.c.p.Pools))
	for i := range f.a.result.Runs {
		r := &f.a.result.Runs[i]
		count[s.Pool[r.Row]] += int64(r.Mult)
	}
	for p, n := range count {
		for d := range s.Dims {
			if v := &left[p*s.Dims+d]; *v != pack.Unlimited && n > 1 && f.c.opts.Limits == LimitAllFallbacks {
				*v /= n
			}
		}
	}
}

// keepTypes picks the types to keep: first those that minValues need, then the cheapest.
func (f *finisher) keepTypes(r *pack.Run, s *Shape, cheapest map[int32]int64) map[int32]bool {
	limit := f.c.opts.MaxAlternatives
	if limit <= 0 {
		limit = 60
	}
	keep := map[int32]bool{s.Choice.Type: true}
	names := f.c.p.Pools[s.Pool].InstanceTypes
	order := make([]int32, 0, len(cheapest))
	for t := range cheapest {
		order = append(order, t)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(cheapest[a], cheapest[b]), cmp.Compare(names[a].Name, names[b].Name))
	})
	f.keepForMinValues(r, s, order, keep)
	for _, t := range order {
		if len(keep) >= limit {
			break
		}
		keep[t] = true
	}
	return keep
}

func (f *finisher) keepForMinValues(r *pack.Run, s *Shape, order []int32, keep map[int32]bool) {
	c := f.c
	rowOf := map[int32]int32{}
	for _, h := range f.holders {
		rowOf[c.rows[h.Row].typ] = h.Row
	}
	for k := range c.space.MinValues {
		mv := &c.space.MinValues[k]
		if mv.Pool != s.Pool {
			continue
		}
		seen := map[int32]bool{}
		for t := range keep {
			if v := mv.Value[rowOf[t]]; v >= 0 {
				seen[v] = true
			}
		}
		for _, t := range order {
			if v := mv.Value[rowOf[t]]; len(seen) < mv.Need && v >= 0 && !seen[v] {
				seen[v], keep[t] = true, true
			}
		}
		if len(seen) < mv.Need {
			if s.MinValues == nil {
				s.MinValues = map[string]int{}
			}
			s.MinValues[c.minKeys[mv.Key]] = len(seen)
		}
	}
}

// relaxations lists the preferences that pods did without.
func (f *finisher) relaxations() {
	keys := make([][2]int32, 0, len(f.relaxed))
	for k := range f.relaxed {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [2]int32) int {
		return cmp.Or(cmp.Compare(f.c.classes[a[0]].key, f.c.classes[b[0]].key), cmp.Compare(a[1], b[1]))
	})
	for _, k := range keys {
		rel := Relaxation{Pods: f.relaxed[k], Given: f.c.variant(&jobInfo{class: k[0], variant: k[1]}).given}
		f.plan.Relaxed = append(f.plan.Relaxed, rel)
	}
}

// totals sums up and computes the bound.
func (f *finisher) totals() {
	p, s := f.plan, &f.c.space
	p.Totals.Price = PriceFromNano(f.a.result.Price)
	p.Totals.Nodes = len(p.Launches)
	p.Totals.Pods = len(p.Placements)
	for i := range p.Launches {
		p.Totals.Pods += len(p.Launches[i].Pods)
	}
	p.Totals.Unplaced, p.Totals.NotEvaluated = len(p.Unplaced), len(p.NotEvaluated)
	p.Totals.LowerBound = PriceFromNano(min(s.Bound(f.demands()), f.a.result.Price))
	p.Stats.Classes, p.Stats.Columns, p.Stats.Packing = len(f.c.classes), len(s.Offer), f.a.name
	shapes := map[string]bool{}
	for i := range f.c.classes {
		shapes[f.c.classes[i].shapeKey] = true
	}
	p.Stats.Shapes = len(shapes)
}

// demands sums up what the placed pods ask for, apart by mask and by resources that not every type has.
func (f *finisher) demands() []pack.Demand {
	var out []pack.Demand
	at := map[string]int{}
	for _, id := range f.c.order {
		cl := &f.c.classes[id]
		if f.taken[id] == 0 {
			continue
		}
		con := &f.c.constraints[cl.constraint]
		v := &con.variants[len(con.variants)-1]
		key := fmt.Sprint(v.maskID, cl.req[usualDims:])
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, pack.Demand{Mask: f.c.withScarce(v.mask, cl.req), Amount: make([]float64, f.c.space.Dims)})
		}
		for d, q := range cl.req {
			out[i].Amount[d] += float64(q) * float64(f.taken[id])
		}
	}
	return out
}

// withScarce is the part of the mask with enough of the resources that are not on every node.
func (c *compiler) withScarce(m pack.Mask, req []int64) pack.Mask {
	if !slices.ContainsFunc(req[usualDims:], func(q int64) bool { return q > 0 }) {
		return m
	}
	m = slices.Clone(m)
	for r := range m {
		if !fits(c.space.AllocOf(r)[usualDims:], req[usualDims:]) {
			m[r] = 0
		}
	}
	return m
}
