package cover

import (
	"cmp"
	"math"
	"slices"
)

// contents finds what a site may hold that is worth most, and a bound on it, by labels: it goes through the items once and
// keeps, of all ways to take some of those it has passed, the ones that no other makes superfluous and that may still come to more than the
// goal. What the items ahead can add is told by a grid, which is worked out from the last item back.
//
// It closes sites that hold few pods each, or whose items are of few sizes, where the relaxation is far off.
type contents struct {
	// What the items ask for, resource by resource, is worth and there are at most; in the order they are gone through.
	dims int
	n    int
	req  []int64
	y    []float64
	u    []int32
	id   []int32
	room []int64
	// base is what is taken in any case.
	base      float64
	baseCount []int32
	// weight is the price of a unit of each resource in the relaxation, tail what the items from x on are worth beyond.
	weight []float64
	tail   []float64

	grid grid
	l    labels
	work int64
	goal float64
}

// load takes the items over from the search: those of which the relaxation does not say how many there are in anything
// worth more than goal. It is false if nothing is.
func (t *contents) load(s *search, goal, slack float64) bool {
	k := &s.c.k
	asked := s.sh.asked
	t.dims, t.base, t.work = len(asked), 0, 0
	t.baseCount = resize(t.baseCount, k.n)
	clear(t.baseCount)
	s.rem = append(s.rem[:0], s.roomOf()...)
	s.list = s.list[:0]
	for i := range int32(k.n) {
		switch d := k.d[i]; {
		case k.u[i] <= 0 || k.y[i] <= 0 || d < -slack:
		case d > slack:
			t.baseCount[i] = s.u[i]
			t.base += float64(k.y[i] * k.u[i])
			for d, q := range s.req(i) {
				if s.rem[d] -= q * int64(s.u[i]); q > 0 && s.rem[d] < 0 {
					return false
				}
			}
		default:
			s.list = append(s.list, i)
		}
	}
	s.list = s.undominated(s.list)
	t.goal = goal
	t.room = t.room[:0]
	t.weight = t.weight[:0]
	for x, d := range asked {
		t.room = append(t.room, s.rem[d])
		t.weight = append(t.weight, k.weight[x]/max(s.sh.scale[x], 1))
	}
	t.order(s)
	return true
}

// order puts the items that take most first.
func (t *contents) order(s *search) {
	k := &s.c.k
	asked := s.sh.asked
	share := func(i int32) float64 {
		v := 0.0
		for x, d := range asked {
			if r := s.rem[d]; r > 0 {
				v = max(v, float64(s.req(i)[d])/float64(t.room[x]))
			}
		}
		return v
	}
	key := make([]float64, k.n)
	for _, i := range s.list {
		key[i] = share(i)
	}
	slices.SortFunc(s.list, func(a, b int32) int {
		return cmp.Or(cmp.Compare(key[b], key[a]), cmp.Compare(a, b))
	})
	t.n = 0
	t.req, t.y, t.u, t.id = t.req[:0], t.y[:0], t.u[:0], t.id[:0]
	for _, i := range s.list {
		fit := int64(s.u[i])
		for _, d := range asked {
			if q := s.req(i)[d]; q > 0 {
				fit = min(fit, max(s.rem[d], 0)/q)
			}
		}
		if fit <= 0 {
			continue
		}
		for _, d := range asked {
			t.req = append(t.req, s.req(i)[d])
		}
		t.y, t.u, t.id = append(t.y, k.y[i]), append(t.u, int32(fit)), append(t.id, i)
		t.n++
	}
	t.tails()
}

func (t *contents) tails() {
	t.tail = resize(t.tail, t.n+1)
	t.tail[t.n] = 0
	for x := t.n - 1; x >= 0; x-- {
		d := t.y[x]
		for i, q := range t.of(x) {
			d -= float64(t.weight[i] * float64(q))
		}
		t.tail[x] = t.tail[x+1] + float64(max(d, 0)*float64(t.u[x]))
	}
}

func (t *contents) of(x int) []int64 { return t.req[x*t.dims : (x+1)*t.dims] }

// reduce leaves out items that are in nothing worth more than goal, as far as a coarse grid can tell, and returns what all
// is worth at most.
func (t *contents) reduce(cells int) float64 {
	g := &t.grid
	if !g.plan(t, cells) {
		return math.Inf(1)
	}
	g.all(t)
	top := g.top(t)
	if top <= t.goal {
		return top
	}
	keep := g.used(t)
	n := 0
	for x := range t.n {
		if !keep[x] {
			continue
		}
		copy(t.req[n*t.dims:(n+1)*t.dims], t.of(x))
		t.y[n], t.u[n], t.id[n] = t.y[x], t.u[x], t.id[x]
		n++
	}
	t.n = n
	t.req = t.req[:n*t.dims]
	t.tails()
	return top
}
