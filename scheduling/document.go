package scheduling

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// PlanSchema is the version of Document's JSON form. Within a version fields may be added, never
// changed or taken away.
const PlanSchema = "fleetwright.dev/plan/v1"

// Document is a plan in names instead of indexes: what is saved, compared and shown. Equal
// problems give equal documents, byte for byte, whatever the order of their slices. Its
// maps and slices are shared between launches of one kind, and some with the problem: read them only.
type Document struct {
	Schema  string  `json:"schema"`
	Digest  string  `json:"problemDigest"`
	Catalog Catalog `json:"catalog,omitzero"`
	Options Options `json:"options,omitzero"`
	// Launches are sorted by pool, type, zone, capacity type, then first pod.
	Launches []LaunchDocument `json:"launches"`
	// Placements are sorted by node, then pod.
	Placements []PlacementDocument `json:"placements"`
	// Unplaced are sorted by pod.
	Unplaced []UnplacedDocument `json:"unplaced"`
	// Relaxed are sorted by first pod.
	Relaxed      []RelaxedDocument `json:"relaxed,omitempty"`
	NotEvaluated []string          `json:"notEvaluated,omitempty"`
	BindOrder    []string          `json:"bindOrder,omitempty"`
	// Commitments are sorted by name, those that cover nothing among them.
	Commitments []CommitmentUse `json:"commitments,omitempty"`
	// Pools are sorted by name: where the price of their launches goes.
	Pools  []PoolDocument `json:"pools,omitempty"`
	Totals Totals         `json:"totals"`
	// BoundLeavesOut is what Totals.LowerBound takes no account of.
	BoundLeavesOut []string `json:"boundLeavesOut,omitempty"`
	Stats          Stats    `json:"stats,omitzero"`
}

// LaunchDocument is one node to start. Pods are "namespace/name", sorted.
type LaunchDocument struct {
	Pool         string `json:"pool"`
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
	Price        Price  `json:"pricePerHour"`
	// Commitment covers the node while it lasts; the price is the lower one then. Alternatives say so too.
	Commitment string `json:"commitment,omitempty"`
	// Alternatives are cheapest first; AlternativeCount is how many there were before the list was cut.
	Alternatives     []AlternativeDocument `json:"alternatives"`
	AlternativeCount int                   `json:"alternativeCount,omitempty"`
	// Labels are all that the node will carry: the pool's, those the type and offering decide, and
	// those this launch decides, which CustomLabels repeats.
	Labels        map[string]string   `json:"labels,omitempty"`
	CustomLabels  map[string]string   `json:"customLabels,omitempty"`
	Taints        []corev1.Taint      `json:"taints"`
	StartupTaints []corev1.Taint      `json:"startupTaints,omitempty"`
	Capacity      corev1.ResourceList `json:"capacity,omitempty"`
	Allocatable   corev1.ResourceList `json:"allocatable,omitempty"`
	// Requests are what the pods and the DaemonSets on the node ask for together.
	Requests   corev1.ResourceList `json:"requests,omitempty"`
	DaemonSets []string            `json:"daemonSets,omitempty"`
	MinValues  map[string]int      `json:"minValuesLowered,omitempty"`
	// Why is for people; Weighed says the same for programs.
	Why     string          `json:"why,omitempty"`
	Weighed WeighedDocument `json:"weighed,omitzero"`
	Pods    []string        `json:"pods"`
}

// AlternativeDocument is one offering that would hold a launch's pods.
type AlternativeDocument struct {
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
	// Labels are the offering's own, given only where the type has several offerings of that zone and
	// capacity type, such as reservations.
	Labels     map[string]string `json:"labels,omitempty"`
	Price      Price             `json:"pricePerHour"`
	Commitment string            `json:"commitment,omitempty"`
}

// WeighedDocument is Why in names.
type WeighedDocument struct {
	Candidates int                  `json:"candidates,omitempty"`
	RunnerUp   *AlternativeDocument `json:"runnerUp,omitempty"`
	Binding    corev1.ResourceName  `json:"binding,omitempty"`
	Used       int                  `json:"usedPercent,omitempty"`
	// UsedPercents is what of each resource pods and DaemonSets ask for together, rounded down.
	UsedPercents map[corev1.ResourceName]int `json:"usedPercents,omitempty"`
	// The price per hour is made up of what it pays for: pods, DaemonSets, and what nobody uses; see [Why].
	PodsPrice     Price `json:"podsPricePerHour,omitzero"`
	DaemonsPrice  Price `json:"daemonSetsPricePerHour,omitzero"`
	StrandedPrice Price `json:"strandedPricePerHour,omitzero"`
}

// PoolDocument is a PoolUse in names.
type PoolDocument struct {
	Pool  string `json:"pool"`
	Nodes int    `json:"nodes"`
	// Price is that of all launches of the pool; the others add up to it.
	Price         Price              `json:"pricePerHour"`
	PodsPrice     Price              `json:"podsPricePerHour"`
	DaemonsPrice  Price              `json:"daemonSetsPricePerHour"`
	StrandedPrice Price              `json:"strandedPricePerHour"`
	Resources     []ResourceDocument `json:"resources"`
}

// ResourceDocument is a ResourceUse as Kubernetes spells amounts.
type ResourceDocument struct {
	Name        corev1.ResourceName `json:"name"`
	Allocatable resource.Quantity   `json:"allocatable"`
	Pods        resource.Quantity   `json:"pods"`
	Daemons     resource.Quantity   `json:"daemonSets"`
	Stranded    resource.Quantity   `json:"stranded"`
	// StrandedPercent is of Allocatable, rounded up.
	StrandedPercent int   `json:"strandedPercent"`
	StrandedPrice   Price `json:"strandedPricePerHour"`
}

// PlacementDocument puts a pod on an existing node.
type PlacementDocument struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
}

// UnplacedDocument is a pod with nowhere to go.
type UnplacedDocument struct {
	Pod    string         `json:"pod"`
	Reason ReasonDocument `json:"reason"`
}

// ReasonDocument is a Reason with its message.
type ReasonDocument struct {
	Code    Code    `json:"code"`
	Message string  `json:"message"`
	Detail  string  `json:"detail,omitempty"`
	Nearest Nearest `json:"nearest,omitzero"`
	Change  Change  `json:"change,omitzero"`
	// Constraint is the spread or affinity in the way, Domains what it counts where, and InTheWay names pods
	// that keep this one out; see [Reason].
	Constraint string        `json:"constraint,omitempty"`
	Domains    []DomainCount `json:"domains,omitempty"`
	InTheWay   []string      `json:"inTheWay,omitempty"`
}

// RelaxedDocument tells which preferences some pods did without.
type RelaxedDocument struct {
	Pods []string `json:"pods"`
	// Given is what was given up, in the order it was.
	Given []string `json:"given"`
	// Cost is how much more per hour a plan costs that keeps it; null: not to be had at any price.
	Cost Price `json:"costPerHour"`
}
