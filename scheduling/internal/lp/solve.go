package lp

import (
	"math"
	"slices"
)

const (
	// firstPenalty and lastPenalty bound what an artificial costs, as a multiple of a real column in its row.
	firstPenalty = 100
	lastPenalty  = 1e8
	// slackness is what a value may be below zero, against the greatest right-hand side.
	slackness = 1e-10
	// attraction is what a reduced cost must be below zero, against the column's cost, to count.
	attraction = 1e-9
	// smallPivot is what an entry must be to be divided by.
	smallPivot = 1e-7
	// patience is how many pivots without progress are borne before values are perturbed.
	patience = 25
)

// Solve goes on from the present basis, for at most that many pivots.
func (c *Cover) Solve(pivots int) Status {
	c.limit = c.pivots + int64(pivots)
	c.prepare()
	if c.head == nil {
		c.crash()
	}
	for crashes := 0; crashes < 3; crashes++ {
		st, ok := c.improve()
		if !ok {
			c.crash()
			continue
		}
		if st == Optimal && c.inWant() {
			if c.penalty >= lastPenalty {
				return Infeasible
			}
			c.penalty *= 1e3
			c.prepare()
			crashes--
			continue
		}
		return st
	}
	return Unstable
}

// prepare sets what depends on all rows and columns there are by now.
func (c *Cover) prepare() {
	c.maxRHS = 1
	for i := range c.m {
		if !c.atMost[i] { // what is left of something finite may be beyond all proportion
			c.maxRHS = max(c.maxRHS, math.Abs(c.rhs[i]))
		}
		w := c.worth[i]
		if w == 0 {
			w = c.typical()
		}
		c.cost[c.m+i] = w * c.penalty
	}
	copy(c.b, c.rhs)
}

// crash starts anew with a diagonal basis: in each row the slack if it can be, else the cheapest column that
// is in no other row, else the artificial.
func (c *Cover) crash() {
	c.crashes++
	c.factored = false
	copy(c.b, c.rhs)
	c.head = c.head[:0]
	clear(c.basic)
	for i := range c.m {
		j := i
		if (c.rhs[i] < 0) == c.atMost[i] && c.rhs[i] != 0 {
			j = c.m + i
		}
		c.head = append(c.head, int32(j))
	}
	for j := 2 * c.m; j < len(c.cost); j++ {
		if c.start[j+1]-c.start[j] != 1 || c.banned[j] {
			continue
		}
		e := c.start[j]
		i := c.index[e]
		if h := int(c.head[i]); h >= c.m && (c.rhs[i] < 0) == (c.value[e] < 0) &&
			c.cost[j]*math.Abs(c.value[c.start[h]]) < c.price(h)*math.Abs(c.value[e]) {
			c.head[i] = int32(j)
		}
	}
	for _, j := range c.head {
		c.basic[j] = true
	}
}

// typical is the greatest cost, or 1.
func (c *Cover) typical() float64 {
	if c.maxCost == 0 {
		return 1
	}
	return c.maxCost
}

// price is what a variable costs in the present problem.
func (c *Cover) price(j int) float64 {
	if c.banned[j] {
		return (c.cost[j] + c.typical()) * c.penalty
	}
	return c.cost[j]
}

// inWant says that an artificial or a forbidden column has a value.
func (c *Cover) inWant() bool {
	for k, j := range c.head {
		if (int(j) >= c.m && int(j) < 2*c.m || c.banned[j]) && c.x[k] > 10*slackness*c.maxRHS {
			return true
		}
	}
	return false
}

// improve runs both methods until neither has anything to do. Where the dual one finds no way, since columns
// that it needs have negative reduced costs, the primal one goes first, as if no value were negative.
// false: the basis is of no use.
func (c *Cover) improve() (Status, bool) {
	if !c.refactor() {
		return Unstable, false
	}
	clipped := false
	for range 12 {
		st, ok := c.dual()
		if st == OutOfPivots {
			return st, true
		}
		if !ok {
			if clipped || !c.refactor() {
				return Unstable, false
			}
			clipped = true
			for k, v := range c.x {
				c.x[k] = max(0, v)
			}
			c.follow()
		}
		if st, ok = c.primal(); !ok {
			return st, false
		}
		copy(c.b, c.rhs)
		if !c.refactor() {
			return Unstable, false
		}
		if st == OutOfPivots {
			return st, true
		}
		if c.feasible() && c.enter() < 0 && c.residual() <= 1e-7 {
			return Optimal, true
		}
	}
	return Unstable, false
}

