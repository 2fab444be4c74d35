package pricing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Model is what things cost you.
type Model struct {
	// Pricer knows the prices. Nil: Listed.
	Pricer Pricer
	// Commitments cover offerings at a lower price while they last.
	Commitments []Commitment
	// Now and MaxAge: prices from more than MaxAge before Now are findings. MaxAge 0: no age is too old.
	Now    time.Time
	MaxAge time.Duration
}

// Result is what Apply made of a problem.
type Result struct {
	Problem *scheduling.Problem
	// Findings are sorted by kind, then place.
	Findings []Finding
}

// Apply prices the offerings of all pools. Its problem shares what does not change. An error is an *InputError with all that
// is wrong with the model, among it every currency that is not the problem's.
func Apply(p *scheduling.Problem, m Model) (*Result, error) {
	a := &applier{m: m, problem: p, faultAt: map[string]int{}, origins: map[origin]*tally{}, done: map[*scheduling.InstanceType][]*scheduling.InstanceType{}}
	if a.m.Pricer == nil {
		a.m.Pricer = Listed()
	}
	a.check()
	if len(a.faults) > 0 {
		return nil, &InputError{Faults: a.faults}
	}
	q := *p
	q.Pools = slices.Clone(p.Pools)
	for i := range q.Pools {
		a.pool(&q.Pools[i])
	}
	if len(a.faults) > 0 {
		slices.SortStableFunc(a.faults, func(x, y scheduling.Fault) int { return strings.Compare(x.Path, y.Path) })
		return nil, &InputError{Faults: a.faults}
	}
	q.Commitments = slices.Clone(p.Commitments)
	for i := range m.Commitments {
		k := &m.Commitments[i]
		out := scheduling.Commitment{Name: k.Name, Instances: k.Instances}
		if k.PerHour.set() {
			out.PerHour = scheduling.PriceFromNano(k.PerHour.nano)
		}
		q.Commitments = append(q.Commitments, out)
	}
	q.Catalog.Adjustments = slices.Concat(p.Catalog.Adjustments, a.notes())
	return &Result{Problem: &q, Findings: a.findings()}, nil
}

type applier struct {
	m       Model
	problem *scheduling.Problem
	parts   parts
	faults  []scheduling.Fault
	// faultAt finds a fault of an offering by what it says: many offerings have the same.
	faultAt map[string]int
	// ofMoney are the problem's own commitments of money.
	ofMoney map[string]bool
	// origins count prices by date and source; lost and unknown count offerings without one.
	origins       map[origin]*tally
	lost, unknown tally
	// matched and covered count the offerings of each match, change and commitment, by their place.
	matched, changed, covered []int
	done                      map[*scheduling.InstanceType][]*scheduling.InstanceType
}

type origin struct{ asOf, source string }

// tally counts offerings and keeps the first by name.
type tally struct {
	count int
	first string
}

func (t *tally) add(place string) {
	if t.count++; t.first == "" || place < t.first {
		t.first = place
	}
}

// check finds what is wrong with the model by itself.
func (a *applier) check() {
	a.parts.collect(a.m.Pricer, "pricer")
	a.matched, a.changed, a.covered = make([]int, len(a.parts.matches)), make([]int, len(a.parts.changes)), make([]int, len(a.m.Commitments))
	for _, p := range a.parts.matches {
		a.faults = append(a.faults, p.of.faults(p.path)...)
	}
	for _, p := range a.parts.changes {
		a.faults = append(a.faults, p.of.faults(p.path)...)
	}
	if a.m.MaxAge > 0 && a.m.Now.IsZero() {
		a.faults = append(a.faults, scheduling.Fault{Path: "now", Problem: "is not set, but maxAge is", Remedy: "say what day it is"})
	}
	names := map[string]bool{}
	a.ofMoney = map[string]bool{}
	for _, k := range a.problem.Commitments {
		names[k.Name], a.ofMoney[k.Name] = true, k.PerHour.Known()
	}
	for i := range a.m.Commitments {
		k := &a.m.Commitments[i]
		at := fmt.Sprintf("commitments[%d]", i)
		a.faults = append(a.faults, k.faults(at, a.problem.Catalog.Currency)...)
		if names[k.Name] {
			a.faults = append(a.faults, scheduling.Fault{Path: at + ".name", Problem: fmt.Sprintf("%q is the name of another one", k.Name), Remedy: "rename one"})
		}
		names[k.Name] = true
	}
}

