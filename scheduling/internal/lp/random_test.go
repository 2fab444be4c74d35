package lp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// small draws a problem that exact can solve: few values, so that ties and degenerate bases are common,
// columns twice, empty columns, rows without columns.
func small(r *rand.Rand) *problem {
	p := &problem{}
	for range 1 + r.IntN(6) {
		row := Row{RHS: float64(r.IntN(5)), AtMost: r.IntN(4) == 0}
		if r.IntN(4) == 0 {
			row.RHS = float64(1 + r.IntN(50000))
		}
		if row.AtMost && r.IntN(20) == 0 {
			row.RHS = -1
		}
		p.rows = append(p.rows, row)
	}
	for range 1 + r.IntN(12) {
		if n := len(p.cols); n > 0 && r.IntN(8) == 0 {
			p.cols = append(p.cols, p.cols[r.IntN(n)])
			p.cost = append(p.cost, float64(1+r.IntN(5)))
			continue
		}
		var col []Entry
		for i := range p.rows {
			if r.IntN(2) == 0 {
				col = append(col, Entry{int32(i), float64(r.IntN(4))})
			}
		}
		p.cols = append(p.cols, col)
		p.cost = append(p.cost, float64(r.IntN(6))*[]float64{0.001, 0.25, 1, 20}[r.IntN(4)])
	}
	return p
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1e-3, math.Abs(a), math.Abs(b)) }

func TestExact(t *testing.T) {
	n := 3000
	if testing.Short() {
		n = 300
	}
	infeasible := 0
	for seed := range n {
		p := small(rand.New(rand.NewPCG(uint64(seed), 1)))
		want, ok := exact(p)
		c := p.cover()
		st := c.Solve(1000)
		if !ok {
			infeasible++
			if st != Infeasible {
				t.Errorf("seed %d: %v, objective %v; want infeasible", seed, st, c.Objective())
			}
			continue
		}
		if st != Optimal || !near(c.Objective(), want) {
			t.Errorf("seed %d: %v, objective %v; want %v", seed, st, c.Objective(), want)
		}
	}
	if infeasible < n/20 || infeasible > n*3/4 {
		t.Errorf("%d of %d problems are infeasible: the draw has become one-sided", infeasible, n)
	}
}
