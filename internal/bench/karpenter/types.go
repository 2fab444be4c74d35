package karpenter

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	peerreq "sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/fleetwright/fleetwright/scheduling"
)

// ourType turns a type of the peer into one of ours.
func ourType(it *cloudprovider.InstanceType) *scheduling.InstanceType {
	out := &scheduling.InstanceType{
		Name:         it.Name,
		Requirements: convertRequirements(it.Requirements),
		Capacity:     it.Capacity,
		Overhead:     it.Overhead.Total(),
	}
	for _, o := range it.Offerings {
		offering := scheduling.Offering{
			Zone:         o.Zone(),
			CapacityType: o.CapacityType(),
			Price:        scheduling.PriceFromFloat(o.Price),
			Unavailable:  !o.Available,
		}
		for key, r := range o.Requirements {
			if key == corev1.LabelTopologyZone || key == scheduling.CapacityTypeLabel {
				continue
			}
			if offering.Labels == nil {
				offering.Labels = map[string]string{}
			}
			offering.Labels[key] = r.Any()
		}
		out.Offerings = append(out.Offerings, offering)
	}
	return out
}

// peerType turns a type of ours into one of the peer's. An offering without a price cannot be bought.
func peerType(it *scheduling.InstanceType) *cloudprovider.InstanceType {
	out := &cloudprovider.InstanceType{
		Name:         it.Name,
		Requirements: peerreq.NewRequirements(),
		Capacity:     it.Capacity,
		Overhead:     &cloudprovider.InstanceTypeOverhead{KubeReserved: it.Overhead},
	}
	for _, r := range it.Requirements {
		out.Requirements.Add(peerreq.NewRequirement(r.Key, r.Operator, r.Values...))
	}
	for _, o := range it.Offerings {
		labels := map[string]string{corev1.LabelTopologyZone: o.Zone, scheduling.CapacityTypeLabel: o.CapacityType}
		maps.Copy(labels, o.Labels)
		out.Offerings = append(out.Offerings, &cloudprovider.Offering{
			Requirements: peerreq.NewLabelRequirements(labels),
			Price:        float64(o.Price.Nano()) / 1e9,
			Available:    o.Price.Known() && !o.Unavailable,
		})
	}
	return out
}

// convertRequirements spells out each condition, bounds and exclusions both, sorted by key.
func convertRequirements(from peerreq.Requirements) []scheduling.Requirement {
	var out []scheduling.Requirement
	bounded := map[string]bool{}
	for _, r := range from.NodeSelectorRequirements() {
		out = append(out, scheduling.Requirement{Key: r.Key, Operator: r.Operator, Values: r.Values, MinValues: r.MinValues})
		bounded[r.Key] = r.Operator == scheduling.OpGte || r.Operator == scheduling.OpLte
	}
	// The peer drops the exclusions of a bounded condition when it spells it out.
	for key, r := range from {
		if excluded := r.Values(); bounded[key] && len(excluded) > 0 {
			slices.Sort(excluded)
			out = append(out, scheduling.Requirement{Key: key, Operator: corev1.NodeSelectorOpNotIn, Values: excluded})
		}
	}
	slices.SortStableFunc(out, func(a, b scheduling.Requirement) int { return strings.Compare(a.Key, b.Key) })
	return out
}
