package catalog

import (
	"math/bits"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

const (
	zoneIDLabel  = "topology.k8s.aws/zone-id"
	tenancyLabel = "karpenter.k8s.aws/instance-tenancy"
)

// Filter narrows the types of a region. The zero value takes all that run Linux nodes.
type Filter struct {
	// Types are globs over names (* and ?), such as "m5.*"; a type needs to match one. Each glob
	// must match a type of the region.
	Types []string
	// Arch are architectures, amd64 and arm64.
	Arch []string
	// CapacityTypes are OnDemand and Spot.
	CapacityTypes []string
}

// InstanceTypes returns the types of a region that pass the filter, sorted by name, with an
// offering for every zone and capacity type in which they are sold, and where the figures come
// from. An offering whose price is unknown is there without one. Every call builds new values;
// some of them share maps and slices, so replace these rather than write into them.
//
// The prices are for shared tenancy, so the label karpenter.k8s.aws/instance-tenancy is
// "default".
//
// Errors: *UnknownRegionError, *FilterError, *instancetype.InputError.
func (c *Catalog) InstanceTypes(region string, f Filter, s instancetype.Settings) (
	[]*scheduling.InstanceType, scheduling.Catalog, error) {
	fail := func(err error) ([]*scheduling.InstanceType, scheduling.Catalog, error) {
		return nil, scheduling.Catalog{}, err
	}
	r, err := c.region(region)
	if err != nil {
		return fail(err)
	}
	builder, err := instancetype.NewBuilder(s)
	if err != nil {
		return fail(err)
	}
	chosen, err := c.choose(r, f)
	if err != nil {
		return fail(err)
	}
	capacityTypes := f.CapacityTypes
	if len(capacityTypes) == 0 {
		capacityTypes = []string{OnDemand, Spot}
	}
	offerer := newOfferer(r, capacityTypes)
	out := make([]*scheduling.InstanceType, 0, len(chosen))
	for _, i := range chosen {
		facts := &c.snapshot.Types[i]
		it, err := builder.Build(*facts)
		if err != nil {
			return fail(err)
		}
		offerer.offer(it, facts, r.zones[i])
		if len(it.Offerings) > 0 {
			out = append(out, it)
		}
	}
	if len(out) == 0 {
		return fail(filterError(region, fault("capacityTypes", "none of the types is sold so", "allow on-demand")))
	}
	return out, c.origin(r), nil
}

// choose returns the indexes of the types that pass the filter, apart from capacity types.
func (c *Catalog) choose(r *region, f Filter) ([]int, error) {
	if faults := c.filterFaults(r, f); len(faults) > 0 {
		return nil, &FilterError{Region: r.Name, Faults: faults}
	}
	var out []int
	for i, zones := range r.zones {
		facts := &c.snapshot.Types[i]
		arch := facts.Arch()
		if zones == 0 || arch == "" || len(f.Arch) > 0 && !slices.Contains(f.Arch, arch) {
			continue
		}
		if len(f.Types) == 0 || slices.ContainsFunc(f.Types, func(g string) bool { return match(g, facts.Name) }) {
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		return nil, filterError(r.Name, fault("arch", "no type that matches has this architecture",
			"allow amd64 and arm64, or other types"))
	}
	return out, nil
}

// match needs a glob that filterFaults found well-formed.
func match(glob, name string) bool {
	ok, _ := path.Match(glob, name)
	return ok
}

// offerer adds offerings, and the labels that follow from them, to types of one region. What
// types share is made once: the labels of a zone, the requirements of a set of zones.
type offerer struct {
	r             *region
	capacityTypes []string
	labels        []map[string]string
	places        map[uint64][]scheduling.Requirement
}

func newOfferer(r *region, capacityTypes []string) *offerer {
	o := &offerer{
		r:             r,
		capacityTypes: slices.Compact(slices.Sorted(slices.Values(capacityTypes))),
		labels:        make([]map[string]string, len(r.Zones)),
		places:        map[uint64][]scheduling.Requirement{},
	}
	for i, zone := range r.Zones {
		if zone.ID != "" {
			o.labels[i] = map[string]string{zoneIDLabel: zone.ID}
		}
	}
	return o
}

func (o *offerer) offer(it *scheduling.InstanceType, f *instancetype.Facts, zones uint64) {
	it.Offerings = make([]scheduling.Offering, 0, len(o.capacityTypes)*bits.OnesCount64(zones))
	var sold []string
	for _, ct := range o.capacityTypes {
		if !slices.Contains(f.UsageClasses, ct) {
			continue
		}
		sold = append(sold, ct)
		price, zonal := o.r.price(f, "", ct).PerHour, o.r.zonal(ct)
		for z, zone := range o.r.Zones {
			if zones&(1<<z) == 0 {
				continue
			}
			if zonal {
				price = o.r.price(f, zone.Name, ct).PerHour
			}
			it.Offerings = append(it.Offerings, scheduling.Offering{
				Zone: zone.Name, CapacityType: ct, Price: price, Labels: o.labels[z],
			})
		}
	}
	it.Requirements = append(it.Requirements, in(scheduling.CapacityTypeLabel, sold...))
	it.Requirements = append(it.Requirements, o.place(zones)...)
}

// place returns what the labels of a node say about where it is.
func (o *offerer) place(zones uint64) []scheduling.Requirement {
	if out, ok := o.places[zones]; ok {
		return out
	}
	var names, ids []string
	for z, zone := range o.r.Zones {
		if zones&(1<<z) != 0 {
			names = append(names, zone.Name)
			if zone.ID != "" {
				ids = append(ids, zone.ID)
			}
		}
	}
	out := []scheduling.Requirement{
		in(corev1.LabelTopologyZone, names...),
		in(corev1.LabelTopologyRegion, o.r.Name),
		in(tenancyLabel, "default"),
	}
	if len(ids) == len(names) {
		out = append(out, in(zoneIDLabel, ids...))
	}
	o.places[zones] = out
	return out
}

func in(key string, values ...string) scheduling.Requirement {
	return scheduling.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

// zonal reports whether any price of the capacity type differs by zone.
func (r *region) zonal(capacityType string) bool {
	return len(r.OnDemand.PerZone) > 0 || capacityType == Spot && len(r.Spot.PerZone) > 0
}
