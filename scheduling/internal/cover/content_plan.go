package cover

import (
	"cmp"
	"math"
	"slices"
)

const (
	// few steps cost a grid so little that they are always counted exactly.
	few = 16
	// gridMemory bounds the numbers kept, gridWork those worked out at a time.
	gridMemory = 1 << 24
	gridWork   = 1 << 26
)

// axis is a resource a grid may have: all items ask for a multiple of step.
type axis struct {
	d     int
	share float64
	step  int64
	steps int64
}

// plan chooses the resources of the grid, and their steps, for at most limit cells.
func (g *grid) plan(t *chooser, limit int) {
	limit = min(limit, gridMemory/int(2*math.Sqrt(float64(t.n))+3), gridWork/(t.n+1))
	g.dims = g.dims[:0]
	g.unit, g.size, g.cells = [3]int64{1, 1, 1}, [3]int{1, 1, 1}, 1
	in := pick(t.axes(), limit)
	slices.SortStableFunc(in, func(a, b axis) int { return cmp.Compare(a.steps, b.steps) })
	for k, a := range in {
		most := int64(math.Pow(float64(limit)/float64(g.cells), 1/float64(len(in)-k)) * (1 + 1e-9))
		most = max(most, 2)
		unit := a.step
		if a.steps > most {
			unit = t.unit(a.d, (t.room[a.d]+most-2)/(most-1))
		}
		g.dims = append(g.dims, a.d)
		g.unit[k], g.size[k] = unit, int(t.room[a.d]/unit)+1
		g.cells *= g.size[k]
	}
	g.cur = resize(g.cur, g.cells)
}

// axes are the resources that can run out before the others do, those that cost most first.
func (t *chooser) axes() []axis {
	var out []axis
	kept := make([]bool, t.dims)
	for d := range kept {
		kept[d] = true
	}
	for d := range t.dims {
		step := int64(0)
		for x := range t.n {
			step = gcd(step, t.of(x)[d])
		}
		if kept[d] = step > 0 && t.binds(d, kept); kept[d] {
			out = append(out, axis{d, t.weight[d] * float64(t.room[d]), step, t.room[d]/step + 1})
		}
	}
	slices.SortFunc(out, func(a, b axis) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.steps, b.steps), cmp.Compare(a.d, b.d))
	})
	return out
}

// binds reports whether the resource can run out before one of the others kept.
func (t *chooser) binds(d int, kept []bool) bool {
	all := 0.0
	for x := range t.n {
		all += float64(float64(t.of(x)[d]) * float64(t.u[x]))
	}
	if all <= float64(t.room[d]) {
		return false
	}
	for e := range t.dims {
		if e == d || !kept[e] {
			continue
		}
		// As much of d as a unit of e brings along at most.
		ratio := 0.0
		for x := range t.n {
			ratio = max(ratio, float64(t.of(x)[d])/max(float64(t.of(x)[e]), 1e-9))
		}
		if ratio*float64(t.room[e]) <= float64(t.room[d]) {
			return false
		}
	}
	return true
}

// pick takes two resources at most that have few steps, and two others.
func pick(axes []axis, limit int) []axis {
	total := 0.0
	for _, a := range axes {
		total += a.share
	}
	var in []axis
	small := int64(1)
	for _, a := range axes {
		if a.steps <= few && len(in) < 2 && small*a.steps <= int64(limit/few) {
			in = append(in, a)
			small *= a.steps
		}
	}
	most := min(len(in)+2, 3)
	for _, a := range axes {
		if len(in) < most && !slices.Contains(in, a) && a.share >= total/100 {
			in = append(in, a)
		}
	}
	return in
}

// unit finds a step, at least the least and at most half as large again, that loses little to rounding: what many
// items ask for a multiple of.
func (t *chooser) unit(d int, least int64) int64 {
	least = max(least, 1)
	best, lost := least, math.Inf(1)
	try := func(unit int64) {
		sum := 0.0
		for x := range t.n {
			q := t.of(x)[d]
			sum += float64(float64(q%unit) / float64(max(1, q)) * float64(t.u[x]))
		}
		if sum < lost {
			best, lost = unit, sum
		}
	}
	try(least)
	tried := map[int64]bool{}
	for x := range t.n {
		q := t.of(x)[d]
		for j := q / least; j > max(q/least-5, 0) && q/j <= least+least/2; j-- {
			if !tried[q/j] {
				tried[q/j] = true
				try(q / j)
			}
		}
	}
	return best
}
