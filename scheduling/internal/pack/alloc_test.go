package pack

import (
	"slices"
	"testing"
)

// Work and memory follow the number of different pods, not of pods.
func TestAllocationsDoNotGrowWithPods(t *testing.T) {
	for _, p := range packers {
		t.Run(p.name, func(t *testing.T) {
			measure := func(count int32) (allocs float64, steps int64, runs int) {
				s, jobs := catalogue(60, 40, count)
				allocs = testing.AllocsPerRun(5, func() {
					e := p.new(s, nil, &Budget{})
					e.Run(slices.Clone(jobs))
					res := e.Result()
					if res.LeftTotal() > 0 {
						t.Fatalf("%d pods left", res.LeftTotal())
					}
					steps, runs = res.Steps, len(res.Runs)
				})
				return allocs, steps, runs
			}
			few, fewSteps, fewRuns := measure(100)
			many, manySteps, manyRuns := measure(100_000)
			t.Logf("40 jobs of 100 pods: %.0f allocations, %d steps, %d runs; of 100000: %.0f, %d, %d", few, fewSteps, fewRuns, many, manySteps, manyRuns)
			// Other remainders make other runs; each is a few slices.
			if most := 1.5*few + 100; many > most {
				t.Errorf("%.0f allocations for 1000 times the pods, want at most %.0f", many, most)
			}
			if manyRuns > 2*fewRuns {
				t.Errorf("%d runs for 1000 times the pods, %d before", manyRuns, fewRuns)
			}
		})
	}
}

// Nothing may be allocated per filling, of which there are hundreds for each run that is kept.
func TestFillingsAllocateNothing(t *testing.T) {
	s, jobs := catalogue(300, 40, 100)
	var steps int64
	var runs int
	allocs := testing.AllocsPerRun(5, func() {
		e := Guided(s, nil, &Budget{})
		e.Run(slices.Clone(jobs))
		res := e.Result()
		steps, runs = res.Steps, len(res.Runs)
	})
	t.Logf("%.0f allocations, %d steps, %d runs", allocs, steps, runs)
	if most := float64(5*runs + 300); allocs > most { // the race detector makes a few slices escape
		t.Errorf("%.0f allocations for %d runs in %d steps, want at most %.0f", allocs, runs, steps, most)
	}
}
