package karpenter

import (
	"context"
	"errors"
	"slices"
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

// near asks for company by label in a zone or on a node.
func near(p *corev1.Pod, key, app string) *corev1.Pod {
	p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
		}},
	}}
	return p
}

func app(name, cpu string) *corev1.Pod {
	p := pod(name, amounts("cpu", cpu))
	p.Labels = map[string]string{"app": name[:1]}
	return p
}

func TestBindOrder(t *testing.T) {
	const zone, host = corev1.LabelTopologyZone, corev1.LabelHostname
	in := NewInput(&scheduling.Problem{
		Pods: []*corev1.Pod{
			near(app("b1", "3"), zone, "a"), app("a1", "1"), near(app("c1", "4"), host, "b"), near(app("d1", "2"), zone, "d"),
			near(app("d2", "1"), host, "d"),
		},
		Pools: []scheduling.Pool{{Name: "p", InstanceTypes: []*scheduling.InstanceType{machine("four", "4", 1)}}},
	})
	plan := &scheduling.Plan{
		Shapes:   []scheduling.Shape{{}},
		Launches: []scheduling.Launch{{Pods: []int32{0, 1}}, {Pods: []int32{2}}, {Pods: []int32{3}}, {Pods: []int32{4}}},
	}
	// By size: c1 waits for b on its own node, where none will be; b1 waits for a; d1 is the first of its kind; d2 finds d on
	// another node only.
	if got, want := bindOrder(in, plan), []int32{3, 1, 0, 2, 4}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
