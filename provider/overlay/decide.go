package overlay

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetwright/fleetwright/scheduling"
)

// correction is what happens to one type. Overlays are numbers, the heavier the smaller.
type correction struct {
	*applier
	out *outcome
	old *scheduling.InstanceType
	// new is a copy of old as soon as something is different.
	new *scheduling.InstanceType
	// matches counts, by overlay, the offerings that it matches.
	matches []int
}

func (c *correction) changed() *scheduling.InstanceType {
	if c.new == nil {
		t := *c.old
		c.new = &t
	}
	return c.new
}

// lead returns the heaviest of the overlays that have something to say, and counts the others as outweighed.
func (c *correction) lead(overlays []int, says func(*compiled) bool) []int {
	var leaders []int
	for _, i := range overlays {
		switch o := &c.overlays[i]; {
		case !says(o):
		case len(leaders) == 0 || o.Weight == c.overlays[leaders[0]].Weight:
			leaders = append(leaders, i)
		default:
			c.out.effects[i].Outweighed++
		}
	}
	return leaders
}

// agree reports whether all leaders say the same, and records the conflict if they do not.
func (c *correction) agree(leaders []int, same func(a, b *compiled) bool, at Conflict) bool {
	first := &c.overlays[leaders[0]]
	if !slices.ContainsFunc(leaders, func(i int) bool { return !same(first, &c.overlays[i]) }) {
		return true
	}
	at.Type = c.old.Name
	for _, i := range leaders {
		at.Overlays = append(at.Overlays, c.overlays[i].Name)
		c.out.effects[i].Conflicts++
	}
	c.out.conflicts = append(c.out.conflicts, at)
	return false
}

// offering decides on the price of one offering, which the overlays match.
func (c *correction) offering(number int, overlays []int) {
	for _, i := range overlays {
		c.matches[i]++
	}
	o := &c.old.Offerings[number]
	leaders := c.lead(overlays, func(o *compiled) bool { return o.pricing.text != "" })
	same := func(a, b *compiled) bool { return a.pricing.text == b.pricing.text }
	if len(leaders) == 0 || !c.agree(leaders, same, Conflict{Offering: offeringName(o), Field: FieldPrice}) {
		return
	}
	price := c.overlays[leaders[0]].pricing.of(o.Price)
	for _, i := range leaders {
		if price.Known() {
			c.out.effects[i].Prices++
		} else {
			c.out.effects[i].Unpriced++
		}
	}
	if price == o.Price {
		return
	}
	t := c.changed()
	if &t.Offerings[0] == &c.old.Offerings[0] {
		t.Offerings = slices.Clone(t.Offerings)
	}
	t.Offerings[number].Price = price
}

func offeringName(o *scheduling.Offering) string {
	return strings.Join(strings.Fields(strings.Join([]string{o.Zone, o.CapacityType, o.Reservation, o.Commitment}, " ")), " ")
}

// amounts decides on capacity and overhead, once all offerings are known.
func (c *correction) amounts() {
	var overlays []int
	for i, n := range c.matches {
		if n > 0 {
			overlays = append(overlays, i)
			c.out.effects[i].Types++
			c.out.effects[i].Offerings += n
		}
	}
	if len(overlays) == 0 {
		return
	}
	capacity := func(o *compiled) corev1.ResourceList { return o.Capacity }
	had := c.resources(overlays, FieldCapacity, capacity, func(name corev1.ResourceName, q resource.Quantity) {
		if old, ok := c.old.Capacity[name]; !ok || old.Cmp(q) != 0 {
			t := c.changed()
			t.Capacity = with(t.Capacity, name, q)
		}
	})
	overhead := func(o *compiled) corev1.ResourceList { return o.Overhead }
	took := c.resources(overlays, FieldOverhead, overhead, func(name corev1.ResourceName, q resource.Quantity) {
		if !q.IsZero() {
			t := c.changed()
			sum := t.Overhead[name]
			sum = sum.DeepCopy()
			sum.Add(q)
			t.Overhead = with(t.Overhead, name, sum)
		}
	})
	for _, i := range overlays {
		e := &c.out.effects[i]
		if had[i] {
			e.Capacities++
		}
		if took[i] {
			e.Overheads++
		}
		if (had[i] || took[i]) && c.matches[i] < len(c.old.Offerings) {
			e.Widened++
		}
	}
}

// resources decides on every amount that the overlays state, in the order of names, and returns the overlays that
// decided on any.
func (c *correction) resources(overlays []int, field Field, list func(*compiled) corev1.ResourceList, set func(corev1.ResourceName, resource.Quantity)) map[int]bool {
	names := map[corev1.ResourceName]bool{}
	for _, i := range overlays {
		for name := range list(&c.overlays[i]) {
			names[name] = true
		}
	}
	decided := map[int]bool{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		says := func(o *compiled) bool { _, ok := list(o)[name]; return ok }
		same := func(a, b *compiled) bool { q := list(a)[name]; return q.Cmp(list(b)[name]) == 0 }
		leaders := c.lead(overlays, says)
		if !c.agree(leaders, same, Conflict{Field: field, Resource: name}) {
			continue
		}
		q := list(&c.overlays[leaders[0]])[name]
		set(name, q.DeepCopy())
		for _, i := range leaders {
			decided[i] = true
		}
	}
	return decided
}

// with returns a copy of a list with one amount replaced.
func with(list corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) corev1.ResourceList {
	out := maps.Clone(list)
	if out == nil {
		out = corev1.ResourceList{}
	}
	out[name] = q
	return out
}
