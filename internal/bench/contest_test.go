package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/bench/karpenter"
	"github.com/fleetwright/fleetwright/scheduling"
)

func TestRunsFlag(t *testing.T) {
	for _, c := range []struct{ text, want, err string }{
		{"3", "3", ""},
		{"3,microservices=1", "3,microservices=1", ""},
		{"diverse=2", "5,diverse=2,preferences=3", ""},
		{"0", "", "no number of runs"},
		{"micro=2", "", `no mix "micro"`},
	} {
		r := runs{all: 5, except: map[string]int{"preferences": 3}}
		err := r.Set(c.text)
		switch {
		case c.err == "" && (err != nil || r.String() != c.want):
			t.Errorf("%s: got %s and %v, want %s", c.text, r.String(), err, c.want)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: got error %v, want one with %q", c.text, err, c.err)
		}
	}
}

func TestBestOf(t *testing.T) {
	got := bestOf([]sample{{nodes: 1, price: 1, unplaced: 2}, {nodes: 9, price: 5}, {nodes: 8, price: 6}})
	if got.nodes != 8 || got.price != 5 || got.unplaced != 0 {
		t.Errorf("got %d nodes, price %v, %d left over; want the best of the runs that place all: 8, 5, 0", got.nodes, got.price, got.unplaced)
	}
}

// What Verify says of the peer counts for something only if a sound result converts to a sound plan, and if
// a result that is not sound does not.
func TestPeerPlan(t *testing.T) {
	karpenter.Silence()
	for _, mix := range []string{"plain", "microservices"} {
		in, err := rowInput(config{types: 50, seed: 1, pods: 100}, mix)
		if err != nil {
			t.Fatal(err)
		}
		s, err := karpenter.NewScheduler(t.Context(), in, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Solve(t.Context()); err != nil {
			t.Fatal(err)
		}
		plan, err := s.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if err := scheduling.Verify(in.Problem, plan); err != nil {
			t.Errorf("%s: %v", mix, err)
		}
		for i := 1; i < len(plan.Launches); i++ {
			plan.Launches[0].Pods = append(plan.Launches[0].Pods, plan.Launches[i].Pods...)
			plan.Launches[i].Pods = nil
		}
		if len(violations(scheduling.Verify(in.Problem, plan))) == 0 {
			t.Errorf("%s: all pods on the first node, and no violation", mix)
		}
	}
}

func TestContestPrintsViolationsAndProgress(t *testing.T) {
	bad := &scheduling.VerifyError{Violations: []scheduling.Violation{
		{Rule: "spread", Subject: "default/a", Detail: "too many"}, {Rule: "spread", Subject: "default/b", Detail: "too many"},
	}}
	var progress, out bytes.Buffer
	c := contest{name: "plain", in: &karpenter.Input{Problem: &scheduling.Problem{Pods: make([]*corev1.Pod, 10), Pools: make([]scheduling.Pool, 1)}}, runs: 2, promised: 300, progress: &progress}
	give := func(s sample) func(context.Context, *karpenter.Input) (sample, error) {
		return func(context.Context, *karpenter.Input) (sample, error) { return s, nil }
	}
	ours := give(sample{seconds: 1, nodes: 3, price: 2, unplaced: 1, reasons: map[scheduling.Code]int{scheduling.CodeNotModelled: 1}})
	cheaper := give(sample{seconds: 5, nodes: 3, price: 1.5})
	c.ours = []*contestant{{name: "ours", run: ours}, {name: "more effort", run: cheaper}}
	c.theirs = []*contestant{{name: "theirs", run: give(sample{seconds: 50, nodes: 2, price: 4, fault: bad})}}
	if err := c.alternate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"ours is 50 times as fast as theirs (promised: 300)", "nodes +1 (2), price -2.0000 (4.0000), unplaced +1",
		"more effort is 10 times as fast as theirs; against the peer's best run: nodes +1 (2), price -2.5000",
		"ours leaves over 1 NotModelled", "Verify accepts every run of ours",
		"fault with 2 of 2 runs of theirs", "4 times spread, first: spread: default/a: too many",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	if n := strings.Count(progress.String(), "\n"); n != 6 {
		t.Errorf("%d lines of progress, want one a run: 6", n)
	}
	if c.fault() != nil {
		t.Errorf("the peer's fault changes the exit status: %v", c.fault())
	}
	c.ours[1].samples[1].fault = bad
	if c.fault() == nil {
		t.Error("a fault of ours does not change the exit status")
	}
}

func TestDiverseMix(t *testing.T) {
	pods, err := makePods("diverse", 0, 42)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, p := range pods {
		switch a, s := p.Spec.Affinity, p.Spec.TopologySpreadConstraints; {
		case len(s) > 0:
			kinds["spread "+s[0].TopologyKey]++
		case a == nil:
			kinds["plain"]++
		case a.PodAffinity != nil:
			kinds["affinity "+a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey]++
		default:
			kinds["anti "+a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey]++
		}
	}
	want := map[string]int{
		"plain": 1000, "spread " + corev1.LabelTopologyZone: 1000, "spread " + corev1.LabelHostname: 1000,
		"affinity " + corev1.LabelTopologyZone: 1000, "anti " + corev1.LabelHostname: 1000,
	}
	if d := cmp.Diff(want, kinds); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	_, err = rowInput(config{types: 1}, "diverse@nowhere")
	if err == nil {
		t.Error("a region that does not exist is accepted")
	}
	if err := run(t.Context(), config{rows: "plain", types: 0}, io.Discard, io.Discard); err == nil {
		t.Error("no types are accepted")
	}
}
