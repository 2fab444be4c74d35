package scheduling

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// bound is what no plan that places the same pods can cost less than, in billionths.
func (f *finisher) bound() int64 {
	c, o := f.c, f.o
	fluid := c.space.Bound(f.demands())
	if c.opts.Effort == EffortFast || f.partial || fluid >= o.result.Price || f.budget == nil {
		return fluid
	}
	lots := f.lots()
	proof := &o.proof
	if proof.Whole && sameLots(lots, proof.Lots) {
		return max(fluid, proof.Bound)
	}
	return max(fluid, c.space.CoverBound(lots, c.opts.Effort == EffortBest, f.budget))
}

type lotKey struct {
	req  string
	mask int32
	fits int32
}

// lots are the placed pods by what they ask for and what is required of nodes; those that a spread forces into a domain
// are tied to it.
func (f *finisher) lots() []pack.Lot {
	c := f.c
	var lots []pack.Lot
	at := map[lotKey]int{}
	fits := map[string]int32{}
	add := func(id int32, v *board.Variant, n int64) {
		key := f.lotKey(c.classes[id].req, v.MaskID)
		if len(c.nodes) > 0 {
			key.fits = fitsID(fits, v)
		}
		i, ok := at[key]
		if !ok {
			i = len(lots)
			at[key] = i
			lots = append(lots, pack.Lot{Req: c.classes[id].req, Mask: v.Mask, MaskID: v.MaskID, Fits: v.Has, FitsID: key.fits})
		}
		lots[i].Count += n
		lots[i].Most += min(n, f.mostOnNode(id))
	}
	sp := f.spreads()
	for _, id := range c.order {
		n := int64(f.taken[id])
		if n == 0 {
			continue
		}
		v := c.lastVariant(id)
		for _, part := range sp.parts(id, n) {
			add(id, f.o.div.cut(v, part.key, part.domain), part.n)
			n -= part.n
		}
		if n > 0 {
			add(id, v, n)
		}
	}
	return lots
}

func (f *finisher) lotKey(req []int64, mask int32) lotKey {
	key := f.key[:0]
	for _, q := range req {
		key = binary.LittleEndian.AppendUint64(key, uint64(q))
	}
	f.key = key
	return lotKey{req: string(key), mask: mask}
}

// fitsID numbers what existing nodes variants fit.
func fitsID(ids map[string]int32, v *board.Variant) int32 {
	key := make([]byte, 0, 8*len(v.Fits))
	for _, w := range v.Fits {
		key = binary.LittleEndian.AppendUint64(key, w)
	}
	id, ok := ids[string(key)]
	if !ok {
		id = int32(len(ids))
		ids[string(key)] = id
	}
	return id
}

// sameLots reports whether both are the same pods.
func sameLots(a, b []pack.Lot) bool {
	if len(a) != len(b) {
		return false
	}
	used := make([]bool, len(b))
	for i := range a {
		k := slices.IndexFunc(b, func(l pack.Lot) bool {
			return l.MaskID == a[i].MaskID && l.Count == a[i].Count && slices.Equal(l.Req, a[i].Req)
		})
		if k < 0 || used[k] {
			return false
		}
		used[k] = true
	}
	return true
}

// leavesOut names what the problem has that the bound knows nothing of. See Plan.BoundLeavesOut.
func (f *finisher) leavesOut() []string {
	c, s := f.c, &f.c.space
	has := map[string]bool{
		"minValues":    len(s.MinValues) > 0,
		"pool limits":  slices.ContainsFunc(s.Limits, isLimit) || slices.ContainsFunc(s.NodeLimit, isLimit),
		"pool weights": len(s.Tiers) > 1,
	}
	for id := range c.classes {
		if f.taken[id] > 0 && c.places(int32(id)) {
			f.classLeavesOut(int32(id), has)
		}
	}
	for g := range c.gangs {
		for _, id := range c.gangs[g].classes {
			has["gangs"] = has["gangs"] || f.taken[id] > 0
		}
	}
	var out []string
	for _, name := range sortedKeys(has) {
		if has[name] {
			out = append(out, name)
		}
	}
	return out
}

func isLimit(n int64) bool { return n != pack.Unlimited && n != math.MaxInt64 }

// classLeavesOut adds what the bound leaves out of the constraints of a class.
func (f *finisher) classLeavesOut(id int32, has map[string]bool) {
	c := f.c
	cl := &c.model.Classes[id]
	if cl.Shape < 0 {
		return
	}
	groups := func(list []int32) {
		for _, g := range list {
			switch c.model.Groups[g].Kind {
			case board.Spread:
				has["topology spread"] = true
			case board.Affinity:
				has["pod affinity"] = true
			case board.Anti:
				has["pod anti-affinity"] = true
			}
		}
	}
	groups(cl.Owns)
	variants := c.variantsOf(id)
	has["preferences"] = has["preferences"] || len(variants) > 1 || len(cl.Soft) > 0
	has["host ports"] = has["host ports"] || len(cl.Excludes) > 0
	has["shared volumes"] = has["shared volumes"] || len(cl.Volumes) > 0
	has["open labels"] = has["open labels"] || len(variants[len(variants)-1].Alts) > 0
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
