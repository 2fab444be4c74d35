package scheduling

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// checkUnplaced: a pod that is said to fit no node does not fit any new node taken alone, nor what is
// left of an existing one.
func (v *verifier) checkUnplaced() {
	known := map[string]string{}
	for _, u := range v.plan.Unplaced {
		pod := v.pod(u.Pod)
		if pod == nil || !verifyInRange(u.Reason, v.plan.Reasons) {
			continue
		}
		code := v.plan.Reasons[u.Reason].Code
		p := v.read(pod)
		if verifyClaims(pod) || p.negative {
			continue
		}
		id := fmt.Sprint(code, p.key, p.requests, p.ports)
		home, asked := known[id]
		if !asked {
			home = v.homeAlone(code, p)
			known[id] = home
		}
		if home == "" && v.alone(p) {
			home = v.roomLeft(code, p)
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

// homeAlone looks for a new node for the pod if the reason says that no node of any pool would do, whatever
// its limits and minValues.
func (v *verifier) homeAlone(code Code, p *verifyPod) string {
	switch code {
	case CodeNoPool, CodeTaint, CodeRequirement, CodeResource, CodeOffering, CodePrice, CodePort:
	default:
		return ""
	}
	for i := range v.problem.Pools {
		for j, t := range v.problem.Pools[i].InstanceTypes {
			if t == nil {
				continue
			}
			for k := range t.Offerings {
				if n := v.freshNode(int32(i), int32(j), int32(k), nil); v.holdsAlone(p, n) {
					return "a new node " + n.name + " holds it"
				}
			}
		}
	}
	return ""
}

// alone tells whether the pod has nothing to do with other pods.
func (v *verifier) alone(p *verifyPod) bool {
	spec := &p.pod.Spec
	if len(spec.TopologySpreadConstraints) > 0 {
		return false
	}
	if a := spec.Affinity; a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
		return false
	}
	for _, g := range v.repellers {
		if g.selects(p.pod) {
			return false
		}
	}
	return true
}

// roomLeft looks for an existing node that has room for the pod beside all that the plan puts there.
func (v *verifier) roomLeft(code Code, p *verifyPod) string {
	if code == CodeInvalid || code == CodeNotModelled || code == CodeSpread || code == CodeAntiAffinity {
		return ""
	}
	for i, n := range v.existing {
		if v.problem.Nodes[i].Unschedulable || v.refusal(p, n).rule != "" {
			continue
		}
		here, expected := v.present(i)
		others := slices.Concat(here, expected, v.readAll(v.on[i]))
		total := verifyAmounts{}
		total.add(p.requests)
		clash := false
		for _, q := range others {
			total.add(q.requests)
			clash = clash || verifyClash(p, q)
		}
		fits := !clash
		for name, amount := range total {
			fits = fits && (amount <= 0 || amount <= n.allocatable[name])
		}
		if fits {
			return "node " + n.name + " has room for it"
		}
	}
	return ""
}
