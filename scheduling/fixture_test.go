package scheduling

import (
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func testPod(namespace, name string, requests corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name[:3]}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: requests},
		}}},
	}
}

func testType(name, cpu, memory string, onDemand, spot string) *InstanceType {
	t := &InstanceType{
		Name: name,
		Requirements: []Requirement{
			{Key: corev1.LabelInstanceTypeStable, Operator: "In", Values: []string{name}},
			{Key: corev1.LabelArchStable, Operator: "In", Values: []string{"amd64"}},
			{Key: corev1.LabelOSStable, Operator: "In", Values: []string{"linux"}},
			{Key: corev1.LabelTopologyRegion, Operator: "In", Values: []string{"us-east-1"}},
			{Key: corev1.LabelTopologyZone, Operator: "In", Values: []string{"us-east-1a", "us-east-1b"}},
		},
		Capacity: list("cpu", cpu, "memory", memory, "pods", "58", "ephemeral-storage", "20Gi"),
		Overhead: list("cpu", "80m", "memory", "1Gi"),
	}
	for _, zone := range []string{"us-east-1a", "us-east-1b"} {
		id := map[string]string{"topology.k8s.aws/zone-id": "use1-az" + zone[len(zone)-1:]}
		for _, ct := range []struct{ name, price string }{{"on-demand", onDemand}, {"spot", spot}} {
			price, _ := ParsePrice(ct.price)
			t.Offerings = append(t.Offerings, Offering{Zone: zone, CapacityType: ct.name, Price: price, Labels: id})
		}
	}
	return t
}

// demoProblem has two pools that share types, an existing node, a DaemonSet, and pods enough for
// each part of a plan.
func demoProblem() *Problem {
	medium := testType("m7i.xlarge", "4", "16Gi", "0.2016", "0.0853")
	large := testType("m7i.2xlarge", "8", "32Gi", "0.4032", "0.1771")
	gpu := testType("g6.xlarge", "4", "16Gi", "0.8048", "0.3311")
	gpu.Capacity["nvidia.com/gpu"] = resource.MustParse("1")
	reserved := gpu.Offerings[0]
	reserved.CapacityType, reserved.Price = "reserved", PriceFromNano(1)
	for _, id := range []string{"cr-1", "cr-2"} {
		reserved.Labels = map[string]string{"karpenter.k8s.aws/capacity-reservation-id": id}
		gpu.Offerings = append(gpu.Offerings, reserved)
	}
	agent := testPod("kube-system", "agent", list("cpu", "100m", "memory", "128Mi"))
	return &Problem{
		Pods: []*corev1.Pod{
			testPod("shop", "web-1", list("cpu", "1", "memory", "4Gi")),
			testPod("shop", "web-2", list("cpu", "1", "memory", "4Gi")),
			testPod("shop", "web-3", list("cpu", "1", "memory", "4Gi")),
			testPod("shop", "web-4", list("cpu", "1", "memory", "4Gi")),
			testPod("shop", "api-1", list("cpu", "500m", "memory", "1Gi")),
			testPod("data", "big-1", list("cpu", "200", "memory", "64Gi")),
			testPod("data", "big-2", list("cpu", "200", "memory", "64Gi")),
			testPod("ml", "train-1", list("cpu", "2", "memory", "8Gi", "nvidia.com/gpu", "1")),
			testPod("ml", "arm-1", list("cpu", "1")),
			testPod("ops", "late-1", list("cpu", "1")),
		},
		Pools: []Pool{
			{
				Name: "default", Weight: 10, Labels: map[string]string{"team": "shared"},
				Requirements: []Requirement{
					{Key: "tier", Operator: "Exists"},
					{Key: CapacityTypeLabel, Operator: "In", Values: []string{"spot", "on-demand"}},
				},
				StartupTaints: []corev1.Taint{{Key: "cni", Effect: corev1.TaintEffectNoExecute}},
				Limits:        list("cpu", "100"),
				InstanceTypes: []*InstanceType{medium, large},
			},
			{
				Name: "gpu",
				Taints: []corev1.Taint{
					{Key: "nvidia.com/gpu", Value: "true", Effect: corev1.TaintEffectNoSchedule},
					{Key: "dedicated", Value: "ml", Effect: corev1.TaintEffectNoSchedule},
				},
				InstanceTypes: []*InstanceType{gpu, large},
			},
		},
		Nodes: []Node{{
			Name: "ip-10-0-0-7", Labels: map[string]string{corev1.LabelTopologyZone: "us-east-1b"}, Pool: "default",
			Allocatable: list("cpu", "3920m", "memory", "15Gi"),
			Pods:        []*corev1.Pod{testPod("shop", "old-1", list("cpu", "1")), testPod("kube-system", "agent-7xk2p", nil)},
		}},
		DaemonSets: []*corev1.Pod{agent},
		Namespaces: map[string]map[string]string{"shop": {"team": "shop"}, "ml": {}},
		Catalog:    Catalog{AsOf: "2026-08-20", Source: "EC2 price list", Region: "us-east-1", Currency: "USD"},
	}
}

