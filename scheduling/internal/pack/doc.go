// Package pack is the solver's kernel: it fills nodes with identical pods, on integers and bit masks
// only. Names, quantities and label sets end one level up, where a problem is compiled.
//
//	p := pack.Guided(&space, &rules, &budget)
//	left := p.Run(jobs)    // again with what is left, under weaker constraints
//	result := p.Result()
//
// Words: a row is one instance type in one pool with one set of DaemonSets; bit i of a row's mask is
// its i-th cheapest offering, so the lowest set bit is always the cheapest one allowed. A job is a
// number of identical pods that share a mask. A run is a number of identical nodes. A kind is jobs that are
// alike to a new node; what is thought of before a node is bought goes by kinds, so that thousands of jobs
// cost little more than the few sizes and masks they have.
//
// Guided buys the row and content with the most worth for the money; what pods are worth comes from the
// dual of the problem with pods as a fluid. FirstFit is the floor it is compared with. Bound is what no
// packing can go below. Resettle, Merge and Holders re-examine nodes that are finished: a cheaper row, two nodes in
// one that costs no more, all rows that would do.
//
// The kernel knows rules between pods on one node (Rules), and nothing of zones: whoever must count pods
// by zone restricts the masks first. The Ledger counts what limits and reservations have left.
// It allocates by job and by run, never by pod or node. Ties go to
// the row that comes first, and rows are in the order of names. Limits hold for what it buys; what else
// a node may fall back to is decided by the caller.
package pack

import "math/bits"

// Unlimited marks a limit that is not set.
const Unlimited int64 = 1<<62 - 1

// Space is what can be bought, and the free room that exists already. It is not written to.
type Space struct {
	// Dims is the number of resources; vectors have one entry each.
	Dims int
	// Rows is the number of rows. They are sorted by type, pool and DaemonSets, names deciding.
	Rows int
	// Alloc is what pods can use on each row, DaemonSets subtracted: Rows x Dims.
	Alloc []int64
	// Cap is what each row charges to its pool's limit: Rows x Dims. Nil without limits.
	Cap []int64
	// Offer holds the prices of row r's offerings, ascending, at OfferStart[r]:OfferStart[r+1].
	Offer      []int64
	OfferStart []int32
	// Reservation is parallel to Offer: the reservation each offering draws on, an index of Reserved, which has how
	// much each may give over all rows, of nodes or of money; -1: none. Nil without reservations. What a node draws
	// on is that of its cheapest offering.
	Reservation []int32
	Reserved    []int64
	// Draw is parallel to Offer: how much of its reservation a node takes, more than 0. Nil: 1 each.
	Draw []int64
	// Pool and Type index what each row stands for.
	Pool, Type []int32
	// Tiers groups pools by weight, heaviest first.
	Tiers [][]int32
	// Limits is what each pool may still launch: pools x Dims, Unlimited where there is no limit.
	// NodeLimit is the same for the number of nodes. Nil without limits.
	Limits    []int64
	NodeLimit []int64
	// MinValues are per pool.
	MinValues []MinValues
	// BestEffort lets minValues be lowered where nothing satisfies them.
	BestEffort bool
	// Nodes are the existing nodes, best first.
	Nodes []Node
	// Meet intersects two interned states of an open label key; -1 means that nothing is left.
	Meet func(a, b int32) int32
	// Settle is the one value that a state comes down to if nobody narrows it further.
	Settle func(state int32) int32
	// OpenStart are the states of the open keys of each row at opening; nil for rows without any.
	OpenStart [][]int32
}

// MinValues asks that the rows able to hold a node of Pool have Need distinct values between them.
type MinValues struct {
	Pool int32
	Need int
	// Value per row, -1 where the row has none.
	Value []int32
	// Key is the caller's name for it.
	Key int32
}

// Node is free room on a node that exists.
type Node struct {
	Free []int64
	// Content are the classes already there that matter to others.
	Content []Content
	// Domain is the node's domain per topology key.
	Domain []int32
}

// Content is a number of pods of one class on one node.
type Content struct {
	Class, Job, Count int32
}

// Mask has the allowed offerings of every row.
type Mask []uint64

// Rules are what classes mean to each other on one node.
type Rules struct {
	// Excludes lists, per class, the classes it must not share a node with; itself: one a node. Sorted.
	Excludes [][]int32
	// Caps lists, per class, the groups that bound how many pods a node may hold and that the class
	// owns or counts in. A cap holds on nodes with an owner of the group.
	Caps [][]Cap
}

// Cap is a class's part in a group that bounds its pods on a node to Max: In if the group counts the class,
// Owns if the class owns the group. Max is the same for all classes of a group.
type Cap struct {
	Group, Max int32
	In, Owns   bool
}

// OpenReq narrows an open label key to a state.
type OpenReq struct {
	Key, State int32
}

// Alternative is one way a job's constraints can be met: a mask, and what it asks of open keys.
type Alternative struct {
	Mask Mask
	Open []OpenReq
}

// Job is a number of identical pods.
type Job struct {
	Class int32
	Req   []int64
	// Mask is the union over Alternatives.
	Mask Mask
	// MaskID is equal for equal masks.
	MaskID int32
	// Alternatives is empty if Mask says it all.
	Alternatives []Alternative
	Count        int32
	// Fits says whether the pods may go to an existing node as far as labels and taints go.
	Fits func(node int) bool
	// Urgent jobs go first.
	Urgent bool
}

// Price of the cheapest offering in m, and its bit; -1 if m is empty.
func (s *Space) Price(row int, m uint64) (price int64, bit int) {
	if m == 0 {
		return 0, -1
	}
	bit = bits.TrailingZeros64(m)
	return s.Offer[int(s.OfferStart[row])+bit], bit
}

// AllocOf returns row's usable vector.
func (s *Space) AllocOf(row int) []int64 { return s.Alloc[row*s.Dims : (row+1)*s.Dims] }

// CapOf is what row charges to its pool's limits; there must be some.
func (s *Space) CapOf(row int) []int64 { return s.capOf(row) }

func (s *Space) capOf(row int) []int64 { return s.Cap[row*s.Dims : (row+1)*s.Dims] }

// Fit returns how many pods of req go into rem, at most limit.
func Fit(rem, req []int64, limit int32) int32 {
	n := int64(limit)
	for d, q := range req {
		if q <= 0 {
			continue
		}
		r := rem[d]
		if r < q {
			return 0
		}
		if r < q*n || n > 1<<31 { // one division only where it binds
			n = min(n, r/q)
		}
	}
	return int32(n)
}

// Holds reports whether a node with alloc has room for used. What nobody uses may be short.
func Holds(alloc, used []int64) bool {
	for d, u := range used {
		if u > alloc[d] && u > 0 {
			return false
		}
	}
	return true
}
