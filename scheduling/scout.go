package scheduling

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// Where pods are placed one after the other, each goes where it is cheapest, and those that others must be near end in
// one domain. If that leaves followers over, scouts go first: one pod in each domain by which followers gain.

// scout is a pod of the class that is to go to the cell, with as many preferences as that allows.
type scout struct {
	class int32
	cell  *cell
}

// complete finds places for what is left of a band. If that leaves followers over that could have a place with their
// targets elsewhere, it is done once more with scouts going first.
func (sv *solve) complete(b *board.Board, band []*pending, left []int32) {
	if sv.budget.Out() {
		return
	}
	div := sv.div.another(b)
	scouts := div.scouts(sv.wants(band, left))
	if len(scouts) == 0 {
		sv.oneAfterOther(b, band, left)
		return
	}
	mark, before := b.Mark(), slices.Clone(left)
	sv.oneAfterOther(b, band, left)
	if sv.budget.Out() || !div.hopes(b, left) {
		return
	}
	without := slices.Clone(left)
	again := func(scouts []scout) {
		b.Rollback(mark)
		copy(left, before)
		sv.send(b, div, scouts, band, left)
		sv.oneAfterOther(b, band, left)
	}
	if again(scouts); !sv.fewer(left, without) {
		again(nil)
	}
}

// wants are the classes of a band that have pods left.
func (sv *solve) wants(band []*pending, left []int32) (wants []board.Want) {
	for _, pd := range band {
		// Those that keep their preferences and those that do not are neighbours.
		if n := left[pd.class]; n > 0 && (len(wants) == 0 || wants[len(wants)-1].Class != pd.class) {
			wants = append(wants, board.Want{Class: pd.class, Count: n})
		}
	}
	return wants
}

// fewer reports whether fewer pods are left over than before, those of the highest priority first.
func (sv *solve) fewer(left, before []int32) bool {
	now, was := &outcome{c: sv.c, left: left, result: &pack.Result{}}, &outcome{left: before, result: &pack.Result{}}
	return now.better(was)
}

// send places the scouts, before those of each depth whatever they must be near themselves.
func (sv *solve) send(b *board.Board, div *divider, scouts []scout, band []*pending, left []int32) {
	at := int32(0)
	for _, s := range scouts {
		if deep := sv.c.depth[s.class]; deep > at {
			at = deep
			sv.oneAfterOther(b, slices.DeleteFunc(slices.Clone(band), func(pd *pending) bool { return sv.c.depth[pd.class] >= deep }), left)
		}
		if left[s.class] > 0 && div.send(b, s) {
			left[s.class]--
		}
	}
}

// scouts lists the pods to send, in the order of the classes' turns; nil if it would make no difference which domains
// targets are in. The divider must be new, and counts what is on the board now.
func (d *divider) scouts(wants []board.Want) (out []scout) {
	todo := make([]*pending, 0, len(wants))
	for _, w := range wants {
		if w.Count > 0 {
			todo = append(todo, &pending{class: w.Class, left: w.Count})
		}
	}
	if d.expect(todo); len(d.follow) == 0 {
		return nil
	}
	for _, pd := range d.c.inTurn(todo) {
		if d.picky(pd.class) {
			out = d.scoutsOf(pd, out)
		}
	}
	return out
}

// picky reports whether followers of the class cannot all make do with any one domain.
func (d *divider) picky(class int32) bool {
	for _, g := range d.m.Classes[class].In {
		if fw := d.follow[g]; fw != nil {
			for i := range fw.list {
				f := &fw.list[i]
				if f.class != class && (len(f.bounds) > 0 || f.want != 0 || len(f.any) > 0 || bits.OnesCount64(f.reach) < len(fw.reach)) {
					return true
				}
			}
		}
	}
	return false
}

// scoutsOf adds pods of one class as long as followers gain by one more.
func (d *divider) scoutsOf(pd *pending, out []scout) []scout {
	keys := d.m.KeysOf(pd.class)
	for v := int32(0); pd.left > 0 && int(v) < len(d.c.variantsOf(pd.class)); v++ {
		cells := d.cellsOf(pd.class, d.c.variantOf(pd.class, v))
		banned := make([]bool, len(cells))
		for pd.left > 0 {
			d.gains(pd.class, keys, cells)
			gain := slices.Clone(d.gain)
			i := slices.Index(d.assign(pd.class, v, 1, cells, banned), 1)
			if i < 0 {
				break
			}
			if gain[i] == 0 {
				d.tally.Count(pd.class, cells[i].domain, -1)
				break
			}
			out = append(out, scout{class: pd.class, cell: &cells[i]})
			pd.left--
		}
	}
	return out
}

// hopes reports whether more could follow if the scouts had gone first, among the classes that have pods left on the board.
func (d *divider) hopes(b *board.Board, left []int32) bool {
	for g, fw := range d.follow {
		now := uint64(0)
		for v := range min(len(fw.reach), maxWide) {
			if b.Tally().In(g, int32(v)) > 0 {
				now |= 1 << v
			}
		}
		for i := range fw.list {
			if f := &fw.list[i]; left[f.class] > 0 && d.follows(f, d.covered(g)) > d.follows(f, now) {
				return true
			}
		}
	}
	return false
}

// send puts the scout on a node that is in its cell already and gets no dearer, else on a new one.
func (d *divider) send(b *board.Board, s scout) bool {
	keys := d.m.KeysOf(s.class)
	all, _ := b.Nodes()
	for v := range int32(len(d.c.variantsOf(s.class))) {
		for i := range all {
			if slices.ContainsFunc(keys, func(key int32) bool { return b.Domain(i, key) != s.cell.domain[slices.Index(keys, key)] }) {
				continue
			}
			mark, row := b.Mark(), int32(-1)
			price := int64(0)
			if row, _, _ = b.Node(i); row >= 0 {
				price = b.Price(int32(i))
			}
			if b.Join(s.class, v, int32(i), 1) == 0 {
				continue
			}
			if row < 0 || b.Price(int32(i)) <= price {
				return true
			}
			b.Rollback(mark)
		}
		if d.sendNew(b, s, v) {
			return true
		}
	}
	return false
}

// sendNew opens the cheapest node in the cell that takes the pod, of the heaviest pool that has one.
func (d *divider) sendNew(b *board.Board, s scout, variant int32) bool {
	v := d.c.variantOf(s.class, variant)
	for k, key := range d.m.KeysOf(s.class) {
		v = d.cut(v, key, s.cell.domain[k])
	}
	space := d.m.Space
	req := d.m.Shapes[d.m.Classes[s.class].Shape].Req
	var rows []rowPrice
	for r, m := range v.Mask {
		if m != 0 && pack.Holds(space.AllocOf(r), req) {
			rows = append(rows, rowPrice{int32(r), space.Offer[int(space.OfferStart[r])+bits.TrailingZeros64(m)]})
		}
	}
	slices.SortFunc(rows, func(x, y rowPrice) int {
		return cmp.Or(cmp.Compare(d.m.TierOf(x.row), d.m.TierOf(y.row)), cmp.Compare(x.price, y.price), cmp.Compare(x.row, y.row))
	})
	for _, r := range rows {
		mark := b.Mark()
		if i := b.Open(r.row, v.Mask[r.row], nil); i >= 0 && b.Join(s.class, variant, i, 1) > 0 {
			b.Settle(i)
			return true
		}
		b.Rollback(mark)
	}
	return false
}
