package pack

// Holder is a row that could hold a node's content, and the offerings its pods allow there.
type Holder struct {
	Row  int32
	Bits uint64
}

// Holders lists the rows of the run's pool that could hold what the run holds, in the order of rows.
// jobs are all that the packer was given.
func (s *Space) Holders(run *Run, jobs []Job, dst []Holder) []Holder {
	for r := range s.Rows {
		if s.Pool[r] != s.Pool[run.Row] || s.OfferStart[r] == s.OfferStart[r+1] || !holds(s.AllocOf(r), run.Used) {
			continue
		}
		if b, ok := s.admit(int32(r), run, jobs); ok {
			dst = append(dst, Holder{int32(r), b})
		}
	}
	return dst
}

func (s *Space) admit(row int32, run *Run, jobs []Job) (uint64, bool) {
	allowed := ^uint64(0)
	var open []int32
	if s.OpenStart != nil {
		open = s.OpenStart[row]
	}
	for _, c := range run.Content {
		var ok bool
		if allowed, open, ok = s.narrow(&jobs[c.Job], row, allowed, open); !ok {
			return 0, false
		}
	}
	// The labels that the run settled must be possible there too.
	for k := range open {
		if run.Open != nil && s.Meet(open[k], run.Open[k]) < 0 {
			return 0, false
		}
	}
	return allowed, true
}

// Jobs returns all the jobs that the packer was given.
func (e *Packer) Jobs() []Job { return e.jobs }

// Left returns what the result leaves of the pools' limits, by resource, and of their nodes; nil without limits.
func (s *Space) Left(res *Result) (limits []int64, nodes []int64) {
	l := newLedger(s)
	for i := range res.Runs {
		r := &res.Runs[i]
		l.charge(s.Pool[r.Row], r.Charge, r.Mult)
	}
	return l.left, l.nodes
}

// Remove takes n pods of job out of the run, from its last node; empty nodes go away. It returns the
// runs that replace it.
func (r Run) Remove(job int32, req []int64, n int32) (out []Run, removed int32) {
	for r.Mult > 0 && removed < n {
		one := r
		one.Mult = 1
		one.Content = nil
		one.Used = append([]int64(nil), r.Used...)
		for _, c := range r.Content {
			if c.Job == job {
				take := min(c.Count, n-removed)
				removed += take
				c.Count -= take
				for d, q := range req {
					one.Used[d] -= q * int64(take)
				}
			}
			if c.Count > 0 {
				one.Content = append(one.Content, c)
			}
		}
		r.Mult--
		if len(one.Content) > 0 {
			out = append(out, one)
		}
	}
	if r.Mult > 0 {
		out = append([]Run{r}, out...)
	}
	return out, removed
}

// Sum recomputes price and node count after runs were changed.
func (s *Space) Sum(res *Result) { s.total(res) }

// Bound is a lower bound, in billionths, on the price of nodes that hold demand beside the free room of
// the existing nodes, whatever the packing: what demand is worth when no row is worth more than
// it costs. mask has the offerings that any of the pods may use.
func (s *Space) Bound(mask Mask, demand []float64) int64 {
	worth := s.fluid(mask, demand)
	v := 0.0
	for d, q := range demand {
		v += float64(worth[d] * q)
	}
	for i := range s.Nodes {
		for d, f := range s.Nodes[i].Free {
			if f > 0 {
				v -= float64(worth[d] * float64(f))
			}
		}
	}
	// A billionth covers the rounding of sums over millions of pods.
	return max(int64(v*(1-1e-9)*nano)-1, 0)
}
