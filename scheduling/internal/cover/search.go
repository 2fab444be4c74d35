package cover

import (
	"cmp"
	"math"
	"slices"
)

// search looks for the best content of one site.
type search struct {
	c     *counter
	sh    *shelf
	room  []int64
	n     []int32
	u     []int32
	order []int32
	// for the exact searches
	list  []int32
	count []int32
	rem   []int64
}

func (s *search) load(c *counter, site int32, sh *shelf) {
	k := &c.k
	s.c, s.sh = c, sh
	s.room = append(s.room[:0], c.p.Sites[site].Room...)
	s.n, s.u = resize(s.n, k.n), resize(s.u, k.n)
	for i := range k.n {
		s.u[i] = int32(k.u[i])
	}
	clear(s.n)
}

func (s *search) req(i int32) []int64 { return s.c.p.Items[s.sh.items[i]].Req }

// put adds up to n of the item and returns how many there was room for.
func (s *search) put(i int32, n int32) int32 {
	n = min(n, s.u[i]-s.n[i])
	req := s.req(i)
	for d, q := range req {
		if q > 0 {
			if s.room[d] < q {
				return 0
			}
			n = int32(min(int64(n), s.room[d]/q))
		}
	}
	if n <= 0 {
		return 0
	}
	for d, q := range req {
		s.room[d] -= q * int64(n)
	}
	s.n[i] += n
	return n
}

// round makes a content of the relaxation: what it takes whole, then whatever loses least.
func (s *search) round() ([]Part, float64) {
	k := &s.c.k
	s.order = s.order[:0]
	for i := range int32(k.n) {
		if k.u[i] > 0 && k.y[i] > 0 {
			s.order = append(s.order, i)
		}
	}
	slices.SortFunc(s.order, func(a, b int32) int {
		if c := cmp.Compare(k.d[b], k.d[a]); c != 0 {
			return c
		}
		return int(a - b)
	})
	for p, b := range k.basis {
		if int(b) < k.n && k.x[p] >= 1 {
			s.put(b, int32(min(k.x[p]+1e-9, k.u[b])))
		}
	}
	for _, i := range s.order {
		s.put(i, s.u[i])
	}
	return s.parts(s.n)
}

// fill puts more into a content, what loses least first, and returns what it is worth.
func (s *search) fill(n []int32) float64 {
	k := &s.c.k
	copy(s.room, s.roomOf())
	clear(s.n)
	for i, count := range n {
		if count > 0 {
			s.put(int32(i), count)
		}
	}
	for _, i := range s.order {
		if s.n[i] < s.u[i] {
			s.put(i, s.u[i])
		}
	}
	worth := 0.0
	for i, count := range s.n[:k.n] {
		n[i] = count
		worth += float64(k.y[i] * float64(count))
	}
	return worth
}

func (s *search) parts(n []int32) ([]Part, float64) {
	var out []Part
	worth := 0.0
	for i, count := range n {
		if count > 0 {
			out = append(out, Part{s.sh.items[i], count})
			worth += float64(s.c.k.y[i] * float64(count))
		}
	}
	return out, worth
}

// undominated leaves out items of which a node never needs any: as many others as it may hold ask for no more and are
// worth no less.
func (s *search) undominated(list []int32) []int32 {
	k := &s.c.k
	if len(list) > 2000 {
		return list
	}
	most := int64(math.MaxInt64)
	for _, d := range s.sh.asked {
		least := int64(math.MaxInt64)
		for _, i := range list {
			least = min(least, s.req(i)[d])
		}
		if least > 0 {
			most = min(most, s.rem[d]/least)
		}
	}
	if most > 64 {
		return list
	}
	s.c.work += int64(len(list) * len(list) / 4)
	out := list[:0:0]
	for x, i := range list {
		better := int64(0)
		for z, j := range list {
			if z != x && k.y[j] >= k.y[i] && better < most && s.noMore(j, i, z < x) {
				better += int64(s.u[j])
			}
		}
		if better < most {
			out = append(out, i)
		}
	}
	return out
}

// noMore reports whether item a asks for no more than b and is worth no less; of two that are equal the first wins.
func (s *search) noMore(a, b int32, first bool) bool {
	same := s.c.k.y[a] == s.c.k.y[b]
	x, y := s.req(a), s.req(b)
	for _, d := range s.sh.asked {
		if x[d] > y[d] {
			return false
		}
		same = same && x[d] == y[d]
	}
	return !same || first
}

// roomOf is the room of the site when nothing is put in.
func (s *search) roomOf() []int64 {
	room := slices.Clone(s.room)
	for i, n := range s.n[:s.c.k.n] {
		if n > 0 {
			for d, q := range s.req(int32(i)) {
				room[d] += q * int64(n)
			}
		}
	}
	return room
}
