package board

import (
	"math/bits"
	"sort"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// Want is a number of pods that need a place.
type Want struct {
	Class, Variant, Count int32
}

// Buy opens new nodes for the wants, largest first, each with the row and content that give the most worth for the
// money. It takes from the counts what it placed and returns how many pods are left.
func (b *Board) Buy(wants []Want) int32 {
	left := int32(0)
	for k := range wants {
		for wants[k].Count > 0 {
			if !b.buyFor(wants, k) {
				break
			}
		}
	}
	for k := range wants {
		left += wants[k].Count
	}
	return left
}

// buyFor opens one node whose first pod is of the k-th want; false: nothing can hold it.
func (b *Board) buyFor(wants []Want, k int) bool {
	w := wants[k]
	v := &b.m.Shapes[b.m.Classes[w.Class].Shape].Variants[w.Variant]
	f := b.m.fronts[v.MaskID].pick()
	all := b.m.fronts[v.MaskID].all()
	j, ok := b.prepare(w.Class, w.Variant)
	if !ok {
		return false
	}
	// Trying a row changes what j knows, so it is asked of all rows first.
	b.spare.reach = b.spare.reach[:0]
	for t := range f.rows {
		for _, r := range f.rows[t] {
			b.spare.reach = append(b.spare.reach, b.reaches(&j, r))
		}
	}
	b.spare.rows = b.spare.rows[:0]
	for t := range all {
		for _, r := range all[t] {
			if b.reaches(&j, r) {
				b.spare.rows = append(b.spare.rows, r)
			}
		}
	}
	reach := b.spare.reach
	for t := range f.rows {
		row := b.bestRow(wants, k, f, t, reach)
		reach = reach[len(f.rows[t]):]
		if row < 0 {
			row = b.anyRow(w, int32(t))
		}
		if row < 0 {
			continue
		}
		if i := b.fill(wants, k, row, t); i >= 0 {
			b.Settle(i)
			for x := range wants {
				wants[x].Count -= b.spare.taken[x]
			}
			return true
		}
	}
	return false
}

// anyRow is the cheapest row that takes one pod of the want.
func (b *Board) anyRow(w Want, tier int32) int32 {
	for _, r := range b.spare.rows {
		if b.m.tier[b.m.Space.Pool[r]] != tier {
			continue
		}
		mark := b.Mark()
		i := b.openFor(w, r)
		ok := i >= 0 && b.Join(w.Class, w.Variant, i, 1) > 0
		b.Rollback(mark)
		if ok {
			return r
		}
	}
	return -1
}

// reaches reports whether an offering of the row is in domains that the pods may join.
func (b *Board) reaches(j *joining, r int32) bool {
	if len(j.l.keys) == 0 {
		return true
	}
	for left := j.v.Mask[r]; left != 0; left &= left - 1 {
		bit := bits.TrailingZeros64(left)
		ok := true
		for k, key := range j.l.keys {
			if ok = b.mayJoin(&j.choices[k], key, r, bit); !ok {
				break
			}
		}
		if ok {
			return true
		}
	}
	return false
}

func (b *Board) mayJoin(c *Choice, key, r int32, bit int) bool {
	switch d := b.m.DomainOf(key, r, bit); {
	case d >= 0:
		return c.OK[d]
	case d == Absent:
		return c.None
	}
	for d, mask := range b.m.Keys[key].Mask {
		if c.OK[d] && mask[r]>>bit&1 != 0 {
			return true
		}
	}
	return c.None
}

func (b *Board) openFor(w Want, r int32) int32 {
	s := b.m.Space
	if !pack.Holds(s.AllocOf(int(r)), b.m.Shapes[b.m.Classes[w.Class].Shape].Req) {
		return -1
	}
	return b.Open(r, ^uint64(0), nil)
}

// bestRow tries the front's rows of a tier that the first pod can reach and returns the one whose filling is worth most for its money; -1: none.
func (b *Board) bestRow(wants []Want, k int, f *pick, t int, reach []bool) int32 {
	total := 0.0
	for _, w := range wants {
		total += b.worth(f, w.Class) * float64(w.Count)
	}
	best, bestScore, bestShort := int32(-1), 0.0, int32(0)
	needs := b.needs(wants, k)
	order := b.spare.order[:0]
	for x := range f.rows[t] {
		if reach[x] {
			order = append(order, int32(x))
		}
	}
	b.spare.order = order
	bound := func(x int32) float64 {
		r := f.rows[t][x]
		p := max(b.m.Space.Offer[b.m.Space.OfferStart[r]], 1)
		return min(total, f.full[t][x]) / float64(p)
	}
	sort.SliceStable(order, func(a, c int) bool { return bound(order[a]) > bound(order[c]) })
	for tried, x := range order {
		if bestShort == 0 && best >= 0 && (bound(x) <= bestScore || tried >= maxTried) {
			break
		}
		mark := b.Mark()
		if i := b.fill(wants, k, f.rows[t][x], t); i >= 0 {
			b.Settle(i)
			got := 0.0
			for y := range wants {
				got += b.worth(f, wants[y].Class) * float64(b.spare.taken[y])
			}
			short := int32(0)
			for y, n := range needs {
				short += max(n-b.spare.taken[y], 0)
			}
			score := got / float64(max(b.Price(i), 1))
			if best < 0 || short < bestShort || short == bestShort && score > bestScore {
				best, bestScore, bestShort = f.rows[t][x], score, short
			}
		}
		b.Rollback(mark)
	}
	return best
}

// needs tells how many pods of each want the node of a pod of the k-th must hold, since they can only go where such a
// pod is; nil: none.
func (b *Board) needs(wants []Want, k int) (out []int32) {
	seed := &b.m.Classes[wants[k].Class]
	for y := range wants {
		for _, x := range b.m.links[wants[y].Class].host {
			gr := &b.m.Groups[x.group]
			if gr.Kind != Affinity || !x.owns || !contains(seed.In, x.group) || wants[y].Count == 0 {
				continue
			}
			if out == nil {
				out = make([]int32, len(wants))
			}
			if out[y] = wants[y].Count; wants[y].Class != wants[k].Class {
				out[y] = (wants[y].Count + wants[k].Count - 1) / wants[k].Count
			}
		}
	}
	return out
}

// maxTried bounds how many rows are filled for one node.
const maxTried = 12

func (b *Board) worth(f *pick, class int32) float64 {
	w := 0.0
	for d, q := range b.m.Shapes[b.m.Classes[class].Shape].Req {
		w += float64(f.worth[d] * float64(q))
	}
	return w
}

// fill opens a node of the row, puts a pod of the k-th want on it and then what else fits; b.spare.taken tells how
// many of each want. Returns -1 if the first pod does not fit.
func (b *Board) fill(wants []Want, k int, row int32, tier int) int32 {
	taken := append(b.spare.taken[:0], make([]int32, len(wants))...)
	b.spare.taken = taken
	mark := b.Mark()
	i := b.openFor(wants[k], row)
	if i < 0 {
		return -1
	}
	if taken[k] = b.Join(wants[k].Class, wants[k].Variant, i, 1); taken[k] == 0 {
		b.Rollback(mark)
		return -1
	}
	price := b.Price(i)
	for x := range wants {
		w := &wants[x]
		for taken[x] < w.Count {
			n := b.joinAt(w, i, w.Count-taken[x], price)
			if n == 0 {
				break
			}
			taken[x] += n
		}
	}
	return i
}

// joinAt joins if that makes the node no dearer.
func (b *Board) joinAt(w *Want, i, n int32, price int64) int32 {
	mark := b.Mark()
	if n = b.Join(w.Class, w.Variant, i, n); n > 0 && b.Price(i) > price {
		b.Rollback(mark)
		return 0
	}
	return n
}
