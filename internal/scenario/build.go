package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
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

func (b *builder) line(line string) error {
	ws, err := words(line)
	if err != nil {
		return err
	}
	verb, operands := ws[0], map[string]int{"type": 1, "pool": 1, "node": 1, "daemonset": 1, "pods": 2, "solve": 0}
	n, known := operands[verb]
	if !known {
		return fmt.Errorf("unknown verb %q; use %s", verb, strings.Join(slices.Sorted(maps.Keys(operands)), ", "))
	}
	if len(ws) < 1+n {
		return fmt.Errorf("%s needs %d operand(s)", verb, n)
	}
	f, err := parseFields(ws[1+n:])
	if err != nil {
		return err
	}
	switch verb {
	case "type":
		b.types[ws[1]] = instanceType(ws[1], f)
	case "pool":
		b.pool(ws[1], f)
	case "node":
		b.node(ws[1], f)
	case "daemonset":
		b.s.Problem.DaemonSets = append(b.s.Problem.DaemonSets, pod(ws[1], f))
	case "pods":
		err = b.pods(ws[1], ws[2], f)
	case "solve":
		b.s.Options = options(f)
	}
	if err != nil {
		return err
	}
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

func (b *builder) pool(name string, f *fields) {
	p := scheduling.Pool{
		Name: name, Weight: int32(f.integer("weight", 0)), Labels: f.pairs("labels"),
		Taints: f.taints("taints"), StartupTaints: f.taints("startup"),
		Limits: f.resources("limits"), Requirements: f.requirements("requirements"),
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

func (b *builder) pods(count, name string, f *fields) error {
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > 100_000 {
		return fmt.Errorf("pods: %q is not a number from 1 to 100000", count)
	}
	on := f.str("node", "")
	template := pod(name, f)
	for i := range n {
		p := template.DeepCopy()
		if n > 1 {
			// Padded, so that the order of names is that of numbers.
			p.Name = fmt.Sprintf("%s-%0*d", name, len(count), i+1)
		}
		if on == "" {
			b.s.Problem.Pods = append(b.s.Problem.Pods, p)
			continue
		}
		at := slices.IndexFunc(b.s.Problem.Nodes, func(node scheduling.Node) bool { return node.Name == on })
		if at < 0 {
			return fmt.Errorf("node: %q is not a node of a line above", on)
		}
		p.Spec.NodeName = on
		b.s.Problem.Nodes[at].Pods = append(b.s.Problem.Nodes[at].Pods, p)
	}
	return nil
}

func options(f *fields) *scheduling.Options {
	o := &scheduling.Options{Steps: f.integer("steps", 0), MaxAlternatives: int(f.integer("maxalternatives", 0))}
	choose := func(key, value string) bool {
		got := f.str(key, "")
		if got != "" && got != value {
			f.fail(key, fmt.Sprintf("%q is not %s", got, value))
		}
		return got == value
	}
	if choose("preferences", "ignore") {
		o.Preferences = scheduling.PreferencesIgnore
	}
	if choose("minvalues", "best-effort") {
		o.MinValues = scheduling.MinValuesBestEffort
	}
	if choose("limits", "one") {
		o.Limits = scheduling.LimitOneFallback
	}
	return o
}
