package randproblem

import (
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Shrink leaves out of a problem what it can while fails still holds for the rest: pods, demands, nodes and what runs on
// them, pools, DaemonSets, types, offerings, requirements, storage, gangs, parts of pods. The argument is not touched.
// It tries everything again until nothing can go, so fails should be quick.
func Shrink(p *scheduling.Problem, fails func(*scheduling.Problem) bool) *scheduling.Problem {
	s := &shrinker{best: p, fails: fails}
	for again := true; again; {
		again = shrinkSlice(s, func(q *scheduling.Problem) *[]*corev1.Pod { return &q.Pods })
		again = shrinkSlice(s, func(q *scheduling.Problem) *[]scheduling.Node { return &q.Nodes }) || again
		again = shrinkSlice(s, func(q *scheduling.Problem) *[]scheduling.Pool { return &q.Pools }) || again
		again = shrinkSlice(s, func(q *scheduling.Problem) *[]*corev1.Pod { return &q.DaemonSets }) || again
		again = s.around() || again
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
	if whole(q) == whole(s.best) || !s.fails(q) {
		return false
	}
	s.best = q
	return true
}

// whole is all that Shrink edits, as text.
func whole(p *scheduling.Problem) string {
	text, err := json.Marshal([]any{p.Demands, p.Gangs, p.GangLabels, p.DefaultSpread})
	if err != nil {
		return err.Error()
	}
	return Text(p) + string(text)
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

// around shrinks what a problem holds beside pods and nodes.
func (s *shrinker) around() bool {
	again := shrinkSlice(s, func(q *scheduling.Problem) *[]scheduling.Demand { return &q.Demands })
	for i := range s.best.Demands {
		again = s.try(func(q *scheduling.Problem) { q.Demands[i].Count = 1 }) || again
		again = s.try(func(q *scheduling.Problem) { q.Demands[i].Buffer = false }) || again
		again = s.try(func(q *scheduling.Problem) { q.Demands[i].Names = nil }) || again
	}
	again = shrinkSlice(s, func(q *scheduling.Problem) *[]scheduling.Gang { return &q.Gangs }) || again
	again = shrinkSlice(s, func(q *scheduling.Problem) *[]string { return &q.GangLabels }) || again
	again = s.uncovered() || again
	again = shrinkSlice(s, func(q *scheduling.Problem) *[]*corev1.PersistentVolumeClaim { return &q.Storage.Claims }) || again
	again = shrinkSlice(s, func(q *scheduling.Problem) *[]*corev1.PersistentVolume { return &q.Storage.Volumes }) || again
	again = shrinkSlice(s, func(q *scheduling.Problem) *[]*storagev1.StorageClass { return &q.Storage.Classes }) || again
	again = shrinkSlice(s, func(q *scheduling.Problem) *[]*storagev1.CSINode { return &q.Storage.CSINodes }) || again
	again = shrinkSlice(s, func(q *scheduling.Problem) *[]corev1.TopologySpreadConstraint { return &q.DefaultSpread.Constraints }) || again
	again = shrinkSlice(s, func(q *scheduling.Problem) *[]*corev1.Service { return &q.DefaultSpread.Services }) || again
	return shrinkSlice(s, func(q *scheduling.Problem) *[]scheduling.Owner { return &q.DefaultSpread.Owners }) || again
}

// uncovered takes commitments away with all that they cover.
func (s *shrinker) uncovered() bool {
	again := false
	for _, k := range s.best.Commitments {
		again = s.try(func(q *scheduling.Problem) {
			q.Commitments = slices.DeleteFunc(q.Commitments, func(x scheduling.Commitment) bool { return x.Name == k.Name })
			for i := range q.Pools {
				for _, t := range q.Pools[i].InstanceTypes {
					t.Offerings = slices.DeleteFunc(t.Offerings, func(o scheduling.Offering) bool { return o.Commitment == k.Name })
				}
			}
		}) || again
	}
	return again
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
			func(p *scheduling.Pool) { p.Preferences = nil },
		} {
			again = s.try(func(q *scheduling.Problem) { edit(pool(q)) }) || again
		}
		for j := range s.best.Pools[i].InstanceTypes {
			typ := func(q *scheduling.Problem) *scheduling.InstanceType { return pool(q).InstanceTypes[j] }
			again = shrinkSlice(s, func(q *scheduling.Problem) *[]scheduling.Offering { return &typ(q).Offerings }) || again
			again = shrinkSlice(s, func(q *scheduling.Problem) *[]scheduling.Requirement { return &typ(q).Requirements }) || again
			again = s.try(func(q *scheduling.Problem) { typ(q).Overhead = nil }) || again
			again = s.try(func(q *scheduling.Problem) { delete(typ(q).Capacity, scheduling.AttachLimit(diskDriver)) }) || again
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

// clone copies all that Shrink edits.
func clone(p *scheduling.Problem) *scheduling.Problem {
	q := *p
	q.Pods, q.DaemonSets = clonePods(p.Pods), clonePods(p.DaemonSets)
	q.Demands = slices.Clone(p.Demands)
	for i := range q.Demands {
		q.Demands[i].Template = p.Demands[i].Template.DeepCopy()
	}
	q.Gangs, q.GangLabels = slices.Clone(p.Gangs), slices.Clone(p.GangLabels)
	q.Commitments = slices.Clone(p.Commitments)
	t := &q.Storage
	t.Claims, t.Volumes, t.Classes, t.CSINodes = slices.Clone(t.Claims), slices.Clone(t.Volumes), slices.Clone(t.Classes), slices.Clone(t.CSINodes)
	d := &q.DefaultSpread
	d.Constraints, d.Services, d.Owners = slices.Clone(d.Constraints), slices.Clone(d.Services), slices.Clone(d.Owners)
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
			c.Requirements, c.Offerings, c.Capacity = slices.Clone(t.Requirements), slices.Clone(t.Offerings), maps.Clone(t.Capacity)
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