// pool gives a pool its priced types.
func (a *applier) pool(p *scheduling.Pool) {
	var types []*scheduling.InstanceType
	for i, t := range p.InstanceTypes {
		if t == nil {
			continue
		}
		if next := a.instanceType(p.Name, t); next != t {
			if types == nil {
				types = slices.Clone(p.InstanceTypes)
			}
			types[i] = next
		}
	}
	if types != nil {
		p.InstanceTypes = types
	}
}

// instanceType is the type with its offerings priced; the same one for pools in which that comes to the same.
func (a *applier) instanceType(pool string, t *scheduling.InstanceType) *scheduling.InstanceType {
	offerings := make([]scheduling.Offering, len(t.Offerings), 2*len(t.Offerings))
	for i := range t.Offerings {
		o := t.Offerings[i]
		place := fmt.Sprintf("pools[%q].instanceTypes[%q].offerings[%d] (%s)", pool, t.Name, i, strings.TrimSpace(o.Zone+" "+o.CapacityType))
		q, r, ok := a.rate(pool, t, &o, place)
		if !ok {
			return t
		}
		if o.Commitment != "" {
			offerings[i] = bearing(o, r.Fees, a.ofMoney[o.Commitment])
			continue
		}
		if o.Price = r.Total(); !o.Price.Known() && !o.Unavailable {
			a.unknown.add(place)
		}
		offerings[i] = o
		for k := range a.m.Commitments {
			if c := &a.m.Commitments[k]; r.Known() && o.Reservation == "" && c.covers(&q) {
				offerings = append(offerings, c.offer(o, r))
				a.covered[k]++
			}
		}
	}
	if sameOfferings(offerings, t.Offerings) {
		return t
	}
	for _, old := range a.done[t] {
		if sameOfferings(offerings, old.Offerings) {
			return old
		}
	}
	out := *t
	out.Offerings = offerings
	a.done[t] = append(a.done[t], &out)
	return &out
}

// sameOfferings compares what was made of the same offerings.
func sameOfferings(a, b []scheduling.Offering) bool {
	return slices.EqualFunc(a, b, func(x, y scheduling.Offering) bool {
		return x.Price == y.Price && x.Commitment == y.Commitment && x.Draw == y.Draw && x.Zone == y.Zone && x.CapacityType == y.CapacityType
	})
}

// rate asks the pricer and counts what it says.
func (a *applier) rate(pool string, t *scheduling.InstanceType, o *scheduling.Offering, place string) (Offering, Rate, bool) {
	c := &a.problem.Catalog
	q := Offering{Pool: pool, Type: t.Name, Zone: o.Zone, CapacityType: o.CapacityType}
	if o.Price.Known() {
		q.Listed = Rate{Machine: o.Price, Currency: c.Currency, AsOf: c.AsOf, Source: c.Source}
	}
	for i, p := range a.parts.matches {
		if p.of.matches(&q) {
			a.matched[i]++
		}
	}
	for i, p := range a.parts.changes {
		if p.of.where().matches(&q) {
			a.changed[i]++
		}
	}
	r, err := a.m.Pricer.Rate(q)
	switch {
	case err != nil:
		a.fault(place, err.Error(), "write all amounts in one currency, or mend the pricer")
		return q, r, false
	case r.Known() && r.Currency != c.Currency:
		a.fault(place, fmt.Sprintf("its price is in %s, the problem's are in %s", orNone(r.Currency), orNone(c.Currency)),
			"convert it, or name the problem's currency in its Catalog")
		return q, r, false
	}
	if r.Known() && o.Commitment == "" {
		from := origin{r.AsOf, r.Source}
		if a.origins[from] == nil {
			a.origins[from] = &tally{}
		}
		a.origins[from].add(place)
	} else if o.Commitment == "" && o.Price.Known() {
		a.lost.add(place)
	}
	return q, r, true
}

