package pack

import (
	"math"
	"slices"
)

// kind is jobs that are alike to a new node: they ask for the same, allow the same, and a node may hold the same
// number of pods of each. Nodes are filled with kinds; which jobs the pods are of is decided when a node is
// bought. So the work grows with the kinds, not with the jobs.
type kind struct {
	// job stands for all of them.
	job int32
	// jobs that still have pods, those that need most nodes first.
	jobs []int32
	req  []int64
	mask Mask
	// group is the index of their mask.
	group int32
	// limit is how many pods of each job a node may hold.
	limit int32
	// tangled kinds are one job whose rules concern other jobs as well.
	tangled bool
	urgent  bool
	// left is their pods, avail how many of them one node may have.
	left, avail int64
	// worth of one pod, in billionths.
	worth int64
	// share of a pod's worth that is its first resource, in thousandths.
	share int32
}

// look is what a job is to a node as far as resources and labels go. Jobs that look the same are refused
// by the same nodes, rules between pods aside.
type look struct {
	size, mask, alt int32
}

// traits are what is known of a job from the start.
type traits struct {
	look
	// limit is how many of the job's pods a node may hold, whatever else is there.
	limit int32
	// tangled is set if rules concern other jobs of the round as well, met if there may be pods of the
	// same class on nodes of earlier rounds.
	tangled, met bool
}

const noLimit = math.MaxInt32

// registry numbers what jobs have in common.
type registry struct {
	sizes  [][]int64
	bySize map[uint64][]int32
	masks  map[int32]int32 // by MaskID
	mask   []Mask
	alts   map[*Alternative]int32
	// asks are alternatives by what they ask, for jobs that have just one.
	asks map[string]int32
	// overlap of masks: 0 not known, 1 no, 2 yes.
	overlap [][]int8
	// ofClass lists, for classes that a node may hold only some of, the jobs so far.
	ofClass map[int32][]int32
}

func newRegistry() registry {
	return registry{bySize: map[uint64][]int32{}, masks: map[int32]int32{}, alts: map[*Alternative]int32{}, asks: map[string]int32{},
		ofClass: map[int32][]int32{}}
}

func (g *registry) look(j *Job) look {
	return look{size: g.sizeOf(j.Req), mask: g.maskOf(j), alt: g.altOf(j)}
}

