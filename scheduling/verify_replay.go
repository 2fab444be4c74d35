package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// replay binds pods one after another. What runs already is counted and not judged; then each pod has to pass
// the filters for spread, affinity and anti-affinity against all that is bound before it. Labels, taints,
// resources, host ports and volumes are tested elsewhere, on full nodes: if they hold there
// they hold at each step.
func (v *verifier) replay() {
	running, planned := v.spots()
	for i := range running {
		v.antis(running[i].p.pod) // nobody moves it: what else it states does not matter
	}
	for i := range planned {
		v.stated(planned[i].p)
	}
	for i := range running {
		v.bind(&running[i])
	}
	for i := range planned {
		v.filter(&planned[i])
		v.bind(&planned[i])
	}
}

// spots lists the pods that run, and those that the plan places in the order in which they are bound.
func (v *verifier) spots() (running, planned []verifySpot) {
	rank := map[int32]int{}
	for i, p := range v.plan.BindOrder {
		if _, twice := rank[p]; !twice {
			rank[p] = i
		}
	}
	var order []int
	place := func(pod int32, node, launch int) {
		if v.pod(pod) == nil {
			return
		}
		planned = append(planned, verifySpot{p: v.member(pod), node: node, launch: launch})
		at, listed := rank[pod]
		if !listed {
			at = len(v.plan.BindOrder)
		}
		order = append(order, at)
	}
	for i := range v.problem.Nodes {
		for _, pod := range v.problem.Nodes[i].Pods {
			// A pod on its way out is not counted.
			if pod != nil && !verifyFinished(pod) && pod.DeletionTimestamp == nil {
				running = append(running, verifySpot{p: v.read(pod), node: i, launch: -1})
			}
		}
		for _, p := range v.on[i] {
			place(p, i, -1)
		}
	}
	for i, l := range v.plan.Launches {
		if verifyInRange(l.Shape, v.plan.Shapes) && v.goodShape[l.Shape] {
			for _, p := range l.Pods {
				place(p, -1, i)
			}
		}
	}
	sorted := make([]int, len(planned))
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortStableFunc(sorted, func(a, b int) int { return order[a] - order[b] })
	out := make([]verifySpot, len(planned))
	for i, at := range sorted {
		out[i] = planned[at]
	}
	return running, out
}

// bind counts a pod where it is from now on.
func (v *verifier) bind(s *verifySpot) {
	for _, g := range v.counting(v.kind(s.p.pod)) {
		anywhere := false
		for i, w := range g.views {
			span := v.span(w, s)
			verifyAdd(g.counts[i], span, s.p.name)
			anywhere = anywhere || len(span.domains) > 0
		}
		if anywhere {
			g.seen++
		}
		if s.launch >= 0 {
			g.here[s.launch]++
		}
	}
	for _, g := range v.antis(s.p.pod) {
		verifyAdd(g.owned, v.span(g.views[0], s), s.p.name)
	}
}

func verifyAdd(counts map[string]verifyCount, span *verifySpan, name string) {
	for _, d := range span.domains {
		c := counts[d]
		c.may++
		if span.sure() {
			c.sure++
		}
		if c.first == "" {
			c.first = name
		}
		counts[d] = c
	}
}

// filter tests a pod that is about to be bound.
func (v *verifier) filter(s *verifySpot) {
	stated := v.stated(s.p)
	for _, g := range stated.spreads {
		v.checkSpread(g, s)
	}
	if stated.affinity != nil {
		v.checkAffinity(stated.affinity, s)
	}
	v.checkAnti(stated, s)
}

// checkAffinity: for each required term there has to be a pod in the node's domain that matches all of
// them. "If there is no such pod anywhere, a pod that matches its own terms may be the first", on a
// node that has all the keys.
func (v *verifier) checkAffinity(g *verifyGroup, s *verifySpot) {
	missing := ""
	for i, w := range g.views {
		span := v.span(w, s)
		if !span.always {
			v.report("affinity", s.p.name, "has to be with pods of one %s, which its node does not have or not for sure", w.key)
			return
		}
		if s.launch >= 0 && g.here[s.launch] > 0 {
			continue // on one node, pods are in one domain wherever it is
		}
		if slices.ContainsFunc(span.domains, func(d string) bool { return g.counts[i][d].sure == 0 }) {
			missing = w.key
		}
	}
	if missing != "" && !(g.seen == 0 && g.selects(v.kind(s.p.pod))) {
		v.report("affinity", s.p.name, "has to be with pods of which none is in the same %s for sure", missing)
	}
}

// checkAnti: "anti-affinity: the pod should not run in a domain that has pods which the term selects". The same
// holds for the terms of pods that are there, if they select the incoming one. Whatever launches become.
func (v *verifier) checkAnti(stated *verifyStated, s *verifySpot) {
	for _, g := range stated.antis {
		for _, d := range v.span(g.views[0], s).domains {
			if c := g.counts[0][d]; c.may > 0 {
				v.report("antiAffinity", s.p.name, "must not be with %s in one %s, both may be in %s", c.first, g.views[0].key, verifyDomainName(d))
				return
			}
		}
	}
	for _, g := range v.counting(v.kind(s.p.pod)) {
		if !g.anti {
			continue
		}
		for _, d := range v.span(g.views[0], s).domains {
			if c := g.owned[d]; c.may > 0 {
				v.report("antiAffinity", s.p.name, "%s must not be with it in one %s, both may be in %s", c.first, g.views[0].key, verifyDomainName(d))
				return
			}
		}
	}
}

func verifyFinished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
