package scheduling

import (
	"encoding/binary"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// evaluateConstraints computes the masks of every variant of every constraint.
func (c *compiler) evaluateConstraints() {
	for k := range c.constraints {
		c.vary(&c.constraints[k])
	}
}

// rowSets is what is known of a label on each row, found out when first asked for.
type rowSets struct {
	sets []ValueSet
	done []bool
}

func (c *compiler) haveOf(memo map[string]*rowSets, pools []map[string]ValueSet, row int, key string) ValueSet {
	m := memo[key]
	if m == nil {
		m = &rowSets{make([]ValueSet, len(c.rows)), make([]bool, len(c.rows))}
		memo[key] = m
	}
	if !m.done[row] {
		r := &c.rows[row]
		m.sets[row], m.done[row] = c.labelSet(r, pools[r.pool], key), true
	}
	return m.sets[row]
}

// evaluateAtoms finds, for every condition, the offerings that meet it, and which labels are open.
func (c *compiler) evaluateAtoms() {
	sets, memo := c.allPoolSets(), map[string]*rowSets{}
	for a := range c.atoms {
		at := &c.atoms[a]
		at.mask = make(pack.Mask, len(c.rows))
		for i := range c.rows {
			r := &c.rows[i]
			all := ^uint64(0) >> (64 - len(r.offerings))
			if at.daemonKnows() {
				at.mask[i] = all
				continue
			}
			m, decided := c.offeringMask(r, at)
			if decided {
				at.mask[i] = m
				continue
			}
			have := c.haveOf(memo, sets, i, at.key)
			both := have.Intersect(at.set)
			if both.Empty() {
				continue
			}
			at.mask[i] = all
			if !sameStates(both, have) {
				c.openKey(at)
			}
		}
	}
}

// sameStates compares sets regardless of minValues.
func sameStates(a, b ValueSet) bool {
	a.min, b.min = 0, 0
	return a.Equal(b)
}

func (c *compiler) openKey(at *atom) {
	if at.open >= 0 {
		return
	}
	k := slices.Index(c.openKeys, at.key)
	if k < 0 {
		k = len(c.openKeys)
		c.openKeys = append(c.openKeys, at.key)
	}
	at.openKey, at.open = int32(k), c.state(at.set)
}

// offeringMask evaluates a condition on a label that the offerings decide.
func (c *compiler) offeringMask(r *row, at *atom) (m uint64, decided bool) {
	for b, oi := range r.offerings {
		v, ok := offeringValue(&r.t.Offerings[oi], at.key)
		if !ok {
			continue
		}
		decided = true
		if at.set.Has(v) {
			m |= 1 << b
		}
	}
	return m, decided
}

func (c *compiler) allPoolSets() []map[string]ValueSet {
	out := make([]map[string]ValueSet, len(c.p.Pools))
	for i := range c.p.Pools {
		out[i] = c.poolSets(&c.p.Pools[i])
	}
	return out
}

func (c *compiler) state(s ValueSet) int32 {
	s.min = 0
	id := s.String()
	if i, ok := c.stateIDs[id]; ok {
		return i
	}
	i := int32(len(c.states))
	c.stateIDs[id] = i
	c.states = append(c.states, s)
	return i
}

// settle is the state that is left of one that nobody narrows further: see customLabels.
func (c *compiler) settle(a int32) int32 {
	c.stateLock.Lock()
	defer c.stateLock.Unlock()
	if v, ok := c.states[a].Any(); ok && !c.states[a].HasAbsent() {
		return c.state(Values(v))
	}
	return c.state(AbsentValue())
}

// meet intersects two interned states; -1: nothing is left.
func (c *compiler) meet(a, b int32) int32 {
	if a == b {
		return a
	}
	c.stateLock.Lock()
	defer c.stateLock.Unlock()
	if m, ok := c.meets[[2]int32{a, b}]; ok {
		return m
	}
	m := int32(-1)
	if s := c.states[a].Intersect(c.states[b]); !s.Empty() {
		m = c.state(s)
	}
	c.meets[[2]int32{a, b}] = m
	return m
}

// openStates records, per row, the state of every open label before any pod asks for a value.
func (c *compiler) openStates() {
	if len(c.openKeys) == 0 {
		return
	}
	sets := c.allPoolSets()
	c.space.OpenStart = make([][]int32, len(c.rows))
	c.space.Meet, c.space.Settle = c.meet, c.settle
	for i := range c.rows {
		for _, k := range c.openKeys {
			c.space.OpenStart[i] = append(c.space.OpenStart[i], c.state(c.labelSet(&c.rows[i], sets[c.rows[i].pool], k)))
		}
	}
}

// labelMask is where all the atoms hold.
func (c *compiler) labelMask(term []int32) pack.Mask {
	m := make(pack.Mask, len(c.rows))
	for i := range m {
		m[i] = ^uint64(0) >> (64 - len(c.rows[i].offerings))
	}
	for _, a := range term {
		for i, b := range c.atoms[a].mask {
			m[i] &= b
		}
	}
	return m
}

// termMask is where a conjunction of atoms, the pool's taints and the tolerations agree.
func (c *compiler) termMask(k *constraint, term []int32, soft bool) pack.Mask {
	m := c.labelMask(term)
	t := c.tolerance(k)
	for i := range m {
		if pool := c.rows[i].pool; t.hardPools[pool] || !soft && t.softPools[pool] {
			m[i] = 0
		}
	}
	return m
}

// evaluate computes the variant's mask, and its alternatives if it narrows open labels.
func (c *compiler) evaluate(k *constraint, v *variant) {
	v.mask = make(pack.Mask, len(c.rows))
	open := false
	for _, term := range v.terms {
		alt := pack.Alternative{Mask: c.termMask(k, term, v.allowSoft)}
		for _, a := range term {
			if at := &c.atoms[a]; at.open >= 0 {
				alt.Open = append(alt.Open, pack.OpenReq{Key: at.openKey, State: at.open})
				open = true
			}
		}
		v.alts = append(v.alts, alt)
		for i, b := range alt.Mask {
			v.mask[i] |= b
		}
	}
	if !open {
		v.alts = nil
	}
	v.fits = c.nodesFor(k, v)
}

// maskID numbers masks so that equal ones have equal numbers.
func (c *compiler) maskID(m pack.Mask) int32 {
	_, id := c.intern(m)
	return id
}

// intern returns the one copy of equal masks, and its number.
func (c *compiler) intern(m pack.Mask) (pack.Mask, int32) {
	b := c.maskBuf[:0]
	for _, w := range m {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	c.maskBuf = b
	if id, ok := c.masks[string(b)]; ok {
		return c.maskList[id], id
	}
	id := int32(len(c.maskList))
	c.masks[string(b)] = id
	c.maskList = append(c.maskList, m)
	return m, id
}
