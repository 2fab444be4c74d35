package catalog_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

// small is a snapshot of one type in two regions, made new for every test.
func small(t testing.TB) catalog.Snapshot {
	t.Helper()
	m5, ok := embedded(t).Facts("m5.large")
	if !ok {
		t.Fatal("no facts of m5.large")
	}
	price := func(s string) scheduling.Price {
		p, err := scheduling.ParsePrice(s)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	return catalog.Snapshot{
		Schema: catalog.Schema, AsOf: "2026-01-02",
		Types: []instancetype.Facts{m5},
		Regions: []catalog.Region{
			{
				Name: "here", Currency: "EUR", ZonesAsOf: "2026-01-03",
				Zones:    []catalog.Zone{{Name: "here-a", ID: "h1"}, {Name: "here-b", ID: "h2"}, {Name: "here-c", ID: "h3"}},
				Offered:  []catalog.Offered{{Zones: []string{"here-a", "here-b", "here-c"}, Types: []string{"m5.large"}}},
				OnDemand: catalog.PriceTable{AsOf: "2026-01-04", Source: "bill", PerHour: map[string]scheduling.Price{"m5.large": price("0.1")}},
				Spot: catalog.PriceTable{
					AsOf: "2026-01-05", Source: "history",
					PerHour: map[string]scheduling.Price{"m5.large": price("0.05")},
					PerZone: map[string]map[string]scheduling.Price{"here-b": {"m5.large": price("0.03")}},
				},
			},
			{
				Name: "there", Currency: "EUR", ZonesAsOf: "2026-01-03",
				Zones:   []catalog.Zone{{Name: "there-a"}},
				Offered: []catalog.Offered{{Zones: []string{"there-a"}, Types: []string{"m5.large"}}},
				OnDemand: catalog.PriceTable{Derived: catalog.Derivation{
					AsOf: "2026-01-06", Source: "ratio", From: "here", Multipliers: map[string]float64{"m5": 1.5}}},
				Spot: catalog.PriceTable{Derived: catalog.Derivation{
					AsOf: "2026-01-07", Source: "saving", Savings: map[string]int{"m5.large": 60}}},
			},
		},
	}
}

func TestOwnPrices(t *testing.T) {
	rows := []struct {
		name, reason               string
		change                     func(*catalog.Snapshot)
		region, zone, capacityType string
		want                       string
	}{
		{"region", "one price for all zones", nil, "here", "here-a", catalog.Spot, "0.05 quoted 2026-01-05 history"},
		{"zone", "a zone's own price wins", nil, "here", "here-b", catalog.Spot, "0.03 quoted 2026-01-05 history"},
		{"derived", "0.1 x 1.5", nil, "there", "", catalog.OnDemand, "0.15 derived 2026-01-06 ratio"},
		{"derived of derived", "60 % off 0.15", nil, "there", "", catalog.Spot, "0.06 derived 2026-01-07 saving"},
		{"quoted wins", "over a rule", func(s *catalog.Snapshot) {
			s.Regions[1].OnDemand.AsOf = "2026-02-01"
			s.Regions[1].OnDemand.PerHour = map[string]scheduling.Price{"m5.large": scheduling.PriceFromFloat(0.2)}
		}, "there", "", catalog.OnDemand, "0.2 quoted 2026-02-01 "},
		{"null", "stands for unknown, so the rule applies", func(s *catalog.Snapshot) {
			s.Regions[1].OnDemand.AsOf = "2026-02-01"
			s.Regions[1].OnDemand.PerHour = map[string]scheduling.Price{"m5.large": {}}
		}, "there", "", catalog.OnDemand, "0.15 derived 2026-01-06 ratio"},
		{"negative saving", "spot never costs more than on-demand", func(s *catalog.Snapshot) {
			s.Regions[1].Spot.Derived.Savings["m5.large"] = -20
		}, "there", "", catalog.Spot, "0.15 derived 2026-01-07 saving"},
		{"no ratio", "unknown, and what derives from it", func(s *catalog.Snapshot) {
			delete(s.Regions[1].OnDemand.Derived.Multipliers, "m5")
		}, "there", "", catalog.Spot, "unknown unknown  "},
		{"rounding", "to a millionth, half up: 0.1 x 1.000025 = 0.1000025", func(s *catalog.Snapshot) {
			s.Regions[1].OnDemand.Derived.Multipliers["m5"] = 1.000025
		}, "there", "", catalog.OnDemand, "0.100003 derived 2026-01-06 ratio"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s := small(t)
			if row.change != nil {
				row.change(&s)
			}
			c, err := catalog.New(s)
			if err != nil {
				t.Fatal(err)
			}
			p, err := c.Price(row.region, "m5.large", row.zone, row.capacityType)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join([]string{p.PerHour.String(), p.Basis.String(), p.AsOf, p.Source}, " "); got != row.want {
				t.Errorf("price is %q, want %q: %s", got, row.want, row.reason)
			}
		})
	}
}

