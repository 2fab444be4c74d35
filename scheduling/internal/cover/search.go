package cover

import (
	"cmp"
	"math"
	"slices"
)

// search looks for the best content of one site.
type search struct {
	c     *counter
	sh    *shelf
	room  []int64
	n     []int32
	u     []int32
	order []int32
	// for the exact search
	list                []int32
	tail, dense, single []float64
	count               []int32
	best                []int32
	value, goal, open   float64
	nodes               int
	rem                 []int64
	w                   []float64
	t                   table
	tabled              bool
}

func (s *search) load(c *counter, site int32, sh *shelf) {
	k := &c.k
	s.c, s.sh = c, sh
	s.room = append(s.room[:0], c.p.Sites[site].Room...)
	s.n, s.u = resize(s.n, k.n), resize(s.u, k.n)
	for i := range k.n {
		s.u[i] = int32(k.u[i])
	}
	clear(s.n)
}

func (s *search) req(i int32) []int64 { return s.c.p.Items[s.sh.items[i]].Req }

// put adds up to n of the item and returns how many there was room for.
func (s *search) put(i int32, n int32) int32 {
	n = min(n, s.u[i]-s.n[i])
	req := s.req(i)
	for d, q := range req {
		if q > 0 {
			if s.room[d] < q {
				return 0
			}
			n = int32(min(int64(n), s.room[d]/q))
		}
	}
	if n <= 0 {
		return 0
	}
	for d, q := range req {
		s.room[d] -= q * int64(n)
	}
	s.n[i] += n
	return n
}

// round makes a content of the relaxation: what it takes whole, then whatever loses least.
func (s *search) round() ([]Part, float64) {
	k := &s.c.k
	s.order = s.order[:0]
	for i := range int32(k.n) {
		if k.u[i] > 0 && k.y[i] > 0 {
			s.order = append(s.order, i)
		}
	}
	slices.SortFunc(s.order, func(a, b int32) int {
		if c := cmp.Compare(k.d[b], k.d[a]); c != 0 {
			return c
		}
		return int(a - b)
	})
	for p, b := range k.basis {
		if int(b) < k.n && k.x[p] >= 1 {
			s.put(b, int32(min(k.x[p]+1e-9, k.u[b])))
		}
	}
	for _, i := range s.order {
		s.put(i, s.u[i])
	}
	return s.parts(s.n)
}

// fill puts more into a content, what loses least first, and returns what it is worth.
func (s *search) fill(n []int32) float64 {
	k := &s.c.k
	copy(s.room, s.roomOf())
	clear(s.n)
	for i, count := range n {
		if count > 0 {
			s.put(int32(i), count)
		}
	}
	for _, i := range s.order {
		if s.n[i] < s.u[i] {
			s.put(i, s.u[i])
		}
	}
	worth := 0.0
	for i, count := range s.n[:k.n] {
		n[i] = count
		worth += float64(k.y[i] * float64(count))
	}
	return worth
}

func (s *search) parts(n []int32) ([]Part, float64) {
	var out []Part
	worth := 0.0
	for i, count := range n {
		if count > 0 {
			out = append(out, Part{s.sh.items[i], count})
			worth += float64(s.c.k.y[i] * float64(count))
		}
	}
	return out, worth
}

// undominated leaves out items of which a node never needs any: as many others as it may hold ask for no more and are
// worth no less.
func (s *search) undominated(list []int32) []int32 {
	k := &s.c.k
	if len(list) > 2000 {
		return list
	}
	most := int64(math.MaxInt64)
	for _, d := range s.sh.asked {
		least := int64(math.MaxInt64)
		for _, i := range list {
			least = min(least, s.req(i)[d])
		}
		if least > 0 {
			most = min(most, s.rem[d]/least)
		}
	}
	if most > 64 {
		return list
	}
	s.c.work += int64(len(list) * len(list) / 4)
	out := list[:0:0]
	for x, i := range list {
		better := int64(0)
		for z, j := range list {
			if z != x && k.y[j] >= k.y[i] && better < most && s.noMore(j, i, z < x) {
				better += int64(s.u[j])
			}
		}
		if better < most {
			out = append(out, i)
		}
	}
	return out
}

// noMore reports whether item a asks for no more than b and is worth no less; of two that are equal the first wins.
func (s *search) noMore(a, b int32, first bool) bool {
	same := s.c.k.y[a] == s.c.k.y[b]
	x, y := s.req(a), s.req(b)
	for _, d := range s.sh.asked {
		if x[d] > y[d] {
			return false
		}
		same = same && x[d] == y[d]
	}
	return !same || first
}

