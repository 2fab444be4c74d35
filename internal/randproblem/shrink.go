package randproblem

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Shrink leaves out of a problem what it can while fails still holds for the rest: pods, nodes and what
// runs on them, pools, DaemonSets, types, offerings, requirements, parts of pods. The argument is not touched.
// It tries everything again until nothing can go, so fails should be quick.
func Shrink(p *scheduling.Problem, fails func(*scheduling.Problem) bool) *scheduling.Problem {
	s := &shrinker{best: p, fails: fails}
	for again := true; again; {
		again = shrinkSlice(s, func(q *scheduling.Problem) *[]*corev1.Pod { return &q.Pods })
		again = shrinkSlice(s, func(q *scheduling.Problem) *[]scheduling.Node { return &q.Nodes }) || again
		again = shrinkSlice(s, func(q *scheduling.Problem) *[]scheduling.Pool { return &q.Pools }) || again
		again = shrinkSlice(s, func(q *scheduling.Problem) *[]*corev1.Pod { return &q.DaemonSets }) || again
		again = s.insidePools() || again
		again = s.insideNodes() || again
		again = s.insidePods() || again
	}
	return s.best
}

type shrinker struct {
	best  *scheduling.Problem
	fails func(*scheduling.Problem) bool
}

// try keeps an edited copy if it still fails.
func (s *shrinker) try(edit func(*scheduling.Problem)) bool {
	q := clone(s.best)
	edit(q)
	if Text(q) == Text(s.best) || !s.fails(q) {
		return false
	}
	s.best = q
	return true
}

// shrinkSlice removes runs of elements, long runs first.
func shrinkSlice[T any](s *shrinker, at func(*scheduling.Problem) *[]T) bool {
	any := false
	for run := max(len(*at(s.best))/2, 1); run > 0; run /= 2 {
		for i := 0; i < len(*at(s.best)); {
			done := s.try(func(q *scheduling.Problem) {
				list := at(q)
				*list = slices.Delete(*list, i, min(i+run, len(*list)))
			})
			if any = any || done; !done {
				i += run
			}
		}
	}
	return any
}

func (s *shrinker) insidePools() bool {
	again := false
	for i := range s.best.Pools {
		pool := func(q *scheduling.Problem) *scheduling.Pool { return &q.Pools[i] }
		again = shrinkSlice(s, func(q *scheduling.Problem) *[]*scheduling.InstanceType { return &pool(q).InstanceTypes }) || again
		again = shrinkSlice(s, func(q *scheduling.Problem) *[]scheduling.Requirement { return &pool(q).Requirements }) || again
		for _, edit := range []func(*scheduling.Pool){
			func(p *scheduling.Pool) { p.Weight = 0 }, func(p *scheduling.Pool) { p.Limits = nil }, func(p *scheduling.Pool) { p.Labels = nil },
			func(p *scheduling.Pool) { p.Taints = nil }, func(p *scheduling.Pool) { p.StartupTaints = nil },
		} {
			again = s.try(func(q *scheduling.Problem) { edit(pool(q)) }) || again
		}
		for j := range s.best.Pools[i].InstanceTypes {
			typ := func(q *scheduling.Problem) *scheduling.InstanceType { return pool(q).InstanceTypes[j] }
			again = shrinkSlice(s, func(q *scheduling.Problem) *[]scheduling.Offering { return &typ(q).Offerings }) || again
			again = shrinkSlice(s, func(q *scheduling.Problem) *[]scheduling.Requirement { return &typ(q).Requirements }) || again
			again = s.try(func(q *scheduling.Problem) { typ(q).Overhead = nil }) || again
		}
	}
	return again
}

func (s *shrinker) insideNodes() bool {
	again := false
	for i := range s.best.Nodes {
		again = shrinkSlice(s, func(q *scheduling.Problem) *[]*corev1.Pod { return &q.Nodes[i].Pods }) || again
		again = shrinkSlice(s, func(q *scheduling.Problem) *[]corev1.Taint { return &q.Nodes[i].Taints }) || again
		for k := range s.best.Nodes[i].Labels {
			again = s.try(func(q *scheduling.Problem) { delete(q.Nodes[i].Labels, k) }) || again
		}
	}
	return again
}

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
			} {
				again = s.try(func(q *scheduling.Problem) {
					defer func() { _ = recover() }() // the part is not there
					edit(&at(q)[i].Spec)
				}) || again
			}
		}
	}
	every(func(q *scheduling.Problem) []*corev1.Pod { return q.Pods })
	every(func(q *scheduling.Problem) []*corev1.Pod { return q.DaemonSets })
	for i := range s.best.Nodes {
		every(func(q *scheduling.Problem) []*corev1.Pod { return q.Nodes[i].Pods })
	}
	return again
}

// clone copies all that Shrink edits.
func clone(p *scheduling.Problem) *scheduling.Problem {
	q := *p
	q.Pods, q.DaemonSets = clonePods(p.Pods), clonePods(p.DaemonSets)
	q.Nodes = slices.Clone(p.Nodes)
	for i := range q.Nodes {
		n := &q.Nodes[i]
		n.Pods, n.Taints = clonePods(n.Pods), slices.Clone(n.Taints)
		labels := map[string]string{}
		for k, v := range n.Labels {
			labels[k] = v
		}
		n.Labels = labels
	}
	q.Pools = slices.Clone(p.Pools)
	for i := range q.Pools {
		pool := &q.Pools[i]
		pool.Requirements = slices.Clone(pool.Requirements)
		pool.InstanceTypes = slices.Clone(pool.InstanceTypes)
		for j, t := range pool.InstanceTypes {
			c := *t
			c.Requirements, c.Offerings = slices.Clone(t.Requirements), slices.Clone(t.Offerings)
			pool.InstanceTypes[j] = &c
		}
	}
	return &q
}

func clonePods(pods []*corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for _, p := range pods {
		out = append(out, p.DeepCopy())
	}
	return out
}
