package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	. "github.com/fleetwright/fleetwright/scheduling"
)

func TestVolumesTiedToNodes(t *testing.T) {
	volume := func(affinity *corev1.VolumeNodeAffinity) *corev1.PersistentVolume {
		return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "disk"}, Spec: corev1.PersistentVolumeSpec{NodeAffinity: affinity}}
	}
	zonal := &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: "In", Values: []string{"b"}}}}}}}
	for _, tc := range []struct {
		name, reason string
		volumes      []*corev1.PersistentVolume
		left         int
	}{
		{"zonal", "the volume is in one zone, and a node elsewhere could not mount it", []*corev1.PersistentVolume{volume(zonal)}, 1},
		{"anywhere", "the volume can be reached from every node", []*corev1.PersistentVolume{volume(nil)}, 0},
		{"not there", "nobody knows where the claim's volume is", nil, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db-0"}}
			pod.Spec.Containers = []corev1.Container{{Name: "main"}}
			pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-db-0"}}}}
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data-db-0"}}
			claim.Spec.VolumeName, claim.Status.Phase = "disk", corev1.ClaimBound
			plan, err := Solve(t.Context(), &Problem{
				Pods: []*corev1.Pod{pod},
				Pools: []Pool{{Name: "default", InstanceTypes: []*InstanceType{{
					Name:      "small",
					Capacity:  corev1.ResourceList{"cpu": resource.MustParse("2"), "pods": resource.MustParse("10")},
					Offerings: []Offering{{Zone: "a", CapacityType: "on-demand", Price: PriceFromFloat(0.1)}},
				}}}},
				Storage: Storage{Claims: []*corev1.PersistentVolumeClaim{claim}, Volumes: tc.volumes},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(plan.Unplaced) != tc.left {
				t.Fatalf("%d pods left over, want %d: %s", len(plan.Unplaced), tc.left, tc.reason)
			}
			if tc.volumes == nil && plan.Reasons[0].Code != CodeVolume {
				t.Errorf("left over with %s, want %s", plan.Reasons[0].Code, CodeVolume)
			}
		})
	}
}
