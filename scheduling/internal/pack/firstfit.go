package pack

import "slices"

// bag is a run that may still become any of its rows.
type bag struct {
	run Run
	// rows that may hold what is in it, and what offerings of each the content allows. Those that hold it
	// no more are dropped now and then.
	rows []int32
	bits []uint64
	open [][]int32
	// masks are those of the content, as the packer numbers them.
	masks []int32
	// most is no less than what any of the rows has left of each resource.
	most []int64
	// hint is the position of a row that had room.
	hint int
	// puts counts the additions.
	puts int
	// marks are what the caps count in it.
	marks []mark
	// shared is set if another bag has the same slices.
	shared bool
}

func (e *Packer) firstFitTier() {
	in := make([]bool, len(e.jobs)-e.active)
	for k := range e.kinds {
		for _, ji := range e.kinds[k].jobs {
			in[int(ji)-e.active] = true
		}
	}
	// from is, per mask and alternatives, the first bag that may have room for pods of the size under way: bags
	// only fill up, so that a refusal for want of resources or offerings is final.
	from, size := map[look]int{}, int32(-1)
	for _, ji := range e.bySize(func(ji int32) bool { return !in[int(ji)-e.active] }) {
		t := e.traits[ji].look
		if t.size != size {
			size = t.size
			clear(from)
		}
		first := from[t]
		for k := first; k < len(e.bags) && e.left[ji] > 0; k++ {
			if !e.b.spend(1) {
				return
			}
			n, final := e.room(e.bags[k], ji)
			if final && k == first {
				first++
			}
			if n > 0 {
				if more := e.grow(k, ji, n); more > 0 {
					for l, at := range from {
						if at > k {
							from[l] = at + more
						}
					}
				}
			}
		}
		from[t] = first
		for e.left[ji] > 0 {
			fresh, ok := e.newBag(ji)
			if !ok {
				break
			}
			e.bags = append(e.bags, fresh)
		}
	}
}

// room is the most pods of the job that one of the bag's rows could still take; final if none of them ever
// takes another such pod, whatever the rules between pods say.
func (e *Packer) room(g *bag, ji int32) (n int32, final bool) {
	j, t := &e.jobs[ji], &e.traits[ji]
	for d, q := range j.Req {
		if q > 0 && q > g.most[d] {
			return 0, true
		}
	}
	for _, m := range g.masks {
		if m != t.mask && !e.known.overlaps(m, t.mask) {
			return 0, true
		}
	}
	limit := e.bagCap(g, ji, e.left[ji])
	if limit == 0 {
		return 0, false
	}
	if g.hint < len(g.rows) {
		if n = e.roomIn(g, g.hint, j, limit); n == limit {
			return n, false
		}
	}
	for k := range g.rows {
		if r := e.roomIn(g, k, j, limit); r > n {
			n, g.hint = r, k
		}
		if n == limit {
			break
		}
	}
	return n, n == 0
}

// mark is what a bag has of a group.
type mark struct {
	group, have int32
	bound       bool
}

// markOf finds the bag's mark of a group, a new one if there is none.
func (g *bag) markOf(group int32) *mark {
	for i := range g.marks {
		if g.marks[i].group == group {
			return &g.marks[i]
		}
	}
	g.marks = append(g.marks, mark{group: group})
	return &g.marks[len(g.marks)-1]
}

// bagCap is nodeCap for what is in the bag.
func (e *Packer) bagCap(g *bag, ji, n int32) int32 {
	if t := &e.traits[ji]; !t.tangled && (!t.met || t.limit == noLimit) {
		return min(n, t.limit)
	}
	class := e.jobs[ji].Class
	if ex := e.ru.Excludes[class]; len(ex) > 0 {
		if slices.ContainsFunc(g.run.Content, func(c Content) bool { return contains(ex, c.Class) }) {
			return 0
		}
		if contains(ex, class) {
			n = min(n, 1)
		}
	}
	for i := range e.ru.Caps[class] {
		c := &e.ru.Caps[class][i]
		have, bound := int32(0), c.Owns
		for k := range g.marks {
			if m := &g.marks[k]; m.group == c.Group {
				have, bound = m.have, bound || m.bound
				break
			}
		}
		n = c.least(have, bound, n)
	}
	return max(n, 0)
}

// roomIn is how many pods of the job, at most limit, the bag has room for if it becomes its k-th row.
func (e *Packer) roomIn(g *bag, k int, j *Job, limit int32) int32 {
	r := g.rows[k]
	if j.Mask[r]&g.bits[k] == 0 || !Holds(e.s.AllocOf(int(r)), g.run.Used) {
		return 0
	}
	n := fitUsed(e.s.AllocOf(int(r)), g.run.Used, j.Req, limit)
	if n == 0 || len(j.Alternatives) == 0 {
		return n
	}
	var open []int32
	if g.open != nil {
		open = g.open[k]
	}
	if _, _, ok := e.s.Narrow(j, r, g.bits[k], open); !ok {
		return 0
	}
	return n
}

