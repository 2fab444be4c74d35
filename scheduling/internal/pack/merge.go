package pack

import (
	"cmp"
	"slices"
)

// Merge puts nodes together wherever one larger row costs no more than the two of them: the same pods at the same
// price or less, on fewer nodes. Nodes of pools with minValues and those that hold a reservation stay as they are.
func (s *Space) Merge(res *Result, jobs []Job, ru *Rules) {
	if len(res.Runs) == 0 || len(res.Runs) == 1 && res.Runs[0].Mult == 1 {
		return
	}
	m := mergerOf(s, res, jobs, ru)
	for k := range m.pools {
		m.pool(&m.pools[k])
	}
	out := res.Runs[:0]
	for i := range m.nodes {
		if m.nodes[i].run.Mult > 0 {
			out = append(out, m.nodes[i].run)
		}
	}
	res.Runs = out
	s.total(res)
}

// merger merges the nodes of a result.
type merger struct {
	s    *Space
	jobs []Job
	ru   *Rules
	led  Ledger
	// nodes are the runs, as many as there are and those that come of them.
	nodes []mergeable
	pools []mergePool
	used  []int64
	reps  []Content
	found mergeTarget
}

type mergeable struct {
	run   Run
	price int64
	// ruled is the content that rules concern.
	ruled []Content
}

// mergePool is what there is of one pool.
type mergePool struct {
	pool int32
	// nodes by number, the largest first.
	nodes []int32
	// rows of the pool, the cheapest first; most is the most of each resource that any of them has.
	rows  []int32
	price []int64
	most  []int64
	// least is the least of each resource that a node has in use.
	least []int64
	tries int
}

type mergeTarget struct {
	row   int32
	bits  uint64
	open  []int32
	price int64
}

// mergeTries bounds, by node of a pool, how many others are looked at; mergeMisses how many in a row may turn out not
// to go with one.
const mergeTries, mergeMisses = 64, 16

func mergerOf(s *Space, res *Result, jobs []Job, ru *Rules) *merger {
	m := &merger{s: s, jobs: jobs, ru: ru, led: s.Rest(res), used: make([]int64, s.Dims)}
	at := make([]int32, s.pools())
	for i := range res.Runs {
		r := &res.Runs[i]
		price, _ := s.Price(int(r.Row), r.Bits)
		n := mergeable{run: *r, price: price}
		for _, c := range r.Content {
			if ru.concerns(c.Class) {
				n.ruled = append(n.ruled, c)
			}
		}
		m.nodes = append(m.nodes, n)
		pool := s.Pool[r.Row]
		if s.wants(pool) || s.ReservationOf(r.Row, r.Bits) >= 0 {
			continue
		}
		if at[pool] == 0 {
			m.pools = append(m.pools, mergePool{pool: pool, most: make([]int64, s.Dims), least: slices.Clone(r.Used)})
			at[pool] = int32(len(m.pools))
		}
		p := &m.pools[at[pool]-1]
		p.nodes = append(p.nodes, int32(i))
		for d, u := range r.Used {
			p.least[d] = min(p.least[d], u)
		}
	}
	return m
}

// concerns reports whether rules have anything to do with the class.
func (ru *Rules) concerns(class int32) bool {
	return ru != nil && ru.Excludes != nil && (len(ru.Excludes[class]) > 0 || len(ru.Caps[class]) > 0)
}

// list finds the pool's rows.
func (m *merger) list(p *mergePool) {
	s := m.s
	for r := range int32(s.Rows) {
		if s.Pool[r] == p.pool && s.OfferStart[r] < s.OfferStart[r+1] {
			p.rows = append(p.rows, r)
			for d, a := range s.AllocOf(int(r)) {
				p.most[d] = max(p.most[d], a)
			}
		}
	}
	slices.SortStableFunc(p.rows, func(a, b int32) int { return cmp.Compare(s.Offer[s.OfferStart[a]], s.Offer[s.OfferStart[b]]) })
	for _, r := range p.rows {
		p.price = append(p.price, s.Offer[s.OfferStart[r]])
	}
}

// pool merges the nodes of a pool: each of the largest with the largest that go with it.
func (m *merger) pool(p *mergePool) {
	if len(p.nodes) == 1 && m.nodes[p.nodes[0]].run.Mult == 1 {
		return
	}
	m.list(p)
	p.tries = mergeTries * len(p.nodes)
	slices.SortStableFunc(p.nodes, func(a, b int32) int { return cmp.Compare(m.nodes[b].price, m.nodes[a].price) })
	for i := 0; i < len(p.nodes) && p.tries > 0; i++ {
		if m.nodes[p.nodes[i]].run.Mult > 0 {
			m.grow(p, i)
		}
	}
}

