package scheduling

import (
	"encoding/binary"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// shapeInfo is what a shape of the model stands for.
type shapeInfo struct {
	constraint int32
	// given are, by variant, the preferences that it does without, in the order in which they were given up.
	given [][]string
}

// shapeKeys numbers what a shape is made of.
type shapeKeys struct{ req, ports, volumes int32 }

// portClosure is where a set of host ports is taken already.
type portClosure struct {
	// rows marks those on which a DaemonSet has one of the ports, old the existing nodes; nil: none.
	rows pack.Mask
	old  []uint64
}

// outlook is the variants of a constraint together with volumes and ports, without the amounts.
type outlook struct {
	variants []board.Variant
	given    [][]string
	soft     [][]int
}

type outlookKey struct {
	constraint, ports, volumes int32
	hopeless                   string
}

// shaper makes the shapes.
type shaper struct {
	c        *compiler
	buf      []byte
	reqs     map[string]int32
	ports    map[string]int32
	volumes  map[string]int32
	outlooks map[outlookKey]int32
	list     []outlook
	shapes   map[[2]int32]int32
}

func newShaper(c *compiler) *shaper {
	return &shaper{c: c, reqs: map[string]int32{}, ports: map[string]int32{}, volumes: map[string]int32{},
		outlooks: map[outlookKey]int32{}, shapes: map[[2]int32]int32{}}
}

func number(ids map[string]int32, key []byte) int32 {
	id, ok := ids[string(key)]
	if !ok {
		id = int32(len(ids))
		ids[string(key)] = id
	}
	return id
}

// keys numbers the parts of the class's shape.
func (x *shaper) keys(cl *class) shapeKeys {
	b := x.buf[:0]
	for _, q := range cl.req {
		b = binary.AppendVarint(b, q)
	}
	out := shapeKeys{req: number(x.reqs, b), ports: -1, volumes: -1}
	if len(cl.ports) > 0 {
		out.ports = x.closure(cl)
	}
	if cl.volumeTerms != nil {
		b = b[:0]
		for _, term := range sortedTerms(cl.volumeTerms) {
			b = append(append(b, 't'), term...)
		}
		out.volumes = number(x.volumes, b)
	}
	x.buf = b
	return out
}

// closure finds where the class's host ports are taken; -1: nowhere.
func (x *shaper) closure(cl *class) int32 {
	c := x.c
	var p portClosure
	for i := range c.rows {
		if slices.ContainsFunc(c.rows[i].daemons, func(d int32) bool { return portsClash(cl.ports, c.daemons[d].ports) }) {
			if p.rows == nil {
				p.rows = make(pack.Mask, len(c.rows))
			}
			p.rows[i] = ^uint64(0)
		}
	}
	for i := range c.nodes {
		if portsClash(cl.ports, c.nodes[i].ports) {
			if p.old == nil {
				p.old = newBits(len(c.nodes))
			}
			setBit(p.old, i)
		}
	}
	if p.rows == nil && p.old == nil {
		return -1
	}
	var b []byte
	for _, list := range [][]uint64{p.rows, p.old} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, w := range list {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
	}
	id := number(x.ports, b)
	if int(id) == len(c.portClosed) {
		c.portClosed = append(c.portClosed, p)
	}
	return id
}

// shape returns the number of the class's shape, and which soft constraints its variants keep. out tells which
// of them nobody can meet.
func (x *shaper) shape(cl *class, s shapeKeys, out []bool) (int32, [][]int) {
	key := outlookKey{cl.constraint, s.ports, s.volumes, ""}
	if slices.Contains(out, true) {
		b := x.buf[:0]
		for _, o := range out {
			b = append(b, byte(b2i(o)))
		}
		key.hopeless = string(b)
	}
	o, ok := x.outlooks[key]
	if !ok {
		o = int32(len(x.list))
		x.outlooks[key] = o
		x.list = append(x.list, x.outlook(cl, s, out))
	}
	look := &x.list[o]
	id, ok := x.shapes[[2]int32{o, s.req}]
	if !ok {
		id = int32(len(x.c.model.Shapes))
		x.shapes[[2]int32{o, s.req}] = id
		x.c.model.Shapes = append(x.c.model.Shapes, board.Shape{Req: cl.req, Variants: look.variants})
		x.c.shapes = append(x.c.shapes, shapeInfo{cl.constraint, look.given})
	}
	return id, look.soft
}

// outlook works out the variants. Volumes tie pods to places without being a constraint that others see, so
// their terms come in here and not in the constraint's own.
func (x *shaper) outlook(cl *class, s shapeKeys, hopeless []bool) outlook {
	c := x.c
	k := c.constraints[cl.constraint]
	if cl.volumeTerms != nil {
		k.terms = bothOf(k.terms, cl.volumeTerms)
	}
	list := c.ladder(&k, k.preferencesOf(), hopeless)
	var out outlook
	for i := range list {
		v := &list[i]
		c.evaluate(&k, v)
		if s.ports >= 0 {
			c.portClosed[s.ports].close(v)
		}
	}
	c.keepPolicies(list)
	for i := range list {
		v := &list[i]
		out.variants = append(out.variants, board.Variant{Mask: v.mask, MaskID: v.maskID, Alts: v.alts, Fits: v.fits})
		out.given, out.soft = append(out.given, v.given), append(out.soft, v.soft)
	}
	return out
}

// bothOf combines each term of a with each of b.
func bothOf(a, b [][]int32) [][]int32 {
	var out [][]int32
	for _, s := range a {
		for _, t := range b {
			out = append(out, slices.Concat(s, t))
		}
	}
	return out
}

// close takes away where the ports are taken.
func (p *portClosure) close(v *variant) {
	without := func(m pack.Mask) {
		for i := range p.rows {
			m[i] &^= p.rows[i]
		}
	}
	without(v.mask)
	for i := range v.alts {
		without(v.alts[i].Mask)
	}
	for w := range p.old {
		v.fits[w] &^= p.old[w]
	}
}

// excludes finds the classes whose host ports clash, by number of the port.
func (c *compiler) excludes() {
	type port struct {
		protocol string
		number   int32
	}
	byPort := map[port][]int32{}
	for i := range c.classes {
		if !c.places(int32(i)) {
			continue
		}
		for _, p := range c.classes[i].ports {
			id := port{p.protocol, p.port}
			if l := byPort[id]; len(l) == 0 || l[len(l)-1] != int32(i) {
				byPort[id] = append(l, int32(i))
			}
		}
	}
	for _, list := range byPort {
		for x, a := range list {
			for _, b := range list[x:] {
				if !portsClash(c.classes[a].ports, c.classes[b].ports) {
					continue
				}
				c.model.Classes[a].Excludes = append(c.model.Classes[a].Excludes, b)
				if a != b {
					c.model.Classes[b].Excludes = append(c.model.Classes[b].Excludes, a)
				}
			}
		}
	}
	for i := range c.model.Classes {
		ex := c.model.Classes[i].Excludes
		slices.Sort(ex)
		c.model.Classes[i].Excludes = slices.Compact(ex)
	}
}
