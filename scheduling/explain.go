package scheduling

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// leftOver lists the pods that have no node, with one reason record per class.
func (f *finisher) leftOver() {
	memo := map[string]Reason{}
	for _, id := range f.c.order {
		cl := &f.c.classes[id]
		left := cl.pods[f.taken[id]:]
		if len(left) == 0 {
			continue
		}
		if f.partial && (f.c.someRowHolds(id) || f.c.someNodeHolds(id)) {
			f.plan.NotEvaluated = append(f.plan.NotEvaluated, left...)
			continue
		}
		r, ok := memo[cl.shapeKey]
		if !ok || f.special(id) {
			r = f.explain(id)
			if !f.special(id) {
				memo[cl.shapeKey] = r
			}
		}
		for _, p := range left {
			f.plan.Unplaced = append(f.plan.Unplaced, Unplaced{Pod: p, Reason: int32(len(f.plan.Reasons))})
		}
		f.plan.Reasons = append(f.plan.Reasons, r)
	}
	f.c.sortPods(f.plan.NotEvaluated)
	unplaced := make([]int32, len(f.plan.Unplaced))
	reasons := map[int32]int32{}
	for i, u := range f.plan.Unplaced {
		unplaced[i], reasons[u.Pod] = u.Pod, u.Reason
	}
	f.c.sortPods(unplaced)
	for i, p := range unplaced {
		f.plan.Unplaced[i] = Unplaced{Pod: p, Reason: reasons[p]}
	}
}

// special reports whether more than the class's shape decides why it was left over.
func (f *finisher) special(id int32) bool {
	return f.c.classes[id].refused != nil || f.o.board != nil && f.c.model.Linked(id) || f.o.excluded[id]
}

// explain finds the one primary cause for which pods of the class were left over.
func (f *finisher) explain(id int32) Reason {
	c := f.c
	cl := &c.classes[id]
	k := &c.constraints[cl.constraint]
	switch {
	case cl.refused != nil:
		return *cl.refused
	case k.fault != "":
		return Reason{Code: CodeInvalid, Detail: k.fault}
	case f.o.excluded[id] || cl.gang >= 0 && f.c.gangs[cl.gang].placed(f.o.left, f.c) == 0 && (c.someRowHolds(id) || c.someNodeHolds(id)):
		return f.explainGang(id)
	}
	if f.o.board != nil && c.model.Linked(id) {
		if r, ok := f.explainCompany(id); ok {
			return r
		}
	}
	if r, ok := f.explainReserved(id); ok {
		return r
	}
	if c.someRowHolds(id) {
		return f.explainSupply(id)
	}
	return c.nearest(cl, k)
}

// explainReserved is for pods that may buy nothing but what draws on reservations and commitments.
func (f *finisher) explainReserved(id int32) (Reason, bool) {
	c := f.c
	if c.space.Reservation == nil || !c.someRowHolds(id) {
		return Reason{}, false
	}
	rest := c.space.Rest(f.o.result)
	var first *Offering
	for i, m := range c.lastVariant(id).Mask {
		for bit := range c.rows[i].offerings {
			if m>>bit&1 == 0 || !fits(c.space.AllocOf(i), c.classes[id].req) {
				continue
			}
			o := &c.rows[i].t.Offerings[c.rows[i].offerings[bit]]
			if o.finite() == (finite{}) || rest.Open(int32(i), 1<<bit) != 0 {
				return Reason{}, false
			}
			if first == nil {
				first = o
			}
		}
	}
	if first == nil {
		return Reason{}, false
	}
	return c.takenBy(first), true
}

// someRowHolds reports whether a pod of the class could have a new node of its own.
func (c *compiler) someRowHolds(id int32) bool {
	cl := &c.classes[id]
	if cl.refused != nil || c.constraints[cl.constraint].fault != "" {
		return false
	}
	v, req := c.lastVariant(id), c.alone(cl)
	for i := range c.rows {
		if v.Mask[i] != 0 && fits(c.space.AllocOf(i), req) {
			return true
		}
	}
	return false
}

func fits(alloc, req []int64) bool {
	for d, q := range req {
		if q > 0 && q > alloc[d] {
			return false
		}
	}
	return true
}

