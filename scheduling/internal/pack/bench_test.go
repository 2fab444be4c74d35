package pack

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// catalogue is a space such as a cloud sells, cpu in millis, memory in MiB and pods, with jobs of
// nearly equal shapes as workloads have them. Always the same one.
func catalogue(rows, jobs int, count int32) (*Space, []Job) {
	rng := rand.New(rand.NewPCG(7, 7))
	s := &Space{Dims: 3, Rows: rows, OfferStart: []int32{0}, Tiers: [][]int32{{0}}}
	for r := range rows {
		cpu := int64(1) << (1 + r%6) * 1000
		mem := cpu / 1000 * []int64{2, 4, 8}[r/6%3] * 1024
		s.Alloc = append(s.Alloc, cpu-cpu/20-100, mem-mem/12-500, 110)
		s.Pool, s.Type = append(s.Pool, 0), append(s.Type, int32(r))
		price := (cpu*25_000 + mem*3_000) / 100 * int64(85+rng.IntN(30))
		for zone := range int64(3) {
			s.Offer = append(s.Offer, price*3/10+zone*price/100)
		}
		for range 3 {
			s.Offer = append(s.Offer, price)
		}
		s.OfferStart = append(s.OfferStart, int32(len(s.Offer)))
	}
	masks := make([]Mask, 4)
	for i, bits := range []uint64{0x3f, 0x3f, 0x38, 0x09} { // two groups that allow all, on-demand, one zone
		masks[i] = make(Mask, rows)
		for r := range rows {
			if i != 1 || r%2 == 0 {
				masks[i][r] = bits
			}
		}
	}
	out := make([]Job, jobs)
	for i := range out {
		k := rng.IntN(len(masks))
		cpu := int64(50 * (1 + rng.IntN(40)))
		out[i] = Job{Class: int32(i), Req: []int64{cpu, cpu * int64(1+rng.IntN(8)), 1}, Mask: masks[k], MaskID: int32(k), Count: count}
	}
	return s, out
}

func BenchmarkGuided(b *testing.B) {
	for _, jobs := range []int{200, 2000} {
		b.Run(fmt.Sprintf("%d jobs x 1000 rows", jobs), func(b *testing.B) {
			s, all := catalogue(1000, jobs, 50)
			b.ReportAllocs()
			var steps int64
			for b.Loop() {
				budget := &Budget{}
				e := Guided(s, nil, budget)
				e.Run(all)
				if res := e.Result(); res.LeftTotal() > 0 {
					b.Fatalf("%d pods left", res.LeftTotal())
				}
				steps = budget.Spent
			}
			b.ReportMetric(float64(steps), "steps/op")
		})
	}
}