// bagPut adds n pods of the job per node to the bag.
func (e *Packer) bagPut(g *bag, ji, n int32) {
	j, t := &e.jobs[ji], &e.traits[ji]
	if g.shared {
		g.run.Used, g.run.Content = slices.Clone(g.run.Used), slices.Clone(g.run.Content)
		g.rows, g.bits, g.open = slices.Clone(g.rows), slices.Clone(g.bits), slices.Clone(g.open)
		g.masks, g.most, g.marks = slices.Clone(g.masks), slices.Clone(g.most), slices.Clone(g.marks)
		g.shared = false
	}
	for d, q := range j.Req {
		g.run.Used[d] += q * int64(n)
		g.most[d] -= q * int64(n)
	}
	g.run.Content = append(g.run.Content, Content{Class: j.Class, Job: ji, Count: n})
	if e.knots != nil {
		for _, c := range e.ru.Caps[j.Class] {
			m := g.markOf(c.Group)
			if c.In {
				m.have += n
			}
			m.bound = m.bound || c.Owns
		}
	}
	known := slices.Contains(g.masks, t.mask)
	if !known {
		g.masks = append(g.masks, t.mask)
	}
	if !known || len(j.Alternatives) > 0 || g.puts&7 == 0 {
		e.sift(g, j)
	}
	g.puts++
}

// sift drops the rows that the bag, with a pod of the job, cannot become.
func (e *Packer) sift(g *bag, j *Job) {
	kept, hint := 0, 0
	clear(g.most)
	for k, r := range g.rows {
		alloc := e.s.AllocOf(int(r))
		if j.Mask[r]&g.bits[k] == 0 || !Holds(alloc, g.run.Used) {
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
		if k == g.hint {
			hint = kept
		}
		g.rows[kept], g.bits[kept] = r, b
		if g.open != nil {
			g.open[kept] = next
		}
		for d, a := range alloc {
			g.most[d] = max(g.most[d], a-g.run.Used[d])
		}
		kept++
	}
	g.rows, g.bits, g.hint = g.rows[:kept], g.bits[:kept], hint
	if g.open != nil {
		g.open = g.open[:kept]
	}
}

// grow puts n pods of the job on the nodes of bag k. Where they do not go round it is split; grow returns
// how many bags there are more.
func (e *Packer) grow(k int, ji, n int32) int {
	g := e.bags[k]
	mult := g.run.Mult
	full := min(e.left[ji]/n, mult)
	if full == mult {
		e.bagPut(g, ji, n)
		e.left[ji] -= n * full
		return 0
	}
	g.shared = true
	var parts []*bag
	part := func(mult, n int32) {
		p := *g
		p.run.Mult = mult
		e.bagPut(&p, ji, n)
		e.left[ji] -= n * mult
		parts = append(parts, &p)
	}
	if full > 0 {
		part(full, n)
	}
	if full < mult && e.left[ji] > 0 {
		part(1, e.left[ji])
		full++
	}
	if full < mult {
		g.run.Mult = mult - full
		parts = append(parts, g)
	}
	e.bags = slices.Replace(e.bags, k, k+1, parts...)
	return len(parts) - 1
}

// newBag opens as many nodes as the job fills, or one that it does not. Under limits a node must know
// whose limit it charges: that of the pool where one pod alone is cheapest.
func (e *Packer) newBag(ji int32) (*bag, bool) {
	pool := int32(-1)
	if e.led.Limited() {
		pool = e.cheapestPool(ji)
	}
	g := &bag{run: Run{Used: make([]int64, e.s.Dims), Mult: 1}, most: make([]int64, e.s.Dims)}
	for _, r := range e.byPrice {
		if e.unreserved(r, e.jobs[ji].Mask[r]) == 0 || e.led.Limited() && (e.s.Pool[r] != pool || e.led.Room(r, 0, nil, 1) == 0) {
			continue
		}
		g.rows = append(g.rows, r)
		g.bits = append(g.bits, e.unreserved(r, ^uint64(0)))
		if e.s.OpenStart != nil {
			g.open = append(g.open, e.s.OpenStart[r])
		}
		for d, a := range e.s.AllocOf(int(r)) {
			g.most[d] = max(g.most[d], a)
		}
	}
	e.b.spend(int64(len(g.rows)) / 64)
	n, _ := e.room(g, ji)
	if n == 0 || e.b.Out() {
		return nil, false
	}
	mult := max(e.left[ji]/n, 1)
	e.bagPut(g, ji, n)
	if e.led.Limited() {
		charge := make([]int64, e.s.Dims)
		for _, r := range g.rows {
			for d, c := range e.s.capOf(int(r)) {
				charge[d] = max(charge[d], c)
			}
		}
		if mult = e.led.Room(g.rows[0], 0, charge, mult); mult == 0 {
			return nil, false
		}
		e.led.Charge(g.rows[0], 0, charge, mult)
	}
	g.run.Mult = mult
	e.left[ji] -= n * mult
	return g, true
}

// cheapestPool is the pool with the cheapest offering for one pod of the job; -1: none.
func (e *Packer) cheapestPool(ji int32) int32 {
	j := &e.jobs[ji]
	pool, price := int32(-1), int64(0)
	for _, r := range e.byPrice {
		if p, _ := e.s.Price(int(r), 1); pool >= 0 && p >= price {
			break
		}
		m := e.unreserved(r, j.Mask[r])
		if m == 0 || !Holds(e.s.AllocOf(int(r)), j.Req) || e.led.Room(r, 0, nil, 1) == 0 {
			continue
		}
		if p, _ := e.s.Price(int(r), m); pool < 0 || p < price {
			pool, price = e.s.Pool[r], p
		}
	}
	return pool
}

// unreserved is the part of m that draws on no reservation.
func (e *Packer) unreserved(row int32, m uint64) uint64 {
	if e.reserved == nil {
		return m
	}
	return m &^ e.reserved[row]
}

// close turns the bag into the cheapest row that holds it.
func (e *Packer) close(g *bag) {
	best, bestPrice := -1, int64(0)
	for k, r := range g.rows {
		if !Holds(e.s.AllocOf(int(r)), g.run.Used) {
			continue
		}
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
