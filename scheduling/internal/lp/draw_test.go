package lp

import (
	"math"
	"math/rand/v2"
	"slices"
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
			p.add(float64(1+r.IntN(5)), p.cols[r.IntN(n)])
			continue
		}
		var col []Entry
		for i := range p.rows {
			if r.IntN(2) == 0 {
				col = append(col, Entry{int32(i), float64(r.IntN(4))})
			}
		}
		p.add(float64(r.IntN(6))*[]float64{0.001, 0.25, 1, 20}[r.IntN(4)], col)
	}
	return p
}

// dense draws columns of 5 to 30 entries whose costs are near what their rows are worth, so that most compete.
// The first m columns make it feasible.
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
			for _, i := range r.Perm(m)[:min(m, 5+r.IntN(26))] {
				v := float64(1 + r.IntN(1+r.IntN(8)))
				col = append(col, Entry{int32(i), v})
				sum += v * worth[i]
			}
		}
		p.add(sum*(0.9+0.1*r.Float64()), col)
	}
	return p
}

// twist makes a problem harder in one or two ways: degenerate, badly scaled, with rows that are finite or nearly not.
func (p *problem) twist(r *rand.Rand) {
	m := len(p.rows)
	for range 1 + r.IntN(2) {
		switch r.IntN(6) {
		case 0: // unit demands and entries
			for i := range m {
				p.rows[i].RHS = min(p.rows[i].RHS, 1)
			}
			for _, col := range p.cols {
				for e := range col {
					col[e].Value = min(col[e].Value, 1)
				}
			}
		case 1: // one cost
			for j := range p.cost {
				p.cost[j] = 1
			}
		case 2: // demands over four orders of magnitude, some of them nothing
			for i := range m {
				p.rows[i].RHS = math.Floor(math.Pow(10, 5*r.Float64()-0.5))
			}
		case 3: // costs over five
			for j := range p.cost {
				p.cost[j] = math.Pow(10, 5*r.Float64()-3)
			}
		case 4: // finite columns at half the price, some far from finite
			for j := r.IntN(10); j < len(p.cols); j += 1 + r.IntN(20) {
				if j < m { // still feasible
					p.add(p.cost[j], slices.Clone(p.cols[j]))
				}
				p.cols[j] = append(p.cols[j], Entry{int32(len(p.rows)), 1})
				p.cost[j] /= 2
				p.rows = append(p.rows, Row{RHS: []float64{0, 1, 7, 1e9}[r.IntN(4)], AtMost: true})
			}
		case 5: // a limit in thousandths over all columns
			row := Row{RHS: 1e9, AtMost: true}
			for j := range p.cols {
				p.cols[j] = append(p.cols[j], Entry{int32(len(p.rows)), float64(1000 * (1 + r.IntN(96)))})
			}
			p.rows = append(p.rows, row)
		}
	}
}

// fleet is cutting stock in two dimensions as a planner of nodes meets it: shapes of pods with demands, types of nodes
// with prices, some of which are few. Columns are what one node holds, made by a greedy knapsack under
// the duals; they have 1 to 30 entries, and optima of it are as degenerate as the real ones.
type fleet struct {
	size   [][2]float64 // of shapes
	demand []float64
	node   [][2]float64 // of types
	price  []float64
	few    []int32 // the row of a type's limit, or -1
	rows   []Row
	r      *rand.Rand
}

func newFleet(shapes int, seed uint64) *fleet {
	r := rand.New(rand.NewPCG(seed, uint64(shapes)))
	f := &fleet{r: r}
	for range shapes {
		cpu := 0.1 * float64(1+r.IntN(1+r.IntN(80)))
		f.size = append(f.size, [2]float64{cpu, cpu * []float64{1, 2, 4, 8}[r.IntN(4)] * (0.5 + r.Float64())})
		f.demand = append(f.demand, float64(1+r.IntN(1+r.IntN(1+r.IntN(2000)))))
		f.rows = append(f.rows, Row{RHS: f.demand[len(f.demand)-1]})
	}
	for cpu := 4.0; cpu <= 128; cpu *= 2 {
		for _, perCPU := range []float64{2, 4, 8} {
			f.node = append(f.node, [2]float64{cpu - 0.2, cpu*perCPU - 1})
			f.price = append(f.price, cpu*(0.03+0.005*perCPU)*(0.95+0.1*r.Float64()))
			f.few = append(f.few, -1)
			if r.IntN(4) == 0 {
				f.few[len(f.few)-1] = int32(len(f.rows))
				f.rows = append(f.rows, Row{RHS: float64(1 + r.IntN(20)), AtMost: true})
				f.price[len(f.price)-1] *= 0.5
			}
		}
	}
	return f
}

