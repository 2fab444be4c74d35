package overlay_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/provider/overlay"
	"github.com/fleetwright/fleetwright/scheduling"
)

// BenchmarkApply: twenty overlays on all types of a region, in three pools of which one is singled out.
func BenchmarkApply(b *testing.B) {
	ec2, err := catalog.Embedded()
	if err != nil {
		b.Fatal(err)
	}
	types, _, err := ec2.InstanceTypes("us-east-1", catalog.Filter{}, instancetype.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	pools := []scheduling.Pool{{Name: "a", InstanceTypes: types}, {Name: "b", InstanceTypes: types}, {Name: "c", InstanceTypes: types}}
	in := func(key, value string) scheduling.Requirement {
		return scheduling.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}
	}
	overlays := []overlay.Overlay{{Name: "pool", Requirements: []scheduling.Requirement{in(scheduling.PoolLabel, "c")}, PriceAdjustment: "+1%"}}
	for i := range 19 {
		overlays = append(overlays, overlay.Overlay{Name: fmt.Sprint(i), Weight: int32(i + 1), PriceAdjustment: "-10%", Requirements: []scheduling.Requirement{
			in("karpenter.k8s.aws/instance-category", "cmr"[i%3:i%3+1]), in(scheduling.CapacityTypeLabel, "spot"), in(corev1.LabelTopologyZone, "us-east-1"+string("abcdef"[i%6]))}})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := overlay.Apply(pools, overlays, scheduling.LabelRules{}); err != nil {
			b.Fatal(err)
		}
	}
}
