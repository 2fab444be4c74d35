package cover

import (
	"cmp"
	"slices"
)

// labels are ways to take some of the items passed.
type labels struct {
	rem   []int64 // resource by resource
	value []float64
	step  []int32 // the last in steps
	next  []int32 // in the same cell
	bound []float64
	cell  []int32
	dead  []bool
	head  []int32
	taken []taken
	best  int32
	worth float64
	open  float64
	order []int32
}

// taken is a number of an item, and what was taken before.
type taken struct {
	before, item, n int32
}

// label looks for contents worth more than the goal, and raises it to best*(1+tol). It returns the best's worth, and what
// none is worth more than, unless that is below goal.
func (t *contents) label(width int, tol float64) (top float64) {
	l, g := &t.l, &t.grid
	l.rem = append(l.rem[:0], t.room...)
	l.value = append(l.value[:0], t.base)
	l.step, l.next, l.cell, l.dead, l.bound = append(l.step[:0], -1), append(l.next[:0], -1), l.cell[:0], append(l.dead[:0], false), append(l.bound[:0], 0)
	l.taken = l.taken[:0]
	l.head = resize(l.head, g.cells)
	for i := range l.head {
		l.head[i] = -1
	}
	l.cell = append(l.cell, int32(g.cell(t.room)))
	l.head[l.cell[0]] = 0
	l.best, l.worth, l.open = -1, 0, 0
	for x := range t.n {
		t.extend(x, tol)
		t.shrink(x+1, width)
		if len(l.value) == 0 {
			break
		}
	}
	return max(t.goal, l.open)
}

// rest bounds what can be added from x on.
func (t *contents) rest(x int, f []float32, room []int64, cell int32) float64 {
	v := float64(f[cell]) * (1 + 1e-5)
	for _, d := range t.grid.outer {
		v += float64(t.weight[d] * float64(room[d]))
	}
	lp := t.tail[x]
	for d, w := range t.weight {
		lp += float64(w * float64(room[d]))
	}
	return min(v, lp*(1+1e-12))
}

// extend takes item x in all numbers that may come to more than the goal.
func (t *contents) extend(x int, tol float64) {
	l, g := &t.l, &t.grid
	f := g.at(t, x+1)
	req := t.of(x)
	dims := t.dims
	room := make([]int64, dims)
	t.work += int64(len(l.value))
	for i := range len(l.value) {
		if l.dead[i] {
			continue
		}
		copy(room, l.rem[i*dims:(i+1)*dims])
		value := l.value[i]
		for n := int32(1); n <= t.u[x]; n++ {
			if !take(room, req) {
				break
			}
			t.work++
			value += t.y[x]
			cell := int32(g.cell(room))
			bound := value + t.rest(x+1, f, room, cell)
			if bound <= t.goal && value <= t.goal {
				continue
			}
			if !t.keep(room, value, cell) {
				continue
			}
			l.taken = append(l.taken, taken{l.step[i], int32(x), n})
			l.step = append(l.step, int32(len(l.taken)-1))
			l.rem = append(l.rem, room...)
			l.value = append(l.value, value)
			l.bound = append(l.bound, bound)
			l.cell = append(l.cell, cell)
			l.dead = append(l.dead, false)
			l.next = append(l.next, l.head[cell])
			l.head[cell] = int32(len(l.value) - 1)
			if value > l.worth {
				l.worth, l.best = value, l.step[len(l.step)-1]
				t.goal = max(t.goal, value*(1+tol))
			}
		}
	}
}

func take(room, req []int64) bool {
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

// keep reports whether no label of the cell makes one superfluous, and strikes those that it makes so.
func (t *contents) keep(room []int64, value float64, cell int32) bool {
	l := &t.l
	for i := l.head[cell]; i >= 0; i = l.next[i] {
		t.work++
		if l.dead[i] {
			continue
		}
		less, more := l.value[i] <= value, l.value[i] >= value
		for d, r := range l.rem[int(i)*t.dims : int(i+1)*t.dims] {
			less = less && r <= room[d]
			more = more && r >= room[d]
		}
		if more {
			return false
		}
		if less {
			l.dead[i] = true
		}
	}
	return true
}

// shrink leaves out labels that can no longer come to more than the goal, and those with the least bound if
// there are too many.
func (t *contents) shrink(x, width int) {
	l, g := &t.l, &t.grid
	f := g.at(t, x)
	l.order = l.order[:0]
	for i := range l.value {
		l.head[l.cell[i]] = -1
		if l.dead[i] {
			continue
		}
		room := l.rem[i*t.dims : (i+1)*t.dims]
		if l.bound[i] = l.value[i] + t.rest(x, f, room, l.cell[i]); l.bound[i] > t.goal {
			l.order = append(l.order, int32(i))
		}
	}
	t.work += int64(len(l.value))
	if len(l.order) > width {
		slices.SortFunc(l.order, func(a, b int32) int {
			return cmp.Or(cmp.Compare(l.bound[b], l.bound[a]), cmp.Compare(l.value[b], l.value[a]), cmp.Compare(a, b))
		})
		l.open = max(l.open, l.bound[l.order[width]])
		l.order = l.order[:width]
		slices.Sort(l.order)
	}
	for k, i := range l.order {
		copy(l.rem[k*t.dims:(k+1)*t.dims], l.rem[int(i)*t.dims:int(i+1)*t.dims])
		l.value[k], l.step[k], l.bound[k], l.cell[k], l.dead[k] = l.value[i], l.step[i], l.bound[i], l.cell[i], false
		c := l.cell[k]
		l.next[k] = l.head[c]
		l.head[c] = int32(k)
	}
	n := len(l.order)
	l.rem, l.value, l.step, l.bound, l.cell, l.dead, l.next = l.rem[:n*t.dims], l.value[:n], l.step[:n], l.bound[:n], l.cell[:n], l.dead[:n], l.next[:n]
}

// counts writes a label down.
func (t *contents) counts(step int32, n []int32) {
	copy(n, t.baseCount)
	for ; step >= 0; step = t.l.taken[step].before {
		k := t.l.taken[step]
		n[t.id[k.item]] += k.n
	}
}
