package scheduling

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// variantsOf are the variants of a class, with fewer preferences each.
func (c *compiler) variantsOf(class int32) []board.Variant {
	return c.model.Shapes[c.model.Classes[class].Shape].Variants
}

func (c *compiler) variantOf(class, variant int32) *board.Variant {
	return &c.variantsOf(class)[variant]
}

// lastVariant is what the class requires.
func (c *compiler) lastVariant(class int32) *board.Variant {
	vs := c.variantsOf(class)
	return &vs[len(vs)-1]
}

// nodeRules turns what concerns a single node into the kernel's terms: anti-affinity and host ports exclude, spread
// over hosts caps. What must be near others is not for the kernel.
func (c *compiler) nodeRules(keep []int32) *pack.Rules {
	m := &c.model
	n := len(m.Classes)
	ru := &pack.Rules{Excludes: make([][]int32, n+1), Caps: make([][]pack.Cap, n+1)}
	owners, counted := make([][]int32, len(m.Groups)), make([][]int32, len(m.Groups))
	for id := range m.Classes {
		cl := &m.Classes[id]
		ru.Excludes[id] = slices.Clone(cl.Excludes)
		for _, g := range cl.Owns {
			owners[g] = append(owners[g], int32(id))
		}
		for _, list := range cl.Soft[:min(len(cl.Soft), 1)] {
			for _, g := range list {
				if keep == nil || keep[id] > 0 {
					owners[g] = append(owners[g], int32(id))
				}
			}
		}
		for _, g := range cl.In {
			counted[g] = append(counted[g], int32(id))
		}
	}
	for g := range m.Groups {
		gr := &m.Groups[g]
		if gr.Key != board.Host || gr.Kind == board.Affinity {
			continue
		}
		if most, ok := capOf(gr, owners[g], counted[g]); ok {
			for _, id := range counted[g] {
				ru.Caps[id] = append(ru.Caps[id], pack.Cap{Group: int32(g), Max: most, In: true, Owns: contains32(owners[g], id)})
			}
			for _, id := range owners[g] {
				if !contains32(counted[g], id) {
					ru.Caps[id] = append(ru.Caps[id], pack.Cap{Group: int32(g), Max: most, Owns: true})
				}
			}
			continue
		}
		for _, a := range owners[g] {
			for _, b := range counted[g] {
				ru.Excludes[a], ru.Excludes[b] = append(ru.Excludes[a], b), append(ru.Excludes[b], a)
			}
		}
	}
	for id := range ru.Excludes {
		slices.Sort(ru.Excludes[id])
		ru.Excludes[id] = slices.Compact(ru.Excludes[id])
	}
	return ru
}

// capOf tells whether a group over hostnames can be said as a cap: a spread, or an anti-affinity that counts all who
// state it, so that one of them is the most a node may have.
func capOf(gr *board.Group, owners, counted []int32) (int32, bool) {
	if gr.Kind == board.Spread {
		return max(gr.MaxSkew, 1), true
	}
	for _, id := range owners {
		if !contains32(counted, id) {
			return 0, false
		}
	}
	return 1, true
}

func contains32(sorted []int32, v int32) bool {
	_, ok := slices.BinarySearch(sorted, v)
	return ok
}

// inTurn orders classes by their turn.
func (c *compiler) inTurn(todo []*pending) []*pending {
	out := slices.Clone(todo)
	slices.SortFunc(out, func(a, b *pending) int { return int(c.turn[a.class] - c.turn[b.class]) })
	return out
}

