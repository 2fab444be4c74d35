package catalog_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

func embedded(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEmbeddedRegions(t *testing.T) {
	c := embedded(t)
	if got := len(c.Snapshot().Types); got != 1373 {
		t.Errorf("%d types, want 1373", got)
	}
	if got := len(c.Regions()); got != 33 {
		t.Errorf("%d regions, want 33: 30 with zones and 3 with prices only", got)
	}
	rows := []struct {
		name, reason string
		want         catalog.RegionInfo
		zones        int
	}{
		{"us-east-1", "the region whose prices are quoted", catalog.RegionInfo{Currency: "USD", ZonesAsOf: "2026-08-01", Types: 1354,
			OnDemand: catalog.PriceCount{Quoted: 1345, Unknown: 9, QuotedAsOf: "2026-07-20"},
			Spot:     catalog.PriceCount{Derived: 883, Unknown: 437, DerivedAsOf: "2025-06-28"}}, 6},
		{"eu-west-1", "prices by ratio", catalog.RegionInfo{Currency: "USD", ZonesAsOf: "2026-08-01", Types: 1150,
			OnDemand: catalog.PriceCount{Derived: 1135, Unknown: 15, DerivedAsOf: "2023-08-06"},
			Spot:     catalog.PriceCount{Derived: 781, Unknown: 350, DerivedAsOf: "2025-06-28"}}, 3},
		{"ap-southeast-5", "new: zones, but nothing to derive prices from", catalog.RegionInfo{Currency: "USD", ZonesAsOf: "2026-08-01", Types: 471,
			OnDemand: catalog.PriceCount{Unknown: 471}, Spot: catalog.PriceCount{Unknown: 469}}, 3},
		{"cn-north-1", "prices in another currency, zones not known", catalog.RegionInfo{Currency: "CNY"}, 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			got, err := c.Region(row.name)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Zones) != row.zones {
				t.Errorf("%d zones, want %d", len(got.Zones), row.zones)
			}
			row.want.Name, got.Zones = row.name, nil
			if !reflect.DeepEqual(got, row.want) {
				t.Errorf("got  %+v\nwant %+v: %s", got, row.want, row.reason)
			}
		})
	}
}

func TestEmbeddedPrices(t *testing.T) {
	rows := []struct {
		name, reason              string
		region, typ, capacityType string
		perHour                   string
		basis                     catalog.Basis
		asOf, currency            string
	}{
		{"quoted", "as the price list says", "us-east-1", "m5.large", catalog.OnDemand, "0.096", catalog.Quoted, "2026-07-20", "USD"},
		{"derived", "0.096 x 1.1146", "eu-west-1", "m5.large", catalog.OnDemand, "0.107002", catalog.Derived, "2023-08-06", "USD"},
		{"spot", "66 % less, whatever the zone", "us-east-1", "m5.large", catalog.Spot, "0.03264", catalog.Derived, "2025-06-28", "USD"},
		{"other currency", "nothing is converted", "cn-north-1", "m5.large", catalog.OnDemand, "1.013", catalog.Quoted, "2024-11-06", "CNY"},
		{"no price in a new region", "unknown, not 0", "ap-southeast-5", "m5.large", catalog.OnDemand, "unknown", catalog.Unknown, "", "USD"},
		{"spot without saving", "the Spot Advisor does not list it", "us-east-1", "m9g.large", catalog.Spot, "unknown", catalog.Unknown, "", "USD"},
		{"not sold by spot", "its usage class is on-demand only", "us-east-1", "u-6tb1.56xlarge", catalog.Spot, "unknown", catalog.Unknown, "", "USD"},
	}
	c := embedded(t)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			p, err := c.Price(row.region, row.typ, "", row.capacityType)
			if err != nil {
				t.Fatal(err)
			}
			if p.PerHour.String() != row.perHour || p.Basis != row.basis || p.AsOf != row.asOf || p.Currency != row.currency {
				t.Errorf("price is %s %s, %s as of %q, want %s %s, %s as of %q: %s",
					p.PerHour, p.Currency, p.Basis, p.AsOf, row.perHour, row.currency, row.basis, row.asOf, row.reason)
			}
			if (p.Basis == catalog.Unknown) != (p.Source == "") {
				t.Errorf("basis %s has source %q", p.Basis, p.Source)
			}
		})
	}
}

