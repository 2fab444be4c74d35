package scheduling_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/internal/workload"
	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

// BenchmarkCompile100k compiles 100,000 pods of 10,000 deployments, each spread over zones, against all amd64 types
// of us-east-1.
func BenchmarkCompile100k(b *testing.B) {
	known, err := catalog.Embedded()
	if err != nil {
		b.Fatal(err)
	}
	types, _, err := known.InstanceTypes("us-east-1", catalog.Filter{Arch: []string{"amd64"}}, instancetype.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	p := &scheduling.Problem{Pods: workload.Plain(100_000, 200, 1), Pools: []scheduling.Pool{{Name: "default", InstanceTypes: types}}}
	for i, pod := range p.Pods {
		app := map[string]string{"app": fmt.Sprintf("app-%05d", i/10)}
		pod.Labels = app
		pod.Spec.Containers[0].Resources = p.Pods[i/10*10].Spec.Containers[0].Resources
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: app},
		}}
	}
	b.ReportAllocs()
	for b.Loop() {
		if groups, err := scheduling.Groups(p); err != nil || groups != 10_000 {
			b.Fatal(groups, err)
		}
	}
}

// BenchmarkCompile5k compiles 5,000 plain pods against the same types.
func BenchmarkCompile5k(b *testing.B) {
	p := plainProblem(b, 5000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := scheduling.Groups(p); err != nil {
			b.Fatal(err)
		}
	}
}
