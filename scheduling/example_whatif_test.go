package scheduling_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

func exampleNode(name string, pods ...*corev1.Pod) scheduling.Node {
	return scheduling.Node{
		Name: name, Pool: "default", Pods: pods, Allocatable: exampleResources("2", "8Gi", "29"),
		Labels: map[string]string{
			corev1.LabelInstanceTypeStable: "small", corev1.LabelTopologyZone: "a",
			scheduling.PoolLabel: "default", scheduling.CapacityTypeLabel: "on-demand",
		},
	}
}

// Three nodes, two of them half empty: which may go, and what would that save? Nothing of the first answer is left in
// the snapshot when the second question comes.
func ExampleSnapshot_WhatIf() {
	cluster, err := scheduling.Compile(&scheduling.Problem{
		Pools: []scheduling.Pool{{Name: "default", InstanceTypes: []*scheduling.InstanceType{
			exampleType("small", exampleResources("2", "8Gi", "29"), 0.10),
		}}},
		Nodes: []scheduling.Node{
			exampleNode("n1", examplePod("web-1", exampleResources("900m", "1Gi", ""))),
			exampleNode("n2", examplePod("web-2", exampleResources("900m", "1Gi", ""))),
			exampleNode("n3", examplePod("db", exampleResources("1500m", "2Gi", ""))),
		},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, node := range []string{"n1", "n3"} {
		out, err := cluster.WhatIf(scheduling.Changes{DrainNodes: []string{node}})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("without %s, which costs %s:\n", node, out.Saved)
		for _, m := range out.Moves {
			fmt.Printf("  %s goes to %s\n", m.Pod.Name, m.Node)
		}
		for _, l := range out.Launches {
			fmt.Printf("  a new node for %d pod at %s\n", len(l.Pods), l.Price)
		}
	}
	// Output:
	// without n1, which costs 0.1:
	//   web-1 goes to n2
	// without n3, which costs 0.1:
	//   a new node for 1 pod at 0.1
}
