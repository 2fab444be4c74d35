package scheduling

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// Where something finite ran out, or one pod's place depends on another's, placing one pod after the other may leave
// pods over that another order or another domain would have placed. Small problems are searched; larger ones are
// placed again with those first that were left over.
const (
	// searchPods is how many pods may wait in a problem that is searched, searchSteps how many states are looked at.
	searchPods, searchSteps = 12, 20_000
	// replacePods is how many may wait in one that is placed again, at most replaceTries times.
	replacePods, replaceTries = 1000, 3
)

// improve tries to place pods that were left over although they could have a place.
func (sv *solve) improve(o *outcome) *outcome {
	if sv.start == nil || !sv.hopeful(o) || sv.budget.Out() {
		return o
	}
	waiting := 0
	for id := range sv.c.classes {
		if sv.c.places(int32(id)) {
			waiting += len(sv.c.classes[id].pods)
		}
	}
	if waiting <= replacePods {
		o = sv.failedFirst(o)
	}
	sv.shut(o)
	if waiting <= searchPods && sv.hopeful(o) {
		for _, anyOrder := range []bool{false, true} {
			s := &placeSearch{sv: sv, b: board.New(&sv.c.model), div: o.div, anyOrder: anyOrder, seen: map[string]bool{}}
			if better := s.run(o); better != nil {
				o = better
				sv.shut(o)
			}
			if !sv.hopeful(o) {
				break
			}
		}
	}
	return o
}

// shut places pods of spreads that would need domains which limits and reservations have closed meanwhile.
func (sv *solve) shut(o *outcome) {
	if sv.c.space.Limits == nil && sv.c.space.Reservation == nil || !sv.hopeful(o) {
		return
	}
	changed := false
	for id, n := range o.left {
		if n > 0 && sv.c.places(int32(id)) {
			changed = o.board.Shut(int32(id)) || changed
		}
	}
	if !changed {
		return
	}
	mark, left := o.board.Mark(), slices.Clone(o.left)
	for _, band := range sv.c.byPriority(sv.todo(o.excluded)) {
		sv.complete(o.board, band, o.left)
	}
	if !sv.whole(o) || !sv.stands(o.board) {
		o.board.Rollback(mark)
		o.left = left
	}
	o.read()
}

// hopeful reports whether a pod was left over that would have a place if it were alone.
func (sv *solve) hopeful(o *outcome) bool {
	for id, n := range o.left {
		if n > 0 && sv.c.places(int32(id)) && (sv.c.someRowHolds(int32(id)) || sv.c.someNodeHolds(int32(id))) {
			return true
		}
	}
	return false
}

// failedFirst places everything again, those first that were left over, as long as that helps.
func (sv *solve) failedFirst(o *outcome) *outcome {
	turn := slices.Clone(sv.c.turn)
	defer func() { sv.c.turn = turn }()
	failed := make([]int32, len(sv.c.classes))
	for range replaceTries {
		for id, n := range o.left {
			if n > 0 {
				failed[id]--
			}
		}
		order := slices.Clone(sv.c.order)
		slices.SortStableFunc(order, func(a, b int32) int {
			if failed[a] != failed[b] {
				return int(failed[a] - failed[b])
			}
			return int(turn[a] - turn[b])
		})
		sv.c.turn = make([]int32, len(order))
		for i, id := range order {
			sv.c.turn[id] = int32(i)
		}
		next := sv.oneByOne(o.div)
		if sv.whole(next) && next.better(sv.net(o)) {
			o = next
		}
		if !sv.hopeful(o) || sv.budget.Out() {
			break
		}
	}
	return o
}