// planProblem is demoProblem with pods that nobody has created yet.
func planProblem() *Problem {
	p := demoProblem()
	p.Demands = []Demand{
		{Template: testPod("shop", "spare", list("cpu", "1")), Count: 3, Names: []string{"spare-first"}, Buffer: true},
		{Template: testPod("data", "sql", list("cpu", "1")), Count: 2},
	}
	return p
}

// demoPlan is a plan for planProblem, whatever the order of p's slices. It goes through names, so
// that tests which shuffle p need no index of their own.
func demoPlan(p *Problem) *Plan {
	b := newBinder(p)
	pods := func(names ...string) []int32 { return b.pods("", names) }
	pod := func(name string) int32 { return b.pod("", name) }
	offer := func(pool, name, zone, ct, price string, labels map[string]string) Alternative {
		amount, _ := ParsePrice(price)
		return b.offering("", b.poolIndex[pool], &AlternativeDocument{
			InstanceType: name, Zone: zone, CapacityType: ct, Price: amount, Labels: labels,
		})
	}
	node := b.nodeIndex["ip-10-0-0-7"]
	zoneA := map[string]string{"topology.k8s.aws/zone-id": "use1-aza"}
	price := func(s string) Price { v, _ := ParsePrice(s); return v }
	medium := offer("default", "m7i.xlarge", "us-east-1a", "spot", "0.0853", zoneA)
	web := Shape{
		Pool: b.poolIndex["default"], Choice: medium, Price: price("0.0853"), AlternativeCount: 2,
		Alternatives: []Alternative{medium, offer("default", "m7i.2xlarge", "us-east-1a", "spot", "0.1771", zoneA)},
		Requests:     Vector{{"cpu", 2100}, {"memory", 8320 << 20}, {"pods", 3}},
		DaemonSets:   []int32{0},
		CustomLabels: map[string]string{"tier": "front"},
		Why: Why{
			Candidates: 2, RunnerUp: offer("default", "m7i.2xlarge", "us-east-1a", "spot", "0.1771", zoneA),
			RunnerUpPrice: price("0.1771"), Binding: "memory", Used: 54,
			PodsPrice: price("0.0444"), DaemonsPrice: price("0.0014"),
		},
	}
	cr2 := map[string]string{"karpenter.k8s.aws/capacity-reservation-id": "cr-2"}
	reserved := offer("gpu", "g6.xlarge", "us-east-1a", "reserved", "0.000000001", cr2)
	train := Shape{
		Pool: b.poolIndex["gpu"], Choice: reserved, Price: price("0.000000001"), AlternativeCount: 1,
		Alternatives: []Alternative{reserved},
		Requests:     Vector{{"cpu", 2100}, {"memory", 8320 << 20}, {"nvidia.com/gpu", 1}, {"pods", 2}},
		DaemonSets:   []int32{0}, MinValues: map[string]int{"node.kubernetes.io/instance-type": 1},
		Why: Why{Candidates: 1, Binding: "nvidia.com/gpu", Used: 100, PodsPrice: price("0.000000001"), DaemonsPrice: price("0")},
	}
	return &Plan{
		problem: p, Digest: problemDigest(p), Catalog: p.Catalog,
		Options: Options{
			Preferences: PreferencesCap, PreferenceCap: price("0.05"), Reserved: ReservedStrict, Pools: []string{"gpu", "default"}, Steps: 1000,
			Effort: EffortBest,
		},
		Shapes: []Shape{web, train},
		Launches: []Launch{
			{Shape: 0, Pods: pods("shop/web-1", "shop/web-2")}, {Shape: 0, Pods: pods("shop/web-3", "shop/web-4")},
			{Shape: 1, Pods: pods("ml/train-1")},
		},
		Placements: []Placement{
			{Pod: pod("shop/api-1"), Node: node}, {Pod: pod("shop/spare-1"), Node: node}, {Pod: pod("shop/spare-first"), Node: node},
		},
		Unplaced: []Unplaced{
			{Pod: pod("data/big-1"), Reason: 0}, {Pod: pod("data/big-2"), Reason: 0},
			{Pod: pod("data/sql-0"), Reason: 2}, {Pod: pod("data/sql-1"), Reason: 2},
			{Pod: pod("ml/arm-1"), Reason: 1},
		},
		Reasons: []Reason{
			{
				Code:    CodeResource,
				Nearest: Nearest{Pool: "default", Type: "m7i.2xlarge", Resource: "cpu", Wanted: 200100, Available: 7920},
				Change:  Change{Kind: ChangeRequest, Resource: "cpu", Amount: 7820},
			},
			{
				Code: CodeTaint, Nearest: Nearest{Pool: "gpu", Type: "g6.xlarge", Taint: "dedicated=ml:NoSchedule"},
				Change: Change{
					Kind: ChangeToleration, Pool: "gpu",
					Taint: &corev1.Taint{Key: "dedicated", Value: "ml", Effect: corev1.TaintEffectNoSchedule},
				},
			},
			{
				Code: CodeAntiAffinity, Nearest: Nearest{Zone: "us-east-1a"}, Constraint: "pod anti-affinity over topology.kubernetes.io/zone",
				Domains:  []DomainCount{{Domain: "us-east-1a", Count: 2}, {Domain: "us-east-1b", Count: 0, Note: "out of reach"}},
				InTheWay: []string{"shop/web-1", "shop/web-2"},
			},
		},
		Relaxed: []Relaxation{
			{Pods: pods("shop/web-3", "shop/web-4"), Given: []string{"zone In [us-east-1b]"}},
			{Pods: pods("shop/spare-1", "shop/spare-first"), Given: []string{"spread over kubernetes.io/hostname"}, Cost: price("0.1008")},
		},
		NotEvaluated:   pods("ops/late-1", "shop/spare-2"),
		BindOrder:      pods("shop/api-1", "shop/web-1", "shop/web-2", "shop/web-3", "shop/web-4", "ml/train-1", "shop/spare-first", "shop/spare-1"),
		BoundLeavesOut: []string{"pod anti-affinity", "topology spread"},
		Pools: []PoolUse{
			{
				Pool: b.poolIndex["default"], Nodes: 2, Price: price("0.1706"), PodsPrice: price("0.0888"), DaemonsPrice: price("0.0028"),
				Resources: []ResourceUse{
					{"cpu", 7840, 4000, 200, price("0.052")},
					{"memory", 30 << 30, 16 << 30, 256 << 20, price("0.027")},
					{"pods", 116, 4, 2, price("0")},
				},
			},
			{
				Pool: b.poolIndex["gpu"], Nodes: 1, Price: price("0.000000001"), PodsPrice: price("0.000000001"), DaemonsPrice: price("0"),
				Resources: []ResourceUse{
					{"cpu", 3920, 2000, 100, price("0")},
					{"memory", 15 << 30, 8 << 30, 128 << 20, price("0")},
					{"nvidia.com/gpu", 1, 1, 0, price("0")},
					{"pods", 58, 1, 1, price("0")},
				},
			},
		},
		Totals: Totals{
			Price: price("0.170600001"), LowerBound: price("0.1553"), Nodes: 3, Pods: 8, Unplaced: 5, NotEvaluated: 2,
		},
		Stats: Stats{Shapes: 6, Classes: 6, Columns: 22, Steps: 1000, Packing: "first-fit"},
	}
}

