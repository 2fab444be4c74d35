package scheduling

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// row is an instance type in a pool, with the offerings that have the same DaemonSets.
type row struct {
	pool, typ int32
	t         *InstanceType
	// offerings of t by bit: cheapest first.
	offerings []int32
	prices    []int64
	daemons   []int32 // indexes of compiler.daemons
	// fixed narrows labels that the pool leaves open where a DaemonSet asks for one of their values:
	// the row is then one of several, and each knows which DaemonSets it runs.
	fixed []keySet
}

// readRows lists what can be bought and evaluates every condition on it.
func (c *compiler) readRows() {
	c.listRows()
	c.listDomains()
	c.evaluateAtoms()
	c.splitByDaemons()
	c.vectors()
	c.tiers()
	c.limits()
	c.openStates()
	c.minValues()
	c.reserve()
}

// listRows makes a row of every type and pool that agree, in the order of names.
func (c *compiler) listRows() {
	pools := make([]int32, len(c.p.Pools))
	for i := range pools {
		pools[i] = int32(i)
	}
	slices.SortFunc(pools, func(a, b int32) int { return strings.Compare(c.p.Pools[a].Name, c.p.Pools[b].Name) })
	c.perHour = map[string]bool{}
	for i := range c.p.Commitments {
		if k := &c.p.Commitments[i]; k.PerHour.known {
			c.perHour[k.Name] = true
		}
	}
	c.left = c.finiteLeft()
	for _, pi := range pools {
		if !c.launches[pi] {
			continue
		}
		sets := c.poolSets(&c.p.Pools[pi])
		keys := sortedKeys(sets)
		flexible := slices.ContainsFunc(keys, func(k string) bool { return sets[k].MinValues() > 1 })
		for ti, t := range c.p.Pools[pi].InstanceTypes {
			if c.typeFits(keys, sets, t) {
				c.addRows(row{pool: pi, typ: int32(ti), t: t}, sets, flexible)
			}
		}
	}
	c.splitByLabels()
	slices.SortStableFunc(c.rows, func(a, b row) int { return strings.Compare(a.t.Name, b.t.Name) })
}

// splitByLabels gives each value of an open label that a DaemonSet asks for rows of its own.
func (c *compiler) splitByLabels() {
	wanted := map[string][]string{}
	for d := range c.daemons {
		for _, term := range c.constraints[c.daemons[d].constraint].terms {
			for _, a := range term {
				wanted[c.atoms[a].key] = append(wanted[c.atoms[a].key], c.atoms[a].set.values...)
			}
		}
	}
	sets := c.allPoolSets()
	for _, key := range sortedKeys(wanted) {
		slices.Sort(wanted[key])
		values := slices.Compact(wanted[key])
		var out []row
		for _, r := range c.rows {
			out = append(out, c.piecesOf(&r, sets[r.pool], key, values)...)
		}
		c.rows = out
	}
}

// piecesOf divides a row by the values of a label, if the label is open on it.
func (c *compiler) piecesOf(r *row, sets map[string]ValueSet, key string, values []string) []row {
	have := c.labelSet(r, sets, key)
	if _, decided := offeringValue(&r.t.Offerings[r.offerings[0]], key); decided || c.known[key] || key == corev1.LabelHostname {
		return []row{*r}
	}
	if all, finite := have.Finite(); finite && len(all)+b2i(have.HasAbsent()) <= 1 {
		return []row{*r}
	}
	var out []row
	add := func(s ValueSet) {
		if s = have.Intersect(s); !s.Empty() {
			piece := *r
			piece.fixed = append(slices.Clone(r.fixed), keySet{key, s})
			out = append(out, piece)
		}
	}
	rest := ValueSet{absent: true, all: true, values: values}
	add(rest)
	for _, v := range values {
		add(Values(v))
	}
	return out
}

// poolSets is what a pool says of each label.
func (c *compiler) poolSets(p *Pool) map[string]ValueSet {
	sets := map[string]ValueSet{c.rules.Key(PoolLabel): Values(p.Name)}
	narrow := func(key string, s ValueSet) {
		if have, ok := sets[key]; ok {
			s = have.Intersect(s)
		}
		sets[key] = s
	}
	for k, v := range p.Labels {
		narrow(c.rules.Key(k), Values(c.rules.Value(c.rules.Key(k), v)))
	}
	for _, r := range p.Requirements {
		r = c.rules.apply(r)
		if s, err := ParseRequirement(r); err == nil { // check has reported the others
			narrow(r.Key, s)
		}
	}
	return sets
}

