package cover

import "slices"

// sweep places all that is left by worths y, the most worth for the money first, and makes columns of the contents.
// ratio has what each site's content is worth for its price at most, as far as that is known. What it finds is
// kept if nothing cheaper was found.
func (m *master) sweep(y []float64, ratio []float64) []Pattern {
	left := slices.Clone(m.left)
	kept := m.c.left
	m.c.left = left
	defer func() { m.c.left = kept }()
	y = slices.Clone(y)
	for i := range m.p.Items {
		y[i] = max(y[i], m.fallback[i]*1e-3, free)
	}
	var q queue
	for s := range m.c.shelves {
		for _, site := range m.c.shelves[s].sites {
			if len(m.p.Sites[site].Claims) == 0 {
				q = append(q, ranked{site, ratio[site]})
			}
		}
	}
	q.order()
	cost := int64(0)
	var out []Pattern
	for len(q) > 0 && q[0].ratio > 0 {
		site := q[0].site
		price := max(m.p.cost(site), free)
		var parts []Part
		got := 0.0
		m.c.price(site, y, -1, nil, func(p []Part, worth float64) { parts, got = p, worth/price })
		if parts != nil && m.o.Admit != nil {
			parts = m.o.Admit(site, parts)
		}
		if len(parts) == 0 {
			q[0].ratio = 0
			q.down(0)
			continue
		}
		q[0].ratio = got
		if got < q.next()*(1-1e-4) {
			q.down(0)
			continue
		}
		mult := least(left, parts)
		for _, p := range parts {
			left[p.Item] -= mult * int64(p.N)
		}
		m.add(site, parts)
		cost += m.p.Sites[site].Price * mult
		out = append(out, Pattern{site, parts, mult})
		q.down(0)
	}
	if slices.Max(left) == 0 {
		m.offer(out, cost)
	}
	return out
}

// offer keeps a way to place everything if it is the cheapest.
func (m *master) offer(patterns []Pattern, cost int64) {
	if m.best == nil || cost < m.bestCost {
		m.best, m.bestCost = patterns, cost
	}
}

// least is how many nodes with the parts there are pods for.
func least(left []int64, parts []Part) int64 {
	n := left[parts[0].Item] / int64(parts[0].N)
	for _, p := range parts[1:] {
		n = min(n, left[p.Item]/int64(p.N))
	}
	return n
}

type ranked struct {
	site  int32
	ratio float64
}

// queue is a heap of sites, the greatest ratio first.
type queue []ranked

func (q queue) less(i, j int) bool {
	if q[i].ratio != q[j].ratio {
		return q[i].ratio > q[j].ratio
	}
	return q[i].site < q[j].site
}

func (q queue) order() {
	for i := len(q) / 2; i >= 0; i-- {
		q.down(i)
	}
}

func (q queue) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(q) {
			return
		}
		if c+1 < len(q) && q.less(c+1, c) {
			c++
		}
		if !q.less(c, i) {
			return
		}
		q[i], q[c] = q[c], q[i]
		i = c
	}
}

// next is the ratio of the site after the first.
func (q queue) next() float64 {
	v := 0.0
	for i := 1; i < min(3, len(q)); i++ {
		v = max(v, q[i].ratio)
	}
	return v
}
