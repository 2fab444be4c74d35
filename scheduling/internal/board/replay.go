package board

import "slices"

// Proposal is a number of pods of a class that somebody wants on a node.
type Proposal struct {
	Class, Variant, Node, Count int32
}

// Replay commits proposals in an order in which each pod's constraints hold when it joins, as far as there is one:
// pods that others wait for first, pods of spreads one domain after another. What could not be committed stays
// in the Counts. Proposals of one class must be neighbours. New nodes that stay empty are given up.
func (b *Board) Replay(props []Proposal) {
	r := replay{b: b, props: props}
	b.log = slices.Grow(b.log, 2*len(props))
	n := 0
	for i := range props {
		if i == 0 || props[i].Class != props[i-1].Class || props[i].Variant != props[i-1].Variant {
			n++
		}
	}
	r.batches = make([]batch, 0, n)
	for from := 0; from < len(props); {
		to := from + 1
		for to < len(props) && props[to].Class == props[from].Class && props[to].Variant == props[from].Variant {
			to++
		}
		r.batches = append(r.batches, r.batch(from, to))
		from = to
	}
	for again := true; again; {
		again = false
		for k := range r.batches {
			again = r.run(&r.batches[k]) || again
		}
	}
	b.DropEmpty()
}

// Repeat opens the new nodes of another board of the model that hold something, and then does what happened there in
// the same order. It returns what does not hold here, as proposals.
func (b *Board) Repeat(from *Board) (refused []Proposal) {
	at := make([]int32, len(from.nodes))
	for i := range from.nodes {
		nd := &from.nodes[i]
		if at[i] = int32(i); nd.row < 0 {
			continue
		}
		at[i] = -1
		if slices.ContainsFunc(nd.items, func(it Item) bool { return it.Count > 0 }) {
			at[i] = b.OpenFor(nd.row, nd.bits, nd.open, nd.charge)
		}
	}
	from.Joins(func(node, class, variant, n int32) {
		if at[node] < 0 {
			return
		}
		for n > 0 {
			k := b.Join(class, variant, at[node], n)
			if k == 0 {
				refused = append(refused, Proposal{Class: class, Variant: variant, Node: at[node], Count: n})
				break
			}
			n -= k
		}
	})
	return refused
}

type replay struct {
	b       *Board
	props   []Proposal
	batches []batch
	domain  []int32 // scratch memory
}

// batch is what is proposed for a class, by domains of its keys.
type batch struct {
	class, variant int32
	lanes          []lane
	left           int32
}

// lane lists the proposals, by index, that go to nodes in the same domains. Those behind next are done, or have
// been passed over until something changes.
type lane struct {
	domain []int32
	props  []int32
	stuck  []int32
}

func (r *replay) batch(from, to int) batch {
	b := r.b
	bt := batch{class: r.props[from].Class, variant: r.props[from].Variant}
	keys := b.m.links[bt.class].keys
	for p := from; p < to; p++ {
		bt.left += r.props[p].Count
		nd := &b.nodes[r.props[p].Node]
		domain := r.domain[:0]
		for _, key := range keys {
			d := nd.domain[key]
			if d == free {
				d = b.m.DomainOf(key, nd.row, lowest(nd.bits))
			}
			domain = append(domain, d)
		}
		r.domain = domain
		k := slices.IndexFunc(bt.lanes, func(l lane) bool { return slices.Equal(l.domain, domain) })
		if k < 0 {
			k = len(bt.lanes)
			bt.lanes = append(bt.lanes, lane{domain: append(b.list(len(domain)), domain...), props: b.list(min(to-p, 4))})
		}
		bt.lanes[k].props = append(bt.lanes[k].props, int32(p))
	}
	return bt
}

// run commits what it can of a batch.
func (r *replay) run(bt *batch) (progress bool) {
	if bt.left == 0 {
		return false
	}
	for k := range bt.lanes {
		l := &bt.lanes[k]
		l.props, l.stuck = append(l.stuck, l.props...), nil
	}
	for bt.left > 0 {
		j, ok := r.b.prepare(bt.class, bt.variant)
		if !ok {
			break
		}
		n, more := r.step(bt, &j)
		if !more {
			break
		}
		progress = progress || n > 0
	}
	return progress
}

// step commits pods in the lane whose domains are counted least, and says whether there was one to try.
func (r *replay) step(bt *batch, j *joining) (n int32, more bool) {
	best, bestRank := -1, int32(0)
	for k := range bt.lanes {
		l := &bt.lanes[k]
		if len(l.props) == 0 {
			continue
		}
		rank, ok := r.rank(j, l)
		if ok && (best < 0 || rank < bestRank) {
			best, bestRank = k, rank
		}
	}
	if best < 0 {
		return 0, false
	}
	l := &bt.lanes[best]
	p := &r.props[l.props[0]]
	n = r.b.join(j, p.Node, p.Count)
	p.Count -= n
	bt.left -= n
	switch {
	case p.Count == 0:
		l.props = l.props[1:]
	case n == 0:
		l.stuck, l.props = append(l.stuck, l.props[0]), l.props[1:]
	}
	return n, true
}

func (r *replay) rank(j *joining, l *lane) (int32, bool) {
	rank := int32(0)
	for k := range j.l.keys {
		c := &j.choices[k]
		switch d := l.domain[k]; {
		case d == several:
		case d < 0:
			if !c.None {
				return 0, false
			}
		case !c.OK[d]:
			return 0, false
		default:
			rank += c.Rank[d]
		}
	}
	return rank, true
}
