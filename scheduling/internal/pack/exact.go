package pack

import (
	"cmp"
	"slices"
)

// Small is a problem with so few pods, or so few kinds of them, that every way of dividing them over nodes can be
// weighed: the cheapest new node for each set of pods, then the cheapest cover of each set by such nodes, existing
// nodes one after another. Where nothing is finite that is the answer. Where limits or reservations are, or a Judge
// must agree, sets are divided depth first, and the covers say how cheap the rest can be at best.
type Small struct {
	Space *Space
	Rules *Rules
	// Jobs are the pods; how many of each is told by the packing that Improve is given.
	Jobs []Job
	// Rank says by job who is to have what is finite, the highest first; nil: all alike.
	Rank []int64
	// Tied marks jobs whose pods must not be taken for those of another that look the same to a single node.
	Tied []bool
	// Judge is asked what it means to pods to be where they are; nil: nothing.
	Judge Judge
	// Table bounds the parts of sets that are looked at for the table, Steps what is looked at after that.
	Table, Steps int64
	Budget       *Budget
}

// Judge knows what pods mean to each other across nodes.
type Judge interface {
	// Place numbers offerings by the nodes they give, as far as that means anything to pods.
	Place(row int32, bit int) int32
	// Enter takes note of what an existing node is to hold, or with node -1 a new one of the offering. False: whatever the
	// other nodes hold, it cannot be. Leave takes the last Enter back.
	Enter(node, row int32, bit int, content []Content) bool
	Leave()
	// Accept tells whether a packing cheaper than the best so far will do.
	Accept(*Result) bool
}

// Answer is what Improve found.
type Answer struct {
	// Better is a packing with more pods placed, or the same for less or on fewer nodes; nil: none was found.
	Better *Result
	// Bound is a price below which the pods placed by Better, or else by the packing given, cannot be had, whatever
	// the Judge says; -1: not known.
	Bound int64
	// Whole is set if every packing was weighed that the Judge might accept.
	Whole bool
}

// division is a search under way. A set of pods is a number: how many of each lot, in mixed radix.
type division struct {
	Small
	lots   []lot
	stride []int32
	sets   int32
	// digits has how many of each lot a set has, size what they ask for, legal whether rules let them share a node.
	digits []uint8
	size   []int64
	legal  []bool
	// only is set if pods must stay in the tiers where the packing given has them.
	only bool
	// dearest is what an offering may cost to be of use.
	dearest int64
	columns []column
	nodes   []exactNode
	// wants are pools with minValues, flexible what is known of sets on them.
	flexible map[int64]bool
	// alone is the cost of the cheapest new node with the set, cover that of placing it on the i-th existing node,
	// those after it and new nodes.
	alone []int64
	cover [][]int64
	memo  [][]choice
	search
}

// lot is a number of pods that nothing tells apart.
type lot struct {
	jobs []lotJob
	job  *Job
	rank int64
	// tier is the only one whose new nodes the pods may go to, -1: none.
	tier int32
	// count is how many there are, left how many the packing given leaves over.
	count, left int32
}

type lotJob struct{ job, count int32 }

// exactNode is an existing node that may be of use, with the sets that it holds.
type exactNode struct {
	node  int32
	holds []bool
}

const (
	// perNode is what a node costs, so that fewer nodes are cheaper at the same price.
	perNode int64 = 1 << 10
	// impossible is the cost of what cannot be.
	impossible int64 = 1 << 61
	// priciest bounds prices, so that sums stay below that.
	priciest int64 = 1 << 43
	// maxLotPods and maxLots keep digits and sums small.
	maxLotPods, maxLots = 250, 60
)

// Improve looks for a packing of the pods that from places and leaves that is better than from.
func (q Small) Improve(from *Result) Answer {
	x := &division{Small: q}
	if !x.gather(from) {
		return Answer{Bound: -1}
	}
	x.findNodes()
	x.dearest = priciest
	if from.LeftTotal() == 0 {
		x.dearest = min(from.Price, priciest)
	}
	x.listColumns()
	if len(x.nodes) > maxExactNodes || !x.tabulate() {
		return Answer{Bound: -1}
	}
	return x.answer(from)
}

