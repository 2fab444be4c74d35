package board

import "github.com/fleetwright/fleetwright/scheduling/internal/pack"

// Model is a compiled problem: what can be bought, what exists, and what pods mean to each other. It is
// shared by all boards made from it and not written after.
type Model struct {
	Space  *pack.Space
	Keys   []Key
	Groups []Group
	Shapes []Shape
	// Classes of pods, first those that are to be placed, then those that only run already.
	Classes []Class
	// Sets is the number of values that Group.Set has.
	Sets int32
	// Ignores marks pools on whose new nodes preferences do not count, IgnoresOld says the same of existing nodes; nil
	// and false: they count everywhere, or nowhere.
	Ignores    []bool
	IgnoresOld bool
	// Waits is set if pods wait for reservations, so that their masks do not say all that is in their reach.
	Waits bool
	// NodePool and NodeCap are, by existing node, the pool that owns it (-1: none) and what it charges to the
	// pool's limits; nil without limits.
	NodePool []int32
	NodeCap  [][]int64

	index
}

// Host is the topology key of the hostname: each node is a domain of its own.
const Host = -1

// Key is a topology key other than the hostname. Its domains are numbered in the order of their names. Those of
// existing nodes are in Space.Nodes[i].Domain, Absent where the node has no such label.
type Key struct {
	// Mask has, by domain, the offerings whose nodes are in it or can be made to be.
	Mask []pack.Mask
	// Open is the open key that decides where the pool leaves the label open, -1 if none does; State is
	// what each domain asks of it.
	Open  int32
	State []int32
}

// Absent is the domain of a node without the label.
const Absent = -1

// Kind is what a group constrains.
type Kind uint8

const (
	// Spread bounds how much more pods one domain has than the one with fewest.
	Spread Kind = iota
	// Affinity wants a pod that the group counts in the domain.
	Affinity
	// Anti wants none.
	Anti
)

// Group is a constraint between pods, shared by all that state it alike: whom it counts, and by what.
type Group struct {
	Kind Kind
	// Key indexes Model.Keys, or is Host.
	Key int32
	// Soft groups are preferences: only variants that list them obey.
	Soft bool
	// MaxSkew and MinDomains are those of a spread.
	MaxSkew, MinDomains int32
	// Old and Rows tell which existing nodes and which offerings count; nil: all.
	Old  []bool
	Rows pack.Mask
	// Opens are the open keys on which it depends whether a new node counts, each in a state in which it may, and Match
	// tells for a node whose open keys are settled; nil: Rows says it all.
	Opens []pack.OpenReq
	Match func(row int32, bit uint64, open []int32) bool
	// Eligible marks the domains of a spread that a pod that owns the group could reach on a new node. Their
	// counts are part of the minimum, and so are those of domains that have a node which counts.
	Eligible []bool
	// Set numbers the required affinity terms of one pod, which count the pods that match all of them, and
	// may all be unmet for the first pod of all; -1 for others.
	Set int32
}

// Shape is what decides where a pod may run alone.
type Shape struct {
	Req      []int64
	Variants []Variant
}

// Variant is what a pod asks with some of its preferences given up; the first gives up none.
type Variant struct {
	Mask   pack.Mask
	MaskID int32
	Alts   []pack.Alternative
	// Fits has a bit for each existing node whose labels and taints are as the variant asks.
	Fits []uint64
}

// Has reports whether the existing node is among those that fit.
func (v *Variant) Has(node int) bool { return v.Fits[node>>6]>>(node&63)&1 != 0 }

// Class is a set of pods that nothing can tell apart.
type Class struct {
	// Shape is -1 for pods that are never placed.
	Shape int32
	// Owns lists the groups that the pods state as required, In those that count them. Sorted.
	Owns, In []int32
	// Reach is, by group, which domains of a spread the class can reach, where not all that state it reach the same:
	// volumes tie them to places. Nil: Group.Eligible says it.
	Reach map[int32][]bool
	// Soft lists, by variant of the shape, the soft groups that are still obeyed. Nil: none.
	Soft [][]int32
	// Excludes lists the classes whose host ports clash; itself: one a node. Sorted.
	Excludes []int32
	// Volumes are those that other pods mount too: each is attached once to a node.
	Volumes []Volume
}

// Volume is one that several pods mount.
type Volume struct {
	// ID numbers it, Dim is the resource by which nodes bound how many may be attached, -1: unbounded.
	ID, Dim int32
}
