package pack

import (
	"fmt"
	"slices"
	"testing"
)

// check tests a result against everything the kernel promises whatever the budget.
func (w *world) check(t *testing.T, res *Result, floor bool) {
	t.Helper()
	jobs := w.jobs()
	w.checkCounts(t, res, jobs)
	for i := range res.Runs {
		run := &res.Runs[i]
		if run.Mult < 1 || len(run.Content) == 0 {
			t.Errorf("run %d has %d nodes with %d entries", i, run.Mult, len(run.Content))
			continue
		}
		w.checkRoom(t, i, run, jobs)
		w.checkOfferings(t, i, run, jobs)
		if broken := w.brokenRule(run.Content); broken != "" {
			t.Errorf("run %d has %s", i, broken)
		}
		w.checkMinValues(t, i, run, jobs, floor)
	}
	w.checkNodes(t, res, jobs)
	w.checkLimits(t, res)
	w.checkReservations(t, res)
	price, nodes := int64(0), int64(0)
	for _, run := range res.Runs {
		price += lowestPrice(w.s, run.Row, run.Bits) * int64(run.Mult)
		nodes += int64(run.Mult)
	}
	if price != res.Price || nodes != res.Nodes {
		t.Errorf("price %d and %d nodes, the runs have %d and %d", res.Price, res.Nodes, price, nodes)
	}
}

// lowestPrice is Price without bit tricks.
func lowestPrice(s *Space, row int32, allowed uint64) int64 {
	for i := range s.OfferStart[row+1] - s.OfferStart[row] {
		if allowed>>i&1 == 1 {
			return s.Offer[s.OfferStart[row]+i]
		}
	}
	return 0
}

// checkCounts: every pod is left, in a run or on a node, exactly once.
func (w *world) checkCounts(t *testing.T, res *Result, jobs []Job) {
	t.Helper()
	seen := make([]int64, len(jobs))
	count := func(content []Content, mult int32) {
		for _, c := range content {
			if c.Class != jobs[c.Job].Class || c.Count < 1 {
				t.Errorf("content %+v of job %d with class %d", c, c.Job, jobs[c.Job].Class)
			}
			seen[c.Job] += int64(c.Count) * int64(mult)
		}
	}
	for _, r := range res.Runs {
		count(r.Content, r.Mult)
	}
	for _, content := range res.OnNodes {
		count(content, 1)
	}
	for j, n := range seen {
		if res.Left[j] < 0 || n+int64(res.Left[j]) != int64(jobs[j].Count) {
			t.Errorf("job %d: %d pods, %d packed and %d left", j, jobs[j].Count, n, res.Left[j])
		}
	}
}

func (w *world) checkRoom(t *testing.T, i int, run *Run, jobs []Job) {
	t.Helper()
	used := make([]int64, w.s.Dims)
	for _, c := range run.Content {
		for d, q := range jobs[c.Job].Req {
			used[d] += q * int64(c.Count)
		}
	}
	if !slices.Equal(used, run.Used) {
		t.Errorf("run %d: used %v, its pods ask for %v", i, run.Used, used)
	}
	for d, a := range w.s.AllocOf(int(run.Row)) {
		if used[d] > 0 && used[d] > a {
			t.Errorf("run %d: resource %d: row %d has %d, its pods ask for %d", i, d, run.Row, a, used[d])
		}
	}
}

// agree reports whether each job has a way to be met by the offering and the open keys in states at
// once. With exact, the states have to lie within what the ways ask; else they may be narrowed to it.
func (w *world) agree(row int32, bit uint64, content []Content, jobs []Job, states []int32, exact bool) bool {
	if len(content) == 0 {
		return true
	}
	j := &jobs[content[0].Job]
	if len(j.Alternatives) == 0 {
		return j.Mask[row]&bit != 0 && w.agree(row, bit, content[1:], jobs, states, exact)
	}
	for _, alt := range j.Alternatives {
		next, ok := slices.Clone(states), alt.Mask[row]&bit != 0
		for _, req := range alt.Open {
			both := meetSets(next[req.Key], req.State)
			ok = ok && both > 0 && (!exact || both == next[req.Key])
			next[req.Key] = both
		}
		if ok && w.agree(row, bit, content[1:], jobs, next, exact) {
			return true
		}
	}
	return false
}

