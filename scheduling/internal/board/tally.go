package board

import "slices"

// Tally counts, for every group and domain, the pods that the group counts and those that state it.
type Tally struct {
	m *Model
	// in and own are by domain, from index.at on.
	in, own []int32
	// sum is the number of pods counted by a group on nodes that have its key, hosts included.
	sum []int32
	// nodes is, for spreads, how many nodes count in a domain.
	nodes []int32
	// shut marks domains that nobody can open any more; nil: none.
	shut []bool
}

// NewTally is a tally of nothing.
func NewTally(m *Model) *Tally {
	n := m.at[len(m.Groups)]
	return &Tally{m: m, in: make([]int32, n), own: make([]int32, n), sum: make([]int32, len(m.Groups)), nodes: make([]int32, n)}
}

// Copy makes t equal to from.
func (t *Tally) Copy(from *Tally) {
	t.m = from.m
	t.in = append(t.in[:0], from.in...)
	t.own = append(t.own[:0], from.own...)
	t.sum = append(t.sum[:0], from.sum...)
	t.nodes = append(t.nodes[:0], from.nodes...)
	t.shut = slices.Clone(from.shut)
}

// least is the global minimum of a spread for a class with the link.
func (t *Tally) least(x link) int32 {
	g := x.group
	gr := &t.m.Groups[g]
	if gr.Key == Host {
		return 0
	}
	at := t.m.at[g]
	least, domains := int32(-1), int32(0)
	for d, ok := range x.reach {
		if !ok && t.nodes[int(at)+d] == 0 || t.shut != nil && t.shut[int(at)+d] {
			continue
		}
		domains++
		if n := t.in[int(at)+d]; least < 0 || n < least {
			least = n
		}
	}
	if domains < gr.MinDomains {
		return 0
	}
	return max(least, 0)
}

// starts reports whether nothing that the affinity's terms count is anywhere, so that a pod which matches its own
// terms may be the first.
func (t *Tally) starts(g int32) bool {
	set := t.m.Groups[g].Set
	if set < 0 {
		return t.sum[g] == 0
	}
	for _, other := range t.m.sets[set] {
		if t.sum[other] > 0 {
			return false
		}
	}
	return true
}

// allows tells whether one more pod with the link may join domain d, and how many the group counts there.
func (t *Tally) allows(l link, d int32, least int32) bool {
	gr := &t.m.Groups[l.group]
	if d < 0 {
		return !l.owns || gr.Kind == Anti
	}
	at := t.m.at[l.group] + d
	return t.permits(l, t.in[at], t.own[at], least)
}

// permits is the rule of a group, given what it counts in a domain.
func (t *Tally) permits(l link, in, own, least int32) bool {
	gr := &t.m.Groups[l.group]
	switch gr.Kind {
	case Spread:
		if !l.owns {
			return true
		}
		if l.in {
			in++
		}
		return in-least <= gr.MaxSkew
	case Affinity:
		return !l.owns || in > 0 || l.in && t.starts(l.group)
	default:
		return (!l.owns || in == 0) && (!l.in || own == 0)
	}
}

// Choice are the domains of one key that a pod may join.
type Choice struct {
	// OK is by domain; Rank is how many pods the groups count there, all together.
	OK   []bool
	Rank []int32
	// None tells whether a node without the label will do.
	None bool
}

// choose finds the domains of the class's k-th key that a pod may join under the variant.
func (t *Tally) choose(class int32, variant int32, k int, c *Choice) {
	l := &t.m.links[class]
	key := l.keys[k]
	n := len(t.m.Keys[key].Mask)
	c.OK, c.Rank, c.None = c.OK[:0], c.Rank[:0], true
	for range n {
		c.OK, c.Rank = append(c.OK, true), append(c.Rank, 0)
	}
	for _, x := range l.of[k] {
		t.restrict(x, c)
	}
	if int(variant) < len(l.soft) && variant >= 0 {
		for _, x := range l.soft[variant] {
			if t.m.Groups[x.group].Key == key {
				t.restrict(x, c)
			}
		}
	}
}

func (t *Tally) restrict(x link, c *Choice) {
	gr := &t.m.Groups[x.group]
	c.None = c.None && t.allows(x, Absent, 0)
	if !x.owns && gr.Kind != Anti {
		return
	}
	least := int32(0)
	if gr.Kind == Spread {
		least = t.least(x)
	}
	at := t.m.at[x.group]
	for d := range c.OK {
		c.OK[d] = c.OK[d] && t.allows(x, int32(d), least)
		c.Rank[d] += t.in[int(at)+d]
	}
}

// add counts n pods with the link in domain d.
func (t *Tally) add(l link, d, n int32) {
	gr := &t.m.Groups[l.group]
	if d < 0 {
		return
	}
	at := t.m.at[l.group] + d
	if l.in {
		t.in[at] += n
		t.sum[l.group] += n
	}
	if l.owns && gr.Kind == Anti {
		t.own[at] += n
	}
}

// Choose finds the domains of the class's k-th key that one more pod may join under the variant.
func (t *Tally) Choose(class, variant int32, k int, c *Choice) { t.choose(class, variant, k, c) }

// Count adds n pods of the class in the domains of its keys, before anyone knows which nodes they get: all count.
func (t *Tally) Count(class int32, domain []int32, n int32) {
	l := &t.m.links[class]
	for k := range l.keys {
		for _, x := range l.of[k] {
			t.add(x, domain[k], n)
		}
	}
}

// In is how many pods a group counts in a domain, Least the global minimum of a spread.
func (t *Tally) In(group, d int32) int32 { return t.in[t.m.at[group]+d] }

// Owners is how many pods that state an anti-affinity are in a domain.
func (t *Tally) Owners(group, d int32) int32 { return t.own[t.m.at[group]+d] }

// Least is the global minimum of a spread.
func (t *Tally) Least(group int32) int32 {
	return t.least(link{group: group, reach: t.m.Groups[group].Eligible})
}

// Counts reports whether the least count of a spread, for pods of a class that states it, is one over the domain too.
func (t *Tally) Counts(class, group, d int32) bool {
	reach, ok := t.m.Classes[class].Reach[group]
	if !ok {
		reach = t.m.Groups[group].Eligible
	}
	at := t.m.at[group] + d
	return (reach[d] || t.nodes[at] > 0) && (t.shut == nil || !t.shut[at])
}

// Kin is how many of the class's anti-affinities close the domains to others already, on account of pods like it.
func (t *Tally) Kin(class int32, domain []int32) (n int32) {
	l := &t.m.links[class]
	for k := range l.keys {
		for _, x := range l.of[k] {
			if d := domain[k]; d >= 0 && x.owns && t.m.Groups[x.group].Kind == Anti && t.own[t.m.at[x.group]+d] > 0 {
				n++
			}
		}
	}
	return n
}