// oneByOne places all pods without the kernel, band after band.
func (sv *solve) oneByOne(div *divider) *outcome {
	b := board.New(&sv.c.model)
	left := make([]int32, len(sv.c.classes))
	for id := range sv.c.classes {
		left[id] = int32(len(sv.c.classes[id].pods))
	}
	bands := sv.c.byPriority(sv.todo(nil))
	for _, band := range bands {
		sv.complete(b, band, left)
	}
	b.SettleAll()
	b = sv.rebind(b, bands, left)
	o := &outcome{name: "one by one", left: left, board: b, div: div, c: sv.c}
	o.read()
	return o
}

// net is the outcome without the gangs that would have to go.
func (sv *solve) net(o *outcome) *outcome {
	out := o
	for g := range sv.c.gangs {
		if sv.torn(g, o) {
			if out == o {
				c := *o
				c.left = slices.Clone(o.left)
				out = &c
			}
			for _, id := range sv.c.gangs[g].classes {
				out.left[id] = int32(len(sv.c.classes[id].pods))
			}
		}
	}
	return out
}

// whole reports whether every gang has all it needs, or nothing.
func (sv *solve) whole(o *outcome) bool {
	for g := range sv.c.gangs {
		if sv.torn(g, o) {
			return false
		}
	}
	return true
}

// placeSearch goes through the places that pods could get, depth first, with the number of states bounded. It is after more
// pods; what they cost is the business of exact.
type placeSearch struct {
	sv    *solve
	b     *board.Board
	div   *divider
	steps int
	// left is how many pods of each class are still to be placed, classes those that have any, in the order in which they
	// are placed.
	left    []int32
	classes []int32
	// anyOrder lets a pod of any class be next. States are reached in many ways then, and seen has those that were looked at.
	anyOrder bool
	seen     map[string]bool
	// best is the state that leaves fewest pods over, if it is better than goal, bestLeft what it leaves.
	best     *board.Board
	bestLeft []int32
	goal     *outcome
}

// run returns a better outcome, nil if it found none.
func (s *placeSearch) run(o *outcome) *outcome {
	c := s.sv.c
	s.goal = s.sv.net(o)
	s.left = make([]int32, len(c.classes))
	for _, pd := range c.inTurn(s.sv.todo(nil)) {
		if n := len(c.classes[pd.class].pods); n > 0 {
			s.classes = append(s.classes, pd.class)
		}
	}
	s.classes = slices.Compact(s.classes)
	slices.SortStableFunc(s.classes, func(a, b int32) int {
		if c.classes[a].rank() != c.classes[b].rank() && c.depth[a] == c.depth[b] {
			return b2i(c.classes[a].rank() < c.classes[b].rank()) - b2i(c.classes[a].rank() > c.classes[b].rank())
		}
		return int(c.turn[a] - c.turn[b])
	})
	for id := range c.classes {
		s.left[id] = int32(len(c.classes[id].pods))
	}
	s.visit(0, 0)
	if s.best == nil {
		return nil
	}
	s.best.SettleAll()
	left := s.bestLeft
	b := s.sv.rebind(s.best, nil, left)
	out := &outcome{name: "search", left: left, board: b, div: s.div, c: c}
	out.read()
	if !s.sv.whole(out) || !out.better(s.goal) {
		return nil
	}
	return out
}

// visit places one more pod: of the k-th class on the node with the number from or a later one, or a pod of any class.
func (s *placeSearch) visit(k int, from int32) {
	if s.steps++; s.steps > searchSteps || s.done() {
		return
	}
	s.record()
	if s.anyOrder {
		key := s.key()
		if s.seen[key] {
			return
		}
		s.seen[key] = true
		for i := range s.classes {
			if s.left[s.classes[i]] > 0 {
				s.places(s.classes[i], 0, func(int32) { s.visit(i, 0) })
			}
		}
		return
	}
	if k == len(s.classes) {
		return
	}
	class := s.classes[k]
	if s.left[class] > 0 {
		s.places(class, from, func(node int32) { s.visit(k, node) })
	}
	s.visit(k+1, 0)
}

