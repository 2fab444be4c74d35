package scheduling

import (
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// fillModel says what pods mean to each other in the words of the board: groups, what each class has to do with
// them, and shapes. Classes keep their numbers; running ones follow.
func (c *compiler) fillModel() {
	c.model.Space = &c.space
	c.fillKeys()
	c.model.Classes = make([]board.Class, len(c.classes)+len(c.bound))
	for i := range c.model.Classes {
		c.model.Classes[i].Shape = -1
	}
	g, x, reach := newGrouper(c), newShaper(c), newReacher(c)
	eligible := map[int32][]bool{}
	for _, id := range c.order {
		if c.places(id) {
			c.fillClass(id, g, x, reach, eligible)
		}
	}
	for i, p := range c.bound {
		cl := &c.model.Classes[len(c.classes)+i]
		terms := requiredAntiAffinity(p)
		for t := range terms {
			cl.Owns = append(cl.Owns, g.anti(p, &terms[t], false))
		}
		sortUnique(&cl.Owns)
	}
	c.fillGroups(g, eligible)
	c.fillVolumes()
	if mixed := slices.Contains(c.poolRespects, !c.nodesRespect); mixed && c.softPods {
		for _, respects := range c.poolRespects {
			c.model.Ignores = append(c.model.Ignores, !respects)
		}
		c.model.IgnoresOld = !c.nodesRespect
	}
	c.strict()
	c.excludes()
	c.fillLimits()
}

func sortUnique(list *[]int32) {
	slices.Sort(*list)
	*list = slices.Compact(*list)
}

func (c *compiler) fillClass(id int32, g *grouper, x *shaper, reach *reacher, eligible map[int32][]bool) {
	cl, out := &c.classes[id], &c.model.Classes[id]
	hard, soft := g.spreads(id)
	spreads := slices.Concat(hard, soft)
	out.Owns = hard
	terms := requiredAntiAffinity(cl.pod)
	for t := range terms {
		out.Owns = append(out.Owns, g.anti(cl.pod, &terms[t], false))
	}
	out.Owns = append(out.Owns, g.affinity(cl.pod)...)
	sortUnique(&out.Owns)
	groups, hopeless := g.softGroups(cl, soft)
	keys := x.keys(cl)
	var kept [][]int
	out.Shape, kept = x.shape(cl, keys, hopeless)
	if len(groups) > 0 {
		for _, list := range kept {
			of := make([]int32, 0, len(list))
			for _, i := range list {
				of = append(of, groups[i])
			}
			sortUnique(&of)
			out.Soft = append(out.Soft, of)
		}
	}
	for _, n := range spreads {
		if spec := &c.groups[n]; spec.key != board.Host {
			var rows pack.Mask
			if spec.who >= 0 {
				rows = g.whos[spec.who].rows
			}
			own := reach.reach(cl, &keys, spec, rows)
			merge(eligible, n, own)
			if cl.volumeTerms != nil {
				if out.Reach == nil {
					out.Reach = map[int32][]bool{}
				}
				out.Reach[n] = own
			}
		}
	}
}

// merge adds what one more owner of a group can reach. The lists of most groups are equal and shared.
func merge(eligible map[int32][]bool, group int32, more []bool) {
	have, ok := eligible[group]
	if !ok {
		eligible[group] = more
		return
	}
	if slices.Equal(have, more) {
		return
	}
	have = slices.Clone(have)
	for i, b := range more {
		have[i] = have[i] || b
	}
	eligible[group] = have
}

// fillGroups describes the groups and tells the classes which of them count them.
func (c *compiler) fillGroups(g *grouper, eligible map[int32][]bool) {
	c.model.Sets = int32(len(g.sets))
	c.model.Groups = make([]board.Group, len(c.groups))
	for n := range c.groups {
		s := &c.groups[n]
		out := board.Group{Kind: s.kind, Key: s.key, Soft: s.soft, MaxSkew: s.maxSkew, MinDomains: s.minDomains, Set: s.set,
			Eligible: eligible[int32(n)]}
		if s.who >= 0 {
			w := &g.whos[s.who]
			out.Old, out.Rows, out.Opens, out.Match = w.old, w.rows, w.opens, w.match
		}
		c.model.Groups[n] = out
		for _, id := range s.audience {
			in := &c.model.Classes[id].In
			*in = append(*in, int32(n))
		}
	}
}

// fillVolumes numbers the volumes that several pods mount.
func (c *compiler) fillVolumes() {
	ids := map[string]int32{}
	list := func(i int) []sharedVolume {
		if i >= len(c.classes) {
			return c.boundVolumes[i-len(c.classes)]
		}
		if v := c.classes[i].volumes; v != nil {
			return v.shared
		}
		return nil
	}
	for i := range c.model.Classes {
		for _, v := range list(i) {
			ids[v.id] = 0
		}
	}
	for n, name := range sortedKeys(ids) {
		ids[name] = int32(n)
	}
	for i := range c.model.Classes {
		for _, v := range list(i) {
			c.model.Classes[i].Volumes = append(c.model.Classes[i].Volumes,
				board.Volume{ID: ids[v.id], Dim: int32(slices.Index(c.dims, AttachLimit(v.driver)))})
		}
	}
}

// fillLimits says what existing nodes charge to the limits of their pools, for those who take nodes away.
func (c *compiler) fillLimits() {
	if c.space.Limits == nil {
		return
	}
	pools := map[string]int32{}
	for i := range c.p.Pools {
		pools[c.p.Pools[i].Name] = int32(i)
	}
	for i := range c.nodes {
		n := c.nodes[i].node
		pool := int32(-1)
		if p, ok := pools[n.Pool]; ok && n.Pool != "" {
			pool = p
		}
		c.model.NodePool = append(c.model.NodePool, pool)
		c.model.NodeCap = append(c.model.NodeCap, c.charged(n))
	}
}

// charged is what an existing node counts against its pool's limits.
func (c *compiler) charged(n *Node) []int64 {
	used := make([]int64, len(c.dims))
	list := n.Capacity
	if len(list) == 0 {
		list = n.Allocatable
	}
	c.vector(list, used)
	return used
}
