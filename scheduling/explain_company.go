package scheduling

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
)

// explainGang tells how far the gang of a class got.
func (f *finisher) explainGang(id int32) Reason {
	for i := range f.c.gangs {
		g := &f.c.gangs[i]
		if !slices.Contains(g.classes, id) {
			continue
		}
		pods := 0
		for _, class := range g.classes {
			pods += len(f.c.classes[class].pods)
		}
		return Reason{Code: CodeGang, Detail: fmt.Sprintf("gang %s needs %d of its %d waiting pods placed at once", g.name, g.need, pods),
			InTheWay: f.firstRefused(g)}
	}
	return Reason{Code: CodeGang}
}

// firstRefused names pods of the gang that fit nowhere even alone.
func (f *finisher) firstRefused(g *gang) (names []string) {
	for _, class := range g.classes {
		if !f.c.someRowHolds(class) && !f.c.someNodeHolds(class) && len(names) < maxInTheWay {
			names = append(names, f.c.podName(f.c.classes[class].pods[0]))
		}
	}
	return names
}

const maxInTheWay = 8

// explainCompany tells which constraint between pods closes every domain that would do otherwise.
func (f *finisher) explainCompany(id int32) (Reason, bool) {
	c, b := f.c, f.o.board
	variant := int32(len(c.variantsOf(id)) - 1)
	cells := f.o.div.cellsOf(id, c.lastVariant(id))
	if len(cells) == 0 {
		return Reason{}, false
	}
	keys := c.model.KeysOf(id)
	choices := make([]board.Choice, len(keys))
	for k := range keys {
		b.Tally().Choose(id, variant, k, &choices[k])
	}
	var closed []blocked
	for i := range cells {
		x, ok := f.blockedIn(id, keys, choices, &cells[i])
		if !ok {
			return f.explainHosts(id)
		}
		closed = append(closed, x)
	}
	slices.SortStableFunc(closed, func(x, y blocked) int {
		return cmp.Compare(uint64(x.price), uint64(y.price)) // cells without a price last
	})
	return f.blockedReason(id, closed[0]), true
}

// blocked is a group that keeps a class out of a domain.
type blocked struct {
	group, domain int32
	price         int64
}

// blockedIn finds the first group that closes a cell; false: the cell is open.
func (f *finisher) blockedIn(id int32, keys []int32, choices []board.Choice, c *cell) (blocked, bool) {
	for k, d := range c.domain {
		if d < 0 && choices[k].None || d >= 0 && choices[k].OK[d] {
			continue
		}
		if g, ok := f.o.board.Tally().Blocker(id, k, d); ok {
			return blocked{group: g, domain: d, price: c.price}, true
		}
	}
	return blocked{}, false
}

// explainHosts is for pods that must share a node with others and found none.
func (f *finisher) explainHosts(id int32) (Reason, bool) {
	m := &f.c.model
	for _, g := range m.Classes[id].Owns {
		if gr := &m.Groups[g]; gr.Key == board.Host && gr.Kind == board.Affinity {
			return f.blockedReason(id, blocked{group: g, domain: board.Absent}), true
		}
	}
	if f.c.someRowHolds(id) {
		return Reason{}, false
	}
	for _, g := range m.Classes[id].Owns {
		if gr := &m.Groups[g]; gr.Key == board.Host {
			return f.blockedReason(id, blocked{group: g, domain: board.Absent}), true
		}
	}
	return Reason{}, false
}

// blockedReason describes a group that is in the way.
func (f *finisher) blockedReason(id int32, x blocked) Reason {
	m, t := &f.c.model, f.o.board.Tally()
	gr := &m.Groups[x.group]
	key := f.c.groups[x.group].topologyKey
	r := Reason{Detail: key, Constraint: f.c.groups[x.group].String()}
	if key == corev1.LabelTopologyZone && x.domain >= 0 {
		r.Nearest.Zone = f.c.domainNames[gr.Key][x.domain]
	}
	switch gr.Kind {
	case board.Spread:
		r.Code = CodeSpread
		if x.domain >= 0 {
			r.Nearest.Wanted, r.Nearest.Available = int64(t.In(x.group, x.domain)+1-t.Least(x.group)), int64(gr.MaxSkew)
		}
	case board.Affinity:
		r.Code = CodeAffinity
	case board.Anti:
		r.Code = CodeAntiAffinity
		r.InTheWay = f.inTheWay(id, x)
	}
	r.Domains = f.domainCounts(x.group)
	return r
}

// maxDomains is how many domains a reason lists.
const maxDomains = 16

func (f *finisher) domainCounts(g int32) []DomainCount {
	m, t := &f.c.model, f.o.board.Tally()
	gr := &m.Groups[g]
	if gr.Key == board.Host {
		return nil
	}
	var out []DomainCount
	for d, name := range f.c.domainNames[gr.Key] {
		dc := DomainCount{Domain: name, Count: t.In(g, int32(d))}
		if gr.Kind == board.Spread && !gr.Eligible[d] {
			dc.Note = "out of reach"
		}
		if out = append(out, dc); len(out) == maxDomains {
			break
		}
	}
	return out
}

// inTheWay names the pods in the domain that the class must not be with, or that must not be with it.
func (f *finisher) inTheWay(id int32, x blocked) []string {
	m, b := &f.c.model, f.o.board
	owns := contains32(m.Classes[id].Owns, x.group)
	var names []string
	all, old := b.Nodes()
	for i := range all {
		if key := m.Groups[x.group].Key; key != board.Host && b.Domain(i, key) != x.domain {
			continue
		}
		for _, it := range b.Items(i) {
			cl := &m.Classes[it.Class]
			if it.Count == 0 || !(owns && contains32(cl.In, x.group) || contains32(m.Classes[id].In, x.group) && contains32(cl.Owns, x.group)) {
				continue
			}
			names = append(names, f.namesOn(i, old, it.Class)...)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxInTheWay)]
}

// namesOn names the pods of a class on a node of the board.
func (f *finisher) namesOn(i, old int, class int32) (names []string) {
	placed := f.onNode
	at := i
	if i < old {
		for k, p := range f.c.nodes[i].node.Pods {
			if f.c.nodes[i].classes[k] == class {
				names = append(names, podName(p))
			}
		}
	} else {
		placed, at = f.onRun, int(f.o.runOf[i])
	}
	if int(class) >= len(f.c.classes) {
		return names
	}
	mine := f.c.classes[class].pods
	for _, p := range placed[at] {
		if slices.Contains(mine, p) {
			names = append(names, f.c.podName(p))
		}
	}
	return names
}
