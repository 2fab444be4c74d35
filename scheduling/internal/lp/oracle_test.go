package lp

import "math/big"

// problem is a covering problem as a test writes it.
type problem struct {
	rows []Row
	cost []float64
	cols [][]Entry
}

func (p *problem) add(cost float64, col []Entry) {
	p.cost = append(p.cost, cost)
	p.cols = append(p.cols, col)
}

func (p *problem) cover() *Cover {
	c := New(p.rows)
	for j, col := range p.cols {
		c.Add(p.cost[j], col)
	}
	return c
}

// exact solves a problem by the two-phase tableau method with Bland's rule in rational numbers; false: infeasible.
func exact(p *problem) (float64, bool) {
	m, n := len(p.rows), len(p.cols)
	width := n + 2*m // columns, slacks, artificials; then the right-hand side
	t := make([][]*big.Rat, m)
	basis := make([]int, m)
	for i, row := range p.rows {
		t[i] = zeros(width + 1)
		for j, col := range p.cols {
			for _, e := range col {
				if int(e.Row) == i {
					t[i][j].Add(t[i][j], new(big.Rat).SetFloat64(e.Value))
				}
			}
		}
		t[i][n+i].SetInt64(-1)
		if row.AtMost {
			t[i][n+i].SetInt64(1)
		}
		t[i][width].SetFloat64(row.RHS)
		if row.RHS < 0 {
			for _, v := range t[i] {
				v.Neg(v)
			}
		}
		t[i][n+m+i].SetInt64(1)
		basis[i] = n + m + i
	}
	one := make([]*big.Rat, width)
	two := make([]*big.Rat, width)
	for j := range width {
		one[j], two[j] = new(big.Rat), new(big.Rat)
		if j >= n+m {
			one[j].SetInt64(1)
		} else if j < n {
			two[j].SetFloat64(p.cost[j])
		}
	}
	if bland(t, basis, one, width).Sign() > 0 {
		return 0, false
	}
	for i, b := range basis { // artificials that are basic at zero leave where they can
		for j := 0; b >= n+m && j < n+m; j++ {
			if t[i][j].Sign() != 0 {
				turn(t, basis, i, j)
				break
			}
		}
	}
	f, _ := bland(t, basis, two, n+m).Float64()
	return f, true
}

func zeros(n int) []*big.Rat {
	r := make([]*big.Rat, n)
	for i := range r {
		r[i] = new(big.Rat)
	}
	return r
}

// bland pivots in the first open columns and returns the objective.
func bland(t [][]*big.Rat, basis []int, cost []*big.Rat, open int) *big.Rat {
	last := len(t[0]) - 1
	var v big.Rat
	for {
		q := -1
		for j := 0; j < open && q < 0; j++ {
			d := new(big.Rat).Set(cost[j])
			for i, b := range basis {
				d.Sub(d, v.Mul(cost[b], t[i][j]))
			}
			if d.Sign() < 0 {
				q = j
			}
		}
		if q < 0 {
			sum := new(big.Rat)
			for i, b := range basis {
				sum.Add(sum, v.Mul(cost[b], t[i][last]))
			}
			return sum
		}
		r := -1
		var least big.Rat
		for i := range t {
			if t[i][q].Sign() <= 0 {
				continue
			}
			ratio := new(big.Rat).Quo(t[i][last], t[i][q])
			if r < 0 || ratio.Cmp(&least) < 0 || ratio.Cmp(&least) == 0 && basis[i] < basis[r] {
				r = i
				least.Set(ratio)
			}
		}
		turn(t, basis, r, q) // costs are not negative: there is always a row
	}
}

func turn(t [][]*big.Rat, basis []int, r, q int) {
	inv := new(big.Rat).Inv(t[r][q])
	for _, v := range t[r] {
		v.Mul(v, inv)
	}
	var p big.Rat
	for i := range t {
		if i == r || t[i][q].Sign() == 0 {
			continue
		}
		f := new(big.Rat).Set(t[i][q])
		for j, v := range t[i] {
			if t[r][j].Sign() != 0 {
				v.Sub(v, p.Mul(f, t[r][j]))
			}
		}
	}
	basis[r] = q
}