// checkOfferings: all pods allow each offering, and agree on the cheapest with the open keys as they are.
func (w *world) checkOfferings(t *testing.T, i int, run *Run, jobs []Job) {
	t.Helper()
	offers := w.s.OfferStart[run.Row+1] - w.s.OfferStart[run.Row]
	if run.Bits == 0 || run.Bits>>offers != 0 {
		t.Errorf("run %d: offerings %b of %d", i, run.Bits, offers)
		return
	}
	var start []int32
	if w.s.OpenStart != nil {
		start = w.s.OpenStart[run.Row]
		for k, state := range run.Open {
			if state <= 0 || meetSets(state, start[k]) != state {
				t.Errorf("run %d: open key %d is %b, its row allows %b", i, k, state, start[k])
			}
		}
		if len(run.Open) != len(start) {
			t.Errorf("run %d: %d open keys of %d", i, len(run.Open), len(start))
			return
		}
	}
	for _, c := range run.Content {
		if run.Bits&^jobs[c.Job].Mask[run.Row] != 0 {
			t.Errorf("run %d: offerings %b of row %d, job %d allows %b", i, run.Bits, run.Row, c.Job, jobs[c.Job].Mask[run.Row])
		}
	}
	if !w.agree(run.Row, run.Bits&-run.Bits, run.Content, jobs, run.Open, true) {
		t.Errorf("run %d: open keys %b are not what its pods ask for", i, run.Open)
	}
}

// brokenRule counts a node's content by class and names a rule between classes that it breaks, or nothing.
func (w *world) brokenRule(content []Content) string {
	if w.ru == nil {
		return ""
	}
	count := make([]int32, len(w.ru.Excludes))
	for _, c := range content {
		count[c.Class] += c.Count
	}
	for a, n := range count {
		for _, b := range w.ru.Excludes[a] {
			if n > 0 && count[b] > 0 && (int(b) != a || n > 1) {
				return fmt.Sprintf("%d pods of class %d with %d of class %d", n, a, count[b], b)
			}
		}
		for _, limit := range w.ru.Caps[a] {
			have := int32(0)
			for b, m := range count {
				if slices.ContainsFunc(w.ru.Caps[b], func(c Cap) bool { return c.Group == limit.Group && c.In }) {
					have += m
				}
			}
			if n > 0 && limit.Owns && have > limit.Max {
				return fmt.Sprintf("%d pods of group %d, of which class %d allows %d", have, limit.Group, a, limit.Max)
			}
		}
	}
	return ""
}

// checkMinValues: rows able to take a node's place, and that its charge covers, satisfy the need.
func (w *world) checkMinValues(t *testing.T, i int, run *Run, jobs []Job, floor bool) {
	t.Helper()
	for k := range w.s.MinValues {
		mv := &w.s.MinValues[k]
		if mv.Pool != w.s.Pool[run.Row] {
			continue
		}
		if floor {
			t.Errorf("run %d: first fit uses pool %d, which has minValues", i, mv.Pool)
		}
		if w.s.BestEffort {
			continue
		}
		values := map[int32]bool{}
		for r := range int32(w.s.Rows) {
			if w.s.Pool[r] != mv.Pool || mv.Value[r] < 0 || !w.takes(r, run, jobs) {
				continue
			}
			if w.s.Cap == nil || covered(w.s.capOf(int(r)), run.Charge) {
				values[mv.Value[r]] = true
			}
		}
		if len(values) < mv.Need {
			t.Errorf("run %d: rows that can take its place have %d values of key %d, %d are needed", i, len(values), mv.Key, mv.Need)
		}
	}
}

func covered(want, have []int64) bool {
	for d, q := range want {
		if q > have[d] {
			return false
		}
	}
	return true
}

