package main

import (
	"testing"

	"github.com/fleetwright/fleetwright/scheduling"
)

// BenchmarkOurs is for profiles: go test -run '^$' -bench Ours/diverse -cpuprofile cpu.
func BenchmarkOurs(b *testing.B) {
	for _, mix := range mixNames() {
		b.Run(mix, func(b *testing.B) {
			in, err := rowInput(config{types: 400, seed: 42}, mix)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := new(scheduling.Solver).Solve(b.Context(), in.Problem, oursOptions(in, scheduling.EffortFast)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
