package overlay

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/provider/internal/exact"
	"github.com/fleetwright/fleetwright/scheduling"
)

// InputError lists everything that keeps overlays from being applied.
type InputError struct{ Faults []scheduling.Fault }

// Error prints at most ten faults.
func (e *InputError) Error() string {
	if len(e.Faults) == 1 {
		return "overlay: " + e.Faults[0].String()
	}
	s := fmt.Sprintf("overlay: %d faults", len(e.Faults))
	for i, f := range e.Faults {
		if i == 10 {
			return s + fmt.Sprintf("\n  ... and %d more", len(e.Faults)-i)
		}
		s += "\n  " + f.String()
	}
	return s
}

const (
	// maxWeight is the CRD's.
	maxWeight = 10000
	// maxText bounds a price adjustment, whose digits are all read.
	maxText = 64
)

// adjustment is the CRD's pattern. What is taken off is at most 100 percent.
var adjustment = regexp.MustCompile(`^([+-]\d*\.?\d+|\+\d*\.?\d+%|-\d{1,2}(\.\d+)?%|-100%)$`)

// Faults lists what is wrong with the overlay by itself, with paths within it such as "requirements[2]".
func (o *Overlay) Faults() []scheduling.Fault {
	var out []scheduling.Fault
	add := func(path, problem, remedy string) {
		out = append(out, scheduling.Fault{Path: path, Problem: problem, Remedy: remedy})
	}
	if o.Name == "" {
		add("name", "the overlay has no name", "name it; conflicts are told by name")
	}
	if o.Weight < 0 || o.Weight > maxWeight {
		add("weight", fmt.Sprintf("%d is not between 1 and %d", o.Weight, maxWeight), "write a weight in between, or none")
	}
	var bad *scheduling.InputError
	if _, err := scheduling.ParseRequirements(o.Requirements, scheduling.LabelRules{}); errors.As(err, &bad) {
		out = append(out, bad.Faults...)
	}
	switch {
	case o.PriceAdjustment == "":
	case o.Price.Known():
		add("priceAdjustment", "the overlay also sets a price", "keep one of them")
	case len(o.PriceAdjustment) > maxText || !adjustment.MatchString(o.PriceAdjustment):
		add("priceAdjustment", strconv.Quote(o.PriceAdjustment[:min(len(o.PriceAdjustment), maxText)])+" cannot be read",
			`write a signed amount or percentage, such as "+0.02" or "-10%", and take off 100% at most`)
	}
	amounts := func(field string, list corev1.ResourceList, allowed func(corev1.ResourceName) bool) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			path := fmt.Sprintf("%s[%q]", field, name)
			q := list[name]
			switch {
			case !allowed(name):
				add(path, "the machine's own resources cannot be overlaid", "name extended resources only")
			case q.Sign() < 0:
				add(path, q.String()+" is negative", "write 0 or more")
			case q.CmpInt64(math.MaxInt64/1000) >= 0:
				add(path, q.String()+" is more than any machine has", "check the unit")
			}
		}
	}
	amounts("capacity", o.Capacity, extended)
	amounts("overhead", o.Overhead, func(corev1.ResourceName) bool { return true })
	return out
}

// extended holds for what an overlay's capacity may name.
func extended(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods, scheduling.NodesResource:
		return false
	}
	return true
}

// pricing is what an overlay says of prices: times times the old price plus plus, or plus alone where times is nil.
type pricing struct {
	// text is the same for overlays that say the same; empty: nothing is said.
	text        string
	times, plus *big.Rat
}

// newPricing needs an overlay without faults.
func newPricing(o *Overlay) pricing {
	amount, text := new(big.Rat), o.PriceAdjustment
	switch {
	case o.Price.Known():
		return pricing{text: o.Price.String(), plus: amount.SetInt64(o.Price.Nano())}
	case text == "":
		return pricing{}
	case text[len(text)-1] == '%':
		amount.SetString(text[:len(text)-1])
		amount = exact.Percent(amount)
		return pricing{text: "*" + amount.RatString(), times: amount, plus: new(big.Rat)}
	}
	amount.SetString(text)
	amount.Mul(amount, big.NewRat(exact.NanoPerUnit, 1))
	return pricing{text: "+" + amount.RatString(), times: big.NewRat(1, 1), plus: amount}
}

// of returns the price that the statement makes of another.
func (s pricing) of(old scheduling.Price) scheduling.Price {
	if s.times == nil {
		return scheduling.PriceFromNano(s.plus.Num().Int64())
	}
	return exact.Change(old, s.times, s.plus)
}
