package cover

import (
	"cmp"
	"slices"
)

// improver takes a few nodes of a plan apart at a time, plans for their pods anew and keeps what is cheaper.
type improver struct {
	m *master
	// y is what items are worth.
	y     []float64
	nodes []node
	// state of the generator that mixes nodes; fixed at first, so that the same problem gives the same plan.
	state uint64
	saved int64
}

// node is one node of the plan.
type node struct {
	site  int32
	parts []Part
	// waste is the part of its price that its content is not worth, tried how often it was taken apart.
	waste float64
	tried int
}

const (
	// together is how many nodes are taken apart at a time.
	together = 9
	// enough is how often each node is taken apart in vain.
	enough = 60
)

// improve works on the best plan until the work ends or nothing has helped for long.
func (m *master) improve(y []float64) {
	v := improver{m: m, y: y, state: 1}
	for _, p := range m.best {
		for range p.Count {
			v.nodes = append(v.nodes, v.node(p.Site, p.Parts))
		}
	}
	spent, tries, wins := int64(0), 0, 0
	for spent < m.o.Improve && len(v.nodes) > 1 && !m.out {
		slices.SortStableFunc(v.nodes, func(a, b node) int {
			return cmp.Or(cmp.Compare(a.tried, b.tried), cmp.Compare(b.waste, a.waste))
		})
		if v.nodes[0].tried >= enough {
			break
		}
		won, work := v.step(v.pick())
		spent += work
		m.out = m.out || m.o.Spend != nil && !m.o.Spend(work)
		tries++
		if won {
			wins++
		} else if len(v.nodes) <= together {
			break // it would be the same ones again
		}
	}
	m.o.trace("improve: %d tries, %d wins, saved %d, spent %d", tries, wins, v.saved, spent)
	if v.saved > 0 {
		m.best, m.bestCost = patterns(v.nodes), m.bestCost-v.saved
	}
}

func (v *improver) node(site int32, parts []Part) node {
	n := node{site: site, parts: parts, waste: v.m.p.cost(site)}
	for _, p := range parts {
		n.waste -= float64(max(v.y[p.Item], 0) * float64(p.N))
	}
	return n
}

// pick chooses the node that was tried least and wastes most, and others with it: every second one is of those that
// come next.
func (v *improver) pick() []int {
	pick := []int{0}
	for len(pick) < min(together, len(v.nodes)) {
		i := v.next(len(v.nodes))
		if len(pick)%2 == 1 {
			i = v.next(len(v.nodes)/4 + 1)
		}
		for slices.Contains(pick, i) {
			i = (i + 1) % len(v.nodes)
		}
		pick = append(pick, i)
	}
	slices.Sort(pick)
	return pick
}

func (v *improver) next(n int) int {
	v.state = v.state*6364136223846793005 + 1442695040888963407
	return int(v.state >> 33 % uint64(n))
}

// step plans for the pods of some nodes as if there were no others.
func (v *improver) step(pick []int) (won bool, work int64) {
	price := int64(0)
	for _, i := range pick {
		v.nodes[i].tried++
		price += v.m.p.Sites[v.nodes[i].site].Price
		if len(v.m.p.Sites[v.nodes[i].site].Claims) > 0 {
			return false, 1
		}
	}
	s := v.m.excerpt(v.nodes, pick)
	o := Options{Rounds: 12, DiveRounds: 1, Pivots: 4000, Smooth: 0.3, Gap: 0.002, Work: 60_000}
	if v.m.o.Admit != nil {
		o.Admit = s.admit(v.m.o.Admit)
	}
	m := newMaster(s.p, v.m.cheaper(s.p, price), &o)
	for _, i := range pick {
		m.add(v.nodes[i].site, s.parts(v.nodes[i].parts, s.own))
	}
	m.generate(o.Rounds)
	if found := m.dive(); found != nil {
		m.offer(found, s.p.total(found))
	}
	m.spend()
	work = m.spent + 200 // what it takes to set out
	if m.best == nil || m.bestCost >= price {
		return false, work
	}
	for k := len(pick) - 1; k >= 0; k-- {
		v.nodes = slices.Delete(v.nodes, pick[k], pick[k]+1)
	}
	for _, p := range m.best {
		for range p.Count {
			v.nodes = append(v.nodes, v.node(p.Site, s.parts(p.Parts, s.items)))
		}
	}
	v.saved += price - m.bestCost
	return true, work
}

// excerpt is the problem of the pods of a few nodes.
type excerpt struct {
	p *Problem
	// items are those of the whole problem, own the excerpt's by them.
	items, own []int32
}

func (m *master) excerpt(nodes []node, pick []int) *excerpt {
	s := &excerpt{p: &Problem{Sites: m.p.Sites, unit: m.p.unit, Shelves: make([][]int32, len(m.p.Shelves))}, own: make([]int32, len(m.p.Items))}
	count := make([]int64, len(m.p.Items))
	for _, i := range pick {
		for _, p := range nodes[i].parts {
			count[p.Item] += int64(p.N)
		}
	}
	for item, n := range count {
		if n > 0 {
			s.own[item] = int32(len(s.items))
			s.items = append(s.items, int32(item))
			it := m.p.Items[item]
			it.Count = n
			s.p.Items = append(s.p.Items, it)
		}
	}
	for i := range m.c.shelves {
		for _, item := range m.c.shelves[i].items {
			if count[item] > 0 {
				s.p.Shelves[i] = append(s.p.Shelves[i], s.own[item])
			}
		}
	}
	return s
}

// parts are the same in other items.
func (s *excerpt) parts(parts []Part, items []int32) []Part {
	out := make([]Part, len(parts))
	for i, p := range parts {
		out[i] = Part{items[p.Item], p.N}
	}
	return out
}

func (s *excerpt) admit(whole func(int32, []Part) []Part) func(int32, []Part) []Part {
	return func(site int32, parts []Part) []Part {
		return s.parts(whole(site, s.parts(parts, s.items)), s.own)
	}
}

// cheaper are the sites for the problem's items that cost less than price and claim nothing finite.
func (m *master) cheaper(p *Problem, price int64) []int32 {
	var out []int32
	for i := range m.c.shelves {
		if len(p.Shelves[i]) == 0 {
			continue
		}
		for _, site := range m.c.shelves[i].sites {
			if st := &m.p.Sites[site]; len(st.Claims) == 0 && st.Price < price {
				out = append(out, site)
			}
		}
	}
	return out
}

// patterns puts equal nodes together.
func patterns(nodes []node) []Pattern {
	compare := func(a, b node) int {
		return cmp.Or(cmp.Compare(a.site, b.site), slices.CompareFunc(a.parts, b.parts, func(x, y Part) int {
			return cmp.Or(cmp.Compare(x.Item, y.Item), cmp.Compare(x.N, y.N))
		}))
	}
	slices.SortStableFunc(nodes, compare)
	var out []Pattern
	for i := range nodes {
		if i > 0 && compare(nodes[i-1], nodes[i]) == 0 {
			out[len(out)-1].Count++
			continue
		}
		out = append(out, Pattern{nodes[i].site, nodes[i].parts, 1})
	}
	return out
}
