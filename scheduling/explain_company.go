package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
)

// company explains why pods of a class have no place among others.
type company struct {
	f       *finisher
	id      int32
	variant *board.Variant
	keys    []int32
	cells   []cell
	// closed are, by cell, the groups that close it.
	closed [][]int32
}

// blocked is a group that keeps a class out of a domain.
type blocked struct{ group, domain int32 }

// explainCompany tells which constraint between pods closes every domain that would do otherwise. False: none does.
func (f *finisher) explainCompany(id int32) (Reason, bool) {
	x := company{f: f, id: id, variant: f.c.lastVariant(id), keys: f.c.model.KeysOf(id)}
	x.cells = f.o.div.cellsOf(id, x.variant)
	if len(x.cells) == 0 {
		return Reason{}, false
	}
	for i := range x.cells {
		var groups []int32
		for k, d := range x.cells[i].domain {
			groups = append(groups, f.o.board.Tally().Blockers(id, k, d)...)
		}
		if len(groups) == 0 {
			return x.hosts()
		}
		x.closed = append(x.closed, groups)
	}
	near := x.nearest()
	return x.first(x.closed[near], func(g int32) int32 {
		return x.cells[near].domain[slices.Index(x.keys, f.c.model.Groups[g].Key)]
	}), true
}

// nearest is the cell with the fewest constraints in the way, then with the smallest skew, then the cheapest.
func (x *company) nearest() int {
	t, m := x.f.o.board.Tally(), &x.f.c.model
	skew := func(i int) (n int32) {
		for _, g := range x.closed[i] {
			if gr := &m.Groups[g]; gr.Kind == board.Spread {
				if d := x.cells[i].domain[slices.Index(x.keys, gr.Key)]; d >= 0 {
					n = max(n, t.In(g, d)-t.Least(g)-gr.MaxSkew)
				}
			}
		}
		return n
	}
	best := 0
	for i := 1; i < len(x.cells); i++ {
		if cmp.Or(cmp.Compare(len(x.closed[i]), len(x.closed[best])), cmp.Compare(skew(i), skew(best)),
			cmp.Compare(uint64(x.cells[i].price), uint64(x.cells[best].price))) < 0 { // cells without a price last
			best = i
		}
	}
	return best
}

// first is the reason for one of the groups: numbers of groups mean nothing, so that with the first text is taken.
func (x *company) first(groups []int32, domain func(g int32) int32) (out Reason) {
	best := ""
	for _, g := range groups {
		r := x.reason(blocked{g, domain(g)})
		if text := fmt.Sprintf("%s %s %v %v", r.Constraint, r.Code, r.Domains, r.InTheWay); best == "" || text < best {
			best, out = text, r
		}
	}
	return out
}

// hosts is for pods that some domain would take, but no node in it.
func (x *company) hosts() (Reason, bool) {
	m, b := &x.f.c.model, x.f.o.board
	host := func(int32) int32 { return board.Absent }
	var near []int32
	for _, g := range m.Classes[x.id].Owns {
		if gr := &m.Groups[g]; gr.Key == board.Host && gr.Kind == board.Affinity {
			near = append(near, g)
		}
	}
	if len(near) > 0 {
		return x.first(near, host), true
	}
	if x.f.c.someRowHolds(x.id) {
		return Reason{}, false // It could have a node of its own: what is short is supply.
	}
	_, old := b.Nodes()
	for i := range old {
		if x.variant.Has(i) && fits(b.Free(i), x.f.c.classes[x.id].req) {
			near = append(near, b.HostBlockers(i, x.id)...)
		}
	}
	slices.Sort(near)
	if near = slices.Compact(near); len(near) == 0 {
		return Reason{}, false
	}
	return x.first(near, host), true
}

