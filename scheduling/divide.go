package scheduling

import (
	"math/bits"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// divider divides classes over the domains of their topology keys before they are packed, so that packing needs no
// counts: within a cell any node will do. It keeps the counts of every group as it goes.
type divider struct {
	c     *compiler
	m     *board.Model
	tally board.Tally
	cells map[cellsKey][]cell
	rows  map[cellsKey][]offered
	// out and room are scratch memory of assign.
	out, room []int32
	// chased tells assign whether others must be near the class.
	chased bool
	cuts   map[cutKey]*board.Variant
	follow map[int32]*following
	choice []board.Choice
	// gain is by cell, for assign: how many more pods can follow if one goes there.
	gain []int32
	// partial is set if some group counts only some of the new nodes.
	partial bool
}

// cell is a domain of each of a class's keys, and what it costs to get there.
type cell struct {
	domain []int32
	// price of the cheapest offering that holds a pod in the heaviest pool that has one, raised by aboveAnyPrice for
	// each heavier tier; below 0: there is none, only existing nodes.
	price int64
	// room is how many pods the existing nodes hold, as they are at first.
	room int32
}

type cellsKey struct {
	v   *board.Variant
	req *int64
	// keys are the first of the class's keys, more the others.
	keys [2]int32
	more string
}

// cutKey is a variant restricted to a domain, or to the offerings that a group counts or does not.
type cutKey struct {
	v      *board.Variant
	key, d int32
	rows   *uint64
	counts bool
}

func newDivider(c *compiler, b *board.Board) *divider {
	d := &divider{c: c, m: &c.model, cells: map[cellsKey][]cell{}, rows: map[cellsKey][]offered{}, cuts: map[cutKey]*board.Variant{}, follow: map[int32]*following{}}
	d.partial = slices.ContainsFunc(d.m.Groups, func(g board.Group) bool { return g.Rows != nil })
	d.tally.Copy(b.Tally())
	return d
}

// another is a divider that starts from the same board and shares what does not depend on counts. Not for use beside
// the first by several goroutines.
func (d *divider) another(b *board.Board) *divider {
	out := &divider{c: d.c, m: d.m, cells: d.cells, rows: d.rows, cuts: d.cuts, partial: d.partial, follow: map[int32]*following{}}
	out.tally.Copy(b.Tally())
	return out
}

// cellsOf lists the cells that a pod of the class could go to under the variant if it were alone.
func (d *divider) cellsOf(class int32, v *board.Variant) []cell {
	keys := d.m.KeysOf(class)
	req := d.m.Shapes[d.m.Classes[class].Shape].Req
	id := cellsKey{v: v, req: &req[0]}
	if n := copy(id.keys[:], keys); n < len(keys) {
		id.more = int32sKey(keys[n:])
	} else if n < len(id.keys) {
		id.keys[n] = board.Host // no more of them
	}
	if known, ok := d.cells[id]; ok {
		return known
	}
	f := cellFinder{d: d, keys: keys, tuple: make([]int32, len(keys))}
	f.prepare()
	s := d.m.Space
	id.req = nil
	for _, of := range d.offered(id, keys) {
		price := int64(-1)
		for _, o := range of.list {
			if (price < 0 || o.price < price) && pack.Holds(s.AllocOf(int(o.row)), req) {
				price = o.price
			}
		}
		if price >= 0 {
			copy(f.tuple, of.domain)
			f.see(price)
		}
	}
	for i := range s.Nodes {
		if n := pack.Fit(s.Nodes[i].Free, req, 1<<30); n > 0 && v.Has(i) {
			for k, key := range keys {
				f.tuple[k] = s.Nodes[i].Domain[key]
			}
			f.see(-1).room += n
		}
	}
	slices.SortFunc(f.out, func(a, b cell) int { return slices.Compare(a.domain, b.domain) })
	id.req = &req[0]
	d.cells[id] = f.out
	return f.out
}

// offered are the rows that have an offering in a cell, each with the cheapest one.
type offered struct {
	domain []int32
	list   []rowPrice
}

type rowPrice struct {
	row   int32
	price int64
}

// offered lists what there is for pods of any size.
func (d *divider) offered(id cellsKey, keys []int32) []offered {
	if known, ok := d.rows[id]; ok {
		return known
	}
	f := cellFinder{d: d, keys: keys, tuple: make([]int32, len(keys))}
	f.prepare()
	s := d.m.Space
	for r := range s.Rows {
		if id.v.Mask[r] == 0 || !s.Open(r) {
			continue
		}
		for left := id.v.Mask[r]; left != 0; left &= left - 1 {
			f.row(int32(r), bits.TrailingZeros64(left), 0)
		}
	}
	out := make([]offered, len(f.out))
	for i := range out {
		out[i] = offered{domain: f.out[i].domain, list: f.lists[i]}
	}
	d.rows[id] = out
	return out
}

type cellFinder struct {
	d     *divider
	keys  []int32
	tuple []int32
	// at finds the cell of a tuple by its number, many where there are too many tuples for that.
	at   []int32
	many map[string]int32
	out  []cell
	// lists are, by cell, the rows that row saw.
	lists [][]rowPrice
}

// prepare makes room for the cells that there may be.
func (f *cellFinder) prepare() {
	n := 1
	for _, key := range f.keys {
		if n *= len(f.d.m.Keys[key].Mask) + 1; n > 1<<12 {
			f.many = map[string]int32{}
			return
		}
	}
	f.at = make([]int32, n)
}

// find is the place of the tuple's cell, plus 1; 0: a new one.
func (f *cellFinder) find() *int32 {
	n := 0
	for k, key := range f.keys {
		n = n*(len(f.d.m.Keys[key].Mask)+1) + int(max(f.tuple[k], board.Absent)) + 1
	}
	return &f.at[n]
}

// A lighter pool is dearer than any heavier one, whatever it costs.
const (
	aboveAnyPrice = int64(1) << 55
	maxTiers      = int64(250)
)

func (f *cellFinder) see(price int64) *cell {
	k := f.place()
	c := &f.out[k]
	if price >= 0 && (c.price < 0 || price < c.price) {
		c.price = price
	}
	return c
}

func (f *cellFinder) place() int32 {
	next := int32(len(f.out))
	add := func() { f.out = append(f.out, cell{domain: slices.Clone(f.tuple), price: -1}) }
	if f.many != nil {
		id := int32sKey(f.tuple)
		k, ok := f.many[id]
		if !ok {
			k = next
			f.many[id] = k
			add()
		}
		return k
	}
	at := f.find()
	if *at == 0 {
		add()
		*at = next + 1
	}
	return *at - 1
}

// row sees the cells of one offering, from the k-th key on.
func (f *cellFinder) row(r int32, bit, k int) {
	if k == len(f.keys) {
		s := f.d.m.Space
		c := f.place()
		if int(c) == len(f.lists) {
			f.lists = append(f.lists, make([]rowPrice, 0, s.Rows))
		}
		if l := &f.lists[c]; len(*l) == 0 || (*l)[len(*l)-1].row != r { // a row's offerings come the cheapest first
			*l = append(*l, rowPrice{r, s.Offer[s.OfferStart[r]+int32(bit)] + min(f.d.m.TierOf(r), maxTiers)*aboveAnyPrice})
		}
		return
	}
	key := f.keys[k]
	f.tuple[k] = f.d.m.DomainOf(key, r, bit)
	if f.tuple[k] >= board.Absent {
		f.row(r, bit, k+1)
		return
	}
	for v, mask := range f.d.m.Keys[key].Mask {
		if mask[r]>>bit&1 != 0 {
			f.tuple[k] = int32(v)
			f.row(r, bit, k+1)
		}
	}
}

func int32sKey(v []int32) string {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	return string(b)
}

// assign distributes up to n pods over the cells that are not banned, and returns how many go to each, until the next
// call: where most pods gain a place that must be near them, then where most such classes can get to, then where it is
// cheapest, then where they are counted least. room is what existing nodes still have in each cell.
func (d *divider) assign(class, variant, n int32, cells []cell, banned []bool) []int32 {
	d.out, d.room = d.out[:0], d.room[:0]
	for i := range cells {
		d.out, d.room = append(d.out, 0), append(d.room, cells[i].room)
	}
	out, room := d.out, d.room
	keys := d.m.KeysOf(class)
	for len(d.choice) < len(keys) {
		d.choice = append(d.choice, board.Choice{})
	}
	even := d.m.CountedOnly(class)
	d.gains(class, keys, cells)
	for ; n > 0; n-- {
		for k := range keys {
			d.tally.Choose(class, variant, k, &d.choice[k])
		}
		best, bestRank, bestFollow := -1, int32(0), int32(0)
		price := func(i int) int64 {
			if room[i] > 0 {
				return 0
			}
			return cells[i].price
		}
		for i := range cells {
			if banned[i] || cells[i].price < 0 && room[i] == 0 {
				continue
			}
			rank, ok := d.rank(cells[i].domain)
			if !ok {
				continue
			}
			follow := d.followers(class, keys, cells[i].domain) + d.tally.Kin(class, cells[i].domain)
			if best >= 0 {
				if d.gain[i] != d.gain[best] {
					if d.gain[i] < d.gain[best] {
						continue
					}
				} else if follow != bestFollow {
					if follow < bestFollow {
						continue
					}
				} else if even {
					if rank > bestRank || rank == bestRank && price(i) >= price(best) {
						continue
					}
				} else if p, q := price(i), price(best); p > q || p == q && rank >= bestRank {
					continue
				}
			}
			best, bestRank, bestFollow = i, rank, follow
		}
		if best < 0 {
			break
		}
		out[best]++
		room[best]--
		d.tally.Count(class, cells[best].domain, 1)
		if d.gain[best] > 0 {
			d.gains(class, keys, cells)
		}
	}
	return out
}

func (d *divider) rank(domain []int32) (rank int32, ok bool) {
	for k, v := range domain {
		c := &d.choice[k]
		switch {
		case v < 0 && !c.None, v >= 0 && !c.OK[v]:
			return 0, false
		case v >= 0:
			rank += c.Rank[v]
		}
	}
	return rank, true
}

// cut restricts a variant to a domain of a key.
func (d *divider) cut(v *board.Variant, key, domain int32) *board.Variant {
	id := cutKey{v: v, key: key, d: domain}
	if known, ok := d.cuts[id]; ok {
		return known
	}
	ky := &d.m.Keys[key]
	var only pack.Mask
	if domain >= 0 {
		only = ky.Mask[domain]
	} else {
		only = make(pack.Mask, d.m.Space.Rows)
		for _, m := range ky.Mask {
			for r, b := range m {
				only[r] |= b
			}
		}
		for r := range only {
			only[r] = ^only[r]
		}
	}
	out := d.restrict(v, only)
	out.Fits = slices.Clone(v.Fits)
	for i := range d.m.Space.Nodes {
		if d.m.Space.Nodes[i].Domain[key] != domain {
			out.Fits[i>>6] &^= 1 << (i & 63)
		}
	}
	if domain >= 0 && ky.Open >= 0 {
		req := pack.OpenReq{Key: ky.Open, State: ky.State[domain]}
		if len(out.Alts) == 0 {
			out.Alts = []pack.Alternative{{Mask: out.Mask}}
		}
		for i := range out.Alts {
			out.Alts[i].Open = append(slices.Clone(out.Alts[i].Open), req)
		}
	}
	d.cuts[id] = out
	return out
}

// cutRows restricts a variant to the offerings that a group counts, or to those that it does not.
func (d *divider) cutRows(v *board.Variant, rows pack.Mask, counts bool) *board.Variant {
	id := cutKey{v: v, rows: &rows[0], counts: counts}
	if known, ok := d.cuts[id]; ok {
		return known
	}
	only := rows
	if !counts {
		only = make(pack.Mask, len(rows))
		for r, b := range rows {
			only[r] = ^b
		}
	}
	out := d.restrict(v, only)
	d.cuts[id] = out
	return out
}

func (d *divider) restrict(v *board.Variant, only pack.Mask) *board.Variant {
	and := func(m pack.Mask) pack.Mask {
		out := make(pack.Mask, len(m))
		for i := range m {
			out[i] = m[i] & only[i]
		}
		return out
	}
	out := &board.Variant{Mask: and(v.Mask), Fits: v.Fits}
	out.MaskID = d.c.maskID(out.Mask)
	for _, a := range v.Alts {
		out.Alts = append(out.Alts, pack.Alternative{Mask: and(a.Mask), Open: a.Open})
	}
	return out
}

// open reports whether a cell that is not banned would take one more pod.
func (d *divider) open(pd *pending) bool {
	keys := d.m.KeysOf(pd.class)
	for len(d.choice) < len(keys) {
		d.choice = append(d.choice, board.Choice{})
	}
	for k := range keys {
		d.tally.Choose(pd.class, pd.variant, k, &d.choice[k])
	}
	for i := range pd.cells {
		if !pd.banned[i] {
			if _, ok := d.rank(pd.cells[i].domain); ok {
				return true
			}
		}
	}
	return false
}
