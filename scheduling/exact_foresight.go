package scheduling

import (
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// foresight tells of places given to some pods that no order of binding makes right, wherever the others go.
type foresight struct {
	m      *board.Model
	groups []foreseen
	// parts are, by job, the groups that have to do with it.
	parts [][]partIn
	log   []entered
	marks []int
}

// foreseen is a group over a key other than the hostname, with what it counts.
type foreseen struct {
	group int32
	*board.Group
	// in and own are pods that the group counts and that state it, both those that do both, by domain; there, of the
	// first two, what runs already.
	in, own, both    []int32
	runIn, runOwners []int32
	// rest is how many that the group counts have no place yet, or none with a known domain; others of them do not
	// state it.
	rest, others int32
	// least has the domains whose counts are part of a spread's minimum for all classes.
	least []bool
}

type partIn struct {
	of      int32 // index of foresight.groups
	own, in bool
}

type entered struct {
	of, domain  int32
	own, in, n  int32
	both, known bool
}

// foresee prepares for the jobs of a packing.
func (l *linked) foresee(from *pack.Result) {
	f := &l.foresight
	f.m = &l.c.model
	at := map[int32]int32{}
	f.parts = make([][]partIn, len(l.jobs))
	tally := l.board.Tally()
	for j := range l.jobs {
		cl := &f.m.Classes[l.jobs[j].Class]
		for _, g := range f.m.GroupsOf(l.jobs[j].Class) {
			gr := &f.m.Groups[g]
			if gr.Key == board.Host || gr.Soft {
				continue
			}
			k, ok := at[g]
			if !ok {
				k = int32(len(f.groups))
				at[g] = k
				n := len(f.m.Keys[gr.Key].Mask)
				x := foreseen{group: g, Group: gr, in: make([]int32, n), own: make([]int32, n), both: make([]int32, n), runIn: make([]int32, n),
					runOwners: make([]int32, n), least: slices.Clone(gr.Eligible)}
				for d := range int32(n) {
					x.runIn[d] = tally.In(g, d)
					if gr.Kind == board.Anti {
						x.runOwners[d] = tally.Owners(g, d)
					}
				}
				f.groups = append(f.groups, x)
			}
			f.parts[j] = append(f.parts[j], partIn{of: k, own: contains32(cl.Owns, g), in: contains32(cl.In, g)})
		}
		for g, reach := range cl.Reach {
			if k, ok := at[g]; ok && f.groups[k].least != nil {
				for d := range reach {
					f.groups[k].least[d] = f.groups[k].least[d] && reach[d]
				}
			}
		}
	}
	count := func(content []pack.Content, mult int32) {
		for _, x := range content {
			for _, p := range f.parts[x.Job] {
				if p.in {
					f.groups[p.of].rest += x.Count * mult
				}
				if p.in && !p.own {
					f.groups[p.of].others += x.Count * mult
				}
			}
		}
	}
	for i := range from.Runs {
		count(from.Runs[i].Content, from.Runs[i].Mult)
	}
	for _, content := range from.OnNodes {
		count(content, 1)
	}
	for j := range l.jobs {
		l.confine(j)
	}
}

// confine takes the offerings and nodes away from a job on which its pods can never be.
func (l *linked) confine(job int) {
	f := &l.foresight
	j := &l.jobs[job]
	if len(f.parts[job]) == 0 && len(f.m.Classes[j.Class].Volumes) == 0 {
		return
	}
	one := []pack.Content{{Class: j.Class, Job: int32(job), Count: 1}}
	s := f.m.Space
	mask := slices.Clone(j.Mask)
	for r, left := range j.Mask {
		if left != 0 && !f.attaches(-1, int32(r), one) {
			mask[r], left = 0, 0
		}
		for bit := 0; left>>bit != 0; bit++ {
			if left>>bit&1 != 0 && !f.may(job, func(key int32) int32 { return f.m.DomainOf(key, int32(r), bit) }) {
				mask[r] &^= 1 << bit
			}
		}
	}
	fits := j.Fits
	j.Mask = mask
	j.Fits = func(i int) bool {
		return fits(i) && f.attaches(int32(i), -1, one) && f.may(job, func(key int32) int32 { return s.Nodes[i].Domain[key] })
	}
}

// may reports whether a pod of the job can ever be in the domains, for all that runs already.
func (f *foresight) may(job int, domain func(key int32) int32) bool {
	for _, p := range f.parts[job] {
		g := &f.groups[p.of]
		d := domain(g.Key)
		switch {
		case d == board.Absent:
			if p.own && g.Kind != board.Anti {
				return false
			}
		case d < 0:
		case g.Kind == board.Anti && (p.own && g.runIn[d] > 0 || p.in && g.runOwners[d] > 0):
			return false
		}
	}
	return true
}

// attaches reports whether the node has slots for the volumes that its pods share, each once.
func (f *foresight) attaches(node, row int32, content []pack.Content) bool {
	s := f.m.Space
	if !slices.ContainsFunc(content, func(x pack.Content) bool { return len(f.m.Classes[x.Class].Volumes) > 0 }) {
		return true
	}
	var there, fresh []int32
	var free []int64
	if node < 0 {
		free = slices.Clone(s.AllocOf(int(row)))
	} else {
		free = slices.Clone(s.Nodes[node].Free)
		for _, x := range s.Nodes[node].Content {
			for _, v := range f.m.Classes[x.Class].Volumes {
				there = append(there, v.ID)
			}
		}
	}
	for _, x := range content {
		cl := &f.m.Classes[x.Class]
		for d, q := range f.m.Shapes[cl.Shape].Req {
			free[d] -= q * int64(x.Count)
		}
		for _, v := range cl.Volumes {
			if v.Dim < 0 || slices.Contains(there, v.ID) || slices.Contains(fresh, v.ID) {
				continue
			}
			fresh = append(fresh, v.ID)
			if free[v.Dim]--; free[v.Dim] < 0 {
				return false
			}
		}
	}
	return true
}

// Enter takes note of what a node is to hold.
func (f *foresight) Enter(node, row int32, bit int, content []pack.Content) bool {
	f.marks = append(f.marks, len(f.log))
	mark := len(f.log)
	for _, x := range content {
		for _, p := range f.parts[x.Job] {
			g := &f.groups[p.of]
			e := entered{of: p.of, domain: -1, n: x.Count, own: int32(b2i(p.own)), in: int32(b2i(p.in)), both: p.own && p.in}
			if node >= 0 {
				e.domain = f.m.Space.Nodes[node].Domain[g.Key]
				e.known = g.Old == nil || g.Old[node]
			} else {
				e.domain = f.m.DomainOf(g.Key, row, bit)
				e.known = g.Match == nil && (g.Rows == nil || g.Rows[row]>>bit&1 != 0)
			}
			f.log = append(f.log, e)
			f.apply(&e, 1)
		}
	}
	if !f.attaches(node, row, content) {
		return false
	}
	for i := mark; i < len(f.log); i++ {
		if !f.possible(&f.groups[f.log[i].of]) {
			return false
		}
	}
	return true
}

// Leave takes the last Enter back.
func (f *foresight) Leave() {
	mark := f.marks[len(f.marks)-1]
	f.marks = f.marks[:len(f.marks)-1]
	for i := len(f.log) - 1; i >= mark; i-- {
		f.apply(&f.log[i], -1)
	}
	f.log = f.log[:mark]
}

func (f *foresight) apply(e *entered, sign int32) {
	g := &f.groups[e.of]
	if e.domain < board.Absent {
		return // it is not known where that will be
	}
	n := e.n * sign
	g.rest -= n * e.in
	if !e.both {
		g.others -= n * e.in
	}
	if e.domain < 0 || !e.known {
		return
	}
	g.in[e.domain] += n * e.in
	g.own[e.domain] += n * e.own
	if e.both {
		g.both[e.domain] += n
	}
}

// possible reports whether the group can be obeyed in the end.
func (f *foresight) possible(g *foreseen) bool {
	switch g.Kind {
	case board.Anti:
		for d := range g.in {
			if in, own := g.in[d], g.own[d]; in > 0 && own > 0 && !(in == 1 && own == 1 && g.both[d] == 1) {
				return false
			}
		}
	case board.Affinity:
		// Where only those that state it are counted, one of them must be the first of all.
		firsts := int32(1)
		for _, n := range g.runIn {
			if n > 0 {
				firsts = 0
			}
		}
		for d := range g.in {
			switch {
			case g.own[d] == 0 || g.runIn[d] > 0 || g.in[d] > g.both[d] || g.others > 0:
			case g.in[d] == 0 && g.rest == 0:
				return false
			default:
				firsts--
			}
		}
		return firsts >= 0
	case board.Spread:
		if g.Match != nil || f.m.Space.Limits != nil || f.m.Space.Reservation != nil {
			return true // what is closed does not count
		}
		least := int32(-1)
		for d, ok := range g.least {
			if n := g.in[d] + g.runIn[d] + g.rest; ok && (least < 0 || n < least) {
				least = n
			}
		}
		for d := range g.both {
			if least >= 0 && g.both[d] > 0 && g.both[d]+g.runIn[d]-least > g.MaxSkew {
				return false
			}
		}
	}
	return true
}
