// Package measure takes the time and memory of one call, for benchmarks that compare calls with each
// other in one process. What it returns depends on the machine and its load.
package measure

import (
	"cmp"
	"runtime"
	"runtime/metrics"
	"slices"
	"time"
)

// heapObjects is memory of objects, reachable or not yet swept, without free space of the heap.
const heapObjects = "/memory/classes/heap/objects:bytes"

// Time collects garbage, then returns how long f takes.
func Time(f func()) time.Duration {
	runtime.GC()
	start := time.Now()
	f()
	return time.Since(start)
}

// Median returns the middle value, the upper one of an even number; 0 of none.
func Median[T cmp.Ordered](values []T) T {
	var zero T
	if len(values) == 0 {
		return zero
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// PeakHeap returns how far the heap grew above what was live before the call, in bytes: the largest of
// samples taken every 200 microseconds and one taken at the end. Garbage counts until it is collected.
func PeakHeap(f func()) int64 {
	runtime.GC()
	runtime.GC() // the second finishes the sweep of the first
	before := heap()
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		tick := time.NewTicker(200 * time.Microsecond)
		defer tick.Stop()
		most := before
		for {
			most = max(most, heap())
			select {
			case <-tick.C:
			case <-stop:
				peak <- max(most, heap())
				return
			}
		}
	}()
	f()
	close(stop)
	return int64(<-peak - before)
}

func heap() uint64 {
	sample := []metrics.Sample{{Name: heapObjects}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