// done reports whether all are placed.
func (s *placeSearch) done() bool {
	return s.bestLeft != nil && !slices.ContainsFunc(s.classes, func(id int32) bool { return s.bestLeft[id] > 0 })
}

// record keeps the state if it is the best so far.
func (s *placeSearch) record() {
	now := &outcome{c: s.sv.c, left: s.left, result: &pack.Result{}}
	was := &outcome{c: s.sv.c, left: s.bestLeft, result: &pack.Result{}}
	if s.bestLeft == nil {
		was.left = s.goal.left
	}
	if !now.better(was) {
		return
	}
	if !s.sv.whole(now) {
		return
	}
	s.best, s.bestLeft = s.b.CloneWithLog(), slices.Clone(s.left)
}

// places tries every place for one pod of the class, and goes on from there.
func (s *placeSearch) places(class, from int32, then func(node int32)) {
	variants := int32(len(s.sv.c.variantsOf(class)))
	all, _ := s.b.Nodes()
	for i := from; i < int32(all); i++ {
		mark := s.b.Mark()
		for v := range variants {
			if s.b.Join(class, v, i, 1) > 0 || s.b.Grow(class, v, i) {
				s.left[class]--
				then(i)
				s.left[class]++
				break
			}
		}
		s.b.Rollback(mark)
	}
	last := variants - 1
	v := s.sv.c.variantOf(class, last)
	for _, cell := range s.div.cellsOf(class, v) {
		if cell.price >= 0 {
			s.open(class, last, &cell, then)
		}
	}
}

// open tries a new node in the cell, the cheapest row that takes the pod.
func (s *placeSearch) open(class, variant int32, cell *cell, then func(node int32)) {
	v := s.sv.c.variantOf(class, variant)
	for k, key := range s.sv.c.model.KeysOf(class) {
		v = s.div.cut(v, key, cell.domain[k])
	}
	space := s.sv.c.model.Space
	type choice struct {
		row   int32
		price int64
	}
	var rows []choice
	req := s.sv.c.model.Shapes[s.sv.c.model.Classes[class].Shape].Req
	for r, m := range v.Mask {
		if m != 0 && pack.Holds(space.AllocOf(r), req) {
			p := space.Offer[int(space.OfferStart[r])+bits.TrailingZeros64(m)]
			rows = append(rows, choice{int32(r), p})
		}
	}
	slices.SortStableFunc(rows, func(a, b choice) int {
		return b2i(a.price > b.price) - b2i(a.price < b.price)
	})
	pools := map[int32]bool{} // one of each pool: their limits and labels differ
	for _, c := range rows {
		if pools[space.Pool[c.row]] {
			continue
		}
		mark := s.b.Mark()
		if i := s.b.Open(c.row, v.Mask[c.row], nil); i >= 0 && s.b.Join(class, variant, i, 1) > 0 {
			pools[space.Pool[c.row]] = true
			s.left[class]--
			then(i)
			s.left[class]++
		}
		s.b.Rollback(mark)
	}
}

// key describes the state but for the order in which it came about.
func (s *placeSearch) key() string {
	all, _ := s.b.Nodes()
	var parts []string
	for i := range all {
		row, allowed, open := s.b.Node(i)
		var b []byte
		b = binary.AppendVarint(b, int64(row))
		if row < 0 {
			b = binary.AppendVarint(b, int64(i))
		}
		b = binary.AppendUvarint(b, allowed)
		for _, o := range open {
			b = binary.AppendVarint(b, int64(o))
		}
		items := slices.Clone(s.b.Items(i))
		slices.SortFunc(items, func(x, y board.Item) int { return int(x.Class - y.Class) })
		for _, it := range items {
			if it.Count > 0 {
				b = binary.AppendVarint(binary.AppendVarint(b, int64(it.Class)), int64(it.Count))
			}
		}
		parts = append(parts, string(b))
	}
	slices.Sort(parts)
	out := ""
	for _, p := range parts {
		out += p + "|"
	}
	return out
}
