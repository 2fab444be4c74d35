package scheduling

import (
	"fmt"
	"slices"
)

// checkShapes: what launches share names offerings that can be bought at the price it states.
func (v *verifier) checkShapes() {
	v.goodShape = make([]bool, len(v.plan.Shapes))
	for i := range v.plan.Shapes {
		s, subject := &v.plan.Shapes[i], fmt.Sprintf("shape %d", i)
		if !verifyInRange(s.Pool, v.problem.Pools) {
			v.report("structure", subject, "pool index %d is not in the problem", s.Pool)
			continue
		}
		good := v.checkOffering(s, s.Choice, subject)
		for _, a := range s.Alternatives {
			good = v.checkOffering(s, a, subject) && good
		}
		for _, d := range s.DaemonSets {
			if !verifyInRange(d, v.problem.DaemonSets) || v.problem.DaemonSets[d] == nil {
				v.report("structure", subject, "DaemonSet index %d is not in the problem", d)
				good = false
			}
		}
		if v.goodShape[i] = good; !good {
			continue
		}
		v.checkAlternatives(s, subject)
		v.checkMinValues(s, subject)
		v.checkDaemonSets(s, subject)
	}
}

// checkOffering: the indexes mean something, and the offering is to be had at a known price.
func (v *verifier) checkOffering(s *Shape, a Alternative, subject string) bool {
	pool := &v.problem.Pools[s.Pool]
	if !verifyInRange(a.Type, pool.InstanceTypes) || pool.InstanceTypes[a.Type] == nil {
		v.report("structure", subject, "type index %d is not in pool %s", a.Type, pool.Name)
		return false
	}
	t := pool.InstanceTypes[a.Type]
	if !verifyInRange(a.Offering, t.Offerings) {
		v.report("structure", subject, "offering index %d is not in type %s", a.Offering, t.Name)
		return false
	}
	n := v.freshNode(s.Pool, a.Type, a.Offering, s.CustomLabels)
	if !n.available {
		v.report("offering", subject, "%s is not available", n.name)
	}
	if !n.price.Known() {
		v.report("offering", subject, "%s has no known price", n.name)
	}
	for _, fault := range n.faults {
		v.report("labels", subject, "%s: %s", n.name, fault)
	}
	return true
}

// checkAlternatives: cheapest first, none twice, the choice among them and none cheaper than it.
func (v *verifier) checkAlternatives(s *Shape, subject string) {
	choice := v.freshNode(s.Pool, s.Choice.Type, s.Choice.Offering, s.CustomLabels)
	if s.Price != choice.price {
		v.report("price", subject, "is %v, %s costs %v", s.Price, choice.name, choice.price)
	}
	if !slices.Contains(s.Alternatives, s.Choice) {
		v.report("alternatives", subject, "do not contain the choice %s", choice.name)
	}
	if s.AlternativeCount < len(s.Alternatives) {
		v.report("alternatives", subject, "count is %d, but %d are listed", s.AlternativeCount, len(s.Alternatives))
	}
	seen := map[Alternative]bool{}
	types := map[int32]bool{}
	last := choice
	for i, a := range s.Alternatives {
		n := v.freshNode(s.Pool, a.Type, a.Offering, s.CustomLabels)
		if seen[a] {
			v.report("alternatives", subject, "list %s twice", n.name)
		}
		seen[a], types[a.Type] = true, true
		switch {
		case i == 0 && n.price.Nano() < choice.price.Nano():
			v.report("alternatives", subject, "start with %s at %v, cheaper than the choice at %v", n.name, n.price, choice.price)
		case i > 0 && n.price.Nano() < last.price.Nano():
			v.report("alternatives", subject, "list %s at %v after %s at %v", n.name, n.price, last.name, last.price)
		}
		last = n
	}
	most := v.plan.Options.MaxAlternatives
	if most <= 0 {
		most = 60
	}
	// minValues may need more types than the option keeps.
	for _, r := range v.problem.Pools[s.Pool].Requirements {
		if r.MinValues != nil {
			most = max(most, len(s.Alternatives))
		}
	}
	if len(types) > most {
		v.report("alternatives", subject, "keep %d types, at most %d may be kept", len(types), most)
	}
}

