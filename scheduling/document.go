package scheduling

import corev1 "k8s.io/api/core/v1"

// PlanSchema is the version of Document's JSON form.
const PlanSchema = "fleetwright.dev/plan/v1"

// Document is a plan in names instead of indexes: what is saved, compared and shown. Equal
// problems give equal documents, whatever the order of their slices.
type Document struct {
	Schema       string              `json:"schema"`
	Digest       string              `json:"problemDigest"`
	Catalog      Catalog             `json:"catalog,omitzero"`
	Options      Options             `json:"options,omitzero"`
	Launches     []LaunchDocument    `json:"launches"`
	Placements   []PlacementDocument `json:"placements"`
	Unplaced     []UnplacedDocument  `json:"unplaced"`
	Relaxed      []RelaxedDocument   `json:"relaxed,omitempty"`
	NotEvaluated []string            `json:"notEvaluated,omitempty"`
	BindOrder    []string            `json:"bindOrder,omitempty"`
	Totals       Totals              `json:"totals"`
	Stats        Stats               `json:"stats,omitzero"`
}

// LaunchDocument is one node to start. Pods are "namespace/name", sorted.
type LaunchDocument struct {
	Pool             string                `json:"pool"`
	InstanceType     string                `json:"instanceType"`
	Zone             string                `json:"zone"`
	CapacityType     string                `json:"capacityType"`
	Price            Price                 `json:"pricePerHour"`
	Alternatives     []AlternativeDocument `json:"alternatives,omitempty"`
	AlternativeCount int                   `json:"alternativeCount,omitempty"`
	// Labels are all that the node will carry: the pool's, those the type and offering decide, and
	// those this launch decides.
	Labels        map[string]string   `json:"labels,omitempty"`
	Taints        []corev1.Taint      `json:"taints,omitempty"`
	StartupTaints []corev1.Taint      `json:"startupTaints,omitempty"`
	Capacity      corev1.ResourceList `json:"capacity,omitempty"`
	Allocatable   corev1.ResourceList `json:"allocatable,omitempty"`
	Requests      corev1.ResourceList `json:"requests,omitempty"`
	DaemonSets    []string            `json:"daemonSets,omitempty"`
	MinValues     map[string]int      `json:"minValuesLowered,omitempty"`
	Why           string              `json:"why,omitempty"`
	Pods          []string            `json:"pods"`
}

// AlternativeDocument is one offering that would hold a launch's pods.
type AlternativeDocument struct {
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
	Price        Price  `json:"pricePerHour"`
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
	Nearest Nearest `json:"nearest,omitzero"`
	Change  Change  `json:"change,omitzero"`
}

// RelaxedDocument tells which preferences some pods did without.
type RelaxedDocument struct {
	Pods  []string `json:"pods"`
	Given []string `json:"given"`
}
