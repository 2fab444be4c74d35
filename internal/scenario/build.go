package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetwright/fleetwright/scheduling"
)

// builder turns lines into the parts of a problem. Types come before the pools and nodes that use
// them, nodes before the pods bound to them.
type builder struct {
	s     *Scenario
	types map[string]*scheduling.InstanceType
}

// verb is what a line starts with: how many operands follow, and what is made of them.
type verb struct {
	operands int
	build    func(b *builder, operands []string, f *fields)
}

func verbs() map[string]verb {
	return map[string]verb{
		"type":       {1, func(b *builder, o []string, f *fields) { b.types[o[0]] = instanceType(o[0], f) }},
		"pool":       {1, func(b *builder, o []string, f *fields) { b.pool(o[0], f) }},
		"node":       {1, func(b *builder, o []string, f *fields) { b.node(o[0], f) }},
		"daemonset":  {1, (*builder).daemonSet},
		"pods":       {2, (*builder).pods},
		"demand":     {2, func(b *builder, o []string, f *fields) { b.demand(o, f, false) }},
		"buffer":     {2, func(b *builder, o []string, f *fields) { b.demand(o, f, true) }},
		"gang":       {1, (*builder).gang},
		"ganglabel":  {1, (*builder).gangLabel},
		"commitment": {1, (*builder).commitment},
		"namespace":  {1, (*builder).namespace},
		"defaults":   {0, (*builder).defaults},
		"service":    {1, (*builder).service},
		"owner":      {1, (*builder).owner},
		"class":      {1, (*builder).class},
		"volume":     {1, (*builder).volume},
		"claims":     {2, (*builder).claims},
		"solve":      {0, func(b *builder, _ []string, f *fields) { b.solve(f) }},
	}
}