// checkMinValues: the types that the node may become have as many values of a label as the pool demands.
func (v *verifier) checkMinValues(s *Shape, subject string) {
	demanded := map[string]int{}
	for _, r := range v.problem.Pools[s.Pool].Requirements {
		if r.MinValues != nil {
			key := v.key(r.Key)
			demanded[key] = max(demanded[key], *r.MinValues)
		}
	}
	for _, key := range verifyKeys(s.MinValues) {
		switch lowered := s.MinValues[key]; {
		case v.plan.Options.MinValues != MinValuesBestEffort:
			v.report("minValues", subject, "of %s are lowered to %d although the policy is strict", key, lowered)
		case lowered >= demanded[v.key(key)]:
			v.report("minValues", subject, "of %s are lowered to %d, the pool demands %d", key, lowered, demanded[v.key(key)])
		default:
			demanded[v.key(key)] = lowered
		}
	}
	for _, key := range verifyKeys(demanded) {
		values := map[string]bool{}
		for _, a := range s.Alternatives {
			v.collectValues(s, a, key, values)
		}
		if len(values) < demanded[key] {
			v.report("minValues", subject, "the alternatives have %d values of %s, the pool demands %d", len(values), key, demanded[key])
		}
	}
}

// collectValues adds the values of a label that a type may have in the pool, else the one that its
// offering has.
func (v *verifier) collectValues(s *Shape, a Alternative, key string, into map[string]bool) {
	allowed := AnyValue()
	for _, r := range v.problem.Pools[s.Pool].Requirements {
		if set, err := v.parse(r); err == nil && v.key(r.Key) == key {
			allowed = allowed.Intersect(set)
		}
	}
	for _, r := range v.problem.Pools[s.Pool].InstanceTypes[a.Type].Requirements {
		if set, err := v.parse(r); err == nil && v.key(r.Key) == key {
			allowed = allowed.Intersect(set)
		}
	}
	values, finite := allowed.Finite()
	if !finite {
		values, _ = v.label(v.freshNode(s.Pool, a.Type, a.Offering, s.CustomLabels), key).Finite()
	}
	for _, x := range values {
		into[x] = true
	}
}

// checkDaemonSets: those listed are those that run on the choice.
func (v *verifier) checkDaemonSets(s *Shape, subject string) {
	n := v.freshNode(s.Pool, s.Choice.Type, s.Choice.Offering, s.CustomLabels)
	for _, d := range n.sure {
		if !slices.Contains(s.DaemonSets, d) {
			v.report("daemonSets", subject, "%s runs on %s but is not listed", v.read(v.problem.DaemonSets[d]).name, n.name)
		}
	}
	for i, d := range s.DaemonSets {
		name := v.read(v.problem.DaemonSets[d]).name
		if !slices.Contains(n.possible, d) {
			v.report("daemonSets", subject, "%s is listed but does not run on %s", name, n.name)
		}
		if slices.Contains(s.DaemonSets[:i], d) {
			v.report("daemonSets", subject, "%s is listed twice", name)
		}
	}
}

// checkLaunches: the pods of a launch can be together on every node that it may become.
func (v *verifier) checkLaunches() {
	for i := range v.plan.Launches {
		l := &v.plan.Launches[i]
		if !verifyInRange(l.Shape, v.plan.Shapes) || !v.goodShape[l.Shape] {
			continue
		}
		s := &v.plan.Shapes[l.Shape]
		pods := v.readAll(l.Pods)
		subject := v.launchName(i)
		v.checkRequests(s, pods, subject)
		v.checkTogether(pods, subject)
		v.checkClaims(pods)
		columns := slices.Clone(s.Alternatives)
		if !slices.Contains(columns, s.Choice) {
			columns = append(columns, s.Choice)
		}
		for _, a := range columns {
			n := v.freshNode(s.Pool, a.Type, a.Offering, s.CustomLabels)
			v.checkColumn(n, s.DaemonSets, pods, subject)
		}
	}
}

func (v *verifier) readAll(indexes []int32) []*verifyPod {
	var out []*verifyPod
	for _, i := range indexes {
		if v.pod(i) != nil {
			out = append(out, v.member(i))
		}
	}
	return out
}