func offeringValue(o *Offering, key string) (string, bool) {
	switch key {
	case corev1.LabelTopologyZone:
		return o.Zone, o.Zone != ""
	case CapacityTypeLabel:
		return o.CapacityType, o.CapacityType != ""
	}
	v, ok := o.Labels[key]
	return v, ok
}

// typeSet is what a type says of a label; false: nothing.
func (c *compiler) typeSet(t *InstanceType, key string) (ValueSet, bool) {
	return c.factsOf(t).of(c, t, key)
}

// typeFacts remembers what a type says of the labels that were asked for.
type typeFacts struct {
	sets []keySet
	has  []bool
}

func (c *compiler) factsOf(t *InstanceType) *typeFacts {
	f := c.types[t]
	if f == nil {
		f = &typeFacts{}
		c.types[t] = f
	}
	return f
}

func (f *typeFacts) of(c *compiler, t *InstanceType, key string) (ValueSet, bool) {
	for i := range f.sets {
		if f.sets[i].key == key {
			return f.sets[i].set, f.has[i]
		}
	}
	s, ok := c.readTypeSet(t, key)
	f.sets, f.has = append(f.sets, keySet{key, s}), append(f.has, ok)
	return s, ok
}

func (c *compiler) readTypeSet(t *InstanceType, key string) (ValueSet, bool) {
	var out ValueSet
	found, aliased := false, c.aliased[key]
	for i := range t.Requirements {
		r := &t.Requirements[i]
		if r.Key != key && (!aliased || c.rules.Key(r.Key) != key) {
			continue
		}
		s, ok := c.parsed(key, r)
		if !ok {
			continue
		}
		if found {
			s = out.Intersect(s)
		}
		out, found = s, true
	}
	if !found && key == corev1.LabelInstanceTypeStable {
		return Values(t.Name), true
	}
	return out, found
}

// parsed is a type's requirement as a set. Many types say the same of a label, so the last set is remembered.
func (c *compiler) parsed(key string, r *Requirement) (ValueSet, bool) {
	last := c.lastSets[key]
	if last.r != nil && last.r.Key == r.Key && last.r.Operator == r.Operator && last.r.MinValues == r.MinValues && slices.Equal(last.r.Values, r.Values) {
		return last.set, true
	}
	s, err := ParseRequirement(c.rules.apply(*r))
	if err == nil {
		c.lastSets[key] = lastSet{r, s}
	}
	return s, err == nil
}

type lastSet struct {
	r   *Requirement
	set ValueSet
}

func (c *compiler) typeFits(keys []string, sets map[string]ValueSet, t *InstanceType) bool {
	for _, k := range keys {
		if s, ok := c.typeSet(t, k); ok && s.Intersect(sets[k]).Empty() {
			return false
		}
	}
	return true
}

// addRows adds the type's usable offerings, 64 to a row. Those of reservations and commitments that are used up are none.
// Nor is what would not be an alternative to other launches, if the pool wants to be flexible: reservations, and what is
// offered under a commitment only.
func (c *compiler) addRows(r row, sets map[string]ValueSet, flexible bool) {
	t := r.t
	use := make([]int32, 0, len(t.Offerings))
	for i := range t.Offerings {
		o := &t.Offerings[i]
		if o.Unavailable || !o.Price.Known() || c.spent(o) || flexible && !plainly(t, o) {
			continue
		}
		if c.offeringFits(o, t, sets) {
			use = append(use, int32(i))
		}
	}
	slices.SortStableFunc(use, func(a, b int32) int { return compareOfferings(&t.Offerings[a], &t.Offerings[b]) })
	for part := range slices.Chunk(use, 64) {
		r := row{pool: r.pool, typ: r.typ, t: t, offerings: part}
		for _, i := range part {
			r.prices = append(r.prices, t.Offerings[i].Price.nano)
		}
		c.rows = append(c.rows, r)
	}
}

// plainly reports whether the offering can be had without anything finite.
func plainly(t *InstanceType, o *Offering) bool {
	if o.Commitment == "" {
		return o.Reservation == ""
	}
	return slices.ContainsFunc(t.Offerings, func(x Offering) bool {
		return x.Commitment == "" && !x.Unavailable && x.Price.Known() && samePurchase(&x, o)
	})
}