// maxExactNodes bounds the existing nodes that differ and could be of use.
const maxExactNodes = 24

// finite reports whether limits or reservations could run out.
func (x *division) finite() bool { return x.Space.Limits != nil || x.Space.Reservation != nil }

// gather makes lots of what the packing places and leaves. False: there are too many.
func (x *division) gather(from *Result) bool {
	x.only = x.Space.Tiered() && x.finite()
	add := func(ji, tier, n, left int32) {
		if n == 0 {
			return
		}
		if !x.only {
			tier = -1
		}
		for i := range x.lots {
			if l := &x.lots[i]; l.tier == tier && x.alike(l.jobs[0].job, ji) {
				l.count += n
				l.left += left
				if k := slices.IndexFunc(l.jobs, func(j lotJob) bool { return j.job == ji }); k >= 0 {
					l.jobs[k].count += n
				} else {
					l.jobs = append(l.jobs, lotJob{ji, n})
				}
				return
			}
		}
		l := lot{jobs: []lotJob{{ji, n}}, job: &x.Jobs[ji], tier: tier, count: n, left: left}
		if x.Rank != nil {
			l.rank = x.Rank[ji]
		}
		x.lots = append(x.lots, l)
	}
	tierOf := x.Space.tierOf()
	for i := range from.Runs {
		for _, c := range from.Runs[i].Content {
			add(c.Job, tierOf[x.Space.Pool[from.Runs[i].Row]], c.Count*from.Runs[i].Mult, 0)
			if len(x.lots) > maxLots {
				return false
			}
		}
	}
	for _, content := range from.OnNodes {
		for _, c := range content {
			add(c.Job, -1, c.Count, 0)
			if len(x.lots) > maxLots {
				return false
			}
		}
	}
	for ji, n := range from.Left {
		add(int32(ji), -1, n, n)
		if len(x.lots) > maxLots {
			return false
		}
	}
	return x.number()
}

// tierOf is the tier by pool.
func (s *Space) tierOf() []int32 {
	out := make([]int32, s.pools())
	for t, pools := range s.Tiers {
		for _, p := range pools {
			out[p] = int32(t)
		}
	}
	return out
}

// Tiered reports whether there is something to buy in more than one tier.
func (s *Space) Tiered() bool {
	of, tier := s.tierOf(), int32(-1)
	for r := range s.Rows {
		if t := of[s.Pool[r]]; tier >= 0 && t != tier {
			return true
		} else {
			tier = t
		}
	}
	return false
}

// alike reports whether a node can do the same with pods of either job.
func (x *division) alike(a, b int32) bool {
	if a == b {
		return true
	}
	p, q := &x.Jobs[a], &x.Jobs[b]
	switch {
	case x.Tied != nil && (x.Tied[a] || x.Tied[b]), x.Rank != nil && x.Rank[a] != x.Rank[b]:
		return false
	case p.MaskID != q.MaskID || len(p.Alternatives) != len(q.Alternatives) || !slices.Equal(p.Req, q.Req):
		return false
	case len(p.Alternatives) > 0 && &p.Alternatives[0] != &q.Alternatives[0]:
		return false
	case x.Rules.concerns(p.Class) || x.Rules.concerns(q.Class):
		return false
	}
	for i := range x.Space.Nodes {
		if p.Fits(i) != q.Fits(i) {
			return false
		}
	}
	return true
}

// number counts the sets. False: they, or their parts, are too many for the table.
func (x *division) number() bool {
	slices.SortStableFunc(x.lots, func(a, b lot) int {
		return cmp.Or(slices.Compare(b.job.Req, a.job.Req), cmp.Compare(a.jobs[0].job, b.jobs[0].job), cmp.Compare(a.tier, b.tier))
	})
	sets, parts := int64(1), int64(1)
	total := int32(0)
	for i := range x.lots {
		n := int64(x.lots[i].count)
		if n > maxLotPods || x.Table > 0 && parts > x.Table {
			return false
		}
		total += x.lots[i].count
		x.stride = append(x.stride, int32(sets))
		sets, parts = sets*(n+1), parts*(n+1)*(n+2)/2
	}
	if parts > x.Table || int64(total) >= perNode {
		return false
	}
	x.sets = int32(sets)
	k, d := len(x.lots), x.Space.Dims
	x.digits, x.size, x.legal = make([]uint8, int(sets)*k), make([]int64, int(sets)*d), make([]bool, sets)
	for s := range x.sets {
		rest := s
		for i := k - 1; i >= 0; i-- {
			n := rest / x.stride[i]
			rest -= n * x.stride[i]
			x.digits[int(s)*k+i] = uint8(n)
			for e, q := range x.lots[i].job.Req {
				x.size[int(s)*d+e] += q * int64(n)
			}
		}
		x.legal[s] = x.rulesHold(x.of(s), nil)
	}
	return true
}

