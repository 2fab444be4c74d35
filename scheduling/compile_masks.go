package scheduling

import (
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// evaluateConstraints computes the masks of every variant of every constraint.
func (c *compiler) evaluateConstraints() {
	for k := range c.constraints {
		c.vary(&c.constraints[k])
		for v := range c.constraints[k].variants {
			c.evaluate(&c.constraints[k], &c.constraints[k].variants[v])
		}
	}
}

// evaluateAtoms finds, for every condition, the offerings that meet it, and which labels are open.
func (c *compiler) evaluateAtoms() {
	sets := c.allPoolSets()
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
			have := c.labelSet(r, sets[r.pool], at.key)
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

// meet intersects two interned states; -1: nothing is left.
func (c *compiler) meet(a, b int32) int32 {
	if a == b {
		return a
	}
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
	c.space.Meet = c.meet
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
	closed := make([]bool, len(c.p.Pools))
	for i := range closed {
		taints := c.p.Pools[i].Taints
		closed[i] = tolerated(taints, k.tolerations, false) != nil || !soft && tolerated(taints, k.tolerations, true) != nil
	}
	for i := range m {
		if closed[c.rows[i].pool] {
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
	v.maskID = c.maskID(v.mask)
}

// maskID numbers masks so that equal ones have equal numbers.
func (c *compiler) maskID(m pack.Mask) int32 {
	b := make([]byte, 0, len(m)*8)
	for _, w := range m {
		for s := 0; s < 64; s += 8 {
			b = append(b, byte(w>>s))
		}
	}
	if id, ok := c.masks[string(b)]; ok {
		return id
	}
	id := int32(len(c.masks))
	c.masks[string(b)] = id
	return id
}
