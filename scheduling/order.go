package scheduling

import (
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// repair takes pods out again where a spread does not hold in the end: a domain that was to fill up with
// the others turned out full, or nodes of other pods made a domain of what was none. Taking one away
// may unbalance another group, so it goes on until nothing changes; it ends because pods only leave.
func (f *finisher) repair() (changed bool) {
	for f.repairOne(f.recount()) {
		changed = true
		f.resettle()
	}
	return changed
}

// recount counts what was packed in the end, by the nodes it is on.
func (f *finisher) recount() *splitter {
	s := newSplitter(f.t)
	for i, content := range f.a.result.OnNodes {
		for _, x := range content {
			s.countOn(x.Class, i, x.Count)
		}
	}
	for i := range f.a.result.Runs {
		r := &f.a.result.Runs[i]
		_, bit := f.c.space.Price(int(r.Row), r.Bits)
		s.see(r.Row, bit)
		for _, x := range r.Content {
			s.countNew(x.Class, r.Row, bit, x.Count*r.Mult)
		}
	}
	return s
}

// see notes the domains of a new node.
func (s *splitter) see(row int32, bit int) {
	k := s.t.newCell(row, bit)
	for g := range s.t.groups {
		gr := &s.t.groups[g]
		if d := gr.in(k); d >= 0 && gr.countsNew(row, bit) {
			s.there[g][d] = true
		}
	}
}

func (f *finisher) repairOne(s *splitter) bool {
	for j := range f.a.jobs {
		info := &f.a.jobs[j]
		if !info.divided || f.placed(int32(j)) == 0 {
			continue
		}
		for _, g := range f.t.of[info.class] {
			gr := &f.t.groups[g]
			d := gr.in(info.cell)
			if d < 0 || gr.anti || !gr.owns[info.class] {
				continue
			}
			over := s.selected[g][d] - s.least(int(g), f.a.cells[info.class]) - gr.maxSkew
			if over > 0 && f.remove(int32(j), min(over, f.placed(int32(j)))) > 0 {
				return true
			}
		}
	}
	return false
}

// placed is how many pods of the job have a node.
func (f *finisher) placed(job int32) int32 { return f.jobs[job].Count - f.a.result.Left[job] }

// remove takes n pods of the job from the last launches, then from existing nodes.
func (f *finisher) remove(job, n int32) int32 {
	res := f.a.result
	removed := int32(0)
	for i := len(res.Runs) - 1; i >= 0 && removed < n; i-- {
		if !slices.ContainsFunc(res.Runs[i].Content, func(c pack.Content) bool { return c.Job == job }) {
			continue
		}
		parts, k := res.Runs[i].Remove(job, f.jobs[job].Req, n-removed)
		removed += k
		res.Runs = slices.Replace(res.Runs, i, i+1, parts...)
	}
	for i := len(res.OnNodes) - 1; i >= 0 && removed < n; i-- {
		for k := range res.OnNodes[i] {
			if c := &res.OnNodes[i][k]; c.Job == job {
				take := min(c.Count, n-removed)
				c.Count -= take
				removed += take
			}
		}
	}
	res.Left[job] += removed
	return removed
}

// bindOrder interleaves the pods of divided classes so that each one's constraints hold when it is
// bound; all others come after, since no order matters to them.
func (f *finisher) bindOrder() {
	if f.byJob == nil {
		return
	}
	s := newSplitter(f.t)
	copy(s.there, f.a.split.there)
	var order []int32
	seen := make([]bool, len(f.c.p.Pods))
	for progress := true; progress; {
		progress = false
		for start := 0; start < len(f.a.jobs); {
			end := start + 1
			for end < len(f.a.jobs) && f.a.jobs[end].class == f.a.jobs[start].class && f.a.jobs[end].divided {
				end++
			}
			n := len(order)
			order = f.bindClass(s, start, end, order)
			progress = progress || len(order) > n
			start = end
		}
	}
	for j := range f.byJob { // what no order satisfies; Verify tells
		for _, b := range f.byJob[j] {
			order = append(order, b.pod)
		}
	}
	for _, p := range order {
		seen[p] = true
	}
	rest := make([]int32, 0, len(f.c.p.Pods)-len(order))
	for _, pl := range f.plan.Placements {
		rest = append(rest, pl.Pod)
	}
	for i := range f.plan.Launches {
		rest = append(rest, f.plan.Launches[i].Pods...)
	}
	for _, p := range rest {
		if !seen[p] {
			order = append(order, p)
		}
	}
	f.plan.BindOrder = order
}

// bindClass binds as many pods of the jobs as their constraints let it, fewest first.
func (f *finisher) bindClass(s *splitter, start, end int, order []int32) []int32 {
	class := f.a.jobs[start].class
	all := f.a.cells[class]
	if len(all) == 0 || !f.a.jobs[start].divided {
		return order
	}
	jobAt := make([]int, len(all))
	for i := range all {
		jobAt[i] = -1
		for j := start; j < end; j++ {
			if f.a.jobs[j].cell == all[i].cell {
				jobAt[i] = j
			}
		}
	}
	for {
		k, ok := s.next(class, all, func(i int) bool { return jobAt[i] >= 0 && len(f.byJob[jobAt[i]]) > 0 })
		if !ok {
			return order
		}
		j := jobAt[k]
		b := f.byJob[j][0]
		f.byJob[j] = f.byJob[j][1:]
		order = append(order, b.pod)
		if b.node >= 0 {
			s.countOn(class, int(b.node), 1)
		} else {
			s.countNew(class, b.row, b.bit, 1)
		}
	}
}
