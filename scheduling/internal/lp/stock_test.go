package lp

import (
	"math/rand/v2"
	"slices"
)

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
