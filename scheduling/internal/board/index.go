package board

import (
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// index is what boards need to know of a model and what is worked out once.
type index struct {
	// at is where a group's domains start in a board's counts; one past the last group is their number.
	at []int32
	// sets lists the groups of each set.
	sets [][]int32
	// loose lists, by key, the spreads with domains that none of their pods can reach: a node opened there by
	// others makes them count.
	loose [][]int32
	// domain is, by key and offering, the domain of its nodes: Absent, or several where the pool leaves it open.
	domain [][]int32
	// links are, by class, what the groups have to do with it; soft the same by variant.
	links []links
	// tier is the place of each pool in the order of weights.
	tier []int32
	// worth of a unit of each resource, in billionths an hour, by mask; fronts are the rows worth buying.
	fronts map[int32]*front
}

// several marks an offering whose nodes can be put into more than one domain.
const several = -2

// link is what a group has to do with a class.
type link struct {
	group int32
	// owns: the pods state the constraint; in: the group counts them.
	owns, in bool
	// reach are the domains that the class can reach, for spreads that it states.
	reach []bool
}

// links are those of one class, by topology key.
type links struct {
	// keys are those of the groups that the class is linked with, Host apart; of lists their links, soft ones
	// apart.
	keys []int32
	of   [][]link
	host []link
	// soft and softHost are by variant.
	soft [][]link
	any  bool
	// opens are the open keys on which it depends whether one of the groups counts a node.
	opens []pack.OpenReq
}

// Prepare works out what boards need, once, after the model is complete.
func (m *Model) Prepare() {
	if m.at != nil {
		return
	}
	m.at = make([]int32, 1, len(m.Groups)+1)
	m.sets = make([][]int32, m.Sets)
	m.loose = make([][]int32, len(m.Keys))
	partial := map[int32]bool{}
	for c := range m.Classes {
		for g, reach := range m.Classes[c].Reach {
			partial[g] = partial[g] || slices.Contains(reach, false)
		}
	}
	for g := range m.Groups {
		gr := &m.Groups[g]
		n := int32(0)
		if gr.Key != Host {
			n = int32(len(m.Keys[gr.Key].Mask))
			if gr.Kind == Spread && (partial[int32(g)] || slices.Contains(gr.Eligible, false)) {
				m.loose[gr.Key] = append(m.loose[gr.Key], int32(g))
			}
		}
		m.at = append(m.at, m.at[g]+n)
		if gr.Set >= 0 {
			m.sets[gr.Set] = append(m.sets[gr.Set], int32(g))
		}
	}
	m.domains()
	m.links = make([]links, len(m.Classes))
	var store linkStore
	for c := range m.Classes {
		m.links[c] = m.linksOf(&m.Classes[c], &store)
	}
	m.tier = make([]int32, 0)
	for t, pools := range m.Space.Tiers {
		for _, p := range pools {
			for len(m.tier) <= int(p) {
				m.tier = append(m.tier, 0)
			}
			m.tier[p] = int32(t)
		}
	}
	m.fronts = map[int32]*front{}
	for s := range m.Shapes {
		for v := range m.Shapes[s].Variants {
			vr := &m.Shapes[s].Variants[v]
			if m.fronts[vr.MaskID] == nil {
				m.fronts[vr.MaskID] = &front{m: m, mask: vr.Mask}
			}
		}
	}
}

// domains tells the domain of every offering.
func (m *Model) domains() {
	s := m.Space
	for k := range m.Keys {
		of := make([]int32, len(s.Offer))
		for i := range of {
			of[i] = Absent
		}
		for v, mask := range m.Keys[k].Mask {
			for r, b := range mask {
				for at := s.OfferStart[r]; at < s.OfferStart[r+1]; at++ {
					switch {
					case b>>(at-s.OfferStart[r])&1 == 0:
					case of[at] == Absent:
						of[at] = int32(v)
					default:
						of[at] = several
					}
				}
			}
		}
		m.domain = append(m.domain, of)
	}
}

// linkStore is memory for links, of which most classes have few.
type linkStore struct{ store []link }

// room is the list with room for one more link.
func (s *linkStore) room(list []link) []link {
	if len(list) > 0 {
		return list
	}
	if len(s.store) < linkRoom {
		s.store = make([]link, 512)
	}
	list, s.store = s.store[:0:linkRoom], s.store[linkRoom:]
	return list
}

const linkRoom = 2

func (m *Model) linksOf(c *Class, store *linkStore) links {
	var l links
	add := func(g int32, owns bool) {
		gr := &m.Groups[g]
		x := link{group: g, owns: owns, in: contains(c.In, g), reach: gr.Eligible}
		if own, ok := c.Reach[g]; ok {
			x.reach = own
		}
		l.any = true
		l.opens = append(l.opens, gr.Opens...)
		if gr.Key == Host {
			l.host = append(store.room(l.host), x)
			return
		}
		k := slices.Index(l.keys, gr.Key)
		if k < 0 {
			k = len(l.keys)
			l.keys, l.of = append(l.keys, gr.Key), append(l.of, nil)
		}
		l.of[k] = append(store.room(l.of[k]), x)
	}
	for _, g := range c.Owns {
		add(g, true)
	}
	for _, g := range c.In {
		if !contains(c.Owns, g) {
			add(g, false)
		}
	}
	// Soft groups that do not count the pods are there for the variants that obey them.
	for _, list := range c.Soft {
		of := make([]link, 0, len(list))
		for _, g := range list {
			of = append(of, link{group: g, owns: true, in: contains(c.In, g), reach: m.Groups[g].Eligible})
			if k := m.Groups[g].Key; k != Host && !slices.Contains(l.keys, k) {
				l.keys, l.of = append(l.keys, k), append(l.of, nil)
			}
			l.any = true
			l.opens = append(l.opens, m.Groups[g].Opens...)
		}
		l.soft = append(l.soft, of)
	}
	l.sortKeys()
	return l
}

// sortKeys puts the keys in the order of their names: groups are numbered as they are met.
func (l *links) sortKeys() {
	if slices.IsSorted(l.keys) {
		return
	}
	keys := slices.Clone(l.keys)
	slices.Sort(keys)
	of := make([][]link, len(keys))
	for i, k := range keys {
		of[i] = l.of[slices.Index(l.keys, k)]
	}
	l.keys, l.of = keys, of
}

func contains(sorted []int32, v int32) bool {
	_, ok := slices.BinarySearch(sorted, v)
	return ok
}

// Linked reports whether any constraint between pods, host ports apart, has to do with the class.
func (m *Model) Linked(class int32) bool { return m.links[class].any }

// KeysOf lists the topology keys, Host apart, of the constraints that have to do with the class.
func (m *Model) KeysOf(class int32) []int32 { return m.links[class].keys }

// DomainOf is the domain of the nodes of an offering, Absent, or below that if it is open.
func (m *Model) DomainOf(key, row int32, bit int) int32 {
	return m.domain[key][m.Space.OfferStart[row]+int32(bit)]
}

func rowBits(s *pack.Space, row int32) uint64 {
	return ^uint64(0) >> (64 - (s.OfferStart[row+1] - s.OfferStart[row]))
}

// CountedOnly reports whether spreads count the class but nothing that it asks ties it to a domain.
func (m *Model) CountedOnly(class int32) bool {
	l := &m.links[class]
	spread := false
	for _, of := range l.of {
		for _, x := range of {
			if x.owns {
				return false
			}
			spread = spread || m.Groups[x.group].Kind == Spread
		}
	}
	return spread
}

// Together reports whether the class is best placed one by one: it must share nodes with others, or volumes.
func (m *Model) Together(class int32) bool {
	if len(m.Classes[class].Volumes) > 0 {
		return true
	}
	for _, x := range m.links[class].host {
		if m.Groups[x.group].Kind == Affinity {
			return true
		}
	}
	return false
}

// GroupsOf lists the groups that count the class or that its pods state, required or not.
func (m *Model) GroupsOf(class int32) []int32 {
	c := &m.Classes[class]
	out := append(slices.Clone(c.Owns), c.In...)
	for _, list := range c.Soft {
		out = append(out, list...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Loose reports whether some spread counts a domain only once a node is there that its own pods could not have opened.
func (m *Model) Loose() bool {
	return slices.ContainsFunc(m.loose, func(groups []int32) bool { return len(groups) > 0 })
}

// SoftOnHosts reports whether preferences of the class are about single nodes.
func (m *Model) SoftOnHosts(class int32) bool {
	return slices.ContainsFunc(m.Classes[class].Soft, func(list []int32) bool {
		return slices.ContainsFunc(list, func(g int32) bool { return m.Groups[g].Key == Host })
	})
}

// FloorIsZero reports whether the least count of a spread is 0 whatever is placed, since there are fewer domains than it
// wants.
func (m *Model) FloorIsZero(g int32) bool {
	gr := &m.Groups[g]
	if gr.Kind != Spread || gr.Key == Host {
		return false
	}
	return int(gr.MinDomains) > len(gr.Eligible)
}

// TierOf is the place of the row's pool in the order of weights.
func (m *Model) TierOf(row int32) int64 { return int64(m.tier[m.Space.Pool[row]]) }