// shuffled returns p with every slice whose order means nothing in another order.
func shuffled(p *Problem, seed uint64) *Problem {
	r := rand.New(rand.NewPCG(seed, 1))
	q := *p
	q.Pods, q.DaemonSets = shuffle(r, p.Pods), shuffle(r, p.DaemonSets)
	types := map[*InstanceType]*InstanceType{}
	q.Pools = shuffle(r, p.Pools)
	for i := range q.Pools {
		pool := &q.Pools[i]
		pool.Requirements, pool.Taints = shuffle(r, pool.Requirements), shuffle(r, pool.Taints)
		pool.StartupTaints, pool.InstanceTypes = shuffle(r, pool.StartupTaints), shuffle(r, pool.InstanceTypes)
		for j := range pool.Requirements {
			pool.Requirements[j].Values = shuffle(r, pool.Requirements[j].Values)
		}
		for j, t := range pool.InstanceTypes {
			if types[t] == nil {
				c := *t
				c.Requirements, c.Offerings = shuffle(r, c.Requirements), shuffle(r, c.Offerings)
				types[t] = &c
			}
			pool.InstanceTypes[j] = types[t]
		}
	}
	q.Nodes = shuffle(r, p.Nodes)
	for i := range q.Nodes {
		q.Nodes[i].Pods, q.Nodes[i].Taints = shuffle(r, q.Nodes[i].Pods), shuffle(r, q.Nodes[i].Taints)
	}
	q.Demands, q.Gangs, q.Commitments = shuffle(r, p.Demands), shuffle(r, p.Gangs), shuffle(r, p.Commitments)
	q.DefaultSpread.Constraints = shuffle(r, p.DefaultSpread.Constraints)
	q.DefaultSpread.Services, q.DefaultSpread.Owners = shuffle(r, p.DefaultSpread.Services), shuffle(r, p.DefaultSpread.Owners)
	q.Labels.WellKnown = shuffle(r, p.Labels.WellKnown)
	q.Storage.Claims, q.Storage.Volumes = shuffle(r, p.Storage.Claims), shuffle(r, p.Storage.Volumes)
	q.Storage.Classes, q.Storage.CSINodes = shuffle(r, p.Storage.Classes), shuffle(r, p.Storage.CSINodes)
	return &q
}

func shuffle[T any](r *rand.Rand, s []T) []T {
	if s == nil {
		return nil
	}
	out := append([]T{}, s...)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
