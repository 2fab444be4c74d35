package scheduling_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// Sets of pods that the exhaustive oracle tells apart: gangs, bands of priority, and classes.

// readGangs finds the sets of pods that are placed together or not at all.
func (t *tinyOracle) readGangs() {
	nameOf := func(pod *corev1.Pod) string {
		if g := pod.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
			return pod.Namespace + "/" + *g.PodGroupName
		}
		for _, k := range t.problem.GangLabels {
			if v := pod.Labels[k]; v != "" {
				return pod.Namespace + "/" + v
			}
		}
		return ""
	}
	members := map[string]uint32{}
	for i, p := range t.pods {
		if name := nameOf(p.pod); name != "" {
			members[name] |= 1 << i
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		g := tinyGang{members: members[name]}
		t.running(func(_ int, pod *corev1.Pod) {
			if nameOf(pod) == name {
				g.running++
			}
		})
		at := slices.IndexFunc(t.problem.Gangs, func(x Gang) bool { return x.Namespace+"/"+x.Name == name })
		if at >= 0 && t.problem.Gangs[at].Basic {
			continue
		}
		g.min = g.running + setSize(g.members)
		if at >= 0 && t.problem.Gangs[at].MinCount > 0 {
			g.min = int(t.problem.Gangs[at].MinCount)
		}
		for i, p := range t.pods {
			if g.members&(1<<i) != 0 {
				p.gang = name
			}
		}
		t.gangs = append(t.gangs, g)
	}
}

// readBands ranks pods by priority; buffers come last.
func (t *tinyOracle) readBands() {
	first := int32(len(t.problem.Pods))
	rank := func(p *tinyPod) int {
		if at := p.index - first; at >= 0 {
			for _, d := range t.problem.Demands {
				if at < d.Count && d.Buffer {
					return math.MinInt
				} else if at < d.Count {
					break
				}
				at -= d.Count
			}
		}
		if p.pod.Spec.Priority == nil {
			return 0
		}
		return int(*p.pod.Spec.Priority)
	}
	for _, p := range t.pods {
		t.bands = append(t.bands, rank(p))
	}
	slices.SortFunc(t.bands, func(a, b int) int { return cmp.Compare(b, a) })
	t.bands = slices.Compact(t.bands)
	for _, p := range t.pods {
		p.band = slices.Index(t.bands, rank(p))
	}
}

// readClasses finds pods that nothing can tell apart.
func (t *tinyOracle) readClasses() {
	seen := map[string]int{}
	for i, p := range t.pods {
		spec := p.pod.Spec.DeepCopy()
		spec.Volumes = nil
		var rows []bool
		for _, pl := range t.places {
			rows = append(rows, pl.fits&(1<<i) != 0)
		}
		var mounts []string
		for _, v := range p.volumes {
			mounts = append(mounts, v.driver)
			for j, q := range t.pods {
				if j != i && slices.ContainsFunc(q.volumes, func(w tinyVolume) bool { return w.id == v.id }) {
					mounts = append(mounts, v.id)
				}
			}
			for n := range t.problem.Nodes {
				if t.places[n].volumes[v.driver+" "+v.id] {
					mounts = append(mounts, v.id)
				}
			}
		}
		text, err := json.Marshal([]any{p.pod.Namespace, p.pod.Labels, spec, p.gang, p.band, rows, mounts})
		if err != nil {
			panic(err)
		}
		if _, known := seen[string(text)]; !known {
			seen[string(text)] = len(seen)
		}
		p.class = seen[string(text)]
	}
	t.classes = len(seen)
}
