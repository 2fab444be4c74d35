package cover

import (
	"cmp"
	"math"
	"slices"
)

// grid bounds what the items from x on are worth in a room that is known in up to three resources in steps; the
// others are paid for by weight. Sizes are rounded down, so that the bound holds.
type grid struct {
	dims   []int // of the contents' resources; the last has most steps
	unit   [3]int64
	size   [3]int
	outer  []int
	cells  int
	cur    []float32
	worth  []float64 // of an item beyond what it uses of the outer resources
	bundle []bundle
	// every so many items a copy of the grid is kept; block has those between two copies
	every  int
	copies []float32
	block  []float32
	first  int // item of the block's first grid
	fwd    []float32
	work   int64
}

type bundle struct {
	a         [3]int
	v         float32
	unlimited bool
}

// plan chooses resources and steps for as many cells.
func (g *grid) plan(t *contents, limit int) bool {
	g.dims, g.outer = g.dims[:0], g.outer[:0]
	g.unit, g.size = [3]int64{1, 1, 1}, [3]int{1, 1, 1}
	type dim struct {
		d     int
		share float64
		g     int64
		steps int64
	}
	var dims []dim
	total := 0.0
	for d := range t.dims {
		step := int64(0)
		least := int64(math.MaxInt64)
		for x := range t.n {
			step = gcd(step, t.of(x)[d])
			least = min(least, t.of(x)[d])
		}
		if step == 0 || !t.binds(d) {
			continue
		}
		share := t.weight[d] * float64(t.room[d])
		dims = append(dims, dim{d, share, step, t.room[d]/step + 1})
		total += share
	}
	slices.SortFunc(dims, func(a, b dim) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.steps, b.steps), cmp.Compare(a.d, b.d))
	})
	var in []dim
	small := 1
	for _, x := range dims {
		if x.steps <= 16 && len(in) < 2 && small*int(x.steps) <= limit/16 {
			in = append(in, x)
			small *= int(x.steps)
		}
	}
	big := 0
	for _, x := range dims {
		if slices.Contains(in, x) {
			continue
		}
		if len(in) < 3 && big < 2 && x.share >= total/100 {
			in = append(in, x)
			big++
			continue
		}
		g.outer = append(g.outer, x.d)
	}
	if len(in) == 0 {
		return false
	}
	slices.SortStableFunc(in, func(a, b dim) int { return cmp.Compare(a.steps, b.steps) })
	g.cells = 1
	for k, x := range in {
		rest := float64(limit) / float64(g.cells)
		most := int64(math.Pow(rest, 1/float64(len(in)-k)) * (1 + 1e-9))
		unit := x.g
		if x.steps > most {
			unit = t.unit(x.d, max((t.room[x.d]+most-2)/max(most-1, 1), 1))
		}
		g.dims = append(g.dims, x.d)
		g.unit[k], g.size[k] = unit, int(t.room[x.d]/unit)+1
		g.cells *= g.size[k]
	}
	g.prepare(t)
	return true
}

