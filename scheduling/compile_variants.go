package scheduling

import (
	"cmp"
	"encoding/binary"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// tolerance is a list of tolerations, and what it lets pods go to. It is worked out when first asked for.
type tolerance struct {
	list  []corev1.Toleration
	known bool
	// hardPools and softPools mark pools with a taint that is not tolerated; hardNodes and softNodes have a bit
	// for each existing node without one. Soft taints are those with effect PreferNoSchedule.
	hardPools, softPools []bool
	hardNodes, softNodes []uint64
	// allSoft is set where no soft taint matters.
	allSoft bool
}

// toleranceID numbers equal lists; key is their encoding.
func (c *compiler) toleranceID(key string, list []corev1.Toleration) int32 {
	if id, ok := c.toleranceIDs[key]; ok {
		return id
	}
	id := int32(len(c.tolerances))
	c.toleranceIDs[key] = id
	c.tolerances = append(c.tolerances, tolerance{list: list})
	return id
}

// tolerance may be asked for once existing nodes are read.
func (c *compiler) tolerance(k *constraint) *tolerance {
	t := &c.tolerances[k.tol]
	if t.known {
		return t
	}
	t.known, t.allSoft = true, true
	for i := range c.p.Pools {
		t.hardPools = append(t.hardPools, tolerated(c.p.Pools[i].Taints, t.list, false) != nil)
		t.softPools = append(t.softPools, tolerated(c.p.Pools[i].Taints, t.list, true) != nil)
		t.allSoft = t.allSoft && !t.softPools[i]
	}
	t.hardNodes, t.softNodes = newBits(len(c.nodes)), newBits(len(c.nodes))
	for i := range c.nodes {
		if tolerated(c.nodes[i].taints, t.list, false) == nil {
			setBit(t.hardNodes, i)
		}
		if tolerated(c.nodes[i].taints, t.list, true) == nil {
			setBit(t.softNodes, i)
		} else {
			t.allSoft = false
		}
	}
	return t
}

func newBits(n int) []uint64 { return make([]uint64, (n+63)/64) }

func setBit(bits []uint64, i int) { bits[i>>6] |= 1 << (i & 63) }

func hasBit(bits []uint64, i int) bool { return bits[i>>6]>>(i&63)&1 != 0 }

// baseID numbers equal alternatives of conditions.
func (c *compiler) baseID(terms [][]int32) int32 {
	var b []byte
	for _, key := range sortedTerms(terms) {
		b = append(append(b, 't'), key...)
	}
	if id, ok := c.baseIDs[string(b)]; ok {
		return id
	}
	id := int32(len(c.baseIDs))
	c.baseIDs[string(b)] = id
	return id
}

// sortedTerms encodes alternatives without regard to order.
func sortedTerms(terms [][]int32) []string {
	out := make([]string, 0, len(terms))
	for _, term := range terms {
		term = slices.Clone(term)
		slices.Sort(term)
		term = slices.Compact(term)
		b := binary.AppendUvarint(nil, uint64(len(term)))
		for _, a := range term {
			b = binary.AppendUvarint(b, uint64(a))
		}
		out = append(out, string(b))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// unconditional reports whether the terms hold on every node.
func unconditional(terms [][]int32) bool {
	return slices.ContainsFunc(terms, func(t []int32) bool { return len(t) == 0 })
}

// nodesWith has a bit for each existing node that meets one of the terms.
func (c *compiler) nodesWith(terms [][]int32) []uint64 {
	out := newBits(len(c.nodes))
	for _, term := range terms {
		all := newBits(len(c.nodes))
		for i := range c.nodes {
			setBit(all, i)
		}
		for _, a := range term {
			at := &c.atoms[a]
			if at.nodes == nil {
				at.nodes = newBits(len(c.nodes))
				for i := range c.nodes {
					if c.nodes[i].has(at) {
						setBit(at.nodes, i)
					}
				}
			}
			for w := range all {
				all[w] &= at.nodes[w]
			}
		}
		for w := range out {
			out[w] |= all[w]
		}
	}
	return out
}

// vary lists the variants of a constraint as far as nodes go; shapes adds what pods prefer of each other.
func (c *compiler) vary(k *constraint) {
	k.variants = c.ladder(k, k.preferred, nil)
	for v := range k.variants {
		c.evaluate(k, &k.variants[v])
	}
	c.keepPolicies(k.variants)
}

// ladder lists variants: all preferences, then one fewer at a time, the lightest first, and in the end
// PreferNoSchedule taints too. Preferences that nobody can meet are left out of all of them, so that they do not
// take others with them; out tells which of those between pods are such.
func (c *compiler) ladder(k *constraint, prefs []preference, out []bool) []variant {
	var hopeful []preference
	var given []string
	for i := range prefs {
		p := &prefs[i]
		if p.soft >= 0 && out[p.soft] || p.soft < 0 && c.hopeless(k, p) {
			given = append(given, p.text)
		} else {
			hopeful = append(hopeful, *p)
		}
	}
	slices.SortStableFunc(hopeful, func(a, b preference) int { return cmp.Compare(b.weight, a.weight) })
	var list []variant
	for kept := len(hopeful); kept >= 0; kept-- {
		v := variant{allowSoft: !c.respects, given: slices.Clone(given)}
		for i := len(hopeful) - 1; i >= kept; i-- {
			v.given = append(v.given, hopeful[i].text)
		}
		for _, p := range hopeful[:kept] {
			if p.soft >= 0 {
				v.soft = append(v.soft, p.soft)
			}
		}
		v.terms = withPreferences(k.terms, hopeful[:kept])
		list = append(list, v)
	}
	if c.softTaints && c.respects && !c.tolerance(k).allSoft {
		last := list[len(list)-1]
		last.allowSoft = true
		last.given = append(slices.Clone(last.given), "no PreferNoSchedule taint")
		list = append(list, last)
	}
	return list
}

func withPreferences(terms [][]int32, prefs []preference) [][]int32 {
	out := make([][]int32, len(terms))
	for i, t := range terms {
		out[i] = slices.Clone(t)
		for _, pref := range prefs {
			out[i] = append(out[i], pref.atoms...)
		}
	}
	return out
}

// hopeless reports whether the preference, alone with what is required, leaves nothing.
func (c *compiler) hopeless(k *constraint, pref *preference) bool {
	v := variant{allowSoft: true, terms: withPreferences(k.terms, []preference{*pref})}
	for _, term := range v.terms {
		for i, b := range c.termMask(k, term, true) {
			if b != 0 && c.poolRespects[c.rows[i].pool] {
				return false
			}
		}
	}
	return !c.nodesRespect || !slices.ContainsFunc(c.nodesFor(k, &v), func(w uint64) bool { return w != 0 })
}

// nodesFor has a bit for each existing node with the labels and taints that the variant asks for.
func (c *compiler) nodesFor(k *constraint, v *variant) []uint64 {
	t := c.tolerance(k)
	out := c.nodesWith(v.terms)
	for w := range out {
		out[w] &= t.hardNodes[w]
		if !v.allowSoft {
			out[w] &= t.softNodes[w]
		}
	}
	return out
}

// keepPolicies makes every variant like the last one where preferences do not count: on new nodes of pools
// that ignore them, and on existing nodes if the call does.
func (c *compiler) keepPolicies(list []variant) {
	last := &list[len(list)-1]
	if slices.Contains(c.poolRespects, false) && c.respects {
		for i := range list[:len(list)-1] {
			c.ignoreIn(&list[i], last)
		}
	}
	for i := range list {
		v := &list[i]
		if !c.nodesRespect {
			v.fits = last.fits
		}
		v.mask, v.maskID = c.intern(v.mask)
	}
}

// ignoreIn gives the variant the last one's offerings in pools that ignore preferences.
func (c *compiler) ignoreIn(v, last *variant) {
	only := func(m pack.Mask, respecting bool) pack.Mask {
		m = slices.Clone(m)
		for i := range m {
			if c.poolRespects[c.rows[i].pool] != respecting {
				m[i] = 0
			}
		}
		return m
	}
	mask, other := only(v.mask, true), only(last.mask, false)
	for i := range mask {
		mask[i] |= other[i]
	}
	if v.alts != nil || last.alts != nil {
		var alts []pack.Alternative
		for _, from := range []struct {
			v          *variant
			respecting bool
		}{{v, true}, {last, false}} {
			list := from.v.alts
			if list == nil {
				list = []pack.Alternative{{Mask: from.v.mask}}
			}
			for _, a := range list {
				alts = append(alts, pack.Alternative{Mask: only(a.Mask, from.respecting), Open: a.Open})
			}
		}
		v.alts = alts
	}
	v.mask = mask
}
