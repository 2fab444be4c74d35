package overlay

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// applier applies overlays to one pool after another.
type applier struct {
	rules scheduling.LabelRules
	// overlays are sorted, the heaviest first, then by name; effects are theirs.
	overlays []compiled
	effects  []Effect
	// asked are the label keys that some overlay asks for; no other label is looked at.
	asked     map[string]bool
	conflicts []Conflict
	// done are pools with the same types to which all overlays apply alike.
	done map[alike]*outcome
	// places are the labels of offerings that decide nothing but zone and capacity type.
	places map[[2]string]scheduling.Requirements
}

type compiled struct {
	*Overlay
	wants   []want
	pricing pricing
}

type want struct {
	key string
	set scheduling.ValueSet
}

// alike says what of a pool the outcome depends on: its slice of types, and the labels that are asked for.
type alike struct {
	first  **scheduling.InstanceType
	n      int
	labels string
}

// outcome is what became of the types of a pool; conflicts have no pool yet.
type outcome struct {
	types     []*scheduling.InstanceType
	own       bool // types is not the caller's
	effects   []Effect
	conflicts []Conflict
	faults    []scheduling.Fault
}

func newApplier(overlays []Overlay, rules scheduling.LabelRules) (*applier, []scheduling.Fault) {
	if rules.Aliases == nil {
		rules.Aliases = scheduling.KubernetesAliases()
	}
	a := &applier{rules: rules, asked: map[string]bool{}, done: map[alike]*outcome{}, places: map[[2]string]scheduling.Requirements{}}
	var faults []scheduling.Fault
	names := map[string]int{}
	for i := range overlays {
		o := &overlays[i]
		at := fmt.Sprintf("overlays[%d]", i)
		for _, f := range o.Faults() {
			f.Path = at + "." + f.Path
			faults = append(faults, f)
		}
		if first, taken := names[o.Name]; taken {
			faults = append(faults, scheduling.Fault{Path: at + ".name", Problem: fmt.Sprintf("%q is the name of overlays[%d] too", o.Name, first), Remedy: "rename one"})
		} else {
			names[o.Name] = i
		}
		asks, err := scheduling.ParseRequirements(o.Requirements, rules)
		if err != nil || len(faults) > 0 {
			continue
		}
		c := compiled{Overlay: o, pricing: newPricing(o)}
		for _, key := range asks.Keys() {
			a.asked[key] = true
			c.wants = append(c.wants, want{key, asks.Get(key)})
		}
		a.overlays = append(a.overlays, c)
	}
	slices.SortFunc(a.overlays, func(a, b compiled) int {
		return cmp.Or(-cmp.Compare(a.Weight, b.Weight), strings.Compare(a.Name, b.Name))
	})
	for _, o := range a.overlays {
		a.effects = append(a.effects, Effect{Overlay: o.Name})
	}
	return a, faults
}

