package pack

import "slices"

// compat is the kinds that may go to some offering: with thousands of kinds most of them ask for another zone or pool, and
// going through them is most of the work of a filling. Offerings that the same masks allow share one.
type compat struct {
	// kinds are in the order of the packer's, ratio in the order of shares.
	kinds []int32
	ratio []shared
	// gone counts those that were met with no pods left.
	gone int
}

// compats finds them by which groups allow the offering.
type compats struct {
	// groups are those that have kinds, masks what they allow.
	groups []int32
	masks  []Mask
	key    []byte
	by     map[string]*compat
	all    compat
	// allowed tells, by group, whether the one being made has its kinds.
	allowed []bool
}

// fewKinds are gone through without all this.
const fewKinds = 64

// sortOut prepares for kinds in a new order.
func (e *Packer) sortOut() {
	c := &e.compats
	c.all.kinds, c.all.ratio, c.all.gone = slices.Grow(c.all.kinds[:0], len(e.kinds)), e.ratio, 0
	for k := range e.kinds {
		c.all.kinds = append(c.all.kinds, int32(k))
	}
	c.groups, c.masks, c.by = c.groups[:0], c.masks[:0], nil
	if len(e.kinds) <= fewKinds {
		return
	}
	c.by, c.allowed = map[string]*compat{}, make([]bool, len(e.groups))
	seen := make([]bool, len(e.groups))
	for k := range e.kinds {
		if g := e.kinds[k].group; !seen[g] {
			seen[g] = true
			c.groups, c.masks = append(c.groups, int32(g)), append(c.masks, e.kinds[k].mask)
		}
	}
}

// fitting are the kinds that may go to the offering.
func (e *Packer) fitting(row int32, target uint64) *compat {
	c := &e.compats
	if c.by == nil || len(c.groups) == 1 {
		return &c.all
	}
	key := c.key[:0]
	for i := range c.masks {
		if i&7 == 0 {
			key = append(key, 0)
		}
		if c.masks[i][row]&target != 0 {
			key[i>>3] |= 1 << (i & 7)
		}
	}
	c.key = key
	out, ok := c.by[string(key)]
	if !ok {
		out = &compat{}
		for i, g := range c.groups {
			c.allowed[g] = key[i>>3]>>(i&7)&1 != 0
		}
		for k := range e.kinds {
			if c.allowed[e.kinds[k].group] {
				out.kinds = append(out.kinds, int32(k))
			}
		}
		// Where there are not that many, the nearest few of all are the better choice.
		if out.ratio = e.ratio; len(e.kinds) > severalKinds {
			out.ratio = make([]shared, 0, len(out.kinds))
			for _, s := range e.ratio {
				if c.allowed[e.kinds[s.kind].group] {
					out.ratio = append(out.ratio, s)
				}
			}
		}
		c.by[string(key)] = out
	}
	if out.gone > len(out.kinds)/4 {
		out.gone = 0
		out.kinds = slices.DeleteFunc(out.kinds, func(k int32) bool { return e.kinds[k].left == 0 })
		if len(e.kinds) > severalKinds {
			out.ratio = slices.DeleteFunc(out.ratio, func(s shared) bool { return e.kinds[s.kind].left == 0 })
		}
	}
	return out
}
