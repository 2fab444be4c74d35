package pack

import (
	"cmp"
	"slices"
)

// tabulate fills the tables, false: the budget ran out.
func (x *division) tabulate() bool {
	x.alone = make([]int64, x.sets)
	first := make([]int32, x.sets) // the first column that could hold the set
	for set := int32(1); set < x.sets; set++ {
		at := int32(0)
		for k, n := range x.of(set) {
			if n > 0 {
				at = max(at, first[set-x.stride[k]])
			}
		}
		for int(at) < len(x.columns) {
			if _, ok := x.admits(&x.columns[at], set); ok {
				break
			}
			at++
		}
		first[set], x.alone[set] = at, impossible
		if int(at) < len(x.columns) {
			x.alone[set] = x.columns[at].price*perNode + 1
		}
	}
	fresh := make([]int64, x.sets)
	steps := int64(0)
	for set := int32(1); set < x.sets; set++ {
		fresh[set] = impossible
		one := x.firstOf(set)
		for part := x.after(0, set); part != 0; part = x.after(part, set) {
			steps++
			if x.of(part)[one] == 0 || x.alone[part] == impossible || fresh[set-part] == impossible {
				continue
			}
			fresh[set] = min(fresh[set], x.alone[part]+fresh[set-part])
		}
	}
	x.cover = make([][]int64, len(x.nodes)+1)
	x.cover[len(x.nodes)] = fresh
	for i := len(x.nodes) - 1; i >= 0; i-- {
		next, holds := x.cover[i+1], x.nodes[i].holds
		here := slices.Clone(next)
		for set := int32(1); set < x.sets; set++ {
			for part := x.after(0, set); part != 0; part = x.after(part, set) {
				steps++
				if holds[part] {
					here[set] = min(here[set], next[set-part])
				}
			}
		}
		x.cover[i] = here
	}
	return x.Budget.spend(steps/64 + int64(x.sets))
}

// firstOf is the first lot that has pods in the set.
func (x *division) firstOf(set int32) int {
	return slices.IndexFunc(x.of(set), func(n uint8) bool { return n > 0 })
}

// search is the state of a search in depth.
type search struct {
	led    Ledger
	blocks []block
	onNode []int32 // the set on each of division.nodes
	// below is what a packing must cost less than; least is as cheap as it gets.
	below, least int64
	steps        int64
	cut          bool
	found        *Result
	scratch      []Content
}

// block is a new node under way.
type block struct {
	set int32
	choice
}

// answer looks for the best packing: the fewest pods left, those of high rank first, then price, then nodes.
func (x *division) answer(from *Result) Answer {
	had := int32(0)
	for k := range x.lots {
		had += x.lots[k].left * x.stride[k]
	}
	all := x.sets - 1
	cost := from.Price*perNode + from.Nodes
	x.led, x.onNode = NewLedger(x.Space), make([]int32, len(x.nodes))
	left, searched := had, true
	candidates := x.lefts(had)
	for i, l := range candidates {
		worse := x.compareLeft(l, had)
		if x.found != nil && x.compareLeft(l, left) > 0 {
			break
		}
		if x.found == nil {
			x.below = impossible
			if worse == 0 {
				x.below = cost
			}
		}
		x.least = x.cover[0][all-l]
		if x.least >= x.below {
			continue
		}
		x.steps, x.cut = x.Steps/int64(min(i+1, 4)), false
		before := x.found
		x.visit(0, all-l, 0)
		searched = searched && !x.cut
		if x.found != before {
			left = l
		}
	}
	a := Answer{Better: x.found, Bound: -1, Whole: searched && !x.only && (x.Space.Limits == nil || len(x.Space.MinValues) == 0)}
	price := from.Price
	if x.found != nil {
		price = x.found.Price
	}
	if least := x.cover[0][all-left] / perNode; !x.only && least <= price {
		if a.Bound = least; a.Whole && x.Judge == nil {
			a.Bound = price
		}
	}
	return a
}

// lefts lists what could be left over, the best first, nothing worse than had.
func (x *division) lefts(had int32) []int32 {
	if had == 0 {
		return []int32{0}
	}
	var out []int32
	all := x.sets - 1
	for l := range x.sets {
		if x.cover[0][all-l] < impossible && x.compareLeft(l, had) <= 0 {
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b int32) int {
		return cmp.Or(x.compareLeft(a, b), cmp.Compare(x.cover[0][all-a], x.cover[0][all-b]))
	})
	return out
}

// compareLeft compares sets by how many pods of each rank they have, the highest first.
func (x *division) compareLeft(a, b int32) int {
	byRank := map[int64]int{}
	ranks := make([]int64, 0, 4)
	p, q := x.of(a), x.of(b)
	for k := range x.lots {
		r := x.lots[k].rank
		if _, ok := byRank[r]; !ok {
			ranks = append(ranks, r)
		}
		byRank[r] += int(p[k]) - int(q[k])
	}
	slices.Sort(ranks)
	for i := len(ranks) - 1; i >= 0; i-- {
		if d := byRank[ranks[i]]; d != 0 {
			return d
		}
	}
	return 0
}

