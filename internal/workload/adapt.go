package workload

import (
	"bytes"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// MoveRegion rewrites the text of an unpacked file so that what it says of one region, zones included, is about another:
// us-west-2a becomes us-east-1a. Whether the other region has such a zone is not checked.
func MoveRegion(text []byte, from, to string) []byte {
	if from == "" {
		return text
	}
	return bytes.ReplaceAll(text, []byte(from), []byte(to))
}

// IgnoreCapacityTypes removes conditions on the capacity type from pods and pools, as if they were met.
func (w *Workload) IgnoreCapacityTypes() {
	for i := range w.Pools {
		w.Pools[i].Requirements = slices.DeleteFunc(w.Pools[i].Requirements, func(r scheduling.Requirement) bool {
			return r.Key == scheduling.CapacityTypeLabel
		})
	}
	for _, pod := range w.Pods { // pods of a group share what is changed
		delete(pod.Spec.NodeSelector, scheduling.CapacityTypeLabel)
		if a := pod.Spec.Affinity; a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
			continue
		}
		terms := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		for i := range terms {
			terms[i].MatchExpressions = slices.DeleteFunc(terms[i].MatchExpressions, func(r corev1.NodeSelectorRequirement) bool {
				return r.Key == scheduling.CapacityTypeLabel
			})
			if len(terms[i].MatchExpressions) == 0 {
				// A term without conditions would match no node at all.
				pod.Spec.Affinity.NodeAffinity = nil
				break
			}
		}
	}
}
