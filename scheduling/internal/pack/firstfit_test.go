package pack

import (
	"slices"
	"testing"
)

// slowNode is one open node of the slow first fit: what it holds, and each row it may still become
// with the offerings and open keys that its pods leave.
type slowNode struct {
	used    []int64
	content []Content
	options []slowOption
	pool    int32
}

type slowOption struct {
	row  int32
	bits uint64
	open []int32
}

// slow is first fit as FirstFit's comment describes it, one pod and one node at a time.
type slow struct {
	w     *world
	nodes []*slowNode
	// left of the limits.
	limits, nodeLimit []int64
}

// add puts one more pod of the job on a copy of the node; nil: no row it may become takes it.
func (f *slow) add(n *slowNode, ji int32, j *Job) *slowNode {
	out := &slowNode{used: slices.Clone(n.used), content: slices.Clone(n.content), pool: n.pool}
	for d, q := range j.Req {
		out.used[d] += q
	}
	if last := len(out.content) - 1; last >= 0 && out.content[last].Job == ji {
		out.content[last].Count++
	} else {
		out.content = append(out.content, Content{Class: j.Class, Job: ji, Count: 1})
	}
	if f.w.brokenRule(out.content) != "" {
		return nil
	}
	for _, o := range n.options {
		alloc, fits := f.w.s.AllocOf(int(o.row)), true
		for d, u := range out.used {
			fits = fits && (u <= 0 || u <= alloc[d])
		}
		if fits {
			if o, ok := o.narrowed(j); ok {
				out.options = append(out.options, o)
			}
		}
	}
	if len(out.options) == 0 {
		return nil
	}
	return out
}

// narrowed meets the job in the way that has the cheapest offering, the first of several.
func (o slowOption) narrowed(j *Job) (slowOption, bool) {
	if len(j.Alternatives) == 0 {
		o.bits &= j.Mask[o.row]
		return o, o.bits != 0
	}
	best, found := slowOption{}, false
	for _, alt := range j.Alternatives {
		next := slowOption{row: o.row, bits: o.bits & alt.Mask[o.row], open: slices.Clone(o.open)}
		ok := next.bits != 0
		for _, req := range alt.Open {
			next.open[req.Key] = meetSets(next.open[req.Key], req.State)
			ok = ok && next.open[req.Key] > 0
		}
		if ok && (!found || next.bits&-next.bits < best.bits&-best.bits) {
			best, found = next, true
		}
	}
	return best, found
}

func (f *slow) room(pool int32, charge []int64) bool {
	if f.limits == nil {
		return true
	}
	for d, c := range charge {
		if l := f.limits[int(pool)*f.w.s.Dims+d]; c > 0 && l != Unlimited && c > l {
			return false
		}
	}
	return f.nodeLimit[pool] > 0
}

func (f *slow) capOf(r int32) []int64 {
	if f.w.s.Cap == nil {
		return nil
	}
	return f.w.s.capOf(int(r))
}

// rows of the tier that first fit may use and that sell something, cheapest first.
func (f *slow) rows(tier []int32) (rows []int32) {
	s := f.w.s
	for r := range int32(s.Rows) {
		wants := slices.ContainsFunc(s.MinValues, func(mv MinValues) bool { return mv.Pool == s.Pool[r] })
		if slices.Contains(tier, s.Pool[r]) && !wants {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b int32) int {
		return int(lowestPrice(s, a, 1) - lowestPrice(s, b, 1))
	})
	return rows
}

// blank is a new node: of any row, or under limits in the pool where one pod of the job alone is cheapest.
func (f *slow) blank(rows []int32, j *Job) *slowNode {
	s := f.w.s
	n := &slowNode{used: make([]int64, s.Dims), pool: -1}
	price := int64(0)
	for _, r := range rows {
		alone := holdsAll(s.AllocOf(int(r)), j.Req) && j.Mask[r] != 0 && f.room(s.Pool[r], f.capOf(r))
		if p := lowestPrice(s, r, j.Mask[r]); alone && (n.pool < 0 || p < price) {
			n.pool, price = s.Pool[r], p
		}
	}
	for _, r := range rows {
		if f.limits == nil || s.Pool[r] == n.pool && f.room(n.pool, f.capOf(r)) {
			o := slowOption{row: r, bits: ^uint64(0)}
			if s.OpenStart != nil {
				o.open = s.OpenStart[r]
			}
			n.options = append(n.options, o)
		}
	}
	return n
}