// explainSupply is for pods that some type would hold: a limit or minValues stands in the way.
func (f *finisher) explainSupply(id int32) Reason {
	c := f.c
	j := &pack.Job{Mask: c.lastVariant(id).Mask, Req: c.classes[id].req}
	left, nodes := c.space.Left(f.o.result)
	var best Reason
	bestShort := int64(0)
	for i := range c.rows {
		if j.Mask[i] == 0 || !fits(c.space.AllocOf(i), j.Req) || left == nil {
			continue
		}
		pool, dims := int(c.rows[i].pool), c.space.Dims
		p := &c.p.Pools[pool]
		if nodes[pool] <= 0 {
			limit := p.Limits[NodesResource]
			return Reason{Code: CodeLimit, Nearest: Nearest{Pool: p.Name, Type: c.rows[i].t.Name, Resource: NodesResource, Wanted: 1, Available: max(nodes[pool], 0)},
				Change: Change{Kind: ChangeLimit, Pool: p.Name, Resource: NodesResource, Amount: limit.Value() - nodes[pool] + 1}}
		}
		for d := range dims {
			want, have := c.space.Cap[i*dims+d], left[pool*dims+d]
			if have == pack.Unlimited || want <= have {
				continue
			}
			if best.Code == "" || want-have < bestShort {
				q := p.Limits[c.dims[d]]
				bestShort = want - have
				best = Reason{Code: CodeLimit, Nearest: Nearest{Pool: p.Name, Type: c.rows[i].t.Name, Resource: c.dims[d], Wanted: want, Available: max(have, 0)},
					Change: Change{Kind: ChangeLimit, Pool: p.Name, Resource: c.dims[d], Amount: amountOf(c.dims[d], &q) + want - have}}
			}
		}
	}
	if best.Code != "" {
		for k := range c.space.MinValues {
			if c.p.Pools[c.space.MinValues[k].Pool].Name == best.Nearest.Pool {
				best.Change = Change{} // the limit must also leave room for the types that minValues want
			}
		}
		return best
	}
	return f.explainMinValues(j)
}

func (f *finisher) explainMinValues(j *pack.Job) Reason {
	c := f.c
	for k := range c.space.MinValues {
		mv := &c.space.MinValues[k]
		seen := map[int32]bool{}
		for i := range c.rows {
			if c.rows[i].pool == mv.Pool && j.Mask[i] != 0 && mv.Value[i] >= 0 && fits(c.space.AllocOf(i), j.Req) {
				seen[mv.Value[i]] = true
			}
		}
		if len(seen) > 0 && len(seen) < mv.Need {
			pool, key := c.p.Pools[mv.Pool].Name, c.minKeys[mv.Key]
			return Reason{Code: CodeMinValues, Nearest: Nearest{Pool: pool, Requirement: key, Wanted: int64(mv.Need), Available: int64(len(seen))},
				Change: Change{Kind: ChangeMinValues, Pool: pool, Key: key, Amount: int64(len(seen))}}
		}
	}
	return Reason{Code: CodeLimit, Detail: "no pool may launch what is needed"}
}

// someNodeHolds reports whether a pod of the class could go to an existing node as it is.
func (c *compiler) someNodeHolds(id int32) bool {
	k := &c.constraints[c.classes[id].constraint]
	if c.classes[id].refused != nil || k.fault != "" {
		return false
	}
	v := c.lastVariant(id)
	for i := range c.nodes {
		if v.Has(i) && fits(c.nodes[i].free, c.classes[id].req) {
			return true
		}
	}
	return false
}

// A miss is what keeps a pod from one type of one pool, under one term of its affinity.
type miss struct {
	reason Reason
	// edits is how many things would have to change, rank how hard the change is to make, and
	// short how far off it is, in millionths.
	edits, rank int
	short       int64
}

func (m *miss) less(n *miss) bool {
	return cmp.Or(cmp.Compare(m.edits, n.edits), cmp.Compare(m.rank, n.rank), cmp.Compare(m.short, n.short)) < 0
}