// visit places the rest of the pods on the i-th existing node and those after it, then on new ones.
func (x *division) visit(i int, rest int32, cost int64) {
	if x.steps--; x.steps < 0 || !x.Budget.spend(1) {
		x.cut = true
		return
	}
	switch {
	case x.below <= x.least:
	case i < len(x.nodes):
		x.visitNode(i, rest, cost)
	case rest == 0:
		x.leaf(cost)
	default:
		x.visitNew(i, rest, cost)
	}
}

// step is one way to go on.
type step struct {
	part  int32
	at    int // of choices
	bound int64
}

// visitNode tries each part of the rest on an existing node.
func (x *division) visitNode(i int, rest int32, cost int64) {
	steps := []step{{0, 0, x.cover[i+1][rest]}}
	for part := x.after(0, rest); part != 0; part = x.after(part, rest) {
		if x.nodes[i].holds[part] {
			steps = append(steps, step{part, 0, x.cover[i+1][rest-part]})
		}
	}
	slices.Reverse(steps) // many pods first
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.bound, b.bound) })
	for _, s := range steps {
		if cost+s.bound >= x.below || x.cut {
			break
		}
		if s.part != 0 && x.Judge != nil {
			ok := x.Judge.Enter(x.nodes[i].node, -1, 0, x.content(s.part))
			if x.steps--; ok {
				x.onNode[i] = s.part
				x.visit(i+1, rest-s.part, cost)
			}
			x.Judge.Leave()
			continue
		}
		x.onNode[i] = s.part
		x.visit(i+1, rest-s.part, cost)
	}
	x.onNode[i] = 0
}

// visitNew tries each new node that holds a pod of the first lot left.
func (x *division) visitNew(i int, rest int32, cost int64) {
	one := x.firstOf(rest)
	fresh := x.cover[len(x.nodes)]
	var steps []step
	for part := x.after(0, rest); part != 0; part = x.after(part, rest) {
		if x.of(part)[one] == 0 || x.alone[part] == impossible || fresh[rest-part] == impossible || cost+x.alone[part]+fresh[rest-part] >= x.below {
			continue
		}
		for at, c := range x.choices(part) {
			steps = append(steps, step{part, at, c.cost + fresh[rest-part]})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.bound, b.bound) })
	for _, s := range steps {
		if cost+s.bound >= x.below || x.cut {
			break
		}
		c := x.choices(s.part)[s.at]
		col := &x.columns[c.column]
		m := uint64(1) << col.bit
		if x.led.Open(col.row, m) == 0 || x.led.Room(col.row, m, c.charge, 1) == 0 {
			continue
		}
		x.led.Charge(col.row, m, c.charge, 1)
		x.blocks = append(x.blocks, block{s.part, c})
		ok := true
		if x.Judge != nil {
			x.steps--
			ok = x.Judge.Enter(-1, col.row, int(col.bit), x.content(s.part))
		}
		if ok {
			x.visit(i, rest-s.part, cost+c.cost)
		}
		if x.Judge != nil {
			x.Judge.Leave()
		}
		x.blocks = x.blocks[:len(x.blocks)-1]
		x.led.Refund(col.row, m, c.charge, 1)
	}
}

// content is the set by one job of each lot, in scratch memory.
func (x *division) content(set int32) []Content {
	out := x.scratch[:0]
	for k, n := range x.of(set) {
		if n > 0 {
			out = append(out, Content{Class: x.lots[k].job.Class, Job: x.lots[k].jobs[0].job, Count: int32(n)})
		}
	}
	x.scratch = out
	return out
}

// leaf keeps a packing that is better than those before.
func (x *division) leaf(cost int64) {
	if cost >= x.below {
		return
	}
	res := x.result()
	if x.Judge != nil {
		x.steps -= acceptSteps
		x.Budget.spend(acceptSteps)
		if !x.Judge.Accept(res) {
			return
		}
	}
	x.below, x.found = cost, res
}

// acceptSteps is what asking a Judge counts for.
const acceptSteps = 16

// result is the packing under way.
func (x *division) result() *Result {
	s := x.Space
	res := &Result{OnNodes: make([][]Content, len(s.Nodes)), Left: make([]int32, len(x.Jobs))}
	left := make([][]lotJob, len(x.lots))
	for k := range x.lots {
		left[k] = slices.Clone(x.lots[k].jobs)
	}
	deal := func(set int32) (out []Content) {
		for k, n := range x.of(set) {
			for n > 0 {
				j := &left[k][0]
				take := min(int32(n), j.count)
				out = append(out, Content{Class: x.Jobs[j.job].Class, Job: j.job, Count: take})
				n -= uint8(take)
				if j.count -= take; j.count == 0 {
					left[k] = left[k][1:]
				}
			}
		}
		return out
	}
	for i, set := range x.onNode {
		res.OnNodes[x.nodes[i].node] = deal(set)
	}
	for i := range x.blocks {
		b := &x.blocks[i]
		c := &x.columns[b.column]
		res.Runs = append(res.Runs, Run{Row: c.row, Mult: 1, Bits: x.bitsOf(c, b.set), Used: slices.Clone(x.sizeOf(b.set)),
			Content: deal(b.set), Open: slices.Clone(b.open), Charge: slices.Clone(b.charge)})
	}
	for k := range left {
		for _, j := range left[k] {
			res.Left[j.job] += j.count
		}
	}
	s.total(res)
	return res
}
