package scheduling

import (
	"slices"
)

// checkPlacements: the pods put on each existing node can run there beside those it has.
func (v *verifier) checkPlacements() {
	for i := range v.problem.Nodes {
		if len(v.on[i]) == 0 {
			continue
		}
		node, n := &v.problem.Nodes[i], v.existing[i]
		pods := v.readAll(v.on[i])
		subject := "node " + node.Name
		v.checkTogether(pods, subject)
		v.checkClaims(pods)
		here, expected := v.present(i)
		total := verifyAmounts{}
		for _, p := range slices.Concat(here, expected) {
			total.add(p.requests)
		}
		asked := verifyAmounts{}
		for _, p := range pods {
			if node.Unschedulable {
				v.report("node", p.name, "is put on %s, which is unschedulable", node.Name)
			}
			if r := v.refusal(p, n); r.rule != "" {
				v.report(r.rule, p.name, "%s", r.detail)
			}
			for _, q := range slices.Concat(here, expected) {
				if verifyClash(p, q) {
					v.report("ports", p.name, "wants a host port of %s on %s", q.name, node.Name)
				}
			}
			v.checkMounts(p, n)
			asked.add(p.requests)
		}
		v.checkAttach(subject, n, pods, here)
		total.add(asked)
		for _, name := range asked.names() {
			// A node that was overfull before is no fault of pods that ask for nothing.
			if asked[name] > 0 && total[name] > n.allocatable[name] {
				v.report("resources", subject, "is asked for %d of %s, it has %d", total[name], name, n.allocatable[name])
			}
		}
	}
}

// present lists the pods on an existing node, and the DaemonSets that are still to come to it.
func (v *verifier) present(node int) (here, expected []*verifyPod) {
	running := map[string]bool{}
	for _, pod := range v.problem.Nodes[node].Pods {
		if pod == nil || verifyFinished(pod) {
			continue
		}
		here = append(here, v.read(pod))
		for _, o := range pod.OwnerReferences {
			if o.Kind == "DaemonSet" {
				running[pod.Namespace+"/"+o.Name] = true
			}
		}
	}
	for _, d := range v.existing[node].sure {
		if p := v.read(v.problem.DaemonSets[d]); !running[p.name] {
			expected = append(expected, p)
		}
	}
	return here, expected
}
