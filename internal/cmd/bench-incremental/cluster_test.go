package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

func mustCluster(t *testing.T, nodes int, full bool) *scheduling.Problem {
	t.Helper()
	p, err := cluster(nodes, full, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestClusterHasWhatItSays(t *testing.T) {
	for _, c := range []struct {
		name        string
		full        bool
		least, most float64 // share of cpu requested
	}{
		{"slack", false, 0.57, 0.61},
		{"full", true, 0.98, 1},
	} {
		p := mustCluster(t, 1000, c.full)
		var used, have int64
		pods, names := 0, map[string]bool{}
		for i := range p.Nodes {
			n := &p.Nodes[i]
			requested := map[corev1.ResourceName]int64{}
			for _, pod := range n.Pods {
				pods++
				names[pod.Namespace+"/"+pod.Name] = true
				if pod.Spec.NodeName != n.Name {
					t.Fatalf("%s: pod %s is bound to %s, listed on %s", c.name, pod.Name, pod.Spec.NodeName, n.Name)
				}
				r := pod.Spec.Containers[0].Resources.Requests
				requested[corev1.ResourceCPU] += r.Cpu().MilliValue()
				requested[corev1.ResourceMemory] += r.Memory().Value()
			}
			cpu := n.Allocatable.Cpu().MilliValue()
			free := cpu - requested[corev1.ResourceCPU]
			if free < 0 || requested[corev1.ResourceMemory] > n.Allocatable.Memory().Value() {
				t.Fatalf("%s: node %s is overfull", c.name, n.Name)
			}
			if c.full && free >= unitCPU {
				t.Fatalf("node %s has %d millicores left although full", n.Name, free)
			}
			used, have = used+requested[corev1.ResourceCPU], have+cpu
		}
		if pods != 15_000 || len(names) != pods {
			t.Errorf("%s: %d pods with %d names, want 15000", c.name, pods, len(names))
		}
		if share := float64(used) / float64(have); share < c.least || share > c.most {
			t.Errorf("%s: %.3f of the cpu is requested, want %v to %v", c.name, share, c.least, c.most)
		}
	}
}

func TestClusterKeepsItsSpreads(t *testing.T) {
	for _, full := range []bool{false, true} {
		p := mustCluster(t, 1000, full)
		zone, host := map[string]map[string]int{}, map[string]map[string]int{}
		count := func(in map[string]map[string]int, app, domain string) {
			if in[app] == nil {
				in[app] = map[string]int{}
			}
			in[app][domain]++
		}
		for i := range p.Nodes {
			for _, pod := range p.Nodes[i].Pods {
				for _, s := range pod.Spec.TopologySpreadConstraints {
					if s.TopologyKey == corev1.LabelHostname {
						count(host, pod.Labels["app"], p.Nodes[i].Name)
					} else {
						count(zone, pod.Labels["app"], p.Nodes[i].Labels[s.TopologyKey])
					}
				}
			}
		}
		if len(zone) < deployments/5 || len(host) < deployments/10 {
			t.Errorf("full %v: %d deployments spread over zones, %d over hosts: too few", full, len(zone), len(host))
		}
		for app, per := range zone {
			if a, b, c := per[zones[0]], per[zones[1]], per[zones[2]]; max(a, b, c)-min(a, b, c) > 1 {
				t.Errorf("full %v: %s has %d, %d and %d pods in the zones", full, app, a, b, c)
			}
		}
		for app, per := range host {
			for node, n := range per {
				if n > hostSkew {
					t.Errorf("full %v: %s has %d pods on %s", full, app, n, node)
				}
			}
		}
	}
}

// Draining a node is what the benchmark asks about: the answer has to be the one that the variant is named after.
func TestDrainedPods(t *testing.T) {
	for _, full := range []bool{false, true} {
		p := mustCluster(t, 60, full)
		for drained := 0; drained < len(p.Nodes); drained += 7 {
			q := *p
			q.Nodes = append(append([]scheduling.Node{}, p.Nodes[:drained]...), p.Nodes[drained+1:]...)
			for _, pod := range p.Nodes[drained].Pods {
				if pod.Namespace != "kube-system" {
					pod = pod.DeepCopy()
					pod.Spec.NodeName = ""
					pod.Status = corev1.PodStatus{}
					q.Pods = append(q.Pods, pod)
				}
			}
			plan, err := scheduling.Solve(t.Context(), &q, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := scheduling.Verify(&q, plan); err != nil {
				t.Fatal(err)
			}
			if plan.Totals.Unplaced > 0 || full && len(plan.Placements) > 0 || !full && len(plan.Launches) > 0 {
				t.Errorf("full %v, node %d: %d pods on nodes, %d launches, %d left over: %+v",
					full, drained, len(plan.Placements), len(plan.Launches), plan.Totals.Unplaced, plan.Reasons)
			}
		}
	}
}

func TestClusterIsTheSameForASeed(t *testing.T) {
	a, b := mustCluster(t, 30, true), mustCluster(t, 30, true)
	if d := cmp.Diff(a.Nodes, b.Nodes); d != "" {
		t.Errorf("the same seed gave another cluster:\n%s", d)
	}
}
