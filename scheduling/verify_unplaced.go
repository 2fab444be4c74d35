package scheduling

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// checkUnplaced: a pod that is left out has what its reason blames, and one that is said to fit no node fits
// neither any new node taken alone nor what is left of an existing one.
func (v *verifier) checkUnplaced() {
	known, room := map[string]string{}, map[string]string{}
	for _, u := range v.plan.Unplaced {
		if v.pod(u.Pod) == nil || !verifyInRange(u.Reason, v.plan.Reasons) {
			continue
		}
		code := v.plan.Reasons[u.Reason].Code
		p := v.member(u.Pod)
		if why := v.unfounded(code, p); why != "" {
			v.report("placeable", p.name, "is left out with %s, but %s", code, why)
			continue
		}
		if p.negative || verifyAsksForDevices(p.pod) || v.doubtful(p) {
			continue
		}
		id := fmt.Sprint(code, p.key, p.requests, p.ports, p.mounts)
		if _, asked := known[id]; !asked {
			known[id] = v.homeAlone(code, p)
		}
		home := known[id]
		if home == "" && v.alone(p) {
			if _, asked := room[id]; !asked {
				room[id] = v.roomLeft(code, p)
			}
			home = room[id]
		}
		if home != "" {
			v.report("placeable", p.name, "is left out with %s, but %s", code, home)
		}
	}
}

func verifyClaims(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(x corev1.Volume) bool {
		return x.PersistentVolumeClaim != nil || x.Ephemeral != nil
	})
}

// doubtful: the pod has claims of which too little is known to say that it could be placed.
func (v *verifier) doubtful(p *verifyPod) bool {
	return verifyClaims(p.pod) && (v.storage.unknown || slices.ContainsFunc(p.mounts, func(m verifyMount) bool { return m.doubtful }))
}

// unfounded says why a reason cannot be the one: the pod has nothing of what the reason is about.
func (v *verifier) unfounded(code Code, p *verifyPod) string {
	a := p.pod.Spec.Affinity
	switch code {
	case CodeResourceClaim:
		if !verifyAsksForDevices(p.pod) {
			return "it claims no devices"
		}
	case CodeVolume, CodeAttachLimit:
		if !verifyClaims(p.pod) {
			return "it claims no volume"
		}
	case CodeSpread:
		if len(v.spreads(p.pod)) == 0 && !v.counted(p, func(g *verifyGroup) bool { return g.spread != nil }) {
			return "no spread binds or counts it"
		}
	case CodeAffinity:
		if a == nil || a.PodAffinity == nil || len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) == 0 {
			return "it has to be with no other pod"
		}
	case CodeAntiAffinity:
		own := a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
		if !own && !v.counted(p, func(g *verifyGroup) bool { return g.anti }) {
			return "no anti-affinity has to do with it"
		}
	case CodeGang:
		g := v.gangs[v.gang(p.pod)]
		if g == nil {
			return "it is in no gang"
		}
		if g.placed > 0 {
			return fmt.Sprintf("%d pods of its gang are placed", g.placed)
		}
	case CodeReservation:
		spent := func(n *verifyNode) bool { return v.holdsAlone(p, n, "", "") }
		if v.plan.Options.Reserved != ReservedStrict {
			return "a pod does not have to wait for a reservation"
		}
		if !v.doubtful(p) && !slices.ContainsFunc(v.supplyLeft().spent, spent) {
			return "no reservation that it could use is used up"
		}
	}
	return ""
}

// counted tells whether some constraint of that kind, of a pod that runs or is placed, counts the pod.
func (v *verifier) counted(p *verifyPod, kind func(*verifyGroup) bool) bool {
	return slices.ContainsFunc(v.counting(v.kind(p.pod)), kind)
}

// homeAlone looks for a new node for the pod if the reason says that no node of any pool would do, whatever
// its limits and minValues. Reasons about finite things and other pods say no such thing.
func (v *verifier) homeAlone(code Code, p *verifyPod) string {
	switch code {
	case CodeNoPool, CodeTaint, CodeRequirement, CodeResource, CodeOffering, CodePrice, CodePort, CodeVolume, CodeAttachLimit:
	default:
		return ""
	}
	for _, n := range v.supplyLeft().offered {
		if v.holdsAlone(p, n, "", "") {
			return "a new node " + n.name + " holds it"
		}
	}
	return ""
}

// alone tells whether the pod has nothing to do with other pods.
func (v *verifier) alone(p *verifyPod) bool {
	spec := &p.pod.Spec
	if len(spec.TopologySpreadConstraints) > 0 || len(v.spreads(p.pod)) > 0 || v.gang(p.pod) != "" {
		return false
	}
	if a := spec.Affinity; a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
		return false
	}
	return !v.counted(p, func(g *verifyGroup) bool { return g.anti })
}

// roomLeft looks for an existing node that has room for the pod beside all that the plan puts there.
func (v *verifier) roomLeft(code Code, p *verifyPod) string {
	switch code {
	case CodeInvalid, CodeNotModelled, CodeSpread, CodeAntiAffinity, CodeAffinity, CodeGang, CodeResourceClaim:
		return ""
	}
	for i, n := range v.existing {
		if v.problem.Nodes[i].Unschedulable || v.refusal(p, n).rule != "" {
			continue
		}
		if slices.ContainsFunc(p.mounts, func(m verifyMount) bool { return m.fault != "" || v.mountRefusal(&m, n) != "" }) {
			continue
		}
		if v.full(i).fits(p, n) {
			return "node " + n.name + " has room for it"
		}
	}
	return ""
}

// verifyFull is what is on an existing node in the end.
type verifyFull struct {
	total verifyAmounts
	// ports are the pods that hold some, volumes those attached.
	ports   []*verifyPod
	volumes map[string]map[string]bool
}

func (v *verifier) full(node int) *verifyFull {
	if f := v.filled[node]; f != nil {
		return f
	}
	here, expected := v.present(node)
	f := &verifyFull{total: verifyAmounts{}}
	pods := slices.Concat(here, expected, v.readAll(v.on[node]))
	for _, q := range pods {
		f.total.add(q.requests)
		if len(q.ports) > 0 {
			f.ports = append(f.ports, q)
		}
	}
	f.volumes = verifyAttached(pods)
	v.filled[node] = f
	return f
}

// fits tells whether there is room for one more pod. Where something is asked for too much already, there is none.
func (f *verifyFull) fits(p *verifyPod, n *verifyNode) bool {
	for _, amounts := range []verifyAmounts{f.total, p.requests} {
		for name := range amounts {
			if total := f.total[name] + p.requests[name]; total > 0 && total > n.allocatable[name] {
				return false
			}
		}
	}
	for driver, volumes := range verifyAttached([]*verifyPod{p}) {
		count := len(f.volumes[driver])
		for id := range volumes {
			if !f.volumes[driver][id] {
				count++
			}
		}
		if limit, bounded := n.attach[driver]; bounded && int64(count) > limit {
			return false
		}
	}
	return !slices.ContainsFunc(f.ports, func(q *verifyPod) bool { return verifyClash(p, q) })
}
