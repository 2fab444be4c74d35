package scheduling

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// option is an offering that could hold a run.
type option struct {
	row, bit int32
	price    int64
}

// alternatives lists every offering that would hold the run, cheapest first, as far as options and
// limits let it.
func (f *finisher) alternatives(r *pack.Run, s *Shape) {
	c := f.c
	f.holders = f.within(r, c.space.Holders(f.distinct(r), f.jobs, f.holders[:0]))
	f.holders = slices.DeleteFunc(f.holders, func(h pack.Holder) bool {
		return h.Row != r.Row && (!f.affordable(r, h.Row) || !sameFixed(c.rows[h.Row].fixed, c.rows[r.Row].fixed))
	})
	f.rankTypes(s.Pool)
	s.Why.Candidates = len(f.types)
	for _, h := range f.holders {
		s.AlternativeCount += bits.OnesCount64(h.Bits)
	}
	opts := f.choices(r, s, f.keepTypes(r, s))
	s.Alternatives = make([]Alternative, len(opts))
	for i, o := range opts {
		rw := &c.rows[o.row]
		s.Alternatives[i] = Alternative{Type: rw.typ, Offering: rw.offerings[o.bit]}
		if !s.Why.RunnerUpPrice.Known() && rw.typ != s.Choice.Type {
			s.Why.RunnerUp, s.Why.RunnerUpPrice = s.Alternatives[i], PriceFromNano(o.price)
		}
	}
	if !s.Why.RunnerUpPrice.Known() && len(f.types) > 1 {
		f.runnerUp(s)
	}
}

// runnerUp finds the next type by price where the alternatives are too few to have one.
func (f *finisher) runnerUp(s *Shape) {
	for i := range f.priced {
		o := &f.priced[i]
		rw := &f.c.rows[o.row]
		if f.holds[o.row]>>o.bit&1 == 0 || rw.typ == s.Choice.Type || f.o.board != nil && o.price < s.Price.nano {
			continue
		}
		s.Why.RunnerUp, s.Why.RunnerUpPrice = Alternative{Type: rw.typ, Offering: rw.offerings[o.bit]}, PriceFromNano(o.price)
		return
	}
}

// choices lists the offerings of the holders whose types are kept: cheapest first, the run's own before others of its
// price, then by row.
func (f *finisher) choices(r *pack.Run, s *Shape, keep []bool) []option {
	c := f.c
	_, chosen := c.space.Price(int(r.Row), r.Bits)
	opts, own := f.opts[:0], 0
	for i := range f.priced {
		o := &f.priced[i]
		if f.holds[o.row]>>o.bit&1 == 0 || !keep[c.rows[o.row].typ] {
			continue
		}
		if f.o.board != nil && o.price < s.Price.nano {
			continue // taking it would put other pods' constraints out of joint
		}
		if opts = append(opts, *o); o.row == r.Row && int(o.bit) == chosen {
			own = len(opts) - 1
		}
	}
	for ; own > 0 && opts[own-1].price == opts[own].price; own-- {
		opts[own-1], opts[own] = opts[own], opts[own-1]
	}
	f.opts = opts
	return opts
}

// byPrice lists the offerings of a pool, cheapest first.
func (f *finisher) byPrice(pool int32) []option {
	c := f.c
	if f.prices == nil {
		f.prices = make([][]option, len(c.p.Pools))
	}
	if f.prices[pool] != nil {
		return f.prices[pool]
	}
	list := make([]option, 0, len(c.space.Offer))
	for i := range c.rows {
		if c.rows[i].pool != pool {
			continue
		}
		for b, p := range c.rows[i].prices {
			list = append(list, option{int32(i), int32(b), p})
		}
	}
	slices.SortFunc(list, func(a, b option) int {
		if a.price != b.price {
			return cmp.Compare(a.price, b.price)
		}
		return cmp.Or(int(a.row-b.row), int(a.bit-b.bit))
	})
	f.prices[pool] = list
	return list
}

// distinct is the run with one content of each mask, since others admit nothing else.
func (f *finisher) distinct(r *pack.Run) *pack.Run {
	if f.c.space.OpenStart != nil || len(r.Content) < 3 {
		return r
	}
	out := *r
	out.Content = nil
	for _, x := range r.Content {
		if !slices.ContainsFunc(out.Content, func(y pack.Content) bool { return f.jobs[x.Job].MaskID == f.jobs[y.Job].MaskID }) {
			out.Content = append(out.Content, x)
		}
	}
	return &out
}

// within leaves the offerings of the reservation that the run holds, or those of none. Under the commitment that the run
// draws on are those that draw no more, so that all of its nodes may fall back at once; what they list is not listed again
// at the ordinary price.
func (f *finisher) within(r *pack.Run, holders []pack.Holder) []pack.Holder {
	s, c := &f.c.space, f.c
	if s.Reservation == nil {
		return holders
	}
	want, most := s.DrawOf(r.Row, r.Bits)
	same := want >= 0 && c.finites[want].reserves()
	out := holders[:0]
	for _, h := range holders {
		for left := h.Bits; left != 0; left &= left - 1 {
			id, draw := s.DrawOf(h.Row, left&-left)
			if same && id != want || id >= 0 && (id != want || draw > most) {
				h.Bits &^= left & -left
			}
		}
		if h.Bits != 0 {
			out = append(out, h)
		}
	}
	if want >= 0 && !same {
		f.listOnce(r, out)
	}
	return slices.DeleteFunc(out, func(h pack.Holder) bool { return h.Bits == 0 })
}