// compareOfferings orders the offerings of a type: by price, then by what names them.
func compareOfferings(x, y *Offering) int {
	if o := cmp.Or(cmp.Compare(x.Price.nano, y.Price.nano), strings.Compare(x.Zone, y.Zone), strings.Compare(x.CapacityType, y.CapacityType)); o != 0 {
		return o
	}
	return cmp.Or(strings.Compare(labelsKey(x.Labels), labelsKey(y.Labels)), strings.Compare(x.Reservation, y.Reservation), strings.Compare(x.Commitment, y.Commitment),
		cmp.Compare(x.draws().nano, y.draws().nano))
}

func labelsKey(m map[string]string) string {
	var b strings.Builder
	for _, k := range sortedKeys(m) {
		b.WriteString(k + "=" + m[k] + "\x00")
	}
	return b.String()
}

// offeringFits reports whether the labels that an offering decides agree with pool and type.
func (c *compiler) offeringFits(o *Offering, t *InstanceType, sets map[string]ValueSet) bool {
	facts := c.factsOf(t)
	agree := func(key, v string) bool {
		if s, ok := sets[key]; ok && !s.Has(v) {
			return false
		}
		s, ok := facts.of(c, t, key)
		return !ok || s.Has(v)
	}
	if o.Zone != "" && !agree(corev1.LabelTopologyZone, o.Zone) || o.CapacityType != "" && !agree(CapacityTypeLabel, o.CapacityType) {
		return false
	}
	for k, v := range o.Labels {
		if !agree(c.rules.Key(k), v) {
			return false
		}
	}
	return true
}

// labelSet is what is known of a label on a new node of the row before an offering is chosen.
func (c *compiler) labelSet(r *row, sets map[string]ValueSet, key string) ValueSet {
	for _, f := range r.fixed {
		if f.key == key {
			return f.set
		}
	}
	s, ok := sets[key]
	if t, has := c.typeSet(r.t, key); has {
		if ok {
			t = t.Intersect(s)
		}
		s, ok = t, true
	}
	switch {
	case ok:
		return s
	case key == corev1.LabelHostname:
		return Values(newNode)
	case c.known[key]:
		return AnyValue()
	}
	return AbsentValue()
}

// splitByDaemons gives offerings of one type rows of their own where different DaemonSets run on them.
func (c *compiler) splitByDaemons() {
	if len(c.daemons) == 0 {
		return
	}
	for d := range c.daemons {
		k := &c.constraints[c.daemons[d].constraint]
		m := make(pack.Mask, len(c.rows))
		for _, term := range k.terms {
			for i, b := range c.termMask(k, term, true) {
				m[i] |= b
			}
		}
		c.daemons[d].mask = m
	}
	var out []row
	var from []int // the row each part came from
	var keep []uint64
	for i := range c.rows {
		r := &c.rows[i]
		left := ^uint64(0) >> (64 - len(r.offerings))
		for left != 0 {
			low := left & -left
			same, ds := left, []int32(nil)
			for d := range c.daemons {
				if m := c.daemons[d].mask[i]; m&low != 0 {
					same &= m
					ds = append(ds, int32(d))
				} else {
					same &^= m
				}
			}
			part := row{pool: r.pool, typ: r.typ, t: r.t, fixed: r.fixed, daemons: ds}
			for b := same; b != 0; b &= b - 1 {
				k := bits.TrailingZeros64(b)
				part.offerings = append(part.offerings, r.offerings[k])
				part.prices = append(part.prices, r.prices[k])
			}
			out, from, keep = append(out, part), append(from, i), append(keep, same)
			left &^= same
		}
	}
	c.rows = out
	for a := range c.atoms {
		m := make(pack.Mask, len(out))
		for i := range out {
			m[i] = squeeze(c.atoms[a].mask[from[i]], keep[i])
		}
		c.atoms[a].mask = m
	}
}

// squeeze packs the bits of m that keep selects together.
func squeeze(m, keep uint64) (out uint64) {
	for n := 0; keep != 0; n++ {
		b := keep & -keep
		if m&b != 0 {
			out |= 1 << n
		}
		keep &^= b
	}
	return out
}

