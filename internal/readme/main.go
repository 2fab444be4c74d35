package main

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

func main() {
	ec2, err := catalog.Embedded()
	if err != nil {
		log.Fatal(err)
	}
	types, origin, err := ec2.InstanceTypes("us-east-1", catalog.Filter{
		Types: []string{"m7i.*", "c7i.*"}, CapacityTypes: []string{catalog.OnDemand},
	}, instancetype.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	problem := &scheduling.Problem{
		Pools:   []scheduling.Pool{{Name: "default", InstanceTypes: types}},
		Catalog: origin,
	}
	for i := range 20 {
		problem.Pods = append(problem.Pods, pod(fmt.Sprintf("web-%02d", i), "900m", "2Gi"))
	}
	problem.Pods = append(problem.Pods, pod("whale", "400", "8Gi"))

	plan, err := scheduling.Solve(context.Background(), problem, nil)
	if err != nil {
		log.Fatal(err)
	}
	d := plan.Document()
	for _, l := range d.Launches {
		fmt.Printf("%s in %s at %s: %d pods\n", l.InstanceType, l.Zone, l.Price, len(l.Pods))
	}
	for _, u := range d.Unplaced {
		fmt.Printf("%s: %s\n", u.Pod, u.Reason.Message)
	}
	fmt.Println(d.Totals.Price, d.Catalog.Currency, "per hour, prices as of", d.Catalog.AsOf)
}

func pod(name, cpu, memory string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
			}},
		}}},
	}
}
