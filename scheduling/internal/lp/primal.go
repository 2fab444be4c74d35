package lp

import "math"

// overgrown is the Devex weight at which the weights no longer mean much, and start again.
const overgrown = 1e7

// primal pivots while a column improves. Values must not be negative.
func (c *Cover) primal() (Status, bool) {
	stalled := 0
	c.reference()
	for {
		if c.f.old() && !c.refactor() {
			return Unstable, false
		}
		q := c.enter()
		if q < 0 {
			if !c.fresh {
				c.reprice()
				continue
			}
			return Optimal, true
		}
		if c.pivots >= c.limit {
			return OutOfPivots, true
		}
		c.expand(q)
		if d := c.exactly(q); d >= -c.enough(q) {
			c.d[q] = d
			continue
		}
		r := c.leave()
		if r < 0 {
			return Unstable, false
		}
		c.row(r)
		if !c.agree(r, q) {
			if len(c.f.etaRow) == 0 {
				c.d[q] = 0 // another column, then; improve looks again
			} else if !c.refactor() {
				return Unstable, false
			}
			continue
		}
		step := max(0, c.x[r]/c.column[r])
		c.turn(r, q, step)
		if step > 1e-9*c.maxRHS {
			stalled = 0
		} else if stalled++; stalled > patience {
			c.perturb()
			stalled = 0
		}
	}
}

// reference starts Devex pricing afresh: all variables that are not basic now weigh the same.
func (c *Cover) reference() {
	for j := range c.weight {
		c.weight[j] = 1
	}
}

// enter is the variable whose entry looks best, or -1: the greatest reduced cost against its Devex weight.
func (c *Cover) enter() int {
	best, at := 0.0, -1
	for j, d := range c.d {
		if d >= -c.noise || c.basic[j] || j >= c.m && j < 2*c.m || c.banned[j] || d >= -c.enough(j) {
			continue
		}
		if v := d * d / c.weight[j]; v > best {
			best, at = v, j
		}
	}
	if at >= 0 && c.weight[at] > overgrown {
		c.reference()
		return c.enter()
	}
	return at
}

// leave is the position whose variable reaches zero first, -1: none. Entries too small to be divided by count only
// if there is no other; what they push below zero is little, and the dual method's.
func (c *Cover) leave() int {
	r := c.leaveAmong(1e-9)
	if r >= 0 && c.column[r] < smallPivot {
		if r2 := c.leaveAmong(smallPivot); r2 >= 0 {
			return r2
		}
	}
	return r
}

// leaveAmong looks at entries of at least that size. Among those that reach zero at nearly the same time (Harris)
// it takes the greatest.
func (c *Cover) leaveAmong(least float64) int {
	tol := float64(slackness * c.maxRHS)
	limit := math.Inf(1)
	for k, v := range c.column {
		if v >= least {
			limit = min(limit, (max(c.x[k], 0)+tol)/v)
		}
	}
	best := -1
	for k, v := range c.column {
		if v >= least && c.x[k] <= limit*v &&
			(best < 0 || v > c.column[best] || v == c.column[best] && c.head[k] < c.head[best]) {
			best = k
		}
	}
	return best
}

// perturb moves basic values that are nearly zero away from it, each by another amount, so that
// pivots make progress again. The right-hand sides follow; improve restores them.
func (c *Cover) perturb() {
	for k, j := range c.head {
		if c.x[k] > 1e-8*c.maxRHS {
			continue
		}
		by := float64(1e-7 * c.maxRHS * (1 + float64(spread(uint64(j)))))
		c.x[k] = max(0, c.x[k]) + by
	}
	c.follow()
}

// follow sets the right-hand sides to what the values are a solution of.
func (c *Cover) follow() {
	clear(c.b)
	for k, j := range c.head {
		for e := c.start[j]; e < c.start[j+1]; e++ {
			c.b[c.index[e]] += float64(c.value[e] * c.x[k])
		}
	}
}

// spread turns a number into one of [0, 1) that looks random (splitmix64).
func spread(n uint64) float64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return float64((n^n>>31)>>11) / (1 << 53)
}
