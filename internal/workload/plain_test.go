package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlain(t *testing.T) {
	pods := Plain(2000, 200, 1)
	apps, requests, seen := map[string]bool{}, map[string]bool{}, map[string]bool{}
	sorted := 0
	for i, p := range pods {
		r := p.Spec.Containers[0].Resources.Requests
		apps[p.Labels["app"]] = true
		requests[r.Cpu().String()+" "+r.Memory().String()] = true
		if seen[p.Name] || len(p.Name) > 63 {
			t.Errorf("name %q is there twice or too long", p.Name)
		}
		seen[p.Name] = true
		if i > 0 && pods[i-1].Name < p.Name {
			sorted++
		}
	}
	if len(pods) != 2000 || len(apps) != 200 || len(requests) != 200 {
		t.Errorf("got %d pods of %d apps with %d kinds of requests, want 2000, 200, 200", len(pods), len(apps), len(requests))
	}
	if sorted < 800 || sorted > 1200 {
		t.Errorf("%d of 1999 neighbours are in order: the pods are not shuffled", sorted)
	}
	if d := cmp.Diff(pods[:50], Plain(2000, 200, 1)[:50]); d != "" {
		t.Errorf("the same seed gave other pods:\n%s", d)
	}
	pods[0].Labels["app"] = "changed"
	for _, p := range pods[1:] {
		if p.Labels["app"] == "changed" {
			t.Fatal("pods share their labels")
		}
	}
}
