package randproblem

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/scheduling"
)

func TestSameSeedSameProblem(t *testing.T) {
	for seed := range uint64(50) {
		first, second := Text(New(seed, Small())), Text(New(seed, Small()))
		if first != second {
			t.Fatalf("seed %d gave two problems", seed)
		}
	}
	if Text(New(1, Small())) == Text(New(2, Small())) {
		t.Error("seeds 1 and 2 gave the same problem")
	}
}

func TestTextReadsBack(t *testing.T) {
	for seed := range uint64(50) {
		var back scheduling.Problem
		text := Text(New(seed, Small()))
		if err := json.Unmarshal([]byte(text), &back); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if Text(&back) != text {
			t.Fatalf("seed %d: the problem read back differs:\n%s", seed, Text(&back))
		}
	}
}

func TestShuffleKeepsTheProblem(t *testing.T) {
	for seed := range uint64(20) {
		p := New(seed, Small())
		before := Text(p)
		q := Shuffle(p, seed)
		if Text(p) != before {
			t.Fatalf("seed %d: Shuffle changed its argument", seed)
		}
		if len(Text(q)) != len(before) {
			t.Fatalf("seed %d: %d bytes became %d", seed, len(before), len(Text(q)))
		}
	}
}

// Every kind of constraint must turn up, or the properties tested on these problems mean little.
func TestVariety(t *testing.T) {
	var all strings.Builder
	for seed := range uint64(200) {
		all.WriteString(Text(New(seed, Small())))
	}
	for _, s := range []string{
		"topologySpreadConstraints", "podAntiAffinity", "initContainers", "restartPolicy", "overhead", "hostPort", "hostNetwork",
		"preferredDuringScheduling", "matchFields", "NotIn", "DoesNotExist", "Gte", "Lte", "minValues", "limits", "startupTaints",
		"PreferNoSchedule", "NoExecute", "uninitialized", "unschedulable", "unavailable", `"price": null`, gpu, "failure-domain", "\"weight\": 50",
	} {
		if !strings.Contains(all.String(), s) {
			t.Errorf("200 problems hold no %s", s)
		}
	}
}