// refactor computes everything from the basis and the right-hand sides.
func (c *Cover) refactor() bool {
	if !c.factored || len(c.f.etaRow) > 0 {
		if c.factored = c.f.load(c); !c.factored {
			return false
		}
	}
	c.values()
	c.reprice()
	return true
}

func (c *Cover) values() {
	copy(c.work, c.b)
	c.f.solve(c.x, c.work)
}

func (c *Cover) reprice() {
	for k, j := range c.head {
		c.work[k] = c.price(int(j))
	}
	c.f.solveT(c.y, c.work)
	c.noise = 1e-12 * c.typical()
	for _, y := range c.y {
		c.noise = max(c.noise, 1e-14*math.Abs(y))
	}
	for j := range c.d {
		c.d[j] = 0
		if !c.basic[j] {
			c.d[j] = c.reduced(j)
		}
	}
	c.fresh = true
}

func (c *Cover) feasible() bool {
	return c.m == 0 || slices.Min(c.x) >= -10*slackness*c.maxRHS
}

// residual is by how much the worst row is missed, against what is added up in it.
func (c *Cover) residual() float64 {
	copy(c.work, c.rhs)
	for k, j := range c.head {
		for e := c.start[j]; e < c.start[j+1]; e++ {
			c.work[c.index[e]] -= float64(c.value[e] * c.x[k])
		}
	}
	worst := 0.0
	for i, v := range c.work {
		worst = max(worst, math.Abs(v)/max(c.maxRHS, math.Abs(c.rhs[i])))
	}
	return worst
}

// reduced is the reduced cost of a variable under y.
func (c *Cover) reduced(j int) float64 {
	d := c.price(j)
	for e := c.start[j]; e < c.start[j+1]; e++ {
		d -= float64(c.y[c.index[e]] * c.value[e])
	}
	return d
}

// exactly is the reduced cost of the variable that was expanded.
func (c *Cover) exactly(q int) float64 {
	d := c.price(q)
	for k, v := range c.column {
		if v != 0 {
			d -= float64(v * c.price(int(c.head[k])))
		}
	}
	return d
}

// enough is by how much the reduced cost must be below zero.
func (c *Cover) enough(j int) float64 {
	return float64(attraction*c.cost[j]) + c.noise
}

// expand writes variable j in terms of the basis to column.
func (c *Cover) expand(j int) {
	clear(c.work)
	for e := c.start[j]; e < c.start[j+1]; e++ {
		c.work[c.index[e]] = c.value[e]
	}
	c.f.solve(c.column, c.work)
}

// row computes row r of the inverse times all columns into alpha, whose entries not zero are among touched.
func (c *Cover) row(r int) {
	clear(c.work)
	c.work[r] = 1
	c.f.solveT(c.rho, c.work)
	for _, j := range c.touched {
		c.alpha[j] = 0
	}
	c.touched = c.touched[:0]
	for i, v := range c.rho {
		if math.Abs(v) <= dropped {
			continue
		}
		for _, e := range c.rows[i] {
			if c.alpha[e.variable] == 0 {
				c.touched = append(c.touched, e.variable)
			}
			c.alpha[e.variable] += float64(v * e.value)
			if c.alpha[e.variable] == 0 {
				c.alpha[e.variable] = 1e-300 // so that it is not touched twice
			}
		}
	}
}

// agree says that the pivot of row r and variable q is far enough from zero and known well enough.
func (c *Cover) agree(r, q int) bool {
	a, b := c.column[r], c.alpha[q]
	return math.Abs(a) >= smallPivot && math.Abs(a-b) <= 1e-9+float64(1e-6*math.Abs(a))
}

// turn makes variable q basic with the value step, at position r.
func (c *Cover) turn(r, q int, step float64) {
	for k, v := range c.column {
		if v != 0 {
			c.x[k] -= float64(step * v)
		}
	}
	c.x[r] = step
	pivot := c.column[r]
	ratio := c.exactly(q) / pivot
	wq := c.weight[q] / (pivot * pivot)
	for _, j := range c.touched {
		if c.basic[j] {
			continue
		}
		a := c.alpha[j]
		c.d[j] -= float64(ratio * a)
		c.weight[j] = max(c.weight[j], a*a*wq)
	}
	out := c.head[r]
	c.d[out], c.d[q] = -ratio, 0
	c.weight[out] = max(1, wq)
	c.basic[out], c.basic[q] = false, true
	c.head[r] = int32(q)
	c.f.replace(r, c.column)
	c.pivots++
	c.fresh = false
}
