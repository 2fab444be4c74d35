package lp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

func TestMeasure(t *testing.T) {
	for _, m := range []int{50, 200, 500} {
		f := newFleet(m, 1)
		c := New(f.rows)
		f.singles(c)
		var y []float64
		var spent, slowest, first time.Duration
		rounds := 0
		for ; rounds < 200; rounds++ {
			before := cpu()
			if st := c.Solve(100000); st != Optimal {
				t.Fatalf("m %d, round %d: %v", m, rounds, st)
			}
			took := (cpu() - before)
			spent += took
			if rounds == 0 {
				first = took
			}
			slowest = max(slowest, took)
			y = c.Duals(y)
			if spent > 20*time.Second {
				break
			}
			if rounds < 199 && f.attract(c, y)+f.attract(c, y)+f.attract(c, y) == 0 {
				break
			}
		}
		n := len(c.cost) - 2*c.m
		fmt.Printf("m %d: %d rounds, %d columns, %d pivots, %v (first %v slowest %v), objective %v; lu %d+%d crashes %d\n", m, rounds, n,
			c.Pivots(), spent, first, slowest, c.Objective(), len(c.f.lower.index), len(c.f.upper.index), c.crashes)
		before := cpu()
		fresh := New(f.rows)
		for j := range n {
			v := 2*c.m + j
			var col []Entry
			for e := c.start[v]; e < c.start[v+1]; e++ {
				col = append(col, Entry{c.index[e], c.value[e] / c.scale[c.index[e]]})
			}
			fresh.Add(c.cost[v], col)
		}
		st := fresh.Solve(100000)
		fmt.Printf("   from scratch %v %d pivots %v %v\n", st, fresh.Pivots(), (cpu() - before), fresh.Objective())

		// the dive
		before = cpu()
		was := c.Pivots()
		demand := append([]float64(nil), f.demand...)
		total := 0.0
		steps := 0
		for ; steps < 300; steps++ {
			x := c.Values(nil)
			best := -1
			for j, v := range x {
				if v > 1e-6 && (best < 0 || math.Mod(v, 1) > math.Mod(x[best], 1)) {
					best = j
				}
			}
			if best < 0 {
				break
			}
			by := max(1, math.Floor(x[best]))
			v := 2*c.m + best
			for e := c.start[v]; e < c.start[v+1]; e++ {
				i := c.index[e]
				a := by * c.value[e] / c.scale[i]
				if c.atMost[i] {
					f.rows[i].RHS -= a
					c.SetRHS(int(i), f.rows[i].RHS)
				} else {
					demand[i] = max(0, demand[i]-a)
					c.SetRHS(int(i), demand[i])
				}
			}
			total += by * c.cost[v]
			if st := c.Solve(100000); st != Optimal {
				t.Fatalf("m %d, step %d: %v", m, steps, st)
			}
		}
		fmt.Printf("   dive %d steps %d pivots %v total %v crashes %d\n", steps, c.Pivots()-was, (cpu() - before), total, c.crashes)
	}
}

// dense draws columns of 5 to 30 entries whose costs are near what their rows are worth, so that most of them compete.
func dense(m, n int, seed uint64) *problem {
	r := rand.New(rand.NewPCG(seed, uint64(m)))
	p := &problem{}
	worth := make([]float64, m)
	for i := range worth {
		worth[i] = 0.01 * float64(1+r.IntN(100))
		p.rows = append(p.rows, Row{RHS: float64(1 + r.IntN(1+r.IntN(2000)))})
	}
	for j := range n {
		var col []Entry
		sum := 0.0
		if j < m {
			col, sum = []Entry{{int32(j), 5}}, 10*worth[j]
		} else {
			size := 5 + r.IntN(26)
			for _, i := range r.Perm(m)[:size] {
				v := float64(1 + r.IntN(1+r.IntN(8)))
				col = append(col, Entry{int32(i), v})
				sum += v * worth[i]
			}
		}
		p.cols = append(p.cols, col)
		p.cost = append(p.cost, sum*(0.9+0.1*r.Float64()))
	}
	return p
}

func TestDense(t *testing.T) {
	for _, m := range []int{50, 200, 500} {
		p := dense(m, min(15*m, 15000), 1)
		before := cpu()
		c := p.cover()
		st := c.Solve(1000000)
		fmt.Printf("m %d: %v %v pivots %d lu %d+%d crashes %d\n", m, st, (cpu() - before), c.pivots, len(c.f.lower.index), len(c.f.upper.index), c.crashes)
	}
}

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestDegenerate(t *testing.T) {
	for _, m := range []int{50, 200, 500} {
		for _, unit := range []bool{false, true} {
			p := dense(m, 15*m, 1)
			for i := range p.rows {
				p.rows[i].RHS = 1
			}
			for j := range p.cols {
				if unit {
					p.cost[j] = 1
				}
				for e := range p.cols[j] {
					p.cols[j][e].Value = 1
				}
			}
			before := cpu()
			c := p.cover()
			st := c.Solve(1000000)
			fmt.Printf("m %d: %v %v %v pivots %d lu %d+%d crashes %d\n", m, st, c.Objective(), (cpu() - before), c.pivots, len(c.f.lower.index), len(c.f.upper.index), c.crashes)
		}
	}
}
