package scheduling

import (
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// Problems of a few pods, or of a few kinds of them, are weighed as a whole: see pack.Small. exactTable and exactSteps
// bound that, so that it takes milliseconds; the second of each holds for EffortBest.
const (
	exactPods                  = 500 // more never fit the table
	exactTable, exactTableBest = 1 << 17, 1 << 21
	exactSteps, exactStepsBest = 1 << 13, 1 << 17
)

// exact looks for a cheaper outcome among all there are, and proves as far as it can that there is none.
func (sv *solve) exact(o *outcome) *outcome {
	if sv.c.opts.Effort == EffortFast || sv.budget.Out() || o.result.Price == 0 && o.leftTotal() == 0 {
		return o
	}
	pods := 0
	for id := range sv.c.classes {
		if pods += len(sv.c.classes[id].pods); pods > exactPods {
			return o
		}
	}
	if sv.start == nil {
		return sv.exactPlain(o)
	}
	return sv.exactLinked(o)
}

// small is a question about pods, apart from what these are.
func (sv *solve) small() pack.Small {
	q := pack.Small{Space: &sv.c.space, Rules: sv.rules, Table: exactTable, Steps: exactSteps, Budget: sv.budget}
	if sv.c.opts.Effort == EffortBest {
		q.Table, q.Steps = exactTableBest, exactStepsBest
	}
	return q
}

// exactPlain is exact where pods mean nothing to each other: every packing is an outcome.
func (sv *solve) exactPlain(o *outcome) *outcome {
	q := sv.small()
	q.Jobs = o.jobs
	// What is left of a job was tried again as another one under fewer preferences: the last one stands for it.
	from := *o.result
	from.Left = make([]int32, len(o.jobs))
	last := make(map[int32]int, len(o.jobs))
	for i := range o.jobs {
		class := o.infos[i].class
		q.Rank = append(q.Rank, sv.c.classes[class].rank())
		last[class] = i
	}
	for class, i := range last {
		from.Left[i] = o.left[class]
	}
	a := q.Improve(&from)
	if a.Better != nil {
		better := *o
		better.name, better.result, better.left = "exact", a.Better, slices.Clone(o.left)
		for class, i := range last {
			better.left[class] = a.Better.Left[i]
		}
		o = &better
	}
	o.proven = sv.proven(q, o.result, a, func(job int) (class, variant int32) { return o.infos[job].class, o.infos[job].variant })
	return o
}

// proven is what the pods that a packing places cost at least, with no preferences at all; 0: not known. a is what is known
// with those that they keep.
func (sv *solve) proven(q pack.Small, res *pack.Result, a pack.Answer, of func(job int) (class, variant int32)) int64 {
	jobs, same := slices.Clone(q.Jobs), true
	for i := range jobs {
		class, variant := of(i)
		v := sv.c.lastVariant(class)
		if int(variant) == len(sv.c.variantsOf(class))-1 {
			continue
		}
		same = false
		jobs[i].Mask, jobs[i].MaskID, jobs[i].Alternatives, jobs[i].Fits = v.Mask, v.MaskID, v.Alts, v.Has
	}
	if !same {
		placed := *res
		placed.Left = nil
		q.Jobs, q.Steps = jobs, 0
		a = q.Improve(&placed)
	}
	return max(a.Bound, 0)
}

// exactLinked is exact where pods mean something to each other: what is cheaper must also have an order in which its
// pods can be bound.
func (sv *solve) exactLinked(o *outcome) *outcome {
	l := &linked{solve: sv, best: o, board: board.New(&sv.c.model), places: map[string]int32{}, tries: exactTries}
	q := sv.small()
	if q.Steps > exactSteps {
		l.tries *= exactStepsBest / exactSteps
	}
	from := l.read()
	l.foresee(from)
	q.Rules, q.Judge, q.Jobs = sv.musts(), l, l.jobs
	for i := range l.jobs {
		cl := &sv.c.model.Classes[l.jobs[i].Class]
		q.Tied = append(q.Tied, sv.c.model.Linked(l.jobs[i].Class) || len(cl.Excludes) > 0 || len(cl.Volumes) > 0)
	}
	a := q.Improve(from)
	if l.best != o && l.best.leftTotal() != o.leftTotal() {
		return l.best // the bound is for others
	}
	l.best.proven = sv.proven(q, from, a, func(job int) (class, variant int32) { return l.jobs[job].Class, l.variants[job] })
	if a.Whole && sv.free() {
		l.best.proven = l.best.result.Price
	}
	return l.best
}

// free reports whether the kernel's rules are all that pods mean to each other.
func (sv *solve) free() bool {
	return len(sv.c.model.Groups) == 0 && !slices.ContainsFunc(sv.c.model.Classes, func(cl board.Class) bool { return len(cl.Volumes) > 0 })
}

// musts are rules on single nodes that every outcome obeys, whatever the order in which its pods are bound.
func (sv *solve) musts() *pack.Rules {
	m := &sv.c.model
	out := &pack.Rules{Excludes: make([][]int32, len(m.Classes)+1), Caps: make([][]pack.Cap, len(m.Classes)+1)}
	for id := range m.Classes {
		out.Excludes[id] = slices.Clone(m.Classes[id].Excludes)
	}
	for a := range m.Classes {
		for _, g := range m.Classes[a].Owns {
			gr := &m.Groups[g]
			if gr.Key != board.Host || gr.Kind == board.Affinity {
				continue
			}
			if gr.Kind == board.Spread {
				if contains32(m.Classes[a].In, g) { // the nodes that its owners can be on count
					out.Caps[a] = append(out.Caps[a], pack.Cap{Group: g, Max: max(gr.MaxSkew, 1), In: true, Owns: true})
				}
				continue
			}
			for b := range m.Classes {
				if contains32(m.Classes[b].In, g) {
					out.Excludes[a], out.Excludes[b] = append(out.Excludes[a], int32(b)), append(out.Excludes[b], int32(a))
				}
			}
		}
	}
	for id := range out.Excludes {
		slices.Sort(out.Excludes[id])
		out.Excludes[id] = slices.Compact(out.Excludes[id])
	}
	return out
}

// linked carries packings out.
type linked struct {
	*solve
	best *outcome
	// jobs are the classes under the variants that the outcome to be improved has them.
	jobs     []pack.Job
	variants []int32
	board    *board.Board
	places   map[string]int32
	key      []byte
	// tries is how many more pods may be tried to find orders.
	tries int
	foresight
}

// read lists what is on the board of the best outcome.
func (l *linked) read() *pack.Result {
	b := l.best.board
	at := map[[2]int32]int32{}
	all, old := b.Nodes()
	res := &pack.Result{OnNodes: make([][]pack.Content, old), Price: l.best.result.Price, Nodes: l.best.result.Nodes}
	for i := range all {
		var content []pack.Content
		for _, it := range b.Items(i) {
			if it.Variant < 0 || it.Count == 0 {
				continue
			}
			key := [2]int32{it.Class, it.Variant}
			job, ok := at[key]
			if !ok {
				job = int32(len(l.jobs))
				at[key] = job
				v := l.c.variantOf(it.Class, it.Variant)
				l.jobs = append(l.jobs, pack.Job{Class: it.Class, Req: l.c.model.Shapes[l.c.model.Classes[it.Class].Shape].Req,
					Mask: v.Mask, MaskID: v.MaskID, Alternatives: v.Alts, Fits: v.Has})
				l.variants = append(l.variants, it.Variant)
			}
			content = append(content, pack.Content{Class: it.Class, Job: job, Count: it.Count})
		}
		if i < old {
			res.OnNodes[i] = content
		} else if row, _, _ := b.Node(i); len(content) > 0 {
			res.Runs = append(res.Runs, pack.Run{Row: row, Mult: 1, Content: content})
		}
	}
	return res
}

// Place numbers offerings by the domains that their nodes are in or could be in, and by which groups count them.
func (l *linked) Place(row int32, bit int) int32 {
	m := &l.c.model
	key := l.key[:0]
	for k := range m.Keys {
		for _, mask := range m.Keys[k].Mask {
			key = append(key, byte(mask[row]>>bit&1))
		}
	}
	for g := range m.Groups {
		if rows := m.Groups[g].Rows; rows != nil {
			key = append(key, byte(rows[row]>>bit&1))
		}
		if m.Groups[g].Match != nil {
			key = append(key, byte(row), byte(row>>8), byte(row>>16), byte(bit))
		}
	}
	l.key = key
	id, ok := l.places[string(key)]
	if !ok {
		id = int32(len(l.places))
		l.places[string(key)] = id
	}
	return id
}

// Accept carries a packing out and keeps it if it is better than the best outcome so far.
func (l *linked) Accept(res *pack.Result) bool {
	mark := l.board.Mark()
	ok := l.carry(l.board, res)
	l.board.Rollback(mark)
	l.board.Unshut()
	if !ok {
		return false
	}
	b := board.New(&l.c.model)
	l.carry(b, res)
	out := &outcome{name: "exact", left: slices.Clone(l.best.left), board: b, div: l.best.div, c: l.c, excluded: l.best.excluded}
	l.fillUp(out)
	if !l.whole(out) {
		return false
	}
	out.read()
	if !out.better(l.best) {
		return false
	}
	l.best = out
	return true
}

// fillUp finds places for pods that were left over, as far as all can be bound anew with them.
func (l *linked) fillUp(o *outcome) {
	mark, left := o.board.Mark(), slices.Clone(o.left)
	for _, band := range l.c.byPriority(l.todo(o.excluded)) {
		l.complete(o.board, band, o.left)
	}
	if slices.Equal(left, o.left) || l.whole(o) && l.stands(o.board) {
		return
	}
	o.board.Rollback(mark)
	o.left = left
}

// carry opens the nodes of a packing and binds its pods, in whatever order that is possible.
func (l *linked) carry(b *board.Board, res *pack.Result) bool {
	var props []board.Proposal
	put := func(node int32, content []pack.Content) {
		for _, x := range content {
			props = append(props, board.Proposal{Class: x.Class, Variant: l.variants[x.Job], Node: node, Count: x.Count})
		}
	}
	for i, content := range res.OnNodes {
		put(int32(i), content)
	}
	for i := range res.Runs {
		r := &res.Runs[i]
		node := b.OpenFor(r.Row, r.Bits&-r.Bits, r.Open, r.Charge)
		if node < 0 {
			return false
		}
		put(node, r.Content)
	}
	props = l.inPlaces(props)
	if l.bind(b, props) {
		return true
	}
	if l.c.space.Limits == nil && l.c.space.Reservation == nil {
		return false
	}
	// Domains that nobody can open any more do not count.
	closed := false
	for i := range props {
		closed = b.Shut(props[i].Class) || closed
	}
	return closed && l.bind(b, props)
}

// bind carries proposals out, all or none.
func (l *linked) bind(b *board.Board, props []board.Proposal) bool {
	mark := b.Mark()
	now := slices.Clone(props)
	b.Replay(now)
	if !slices.ContainsFunc(now, func(p board.Proposal) bool { return p.Count > 0 }) {
		return true
	}
	b.Rollback(mark)
	tries := min(orderTries, l.tries)
	o := order{linked: l, b: b, props: slices.Clone(props), seen: map[string]bool{}, tries: tries}
	ok := o.find()
	l.tries -= tries - max(o.tries, 0)
	return ok
}

// orderTries bounds how many pods are tried to find an order for one packing, exactTries how many for all of them.
const orderTries, exactTries = 150, 10_000

// order looks for an order in which pods can join the nodes that they are meant for, where going by turns gave none.
type order struct {
	*linked
	b     *board.Board
	props []board.Proposal
	seen  map[string]bool
	tries int
}

// find binds what is left of the proposals. False: there is no order, or it was not found in time.
func (o *order) find() bool {
	key := o.key[:0]
	left := false
	for i := range o.props {
		key = append(key, byte(o.props[i].Count))
		left = left || o.props[i].Count > 0
	}
	if o.key = key; !left || o.seen[string(key)] {
		return !left
	}
	o.seen[string(key)] = true
	for i := range o.props {
		p := &o.props[i]
		if p.Count == 0 {
			continue
		}
		if o.tries--; o.tries < 0 {
			return false
		}
		mark := o.b.Mark()
		n := o.b.Join(p.Class, p.Variant, p.Node, 1)
		if p.Count -= n; n > 0 && o.find() {
			return true
		}
		p.Count += n
		o.b.Rollback(mark)
		if !o.c.model.Linked(p.Class) {
			return false // when it joins makes no difference
		}
	}
	return false
}
