package scheduling_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/measure"
	"github.com/fleetwright/fleetwright/internal/workload"
	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

// plainProblem is the fixture of scale: plain pods in 200 shapes on all amd64 types of us-east-1.
func plainProblem(b *testing.B, pods int) *scheduling.Problem {
	b.Helper()
	known, err := catalog.Embedded()
	if err != nil {
		b.Fatal(err)
	}
	types, origin, err := known.InstanceTypes("us-east-1", catalog.Filter{Arch: []string{"amd64"}}, instancetype.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	return &scheduling.Problem{
		Pods:    workload.Plain(pods, 200, 1),
		Pools:   []scheduling.Pool{{Name: "default", InstanceTypes: types}},
		Catalog: origin,
	}
}

// solveCold is one solve with nothing kept from an earlier one.
func solveCold(b *testing.B, p *scheduling.Problem) *scheduling.Plan {
	plan, err := new(scheduling.Solver).Solve(context.Background(), p, nil)
	if err != nil {
		b.Fatal(err)
	}
	return plan
}

// BenchmarkDeepCopy100k is the yardstick of BenchmarkSolve100k: what it costs to touch the pods at all.
func BenchmarkDeepCopy100k(b *testing.B) {
	p := plainProblem(b, 100_000)
	out := make([]*corev1.Pod, len(p.Pods))
	b.ReportAllocs()
	for b.Loop() {
		for i, pod := range p.Pods {
			out[i] = pod.DeepCopy()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(out)), "ns/pod")
}

// BenchmarkSolve100k is the goal: at most 0.7 times the yardstick, and less than 1 KB of peak heap per pod.
func BenchmarkSolve100k(b *testing.B) { benchmarkSolve(b, 100_000) }

// BenchmarkSolve1M takes at most 1.3 times the time per pod of BenchmarkSolve100k.
func BenchmarkSolve1M(b *testing.B) {
	if testing.Short() {
		b.Skip("takes 2 GB of pods; not with -short")
	}
	benchmarkSolve(b, 1_000_000)
}

func benchmarkSolve(b *testing.B, pods int) {
	p := plainProblem(b, pods)
	b.ReportAllocs()
	for b.Loop() {
		if plan := solveCold(b, p); plan.Totals.Unplaced > 0 {
			b.Fatalf("%d pods are left over", plan.Totals.Unplaced)
		}
	}
	elapsed, n := b.Elapsed(), b.N
	peak := measure.PeakHeap(func() { solveCold(b, p) })
	b.ReportMetric(float64(elapsed.Nanoseconds())/float64(n)/float64(pods), "ns/pod")
	b.ReportMetric(float64(peak)/float64(pods), "peak-B/pod")
}
