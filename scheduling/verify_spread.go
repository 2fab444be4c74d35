package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// verifyCount counts matching pods per domain of one spread constraint.
type verifyCount struct {
	// matching has an entry for every domain that the constraint weighs, also those at zero.
	matching map[string]int
	// fixed is what the fewest count as when there are fewer domains than minDomains.
	fixed bool
}

// checkSpread: "maxSkew: the largest permitted difference between the number of matching pods in the
// domain and the global minimum, the smallest number in any eligible domain".
func (v *verifier) checkSpread(g *verifyGroup, spots []verifySpot) {
	count := v.eligible(g)
	owner := map[int]bool{}
	for _, o := range g.owners {
		owner[o] = true
		// A launch in one of several domains is in none for certain.
		if d := v.domains(&spots[o], g.key); len(d) > 1 {
			v.report("spread", spots[o].p.name, "is spread over %s, but its launch may be in any of %v", g.key, d)
			return
		}
	}
	ordered := v.plan.BindOrder != nil
	for i := range spots {
		domain, counted := v.counted(g, &spots[i])
		if owner[i] && ordered {
			self := 0
			if g.selects(spots[i].p.pod) {
				self = 1
			}
			v.judge(g, &spots[i], count, self)
		}
		if counted && g.selects(spots[i].p.pod) {
			count.matching[domain]++
		}
	}
	if ordered {
		return
	}
	for _, o := range g.owners {
		v.judge(g, &spots[o], count, 0)
	}
}

func (v *verifier) judge(g *verifyGroup, s *verifySpot, count verifyCount, self int) {
	domain, ok := v.counted(g, s)
	if !ok {
		if set := v.label(v.nodeOf(s), g.key); !set.HasAbsent() || !v.nodeOf(s).fresh {
			v.report("spread", s.p.name, "is spread over %s, which its node does not have", g.key)
		}
		return
	}
	least := 0
	if !count.fixed {
		for i, d := range verifyKeys(count.matching) {
			if n := count.matching[d]; i == 0 || n < least {
				least = n
			}
		}
	}
	if n := count.matching[domain] + self; n-least > int(g.spread.MaxSkew) {
		v.report("spread", s.p.name, "%s %s has %d matching pods, the fewest are %d, maxSkew is %d",
			g.key, verifyDomainName(domain), n, least, g.spread.MaxSkew)
	}
}

// counted tells in which domain a pod counts: its node has the key and is one that the
// constraint's inclusion policies let in.
func (v *verifier) counted(g *verifyGroup, s *verifySpot) (string, bool) {
	n := v.nodeOf(s)
	if !v.included(g, n) {
		return "", false
	}
	if s.node >= 0 {
		return v.nodeDomain(s.node, g.key)
	}
	if g.key == corev1.LabelHostname {
		return v.launchDomains(s.launch, g.key)[0], true
	}
	values, finite := v.label(n, g.key).Finite()
	if !finite || len(values) != 1 {
		return "", false
	}
	return values[0], true
}

// included: "nodeAffinityPolicy Honor (the default): only nodes matching nodeAffinity/nodeSelector";
// "nodeTaintsPolicy Ignore (the default): node taints are ignored".
func (v *verifier) included(g *verifyGroup, n *verifyNode) bool {
	c := g.spread
	if c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor {
		if v.refusal(g.sample, n).rule == "labels" {
			return false
		}
	}
	if c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor {
		return v.refusal(g.sample, n).rule != "taints"
	}
	return true
}

// eligible lists the domains that set the minimum: those of nodes that exist or are planned, and
// those that a new node for the pod could be in.
func (v *verifier) eligible(g *verifyGroup) verifyCount {
	count := verifyCount{matching: map[string]int{}}
	for i, n := range v.existing {
		if d, ok := v.nodeDomain(i, g.key); ok && v.included(g, n) {
			count.matching[d] = 0
		}
	}
	for i, l := range v.plan.Launches {
		if !verifyInRange(l.Shape, v.plan.Shapes) || !v.goodShape[l.Shape] {
			continue
		}
		if d, ok := v.counted(g, &verifySpot{node: -1, launch: i}); ok {
			count.matching[d] = 0
		}
	}
	if g.key != corev1.LabelHostname {
		v.reach(g, count.matching)
	}
	if m := g.spread.MinDomains; m != nil && len(count.matching) < int(*m) {
		count.fixed = true
	}
	return count
}

// reach adds the domains of new nodes that could hold the pod alone: available, priced, within the
// pool's limits, with an open label as the pod wishes.
func (v *verifier) reach(g *verifyGroup, matching map[string]int) {
	for i := range v.problem.Pools {
		used := v.used(int32(i))
		for j, t := range v.problem.Pools[i].InstanceTypes {
			if t == nil || !v.room(int32(i), t, used) {
				continue
			}
			for k := range t.Offerings {
				n := v.freshNode(int32(i), int32(j), int32(k), nil)
				values, finite := v.label(n, g.key).Finite()
				if !finite || len(values) != 1 {
					continue
				}
				if _, known := matching[values[0]]; !known && v.holdsAlone(g.sample, n) {
					matching[values[0]] = 0
				}
			}
		}
	}
}

// used is what existing nodes and the launches' choices take of a pool's limits.
func (v *verifier) used(pool int32) verifyAmounts {
	out := verifyAmounts{}
	for name := range v.problem.Pools[pool].Limits {
		out[name] = v.poolUse(pool, name)
		for _, l := range v.plan.Launches {
			if verifyInRange(l.Shape, v.plan.Shapes) && v.goodShape[l.Shape] && v.plan.Shapes[l.Shape].Pool == pool {
				c, _ := v.charge(&v.plan.Shapes[l.Shape], name)
				out[name] += c
			}
		}
	}
	return out
}

// room tells whether the pool's limits leave room for one more node of the type.
func (v *verifier) room(pool int32, t *InstanceType, used verifyAmounts) bool {
	limits := v.problem.Pools[pool].Limits
	for name, limit := range limits {
		next := verifyAmount(name, t.Capacity[name])
		if name == NodesResource {
			next = 1
		}
		if used[name]+next > verifyAmount(name, limit) {
			return false
		}
	}
	return true
}

// holdsAlone tells whether the pod fits an empty new node of this kind, open labels as it wishes,
// with all DaemonSets that may come.
func (v *verifier) holdsAlone(p *verifyPod, n *verifyNode) bool {
	if !n.available || !n.price.Known() || len(n.faults) > 0 || p.negative {
		return false
	}
	can := func(t verifyTerm) bool {
		for key, want := range t.labels {
			if v.label(n, key).Intersect(want).Empty() {
				return false
			}
		}
		return t.names.Equal(AnyValue())
	}
	if !slices.ContainsFunc(p.terms, can) {
		return false
	}
	for _, t := range n.taints {
		if !verifyTolerated(p.pod.Spec.Tolerations, t) {
			return false
		}
	}
	total := verifyAmounts{}
	total.add(p.requests)
	for _, d := range n.possible {
		daemon := v.read(v.problem.DaemonSets[d])
		if verifyClash(p, daemon) {
			return false
		}
		total.add(daemon.requests)
	}
	for name, amount := range total {
		if amount > 0 && amount > n.allocatable[name] {
			return false
		}
	}
	return true
}
