package scheduling

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// finisher turns a packing into a plan.
type finisher struct {
	c    *compiler
	o    *outcome
	plan *Plan
	jobs []pack.Job
	// onNode and onRun are the pods that each existing node and each run gets; for runs of several nodes, node
	// after node.
	onNode, onRun [][]int32
	taken         []int32 // per class: how many of its pods are placed
	relaxed       map[[2]int32][]int32
	share         []int64 // per pool and resource: how much more than its choice a launch may charge
	holders       []pack.Holder
	// types are those of the holders, the cheapest first.
	types []ranked
	// shapes are those of runs that are alike.
	shapes map[string]int32
	// classOf is by pod, made when first asked for.
	classOf []int32
	// key and masks are scratch memory of shapeOf, opts and keep of alternatives.
	key   []byte
	masks []int32
	opts  []option
	keep  []bool
	// partial is set if the step budget ran out.
	partial bool
}

// finish writes the plan of an outcome.
func (c *compiler) finish(o *outcome, partial bool) *Plan {
	f := &finisher{c: c, o: o, jobs: o.jobs, taken: make([]int32, len(c.classes)), relaxed: map[[2]int32][]int32{},
		shapes: map[string]int32{}, partial: partial}
	f.plan = &Plan{problem: c.p, Options: *c.opts, Catalog: c.p.Catalog, Digest: c.digest()}
	f.plan.Options.Progress, f.plan.Options.First, f.plan.Options.Parallelism = nil, nil, 0
	f.hand()
	f.limitShares()
	f.onNodes()
	f.launches()
	f.leftOver()
	f.relaxations()
	f.totals()
	return f.plan
}

// hand gives every node its pods. Where pods mean something to each other it follows the order in which the
// board took them, which is the bind order.
func (f *finisher) hand() {
	res := f.o.result
	f.onNode, f.onRun = make([][]int32, len(res.OnNodes)), make([][]int32, len(res.Runs))
	if f.o.board == nil {
		for i, content := range res.OnNodes {
			for _, x := range content {
				f.onNode[i] = append(f.onNode[i], f.take(f.o.infos[x.Job].class, f.o.infos[x.Job].variant, x.Count, f.c.nodesRespect)...)
			}
		}
		f.handRuns()
		return
	}
	runs := f.o.runOf
	var order []int32
	f.o.board.Joins(func(node, class, variant, n int32) {
		row, _, _ := f.o.board.Node(int(node))
		pods := f.take(class, variant, n, f.respects(row))
		order = append(order, pods...)
		if int(node) < len(f.onNode) {
			f.onNode[node] = append(f.onNode[node], pods...)
		} else {
			f.onRun[runs[node]] = append(f.onRun[runs[node]], pods...)
		}
	})
	if len(f.c.model.Groups) > 0 {
		f.plan.BindOrder = order
	}
}

func (f *finisher) handRuns() {
	res := f.o.result
	total := int64(0)
	for i := range res.Runs {
		for _, x := range res.Runs[i].Content {
			total += int64(res.Runs[i].Mult) * int64(x.Count)
		}
	}
	store := make([]int32, 0, total)
	for i := range res.Runs {
		r := &res.Runs[i]
		from := len(store)
		for range r.Mult {
			for _, x := range r.Content {
				store = append(store, f.take(f.o.infos[x.Job].class, f.o.infos[x.Job].variant, x.Count, f.respects(r.Row))...)
			}
		}
		f.onRun[i] = store[from:len(store):len(store)]
	}
}

// respects reports whether preferences count on nodes of the row, or on existing ones if it is below 0.
func (f *finisher) respects(row int32) bool {
	if row < 0 {
		return f.c.nodesRespect
	}
	return f.c.poolRespects[f.c.rows[row].pool]
}

// take returns the next n pods of the class, which are placed under the variant on a node on which preferences count or not.
func (f *finisher) take(class, variant, n int32, respected bool) []int32 {
	cl := &f.c.classes[class]
	pods := cl.pods[f.taken[class] : f.taken[class]+n]
	f.taken[class] += n
	if respected && len(f.c.given(class, variant)) > 0 {
		k := [2]int32{class, variant}
		f.relaxed[k] = append(f.relaxed[k], pods...)
	}
	return pods
}

// given are the preferences that a variant of the class does without.
func (c *compiler) given(class, variant int32) []string {
	return c.shapes[c.model.Classes[class].Shape].given[variant]
}

func (f *finisher) onNodes() {
	for i, pods := range f.onNode {
		pods = slices.Clone(pods)
		f.c.sortPods(pods)
		for _, p := range pods {
			f.plan.Placements = append(f.plan.Placements, Placement{Pod: p, Node: f.c.nodes[i].index})
		}
	}
}