// deepen searches for the best content worth more than goal, depth first: items by what they lose, from the
// least on. bound is what the relaxation says. It returns nil if there is none, and a bound: no content is worth
// more than that, or than goal.
func (s *search) deepen(goal, bound float64, nodes int) ([]Part, float64, float64) {
	k := &s.c.k
	s.goal, s.nodes, s.open = goal, nodes, 0
	s.best = nil
	slack := bound - goal
	// Items that lose more than there is to lose stay as they are.
	s.list = s.list[:0]
	s.count = resize(s.count, k.n)
	clear(s.count)
	s.rem = append(s.rem[:0], s.c.p.Sites[0].Room...)
	copy(s.rem, s.roomOf())
	value := 0.0
	fixed := func(i int32, n int32) bool {
		s.count[i] = n
		value += float64(k.y[i] * float64(n))
		for d, q := range s.req(i) {
			if s.rem[d] -= q * int64(n); q > 0 && s.rem[d] < 0 {
				return false
			}
		}
		return true
	}
	for i := range int32(k.n) {
		switch d := k.d[i]; {
		case k.u[i] <= 0 || k.y[i] <= 0 || d < -slack:
		case d > slack:
			if !fixed(i, s.u[i]) {
				return nil, 0, goal
			}
		default:
			s.list = append(s.list, i)
		}
	}
	s.list = s.undominated(s.list)
	s.w = s.w[:0]
	for range s.room {
		s.w = append(s.w, 0)
	}
	for x, d := range s.sh.asked {
		s.w[d] = k.weight[x] / max(s.sh.scale[x], 1)
	}
	dense := func(i int32) float64 { return k.y[i] / max(k.y[i]-k.d[i], 1e-30) }
	slices.SortFunc(s.list, func(a, b int32) int {
		if c := cmp.Compare(dense(b), dense(a)); c != 0 {
			return c
		}
		return int(a - b)
	})
	s.tabled = s.t.plan(s, len(s.list), s.c.cells)
	if s.tabled {
		outer := func(i int32) bool {
			v := 0.0
			for o, d := range s.t.outer {
				v += float64(s.t.weight[o] * float64(s.req(i)[d]))
			}
			return v > 0.3*(k.y[i]-k.d[i])
		}
		slices.SortStableFunc(s.list, func(a, b int32) int {
			x, y := outer(a), outer(b)
			if x == y {
				return 0
			} else if x {
				return -1
			}
			return 1
		})
		if v := value + s.t.tune(s, goal-value, goal, 3); v <= goal {
			return nil, 0, goal
		}
	}
	n, dims := len(s.list), len(s.room)
	s.tail, s.dense, s.single = resize(s.tail, n+1), resize(s.dense, n+1), resize(s.single, (n+1)*dims)
	s.tail[n], s.dense[n] = 0, 0
	clear(s.single[n*dims : (n+1)*dims])
	for x := n - 1; x >= 0; x-- {
		i := s.list[x]
		s.tail[x] = s.tail[x+1] + float64(max(k.d[i], 0)*k.u[i])
		s.dense[x] = max(s.dense[x+1], dense(i)*(1+1e-12))
		for d, q := range s.req(i) {
			v := math.Inf(1)
			if q > 0 {
				v = k.y[i] / float64(q) * (1 + 1e-12)
			}
			s.single[x*dims+d] = max(s.single[(x+1)*dims+d], v)
		}
	}
	s.value = value
	s.visit(0)
	s.c.work += int64(10 * (nodes - s.nodes))
	top := max(s.goal, s.open)
	if s.best == nil {
		return nil, 0, top
	}
	parts, worth := s.parts(s.best)
	return parts, worth, top
}

func (s *search) roomOf() []int64 {
	room := slices.Clone(s.room)
	for i, n := range s.n[:s.c.k.n] {
		if n > 0 {
			for d, q := range s.req(int32(i)) {
				room[d] += q * int64(n)
			}
		}
	}
	return room
}

// rest is the most that the room left and the items from x on can be worth.
func (s *search) rest(x int) (least0, relaxed float64) {
	v := 0.0
	dims := len(s.rem)
	least := math.Inf(1)
	for d, w := range s.w {
		r := float64(s.rem[d])
		if w > 0 {
			v += float64(w * r)
		}
		if one := s.single[x*dims+d]; !math.IsInf(one, 1) {
			least = min(least, float64(one*r))
		}
	}
	relaxed = s.tail[x] + v
	v = min(relaxed, float64(s.dense[x]*v), least)
	if s.tabled && v > 0 {
		v = min(v, s.t.rest(s, x))
	}
	return v, relaxed
}

func (s *search) visit(x int) {
	if s.value > s.goal {
		s.goal = s.value
		s.best = append(s.best[:0], s.count[:s.c.k.n]...)
	}
	if x == len(s.list) {
		return
	}
	rest, relaxed := s.rest(x)
	top := s.value + rest
	if top <= s.goal*(1+1e-12) {
		return
	}
	if s.nodes--; s.nodes < 0 {
		s.open = max(s.open, top)
		return
	}
	i := s.list[x]
	req := s.req(i)
	n := s.u[i]
	for d, q := range req {
		if q > 0 {
			n = int32(min(int64(n), s.rem[d]/q))
		}
	}
	k := &s.c.k
	y := k.y[i]
	if d := k.d[i]; d < 0 { // each one loses
		n = int32(min(float64(n), (s.value+relaxed-s.goal)/-d+1e-6))
	}
	for d, q := range req {
		s.rem[d] -= q * int64(n)
	}
	s.value += float64(y * float64(n))
	s.count[i] = n
	for {
		s.visit(x + 1)
		if s.count[i] == 0 {
			return
		}
		s.count[i]--
		s.value -= y
		for d, q := range req {
			s.rem[d] += q
		}
	}
}
