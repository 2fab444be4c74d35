package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

var threeZones = [3]string{"z-a", "z-b", "z-c"}

func TestSpread(t *testing.T) {
	pods := Spread(1000, 200, 1)
	apps, requests := map[string]int{}, map[string]bool{}
	for _, p := range pods {
		r := p.Spec.Containers[0].Resources.Requests
		apps[p.Labels["app"]]++
		requests[r.Cpu().String()+" "+r.Memory().String()] = true
		c := p.Spec.TopologySpreadConstraints
		if len(c) != 1 || c[0].TopologyKey != corev1.LabelTopologyZone || c[0].LabelSelector.MatchLabels["app"] != p.Labels["app"] {
			t.Fatalf("pod %s spreads %v, want one spread of its own app over zones", p.Name, c)
		}
	}
	for app, n := range apps {
		if n != 5 {
			t.Errorf("%s has %d pods, want 5", app, n)
		}
	}
	if len(apps) != 200 || len(requests) != len(sizes) {
		t.Errorf("%d apps with %d kinds of requests, want 200 and %d", len(apps), len(requests), len(sizes))
	}
	if d := cmp.Diff(pods[:50], Spread(1000, 200, 1)[:50]); d != "" {
		t.Errorf("the same seed gave other pods:\n%s", d)
	}
}

// The shares are those of the constants in services.go: a rule that is never drawn would make the benchmark say
// less than it claims.
func TestServicesHaveEveryConstraint(t *testing.T) {
	w := Services(20_000, 2000, threeZones, 1)
	if len(w.Pods) != 20_000 || len(w.Pools) != 4 || len(w.DaemonSets) != 4 {
		t.Fatalf("%d pods, %d pools, %d DaemonSets; want 20000, 4, 4", len(w.Pods), len(w.Pools), len(w.DaemonSets))
	}
	apps := map[string]bool{}
	has := map[string]map[string]bool{}
	for _, p := range w.Pods {
		app := p.Labels["app"]
		apps[app] = true
		for _, what := range constraints(p) {
			if has[what] == nil {
				has[what] = map[string]bool{}
			}
			has[what][app] = true
		}
	}
	if len(apps) != 2000 {
		t.Errorf("%d services, want 2000", len(apps))
	}
	for what, least := range map[string]int{
		"zone spread": 350, "soft zone spread": 150, "minDomains": 20, "host spread": 60, "host anti-affinity": 90,
		"soft host anti-affinity": 130, "zone anti-affinity": 5, "affinity": 20, "team": 90, "volume": 70, "spot": 200,
		"priority": 250, "ephemeral storage": 50, "family": 100,
	} {
		if n := len(has[what]); n < least || n > 2*least+30 {
			t.Errorf("%s: %d of 2000 services have it, want between %d and %d", what, n, least, 2*least+30)
		}
	}
	if d := cmp.Diff(w.Pods[:50], Services(20_000, 2000, threeZones, 1).Pods[:50]); d != "" {
		t.Errorf("the same seed gave other pods:\n%s", d)
	}
}

// constraints names what a pod asks for.
func constraints(p *corev1.Pod) []string {
	var out []string
	note := func(there bool, what string) {
		if there {
			out = append(out, what)
		}
	}
	for _, s := range p.Spec.TopologySpreadConstraints {
		hard, zone := s.WhenUnsatisfiable == corev1.DoNotSchedule, s.TopologyKey == corev1.LabelTopologyZone
		note(hard && zone, "zone spread")
		note(!hard && zone, "soft zone spread")
		note(s.MinDomains != nil, "minDomains")
		note(!zone, "host spread")
	}
	if a := p.Spec.Affinity; a != nil {
		note(a.PodAffinity != nil, "affinity")
		if a.PodAntiAffinity != nil {
			for _, t := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				note(t.TopologyKey == corev1.LabelHostname, "host anti-affinity")
				note(t.TopologyKey != corev1.LabelHostname, "zone anti-affinity")
			}
			note(len(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0, "soft host anti-affinity")
		}
		if a.NodeAffinity != nil {
			for _, e := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions {
				note(e.Key == corev1.LabelTopologyZone, "volume")
				note(len(e.Key) > len(instanceFact) && e.Key[:len(instanceFact)] == instanceFact, "family")
			}
		}
	}
	note(p.Spec.NodeSelector[teamLabel] != "", "team")
	note(p.Spec.NodeSelector["karpenter.sh/capacity-type"] == "spot", "spot")
	note(p.Spec.Priority != nil, "priority")
	_, ephemeral := p.Spec.Containers[0].Resources.Requests[corev1.ResourceEphemeralStorage]
	note(ephemeral, "ephemeral storage")
	return out
}
