package scheduling_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Three nodes, one of them almost empty. The question for each: what if it were drained? The best answer is applied, and
// taken back.
func ExampleSnapshot() {
	node := func(name, typ string, capacity corev1.ResourceList, pods ...*corev1.Pod) scheduling.Node {
		return scheduling.Node{Name: name, Pool: "default", Allocatable: capacity, Pods: pods, Labels: map[string]string{
			corev1.LabelInstanceTypeStable: typ, corev1.LabelTopologyZone: "a", scheduling.CapacityTypeLabel: "on-demand",
		}}
	}
	small, large := exampleResources("2", "8Gi", "29"), exampleResources("4", "16Gi", "58")
	cpu := exampleResources("1", "1Gi", "")
	snapshot, err := scheduling.Compile(&scheduling.Problem{
		Pools: []scheduling.Pool{{Name: "default", InstanceTypes: []*scheduling.InstanceType{
			exampleType("small", small, 0.10), exampleType("large", large, 0.24),
		}}},
		Nodes: []scheduling.Node{
			node("node-1", "large", large, examplePod("web-1", cpu)),
			node("node-2", "small", small, examplePod("web-2", cpu), examplePod("db-1", cpu)),
			node("node-3", "large", large, examplePod("web-3", cpu), examplePod("web-4", cpu), examplePod("db-2", cpu)),
		},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		outcome, err := snapshot.WhatIf(scheduling.Changes{DrainNodes: []string{name}})
		if err != nil {
			fmt.Println(err)
			return
		}
		difference, _ := outcome.Difference()
		fmt.Printf("%s: %d pods move, %d launches, %+.2f an hour\n", name, len(outcome.Moves), len(outcome.Launches), float64(difference)/1e9)
	}

	// What is applied lasts: the pod of node-1 waits until it is bound.
	err = snapshot.Apply(scheduling.Changes{DrainNodes: []string{"node-1"}})
	fmt.Println("applied:", err, len(snapshot.Problem().Nodes), "nodes,", len(snapshot.Problem().Pods), "pods wait")
	err = snapshot.Apply(scheduling.Changes{Bind: []scheduling.Binding{{Pod: "default/web-1", Node: "node-3"}}})
	fmt.Println("bound:", err, len(snapshot.Problem().Pods), "pods wait")
	snapshot.Revert() // to the last Commit, or to the beginning
	fmt.Println("reverted:", len(snapshot.Problem().Nodes), "nodes")

	// Output:
	// node-1: 1 pods move, 0 launches, -0.24 an hour
	// node-2: 2 pods move, 0 launches, -0.10 an hour
	// node-3: 3 pods move, 0 launches, -0.24 an hour
	// applied: <nil> 2 nodes, 1 pods wait
	// bound: <nil> 0 pods wait
	// reverted: 3 nodes
}
