package lp

import (
	"cmp"
	"math"
	"slices"
)

// kept is how many attractive columns are remembered from one look at all of them to the next.
const kept = 40

// primal pivots while a column improves. Values must not be negative.
func (c *Cover) primal() (Status, bool) {
	stalled := 0
	c.candidate = c.candidate[:0]
	for {
		if c.f.old() && !c.refactor() {
			return Unstable, false
		}
		q := c.enter(false)
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
		r := c.leave()
		if r < 0 {
			return Unstable, false
		}
		if math.Abs(c.column[r]) < smallPivot && len(c.f.etaRow) > 0 {
			if !c.refactor() {
				return Unstable, false
			}
			continue
		}
		step := max(0, c.x[r]/c.column[r])
		d := c.reduced(q)
		for k, v := range c.column {
			if v != 0 {
				c.x[k] -= float64(step * v)
			}
		}
		c.x[r] = step
		c.row(r)
		change := d / c.column[r]
		for i, v := range c.rho {
			if v != 0 {
				c.y[i] += float64(change * v)
			}
		}
		c.pivot(r, q)
		if step > 1e-9*c.maxRHS {
			stalled = 0
		} else if stalled++; stalled > patience {
			c.perturb()
			stalled = 0
		}
	}
}

// enter is the variable whose entry looks best, or -1. It goes by the candidates while there are any.
func (c *Cover) enter(all bool) int {
	if !all && len(c.candidate) > 0 {
		best, at := 0.0, -1
		left := c.candidate[:0]
		for _, s := range c.candidate {
			j := int(s.variable)
			if c.basic[j] {
				continue
			}
			d := c.reduced(j)
			if d >= -c.enough(j) {
				continue
			}
			left = append(left, s)
			if v := d * d / c.weight[j]; v > best {
				best, at = v, j
			}
		}
		c.candidate = left
		if at >= 0 {
			return at
		}
	}
	c.candidate = c.candidate[:0]
	for j := range c.cost {
		if c.basic[j] || c.banned[j] || j >= c.m && j < 2*c.m {
			continue
		}
		if d := c.reduced(j); d < -c.enough(j) {
			c.candidate = append(c.candidate, scored{int32(j), d * d / c.weight[j]})
		}
	}
	if len(c.candidate) == 0 {
		return -1
	}
	slices.SortFunc(c.candidate, func(a, b scored) int {
		if d := cmp.Compare(b.score, a.score); d != 0 {
			return d
		}
		return cmp.Compare(a.variable, b.variable)
	})
	if len(c.candidate) > kept {
		c.candidate = c.candidate[:kept]
	}
	return int(c.candidate[0].variable)
}

// leave is the position whose variable reaches zero first; among those that do so at nearly the same time
// (Harris), the one with the greatest entry. -1: none.
func (c *Cover) leave() int {
	tol := slackness * c.maxRHS
	limit := math.Inf(1)
	for k, v := range c.column {
		if v > 1e-9 {
			limit = min(limit, (max(c.x[k], 0)+tol)/v)
		}
	}
	best := -1
	for k, v := range c.column {
		if v > 1e-9 && c.x[k] <= limit*v &&
			(best < 0 || v > c.column[best] || v == c.column[best] && c.head[k] < c.head[best]) {
			best = k
		}
	}
	return best
}

// perturb moves basic values that are nearly zero away from it, each by another amount, so that
// pivots make progress again. The right-hand sides follow; improve restores them.
func (c *Cover) perturb() {
	c.perturbed = true
	for k, j := range c.head {
		if c.x[k] > 1e-8*c.maxRHS {
			continue
		}
		by := 1e-7 * c.maxRHS * (1 + spread(uint64(j)))
		c.x[k] = max(0, c.x[k]) + by
	}
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
