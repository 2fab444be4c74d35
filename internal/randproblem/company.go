package randproblem

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// spreads draws required topology spreads: mostly one, over a key that nodes have, counting the pod's own app.
func (g *draw) spreads(p *corev1.Pod) {
	for range pick(g, 1, 1, 1, 2, 2, 3) {
		c := g.spread(p)
		c.WhenUnsatisfiable = corev1.DoNotSchedule
		if g.chance(20) {
			c.MinDomains = ptr(int32(pick(g, 1, 2, 2, 3, 4)))
		}
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
	}
	if g.chance(10) { // the same key twice, with other pods counted
		c := p.Spec.TopologySpreadConstraints[len(p.Spec.TopologySpreadConstraints)-1]
		c.LabelSelector, c.MatchLabelKeys = g.selector(p), nil
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
	}
}

func (g *draw) spread(p *corev1.Pod) corev1.TopologySpreadConstraint {
	c := corev1.TopologySpreadConstraint{
		MaxSkew: int32(pick(g, 1, 1, 1, 2, 3)), TopologyKey: g.topologyKey(), WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: g.selector(p)}
	if g.chance(15) {
		c.NodeAffinityPolicy = ptr(pick(g, corev1.NodeInclusionPolicyIgnore, corev1.NodeInclusionPolicyHonor))
	}
	if g.chance(15) {
		c.NodeTaintsPolicy = ptr(pick(g, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore))
	}
	if c.LabelSelector != nil && g.chance(15) {
		c.MatchLabelKeys = pick(g, []string{revKey}, []string{revKey, "example.com/nobody"})
	}
	return c
}

func (g *draw) topologyKey() string {
	return pick(g, corev1.LabelTopologyZone, corev1.LabelTopologyZone, corev1.LabelTopologyZone, corev1.LabelTopologyZone,
		corev1.LabelHostname, corev1.LabelHostname, corev1.LabelHostname, scheduling.CapacityTypeLabel, rackKey, rackKey, corev1.LabelArchStable, zoneID)
}

// selector mostly chooses the pod's own app; sometimes another, several, all pods, or none.
func (g *draw) selector(p *corev1.Pod) *metav1.LabelSelector {
	app := p.Labels["app"]
	switch g.IntN(20) {
	case 0:
		return nil
	case 1:
		return &metav1.LabelSelector{}
	case 2, 3:
		app = pick(g, "web", "db", "job", "cache")
	case 4, 5:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: some(g, "web", "db", "job", "cache")}}}
	case 6:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: revKey, Operator: pick(g, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)}}}
	case 7:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{app}}}}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

// affinities draws required pod affinity, anti-affinity, or both.
func (g *draw) affinities(p *corev1.Pod) {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	a := p.Spec.Affinity
	with, without := g.chance(50), g.chance(60)
	for range pick(g, 1, 1, 1, 2) {
		if with {
			if a.PodAffinity == nil {
				a.PodAffinity = &corev1.PodAffinity{}
			}
			list := &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			*list = append(*list, g.term(p))
		}
		if without {
			if a.PodAntiAffinity == nil {
				a.PodAntiAffinity = &corev1.PodAntiAffinity{}
			}
			list := &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			*list = append(*list, g.term(p))
		}
	}
}

func (g *draw) term(p *corev1.Pod) corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{TopologyKey: g.topologyKey(), LabelSelector: g.selector(p)}
	if t.LabelSelector != nil && len(t.LabelSelector.MatchLabels) > 0 && g.chance(40) {
		t.LabelSelector.MatchLabels["app"] = pick(g, "web", "db", "job", "cache") // a chain between apps
	}
	switch g.IntN(12) {
	case 0:
		t.Namespaces = some(g, "default", "batch", "nowhere")
	case 1:
		t.NamespaceSelector = &metav1.LabelSelector{}
	case 2:
		t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "low"}}
	case 3:
		t.Namespaces = []string{"default"}
		t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": pick(g, "low", "high")}}
	}
	if t.LabelSelector != nil {
		switch g.IntN(8) {
		case 0:
			t.MatchLabelKeys = []string{revKey}
		case 1:
			t.MismatchLabelKeys = []string{revKey}
		}
	}
	return t
}

// softly draws what a pod would rather have.
func (g *draw) softly(p *corev1.Pod) {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	a := p.Spec.Affinity
	switch g.IntN(4) {
	case 0:
		if a.PodAffinity == nil {
			a.PodAffinity = &corev1.PodAffinity{}
		}
		list := &a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution
		*list = append(*list, corev1.WeightedPodAffinityTerm{Weight: int32(g.upTo(100)), PodAffinityTerm: g.term(p)})
	case 1:
		if a.PodAntiAffinity == nil {
			a.PodAntiAffinity = &corev1.PodAntiAffinity{}
		}
		list := &a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
		*list = append(*list, corev1.WeightedPodAffinityTerm{Weight: int32(g.upTo(100)), PodAffinityTerm: g.term(p)})
	default:
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, g.spread(p))
	}
}

// defaultSpread draws kube-scheduler's defaults, and services and owners that tell what they count.
func (g *draw) defaultSpread() scheduling.DefaultSpread {
	var out scheduling.DefaultSpread
	if !g.chance(60) {
		return out
	}
	for _, key := range some(g, corev1.LabelTopologyZone, corev1.LabelHostname, rackKey) {
		c := corev1.TopologySpreadConstraint{MaxSkew: int32(pick(g, 1, 2, 3)), TopologyKey: key,
			WhenUnsatisfiable: pick(g, corev1.DoNotSchedule, corev1.ScheduleAnyway)}
		if c.WhenUnsatisfiable == corev1.DoNotSchedule && g.chance(20) {
			c.MinDomains = ptr[int32](2)
		}
		out.Constraints = append(out.Constraints, c)
	}
	for _, space := range []string{"default", "batch"} {
		for _, app := range []string{"web", "db", "job", "cache"} {
			if g.chance(30) {
				s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: app}}
				s.Spec.Selector = map[string]string{"app": app}
				if g.chance(10) {
					s.Spec.Selector = nil // selects nothing
				}
				out.Services = append(out.Services, s)
			}
			for _, kind := range []string{"ReplicaSet", "StatefulSet", "ReplicationController"} {
				if g.chance(60) {
					out.Owners = append(out.Owners, scheduling.Owner{Kind: kind, Namespace: space, Name: "of-" + app,
						Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}})
				}
			}
		}
	}
	return out
}

// ownerOf refers to the workload of an app.
func ownerOf(kind, app string, controller *bool) metav1.OwnerReference {
	version := "apps/v1"
	if kind == "ReplicationController" {
		version = "v1"
	}
	return metav1.OwnerReference{APIVersion: version, Kind: kind, Name: "of-" + app, Controller: controller}
}
