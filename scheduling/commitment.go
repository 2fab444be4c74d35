package scheduling

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Commitment is something finite that lowers the price of what it covers: a number of instances (reserved instances), or
// an amount of money an hour (a savings plan). It says nothing of what can be had, as a capacity reservation does, only of
// what is paid: a type that it may cover is listed twice, once with the lower price and Offering.Commitment, once as usual.
//
// A node is covered in full or not at all. One that draws more than is left pays the ordinary price, where a bill
// would cover a part of it: a plan is dearer than its bill by less than what one node saves. What is left over may
// still cover smaller nodes. A covered offering's price is what one more hour under the commitment costs, as the caller
// says: 0 where the commitment is paid for anyway, so that the plan uses what would be lost.
type Commitment struct {
	// Name is unique among commitments.
	Name string `json:"name"`
	// Instances is how many more nodes are covered, beside those that exist. Every node counts one, whatever its size.
	Instances int32 `json:"instances,omitempty"`
	// PerHour, if known, makes this an amount of money an hour, in place of Instances: what is left of it beside what existing
	// nodes use. A node takes its Offering.Draw.
	PerHour Price `json:"perHour,omitzero"`
}

// CommitmentUse says how much of a commitment the launches of a plan use.
type CommitmentUse struct {
	// Name, Instances and PerHour are the commitment's.
	Name      string `json:"name"`
	Instances int32  `json:"instances,omitempty"`
	PerHour   Price  `json:"perHour,omitzero"`
	// Nodes are the launches that it covers.
	Nodes int `json:"nodes"`
	// Drawn is what they take of PerHour.
	Drawn Price `json:"drawnPerHour,omitzero"`
}

// draws is what a node takes of a commitment of money.
func (o *Offering) draws() Price {
	if o.Draw.known {
		return o.Draw
	}
	return o.Price
}

// samePurchase reports whether two offerings of a type are the same thing to buy, however it is paid for.
func samePurchase(a, b *Offering) bool {
	return a.Zone == b.Zone && a.CapacityType == b.CapacityType && a.Reservation == b.Reservation && maps.Equal(a.Labels, b.Labels)
}

// finite is what some offerings have only so much of: a capacity reservation or a commitment. The zero value is nothing.
type finite struct {
	commitment bool
	name       string
}

func (f finite) compare(g finite) int {
	return cmp.Or(compareBool(f.commitment, g.commitment), strings.Compare(f.name, g.name))
}

// reserves reports whether it is a capacity reservation.
func (f finite) reserves() bool { return !f.commitment && f.name != "" }

// finite is what a node bought so draws on.
func (o *Offering) finite() finite {
	if o.Commitment != "" {
		return finite{true, o.Commitment}
	}
	return finite{name: o.Reservation}
}

// use sums up what the plan's launches draw, by name.
func (f *finisher) use() {
	at := map[string]*CommitmentUse{}
	for i := range f.c.p.Commitments {
		k := &f.c.p.Commitments[i]
		f.plan.Commitments = append(f.plan.Commitments, CommitmentUse{Name: k.Name, Instances: k.Instances, PerHour: k.PerHour})
	}
	slices.SortFunc(f.plan.Commitments, func(a, b CommitmentUse) int { return strings.Compare(a.Name, b.Name) })
	for i := range f.plan.Commitments {
		u := &f.plan.Commitments[i]
		if at[u.Name] = u; u.PerHour.known {
			u.Drawn = PriceFromNano(0)
		}
	}
	for i := range f.plan.Launches {
		s := &f.plan.Shapes[f.plan.Launches[i].Shape]
		_, o := offeringOf(&f.c.p.Pools[s.Pool], s.Choice)
		if u := at[o.Commitment]; u != nil {
			if u.Nodes++; u.PerHour.known {
				u.Drawn = u.Drawn.plus(o.draws())
			}
		}
	}
}

// checkCommitments looks at what is there to be drawn on.
func (c *compiler) checkCommitments(f *faults) {
	seen := map[string]bool{}
	for i := range c.p.Commitments {
		k := &c.p.Commitments[i]
		switch {
		case k.Name == "":
			f.add("has no name", "give every commitment a name of its own", "commitments[%d]", i)
		case seen[k.Name]:
			f.add("is there twice", "give every commitment a name of its own", "commitments[%q]", k.Name)
		}
		seen[k.Name] = true
		switch {
		case k.Instances < 0:
			f.add(fmt.Sprintf("covers %d instances", k.Instances), "write 0 or more", "commitments[%q].instances", k.Name)
		case k.Instances != 0 && k.PerHour.known:
			f.add("is a number of instances and an amount of money", "write one of them, or make two commitments of it", "commitments[%q]", k.Name)
		}
	}
}

// checkDraw looks at what an offering draws, and on what.
func (c *compiler) checkDraw(f *faults, pool, typ string, i int, o *Offering) {
	path := fmt.Sprintf("pools[%q].instanceTypes[%q].offerings[%d]", pool, typ, i)
	if o.Commitment == "" {
		f.add("draws on no commitment", "name it, or leave draw out", "%s.draw", path)
		return
	}
	k := slices.IndexFunc(c.p.Commitments, func(k Commitment) bool { return k.Name == o.Commitment })
	switch {
	case o.Reservation != "":
		f.add(fmt.Sprintf("draws on reservation %q and on commitment %q", o.Reservation, o.Commitment), "name one of them", "%s", path)
	case k < 0:
		var known []string
		for j := range c.p.Commitments {
			known = append(known, c.p.Commitments[j].Name)
		}
		slices.Sort(known)
		f.add(fmt.Sprintf("there is no commitment %q", o.Commitment), fmt.Sprintf("known commitments: %s", listText(known)), "%s.commitment", path)
	case !c.p.Commitments[k].PerHour.known && o.Draw.known:
		f.add(fmt.Sprintf("draws money, but commitment %q counts instances", o.Commitment), "leave draw out, or give the commitment perHour", "%s.draw", path)
	case c.p.Commitments[k].PerHour.known && o.draws().known && o.draws().nano == 0:
		f.add(fmt.Sprintf("draws nothing of commitment %q", o.Commitment), "say with draw what a covered hour takes of it", "%s.draw", path)
	}
}

// commitmentsShown is how many commitments and adjustments of prices are listed.
const commitmentsShown = 6

// writeCommitments says what each commitment covers.
func (d *Document) writeCommitments(b *strings.Builder) {
	for i := range d.Commitments[:min(commitmentsShown, len(d.Commitments))] {
		u := &d.Commitments[i]
		if u.PerHour.known {
			fmt.Fprintf(b, "commitment %s covers %s: %s of %s %s per hour\n", clip(u.Name, 60), count(u.Nodes, "node"), u.Drawn, u.PerHour, d.currency())
		} else {
			fmt.Fprintf(b, "commitment %s covers %s of %s\n", clip(u.Name, 60), grouped(int64(u.Nodes)), count(int(u.Instances), "node"))
		}
	}
	if n := len(d.Commitments) - commitmentsShown; n > 0 {
		fmt.Fprintf(b, "... and %s\n", count(n, "more commitment"))
	}
}