// grow merges others into the i-th node of the pool while that costs nothing.
func (m *merger) grow(p *mergePool, i int) {
	misses := 0
	for k := i; k < len(p.nodes) && misses < mergeMisses && p.tries > 0; k++ {
		a, b := &m.nodes[p.nodes[i]], &m.nodes[p.nodes[k]]
		if !m.together(p, a.run.Used, p.least) {
			return
		}
		if b.run.Mult == 0 || a == b && a.run.Mult < 2 {
			continue
		}
		p.tries--
		if !m.together(p, a.run.Used, b.run.Used) {
			continue
		}
		if !m.allowed(a, b) || !m.target(p, a, b) {
			misses++
			continue
		}
		misses = 0
		if m.merge(p, i, k) {
			k-- // the same run may have another one
		}
	}
}

// together reports whether some row may have room for both.
func (m *merger) together(p *mergePool, a, b []int64) bool {
	for d, u := range a {
		if m.used[d] = u + b[d]; m.used[d] > p.most[d] && m.used[d] > 0 {
			return false
		}
	}
	return true
}

// allowed reports whether the rules between pods let the contents share a node.
func (m *merger) allowed(a, b *mergeable) bool {
	if len(a.ruled) == 0 || len(b.ruled) == 0 {
		return true
	}
	content := a.ruled[:len(a.ruled):len(a.ruled)]
	for _, c := range b.ruled {
		if m.ru.nodeCap(c.Class, content, c.Count) < c.Count {
			return false
		}
		content = append(content, c)
	}
	return true
}

// target finds the cheapest row that holds both, for no more than both cost.
func (m *merger) target(p *mergePool, a, b *mergeable) bool {
	s := m.s
	m.reps = append(append(m.reps[:0], a.run.Content...), b.run.Content...)
	m.reps = distinctLooks(m.reps, m.jobs)
	best := mergeTarget{price: a.price + b.price + 1}
	from, _ := slices.BinarySearch(p.price, max(a.price, b.price))
	for k := from; k < len(p.rows) && p.price[k] < best.price; k++ {
		r := p.rows[k]
		if !Holds(s.AllocOf(int(r)), m.used) {
			continue
		}
		allowed, open, ok := s.admit(r, m.led.Open(r, ^uint64(0)), m.reps, m.jobs, nil)
		if !ok || s.ReservationOf(r, allowed) >= 0 {
			continue
		}
		if price, _ := s.Price(int(r), allowed); price < best.price {
			best = mergeTarget{r, allowed, open, price}
		}
	}
	m.found = best
	return best.price <= a.price+b.price
}

// merge makes one node of the i-th and the k-th, or of two of the same, as often as there are both. It reports
// whether it did; the i-th is the merged one then.
func (m *merger) merge(p *mergePool, i, k int) bool {
	a, b := m.nodes[p.nodes[i]], m.nodes[p.nodes[k]]
	n := min(a.run.Mult, b.run.Mult)
	if i == k {
		n = a.run.Mult / 2
	}
	m.led.Refund(a.run.Row, a.run.Bits, a.run.Charge, n)
	m.led.Refund(b.run.Row, b.run.Bits, b.run.Charge, n)
	if m.led.Room(m.found.row, m.found.bits, nil, n) < n {
		m.led.Charge(a.run.Row, a.run.Bits, a.run.Charge, n)
		m.led.Charge(b.run.Row, b.run.Bits, b.run.Charge, n)
		return false
	}
	m.led.Charge(m.found.row, m.found.bits, nil, n)
	one := mergeable{price: m.found.price, ruled: both(a.ruled, b.ruled)}
	one.run = Run{Row: m.found.row, Mult: n, Bits: m.found.bits, Used: slices.Clone(m.used), Content: both(a.run.Content, b.run.Content), Open: m.found.open}
	if m.led.Limited() {
		one.run.Charge = slices.Clone(m.s.capOf(int(m.found.row)))
	}
	m.nodes[p.nodes[i]].run.Mult -= n
	m.nodes[p.nodes[k]].run.Mult -= n
	rest := p.nodes[i]
	p.nodes[i] = int32(len(m.nodes))
	m.nodes = append(m.nodes, one)
	if m.nodes[rest].run.Mult > 0 && i != k { // what is left of the run gets a turn of its own
		p.nodes = slices.Insert(p.nodes, i+1, rest)
	} else if m.nodes[rest].run.Mult > 0 {
		p.nodes = append(p.nodes, rest)
	}
	return true
}

// both joins two contents, what is of one job together.
func both(a, b []Content) []Content {
	out := slices.Clone(a)
	for _, c := range b {
		if k := slices.IndexFunc(out, func(o Content) bool { return o.Job == c.Job }); k >= 0 {
			out[k].Count += c.Count
		} else {
			out = append(out, c)
		}
	}
	return out
}
