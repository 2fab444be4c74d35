package catalog

import (
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

// Catalog is a checked snapshot with its indexes. It is immutable and safe for concurrent use.
type Catalog struct {
	snapshot Snapshot
	// types maps names to indexes into snapshot.Types, which are sorted by name.
	types   map[string]int
	regions map[string]*region
}

// region is an indexed Region.
type region struct {
	*Region
	// zones has a bit per zone of Region.Zones, by type index.
	zones []uint64
	// from is the region that on-demand prices derive from, if any.
	from *region
}

// New checks a snapshot and indexes it. An error is a *SnapshotError with every fault. The
// catalogue keeps the snapshot's maps and slices: do not change them afterwards. Types and
// Regions are sorted in copies.
func New(s Snapshot) (*Catalog, error) {
	s.Types, s.Regions = slices.Clone(s.Types), slices.Clone(s.Regions)
	slices.SortStableFunc(s.Types, func(a, b instancetype.Facts) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(s.Regions, func(a, b Region) int { return strings.Compare(a.Name, b.Name) })
	c := &Catalog{
		snapshot: s,
		types:    make(map[string]int, len(s.Types)),
		regions:  make(map[string]*region, len(s.Regions)),
	}
	v := validator{c: c}
	v.types()
	for i := range s.Regions {
		r := &c.snapshot.Regions[i]
		if c.regions[r.Name] != nil {
			v.add("regions["+quote(r.Name)+"]", "is there twice", "merge the two")
			continue
		}
		c.regions[r.Name] = &region{Region: r, zones: make([]uint64, len(s.Types))}
	}
	for i := range s.Regions {
		if r := c.regions[s.Regions[i].Name]; r.Region == &c.snapshot.Regions[i] {
			v.region(r)
		}
	}
	if len(v.faults) > 0 {
		return nil, &SnapshotError{Faults: v.faults}
	}
	return c, nil
}

// Snapshot returns the catalogue's content. Read only: it shares maps and slices with the
// catalogue.
func (c *Catalog) Snapshot() Snapshot { return c.snapshot }

// AsOf is the date of the types' facts, YYYY-MM-DD. Prices and zones have dates of their own: see
// Region.
func (c *Catalog) AsOf() string { return c.snapshot.AsOf }

// Regions returns the names of all regions, sorted.
func (c *Catalog) Regions() []string {
	out := make([]string, len(c.snapshot.Regions))
	for i := range out {
		out[i] = c.snapshot.Regions[i].Name
	}
	return out
}

// Facts returns what is known of a type. Read only.
func (c *Catalog) Facts(name string) (instancetype.Facts, bool) {
	i, ok := c.types[name]
	if !ok {
		return instancetype.Facts{}, false
	}
	return c.snapshot.Types[i], true
}

// RegionInfo says what a catalogue knows of a region.
type RegionInfo struct {
	Name, Currency string
	// Zones is empty where only prices are known.
	Zones []Zone
	// ZonesAsOf is the date of the zones and of what they offer.
	ZonesAsOf string
	// Types is the number of types offered in some zone.
	Types int
	// OnDemand and Spot say how many of these have a price, and of what kind.
	OnDemand, Spot PriceCount
}

// PriceCount counts the types a region offers by what is known of their price.
type PriceCount struct {
	Quoted, Derived, Unknown int
	// QuotedAsOf and DerivedAsOf are dates, empty where there are no such prices.
	QuotedAsOf, DerivedAsOf string
}

// Region describes a region. An error is an *UnknownRegionError.
func (c *Catalog) Region(name string) (RegionInfo, error) {
	r, err := c.region(name)
	if err != nil {
		return RegionInfo{}, err
	}
	info := RegionInfo{Name: r.Name, Currency: r.Currency, Zones: slices.Clone(r.Zones), ZonesAsOf: r.ZonesAsOf}
	for i, zones := range r.zones {
		if zones == 0 {
			continue
		}
		info.Types++
		f := &c.snapshot.Types[i]
		info.OnDemand.count(r.price(f, "", OnDemand))
		if slices.Contains(f.UsageClasses, Spot) {
			info.Spot.count(r.price(f, "", Spot))
		}
	}
	return info, nil
}

func (n *PriceCount) count(p Price) {
	switch p.Basis {
	case Quoted:
		n.Quoted++
		n.QuotedAsOf = p.AsOf
	case Derived:
		n.Derived++
		n.DerivedAsOf = p.AsOf
	default:
		n.Unknown++
	}
}

func (c *Catalog) region(name string) (*region, error) {
	if r := c.regions[name]; r != nil {
		return r, nil
	}
	return nil, &UnknownRegionError{Region: name, Near: near(name, c.Regions())}
}

// origin describes the region's data in the words that a plan carries.
func (c *Catalog) origin(r *region) scheduling.Catalog {
	parts := []string{"types " + c.snapshot.AsOf}
	for _, t := range []struct {
		name  string
		table *PriceTable
	}{{"on-demand", &r.OnDemand}, {"spot", &r.Spot}} {
		if len(t.table.PerHour) > 0 || len(t.table.PerZone) > 0 {
			parts = append(parts, t.name+" prices quoted "+t.table.AsOf)
		}
		if d := &t.table.Derived; len(d.Multipliers) > 0 || len(d.Savings) > 0 {
			parts = append(parts, t.name+" prices derived "+d.AsOf)
		}
	}
	return scheduling.Catalog{
		AsOf:     c.snapshot.AsOf,
		Source:   "EC2 snapshot: " + strings.Join(parts, ", "),
		Region:   r.Name,
		Currency: r.Currency,
	}
}
