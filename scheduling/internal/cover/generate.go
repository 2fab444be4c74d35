package cover

import (
	"math"
	"slices"
)

// A level ends when the relaxation gains less than stall in as many rounds as patience.
const (
	patience = 5
	stall    = 0.002
)

// generate adds columns until none pays, or the rounds or the work end. Worths are those of the relaxation mixed with
// the last that were good, so that they do not jump from round to round.
func (m *master) generate(rounds int) {
	center := m.fallback
	smooth := m.o.Smooth
	level := -1
	since, mark := 0, math.Inf(1)
	ratio := make([]float64, len(m.p.Sites))
	for r := range rounds {
		m.solve()
		y := m.mix(center, smooth)
		before := m.safe
		offers, over := m.priceAll(y, m.level(level), ratio)
		m.prove(y, ratio)
		if m.safe > before {
			center = slices.Clone(y)
		}
		added := m.addAll(offers)
		if level < 0 {
			m.sweep(y, ratio)
		}
		if r%10 == 0 || added == 0 {
			m.o.trace("round %d: lp %.0f safe %d over %.5f added %d best %d columns %d pivots %d level %d spent %d", r, m.value*m.p.unit, m.safe, over, added, m.bestCost, len(m.columns), m.l.Pivots(), level, m.spent)
		}
		if !m.spend() || float64(m.safe) >= m.value*m.p.unit*(1-m.o.Gap) {
			break
		}
		if stalled := r-since >= patience && m.value > mark*(1-stall); added > 0 && !stalled {
			if r-since >= patience {
				since, mark = r, m.value
			}
			continue
		}
		since, mark = r, m.value
		switch {
		case smooth > 0:
			smooth = 0
		case level+1 < len(m.o.Levels):
			level++
		case added == 0:
			return
		}
	}
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
	over = 1
	for s := range m.c.shelves {
		for _, site := range m.c.shelves[s].sites {
			price := max(m.effective(site, y), free)
			bound := m.c.price(site, y, price*(1+1e-7), lv, func(parts []Part, worth float64) {
				offers = append(offers, offer{site, parts})
			})
			ratio[site] = bound / price
			over = max(over, ratio[site])
			if lv != nil && len(offers) > 0 && offers[len(offers)-1].site == site {
				offers = m.others(offers, y, price)
			}
		}
	}
	return offers, over
}

// disjoint bounds how many contents of one site are looked for at a time that share no pods.
const disjoint = 12

// others looks for further contents of the last offer's site, made of other pods.
func (m *master) others(offers []offer, y []float64, price float64) []offer {
	left := slices.Clone(m.left)
	m.c.left = left
	defer func() { m.c.left = m.left }()
	lv := m.level(0)
	for range disjoint {
		last := offers[len(offers)-1]
		for _, p := range last.parts {
			left[p.Item] = max(left[p.Item]-int64(p.N), 0)
		}
		n := len(offers)
		m.c.price(last.site, y, price*(1+1e-7), lv, func(parts []Part, worth float64) {
			offers = append(offers, offer{last.site, parts})
		})
		if len(offers) == n || slices.Equal(offers[len(offers)-1].parts, last.parts) {
			break
		}
	}
	return offers
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
