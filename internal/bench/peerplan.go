package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	peer "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	peerreq "sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/fleetwright/fleetwright/scheduling"
)

// peerPlan says in our terms what becomes of the peer's result if every node is bought at its cheapest. A node
// of the peer's that nothing can be bought for is an error.
func peerPlan(in *input, results *peer.Results) (*scheduling.Plan, error) {
	index := make(map[types.UID]int32, len(in.ours.Pods))
	for i, p := range in.ours.Pods {
		index[p.UID] = int32(i)
	}
	plan := &scheduling.Plan{Catalog: in.ours.Catalog}
	var total int64
	for n, claim := range results.NewNodeClaims {
		choice, ok := cheapest(in, claim)
		if !ok {
			return nil, fmt.Errorf("no offering is left to node %d of the peer's, which has %d pods", n, len(claim.Pods))
		}
		l := scheduling.Launch{Shape: int32(len(plan.Shapes))}
		for _, p := range claim.Pods {
			l.Pods = append(l.Pods, index[p.UID])
		}
		price := in.ours.Pools[0].InstanceTypes[choice.Type].Offerings[choice.Offering].Price
		plan.Shapes = append(plan.Shapes, scheduling.Shape{
			Choice: choice, Alternatives: []scheduling.Alternative{choice}, AlternativeCount: 1,
			Price: price, Requests: requests(claim.Pods),
		})
		plan.Launches = append(plan.Launches, l)
		plan.BindOrder = append(plan.BindOrder, l.Pods...)
		total += price.Nano()
	}
	for p := range results.PodErrors {
		plan.Unplaced = append(plan.Unplaced, scheduling.Unplaced{Pod: index[p.UID]})
	}
	if len(plan.Unplaced) > 0 {
		// Why the peer left them over is in words only; no claim is made that could be tested.
		plan.Reasons = []scheduling.Reason{{Code: scheduling.CodeNotModelled, Detail: "left over by the peer"}}
	}
	slices.SortFunc(plan.BindOrder, func(a, b int32) int { return takenUp(in.ours.Pods[a], in.ours.Pods[b]) })
	plan.Totals = scheduling.Totals{
		Price: scheduling.PriceFromNano(total), Nodes: len(plan.Launches),
		Pods: len(plan.BindOrder), Unplaced: len(plan.Unplaced),
	}
	return plan, nil
}

// takenUp is the order of the peer's queue; pods that it had to try again came later than this says.
func takenUp(a, b *corev1.Pod) int {
	x, y := a.Spec.Containers[0].Resources.Requests, b.Spec.Containers[0].Resources.Requests
	return cmp.Or(y.Cpu().Cmp(*x.Cpu()), y.Memory().Cmp(*x.Memory()), cmp.Compare(a.UID, b.UID))
}

// cheapest returns the cheapest offering left to a node; the peer's cloud provider would get no better one.
func cheapest(in *input, claim *peer.NodeClaim) (choice scheduling.Alternative, ok bool) {
	best := math.Inf(1)
	for _, it := range claim.InstanceTypeOptions {
		for j, o := range it.Offerings {
			if o.Available && o.Price < best && claim.Requirements.IsCompatible(o.Requirements, peerreq.AllowUndefinedWellKnownLabels) {
				best, ok = o.Price, true
				choice = scheduling.Alternative{Type: in.typeIndex[it.Name], Offering: int32(j)}
			}
		}
	}
	return choice, ok
}

// requests sums up what the mixes' pods ask for, each in its one container.
func requests(pods []*corev1.Pod) scheduling.Vector {
	var cpu, memory int64
	for _, p := range pods {
		r := p.Spec.Containers[0].Resources.Requests
		cpu += r.Cpu().MilliValue()
		memory += r.Memory().Value()
	}
	return scheduling.Vector{
		{Name: corev1.ResourceCPU, Amount: cpu},
		{Name: corev1.ResourceMemory, Amount: memory},
		{Name: corev1.ResourcePods, Amount: int64(len(pods))},
	}
}
