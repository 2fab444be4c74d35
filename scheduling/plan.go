package scheduling

import (
	"encoding/json"
	"math/big"

	corev1 "k8s.io/api/core/v1"
)

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
	// be dearer than the bound for that alone. Sorted; of "gangs", "host ports", "minValues", "open labels" (those
	// that a pool leaves for pods to decide), "pod affinity", "pod anti-affinity", "pool limits", "pool weights",
	// "preferences", "shared volumes" and "topology spread".
	BoundLeavesOut []string
	// Commitments say how much of each of Problem.Commitments the launches use, by name.
	Commitments []CommitmentUse
	// Pools sum up, for each pool that launches nodes, what of them is used and what is not, in the order of their
	// names. Nil in a plan that was not made by Solve.
	Pools  []PoolUse
	Totals Totals
	Stats  Stats
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
	// PodsPrice and DaemonsPrice are the parts of the shape's price that pay for what its pods and its DaemonSets ask
	// for; the rest is stranded, since nobody uses it. The price is split over all that the node has to give, by what a
	// unit of each resource is worth to the pods of the pool: the dual prices of a plan in which they are a fluid. A
	// resource of which that plan has more than enough is worth nothing. Where this says nothing of a type, its
	// fullest resource decides alone. Unknown if not worked out.
	PodsPrice, DaemonsPrice Price
	// Binding is the resource of which the node has least left, and Used its share in percent.
	Binding corev1.ResourceName
	Used    int
}

// PoolUse sums up the launches of one pool.
type PoolUse struct {
	// Pool indexes Problem.Pools.
	Pool int32
	// Nodes counts launches, and Price is what they cost per hour.
	Nodes int
	Price Price
	// PodsPrice and DaemonsPrice are the sums of those in Why.
	PodsPrice, DaemonsPrice Price
	// Resources are cpu, memory, and all others that pods or DaemonSets on these nodes ask for, by name.
	Resources []ResourceUse
}

// Stranded is what the pool's launches cost per hour for what nobody uses.
func (u *PoolUse) Stranded() Price { return stranded(u.Price, u.PodsPrice, u.DaemonsPrice) }

// stranded is what of a price nobody uses; unknown if the parts are.
func stranded(price, pods, daemons Price) Price {
	if !price.known || !pods.known || !daemons.known {
		return Price{}
	}
	return PriceFromNano(max(price.nano-pods.nano-daemons.nano, 0))
}

// ResourceUse is what becomes of one resource of a pool's launches; what neither pods nor DaemonSets ask for is
// stranded. Amounts are as in Quantity.
type ResourceUse struct {
	Name                       corev1.ResourceName
	Allocatable, Pods, Daemons int64
	// StrandedPrice is the price per hour of what is stranded: 0 for a resource that is worth nothing. Those of
	// all resources make up PoolUse.Stranded, but for rounding.
	StrandedPrice Price
}

// Stranded is the amount that nobody asks for.
func (u *ResourceUse) Stranded() int64 { return max(u.Allocatable-u.Pods-u.Daemons, 0) }

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

// GapPercent is how much dearer than LowerBound the plan is, in percent of LowerBound: no plan for the same pods is
// cheaper by more. It is rounded up to two decimals, so 0 means that the plan is proven to be the cheapest. False: no
// bound was computed, or none that says anything.
func (t Totals) GapPercent() (percent float64, ok bool) {
	price, bound := t.Price, t.LowerBound
	if !price.known || !bound.known || bound.nano == 0 && price.nano > 0 {
		return 0, false
	}
	if price.nano <= bound.nano {
		return 0, true
	}
	gap := new(big.Int).Mul(big.NewInt(price.nano-bound.nano), big.NewInt(100*100))
	whole, rest := gap.QuoRem(gap, big.NewInt(bound.nano), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	hundredths, _ := new(big.Float).SetInt(whole).Float64()
	return hundredths / 100, true
}

// plainTotals has the fields of Totals without its methods.
type plainTotals Totals

// MarshalJSON adds gapPercent, which GapPercent computes, if there is a bound. Reading needs no counterpart.
func (t Totals) MarshalJSON() ([]byte, error) {
	out := struct {
		plainTotals
		Gap *float64 `json:"gapPercent,omitempty"`
	}{plainTotals: plainTotals(t)}
	if gap, ok := t.GapPercent(); ok {
		out.Gap = &gap
	}
	return json.Marshal(out)
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
