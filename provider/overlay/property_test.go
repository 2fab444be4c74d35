package overlay

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// randomOverlays are few and alike, so that many meet.
func randomOverlays(r *rand.Rand) []Overlay {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	out := make([]Overlay, r.IntN(6))
	for i := range out {
		o := Overlay{Name: fmt.Sprintf("o%d", i), Weight: int32(r.IntN(3))}
		for range r.IntN(3) {
			o.Requirements = append(o.Requirements, [...]scheduling.Requirement{
				in(zone, pick("a", "b")), in(capacityType, "spot"), in("example.com/family", pick("m", "c")), in(instanceType, pick("m4", "c8")),
				in(scheduling.PoolLabel, pick("web", "batch")), op("team", pick("Exists", "DoesNotExist")), op(zone, "NotIn", pick("a", "b")), op("nobody", pick("Exists", "DoesNotExist")),
				op("example.com/size", pick("Gt", "Lte"), "4"),
			}[r.IntN(9)])
		}
		switch r.IntN(4) {
		case 0:
			o.Price = price(pick("1", "2"))
		case 1:
			o.PriceAdjustment = pick("+10%", "-10%", "-2", "+0.5")
		}
		if o.Capacity = amounts(pick("g", "h"), pick("1", "2")); r.IntN(2) == 0 && (o.Price.Known() || o.PriceAdjustment != "") {
			o.Capacity = nil
		}
		if r.IntN(3) == 0 {
			o.Overhead = amounts(pick("cpu", "memory"), pick("1", "2"))
		}
		out[i] = o
	}
	return out
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestProperties: no overlays change nothing; the order of overlays and pools means nothing; the input stays as it
// was; every offering and every amount is what a plain reading of the rules makes it.
func TestProperties(t *testing.T) {
	const seed = 20261124
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	conflicts, changed := 0, 0
	for range 3000 {
		p, overlays := pools(), randomOverlays(r)
		before := text(t, []any{p, overlays})
		got, err := Apply(p, overlays, scheduling.LabelRules{})
		if err != nil {
			t.Fatal(err)
		}
		if text(t, []any{p, overlays}) != before {
			t.Fatalf("the input was changed by %s", text(t, overlays))
		}
		conflicts += len(got.Conflicts)
		if len(overlays) == 0 {
			for i := range p {
				if &p[i].InstanceTypes[0] != &got.Pools[i].InstanceTypes[0] {
					t.Fatal("no overlays, and yet other types")
				}
			}
		}
		if text(t, got.Pools) != text(t, p) {
			changed++
		}
		plain(t, p, overlays, got)

		shuffled := slices.Clone(overlays)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		slices.Reverse(p)
		again, err := Apply(p, shuffled, scheduling.LabelRules{})
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(again.Pools)
		if d := cmp.Diff(text(t, got), text(t, again)); d != "" {
			t.Fatalf("another order of the same overlays: %s\n%s", d, text(t, overlays))
		}
	}
	if conflicts < 1000 || changed < 1000 {
		t.Fatalf("%d conflicts and %d changes are too few to show anything", conflicts, changed)
	}
}

// plain decides everything anew, one thing at a time.
func plain(t *testing.T, pools []scheduling.Pool, overlays []Overlay, got *Result) {
	t.Helper()
	o := oracle{}
	for i, p := range pools {
		for j, old := range p.InstanceTypes {
			o.instanceType(t, p, old, got.Pools[i].InstanceTypes[j], overlays)
		}
	}
	less := func(a, b Conflict) int { return strings.Compare(text(t, a), text(t, b)) }
	have := slices.Clone(got.Conflicts)
	slices.SortFunc(o.conflicts, less)
	slices.SortFunc(have, less)
	if d := cmp.Diff(o.conflicts, have); d != "" {
		t.Fatalf("conflicts %s\n%s", d, text(t, overlays))
	}
}

type oracle struct{ conflicts []Conflict }

func (o *oracle) instanceType(t *testing.T, p scheduling.Pool, old, now *scheduling.InstanceType, overlays []Overlay) {
	t.Helper()
	var some []Overlay
	for k, offering := range old.Offerings {
		matching := slices.DeleteFunc(slices.Clone(overlays), func(v Overlay) bool { return !matches(p, old, offering, v) })
		some = append(some, matching...)
		w := o.decide(matching, func(v Overlay) string {
			if v.Price.Known() {
				return v.Price.String()
			}
			return v.PriceAdjustment
		}, Conflict{Pool: p.Name, Type: old.Name, Offering: offeringName(&offering), Field: FieldPrice})
		want := offering.Price
		if w != nil {
			want = adjusted(want, *w)
		}
		if now.Offerings[k].Price != want {
			t.Fatalf("%s %s %s: price %s, want %s\n%s", p.Name, old.Name, offeringName(&offering), now.Offerings[k].Price, want, text(t, overlays))
		}
	}
	slices.SortFunc(some, func(a, b Overlay) int { return strings.Compare(a.Name, b.Name) })
	some = slices.CompactFunc(some, func(a, b Overlay) bool { return a.Name == b.Name })
	for _, name := range []corev1.ResourceName{"g", "h", "cpu", "memory"} {
		at := Conflict{Pool: p.Name, Type: old.Name, Field: FieldCapacity, Resource: name}
		capacity, overhead := old.Capacity[name], old.Overhead[name].DeepCopy()
		if w := o.decide(some, func(v Overlay) string { return amount(v.Capacity, name) }, at); w != nil {
			capacity = w.Capacity[name]
		}
		at.Field = FieldOverhead
		if w := o.decide(some, func(v Overlay) string { return amount(v.Overhead, name) }, at); w != nil {
			overhead.Add(w.Overhead[name])
		}
		if capacity.Cmp(now.Capacity[name]) != 0 || overhead.Cmp(now.Overhead[name]) != 0 {
			t.Fatalf("%s %s %s: %v and %v\n%s", p.Name, old.Name, name, now.Capacity, now.Overhead, text(t, overlays))
		}
	}
}

func amount(list corev1.ResourceList, name corev1.ResourceName) string {
	if q, ok := list[name]; ok {
		return q.String()
	}
	return ""
}

// decide returns one of the overlays that decide, nil if none does.
func (o *oracle) decide(matching []Overlay, says func(Overlay) string, at Conflict) (winner *Overlay) {
	top, values := int32(-1), map[string]bool{}
	for i, v := range matching {
		switch {
		case says(v) == "" || v.Weight < top:
			continue
		case v.Weight > top:
			top, values, at.Overlays = v.Weight, map[string]bool{}, nil
		}
		values[says(v)] = true
		at.Overlays = append(at.Overlays, v.Name)
		winner = &matching[i]
	}
	if len(values) > 1 {
		slices.Sort(at.Overlays)
		o.conflicts = append(o.conflicts, at)
		return nil
	}
	return winner
}

// matches knows the labels of the machines of pools(), which all have one value per offering.
func matches(p scheduling.Pool, t *scheduling.InstanceType, o scheduling.Offering, v Overlay) bool {
	labels := map[string]string{zone: o.Zone, capacityType: o.CapacityType, instanceType: t.Name, scheduling.PoolLabel: p.Name, "example.com/family": t.Name[:1], "example.com/size": t.Name[1:]}
	if p.Name == "web" {
		labels["team"] = "web"
	}
	for _, r := range v.Requirements {
		value, there := labels[r.Key]
		ok := false
		switch r.Operator {
		case "In":
			ok = there && slices.Contains(r.Values, value)
		case "NotIn":
			ok = !slices.Contains(r.Values, value)
		case "Exists":
			ok = there
		case "DoesNotExist":
			ok = !there
		case "Gt":
			ok = value == "8"
		case "Lte":
			ok = value == "4"
		}
		if !ok {
			return false
		}
	}
	return true
}

// adjusted knows the adjustments of randomOverlays and the prices of pools().
func adjusted(old scheduling.Price, v Overlay) scheduling.Price {
	n := old.Nano()
	switch {
	case v.Price.Known():
		return v.Price
	case !old.Known():
		return old
	case v.PriceAdjustment == "+10%":
		n += n / 10
	case v.PriceAdjustment == "-10%":
		n -= n / 10
	case v.PriceAdjustment == "+0.5":
		n += 500_000_000
	case v.PriceAdjustment == "-2":
		n = max(n-2_000_000_000, 0)
	}
	return scheduling.PriceFromNano(n)
}
