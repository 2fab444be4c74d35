package overlay

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Overlay is one correction.
type Overlay struct {
	// Name is unique.
	Name string `json:"name"`
	// Weight is from 1 to 10000, or 0 if nothing is said, which is the least. The heavier overlay decides.
	Weight int32 `json:"weight,omitempty"`
	// Requirements select offerings by the labels of their nodes. None: all of them. MinValues means nothing here.
	Requirements []scheduling.Requirement `json:"requirements,omitempty"`
	// Price per hour of the offerings. Unknown: nothing is said.
	Price scheduling.Price `json:"price,omitzero"`
	// PriceAdjustment is a signed amount per hour ("-0.02") or percentage ("+5%") by which prices change. It cannot be
	// combined with Price.
	PriceAdjustment string `json:"priceAdjustment,omitempty"`
	// Capacity has extended resources of the types, in place of what the catalogue says of them.
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// Overhead is room that pods cannot use, beyond the types' own overhead. Karpenter's NodeOverlay has no such field.
	Overhead corev1.ResourceList `json:"overhead,omitempty"`
}

// Field is what overlays can have a word on.
type Field string

// Fields.
const (
	FieldPrice    Field = "price"
	FieldCapacity Field = "capacity"
	FieldOverhead Field = "overhead"
)

// Result is what Apply made of pools and overlays.
type Result struct {
	// Pools are those given, in their order, with corrected instance types.
	Pools []scheduling.Pool
	// Effects say of each overlay what it did, sorted by name. One with Offerings 0 matched nothing.
	Effects []Effect
	// Conflicts are sorted by pool, type, offering and field.
	Conflicts []Conflict
}

// Effect counts what one overlay did. A type counts once for each pool that has it, and so does an offering.
type Effect struct {
	Overlay string `json:"overlay"`
	// Types and Offerings are those that it matches.
	Types     int `json:"types"`
	Offerings int `json:"offerings"`
	// Prices are the offerings whose price it decided.
	Prices int `json:"prices,omitempty"`
	// Unpriced are the offerings whose price it would have adjusted, had there been one.
	Unpriced int `json:"unpriced,omitempty"`
	// Capacities and Overheads are the types that have an amount from it.
	Capacities int `json:"capacities,omitempty"`
	Overheads  int `json:"overheads,omitempty"`
	// Widened are the types that have an amount from it though it matches only some of their offerings.
	Widened int `json:"widened,omitempty"`
	// Outweighed counts prices and amounts that it states and a heavier overlay decided.
	Outweighed int `json:"outweighed,omitempty"`
	// Conflicts counts prices and amounts that it states and an equally heavy overlay states differently.
	Conflicts int `json:"conflicts,omitempty"`
}

// Conflict is one thing on which overlays of equal weight disagree. It stays as it was.
type Conflict struct {
	// Overlays are the names of all that take part, sorted.
	Overlays []string `json:"overlays"`
	Pool     string   `json:"pool"`
	Type     string   `json:"type"`
	// Offering is zone, capacity type and, if it has one, reservation or commitment: "us-east-1a spot". Empty unless
	// Field is FieldPrice.
	Offering string `json:"offering,omitempty"`
	Field    Field  `json:"field"`
	// Resource is the amount's name. Empty if Field is FieldPrice.
	Resource corev1.ResourceName `json:"resource,omitempty"`
}

// String names the overlays, the field, the type and the pool.
func (c Conflict) String() string {
	what := string(c.Field)
	if c.Resource != "" {
		what += " " + string(c.Resource)
	}
	of := c.Type
	if c.Offering != "" {
		of += " " + c.Offering
	}
	return strings.Join(c.Overlays, ", ") + ": " + what + " of " + of + " in pool " + c.Pool
}

// Unmatched lists the overlays that match no offering of any pool, sorted.
func (r *Result) Unmatched() []string {
	var out []string
	for _, e := range r.Effects {
		if e.Offerings == 0 {
			out = append(out, e.Overlay)
		}
	}
	return out
}

// Apply corrects the instance types of all pools. The error is an *InputError with everything that is wrong with
// the overlays and with requirements of types; then nothing is applied. Conflicts are no error.
func Apply(pools []scheduling.Pool, overlays []Overlay, rules scheduling.LabelRules) (*Result, error) {
	a, faults := newApplier(overlays, rules)
	r := &Result{Pools: slices.Clone(pools)}
	if len(faults) == 0 {
		for i := range r.Pools {
			faults = append(faults, a.pool(&r.Pools[i])...)
		}
	}
	if len(faults) > 0 {
		return nil, &InputError{Faults: faults}
	}
	r.Effects, r.Conflicts = a.effects, a.conflicts
	slices.SortFunc(r.Effects, func(a, b Effect) int { return strings.Compare(a.Overlay, b.Overlay) })
	slices.SortFunc(r.Conflicts, func(a, b Conflict) int {
		return cmp.Or(strings.Compare(a.Pool, b.Pool), strings.Compare(a.Type, b.Type), strings.Compare(a.Offering, b.Offering),
			cmp.Compare(a.Field, b.Field), cmp.Compare(a.Resource, b.Resource), slices.Compare(a.Overlays, b.Overlays))
	})
	return r, nil
}
