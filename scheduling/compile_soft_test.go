package scheduling

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func prefersZone(weight int32, zone string) corev1.PreferredSchedulingTerm {
	return corev1.PreferredSchedulingTerm{Weight: weight, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
		{Key: corev1.LabelTopologyZone, Operator: "In", Values: []string{zone}}}}}
}

// softPod prefers zone a (weight 3), pods of its own (10) and none of api (5), and is spread over hosts if possible.
func softPod(name string) *corev1.Pod {
	p := testPod("shop", name, list("cpu", "1"))
	p.Labels = map[string]string{"app": "web"}
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{zoneSpread(func(s *corev1.TopologySpreadConstraint) {
		s.TopologyKey, s.WhenUnsatisfiable = corev1.LabelHostname, "ScheduleAnyway"
	})}
	weighted := func(weight int32, app string) []corev1.WeightedPodAffinityTerm {
		return []corev1.WeightedPodAffinityTerm{{Weight: weight, PodAffinityTerm: corev1.PodAffinityTerm{
			TopologyKey: corev1.LabelTopologyZone, LabelSelector: selects("app", app)}}}
	}
	p.Spec.Affinity = &corev1.Affinity{
		NodeAffinity:    &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{prefersZone(3, "us-east-1a")}},
		PodAffinity:     &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted(10, "web")},
		PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted(5, "api")},
	}
	return p
}

// ladderText lists what each variant gives up and the soft groups it keeps.
func ladderText(c *compiler, class int32) []string {
	m := &c.model.Classes[class]
	var out []string
	for v := range c.model.Shapes[m.Shape].Variants {
		var kept []string
		if m.Soft != nil {
			for _, g := range m.Soft[v] {
				kept = append(kept, strings.Fields(c.groups[g].String())[0]+strings.Fields(c.groups[g].String())[1])
			}
		}
		slices.Sort(kept)
		out = append(out, fmt.Sprintf("given %v kept %v", c.shapes[m.Shape].given[v], kept))
	}
	return out
}

