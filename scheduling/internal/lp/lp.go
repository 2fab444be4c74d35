package lp

import "math"

// Row is one constraint: at least RHS, or at most RHS. RHS is finite; what is not limited needs no row.
type Row struct {
	RHS    float64
	AtMost bool
}

// Entry is a coefficient of a column. Zero values are dropped; rows must not repeat within a column.
type Entry struct {
	Row   int32
	Value float64
}

// Status is how a Solve ended.
type Status uint8

const (
	// Optimal: no column improves, and all rows hold.
	Optimal Status = iota
	// OutOfPivots: the budget ended first. Rows may be violated, and duals may price columns below zero.
	OutOfPivots
	// Infeasible: the rows cannot all hold with the columns there are. Duals of the rows in want are great,
	// so that column generation can go on.
	Infeasible
	// Unstable: rounding errors could not be brought under control, even from a fresh start.
	Unstable
)

func (s Status) String() string {
	return [...]string{"optimal", "out of pivots", "infeasible", "unstable"}[s]
}

// Cover is a covering problem with its present basis. It is not safe for concurrent use.
//
// Variables are numbered: slack of row i is i, artificial of row i is rows+i, column j is 2*rows+j.
type Cover struct {
	m      int
	atMost []bool
	rhs    []float64 // scaled, as posed
	b      []float64 // rhs, or what it is perturbed to
	scale  []float64 // by row, a power of two; 0 until an entry is seen
	worth  []float64 // by row: cost per unit in the first column there; the artificial costs penalty times that

	start  []int32 // of each variable's entries
	index  []int32
	value  []float64
	rows   [][]term // the same entries by row
	cost   []float64
	banned []bool

	head     []int32 // the basic variable at each position
	basic    []bool
	x        []float64 // by position
	y        []float64 // by row, scaled
	d        []float64 // reduced costs, by variable
	fresh    bool      // y and d were computed since the last pivot
	f        factor
	factored bool // f is of head

	penalty float64
	maxCost float64
	maxRHS  float64 // of cover rows, at least 1
	noise   float64 // what reduced costs may be wrong by
	pivots  int64
	limit   int64
	crashes int // starts from nothing

	weight     []float64 // Devex weights of the primal method, by variable
	weightDual []float64 // and of the dual one, by position
	column     []float64 // by position: the entering variable in terms of the basis
	rho        []float64 // by row: a row of the inverse
	alpha      []float64 // by variable: that row times all columns
	touched    []int32   // where alpha is not zero
	work       []float64
}

type term struct {
	variable int32
	value    float64
}

// New has the rows and no columns yet.
func New(rows []Row) *Cover {
	m := len(rows)
	vector := func() []float64 { return make([]float64, m) }
	c := &Cover{m: m, atMost: make([]bool, m), rhs: vector(), b: vector(), scale: vector(), worth: vector(),
		start: []int32{0}, rows: make([][]term, m), x: vector(), y: vector(), penalty: firstPenalty,
		weightDual: vector(), column: vector(), rho: vector(), work: vector()}
	for i, row := range rows {
		c.atMost[i] = row.AtMost
		c.rhs[i] = row.RHS
	}
	for k := range 2 * m {
		v := -1.0
		if i := k % m; (k >= m) != c.atMost[i] {
			v = 1
		}
		c.index = append(c.index, int32(k%m))
		c.value = append(c.value, v)
		c.variable(0)
	}
	return c
}

// variable ends the column whose entries were appended.
func (c *Cover) variable(cost float64) {
	for e := int(c.start[len(c.start)-1]); e < len(c.index); e++ {
		c.rows[c.index[e]] = append(c.rows[c.index[e]], term{int32(len(c.cost)), c.value[e]})
	}
	c.start = append(c.start, int32(len(c.index)))
	c.cost = append(c.cost, cost)
	c.weight = append(c.weight, 1)
	c.d = append(c.d, 0)
	c.alpha = append(c.alpha, 0)
	c.basic = append(c.basic, false)
	c.banned = append(c.banned, false)
}

// Add returns the number of the new column; columns count from 0. The cost must not be negative.
func (c *Cover) Add(cost float64, entries []Entry) int {
	c.maxCost = max(c.maxCost, cost)
	for _, e := range entries {
		if e.Value == 0 {
			continue
		}
		i := e.Row
		if c.scale[i] == 0 {
			_, exp := math.Frexp(e.Value)
			c.scale[i] = math.Ldexp(1, -exp)
			c.rhs[i] *= c.scale[i]
		}
		v := e.Value * c.scale[i]
		if c.worth[i] == 0 {
			c.worth[i] = cost / math.Abs(v)
		}
		c.index = append(c.index, i)
		c.value = append(c.value, v)
	}
	c.variable(cost)
	return len(c.cost) - 1 - 2*c.m
}

// SetRHS changes what a row demands or has left.
func (c *Cover) SetRHS(row int, v float64) {
	if s := c.scale[row]; s != 0 {
		v *= s
	}
	c.rhs[row] = v
}

// Remove forbids a column. Its number stays, and its value is 0 unless the problem is infeasible without it.
func (c *Cover) Remove(col int) { c.banned[2*c.m+col] = true }

// Duals has the price of one unit of each row: not negative for cover rows, not positive for pack rows.
// At an optimum their products with the right-hand sides add up to the objective. It reuses dst.
func (c *Cover) Duals(dst []float64) []float64 {
	dst = dst[:0]
	for i, y := range c.y {
		if c.scale[i] != 0 {
			y *= c.scale[i]
		}
		if (y < 0) != c.atMost[i] {
			y = 0
		}
		dst = append(dst, y)
	}
	return dst
}

// Values has the amount of each column, by number. It reuses dst.
func (c *Cover) Values(dst []float64) []float64 {
	dst = dst[:0]
	for range len(c.cost) - 2*c.m {
		dst = append(dst, 0)
	}
	for k, j := range c.head {
		if int(j) >= 2*c.m {
			dst[int(j)-2*c.m] = max(0, c.x[k])
		}
	}
	return dst
}

// Objective is the cost of Values; of an infeasible problem it leaves out what is in want.
func (c *Cover) Objective() float64 {
	sum := 0.0
	for k, j := range c.head {
		if int(j) >= 2*c.m {
			sum += float64(c.cost[j] * max(0, c.x[k]))
		}
	}
	return sum
}

// Pivots counts the changes of basis of all solves so far.
func (c *Cover) Pivots() int64 { return c.pivots }