// listOnce drops the offerings of which the same purchase is there under a commitment; the run's own stays.
func (f *finisher) listOnce(r *pack.Run, holders []pack.Holder) {
	c, from := f.c, 0 // where rows of the same type begin; there is seldom more than one
	for i := range holders {
		t := c.rows[holders[i].Row].t
		if c.rows[holders[from].Row].t != t {
			from = i
		}
		for left := holders[i].Bits; left != 0; left &= left - 1 {
			bit := bits.TrailingZeros64(left)
			if id, _ := c.space.DrawOf(holders[i].Row, left&-left); id < 0 || holders[i].Bits&left&-left == 0 {
				continue
			}
			covered := &t.Offerings[c.rows[holders[i].Row].offerings[bit]]
			for k := from; k < len(holders) && c.rows[holders[k].Row].t == t; k++ {
				h := &holders[k]
				for others := h.Bits; others != 0; others &= others - 1 {
					b := bits.TrailingZeros64(others)
					own := h.Row == r.Row && others&-others == r.Bits&-r.Bits
					if (k != i || b != bit) && !own && samePurchase(covered, &t.Offerings[c.rows[h.Row].offerings[b]]) {
						h.Bits &^= others & -others
					}
				}
			}
		}
	}
}

// sameFixed reports whether two rows of a pool settle its open labels alike.
func sameFixed(a, b []keySet) bool {
	return slices.EqualFunc(a, b, func(x, y keySet) bool { return x.key == y.key && x.set.Equal(y.set) })
}

// affordable reports whether the pool's limit holds even if the run falls back to the row.
func (f *finisher) affordable(r *pack.Run, alt int32) bool {
	c := f.c
	if c.space.Cap == nil {
		return true
	}
	dims := c.space.Dims
	pool := int(c.rows[r.Row].pool)
	for d := range dims {
		if more := c.space.Cap[int(alt)*dims+d] - r.Charge[d]; more > 0 && more > f.share[pool*dims+d] {
			return false
		}
	}
	return true
}

// limitShares divides what is left of each limit over the pool's launches, so that all of them
// may fall back at once; or lets each have all of it, if the caller said that one at a time is enough.
func (f *finisher) limitShares() {
	s := &f.c.space
	if s.Cap == nil {
		return
	}
	left, _ := s.Left(f.o.result)
	f.share = left
	count := make([]int64, len(f.c.p.Pools))
	for i := range f.o.result.Runs {
		r := &f.o.result.Runs[i]
		count[s.Pool[r.Row]] += int64(r.Mult)
	}
	for p, n := range count {
		for d := range s.Dims {
			if v := &left[p*s.Dims+d]; *v != pack.Unlimited && n > 1 && f.c.opts.Limits == LimitAllFallbacks {
				*v /= n
			}
		}
	}
}

// ranked is a type that could hold a run, and a row of it.
type ranked struct{ typ, row int32 }

// rankTypes lists the types of the holders, the cheapest first, names deciding. Rows are in the order of names.
func (f *finisher) rankTypes(pool int32) {
	c := f.c
	f.types, f.priced = f.types[:0], f.byPrice(pool)
	f.holds = slices.Grow(f.holds[:0], len(c.rows))[:len(c.rows)]
	clear(f.holds)
	// last is the last row of each type that holds the run.
	f.last = slices.Grow(f.last[:0], len(c.p.Pools[pool].InstanceTypes))[:len(c.p.Pools[pool].InstanceTypes)]
	clear(f.last)
	types := 0
	for _, h := range f.holders {
		f.holds[h.Row] = h.Bits
		if last := &f.last[c.rows[h.Row].typ]; *last <= h.Row {
			types += b2i(*last == 0)
			*last = h.Row + 1
		}
	}
	for i := 0; i < len(f.priced) && len(f.types) < types; i++ {
		o := &f.priced[i]
		if last := &f.last[c.rows[o.row].typ]; f.holds[o.row]>>o.bit&1 != 0 && *last > 0 {
			f.types = append(f.types, ranked{c.rows[o.row].typ, *last - 1})
			*last = 0
		}
	}
}

// keepTypes picks the types to keep: first those that minValues need, then the cheapest.
func (f *finisher) keepTypes(r *pack.Run, s *Shape) []bool {
	limit := f.c.opts.MaxAlternatives
	if limit <= 0 {
		limit = 60
	}
	n := len(f.c.p.Pools[s.Pool].InstanceTypes)
	f.keep = slices.Grow(f.keep[:0], n)[:n]
	keep := f.keep
	clear(keep)
	keep[s.Choice.Type] = true
	kept := 1 + f.keepForMinValues(s, keep)
	for _, t := range f.types {
		if kept >= limit {
			break
		}
		if !keep[t.typ] {
			keep[t.typ] = true
			kept++
		}
	}
	return keep
}

func (f *finisher) keepForMinValues(s *Shape, keep []bool) (more int) {
	c := f.c
	for k := range c.space.MinValues {
		mv := &c.space.MinValues[k]
		if mv.Pool != s.Pool {
			continue
		}
		seen := map[int32]bool{}
		for _, t := range f.types {
			if v := mv.Value[t.row]; keep[t.typ] && v >= 0 {
				seen[v] = true
			}
		}
		for _, t := range f.types {
			if v := mv.Value[t.row]; len(seen) < mv.Need && v >= 0 && !seen[v] {
				seen[v] = true
				if !keep[t.typ] {
					keep[t.typ] = true
					more++
				}
			}
		}
		if len(seen) < mv.Need {
			if s.MinValues == nil {
				s.MinValues = map[string]int{}
			}
			s.MinValues[c.minKeys[mv.Key]] = len(seen)
		}
	}
	return more
}
