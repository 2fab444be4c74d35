package scheduling

import (
	"math/bits"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
)

// Pods that others must be near (targets) are divided before those others (followers), and where they go decides how
// many can follow: followers that are spread over zones, with their targets in one zone, have a 0 to keep up with in every
// other one. So a target looks at what its followers gain by each domain before it looks at prices.

// following is who must be near the pods that an affinity counts.
type following struct {
	// reach is by domain: how many classes can get there.
	reach []int32
	// list is nil where there are too many domains for it.
	list []follower
}

// follower is a class as its targets see it. Sets of domains have a bit each.
type follower struct {
	class, count int32
	reach        uint64
	// bounds are the spreads and anti-affinities over the same key, which may bound how many of the pods one domain has;
	// also are the other affinities over it.
	bounds, also []int32
	// want are domains in which followers of this class in turn gain something by its pods, any are sets of which they need
	// one.
	want uint64
	any  []anyOf
}

// anyOf is how many pods need one of the domains.
type anyOf struct {
	domains uint64
	count   int32
}

// maxWide is how many domains a key may have for targets to ask what each would do for their followers.
const maxWide = 64

// expect notes which domains the owners of affinities can get to.
func (d *divider) expect(todo []*pending) {
	for _, pd := range todo {
		cl := &d.m.Classes[pd.class]
		for _, g := range cl.Owns {
			if gr := &d.m.Groups[g]; gr.Kind == board.Affinity && gr.Key != board.Host {
				d.expectOne(pd, g)
			}
		}
	}
	if len(d.follow) == 0 {
		return
	}
	// Those at the end of a chain first: what they gain is what the classes before them want.
	order := d.c.inTurn(todo)
	for k := len(order) - 1; k >= 0; k-- {
		d.wants(order[k].class)
	}
}

// expectOne notes which domains a class that owns the affinity can get to.
func (d *divider) expectOne(pd *pending, g int32) {
	key := d.m.Groups[g].Key
	fw := d.follow[g]
	if fw == nil {
		fw = &following{reach: make([]int32, len(d.m.Keys[key].Mask))}
		d.follow[g] = fw
	}
	if n := len(fw.list); n > 0 && fw.list[n-1].class == pd.class {
		fw.list[n-1].count += pd.left // some of them keep their preferences, some do not
		return
	}
	k := slices.Index(d.m.KeysOf(pd.class), key)
	seen := make([]bool, len(fw.reach))
	f := follower{class: pd.class, count: pd.left}
	for _, cell := range d.cellsOf(pd.class, d.c.lastVariant(pd.class)) {
		if v := cell.domain[k]; v >= 0 && !seen[v] {
			seen[v] = true
			fw.reach[v]++
			if v < maxWide {
				f.reach |= 1 << v
			}
		}
	}
	if len(fw.reach) > maxWide {
		return
	}
	for _, h := range d.m.Classes[pd.class].Owns {
		switch gr := &d.m.Groups[h]; {
		case gr.Key != key || h == g:
		case gr.Kind == board.Affinity:
			f.also = append(f.also, h)
		case gr.Kind == board.Anti || contains32(d.m.Classes[pd.class].In, h):
			f.bounds = append(f.bounds, h)
		}
	}
	fw.list = append(fw.list, f)
}

// wants tells the affinities of a class in which domains its own followers would like it to have pods.
func (d *divider) wants(class int32) {
	for _, g := range d.m.Classes[class].Owns {
		fw := d.follow[g]
		if fw == nil {
			continue
		}
		for i := range fw.list {
			if f := &fw.list[i]; f.class == class {
				d.want(f, d.m.Groups[g].Key)
			}
		}
	}
}

// want asks the followers of a follower: those that some rule bounds in each domain want it in all that they can get to.
func (d *divider) want(f *follower, key int32) {
	for _, g := range d.m.Classes[f.class].In {
		fw := d.follow[g]
		if fw == nil || d.m.Groups[g].Key != key {
			continue
		}
		for i := range fw.list {
			x := &fw.list[i]
			if x.class == f.class {
				continue
			}
			f.want |= x.want
			if len(x.bounds) > 0 {
				f.want |= x.reach
			} else if bits.OnesCount64(x.reach) < len(fw.reach) {
				f.needs(anyOf{x.reach, x.count})
			}
			for _, any := range x.any {
				f.needs(any)
			}
		}
	}
}

// needs notes pods that need one of the domains.
func (f *follower) needs(x anyOf) {
	k := slices.IndexFunc(f.any, func(y anyOf) bool { return y.domains == x.domains })
	switch {
	case k >= 0:
		f.any[k].count += x.count
	case len(f.any) < maxWide:
		f.any = append(f.any, x)
	}
}

