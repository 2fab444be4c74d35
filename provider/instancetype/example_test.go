package instancetype_test

import (
	"fmt"

	"github.com/fleetwright/fleetwright/provider/instancetype"
)

var m5large = instancetype.Facts{
	Name: "m5.large", Family: "m5", Size: "large",
	VCPU: 2, MemoryMiB: 8192, Architectures: []string{"x86_64"},
	CPUManufacturer: "Intel", ClockGHz: 3.1, Hypervisor: "nitro",
	EBS:          instancetype.EBS{Optimized: "default", MaxMbps: 4750, MaxAttachments: 27, AttachmentLimit: "shared"},
	Network:      instancetype.Network{MaxENIs: 3, IPv4PerENI: 10, BandwidthMbps: 750},
	UsageClasses: []string{"on-demand", "spot"},
}

// What a pod can use of a machine depends on how its node is set up.
func ExampleCompute() {
	for _, s := range []instancetype.Settings{
		{},
		{PrefixDelegation: true},
		{KubeReserved: map[string]string{"memory": "1Gi"}, EvictionHard: map[string]string{"memory.available": "5%"}},
	} {
		r, err := instancetype.Compute(m5large, s)
		if err != nil {
			fmt.Println(err)
			return
		}
		left := r.Allocatable()
		fmt.Printf("cpu %s, memory %d MiB, pods %s\n", left.Cpu(), left.Memory().Value()>>20, left.Pods())
	}
	// Output:
	// cpu 1930m, memory 6903 MiB, pods 29
	// cpu 1930m, memory 6903 MiB, pods 110
	// cpu 1930m, memory 6174 MiB, pods 29
}

// Every fault of the settings is reported, by field.
func ExampleBuild_errors() {
	_, err := instancetype.Build(m5large, instancetype.Settings{
		PodsPerCore:  -1,
		EvictionHard: map[string]string{"memory.available": "lots%"},
	})
	fmt.Println(err)
	// Output:
	// instancetype: settings: 2 faults
	//   evictionHard.memory.available: "lots%" is not a percentage; write 0% to 100%, such as 5%
	//   podsPerCore: -1 is not between 0 and 2147483647; give a count
}
