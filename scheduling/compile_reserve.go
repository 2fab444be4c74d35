package scheduling

import (
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// finiteLeft is what there is of each reservation and commitment; nil if there are none. Offerings of one reservation may
// be listed with different counts, by several pools or types: the least holds.
func (c *compiler) finiteLeft() map[finite]int64 {
	var out map[finite]int64
	put := func(f finite, n int64) {
		if out == nil {
			out = map[finite]int64{}
		}
		if have, ok := out[f]; !ok || n < have {
			out[f] = n
		}
	}
	for i := range c.p.Commitments {
		k := &c.p.Commitments[i]
		n := int64(k.Instances)
		if k.PerHour.known {
			n = k.PerHour.nano
		}
		put(finite{true, k.Name}, n)
	}
	seen := map[*InstanceType]bool{}
	for i := range c.p.Pools {
		for _, t := range c.p.Pools[i].InstanceTypes {
			if seen[t] {
				continue
			}
			seen[t] = true
			for k := range t.Offerings {
				if o := &t.Offerings[k]; o.Reservation != "" {
					put(o.finite(), int64(o.Count))
				}
			}
		}
	}
	return out
}

// draws is what a node takes of the reservation or commitment of its offering, in the units of left: nodes or billionths.
func (c *compiler) draws(o *Offering) int64 {
	if o.Commitment != "" && c.perHour[o.Commitment] {
		return o.draws().nano
	}
	return 1
}

// spent reports whether the offering draws more than there is from the start.
func (c *compiler) spent(o *Offering) bool {
	f := o.finite()
	return f.name != "" && c.left[f] < c.draws(o)
}

// reserve tells the kernel which offerings draw how much on what.
func (c *compiler) reserve() {
	if len(c.left) == 0 {
		return
	}
	for f := range c.left {
		c.finites = append(c.finites, f)
	}
	slices.SortFunc(c.finites, finite.compare)
	for _, f := range c.finites {
		c.space.Reserved = append(c.space.Reserved, c.left[f])
	}
	for i := range c.rows {
		r := &c.rows[i]
		for _, o := range r.offerings {
			id, o := int32(-1), &r.t.Offerings[o]
			if f := o.finite(); f.name != "" {
				k, _ := slices.BinarySearchFunc(c.finites, f, finite.compare)
				id = int32(k)
			}
			c.space.Reservation = append(c.space.Reservation, id)
			if len(c.perHour) > 0 {
				c.space.Draw = append(c.space.Draw, c.draws(o))
			}
		}
	}
}

// strict leaves shapes that could use a reservation nothing else to buy, if the call says so.
func (c *compiler) strict() {
	if c.opts.Reserved != ReservedStrict || c.space.Reservation == nil {
		return
	}
	c.model.Waits = true
	reserved := make(pack.Mask, len(c.rows))
	for i := range c.rows {
		for bit, o := range c.rows[i].offerings {
			if c.rows[i].t.Offerings[o].Reservation != "" {
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
