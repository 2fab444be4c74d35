package cover

import (
	"cmp"
	"slices"
)

// labels are ways to take some of the items passed, with the room that each leaves.
type labels struct {
	all  []label
	rem  []int64 // label by label
	head []int32 // the last label of each cell
	// taken has the ways, each as the last item and the way before; pool the best of them.
	taken []taken
	pool  []pooled
	order []int32
	room  []int64
}

type label struct {
	value float64
	// bound is the most that it can come to; paid and loose what its room is worth by the grid's, and the
	// relaxation's weights.
	bound, paid, loose float64
	step               int32
	cell, next         int32 // next is the label before in the same cell
	// dead is 1 more than the item at which the label was struck; it still takes that item.
	dead int32
}

// taken is a number of an item, and what was taken before.
type taken struct {
	before, item, n int32
}

type pooled struct {
	worth float64
	step  int32
}

const (
	// pooledMost is how many of the best contents are remembered.
	pooledMost = 64
	// chain is how many labels of a cell a new one is compared with.
	chain = 32
	// labelWork is how many steps there are for each label of the width; then only narrow many are kept.
	labelWork = 3000
	narrow    = 50
)

// label looks for contents worth more than the goal, which it raises to what it finds and the part tol above that.
// Each time it keeps no more labels than width. It returns a bound, as the goal at the end or above.
func (t *chooser) label(width int, tol float64) float64 {
	l, g := &t.l, &t.grid
	l.all, l.rem, l.taken = l.all[:0], append(l.rem[:0], t.room...), l.taken[:0]
	l.room = resize(l.room, t.dims)
	l.head = resize(l.head, g.cells)
	for i := range l.head {
		l.head[i] = -1
	}
	t.add(label{value: t.base, step: -1, next: -1, cell: g.cell(t.room), paid: t.pays(g.pay, t.room), loose: t.pays(t.weight, t.room)})
	open := 0.0
	if t.base > t.floor {
		l.pool = append(l.pool, pooled{t.base, -1})
		t.goal = max(t.goal, float64(t.base*(1+tol)))
	}
	end := t.work + labelWork*int64(width)
	for x := range t.n {
		t.extend(x, tol)
		if t.work > end {
			width = min(width, narrow)
		}
		open = max(open, t.shrink(width))
	}
	return max(t.goal, open)
}

func (t *chooser) add(b label) {
	l := &t.l
	l.all = append(l.all, b)
	l.head[b.cell] = int32(len(l.all) - 1)
}

// bound is the most that a label can come to with the items from x on, f being their grid.
func (t *chooser) bound(b *label, x int, f []float32) float64 {
	rest := min(exceed(f[b.cell])+b.paid, float64((t.tail[x]+b.loose)*(1+1e-12)))
	return b.value + rest
}

// extend takes item x in all numbers that may come to more than the goal, and strikes labels that cannot without it.
func (t *chooser) extend(x int, tol float64) {
	l, g := &t.l, &t.grid
	f := g.at(t, x+1)
	req := t.of(x)
	paid, loose := t.pays(g.pay, req), t.pays(t.weight, req)
	t.work += int64(len(l.all))
	for i := range len(l.all) {
		b := l.all[i]
		if b.dead > 0 && b.dead <= int32(x) {
			continue
		}
		if l.all[i].bound = t.bound(&b, x+1, f); l.all[i].bound <= t.goal {
			l.all[i].dead = int32(x) + 1
		}
		b.dead = 0
		copy(l.room, l.rem[i*t.dims:(i+1)*t.dims])
		from := b.step
		for n := int32(1); n <= t.u[x] && less(l.room, req); n++ {
			t.work++
			b.value += t.y[x]
			b.paid -= paid
			b.loose -= loose
			b.cell = g.cell(l.room)
			b.bound = t.bound(&b, x+1, f)
			if b.value > t.floor {
				l.offer(b.value, taken{from, int32(x), n})
				t.goal = max(t.goal, float64(b.value*(1+tol)))
			}
			if b.bound <= t.goal || !t.keep(&b, int32(x)+1) {
				continue
			}
			l.taken = append(l.taken, taken{from, int32(x), n})
			b.step, b.next = int32(len(l.taken)-1), l.head[b.cell]
			l.rem = append(l.rem, l.room...)
			t.add(b)
		}
	}
}

// less takes a request off the room, if there is as much.
func less(room, req []int64) bool {
	for d, q := range req {
		if q > 0 && room[d] < q {
			return false
		}
	}
	for d, q := range req {
		room[d] -= q
	}
	return true
}

// keep reports whether no label of the cell makes the one with the room at hand superfluous, and strikes those that
// it makes so.
func (t *chooser) keep(b *label, dead int32) bool {
	l := &t.l
	looks := 0
	for i := l.head[b.cell]; i >= 0 && looks < chain; i = l.all[i].next {
		looks++
		a := &l.all[i]
		if a.dead > 0 {
			continue
		}
		less, more := a.value <= b.value, a.value >= b.value
		for d, r := range l.rem[int(i)*t.dims : int(i+1)*t.dims] {
			less = less && r <= l.room[d]
			more = more && r >= l.room[d]
		}
		if more {
			t.work += int64(looks)
			return false
		}
		if less {
			a.dead = dead
		}
	}
	t.work += int64(looks)
	return true
}

// shrink drops dead labels, and those with the least bound if there are more than width; it returns the most that one
// of those could have come to.
func (t *chooser) shrink(width int) (open float64) {
	l := &t.l
	l.order = l.order[:0]
	for i := range l.all {
		if l.all[i].dead == 0 && l.all[i].bound > t.goal {
			l.order = append(l.order, int32(i))
		}
	}
	t.work += int64(len(l.all) / 4)
	if len(l.order) <= width && len(l.order) > len(l.all)/2 {
		return 0
	}
	if len(l.order) > width {
		slices.SortFunc(l.order, func(a, b int32) int {
			x, y := &l.all[a], &l.all[b]
			return cmp.Or(cmp.Compare(y.bound, x.bound), cmp.Compare(y.value, x.value), cmp.Compare(a, b))
		})
		t.work += int64(4 * len(l.order))
		open = l.all[l.order[width]].bound
		l.order = l.order[:width]
		slices.Sort(l.order)
	}
	for i := range l.all {
		l.head[l.all[i].cell] = -1
	}
	for k, i := range l.order {
		copy(l.rem[k*t.dims:(k+1)*t.dims], l.rem[int(i)*t.dims:int(i+1)*t.dims])
		b := l.all[i]
		b.next = l.head[b.cell]
		l.head[b.cell] = int32(k)
		l.all[k] = b
	}
	n := len(l.order)
	l.all, l.rem = l.all[:n], l.rem[:n*t.dims]
	return open
}

// offer remembers a content if it is one of the best.
func (l *labels) offer(value float64, last taken) {
	at := len(l.pool)
	if at < pooledMost {
		l.pool = append(l.pool, pooled{})
	} else {
		at = 0
		for i := range l.pool {
			if l.pool[i].worth < l.pool[at].worth {
				at = i
			}
		}
		if l.pool[at].worth >= value {
			return
		}
	}
	l.taken = append(l.taken, last)
	l.pool[at] = pooled{value, int32(len(l.taken) - 1)}
}