func (g *registry) sizeOf(req []int64) int32 {
	h := uint64(14695981039346656037)
	for _, q := range req {
		h = (h ^ uint64(q)) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	for _, id := range g.bySize[h] {
		if slices.Equal(g.sizes[id], req) {
			return id
		}
	}
	id := int32(len(g.sizes))
	g.sizes = append(g.sizes, req)
	g.bySize[h] = append(g.bySize[h], id)
	return id
}

func (g *registry) maskOf(j *Job) int32 {
	id, ok := g.masks[j.MaskID]
	if !ok {
		id = int32(len(g.mask))
		g.masks[j.MaskID] = id
		g.mask = append(g.mask, j.Mask)
	}
	return id
}

// altOf numbers alternatives: 0 for none, else equal numbers only for equal ones.
func (g *registry) altOf(j *Job) int32 {
	if len(j.Alternatives) == 0 {
		return 0
	}
	first := &j.Alternatives[0]
	if id, ok := g.alts[first]; ok {
		return id
	}
	id := int32(len(g.alts) + 1)
	if len(j.Alternatives) == 1 { // its mask is the job's
		key := make([]byte, 0, 8*len(first.Open))
		for _, req := range first.Open {
			for s := 0; s < 32; s += 8 {
				key = append(key, byte(req.Key>>s), byte(req.State>>s))
			}
		}
		if same, ok := g.asks[string(key)]; ok {
			id = same
		} else {
			g.asks[string(key)] = id
		}
	}
	g.alts[first] = id
	return id
}

// overlaps reports whether two masks have an offering in common.
func (g *registry) overlaps(a, b int32) bool {
	for len(g.overlap) < len(g.mask) {
		g.overlap = append(g.overlap, nil)
	}
	if n := len(g.mask); len(g.overlap[a]) < n {
		g.overlap[a] = append(g.overlap[a], make([]int8, n-len(g.overlap[a]))...)
	}
	known := &g.overlap[a][b]
	if *known == 0 {
		*known = 1
		for r, m := range g.mask[a] {
			if m&g.mask[b][r] != 0 {
				*known = 2
				break
			}
		}
	}
	return *known == 2
}

// manyJobs of one class are not compared with each other: they are taken to share nodes.
const manyJobs = 64

// enlist takes in the jobs of a round, which begins at e.active.
func (e *Packer) enlist() {
	for ji := e.active; ji < len(e.jobs); ji++ {
		j := &e.jobs[ji]
		t := traits{look: e.known.look(j), limit: noLimit}
		if e.knots != nil {
			t.limit, t.tangled = e.knots[j.Class].limit, e.knots[j.Class].tangled
		}
		e.traits = append(e.traits, t)
		if t.limit < noLimit && !t.tangled {
			e.acquaint(int32(ji))
		}
	}
}

// acquaint finds the jobs of the same class that could have pods where the job has.
func (e *Packer) acquaint(ji int32) {
	t := &e.traits[ji]
	class := e.jobs[ji].Class
	others := e.known.ofClass[class]
	e.known.ofClass[class] = append(others, ji)
	if len(others) > manyJobs {
		t.tangled, t.met = true, true
		return
	}
	for _, other := range others {
		o := &e.traits[other]
		if len(others) < manyJobs && !e.known.overlaps(t.mask, o.mask) {
			continue
		}
		if int(other) >= e.active {
			t.tangled, o.tangled = true, true
		} else {
			t.met = true
		}
	}
}

// collect makes kinds of the round's jobs that some row of the tier can hold.
func (e *Packer) collect() {
	type key struct {
		look
		limit  int32
		urgent bool
	}
	e.kinds, e.groups, e.groupCount = e.kinds[:0], make([]*group, len(e.known.mask)), 0
	at := map[key]int32{}
	apart := 0
	for ji := e.active; ji < len(e.jobs); ji++ {
		apart += int(b2i(e.traits[ji].tangled && e.left[ji] > 0))
	}
	e.kinds = slices.Grow(e.kinds, apart)
	of := make([]int32, len(e.jobs)-e.active) // kind by job
	var sizes []int32                         // jobs by kind
	for ji := e.active; ji < len(e.jobs); ji++ {
		j, t := &e.jobs[ji], &e.traits[ji]
		id := key{t.look, t.limit, j.Urgent}
		k, ok := int32(-1), e.left[ji] == 0
		if !ok && !t.tangled {
			if k, ok = at[id]; !ok {
				k = -1
			}
		}
		if !ok {
			if e.feasible(j) {
				k = int32(len(e.kinds))
				sizes = append(sizes, 0)
				e.kinds = append(e.kinds, kind{job: int32(ji), req: j.Req, mask: j.Mask, group: t.mask, limit: t.limit, tangled: t.tangled, urgent: j.Urgent})
				if e.groups[t.mask] == nil {
					e.groups[t.mask] = &group{}
					e.groupCount++
				}
			}
			if !t.tangled {
				at[id] = k
			}
		}
		if of[ji-e.active] = k; k >= 0 {
			sizes[k]++
		}
	}
	store := make([]int32, len(of))
	for k, n := range sizes {
		e.kinds[k].jobs, store = store[:0:n], store[n:]
	}
	for i, k := range of {
		if k >= 0 {
			e.kinds[k].jobs = append(e.kinds[k].jobs, int32(e.active+i))
		}
	}
	e.refresh()
}

// feasible reports whether some row of the tier can hold a pod of the job.
func (e *Packer) feasible(j *Job) bool {
	for _, r := range e.byPrice {
		if j.Mask[r] != 0 && Holds(e.s.AllocOf(int(r)), j.Req) {
			return true
		}
	}
	return false
}

// refresh counts the kinds' pods anew.
func (e *Packer) refresh() {
	for k := range e.kinds {
		kd := &e.kinds[k]
		kd.left, kd.avail = 0, 0
		kd.jobs = slices.DeleteFunc(kd.jobs, func(ji int32) bool { return e.left[ji] == 0 })
		for _, ji := range kd.jobs {
			kd.left += int64(e.left[ji])
			kd.avail += int64(min(e.left[ji], kd.limit))
		}
		if kd.limit < noLimit {
			slices.SortStableFunc(kd.jobs, func(a, b int32) int { return int(e.left[b]) - int(e.left[a]) })
		}
	}
}

// draw takes n pods of the kind for one node from its first jobs.
func (e *Packer) draw(dst []Content, k int32, n int32) []Content {
	kd := &e.kinds[k]
	for _, ji := range kd.jobs {
		if n == 0 {
			break
		}
		if take := min(e.left[ji], kd.limit, n); take > 0 {
			dst = append(dst, Content{Class: e.jobs[ji].Class, Job: ji, Count: take})
			n -= take
		}
	}
	return dst
}

// use takes what was drawn, for mult nodes.
func (e *Packer) use(k int32, drawn []Content, mult int32) {
	kd := &e.kinds[k]
	for _, c := range drawn {
		had := min(e.left[c.Job], kd.limit)
		e.left[c.Job] -= c.Count * mult
		kd.left -= int64(c.Count) * int64(mult)
		kd.avail -= int64(had - min(e.left[c.Job], kd.limit))
	}
	gone := 0
	for gone < len(kd.jobs) && e.left[kd.jobs[gone]] == 0 {
		gone++
	}
	kd.jobs = kd.jobs[gone:]
}
