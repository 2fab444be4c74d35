package randproblem

import (
	"encoding/json"
	"hash/fnv"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/scheduling"
)

func TestSameSeedSameProblem(t *testing.T) {
	for _, size := range []Size{Small(), Constrained(), TinyConstrained()} {
		for seed := range uint64(50) {
			if first, second := whole(New(seed, size)), whole(New(seed, size)); first != second {
				t.Fatalf("seed %d gave two problems", seed)
			}
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
	for _, size := range []Size{Small(), Constrained()} {
		for seed := range uint64(20) {
			p := New(seed, size)
			before := whole(p)
			q := Shuffle(p, seed)
			if whole(p) != before {
				t.Fatalf("seed %d: Shuffle changed its argument", seed)
			}
			if len(whole(q)) != len(before) {
				t.Fatalf("seed %d: %d bytes became %d", seed, len(before), len(whole(q)))
			}
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

// What a size adds must not change the problems of sizes without it: seeds are printed and kept.
func TestFeaturesLeaveOldSeedsAlone(t *testing.T) {
	sum := fnv.New64a()
	for seed := range uint64(20) {
		for _, size := range []Size{Small(), Large(), Tiny()} {
			sum.Write([]byte(Text(New(seed, size))))
		}
	}
	if got := sum.Sum64(); got != 0xd314e17d6d5218f9 {
		t.Errorf("the problems of 20 seeds are others than before (%#x)", got)
	}
}

// As TestVariety, for what comes with features.
func TestVarietyOfConstraints(t *testing.T) {
	wanted := map[string][]string{
		"constrained": {"ScheduleAnyway", "DoNotSchedule", "minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy", "matchLabelKeys", "mismatchLabelKeys",
			`"topologyKey":"` + rackKey, `"topologyKey":"` + zoneID, `"topologyKey":"kubernetes.io/arch`, `"topologyKey":"karpenter.sh/capacity-type`,
			`"labelSelector":{}`, "namespaceSelector", `"namespaces":[`, "podAffinity", "preferredDuringScheduling", "reservation-1", `"count":3`, "schedulingGroup",
			gangKey, "minCount", `"basic":true`, `"buffer":true`, `"names":[`, "resourceClaims", `"preferences":"Cap"`, `"preferences":"Ignore"`, `"priority":-10`,
			"attachable-volumes", "csiNodes", "allowedTopologies", "ephemeral", "shared-1", "Lost", "deletionTimestamp", "Immediate", "bind-completed",
			"unknown-class", "Succeeded", `"services":[`, `"owners":[`, "commitment-1", `"perHour":0.2`, `"draw":`},
		"tiny": {"minDomains", "podAffinity", "podAntiAffinity", "reservation-1", "schedulingGroup", `"buffer":true`, `"limits":{`, "shared-1", "csiNodes", `"constraints":[`},
	}
	for name, size := range map[string]Size{"constrained": Constrained(), "tiny": TinyConstrained()} {
		var all strings.Builder
		for seed := range uint64(200) {
			p := New(seed, size)
			text, err := json.Marshal([]any{p.Pods, p.Nodes, p.Pools, p.Demands, p.Gangs, p.DefaultSpread, p.Storage, p.Commitments})
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
			if n := p.PodCount(); name == "tiny" && n > 7 {
				t.Errorf("seed %d: %d pods are not tiny", seed, n)
			}
		}
		for _, s := range wanted[name] {
			if !strings.Contains(all.String(), s) {
				t.Errorf("%s: 200 problems hold no %s", name, s)
			}
		}
	}
}

// Shrink must be able to take everything away that does not matter.
func TestShrinkTakesConstraintsAway(t *testing.T) {
	for seed := range uint64(3) {
		p := New(seed, Constrained())
		before := whole(p)
		small := Shrink(p, func(q *scheduling.Problem) bool { return len(q.Pods) > 0 })
		if whole(p) != before {
			t.Fatalf("seed %d: Shrink changed its argument", seed)
		}
		for _, word := range []string{"labelSelector", "topologyKey", "claim", "schedulingGroup", "demand", "reservation", "priority", "rack", "commitment"} {
			if text := whole(small); strings.Contains(text, word) {
				t.Errorf("seed %d: %s is still there:\n%s", seed, word, text)
			}
		}
	}
}
