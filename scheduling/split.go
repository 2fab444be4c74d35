package scheduling

import (
	"cmp"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// cell is a zone and a capacity type.
type cell struct{ zone, ct int }

const (
	// anyDomain in a cell means that the domain does not matter.
	anyDomain = -1
	// noDomain means that the node does not have the label.
	noDomain = -2
)

// splitter divides classes over zones and capacity types before they are packed, so that packing needs
// no counts: within a cell any node will do. It keeps the counts of every group as it goes.
type splitter struct {
	t *topology
	// selected and owned count, per group and domain, the pods that the group selects and the
	// pods that own it.
	selected, owned [][]int32
	// there marks the domains that have a node which counts, whether or not a pod could go there.
	there [][]bool
	masks map[cell]pack.Mask
}

func newSplitter(t *topology) *splitter {
	s := &splitter{t: t, masks: map[cell]pack.Mask{}}
	for g := range t.groups {
		n := 0
		switch t.groups[g].domain {
		case domainZone:
			n = len(t.zones)
		case domainCapacityType:
			n = len(t.types)
		}
		s.selected = append(s.selected, make([]int32, n))
		s.owned = append(s.owned, make([]int32, n))
		s.there = append(s.there, make([]bool, n))
	}
	if len(t.groups) == 0 {
		return s
	}
	for i := range t.c.nodes {
		k := t.oldCell(&t.c.nodes[i])
		for g := range t.groups {
			gr := &t.groups[g]
			if d := gr.in(k); d >= 0 && t.countsOld(gr, i) {
				s.there[g][d] = true
			}
		}
		for _, content := range t.c.nodes[i].content {
			s.countOn(content.Class, i, content.Count)
		}
	}
	return s
}

// in returns the domain of the cell that the group counts in; below 0: none.
func (g *group) in(k cell) int {
	switch g.domain {
	case domainZone:
		return k.zone
	case domainCapacityType:
		return k.ct
	}
	return noDomain
}

// countOn adds n pods of the class on an existing node.
func (s *splitter) countOn(class int32, node int, n int32) {
	s.add(class, s.t.oldCell(&s.t.c.nodes[node]), n, func(g *group) bool { return s.t.countsOld(g, node) })
}

// countNew adds n pods of the class on a new node.
func (s *splitter) countNew(class, row int32, bit int, n int32) {
	s.add(class, s.t.newCell(row, bit), n, func(g *group) bool { return g.countsNew(row, bit) })
}

// count adds n pods of the class to a cell, before anyone knows which nodes they get: all count.
func (s *splitter) count(class int32, k cell, n int32) {
	s.add(class, k, n, func(*group) bool { return true })
}

func (s *splitter) add(class int32, k cell, n int32, counts func(*group) bool) {
	for _, g := range s.t.of[class] {
		gr := &s.t.groups[g]
		d := gr.in(k)
		if d < 0 || !counts(gr) {
			continue
		}
		if gr.selects[class] {
			s.selected[g][d] += n
		}
		if gr.owns[class] {
			s.owned[g][d] += n
		}
	}
}

// reach is a cell that pods of a class can get to, and the least price there.
type reach struct {
	cell
	price int64
}

// reachable lists the cells that a pod of the class, alone, could go to under the variant.
func (s *splitter) reachable(class int32, job *pack.Job) []reach {
	c := s.t.c
	needZone, needType := s.needs(class)
	found := map[cell]int64{}
	see := func(k cell, price int64) {
		if !needZone {
			k.zone = anyDomain
		}
		if !needType {
			k.ct = anyDomain
		}
		if have, ok := found[k]; !ok || price < have {
			found[k] = price
		}
	}
	for i := range c.rows {
		if job.Mask[i] == 0 || !fits(c.space.AllocOf(i), job.Req) || !c.space.Open(i) {
			continue
		}
		for b := range c.rows[i].offerings {
			if job.Mask[i]>>b&1 != 0 {
				see(s.t.newCell(int32(i), b), c.rows[i].prices[b])
			}
		}
	}
	for i := range c.nodes {
		if k := s.t.oldCell(&c.nodes[i]); job.Fits(i) && fits(c.nodes[i].free, job.Req) && !s.lacks(class, k) {
			see(k, 0)
		}
	}
	out := make([]reach, 0, len(found))
	for k, p := range found {
		out = append(out, reach{k, p})
	}
	slices.SortFunc(out, func(a, b reach) int { return cmp.Or(a.zone-b.zone, a.ct-b.ct) })
	return out
}

// lacks reports whether a spread of the class needs a label that nodes of the cell do not have.
func (s *splitter) lacks(class int32, k cell) bool {
	return slices.ContainsFunc(s.t.of[class], func(g int32) bool {
		gr := &s.t.groups[g]
		return !gr.anti && gr.owns[class] && gr.in(k) < 0
	})
}

func fits(alloc, req []int64) bool {
	for d, q := range req {
		if q > 0 && q > alloc[d] {
			return false
		}
	}
	return true
}

// needs tells which domains matter to the class.
func (s *splitter) needs(class int32) (zone, ct bool) {
	for _, g := range s.t.of[class] {
		zone = zone || s.t.groups[g].domain == domainZone
		ct = ct || s.t.groups[g].domain == domainCapacityType
	}
	return zone, ct
}

// ok reports whether one more pod of the class may go to the cell.
func (s *splitter) ok(class int32, k cell, all []reach) bool {
	for _, g := range s.t.of[class] {
		gr := &s.t.groups[g]
		d := gr.in(k)
		if d < 0 {
			continue
		}
		if gr.anti {
			if gr.owns[class] && s.selected[g][d] > 0 || gr.selects[class] && s.owned[g][d] > 0 {
				return false
			}
			continue
		}
		if gr.owns[class] {
			n := s.selected[g][d]
			if gr.selects[class] {
				n++
			}
			if n-s.least(int(g), all) > gr.maxSkew {
				return false
			}
		}
	}
	return true
}

// least is the global minimum of a spread: the smallest count over the domains that the pod can reach
// and those that have a node already, 0 if there are fewer than minDomains.
func (s *splitter) least(g int, all []reach) int32 {
	gr := &s.t.groups[g]
	seen := slices.Clone(s.there[g])
	for _, k := range all {
		if d := gr.in(k.cell); d >= 0 {
			seen[d] = true
		}
	}
	domains, least := int32(0), int32(-1)
	for d, here := range seen {
		if here {
			domains++
			if n := s.selected[g][d]; least < 0 || n < least {
				least = n
			}
		}
	}
	if domains < gr.minDomains {
		return 0
	}
	return max(least, 0)
}

// next picks the cell for one more pod: among those allowed, where the groups count fewest, then
// where it is cheapest, then the first by name. False: there is none.
func (s *splitter) next(class int32, all []reach, allowed func(int) bool) (int, bool) {
	best, bestCount := -1, int32(0)
	for i, k := range all {
		if !allowed(i) || !s.ok(class, k.cell, all) {
			continue
		}
		n := int32(0)
		for _, g := range s.t.of[class] {
			if d := s.t.groups[g].in(k.cell); d >= 0 {
				n += s.selected[g][d]
			}
		}
		if best < 0 || n < bestCount || n == bestCount && k.price < all[best].price {
			best, bestCount = i, n
		}
	}
	return best, best >= 0
}

// assign distributes up to n pods and returns how many go to each cell.
func (s *splitter) assign(class int32, n int32, all []reach, banned []bool) []int32 {
	out := make([]int32, len(all))
	for ; n > 0; n-- {
		k, ok := s.next(class, all, func(i int) bool { return !banned[i] })
		if !ok {
			break
		}
		out[k]++
		s.count(class, all[k].cell, 1)
	}
	return out
}

// mask is the offerings of a cell.
func (s *splitter) mask(k cell) pack.Mask {
	if m, ok := s.masks[k]; ok {
		return m
	}
	c := s.t.c
	m := make(pack.Mask, len(c.rows))
	for i := range c.rows {
		for b := range c.rows[i].offerings {
			if k.has(s.t.newCell(int32(i), b)) {
				m[i] |= 1 << b
			}
		}
	}
	s.masks[k] = m
	return m
}

// has reports whether a node's cell is one that k means.
func (k cell) has(node cell) bool {
	return (k.zone == anyDomain || k.zone == node.zone) && (k.ct == anyDomain || k.ct == node.ct)
}

// restrict narrows a job to a cell.
func (s *splitter) restrict(j pack.Job, k cell) pack.Job {
	c := s.t.c
	cut := s.mask(k)
	and := func(m pack.Mask) pack.Mask {
		out := make(pack.Mask, len(m))
		for i := range m {
			out[i] = m[i] & cut[i]
		}
		return out
	}
	j.Mask = and(j.Mask)
	j.MaskID = c.maskID(j.Mask)
	alts := make([]pack.Alternative, len(j.Alternatives))
	for i, a := range j.Alternatives {
		alts[i] = pack.Alternative{Mask: and(a.Mask), Open: a.Open}
	}
	j.Alternatives = alts
	inner := j.Fits
	j.Fits = func(node int) bool { return k.has(s.t.oldCell(&c.nodes[node])) && inner(node) }
	return j
}
