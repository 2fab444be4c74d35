package main

import (
	"context"
	"maps"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetwright/fleetwright/internal/bench/karpenter"
	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

// poolLimits are those of the peer's own benchmark: there, but out of reach. The peer charges a new node with the
// largest of the types it may become, so that a real catalogue needs them a hundred times as high.
func poolLimits(real bool) corev1.ResourceList {
	if real {
		return corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("1000000000"),
			corev1.ResourceMemory: resource.MustParse("1000000000Gi"),
		}
	}
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("10000000"),
		corev1.ResourceMemory: resource.MustParse("10000000Gi"),
	}
}

// regionInput offers the amd64 types of a region, on-demand; if small, only those that smallTypes keeps.
func regionInput(pods []*corev1.Pod, region string, small bool) (*karpenter.Input, error) {
	known, err := catalog.Embedded()
	if err != nil {
		return nil, err
	}
	filter := catalog.Filter{Arch: []string{"amd64"}, CapacityTypes: []string{catalog.OnDemand}}
	types, origin, err := known.InstanceTypes(region, filter, instancetype.Settings{})
	if err != nil {
		return nil, err
	}
	pool := scheduling.Pool{Name: "default", Limits: poolLimits(true)}
	if small {
		var zones []string
		types, zones = smallTypes(types)
		pool.Requirements = []scheduling.Requirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: zones}}
	}
	pool.InstanceTypes = types
	return karpenter.NewInput(&scheduling.Problem{Pods: pods, Catalog: origin, Pools: []scheduling.Pool{pool}}), nil
}

// smallTypes keeps what many clusters allow: general, compute and memory types from generation 3 on of at most 32
// cpus. The zones are the first three of the region.
func smallTypes(types []*scheduling.InstanceType) (kept []*scheduling.InstanceType, firstZones []string) {
	family := regexp.MustCompile(`^[cmr]([3-9]|[1-9][0-9])[a-z-]*\.`)
	zones := map[string]bool{}
	for _, it := range types {
		if family.MatchString(it.Name) && it.Capacity.Cpu().Value() <= 32 {
			kept = append(kept, it)
		}
		for _, o := range it.Offerings {
			zones[o.Zone] = true
		}
	}
	firstZones = slices.Sorted(maps.Keys(zones))
	return kept, firstZones[:min(3, len(firstZones))]
}

// peerWith returns a run of the peer's scheduler with the given number of workers.
func peerWith(workers int) func(context.Context, *karpenter.Input) (sample, error) {
	return func(ctx context.Context, in *karpenter.Input) (sample, error) {
		scheduler, err := karpenter.NewScheduler(ctx, in, workers)
		if err != nil {
			return sample{}, err
		}
		var s sample
		if err := measure(&s, func() error { return scheduler.Solve(ctx) }); err != nil {
			return s, err
		}
		plan, err := scheduler.Plan()
		if err != nil {
			return s, err
		}
		s.nodes, s.unplaced = plan.Totals.Nodes, plan.Totals.Unplaced
		s.price = float64(plan.Totals.Price.Nano()) / 1e9
		s.fault = scheduling.Verify(in.Problem, plan)
		return s, nil
	}
}
