package scheduling

import (
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// usedUp names the reservations of which nothing is left. Offerings of one reservation may be listed with
// different counts, by several pools or types: the least holds.
func (c *compiler) usedUp() map[string]bool {
	var out map[string]bool
	c.left = c.reserved()
	for name, n := range c.left {
		if n <= 0 {
			if out == nil {
				out = map[string]bool{}
			}
			out[name] = true
		}
	}
	return out
}

// reserved is what is left of each reservation; nil if there are none.
func (c *compiler) reserved() map[string]int64 {
	var out map[string]int64
	seen := map[*InstanceType]bool{}
	for i := range c.p.Pools {
		for _, t := range c.p.Pools[i].InstanceTypes {
			if seen[t] {
				continue
			}
			seen[t] = true
			for k := range t.Offerings {
				o := &t.Offerings[k]
				if o.Reservation == "" {
					continue
				}
				if out == nil {
					out = map[string]int64{}
				}
				if n, ok := out[o.Reservation]; !ok || int64(o.Count) < n {
					out[o.Reservation] = int64(o.Count)
				}
			}
		}
	}
	return out
}

// reserve tells the kernel which offerings draw on which reservation, by the order of their names.
func (c *compiler) reserve() {
	left := c.left
	if len(left) == 0 {
		return
	}
	c.reservations = sortedKeys(left)
	for _, name := range c.reservations {
		c.space.Reserved = append(c.space.Reserved, left[name])
	}
	for i := range c.rows {
		r := &c.rows[i]
		for _, o := range r.offerings {
			id := int32(-1)
			if name := r.t.Offerings[o].Reservation; name != "" {
				k, _ := slices.BinarySearch(c.reservations, name)
				id = int32(k)
			}
			c.space.Reservation = append(c.space.Reservation, id)
		}
	}
}

// strict leaves shapes that could use a reservation nothing else to buy, if the call says so.
func (c *compiler) strict() {
	if c.opts.Reserved != ReservedStrict || c.space.Reservation == nil {
		return
	}
	reserved := make(pack.Mask, len(c.rows))
	for i := range c.rows {
		for bit := range c.rows[i].offerings {
			if c.space.Reservation[c.space.OfferStart[i]+int32(bit)] >= 0 {
				reserved[i] |= 1 << bit
			}
		}
	}
	needs := c.withVolumes()
	for s := range c.model.Shapes {
		sh := &c.model.Shapes[s]
		only := make(pack.Mask, len(c.rows))
		some := false
		for i, m := range sh.Variants[len(sh.Variants)-1].Mask {
			if m&reserved[i] != 0 && fits(c.space.AllocOf(i), needs[s]) {
				only[i], some = reserved[i], true
			}
		}
		if !some {
			continue
		}
		sh.Variants = slices.Clone(sh.Variants)
		for v := range sh.Variants {
			sh.Variants[v] = c.within(&sh.Variants[v], only)
		}
	}
}

// withVolumes is, by shape, what a pod asks for and attaches, volumes that it shares with others included.
func (c *compiler) withVolumes() [][]int64 {
	out := make([][]int64, len(c.model.Shapes))
	for s := range out {
		out[s] = slices.Clone(c.model.Shapes[s].Req)
	}
	for i := range c.model.Classes {
		cl := &c.model.Classes[i]
		if cl.Shape < 0 || len(cl.Volumes) == 0 {
			continue
		}
		need := slices.Clone(c.model.Shapes[cl.Shape].Req)
		for _, v := range cl.Volumes {
			if v.Dim >= 0 {
				need[v.Dim]++
			}
		}
		for x, q := range need {
			out[cl.Shape][x] = max(out[cl.Shape][x], q)
		}
	}
	return out
}

// within restricts a variant to a mask, as far as new nodes go.
func (c *compiler) within(v *board.Variant, only pack.Mask) board.Variant {
	and := func(m pack.Mask) pack.Mask {
		out := make(pack.Mask, len(m))
		for i := range m {
			out[i] = m[i] & only[i]
		}
		return out
	}
	out := board.Variant{Fits: v.Fits}
	out.Mask, out.MaskID = c.intern(and(v.Mask))
	for _, a := range v.Alts {
		out.Alts = append(out.Alts, pack.Alternative{Mask: and(a.Mask), Open: a.Open})
	}
	return out
}
