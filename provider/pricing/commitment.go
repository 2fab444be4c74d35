package pricing

import (
	"fmt"
	"math/big"

	"github.com/fleetwright/fleetwright/provider/internal/exact"
	"github.com/fleetwright/fleetwright/scheduling"
)

// Commitment is a contract that covers some offerings at a lower price until it is used up.
type Commitment struct {
	// Name is unique, in the problem too.
	Name string
	// Where selects what is covered. Without CapacityTypes that is on-demand only. Of capacity reservations, nothing is.
	Where Match
	// Instances is how many more nodes are covered, beside those that exist.
	Instances int32
	// PerHour, if set, makes it an amount of money an hour, in place of Instances: what existing nodes leave of it. A node
	// takes the covered price of its machine.
	PerHour Hourly
	// Discount is how many percent less a covered machine costs. It or Price is set, not both.
	Discount float64
	// Price is what a covered machine costs.
	Price Hourly
	// Paid: covered machines cost nothing more, because the commitment is paid for whether it is used or not. Their fees
	// remain. Leave it out to be told what the plan costs all in all.
	Paid bool
}

// onDemand is the capacity type that contracts are about.
const onDemand = "on-demand"

func (k *Commitment) covers(o *Offering) bool {
	return k.Where.matches(o) && (len(k.Where.CapacityTypes) > 0 || o.CapacityType == onDemand)
}

// machine is what a covered machine costs, and so what it takes of an amount of money.
func (k *Commitment) machine(r Rate) scheduling.Price {
	if k.Price.set() {
		return scheduling.PriceFromNano(k.Price.nano)
	}
	return exact.Change(r.Machine, exact.Percent(exact.Decimal(-k.Discount)), new(big.Rat))
}

// offer lists an offering at the covered price.
func (k *Commitment) offer(o scheduling.Offering, r Rate) scheduling.Offering {
	o.Commitment = k.Name
	machine := k.machine(r)
	if k.PerHour.set() {
		o.Draw = machine
	}
	if r.Machine = machine; k.Paid {
		r.Machine = scheduling.PriceFromNano(0)
	}
	o.Price = r.Total()
	return o
}

// bearing adds fees to the price of an offering that is under a commitment already.
func bearing(o scheduling.Offering, fees Hourly, ofMoney bool) scheduling.Offering {
	if fees.nano == 0 || !o.Price.Known() {
		return o
	}
	if ofMoney && !o.Draw.Known() {
		o.Draw = o.Price // fees take nothing of it
	}
	o.Price = Rate{Machine: o.Price, Fees: fees}.Total()
	return o
}

func (k *Commitment) faults(at, currency string) []scheduling.Fault {
	out := append(k.Where.faults(at+".where"), k.PerHour.faults(at+".perHour")...)
	out = append(out, k.Price.faults(at+".price")...)
	add := func(field, problem, remedy string) {
		out = append(out, scheduling.Fault{Path: at + field, Problem: problem, Remedy: remedy})
	}
	if k.Name == "" {
		add(".name", "the commitment has no name", "name it; plans say what it covers by its name")
	}
	if k.Instances < 0 || k.Instances > 0 && k.PerHour.set() {
		add(".instances", fmt.Sprintf("%d instances, and %s an hour", k.Instances, k.PerHour), "write a number of instances or an amount of money, 0 or more")
	}
	if k.PerHour.nano < 0 || k.Price.nano < 0 {
		add("", "an amount is below 0", "write 0 or more")
	}
	switch {
	case k.Price.set() == (k.Discount != 0):
		add(".discount", "neither or both of discount and price are set", "say once what covered machines cost")
	case !(k.Discount >= 0 && k.Discount <= 100):
		add(".discount", fmt.Sprintf("%v percent cannot be", k.Discount), "write a number from 0 to 100: what is taken off")
	case k.PerHour.set() && (k.Discount == 100 || k.Price.set() && k.Price.nano == 0):
		add(".perHour", "is used by machines that cost nothing, and so never", "give covered machines the price at which they use it up, and set Paid")
	}
	for _, m := range []struct {
		field string
		Hourly
	}{{".perHour", k.PerHour}, {".price", k.Price}} {
		if m.set() && m.currency != currency {
			add(m.field, fmt.Sprintf("is in %s, the problem's prices in %s", orNone(m.currency), orNone(currency)), "convert it, or name the problem's currency in its Catalog")
		}
	}
	return out
}

func (k *Commitment) note() string {
	how := fmt.Sprintf("%v%% less", k.Discount)
	if k.Price.set() {
		how = k.Price.String() + " an hour"
	}
	if k.Paid {
		how += ", paid for already,"
	}
	most := fmt.Sprintf("%d nodes", k.Instances)
	if k.PerHour.set() {
		most = k.PerHour.String() + " an hour"
	}
	where := k.Where
	if len(where.CapacityTypes) == 0 {
		where.CapacityTypes = []string{onDemand}
	}
	return fmt.Sprintf("commitment %s: %s for %s, up to %s", k.Name, how, where, most)
}
