package pack

import "slices"

// placeOnNodes puts the round's pods on existing nodes: the largest first, each on the first node that
// takes it.
func (e *Packer) placeOnNodes() {
	if len(e.s.Nodes) == 0 {
		return
	}
	var room []int32 // nodes with room for pods of the size under way
	size := int32(-1)
	for _, ji := range e.bySize(nil) {
		j := &e.jobs[ji]
		if t := e.traits[ji].size; t != size {
			size, room = t, room[:0]
			for i := range e.s.Nodes {
				if Fit(e.freeOf(int32(i)), j.Req, 1) > 0 {
					room = append(room, int32(i))
				}
			}
			if !e.b.spend(int64(len(e.s.Nodes))/16 + 1) {
				return
			}
		}
		full := false
		for _, i := range room {
			if e.left[ji] == 0 {
				break
			}
			if !e.b.spend(1) {
				return
			}
			full = e.place(ji, i) || full
		}
		if full {
			room = slices.DeleteFunc(room, func(i int32) bool { return Fit(e.freeOf(i), j.Req, 1) == 0 })
		}
	}
}

// place puts pods of the job on the node. It reports whether the node has no room for another then.
func (e *Packer) place(ji, node int32) bool {
	j := &e.jobs[ji]
	rem := e.freeOf(node)
	n := Fit(rem, j.Req, e.left[ji])
	if n == 0 || !j.Fits(int(node)) {
		return n == 0
	}
	if n = e.nodeRoom(ji, e.content[node], n); n == 0 {
		return false
	}
	for d, q := range j.Req {
		rem[d] -= q * int64(n)
	}
	e.left[ji] -= n
	c := Content{Class: j.Class, Job: ji, Count: n}
	e.placed[node] = append(e.placed[node], c)
	// The content may still be shared with the space: grow a copy.
	e.content[node] = append(e.content[node][:len(e.content[node]):len(e.content[node])], c)
	return Fit(rem, j.Req, 1) == 0
}

// nodeRoom is how many more pods of the job may join the content of a node that is not of this packing.
func (e *Packer) nodeRoom(ji int32, content []Content, n int32) int32 {
	if t := &e.traits[ji]; !t.tangled && t.limit == noLimit {
		return n
	}
	return e.ru.nodeCap(e.jobs[ji].Class, content, n)
}

func (e *Packer) freeOf(node int32) []int64 {
	return e.free[int(node)*e.s.Dims : (int(node)+1)*e.s.Dims]
}

// bySize lists the round's jobs that have pods for first fit: urgent ones, then by resource after resource,
// the largest first. Jobs are passed over if skip says so; nil: none.
func (e *Packer) bySize(skip func(ji int32) bool) []int32 {
	sizes := make([]int32, len(e.known.sizes))
	for i := range sizes {
		sizes[i] = int32(i)
	}
	slices.SortFunc(sizes, func(a, b int32) int { return slices.Compare(e.known.sizes[b], e.known.sizes[a]) })
	n := len(sizes)
	// start[u][rank] is where jobs of that size go.
	rank, start := make([]int32, n), make([]int32, 2*n+1)
	for i, size := range sizes {
		rank[size] = int32(i)
	}
	slot := func(ji int32) int {
		if e.jobs[ji].Urgent {
			return int(rank[e.traits[ji].size])
		}
		return n + int(rank[e.traits[ji].size])
	}
	var list []int32
	for ji := int32(e.active); int(ji) < len(e.jobs); ji++ {
		if e.left[ji] > 0 && (skip == nil || !skip(ji)) {
			list = append(list, ji)
			start[slot(ji)+1]++
		}
	}
	for i := range 2 * n {
		start[i+1] += start[i]
	}
	out := make([]int32, len(list))
	for _, ji := range list {
		k := slot(ji)
		out[start[k]] = ji
		start[k]++
	}
	return out
}
