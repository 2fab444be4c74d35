package pack

import (
	"slices"
	"testing"
)

// kindsOfMasks are kinds of three masks over ladder's rows, n sizes each.
func kindsOfMasks(n int) *Packer {
	s := ladder()
	for i := range s.Alloc {
		s.Alloc[i] *= 1000
	}
	var jobs []Job
	for id, mask := range []Mask{{3, 1, 1, 1}, {1, 0, 1, 0}, {2, 1, 0, 0}} {
		for size := range n {
			jobs = append(jobs, Job{Class: int32(len(jobs)), Req: []int64{int64(size + 1)}, Mask: mask, MaskID: int32(id), Count: 3})
		}
	}
	e := Guided(s, &Rules{}, &Budget{})
	e.jobs = jobs
	for i := range jobs {
		e.left = append(e.left, jobs[i].Count)
	}
	e.enlist()
	e.enter(s.Tiers[0])
	e.appraise()
	return e
}

func TestFittingKindsAreThoseWhoseMaskAllows(t *testing.T) {
	for _, tc := range []struct {
		reason string
		n      int
		all    bool
	}{
		{"few kinds are gone through as they are", fewKinds / 3, true},
		{"many are sorted out", fewKinds, false},
		{"so many that shares are sorted out too", severalKinds, false},
	} {
		e := kindsOfMasks(tc.n)
		if len(e.kinds) != 3*tc.n {
			t.Fatalf("%d kinds of %d jobs", len(e.kinds), 3*tc.n)
		}
		for row := range int32(e.s.Rows) {
			for bit := range e.s.OfferStart[row+1] - e.s.OfferStart[row] {
				var want []int32
				for k := range e.kinds {
					if tc.all || e.kinds[k].mask[row]>>bit&1 != 0 {
						want = append(want, int32(k))
					}
				}
				got := e.fitting(row, 1<<bit)
				if !slices.Equal(got.kinds, want) {
					t.Errorf("row %d, offering %d: %d kinds, want %d: %s", row, bit, len(got.kinds), len(want), tc.reason)
				}
				if tc.n == severalKinds {
					for _, x := range got.ratio {
						if !slices.Contains(want, x.kind) {
							t.Fatalf("row %d, offering %d: the shares have kind %d, which may not go there", row, bit, x.kind)
						}
					}
					if len(got.ratio) == 0 || !slices.IsSortedFunc(got.ratio, func(a, b shared) int { return position(e.ratio, a) - position(e.ratio, b) }) {
						t.Errorf("row %d, offering %d: shares in another order", row, bit)
					}
				}
			}
		}
	}
}

func position(list []shared, s shared) int { return slices.Index(list, s) }

func TestOfferingsThatTheSameMasksAllowShareTheirKinds(t *testing.T) {
	e := kindsOfMasks(fewKinds)
	if e.fitting(0, 1) != e.fitting(2, 1) {
		t.Error("masks 0 and 1 allow both, mask 2 neither: two lists")
	}
	if e.fitting(0, 1) == e.fitting(0, 2) {
		t.Error("mask 1 allows one only, yet they share")
	}
}

func TestKindsThatAreUsedUpAreDropped(t *testing.T) {
	e := kindsOfMasks(fewKinds)
	f := e.fitting(0, 1)
	var want []int32
	for i, k := range f.kinds {
		if i%2 == 0 {
			e.kinds[k].left = 0
		} else {
			want = append(want, k)
		}
	}
	f.gone = len(f.kinds) / 2
	if got := e.fitting(0, 1); got != f || !slices.Equal(got.kinds, want) || got.gone != 0 {
		t.Errorf("%d kinds, want the %d that have pods left", len(got.kinds), len(want))
	}
}