func holdsAll(alloc, used []int64) bool {
	for d, u := range used {
		if u > 0 && u > alloc[d] {
			return false
		}
	}
	return true
}

// charge takes the largest of the node's rows, resource by resource, from its pool's limits.
func (f *slow) charge(n *slowNode) bool {
	if f.limits == nil {
		return true
	}
	most := make([]int64, f.w.s.Dims)
	for _, o := range n.options {
		for d, c := range f.capOf(o.row) {
			most[d] = max(most[d], c)
		}
	}
	if !f.room(n.pool, most) {
		return false
	}
	f.nodeLimit[n.pool]--
	for d, c := range most {
		f.limits[int(n.pool)*f.w.s.Dims+d] -= c
	}
	return true
}

// pack is one round in one tier.
func (f *slow) pack(tier []int32, jobs []Job, order []int32, left []int32) {
	rows := f.rows(tier)
	for _, ji := range order {
		j := &jobs[ji]
		if left[ji] == 0 || !slices.ContainsFunc(rows, func(r int32) bool {
			return j.Mask[r] != 0 && holdsAll(f.w.s.AllocOf(int(r)), j.Req)
		}) {
			continue
		}
		for i := 0; i < len(f.nodes) && left[ji] > 0; {
			if next := f.add(f.nodes[i], ji, j); next != nil {
				f.nodes[i] = next
				left[ji]--
			} else {
				i++
			}
		}
		for left[ji] > 0 && f.open(rows, ji, j, left) {
		}
	}
}

// open starts nodes for what is left of the job, each with as many of its pods as go there, until the
// limits or the pods end: a node that no longer gets as many is thought over anew.
func (f *slow) open(rows []int32, ji int32, j *Job, left []int32) bool {
	n, pods := f.blank(rows, j), int32(0)
	for pods < left[ji] {
		next := f.add(n, ji, j)
		if next == nil {
			break
		}
		n = next
		pods++
	}
	opened := false
	for pods > 0 && left[ji] >= pods && f.charge(n) {
		f.nodes = append(f.nodes, n)
		left[ji] -= pods
		opened = true
	}
	return opened
}

// closed is the node as the cheapest of its rows, as FirstFit reports one.
func (f *slow) closed(n *slowNode) Run {
	best, s := n.options[0], f.w.s
	for _, o := range n.options[1:] {
		if lowestPrice(s, o.row, o.bits) < lowestPrice(s, best.row, best.bits) {
			best = o
		}
	}
	return Run{Row: best.row, Bits: best.bits, Mult: 1, Used: n.used, Content: n.content, Open: best.open, Charge: f.capOf(best.row)}
}

// firstFit packs the world's pods slowly; existing nodes are none of its business.
func (w *world) firstFit() (runs []Run, left []int32) {
	f := &slow{w: w, limits: slices.Clone(w.s.Limits), nodeLimit: slices.Clone(w.s.NodeLimit)}
	for i := range f.limits { // so that charging needs no exceptions
		if f.limits[i] == Unlimited {
			f.limits[i] = 1 << 50
		}
	}
	jobs, from := w.jobs(), 0
	for _, j := range jobs {
		left = append(left, j.Count)
	}
	for _, round := range w.rounds {
		var order []int32
		for i := range round {
			order = append(order, int32(from+i))
		}
		from += len(round)
		slices.SortStableFunc(order, func(a, b int32) int {
			if jobs[a].Urgent != jobs[b].Urgent {
				if jobs[a].Urgent {
					return -1
				}
				return 1
			}
			return slices.Compare(jobs[b].Req, jobs[a].Req)
		})
		for _, tier := range w.s.Tiers {
			f.pack(tier, jobs, order, left)
		}
	}
	for _, n := range f.nodes {
		runs = append(runs, f.closed(n))
	}
	return runs, left
}

