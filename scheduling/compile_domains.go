package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// topologyKeys lists the keys that constraints count by, as nodes spell them, but for the hostname.
func (c *compiler) topologyKeys(r *podReader) []string {
	var out []string
	for key := range r.keys.topology {
		if key = c.rules.Key(key); key != corev1.LabelHostname {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// listDomains finds the values of every topology key: those that new nodes can have, those that existing nodes
// have, and where a pool leaves the label open to any value, those that pods ask for.
func (c *compiler) listDomains() {
	sets := c.allPoolSets()
	for _, key := range c.topology {
		named := map[string]bool{}
		for i := range c.atoms {
			if at := &c.atoms[i]; at.key == key && !at.set.all {
				for _, v := range at.set.values {
					named[v] = true
				}
			}
		}
		found := map[string]bool{}
		for i := range c.nodes {
			if v, ok := c.nodes[i].labels[key]; ok {
				found[v] = true
			}
		}
		for i := range c.rows {
			c.domainsOf(&c.rows[i], sets, key, named, found)
		}
		names := sortedKeys(found)
		atoms := make([]int32, len(names))
		for d, v := range names {
			atoms[d] = c.atomOf(key, Values(v))
		}
		c.keyNames = append(c.keyNames, key)
		c.domainNames, c.domainAtoms = append(c.domainNames, names), append(c.domainAtoms, atoms)
	}
}

// domainsOf adds the values that a label can have on new nodes of the row.
func (c *compiler) domainsOf(r *row, sets []map[string]ValueSet, key string, named, found map[string]bool) {
	decided := false
	for _, o := range r.offerings {
		if v, ok := offeringValue(&r.t.Offerings[o], key); ok {
			found[v], decided = true, true
		}
	}
	if decided {
		return
	}
	have := c.labelSet(r, sets[r.pool], key)
	if !have.all {
		for _, v := range have.values {
			found[v] = true
		}
		return
	}
	for v := range named {
		if have.Has(v) {
			found[v] = true
		}
	}
}

// fillKeys describes the topology keys, and puts existing nodes into their domains.
func (c *compiler) fillKeys() {
	for k := range c.keyNames {
		key := board.Key{Open: -1}
		for _, a := range c.domainAtoms[k] {
			at := &c.atoms[a]
			key.Mask, key.State = append(key.Mask, at.mask), append(key.State, c.state(at.set))
			if at.open >= 0 {
				key.Open = at.openKey
			}
		}
		c.model.Keys = append(c.model.Keys, key)
	}
	for i := range c.nodes {
		domain := make([]int32, len(c.keyNames))
		for k, key := range c.keyNames {
			domain[k] = board.Absent
			if v, ok := c.nodes[i].labels[key]; ok {
				d, _ := slices.BinarySearch(c.domainNames[k], v)
				domain[k] = int32(d)
			}
		}
		c.space.Nodes[i].Domain = domain
	}
}

// domainSet is the domains of a key that a row's nodes can be in, by row.
type domainSet [][]int32

func (c *compiler) rowDomains(key int) domainSet {
	out := make(domainSet, len(c.rows))
	for d, mask := range c.model.Keys[key].Mask {
		for i, b := range mask {
			if b != 0 {
				out[i] = append(out[i], int32(d))
			}
		}
	}
	return out
}

// reachKey is what decides which domains pods can reach by themselves.
type reachKey struct{ base, tol, req, ports, volumes, who, key int32 }

// reacher finds the domains that pods could reach on new nodes.
type reacher struct {
	c       *compiler
	domains []domainSet
	open    []bool
	memo    map[reachKey][]bool
	// rows are the same by domain for pods of any size.
	rows map[reachKey][][]int32
}

func newReacher(c *compiler) *reacher {
	x := &reacher{c: c, domains: make([]domainSet, len(c.keyNames)), open: make([]bool, len(c.rows)), memo: map[reachKey][]bool{}, rows: map[reachKey][][]int32{}}
	owned := map[string]bool{} // pools whose limits may get room, since nodes of theirs may go
	for i := 0; c.movable && i < len(c.p.Nodes); i++ {
		owned[c.p.Nodes[i].Pool] = true
	}
	for i := range c.rows {
		x.open[i] = c.space.Open(i) || owned[c.p.Pools[c.rows[i].pool].Name]
	}
	return x
}

// reach marks the domains of the key on new nodes which hold a pod of the class and count for the group, as far as
// what the pod requires goes, its volumes included.
func (x *reacher) reach(cl *class, s *shapeKeys, g *groupSpec, rows pack.Mask) []bool {
	k, key := &x.c.constraints[cl.constraint], g.key
	id := reachKey{k.base, k.tol, s.req, s.ports, s.volumes, g.who, key}
	if out, ok := x.memo[id]; ok {
		return out
	}
	most := id
	most.req = -1
	of, ok := x.rows[most]
	if !ok {
		of = x.rowsOf(cl, s, key, rows)
		x.rows[most] = of
	}
	out := make([]bool, len(of))
	for d, list := range of {
		out[d] = slices.ContainsFunc(list, func(r int32) bool { return fits(x.c.space.AllocOf(int(r)), cl.req) })
	}
	x.memo[id] = out
	return out
}

// rowsOf lists, by domain, the rows that can be in it and that pods like those of the class may go to, however large.
func (x *reacher) rowsOf(cl *class, s *shapeKeys, key int32, rows pack.Mask) [][]int32 {
	k := &x.c.constraints[cl.constraint]
	if x.domains[key] == nil {
		x.domains[key] = x.c.rowDomains(int(key))
	}
	terms := k.terms
	if cl.volumeTerms != nil {
		terms = bothOf(terms, cl.volumeTerms)
	}
	out := make([][]int32, len(x.c.domainNames[key]))
	for _, term := range terms {
		x.reachTerm(reachable{k: k, s: s, rows: rows, key: key}, term, out)
	}
	return out
}

// reachable is what is asked of the nodes of a domain.
type reachable struct {
	k    *constraint
	s    *shapeKeys
	rows pack.Mask // nil: all count
	key  int32
}

func (x *reacher) reachTerm(q reachable, term []int32, out [][]int32) {
	c, key := x.c, q.key
	ok := make([]bool, len(out)) // by domain: what the term says of the key itself
	for d, name := range c.domainNames[key] {
		ok[d] = !slices.ContainsFunc(term, func(a int32) bool { return c.atoms[a].key == c.keyNames[key] && !c.atoms[a].set.Has(name) })
	}
	var closed pack.Mask
	if q.s.ports >= 0 {
		closed = c.portClosed[q.s.ports].rows
	}
	for i, m := range c.termMask(q.k, term, true) {
		if q.rows != nil {
			m &= q.rows[i]
		}
		if m == 0 || !x.open[i] || closed != nil && closed[i] != 0 {
			continue
		}
		for _, d := range x.domains[key][i] {
			if ok[d] && c.model.Keys[key].Mask[d][i]&m != 0 {
				out[d] = append(out[d], int32(i))
			}
		}
	}
}
