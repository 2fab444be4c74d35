package cover

import "math"

// branch searches for the best content with the relaxation solved anew at each node of the search: it is slow, but
// closes what the search under fixed weights leaves open where a node holds many pods of a few sizes.
type branch struct {
	s     *search
	k     knapsack
	items []int32 // of the knapsack that was relaxed, by item of this one
	low   []float64
	value float64
	goal  float64
	best  []int32
	open  float64
	nodes int
}

// run looks for contents worth more than goal; bound is that of the relaxation. It returns the best, nil if
// there is none, and a bound: no content is worth more than that, or than goal.
func (b *branch) run(s *search, goal, bound float64, nodes int) ([]int32, float64) {
	from := &s.c.k
	b.s, b.goal, b.nodes, b.open, b.best, b.value = s, goal, nodes, 0, nil, 0
	b.items = b.items[:0]
	slack := bound - goal
	for i := range int32(from.n) {
		if from.u[i] > 0 && from.y[i] > 0 && from.d[i] >= -slack {
			b.items = append(b.items, i)
		}
	}
	s.rem = append(s.rem[:0], s.roomOf()...)
	b.items = s.undominated(b.items)
	k := &b.k
	n, m := len(b.items), from.m
	k.load(n, m)
	k.r, k.y, k.u, k.c = resize(k.r, n*m), resize(k.y, n), resize(k.u, n), append(k.c[:0], from.c...)
	b.low = resize(b.low, n)
	for x, i := range b.items {
		copy(k.r[x*m:(x+1)*m], from.r[int(i)*m:(int(i)+1)*m])
		k.y[x], k.u[x], b.low[x] = from.y[i], from.u[i], 0
	}
	b.visit(nil)
	if b.best == nil {
		return nil, max(b.goal, b.open)
	}
	out := make([]int32, from.n)
	for x, i := range b.items {
		out[i] = b.best[x]
	}
	return out, max(b.goal, b.open)
}

func (b *branch) visit(basis []int32) {
	k := &b.k
	for _, c := range k.c {
		if c < -1e-9 {
			return
		}
	}
	bound := k.solve(basis) + b.value
	if bound <= b.goal*(1+1e-9) {
		return
	}
	if b.nodes--; b.nodes < 0 {
		b.open = max(b.open, bound)
		return
	}
	// The item of which a part is worth most.
	item, most, x := int32(-1), 1e-6, 0.0
	for p, i := range k.basis {
		if int(i) >= k.n || k.x[p] < 0 {
			continue
		}
		f := k.x[p] - math.Floor(k.x[p]+1e-7)
		if w := min(f, 1-f) * k.y[i]; f > 1e-6 && w > most {
			item, most, x = i, w, k.x[p]
		}
	}
	b.round()
	if item < 0 {
		if b.goal < bound*(1-1e-9) { // the relaxation was not solved to the end
			b.open = max(b.open, bound)
		}
		return
	}
	own := append([]int32(nil), k.basis...)
	down := x-math.Floor(x) < 0.5
	for range 2 {
		if down {
			u := k.u[item]
			k.u[item] = math.Floor(x)
			b.visit(own)
			k.u[item] = u
		} else {
			n := math.Ceil(x)
			b.raise(item, n)
			b.visit(own)
			b.raise(item, -n)
		}
		down = !down
	}
}

// raise makes n more of the item a must.
func (b *branch) raise(item int32, n float64) {
	k := &b.k
	for i, q := range k.r[int(item)*k.m : int(item)*k.m+k.m] {
		k.c[i] -= float64(q * n)
	}
	k.u[item] -= n
	b.low[item] += n
	b.value += float64(k.y[item] * n)
}

// round takes what the relaxation takes whole, and fills up.
func (b *branch) round() {
	k, s := &b.k, b.s
	room := append(s.rem[:0], s.roomOf()...)
	count := resize(s.count, k.n)
	clear(count)
	value := 0.0
	put := func(x int32, n int32) {
		req := s.req(b.items[x])
		for d, q := range req {
			if q > 0 {
				n = int32(min(int64(n), max(room[d], 0)/q))
			}
		}
		if n <= 0 {
			return
		}
		for d, q := range req {
			room[d] -= q * int64(n)
		}
		count[x] += n
		value += float64(k.y[x] * float64(n))
	}
	for x := range int32(k.n) {
		n := b.low[x]
		if !k.in[x] && k.upper[x] {
			n += k.u[x]
		}
		put(x, int32(n))
	}
	for p, i := range k.basis {
		if int(i) < k.n {
			put(i, int32(k.x[p]+1e-7))
		}
	}
	for range 8 {
		best, gain := int32(-1), math.Inf(-1)
		for x := range int32(k.n) {
			if float64(count[x]) < b.low[x]+k.u[x] && k.d[x] > gain && s.holds(room, b.items[x]) {
				best, gain = x, k.d[x]
			}
		}
		if best < 0 {
			break
		}
		put(best, int32(b.low[best]+k.u[best])-count[best])
	}
	s.rem, s.count = room, count
	if value > b.goal {
		b.goal = value
		b.best = append(b.best[:0], count...)
	}
}

func (s *search) holds(room []int64, i int32) bool {
	for d, q := range s.req(i) {
		if q > 0 && room[d] < q {
			return false
		}
	}
	return true
}
