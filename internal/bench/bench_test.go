package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fleetwright/fleetwright/internal/bench/karpenter"
	"github.com/fleetwright/fleetwright/scheduling"
)

func TestPeerPlacesThePlainMix(t *testing.T) {
	karpenter.Silence()
	pods, err := makePods("plain", 100, 1)
	if err != nil {
		t.Fatal(err)
	}
	in := karpenter.MadeUp(pods, 20, poolLimits(false))
	for _, workers := range []int{1, 2} {
		s, err := peerWith(workers)(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if s.nodes == 0 || s.unplaced != 0 || s.price <= 0 || s.seconds <= 0 || s.allocations == 0 {
			t.Errorf("%d workers: implausible %+v", workers, s)
		}
	}
}

func TestOursIsNotDearer(t *testing.T) {
	karpenter.Silence()
	pods, err := makePods("plain", 300, 1)
	if err != nil {
		t.Fatal(err)
	}
	in := karpenter.MadeUp(pods, 50, poolLimits(false))
	theirs, err := peerWith(1)(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := oursAt(scheduling.EffortFast)(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if ours.unplaced != 0 || ours.nodes > theirs.nodes || ours.price > theirs.price+1e-6 {
		t.Errorf("ours %d nodes at %.4f with %d left over, theirs %d at %.4f", ours.nodes, ours.price, ours.unplaced, theirs.nodes, theirs.price)
	}
}

func TestPodsAreTheSameForASeed(t *testing.T) {
	a, _ := makePods("plain", 50, 7)
	b, _ := makePods("plain", 50, 7)
	if d := cmp.Diff(a, b); d != "" {
		t.Errorf("seed 7 gave different pods:\n%s", d)
	}
	if c, _ := makePods("plain", 50, 8); cmp.Equal(a, c) {
		t.Error("seeds 7 and 8 gave the same pods")
	}
	if _, err := makePods("plane", 1, 1); err == nil || !strings.Contains(err.Error(), `no mix "plane"; there are `) {
		t.Errorf("unknown mix: got %v", err)
	}
}