// reason describes a group that is in the way.
func (x *company) reason(at blocked) Reason {
	c, t := x.f.c, x.f.o.board.Tally()
	gr, spec := &c.model.Groups[at.group], &c.groups[at.group]
	r := Reason{Constraint: spec.String()}
	if spec.topologyKey == corev1.LabelTopologyZone && at.domain >= 0 {
		r.Nearest.Zone = c.domainNames[gr.Key][at.domain]
	}
	switch gr.Kind {
	case board.Spread:
		r.Code = CodeSpread
		if at.domain >= 0 {
			r.Nearest.Wanted, r.Nearest.Available = int64(t.In(at.group, at.domain)+1-t.Least(at.group)), int64(gr.MaxSkew)
		}
	case board.Affinity:
		r.Code, r.Detail = CodeAffinity, x.missing(spec)
	case board.Anti:
		r.Code = CodeAntiAffinity
		r.InTheWay = x.inTheWay(at)
		if !contains32(c.model.Classes[x.id].Owns, at.group) {
			r.Constraint += " of other pods"
		}
	}
	if gr.Key == board.Host {
		r.Domains = x.hostCounts(at.group)
	} else {
		r.Domains = x.domainCounts(at.group)
	}
	return r
}

// missing says what became of the pods that an affinity asks for, where none of them is anywhere.
func (x *company) missing(spec *groupSpec) string {
	var left []string
	for _, id := range spec.audience {
		if int(id) >= len(x.f.c.classes) {
			return "" // Some run.
		}
		switch cl, taken := &x.f.c.classes[id], x.f.taken[id]; {
		case taken > 0:
			return ""
		case len(cl.pods) > 0 && len(left) < maxNamed:
			left = append(left, x.f.c.podName(cl.pods[0]))
		}
	}
	if len(left) == 0 {
		return "no pod is such"
	}
	slices.Sort(left)
	return "left over too: " + strings.Join(left, ", ")
}

// maxDomains is how many domains a reason lists.
const maxDomains = 16

// domainCounts lists the domains of a group's key: all if they are few, else those that the pods could get to first.
func (x *company) domainCounts(g int32) []DomainCount {
	t, gr := x.f.o.board.Tally(), &x.f.c.model.Groups[g]
	var reached, others []DomainCount
	for d, name := range x.f.c.domainNames[gr.Key] {
		dc := DomainCount{Domain: name, Count: t.In(g, int32(d))}
		note, reach := x.note(g, int32(d))
		if dc.Note = note; reach {
			reached = append(reached, dc)
		} else {
			others = append(others, dc)
		}
	}
	out := append(reached, others...)
	out = out[:min(len(out), maxDomains)]
	slices.SortFunc(out, func(a, b DomainCount) int { return strings.Compare(a.Domain, b.Domain) })
	return out
}

// note tells why the pods cannot go to a domain that the group leaves open to them.
func (x *company) note(g, d int32) (note string, reach bool) {
	key := x.f.c.model.Groups[g].Key
	k := slices.Index(x.keys, key)
	for i := range x.cells {
		if x.cells[i].domain[k] != d {
			continue
		}
		reach = true
		if len(x.closed) < len(x.cells) || slices.Contains(x.closed[i], g) {
			return "", true
		}
		by := "closed by " + x.f.c.groups[x.closed[i][0]].String()
		for _, other := range x.closed[i][1:] {
			by = min(by, "closed by "+x.f.c.groups[other].String())
		}
		if note == "" || by < note {
			note = by
		}
	}
	if !reach {
		note = "out of reach"
	}
	return note, reach
}

// hostCounts lists the existing nodes with pods that the group counts, and the new ones with most.
func (x *company) hostCounts(g int32) []DomainCount {
	b := x.f.o.board
	all, old := b.Nodes()
	var out []DomainCount
	fresh := int32(0)
	for i := range all {
		n := b.HostIn(i, g)
		if i >= old {
			fresh = max(fresh, n)
			continue
		}
		if n == 0 || len(out) == maxDomains-1 {
			continue
		}
		dc := DomainCount{Domain: x.f.c.nodes[i].node.Name, Count: n}
		switch {
		case !x.variant.Has(i):
			dc.Note = "out of reach"
		case !fits(b.Free(i), x.f.c.classes[x.id].req):
			dc.Note = "no room"
		}
		out = append(out, dc)
	}
	slices.SortFunc(out, func(a, b DomainCount) int { return strings.Compare(a.Domain, b.Domain) })
	if all > old {
		out = append(out, DomainCount{Domain: "(new node)", Count: fresh})
	}
	return out
}
