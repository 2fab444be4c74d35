package pack

import "math"

// Worth is what one unit of each resource is worth to pods that may use the mask's rows and ask for the demand, in
// money an hour.
func (s *Space) Worth(m Mask, demand []float64) []float64 { return s.fluid(m, demand) }

// fluid returns what one unit of each resource is worth when pods are a fluid: the prices that maximise
// the worth of demand while no row is worth more than it costs. It is the dual of "buy fractions of
// rows at least cost", solved by the simplex method on a dense tableau; dims are few.
//
// Rows with bits 0 in mask are not for sale. A resource nobody demands is worth nothing. Every
// demanded resource must be for sale somewhere, or the worth would be unbounded; such a one is given 0.
func (s *Space) fluid(m Mask, demand []float64) []float64 {
	var dims []int
	for d, q := range demand {
		if q > 0 {
			dims = append(dims, d)
		}
	}
	var rows []int
	for r, b := range m {
		if b != 0 {
			rows = append(rows, r)
		}
	}
	out := make([]float64, s.Dims)
	if len(dims) == 0 || len(rows) == 0 {
		return out
	}
	scale := make([]float64, len(dims)) // largest amount for sale, so that the tableau is near 1
	for i, d := range dims {
		for _, r := range rows {
			scale[i] = max(scale[i], float64(s.Alloc[r*s.Dims+d]))
		}
	}
	n := len(dims)
	w := n + 1
	t := make([]float64, len(rows)*w)
	for k, r := range rows {
		for i, d := range dims {
			if scale[i] > 0 {
				t[k*w+i] = max(float64(s.Alloc[r*s.Dims+d]), 0) / scale[i]
			}
		}
		p, _ := s.Price(r, m[r])
		t[k*w+n] = max(float64(p)/nano, 1e-9)
	}
	obj := make([]float64, w)
	for i, d := range dims {
		if scale[i] > 0 {
			obj[i] = demand[d] / scale[i]
		}
	}
	norm := 0.0
	for _, c := range obj {
		norm = max(norm, c)
	}
	for i := range obj {
		obj[i] /= max(norm, 1e-300)
	}
	basis := (&tableau{t: t, obj: obj, m: len(rows), n: n}).simplex()
	for k, v := range basis {
		if v < n && scale[v] > 0 {
			out[dims[v]] = max(t[k*w+n], 0) / scale[v]
		}
	}
	s.makeFeasible(m, out)
	return out
}

const nano = 1e9

// makeFeasible scales the worths down until no row is worth more than its price: rounding in the
// simplex must not make the bound that rests on them invalid.
func (s *Space) makeFeasible(m Mask, worth []float64) {
	over := 1.0
	for r, b := range m {
		if b == 0 {
			continue
		}
		p, _ := s.Price(r, b)
		if p > 0 {
			over = max(over, s.worthOf(r, worth)/(float64(p)/nano))
			continue
		}
		for d, a := range s.AllocOf(r) { // what is to be had for nothing is worth nothing
			if a > 0 {
				worth[d] = 0
			}
		}
	}
	for d := range worth {
		worth[d] /= over * (1 + 1e-9)
	}
}

func (s *Space) worthOf(row int, worth []float64) float64 {
	v := 0.0
	for d, a := range s.AllocOf(row) {
		if a > 0 {
			v += float64(worth[d] * float64(a))
		}
	}
	return v
}

// tableau is the simplex method's table for m constraints and n variables: rows of t, the right-hand side last, and the
// objective.
type tableau struct {
	t, obj []float64
	m, n   int
}

// simplex maximises obj.x subject to t.x <= rhs (the last column, positive) and x >= 0. It returns the
// variable in each row's basis: below n a variable of x, else a slack. The tableau is left solved.
func (s *tableau) simplex() []int {
	w := s.n + 1
	basis := make([]int, s.m)
	for i := range basis {
		basis[i] = s.n + i
	}
	col := make([]int, s.n) // which variable each column stands for
	for i := range col {
		col[i] = i
	}
	for range 50 * (s.n + 1) {
		enter, best := -1, 1e-9
		for i := range s.n {
			if s.obj[i] > best {
				enter, best = i, s.obj[i]
			}
		}
		if enter < 0 {
			break
		}
		leave, ratio := -1, math.Inf(1)
		for k := range s.m {
			if a := s.t[k*w+enter]; a > 1e-9 {
				if q := s.t[k*w+s.n] / a; q < ratio {
					leave, ratio = k, q
				}
			}
		}
		if leave < 0 {
			s.obj[enter] = 0 // unbounded: nobody sells it
			continue
		}
		s.pivot(leave, enter)
		basis[leave], col[enter] = col[enter], basis[leave]
	}
	return basis
}

// pivot exchanges the basic variable of row k with the non-basic variable of column c.
func (s *tableau) pivot(k, c int) {
	w := s.n + 1
	row := s.t[k*w : (k+1)*w]
	p := row[c]
	for i := range row {
		row[i] /= p
	}
	row[c] = 1 / p
	update := func(dst []float64) {
		f := dst[c]
		if f == 0 {
			return
		}
		for i := range dst {
			if i != c {
				dst[i] -= float64(f * row[i])
			}
		}
		dst[c] = -f / p
	}
	for i := range s.m {
		if i != k {
			update(s.t[i*w : (i+1)*w])
		}
	}
	update(s.obj)
}