func TestOwnOfferings(t *testing.T) {
	c, err := catalog.New(small(t))
	if err != nil {
		t.Fatal(err)
	}
	types, origin, err := c.InstanceTypes("here", catalog.Filter{CapacityTypes: []string{catalog.Spot}}, instancetype.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range types[0].Offerings {
		got = append(got, o.Zone+" "+o.CapacityType+" "+o.Price.String())
	}
	if want := "here-a spot 0.05, here-b spot 0.03, here-c spot 0.05"; strings.Join(got, ", ") != want {
		t.Errorf("offerings are %s, want %s", strings.Join(got, ", "), want)
	}
	want := scheduling.Catalog{AsOf: "2026-01-02", Region: "here", Currency: "EUR",
		Source: "EC2 snapshot: types 2026-01-02, on-demand prices quoted 2026-01-04, spot prices quoted 2026-01-05"}
	if !origin.Equal(want) {
		t.Errorf("origin is %+v, want %+v", origin, want)
	}
}

func TestLoadFaults(t *testing.T) {
	rows := []struct {
		name, reason string
		change       func(*catalog.Snapshot)
		text         func(string) string
		want         string
	}{
		{"schema", "another version's file", func(s *catalog.Snapshot) { s.Schema = "v0" }, nil,
			`catalog: snapshot: schema: "v0" is not a format that this version reads; use fleetwright-catalog/v1`},
		{"several", "all at once", func(s *catalog.Snapshot) {
			s.AsOf = "yesterday"
			s.Types[0].VCPU = 0
			s.Types = append(s.Types, s.Types[0])
			r := &s.Regions[0]
			r.Currency = ""
			r.Zones[2] = r.Zones[0]
			r.Offered = append(r.Offered, catalog.Offered{Zones: []string{"moon-a"}, Types: []string{"m5.large", "m5.huge"}})
			r.OnDemand.PerHour = map[string]scheduling.Price{"m5.large": scheduling.PriceFromNano(0), "x.y": {}}
			r.OnDemand.AsOf = ""
		}, nil, `catalog: snapshot: 14 faults
  asOf: "yesterday" is not a date; write YYYY-MM-DD
  types["m5.large"].vcpu: 0 is not a number of vCPUs; give the default number of vCPUs
  types["m5.large"]: is there twice; keep one
  types["m5.large"].vcpu: 0 is not a number of vCPUs; give the default number of vCPUs
  regions["here"].currency: "" is not a currency; write an ISO 4217 code such as USD
  regions["here"].zones[2]: zone "here-a" is empty or there twice; name each zone once
  regions["here"].offered[0].zones: "here-c" is not a zone of the region; list it under zones
  regions["here"].offered[1].zones: "moon-a" is not a zone of the region; list it under zones
  regions["here"].offered[1].types: "m5.large" is offered twice; list each type once, with all its zones
  regions["here"].offered[1].types: "m5.huge" is not a type of this snapshot; add its facts to types, or leave it out here
  ... and 4 more`},
		{"price 0", "a missing price is not a free machine", func(s *catalog.Snapshot) {
			s.Regions[0].Spot.PerZone["here-b"]["m5.large"] = scheduling.PriceFromNano(0)
		}, nil, `catalog: snapshot: regions["here"].spot.perZone["here-b"]["m5.large"]: is 0, which is not a price; leave it out if it is unknown`},
		{"price of an unknown type", "a typing mistake would be a missing price", func(s *catalog.Snapshot) {
			s.Regions[0].OnDemand.PerHour["m5.lrge"] = scheduling.PriceFromFloat(1)
		}, nil, `catalog: snapshot: regions["here"].onDemand.perHour: "m5.lrge" is not a type of this snapshot; add its facts to types, or leave it out here`},
		{"derives from nowhere", "no prices to multiply", func(s *catalog.Snapshot) { s.Regions[1].OnDemand.Derived.From = "moon" }, nil,
			`catalog: snapshot: regions["there"].onDemand.derived.from: "moon" is not another region of this snapshot; name the region whose prices are multiplied`},
		{"derives across currencies", "a ratio is no exchange rate", func(s *catalog.Snapshot) { s.Regions[1].Currency = "USD" }, nil,
			`catalog: snapshot: regions["there"].onDemand.derived.from: has prices in EUR, not USD; use one currency`},
		{"saving of everything", "it would cost nothing", func(s *catalog.Snapshot) { s.Regions[1].Spot.Derived.Savings["m5.large"] = 100 }, nil,
			`catalog: snapshot: regions["there"].spot.derived.savings["m5.large"]: is not a saving; give percent below 100`},
		{"multiplier", "a ratio is positive", func(s *catalog.Snapshot) { s.Regions[1].OnDemand.Derived.Multipliers["m5"] = -1 }, nil,
			`catalog: snapshot: regions["there"].onDemand.derived.multipliers["m5"]: is not between 0.001 and 1000; give a ratio such as 1.05`},
		{"region twice", "which of them counts?", func(s *catalog.Snapshot) { s.Regions[1].Name = "here" }, nil,
			`catalog: snapshot: regions["here"]: is there twice; merge the two`},
		{"not JSON", "say where", nil, func(s string) string { return strings.Replace(s, `"regions":[`, `"regions":[,`, 1) },
			`catalog: snapshot: line 4: invalid character ',' looking for beginning of value; give JSON as Save writes it`},
		{"wrong type", "say where", nil, func(s string) string { return strings.Replace(s, `"vcpu":2`, `"vcpu":"two"`, 1) },
			`catalog: snapshot: line 3, types.vcpu: is a JSON string, not int; give JSON as Save writes it`},
		{"unknown field", "a typing mistake would be a missing fact", nil, func(s string) string { return strings.Replace(s, `"vcpu":2`, `"vcpus":2`, 1) },
			`catalog: snapshot: line 3: unknown field "vcpus"; remove it or mend its spelling`},
		{"bad prices", "each with its place", nil, func(s string) string {
			return strings.NewReplacer(`"m5.large":0.1`, `"m5.large":"free"`, `"m5.large":0.03`, `"m5.large":-1`).Replace(s)
		}, `catalog: snapshot: 2 faults
  regions["here"].onDemand.perHour["m5.large"]: "free" is not a price; write a decimal amount per hour
  regions["here"].spot.perZone["here-b"]["m5.large"]: -1 is not a price; write a decimal amount per hour`},
		{"cut off", "an interrupted copy", nil, func(s string) string { return s[:len(s)/2] },
			`catalog: snapshot: line 3: ends too early; give JSON as Save writes it`},
		{"empty", "an interrupted copy", nil, func(string) string { return "" },
			`catalog: snapshot: line 1: ends too early; give JSON as Save writes it`},
		{"more behind", "two files in one", nil, func(s string) string { return s + "{}" },
			`catalog: snapshot: line 7: something follows the snapshot; remove it`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s := small(t)
			if row.change != nil {
				row.change(&s)
			}
			text := saved(t, s)
			if row.text != nil {
				changed := row.text(text)
				if changed == text {
					t.Fatal("the row changes nothing")
				}
				text = changed
			}
			_, err := catalog.Load(strings.NewReader(text))
			var snapshot *catalog.SnapshotError
			if !errors.As(err, &snapshot) {
				t.Fatalf("error is %v, want a *SnapshotError: %s", err, row.reason)
			}
			if err.Error() != row.want {
				t.Errorf("error is\n%s\nwant\n%s", err, row.want)
			}
		})
	}
}

