package cover

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// A level ends when the relaxation gains less than stall in as many rounds as patience.
const (
	patience = 5
	stall    = 0.002
)

// generate adds columns until none pays, or the rounds or the work end. Worths are those of the relaxation mixed with
// the last that were good, so that they do not jump from round to round.
func (m *master) generate(rounds int) {
	g := generation{m: m, center: m.fallback, smooth: m.o.Smooth, level: -1, ratio: make([]float64, len(m.p.Sites)), mark: math.Inf(1)}
	for r := range rounds {
		added := g.round(m.level(g.level))
		m.o.trace("round %d: lp %.0f safe %d added %d best %d columns %d pivots %d level %d spent %d", r, m.value*m.p.unit, m.safe, added, m.bestCost, len(m.columns), m.l.Pivots(), g.level, m.spent)
		if m.closed() {
			return
		}
		if !m.spend() || !g.goOn(r, added) {
			break
		}
	}
	for range m.o.Proofs {
		added := g.round(&m.o.Proof)
		m.o.trace("proof: lp %.0f safe %d added %d spent %d", m.value*m.p.unit, m.safe, added, m.spent)
		if added == 0 || m.closed() || !m.spend() && m.spent > 2*m.o.Work {
			return
		}
	}
}

// closed reports whether the bound is as near the relaxation as is wanted.
func (m *master) closed() bool { return float64(m.safe) >= m.value*m.p.unit*(1-m.o.Gap) }

// generation is the state of column generation.
type generation struct {
	m *master
	// center are the worths that gave the best bound, smooth is their part in those of the round.
	center []float64
	smooth float64
	// level is how hard contents are looked for, -1 for rounding only. It was entered in round since, when the
	// relaxation was worth mark.
	level int
	since int
	mark  float64
	ratio []float64
}

// round adds what pays now and returns how much that was.
func (g *generation) round(lv *Level) int {
	m := g.m
	m.solve()
	y := m.mix(g.center, g.smooth)
	before := m.safe
	offers, _ := m.priceAll(y, lv, g.ratio)
	m.prove(y, g.ratio)
	if m.safe > before {
		g.center = slices.Clone(y)
	}
	added := m.addAll(offers)
	if lv == nil {
		m.sweep(y, g.ratio)
	}
	return added
}

// goOn reports whether there is to be another round, after the r-th in which so many columns were added.
func (g *generation) goOn(r, added int) bool {
	if added > 0 && r-g.since < patience {
		return true
	}
	stalled := g.m.value > g.mark*(1-stall)
	g.since, g.mark = r, g.m.value
	switch {
	case added > 0 && !stalled:
	case g.smooth > 0:
		g.smooth = 0
	case g.level+1 < len(g.m.o.Levels):
		g.level++
	default:
		return added > 0
	}
	return true
}

// again adds columns for what a dive has left.
func (m *master) again(rounds int) {
	ratio := make([]float64, len(m.p.Sites))
	for r := range rounds {
		m.solve()
		lv := m.level(-1)
		if r > 0 {
			lv = m.level(0)
		}
		offers, _ := m.priceAll(m.y, lv, ratio)
		if m.addAll(offers) == 0 || !m.spend() {
			return
		}
	}
}

func (m *master) level(i int) *Level {
	if i < 0 || i >= len(m.o.Levels) {
		return nil
	}
	return &m.o.Levels[i]
}

func (m *master) mix(center []float64, part float64) []float64 {
	if part == 0 {
		return slices.Clone(m.y)
	}
	y := make([]float64, len(m.y))
	for i := range y {
		y[i] = float64(part*center[i]) + float64((1-part)*m.y[i])
	}
	return y
}

type offer struct {
	site  int32
	parts []Part
}

// priceAll looks for columns at every site under worths y, and notes in ratio what each site's content is worth for
// its price at most. No content is worth more than over times its site's price.
func (m *master) priceAll(y []float64, lv *Level, ratio []float64) (offers []offer, over float64) {
	results := make([]priced, len(m.sites))
	look := func(c *counter, i int) {
		site := m.sites[i]
		price := max(m.effective(site, y), free)
		r := &results[i]
		bound := c.price(site, y, price*(1+1e-7), lv, func(parts []Part, worth float64) {
			r.offers = append(r.offers, offer{site, parts})
		})
		r.ratio = bound / price
		if lv != nil && len(r.offers) > 0 {
			r.offers = c.others(r.offers, y, price, &Level{Branches: 20})
		}
	}
	if lv == nil {
		for i := range results {
			look(m.c, i)
		}
	} else {
		m.sideBySide(len(results), look)
	}
	over = 1
	for i := range results {
		ratio[m.sites[i]] = results[i].ratio
		over = max(over, results[i].ratio)
		offers = append(offers, results[i].offers...)
	}
	return offers, over
}

// priced is what was found at a site.
type priced struct {
	offers []offer
	ratio  float64
}

// maxWorkers bounds how many sites are priced at a time.
const maxWorkers = 4

// sideBySide does the work with a counter of each processor's own. What is found at a site does not depend on that.
func (m *master) sideBySide(n int, work func(c *counter, i int)) {
	for len(m.helpers) < min(maxWorkers, runtime.GOMAXPROCS(0))-1 {
		m.helpers = append(m.helpers, m.c.another())
	}
	var next atomic.Int64
	run := func(c *counter) {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			work(c, i)
		}
	}
	var wait sync.WaitGroup
	for _, h := range m.helpers {
		h.left = m.c.left
		wait.Go(func() { run(h) })
	}
	run(m.c)
	wait.Wait()
	for _, h := range m.helpers {
		m.c.work += h.work
		h.work = 0
	}
}

func (m *master) addAll(offers []offer) (added int) {
	for _, o := range offers {
		if m.add(o.site, o.parts) {
			added++
		}
	}
	return added
}

// prove takes the bound that y gives once each item is worth less by as much as the best content of any site that holds
// it may be worth more than the site costs: then no content is worth more than its site costs.
func (m *master) prove(y, ratio []float64) {
	over := make([]float64, len(m.p.Items))
	for s := range m.c.shelves {
		sh := &m.c.shelves[s]
		for _, site := range sh.sites {
			if ratio[site] <= 1 {
				continue
			}
			for x, n := range m.c.fits[site] {
				if n > 0 {
					over[sh.items[x]] = max(over[sh.items[x]], ratio[site])
				}
			}
		}
	}
	bound := int64(0)
	worth := make([]int64, len(m.p.Items))
	for i := range m.p.Items {
		worth[i] = int64(max(y[i], 0) * m.p.unit / (max(over[i], 1) * (1 + 1e-9)))
		bound += worth[i] * m.p.Items[i].Count
	}
	for f, n := range m.p.Finite {
		bound += int64(min(y[len(m.p.Items)+f], 0)*m.p.unit*float64(n)*(1+1e-9)) - 1
	}
	if bound > m.safe {
		m.safe, m.worth = bound, worth
	}
}
