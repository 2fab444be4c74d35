package lp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-7*max(1e-3, math.Abs(a), math.Abs(b)) }

func runs(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// against compares with rational arithmetic and returns whether p is feasible.
func against(t *testing.T, seed int, p *problem, c *Cover) bool {
	t.Helper()
	want, ok := exact(p)
	st := c.Solve(10000)
	switch {
	case !ok && st != Infeasible:
		t.Errorf("seed %d: %v, objective %v; want infeasible", seed, st, c.Objective())
	case ok && (st != Optimal || !near(c.Objective(), want)):
		t.Errorf("seed %d: %v, objective %v; want %v", seed, st, c.Objective(), want)
	}
	return ok
}

// TestExact: small problems end like the tableau method in rational numbers.
func TestExact(t *testing.T) {
	n, infeasible := runs(5000), 0
	for seed := range n {
		p := small(rand.New(rand.NewPCG(uint64(seed), 1)))
		if !against(t, seed, p, p.cover()) {
			infeasible++
		}
	}
	if infeasible < n/20 || infeasible > n*3/4 {
		t.Errorf("%d of %d problems are infeasible: the draw has become one-sided", infeasible, n)
	}
}

// change does one thing to a problem and to its cover: a column more, another right-hand side, a column less.
func change(r *rand.Rand, p *problem, c *Cover) {
	switch k := r.IntN(6); {
	case k < 3:
		i := r.IntN(len(p.rows))
		v := float64(r.IntN(int(math.Abs(p.rows[i].RHS)) + 3))
		p.rows[i].RHS = v
		c.SetRHS(i, v)
	case k < 5:
		q := dense(max(5, len(p.rows)), len(p.rows)+5, r.Uint64())
		col := slices.DeleteFunc(q.cols[len(p.rows)+r.IntN(5)], func(e Entry) bool { return int(e.Row) >= len(p.rows) })
		p.add(q.cost[len(p.rows)], col)
		c.Add(q.cost[len(p.rows)], col)
	default:
		j := r.IntN(len(p.cols))
		c.Remove(j)
		p.cols[j] = nil
	}
}

// TestExactWarm: so do small problems that change between solves.
func TestExactWarm(t *testing.T) {
	for seed := range runs(500) {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		p := small(r)
		c := p.cover()
		against(t, seed, p, c)
		for range 6 {
			for range 1 + r.IntN(3) {
				change(r, p, c)
			}
			against(t, seed, p, c)
		}
	}
}

// proves checks the conditions of an optimum: rows hold, no reduced cost is below zero, and both sides' objectives
// are the same, from which complementary slackness follows.
func proves(t *testing.T, seed int, p *problem, c *Cover) {
	t.Helper()
	x, y := c.Values(nil), c.Duals(nil)
	worst := 1.0
	for _, row := range p.rows {
		if !row.AtMost {
			worst = max(worst, row.RHS)
		}
	}
	left := make([]float64, len(p.rows))
	primal, dual := 0.0, 0.0
	for i, row := range p.rows {
		left[i] = -row.RHS
		dual += y[i] * row.RHS
		if (y[i] < 0) != row.AtMost && y[i] != 0 {
			t.Errorf("seed %d: row %d has the price %v", seed, i, y[i])
		}
	}
	for j, col := range p.cols {
		d := p.cost[j]
		for _, e := range col {
			left[e.Row] += x[j] * e.Value
			d -= y[e.Row] * e.Value
		}
		if x[j] < 0 || d < -1e-8*max(p.cost[j], 1e-3) && !c.banned[2*c.m+j] {
			t.Errorf("seed %d: column %d of cost %v has the value %v and the reduced cost %v", seed, j, p.cost[j], x[j], d)
		}
		primal += x[j] * p.cost[j]
	}
	for i, row := range p.rows {
		if v := left[i] / max(worst, math.Abs(row.RHS)); row.AtMost && v > 1e-8 || !row.AtMost && v < -1e-8 {
			t.Errorf("seed %d: row %d misses %v by %v", seed, i, row, left[i])
		}
	}
	if !near(primal, dual) || !near(primal, c.Objective()) {
		t.Errorf("seed %d: objective %v, of the values %v, of the duals %v", seed, c.Objective(), primal, dual)
	}
}

// TestOptimum: larger problems of all kinds end with a proof.
func TestOptimum(t *testing.T) {
	for seed := range runs(200) {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		m := 30 + r.IntN(70)
		p := dense(m, m*(2+r.IntN(10)), uint64(seed))
		p.twist(r)
		c := p.cover()
		if st := c.Solve(50_000); st != Optimal {
			t.Errorf("seed %d: %v", seed, st)
		}
		proves(t, seed, p, c)
	}
}

// TestWarm: a solve after changes ends where one from nothing ends, and with a proof.
func TestWarm(t *testing.T) {
	crashes := 0
	for seed := range runs(100) {
		r := rand.New(rand.NewPCG(uint64(seed), 4))
		m := 10 + r.IntN(60)
		p := dense(m, m*(2+r.IntN(6)), uint64(seed))
		p.twist(r)
		c := p.cover()
		for range 20 {
			for range 1 + r.IntN(10) {
				change(r, p, c)
			}
			fresh := p.cover()
			st, want := c.Solve(50_000), fresh.Solve(50_000)
			if st != want || st == Optimal && !near(c.Objective(), fresh.Objective()) {
				t.Errorf("seed %d: %v %v; from nothing %v %v", seed, st, c.Objective(), want, fresh.Objective())
			}
			if st == Optimal {
				proves(t, seed, p, c)
			}
		}
		crashes += c.crashes - 1
	}
	if crashes > 20 { // of 2,000 solves
		t.Errorf("%d solves lost their basis: warm starts are not worth their name", crashes)
	}
}

// TestBudget: pivots are never more than allowed, and many small solves end like one.
func TestBudget(t *testing.T) {
	p := dense(60, 600, 1)
	whole := p.cover()
	whole.Solve(50_000)
	c := p.cover()
	st := OutOfPivots
	for n := 0; st == OutOfPivots; n++ {
		before := c.Pivots()
		st = c.Solve(7)
		if c.Pivots()-before > 7 || n > 1000 {
			t.Fatalf("solve %d used %d pivots of 7", n, c.Pivots()-before)
		}
	}
	if st != Optimal || !near(c.Objective(), whole.Objective()) {
		t.Errorf("%v %v; at once %v", st, c.Objective(), whole.Objective())
	}
}

// TestStalled: shortest paths as flows. All demands but one are 0, so that nearly all pivots make no progress.
func TestStalled(t *testing.T) {
	for seed := range runs(50) {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		n := 40 + r.IntN(80)
		p := &problem{rows: make([]Row, n)}
		p.rows[n-1].RHS = 1
		length := make([]float64, n) // of the shortest path from before node 0
		for i := range length {
			length[i] = math.Inf(1)
		}
		length[0] = 0
		p.add(0, []Entry{{0, 1}})
		type edge struct {
			from, to int32
			cost     float64
		}
		var edges []edge
		for range 12 * n {
			e := edge{int32(r.IntN(n)), int32(r.IntN(n)), float64(1 + r.IntN(9))}
			if e.from != e.to {
				edges = append(edges, e)
				p.add(e.cost, []Entry{{e.from, -1}, {e.to, 1}})
			}
		}
		for range n {
			for _, e := range edges {
				length[e.to] = min(length[e.to], length[e.from]+e.cost)
			}
		}
		c := p.cover()
		if st := c.Solve(20_000); st != Optimal || !near(c.Objective(), length[n-1]) {
			t.Errorf("seed %d: %v %v after %d pivots; the shortest path is %v", seed, st, c.Objective(), c.Pivots(), length[n-1])
		}
	}
}

// TestDive: column generation on a fleet, then its columns fixed one by one until nothing is in demand.
func TestDive(t *testing.T) {
	for seed := range runs(10) {
		f := newFleet(40, uint64(seed))
		c := New(f.rows)
		f.generate(t, c, 100)
		p := f.posed(c)
		proves(t, seed, p, c)
		if fresh := p.cover(); fresh.Solve(50_000) != Optimal || !near(fresh.Objective(), c.Objective()) {
			t.Errorf("seed %d: %v; from nothing %v", seed, c.Objective(), fresh.Objective())
		}
		bound := c.Objective()
		if total := f.dive(t, c); total < bound*(1-1e-9) || total > bound*1.2 {
			t.Errorf("seed %d: the dive ends at %v, the relaxation at %v", seed, total, bound)
		}
	}
}
