package scheduling_test

import (
	"sync"
	"testing"

	"github.com/fleetwright/fleetwright/internal/randproblem"
	. "github.com/fleetwright/fleetwright/scheduling"
)

// Apply, Commit, Revert and Fork against plain problems, changed by hand.
func TestSnapshotSequences(t *testing.T) {
	size := randproblem.Constrained()
	size.Nodes, size.Pods, size.Kinds = 12, 12, 4
	for seed := range seeds(60) {
		p := settled(seed, size)
		if seed%2 > 0 {
			p = randproblem.New(seed, size) // pods wait from the beginning
		}
		s, err := Compile(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		now, committed := p, p
		for step := range 12 {
			a := newAsking(seed*100+uint64(step), now)
			switch k := a.IntN(10); {
			case k < 7:
				ch := a.changes(k)
				if len(now.Pods) > 0 && a.IntN(3) == 0 {
					pod := now.Pods[a.IntN(len(now.Pods))]
					ch.RemovePods = []string{pod.Namespace + "/" + pod.Name}
				}
				if err := s.Apply(ch); err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, step, err)
				}
				now = byHand(now, ch)
			case k == 7:
				s.Commit()
				committed = now
			case k == 8:
				s.Revert()
				now = committed
			default:
				was := State(s)
				f := s.Fork()
				if err := s.Apply(a.changes(0)); err != nil { // which the fork does not see
					t.Fatal(err)
				}
				s.Revert()
				if s = f; State(s) != was && now == committed {
					t.Fatalf("seed %d, step %d: the fork is not in the same state", seed, step)
				}
				committed = now
			}
			if want, got := mustText(now), mustText(s.Problem()); want != got {
				t.Fatalf("seed %d, step %d: the problem is not the one written by hand: %s", seed, step, firstDifference(want, got))
			}
			a.p = now
			compareAnswers(t, seed, s, now, a)
		}
	}
}

// compareAnswers asks the snapshot, and one compiled anew from the problem written by hand.
func compareAnswers(t *testing.T, seed uint64, s *Snapshot, now *Problem, a *asking) {
	t.Helper()
	if err := s.Apply(Changes{DrainNodes: []string{"nobody"}}); err == nil {
		t.Errorf("seed %d: a node was drained that is not there", seed)
	}
	ch := a.changes(0)
	o, err := s.WhatIf(ch)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if err := judgeOutcome(byHand(now, ch), o); err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
	anew, err := Compile(now, nil)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	want, err := anew.WhatIf(ch)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	// What waits, and what ran on nodes that are gone, has a say in what resources are worth: launches may differ.
	if placedBy(o) != placedBy(want) || o.Saved != want.Saved {
		t.Errorf("seed %d: %d pods placed and %v saved, compiled anew %d and %v", seed, placedBy(o), o.Saved, placedBy(want), want.Saved)
	}
}

// Forks that are asked at the same time give the answers that one gives alone.
func TestForksAtTheSameTime(t *testing.T) {
	size := randproblem.Constrained()
	size.Nodes = 12
	for seed := range seeds(20) {
		p := settled(seed, size)
		s, err := Compile(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		const forks = 6
		var answers [forks + 1][]string
		all := func(s *Snapshot, into *[]string) {
			for i := range p.Nodes {
				o, err := s.WhatIf(Changes{DrainNodes: []string{p.Nodes[i].Name}})
				if err != nil {
					t.Error(err)
					return
				}
				*into = append(*into, outcomeText(p, o))
			}
		}
		var wg sync.WaitGroup
		for k := range forks {
			f := s.Fork()
			wg.Go(func() { all(f, &answers[k]) })
		}
		wg.Wait()
		all(s, &answers[forks])
		for k := range forks {
			for i := range answers[forks] {
				if i >= len(answers[k]) || answers[k][i] != answers[forks][i] {
					t.Errorf("seed %d, fork %d, node %d: another answer", seed, k, i)
				}
			}
		}
	}
}
