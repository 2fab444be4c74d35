package pack

import "slices"

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

// Out reports whether the budget is used up.
func (b *Budget) Out() bool { return b.stopped || b.Max != 0 && b.Spent > b.Max }

// nodeCap returns how many more pods of class may join a node with the given content, at most n.
func (ru *Rules) nodeCap(class int32, content []Content, n int32) int32 {
	if ru == nil || ru.Excludes == nil || n == 0 {
		return n
	}
	if ex := ru.Excludes[class]; len(ex) > 0 {
		for _, c := range content {
			if contains(ex, c.Class) {
				return 0
			}
		}
		if contains(ex, class) {
			n = min(n, 1)
		}
	}
	for _, cap := range ru.Caps[class] {
		have, bound := int32(0), cap.Owns
		for _, c := range content {
			for _, other := range ru.Caps[c.Class] {
				if other.Group != cap.Group {
					continue
				}
				if other.In {
					have += c.Count
				}
				bound = bound || other.Owns
			}
		}
		switch {
		case !bound:
		case cap.In:
			n = min(n, cap.Max-have)
		case have > cap.Max:
			return 0
		}
	}
	return max(n, 0)
}

func contains(sorted []int32, v int32) bool {
	lo, hi := 0, len(sorted)
	for lo < hi {
		if m := (lo + hi) / 2; sorted[m] < v {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo < len(sorted) && sorted[lo] == v
}

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

// placeOnNodes puts the round's pods on existing nodes: the largest first, each on the first node that
// takes it.
func (e *Packer) placeOnNodes() {
	if len(e.s.Nodes) == 0 {
		return
	}
	e.order = e.order[:0]
	for ji := e.active; ji < len(e.jobs); ji++ {
		e.order = append(e.order, int32(ji))
	}
	slices.SortStableFunc(e.order, e.bySize)
	for _, ji := range e.order {
		j := &e.jobs[ji]
		for i := 0; i < len(e.s.Nodes) && e.left[ji] > 0; i++ {
			if !e.b.spend(1) {
				return
			}
			rem := e.free[i*e.s.Dims : (i+1)*e.s.Dims]
			n := Fit(rem, j.Req, e.left[ji])
			if n == 0 || !j.Fits(i) {
				continue
			}
			if n = e.ru.nodeCap(j.Class, e.content[i], n); n == 0 {
				continue
			}
			for d, q := range j.Req {
				rem[d] -= q * int64(n)
			}
			e.left[ji] -= n
			c := Content{Class: j.Class, Job: ji, Count: n}
			e.placed[i] = append(e.placed[i], c)
			// The content may still be shared with the space: grow a copy.
			e.content[i] = append(e.content[i][:len(e.content[i]):len(e.content[i])], c)
		}
	}
}

// bySize orders jobs for first fit: urgent ones, then by resource after resource, the largest first.
func (e *Packer) bySize(a, b int32) int {
	ja, jb := &e.jobs[a], &e.jobs[b]
	if ja.Urgent != jb.Urgent {
		if ja.Urgent {
			return -1
		}
		return 1
	}
	return slices.Compare(jb.Req, ja.Req)
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
