package scheduling

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// verifyNewNode is the domain of a node that nobody has bought yet, where every node is a domain.
const verifyNewNode = "\x00a new node"

// reachable lists the domains of a topology key that the pod could be in on a new node of its own, beside
// all that the plan buys: such a domain counts no pods, and holds the minimum of a spread at 0. The
// label may be one that the pool leaves open: then the pod decides it.
func (v *verifier) reachable(p *verifyPod, key string) []string {
	s := v.supplyLeft()
	var keys []string
	for _, own := range v.spreads(p.pod) {
		keys = append(keys, v.key(own.constraint.TopologyKey))
	}
	id := fmt.Sprint(key, "\x00", p.key, p.requests, p.ports, p.mounts, keys)
	if known, asked := s.reach[id]; asked {
		return known
	}
	var out []string
	// A node without one of the labels that the pod's spreads count by cannot take it.
	holds := func(n *verifyNode, key, value string) bool {
		return v.holdsAlone(p, n, key, value) &&
			!slices.ContainsFunc(keys, func(k string) bool { return v.label(n, k).Equal(AbsentValue()) })
	}
	if key == corev1.LabelHostname {
		if slices.ContainsFunc(s.open, func(n *verifyNode) bool { return holds(n, "", "") }) {
			out = []string{verifyNewNode}
		}
		s.reach[id] = out
		return out
	}
	v.sortByLabel(key)
	for _, value := range verifyKeys(s.byLabel[key]) {
		if slices.ContainsFunc(s.byLabel[key][value], func(n *verifyNode) bool { return holds(n, key, value) }) {
			out = append(out, value)
		}
	}
	for _, t := range p.terms {
		values, finite := t.labels[key].Finite()
		for _, value := range values {
			if finite && !slices.Contains(out, value) &&
				slices.ContainsFunc(s.unsettled[key], func(n *verifyNode) bool { return holds(n, key, value) }) {
				out = append(out, value)
			}
		}
	}
	s.reach[id] = out
	return out
}

// sortByLabel lists what could be bought by the values that a label may have there.
func (v *verifier) sortByLabel(key string) {
	s := v.supply
	if s.byLabel[key] != nil {
		return
	}
	s.byLabel[key] = map[string][]*verifyNode{}
	for _, n := range s.open {
		values, finite := v.label(n, key).Finite()
		if !finite {
			s.unsettled[key] = append(s.unsettled[key], n)
		}
		for _, value := range values {
			if finite {
				s.byLabel[key][value] = append(s.byLabel[key][value], n)
			}
		}
	}
}

// holdsAlone tells whether the pod fits an empty new node of this kind with all DaemonSets that may come,
// open labels as it wishes, and with the given value of a label if one is named.
func (v *verifier) holdsAlone(p *verifyPod, n *verifyNode, key, value string) bool {
	return !p.negative && v.suitsAlone(p, n, key, value) && v.fitsAlone(p, n)
}

// suitsAlone: labels, taints and volumes.
func (v *verifier) suitsAlone(p *verifyPod, n *verifyNode, key, value string) bool {
	can := func(t verifyTerm) bool {
		for k, want := range t.labels {
			have := v.label(n, k)
			if k == key {
				have = have.Intersect(Values(value))
			}
			if have.Intersect(want).Empty() {
				return false
			}
		}
		return t.names.Equal(AnyValue())
	}
	if key != "" && !v.label(n, key).Has(value) || !slices.ContainsFunc(p.terms, can) {
		return false
	}
	for i := range p.mounts {
		if m := &p.mounts[i]; m.fault != "" || m.terms != nil && !slices.ContainsFunc(m.terms, can) {
			return false
		}
	}
	for _, t := range n.taints {
		if !verifyTolerated(p.pod.Spec.Tolerations, t) {
			return false
		}
	}
	for driver, volumes := range verifyAttached([]*verifyPod{p}) {
		if limit, bounded := n.attach[driver]; bounded && int64(len(volumes)) > limit {
			return false
		}
	}
	return true
}

// fitsAlone: resources and host ports.
func (v *verifier) fitsAlone(p *verifyPod, n *verifyNode) bool {
	if n.crew == nil {
		n.crew = verifyAmounts{}
		for _, d := range n.possible {
			n.crew.add(v.read(v.problem.DaemonSets[d]).requests)
		}
	}
	for name, amount := range p.requests {
		if total := amount + n.crew[name]; total > 0 && total > n.allocatable[name] {
			return false
		}
	}
	for name, amount := range n.crew {
		if total := amount + p.requests[name]; total > 0 && total > n.allocatable[name] {
			return false
		}
	}
	return !slices.ContainsFunc(n.possible, func(d int32) bool { return verifyClash(p, v.read(v.problem.DaemonSets[d])) })
}