// saved writes a snapshot as Save would, faults and all.
func saved(t testing.TB, s catalog.Snapshot) string {
	t.Helper()
	parts := []any{s.Types, s.Regions}
	s.Types, s.Regions = nil, nil
	out := `{"schema":` + marshal(t, s.Schema) + `,"asOf":` + marshal(t, s.AsOf)
	for i, name := range []string{"types", "regions"} {
		out += ",\n\"" + name + "\":" + strings.Replace(marshal(t, parts[i]), "[", "[\n", 1)
		out = strings.TrimSuffix(out, "]") + "]"
	}
	return out + "}\n\n"
}

func marshal(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestLoadGzip(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(saved(t, small(t)))); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := catalog.Load(bytes.NewReader(b.Bytes())); err != nil {
		t.Errorf("gzipped: %v", err)
	}
	if _, err := catalog.Load(bytes.NewReader(b.Bytes()[:b.Len()/2])); err == nil {
		t.Error("half a gzip file is accepted")
	}
}

// FuzzLoad feeds arbitrary files. What is accepted can be used, saved and loaded again, to the same
// bytes; what is refused says why.
func FuzzLoad(f *testing.F) {
	good := saved(f, small(f))
	f.Add([]byte(good))
	f.Add([]byte(strings.Replace(good, "0.05", "null", 1)))
	f.Add([]byte(`{"schema":"fleetwright-catalog/v1","asOf":"2026-01-02","types":null,"regions":[{"name":"a","currency":"USD"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := catalog.Load(bytes.NewReader(data))
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without text")
			}
			return
		}
		for _, region := range c.Regions() {
			types, _, err := c.InstanceTypes(region, catalog.Filter{}, instancetype.Settings{})
			if err != nil {
				continue
			}
			for _, it := range types {
				for _, o := range it.Offerings {
					if o.Price.Known() && o.Price.Nano() == 0 {
						t.Errorf("%s in %s costs nothing", it.Name, o.Zone)
					}
				}
			}
		}
		var first, second bytes.Buffer
		if err := c.Save(&first); err != nil {
			t.Fatal(err)
		}
		d, err := catalog.Load(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("what Save wrote is refused: %v", err)
		}
		if err := d.Save(&second); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Error("saved, loaded and saved again gives other bytes")
		}
	})
}