// followers is how many classes that must be near pods of this one can get to the domains.
func (d *divider) followers(class int32, keys, domain []int32) int32 {
	n := int32(0)
	if !d.chased {
		return 0
	}
	for _, g := range d.m.Classes[class].In {
		if fw := d.follow[g]; fw != nil {
			if v := domain[slices.Index(keys, d.m.Groups[g].Key)]; v >= 0 {
				n += fw.reach[v]
			}
		}
	}
	return n
}

// gains works out, for each cell, how many more pods can follow if the class has one there.
func (d *divider) gains(class int32, keys []int32, cells []cell) {
	d.gain = append(d.gain[:0], make([]int32, len(cells))...)
	d.chased = slices.ContainsFunc(d.m.Classes[class].In, func(g int32) bool { return d.follow[g] != nil })
	if !d.chased {
		return
	}
	for _, g := range d.m.Classes[class].In {
		fw := d.follow[g]
		if fw == nil {
			continue
		}
		k := slices.Index(keys, d.m.Groups[g].Key)
		now := d.covered(g)
		for i := range fw.list {
			f := &fw.list[i]
			more := f.reach &^ now
			if f.class == class || more == 0 {
				continue
			}
			had := d.follows(f, now)
			if had == f.count+f.wishes(f.reach) {
				continue
			}
			for c := range cells {
				if v := cells[c].domain[k]; v >= 0 && more>>v&1 != 0 {
					d.gain[c] += d.follows(f, now|1<<v) - had
				}
			}
		}
	}
}

// covered are the domains in which the group counts a pod.
func (d *divider) covered(g int32) (out uint64) {
	for v := range min(len(d.m.Keys[d.m.Groups[g].Key].Mask), maxWide) {
		if d.tally.In(g, int32(v)) > 0 {
			out |= 1 << v
		}
	}
	return out
}

// wishes is about what the follower's own followers have of its being in the domains, as far as it has pods for them.
func (f *follower) wishes(domains uint64) int32 {
	n := min(f.count, int32(bits.OnesCount64(domains&f.want)))
	for _, x := range f.any {
		if domains&x.domains != 0 {
			n += x.count
		}
	}
	return n
}

// follows is about how many pods of the class can have a place if those it must be near are in the domains, and what
// its own followers have of it.
func (d *divider) follows(f *follower, domains uint64) int32 {
	open := domains & f.reach
	for _, h := range f.also {
		if there := d.covered(h); there != 0 { // else they are still to come
			open &= there
		}
	}
	if open == 0 {
		return 0
	}
	n := f.count
	if len(f.bounds) > 0 {
		n = d.bounded(f, open)
	}
	return n + f.wishes(open)
}

// bounded is how many pods of the class the domains can have, its spreads and anti-affinities being as they are.
func (d *divider) bounded(f *follower, open uint64) int32 {
	var room [maxWide]int32
	for left := open; left != 0; left &= left - 1 {
		room[bits.TrailingZeros64(left)] = f.count
	}
	for _, g := range f.bounds {
		gr := &d.m.Groups[g]
		most := int32(1)
		if gr.Kind == board.Spread {
			least, ok := d.floor(f.class, g, open)
			if !ok {
				continue
			}
			most = least + gr.MaxSkew
		}
		for left := open; left != 0; left &= left - 1 {
			v := bits.TrailingZeros64(left)
			in := d.tally.In(g, int32(v))
			switch {
			case gr.Kind == board.Spread:
				room[v] = min(room[v], max(most-in, 0))
			case in > 0:
				room[v] = 0
			case contains32(d.m.Classes[f.class].In, g):
				room[v] = min(room[v], 1)
			}
		}
	}
	sum := int32(0)
	for left := open; left != 0 && sum < f.count; left &= left - 1 {
		sum += room[bits.TrailingZeros64(left)]
	}
	return min(sum, f.count)
}

// floor is the least count of a spread among the domains that the class cannot fill up, since they are not open to it.
// False: there is none, so that the spread bounds nothing.
func (d *divider) floor(class, g int32, open uint64) (least int32, ok bool) {
	gr := &d.m.Groups[g]
	domains := int32(0)
	for v := range int32(len(gr.Eligible)) {
		if !d.tally.Counts(class, g, v) {
			continue
		}
		domains++
		if open>>v&1 == 0 {
			if n := d.tally.In(g, v); !ok || n < least {
				least, ok = n, true
			}
		}
	}
	if domains < gr.MinDomains {
		return 0, true
	}
	return least, ok
}