// fault says once what is wrong with many offerings.
func (a *applier) fault(place, problem, remedy string) {
	if i, ok := a.faultAt[problem]; ok {
		a.faults[i].Path = min(a.faults[i].Path, place)
		return
	}
	a.faultAt[problem] = len(a.faults)
	a.faults = append(a.faults, scheduling.Fault{Path: place, Problem: problem, Remedy: remedy})
}

// notes say what prices contain.
func (a *applier) notes() []string {
	var out []string
	for _, from := range a.sortedOrigins() {
		if c := &a.problem.Catalog; from != (origin{c.AsOf, c.Source}) {
			out = append(out, fmt.Sprintf("prices of %d offerings from %s, as of %s", a.origins[from].count, orUnknown(from.source), orUnknown(from.asOf)))
		}
	}
	for i, p := range a.parts.changes {
		if a.changed[i] > 0 {
			out = append(out, p.of.note())
		}
	}
	for i := range a.m.Commitments {
		out = append(out, a.m.Commitments[i].note())
	}
	return out
}

func orUnknown(s string) string {
	if s == "" {
		return "(unknown)"
	}
	return s
}

func (a *applier) sortedOrigins() []origin {
	var out []origin
	for from := range a.origins {
		out = append(out, from)
	}
	slices.SortFunc(out, func(x, y origin) int {
		return cmp.Or(strings.Compare(x.asOf, y.asOf), strings.Compare(x.source, y.source))
	})
	return out
}

func (a *applier) findings() []Finding {
	var out []Finding
	if n := a.lost.count; n > 0 {
		out = append(out, Finding{FindingLost, a.lost.first, fmt.Sprintf("%d offerings had a price that the pricer does not know; fall back on Listed", n), n})
	}
	if n := a.unknown.count; n > 0 {
		out = append(out, Finding{FindingUnknown, a.unknown.first, fmt.Sprintf("%d offerings have no price and are never bought", n), n})
	}
	for _, from := range a.sortedOrigins() {
		if age := a.age(from.asOf); age != "" {
			t := a.origins[from]
			out = append(out, Finding{FindingStale, t.first, fmt.Sprintf("%d prices from %s are %s; look for newer ones", t.count, orUnknown(from.source), age), t.count})
		}
	}
	unmatched := func(n int, place, what string) {
		if n == 0 {
			out = append(out, Finding{Kind: FindingUnmatched, Place: place, Text: what + " matches no offering; check its globs"})
		}
	}
	for i, p := range a.parts.matches {
		unmatched(a.matched[i], p.path, p.of.String())
	}
	for i, p := range a.parts.changes {
		unmatched(a.changed[i], p.path, p.of.note())
	}
	for i := range a.m.Commitments {
		unmatched(a.covered[i], fmt.Sprintf("commitments[%d]", i), a.m.Commitments[i].note())
	}
	slices.SortStableFunc(out, func(x, y Finding) int { return cmp.Or(cmp.Compare(x.Kind, y.Kind), strings.Compare(x.Place, y.Place)) })
	return out
}

// age says how old a date is, if that is too old.
func (a *applier) age(asOf string) string {
	if a.m.MaxAge <= 0 {
		return ""
	}
	date, err := time.Parse(time.DateOnly, asOf)
	switch age := a.m.Now.Sub(date); {
	case asOf == "":
		return "of unknown age"
	case err != nil:
		return fmt.Sprintf("of unknown age, since %q is no date", asOf)
	case age > a.m.MaxAge:
		return fmt.Sprintf("of %s, %d days ago", asOf, int(age/(24*time.Hour)))
	}
	return ""
}
