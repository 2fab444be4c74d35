package scheduling

import (
	"cmp"
	"encoding/binary"
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
	// prices are, by pool, its offerings from the cheapest on; priced are those of the pool under way, holds what of each
	// row could hold the run, last the last such row of each type, plus 1.
	prices [][]option
	priced []option
	holds  []uint64
	last   []int32
	// held is by shape; alloc is scratch memory of forAll.
	held  []held
	alloc []int64
	// partial is set if the step budget ran out; budget is what it has left.
	partial bool
	budget  *pack.Budget
}

// finish writes the plan of an outcome.
func (c *compiler) finish(o *outcome, budget *pack.Budget) *Plan {
	f := &finisher{c: c, o: o, jobs: o.jobs, taken: make([]int32, len(c.classes)), relaxed: map[[2]int32][]int32{},
		shapes: map[string]int32{}, partial: budget.Out(), budget: budget.Rest()}
	f.plan = &Plan{problem: c.p, Options: *c.opts, Catalog: c.p.Catalog, Digest: c.digest()}
	f.plan.Options.Progress, f.plan.Options.First, f.plan.Options.Parallelism = nil, nil, 0
	f.hand()
	f.limitShares()
	f.onNodes()
	f.launches()
	f.leftOver()
	f.relaxations()
	f.splitPrices()
	f.totals()
	f.use()
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
	s.Why.Binding, s.Why.Used = f.binding(r.Row, used)
	f.plan.Shapes, f.held = append(f.plan.Shapes, s), append(f.held, held{r.Row, r.Used, used})
	return int32(len(f.plan.Shapes) - 1)
}

// binding is the resource of which the node has least left, and its use in percent by pods and DaemonSets.
func (f *finisher) binding(row int32, used []int64) (name corev1.ResourceName, percent int) {
	most := -1.0
	for d, a := range f.forAll(row) {
		if a > 0 && a < pack.Unlimited {
			if u := float64(used[d]) / float64(a); u > most {
				most, name, percent = u, f.c.dims[d], percentOf(used[d], a, down)
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
	p.Totals.LowerBound = PriceFromNano(min(max(f.bound(), f.o.proven), f.o.result.Price))
	p.BoundLeavesOut = f.leavesOut()
	p.Stats.Classes, p.Stats.Columns, p.Stats.Packing = len(f.c.classes), len(s.Offer), f.o.name
	shapes := map[string]bool{}
	for i := range f.c.classes {
		shapes[f.c.classes[i].shapeKey] = true
	}
	p.Stats.Shapes = len(shapes)
}
