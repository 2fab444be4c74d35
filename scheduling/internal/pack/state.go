package pack

// Run is a number of identical new nodes.
type Run struct {
	Row  int32
	Mult int32
	// Bits are the offerings that all the pods allow on Row.
	Bits    uint64
	Used    []int64
	Content []Content
	// Open are the states of the row's open keys.
	Open []int32
	// Charge is what each node takes of its pool's limits; nil without limits.
	Charge []int64
}

// Result is a packing.
type Result struct {
	Runs []Run
	// OnNodes lists, per existing node, what went there.
	OnNodes [][]Content
	// Left is what remains of each job.
	Left []int32
	// Price is the sum over the runs' cheapest offerings.
	Price int64
	// Nodes is the number of nodes of all runs.
	Nodes int64
	// Steps is the work done.
	Steps int64
}

// LeftTotal is the number of pods left over.
func (r *Result) LeftTotal() int64 {
	var n int64
	for _, l := range r.Left {
		n += int64(l)
	}
	return n
}

// Better reports whether r is to be preferred to q: fewer pods left, then cheaper, then fewer nodes.
func (r *Result) Better(q *Result) bool {
	if a, b := r.LeftTotal(), q.LeftTotal(); a != b {
		return a < b
	}
	if r.Price != q.Price {
		return r.Price < q.Price
	}
	return r.Nodes < q.Nodes
}

// Budget counts steps. The zero value has no bound.
type Budget struct {
	Max, Spent int64
	// Stop, if set, is asked now and then whether to give up.
	Stop func() bool
	// stopped stays set once Stop has answered yes.
	stopped bool
	asked   int64
}

func (b *Budget) spend(n int64) bool {
	b.Spent += n
	if b.Stop != nil && b.Spent-b.asked > 1<<16 {
		b.asked = b.Spent
		b.stopped = b.stopped || b.Stop()
	}
	return !b.stopped && (b.Max == 0 || b.Spent <= b.Max)
}

// Rest is a budget of what is left; nil if nothing is.
func (b *Budget) Rest() *Budget {
	out := *b
	if out.Max > 0 {
		if out.Max, out.Spent, out.asked = b.Max-b.Spent, 0, 0; out.Max <= 0 {
			return nil
		}
	}
	return &out
}

// Add takes what was spent of the rest. It does not use b up: what it was spent on can be done without.
func (b *Budget) Add(rest *Budget) {
	if b.Max == 0 {
		b.Spent = rest.Spent
	} else {
		b.Spent = min(b.Spent+rest.Spent, b.Max)
	}
	b.stopped = b.stopped || rest.stopped
}

// Out reports whether the budget is used up.
func (b *Budget) Out() bool { return b.stopped || b.Max != 0 && b.Spent > b.Max }

// Narrow finds the way in which the job's constraints agree with a node of row whose allowed offerings
// are among want and whose open keys are in the given states: the alternative with the cheapest
// offering, the first of them. It returns the offerings left and the states of the open keys, a new
// slice if the job narrows them.
func (s *Space) Narrow(j *Job, row int32, want uint64, open []int32) (allowed uint64, left []int32, ok bool) {
	if len(j.Alternatives) == 0 {
		b := j.Mask[row] & want
		return b, open, b != 0
	}
	var best uint64
	var bestOpen []int32
	for i := range j.Alternatives {
		alt := &j.Alternatives[i]
		b := alt.Mask[row] & want
		if b == 0 || best != 0 && b&-b >= best&-best {
			continue
		}
		if next, ok := s.meet(alt, open); ok {
			best, bestOpen = b, next
		}
	}
	return best, bestOpen, best != 0
}

// meet narrows open keys to what an alternative asks.
func (s *Space) meet(alt *Alternative, open []int32) ([]int32, bool) {
	if len(alt.Open) == 0 || open == nil {
		return open, true
	}
	next := append([]int32(nil), open...)
	for _, req := range alt.Open {
		if next[req.Key] = s.Meet(next[req.Key], req.State); next[req.Key] < 0 {
			return nil, false
		}
	}
	return next, true
}

// total sums the runs up.
func (s *Space) total(res *Result) {
	res.Price, res.Nodes = 0, 0
	for i := range res.Runs {
		r := &res.Runs[i]
		p, _ := s.Price(int(r.Row), r.Bits)
		res.Price += p * int64(r.Mult)
		res.Nodes += int64(r.Mult)
	}
}