// nearest looks through every type of every pool for the one that came closest.
func (c *compiler) nearest(cl *class, k *constraint) Reason {
	var best *miss
	pools := make([]int, len(c.p.Pools))
	for i := range pools {
		pools[i] = i
	}
	slices.SortFunc(pools, func(a, b int) int {
		return cmp.Or(cmp.Compare(c.p.Pools[b].Weight, c.p.Pools[a].Weight), strings.Compare(c.p.Pools[a].Name, c.p.Pools[b].Name))
	})
	terms := k.variants[len(k.variants)-1].terms
	x := candidate{cl: cl, k: k, req: c.alone(cl)}
	for _, pi := range pools {
		if !c.launches[pi] {
			continue
		}
		x.pool, x.sets = int32(pi), c.poolSets(&c.p.Pools[pi])
		for _, t := range byTypeName(c.p.Pools[pi].InstanceTypes) {
			x.t = t
			x.alloc, x.overhead = c.roomOf(&x)
			for _, term := range terms {
				for _, volumes := range cl.placesOfVolumes() {
					x.term, x.volumes = term, volumes
					if m := c.miss(&x); best == nil || m.less(best) {
						best = m
					}
				}
			}
		}
	}
	if best == nil {
		detail := "no pool has instance types"
		switch {
		case len(c.p.Pools) == 0:
			detail = "there is no pool"
		case !slices.Contains(c.launches, true):
			detail = "no pool may launch nodes (Options.Pools)"
		case len(terms) == 0:
			return Reason{Code: CodeInvalid, Detail: "its required node affinity has no term that any node could match"}
		}
		return Reason{Code: CodeNoPool, Detail: detail}
	}
	return best.reason
}