// pool gives a pool its corrected types and adds up what was done to them.
func (a *applier) pool(p *scheduling.Pool) []scheduling.Fault {
	if len(p.InstanceTypes) == 0 || len(a.overlays) == 0 {
		return nil
	}
	labels := maps.Clone(p.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[scheduling.PoolLabel] = p.Name
	node := a.nodeLabels(labels)
	var text strings.Builder
	for _, r := range node.List() {
		fmt.Fprintf(&text, "%q ", r)
	}
	key := alike{&p.InstanceTypes[0], len(p.InstanceTypes), text.String()}
	out := a.done[key]
	if out == nil {
		out = &outcome{types: p.InstanceTypes, effects: make([]Effect, len(a.overlays))}
		for i, t := range p.InstanceTypes {
			if t != nil {
				a.instanceType(out, i, node)
			}
		}
		a.done[key] = out
	}
	p.InstanceTypes = out.types
	for i, e := range out.effects {
		a.effects[i].add(e)
	}
	for _, c := range out.conflicts {
		c.Pool = p.Name
		a.conflicts = append(a.conflicts, c)
	}
	faults := slices.Clone(out.faults)
	for i := range faults {
		faults[i].Path = fmt.Sprintf("pools[%q].%s", p.Name, faults[i].Path)
	}
	return faults
}

func (e *Effect) add(o Effect) {
	e.Types += o.Types
	e.Offerings += o.Offerings
	e.Prices += o.Prices
	e.Unpriced += o.Unpriced
	e.Capacities += o.Capacities
	e.Overheads += o.Overheads
	e.Widened += o.Widened
	e.Outweighed += o.Outweighed
	e.Conflicts += o.Conflicts
}

// nodeLabels are the labels that some overlay asks for.
func (a *applier) nodeLabels(labels map[string]string) scheduling.Requirements {
	some := map[string]string{}
	for k, v := range labels {
		if a.asked[a.rules.Key(k)] {
			some[k] = v
		}
	}
	if len(some) == 0 {
		return scheduling.Requirements{}
	}
	return scheduling.NodeRequirements(some, a.rules)
}

// typeLabels is what is known of the labels of a type's nodes, as far as some overlay asks.
func (a *applier) typeLabels(t *scheduling.InstanceType) (scheduling.Requirements, error) {
	var some []scheduling.Requirement
	named := false
	for _, r := range t.Requirements {
		if key := a.rules.Key(r.Key); a.asked[key] {
			some = append(some, r)
			named = named || key == corev1.LabelInstanceTypeStable
		}
	}
	if !named && a.asked[corev1.LabelInstanceTypeStable] {
		some = append(some, scheduling.Requirement{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{t.Name}})
	}
	out, err := scheduling.ParseRequirements(some, a.rules)
	if err != nil { // Again with all of them, so that its paths are right.
		_, err = scheduling.ParseRequirements(t.Requirements, a.rules)
	}
	return out, err
}

// instanceType corrects the type with that number of the outcome.
func (a *applier) instanceType(out *outcome, number int, pool scheduling.Requirements) {
	t := out.types[number]
	node, err := a.typeLabels(t)
	if bad := new(scheduling.InputError); errors.As(err, &bad) {
		for _, f := range bad.Faults {
			f.Path = fmt.Sprintf("instanceTypes[%q].%s", t.Name, f.Path)
			out.faults = append(out.faults, f)
		}
		return
	}
	node = node.Intersect(pool)
	var maybe []int
	for i := range a.overlays {
		if !ruledOut(node, a.overlays[i].wants) {
			maybe = append(maybe, i)
		}
	}
	if len(maybe) == 0 {
		return
	}
	c := correction{applier: a, out: out, old: t, matches: make([]int, len(a.overlays))}
	for i := range t.Offerings {
		c.offering(i, a.matching(node, &t.Offerings[i], maybe))
	}
	c.amounts()
	if c.new == nil {
		return
	}
	if !out.own {
		out.types, out.own = slices.Clone(out.types), true
	}
	out.types[number] = c.new
}

// matching returns those of the overlays that match an offering of a type.
func (a *applier) matching(node scheduling.Requirements, o *scheduling.Offering, maybe []int) []int {
	node = node.Intersect(a.offeringLabels(o))
	var out []int
	for _, i := range maybe {
		if fits(node, a.overlays[i].wants) {
			out = append(out, i)
		}
	}
	return out
}

// offeringLabels is what an offering decides of the labels that some overlay asks for. Most offerings decide
// their zone and capacity type only, and there are few of those.
func (a *applier) offeringLabels(o *scheduling.Offering) scheduling.Requirements {
	labels := map[string]string{}
	for k, v := range o.Labels {
		if a.asked[a.rules.Key(k)] {
			labels[k] = v
		}
	}
	plain, key := len(labels) == 0, [2]string{o.Zone, o.CapacityType}
	if known, ok := a.places[key]; plain && ok {
		return known
	}
	if o.Zone != "" {
		labels[corev1.LabelTopologyZone] = o.Zone
	}
	if o.CapacityType != "" {
		labels[scheduling.CapacityTypeLabel] = o.CapacityType
	}
	out := a.nodeLabels(labels)
	if plain {
		a.places[key] = out
	}
	return out
}

// ruledOut reports whether no offering can make up for what is known already. A label of which nothing is known may
// still be the offering's.
func ruledOut(node scheduling.Requirements, wants []want) bool {
	return slices.ContainsFunc(wants, func(w want) bool { return node.Get(w.key).Intersect(w.set).Empty() })
}

// fits reports whether a node may be as is wanted; a label that nobody mentions is absent.
func fits(node scheduling.Requirements, wants []want) bool {
	for _, w := range wants {
		have := node.Get(w.key)
		if have.Equal(scheduling.AnyValue()) {
			have = scheduling.AbsentValue()
		}
		if have.Intersect(w.set).Empty() {
			return false
		}
	}
	return true
}