func (b *builder) line(line string) error {
	ws, err := words(line)
	if err != nil {
		return err
	}
	known := verbs()
	v, ok := known[ws[0]]
	if !ok {
		return fmt.Errorf("unknown verb %q; use %s", ws[0], strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	if len(ws) < 1+v.operands {
		return fmt.Errorf("%s needs %d operand(s)", ws[0], v.operands)
	}
	f, err := parseFields(ws[1+v.operands:])
	if err != nil {
		return err
	}
	v.build(b, ws[1:1+v.operands], f)
	return f.err()
}

func instanceType(name string, f *fields) *scheduling.InstanceType {
	zones := f.list("zones")
	if zones == nil {
		zones = []string{"a"}
	}
	t := &scheduling.InstanceType{Name: name, Overhead: f.resources("overhead"), Capacity: f.amounts()}
	if _, ok := t.Capacity[corev1.ResourcePods]; !ok {
		f.add(&t.Capacity, "pods", "110")
	}
	prices, unavailable, unpriced := f.pairs("prices"), f.list("unavailable"), f.list("unpriced")
	var kinds []string
	for _, kind := range []string{"price", "spot"} {
		price := f.price(kind)
		if !price.Known() {
			continue
		}
		if kind == "price" {
			kind = "on-demand"
		}
		kinds = append(kinds, kind)
		for _, zone := range zones {
			key := zone + "/" + kind
			o := scheduling.Offering{Zone: zone, CapacityType: kind, Price: price, Unavailable: slices.Contains(unavailable, key)}
			if s, ok := prices[key]; ok {
				var err error
				if o.Price, err = scheduling.ParsePrice(s); err != nil {
					f.fail("prices", err.Error())
				}
			}
			if slices.Contains(unpriced, key) {
				o.Price = scheduling.Price{}
			}
			t.Offerings = append(t.Offerings, o)
		}
	}
	in := func(key string, values ...string) {
		t.Requirements = append(t.Requirements,
			scheduling.Requirement{Key: labelKey(key), Operator: corev1.NodeSelectorOpIn, Values: values})
	}
	reservations(t, f)
	committed(t, f)
	if slices.ContainsFunc(t.Offerings, func(o scheduling.Offering) bool { return o.Reservation != "" }) {
		kinds = append(kinds, "reserved")
	}
	if !slices.Contains(kinds, "on-demand") && slices.ContainsFunc(t.Offerings, func(o scheduling.Offering) bool { return o.Commitment != "" }) {
		kinds = append(kinds, "on-demand")
	}
	zoneLabels(t, f)
	attachLimits(t, f)
	in("type", name)
	in("arch", f.str("arch", "amd64"))
	in("os", f.str("os", "linux"))
	in("zone", zones...)
	in("capacity", kinds...)
	labels := f.pairs("labels")
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		in(k, labels[k])
	}
	return t
}

// reservations reads zone/name=price:count.
func reservations(t *scheduling.InstanceType, f *fields) {
	pairs := f.pairs("reservations")
	for _, k := range slices.Sorted(maps.Keys(pairs)) {
		zone, name, _ := strings.Cut(k, "/")
		amount, count, _ := strings.Cut(pairs[k], ":")
		price, err := scheduling.ParsePrice(amount)
		if err != nil {
			f.fail("reservations", err.Error())
		}
		t.Offerings = append(t.Offerings, scheduling.Offering{
			Zone: zone, CapacityType: "reserved", Price: price, Reservation: name, Count: f.count("reservations", count)})
	}
}

// committed reads zone/name=price:draw.
func committed(t *scheduling.InstanceType, f *fields) {
	pairs := f.pairs("committed")
	for _, k := range slices.Sorted(maps.Keys(pairs)) {
		o := scheduling.Offering{CapacityType: "on-demand"}
		o.Zone, o.Commitment, _ = strings.Cut(k, "/")
		price, draw, drawn := strings.Cut(pairs[k], ":")
		var err error
		if o.Price, err = scheduling.ParsePrice(price); err == nil && drawn {
			o.Draw, err = scheduling.ParsePrice(draw)
		}
		if err != nil {
			f.fail("committed", err.Error())
		}
		t.Offerings = append(t.Offerings, o)
	}
}

// zoneLabels reads zone/label=value, which all offerings of the zone carry.
func zoneLabels(t *scheduling.InstanceType, f *fields) {
	for k, v := range f.pairs("zonelabels") {
		zone, label, _ := strings.Cut(k, "/")
		for i := range t.Offerings {
			if o := &t.Offerings[i]; o.Zone == zone {
				o.Labels = with(o.Labels, label, v)
			}
		}
	}
}

func (b *builder) pool(name string, f *fields) {
	p := scheduling.Pool{
		Name: name, Weight: int32(f.integer("weight", 0)), Labels: f.pairs("labels"),
		Taints: f.taints("taints"), StartupTaints: f.taints("startup"),
		Limits: f.resources("limits"), Requirements: f.requirements("requirements"),
	}
	if policy, _, ok := preferences(f); ok {
		p.Preferences = &policy
	}
	for _, t := range f.list("types") {
		if b.types[t] == nil {
			f.fail("types", fmt.Sprintf("%q is not a type of a line above", t))
			continue
		}
		p.InstanceTypes = append(p.InstanceTypes, b.types[t])
	}
	b.s.Problem.Pools = append(b.s.Problem.Pools, p)
}

func (b *builder) node(name string, f *fields) {
	zone, capacity := f.str("zone", "a"), f.str("capacity", "on-demand")
	n := scheduling.Node{
		Name: name, Pool: f.str("pool", ""), Taints: f.taints("taints"), StartupTaints: f.taints("startup"),
		Uninitialized: f.flag("uninitialized"), Unschedulable: f.flag("cordoned"),
		Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelTopologyZone: zone,
			corev1.LabelArchStable: "amd64", corev1.LabelOSStable: "linux",
		},
	}
	b.attach(name, f)
	if n.Pool != "" {
		n.Labels[scheduling.PoolLabel], n.Labels[scheduling.CapacityTypeLabel] = n.Pool, capacity
	}
	if typ := f.str("type", ""); typ != "" {
		t := b.types[typ]
		if t == nil {
			f.fail("type", fmt.Sprintf("%q is not a type of a line above", typ))
			return
		}
		for _, r := range t.Requirements {
			if len(r.Values) == 1 {
				n.Labels[r.Key] = r.Values[0]
			}
		}
		n.Labels[corev1.LabelTopologyZone] = zone
		if n.Pool != "" {
			n.Labels[scheduling.CapacityTypeLabel] = capacity
		}
		n.Capacity, n.Allocatable = t.Capacity, minus(t.Capacity, t.Overhead)
	} else {
		n.Allocatable = f.amounts()
		if _, ok := n.Allocatable[corev1.ResourcePods]; !ok {
			f.add(&n.Allocatable, "pods", "110")
		}
	}
	if zone == "-" {
		delete(n.Labels, corev1.LabelTopologyZone)
	}
	maps.Copy(n.Labels, f.pairs("labels"))
	b.s.Problem.Nodes = append(b.s.Problem.Nodes, n)
}

func minus(a, b corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, q := range a {
		q.Sub(b[name])
		if q.Sign() < 0 {
			q = *resource.NewQuantity(0, q.Format)
		}
		out[name] = q
	}
	return out
}