func (f *finisher) launches() {
	n := int64(0)
	for i := range f.o.result.Runs {
		n += int64(f.o.result.Runs[i].Mult)
	}
	f.plan.Launches = make([]Launch, 0, n)
	for i := range f.o.result.Runs {
		r := &f.o.result.Runs[i]
		shape := f.shapeOf(r)
		pods := f.onRun[i]
		each := len(pods) / int(r.Mult)
		for k := range int(r.Mult) {
			f.plan.Launches = append(f.plan.Launches, Launch{Shape: shape, Pods: pods[k*each : (k+1)*each : (k+1)*each]})
		}
	}
}

// shapeOf is the shape of a run; runs that hold the same, whatever the pods are called, share one.
func (f *finisher) shapeOf(r *pack.Run) int32 {
	if f.o.board == nil {
		return f.shape(r)
	}
	key := f.key[:0]
	word := func(v uint64) { key = binary.LittleEndian.AppendUint64(key, v) }
	word(uint64(uint32(r.Row)))
	word(r.Bits)
	for _, list := range [][]int64{r.Used, r.Charge} {
		word(uint64(len(list)))
		for _, v := range list {
			word(uint64(v))
		}
	}
	word(uint64(len(r.Open)))
	for _, v := range r.Open {
		word(uint64(uint32(v)))
	}
	f.masks = f.masks[:0]
	for _, x := range r.Content {
		if j := &f.jobs[x.Job]; len(j.Alternatives) > 0 {
			f.masks = append(f.masks, -1-x.Job)
		} else {
			f.masks = append(f.masks, j.MaskID)
		}
	}
	slices.Sort(f.masks)
	for _, m := range slices.Compact(f.masks) {
		word(uint64(uint32(m)))
	}
	f.key = key
	s, ok := f.shapes[string(key)]
	if !ok {
		s = f.shape(r)
		f.shapes[string(key)] = s
	}
	return s
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
		if q != 0 && !c.attachDim[x] {
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
		if a > 0 && a != pack.Unlimited {
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
		} else if !c.known[key] { // nobody has asked for a well-known one, so another type may have any value
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
	f.holders = f.sameReservation(r, c.space.Holders(f.distinct(r), f.jobs, f.holders[:0]))
	f.holders = slices.DeleteFunc(f.holders, func(h pack.Holder) bool {
		return h.Row != r.Row && (!f.affordable(r, h.Row) || !sameFixed(c.rows[h.Row].fixed, c.rows[r.Row].fixed))
	})
	f.rankTypes()
	s.Why.Candidates = len(f.types)
	for _, h := range f.holders {
		s.AlternativeCount += bits.OnesCount64(h.Bits)
	}
	keep := f.keepTypes(r, s)
	opts := f.opts[:0]
	for _, h := range f.holders {
		if !keep[c.rows[h.Row].typ] {
			continue
		}
		for b := h.Bits; b != 0; b &= b - 1 {
			bit := bits.TrailingZeros64(b)
			if f.o.board != nil && c.rows[h.Row].prices[bit] < s.Price.nano {
				continue // taking it would put other pods' constraints out of joint
			}
			opts = append(opts, option{h.Row, int32(bit), c.rows[h.Row].prices[bit]})
		}
	}
	f.opts = opts
	_, chosen := c.space.Price(int(r.Row), r.Bits)
	slices.SortFunc(opts, func(a, b option) int {
		if a.price != b.price {
			return cmp.Compare(a.price, b.price)
		}
		first := func(o option) int { return b2i(o.row != r.Row || int(o.bit) != chosen) }
		return cmp.Or(first(a)-first(b), int(a.row-b.row), int(a.bit-b.bit))
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

// distinct is the run with one content of each mask, since others admit nothing else.
func (f *finisher) distinct(r *pack.Run) *pack.Run {
	if f.c.space.OpenStart != nil || len(r.Content) < 3 {
		return r
	}
	out := *r
	out.Content = nil
	for _, x := range r.Content {
		if !slices.ContainsFunc(out.Content, func(y pack.Content) bool { return f.jobs[x.Job].MaskID == f.jobs[y.Job].MaskID }) {
			out.Content = append(out.Content, x)
		}
	}
	return &out
}

// sameReservation leaves the offerings of the reservation that the run holds, or those of none.
func (f *finisher) sameReservation(r *pack.Run, holders []pack.Holder) []pack.Holder {
	s := &f.c.space
	if s.Reservation == nil {
		return holders
	}
	want := s.ReservationOf(r.Row, r.Bits)
	out := holders[:0]
	for _, h := range holders {
		for left := h.Bits; left != 0; left &= left - 1 {
			if s.ReservationOf(h.Row, left&-left) != want {
				h.Bits &^= left & -left
			}
		}
		if h.Bits != 0 {
			out = append(out, h)
		}
	}
	return out
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
	left, _ := s.Left(f.o.result)
	f.share = left
	count := make([]int64, len(f.c.p.Pools))
	for i := range f.o.result.Runs {
		r := &f.o.result.Runs[i]
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

// ranked is a type that could hold a run, its least price, and a row of it.
type ranked struct {
	typ, row int32
	price    int64
}

// rankTypes lists the types of the holders, the cheapest first, names deciding. Rows are in the order of names.
func (f *finisher) rankTypes() {
	f.types = f.types[:0]
	for _, h := range f.holders {
		p, _ := f.c.space.Price(int(h.Row), h.Bits)
		typ := f.c.rows[h.Row].typ
		if n := len(f.types); n > 0 && f.types[n-1].typ == typ {
			f.types[n-1].price = min(f.types[n-1].price, p)
			f.types[n-1].row = h.Row
			continue
		}
		f.types = append(f.types, ranked{typ, h.Row, p})
	}
	slices.SortFunc(f.types, func(a, b ranked) int {
		if a.price != b.price {
			return cmp.Compare(a.price, b.price)
		}
		return int(a.row - b.row)
	})
}

// keepTypes picks the types to keep: first those that minValues need, then the cheapest.
func (f *finisher) keepTypes(r *pack.Run, s *Shape) []bool {
	limit := f.c.opts.MaxAlternatives
	if limit <= 0 {
		limit = 60
	}
	n := len(f.c.p.Pools[s.Pool].InstanceTypes)
	f.keep = slices.Grow(f.keep[:0], n)[:n]
	keep := f.keep
	clear(keep)
	keep[s.Choice.Type] = true
	kept := 1 + f.keepForMinValues(s, keep)
	for _, t := range f.types {
		if kept >= limit {
			break
		}
		if !keep[t.typ] {
			keep[t.typ] = true
			kept++
		}
	}
	return keep
}

func (f *finisher) keepForMinValues(s *Shape, keep []bool) (more int) {
	c := f.c
	for k := range c.space.MinValues {
		mv := &c.space.MinValues[k]
		if mv.Pool != s.Pool {
			continue
		}
		seen := map[int32]bool{}
		for _, t := range f.types {
			if v := mv.Value[t.row]; keep[t.typ] && v >= 0 {
				seen[v] = true
			}
		}
		for _, t := range f.types {
			if v := mv.Value[t.row]; len(seen) < mv.Need && v >= 0 && !seen[v] {
				seen[v] = true
				if !keep[t.typ] {
					keep[t.typ] = true
					more++
				}
			}
		}
		if len(seen) < mv.Need {
			if s.MinValues == nil {
				s.MinValues = map[string]int{}
			}
			s.MinValues[c.minKeys[mv.Key]] = len(seen)
		}
	}
	return more
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
		rel := Relaxation{Pods: f.relaxed[k], Given: f.c.given(k[0], k[1])}
		if cost, ok := f.o.costs[k[0]]; ok {
			rel.Cost = PriceFromNano(cost)
		}
		f.plan.Relaxed = append(f.plan.Relaxed, rel)
	}
}

// totals sums up and computes the bound.
func (f *finisher) totals() {
	p, s := f.plan, &f.c.space
	p.Totals.Price = PriceFromNano(f.o.result.Price)
	p.Totals.Nodes = len(p.Launches)
	p.Totals.Pods = len(p.Placements)
	for i := range p.Launches {
		p.Totals.Pods += len(p.Launches[i].Pods)
	}
	p.Totals.Unplaced, p.Totals.NotEvaluated = len(p.Unplaced), len(p.NotEvaluated)
	p.Totals.LowerBound = PriceFromNano(min(s.Bound(f.demands()), f.o.result.Price))
	p.Stats.Classes, p.Stats.Columns, p.Stats.Packing = len(f.c.classes), len(s.Offer), f.o.name
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
		v := f.c.lastVariant(id)
		key := binary.LittleEndian.AppendUint32(f.key[:0], uint32(v.MaskID))
		for _, q := range cl.req[usualDims:] {
			key = binary.LittleEndian.AppendUint64(key, uint64(q))
		}
		f.key = key
		i, ok := at[string(key)]
		if !ok {
			i = len(out)
			at[string(key)] = i
			out = append(out, pack.Demand{Mask: f.c.withScarce(v.Mask, cl.req), Amount: make([]float64, f.c.space.Dims)})
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
