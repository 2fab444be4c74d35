package scheduling

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// roundType has round numbers: what its price pays for can be worked out by hand.
func roundType(name, cpu, memory, price string, more ...string) *InstanceType {
	p, err := ParsePrice(price)
	if err != nil {
		panic(err)
	}
	return &InstanceType{
		Name: name, Capacity: list(append([]string{"cpu", cpu, "memory", memory, "pods", "10"}, more...)...),
		Requirements: []Requirement{{Key: corev1.LabelInstanceTypeStable, Operator: "In", Values: []string{name}}},
		Offerings:    []Offering{{Zone: "a", CapacityType: "on-demand", Price: p}},
	}
}

// priceParts is what the launches of one type are said to pay for.
type priceParts struct{ kind, price, pods, daemons, stranded string }

func TestPriceIsSplit(t *testing.T) {
	on := func(kind string, p *corev1.Pod) *corev1.Pod {
		p.Spec.NodeSelector = map[string]string{corev1.LabelInstanceTypeStable: kind}
		return p
	}
	reserved := roundType("mem", "4", "16Gi", "0.28")
	reserved.Offerings = append(reserved.Offerings, Offering{Zone: "a", CapacityType: "reserved", Price: PriceFromNano(14e6), Reservation: "r", Count: 1})
	tests := []struct {
		name, reason string
		problem      Problem
		want         []priceParts
		// cpu and memory are what is stranded of them in the pool, in money.
		cpu, memory string
	}{
		{
			name:   "one type",
			reason: "of cpu there is least, so that alone is paid for: 2 of 4 by pods, 0.4 by the DaemonSet; the memory comes with it",
			problem: Problem{
				Pods:       []*corev1.Pod{testPod("x", "web-1", list("cpu", "1", "memory", "1Gi")), testPod("x", "web-2", list("cpu", "1", "memory", "1Gi"))},
				DaemonSets: []*corev1.Pod{testPod("x", "agent", list("cpu", "400m", "memory", "1Gi"))},
				Pools:      []Pool{{Name: "p", InstanceTypes: []*InstanceType{roundType("cpu", "4", "8Gi", "0.2")}}},
			},
			want: []priceParts{{"cpu", "0.2", "0.1", "0.02", "0.08"}}, cpu: "0.08", memory: "0",
		},
		{
			name: "two types",
			reason: "4c+8m = 0.20 and 4c+16m = 0.28: a core is worth 0.03 and a GiB 0.01; the smaller node is full, " +
				"of the larger one 4 GiB are left",
			problem: Problem{
				Pods:  []*corev1.Pod{testPod("x", "web-1", list("cpu", "4", "memory", "8Gi")), testPod("x", "sql-1", list("cpu", "4", "memory", "12Gi"))},
				Pools: []Pool{{Name: "p", InstanceTypes: []*InstanceType{roundType("cpu", "4", "8Gi", "0.2"), roundType("mem", "4", "16Gi", "0.28")}}},
			},
			want: []priceParts{{"cpu", "0.2", "0.2", "0", "0"}, {"mem", "0.28", "0.24", "0", "0.04"}}, cpu: "0", memory: "0.04",
		},
		{
			name:   "reservation",
			reason: "worths are those above, since more than the one reserved node costs what others do; its own price is split: a seventh is stranded",
			problem: Problem{
				Pods:  []*corev1.Pod{testPod("x", "web-1", list("cpu", "4", "memory", "8Gi")), testPod("x", "sql-1", list("cpu", "4", "memory", "12Gi"))},
				Pools: []Pool{{Name: "p", InstanceTypes: []*InstanceType{roundType("cpu", "4", "8Gi", "0.2"), reserved}}},
			},
			want: []priceParts{{"cpu", "0.2", "0.2", "0", "0"}, {"mem", "0.014", "0.012", "0", "0.002"}}, cpu: "0", memory: "0.002",
		},
		{
			name: "a type with nothing of worth",
			reason: "a GPU node has cpu in plenty, so GPUs alone are worth something, all of 1 an hour; on the node without, the fullest resource decides: " +
				"2 of 4 cores",
			problem: Problem{
				Pods: []*corev1.Pod{
					testPod("x", "gpu-1", list("cpu", "1", "memory", "1Gi", "nvidia.com/gpu", "1")), on("cpu", testPod("x", "web-1", list("cpu", "2", "memory", "1Gi"))),
				},
				Pools: []Pool{{Name: "p", InstanceTypes: []*InstanceType{
					roundType("cpu", "4", "8Gi", "0.2"), roundType("gpu", "4", "16Gi", "1", "nvidia.com/gpu", "1"),
				}}},
			},
			want: []priceParts{{"cpu", "0.2", "0.1", "0", "0.1"}, {"gpu", "1", "1", "0", "0"}}, cpu: "0.1", memory: "0",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := Solve(t.Context(), &tt.problem, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := Verify(&tt.problem, plan); err != nil {
				t.Error(err)
			}
			var got []priceParts
			for _, l := range plan.Document().Launches {
				w := l.Weighed
				got = append(got, priceParts{l.InstanceType, l.Price.String(), w.PodsPrice.String(), w.DaemonsPrice.String(), w.StrandedPrice.String()})
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("launches\n%v, want\n%v: %s", got, tt.want, tt.reason)
			}
			if len(plan.Pools) != 1 {
				t.Fatalf("pools %+v", plan.Pools)
			}
			for _, r := range plan.Pools[0].Resources {
				want := map[corev1.ResourceName]string{"cpu": tt.cpu, "memory": tt.memory}[r.Name]
				if want != "" && r.StrandedPrice.String() != want {
					t.Errorf("%s is stranded for %s, want %s: %s", r.Name, r.StrandedPrice, want, tt.reason)
				}
			}
		})
	}
}

