package cover

import (
	"cmp"
	"math"
	"slices"
)

// grouping puts items that are nearly alike together, at most n groups if there are not more sets of shelves. Each group
// asks for the least that any of its items asks for: a bound for the groups is one for the items.
func (m *master) grouping(n int) (p *Problem, of []int32) {
	var list []*bunch
	for _, items := range m.byShelves() {
		list = append(list, m.bunch(items))
	}
	for len(list) < n {
		worst := slices.MaxFunc(list, func(a, b *bunch) int { return cmp.Compare(a.loss, b.loss) })
		if worst.loss <= 0 {
			break
		}
		a, b := m.split(worst)
		*worst = *a
		list = append(list, b)
	}
	p = &Problem{Sites: m.p.Sites, Finite: m.p.Finite, unit: m.p.unit, Shelves: make([][]int32, len(m.p.Shelves))}
	of = make([]int32, len(m.p.Items))
	for g, b := range list {
		it := Item{Req: b.least}
		for _, k := range b.items {
			of[k] = int32(g)
			it.Count += m.p.Items[k].Count
			it.Most += min(m.p.Items[k].Most, m.p.Items[k].Count)
		}
		p.Items = append(p.Items, it)
	}
	for s, items := range m.p.Shelves {
		for _, k := range items {
			p.Shelves[s] = append(p.Shelves[s], of[k])
		}
		slices.Sort(p.Shelves[s])
		p.Shelves[s] = slices.Compact(p.Shelves[s])
	}
	return p, of
}

// bunch is items in one group, and how much more they are worth than the least of them.
type bunch struct {
	items []int32
	least []int64
	loss  float64
}

// byShelves lists the items that are on the same shelves.
func (m *master) byShelves() [][]int32 {
	on := make([][]byte, len(m.p.Items))
	for s, items := range m.p.Shelves {
		for _, k := range items {
			on[k] = append(on[k], byte(s), byte(s>>8))
		}
	}
	at := map[string]int{}
	var out [][]int32
	for k, key := range on {
		i, ok := at[string(key)]
		if !ok {
			i = len(out)
			at[string(key)] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], int32(k))
	}
	return out
}

func (m *master) bunch(items []int32) *bunch {
	b := &bunch{items: items, least: slices.Clone(m.p.Items[items[0]].Req)}
	for _, k := range items {
		for d, q := range m.p.Items[k].Req {
			b.least[d] = min(b.least[d], q)
		}
	}
	for _, k := range items {
		b.loss += float64((m.fallback[k] - m.fluidWorth(b.least)) * float64(m.p.Items[k].Count))
	}
	return b
}

func (m *master) fluidWorth(req []int64) float64 {
	v := 0.0
	for d, q := range req {
		v += float64(m.prices[d] * float64(q))
	}
	return v
}

// split halves a bunch along the resource in which its items differ most.
func (m *master) split(b *bunch) (*bunch, *bunch) {
	dim, most := 0, -1.0
	for d := range b.least {
		lo, hi := int64(math.MaxInt64), int64(0)
		for _, k := range b.items {
			q := m.p.Items[k].Req[d]
			lo, hi = min(lo, q), max(hi, q)
		}
		if v := m.prices[d] * float64(hi-lo); v > most {
			dim, most = d, v
		}
	}
	items := slices.Clone(b.items)
	slices.SortStableFunc(items, func(x, y int32) int {
		return cmp.Compare(m.p.Items[x].Req[dim], m.p.Items[y].Req[dim])
	})
	// Where the gap is widest near the middle, so that sizes just above a fraction of a node stay apart from others.
	from, to := len(items)/4, len(items)-len(items)/4
	cut, gap := len(items)/2, int64(-1)
	for i := max(from, 1); i < to; i++ {
		if g := m.p.Items[items[i]].Req[dim] - m.p.Items[items[i-1]].Req[dim]; g > gap {
			cut, gap = i, g
		}
	}
	return m.bunch(items[:cut]), m.bunch(items[cut:])
}

// passes is how often what pods are worth is corrected.
const passes = 6

// coarse plans for many items: groups give the bound and the worths, sweeps place the items, and after each the pods
// that ended on nodes where they are worth little for the money are worth more.
func (m *master) coarse() []float64 {
	p, of := m.grouping(m.o.Rows)
	o := *m.o
	o.Admit, o.Work = nil, m.o.Work/2
	g := newMaster(p, p.prune(), &o)
	g.generate(o.Rounds)
	m.safe = g.safe
	m.worth = make([]int64, len(of))
	y := make([]float64, len(m.fallback))
	for k, i := range of {
		m.worth[k] = g.worth[i]
		y[k] = g.y[i]
		if f := m.fluidWorth(p.Items[i].Req); f > 0 {
			y[k] *= m.fallback[k] / f
		}
	}
	m.o.trace("groups %d lp %.0f safe %d spent %d", len(p.Items), g.value*p.unit, g.safe, g.spent)
	ratio := m.high()
	best := y
	for range passes {
		was := m.bestCost
		plan := m.sweep(y, ratio)
		m.o.trace("pass: %d best %d spent %d", m.p.total(plan), m.bestCost, m.spent)
		if m.bestCost != was {
			best = y
		}
		if !m.spend() {
			break
		}
		y = m.raise(y, plan)
	}
	return best
}

// raise corrects what items are worth by what the nodes cost on which they are.
func (m *master) raise(y []float64, plan []Pattern) []float64 {
	sum, n := make([]float64, len(y)), make([]float64, len(y))
	for _, p := range plan {
		v := 0.0
		for _, x := range p.Parts {
			v += float64(y[x.Item] * float64(x.N))
		}
		f := math.Sqrt(m.p.cost(p.Site) / max(v, free))
		for _, x := range p.Parts {
			k := float64(int64(x.N) * p.Count)
			sum[x.Item] += float64(f * k)
			n[x.Item] += k
		}
	}
	out := slices.Clone(y)
	for i := range sum {
		if n[i] > 0 {
			out[i] *= sum[i] / n[i]
		}
	}
	return out
}
