package randproblem

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

func (s *shrinker) insidePods() bool {
	again := false
	every := func(at func(*scheduling.Problem) []*corev1.Pod) {
		for i := range at(s.best) {
			for _, edit := range []func(*corev1.PodSpec){
				func(x *corev1.PodSpec) { x.Affinity = nil }, func(x *corev1.PodSpec) { x.NodeSelector = nil },
				func(x *corev1.PodSpec) { x.Tolerations = nil }, func(x *corev1.PodSpec) { x.InitContainers = nil },
				func(x *corev1.PodSpec) { x.TopologySpreadConstraints = nil }, func(x *corev1.PodSpec) { x.Overhead = nil },
				func(x *corev1.PodSpec) { x.Resources = nil }, func(x *corev1.PodSpec) { x.HostNetwork = false },
				func(x *corev1.PodSpec) { x.Containers = x.Containers[:min(1, len(x.Containers))] },
				func(x *corev1.PodSpec) { x.Affinity.PodAntiAffinity = nil },
				func(x *corev1.PodSpec) {
					x.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = nil
				},
				func(x *corev1.PodSpec) { x.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil },
				func(x *corev1.PodSpec) {
					n := x.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
					n.NodeSelectorTerms = n.NodeSelectorTerms[1:]
				},
				func(x *corev1.PodSpec) { x.Containers[0].Ports = nil },
				func(x *corev1.PodSpec) { x.Containers[0].Resources = corev1.ResourceRequirements{} },
				func(x *corev1.PodSpec) { x.Affinity.PodAffinity = nil }, func(x *corev1.PodSpec) { x.Priority = nil },
				func(x *corev1.PodSpec) { x.SchedulingGroup = nil }, func(x *corev1.PodSpec) { x.ResourceClaims = nil },
			} {
				again = s.try(func(q *scheduling.Problem) {
					defer func() { _ = recover() }() // the part is not there
					edit(&at(q)[i].Spec)
				}) || again
			}
			again = s.insidePod(func(q *scheduling.Problem) *corev1.Pod { return at(q)[i] }) || again
		}
	}
	every(func(q *scheduling.Problem) []*corev1.Pod { return q.Pods })
	every(func(q *scheduling.Problem) []*corev1.Pod { return q.DaemonSets })
	for i := range s.best.Demands {
		every(func(q *scheduling.Problem) []*corev1.Pod { return []*corev1.Pod{q.Demands[i].Template} })
	}
	for i := range s.best.Nodes {
		every(func(q *scheduling.Problem) []*corev1.Pod { return q.Nodes[i].Pods })
	}
	return again
}

// insidePod shrinks the lists of a pod.
func (s *shrinker) insidePod(at func(*scheduling.Problem) *corev1.Pod) bool {
	again := shrinkSlice(s, func(q *scheduling.Problem) *[]corev1.TopologySpreadConstraint {
		return &at(q).Spec.TopologySpreadConstraints
	})
	again = shrinkSlice(s, func(q *scheduling.Problem) *[]corev1.Volume { return &at(q).Spec.Volumes }) || again
	again = shrinkSlice(s, func(q *scheduling.Problem) *[]metav1.OwnerReference { return &at(q).OwnerReferences }) || again
	for i := range at(s.best).Spec.TopologySpreadConstraints {
		c := func(q *scheduling.Problem) *corev1.TopologySpreadConstraint {
			return &at(q).Spec.TopologySpreadConstraints[i]
		}
		again = s.try(func(q *scheduling.Problem) { c(q).MinDomains = nil }) || again
		again = s.try(func(q *scheduling.Problem) { c(q).NodeAffinityPolicy = nil }) || again
		again = s.try(func(q *scheduling.Problem) { c(q).NodeTaintsPolicy = nil }) || again
		again = s.try(func(q *scheduling.Problem) { c(q).MatchLabelKeys = nil }) || again
	}
	for _, list := range []func(*corev1.Affinity) *[]corev1.PodAffinityTerm{
		func(a *corev1.Affinity) *[]corev1.PodAffinityTerm {
			return &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		},
		func(a *corev1.Affinity) *[]corev1.PodAffinityTerm {
			return &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		},
	} {
		again = shrinkSlice(s, func(q *scheduling.Problem) *[]corev1.PodAffinityTerm { return termsOf(at(q), list) }) || again
		for i := range *termsOf(at(s.best), list) {
			t := func(q *scheduling.Problem) *corev1.PodAffinityTerm { return &(*termsOf(at(q), list))[i] }
			again = s.try(func(q *scheduling.Problem) { t(q).MatchLabelKeys = nil }) || again
			again = s.try(func(q *scheduling.Problem) { t(q).MismatchLabelKeys = nil }) || again
			again = s.try(func(q *scheduling.Problem) { t(q).Namespaces, t(q).NamespaceSelector = nil, nil }) || again
		}
	}
	for k := range at(s.best).Labels {
		again = s.try(func(q *scheduling.Problem) { delete(at(q).Labels, k) }) || again
	}
	return again
}

// termsOf is a list of a pod's affinity, or an empty one if that part is not there.
func termsOf(p *corev1.Pod, list func(*corev1.Affinity) *[]corev1.PodAffinityTerm) (out *[]corev1.PodAffinityTerm) {
	defer func() {
		if recover() != nil {
			out = &[]corev1.PodAffinityTerm{}
		}
	}()
	return list(p.Spec.Affinity)
}
