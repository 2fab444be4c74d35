package pack

import "slices"

// bag is a run that may still become any of its rows.
type bag struct {
	run Run
	// rows that hold what is in it, and what offerings of each the content allows.
	rows []int32
	bits []uint64
	open [][]int32
}

func (e *Packer) firstFitTier() {
	slices.SortStableFunc(e.order, e.bySize)
	for _, ji := range e.order {
		for k := 0; k < len(e.bags) && e.left[ji] > 0; k++ {
			if !e.b.spend(1) {
				return
			}
			e.grow(k, ji)
		}
		for e.left[ji] > 0 {
			fresh, ok := e.newBag(ji)
			if !ok {
				break
			}
			e.bags = append(e.bags, fresh)
		}
	}
}

// room is the most pods of the job that one of the bag's rows could still take.
func (e *Packer) room(g *bag, ji int32) int32 {
	j := &e.jobs[ji]
	best := int32(0)
	for k, r := range g.rows {
		if j.Mask[r]&g.bits[k] == 0 {
			continue
		}
		n := fitUsed(e.s.AllocOf(int(r)), g.run.Used, j.Req, e.left[ji])
		if n <= best {
			continue
		}
		var open []int32
		if g.open != nil {
			open = g.open[k]
		}
		if _, _, ok := e.s.Narrow(j, r, g.bits[k], open); ok {
			best = n
		}
	}
	if best > 0 {
		best = e.ru.nodeCap(j.Class, g.run.Content, best)
	}
	return best
}

// with returns the bag with n more pods of the job per node, and mult nodes.
func (e *Packer) with(g *bag, ji, n, mult int32) bag {
	j := &e.jobs[ji]
	out := bag{run: g.run}
	out.run.Mult = mult
	out.run.Used = slices.Clone(g.run.Used)
	for d, q := range j.Req {
		out.run.Used[d] += q * int64(n)
	}
	out.run.Content = append(slices.Clone(g.run.Content), Content{Class: j.Class, Job: ji, Count: n})
	for k, r := range g.rows {
		if j.Mask[r]&g.bits[k] == 0 || !Holds(e.s.AllocOf(int(r)), out.run.Used) {
			continue
		}
		var open []int32
		if g.open != nil {
			open = g.open[k]
		}
		b, next, ok := e.s.Narrow(j, r, g.bits[k], open)
		if !ok {
			continue
		}
		out.rows = append(out.rows, r)
		out.bits = append(out.bits, b)
		if e.s.OpenStart != nil {
			out.open = append(out.open, next)
		}
	}
	return out
}

// grow puts pods of the job on the nodes of bag k, which may split it.
func (e *Packer) grow(k int, ji int32) {
	g := &e.bags[k]
	n := e.room(g, ji)
	if n == 0 {
		return
	}
	mult := g.run.Mult
	full := min(e.left[ji]/n, mult)
	var parts []bag
	if full > 0 {
		parts = append(parts, e.with(g, ji, n, full))
		e.left[ji] -= n * full
	}
	if full < mult && e.left[ji] > 0 {
		parts = append(parts, e.with(g, ji, e.left[ji], 1))
		e.left[ji] = 0
		full++
	}
	if full < mult {
		rest := *g
		rest.run.Mult = mult - full
		parts = append(parts, rest)
	}
	e.bags = slices.Replace(e.bags, k, k+1, parts...)
}

// newBag opens as many nodes as the job fills, or one that it does not. Under limits a node must know
// whose limit it charges: that of the pool where one pod alone is cheapest.
func (e *Packer) newBag(ji int32) (bag, bool) {
	pool := int32(-1)
	if e.led.Limited() {
		pool = e.cheapestPool(ji)
	}
	g := bag{run: Run{Used: make([]int64, e.s.Dims), Mult: 1}}
	for _, r := range e.byPrice {
		if e.jobs[ji].Mask[r] == 0 || e.led.Limited() && (e.s.Pool[r] != pool || e.led.Room(r, 0, nil, 1) == 0) {
			continue
		}
		g.rows = append(g.rows, r)
		g.bits = append(g.bits, ^uint64(0))
		if e.s.OpenStart != nil {
			g.open = append(g.open, e.s.OpenStart[r])
		}
	}
	e.b.spend(int64(len(g.rows)) / 64)
	n := e.room(&g, ji)
	if n == 0 || e.b.Out() {
		return g, false
	}
	mult := max(e.left[ji]/n, 1)
	out := e.with(&g, ji, n, mult)
	if e.led.Limited() {
		charge := make([]int64, e.s.Dims)
		for _, r := range out.rows {
			for d, c := range e.s.capOf(int(r)) {
				charge[d] = max(charge[d], c)
			}
		}
		if out.run.Mult = e.led.Room(out.rows[0], 0, charge, mult); out.run.Mult == 0 {
			return g, false
		}
		e.led.Charge(out.rows[0], 0, charge, out.run.Mult)
	}
	e.left[ji] -= n * out.run.Mult
	return out, true
}

// cheapestPool is the pool with the cheapest offering for one pod of the job; -1: none.
func (e *Packer) cheapestPool(ji int32) int32 {
	j := &e.jobs[ji]
	pool, price := int32(-1), int64(0)
	for _, r := range e.byPrice {
		if p, _ := e.s.Price(int(r), 1); pool >= 0 && p >= price {
			break
		}
		if j.Mask[r] == 0 || !Holds(e.s.AllocOf(int(r)), j.Req) || e.led.Room(r, 0, nil, 1) == 0 {
			continue
		}
		if p, _ := e.s.Price(int(r), j.Mask[r]); pool < 0 || p < price {
			pool, price = e.s.Pool[r], p
		}
	}
	return pool
}

// close turns the bag into the cheapest row that holds it.
func (e *Packer) close(g *bag) {
	best, bestPrice := -1, int64(0)
	for k, r := range g.rows {
		if p, _ := e.s.Price(int(r), g.bits[k]); best < 0 || p < bestPrice {
			best, bestPrice = k, p
		}
	}
	run := g.run
	run.Row, run.Bits = g.rows[best], g.bits[best]
	if g.open != nil {
		run.Open = g.open[best]
	}
	if e.led.Limited() {
		run.Charge = slices.Clone(e.s.capOf(int(run.Row)))
	}
	e.runs = append(e.runs, run)
}
