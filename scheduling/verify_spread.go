package scheduling

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// verifySpread is a spread that binds a pod, with whom it counts.
type verifySpread struct {
	constraint *corev1.TopologySpreadConstraint
	selector   labels.Selector
}

// spreads lists the pod's own hard spreads. "If there are none at all, default constraints apply", those that
// are hard among them.
func (v *verifier) spreads(pod *corev1.Pod) []verifySpread {
	var out []verifySpread
	own := pod.Spec.TopologySpreadConstraints
	for i := range own {
		if own[i].WhenUnsatisfiable == corev1.DoNotSchedule {
			out = append(out, verifySpread{&own[i], verifySelector(own[i].LabelSelector)})
		}
	}
	defaults := v.problem.DefaultSpread.Constraints
	if len(own) > 0 || len(defaults) == 0 {
		return out
	}
	selector := v.defaultSelector(pod)
	for i := range defaults {
		if defaults[i].WhenUnsatisfiable == corev1.DoNotSchedule && !selector.Empty() {
			out = append(out, verifySpread{&defaults[i], selector})
		}
	}
	return out
}

// defaultSelector: "selectors are calculated from the Services, ReplicaSets, StatefulSets or
// ReplicationControllers that the Pod belongs to". Labels of Services and of a ReplicationController are
// merged; what a ReplicaSet or a StatefulSet selects is asked for besides. An empty one means no constraint.
func (v *verifier) defaultSelector(pod *corev1.Pod) labels.Selector {
	controller := metav1.GetControllerOf(pod)
	owner := ""
	if controller != nil {
		owner = controller.APIVersion + " " + controller.Kind
	}
	id := verifyID("default", pod.Namespace, pod.Labels, controller)
	if s, known := v.company.selectors[id]; known {
		return s
	}
	merged := labels.Set{}
	for _, s := range v.problem.DefaultSpread.Services {
		if s != nil && s.Namespace == pod.Namespace && s.Spec.Selector != nil &&
			labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels)) {
			merged = labels.Merge(merged, s.Spec.Selector)
		}
	}
	var more labels.Requirements
	for i := range v.problem.DefaultSpread.Owners {
		o := &v.problem.DefaultSpread.Owners[i]
		if controller == nil || o.Kind != controller.Kind || o.Namespace != pod.Namespace || o.Name != controller.Name || o.Selector == nil {
			continue
		}
		switch owner {
		case "v1 ReplicationController":
			merged = labels.Merge(merged, o.Selector.MatchLabels)
		case "apps/v1 ReplicaSet", "apps/v1 StatefulSet":
			more, _ = verifySelector(o.Selector).Requirements()
		}
		break
	}
	selector := merged.AsSelector().Add(more...)
	v.company.selectors[id] = selector
	return selector
}

// checkSpread: "maxSkew: the largest permitted difference between the number of matching pods in the domain and
// the global minimum"; the incoming pod counts if its own selector selects it.
func (v *verifier) checkSpread(g *verifyGroup, s *verifySpot) {
	// The node of a spread's owner is always one that counts, so the domain does not depend on policies.
	key := g.views[0].key
	span := v.span(v.plainView(key), s)
	switch {
	case !span.always:
		v.report("spread", s.p.name, "is spread over %s, which its node does not have or not for sure", key)
		return
	case !span.sure():
		v.report("spread", s.p.name, "is spread over %s, but its launch may be in any of %q", key, span.domains)
		return
	}
	self := 0
	if g.selects(v.kind(s.p.pod)) {
		self = 1
	}
	domain := span.domains[0]
	least := v.least(g, s.p)
	if n := g.counts[0][domain].may + self; n-least > int(g.spread.MaxSkew) {
		v.report("spread", s.p.name, "%s %s gets %d matching pods, the fewest are %d, maxSkew is %d",
			key, verifyDomainName(domain), n, least, g.spread.MaxSkew)
	}
}

// least is the global minimum: "the minimum number of matching pods in an eligible domain, or zero if the number
// of eligible domains is less than MinDomains". Eligible are the domains of nodes that exist or are
// launched and count, and those where the pod could have a new node.
func (v *verifier) least(g *verifyGroup, p *verifyPod) int {
	domains := v.list(g.views[0])
	count, least := len(domains), -1
	for _, d := range v.reachable(p, g.views[0].key) {
		if !domains[d] {
			count++
			if n := g.counts[0][d].sure; least < 0 || n < least {
				least = n
			}
		}
	}
	if m := g.spread.MinDomains; m != nil && count < int(*m) {
		return 0
	}
	for d := range domains {
		if least == 0 {
			return 0
		}
		if n := g.counts[0][d].sure; least < 0 || n < least {
			least = n
		}
	}
	return max(least, 0)
}
