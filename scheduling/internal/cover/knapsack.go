package cover

import (
	"math"
	"slices"
)

// knapsack finds what is worth most on one node: at most u of each item, within the room. Its linear relaxation is
// solved by the dual simplex method with bounds; resources are few, so a step costs little more than a look at
// each item. Any weights at all give an upper bound, so that no rounding in here can make one wrong.
type knapsack struct {
	m, n int
	// looks counts the items looked at.
	looks int
	// r has the requests, item by item; c the room; y the worth and u the most of each item.
	r, c, y, u []float64
	// basis has an item per row, or n plus a resource for its slack. inverse is that of the basis.
	basis   []int32
	inverse []float64
	// upper marks the items outside the basis that are all taken, in those in it.
	upper, in []bool
	// weight is what a unit of each resource is worth, d what an item is worth beyond what it uses.
	weight, d []float64
	x         []float64
	row       []float64
	steps     []breakpoint
	flows     []float64
}

type breakpoint struct {
	at    float64
	k     int32
	slope float64
}

const (
	knapsackTiny  = 1e-9
	knapsackSteps = 40
)

// load sizes the memory for n items and m resources.
func (k *knapsack) load(n, m int) {
	k.n, k.m = n, m
	k.upper, k.in = resize(k.upper, n+m), resize(k.in, n+m)
	k.d, k.row = resize(k.d, n+m), resize(k.row, n+m)
	k.basis, k.inverse = resize(k.basis, m), resize(k.inverse, m*m)
	k.weight, k.x, k.flows = resize(k.weight, m), resize(k.x, m), resize(k.flows, m)
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// solve finds weights under which the bound is least, beginning with the basis given; nil: with slacks.
func (k *knapsack) solve(start []int32) (bound float64) {
	clear(k.upper)
	if start == nil || !k.begin(start) {
		k.slack()
	}
	for range knapsackSteps {
		k.looks += k.n
		k.price()
		p, below := k.violated()
		if p < 0 || !k.step(p, below) {
			break
		}
	}
	k.price()
	return k.bound()
}

// slack begins with nothing worth anything.
func (k *knapsack) slack() {
	clear(k.in)
	clear(k.inverse)
	for i := range k.m {
		k.basis[i] = int32(k.n + i)
		k.in[k.n+i] = true
		k.inverse[i*k.m+i] = 1
	}
}

// begin takes over a basis; false if it is none, or would give a resource a weight below 0.
func (k *knapsack) begin(start []int32) bool {
	clear(k.in)
	copy(k.basis, start)
	for _, b := range start {
		if int(b) >= k.n+k.m || k.in[b] {
			return false
		}
		k.in[b] = true
	}
	if !k.invert() {
		return false
	}
	k.weigh()
	for _, w := range k.weight {
		if w < -knapsackTiny {
			return false
		}
	}
	return true
}

// invert works the inverse of the basis out.
func (k *knapsack) invert() bool {
	m := k.m
	w := 2 * m
	a := make([]float64, m*w)
	for col, b := range k.basis {
		for i := range m {
			a[i*w+col] = k.coefficient(b, i)
		}
		a[col*w+m+col] = 1
	}
	for col := range m {
		p := col
		for i := col + 1; i < m; i++ {
			if math.Abs(a[i*w+col]) > math.Abs(a[p*w+col]) {
				p = i
			}
		}
		if math.Abs(a[p*w+col]) < knapsackTiny {
			return false
		}
		if p != col {
			for x := range w {
				a[p*w+x], a[col*w+x] = a[col*w+x], a[p*w+x]
			}
		}
		f := 1 / a[col*w+col]
		for x := range w {
			a[col*w+x] *= f
		}
		for i := range m {
			if f := a[i*w+col]; i != col && f != 0 {
				for x := range w {
					a[i*w+x] -= float64(f * a[col*w+x])
				}
			}
		}
	}
	for i := range m {
		copy(k.inverse[i*m:(i+1)*m], a[i*w+m:])
	}
	return true
}

// coefficient is what item b uses of the i-th resource.
func (k *knapsack) coefficient(b int32, i int) float64 {
	if int(b) >= k.n {
		if int(b)-k.n == i {
			return 1
		}
		return 0
	}
	return k.r[int(b)*k.m+i]
}

func (k *knapsack) most(b int32) float64 {
	if int(b) >= k.n {
		return math.Inf(1)
	}
	return k.u[b]
}

// weigh works the weights of the basis out.
func (k *knapsack) weigh() {
	for i := range k.m {
		w := 0.0
		for p, b := range k.basis {
			if int(b) < k.n {
				w += float64(k.y[b] * k.inverse[p*k.m+i])
			}
		}
		k.weight[i] = w
	}
}

// price works out the weights, what each item is worth beyond them, and how much of the basis there is.
func (k *knapsack) price() {
	k.weigh()
	m := k.m
	flows := k.flows
	copy(flows, k.c)
	for i := range k.n {
		r := k.r[i*m : i*m+m]
		d := k.y[i]
		for x, q := range r {
			d -= float64(k.weight[x] * q)
		}
		k.d[i] = d
		if k.in[i] {
			continue
		}
		if d > knapsackTiny {
			k.upper[i] = true
		} else if d < -knapsackTiny {
			k.upper[i] = false
		}
		if k.upper[i] {
			for x, q := range r {
				flows[x] -= float64(q * k.u[i])
			}
		}
	}
	for i := range m {
		k.d[k.n+i] = -k.weight[i]
	}
	for p := range m {
		x := 0.0
		for i := range m {
			x += float64(k.inverse[p*m+i] * flows[i])
		}
		k.x[p] = x
	}
}

// violated finds the row of the basis whose amount is furthest out of its bounds; -1: none.
func (k *knapsack) violated() (p int, below bool) {
	p = -1
	worst := 1e-7
	for i, b := range k.basis {
		if k.x[i] < -worst {
			p, worst, below = i, -k.x[i], true
		} else if over := k.x[i] - k.most(b); over > worst {
			p, worst, below = i, over, false
		}
	}
	return p, below
}

// step moves the weights until another item, or slack, takes the place of row p of the basis. On the way items
// change from all to nothing and back as long as that lowers the bound.
func (k *knapsack) step(p int, below bool) bool {
	m := k.m
	s, slope := 1.0, -k.x[p]
	if !below {
		s, slope = -1, k.x[p]-k.most(k.basis[p])
	}
	rho := k.inverse[p*m : p*m+m]
	k.steps = k.steps[:0]
	for i := range k.n + m {
		if k.in[i] {
			continue
		}
		a := 0.0
		if i < k.n {
			for x, q := range k.r[i*m : i*m+m] {
				a += float64(rho[x] * q)
			}
		} else {
			a = rho[i-k.n]
		}
		a *= s
		k.row[i] = a
		if k.upper[i] && a > knapsackTiny || !k.upper[i] && a < -knapsackTiny {
			k.steps = append(k.steps, breakpoint{max(k.d[i]/a, 0), int32(i), math.Abs(a)})
		}
	}
	slices.SortFunc(k.steps, func(a, b breakpoint) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return int(a.k - b.k)
	})
	enter := int32(-1)
	for _, b := range k.steps {
		if slope -= float64(b.slope * k.most(b.k)); slope <= 0 {
			enter = b.k
			break
		}
		k.upper[b.k] = !k.upper[b.k]
	}
	if enter < 0 {
		return false // no room for what is fixed: cannot be, as nothing is
	}
	return k.exchange(p, enter, below)
}

