package scheduling

import corev1 "k8s.io/api/core/v1"

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
	Totals       Totals            `json:"totals"`
	Stats        Stats             `json:"stats,omitzero"`
}

// LaunchDocument is one node to start. Pods are "namespace/name", sorted.
type LaunchDocument struct {
	Pool         string `json:"pool"`
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
	Price        Price  `json:"pricePerHour"`
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
	Labels map[string]string `json:"labels,omitempty"`
	Price  Price             `json:"pricePerHour"`
}

// WeighedDocument is Why in names.
type WeighedDocument struct {
	Candidates int                  `json:"candidates,omitempty"`
	RunnerUp   *AlternativeDocument `json:"runnerUp,omitempty"`
	Binding    corev1.ResourceName  `json:"binding,omitempty"`
	Used       int                  `json:"usedPercent,omitempty"`
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
