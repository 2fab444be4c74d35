package scheduling

import (
	"cmp"
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// outcome is a packing in which every constraint holds.
type outcome struct {
	name   string
	result *pack.Result
	// jobs are what the contents of the result refer to, infos what they stand for.
	jobs  []pack.Job
	infos []jobInfo
	// left is by class.
	left []int32
	// board is the end of it where pods mean something to each other, div what restricted their variants.
	board *board.Board
	div   *divider
	c     *compiler
	// runOf is, by node of the board, the run that stands for it.
	runOf []int32
	// costs are what it would cost to keep all preferences of a class, where a cap made it give some up.
	costs map[int32]int64
	// proven is a price below which no outcome places the same pods; 0 if that is not known.
	proven int64
	// proof is what is known of all packings of the pods of the first round, if the nodes were chosen together.
	proof pack.Proof
	// excluded are the classes of gangs that got no place together.
	excluded map[int32]bool
}

func (o *outcome) leftTotal() (n int64) {
	for _, l := range o.left {
		n += int64(l)
	}
	return n
}

// better compares by the pods left over of each priority, the highest first, then by price and nodes.
func (o *outcome) better(q *outcome) bool {
	byPriority := map[int64]int64{}
	for id := range o.left {
		byPriority[o.c.classes[id].rank()] += int64(o.left[id]) - int64(q.left[id])
	}
	ranks := sortedInts(byPriority)
	for k := len(ranks) - 1; k >= 0; k-- {
		if d := byPriority[ranks[k]]; d != 0 {
			return d < 0
		}
	}
	return cmp.Or(cmp.Compare(o.result.Price, q.result.Price), cmp.Compare(o.result.Nodes, q.result.Nodes)) < 0
}

func sortedInts(m map[int64]int64) []int64 {
	out := make([]int64, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// plain is an attempt as an outcome where pods mean nothing to each other.
func (sv *solve) plain(a *attempt) *outcome {
	o := &outcome{name: a.name, result: a.result, jobs: a.packer.Jobs(), infos: a.jobs, proof: a.packer.Proof(), c: sv.c, left: make([]int32, len(sv.c.classes))}
	for id := range sv.c.classes {
		o.left[id] = int32(len(sv.c.classes[id].pods))
	}
	for i := range a.jobs {
		o.left[a.jobs[i].class] -= o.jobs[i].Count - a.result.Left[i]
	}
	return o
}

// commit puts an attempt on a board, pod after pod, and then finds places for what is left.
func (sv *solve) commit(a *attempt, bands [][]*pending) *outcome {
	b := board.New(&sv.c.model)
	props := sv.propose(a, b)
	wanted := slices.Clone(props)
	b.Lax = sv.c.space.BestEffort
	b.Replay(props)
	b.Lax = false
	left := make([]int32, len(sv.c.classes))
	for id := range sv.c.classes {
		left[id] = int32(len(sv.c.classes[id].pods))
	}
	for i := range props {
		left[props[i].Class] -= wanted[i].Count - props[i].Count
	}
	b.SettleAll()
	for _, band := range bands {
		sv.complete(b, band, left)
	}
	b = sv.rebind(b, bands, left)
	o := &outcome{name: a.name, left: left, board: b, div: a.div, proof: a.packer.Proof(), c: sv.c}
	o.read()
	return o
}

// rebind binds everything anew with all nodes there from the beginning, where that can make a difference: a node that
// was opened late can be the first of a domain, and then spreads that its pods have nothing to do with count a 0. What
// finds no place any more is placed elsewhere, or in the end left over.
func (sv *solve) rebind(b *board.Board, bands [][]*pending, left []int32) *board.Board {
	for try := 0; sv.c.model.Loose() && try <= 2*maxRebinds; try++ {
		next := board.New(&sv.c.model)
		next.Lax = sv.c.space.BestEffort
		props := next.Repeat(b)
		props = sv.inPlaces(props)
		next.Replay(props)
		next.Lax = false
		refused := false
		for i := range props {
			left[props[i].Class] += props[i].Count
			refused = refused || props[i].Count > 0
		}
		b = next
		if !refused {
			break
		}
		for _, band := range bands {
			if try < maxRebinds {
				sv.complete(b, band, left)
			}
		}
		if try < 2*maxRebinds {
			b.SettleAll()
		}
	}
	return b
}

// stands reports whether everything could be bound in the same order with all nodes there from the beginning.
func (sv *solve) stands(b *board.Board) bool {
	return !sv.c.model.Loose() || len(board.New(&sv.c.model).Repeat(b)) == 0
}

// maxRebinds bounds how often pods that a late node put out of place are placed once more.
const maxRebinds = 3

// propose opens the attempt's nodes on the board and deals the pods of merged jobs to their classes.
func (sv *solve) propose(a *attempt, b *board.Board) []board.Proposal {
	nodes, some := 0, 0
	for i := range a.result.Runs {
		r := &a.result.Runs[i]
		nodes, some = nodes+int(r.Mult), some+int(r.Mult)*len(r.Content)
	}
	b.Expect(nodes)
	props := make([]board.Proposal, 0, some)
	next := make([]int, len(a.jobs))
	deal := func(node int32, x pack.Content) {
		info := &a.jobs[x.Job]
		for n := x.Count; n > 0; {
			s := &info.shares[next[x.Job]]
			if s.count == 0 {
				next[x.Job]++
				continue
			}
			k := min(n, s.count)
			n, s.count = n-k, s.count-k
			props = append(props, board.Proposal{Class: a.pds[s.of].class, Variant: info.variant, Node: node, Count: k})
		}
	}
	for i, content := range a.result.OnNodes {
		for _, x := range content {
			deal(int32(i), x)
		}
	}
	for i := range a.result.Runs {
		r := &a.result.Runs[i]
		for range r.Mult {
			if node := b.OpenFor(r.Row, r.Bits, r.Open, r.Charge); node >= 0 {
				for _, x := range r.Content {
					deal(node, x)
				}
			}
		}
	}
	return sv.inPlaces(props)
}

// inPlaces is the proposals by turn and variant, otherwise in their order.
func (sv *solve) inPlaces(props []board.Proposal) []board.Proposal {
	start := make([]int32, len(sv.c.turn)+1)
	for i := range props {
		start[sv.c.turn[props[i].Class]+1]++
	}
	for i := range sv.c.turn {
		start[i+1] += start[i]
	}
	out := make([]board.Proposal, len(props))
	at := slices.Clone(start)
	for i := range props {
		k := &at[sv.c.turn[props[i].Class]]
		out[*k] = props[i]
		*k++
	}
	for i := range sv.c.turn {
		of := out[start[i]:start[i+1]]
		if slices.ContainsFunc(of, func(p board.Proposal) bool { return p.Variant != of[0].Variant }) {
			slices.SortStableFunc(of, func(x, y board.Proposal) int { return cmp.Compare(x.Variant, y.Variant) })
		}
	}
	return out
}

// oneAfterOther finds places for what is left of a band, with all preferences first.
func (sv *solve) oneAfterOther(b *board.Board, band []*pending, left []int32) {
	if sv.budget.Out() {
		return
	}
	variants := 0
	for _, pd := range band {
		if left[pd.class] > 0 {
			variants = max(variants, len(sv.c.variantsOf(pd.class)))
		}
	}
	for v := range variants {
		for sv.round(b, band, int32(v), left) {
			if sv.budget.Out() {
				return
			}
		}
	}
	if sv.c.space.BestEffort && variants > 0 && !b.Lax {
		b.Lax = true
		sv.oneAfterOther(b, band, left)
		b.Lax = false
	}
}

// round tries each class that has pods left once, on nodes that are there and then on new ones.
func (sv *solve) round(b *board.Board, band []*pending, v int32, left []int32) (progress bool) {
	var wants []board.Want
	for _, pd := range sv.c.inTurn(band) {
		if k := len(wants) - 1; k >= 0 && wants[k].Class == pd.class {
			continue // those that keep their preferences and those that do not are one class here
		}
		last := int32(len(sv.c.variantsOf(pd.class))) - 1
		if left[pd.class] > 0 && v <= last && (v == last || sv.kept(pd.class) == int32(len(sv.c.classes[pd.class].pods))) {
			wants = append(wants, board.Want{Class: pd.class, Variant: v, Count: left[pd.class]})
		}
	}
	if len(wants) == 0 {
		return false
	}
	sv.bySize(wants)
	for i := range wants {
		w := &wants[i]
		n := b.Place(w.Class, w.Variant, w.Count)
		w.Count -= n
		left[w.Class] -= n
		progress = progress || n > 0
	}
	before := slices.Clone(wants)
	b.Buy(wants)
	for i := range wants {
		n := before[i].Count - wants[i].Count
		left[wants[i].Class] -= n
		progress = progress || n > 0
	}
	sv.budget.Spent += b.Steps
	b.Steps = 0
	return progress
}

// bySize puts the largest wants first, those that others wait for before them.
func (sv *solve) bySize(wants []board.Want) {
	m := &sv.c.model
	slices.SortStableFunc(wants, func(x, y board.Want) int {
		a, b := m.Shapes[m.Classes[x.Class].Shape].Req, m.Shapes[m.Classes[y.Class].Shape].Req
		return cmp.Or(cmp.Compare(sv.c.depth[x.Class], sv.c.depth[y.Class]),
			cmp.Compare(b2i(sv.c.classes[y.Class].first), b2i(sv.c.classes[x.Class].first)), slices.Compare(b, a))
	})
}

// gangs takes those that are incomplete out, packs without them and tries each again, all its pods or none.
func (sv *solve) gangs(o *outcome) *outcome {
	c := sv.c
	for range len(c.gangs) {
		without := map[int32]bool{}
		for g := range c.gangs {
			if o.excluded[c.gangs[g].classes[0]] || sv.torn(g, o) {
				for _, id := range c.gangs[g].classes {
					without[id] = true
				}
			}
		}
		if len(without) == 0 || len(without) == len(o.excluded) {
			break
		}
		o = sv.run(sv.todo(without), false)
		o.excluded = without
		sv.retry(o)
	}
	return o
}

// torn reports whether some pods of the gang have a place, but fewer than must.
func (sv *solve) torn(g int, o *outcome) bool {
	n := sv.c.gangs[g].placed(o.left, sv.c)
	return n > 0 && n < sv.c.gangs[g].need
}

// retry gives each gang that is left out a chance beside what is placed.
func (sv *solve) retry(o *outcome) {
	c := sv.c
	changed := false
	for _, g := range c.gangOrder() {
		if !o.excluded[c.gangs[g].classes[0]] {
			continue
		}
		mark := o.board.Mark()
		left := slices.Clone(o.left)
		var band []*pending
		for _, id := range c.gangs[g].classes {
			if c.classes[id].refused == nil && c.constraints[c.classes[id].constraint].fault == "" {
				band = append(band, &pending{class: id, left: left[id]})
			}
		}
		sv.complete(o.board, band, left)
		if c.gangs[g].placed(left, c) < c.gangs[g].need || !sv.stands(o.board) {
			o.board.Rollback(mark)
			continue
		}
		if next, ok := sv.stays(o, g, left); ok {
			o.board = next
		} else {
			o.board.Rollback(mark)
			continue
		}
		o.left, changed = left, true
		for _, id := range c.gangs[g].classes {
			delete(o.excluded, id)
		}
	}
	if changed {
		o.read()
	}
}

// stays binds everything anew now that a gang is placed, and reports whether nobody loses a place by it. left is changed to
// what is left then.
func (sv *solve) stays(o *outcome, gang int, left []int32) (*board.Board, bool) {
	if !sv.c.model.Loose() {
		return o.board, true
	}
	without := maps.Clone(o.excluded)
	for _, id := range sv.c.gangs[gang].classes {
		delete(without, id)
	}
	before := (&outcome{left: left}).leftTotal()
	next := sv.rebind(o.board, [][]*pending{sv.todo(without)}, left)
	if (&outcome{left: left}).leftTotal() > before {
		return nil, false
	}
	for g := range sv.c.gangs {
		if n := sv.c.gangs[g].placed(left, sv.c); n > 0 && n < sv.c.gangs[g].need {
			return nil, false
		}
	}
	return next, true
}

// read takes the packing off the board.
func (o *outcome) read() {
	b, c := o.board, o.c
	all, old := b.Nodes()
	o.result = &pack.Result{OnNodes: make([][]pack.Content, old)}
	// What is on the nodes is told from the board; the result only says what else could hold it, so that one job for
	// each variant is enough.
	o.jobs, o.infos, o.runOf = nil, nil, make([]int32, all)
	at := map[*board.Variant]int32{}
	var store []int64
	o.result.Runs = make([]pack.Run, 0, all-old)
	for i := range all {
		var content []pack.Content
		row, allowed, open := b.Node(i)
		for _, it := range b.Items(i) {
			if it.Variant < 0 || it.Count == 0 {
				continue
			}
			v := o.restricted(i, it)
			job, ok := at[v]
			if !ok {
				job = int32(len(o.jobs))
				at[v] = job
				req := c.model.Shapes[c.model.Classes[it.Class].Shape].Req
				o.jobs = append(o.jobs, pack.Job{Class: it.Class, Req: req, Mask: v.Mask, MaskID: v.MaskID, Alternatives: v.Alts})
			}
			if k := slices.IndexFunc(content, func(x pack.Content) bool { return x.Job == job }); k >= 0 {
				content[k].Count += it.Count
				continue
			}
			content = append(content, pack.Content{Class: it.Class, Job: job, Count: it.Count})
		}
		if i < old {
			o.result.OnNodes[i] = content
			continue
		}
		if len(content) == 0 {
			continue
		}
		if cap(store)-len(store) < c.space.Dims {
			store = make([]int64, 0, 256*c.space.Dims)
		}
		from := len(store)
		store = append(store, c.space.AllocOf(int(row))...)
		used := store[from:len(store):len(store)]
		for x, f := range b.Free(i) {
			used[x] -= f
		}
		run := pack.Run{Row: row, Mult: 1, Bits: allowed, Used: used, Content: content, Open: open}
		if c.space.Limits != nil {
			if run.Charge = slices.Clone(b.Charge(i)); run.Charge == nil {
				run.Charge = slices.Clone(c.space.CapOf(int(row)))
			}
		}
		o.runOf[i] = int32(len(o.result.Runs))
		o.result.Runs = append(o.result.Runs, run)
	}
	c.space.Sum(o.result)
}

// restricted is the variant of what is on a node, in the domains that the node is in.
func (o *outcome) restricted(node int, it board.Item) *board.Variant {
	c := o.c
	v := c.variantOf(it.Class, it.Variant)
	row, allowed, _ := o.board.Node(node)
	if row < 0 {
		return v
	}
	for _, key := range c.model.KeysOf(it.Class) {
		if d := o.board.Domain(node, key); d >= board.Absent {
			v = o.div.cut(v, key, d)
		}
	}
	if !o.div.partial {
		return v
	}
	for _, g := range c.model.GroupsOf(it.Class) {
		if rows := c.model.Groups[g].Rows; rows != nil {
			v = o.div.cutRows(v, rows, rows[row]&(allowed&-allowed) != 0)
		}
	}
	return v
}