// TestEveryType builds all types of all regions and checks what must hold of each.
func TestEveryType(t *testing.T) {
	c := embedded(t)
	offerings := 0
	for _, region := range c.Regions() {
		info, err := c.Region(region)
		if err != nil {
			t.Fatal(err)
		}
		if len(info.Zones) == 0 {
			continue
		}
		types, origin, err := c.InstanceTypes(region, catalog.Filter{}, instancetype.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if origin.Region != region || origin.Currency != info.Currency || origin.AsOf != c.AsOf() || origin.Source == "" {
			t.Errorf("%s: origin is %+v", region, origin)
		}
		if !slices.IsSortedFunc(types, func(a, b *scheduling.InstanceType) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("%s: types are not sorted by name", region)
		}
		for _, it := range types {
			offerings += len(it.Offerings)
			checkType(t, region, it)
		}
	}
	if offerings < 100_000 {
		t.Errorf("only %d offerings in all regions", offerings)
	}
}

func checkType(t *testing.T, region string, it *scheduling.InstanceType) {
	t.Helper()
	label := map[string][]string{}
	for _, r := range it.Requirements {
		if _, err := scheduling.ParseRequirement(r); err != nil {
			t.Errorf("%s %s: %v", region, it.Name, err)
		}
		if _, twice := label[r.Key]; twice {
			t.Errorf("%s %s: two requirements on %s", region, it.Name, r.Key)
		}
		label[r.Key] = r.Values
	}
	if limit, ok := it.Capacity[scheduling.AttachLimit("ebs.csi.aws.com")]; !ok || limit.Value() < 1 {
		t.Errorf("%s %s: takes %s EBS volumes (given: %v), want at least one", region, it.Name, limit.String(), ok)
	}
	prices := map[string]scheduling.Price{}
	zones, capacityTypes := map[string]bool{}, map[string]bool{}
	for _, o := range it.Offerings {
		if o.Price.Known() && o.Price.Nano() == 0 {
			t.Errorf("%s %s: an offering costs nothing", region, it.Name)
		}
		if !slices.Contains(label[corev1.LabelTopologyZone], o.Zone) || !slices.Contains(label[scheduling.CapacityTypeLabel], o.CapacityType) ||
			!slices.Contains(label["topology.k8s.aws/zone-id"], o.Labels["topology.k8s.aws/zone-id"]) {
			t.Errorf("%s %s: the offering %+v is not among the labels", region, it.Name, o)
		}
		if _, twice := prices[o.Zone+"/"+o.CapacityType]; twice {
			t.Errorf("%s %s: two offerings of %s in %s", region, it.Name, o.CapacityType, o.Zone)
		}
		prices[o.Zone+"/"+o.CapacityType] = o.Price
		zones[o.Zone], capacityTypes[o.CapacityType] = true, true
	}
	if len(zones) != len(label[corev1.LabelTopologyZone]) || len(capacityTypes) != len(label[scheduling.CapacityTypeLabel]) {
		t.Errorf("%s %s: labels name zones or capacity types without an offering", region, it.Name)
	}
	if len(it.Offerings) != len(zones)*len(capacityTypes) {
		t.Errorf("%s %s: %d offerings for %d zones and %d capacity types", region, it.Name, len(it.Offerings), len(zones), len(capacityTypes))
	}
	for z := range zones {
		spot, onDemand := prices[z+"/spot"], prices[z+"/on-demand"]
		if spot.Known() && (!onDemand.Known() || spot.Nano() > onDemand.Nano()) {
			t.Errorf("%s %s: spot %s is above on-demand %s", region, it.Name, spot, onDemand)
		}
	}
}

func TestInstanceTypesTwice(t *testing.T) {
	c := embedded(t)
	filter := catalog.Filter{Types: []string{"c6g*.2xlarge", "m5.*"}, CapacityTypes: []string{catalog.Spot, catalog.OnDemand, catalog.Spot}}
	a, _, err := c.InstanceTypes("us-west-2", filter, instancetype.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(filter.Types)
	slices.Reverse(filter.CapacityTypes)
	b, _, err := c.InstanceTypes("us-west-2", filter, instancetype.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Error("the order of the filter's lists changes the result")
	}
}

func TestFilter(t *testing.T) {
	rows := []struct {
		name, reason string
		region       string
		f            catalog.Filter
		want         string // names, or the error
	}{
		{"glob", "? is one letter", "us-east-1", catalog.Filter{Types: []string{"m?.large"}}, "m1.large m3.large m4.large m5.large"},
		{"names", "a name is a glob", "us-east-1", catalog.Filter{Types: []string{"m5.large", "c5.large"}}, "c5.large m5.large"},
		{"overlap", "no type twice", "us-east-1", catalog.Filter{Types: []string{"t4g.nano", "t4g.n*"}}, "t4g.nano"},
		{"arch", "only what both allow", "us-east-1", catalog.Filter{Types: []string{"m5.large", "m6g.large"}, Arch: []string{"arm64"}}, "m6g.large"},
		{"capacity type", "u-6tb1 is not sold by spot", "us-east-1", catalog.Filter{Types: []string{"m5.large", "u-6tb1.*"}, CapacityTypes: []string{"spot"}}, "m5.large"},
		{"region", "a typing mistake", "us-east1", catalog.Filter{}, `catalog: no region "us-east1"; did you mean us-east-1?`},
		{"far region", "nothing similar", "moon", catalog.Filter{}, `catalog: no region "moon"; Regions lists those of this catalogue`},
		{"family", "a typing mistake", "us-east-1", catalog.Filter{Types: []string{"m55.*"}}, `catalog: region us-east-1: types[0]: no type matches "m55.*"; did you mean m5.*, m5a.*, m5d.*?`},
		{"size", "a typing mistake", "us-east-1", catalog.Filter{Types: []string{"m5.lage"}}, `catalog: region us-east-1: types[0]: no type matches "m5.lage"; did you mean m5.large?`},
		{"no dot", "a typing mistake", "us-east-1", catalog.Filter{Types: []string{"m5large"}}, `catalog: region us-east-1: types[0]: no type matches "m5large"; did you mean m5.large?`},
		{"family without size", "what was probably meant", "us-east-1", catalog.Filter{Types: []string{"m5"}}, `catalog: region us-east-1: types[0]: no type matches "m5"; write m5.* for all its sizes`},
		{"nothing near", "an example helps", "us-east-1", catalog.Filter{Types: []string{"e2-standard-4"}}, `catalog: region us-east-1: types[0]: no type matches "e2-standard-4"; write names such as m5.large or globs such as m5.*`},
		{"elsewhere", "it exists, but not here", "af-south-1", catalog.Filter{Types: []string{"p5.*"}}, `catalog: region af-south-1: types[0]: "p5.*" matches only types that af-south-1 does not offer; choose other types or another region`},
		{"macOS", "no kubelet", "us-east-1", catalog.Filter{Types: []string{"mac*"}}, `catalog: region us-east-1: types[0]: "mac*" matches only machines that run no Kubernetes node; choose other types`},
		{"several", "all at once", "us-east-1", catalog.Filter{Types: []string{"m5.large", "[", "zz.*"}, Arch: []string{"x86_64"}, CapacityTypes: []string{"reserved"}},
			`catalog: region us-east-1: 4 faults
  types[1]: "[" is not a glob; write letters, digits, dots, dashes, * and ?
  types[2]: no type matches "zz.*"; write names such as m5.large or globs such as m5.*
  arch[0]: "x86_64" is not an architecture; use amd64 or arm64
  capacityTypes[0]: "reserved" is not a capacity type with prices; use on-demand or spot`},
		{"arch left nothing", "each fits alone, not together", "us-east-1", catalog.Filter{Types: []string{"m5.*"}, Arch: []string{"arm64"}}, `catalog: region us-east-1: arch: no type that matches has this architecture; allow amd64 and arm64, or other types`},
		{"capacity type left nothing", "each fits alone, not together", "us-east-1", catalog.Filter{Types: []string{"u-6tb1.*"}, CapacityTypes: []string{"spot"}}, `catalog: region us-east-1: capacityTypes: none of the types is sold so; allow on-demand`},
		{"no zones", "prices alone plan nothing", "us-gov-west-1", catalog.Filter{}, `catalog: region us-gov-west-1: zones: this catalogue has prices of the region but not its zones; load a snapshot that says what its zones offer`},
	}
	c := embedded(t)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			types, _, err := c.InstanceTypes(row.region, row.f, instancetype.Settings{})
			got := names(types)
			if err != nil {
				got = err.Error()
				var region *catalog.UnknownRegionError
				var filter *catalog.FilterError
				if !errors.As(err, &region) && !errors.As(err, &filter) {
					t.Errorf("error has type %T", err)
				}
			}
			if got != row.want {
				t.Errorf("got\n%s\nwant\n%s\n(%s)", got, row.want, row.reason)
			}
		})
	}
}

