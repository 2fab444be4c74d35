package scheduling

import corev1 "k8s.io/api/core/v1"

// Plan is the answer to a Problem. It refers to the problem's pods, pools and types by index, so it is
// small and means nothing without that problem; Document gives the same plan in names. Pods of demands have the
// indexes after Problem.Pods: see [Problem.PodAt].
type Plan struct {
	problem *Problem

	// Digest identifies the problem, whatever the order of its slices.
	Digest string
	// Options are those of the call, without Progress and First.
	Options Options
	// Catalog is the problem's, so that a saved plan tells how old its prices are.
	Catalog Catalog
	// Shapes are the distinct kinds of launches; many launches share one.
	Shapes []Shape
	// Launches are the nodes to start, in the order in which they were opened; a Document sorts them.
	Launches []Launch
	// Placements are the pods that go to existing nodes, ordered by node, then pod.
	Placements []Placement
	// Unplaced are the pods that go nowhere, in the order of their names.
	Unplaced []Unplaced
	// Reasons are what Unplaced refers to: one record per kind of pod and cause.
	Reasons []Reason
	// Relaxed tells which preferences were given up, per kind of pod.
	Relaxed []Relaxation
	// NotEvaluated are pods nobody looked at before the step budget ran out, in the order of their names.
	NotEvaluated []int32
	// BindOrder lists every placed pod in an order in which each one's constraints hold when it
	// is bound. Nil: any order does.
	BindOrder []int32
	// BoundLeavesOut names what Totals.LowerBound takes no account of although the problem has it: a plan may
	// be dearer than the bound for that alone. Sorted.
	BoundLeavesOut []string
	Totals         Totals
	Stats          Stats
}

// Partial reports whether the step budget ran out.
func (p *Plan) Partial() bool { return len(p.NotEvaluated) > 0 }

// Launch is one node to start.
type Launch struct {
	// Shape indexes Plan.Shapes.
	Shape int32
	// Pods index Problem.Pods, kind by kind; a Document sorts them. Launches share no pods.
	Pods []int32
}

// Shape is what equal launches have in common.
type Shape struct {
	// Pool indexes Problem.Pools.
	Pool int32
	// Choice is the offering to ask for first.
	Choice Alternative
	// Alternatives are the offerings that would hold the same pods, cheapest first, Choice among them.
	// If the pods tie the node to a zone, all are in that zone.
	Alternatives []Alternative
	// AlternativeCount is how many offerings there were before Options.MaxAlternatives cut the types.
	AlternativeCount int
	// Price of Choice, per hour.
	Price Price
	// Requests are what the pods and the DaemonSets on the node ask for, pods counted too.
	Requests Vector
	// DaemonSets index Problem.DaemonSets: those that run on Choice.
	DaemonSets []int32
	// CustomLabels are labels that the pool left open and this launch decides.
	CustomLabels map[string]string
	// MinValues lists the minValues that had to be lowered, by label key (best effort only).
	MinValues map[string]int
	// Why says what was weighed.
	Why Why
}

// Alternative is one offering of one type of the shape's pool.
type Alternative struct {
	// Type indexes Pool.InstanceTypes, Offering the Offerings of that type.
	Type, Offering int32
}

// Why explains the choice of a launch's type.
type Why struct {
	// Candidates is how many types of the pool could hold the pods.
	Candidates int
	// RunnerUp is the next type by price, if there is one.
	RunnerUp      Alternative
	RunnerUpPrice Price
	// Binding is the resource of which the node has least left, and Used its share in percent.
	Binding corev1.ResourceName
	Used    int
}

// Placement puts a pod on an existing node.
type Placement struct {
	// Pod indexes Problem.Pods, Node indexes Problem.Nodes.
	Pod, Node int32
}

// Unplaced is a pod with nowhere to go.
type Unplaced struct {
	// Pod indexes Problem.Pods, Reason indexes Plan.Reasons.
	Pod, Reason int32
}

// Relaxation tells of preferences that some pods did without.
type Relaxation struct {
	// Pods index Problem.Pods.
	Pods []int32
	// Given names what was given up, in the order it was.
	Given []string
	// Cost is how much more per hour a plan costs in which all pods of the kind keep what these gave up to stay
	// below Options.PreferenceCap. Unknown where it was not to be had at any price, and beyond the sixteen kinds
	// for which it is worked out.
	Cost Price
}

// Totals sum a plan up.
type Totals struct {
	// Price per hour of all launches.
	Price Price `json:"pricePerHour"`
	// LowerBound is a proven bound on the price per hour of any plan that places the same pods on
	// the same pools and nodes; unknown if none was computed.
	LowerBound Price `json:"lowerBoundPerHour,omitzero"`
	// Nodes counts launches.
	Nodes int `json:"nodes"`
	// Pods counts the pods placed, on launches and on existing nodes.
	Pods int `json:"pods"`
	// Unplaced counts the pods left over for a reason; NotEvaluated those that no one looked at.
	Unplaced     int `json:"unplaced"`
	NotEvaluated int `json:"notEvaluated,omitempty"`
}

// Stats tell how the plan came about. They depend on the problem only, like all the rest.
type Stats struct {
	// Shapes is the number of pod shapes, Classes of pod classes, Columns of offerings weighed.
	Shapes  int `json:"shapes,omitempty"`
	Classes int `json:"classes,omitempty"`
	Columns int `json:"columns,omitempty"`
	// Steps is what counts against Options.Steps.
	Steps int64 `json:"steps,omitempty"`
	// Packing names the construction that gave the cheapest plan.
	Packing string `json:"packing,omitempty"`
}

// Quantity is an amount of one resource: millicores for cpu, the plain number (bytes, counts) for
// everything else.
type Quantity struct {
	Name   corev1.ResourceName
	Amount int64
}

// Vector is an amount of several resources, sorted by name, zero amounts left out.
type Vector []Quantity
