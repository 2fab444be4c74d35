package cover

import (
	"cmp"
	"slices"
)

// chooser finds what a site may hold that is worth most, and proves that nothing is worth more. It goes through the
// items once, those worth most first, and keeps labels: of all ways to take some of the items passed, those that no
// other makes superfluous and that may still come to more than the goal. A grid over the room left tells what the items
// ahead can add. It closes sites where the relaxation is far off because a node holds few pods of what is worth most.
type chooser struct {
	// The items in the order they are gone through: what they ask for, are worth, how many there are, and which item of
	// the shelf each is.
	n, dims int
	req     []int64
	y       []float64
	u       []int32
	id      []int32
	room    []int64
	// weight is the price of a unit of each resource in the relaxation, tail what the items from x on are worth
	// beyond what they use.
	weight, tail []float64
	// fixed is taken in any case, and worth base.
	fixed []int32
	base  float64
	// Nothing worth less than floor is wanted, nothing worth more than goal is to be left.
	floor, goal float64
	grid        grid
	l           labels
	found       []content
	// work counts steps, about as long as a look at an item.
	work int64
}

// content is a number of each of the shelf's items.
type content struct {
	n     []int32
	worth float64
}

// stage is one attempt: a grid of so many cells, and so many labels at a time.
type stage struct{ cells, width int }

// stages are attempts with ever more work.
var stages = [...]stage{{1 << 12, 100}, {1 << 15, 1000}, {1 << 17, 5000}, {1 << 18, 20_000}}

// run looks for contents worth more than floor, where the best known is worth so much and the bound of the relaxation
// is relaxed. No content is worth more than what it returns, or than goal, which is then floor or lv.Slack above the best.
func (t *chooser) run(s *search, floor, best, relaxed float64, lv *Level) float64 {
	goal := max(floor, float64(best*(1+lv.Slack)))
	t.floor, t.goal, t.work, t.found = floor, goal, 0, t.found[:0]
	if relaxed <= goal || !t.load(s, relaxed-goal) {
		return goal
	}
	top := relaxed
	t.grid.part = startPart
	for i, st := range stages[:min(lv.Stages, len(stages))] {
		if i > 0 && t.goal > goal {
			goal = t.goal
			t.reduce()
		}
		top = min(top, t.attempt(st, lv.Slack))
		t.collect(s)
		if top <= t.goal || len(t.found) > 0 && !lv.Prove {
			break
		}
	}
	return top
}

// attempt returns a bound.
func (t *chooser) attempt(st stage, tol float64) float64 {
	g := &t.grid
	t.l.pool = t.l.pool[:0]
	g.plan(t, st.cells)
	top := g.tune(t)
	if top <= t.goal {
		return t.goal
	}
	if t.reduce() {
		g.prepare(t)
		g.all(t)
	}
	return min(top, t.label(st.width, tol))
}

// load takes over the items of which the relaxation does not say how many are in anything worth more than goal, those
// worth most first. It is false if nothing is worth more.
func (t *chooser) load(s *search, slack float64) bool {
	k, asked := &s.c.k, s.sh.asked
	t.base, t.dims = 0, len(asked)
	t.fixed = resize(t.fixed, k.n)
	clear(t.fixed)
	s.rem = append(s.rem[:0], s.roomOf()...)
	s.list = s.list[:0]
	for i := range int32(k.n) {
		d := k.d[i]
		if k.u[i] <= 0 || k.y[i] <= 0 || d < -slack {
			continue
		}
		if d <= slack && t.asks(s, i) {
			s.list = append(s.list, i)
			continue
		}
		t.fixed[i] = s.u[i]
		t.base += float64(k.y[i] * k.u[i])
		for d, q := range s.req(i) {
			if s.rem[d] -= q * int64(s.u[i]); q > 0 && s.rem[d] < 0 {
				return false
			}
		}
	}
	s.list = s.undominated(s.list)
	t.room, t.weight = t.room[:0], t.weight[:0]
	for x, d := range asked {
		t.room = append(t.room, s.rem[d])
		t.weight = append(t.weight, k.weight[x]/max(s.sh.scale[x], 1))
	}
	slices.SortFunc(s.list, func(a, b int32) int {
		return cmp.Or(cmp.Compare(early(k, b), early(k, a)), cmp.Compare(a, b))
	})
	t.take(s)
	return true
}

// asks reports whether the item takes anything at all.
func (t *chooser) asks(s *search, i int32) bool {
	return slices.ContainsFunc(s.req(i), func(q int64) bool { return q > 0 })
}

// early is where to put an item: those that are worth much first, those that lose much later.
func early(k *knapsack, i int32) float64 { return k.y[i] + float64(3*min(k.d[i], 0)) }

// take copies the items of the search's list that there is room for.
func (t *chooser) take(s *search) {
	t.n, t.req, t.y, t.u, t.id = 0, t.req[:0], t.y[:0], t.u[:0], t.id[:0]
	for _, i := range s.list {
		fit := int64(s.u[i])
		for _, d := range s.sh.asked {
			if q := s.req(i)[d]; q > 0 {
				fit = min(fit, max(s.rem[d], 0)/q)
			}
		}
		if fit <= 0 {
			continue
		}
		for _, d := range s.sh.asked {
			t.req = append(t.req, s.req(i)[d])
		}
		t.y, t.u, t.id = append(t.y, s.c.k.y[i]), append(t.u, int32(fit)), append(t.id, i)
		t.n++
	}
	t.tails()
}

func (t *chooser) tails() {
	t.tail = resize(t.tail, t.n+1)
	t.tail[t.n] = 0
	for x := t.n - 1; x >= 0; x-- {
		d := t.y[x] - t.pays(t.weight, t.of(x))
		t.tail[x] = t.tail[x+1] + float64(max(d, 0)*float64(t.u[x]))
	}
}

// of is what item x asks for.
func (t *chooser) of(x int) []int64 { return t.req[x*t.dims : (x+1)*t.dims] }

// pays is what so much of the resources costs by weight.
func (t *chooser) pays(weight []float64, amount []int64) float64 {
	v := 0.0
	for d, w := range weight {
		v += float64(w * float64(amount[d]))
	}
	return v
}

// reduce leaves out items that are in nothing worth more than goal, as far as the grid can tell. It is false if there
// are too few of them to work the grid out anew.
func (t *chooser) reduce() bool {
	keep := t.grid.used(t)
	n := 0
	for _, k := range keep {
		if k {
			n++
		}
	}
	if n > t.n-t.n/8 {
		return false
	}
	n = 0
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
	return true
}

// collect writes the best labels down as contents, with more put into what room is left.
func (t *chooser) collect(s *search) {
	for _, p := range t.l.pool {
		n := slices.Clone(t.fixed)
		for step := p.step; step >= 0; step = t.l.taken[step].before {
			k := t.l.taken[step]
			n[t.id[k.item]] += k.n
		}
		t.found = append(t.found, content{n, s.fill(n)})
	}
}

// several bounds how many contents of a site are handed out at once.
const several = 16

// best returns some of what was found, the most worth first: contents that share more than three quarters of their pods
// with a better one are left out.
func (t *chooser) best() []content {
	slices.SortStableFunc(t.found, func(a, b content) int { return cmp.Compare(b.worth, a.worth) })
	var out []content
	for _, a := range t.found {
		if len(out) < several && !slices.ContainsFunc(out, func(b content) bool { return a.like(b) }) {
			out = append(out, a)
		}
	}
	return out
}

func (a content) like(b content) bool {
	all, same := int32(0), int32(0)
	for i, n := range a.n {
		all += n
		same += min(n, b.n[i])
	}
	return same*4 > all*3
}