// turns orders classes for placing: those whose pods others must be near; of these, those that can go to fewest
// domains; those that spreads only count come after those that state them, which can still balance then, unless they
// have one domain to go to: then the others had better know of them, in whatever order kube-scheduler binds.
func (c *compiler) turns(d *divider) {
	c.depths()
	m := &c.model
	free := make([]int32, len(c.classes))
	for id := range c.classes {
		switch {
		case !c.places(int32(id)) || !m.Linked(int32(id)):
			free[id] = math.MaxInt32
		case m.CountedOnly(int32(id)) && len(d.cellsOf(int32(id), c.lastVariant(int32(id)))) > 1:
			free[id] = math.MaxInt32 - 1
		case slices.ContainsFunc(m.Classes[id].Owns, m.FloorIsZero):
			free[id] = -1 // other pods cannot help it, but it can help them
		case len(m.KeysOf(int32(id))) > 0:
			free[id] = int32(len(d.cellsOf(int32(id), c.lastVariant(int32(id)))))
		}
	}
	order := slices.Clone(c.order)
	slices.SortFunc(order, func(a, b int32) int {
		switch {
		case c.depth[a] != c.depth[b]:
			return int(c.depth[a] - c.depth[b])
		case free[a] != free[b]:
			return cmp.Compare(free[a], free[b])
		}
		return int(c.place[a] - c.place[b])
	})
	c.turn = make([]int32, len(c.classes))
	for i, id := range order {
		c.turn[id] = int32(i)
	}
}

// depths finds, for every class, the longest chain of affinities behind it; a circle counts as one.
func (c *compiler) depths() {
	m := &c.model
	c.depth = make([]int32, len(m.Classes))
	counted := make([][]int32, len(m.Groups))
	for id := range c.classes {
		for _, g := range m.Classes[id].In {
			if m.Groups[g].Kind == board.Affinity {
				counted[g] = append(counted[g], int32(id))
			}
		}
	}
	const open, done = 1, 2
	state := make([]uint8, len(m.Classes))
	var visit func(id int32) int32
	visit = func(id int32) int32 {
		if state[id] != 0 {
			return c.depth[id]
		}
		state[id] = open
		var targets []int32
		look := func(g int32) {
			if m.Groups[g].Kind == board.Affinity {
				targets = append(targets, counted[g]...)
			}
		}
		for _, g := range m.Classes[id].Owns {
			look(g)
		}
		for _, list := range m.Classes[id].Soft[:min(1, len(m.Classes[id].Soft))] {
			for _, g := range list {
				look(g)
			}
		}
		// In a circle it matters where one begins, so the order must be the classes' own.
		slices.SortFunc(targets, func(a, b int32) int { return cmp.Compare(c.place[a], c.place[b]) })
		deep := int32(0)
		for _, t := range slices.Compact(targets) {
			if t != id {
				deep = max(deep, visit(t)+1)
			}
		}
		c.depth[id], state[id] = deep, done
		c.deepest = max(c.deepest, deep)
		return deep
	}
	for _, id := range c.order {
		visit(id)
	}
}

// rank orders pods by who gets what is finite: the highest priority first, room that is only kept free last.
func (cl *class) rank() int64 {
	if cl.buffer {
		return math.MinInt64
	}
	return int64(cl.priority)
}

// bands counts the priorities there are.
func (c *compiler) bands() int {
	seen := map[int64]bool{}
	for id := range c.classes {
		seen[c.classes[id].rank()] = true
	}
	return len(seen)
}

// byPriority divides classes into bands, the highest priority first.
func (c *compiler) byPriority(todo []*pending) [][]*pending {
	sorted := slices.Clone(todo)
	slices.SortStableFunc(sorted, func(a, b *pending) int {
		return cmp.Compare(c.classes[b.class].rank(), c.classes[a.class].rank())
	})
	var out [][]*pending
	for i, pd := range sorted {
		if i == 0 || c.classes[pd.class].rank() != c.classes[sorted[i-1].class].rank() {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], pd)
	}
	return out
}

// placed is how many pods of the gang have a place.
func (g *gang) placed(left []int32, c *compiler) (n int32) {
	for _, id := range g.classes {
		n += int32(len(c.classes[id].pods)) - left[id]
	}
	return n
}

// gangOrder is the gangs by the highest priority in them, then by name.
func (c *compiler) gangOrder() []int {
	order := make([]int, len(c.gangs))
	rank := make([]int64, len(c.gangs))
	for i := range order {
		order[i] = i
		for k, id := range c.gangs[i].classes {
			if r := c.classes[id].rank(); k == 0 || r > rank[i] {
				rank[i] = r
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(rank[b], rank[a]), strings.Compare(c.gangs[a].name, c.gangs[b].name))
	})
	return order
}