// takes reports whether a new node of the row could have the run's content.
func (w *world) takes(row int32, run *Run, jobs []Job) bool {
	for d, a := range w.s.AllocOf(int(row)) {
		if run.Used[d] > 0 && run.Used[d] > a {
			return false
		}
	}
	var start []int32
	if w.s.OpenStart != nil {
		start = w.s.OpenStart[row]
	}
	for bit := range w.s.OfferStart[row+1] - w.s.OfferStart[row] {
		if w.agree(row, 1<<bit, run.Content, jobs, start, false) {
			return true
		}
	}
	return false
}

func (w *world) checkNodes(t *testing.T, res *Result, jobs []Job) {
	t.Helper()
	if len(res.OnNodes) != len(w.s.Nodes) {
		t.Errorf("%d existing nodes, the result has %d", len(w.s.Nodes), len(res.OnNodes))
		return
	}
	for i, content := range res.OnNodes {
		used := make([]int64, w.s.Dims)
		for _, c := range content {
			if !jobs[c.Job].Fits(i) {
				t.Errorf("node %d has pods of job %d, which do not fit", i, c.Job)
			}
			for d, q := range jobs[c.Job].Req {
				used[d] += q * int64(c.Count)
			}
		}
		for d, f := range w.s.Nodes[i].Free {
			if used[d] > 0 && used[d] > f {
				t.Errorf("node %d: resource %d: %d free, its new pods ask for %d", i, d, f, used[d])
			}
		}
		if broken := w.brokenRule(slices.Concat(w.s.Nodes[i].Content, content)); broken != "" && len(content) > 0 {
			t.Errorf("node %d has %s", i, broken)
		}
	}
}

// checkReservations: nodes that have an offering of a reservation for their cheapest draw no more than it has left.
func (w *world) checkReservations(t *testing.T, res *Result) {
	t.Helper()
	held := make([]int64, len(w.s.Reserved))
	for _, run := range res.Runs {
		for i := range w.s.OfferStart[run.Row+1] - w.s.OfferStart[run.Row] {
			if w.s.Reservation != nil && run.Bits>>i&1 == 1 {
				at, draw := w.s.OfferStart[run.Row]+i, int64(1)
				if w.s.Draw != nil {
					draw = w.s.Draw[at]
				}
				if id := w.s.Reservation[at]; id >= 0 {
					held[id] += draw * int64(run.Mult)
				}
				break
			}
		}
	}
	for id, n := range held {
		if n > max(w.s.Reserved[id], 0) {
			t.Errorf("%d of reservation %d are drawn, there are %d", n, id, w.s.Reserved[id])
		}
	}
}

// checkLimits: charges cover the rows and stay within the limits; Left says what is left of them.
func (w *world) checkLimits(t *testing.T, res *Result) {
	t.Helper()
	if w.s.Limits == nil {
		return
	}
	left, nodes := slices.Clone(w.s.Limits), slices.Clone(w.s.NodeLimit)
	for i, run := range res.Runs {
		pool := int(w.s.Pool[run.Row])
		if nodes[pool] != Unlimited {
			nodes[pool] -= int64(run.Mult)
		}
		if !covered(w.s.capOf(int(run.Row)), run.Charge) {
			t.Errorf("run %d charges %v, its row has %v", i, run.Charge, w.s.capOf(int(run.Row)))
		}
		for d, q := range run.Charge {
			if left[pool*w.s.Dims+d] != Unlimited {
				left[pool*w.s.Dims+d] -= q * int64(run.Mult)
			}
		}
	}
	for i, l := range left {
		if l < 0 {
			t.Errorf("pool %d: resource %d: %d over the limit", i/w.s.Dims, i%w.s.Dims, -l)
		}
	}
	for p, l := range nodes {
		if l < 0 {
			t.Errorf("pool %d: %d nodes over the limit", p, -l)
		}
	}
	if gotLeft, gotNodes := w.s.Left(res); !slices.Equal(gotLeft, left) || !slices.Equal(gotNodes, nodes) {
		t.Errorf("Left says %v and %v nodes, it is %v and %v", gotLeft, gotNodes, left, nodes)
	}
}
