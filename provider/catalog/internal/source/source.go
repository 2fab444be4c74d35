// Package source reads the files that the embedded snapshot is made of. Only the generator and
// its test use it.
package source

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

// sources are the origins of the files' content, with the versions that were read.
var sources = []catalog.Source{
	{
		What: "types", From: "github.com/getmoto/moto moto/ec2/resources/instance_types.json",
		Revision: "34d6cad5abbb7b91c97578f3249b39a7e2df1ed5", License: "Apache-2.0",
	},
	{
		What: "network bandwidth and branch interfaces", From: "github.com/aws/karpenter-provider-aws pkg/providers/instancetype",
		Revision: "7f27b4e85", AsOf: "2026-08-06", License: "Apache-2.0",
	},
	{
		What: "zones", From: "github.com/getmoto/moto moto/ec2/resources/instance_type_offerings",
		Revision: "c6bd43ff2d090b35b6491f1cc80bffd29063e5c8", License: "Apache-2.0",
	},
	{
		What: "on-demand prices", From: "github.com/aws/karpenter-provider-aws pkg/providers/pricing",
		Revision: "6fc13b5236fd04fd16ff3f9dc7490d0813994099", License: "Apache-2.0",
	},
	{
		What: "on-demand price ratios between regions", From: "github.com/apache/libcloud libcloud/data/pricing.json",
		Revision: "a5ee9ef02aa6a3deb9d65c8242a94563d59153c6", License: "Apache-2.0",
	},
	{
		What: "spot savings", From: "github.com/alexei-led/spotinfo internal/spot/data/spot-advisor-data.json (AWS Spot Advisor)",
		Revision: "5eedf20a99614443af215f4aaf09bd10805cac72", License: "Apache-2.0",
	},
}

const (
	quotedSource  = "AWS price list, Linux, shared tenancy"
	derivedSource = "us-east-1 price x ratio of the type's family, observed or typical of its category"
	spotSource    = "on-demand price less the AWS Spot Advisor's saving; no difference between zones"
	baseRegion    = "us-east-1"
)

type files struct {
	types struct {
		AsOf  string
		Types []instancetype.Facts
	}
	prices struct {
		Regions map[string]struct {
			AsOf, Currency string
			Prices         map[string]scheduling.Price
		}
	}
	derived struct {
		ObservedAsOf, Currency string
		Regions                map[string]map[string]ratio
	}
	zones struct {
		AsOf    string
		Regions map[string]struct {
			Zones     []catalog.Zone
			Offerings map[string]string
		}
	}
	spot struct {
		AsOf string
		// Regions hold saving and interruption bucket by type.
		Regions map[string]map[string][2]int
	}
}

// ratio is the first of a family's [multiplier, samples, basis].
type ratio float64

// UnmarshalJSON reads the list.
func (r *ratio) UnmarshalJSON(b []byte) error {
	var row [3]json.RawMessage
	if err := json.Unmarshal(b, &row); err != nil {
		return err
	}
	return json.Unmarshal(row[0], (*float64)(r))
}

// Read makes a snapshot of the files in a directory.
func Read(dir fs.FS) (catalog.Snapshot, error) {
	var f files
	for _, part := range []struct {
		name string
		into any
	}{
		{"instance-types.json", &f.types},
		{"prices.json", &f.prices},
		{"prices-derived.json", &f.derived},
		{"zones.json", &f.zones},
		{"spot-advisor.json", &f.spot},
	} {
		data, err := fs.ReadFile(dir, part.name)
		if err != nil {
			return catalog.Snapshot{}, err
		}
		if err := json.Unmarshal(data, part.into); err != nil {
			return catalog.Snapshot{}, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return f.snapshot(), nil
}

func (f *files) snapshot() catalog.Snapshot {
	out := catalog.Snapshot{
		Schema: catalog.Schema, AsOf: f.types.AsOf, Sources: slices.Clone(sources), Types: f.types.Types,
	}
	for i := range out.Sources {
		switch s := &out.Sources[i]; s.What {
		case "types":
			s.AsOf = f.types.AsOf
		case "zones":
			s.AsOf = f.zones.AsOf
		case "on-demand prices":
			s.AsOf = day(f.prices.Regions[baseRegion].AsOf)
		case "on-demand price ratios between regions":
			s.AsOf = f.derived.ObservedAsOf
		case "spot savings":
			s.AsOf = f.spot.AsOf
		}
	}
	known := map[string]bool{}
	for i := range f.types.Types {
		known[f.types.Types[i].Name] = true
	}
	names := map[string]bool{}
	for name := range f.zones.Regions {
		names[name] = true
	}
	for name := range f.prices.Regions {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out.Regions = append(out.Regions, f.region(name, known))
	}
	return out
}

func (f *files) region(name string, known map[string]bool) catalog.Region {
	r := catalog.Region{Name: name, Currency: f.derived.Currency}
	if z, ok := f.zones.Regions[name]; ok {
		r.Zones, r.ZonesAsOf = z.Zones, f.zones.AsOf
		r.Offered = offered(name, z.Offerings)
	}
	if p, ok := f.prices.Regions[name]; ok {
		r.Currency = p.Currency
		prices := only(p.Prices, known)
		r.OnDemand = catalog.PriceTable{AsOf: day(p.AsOf), Source: quotedSource, PerHour: prices}
	}
	if d, ok := f.derived.Regions[name]; ok {
		r.OnDemand.Derived = catalog.Derivation{
			AsOf: f.derived.ObservedAsOf, Source: derivedSource, From: baseRegion, Multipliers: map[string]float64{},
		}
		for family, row := range d {
			r.OnDemand.Derived.Multipliers[family] = float64(row)
		}
	}
	if s, ok := f.spot.Regions[name]; ok && len(r.Zones) > 0 {
		r.Spot.Derived = catalog.Derivation{AsOf: f.spot.AsOf, Source: spotSource, Savings: map[string]int{}}
		for typ, row := range only(s, known) {
			r.Spot.Derived.Savings[typ] = row[0]
		}
	}
	return r
}

// offered groups types by the letters of their zones.
func offered(region string, letters map[string]string) []catalog.Offered {
	groups := map[string][]string{}
	for typ, l := range letters {
		groups[l] = append(groups[l], typ)
	}
	var out []catalog.Offered
	for _, l := range slices.Sorted(maps.Keys(groups)) {
		o := catalog.Offered{Types: slices.Sorted(slices.Values(groups[l]))}
		for _, letter := range strings.Split(l, "") {
			o.Zones = append(o.Zones, region+letter)
		}
		out = append(out, o)
	}
	return out
}

// only keeps the entries of types whose facts are known; lists of prices go back further.
func only[T any](m map[string]T, known map[string]bool) map[string]T {
	out := map[string]T{}
	for name, v := range m {
		if known[name] {
			out[name] = v
		}
	}
	return out
}

// day cuts a time down to its date.
func day(t string) string { return t[:min(len(t), len("2006-01-02"))] }