// column is a node of a type with count pods of each shape, and its limit.
func (f *fleet) column(typ int, count []int) []Entry {
	var col []Entry
	for i, n := range count {
		if n > 0 {
			col = append(col, Entry{int32(i), float64(n)})
		}
	}
	if row := f.few[typ]; row >= 0 {
		col = append(col, Entry{row, 1})
	}
	return col
}

// singles adds nodes with one shape only.
func (f *fleet) singles(c *Cover) {
	for i, s := range f.size {
		for t, node := range f.node {
			if t >= 9 && s[0] < 3.6 && s[1] < 30 {
				break
			}
			if n := int(min(node[0]/s[0], node[1]/s[1])); n > 0 {
				count := make([]int, len(f.size))
				count[i] = n
				c.Add(f.price[t], f.column(t, count))
			}
		}
	}
}

// attract adds the columns that a greedy knapsack finds attractive under the duals and returns their number.
func (f *fleet) attract(c *Cover, y []float64) int {
	added := 0
	order := make([]int, len(f.size))
	score := make([]float64, len(f.size))
	for t, node := range f.node {
		for range 3 {
			w := f.r.Float64()
			for i, s := range f.size {
				order[i] = i
				score[i] = y[i] * (0.8 + 0.4*f.r.Float64()) / (w*s[0]/node[0] + (1-w)*s[1]/node[1])
			}
			slices.SortFunc(order, func(a, b int) int {
				if score[a] != score[b] {
					if score[a] > score[b] {
						return -1
					}
					return 1
				}
				return a - b
			})
			count := make([]int, len(f.size))
			left, pods, worth := node, 110, 0.0
			for _, i := range order {
				s := f.size[i]
				n := int(min(left[0]/s[0], left[1]/s[1], f.demand[i], float64(pods), float64(1+f.r.IntN(1+f.r.IntN(8)))))
				if y[i] <= 0 || n == 0 {
					continue
				}
				count[i] = n
				pods -= n
				left[0] -= float64(n) * s[0]
				left[1] -= float64(n) * s[1]
				worth += float64(n) * y[i]
			}
			if row := f.few[t]; row >= 0 {
				worth += y[row]
			}
			if worth > f.price[t]*(1+1e-6) {
				c.Add(f.price[t], f.column(t, count))
				added++
			}
		}
	}
	return added
}

// generate adds columns until none is found, for at most that many rounds.
func (f *fleet) generate(t testing.TB, c *Cover, rounds int) {
	f.singles(c)
	var y []float64
	for round := range rounds {
		if st := c.Solve(100_000); st != Optimal {
			t.Fatalf("round %d: %v", round, st)
		}
		if y = c.Duals(y); round < rounds-1 && f.attract(c, y)+f.attract(c, y) == 0 {
			return
		}
	}
}

// entries reads a column back.
func (c *Cover) entries(col int) []Entry {
	var list []Entry
	for e := c.start[2*c.m+col]; e < c.start[2*c.m+col+1]; e++ {
		list = append(list, Entry{c.index[e], c.value[e] / c.scale[c.index[e]]})
	}
	return list
}

// posed is the problem with the columns there are now.
func (f *fleet) posed(c *Cover) *problem {
	p := &problem{rows: f.rows}
	for j := range len(c.cost) - 2*c.m {
		p.add(c.cost[2*c.m+j], c.entries(j))
	}
	return p
}

// dive fixes the column whose value has the greatest fraction, rounded down or at one, and solves what is left.
// It returns the cost of all that was fixed.
func (f *fleet) dive(t testing.TB, c *Cover) float64 {
	left := make([]float64, len(f.rows))
	for i, row := range f.rows {
		left[i] = row.RHS
	}
	total := 0.0
	for {
		best := -1
		x := c.Values(nil)
		for j, v := range x {
			if v > 1e-6 && (best < 0 || v-math.Floor(v) > x[best]-math.Floor(x[best])) {
				best = j
			}
		}
		if best < 0 {
			return total
		}
		by := max(1, math.Floor(x[best]+1e-6))
		for _, e := range c.entries(best) {
			left[e.Row] = max(0, left[e.Row]-by*e.Value)
			c.SetRHS(int(e.Row), left[e.Row])
		}
		total += by * c.cost[2*c.m+best]
		if st := c.Solve(100_000); st != Optimal {
			t.Fatalf("at %v: %v", total, st)
		}
	}
}
