package lp

import "math"

// dual pivots while a value is negative. Columns whose reduced cost is negative are left to
// the primal method. false: there is no way on, or it took too long.
func (c *Cover) dual() (Status, bool) {
	most := c.pivots + int64(5*c.m+500)
	for {
		if c.f.old() && !c.refactor() {
			return Unstable, false
		}
		r := -1
		for k, v := range c.x {
			if v < -slackness*c.maxRHS && (r < 0 || v < c.x[r]) {
				r = k
			}
		}
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
		if q < 0 {
			if len(c.f.etaRow) > 0 {
				if !c.refactor() {
					return Unstable, false
				}
				continue
			}
			return Unstable, false
		}
		c.expand(q)
		if c.column[r] > -smallPivot {
			if len(c.f.etaRow) == 0 {
				return Unstable, false
			}
			if !c.refactor() {
				return Unstable, false
			}
			continue
		}
		step := c.x[r] / c.column[r]
		for k, v := range c.column {
			if v != 0 {
				c.x[k] -= float64(step * v)
			}
		}
		c.x[r] = step
		change := c.reduced(q) / c.column[r]
		for i, v := range c.rho {
			if v != 0 {
				c.y[i] += float64(change * v)
			}
		}
		c.pivot(r, q)
	}
}

// enterDual is the variable whose reduced cost reaches zero first as the row in rho is relaxed,
// the one with the greatest entry among near ties; -1: none.
func (c *Cover) enterDual() int {
	limit := math.Inf(1)
	c.candidate = c.candidate[:0]
	for j := range c.cost {
		if c.basic[j] || c.banned[j] {
			continue
		}
		v := 0.0
		for e := c.start[j]; e < c.start[j+1]; e++ {
			v -= float64(c.rho[c.index[e]] * c.value[e])
		}
		if v < 1e-8 {
			continue
		}
		d := c.reduced(j)
		if d < -c.enough(j) {
			continue
		}
		limit = min(limit, (max(d, 0)+c.enough(j))/v)
		c.candidate = append(c.candidate, scored{int32(j), v})
	}
	best, entry := -1, 0.0
	for _, s := range c.candidate {
		if s.score > entry && c.reduced(int(s.variable)) <= limit*s.score {
			best, entry = int(s.variable), s.score
		}
	}
	c.candidate = c.candidate[:0]
	return best
}
