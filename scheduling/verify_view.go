package scheduling

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// verifySpot is a pod where it runs or will run: on an existing node, or on a launch if that is -1.
type verifySpot struct {
	p            *verifyPod
	node, launch int
}

// verifySpan is where a node is in terms of a topology key.
type verifySpan struct {
	// domains are those that it may be in: one for a node that exists, one for each value among a
	// launch's alternatives, none without the label.
	domains []string
	// always: it is in one of them whichever alternative is launched.
	always bool
}

// sure: there is no doubt about the domain.
func (s *verifySpan) sure() bool { return s.always && len(s.domains) == 1 }

func (s *verifySpan) add(domain string) {
	if !slices.Contains(s.domains, domain) {
		s.domains = append(s.domains, domain)
	}
}

// verifyUnsettled is the domain of new nodes whose label nobody can know.
const verifyUnsettled = "\x00not known"

// verifyView looks at nodes by a topology key. A spread looks only at some of them.
type verifyView struct {
	key string
	// keys must all be on a node that counts: "the scheduler bypasses nodes that don't have any [one] of the
	// topologySpreadConstraints[*].topologyKey present". Nil for affinity.
	keys []string
	// honorLabels and honorTaints leave out nodes that the labels or taints keep the sample away from.
	honorLabels, honorTaints bool
	sample                   *verifyPod

	nodes, shapes map[int]*verifySpan
	// all has the domains of the nodes that exist or are launched; nil: not listed yet.
	all map[string]bool
}

// plainView looks at all nodes.
func (v *verifier) plainView(key string) *verifyView {
	return v.view(&verifyView{key: v.key(key)})
}

// spreadView: "nodeAffinityPolicy Honor (the default): only nodes matching nodeAffinity/nodeSelector are
// included in the calculations"; "nodeTaintsPolicy Ignore (the default): node taints are ignored".
func (v *verifier) spreadView(c *corev1.TopologySpreadConstraint, keys []string, owner *verifyPod) *verifyView {
	return v.view(&verifyView{
		key: v.key(c.TopologyKey), keys: slices.Sorted(slices.Values(keys)), sample: owner,
		honorLabels: c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor,
		honorTaints: c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor,
	})
}

// view returns the one that looks just so, if there is one.
func (v *verifier) view(w *verifyView) *verifyView {
	id := w.key
	if w.sample != nil {
		id = fmt.Sprintf("%s %q %v %v %s", w.key, w.keys, w.honorLabels, w.honorTaints, w.sample.key)
	}
	if known := v.company.views[id]; known != nil {
		return known
	}
	w.nodes, w.shapes = map[int]*verifySpan{}, map[int]*verifySpan{}
	v.company.views[id] = w
	return w
}

// included tells whether pods on the node count.
func (v *verifier) included(w *verifyView, n *verifyNode) bool {
	for _, key := range w.keys {
		if v.label(n, key).Equal(AbsentValue()) && key != corev1.LabelHostname {
			return false
		}
	}
	if w.sample == nil {
		return true
	}
	switch v.refusal(w.sample, n).rule {
	case "labels":
		return !w.honorLabels && !(w.honorTaints && v.taintRefusal(w.sample, n) != "")
	case "taints":
		return !w.honorTaints
	}
	return true
}

// span is where the view sees the node of a spot.
func (v *verifier) span(w *verifyView, s *verifySpot) *verifySpan {
	if s.node >= 0 {
		if w.nodes[s.node] == nil {
			w.nodes[s.node] = v.nodeSpan(w, v.existing[s.node])
		}
		return w.nodes[s.node]
	}
	shape := int(v.plan.Launches[s.launch].Shape)
	if w.shapes[shape] == nil {
		w.shapes[shape] = v.shapeSpan(w, &v.plan.Shapes[shape])
	}
	if w.key == corev1.LabelHostname && len(w.shapes[shape].domains) > 0 {
		return &verifySpan{domains: []string{fmt.Sprintf("\x00launch %d", s.launch)}, always: w.shapes[shape].always}
	}
	return w.shapes[shape]
}

// nodeSpan: a node without a host name is known by its own.
func (v *verifier) nodeSpan(w *verifyView, n *verifyNode) *verifySpan {
	out := &verifySpan{}
	values, _ := v.label(n, w.key).Finite()
	switch {
	case !v.included(w, n):
		return out
	case len(values) == 1:
		out.add(values[0])
	case w.key == corev1.LabelHostname:
		out.add("\x00node " + n.name)
	}
	out.always = len(out.domains) > 0
	return out
}

// shapeSpan collects the domains of all that the launch may become; whether it counts at all is judged by
// what it chooses. Whatever is said of host names, each launch has its own.
func (v *verifier) shapeSpan(w *verifyView, s *Shape) *verifySpan {
	out := &verifySpan{always: true}
	if !v.included(w, v.freshNode(s.Pool, s.Choice.Type, s.Choice.Offering, s.CustomLabels)) {
		return &verifySpan{}
	}
	for _, a := range append([]Alternative{s.Choice}, s.Alternatives...) {
		n := v.freshNode(s.Pool, a.Type, a.Offering, s.CustomLabels)
		if w.key == corev1.LabelHostname {
			out.add(w.key)
			continue
		}
		set := v.label(n, w.key)
		values, finite := set.Finite()
		if !finite {
			values = []string{verifyUnsettled}
		}
		for _, x := range values {
			out.add(x)
		}
		out.always = out.always && finite && !set.HasAbsent()
	}
	return out
}

// list has the domains of all nodes that exist or are launched, these as what they choose.
func (v *verifier) list(w *verifyView) map[string]bool {
	if w.all != nil {
		return w.all
	}
	w.all = map[string]bool{}
	for i := range v.existing {
		for _, d := range v.span(w, &verifySpot{node: i}).domains {
			w.all[d] = true
		}
	}
	for i, l := range v.plan.Launches {
		if !verifyInRange(l.Shape, v.plan.Shapes) || !v.goodShape[l.Shape] {
			continue
		}
		s := v.plan.Shapes[l.Shape]
		s.Alternatives = nil
		span := v.shapeSpan(w, &s)
		switch {
		case w.key == corev1.LabelHostname && span.sure():
			w.all[fmt.Sprintf("\x00launch %d", i)] = true
		case span.sure():
			w.all[span.domains[0]] = true
		}
	}
	return w.all
}

func verifyDomainName(d string) string { return strings.TrimPrefix(d, "\x00") }
