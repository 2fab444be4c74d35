package karpenter

import (
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	peer "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	peerreq "sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Plan says in our terms what becomes of the peer's result if every node is bought at its cheapest. A node
// of the peer's that nothing can be bought for is an error. All DaemonSets are taken to run on every node.
func (s *Scheduler) Plan() (*scheduling.Plan, error) {
	in := s.in
	index := make(map[types.UID]int32, len(in.pods))
	for i, p := range in.pods {
		index[p.UID] = int32(i)
	}
	plan := &scheduling.Plan{Catalog: in.Problem.Catalog}
	var total int64
	for n, claim := range s.results.NewNodeClaims {
		pool := in.poolIndex[claim.NodePoolName]
		choice, ok := cheapest(in.typeIndex[pool], claim)
		if !ok {
			return nil, fmt.Errorf("no offering is left to node %d of the peer's, which has %d pods", n, len(claim.Pods))
		}
		l := scheduling.Launch{Shape: int32(len(plan.Shapes))}
		for _, p := range claim.Pods {
			l.Pods = append(l.Pods, index[p.UID])
		}
		price := in.Problem.Pools[pool].InstanceTypes[choice.Type].Offerings[choice.Offering].Price
		shape := scheduling.Shape{
			Pool: pool, Choice: choice, Alternatives: []scheduling.Alternative{choice}, AlternativeCount: 1,
			Price: price, Requests: requests(claim.Pods, in.Problem.DaemonSets),
		}
		for d := range in.Problem.DaemonSets {
			shape.DaemonSets = append(shape.DaemonSets, int32(d))
		}
		plan.Shapes = append(plan.Shapes, shape)
		plan.Launches = append(plan.Launches, l)
		total += price.Nano()
	}
	for p := range s.results.PodErrors {
		plan.Unplaced = append(plan.Unplaced, scheduling.Unplaced{Pod: index[p.UID]})
	}
	if len(plan.Unplaced) > 0 {
		// Why the peer left them over is in words only; no claim is made that could be tested.
		plan.Reasons = []scheduling.Reason{{Code: scheduling.CodeNotModelled, Detail: "left over by the peer"}}
	}
	plan.BindOrder = bindOrder(in, plan)
	plan.Totals = scheduling.Totals{
		Price: scheduling.PriceFromNano(total), Nodes: len(plan.Launches),
		Pods: len(plan.BindOrder), Unplaced: len(plan.Unplaced),
	}
	return plan, nil
}

// cheapest returns the cheapest offering left to a node; the peer's cloud provider would get no better one.
func cheapest(typeIndex map[string]int32, claim *peer.NodeClaim) (choice scheduling.Alternative, ok bool) {
	best := math.Inf(1)
	for _, it := range claim.InstanceTypeOptions {
		for j, o := range it.Offerings {
			if o.Available && o.Price < best && claim.Requirements.IsCompatible(o.Requirements, peerreq.AllowUndefinedWellKnownLabels) {
				best, ok = o.Price, true
				choice = scheduling.Alternative{Type: typeIndex[it.Name], Offering: int32(j)}
			}
		}
	}
	return choice, ok
}

// requests sums up what pods and DaemonSets ask for in their containers, which is all that those of the benchmarks have.
func requests(lists ...[]*corev1.Pod) scheduling.Vector {
	sum := map[corev1.ResourceName]int64{}
	for _, pods := range lists {
		for _, p := range pods {
			sum[corev1.ResourcePods]++
			for _, c := range p.Spec.Containers {
				for name, q := range c.Resources.Requests {
					if name == corev1.ResourceCPU {
						sum[name] += q.MilliValue()
					} else {
						sum[name] += q.Value()
					}
				}
			}
		}
	}
	var out scheduling.Vector
	for _, name := range slices.Sorted(maps.Keys(sum)) {
		if sum[name] != 0 {
			out = append(out, scheduling.Quantity{Name: name, Amount: sum[name]})
		}
	}
	return out
}
