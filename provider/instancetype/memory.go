package instancetype

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
)

// Memory is what a node reports as its memory.
type Memory struct {
	Bytes int64
	// Source says how the number is known, for people: "7.5% less than EC2 says", "measured
	// 2026-07-01".
	Source string
}

// MemoryModel says how much memory a node of a type reports once firmware and kernel have taken
// theirs. It is a function so that embedders can bring their own; it must be pure and safe for
// concurrent use. A negative amount is an error of the settings.
type MemoryModel func(f *Facts) (Memory, error)

const defaultOverheadPercent = 7.5

// armReservedMiB is what arm64 machines hide from EC2's own figure, as Karpenter has it.
const armReservedMiB = 64

// FlatOverhead subtracts the same percentage from every type, rounded up to whole MiB, after 64
// MiB on arm64. 7.5 is Karpenter's default (VM_MEMORY_OVERHEAD_PERCENT 0.075). Resolution: 0.0001
// %.
func FlatOverhead(percent float64) MemoryModel {
	text := strconv.FormatFloat(percent, 'f', -1, 64)
	source := text + "% less than EC2 says"
	return func(f *Facts) (Memory, error) {
		if !(percent >= 0 && percent < 100) {
			return Memory{}, fmt.Errorf("memory overhead of %s%% is not a percentage from 0 to below 100", text)
		}
		m := f.MemoryMiB
		if len(f.Architectures) > 0 && f.Architectures[0] == "arm64" {
			m = max(m-armReservedMiB, 0)
		}
		return Memory{Bytes: (m - part(m, int64(math.Round(percent*10_000)))) * mib, Source: source}, nil
	}
}

// MeasuredMemory looks a type up in bytes, a table of what nodes of one image were seen to report
// (by type name; the lowest observation is the safe one), and asks otherwise for types that
// nobody measured (nil: FlatOverhead(7.5)). source describes the table: image and date. The table
// is not copied.
func MeasuredMemory(bytes map[string]int64, source string, otherwise MemoryModel) MemoryModel {
	if otherwise == nil {
		otherwise = FlatOverhead(defaultOverheadPercent)
	}
	return func(f *Facts) (Memory, error) {
		if n, ok := bytes[f.Name]; ok {
			return Memory{Bytes: n, Source: source}, nil
		}
		return otherwise(f)
	}
}

// part returns millionths of n, rounded up, exactly. n is not negative and millionths at most
// 10^6.
func part(n, millionths int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(millionths))
	q, r := bits.Div64(hi, lo, 1_000_000)
	if r > 0 {
		q++
	}
	return int64(q)
}