// exchange puts an item into row p of the basis.
func (k *knapsack) exchange(p int, enter int32, below bool) bool {
	m := k.m
	col := k.x // of the item in terms of the basis; the amounts are worked out anew
	for i := range m {
		v := 0.0
		for x := range m {
			v += float64(k.inverse[i*m+x] * k.coefficient(enter, x))
		}
		col[i] = v
	}
	if math.Abs(col[p]) < knapsackTiny {
		return false
	}
	leave := k.basis[p]
	f := 1 / col[p]
	for x := range m {
		k.inverse[p*m+x] *= f
	}
	for i := range m {
		if i != p && col[i] != 0 {
			for x := range m {
				k.inverse[i*m+x] -= float64(col[i] * k.inverse[p*m+x])
			}
		}
	}
	k.in[leave], k.in[enter] = false, true
	k.upper[leave], k.upper[enter] = !below && int(leave) < k.n, false
	k.basis[p] = enter
	return true
}

// bound is what no content is worth more than, under the weights as they are.
func (k *knapsack) bound() float64 {
	v := 0.0
	for i, c := range k.c {
		k.weight[i] = max(k.weight[i], 0)
		v += float64(k.weight[i] * c)
	}
	for i := range k.n {
		d := k.y[i]
		for x, q := range k.r[i*k.m : i*k.m+k.m] {
			d -= float64(k.weight[x] * q)
		}
		k.d[i] = d
		if d > 0 {
			v += float64(d * k.u[i])
		}
	}
	return v
}
