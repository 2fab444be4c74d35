package cover

import "slices"

// Answer is how a problem may be covered.
type Answer struct {
	// Patterns hold all the pods; nil if that was not found.
	Patterns []Pattern
	// Price is the sum over the patterns, Bound what no plan can go below; in billionths an hour.
	Price, Bound int64
	// Worth proves the bound: what a pod of each item is worth, in billionths.
	Worth []int64
}

// Solve covers the problem.
func Solve(p *Problem, o *Options) *Answer {
	p, kept := p.prepare()
	a := &Answer{}
	if len(p.Items) == 0 {
		return a
	}
	m := newMaster(p, kept, o)
	o.trace("items %d sites %d kept %d", len(p.Items), len(p.Sites), len(kept))
	m.seed(o.Seeds)
	var worth []float64
	if len(p.Items) > o.Rows {
		worth = m.coarse()
	} else {
		m.generate(o.Rounds)
		worth = m.y
		if patterns := m.dive(); patterns != nil {
			m.offer(patterns, p.total(patterns))
		}
	}
	a.Bound, a.Worth = m.safe, m.worth
	o.trace("dive: best %d spent %d", m.bestCost, m.spent)
	if m.best != nil && o.Improve > 0 {
		m.improve(worth)
	}
	a.Patterns, a.Price = m.best, m.bestCost
	return a
}

// Bound proves a bound without a plan.
func Bound(p *Problem, o *Options) *Answer {
	p, kept := p.prepare()
	a := &Answer{}
	if len(p.Items) == 0 {
		return a
	}
	m := newMaster(p, kept, o)
	if len(p.Items) > o.Rows {
		p, _ = m.grouping(o.Rows)
		m = newMaster(p, p.prune(), o)
	}
	m.generate(o.Rounds)
	a.Bound, a.Worth = m.safe, m.worth
	return a
}

func (p *Problem) total(patterns []Pattern) int64 {
	sum := int64(0)
	for i := range patterns {
		sum += p.Sites[patterns[i].Site].Price * patterns[i].Count
	}
	return sum
}

// seed takes over contents; they are a plan if they hold all there is.
func (m *master) seed(patterns []Pattern) {
	left := slices.Clone(m.left)
	claims := false
	for _, s := range patterns {
		m.add(s.Site, s.Parts)
		claims = claims || len(m.p.Sites[s.Site].Claims) > 0
		for _, p := range s.Parts {
			left[p.Item] -= int64(p.N) * s.Count
		}
	}
	if !claims && !slices.ContainsFunc(left, func(n int64) bool { return n != 0 }) {
		m.offer(slices.Clone(patterns), m.p.total(patterns))
	}
}
