package lp

import "math"

// factor is a basis as L*U, and one eta for each pivot since. Steps of the elimination are numbered 0..m-1;
// step k has the pivot row row[k] and the basis position col[k].
type factor struct {
	m        int
	row, col []int32
	diag     []float64
	lower    columns // by step: rows and multipliers
	lowSteps []int32 // steps whose lower part is not empty
	upper    columns // by step: earlier steps and values
	etas     columns // positions and values, the pivot left out
	etaRow   []int32
	etaPivot []float64
	step     []int32 // of each row, -1 while it has none
	w, z     []float64
	touched  []int32
	peel     peel
}

// columns are sparse vectors one after the other.
type columns struct {
	start []int32
	index []int32
	value []float64
}

func (s *columns) reset() {
	s.start = append(s.start[:0], 0)
	s.index, s.value = s.index[:0], s.value[:0]
}

func (s *columns) put(i int32, v float64) {
	s.index = append(s.index, i)
	s.value = append(s.value, v)
}

func (s *columns) end() { s.start = append(s.start, int32(len(s.index))) }

const (
	// dropped is what counts as zero after elimination.
	dropped = 1e-13
	// threshold is how small a pivot may be, against the greatest of its column, to be chosen for being sparse.
	threshold = 0.1
	// singular is the pivot below which a basis counts as singular.
	singular = 1e-9
)

// load factors the basis of the variables in head; false: it is singular.
func (f *factor) load(c *Cover) bool {
	m := c.m
	if f.m != m || f.w == nil {
		f.m = m
		f.row, f.col, f.step = make([]int32, m), make([]int32, m), make([]int32, m)
		f.diag, f.w, f.z = make([]float64, m), make([]float64, m), make([]float64, m)
	}
	f.lower.reset()
	f.upper.reset()
	f.etas.reset()
	f.etaRow, f.etaPivot, f.lowSteps = f.etaRow[:0], f.etaPivot[:0], f.lowSteps[:0]
	f.peel.run(c)
	for i := range f.step {
		f.step[i] = -1
	}
	for k, p := range f.peel.order {
		if !f.eliminate(c, k, p, f.peel.pivot[k]) {
			return false
		}
	}
	return true
}

// eliminate makes position p step k.
func (f *factor) eliminate(c *Cover, k int, p, pivot int32) bool {
	w := f.w
	j := c.head[p]
	f.touched = f.touched[:0]
	for e := c.start[j]; e < c.start[j+1]; e++ {
		w[c.index[e]] = c.value[e]
		f.touched = append(f.touched, c.index[e])
	}
	for _, s := range f.lowSteps {
		v := w[f.row[s]]
		if v == 0 {
			continue
		}
		for e := f.lower.start[s]; e < f.lower.start[s+1]; e++ {
			i := f.lower.index[e]
			if w[i] == 0 {
				f.touched = append(f.touched, i)
			}
			w[i] -= float64(v * f.lower.value[e])
		}
	}
	greatest := 0.0
	for _, i := range f.touched {
		if f.step[i] < 0 {
			greatest = max(greatest, math.Abs(w[i]))
		}
	}
	if count := f.peel.rowCount; pivot < 0 {
		for _, i := range f.touched {
			if f.step[i] < 0 && math.Abs(w[i]) >= threshold*greatest && w[i] != 0 &&
				(pivot < 0 || count[i] < count[pivot] || count[i] == count[pivot] && i < pivot) {
				pivot = i
			}
		}
	}
	ok := pivot >= 0 && math.Abs(w[pivot]) > singular
	if ok {
		f.store(k, p, pivot)
	}
	for _, i := range f.touched {
		w[i] = 0
	}
	return ok
}

// store splits the eliminated column into its parts of U and L. Entries are zeroed as they are
// read, since touched can name a row twice.
func (f *factor) store(k int, p, pivot int32) {
	d := f.w[pivot]
	f.w[pivot] = 0
	f.row[k], f.col[k], f.diag[k] = pivot, p, d
	f.step[pivot] = int32(k)
	for _, i := range f.touched {
		v := f.w[i]
		f.w[i] = 0
		if math.Abs(v) <= dropped {
			continue
		}
		if s := f.step[i]; s >= 0 {
			f.upper.put(s, v)
		} else {
			f.lower.put(i, v/d)
		}
	}
	if int(f.lower.start[len(f.lower.start)-1]) < len(f.lower.index) {
		f.lowSteps = append(f.lowSteps, int32(k))
	}
	f.upper.end()
	f.lower.end()
}

// solve turns w, by row, into the solution of B*x = w, by position, in dst. It destroys w.
func (f *factor) solve(dst, w []float64) {
	for _, s := range f.lowSteps {
		v := w[f.row[s]]
		if v == 0 {
			continue
		}
		for e := f.lower.start[s]; e < f.lower.start[s+1]; e++ {
			w[f.lower.index[e]] -= float64(v * f.lower.value[e])
		}
	}
	for k := f.m - 1; k >= 0; k-- {
		v := w[f.row[k]]
		if v == 0 {
			dst[f.col[k]] = 0
			continue
		}
		v /= f.diag[k]
		dst[f.col[k]] = v
		for e := f.upper.start[k]; e < f.upper.start[k+1]; e++ {
			w[f.row[f.upper.index[e]]] -= float64(v * f.upper.value[e])
		}
	}
	for t, r := range f.etaRow {
		v := dst[r]
		if v == 0 {
			continue
		}
		v /= f.etaPivot[t]
		dst[r] = v
		for e := f.etas.start[t]; e < f.etas.start[t+1]; e++ {
			dst[f.etas.index[e]] -= float64(v * f.etas.value[e])
		}
	}
}

// solveT turns v, by position, into the solution of y*B = v, by row, in dst. It destroys v.
func (f *factor) solveT(dst, v []float64) {
	for t := len(f.etaRow) - 1; t >= 0; t-- {
		r := f.etaRow[t]
		sum := v[r]
		for e := f.etas.start[t]; e < f.etas.start[t+1]; e++ {
			sum -= float64(v[f.etas.index[e]] * f.etas.value[e])
		}
		v[r] = sum / f.etaPivot[t]
	}
	for k := range f.m {
		sum := v[f.col[k]]
		for e := f.upper.start[k]; e < f.upper.start[k+1]; e++ {
			sum -= float64(f.z[f.upper.index[e]] * f.upper.value[e])
		}
		f.z[k] = sum / f.diag[k]
	}
	for k, i := range f.row {
		dst[i] = f.z[k]
	}
	for t := len(f.lowSteps) - 1; t >= 0; t-- {
		s := f.lowSteps[t]
		sum := dst[f.row[s]]
		for e := f.lower.start[s]; e < f.lower.start[s+1]; e++ {
			sum -= float64(dst[f.lower.index[e]] * f.lower.value[e])
		}
		dst[f.row[s]] = sum
	}
}

// replace puts a column, solved, at position r.
func (f *factor) replace(r int, column []float64) {
	f.etaRow = append(f.etaRow, int32(r))
	f.etaPivot = append(f.etaPivot, column[r])
	for i, v := range column {
		if i != r && math.Abs(v) > dropped {
			f.etas.put(int32(i), v)
		}
	}
	f.etas.end()
}

// old says that the etas have become dearer than a new factorisation.
func (f *factor) old() bool {
	return len(f.etaRow) >= 100 || len(f.etaRow) >= 20 && len(f.etas.index) > 3*(len(f.upper.index)+len(f.lower.index)+f.m)
}
