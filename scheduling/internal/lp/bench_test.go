package lp

import (
	"fmt"
	"testing"
)

// BenchmarkGenerate is column generation on a fleet, 30 rounds of it; BenchmarkScratch solves the problem this ends with at once;
// BenchmarkDense solves one whose columns all compete.
func BenchmarkGenerate(b *testing.B) {
	for _, m := range []int{50, 200, 500, 1500} {
		b.Run(fmt.Sprint(m), func(b *testing.B) {
			pivots := int64(0)
			for b.Loop() {
				f := newFleet(m, 1)
				c := New(f.rows)
				f.generate(b, c, 30)
				pivots += c.Pivots()
			}
			b.ReportMetric(float64(pivots)/float64(b.N), "pivots/op")
		})
	}
}

func BenchmarkScratch(b *testing.B) {
	for _, m := range []int{50, 200, 500, 1500} {
		f := newFleet(m, 1)
		c := New(f.rows)
		f.generate(b, c, 30)
		p := f.posed(c)
		b.Run(fmt.Sprint(m), func(b *testing.B) { scratch(b, p) })
	}
}

func BenchmarkDense(b *testing.B) {
	for _, m := range []int{50, 200, 500} {
		b.Run(fmt.Sprint(m), func(b *testing.B) { scratch(b, dense(m, 15*m, 1)) })
	}
}

func scratch(b *testing.B, p *problem) {
	pivots := int64(0)
	for b.Loop() {
		c := p.cover()
		if st := c.Solve(1_000_000); st != Optimal {
			b.Fatal(st)
		}
		pivots += c.Pivots()
	}
	b.ReportMetric(float64(len(p.cols)), "columns")
	b.ReportMetric(float64(pivots)/float64(b.N), "pivots/op")
}

// BenchmarkDive fixes columns one after the other, with a solve after each.
func BenchmarkDive(b *testing.B) {
	for _, m := range []int{50, 200} {
		f := newFleet(m, 1)
		b.Run(fmt.Sprint(m), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				c := New(f.rows)
				f.generate(b, c, 30)
				b.StartTimer()
				f.dive(b, c)
			}
		})
	}
}
