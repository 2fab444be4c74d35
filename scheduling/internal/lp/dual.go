package lp

import "math"

// dual pivots while a value is negative. Columns whose reduced cost is negative are left to
// the primal method. false: there is no way on, or it took too long.
func (c *Cover) dual() (Status, bool) {
	most := c.pivots + int64(5*c.m+500)
	c.referenceDual()
	for {
		if c.f.old() && !c.refactor() {
			return Unstable, false
		}
		r := c.leaveDual()
		if r < 0 {
			return Optimal, true
		}
		if c.pivots >= c.limit {
			return OutOfPivots, true
		}
		if c.pivots >= most {
			return Unstable, false
		}
		c.row(r)
		q := c.enterDual()
		if q >= 0 {
			c.expand(q)
		}
		if q < 0 || !c.agree(r, q) {
			if len(c.f.etaRow) == 0 || !c.refactor() {
				return Unstable, false
			}
			continue
		}
		pivot := c.column[r]
		w := c.weightDual[r]
		for k, v := range c.column {
			if v != 0 {
				c.weightDual[k] = max(c.weightDual[k], float64(v/pivot)*float64(v/pivot)*w)
			}
		}
		c.weightDual[r] = max(1, w/(pivot*pivot))
		c.turn(r, q, c.x[r]/pivot)
	}
}

// leaveDual is the position of the negative value that is greatest against its Devex weight; -1: none is negative.
func (c *Cover) leaveDual() int {
	best, r := 0.0, -1
	for k, v := range c.x {
		if v >= -slackness*c.maxRHS {
			continue
		}
		if s := v * v / c.weightDual[k]; s > best {
			best, r = s, k
		}
	}
	if r >= 0 && c.weightDual[r] > overgrown {
		c.referenceDual()
	}
	return r
}

func (c *Cover) referenceDual() {
	for k := range c.weightDual {
		c.weightDual[k] = 1
	}
}

// enterDual is the variable whose reduced cost reaches zero first as the row in alpha is relaxed,
// the one with the greatest entry among near ties; -1: none.
func (c *Cover) enterDual() int {
	limit := math.Inf(1)
	for _, j := range c.touched {
		v := -c.alpha[j]
		if v < 1e-8 || c.basic[j] || c.banned[j] {
			continue
		}
		tol := c.enough(int(j))
		if d := c.d[j]; d >= -tol {
			limit = min(limit, (max(d, 0)+tol)/v)
		}
	}
	best, entry := -1, 0.0
	for _, j := range c.touched {
		v := -c.alpha[j]
		if v < 1e-8 || c.basic[j] || c.banned[j] || c.d[j] < -c.enough(int(j)) || c.d[j] > limit*v {
			continue
		}
		if v > entry || v == entry && int(j) < best {
			best, entry = int(j), v
		}
	}
	return best
}
