package scheduling_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

func exampleResources(cpu, memory, pods string) corev1.ResourceList {
	list := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
	}
	if pods != "" {
		list[corev1.ResourcePods] = resource.MustParse(pods)
	}
	return list
}

func exampleType(name string, capacity corev1.ResourceList, price float64) *scheduling.InstanceType {
	return &scheduling.InstanceType{
		Name: name, Capacity: capacity,
		Offerings: []scheduling.Offering{
			{Zone: "a", CapacityType: "on-demand", Price: scheduling.PriceFromFloat(price)},
		},
	}
}

func examplePod(name string, requests corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{Containers: []corev1.Container{
			{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests}},
		}},
	}
}

// Three pods of nearly one CPU each: two small machines are cheaper than the large one that would hold
// them all. The fourth pod fits nowhere, and the plan says what comes closest.
func ExampleSolve() {
	problem := &scheduling.Problem{
		Pools: []scheduling.Pool{{Name: "default", InstanceTypes: []*scheduling.InstanceType{
			exampleType("small", exampleResources("2", "8Gi", "29"), 0.10),
			exampleType("large", exampleResources("4", "16Gi", "58"), 0.24),
		}}},
		Pods: []*corev1.Pod{
			examplePod("web-1", exampleResources("900m", "1Gi", "")),
			examplePod("web-2", exampleResources("900m", "1Gi", "")),
			examplePod("web-3", exampleResources("900m", "1Gi", "")),
			examplePod("whale", exampleResources("9", "1Gi", "")),
		},
	}
	plan, err := scheduling.Solve(context.Background(), problem, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	d := plan.Document()
	for _, l := range d.Launches {
		fmt.Println(l.InstanceType, l.Pods)
	}
	for _, u := range d.Unplaced {
		fmt.Println(u.Pod, u.Reason.Code, u.Reason.Message)
	}
	fmt.Println(d.Totals.Price, "per hour")
	// Output:
	// small [default/web-1 default/web-2]
	// small [default/web-3]
	// default/whale TooLarge needs 9 CPU; the largest of pool default, large, has 4: lower the request to 4 CPU
	// 0.2 per hour
}