func byTypeName(types []*InstanceType) []*InstanceType {
	out := slices.Clone(types)
	slices.SortStableFunc(out, func(a, b *InstanceType) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// candidate is a type of a pool that a pod might have used.
type candidate struct {
	cl   *class
	k    *constraint
	pool int32
	sets map[string]ValueSet
	t    *InstanceType
	// req is what the pod asks for, shared volumes included; alloc what the type offers to pods, less what
	// DaemonSets take, which is overhead.
	req, alloc, overhead []int64
	// term and volumes are one alternative each of what the pod and its volumes ask of labels.
	term, volumes []int32
}

// miss lists what is wrong with a candidate; the first thing found is the one reported.
func (c *compiler) miss(x *candidate) *miss {
	m := &miss{}
	at := Nearest{Pool: c.p.Pools[x.pool].Name, Type: x.t.Name}
	note := func(rank int, short int64, r Reason) {
		r.Nearest.Pool, r.Nearest.Type = at.Pool, at.Type
		if m.edits == 0 || rank < m.rank {
			m.reason = r
		}
		m.edits++
		m.rank = max(m.rank, rank)
		m.short += short
	}
	c.missOffering(x, note)
	c.missResource(x, note)
	c.missTaint(x, note)
	c.missLabels(x, note)
	c.missVolumes(x, note)
	if m.edits != 1 {
		m.reason.Change = Change{} // no single edit would do
	}
	if m.edits == 0 {
		c.missRest(x, note)
	}
	return m
}

type noteFunc func(rank int, short int64, r Reason)

func (c *compiler) missTaint(x *candidate, note noteFunc) {
	if t := tolerated(c.p.Pools[x.pool].Taints, x.k.tolerations, false); t != nil {
		note(4, 0, Reason{Code: CodeTaint, Nearest: Nearest{Taint: t.ToString()}, Change: Change{Kind: ChangeToleration, Taint: t}})
	}
}

func (c *compiler) missResource(x *candidate, note noteFunc) {
	alloc, overhead := x.alloc, x.overhead
	for d, q := range x.req {
		if q <= 0 || q <= alloc[d] {
			continue
		}
		if c.attachDim[d] {
			c.missAttachment(x, d, note)
			continue
		}
		rank, name := 2, c.dims[d]
		if alloc[d] <= 0 {
			rank = 8 // the type does not have it at all
		}
		short := (q - max(alloc[d], 0)) * 1000 / q * 1000
		note(rank, short, Reason{Code: CodeResource,
			Nearest: Nearest{Resource: name, Wanted: q + overhead[d], Available: max(alloc[d]+overhead[d], 0)},
			Change:  Change{Kind: ChangeRequest, Resource: name, Amount: max(alloc[d], 0)}})
	}
}

// missLabels compares labels that the offering does not decide.
func (c *compiler) missLabels(x *candidate, note noteFunc) {
	for _, key := range sortedKeys(x.sets) {
		if s, ok := c.typeSet(x.t, key); ok && s.Intersect(x.sets[key]).Empty() {
			v, _ := s.Any()
			m := Reason{Code: CodeRequirement,
				Nearest: Nearest{Requirement: key + " " + x.sets[key].String(), Have: s.String()}, Detail: "the pool's own requirement",
				Change: Change{Kind: ChangePool, Pool: c.p.Pools[x.pool].Name, Key: key, Value: v}}
			// The pool does not have this type at all, so anything that keeps a pod from one that it
			// has is nearer; unless this is the only thing wrong.
			note(9, 0, m)
		}
	}
	for _, a := range x.term {
		at := &c.atoms[a]
		if len(x.t.Offerings) > 0 {
			if _, decided := offeringValue(&x.t.Offerings[0], at.key); decided {
				continue
			}
		}
		r := row{pool: x.pool, t: x.t}
		have := c.labelSet(&r, x.sets, at.key)
		if at.key == nodeNameKey {
			have = Values(newNode)
		}
		if !have.Intersect(at.set).Empty() {
			continue
		}
		reason := Reason{Code: CodeRequirement, Nearest: Nearest{Requirement: at.key + " " + at.set.String(), Have: strings.ReplaceAll(have.String(), strconv.Quote(newNode), "a new name")}}
		v, _ := have.Any()
		if v != newNode {
			reason.Change = Change{Kind: ChangeRequirement, Key: at.key, Value: v}
		}
		rank := 5
		if t, ok := c.typeSet(x.t, at.key); ok && !t.Intersect(at.set).Empty() {
			// The type has it; the pool's own requirements stand in the way.
			want, _ := t.Intersect(at.set).Any()
			reason.Change, rank = Change{Kind: ChangePool, Pool: c.p.Pools[x.pool].Name, Key: at.key, Value: want}, 6
		}
		note(rank, 0, reason)
	}
}

// missOffering looks for an offering with the right labels that is available and priced.
func (c *compiler) missOffering(x *candidate, note noteFunc) {
	var near *Offering
	var nearWrong []int32
	wrongBest := 1 << 30
	for i := range x.t.Offerings {
		o := &x.t.Offerings[i]
		if !c.offeringFits(o, x.t, x.sets) {
			continue
		}
		wrong := c.wrongOn(o, x.term)
		// What the pod asks for is easier to change than where its volumes are, so where both cannot be had the volumes
		// are what to tell of.
		cost := len(wrong)*8 + len(c.wrongOn(o, x.volumes))*7 + b2i(o.Unavailable)*4 + b2i(c.spent(o))*2 + b2i(!o.Price.Known())
		if cost < wrongBest || cost == wrongBest && offeringLess(o, near) {
			near, nearWrong, wrongBest = o, wrong, cost
		}
	}
	if near == nil {
		note(7, 0, Reason{Code: CodeOffering, Detail: "the pool's requirements leave the type no offering"})
		return
	}
	for _, a := range c.wrongOn(near, x.volumes) {
		v, _ := offeringValue(near, c.atoms[a].key)
		note(5, 0, c.volumesElsewhere(a, v, near.Zone))
	}
	for _, a := range nearWrong {
		at := &c.atoms[a]
		v, _ := offeringValue(near, at.key)
		note(5, 0, Reason{Code: CodeRequirement, Nearest: Nearest{Requirement: at.key + " " + at.set.String(), Have: v, Zone: near.Zone},
			Change: Change{Kind: ChangeRequirement, Key: at.key, Value: v}})
	}
	switch change := (Change{Kind: ChangeOffering, Type: x.t.Name, Zone: near.Zone}); {
	case near.Unavailable:
		note(0, 0, Reason{Code: CodeOffering, Nearest: Nearest{Zone: near.Zone}, Change: change})
	case c.spent(near):
		note(0, 0, c.takenBy(near))
	case !near.Price.Known():
		note(0, 0, Reason{Code: CodePrice, Nearest: Nearest{Zone: near.Zone}, Change: change})
	}
}

func offeringLess(a, b *Offering) bool {
	return b == nil || cmp.Or(strings.Compare(a.Zone, b.Zone), strings.Compare(a.CapacityType, b.CapacityType),
		strings.Compare(labelsKey(a.Labels), labelsKey(b.Labels))) < 0
}