// FirstFit handles identical nodes together; the result is that of handling pods one by one.
func TestFirstFitIsFirstFitPodByPod(t *testing.T) {
	nodes, limited := 0, 0
	eachWorld(t, 2500, everything, func(t *testing.T, w *world) {
		w.s.Nodes, w.s.Reservation = nil, nil
		res := w.packed(t, FirstFit, &Budget{})
		want, left := w.firstFit()
		if !slices.Equal(res.Left, left) {
			t.Errorf("left %v, pod by pod %v", res.Left, left)
			return
		}
		var got []Run
		for _, r := range res.Runs {
			one := r
			one.Mult = 1
			for range r.Mult {
				got = append(got, one)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d nodes, pod by pod %d", len(got), len(want))
			return
		}
		for i := range got {
			g, n := &got[i], &want[i]
			if g.Row != n.Row || g.Bits != n.Bits || !slices.Equal(g.Used, n.Used) || !slices.Equal(g.Content, n.Content) ||
				!slices.Equal(g.Open, n.Open) || !slices.Equal(g.Charge, n.Charge) {
				t.Errorf("node %d is\n%+v, pod by pod\n%+v", i, *g, *n)
			}
		}
		nodes += len(got)
		if w.feat.limits && res.LeftTotal() > 0 {
			limited++
		}
	})
	if nodes < 5000 || limited < 200 {
		t.Errorf("%d nodes, %d worlds with limits and pods left: the worlds test little", nodes, limited)
	}
}

func TestFirstFitOpensNodesUnderLimitsWhereTheFirstPodIsCheapest(t *testing.T) {
	// Pool 0 sells 2 and 16 CPU for 10 and 100, pool 1 sells 8 CPU for 30.
	const free = Unlimited
	for _, tc := range []struct {
		name, reason string
		limits       []int64
		req          int64
		count        int32
		row          int32
		nodes        int32
	}{
		{"small", "one pod alone is cheapest on the 2 CPU of pool 0", []int64{free, free}, 1, 1, 0, 1},
		{"small, many", "the pool is chosen by one pod, the row by what the node got", []int64{free, free}, 1, 16, 2, 1},
		{"medium", "pool 1 has the cheapest row for one", []int64{free, free}, 3, 2, 1, 1},
		{"medium, pool 1 is full", "a pool without room is no choice", []int64{free, 7}, 3, 5, 2, 1},
		{"large", "only pool 0 has a row", []int64{free, free}, 9, 1, 2, 1},
		{"small, 2 left", "rows that the limit has no room for are not among those a node may become", []int64{2, 7}, 1, 2, 0, 1},
		{"no limits", "a node may then become a row of any pool", nil, 3, 2, 1, 1},
		{"no limits, small, many", "16 pods fill the largest row, whatever it costs", nil, 1, 16, 2, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &Space{Dims: 1, Rows: 3, Alloc: []int64{2, 8, 16}, Offer: []int64{10, 30, 100}, OfferStart: []int32{0, 1, 2, 3},
				Pool: []int32{0, 1, 0}, Type: []int32{0, 1, 2}, Tiers: [][]int32{{0, 1}}}
			if tc.limits != nil {
				s.Cap, s.Limits, s.NodeLimit = s.Alloc, tc.limits, []int64{free, free}
			}
			e := FirstFit(s, nil, &Budget{})
			e.Run([]Job{{Req: []int64{tc.req}, Mask: Mask{1, 1, 1}, Count: tc.count}})
			res := e.Result()
			if len(res.Runs) != 1 || res.Runs[0].Row != tc.row || res.Runs[0].Mult != tc.nodes || res.LeftTotal() != 0 {
				t.Errorf("%s: got %+v and %v left, want %d of row %d", tc.reason, res.Runs, res.Left, tc.nodes, tc.row)
			}
		})
	}
}