// binds reports whether the resource can run out before another does.
func (t *contents) binds(d int) bool {
	all := int64(0)
	most := int64(0)
	for x := range t.n {
		all += t.of(x)[d] * int64(t.u[x])
		most = max(most, t.of(x)[d])
	}
	if all <= t.room[d] {
		return false
	}
	for e := range t.dims {
		if e == d {
			continue
		}
		// as much of d as a unit of e brings along at most
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

// unit finds a step of at least the given one and less than half as large again that loses least to rounding.
func (t *contents) unit(d int, least int64) int64 {
	best, lost := least, math.Inf(1)
	try := func(unit int64) {
		sum := 0.0
		for x := range t.n {
			q := t.of(x)[d]
			sum += float64(q%unit) * float64(t.u[x]) / max(1, float64(q))
		}
		if sum < lost {
			best, lost = unit, sum
		}
	}
	try(least)
	for x := range t.n {
		q := t.of(x)[d]
		for j := q / least; j > 0 && q/j <= least+least/2; j-- {
			try(q / j)
			if q/least-j > 4 {
				break
			}
		}
	}
	return best
}

// prepare works out what items take in the grid.
func (g *grid) prepare(t *contents) {
	g.worth = resize(g.worth, t.n)
	for x := range t.n {
		v := t.y[x]
		for _, d := range g.outer {
			v -= float64(t.weight[d] * float64(t.of(x)[d]))
		}
		g.worth[x] = v
	}
	g.cur = resize(g.cur, g.cells)
}

// add lets item x into a grid, in place.
func (g *grid) add(t *contents, x int, f []float32) {
	if g.worth[x] <= 0 {
		return
	}
	req := t.of(x)
	fit := int64(math.MaxInt64)
	for _, d := range g.dims {
		if req[d] > 0 {
			fit = min(fit, t.room[d]/req[d])
		}
	}
	u := int64(t.u[x])
	if u > 1 && u >= fit {
		g.put(t, x, 1, f, true)
		return
	}
	for k := int64(1); u > 0; k *= 2 {
		k = min(k, u)
		g.put(t, x, k, f, false)
		u -= k
	}
}

func (g *grid) put(t *contents, x int, k int64, f []float32, unlimited bool) {
	var a [3]int
	for i, d := range g.dims {
		a[i] = int(t.of(x)[d] * k / g.unit[i])
	}
	v := math.Nextafter32(float32(g.worth[x]*float64(k)), math.MaxFloat32)
	g.work += int64(g.cells)
	if a == [3]int{} {
		if unlimited {
			v *= float32(t.u[x])
		}
		for c := range f {
			f[c] += v
		}
		return
	}
	n0, n1, n2 := g.size[0], g.size[1], g.size[2]
	back := (a[0]*n1+a[1])*n2 + a[2]
	if a[0] >= n0 || a[1] >= n1 || a[2] >= n2 {
		return
	}
	if unlimited {
		for p := a[0]; p < n0; p++ {
			for q := a[1]; q < n1; q++ {
				at := (p*n1 + q) * n2
				dst := f[at+a[2] : at+n2]
				src := f[at+a[2]-back:]
				src = src[:len(dst)]
				for c, w := range src {
					if w += v; w > dst[c] {
						dst[c] = w
					}
				}
			}
		}
		return
	}
	for p := n0 - 1; p >= a[0]; p-- {
		for q := n1 - 1; q >= a[1]; q-- {
			at := (p*n1 + q) * n2
			dst := f[at+a[2] : at+n2]
			src := f[at+a[2]-back:]
			src = src[:len(dst)]
			for c := len(src) - 1; c >= 0; c-- {
				if w := src[c] + v; w > dst[c] {
					dst[c] = w
				}
			}
		}
	}
}

// all works the grid out from the last item back, and keeps a copy of every few.
func (g *grid) all(t *contents) {
	g.every = max(int(math.Sqrt(float64(t.n))), 1)
	g.copies = resize(g.copies, (t.n/g.every+1)*g.cells)
	clear(g.cur)
	for x := t.n; ; x-- {
		if x%g.every == 0 {
			copy(g.copies[x/g.every*g.cells:(x/g.every+1)*g.cells], g.cur)
		}
		if x == 0 {
			break
		}
		g.add(t, x-1, g.cur)
	}
	g.first = -1
}

// at returns the grid of the items from x on. Calls go by ascending x.
func (g *grid) at(t *contents, x int) []float32 {
	if x == t.n {
		clear(g.cur)
		return g.cur
	}
	b := x / g.every
	if x%g.every == 0 {
		return g.copies[b*g.cells : (b+1)*g.cells]
	}
	if g.first != b {
		g.first = b
		g.block = resize(g.block, g.every*g.cells)
		end := min((b+1)*g.every, t.n)
		clear(g.cur)
		if end%g.every == 0 {
			copy(g.cur, g.copies[end/g.every*g.cells:(end/g.every+1)*g.cells])
		}
		for i := end - 1; i > b*g.every; i-- {
			g.add(t, i, g.cur)
			copy(g.block[(i-b*g.every)*g.cells:(i-b*g.every+1)*g.cells], g.cur)
		}
	}
	i := x - b*g.every
	return g.block[i*g.cells : (i+1)*g.cells]
}

func (g *grid) cell(room []int64) int {
	c := 0
	for i, d := range g.dims {
		c = c*g.size[i] + int(room[d]/g.unit[i])
	}
	for i := len(g.dims); i < 3; i++ {
		c *= g.size[i]
	}
	return c
}

// top is what everything is worth at most.
func (g *grid) top(t *contents) float64 {
	v := float64(g.at(t, 0)[g.cells-1]) * (1 + 1e-5)
	for _, d := range g.outer {
		v += float64(t.weight[d] * float64(t.room[d]))
	}
	return v + t.base
}

// used tells which items are in anything worth more than goal.
func (g *grid) used(t *contents) []bool {
	keep := make([]bool, t.n)
	least := t.goal - t.base
	for _, d := range g.outer {
		least -= float64(t.weight[d] * float64(t.room[d]))
	}
	least /= 1 + 1e-5
	g.fwd = resize(g.fwd, g.cells)
	clear(g.fwd)
	n1, n2 := g.size[1], g.size[2]
	for x := range t.n {
		next := g.at(t, x+1)
		var a [3]int
		for i, d := range g.dims {
			a[i] = int(t.of(x)[d] / g.unit[i])
		}
		g.work += int64(g.cells)
		need := float32(least - g.worth[x])
		end := g.cells - 1 - ((a[0]*n1+a[1])*n2 + a[2])
	search:
		for p := 0; p+a[0] < g.size[0]; p++ {
			for q := 0; q+a[1] < n1; q++ {
				at := (p*n1 + q) * n2
				for c := at; c < at+n2-a[2]; c++ {
					if g.fwd[c]+next[end-c] > need {
						keep[x] = true
						break search
					}
				}
			}
		}
		g.add(t, x, g.fwd)
	}
	return keep
}
