package catalog

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/fleetwright/fleetwright/scheduling"
)

// validator gathers the faults of a snapshot while it fills the catalogue's indexes.
type validator struct {
	c      *Catalog
	faults []scheduling.Fault
}

func (v *validator) add(path, problem, remedy string) {
	v.faults = append(v.faults, fault(path, problem, remedy))
}

func (v *validator) date(path, date string, needed bool) {
	if date == "" && !needed {
		return
	}
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		v.add(path, quote(date)+" is not a date", "write YYYY-MM-DD")
	}
}

func (v *validator) types() {
	s := &v.c.snapshot
	if s.Schema != Schema {
		v.add("schema", quote(s.Schema)+" is not a format that this version reads", "use "+Schema)
	}
	v.date("asOf", s.AsOf, true)
	for i := range s.Sources {
		v.date("sources["+strconv.Itoa(i)+"].asOf", s.Sources[i].AsOf, false)
	}
	for i := range s.Types {
		f := &s.Types[i]
		at := "types[" + quote(f.Name) + "]"
		if _, twice := v.c.types[f.Name]; twice {
			v.add(at, "is there twice", "keep one")
		}
		v.c.types[f.Name] = i
		for _, fault := range f.Check() {
			v.add(at+"."+fault.Path, fault.Problem, fault.Remedy)
		}
	}
}

const maxZones = 64 // bits of a mask; the largest region has 6

func (v *validator) region(r *region) {
	at := "regions[" + quote(r.Name) + "]"
	if r.Name == "" {
		v.add(at+".name", "is empty", "name the region")
	}
	if len(r.Currency) != 3 {
		v.add(at+".currency", quote(r.Currency)+" is not a currency", "write an ISO 4217 code such as USD")
	}
	v.date(at+".zonesAsOf", r.ZonesAsOf, len(r.Zones) > 0)
	zones := map[string]int{}
	if len(r.Zones) > maxZones {
		v.add(at+".zones", strconv.Itoa(len(r.Zones))+" zones are too many", "give at most 64")
		return
	}
	for i, z := range r.Zones {
		if _, twice := zones[z.Name]; twice || z.Name == "" {
			at := at + ".zones[" + strconv.Itoa(i) + "]"
			v.add(at, "zone "+quote(z.Name)+" is empty or there twice", "name each zone once")
		}
		zones[z.Name] = i
	}
	v.offered(at, r, zones)
	v.table(at+".onDemand", r, &r.OnDemand, zones)
	v.table(at+".spot", r, &r.Spot, zones)
	v.derivations(at, r)
}

func (v *validator) offered(at string, r *region, zones map[string]int) {
	for i, o := range r.Offered {
		at := at + ".offered[" + strconv.Itoa(i) + "]"
		var mask uint64
		for _, z := range o.Zones {
			n, ok := zones[z]
			if !ok {
				v.add(at+".zones", quote(z)+" is not a zone of the region", "list it under zones")
			}
			mask |= 1 << n
		}
		if mask == 0 {
			v.add(at+".zones", "is empty", "name the zones, or drop the entry")
		}
		for _, name := range o.Types {
			n, ok := v.c.types[name]
			switch {
			case !ok:
				v.unknownType(at+".types", name)
			case r.zones[n] != 0:
				v.add(at+".types", quote(name)+" is offered twice", "list each type once, with all its zones")
			default:
				r.zones[n] = mask
			}
		}
	}
}

func (v *validator) unknownType(at, name string) {
	v.add(at, quote(name)+" is not a type of this snapshot", "add its facts to types, or leave it out here")
}

func (v *validator) table(at string, r *region, t *PriceTable, zones map[string]int) {
	v.prices(at+".perHour", t.PerHour)
	for _, z := range slices.Sorted(maps.Keys(t.PerZone)) {
		if _, ok := zones[z]; !ok {
			v.add(at+".perZone", quote(z)+" is not a zone of "+r.Name, "list it under zones")
		}
		v.prices(at+".perZone["+quote(z)+"]", t.PerZone[z])
	}
	v.date(at+".asOf", t.AsOf, len(t.PerHour)+len(t.PerZone) > 0)
	d := &t.Derived
	v.date(at+".derived.asOf", d.AsOf, len(d.Multipliers)+len(d.Savings) > 0)
}

func (v *validator) prices(at string, prices map[string]scheduling.Price) {
	for _, name := range sortedBad(prices, func(name string, p scheduling.Price) bool {
		_, known := v.c.types[name]
		return !known || p.Known() && p.Nano() == 0
	}) {
		if _, ok := v.c.types[name]; !ok {
			v.unknownType(at, name)
			continue
		}
		v.add(at+"["+quote(name)+"]", "is 0, which is not a price", "leave it out if it is unknown")
	}
}

func (v *validator) derivations(at string, r *region) {
	d := &r.OnDemand.Derived
	if d.From != "" || len(d.Multipliers) > 0 {
		r.from = v.c.regions[d.From]
		if r.from == nil || r.from == r {
			v.add(at+".onDemand.derived.from", quote(d.From)+" is not another region of this snapshot",
				"name the region whose prices are multiplied")
		} else if r.from.Currency != r.Currency {
			v.add(at+".onDemand.derived.from", "has prices in "+r.from.Currency+", not "+r.Currency, "use one currency")
		}
	}
	outside := func(_ string, m float64) bool { return !(m > 0.001 && m < 1000) }
	for _, family := range sortedBad(d.Multipliers, outside) {
		at := at + ".onDemand.derived.multipliers[" + quote(family) + "]"
		v.add(at, "is not between 0.001 and 1000", "give a ratio such as 1.05")
	}
	for _, name := range sortedBad(r.Spot.Derived.Savings, func(name string, s int) bool {
		_, known := v.c.types[name]
		return !known || s >= 100 || s < -1000
	}) {
		if _, ok := v.c.types[name]; !ok {
			v.unknownType(at+".spot.derived.savings", name)
			continue
		}
		v.add(at+".spot.derived.savings["+quote(name)+"]", "is not a saving", "give percent below 100")
	}
	if len(r.OnDemand.Derived.Savings) > 0 || len(r.Spot.Derived.Multipliers) > 0 || r.Spot.Derived.From != "" {
		v.add(at, "multipliers are for on-demand and savings for spot", "swap them")
	}
}

// sortedBad returns the keys of the entries that are bad, sorted.
func sortedBad[T any](m map[string]T, bad func(string, T) bool) []string {
	var out []string
	for name, value := range m {
		if bad(name, value) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
