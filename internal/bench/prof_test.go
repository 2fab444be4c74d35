package main

import (
	"context"
	"testing"

	"github.com/fleetwright/fleetwright/scheduling"
)

func BenchmarkOurs(b *testing.B) {
	pods, _ := makePods("plain", 5000, 1)
	in := fakeInput(pods, 400)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := new(scheduling.Solver).Solve(context.Background(), in.ours, nil); err != nil {
			b.Fatal(err)
		}
	}
	_ = scheduling.Problem{}
}
