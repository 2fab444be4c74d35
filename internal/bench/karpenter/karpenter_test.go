package karpenter

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

func pod(name string, requests corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: requests},
		}}},
	}
}

func amounts(list ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(list); i += 2 {
		out[corev1.ResourceName(list[i])] = resource.MustParse(list[i+1])
	}
	return out
}

func machine(name, cpu string, price float64, more ...string) *scheduling.InstanceType {
	return &scheduling.InstanceType{
		Name: name, Capacity: amounts(append([]string{"cpu", cpu, "memory", "64Gi", "pods", "110"}, more...)...),
		Requirements: []scheduling.Requirement{
			{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{name}},
			{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"z"}},
			{Key: scheduling.CapacityTypeLabel, Operator: corev1.NodeSelectorOpIn, Values: []string{"on-demand"}},
		},
		Offerings: []scheduling.Offering{{Zone: "z", CapacityType: "on-demand", Price: scheduling.PriceFromFloat(price)}},
	}
}

// severalPools has a heavy pool, a tainted one with a label and the GPUs, and a DaemonSet that leaves the machine of 4
// cpus room for 3.
func severalPools() *scheduling.Problem {
	tolerates := func(p *corev1.Pod) *corev1.Pod {
		p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		return p
	}
	gpu := tolerates(pod("gpu", amounts("cpu", "1", "nvidia.com/gpu", "2")))
	gpu.Spec.NodeSelector = map[string]string{"team": "ml"}
	types := []*scheduling.InstanceType{machine("four", "4", 1), machine("gpus", "8", 9, "nvidia.com/gpu", "4")}
	return &scheduling.Problem{
		Pods: []*corev1.Pod{pod("a", amounts("cpu", "3")), pod("b", amounts("cpu", "3")), gpu, pod("whale", amounts("cpu", "90"))},
		Pools: []scheduling.Pool{
			{Name: "light", InstanceTypes: types},
			{Name: "heavy", Weight: 10, InstanceTypes: types[:1]},
			{Name: "ml", Weight: 20, InstanceTypes: types, Labels: map[string]string{"team": "ml"},
				Taints: []corev1.Taint{{Key: "team", Value: "ml", Effect: corev1.TaintEffectNoSchedule}}},
		},
		DaemonSets: []*corev1.Pod{tolerates(pod("agent", amounts("cpu", "1")))},
	}
}

func TestPlanOfSeveralPools(t *testing.T) {
	Silence()
	p := severalPools()
	s, err := NewScheduler(t.Context(), NewInput(p), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Solve(t.Context()); err != nil {
		t.Fatal(err)
	}
	plan, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if err := scheduling.Verify(p, plan); err != nil {
		t.Error(err)
	}
	pools := map[string]int{}
	for _, l := range plan.Launches {
		pools[p.Pools[plan.Shapes[l.Shape].Pool].Name]++
	}
	if pools["heavy"] != 2 || pools["ml"] != 1 || len(pools) != 2 || plan.Totals.Price.String() != "11" {
		t.Errorf("launches in %v at %v, want 2 of heavy, by weight, and 1 of ml, by label, at 11", pools, plan.Totals.Price)
	}
	if len(plan.Unplaced) != 1 || plan.Unplaced[0].Pod != 3 {
		t.Errorf("left over: %v, want the whale", plan.Unplaced)
	}
	if p.Pods[0].UID != "" {
		t.Error("the problem's pods were written to")
	}
}

func TestSolveEndsWithItsContext(t *testing.T) {
	Silence()
	s, err := NewScheduler(t.Context(), NewInput(severalPools()), 1)
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if err := s.Solve(over); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want that the deadline has passed", err)
	}
}