// of is how many of each lot are in a set.
func (x *division) of(set int32) []uint8 {
	k := len(x.lots)
	return x.digits[int(set)*k : (int(set)+1)*k]
}

func (x *division) sizeOf(set int32) []int64 {
	d := x.Space.Dims
	return x.size[int(set)*d : (int(set)+1)*d]
}

// after is the part of whole that comes after part; 0 after the last.
func (x *division) after(part, whole int32) int32 {
	p, w := x.of(part), x.of(whole)
	for k := range p {
		if p[k] < w[k] {
			return part + x.stride[k]
		}
		part -= int32(p[k]) * x.stride[k]
	}
	return 0
}

// rulesHold reports whether the pods may share a node that has the content.
func (x *division) rulesHold(n []uint8, content []Content) bool {
	if x.Rules == nil || x.Rules.Excludes == nil {
		return true
	}
	all := slices.Clone(content)
	for k, c := range n {
		if class := x.lots[k].job.Class; c > 0 {
			if x.Rules.nodeCap(class, all, int32(c)) < int32(c) {
				return false
			}
			all = append(all, Content{Class: class, Count: int32(c)})
		}
	}
	return true
}

// findNodes lists the existing nodes that could hold a pod, but for those that so many others can stand in for that
// they are not needed.
func (x *division) findNodes() {
	s := x.Space
	all := x.sets - 1
	most, pods := x.sizeOf(all), int32(0)
	for k := range x.lots {
		pods += x.lots[k].count
	}
	type candidate struct {
		node  int32
		holds []bool
	}
	var list []candidate
	for i := range s.Nodes {
		c := candidate{node: int32(i), holds: make([]bool, len(x.lots))}
		useful := false
		for k := range x.lots {
			c.holds[k] = Holds(s.Nodes[i].Free, x.lots[k].job.Req) && x.lots[k].job.Fits(i)
			useful = useful || c.holds[k]
		}
		if !useful {
			continue
		}
		// Which node it is matters to a Judge.
		betters := int32(0)
		for k := 0; k < len(list) && x.Judge == nil; k++ {
			if b := &list[k]; len(s.Nodes[i].Content) == 0 && len(s.Nodes[b.node].Content) == 0 && implies(c.holds, b.holds) &&
				roomier(s.Nodes[b.node].Free, s.Nodes[i].Free, most) {
				betters++
			}
		}
		if betters >= pods {
			continue
		}
		if list = append(list, c); len(list) > maxExactNodes {
			break
		}
	}
	for _, c := range list {
		n := exactNode{node: c.node, holds: make([]bool, x.sets)}
		for set := range x.sets {
			ok := Holds(s.Nodes[c.node].Free, x.sizeOf(set)) && x.legal[set]
			for k, m := range x.of(set) {
				ok = ok && (m == 0 || c.holds[k])
			}
			n.holds[set] = ok && x.rulesHold(x.of(set), s.Nodes[c.node].Content)
		}
		x.nodes = append(x.nodes, n)
	}
}

// implies reports whether b has all that a has.
func implies(a, b []bool) bool {
	for k := range a {
		if a[k] && !b[k] {
			return false
		}
	}
	return true
}

// roomier reports whether a has no less than b, as far as it could be used.
func roomier(a, b, most []int64) bool {
	for d, m := range most {
		if m > 0 && min(a[d], m) < min(b[d], m) {
			return false
		}
	}
	return true
}