func TestLadder(t *testing.T) {
	const spread, with, without = "spread over kubernetes.io/hostname", "pod affinity over topology.kubernetes.io/zone (weight 10)",
		"pod anti-affinity over topology.kubernetes.io/zone (weight 5)"
	const zone = "topology.kubernetes.io/zone In [us-east-1a]"
	tests := []struct {
		name, reason string
		give         func(p *Problem)
		want         []string
	}{
		{"lightest first", "a spread without weight weighs most", func(*Problem) {}, []string{
			"given [] kept [podaffinity podanti-affinity spreadover]",
			"given [" + zone + "] kept [podaffinity podanti-affinity spreadover]",
			"given [" + zone + " " + without + "] kept [podaffinity spreadover]",
			"given [" + zone + " " + without + " " + with + "] kept [spreadover]",
			"given [" + zone + " " + without + " " + with + " " + spread + "] kept []",
		}},
		{"hopeless preference for nodes", "goes first, whatever its weight", func(p *Problem) {
			p.Pods[0].Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{prefersZone(100, "mars")}
			p.Pods[0].Spec.Affinity.PodAntiAffinity = nil
		}, []string{
			"given [topology.kubernetes.io/zone In [mars]] kept [podaffinity spreadover]",
			"given [topology.kubernetes.io/zone In [mars] " + with + "] kept [spreadover]",
			"given [topology.kubernetes.io/zone In [mars] " + with + " " + spread + "] kept []",
		}},
		{"nobody to be with", "cannot be met by anyone", func(p *Problem) {
			p.Pods[0].Spec.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm.LabelSelector = selects("app", "none")
			p.Pods[0].Spec.Affinity.PodAntiAffinity = nil
			p.Pods[0].Spec.Affinity.NodeAffinity = nil
		}, []string{"given [" + with + "] kept [spreadover]", "given [" + with + " " + spread + "] kept []"}},
		{"spread over a label that no node has", "cannot be met either", func(p *Problem) {
			p.Pods[0].Spec.Affinity = nil
			p.Pods[0].Spec.TopologySpreadConstraints[0].TopologyKey = "rack"
		}, []string{"given [spread over rack] kept []"}},
		{"soft taint", "is tolerated last of all", func(p *Problem) {
			p.Pods[0].Spec.Affinity = nil
			p.Pools[0].Taints = []corev1.Taint{{Key: "t", Effect: "PreferNoSchedule"}}
		}, []string{"given [] kept [spreadover]", "given [" + spread + "] kept []", "given [" + spread + " no PreferNoSchedule taint] kept []"}},
		{"hard constraints", "are never given up", func(p *Problem) {
			p.Pods[0].Spec.Affinity = nil
			p.Pods[0].Spec.TopologySpreadConstraints[0].WhenUnsatisfiable = "DoNotSchedule"
		}, []string{"given [] kept []"}},
		{"equal weights", "the one stated last goes first", func(p *Problem) {
			a := p.Pods[0].Spec.Affinity
			a.NodeAffinity, a.PodAffinity = nil, nil
			p.Pods[0].Spec.TopologySpreadConstraints = nil
			terms := &a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
			*terms = append(*terms, (*terms)[0])
			(*terms)[1].PodAffinityTerm.TopologyKey = corev1.LabelHostname
		}, []string{"given [] kept [podanti-affinity podanti-affinity]",
			"given [pod anti-affinity over kubernetes.io/hostname (weight 5)] kept [podanti-affinity]",
			"given [pod anti-affinity over kubernetes.io/hostname (weight 5) " + without + "] kept []"}},
	}
	for _, tt := range tests {
		p := &Problem{Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}}, Pods: []*corev1.Pod{softPod("web-1")}}
		tt.give(p)
		if got := ladderText(compiled(t, p, nil), 0); !slices.Equal(got, tt.want) {
			t.Errorf("%s (%s):\n%s\nwant\n%s", tt.name, tt.reason, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

// A pool's own policy decides for its new nodes, the call's for nodes that exist.
func TestPoliciesOfPools(t *testing.T) {
	respect, ignore := ptr(PreferencesRespect), ptr(PreferencesIgnore)
	tests := []struct {
		name       string
		call       PreferencePolicy
		a, b       *PreferencePolicy
		wantFirst  []string // pools and nodes that the first variant allows zone b in
		wantLadder int
	}{
		{"all respect", PreferencesRespect, nil, nil, nil, 2},
		{"all ignore", PreferencesIgnore, nil, nil, []string{"a", "b", "node"}, 1},
		{"one ignores", PreferencesRespect, ignore, nil, []string{"a"}, 2},
		{"one respects", PreferencesIgnore, nil, respect, []string{"a", "node"}, 2},
		{"cap weighs them too", PreferencesCap, nil, ignore, []string{"b"}, 2},
	}
	for _, tt := range tests {
		pod := softPod("web-1")
		pod.Spec.TopologySpreadConstraints, pod.Spec.Affinity.PodAffinity, pod.Spec.Affinity.PodAntiAffinity = nil, nil, nil
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 1}} // so that there is a model
		p := &Problem{Pods: []*corev1.Pod{pod}, Pools: []Pool{{Name: "a", InstanceTypes: zoneTypes()[:1], Preferences: tt.a}, {Name: "b", InstanceTypes: zoneTypes()[:1], Preferences: tt.b}},
			Nodes: []Node{{Name: "node", Labels: map[string]string{corev1.LabelTopologyZone: "us-east-1b"}}}}
		cap, _ := ParsePrice("1")
		c := compiled(t, p, &Options{Preferences: tt.call, PreferenceCap: cap})
		variants := c.model.Shapes[0].Variants
		if len(variants) != tt.wantLadder {
			t.Errorf("%s: %d variants, want %d", tt.name, len(variants), tt.wantLadder)
		}
		for v := range variants {
			var got []string
			for i := range c.rows {
				for bit, o := range c.rows[i].offerings {
					if name := p.Pools[c.rows[i].pool].Name; c.rows[i].t.Offerings[o].Zone == "us-east-1b" && variants[v].Mask[i]>>bit&1 != 0 && !slices.Contains(got, name) {
						got = append(got, name)
					}
				}
			}
			if variants[v].Has(0) {
				got = append(got, "node")
			}
			want := tt.wantFirst
			if v == len(variants)-1 {
				want = []string{"a", "b", "node"}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: variant %d allows zone b in %v, want %v", tt.name, v, got, want)
			}
		}
	}
}

// The open labels that a preference narrows stay open in pools that ignore it.
func TestPoliciesOfPoolsWithOpenLabels(t *testing.T) {
	pod := testPod("shop", "web-1", list("cpu", "1"))
	pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 1}}
	term := prefersZone(1, "x")
	term.Preference.MatchExpressions[0] = corev1.NodeSelectorRequirement{Key: "rack", Operator: "In", Values: []string{"r1"}}
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{term}}}
	open := []Requirement{{Key: "rack", Operator: "Exists"}}
	p := &Problem{Pods: []*corev1.Pod{pod}, Pools: []Pool{{Name: "a", Requirements: open, InstanceTypes: zoneTypes()[:1]},
		{Name: "b", Requirements: open, InstanceTypes: zoneTypes()[:1], Preferences: ptr(PreferencesIgnore)}}}
	c := compiled(t, p, nil)
	first := c.model.Shapes[0].Variants[0]
	if len(first.Alts) != 2 {
		t.Fatalf("%d alternatives, want one for each pool", len(first.Alts))
	}
	for i := range c.rows {
		respects := p.Pools[c.rows[i].pool].Name == "a"
		if narrow, wide := first.Alts[0], first.Alts[1]; (narrow.Mask[i] != 0) != respects || (wide.Mask[i] != 0) == respects || len(narrow.Open) != 1 || len(wide.Open) != 0 {
			t.Errorf("row %d of a pool that respects preferences (%v): %+v", i, respects, first.Alts)
		}
	}
}
