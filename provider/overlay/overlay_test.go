package overlay

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetwright/fleetwright/scheduling"
)

func in(key string, values ...string) scheduling.Requirement {
	return scheduling.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

func op(key, operator string, values ...string) scheduling.Requirement {
	return scheduling.Requirement{Key: key, Operator: corev1.NodeSelectorOperator(operator), Values: values}
}

func amounts(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func price(s string) scheduling.Price {
	if s == "?" {
		return scheduling.Price{}
	}
	p, err := scheduling.ParsePrice(s)
	if err != nil {
		panic(err)
	}
	return p
}

const (
	zone         = corev1.LabelTopologyZone
	instanceType = corev1.LabelInstanceTypeStable
	capacityType = scheduling.CapacityTypeLabel
)

// machine is a type in zones a and b, on demand at 1 and as spot at 0.4, but unknown in b.
func machine(name, family string) *scheduling.InstanceType {
	offering := func(zone, ct, p string) scheduling.Offering {
		return scheduling.Offering{Zone: zone, CapacityType: ct, Price: price(p), Labels: map[string]string{"example.com/zone-id": "id-" + zone}}
	}
	// Quantities of this form share memory when they are copied.
	overhead := resource.MustParse("80m")
	overhead.ToDec()
	return &scheduling.InstanceType{
		Name: name,
		Requirements: []scheduling.Requirement{
			in("example.com/family", family), in(zone, "a", "b"), in(capacityType, "on-demand", "spot"), op("example.com/gpu", "DoesNotExist"),
			in("example.com/size", strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz")),
		},
		Offerings: []scheduling.Offering{offering("a", "on-demand", "1"), offering("b", "on-demand", "1"), offering("a", "spot", "0.4"), offering("b", "spot", "?")},
		Capacity:  amounts("cpu", "4", "memory", "16Gi", "pods", "58", "example.com/fpga", "1"),
		Overhead:  corev1.ResourceList{"cpu": overhead},
	}
}

func pools() []scheduling.Pool {
	types := []*scheduling.InstanceType{machine("m4", "m"), machine("c8", "c")}
	return []scheduling.Pool{
		{Name: "web", Labels: map[string]string{"team": "web"}, InstanceTypes: types},
		{Name: "batch", InstanceTypes: types, Requirements: []scheduling.Requirement{in("team", "batch")}},
	}
}

// show prints what is different from pools().
func show(r *Result) string {
	var b strings.Builder
	for i, p := range pools() {
		for j, old := range p.InstanceTypes {
			t := r.Pools[i].InstanceTypes[j]
			at := p.Name + " " + t.Name
			for k, o := range t.Offerings {
				if o.Price != old.Offerings[k].Price {
					fmt.Fprintf(&b, "%s %s: %s\n", at, offeringName(&o), o.Price)
				}
			}
			for _, name := range slices.Sorted(maps.Keys(t.Capacity)) {
				q := t.Capacity[name]
				if had, ok := old.Capacity[name]; !ok || had.Cmp(q) != 0 {
					fmt.Fprintf(&b, "%s capacity %s %s\n", at, name, q.String())
				}
			}
			for _, name := range slices.Sorted(maps.Keys(t.Overhead)) {
				q := t.Overhead[name]
				if had, ok := old.Overhead[name]; !ok || had.Cmp(q) != 0 {
					fmt.Fprintf(&b, "%s overhead %s %s\n", at, name, q.String())
				}
			}
		}
	}
	for _, c := range r.Conflicts {
		fmt.Fprintf(&b, "conflict %s\n", c)
	}
	if u := r.Unmatched(); len(u) > 0 {
		fmt.Fprintf(&b, "unmatched %s\n", u)
	}
	return b.String()
}

func TestApply(t *testing.T) {
	webM := []scheduling.Requirement{in(scheduling.PoolLabel, "web"), in("example.com/family", "m")}
	one := append([]scheduling.Requirement{in(zone, "a"), in(capacityType, "on-demand")}, webM...)
	with := func(reqs []scheduling.Requirement, more ...scheduling.Requirement) []scheduling.Requirement {
		return append(append([]scheduling.Requirement{}, reqs...), more...)
	}
	for _, tt := range []struct {
		name, reason string
		overlays     []Overlay
		want         string
	}{
		{"none", "nothing to do", nil, ""},
		{"a price in one pool", "the pool's name is a label", []Overlay{{Name: "p", Requirements: webM, Price: price("2")}},
			"web m4 a on-demand: 2\nweb m4 b on-demand: 2\nweb m4 a spot: 2\nweb m4 b spot: 2\n"},
		{"some offerings", "zone and capacity type belong to the offering", []Overlay{{Name: "p", Requirements: one, Price: price("2")}}, "web m4 a on-demand: 2\n"},
		{"an offering's own label", "other labels may, too", []Overlay{{Name: "p", Requirements: with(one[1:], in("example.com/zone-id", "id-b")), Price: price("2")}},
			"web m4 b on-demand: 2\n"},
		{"type by name", "the label is there though the type does not list it", []Overlay{{Name: "p", Requirements: with(one, in(instanceType, "m4")), Price: price("2")}},
			"web m4 a on-demand: 2\n"},
		{"old spelling", "keys are unaliased", []Overlay{{Name: "p", Requirements: with(one, in("beta.kubernetes.io/instance-type", "m4")), Price: price("2")}},
			"web m4 a on-demand: 2\n"},
		{"bounds", "Gt and Gte", []Overlay{{Name: "p", Requirements: with(one[:3], op("example.com/size", "Gt", "4"), op("example.com/size", "Gte", "8")), Price: price("2")}},
			"web c8 a on-demand: 2\n"},
		{"absent label", "DoesNotExist and NotIn hold for a label that nobody has", []Overlay{{Name: "p", Requirements: with(one, op("x", "DoesNotExist"), op("y", "NotIn", "z"), op("example.com/gpu", "DoesNotExist")), Price: price("2")}},
			"web m4 a on-demand: 2\n"},
		{"label that nobody has", "Exists does not", []Overlay{{Name: "p", Requirements: with(one, op("x", "Exists")), Price: price("2")}}, "unmatched [p]\n"},
		{"pool's label", "of the template", []Overlay{{Name: "p", Requirements: with(one[:2], in("team", "web"), in("example.com/family", "c")), Price: price("2")}}, "web c8 a on-demand: 2\n"},
		{"pool's requirement", "is no label yet", []Overlay{{Name: "p", Requirements: []scheduling.Requirement{in("team", "batch")}, Price: price("2")}}, "unmatched [p]\n"},
		{"contradiction", "no node is both", []Overlay{{Name: "p", Requirements: with(one, in(zone, "b")), Price: price("2")}}, "unmatched [p]\n"},
		{"dearer by percent", "exact", []Overlay{{Name: "p", Requirements: one, PriceAdjustment: "+3.333333333%"}}, "web m4 a on-demand: 1.033333333\n"},
		{"cheaper by percent", "half a billionth rounds up", []Overlay{{Name: "p", Requirements: one, PriceAdjustment: "-3.33333333%"}}, "web m4 a on-demand: 0.966666667\n"},
		{"dearer by an amount", "per hour", []Overlay{{Name: "p", Requirements: one, PriceAdjustment: "+.25"}}, "web m4 a on-demand: 1.25\n"},
		{"cheaper by an amount", "per hour", []Overlay{{Name: "p", Requirements: one, PriceAdjustment: "-0.000000001"}}, "web m4 a on-demand: 0.999999999\n"},
		{"not below nothing", "prices are 0 or more", []Overlay{{Name: "p", Requirements: one, PriceAdjustment: "-7"}}, "web m4 a on-demand: 0\n"},
		{"all off", "100 percent", []Overlay{{Name: "p", Requirements: one, PriceAdjustment: "-100%"}}, "web m4 a on-demand: 0\n"},
		{"not above the most", "sums stay sums", []Overlay{{Name: "p", Requirements: one, PriceAdjustment: "+99999999999999"}}, "web m4 a on-demand: 9000000000\n"},
		{"unknown price", "stays unknown", []Overlay{{Name: "p", Requirements: with(webM, in(capacityType, "spot")), PriceAdjustment: "+10%"}}, "web m4 a spot: 0.44\n"},
		{"an empty overlay", "says nothing", []Overlay{{Name: "p"}}, ""},
		{"same price", "no difference", []Overlay{{Name: "p", Requirements: one, Price: price("1")}}, ""},
		{"the heavier decides", "for each offering; adjustments do not add up", []Overlay{
			{Name: "light", Weight: 1, Requirements: with(webM, in(zone, "a")), PriceAdjustment: "+10%"}, {Name: "heavy", Weight: 10, Requirements: one, PriceAdjustment: "+50%"}},
			"web m4 a on-demand: 1.5\nweb m4 a spot: 0.44\n"},
		{"equal weights", "only where both match, and nothing of either there", []Overlay{
			{Name: "y", Requirements: with(webM, in(zone, "a")), Price: price("2")}, {Name: "x", Requirements: with(webM, in(capacityType, "on-demand")), Price: price("3")}},
			"web m4 b on-demand: 3\nweb m4 a spot: 2\nconflict x, y: price of m4 a on-demand in pool web\n"},
		{"a lighter third", "does not step in", []Overlay{{Name: "x", Weight: 2, Requirements: one, Price: price("2")}, {Name: "y", Weight: 2, Requirements: one, Price: price("3")}, {Name: "z", Weight: 1, Requirements: one, Price: price("4")}},
			"conflict x, y: price of m4 a on-demand in pool web\n"},
		{"a heavier third", "settles it", []Overlay{{Name: "x", Weight: 2, Requirements: one, Price: price("2")}, {Name: "y", Weight: 2, Requirements: one, Price: price("3")}, {Name: "z", Weight: 3, Requirements: one, Price: price("4")}},
			"web m4 a on-demand: 4\n"},
		{"saying the same", "is no conflict, however it is written", []Overlay{{Name: "x", Requirements: one, PriceAdjustment: "+50%"}, {Name: "y", Requirements: one, PriceAdjustment: "+50.0%"}},
			"web m4 a on-demand: 1.5\n"},
		{"meaning the same", "by chance, is one", []Overlay{{Name: "x", Requirements: one, PriceAdjustment: "+50%"}, {Name: "y", Requirements: one, Price: price("1.5")}},
			"conflict x, y: price of m4 a on-demand in pool web\n"},
		{"capacity", "one offering is enough; what is there is replaced", []Overlay{{Name: "c", Requirements: one, Capacity: amounts("example.com/fpga", "8")}}, "web m4 capacity example.com/fpga 8\n"},
		{"new capacity", "the rest stays", []Overlay{{Name: "c", Requirements: webM, Capacity: amounts("smarter-devices/fuse", "20")}}, "web m4 capacity smarter-devices/fuse 20\n"},
		{"the same capacity", "no difference", []Overlay{{Name: "c", Requirements: webM, Capacity: amounts("example.com/fpga", "1000m")}}, ""},
		{"capacities by weight", "for each resource", []Overlay{{Name: "x", Weight: 2, Requirements: webM, Capacity: amounts("g", "1")}, {Name: "y", Weight: 1, Requirements: webM, Capacity: amounts("g", "2", "h", "2")}},
			"web m4 capacity g 1\nweb m4 capacity h 2\n"},
		{"capacities in conflict", "only the resource; the price of the same overlay counts", []Overlay{
			{Name: "x", Requirements: one, Capacity: amounts("g", "1"), Price: price("2")}, {Name: "y", Requirements: webM, Capacity: amounts("g", "2")}},
			"web m4 a on-demand: 2\nconflict x, y: capacity g of m4 in pool web\n"},
		{"the same amount", "is no conflict", []Overlay{{Name: "x", Requirements: webM, Capacity: amounts("g", "1")}, {Name: "y", Requirements: webM, Capacity: amounts("g", "1")}},
			"web m4 capacity g 1\n"},
		{"overhead", "on top of the type's", []Overlay{{Name: "o", Requirements: webM, Overhead: amounts("cpu", "100m")}}, "web m4 overhead cpu 180m\n"},
		{"overhead of another resource", "beside it", []Overlay{{Name: "o", Requirements: webM, Overhead: amounts("memory", "1Gi")}}, "web m4 overhead memory 1Gi\n"},
		{"overheads in conflict", "like capacity", []Overlay{{Name: "o", Requirements: webM, Overhead: amounts("cpu", "1")}, {Name: "q", Requirements: webM, Overhead: amounts("cpu", "2")}},
			"conflict o, q: overhead cpu of m4 in pool web\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Apply(pools(), tt.overlays, scheduling.LabelRules{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, show(r)); d != "" {
				t.Errorf("%s\n%s", tt.reason, d)
			}
		})
	}
}

func TestEffects(t *testing.T) {
	r, err := Apply(pools(), []Overlay{
		{Name: "spot", Weight: 5, Requirements: []scheduling.Requirement{in(capacityType, "spot")}, PriceAdjustment: "+10%", Capacity: amounts("g", "1")},
		{Name: "all", PriceAdjustment: "-1%", Capacity: amounts("g", "2"), Overhead: amounts("cpu", "1")},
		{Name: "web", Requirements: []scheduling.Requirement{in(scheduling.PoolLabel, "web")}, Price: price("9")},
		{Name: "nothing", Requirements: []scheduling.Requirement{in(zone, "c")}, Price: price("9")},
	}, scheduling.LabelRules{})
	if err != nil {
		t.Fatal(err)
	}
	// Two pools with two types of four offerings, two of them spot, one of those without a price.
	want := []Effect{
		{Overlay: "all", Types: 4, Offerings: 16, Prices: 4, Overheads: 4, Outweighed: 8 + 4, Conflicts: 4},
		{Overlay: "nothing"},
		{Overlay: "spot", Types: 4, Offerings: 8, Prices: 4, Unpriced: 4, Capacities: 4, Widened: 4},
		{Overlay: "web", Types: 2, Offerings: 8, Outweighed: 4, Conflicts: 4},
	}
	if d := cmp.Diff(want, r.Effects); d != "" {
		t.Error(d)
	}
	if len(r.Conflicts) != 4 || r.Conflicts[0].Offering != "a on-demand" || r.Conflicts[0].Type != "c8" {
		t.Errorf("conflicts %v", r.Conflicts)
	}
}

// TestSharing: what does not change is the input's own, and pools that had their types in common still have.
func TestSharing(t *testing.T) {
	p := pools()
	r, err := Apply(p, []Overlay{{Name: "m", Requirements: []scheduling.Requirement{in("example.com/family", "m"), in(zone, "a")}, Price: price("2")}}, scheduling.LabelRules{})
	if err != nil {
		t.Fatal(err)
	}
	web, batch := r.Pools[0].InstanceTypes, r.Pools[1].InstanceTypes
	switch {
	case &web[0] != &batch[0]:
		t.Error("pools to which the same happens do not share their types")
	case web[1] != p[0].InstanceTypes[1]:
		t.Error("a type in which nothing changes was copied")
	case web[0] == p[0].InstanceTypes[0] || p[0].InstanceTypes[0].Offerings[0].Price != price("1"):
		t.Error("a type was written to")
	}
	r, err = Apply(p, []Overlay{{Name: "w", Requirements: []scheduling.Requirement{in("team", "web")}, Price: price("2")}}, scheduling.LabelRules{})
	if err != nil {
		t.Fatal(err)
	}
	if &r.Pools[1].InstanceTypes[0] != &p[1].InstanceTypes[0] {
		t.Error("a pool in which nothing changes does not have its slice of types")
	}
}

func TestFaults(t *testing.T) {
	bad := []Overlay{
		{Weight: 10001, Price: price("1")},
		{Name: "a", Price: price("1"), PriceAdjustment: "+1"},
		{Name: "a", Requirements: []scheduling.Requirement{op("k", "In"), op("k", "Is", "x")}},
		{Name: "b", Capacity: amounts("cpu", "1", "g", "-1", "h", "9e18"), Overhead: amounts("cpu", "-1")},
		{Name: "c", PriceAdjustment: "5%"}, {Name: "d", PriceAdjustment: "-101%"}, {Name: "e", PriceAdjustment: "-100.5%"},
		{Name: "f", PriceAdjustment: "+1e3"}, {Name: "g", PriceAdjustment: "+" + strings.Repeat("1", 100)}, {Name: "h", PriceAdjustment: "+"},
	}
	_, err := Apply(pools(), bad, scheduling.LabelRules{})
	var e *InputError
	if !errors.As(err, &e) {
		t.Fatalf("error %v", err)
	}
	var got []string
	for _, f := range e.Faults {
		got = append(got, f.Path)
	}
	want := []string{"overlays[0].name", "overlays[0].weight", "overlays[1].priceAdjustment", "overlays[2].requirements[0]", "overlays[2].requirements[1]",
		"overlays[2].name", `overlays[3].capacity["cpu"]`, `overlays[3].capacity["g"]`, `overlays[3].capacity["h"]`, `overlays[3].overhead["cpu"]`,
		"overlays[4].priceAdjustment", "overlays[5].priceAdjustment", "overlays[6].priceAdjustment", "overlays[7].priceAdjustment", "overlays[8].priceAdjustment", "overlays[9].priceAdjustment"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s\n%s", d, err)
	}
	p := pools()
	p[0].InstanceTypes[1].Requirements[2].Operator = "Is"
	_, err = Apply(p[:1], []Overlay{{Name: "a", Requirements: []scheduling.Requirement{in(capacityType, "spot")}, Price: price("1")}}, scheduling.LabelRules{})
	if err == nil || !strings.HasPrefix(err.Error(), `overlay: pools["web"].instanceTypes["c8"].requirements[2]: requirement`) {
		t.Errorf("a type that cannot be read: %v", err)
	}
}
