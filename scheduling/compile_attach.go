package scheduling

import (
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// findAttachable lists the drivers that pods may have volumes of and of which some node, new or existing, can attach
// only so many.
func (c *compiler) findAttachable() {
	c.attachable = map[string]bool{}
	for i := range c.p.Nodes {
		for _, l := range c.storage.limits(c.p.Nodes[i].Name) {
			c.attachable[l.driver] = true
		}
	}
	for _, driver := range c.storage.drivers() {
		name := AttachLimit(driver)
		c.attachable[driver] = c.attachable[driver] || slices.ContainsFunc(c.p.Pools, func(p Pool) bool {
			return slices.ContainsFunc(p.InstanceTypes, func(t *InstanceType) bool {
				_, ok := t.Capacity[name]
				return ok
			})
		})
	}
}

// sharedDims makes resources of what shared volumes take.
func (c *compiler) sharedDims() {
	for i := range c.classes {
		if v := c.classes[i].volumes; v != nil {
			for _, s := range v.shared {
				c.dim(AttachLimit(s.driver))
			}
		}
	}
}

// readVolumeTerms turns what volumes ask of nodes into conditions.
func (c *compiler) readVolumeTerms() {
	for i := range c.classes {
		cl := &c.classes[i]
		if cl.volumes == nil || cl.volumes.terms == nil {
			continue
		}
		cl.volumeTerms = [][]int32{}
		for _, term := range cl.volumes.terms {
			atoms := make([]int32, 0, len(term))
			for _, q := range term {
				a, err := c.atom(q)
				if err != nil {
					cl.refused = &Reason{Code: CodeVolume, Detail: err.Error()}
					continue
				}
				atoms = append(atoms, a)
			}
			cl.volumeTerms = append(cl.volumeTerms, atoms)
		}
	}
}

// attachments fills in how many more volumes an existing node can attach. Those that several pods mount are taken
// off here too: what is on the node already costs the next pod nothing.
func (c *compiler) attachments(n *Node, free []int64) {
	if !slices.Contains(c.attachDim, true) {
		return
	}
	for d, is := range c.attachDim {
		if is {
			free[d] = pack.Unlimited
		}
	}
	private, shared := c.storage.attached(n)
	for _, l := range c.storage.limits(n.Name) {
		d := slices.Index(c.dims, AttachLimit(l.driver))
		if d < 0 {
			continue
		}
		free[d] = l.n
		for _, p := range private {
			if p.driver == l.driver {
				free[d] -= p.n
			}
		}
		for _, s := range shared {
			free[d] -= int64(b2i(s.driver == l.driver))
		}
	}
}
