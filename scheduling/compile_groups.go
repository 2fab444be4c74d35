package scheduling

import (
	"encoding/binary"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// groupKey is the content of a group: constraints that agree in it are one.
type groupKey struct {
	kind                 board.Kind
	soft                 bool
	key, sel, namespaces int32
	maxSkew, minDomains  int32
	// who numbers the nodes that count, -1: all. set is that of required affinity, else -1.
	who, set int32
}

// groupSpec is what a group of the model stands for.
type groupSpec struct {
	groupKey
	// topologyKey is as nodes spell it.
	topologyKey string
	// audience are the classes that the group counts.
	audience []int32
}

// String names the constraint as a person would.
func (g *groupSpec) String() string {
	switch g.kind {
	case board.Spread:
		return fmt.Sprintf("spread over %s (maxSkew %d)", g.topologyKey, g.maxSkew)
	case board.Affinity:
		return "pod affinity over " + g.topologyKey
	}
	return "pod anti-affinity over " + g.topologyKey
}

// who is the nodes that count for a spread: nil means all.
type who struct {
	old  []bool
	rows pack.Mask
	// opens and match are for nodes whose open labels decide: see board.Group.
	opens []pack.OpenReq
	match func(row int32, bit uint64, open []int32) bool
}

// grouper collects the groups.
type grouper struct {
	c       *compiler
	x       *selectors
	counted *counting
	ids     map[groupKey]int32
	// keyIDs number topology keys as they are written.
	keyIDs map[string]int32
	// lacking marks keys that some node does not have, or will not.
	lacking []bool
	whoIDs  map[string]int32
	whos    []who
	setIDs  map[string]int32
	// sets are the audiences of sets.
	sets [][]int32
}

func newGrouper(c *compiler) *grouper {
	k := c.counting()
	some := max(len(k.audible), len(c.classes)/16)
	c.groups = slices.Grow(c.groups, some)
	g := &grouper{c: c, x: k.x, counted: k, ids: make(map[groupKey]int32, some), keyIDs: map[string]int32{},
		lacking: make([]bool, len(c.keyNames)), whoIDs: map[string]int32{}, setIDs: map[string]int32{}}
	for k := range c.keyNames {
		g.lacking[k] = slices.ContainsFunc(c.space.Nodes, func(n pack.Node) bool { return n.Domain[k] == board.Absent })
		for i, m := range g.having(k) {
			g.lacking[k] = g.lacking[k] || m != ^uint64(0)>>(64-len(c.rows[i].offerings))
		}
	}
	return g
}

// having is the offerings whose nodes have the label.
func (g *grouper) having(key int) pack.Mask {
	out := make(pack.Mask, len(g.c.rows))
	for _, mask := range g.c.model.Keys[key].Mask {
		for i, b := range mask {
			out[i] |= b
		}
	}
	return out
}

// key numbers a topology key; board.Host for the hostname.
func (g *grouper) key(topologyKey string) int32 {
	if id, ok := g.keyIDs[topologyKey]; ok {
		return id
	}
	key, id := g.c.rules.Key(topologyKey), int32(board.Host)
	if key != corev1.LabelHostname {
		k, _ := slices.BinarySearch(g.c.keyNames, key)
		id = int32(k)
	}
	g.keyIDs[topologyKey] = id
	return id
}

// group returns the number of the group with the content.
func (g *grouper) group(id groupKey, audience func() []int32) int32 {
	if have, ok := g.ids[id]; ok {
		return have
	}
	n := int32(len(g.c.groups))
	g.ids[id] = n
	spec := groupSpec{groupKey: id, topologyKey: corev1.LabelHostname, audience: audience()}
	if id.key != board.Host {
		spec.topologyKey = g.c.keyNames[id.key]
	}
	g.c.groups = append(g.c.groups, spec)
	return n
}

// spreads returns the groups of a pod's topology spread constraints: hard ones, and soft ones in their order.
func (g *grouper) spreads(class int32) (hard, soft []int32) {
	c, cl := g.c, &g.c.classes[class]
	var keys []int32 // a node without one of the keys counts for none of the pod's constraints
	for i := range cl.spread {
		if t := &cl.spread[i]; t.WhenUnsatisfiable != corev1.ScheduleAnyway {
			if k := g.key(t.TopologyKey); k != board.Host && g.lacking[k] {
				keys = append(keys, k)
			}
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for i := range cl.spread {
		t := &cl.spread[i]
		isSoft := t.WhenUnsatisfiable == corev1.ScheduleAnyway
		if isSoft && !c.softPods {
			continue
		}
		s, own := g.counted.spreads[class][i], g.counted.own[class]
		id := groupKey{kind: board.Spread, soft: isSoft, key: g.key(t.TopologyKey), sel: s.id, namespaces: own.id, maxSkew: t.MaxSkew,
			minDomains: 1, set: -1}
		if isSoft {
			id.who = g.who(&c.constraints[cl.constraint], t, nil)
		} else {
			id.who, id.minDomains = g.who(&c.constraints[cl.constraint], t, keys), minDomainsOf(t)
		}
		n := g.group(id, func() []int32 { return g.counted.audience(s, own) })
		if isSoft {
			soft = append(soft, n)
		} else {
			hard = append(hard, n)
		}
	}
	return hard, soft
}

// who numbers the nodes that count for a spread: by default those that the pod's node selector and required
// affinity allow, whatever their taints. keys are further labels that they need.
func (g *grouper) who(k *constraint, t *corev1.TopologySpreadConstraint, keys []int32) int32 {
	base, tol := int32(-1), int32(-1)
	if honorsAffinity(t) && !unconditional(k.terms) {
		base = k.base
	}
	if honorsTaints(t) {
		tol = k.tol
	}
	own := g.key(t.TopologyKey) // a node without the constraint's own key is in none of its domains anyway
	keys = slices.DeleteFunc(slices.Clone(keys), func(k int32) bool { return k == own })
	if base < 0 && tol < 0 && len(keys) == 0 {
		return -1
	}
	b := binary.AppendVarint(binary.AppendVarint(nil, int64(base)), int64(tol))
	for _, key := range keys {
		b = binary.AppendVarint(b, int64(key))
	}
	if id, ok := g.whoIDs[string(b)]; ok {
		return id
	}
	w := g.counting(k, base >= 0, tol >= 0, keys)
	id := int32(-1)
	if w.old != nil || w.rows != nil {
		id = int32(len(g.whos))
		g.whos = append(g.whos, w)
	}
	g.whoIDs[string(b)] = id
	return id
}

// counting finds the nodes that count.
func (g *grouper) counting(k *constraint, affinity, taints bool, keys []int32) who {
	c := g.c
	terms := [][]int32{nil}
	if affinity {
		terms = k.terms
	}
	old, rows := c.nodesWith(terms), make(pack.Mask, len(c.rows))
	for _, term := range terms {
		for i, b := range c.labelMask(term) {
			rows[i] |= b
		}
	}
	if taints {
		t := c.tolerance(k)
		for w := range old {
			old[w] &= t.hardNodes[w]
		}
		for i := range rows {
			if t.hardPools[c.rows[i].pool] {
				rows[i] = 0
			}
		}
	}
	for _, key := range keys {
		for i, m := range g.having(int(key)) {
			rows[i] &= m
		}
	}
	w := who{old: make([]bool, len(c.nodes)), rows: rows}
	for i := range w.old {
		w.old[i] = hasBit(old, i) && !slices.ContainsFunc(keys, func(key int32) bool { return c.space.Nodes[i].Domain[key] == board.Absent })
	}
	if !slices.Contains(w.old, false) {
		w.old = nil
	}
	if w.opens = c.opensOf(terms); len(w.opens) > 0 {
		w.match = func(row int32, bit uint64, open []int32) bool {
			return rows[row]&bit != 0 && c.holdsOpen(terms, row, bit, open)
		}
		return w
	}
	for i, m := range rows {
		if m != ^uint64(0)>>(64-len(c.rows[i].offerings)) {
			return w
		}
	}
	w.rows = nil
	return w
}

// opensOf lists the open keys that the terms ask about, and what they ask.
func (c *compiler) opensOf(terms [][]int32) (keys []pack.OpenReq) {
	for _, term := range terms {
		for _, a := range term {
			at := &c.atoms[a]
			if at.open >= 0 && !slices.ContainsFunc(keys, func(r pack.OpenReq) bool { return r.Key == at.openKey }) {
				keys = append(keys, pack.OpenReq{Key: at.openKey, State: at.open})
			}
		}
	}
	return keys
}

// holdsOpen reports whether a new node whose open keys are in the given states meets one of the terms.
func (c *compiler) holdsOpen(terms [][]int32, row int32, bit uint64, open []int32) bool {
	return slices.ContainsFunc(terms, func(term []int32) bool {
		return !slices.ContainsFunc(term, func(a int32) bool {
			at := &c.atoms[a]
			return at.mask[row]&bit == 0 || at.open >= 0 && c.meet(open[at.openKey], at.open) < 0
		})
	})
}

// anti returns the group of an anti-affinity term.
func (g *grouper) anti(p *corev1.Pod, t *corev1.PodAffinityTerm, soft bool) int32 {
	return g.term(board.Anti, p, t, soft)
}

func (g *grouper) term(kind board.Kind, p *corev1.Pod, t *corev1.PodAffinityTerm, soft bool) int32 {
	s, n := g.x.of(t.LabelSelector, p, t.MatchLabelKeys, t.MismatchLabelKeys), g.x.namespacesOf(p, t)
	id := groupKey{kind: kind, soft: soft, key: g.key(t.TopologyKey), sel: s.id, namespaces: n.id, who: -1, set: -1}
	return g.group(id, func() []int32 { return g.counted.audience(s, n) })
}

// affinity returns the groups of a pod's required affinity: one for each topology key, and all of them count the
// pods that match every term.
func (g *grouper) affinity(p *corev1.Pod) []int32 {
	terms := requiredAffinity(p)
	if len(terms) == 0 {
		return nil
	}
	type part struct{ key, sel, namespaces int32 }
	var parts []part
	var all []int32
	for i := range terms {
		t := &terms[i]
		s, n := g.x.of(t.LabelSelector, p, t.MatchLabelKeys, t.MismatchLabelKeys), g.x.namespacesOf(p, t)
		parts = append(parts, part{g.key(t.TopologyKey), s.id, n.id})
		if some := g.counted.audience(s, n); i == 0 {
			all = some
		} else {
			all = intersect(all, some)
		}
	}
	slices.SortFunc(parts, func(a, b part) int {
		return slices.Compare([]int32{a.key, a.sel, a.namespaces}, []int32{b.key, b.sel, b.namespaces})
	})
	parts = slices.Compact(parts)
	var b []byte
	for _, x := range parts {
		b = binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(b, int64(x.key)), int64(x.sel)), int64(x.namespaces))
	}
	set, ok := g.setIDs[string(b)]
	if !ok {
		set = int32(len(g.sets))
		g.setIDs[string(b)], g.sets = set, append(g.sets, all)
	}
	var out []int32
	for _, x := range parts {
		id := groupKey{kind: board.Affinity, key: x.key, sel: -1, namespaces: -1, who: -1, set: set}
		out = append(out, g.group(id, func() []int32 { return g.sets[set] }))
	}
	return out
}

// intersect is what two sorted lists have in common.
func intersect(a, b []int32) []int32 {
	var out []int32
	for i, k := 0, 0; i < len(a) && k < len(b); {
		switch {
		case a[i] < b[k]:
			i++
		case a[i] > b[k]:
			k++
		default:
			out = append(out, a[i])
			i, k = i+1, k+1
		}
	}
	return out
}
