package scheduling_test

import (
	"encoding/binary"
	"testing"

	"github.com/fleetwright/fleetwright/internal/randproblem"
)

// FuzzSolveVerify takes a problem's seed, its size, options and mutations from the bytes: the plan must be
// accepted, and each mutant that is sure to be wrong rejected.
func FuzzSolveVerify(f *testing.F) {
	for seed := range byte(8) {
		f.Add([]byte{seed, 0, 0, 0, 0, 0, 0, 0, seed, seed, 3, 7, 11})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 10 {
			return
		}
		seed, knobs, options := binary.LittleEndian.Uint64(data), data[8], data[9]
		size := randproblem.Size{
			Pods: 1 + int(knobs&15), Types: 1 + int(knobs>>4&7), Pools: 1 + int(options>>6), Nodes: int(options >> 2 & 3),
			DaemonSets: int(options >> 4 & 3), Plain: knobs&128 != 0, Broken: options&32 != 0,
		}
		problem := randproblem.New(seed, size)
		opts := variants()[options&3]
		plan, err := trial(problem, opts)
		if err != nil {
			t.Fatalf("randproblem.New(%d, %+v), options %+v: %v\n%s", seed, size, opts, err, explain(problem, opts, err))
		}
		for _, b := range data[10:min(len(data), 14)] {
			mutation := mutations[int(b)%len(mutations)]
			if err := mutate(uint64(b), problem, plan, mutation.apply); err != nil {
				t.Fatalf("randproblem.New(%d, %+v), options %+v, %s: %v", seed, size, opts, mutation.name, err)
			}
		}
	})
}
