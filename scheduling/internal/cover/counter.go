package cover

import "slices"

// shelf is what pricing needs of the items that may share a site.
type shelf struct {
	items []int32
	// asked are the resources that matter, scale the most of each that any site has.
	asked []int
	scale []float64
	// r has the requests in these terms, item by item.
	r     []float64
	sites []int32
}

// counter prices sites: it finds contents that are worth more than they cost.
type counter struct {
	p       *Problem
	shelves []shelf
	// left is how many pods of each item are still to be placed.
	left []int64
	// fits is how many pods of each of the shelf's items a site holds.
	fits  [][]int32
	basis [][]int32
	k     knapsack
	s     search
	b     branch
	t     chooser
	// work counts what was done, in items looked at.
	work int64
}

// newCounter prices the sites in kept for what is left.
func newCounter(p *Problem, kept []int32, left []int64) *counter {
	c := &counter{p: p, left: left, shelves: make([]shelf, len(p.Shelves)), fits: make([][]int32, len(p.Sites)),
		basis: make([][]int32, len(p.Sites))}
	for _, i := range kept {
		sh := &c.shelves[p.Sites[i].Shelf]
		sh.sites = append(sh.sites, i)
	}
	for s := range c.shelves {
		sh := &c.shelves[s]
		if len(sh.sites) == 0 {
			continue
		}
		sh.items = p.Shelves[s]
		sh.asked = p.asked(sh.items)
		sh.scale = make([]float64, len(sh.asked))
		for _, i := range sh.sites {
			for x, d := range sh.asked {
				sh.scale[x] = max(sh.scale[x], float64(p.Sites[i].Room[d]))
			}
		}
		for _, k := range sh.items {
			for x, d := range sh.asked {
				sh.r = append(sh.r, float64(p.Items[k].Req[d])/max(sh.scale[x], 1))
			}
		}
		for _, i := range sh.sites {
			fits := make([]int32, len(sh.items))
			for x, k := range sh.items {
				fits[x] = int32(p.fit(i, k, min(p.Items[k].Most, 1<<30)))
			}
			c.fits[i] = fits
		}
	}
	return c
}

// price looks for contents of the site that are worth more than price under worths y (by item, in the unit of price), and
// hands out several if there are, the best last. It
// returns an upper bound on the worth of any content, which is exact if it is no more than price.
func (c *counter) price(site int32, y []float64, price float64, lv *Level, found func(parts []Part, worth float64)) float64 {
	s := &c.p.Sites[site]
	sh := &c.shelves[s.Shelf]
	n, m := len(sh.items), len(sh.asked)
	k := &c.k
	k.load(n, m)
	k.r = sh.r
	k.c, k.y, k.u = resize(k.c, m), resize(k.y, n), resize(k.u, n)
	for x, d := range sh.asked {
		k.c[x] = float64(s.Room[d]) / max(sh.scale[x], 1)
	}
	fits := c.fits[site]
	for x, item := range sh.items {
		k.u[x] = float64(min(int64(fits[x]), c.left[item]))
		k.y[x] = y[item]
		if k.u[x] <= 0 {
			k.y[x] = 0
		}
	}
	k.looks = n
	bound := k.solve(c.basis[site])
	c.work += int64(k.looks)
	c.basis[site] = append(c.basis[site][:0], k.basis...)
	if bound <= price {
		return bound
	}
	c.s.load(c, site, sh)
	parts, worth := c.s.round()
	if worth > price {
		found(parts, worth)
	}
	if lv == nil {
		return bound
	}
	floor := price * (1 + lv.Slack)
	goal := max(worth, floor)
	if bound <= goal {
		return bound
	}
	c.b.k.looks = 0
	best, top := c.b.run(&c.s, goal, bound, lv.Branches)
	c.work += int64(2 * c.b.k.looks)
	if best != nil {
		parts, worth := c.s.parts(best)
		found(parts, worth)
		goal = worth
	}
	if top <= goal {
		return min(bound, max(top, goal))
	}
	// What items lose is told by the weights of the relaxation, so it is its bound that they are set against.
	top = min(top, c.t.run(&c.s, floor, goal, bound, lv))
	c.work += c.t.work
	for _, a := range slices.Backward(c.t.best()) {
		found(c.s.parts(a.n))
	}
	return min(bound, max(top, c.t.goal))
}

// another shares all but memory: counters may price different sites at the same time.
func (c *counter) another() *counter {
	return &counter{p: c.p, shelves: c.shelves, left: c.left, fits: c.fits, basis: c.basis}
}

// disjoint bounds how many contents of one site are looked for at a time that share no pods.
const disjoint = 12

// others looks for further contents of the last offer's site, made of other pods.
func (c *counter) others(offers []offer, y []float64, price float64, lv *Level) []offer {
	whole := c.left
	c.left = slices.Clone(whole)
	defer func() { c.left = whole }()
	for range disjoint {
		last := offers[len(offers)-1]
		for _, p := range last.parts {
			c.left[p.Item] = max(c.left[p.Item]-int64(p.N), 0)
		}
		n := len(offers)
		c.price(last.site, y, price*(1+1e-7), lv, func(parts []Part, worth float64) {
			offers = append(offers, offer{last.site, parts})
		})
		if len(offers) == n || slices.Equal(offers[len(offers)-1].parts, last.parts) {
			break
		}
	}
	return offers
}