func names(types []*scheduling.InstanceType) string {
	var out []string
	for _, it := range types {
		out = append(out, it.Name)
	}
	return strings.Join(out, " ")
}

func TestBadSettingsOfInstanceTypes(t *testing.T) {
	_, _, err := embedded(t).InstanceTypes("us-east-1", catalog.Filter{}, instancetype.Settings{PodsPerCore: -1})
	var input *instancetype.InputError
	if !errors.As(err, &input) {
		t.Errorf("error is %v, want an *instancetype.InputError, once and not for every type", err)
	}
}

func TestPriceErrors(t *testing.T) {
	c := embedded(t)
	for _, row := range []struct{ name, region, typ, capacityType, want string }{
		{"region", "eu-wst-1", "m5.large", "spot", `catalog: no region "eu-wst-1"; did you mean eu-west-1?`},
		{"type", "eu-west-1", "m5.lrge", "spot", `catalog: region eu-west-1: type: no type matches "m5.lrge"; did you mean m5.large?`},
		{"capacity type", "eu-west-1", "m5.large", "sport", `catalog: region eu-west-1: capacityType: "sport" is not a capacity type with prices; use on-demand or spot`},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := c.Price(row.region, row.typ, "", row.capacityType); err == nil || err.Error() != row.want {
				t.Errorf("error is %v, want %s", err, row.want)
			}
		})
	}
}

func TestSaveLoad(t *testing.T) {
	c := embedded(t)
	var first, second bytes.Buffer
	if err := c.Save(&first); err != nil {
		t.Fatal(err)
	}
	d, err := catalog.Load(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Save(&second); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("a saved catalogue that is loaded and saved again has other bytes")
	}
	if !reflect.DeepEqual(c.Snapshot(), d.Snapshot()) {
		t.Error("a saved catalogue that is loaded again has other content")
	}
}

func BenchmarkLoad(b *testing.B) {
	var file bytes.Buffer
	if err := embedded(b).Save(&file); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := catalog.Load(bytes.NewReader(file.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInstanceTypes(b *testing.B) {
	c := embedded(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := c.InstanceTypes("us-east-1", catalog.Filter{}, instancetype.Settings{}); err != nil {
			b.Fatal(err)
		}
	}
}