// checkRequests: the launch states what its pods and DaemonSets ask for.
func (v *verifier) checkRequests(s *Shape, pods []*verifyPod, subject string) {
	want, got := verifyAmounts{}, verifyAmounts{}
	for _, p := range pods {
		want.add(p.requests)
	}
	for _, d := range s.DaemonSets {
		want.add(v.read(v.problem.DaemonSets[d]).requests)
	}
	for _, q := range s.Requests {
		if _, twice := got[q.Name]; twice {
			v.report("requests", subject, "list %s twice", q.Name)
		}
		got[q.Name] = q.Amount
	}
	all := verifyAmounts{}
	all.add(want)
	all.add(got)
	for _, name := range all.names() {
		if want[name] != got[name] {
			v.report("requests", subject, "say %d of %s, pods and DaemonSets ask for %d", got[name], name, want[name])
		}
	}
}

// checkTogether: what holds on any node: sound pods, and no two that want the same host port.
func (v *verifier) checkTogether(pods []*verifyPod, subject string) {
	for i, p := range pods {
		if p.negative {
			v.report("invalid", p.name, "has a negative request and is placed on %s", subject)
		}
		if len(p.ports) == 0 {
			continue
		}
		for _, q := range pods[:i] {
			if verifyClash(p, q) {
				v.report("ports", p.name, "wants a host port of %s on %s", q.name, subject)
			}
		}
	}
}

// checkColumn: labels, taints, resources and DaemonSets' ports of one node that a launch may become.
func (v *verifier) checkColumn(n *verifyNode, listed []int32, pods []*verifyPod, subject string) {
	total := verifyAmounts{}
	for _, p := range pods {
		if r := v.refusal(p, n); r.rule != "" {
			v.report(r.rule, p.name, "on %s: %s", subject, r.detail)
		}
		v.checkMounts(p, n)
		total.add(p.requests)
	}
	v.checkAttach(subject, n, pods, nil)
	if p := v.jointRefusal(n, pods); p != nil {
		v.report("labels", p.name, "on %s: no labels of %s satisfy all its pods", subject, n.name)
	}
	for _, d := range n.possible {
		if !slices.Contains(n.sure, d) && !slices.Contains(listed, d) {
			continue
		}
		daemon := v.read(v.problem.DaemonSets[d])
		total.add(daemon.requests)
		for _, p := range pods {
			if verifyClash(p, daemon) {
				v.report("ports", p.name, "on %s: wants a host port of DaemonSet %s on %s", subject, daemon.name, n.name)
			}
		}
	}
	for _, name := range total.names() {
		if total[name] > 0 && total[name] > n.allocatable[name] {
			v.report("resources", subject, "asks for %d of %s, %s has %d", total[name], name, n.name, n.allocatable[name])
		}
	}
}

// jointRefusal follows all conditions of pods and their volumes on labels that are not settled yet, term by
// term, and returns the first pod that leaves none possible. Combinations beyond 4096 are not followed.
func (v *verifier) jointRefusal(n *verifyNode, pods []*verifyPod) *verifyPod {
	states := map[string]map[string]ValueSet{"": {}}
	seen := map[string]bool{}
	narrow := func(id string, terms []verifyTerm) bool {
		if seen[id] {
			return true
		}
		seen[id] = true
		next := map[string]map[string]ValueSet{}
		for _, id := range verifyKeys(states) {
			for _, t := range terms {
				if s, ok := v.narrowLoose(n, t, states[id]); ok && len(next) < 4096 {
					next[fmt.Sprint(s)] = s
				}
			}
		}
		if len(next) > 0 {
			states = next
		}
		return len(next) > 0
	}
	for _, p := range pods {
		// Who cannot be on the node even alone is reported already.
		if v.refusal(p, n).rule != "labels" && !narrow(p.key, p.terms) {
			return p
		}
		for i := range p.mounts {
			m := &p.mounts[i]
			if m.terms != nil && v.mountRefusal(m, n) == "" && !narrow("claim "+m.claim, m.terms) {
				return p
			}
		}
	}
	return nil
}

func (v *verifier) narrowLoose(n *verifyNode, t verifyTerm, state map[string]ValueSet) (map[string]ValueSet, bool) {
	if _, ok := v.termHolds(t, n); !ok {
		return nil, false
	}
	out := map[string]ValueSet{}
	for key, s := range state {
		out[key] = s
	}
	for key, want := range t.labels {
		if !v.loose(n, key) {
			continue
		}
		have, some := out[key]
		if !some {
			have = v.label(n, key)
		}
		if out[key] = have.Intersect(want); out[key].Empty() {
			return nil, false
		}
	}
	return out, true
}