// vectors fills in the kernel's numbers.
func (c *compiler) vectors() {
	s := &c.space
	s.Dims, s.Rows = len(c.dims), len(c.rows)
	s.Alloc = make([]int64, s.Dims*s.Rows)
	s.OfferStart = make([]int32, 1, s.Rows+1)
	memo := map[*InstanceType][]int64{}
	tmp := make([]int64, s.Dims)
	for i := range c.rows {
		r := &c.rows[i]
		v := memo[r.t]
		if v == nil {
			v = make([]int64, s.Dims)
			c.vector(r.t.Capacity, v)
			clear(tmp)
			c.vector(r.t.Overhead, tmp)
			for d := range v {
				v[d] = max(v[d]-tmp[d], 0)
				if _, ok := r.t.Capacity[c.dims[d]]; c.attachDim[d] && !ok {
					v[d] = pack.Unlimited
				}
			}
			memo[r.t] = v
		}
		alloc := s.Alloc[i*s.Dims : (i+1)*s.Dims]
		copy(alloc, v)
		for _, d := range r.daemons {
			for x, q := range c.daemons[d].req {
				if alloc[x] != pack.Unlimited {
					alloc[x] -= q
				}
			}
		}
		s.Pool, s.Type = append(s.Pool, r.pool), append(s.Type, r.typ)
		s.Offer = append(s.Offer, r.prices...)
		s.OfferStart = append(s.OfferStart, int32(len(s.Offer)))
	}
}

// tiers groups the pools by weight.
func (c *compiler) tiers() {
	byWeight := map[int32][]int32{}
	for i := range c.p.Pools {
		w := c.p.Pools[i].Weight
		byWeight[w] = append(byWeight[w], int32(i))
	}
	weights := make([]int32, 0, len(byWeight))
	for w := range byWeight {
		weights = append(weights, w)
	}
	slices.SortFunc(weights, func(a, b int32) int { return cmp.Compare(b, a) })
	for _, w := range weights {
		c.space.Tiers = append(c.space.Tiers, byWeight[w])
	}
}

// limits computes what each pool may still launch.
func (c *compiler) limits() {
	s := &c.space
	if !slices.ContainsFunc(c.p.Pools, func(p Pool) bool { return len(p.Limits) > 0 }) {
		return
	}
	s.Cap = make([]int64, s.Dims*s.Rows)
	for i := range c.rows {
		c.vector(c.rows[i].t.Capacity, s.Cap[i*s.Dims:(i+1)*s.Dims])
	}
	for i := range c.p.Pools {
		p := &c.p.Pools[i]
		left := slices.Repeat([]int64{pack.Unlimited}, s.Dims)
		for d, name := range c.dims {
			if q, ok := p.Limits[name]; ok {
				left[d] = amountOf(name, &q)
			}
		}
		nodes := pack.Unlimited
		if q, ok := p.Limits[NodesResource]; ok {
			nodes = q.Value()
		}
		for n := range c.p.Nodes {
			node := &c.p.Nodes[n]
			if node.Pool != p.Name {
				continue
			}
			if nodes != pack.Unlimited {
				nodes--
			}
			used := c.charged(node)
			for d := range left {
				if left[d] != pack.Unlimited {
					left[d] -= used[d]
				}
			}
		}
		s.Limits = append(s.Limits, left...)
		s.NodeLimit = append(s.NodeLimit, nodes)
	}
}

// minValues numbers the values that pools want several of.
func (c *compiler) minValues() {
	c.space.BestEffort = c.opts.MinValues == MinValuesBestEffort
	for pi := range c.p.Pools {
		sets := c.poolSets(&c.p.Pools[pi])
		for _, key := range sortedKeys(sets) {
			need := sets[key].MinValues()
			if need <= 1 {
				continue
			}
			mv := pack.MinValues{Pool: int32(pi), Need: need, Value: make([]int32, len(c.rows))}
			ids := map[string]int32{}
			for i := range c.rows {
				mv.Value[i] = -1
				if c.rows[i].pool != int32(pi) {
					continue
				}
				// Like the reference we count types by their label, not offerings.
				if s, ok := c.typeSet(c.rows[i].t, key); ok {
					if vals, finite := s.Finite(); finite && len(vals) > 0 {
						id, ok := ids[vals[0]]
						if !ok {
							id = int32(len(ids))
							ids[vals[0]] = id
						}
						mv.Value[i] = id
					}
				}
			}
			mv.Key = int32(len(c.minKeys))
			c.minKeys = append(c.minKeys, key)
			c.space.MinValues = append(c.space.MinValues, mv)
		}
	}
}
