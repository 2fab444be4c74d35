package measure

import (
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		in           []int
		want         int
	}{
		{"odd", "the middle one, whatever the order", []int{9, 1, 5}, 5},
		{"even", "the upper of the two, so that a pair is not judged by its better one", []int{1, 9}, 9},
		{"none", "no value is no error", nil, 0},
	} {
		if got := Median(tt.in); got != tt.want {
			t.Errorf("%s (%s): got %d, want %d", tt.name, tt.reason, got, tt.want)
		}
	}
}

func TestPeakHeapSeesWhatIsHeld(t *testing.T) {
	const size = 64 << 20
	var held []byte
	if got := PeakHeap(func() { held = make([]byte, size) }); got < size || got > 2*size {
		t.Errorf("holding %d bytes: got a peak of %d", size, got)
	}
	if len(held) != size {
		t.Error("unreachable")
	}
	if got := Time(func() { held = nil }); got < 0 || got > time.Minute {
		t.Errorf("doing nothing took %v", got)
	}
}
