package cover

import "math"

// grid bounds what the items from x on are worth in a room that is known in up to three resources in steps. Sizes are
// rounded down, so that the bound holds. Besides, items pay for a part of what they use, and what is left of the room
// is credited, which holds too: it takes the advantage from using more than there is.
type grid struct {
	// dims are the resources, the one with most steps last; the steps' units, and how many there are.
	dims  []int
	unit  [3]int64
	size  [3]int
	cells int
	// pay is what is paid for a unit of each resource: all of its weight if it is not in dims, else the part.
	pay  []float64
	part int
	// worth is what is left of an item's.
	worth []float64
	cur   []float32
	// copies has the grid of every so many items; block those in between, of the items from some copy on.
	every  int
	copies []float32
	block  []float32
	first  int
	passed []float32
}

// gridParts are the parts that are tried; startPart is where to begin.
var gridParts = [...]float64{0, 0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98}

const startPart = 4

// tune looks for the part that makes the bound on everything least, and works the grid out with it. The bound is
// convex in it: at 0 nothing but rounding makes it too high, at 1 it is that of the relaxation or better.
func (g *grid) tune(t *chooser) float64 {
	from := g.part
	best := g.paying(t, from)
	arg := from
	for _, dir := range []int{-1, 1} {
		for i := from + dir; i >= 0 && i < len(gridParts) && best > t.goal; i += dir {
			v := g.paying(t, i)
			if v >= best {
				break
			}
			best, arg = v, i
		}
		if arg != from {
			break
		}
	}
	if g.part != arg {
		g.paying(t, arg)
	}
	return best
}

// paying works the grid out with a part, and returns what everything is worth at most.
func (g *grid) paying(t *chooser, part int) float64 {
	g.part = part
	g.pay = append(g.pay[:0], t.weight...)
	for _, d := range g.dims {
		g.pay[d] *= gridParts[part]
	}
	g.prepare(t)
	g.all(t)
	return t.base + exceed(g.at(t, 0)[g.cells-1]) + t.pays(g.pay, t.room)
}

// exceed makes up for rounding in sums of short floats.
func exceed(v float32) float64 { return float64(float64(v) * (1 + 1e-5)) }

// prepare works out what is left of the items' worth.
func (g *grid) prepare(t *chooser) {
	g.worth = resize(g.worth, t.n)
	for x := range t.n {
		g.worth[x] = t.y[x] - t.pays(g.pay, t.of(x))
	}
}

// all works the grid out from the last item back, and keeps a copy every few items.
func (g *grid) all(t *chooser) {
	g.every = max(int(math.Sqrt(float64(t.n))), 1)
	g.copies = resize(g.copies, (t.n/g.every+1)*g.cells)
	clear(g.cur)
	for x := t.n; ; x-- {
		if x%g.every == 0 {
			copy(g.copies[x/g.every*g.cells:], g.cur)
		}
		if x == 0 {
			break
		}
		g.add(t, x-1, g.cur)
	}
	g.first = -1
}

// at returns the grid of the items from x on; going up with x costs least. It is good until the next call.
func (g *grid) at(t *chooser, x int) []float32 {
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
			copy(g.block[(i-b*g.every)*g.cells:], g.cur)
		}
	}
	i := x - b*g.every
	return g.block[i*g.cells : (i+1)*g.cells]
}

// add lets item x into the grid f.
func (g *grid) add(t *chooser, x int, f []float32) {
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
	if a, back := g.steps(t, x, 1); u > 1 && u >= fit && back > 0 {
		g.repeat(t, x, a, back, f)
		return
	}
	// Any number up to u is a sum of these; several together lose less to rounding.
	for k := int64(1); u > 0; k *= 2 {
		k = min(k, u)
		g.once(t, x, k, f)
		u -= k
	}
}

// steps is how many k of item x take on each axis, and altogether.
func (g *grid) steps(t *chooser, x int, k int64) (a [3]int, back int) {
	for i, d := range g.dims {
		a[i] = int(min(t.of(x)[d]*k/g.unit[i], int64(g.size[i])))
	}
	return a, (a[0]*g.size[1]+a[1])*g.size[2] + a[2]
}

// repeat lets an item in any number of times.
func (g *grid) repeat(t *chooser, x int, a [3]int, back int, f []float32) {
	v := short(g.worth[x])
	t.work += int64(g.cells / 8)
	for p := a[0]; p < g.size[0]; p++ {
		for q := a[1]; q < g.size[1]; q++ {
			at := (p*g.size[1] + q) * g.size[2]
			to := f[min(at+a[2], at+g.size[2]) : at+g.size[2]]
			from := f[max(at+a[2]-back, 0):]
			for c := range to {
				if w := from[c] + v; w > to[c] {
					to[c] = w
				}
			}
		}
	}
}

// once lets k of an item in together, or none.
func (g *grid) once(t *chooser, x int, k int64, f []float32) {
	a, back := g.steps(t, x, k)
	v := short(float64(g.worth[x] * float64(k)))
	t.work += int64(g.cells / 8)
	for p := g.size[0] - 1; p >= a[0]; p-- {
		for q := g.size[1] - 1; q >= a[1]; q-- {
			at := (p*g.size[1] + q) * g.size[2]
			to := f[min(at+a[2], at+g.size[2]) : at+g.size[2]]
			from := f[max(at+a[2]-back, 0):]
			from = from[:len(to)]
			for c := len(to) - 1; c >= 0; c-- {
				if w := from[c] + v; w > to[c] {
					to[c] = w
				}
			}
		}
	}
}

// short is no less than v.
func short(v float64) float32 { return math.Nextafter32(float32(v), math.MaxFloat32) }

// cell is where a room is; rather one step too high than one too low.
func (g *grid) cell(room []int64) int32 {
	c := 0
	for i, d := range g.dims {
		c = c*g.size[i] + int(room[d]/g.unit[i])
	}
	for i := len(g.dims); i < 3; i++ {
		c *= g.size[i]
	}
	return int32(c)
}

// used tells which items are in anything worth more than goal: it adds what those before, and those behind are
// worth in what an item leaves.
func (g *grid) used(t *chooser) []bool {
	keep := make([]bool, t.n)
	least := t.goal - t.base - t.pays(g.pay, t.room)
	g.passed = resize(g.passed, g.cells)
	clear(g.passed)
	for x := range t.n {
		from := x + 1
		if t.u[x] > 1 { // more of the same
			from = x
		}
		next := g.at(t, from)
		need := least - g.worth[x]
		need = math.Min(need*(1-1e-5), need*(1+1e-5))
		keep[x] = g.meet(t, x, next, float32(need))
		g.add(t, x, g.passed)
	}
	return keep
}

// meet reports whether some split of the room that item x leaves is worth more than need.
func (g *grid) meet(t *chooser, x int, next []float32, need float32) bool {
	a, back := g.steps(t, x, 1)
	end := g.cells - 1 - back
	t.work += int64(g.cells / 8)
	for p := 0; p+a[0] < g.size[0]; p++ {
		for q := 0; q+a[1] < g.size[1]; q++ {
			at := (p*g.size[1] + q) * g.size[2]
			for c := at; c < at+g.size[2]-a[2]; c++ {
				if g.passed[c]+next[end-c] > need {
					return true
				}
			}
		}
	}
	return false
}
