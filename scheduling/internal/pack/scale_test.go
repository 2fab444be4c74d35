package pack

import (
	"fmt"
	"testing"
)

// market is a space such as a cloud sells: 949 rows of nine families in seven generations and sizes from 2 to
// 192 CPU, in millis, MiB and pods; three spot and three on-demand offerings each, one per zone. The
// spread of prices follows a formula, so that it is always the same one.
func market() *Space {
	s := &Space{Dims: 3, OfferStart: []int32{0}, Tiers: [][]int32{{0}}}
	sizes := []int64{2, 4, 8, 16, 32, 48, 64, 96, 128, 192}
	for family := 0; s.Rows < 949; family++ {
		perCPU := []int64{2, 4, 8}[family%3]
		for k, cpu := range sizes {
			if s.Rows == 949 {
				break
			}
			mem := cpu * perCPU * 1024
			s.Alloc = append(s.Alloc, cpu*1000-cpu*5-60, mem-mem/16-700, min(29*int64(k+1), 737))
			s.Pool, s.Type = append(s.Pool, 0), append(s.Type, int32(s.Rows))
			// About $0.03 an hour for a CPU, $0.004 for a GiB; families differ by up to 40 %.
			price := (cpu*30_000_000 + cpu*perCPU*4_000_000) * int64(80+family*7%33) / 100
			for z := range int64(3) {
				s.Offer = append(s.Offer, price*(30+z+int64(family*5+k*3)%17)/100)
			}
			s.Offer = append(s.Offer, price, price, price)
			s.Rows++
			s.OfferStart = append(s.OfferStart, int32(len(s.Offer)))
		}
	}
	for r := range s.Rows { // spot prices do not come in the order of zones
		o := s.Offer[s.OfferStart[r]:s.OfferStart[r+1]]
		if o[0] > o[1] {
			o[0], o[1] = o[1], o[0]
		}
		if o[1] > o[2] {
			o[1], o[2] = o[2], o[1]
		}
	}
	return s
}

// crowd is jobs of count pods with one of so many request vectors and masks. Every third mask is another
// zone; beyond that they differ in capacity types and families.
func crowd(s *Space, jobs, vectors, masks int, count int32) []Job {
	all := make([]Mask, masks)
	for i := range all {
		all[i] = make(Mask, s.Rows)
		zone := uint64(0b001001) << (i % 3)
		for r := range all[i] {
			if kind := i / 3; kind == 0 || (r/10+kind)%5 != 0 {
				all[i][r] = zone
				if kind%2 == 1 {
					all[i][r] &= 0b111000
				}
			}
		}
	}
	reqs := make([][]int64, vectors)
	for i := range reqs {
		cpu := int64(50 + 130*(i%23)*(1+i%3))
		reqs[i] = []int64{cpu, max(64, cpu*int64(1+i*7%9)), 1}
	}
	out := make([]Job, jobs)
	for i := range out {
		k := i % masks
		out[i] = Job{Class: int32(i), Req: reqs[i*7%vectors], Mask: all[k], MaskID: int32(k), Count: count}
	}
	return out
}

// alone gives each class a group of its own of which a node may have one pod.
func alone(jobs int) *Rules {
	ru := &Rules{Excludes: make([][]int32, jobs), Caps: make([][]Cap, jobs)}
	for i := range jobs {
		ru.Caps[i] = []Cap{{Group: int32(i), Max: 1, In: true, Owns: true}}
	}
	return ru
}

func BenchmarkCrowd(b *testing.B) {
	for _, bc := range []struct {
		jobs, vectors, masks int
		count                int32
		alone                bool
	}{{30, 12, 3, 3000, false}, {3000, 12, 9, 3, true}, {30_000, 200, 30, 3, true}} {
		s := market()
		jobs := crowd(s, bc.jobs, bc.vectors, bc.masks, bc.count)
		var ru *Rules
		if bc.alone {
			ru = alone(bc.jobs)
		}
		for _, how := range []struct {
			name string
			pack func(*Space, *Rules, *Budget) *Packer
		}{{"guided", Guided}, {"first-fit", FirstFit}} {
			b.Run(fmt.Sprintf("%d-jobs-%s", bc.jobs, how.name), func(b *testing.B) {
				b.ReportAllocs()
				var res *Result
				for b.Loop() {
					e := how.pack(s, ru, &Budget{})
					e.Run(jobs)
					res = e.Result()
					s.Resettle(res, jobs)
				}
				if res.LeftTotal() > 0 {
					b.Fatalf("%d pods left", res.LeftTotal())
				}
				b.ReportMetric(float64(res.Price)/1e9, "$/h")
				b.ReportMetric(float64(res.Nodes), "nodes")
				b.ReportMetric(float64(len(res.Runs)), "runs")
			})
		}
	}
}
