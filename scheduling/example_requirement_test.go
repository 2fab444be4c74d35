package scheduling_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Conditions on one label intersect without losing anything.
func ExampleValueSet() {
	set := scheduling.AnyValue()
	for _, r := range []scheduling.Requirement{
		{Key: "karpenter.k8s.aws/instance-cpu", Operator: corev1.NodeSelectorOpGt, Values: []string{"3"}},
		{Key: "karpenter.k8s.aws/instance-cpu", Operator: scheduling.OpLte, Values: []string{"64"}},
		{Key: "karpenter.k8s.aws/instance-cpu", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"48"}},
	} {
		s, err := scheduling.ParseRequirement(r)
		if err != nil {
			fmt.Println(err)
			return
		}
		set = set.Intersect(s)
	}
	fmt.Println(set)
	fmt.Println(set.Has("32"), set.Has("48"), set.HasAbsent())
	for _, r := range set.Requirements("cpu") {
		fmt.Println(r)
	}
	// Output:
	// integer from 4 to 64 but [48]
	// true false false
	// cpu Gte [4]
	// cpu Lte [64]
	// cpu NotIn [48]
}

// Does a pod go to a new node of a pool, as far as labels tell?
func ExampleRequirements_Conflicts() {
	var rules scheduling.LabelRules // those of Kubernetes
	pool, err := scheduling.ParseRequirements([]scheduling.Requirement{
		{Key: "kubernetes.io/arch", Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}},
		{Key: "example.com/team", Operator: corev1.NodeSelectorOpExists},
	}, rules)
	if err != nil {
		fmt.Println(err)
		return
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{NodeSelector: map[string]string{
		"beta.kubernetes.io/arch":     "arm64",
		"topology.kubernetes.io/zone": "us-east-1a",
		"example.com/taem":            "web",
	}}}
	alternatives, err := scheduling.ParseNodeSelector(pod, rules)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, want := range alternatives {
		for _, c := range pool.Conflicts(want, scheduling.KubernetesLabels()...) {
			fmt.Println(c)
		}
	}
	// Output:
	// example.com/taem: want [web], have absent (was example.com/team meant?)
	// kubernetes.io/arch: want [arm64], have [amd64]
}

// A pod narrows what a pool leaves open; what has one value left becomes a label.
func ExampleRequirements_Intersect() {
	var rules scheduling.LabelRules
	pool, _ := scheduling.ParseRequirements([]scheduling.Requirement{
		{Key: "example.com/team", Operator: corev1.NodeSelectorOpExists},
		{Key: "topology.kubernetes.io/zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"us-east-1a", "us-east-1b"}},
	}, rules)
	pod, _ := scheduling.ParseRequirements([]scheduling.Requirement{
		{Key: "example.com/team", Operator: corev1.NodeSelectorOpIn, Values: []string{"web"}},
	}, rules)
	node := pool.Intersect(pod)
	fmt.Println(node.Labels())
	for _, r := range node.List() {
		fmt.Println(r)
	}
	// Output:
	// map[example.com/team:web]
	// example.com/team In [web]
	// topology.kubernetes.io/zone In [us-east-1a us-east-1b]
}
