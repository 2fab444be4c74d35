package catalog

import (
	"math"
	"math/bits"
	"slices"

	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

// Capacity types, values of the label karpenter.sh/capacity-type.
const (
	OnDemand = "on-demand"
	Spot     = "spot"
)

// Basis says how a price is known.
type Basis int

const (
	// Unknown is no price at all: neither free nor comparable.
	Unknown Basis = iota
	// Derived is computed from other figures. Good enough to compare, not to quote.
	Derived
	// Quoted is what the source said.
	Quoted
)

// String returns "unknown", "derived" or "quoted".
func (b Basis) String() string {
	switch b {
	case Quoted:
		return "quoted"
	case Derived:
		return "derived"
	}
	return "unknown"
}

// Price is a price and what is known of it.
type Price struct {
	// PerHour is not known if Basis is Unknown.
	PerHour scheduling.Price
	Basis   Basis
	// AsOf is the date of the quote or of the figures it derives from, YYYY-MM-DD.
	AsOf string
	// Source says who quoted it, or how it was derived.
	Source string
	// Currency, ISO 4217.
	Currency string
}

// Price looks a price up; zone "" asks for the region's. A type without a price, or that is not
// sold so, has an Unknown one. Errors: *UnknownRegionError, and *FilterError for a type or
// capacity type that the catalogue does not know.
func (c *Catalog) Price(region, instanceType, zone, capacityType string) (Price, error) {
	r, err := c.region(region)
	if err != nil {
		return Price{}, err
	}
	i, ok := c.types[instanceType]
	if !ok {
		return Price{}, filterError(region, c.unknownType(instanceType))
	}
	if fault, bad := unknownCapacityType("capacityType", capacityType); bad {
		return Price{}, filterError(region, fault)
	}
	return r.price(&c.snapshot.Types[i], zone, capacityType), nil
}

// price needs a capacity type that is known.
func (r *region) price(f *instancetype.Facts, zone, capacityType string) Price {
	out := Price{Currency: r.Currency}
	if !slices.Contains(f.UsageClasses, capacityType) {
		return out
	}
	table := &r.OnDemand
	if capacityType == Spot {
		table = &r.Spot
	}
	if p := table.quoted(f.Name, zone); p.Known() {
		out.PerHour, out.Basis, out.AsOf, out.Source = p, Quoted, table.AsOf, table.Source
		return out
	}
	if p := r.derive(f, zone, capacityType); p.Known() {
		out.PerHour, out.Basis, out.AsOf, out.Source = p, Derived, table.Derived.AsOf, table.Derived.Source
	}
	return out
}

func (t *PriceTable) quoted(name, zone string) scheduling.Price {
	if zone != "" {
		if p := t.PerZone[zone][name]; p.Known() {
			return p
		}
	}
	return t.PerHour[name]
}

func (r *region) derive(f *instancetype.Facts, zone, capacityType string) scheduling.Price {
	if capacityType == Spot {
		saving, ok := r.Spot.Derived.Savings[f.Name]
		if !ok {
			return scheduling.Price{}
		}
		return times(r.price(f, zone, OnDemand).PerHour, int64(100-max(saving, 0))*10_000)
	}
	m, ok := r.OnDemand.Derived.Multipliers[f.Family]
	if !ok || r.from == nil {
		return scheduling.Price{}
	}
	return times(r.from.OnDemand.quoted(f.Name, ""), int64(math.Round(m*1_000_000)))
}

// times multiplies a price by millionths, exactly, and rounds to a millionth of the currency:
// derived figures are not precise beyond that. A product that is 0 or too large is no price.
func times(p scheduling.Price, millionths int64) scheduling.Price {
	const step = 1000 // billionths
	if !p.Known() || millionths <= 0 {
		return scheduling.Price{}
	}
	hi, lo := bits.Mul64(uint64(p.Nano()), uint64(millionths))
	if hi >= 1_000_000*step {
		return scheduling.Price{}
	}
	q, rest := bits.Div64(hi, lo, 1_000_000*step)
	if rest >= 1_000_000*step/2 {
		q++
	}
	if q == 0 || q > math.MaxInt64/step {
		return scheduling.Price{}
	}
	return scheduling.PriceFromNano(int64(q) * step)
}
