package pack

import "slices"

// join puts pods into nodes opened before, as far as that makes none of them dearer.
func (e *Packer) join() {
	for k := range e.kinds {
		from := 0 // the runs before have no room for the kind, whatever the job
		for _, ji := range e.kinds[k].jobs {
			for r := from; r < len(e.runs) && e.left[ji] > 0; r++ {
				if !e.b.spend(1) {
					return
				}
				if !e.joinRun(r, ji) && r == from {
					from++
				}
			}
		}
	}
}

// joinRun puts pods of the job into nodes of the run. False: no job of the kind will ever fit there.
func (e *Packer) joinRun(r int, ji int32) bool {
	run, j := &e.runs[r], &e.jobs[ji]
	if e.s.wants(e.s.Pool[run.Row]) {
		return false // its flexibility was settled when it was opened
	}
	n := fitUsed(e.s.AllocOf(int(run.Row)), run.Used, j.Req, e.left[ji])
	if n == 0 || j.Mask[run.Row]&run.Bits&-run.Bits == 0 {
		return false
	}
	_, open, ok := e.s.Narrow(j, run.Row, run.Bits&-run.Bits, run.Open)
	if !ok {
		return false
	}
	if n = e.nodeCap(ji, run.Content, n); n > 0 {
		bitsLeft, _, _ := e.s.Narrow(j, run.Row, run.Bits, run.Open)
		e.add(r, ji, n, bitsLeft, open)
	}
	return true
}

// nodeCap is how many more pods of the job may join nodes of this or an earlier round with the content.
func (e *Packer) nodeCap(ji int32, content []Content, n int32) int32 {
	if t := &e.traits[ji]; !t.tangled && (!t.met || t.limit == noLimit) {
		return min(n, t.limit)
	}
	return e.ru.nodeCap(e.jobs[ji].Class, content, n)
}

func fitUsed(alloc, used, req []int64, limit int32) int32 {
	n := int64(limit)
	for d, q := range req {
		if q <= 0 {
			continue
		}
		if n = min(n, (alloc[d]-used[d])/q); n <= 0 {
			return 0
		}
	}
	return int32(n)
}

// add puts n pods of the job on each node of run r; where they do not go round, the run is split.
func (e *Packer) add(r int, ji, n int32, allowed uint64, open []int32) {
	full := min(e.left[ji]/n, e.runs[r].Mult)
	rest := int32(0)
	if full < e.runs[r].Mult {
		rest = e.left[ji] % n
	}
	grow := func(run Run, mult, n int32) Run {
		run.Mult = mult
		run.Bits = allowed
		run.Open = open
		run.Content = append(slices.Clone(run.Content), Content{Class: e.jobs[ji].Class, Job: ji, Count: n})
		run.Used = slices.Clone(run.Used)
		for d, q := range e.jobs[ji].Req {
			run.Used[d] += q * int64(n)
		}
		return run
	}
	old := e.runs[r]
	var parts []Run
	if full > 0 {
		parts = append(parts, grow(old, full, n))
	}
	if rest > 0 {
		parts = append(parts, grow(old, 1, rest))
		full++
	}
	if old.Mult > full {
		old.Mult -= full
		parts = append(parts, old)
	}
	e.left[ji] -= (full-b2i(rest > 0))*n + rest
	e.runs = slices.Replace(e.runs, r, r+1, parts...)
}

func b2i(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