func TestPoolsAreSummedUp(t *testing.T) {
	tainted := Pool{Name: "a", Taints: []corev1.Taint{{Key: "own", Effect: corev1.TaintEffectNoSchedule}}, InstanceTypes: []*InstanceType{roundType("big", "8", "8Gi", "1")}}
	problem := &Problem{
		Pods: []*corev1.Pod{
			testPod("x", "web-1", list("cpu", "3", "memory", "1Gi")), testPod("x", "web-2", list("cpu", "3", "memory", "1Gi")),
			testPod("x", "own-1", list("cpu", "2", "memory", "8Gi")),
		},
		Pools: []Pool{{Name: "b", InstanceTypes: []*InstanceType{roundType("small", "4", "8Gi", "0.2")}}, tainted, {Name: "unused"}},
	}
	problem.Pods[2].Spec.Tolerations = []corev1.Toleration{{Key: "own", Operator: corev1.TolerationOpExists}}
	problem.Pods[2].Spec.NodeSelector = map[string]string{PoolLabel: "a"}
	plan, err := Solve(t.Context(), problem, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(problem, plan); err != nil {
		t.Error(err)
	}
	known := PriceFromNano
	want := []PoolUse{ // By name; a pool that launches nothing has no line.
		{Pool: 1, Nodes: 1, Price: known(1e9), PodsPrice: known(1e9), DaemonsPrice: known(0), Resources: []ResourceUse{
			{"cpu", 8000, 2000, 0, known(0)}, {"memory", 8 << 30, 8 << 30, 0, known(0)}, {"pods", 10, 1, 0, known(0)},
		}},
		{Pool: 0, Nodes: 2, Price: known(4e8), PodsPrice: known(3e8), DaemonsPrice: known(0), Resources: []ResourceUse{
			{"cpu", 8000, 6000, 0, known(1e8)}, {"memory", 16 << 30, 2 << 30, 0, known(0)}, {"pods", 20, 2, 0, known(0)},
		}},
	}
	if !slices.EqualFunc(plan.Pools, want, func(a, b PoolUse) bool {
		return a.Pool == b.Pool && a.Nodes == b.Nodes && a.Price == b.Price && a.PodsPrice == b.PodsPrice && a.DaemonsPrice == b.DaemonsPrice &&
			slices.Equal(a.Resources, b.Resources)
	}) {
		t.Errorf("%+v, want\n%+v", plan.Pools, want)
	}
	if got := plan.Pools[1].Stranded(); got != known(1e8) {
		t.Errorf("stranded %v", got)
	}
	if r := plan.Pools[1].Resources[0]; r.Stranded() != 2000 {
		t.Errorf("stranded cpu %d", r.Stranded())
	}
}

// However few alternatives are kept, what the next best type would have cost is said.
func TestRunnerUpWithoutAlternatives(t *testing.T) {
	problem := &Problem{
		Pods: []*corev1.Pod{testPod("x", "web-1", list("cpu", "1"))},
		Pools: []Pool{{Name: "p", InstanceTypes: []*InstanceType{
			roundType("c", "4", "8Gi", "0.3"), roundType("a", "4", "8Gi", "0.2"), roundType("b", "4", "8Gi", "0.25"),
		}}},
	}
	plan, err := Solve(t.Context(), problem, &Options{MaxAlternatives: 1})
	if err != nil {
		t.Fatal(err)
	}
	w := plan.Document().Launches[0]
	if r := w.Weighed.RunnerUp; r == nil || r.InstanceType != "b" || len(w.Alternatives) != 1 {
		t.Fatalf("runner-up %+v, alternatives %+v", r, w.Alternatives)
	}
	if want := "cheapest of 3 types that hold this pod; cpu 25% used; next best: b at 0.25 (+0.05, +25.0%)"; w.Why != want {
		t.Errorf("why: %s\nwant %s", w.Why, want)
	}
}
