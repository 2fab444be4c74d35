package scheduling

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// Names and numbers of pods go both ways, as Problem.PodName has them.
func TestPodNamesOfDemands(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		p := &Problem{}
		for i := range r.IntN(4) {
			p.Pods = append(p.Pods, testPod("ns", fmt.Sprintf("pod-%d", i), nil))
		}
		for i := range r.IntN(5) {
			d := Demand{Template: testPod("ns", fmt.Sprintf("web-%d", i), nil), Count: int32(r.IntN(5) - 1)}
			for k := range min(r.IntN(3), int(max(d.Count, 0))) {
				d.Names = append(d.Names, fmt.Sprintf("named-%d-%d", i, k))
			}
			if r.IntN(4) == 0 {
				d.Template = nil // Solve refuses it, a document is written all the same.
			}
			p.Demands = append(p.Demands, d)
		}
		n, f := newNames(p), newPodFinder(p)
		for i := int32(-1); i <= int32(p.PodCount()); i++ {
			name := p.PodName(i)
			if name == "" {
				if got, want := n.pod(i), fmt.Sprintf("pods[%d]", i); got != want {
					t.Fatalf("seed %d: pod %d, which is not there, reads %q, want %q", seed, i, got, want)
				}
				continue
			}
			if got := n.pod(i); got != name {
				t.Fatalf("seed %d: pod %d reads %q, want %q", seed, i, got, name)
			}
			if k, ok := f.find(name); !ok || k != i {
				t.Fatalf("seed %d: %q is found as %d (%v), want %d", seed, name, k, ok, i)
			}
		}
	}
}

func TestPodsThatAreNotThere(t *testing.T) {
	p := &Problem{
		Pods: []*corev1.Pod{testPod("ns", "web", nil)},
		Demands: []Demand{
			{Template: testPod("ns", "row", nil), Count: 1_000_000_000, Names: []string{"row-first"}},
			{Template: testPod("ns", "row-2", nil), Count: 3},
		},
	}
	f := newPodFinder(p)
	for name, want := range map[string]int32{"ns/web": 0, "ns/row-first": 1, "ns/row-1": 2, "ns/row-999999999": 1_000_000_000, "ns/row-2-0": 1_000_000_001} {
		if i, ok := f.find(name); !ok || i != want {
			t.Errorf("%s is pod %d (%v), want %d", name, i, ok, want)
		}
	}
	for name, reason := range map[string]string{
		"ns/row-0": "it has a name of its own", "ns/row-1000000000": "one too many", "ns/row-01": "not as demands write numbers",
		"ns/row--1": "no such place", "ns/row-": "no number", "row-1": "no namespace", "ns/row-2-3": "one too many", "": "nothing",
		"ns/row-99999999999": "more than any number",
	} {
		if i, ok := f.find(name); ok {
			t.Errorf("%q is found as %d: %s", name, i, reason)
		}
	}
}
