package pack

import (
	"cmp"
	"slices"
)

// Holder is a row that could hold a node's content, and the offerings its pods allow there.
type Holder struct {
	Row  int32
	Bits uint64
}

// Holders lists the rows of the run's pool that could hold what the run holds, in the order of rows.
// jobs are all that the packer was given. What reservations have left does not count; see Ledger.Open.
func (s *Space) Holders(run *Run, jobs []Job, dst []Holder) []Holder {
	content := distinctLooks(slices.Clone(run.Content), jobs)
	for r := range s.Rows {
		if s.Pool[r] != s.Pool[run.Row] || s.OfferStart[r] == s.OfferStart[r+1] || !Holds(s.AllocOf(r), run.Used) {
			continue
		}
		if b, _, ok := s.admit(int32(r), ^uint64(0), content, jobs, run.Open); ok {
			dst = append(dst, Holder{int32(r), b})
		}
	}
	return dst
}

// distinctLooks drops content whose job has the mask and the alternatives of one before, in place.
func distinctLooks(content []Content, jobs []Job) []Content {
	out := content[:0]
next:
	for _, c := range content {
		j := &jobs[c.Job]
		for i := len(out) - 1; i >= 0; i-- {
			if o := &jobs[out[i].Job]; o.MaskID == j.MaskID && len(o.Alternatives) == len(j.Alternatives) &&
				(len(j.Alternatives) == 0 || &o.Alternatives[0] == &j.Alternatives[0]) {
				continue next
			}
		}
		out = append(out, c)
	}
	return out
}

// admit tells which offerings of the row all the content allows, and what becomes of the row's open keys
// under the cheapest of them. settled has a state for each open key that is decided already, -1 for
// those the row may decide; nil: nothing is decided. Only the offerings in want are asked for.
func (s *Space) admit(row int32, want uint64, content []Content, jobs []Job, settled []int32) (uint64, []int32, bool) {
	allowed := want
	for _, c := range content {
		if allowed &= jobs[c.Job].Mask[row]; allowed == 0 {
			return 0, nil, false
		}
	}
	if s.OpenStart == nil {
		return allowed, nil, true
	}
	start := slices.Clone(s.OpenStart[row])
	for k, state := range settled {
		if state >= 0 {
			if start[k] = s.Meet(start[k], state); start[k] < 0 {
				return 0, nil, false
			}
		}
	}
	// Alternatives may allow different offerings, so each is asked on its own.
	var first []int32
	for b := allowed; b != 0; b &= b - 1 {
		open, ok := start, true
		for _, c := range content {
			if _, open, ok = s.Narrow(&jobs[c.Job], row, b&-b, open); !ok {
				allowed &^= b & -b
				break
			}
		}
		if ok && first == nil {
			first = open
		}
	}
	return allowed, first, allowed != 0
}

// Resettle moves every run to the cheapest row of its pool that holds it and that limits and reservations have
// room for: pods may have left since it was opened, or labels been settled otherwise. A run of which only
// some nodes can have a reservation is split.
func (s *Space) Resettle(res *Result, jobs []Job) {
	l := s.Rest(res)
	var m mover
	for i := 0; i < len(res.Runs); i++ {
		run := &res.Runs[i]
		// What the run has reserved is its own to use.
		l.release(run, 1)
		for _, c := range m.cheaper(s, &l, run, jobs) {
			rest := *run
			run.Mult = l.movable(run, c.row, c.bits)
			if run.Mult == 0 || !l.recharge(run, c.row) {
				run.Mult = rest.Mult
				continue
			}
			run.Row, run.Bits, run.Open = c.row, c.bits, c.open
			if rest.Mult -= run.Mult; rest.Mult > 0 {
				l.release(&rest, -1)
				res.Runs = slices.Insert(res.Runs, i+1, rest)
				run = &res.Runs[i]
			}
			break
		}
		l.release(run, -1)
	}
	s.total(res)
}

// mover looks for rows that runs can move to.
type mover struct {
	found   []move
	content []Content
}

type move struct {
	row   int32
	bits  uint64
	open  []int32
	price int64
}

// cheaper lists the rows of the run's pool that hold it for less, cheapest first.
func (m *mover) cheaper(s *Space, l *Ledger, run *Run, jobs []Job) []move {
	price, _ := s.Price(int(run.Row), run.Bits)
	m.found = m.found[:0]
	m.content = distinctLooks(append(m.content[:0], run.Content...), jobs)
	for r := range s.Rows {
		if s.Pool[r] != s.Pool[run.Row] || s.OfferStart[r] == s.OfferStart[r+1] || s.Offer[s.OfferStart[r]] >= price || !Holds(s.AllocOf(r), run.Used) {
			continue
		}
		if b, open, ok := s.admit(int32(r), l.Open(int32(r), ^uint64(0)), m.content, jobs, nil); ok {
			if p, _ := s.Price(r, b); p < price {
				m.found = append(m.found, move{int32(r), b, open, p})
			}
		}
	}
	slices.SortStableFunc(m.found, func(a, b move) int { return cmp.Compare(a.price, b.price) })
	return m.found
}

// release gives back what the run holds of a reservation; with -1 for sign it takes that again.
func (l *Ledger) release(run *Run, sign int64) {
	if l.reserved != nil {
		l.hold(run.Row, run.Bits, -sign*int64(run.Mult))
	}
}

// movable is how many nodes of the run, which has given back what it held of a reservation, can draw what the offerings
// m of row do while the rest takes again what it held.
func (l *Ledger) movable(run *Run, row int32, m uint64) int32 {
	id, draw := l.s.DrawOf(row, m)
	if id < 0 {
		return run.Mult
	}
	n := min(int64(run.Mult), max(l.reserved[id], 0)/draw)
	if own, held := l.s.DrawOf(run.Row, run.Bits); own == id && draw > held {
		n = min(n, max(l.reserved[id]-held*int64(run.Mult), 0)/(draw-held))
	}
	return int32(n)
}

// recharge makes the run charge what the row has, if there is room for that.
func (l *Ledger) recharge(run *Run, row int32) bool {
	if l.left == nil {
		return true
	}
	more := make([]int64, l.s.Dims)
	left := l.left[int(l.s.Pool[row])*l.s.Dims:]
	for d, c := range l.s.capOf(int(row)) {
		more[d] = max(c-run.Charge[d], 0)
		if left[d] != Unlimited && more[d]*int64(run.Mult) > left[d] {
			return false
		}
	}
	run.Charge = slices.Clone(run.Charge) // parts of a split run share theirs
	for d, m := range more {
		run.Charge[d] += m
		if left[d] != Unlimited {
			left[d] -= m * int64(run.Mult)
		}
	}
	return true
}

// Open reports whether the limits leave room for one node of the row, before anything is launched.
func (s *Space) Open(row int) bool {
	l := Ledger{s: s, left: s.Limits, nodes: s.NodeLimit}
	return l.Room(int32(row), 0, nil, 1) > 0
}

// Jobs returns all the jobs that the packer was given.
func (e *Packer) Jobs() []Job { return e.jobs }

// Left returns what the result leaves of the pools' limits, by resource, and of their nodes; nil without limits.
func (s *Space) Left(res *Result) (limits []int64, nodes []int64) {
	l := s.Rest(res)
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
