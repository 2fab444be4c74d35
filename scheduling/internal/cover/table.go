package cover

import (
	"cmp"
	"math"
	"slices"
)

// table bounds what the items from x on are worth in a room that is known in some resources exactly, or nearly
// so; the other resources are paid for by weight.
type table struct {
	// dims are the resources, at most three, unit how much of each a step is, size how many steps the room has.
	dims []int
	unit [3]int64
	size [3]int
	// outer are the other resources with their weights.
	outer  []int
	weight []float64
	cells  int
	f      []float32
	n      int
}

// fine is the least number of steps that make a resource worth a place in the table, unless it has fewer.
const fine = 256

// plan chooses the resources: those of which the room is worth most, as many as there can be.
func (t *table) plan(s *search, n int, most int) bool {
	t.dims, t.outer, t.weight = t.dims[:0], t.outer[:0], t.weight[:0]
	limit := int64(most / (n + 1))
	type dim struct {
		d     int
		share float64
		g     int64
		steps int64
	}
	var dims []dim
	total := 0.0
	for _, d := range s.sh.asked {
		if s.rem[d] <= 0 {
			continue
		}
		w := s.w[d]
		g := max(s.gcdOf(d), 1)
		dims = append(dims, dim{d, w * float64(s.rem[d]), g, s.rem[d]/g + 1})
		total += w * float64(s.rem[d])
	}
	slices.SortFunc(dims, func(a, b dim) int { return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.d, b.d)) })
	// A resource with few steps costs little.
	slices.SortStableFunc(dims, func(a, b dim) int {
		x, y := a.steps <= 16, b.steps <= 16
		if x == y {
			return 0
		} else if x {
			return -1
		}
		return 1
	})
	t.cells, t.size, t.unit = 1, [3]int{1, 1, 1}, [3]int64{1, 1, 1}
	for _, x := range dims {
		most := limit / int64(t.cells)
		if len(t.dims) == 3 || most < 2 || most < min(x.steps, fine) || x.share < total/100 {
			t.outer, t.weight = append(t.outer, x.d), append(t.weight, s.w[x.d])
			continue
		}
		unit := x.g
		if x.steps > most {
			unit = (s.rem[x.d] + most - 2) / (most - 1)
		}
		k := len(t.dims)
		t.dims, t.unit[k], t.size[k] = append(t.dims, x.d), unit, int(s.rem[x.d]/unit)+1
		t.cells *= t.size[k]
	}
	return len(t.dims) > 0
}

func (s *search) gcdOf(d int) int64 {
	g := int64(0)
	for _, i := range s.list {
		g = gcd(g, s.req(i)[d])
	}
	return g
}

// fill works the table out, from the last item on.
func (t *table) fill(s *search) {
	t.n = len(s.list)
	t.f = resize(t.f, (t.n+1)*t.cells)
	clear(t.f[t.n*t.cells : (t.n+1)*t.cells])
	k := &s.c.k
	for x := t.n - 1; x >= 0; x-- {
		i := s.list[x]
		req := s.req(i)
		v := k.y[i]
		for o, d := range t.outer {
			v -= float64(t.weight[o] * float64(req[d]))
		}
		to, from := t.f[x*t.cells:(x+1)*t.cells], t.f[(x+1)*t.cells:(x+2)*t.cells]
		copy(to, from)
		if v > 0 {
			t.add(to, from, req, math.Nextafter32(float32(v), math.MaxFloat32), s.u[i])
		}
	}
}

// add lets an item of worth v into the table, any number of times or, if there is only one, once.
func (t *table) add(to, from []float32, req []int64, v float32, u int32) {
	var a [3]int
	for i, d := range t.dims {
		a[i] = int(req[d] / t.unit[i])
	}
	if a == [3]int{} { // takes nothing of what is counted: as many as there are
		for c := range to {
			to[c] = from[c] + v*float32(u)
		}
		return
	}
	src := to
	if u == 1 {
		src = from
	}
	n1, n2 := t.size[1], t.size[2]
	back := (a[0]*n1+a[1])*n2 + a[2]
	for p := a[0]; p < t.size[0]; p++ {
		for q := a[1]; q < n1; q++ {
			at := (p*n1 + q) * n2
			for c := at + a[2]; c < at+n2; c++ {
				if w := src[c-back] + v; w > to[c] {
					to[c] = w
				}
			}
		}
	}
}

// rest is the most that the items from x on are worth in what is left.
func (t *table) rest(s *search, x int) float64 {
	c := 0
	for i, d := range t.dims {
		c = c*t.size[i] + int(s.rem[d]/t.unit[i])
	}
	for i := len(t.dims); i < 3; i++ {
		c *= t.size[i]
	}
	v := float64(t.f[x*t.cells+c]) * (1 + 1e-5)
	for o, d := range t.outer {
		v += float64(t.weight[o] * float64(s.rem[d]))
	}
	return v
}

// tune looks for weights of the outer resources, one after another, that make the bound on everything least, and ends
// when it is below goal. The bound is convex in each.
func (t *table) tune(s *search, goal, price float64, tries int) float64 {
	at := func() float64 { t.fill(s); s.c.work += int64(t.cells * t.n / 8); return t.rest(s, 0) }
	best := at()
	for o, d := range t.outer {
		if best <= goal {
			break
		}
		room := float64(s.rem[d])
		// Between nothing and all that the node costs.
		step := price / room / 16
		kept := t.weight[o]
		for _, dir := range []float64{1, -1} {
			step := step
			moved := false
			for range tries {
				w := max(kept+dir*step, 0)
				if w == kept {
					break
				}
				t.weight[o] = w
				if v := at(); v < best*(1-1e-7) {
					best, kept, moved = v, w, true
					step *= 1.6
					if best <= goal {
						return best
					}
				} else {
					step /= 4
				}
			}
			if moved {
				break
			}
		}
		t.weight[o] = kept
	}
	return at()
}
