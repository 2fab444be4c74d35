package board

// Place finds places for up to n pods of the class under the variant, on nodes that exist first, then on those that are
// to be launched as far as that makes none dearer. It returns how many found one.
func (b *Board) Place(class, variant, n int32) (placed int32) {
	for placed < n {
		k := b.place(class, variant, n-placed)
		if k == 0 {
			break
		}
		placed += k
	}
	return placed
}

func (b *Board) place(class, variant, n int32) int32 {
	j, ok := b.prepare(class, variant)
	if !ok {
		return 0
	}
	if k := b.onExisting(&j, n); k > 0 {
		return k
	}
	return b.onOpen(&j, n)
}

// onExisting puts pods on an existing node: the first of those whose domains are counted least.
func (b *Board) onExisting(j *joining, n int32) int32 {
	best, bestRank := int32(-1), int32(0)
	dims := b.m.Space.Dims
	for from := 0; from < b.old; from += block {
		if !room(b.most[from/block*dims:(from/block+1)*dims], j.shape.Req) {
			continue
		}
		for i := from; i < min(from+block, b.old); i++ {
			nd := &b.nodes[i]
			if nd.gone || !j.v.Has(i) || !room(nd.free, j.shape.Req) {
				continue
			}
			r, ok := j.rank(nd.domain)
			if !ok || best >= 0 && r >= bestRank {
				continue
			}
			if b.fit(nd, j.class, j.shape.Req, 1) == 0 || b.rules(int32(i), j.class, j.variant, 1) == 0 {
				continue
			}
			best, bestRank = int32(i), r
			if r <= j.best {
				return b.join(j, best, n)
			}
		}
	}
	if best < 0 {
		return 0
	}
	return b.join(j, best, n)
}

func room(free, req []int64) bool {
	for x, q := range req {
		if q > free[x] && q > 0 {
			return false
		}
	}
	return true
}

// onOpen puts pods on the first new node that takes them and gets no dearer by it.
func (b *Board) onOpen(j *joining, n int32) int32 {
	for i := b.old; i < len(b.nodes); i++ {
		nd := &b.nodes[i]
		if nd.gone || !room(nd.free, j.shape.Req) || j.v.Mask[nd.row]&nd.bits&-nd.bits == 0 {
			continue
		}
		if t := b.m.tier[b.m.Space.Pool[nd.row]]; t > 0 && b.lighter(j, t) {
			continue
		}
		price := b.Price(int32(i))
		mark := b.Mark()
		if k := b.join(j, int32(i), n); k > 0 {
			if b.Price(int32(i)) <= price {
				return k
			}
			b.Rollback(mark)
		}
	}
	return 0
}

// lighter reports whether a pool of a heavier tier could take the pods, so that tier t must not.
func (b *Board) lighter(j *joining, t int32) bool {
	f := b.m.fronts[j.v.MaskID]
	for h := range t {
		for _, r := range f.all()[h] {
			if room(b.m.Space.AllocOf(int(r)), j.shape.Req) && b.led.Room(r, b.led.Open(r, j.v.Mask[r]), nil, 1) > 0 {
				return true
			}
		}
	}
	return false
}
