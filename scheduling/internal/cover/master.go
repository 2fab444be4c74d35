package cover

import (
	"encoding/binary"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/lp"
)

// master chooses among contents: the linear relaxation of the problem over the columns that are known.
type master struct {
	p *Problem
	o *Options
	c *counter
	// helpers price sites beside c; sites are all that there are.
	helpers []*counter
	sites   []int32
	l       *lp.Cover
	columns []Pattern
	known   map[string]bool
	// left is how many pods of each item are still to be placed, finite what is left of what sites claim.
	left   []int64
	finite []int64
	// y are the worths of the items and then of what is finite, in units of cost; x how often each column is used.
	y, x  []float64
	value float64
	// safe is the best bound so far, in billionths, and worth what proves it.
	safe  int64
	worth []int64
	// prices are what units of resources are worth if pods are a fluid, fallback what items are by that.
	prices   []float64
	fallback []float64
	// best is the cheapest way found to place everything.
	best     []Pattern
	bestCost int64
	key      []byte
	pivots   int64 // of relaxations before this one
	spent    int64
	out      bool
}

// newMaster has a column for each item by itself.
func newMaster(p *Problem, kept []int32, o *Options) *master {
	m := &master{p: p, o: o, known: map[string]bool{}, left: make([]int64, len(p.Items)), finite: slices.Clone(p.Finite)}
	for i := range p.Items {
		m.left[i] = p.Items[i].Count
	}
	m.c = newCounter(p, kept, m.left)
	for s := range m.c.shelves {
		m.sites = append(m.sites, m.c.shelves[s].sites...)
	}
	m.relax()
	m.fallback = m.fluid()
	m.singles()
	return m
}

// relax begins a relaxation without columns.
func (m *master) relax() {
	rows := make([]lp.Row, 0, len(m.left)+len(m.finite))
	for _, n := range m.left {
		rows = append(rows, lp.Row{RHS: float64(n)})
	}
	for _, n := range m.finite {
		rows = append(rows, lp.Row{RHS: float64(n), AtMost: true})
	}
	if m.l != nil {
		m.pivots += m.l.Pivots()
	}
	m.l = lp.New(rows)
}

// spend notes what was done and reports whether to go on.
func (m *master) spend() bool {
	// Measured: an item looked at, all resources of it, takes about ten nanoseconds, a pivot this.
	rows := int64(len(m.p.Items))
	steps := m.c.work/100 + (m.pivots+m.l.Pivots())*(rows*3/5+int64(len(m.columns))/40+2)
	if d := steps - m.spent; d > 0 {
		m.spent = steps
		m.out = m.out || m.o.Spend != nil && !m.o.Spend(d)
	}
	return !m.out && (m.o.Work == 0 || m.spent < m.o.Work)
}

// add makes a column of a content, unless there is one.
func (m *master) add(site int32, parts []Part) bool {
	if m.o.Admit != nil {
		if parts = m.o.Admit(site, parts); len(parts) == 0 {
			return false
		}
	}
	key := binary.AppendUvarint(m.key[:0], uint64(site))
	for _, p := range parts {
		key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(p.Item)), uint64(p.N))
	}
	m.key = key
	if m.known[string(key)] {
		return false
	}
	m.known[string(key)] = true
	s := &m.p.Sites[site]
	entries := make([]lp.Entry, 0, len(parts)+len(s.Claims))
	for _, p := range parts {
		entries = append(entries, lp.Entry{Row: p.Item, Value: float64(p.N)})
	}
	for _, c := range s.Claims {
		entries = append(entries, lp.Entry{Row: int32(len(m.p.Items)) + c.Finite, Value: float64(c.Amount)})
	}
	m.l.Add(m.p.cost(site), entries)
	m.columns = append(m.columns, Pattern{Site: site, Parts: parts})
	return true
}

// singles gives each item the site where it is cheapest by itself; one with claims only if there is no other.
func (m *master) singles() {
	type choice struct {
		site  int32
		price float64
	}
	best := make([][2]choice, len(m.p.Items)) // without claims, and with
	for i := range best {
		best[i] = [2]choice{{site: -1}, {site: -1}}
	}
	for s := range m.c.shelves {
		sh := &m.c.shelves[s]
		for _, site := range sh.sites {
			st := &m.p.Sites[site]
			for x, k := range sh.items {
				n := min(int64(m.c.fits[site][x]), m.left[k])
				if n <= 0 {
					continue
				}
				b := &best[k][min(len(st.Claims), 1)]
				if each := m.p.cost(site) / float64(n); b.site < 0 || each < b.price {
					*b = choice{site, each}
				}
			}
		}
	}
	for k := range best {
		for _, b := range best[k] {
			if b.site >= 0 {
				n := min(m.p.fit(b.site, int32(k), m.p.Items[k].Most), m.left[k])
				m.add(b.site, []Part{{int32(k), int32(n)}})
			}
		}
	}
}

// solve solves the relaxation.
func (m *master) solve() {
	m.l.Solve(m.o.Pivots)
	m.y, m.x = m.l.Duals(m.y), m.l.Values(m.x)
	m.value = m.l.Objective()
}

// effective is what a node of the site costs with its claims at their worth.
func (m *master) effective(site int32, y []float64) float64 {
	s := &m.p.Sites[site]
	price := m.p.cost(site)
	for _, c := range s.Claims {
		price -= float64(y[len(m.p.Items)+int(c.Finite)] * float64(c.Amount))
	}
	return price
}

// fluid values items by what they use, at the prices that resources have if pods are a fluid.
func (m *master) fluid() []float64 {
	y := make([]float64, len(m.p.Items)+len(m.p.Finite))
	if len(m.p.Items) == 0 {
		return y
	}
	rows := make([]lp.Row, len(m.p.Items[0].Req))
	for i := range m.p.Items {
		for d, q := range m.p.Items[i].Req {
			rows[d].RHS += float64(q) * float64(m.p.Items[i].Count)
		}
	}
	l := lp.New(rows)
	for s := range m.c.shelves {
		for _, site := range m.c.shelves[s].sites {
			var e []lp.Entry
			for d, q := range m.p.Sites[site].Room {
				if q > 0 && rows[d].RHS > 0 {
					e = append(e, lp.Entry{Row: int32(d), Value: min(float64(q), rows[d].RHS)})
				}
			}
			l.Add(m.p.cost(site), e)
		}
	}
	l.Solve(m.o.Pivots)
	m.prices = l.Duals(nil)
	for i := range m.p.Items {
		y[i] = m.fluidWorth(m.p.Items[i].Req)
	}
	return y
}
