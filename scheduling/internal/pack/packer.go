package pack

import (
	"cmp"
	"slices"
)

// Packer builds one packing, round by round. Not safe for concurrent use.
type Packer struct {
	s    *Space
	ru   *Rules
	b    *Budget
	jobs []Job
	left []int32
	// active is the first job of the round under way.
	active int
	// traits are per job, knots per class; known numbers what jobs have in common.
	traits []traits
	knots  []knot
	known  registry
	tally  *tally // nil without rules
	led    Ledger
	// reserved are the offerings that draw on reservations, by row; nil without reservations.
	reserved []uint64
	runs     []Run
	// free and content are the state of the existing nodes, placed what went there.
	free    []int64
	content [][]Content
	placed  [][]Content
	// floor packs by first fit instead of by price; bags are its open nodes.
	floor bool
	bags  []*bag
	// cov is set if the nodes of a tier are chosen together.
	cov *covering

	inTier []bool // per pool
	// byPrice lists the tier's rows, cheapest first.
	byPrice []int32
	// kinds are the tier's, largest worth first; ratio lists them by share.
	kinds []kind
	ratio []shared
	// compats are the kinds by what may take them, near those of the filling under way.
	compats compats
	near    *compat
	// groups are by mask; nil for masks that no kind of the tier has.
	groups     []*group
	groupCount int
	// least is the least of each resource that a kind left asks for, demand what all of them do.
	least   []int64
	demand  []float64
	lax     bool // minValues are let go
	scratch [2]filling
	// partOf is, per kind, its part in the filling that is numbered fills.
	partOf []partOf
	fills  int32
	reps   []Content
}

// Guided returns a packer that chooses nodes by price: each node is the row and content that give the
// most worth for the money, the largest pod left always among the content, and every pattern is
// repeated while pods last. What pods are worth comes from the fluid relaxation of their mask.
func Guided(s *Space, ru *Rules, b *Budget) *Packer { return newPacker(s, ru, b, false) }

// FirstFit returns a packer that does as the peers do: pods by decreasing size, each into the first open
// node that still has a row to hold it, else into a new node; at the end each node becomes the
// cheapest row that holds it. It is the floor under Guided: the cheaper of the two is kept. It uses
// no pool with minValues and charges limits with the largest row a node may become, so it may leave pods
// that Guided places.
func FirstFit(s *Space, ru *Rules, b *Budget) *Packer { return newPacker(s, ru, b, true) }

func newPacker(s *Space, ru *Rules, b *Budget, floor bool) *Packer {
	e := &Packer{s: s, ru: ru, b: b, floor: floor, led: NewLedger(s), inTier: make([]bool, s.pools())}
	e.least, e.demand = make([]int64, s.Dims), make([]float64, s.Dims)
	for i := range s.Nodes {
		e.free = append(e.free, s.Nodes[i].Free...)
		e.content = append(e.content, s.Nodes[i].Content)
	}
	e.placed = make([][]Content, len(s.Nodes))
	e.known, e.knots, e.reserved = newRegistry(), ru.knots(), s.reservedBits()
	if e.knots != nil {
		e.tally = newTally(ru)
	}
	return e
}

func (s *Space) pools() int {
	n := int32(0)
	for _, t := range s.Tiers {
		for _, p := range t {
			n = max(n, p+1)
		}
	}
	return int(n)
}

// Run packs more jobs: onto existing nodes, into nodes opened in earlier rounds, into new nodes.
// It returns how many pods of each are left.
func (e *Packer) Run(jobs []Job) []int32 {
	e.active = len(e.jobs)
	e.jobs = append(e.jobs, jobs...)
	for i := range jobs {
		e.left = append(e.left, jobs[i].Count)
	}
	e.enlist()
	e.placeOnNodes()
	for _, tier := range e.s.Tiers {
		e.enter(tier)
		if e.floor {
			e.firstFitTier()
		} else {
			e.guidedTier()
		}
		for k := range e.kinds {
			for _, ji := range e.kinds[k].jobs {
				// The next tier finds pods of its own on this tier's nodes.
				e.traits[ji].met = true
			}
		}
	}
	return e.left[e.active:]
}

// Result closes the packing.
func (e *Packer) Result() *Result {
	for i := range e.bags {
		e.close(e.bags[i])
	}
	e.bags = nil
	res := &Result{Runs: e.runs, OnNodes: e.placed, Left: e.left, Steps: e.b.Spent}
	e.s.total(res)
	if e.floor && e.reserved != nil {
		e.s.Resettle(res, e.jobs) // first fit opens nodes on what is not reserved
		e.runs = res.Runs
	}
	return res
}

// Adopt takes over a result that was changed after it was closed: pods taken out of runs or off nodes. More
// jobs may be run then.
func (e *Packer) Adopt(res *Result) {
	e.runs, e.placed, e.left = res.Runs, res.OnNodes, res.Left
	e.led = NewLedger(e.s)
	for i := range e.runs {
		r := &e.runs[i]
		e.led.Charge(r.Row, r.Bits, r.Charge, r.Mult)
	}
	e.free = e.free[:0]
	for i := range e.s.Nodes {
		e.free = append(e.free, e.s.Nodes[i].Free...)
		e.content[i] = append(slices.Clone(e.s.Nodes[i].Content), e.placed[i]...)
		rem := e.free[i*e.s.Dims:]
		for _, c := range e.placed[i] {
			for d, q := range e.jobs[c.Job].Req {
				rem[d] -= q * int64(c.Count)
			}
		}
	}
}

// enter makes the pools the current tier.
func (e *Packer) enter(pools []int32) {
	clear(e.inTier)
	for _, p := range pools {
		e.inTier[p] = !e.floor || !e.s.wants(p)
	}
	e.byPrice = e.byPrice[:0]
	for r := range e.s.Rows {
		if e.inTier[e.s.Pool[r]] && e.s.OfferStart[r] < e.s.OfferStart[r+1] {
			e.byPrice = append(e.byPrice, int32(r))
		}
	}
	slices.SortStableFunc(e.byPrice, func(a, b int32) int {
		pa, _ := e.s.Price(int(a), 1)
		pb, _ := e.s.Price(int(b), 1)
		return cmp.Compare(pa, pb)
	})
	e.collect()
}
