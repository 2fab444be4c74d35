package instancetype_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/fleetwright/fleetwright/provider/instancetype"
)

// FuzzCompute feeds arbitrary facts and settings. Whatever is accepted has amounts that make sense:
// nothing negative, nothing allocatable beyond capacity. Whatever is refused says why.
func FuzzCompute(f *testing.F) {
	m5, err := json.Marshal(m5large)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(m5, "5%", "100m", 110, 0, 0, true)
	f.Add(m5, "0.0001%", "9Ei", -1, 7, 1, false)
	f.Add([]byte(`{"name":"a.b","family":"a","size":"b","vcpu":65536,"memoryMiB":4294967296,"architectures":["arm64"],"network":{"maxENIs":65536,"ipv4PerENI":65536}}`), "100%", "1e3", 0, 1<<31-1, 3, true)
	f.Fuzz(func(t *testing.T, facts []byte, eviction, reserved string, maxPods, podsPerCore, enis int, flag bool) {
		var in instancetype.Facts
		if json.Unmarshal(facts, &in) != nil {
			return
		}
		s := instancetype.Settings{
			EvictionHard:     map[string]string{"memory.available": eviction, "nodefs.available": eviction},
			KubeReserved:     map[string]string{"cpu": reserved},
			SystemReserved:   map[string]string{"memory": reserved, "ephemeral-storage": reserved},
			PodsPerCore:      podsPerCore,
			ReservedENIs:     enis,
			PrefixDelegation: flag,
			ReserveByPods:    flag,
			GPUSlices:        flag,
		}
		if maxPods != 0 {
			s.MaxPods = &maxPods
		}
		r, err := instancetype.Compute(in, s)
		if err != nil {
			var input *instancetype.InputError
			if !errors.As(err, &input) || len(input.Faults) == 0 {
				t.Fatalf("error without faults: %v", err)
			}
			return
		}
		for name, q := range r.Overhead() {
			if q.Sign() < 0 {
				t.Errorf("overhead of %s is %s", name, q.String())
			}
		}
		for name, q := range r.Allocatable() {
			if limit := r.Capacity[name]; q.Sign() < 0 || q.Cmp(limit) > 0 {
				t.Errorf("allocatable %s is %s of %s", name, q.String(), limit.String())
			}
		}
	})
}
