package pricing

import (
	"fmt"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Kind is what a finding is about.
type Kind string

// Kinds of findings.
const (
	// FindingLost: offerings that had a price have none now.
	FindingLost Kind = "Lost"
	// FindingUnknown: offerings have no price, so that they are never bought.
	FindingUnknown Kind = "Unknown"
	// FindingStale: prices are older than Model.MaxAge, or nobody knows how old they are.
	FindingStale Kind = "Stale"
	// FindingUnmatched: a change, pricer or commitment selects no offering.
	FindingUnmatched Kind = "Unmatched"
)

// Finding is something that a reader of the plan should know. It keeps nothing from being planned.
type Finding struct {
	Kind Kind `json:"kind"`
	// Place is the first offering concerned, or the part of the model.
	Place string `json:"place"`
	// Text says what it is, and what to do.
	Text string `json:"text"`
	// Count is how many offerings are concerned.
	Count int `json:"count,omitempty"`
}

// String is place and text in a line.
func (f Finding) String() string { return f.Place + ": " + f.Text }

// InputError lists everything that keeps a model from being applied.
type InputError struct{ Faults []scheduling.Fault }

// Error prints at most ten faults.
func (e *InputError) Error() string {
	if len(e.Faults) == 1 {
		return "pricing: " + e.Faults[0].String()
	}
	s := fmt.Sprintf("pricing: %d faults", len(e.Faults))
	for i, f := range e.Faults {
		if i == 10 {
			return s + fmt.Sprintf("\n  ... and %d more", len(e.Faults)-i)
		}
		s += "\n  " + f.String()
	}
	return s
}
