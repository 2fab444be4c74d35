package lp_test

import (
	"fmt"

	"github.com/fleetwright/fleetwright/scheduling/internal/lp"
)

// Rolls of width 100 are cut into four widths that are in demand. The example is Chvátal's (Linear Programming, 1983,
// chapter 13), who gives 452.25 rolls as the optimum of the relaxation.
func Example() {
	width, demand := []int{45, 36, 31, 14}, []float64{97, 610, 395, 211}
	var rows []lp.Row
	for _, d := range demand {
		rows = append(rows, lp.Row{RHS: d})
	}
	c := lp.New(rows)
	for i, w := range width {
		c.Add(1, []lp.Entry{{Row: int32(i), Value: float64(100 / w)}})
	}
	for c.Solve(1000) == lp.Optimal {
		pattern, worth := knapsack(100, width, c.Duals(nil))
		if worth <= 1+1e-9 {
			break
		}
		c.Add(1, pattern)
	}
	fmt.Printf("%.2f rolls\n", c.Objective())
	for i, y := range c.Duals(nil) {
		fmt.Printf("one more of width %d costs %.2f\n", width[i], y)
	}
	// Output:
	// 452.25 rolls
	// one more of width 45 costs 0.50
	// one more of width 36 costs 0.50
	// one more of width 31 costs 0.25
	// one more of width 14 costs 0.00
}

// knapsack is the pattern of the greatest worth that fits.
func knapsack(room int, width []int, worth []float64) ([]lp.Entry, float64) {
	best, last := make([]float64, room+1), make([]int, room+1)
	for r := range best {
		best[r], last[r] = 0, -1
		for i, w := range width {
			if w <= r && best[r-w]+worth[i] > best[r] {
				best[r], last[r] = best[r-w]+worth[i], i
			}
		}
	}
	count := make([]float64, len(width))
	for r := room; last[r] >= 0; r -= width[last[r]] {
		count[last[r]]++
	}
	var pattern []lp.Entry
	for i, n := range count {
		if n > 0 {
			pattern = append(pattern, lp.Entry{Row: int32(i), Value: n})
		}
	}
	return pattern, best[room]
}
