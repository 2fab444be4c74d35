package scheduling

import (
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// cell is a zone, a capacity type or a pair of both; -1: any.
type cell struct{ zone, ct int }

// splitter divides classes over zones and capacity types before they are packed, so that packing needs
// no counts: within a cell any node will do. It keeps the counts of every group as it goes.
type splitter struct {
	t *topology
	// selected and owned count, per group and domain, the pods that the group selects and the
	// pods that own it.
	selected, owned [][]int32
	masks           map[cell]pack.Mask
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
	}
	for i := range t.c.nodes {
		zone, ct := t.domainsOf(&t.c.nodes[i])
		for _, content := range t.c.nodes[i].content {
			s.count(int(content.Class), cell{zone, ct}, content.Count)
		}
	}
	return s
}

// in returns the domain of the cell that the group counts in; -1: none.
func (g *group) in(k cell) int {
	switch g.domain {
	case domainZone:
		return k.zone
	case domainCapacityType:
		return k.ct
	}
	return -1
}

// count adds n pods of the class to the cell.
func (s *splitter) count(class int, k cell, n int32) {
	for g := range s.t.groups {
		gr := &s.t.groups[g]
		d := gr.in(k)
		if d < 0 {
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
func (s *splitter) reachable(class int, job *pack.Job) []reach {
	c := s.t.c
	needZone, needType := s.needs(class)
	found := map[cell]int64{}
	see := func(k cell, price int64) {
		if !needZone {
			k.zone = -1
		}
		if !needType {
			k.ct = -1
		}
		if have, ok := found[k]; !ok || price < have {
			found[k] = price
		}
	}
	for i := range c.rows {
		if job.Mask[i] == 0 || !fits(c.space.AllocOf(i), job.Req) {
			continue
		}
		r := &c.rows[i]
		for b, oi := range r.offerings {
			if job.Mask[i]>>b&1 == 0 {
				continue
			}
			o := &r.t.Offerings[oi]
			zone, _ := slices.BinarySearch(s.t.zones, o.Zone)
			ct, _ := slices.BinarySearch(s.t.types, o.CapacityType)
			see(cell{zone, ct}, r.prices[b])
		}
	}
	for i := range c.nodes {
		if job.Fits(i) && fits(c.nodes[i].free, job.Req) {
			zone, ct := s.t.domainsOf(&c.nodes[i])
			if needZone && zone < 0 || needType && ct < 0 {
				continue // kube-scheduler does not count, or use, nodes without the label
			}
			see(cell{zone, ct}, 0)
		}
	}
	out := make([]reach, 0, len(found))
	for k, p := range found {
		out = append(out, reach{k, p})
	}
	slices.SortFunc(out, func(a, b reach) int {
		if a.zone != b.zone {
			return a.zone - b.zone
		}
		return a.ct - b.ct
	})
	return out
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
func (s *splitter) needs(class int) (zone, ct bool) {
	for g := range s.t.groups {
		gr := &s.t.groups[g]
		if gr.selects[class] || gr.owns[class] {
			zone = zone || gr.domain == domainZone
			ct = ct || gr.domain == domainCapacityType
		}
	}
	return zone, ct
}

// ok reports whether one more pod of the class may go to the cell.
func (s *splitter) ok(class int, k cell, all []reach) bool {
	for g := range s.t.groups {
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
			if n-s.least(g, all) > gr.maxSkew {
				return false
			}
		}
	}
	return true
}

// least is the global minimum of a spread: the smallest count over the domains that the pod can
// reach, 0 if there are fewer than minDomains.
func (s *splitter) least(g int, all []reach) int32 {
	gr := &s.t.groups[g]
	seen := make([]bool, len(s.selected[g]))
	domains, least := int32(0), int32(-1)
	for _, k := range all {
		d := gr.in(k.cell)
		if d < 0 || seen[d] {
			continue
		}
		seen[d] = true
		domains++
		if n := s.selected[g][d]; least < 0 || n < least {
			least = n
		}
	}
	if domains < gr.minDomains {
		return 0
	}
	return max(least, 0)
}

// next picks the cell for one more pod: among those allowed, where the groups count fewest, then
// where it is cheapest, then the first by name. False: there is none.
func (s *splitter) next(class int, all []reach, allowed func(int) bool) (int, bool) {
	best, bestCount := -1, int32(0)
	for i, k := range all {
		if !allowed(i) || !s.ok(class, k.cell, all) {
			continue
		}
		n := int32(0)
		for g := range s.t.groups {
			gr := &s.t.groups[g]
			if d := gr.in(k.cell); d >= 0 && (gr.selects[class] || gr.owns[class]) {
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
func (s *splitter) assign(class int, n int32, all []reach, banned []bool) []int32 {
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
		r := &c.rows[i]
		for b, oi := range r.offerings {
			o := &r.t.Offerings[oi]
			if (k.zone < 0 || o.Zone == s.t.zones[k.zone]) && (k.ct < 0 || o.CapacityType == s.t.types[k.ct]) {
				m[i] |= 1 << b
			}
		}
	}
	s.masks[k] = m
	return m
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
	j.Fits = func(node int) bool {
		zone, ct := s.t.domainsOf(&c.nodes[node])
		return (k.zone < 0 || zone == k.zone) && (k.ct < 0 || ct == k.ct) && inner(node)
	}
	return j
}
