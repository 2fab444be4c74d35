package cover

import (
	"cmp"
	"math"
	"slices"
)

// Item is a number of pods that are alike to a new node.
type Item struct {
	// Req is what each asks for, by resource.
	Req []int64
	// Count is how many there are, Most how many of them a node may hold.
	Count, Most int64
}

// Site is a node that can be had, any number of times unless it claims something finite.
type Site struct {
	// Room is what pods can use, by resource.
	Room []int64
	// Price is in billionths an hour.
	Price int64
	// Shelf is the set of items that may go there.
	Shelf int32
	// Claims are what a node takes of what is finite.
	Claims []Claim
}

// Claim is an amount of something finite.
type Claim struct {
	Finite int32
	Amount int64
}

// Problem asks for nodes that hold all items at the least price.
type Problem struct {
	Items []Item
	Sites []Site
	// Shelves list items, ascending.
	Shelves [][]int32
	// Finite is how much there is of what sites claim.
	Finite []int64

	// unit is what costs are counted in, so that prices in proportion give the same plan.
	unit float64
}

// cost is the price of a site in units.
func (p *Problem) cost(site int32) float64 { return float64(p.Sites[site].Price) / p.unit }

// free is less than anything costs.
const free = 1e-9

// Part is a number of pods of one item on a node.
type Part struct {
	Item int32
	N    int32
}

// Pattern is a number of nodes of one site with the same content. Parts are in the order of items.
type Pattern struct {
	Site  int32
	Parts []Part
	Count int64
}

// prune leaves out sites that another one replaces at no higher price: for all the shelf's items, with at least as much
// room for what they ask for, and no claims that the other has not.
func (p *Problem) prune() []int32 {
	byShelf := make([][]int32, len(p.Shelves))
	for i := range p.Sites {
		s := p.Sites[i].Shelf
		byShelf[s] = append(byShelf[s], int32(i))
	}
	fronts := make([][]int32, len(p.Shelves))
	for s, list := range byShelf {
		asked := p.asked(p.Shelves[s])
		slices.SortStableFunc(list, func(a, b int32) int {
			x, y := &p.Sites[a], &p.Sites[b]
			if c := cmp.Compare(x.Price, y.Price); c != 0 {
				return c
			}
			for _, d := range asked {
				if c := cmp.Compare(y.Room[d], x.Room[d]); c != 0 {
					return c
				}
			}
			return len(x.Claims) - len(y.Claims)
		})
	next:
		for _, i := range list {
			for _, k := range fronts[s] {
				if p.replaces(k, i, asked) {
					continue next
				}
			}
			if p.holdsAny(i) {
				fronts[s] = append(fronts[s], i)
			}
		}
	}
	p.pruneAcross(fronts)
	return slices.Concat(fronts...)
}

// pruneAcross leaves out sites that one of a shelf with more items replaces.
func (p *Problem) pruneAcross(fronts [][]int32) {
	words := (len(p.Items) + 63) / 64
	sets := make([][]uint64, len(p.Shelves))
	for s, items := range p.Shelves {
		sets[s] = make([]uint64, words)
		for _, k := range items {
			sets[s][k>>6] |= 1 << (k & 63)
		}
	}
	within := func(a, b int) bool {
		for i, w := range sets[a] {
			if w&^sets[b][i] != 0 {
				return false
			}
		}
		return true
	}
	for a := range fronts {
		asked := p.asked(p.Shelves[a])
		for b := range fronts {
			if a == b || len(fronts[a]) == 0 || !within(a, b) || a < b && len(p.Shelves[a]) == len(p.Shelves[b]) {
				continue
			}
			fronts[a] = slices.DeleteFunc(fronts[a], func(i int32) bool {
				return slices.ContainsFunc(fronts[b], func(k int32) bool { return p.replaces(k, i, asked) })
			})
		}
	}
}

// prepare returns the problem with room that nobody can use taken off, and the sites that are worth a look.
func (p *Problem) prepare() (*Problem, []int32) {
	out := *p
	out.Sites = slices.Clone(p.Sites)
	least := int64(math.MaxInt64)
	for i := range p.Sites {
		if n := p.Sites[i].Price; n > 0 {
			least = min(least, n)
		}
	}
	out.unit = float64(least)
	for s, items := range p.Shelves {
		if len(items) == 0 {
			continue
		}
		// All that the shelf's items ask for is a multiple of this.
		g := make([]int64, len(p.Items[0].Req))
		for _, k := range items {
			for d, q := range p.Items[k].Req {
				g[d] = gcd(g[d], q)
			}
		}
		for i := range out.Sites {
			if int(out.Sites[i].Shelf) != s {
				continue
			}
			room := slices.Clone(out.Sites[i].Room)
			for d := range room {
				if g[d] > 1 && room[d] > 0 {
					room[d] -= room[d] % g[d]
				}
			}
			out.Sites[i].Room = room
		}
	}
	return &out, out.prune()
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// asked are the resources that some of the items ask for.
func (p *Problem) asked(items []int32) []int {
	var out []int
	if len(p.Items) == 0 {
		return nil
	}
	for d := range p.Items[0].Req {
		if slices.ContainsFunc(items, func(k int32) bool { return p.Items[k].Req[d] > 0 }) {
			out = append(out, d)
		}
	}
	return out
}

func (p *Problem) replaces(a, b int32, asked []int) bool {
	x, y := &p.Sites[a], &p.Sites[b]
	if x.Price > y.Price {
		return false
	}
	for _, d := range asked {
		if x.Room[d] < y.Room[d] {
			return false
		}
	}
	for _, c := range x.Claims {
		if !slices.ContainsFunc(y.Claims, func(o Claim) bool { return o.Finite == c.Finite && o.Amount >= c.Amount }) {
			return false
		}
	}
	return true
}

func (p *Problem) holdsAny(site int32) bool {
	s := &p.Sites[site]
	return slices.ContainsFunc(p.Shelves[s.Shelf], func(k int32) bool { return p.fit(site, k, 1) > 0 })
}

// fit is how many pods of the item the site has room for, at most n.
func (p *Problem) fit(site, item int32, n int64) int64 {
	room := p.Sites[site].Room
	for d, q := range p.Items[item].Req {
		if q > 0 {
			if room[d] < q {
				return 0
			}
			n = min(n, room[d]/q)
		}
	}
	return max(n, 0)
}
