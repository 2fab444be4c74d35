package scheduling_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/randproblem"
	. "github.com/fleetwright/fleetwright/scheduling"
)

func bytesOf(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// otherOrder shuffles the problem, but leaves pods as they are: those are written as Kubernetes has them.
func otherOrder(p *Problem, seed uint64) *Problem {
	q := randproblem.Shuffle(p, seed)
	pods := map[string]*corev1.Pod{}
	for _, pod := range p.Pods {
		pods[pod.Namespace+"/"+pod.Name] = pod
	}
	for i, pod := range q.Pods {
		q.Pods[i] = pods[pod.Namespace+"/"+pod.Name]
	}
	return q
}

// What is saved is what was: a problem read back gives the same plan, and a plan read back is the
// plan that Solve made, so far as Verify and a second writing can tell.
func TestSavedProblemsAndPlans(t *testing.T) {
	size := randproblem.Small()
	solved := 0
	for seed := range uint64(150) {
		p := randproblem.New(seed, size)
		plan, err := Solve(context.Background(), p, nil)
		if err != nil {
			continue // A pool that contradicts itself; other tests are about those.
		}
		solved++
		want := bytesOf(t, plan)

		dump := bytesOf(t, p)
		if other := bytesOf(t, otherOrder(p, seed+1)); !bytes.Equal(dump, other) {
			t.Fatalf("seed %d: the problem in another order is written as\n%s\nnot as\n%s", seed, other, dump)
		}
		again, err := ReadProblem(bytes.NewReader(dump))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		replay, err := Solve(context.Background(), again, nil)
		if err != nil {
			t.Fatalf("seed %d: the problem read back: %v", seed, err)
		}
		if got := bytesOf(t, replay); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: the problem read back gives\n%s\nwant\n%s", seed, got, want)
		}

		d, err := ReadDocument(bytes.NewReader(want))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		shuffled := randproblem.Shuffle(p, seed+2)
		bound, err := d.Plan(shuffled)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		// Whether Solve's plans are sound is for other tests: here both have to be judged alike.
		if err, was := Verify(shuffled, bound), Verify(p, plan); (err == nil) != (was == nil) {
			t.Fatalf("seed %d: the plan read back: %v; before: %v", seed, err, was)
		}
		if got := bytesOf(t, bound); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: the plan read back is\n%s\nwant\n%s", seed, got, want)
		}
		if diff := Diff(plan.Document(), d); !diff.Empty() || !diff.SameProblem {
			t.Fatalf("seed %d: the plan read back differs: %s", seed, diff)
		}
		for i := range p.PodCount() {
			if name := p.PodName(int32(i)); !explained(d, name) {
				t.Fatalf("seed %d: %s is not explained", seed, name)
			}
		}
	}
	if solved < 75 {
		t.Errorf("only %d problems were solved", solved)
	}
}

func explained(d *Document, pod string) bool {
	_, ok := d.ExplainPod(pod)
	return ok
}
