package cover

import (
	"cmp"
	"math"
	"slices"
)

// dive fixes whole numbers of columns, those of which the relaxation uses most first, until everything is placed. It
// returns nil if something cannot be.
func (m *master) dive() []Pattern {
	if len(m.columns) > manyColumns(len(m.left)) {
		m.shed()
	}
	var out []Pattern
	from := m.spent
	for m.waiting() {
		m.spend()
		if m.o.Work > 0 && m.spent-from > m.o.Work/divePart {
			return m.finish(out)
		}
		if !m.out && m.spent < m.o.Work || m.o.Work == 0 {
			m.again(m.o.DiveRounds)
		}
		m.solve()
		before := len(out)
		for _, u := range m.uses() {
			out = m.fix(out, u.column, u.n)
		}
		if len(out) == before {
			return nil
		}
	}
	return out
}

// dear is the part of its price that a column may cost too much, under the worths of the relaxation, and still be of use
// to a dive.
const dear = 0.05

// divePart is the part of the work that a dive may take besides.
const divePart = 2

// finish places what a dive has left all at once.
func (m *master) finish(out []Pattern) []Pattern {
	best, cost := m.best, m.bestCost
	m.best = nil
	rest := m.sweep(m.y, m.high())
	whole := m.best != nil
	m.best, m.bestCost = best, cost
	if !whole {
		return nil
	}
	return append(out, rest...)
}

// high are ratios of sites about which nothing is known.
func (m *master) high() []float64 {
	out := make([]float64, len(m.p.Sites))
	for i := range out {
		out[i] = math.Inf(1)
	}
	return out
}

// manyColumns is how many columns slow the relaxation of so many items down more than solving it from the beginning does.
func manyColumns(items int) int { return 3000 + 20*items }

// shed begins anew with the columns that may be of use: each one more costs every pivot something.
func (m *master) shed() {
	old, y := m.columns, m.y
	m.columns, m.known = nil, map[string]bool{}
	m.relax()
	m.singles()
	own, o := m.o, *m.o
	o.Admit = nil // they were admitted before
	m.o = &o
	for _, c := range old {
		cost := m.effective(c.Site, y)
		for _, p := range c.Parts {
			cost -= float64(y[p.Item] * float64(p.N))
		}
		if cost <= dear*m.p.cost(c.Site) {
			m.add(c.Site, c.Parts)
		}
	}
	m.o = own
	m.o.trace("shed: %d of %d columns left", len(m.columns), len(old))
}

func (m *master) waiting() bool {
	return slices.ContainsFunc(m.left, func(n int64) bool { return n > 0 })
}

type use struct {
	column int
	n      int64
	x      float64
}

// nearly is how much of a node there must be to take it whole beside another.
const nearly = 0.85

// uses are the columns to fix: all that are used once or more, or else the one that is nearest to that.
func (m *master) uses() []use {
	var whole, part []use
	for j, x := range m.x {
		if x >= 1-1e-6 {
			whole = append(whole, use{j, int64(math.Floor(x + 1e-6)), x})
		} else if x > 1e-6 {
			part = append(part, use{j, 1, x})
		}
	}
	if len(whole) > 0 {
		return whole
	}
	slices.SortStableFunc(part, func(a, b use) int { return cmp.Compare(b.x, a.x) })
	for i := range part {
		if i > 0 && part[i].x < nearly {
			return part[:i]
		}
	}
	return part
}

// fix takes n nodes of the column, as far as there are pods for them.
func (m *master) fix(out []Pattern, column int, n int64) []Pattern {
	col := &m.columns[column]
	for n > 0 {
		var parts []Part
		for _, p := range col.Parts {
			if have := min(int64(p.N), m.left[p.Item]); have > 0 {
				parts = append(parts, Part{p.Item, int32(have)})
			}
		}
		if len(parts) == 0 {
			return out
		}
		mult := min(n, least(m.left, parts))
		for _, c := range m.p.Sites[col.Site].Claims {
			if c.Amount > 0 {
				mult = min(mult, m.finite[c.Finite]/c.Amount)
			}
		}
		if mult <= 0 {
			return out
		}
		site := col.Site
		if !slices.Equal(parts, col.Parts) {
			site = m.cheapest(site, parts)
		}
		m.take(site, parts, mult)
		out = append(out, Pattern{Site: site, Parts: parts, Count: mult})
		n -= mult
	}
	return out
}

// take places pods.
func (m *master) take(site int32, parts []Part, mult int64) {
	for _, p := range parts {
		m.left[p.Item] -= int64(p.N) * mult
		m.l.SetRHS(int(p.Item), float64(m.left[p.Item]))
	}
	for _, c := range m.p.Sites[site].Claims {
		m.finite[c.Finite] -= c.Amount * mult
		m.l.SetRHS(len(m.p.Items)+int(c.Finite), float64(m.finite[c.Finite]))
	}
}

// cheapest is the cheapest site that holds the parts, the one given or one that claims nothing.
func (m *master) cheapest(site int32, parts []Part) int32 {
	used := make([]int64, len(m.p.Items[0].Req))
	for _, p := range parts {
		for d, q := range m.p.Items[p.Item].Req {
			used[d] += q * int64(p.N)
		}
	}
	for s := range m.c.shelves {
		sh := &m.c.shelves[s]
		known, all := false, false
		for _, i := range sh.sites {
			st := &m.p.Sites[i]
			if st.Price >= m.p.Sites[site].Price || len(st.Claims) > 0 || !holds(st.Room, used) {
				continue
			}
			if !known {
				known, all = true, !slices.ContainsFunc(parts, func(p Part) bool {
					_, ok := slices.BinarySearch(sh.items, p.Item)
					return !ok
				})
			}
			if all && (m.o.Admit == nil || slices.Equal(m.o.Admit(i, parts), parts)) {
				site = i
			}
		}
	}
	return site
}

func holds(room, used []int64) bool {
	for d, u := range used {
		if u > 0 && u > room[d] {
			return false
		}
	}
	return true
}
