package pack

import "slices"

func (e *Packer) guidedTier() {
	e.appraise()
	if len(e.runs) > 0 {
		e.join()
		e.refresh()
	}
	if e.cov != nil {
		e.coverTier()
	}
	for lax := range 2 {
		if e.lax = lax == 1; e.lax && (!e.s.BestEffort || len(e.s.MinValues) == 0) {
			break
		}
		for i := range e.kinds {
			for e.kinds[i].left > 0 && !e.b.Out() && e.open(i) {
			}
		}
	}
	e.lax = false
}

// perBucket is how many rows of each size are tried for a node. More cost time in proportion and
// gave less than 0.1 % on the workloads we measure with.
const perBucket = 5

// perBucketOfMany is the same where there are more than severalKinds, so that fillings are long.
const perBucketOfMany, severalKinds = 2, 512

// closeEnough is the fraction of a node's price that is not worth a further search.
const closeEnough int64 = 256

// open starts the best nodes for the i-th kind; false: there is none.
func (e *Packer) open(i int) bool {
	kd := &e.kinds[i]
	e.leastLeft(i)
	best := &e.scratch[0]
	best.price = 0
	each := perBucket
	if len(e.kinds) > severalKinds {
		each = perBucketOfMany
	}
	slack := -closeEnough
	if e.groupCount > 1 {
		slack = 10
	}
	g := e.groups[kd.group]
	if g.turns != e.led.turns {
		e.sort(g)
	}
	for _, bucket := range g.buckets {
		tried := 0
		for _, o := range bucket {
			// No filling of the row is worth more for the money than the row full, as long as
			// its pods are of one group; others may be worth a little more than it says.
			if best.price > 0 && compareRatio(o.worth+o.worth/slack, o.price, best.worth, best.price) <= 0 {
				break
			}
			if tried == each {
				break
			}
			if !e.b.spend(1) {
				return false
			}
			r := o.row
			if !e.fits(kd, r) {
				continue
			}
			tried++
			for m := range modes {
				f := &e.scratch[1]
				if m != largestFirst && len(e.kinds) == 1 || !e.fill(f, i, r, m) {
					continue
				}
				if f.betterThan(best) {
					e.scratch[0], e.scratch[1] = e.scratch[1], e.scratch[0]
					best = &e.scratch[0]
					f = best
				}
				if f.use > 1000-clearlyFuller && e.worthLeft(f)*closeEnough < f.worth {
					break
				}
			}
		}
	}
	if best.price == 0 {
		return false
	}
	e.settle(best, e.rowsOf(best)) // a filling that was nearly full has not looked for a cheaper row yet
	return e.commit(best, noLimit) > 0
}

// fits reports whether one pod of the kind can have a new node of the row to itself.
func (e *Packer) fits(kd *kind, row int32) bool {
	return Holds(e.usable(kd, row), kd.req) && e.led.Room(row, 0, nil, 1) > 0
}

// usable is what pods may use on a new node of the row: all of it, or less where minValues want smaller
// rows to be able to take its place; nil if they cannot be had.
func (e *Packer) usable(kd *kind, row int32) []int64 {
	if !e.s.wants(e.s.Pool[row]) || e.lax {
		return e.s.AllocOf(int(row))
	}
	g := e.groups[kd.group]
	if u, ok := g.usable[row]; ok {
		return u
	}
	if g.usable == nil {
		g.usable = map[int32][]int64{}
	}
	u := e.s.usable(kd.mask, row)
	if u == nil {
		u = make([]int64, e.s.Dims)
	}
	g.usable[row] = u
	return u
}

// leastLeft finds the least of each resource that a pod left asks for, and what all of them do.
func (e *Packer) leastLeft(from int) {
	clear(e.demand)
	first := true
	for k := from; k < len(e.kinds); k++ {
		kd := &e.kinds[k]
		if kd.left == 0 {
			continue
		}
		for d, q := range kd.req {
			if first || q < e.least[d] {
				e.least[d] = q
			}
			e.demand[d] += float64(q) * float64(kd.left)
		}
		first = false
	}
}

// commit opens as many nodes with the filling's parts as pods and limits allow, at most most, and says how many.
func (e *Packer) commit(f *filling, most int64) (opened int64) {
	run := Run{Row: f.row, Bits: f.bits, Used: slices.Clone(f.used)}
	if f.open != nil {
		run.Open = slices.Clone(f.open)
	}
	if e.led.Limited() {
		run.Charge = e.chargeOf(f)
	}
	for opened < most && e.enough(f) {
		n := e.led.Room(f.row, f.bits, run.Charge, int32(min(most-opened, noLimit)))
		if n == 0 {
			break
		}
		run.Content = make([]Content, 0, len(f.parts))
		for _, p := range f.parts {
			run.Content = e.draw(run.Content, p.kind, p.n)
		}
		for _, c := range run.Content {
			n = min(n, e.left[c.Job]/c.Count)
		}
		from := run.Content
		for _, p := range f.parts {
			k := 0
			for got := int32(0); got < p.n; k++ {
				got += from[k].Count
			}
			e.use(p.kind, from[:k], n)
			from = from[k:]
		}
		e.led.Charge(f.row, f.bits, run.Charge, n)
		run.Mult = n
		e.runs = append(e.runs, run)
		opened += int64(n)
	}
	return opened
}

// enough reports whether pods are left for one more node like the filling.
func (e *Packer) enough(f *filling) bool {
	for _, p := range f.parts {
		if e.kinds[p.kind].avail < int64(p.n) {
			return false
		}
	}
	return true
}
