package karpenter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	peerreq "sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/fleetwright/fleetwright/scheduling"
)

func TestTypesSurviveTheWayThereAndBack(t *testing.T) {
	for _, it := range fake.InstanceTypes(8) {
		want := ourType(it)
		if d := cmp.Diff(want, ourType(peerType(want))); d != "" {
			t.Errorf("%s (-want +got):\n%s", it.Name, d)
		}
	}
}

func TestOurType(t *testing.T) {
	it := ourType(fake.InstanceTypes(8)[7])
	want := map[string]string{
		"node.kubernetes.io/instance-type": "In [fake-it-7]",
		"kubernetes.io/arch":               "In [amd64]",
		"size":                             "In [large]",
		"special":                          "In [optional]",
		"integer":                          "In [8]",
		"topology.kubernetes.io/zone":      "In [test-zone-1 test-zone-2 test-zone-3]",
	}
	for key, wanted := range want {
		var got []string
		for _, r := range it.Requirements {
			if r.Key == key {
				got = append(got, strings.TrimPrefix(r.String(), key+" "))
			}
		}
		if s := strings.Join(got, ", "); s != wanted {
			t.Errorf("%s: got %s, want %s", key, s, wanted)
		}
	}
	if len(it.Offerings) != 5 || it.Offerings[0].Unavailable || !it.Offerings[0].Price.Known() {
		t.Errorf("offerings %+v, want 5 to be had at a price", it.Offerings)
	}
	if q := it.Overhead[corev1.ResourceCPU]; q.String() != "100m" {
		t.Errorf("cpu overhead %s, want 100m", q.String())
	}
}

func TestConvertRequirementsKeepsBoundsAndExclusions(t *testing.T) {
	bounded := peerreq.NewRequirement("n", corev1.NodeSelectorOpGt, "3").
		Intersection(peerreq.NewRequirement("n", corev1.NodeSelectorOpLt, "9")).
		Intersection(peerreq.NewRequirement("n", corev1.NodeSelectorOpNotIn, "5"))
	got := convertRequirements(peerreq.NewRequirements(bounded,
		peerreq.NewRequirement("absent", corev1.NodeSelectorOpDoesNotExist)))
	var lines []string
	for _, r := range got {
		lines = append(lines, r.String())
	}
	want := "absent DoesNotExist, n Gte [4], n Lte [8], n NotIn [5]"
	if s := strings.Join(lines, ", "); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}

func TestUnavailableOfferingStaysUnavailable(t *testing.T) {
	it := fake.NewInstanceType("x", fake.WithOfferings(cloudprovider.Offering{
		Price: 1, Requirements: peerreq.NewLabelRequirements(map[string]string{
			"topology.kubernetes.io/zone": "z", scheduling.CapacityTypeLabel: "spot", "topology.k8s.aws/zone-id": "z-1",
		}),
	}))
	got := ourType(it).Offerings
	want := []scheduling.Offering{{
		Zone: "z", CapacityType: "spot", Price: scheduling.PriceFromNano(1e9), Unavailable: true,
		Labels: map[string]string{"topology.k8s.aws/zone-id": "z-1"},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
