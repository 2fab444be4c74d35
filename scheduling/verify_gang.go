package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// verifyGang is a set of pods that run together or not at all.
type verifyGang struct {
	// need is how many have to run at the same time.
	need                     int
	placed, running, pending int
}

// gang names the pod's gang as namespace/name; empty if it is in none.
func (v *verifier) gang(pod *corev1.Pod) string {
	name := ""
	if g := pod.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
		name = *g.PodGroupName
	}
	for _, key := range slices.Sorted(slices.Values(v.problem.GangLabels)) {
		if name == "" {
			name = pod.Labels[key]
		}
	}
	if name == "" {
		return ""
	}
	for i := range v.problem.Gangs {
		if g := &v.problem.Gangs[i]; g.Basic && g.Namespace == pod.Namespace && g.Name == name {
			return ""
		}
	}
	return pod.Namespace + "/" + name
}

// checkGangs: of each gang as many pods run in the end as have to run together, or none is placed.
func (v *verifier) checkGangs() {
	v.gangs = map[string]*verifyGang{}
	at := func(pod *corev1.Pod) *verifyGang {
		id := v.gang(pod)
		if id != "" && v.gangs[id] == nil {
			v.gangs[id] = &verifyGang{}
		}
		return v.gangs[id]
	}
	for _, pod := range v.problem.Pods {
		if pod != nil && at(pod) != nil {
			at(pod).pending++
		}
	}
	for i := range v.problem.Demands {
		if d := &v.problem.Demands[i]; d.Template != nil && at(d.Template) != nil {
			at(d.Template).pending += int(max(d.Count, 0))
		}
	}
	running, planned := v.spots()
	for i := range running {
		if g := at(running[i].p.pod); g != nil {
			g.running++
		}
	}
	for i := range planned {
		if g := at(planned[i].p.pod); g != nil {
			g.placed++
		}
	}
	for _, g := range v.gangs {
		g.need = g.pending + g.running
	}
	for i := range v.problem.Gangs {
		listed := &v.problem.Gangs[i]
		if g := v.gangs[listed.Namespace+"/"+listed.Name]; g != nil && listed.MinCount > 0 {
			g.need = int(listed.MinCount)
		}
	}
	for _, id := range verifyKeys(v.gangs) {
		if g := v.gangs[id]; g.placed > 0 && g.placed+g.running < g.need {
			v.report("gang", id, "%d of its pods are placed and %d run, %d have to run together", g.placed, g.running, g.need)
		}
	}
}
