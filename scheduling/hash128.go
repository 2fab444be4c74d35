package scheduling

import (
	"math/bits"

	corev1 "k8s.io/api/core/v1"
)

// hash128 is a small non-cryptographic hash with fixed seeds: the same input gives the same value
// in every process, on every processor, in every version that keeps digestVersion. Two
// lanes of 64 bits absorb every word by multiplication and folding. It guards against mistakes,
// not against someone who looks for collisions.
type hash128 struct{ a, b uint64 }

// Constants with mixed bits: fractions of the square roots of the first primes, made odd.
const (
	seedA = 0x6a09e667f3bcc909
	seedB = 0xbb67ae8584caa73b
	mulA  = 0x3c6ef372fe94f82b
	mulB  = 0xa54ff53a5f1d36f1
	mulC  = 0x510e527fade682d1
	mulD  = 0x9b05688c2b3e6c1f
)

func newHash(tag uint64) hash128 { return hash128{seedA ^ tag, seedB + tag} }

func fold(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi ^ lo
}

// word absorbs one word. Additions keep a lane that happens to become zero from staying there.
func (h *hash128) word(x uint64) {
	h.a = fold(h.a^x, mulA) + seedB
	h.b = fold(h.b^x, mulB) + seedA
}

func (h *hash128) bool(v bool) {
	if v {
		h.word(1)
	} else {
		h.word(0)
	}
}

// str absorbs a string with its length, so that neighbours cannot run into each other.
func (h *hash128) str(s string) {
	n := len(s)
	a, b := h.a^uint64(n), h.b+uint64(n)
	for len(s) >= 8 {
		x := load8(s)
		a, b = fold(a^x, mulA)+seedB, fold(b^x, mulB)+seedA
		s = s[8:]
	}
	var x uint64
	if len(s) >= 4 {
		x = uint64(load4(s)) | uint64(load4(s[len(s)-4:]))<<32
	} else if len(s) > 0 {
		x = uint64(s[0]) | uint64(s[len(s)>>1])<<8 | uint64(s[len(s)-1])<<16
	} else if n > 0 {
		// The length has been absorbed and the last word was full: nothing is left to add.
		h.a, h.b = a, b
		return
	}
	h.a, h.b = fold(a^x, mulA)+seedB, fold(b^x, mulB)+seedA
}

func load8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func load4(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// sum returns the lanes mixed with each other, fit to be added to other sums.
func (h hash128) sum() hash128 {
	return hash128{fold(h.a^bits.RotateLeft64(h.b, 29), mulC), fold(h.b^bits.RotateLeft64(h.a, 31), mulD)}
}

// add combines sums of a set's elements without regard to order.
func (h *hash128) add(t hash128) {
	h.a += t.a
	h.b += t.b
}

// set absorbs the combination of n elements.
func (h *hash128) set(elements hash128, n int) {
	h.word(elements.a)
	h.word(elements.b)
	h.word(uint64(n))
}

func (h *hash128) stringMap(m map[string]string) {
	var all hash128
	for k, v := range m {
		e := hash128{seedA, seedB}
		e.str(k)
		e.str(v)
		all.add(e)
	}
	h.set(all, len(m))
}

// list absorbs amounts in the units that the solver works in, so that 1 and 1000m are the same.
// Most lists hold cpu and memory only: two look-ups are cheaper than a walk.
func (h *hash128) list(l corev1.ResourceList) {
	if len(l) == 0 {
		h.word(0)
		return
	}
	left := len(l)
	h.word(uint64(left))
	if q, ok := l[corev1.ResourceCPU]; ok {
		h.word(uint64(q.MilliValue()) ^ mulC)
		left--
	}
	if q, ok := l[corev1.ResourceMemory]; ok {
		h.word(uint64(q.Value()) ^ mulD)
		left--
	}
	if left > 0 {
		h.otherAmounts(l)
	}
}

func (h *hash128) otherAmounts(l corev1.ResourceList) {
	var all hash128
	for name, q := range l {
		if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
			continue
		}
		e := hash128{seedB, seedA}
		e.str(string(name))
		e.word(uint64(q.Value()))
		all.add(e)
	}
	h.set(all, len(l))
}

func (h *hash128) taints(list []corev1.Taint) {
	var all hash128
	for i := range list {
		t := &list[i]
		e := hash128{seedA, seedB}
		e.str(t.Key)
		e.str(t.Value)
		e.str(string(t.Effect))
		all.add(e)
	}
	h.set(all, len(list))
}

func (h *hash128) requirements(list []Requirement) {
	var all hash128
	for i := range list {
		r := &list[i]
		e := hash128{seedA, seedB}
		e.str(r.Key)
		e.str(string(r.Operator))
		e.strings(r.Values)
		if r.MinValues != nil && *r.MinValues != 0 {
			e.word(uint64(*r.MinValues))
		}
		all.add(e.sum())
	}
	h.set(all, len(list))
}

// strings absorbs a set of strings.
func (h *hash128) strings(list []string) {
	var all hash128
	for _, s := range list {
		e := hash128{seedA, seedB}
		e.str(s)
		all.add(e)
	}
	h.set(all, len(list))
}

// bytes absorbs as str does, without making a string of it.
func (h *hash128) bytes(b []byte) {
	h.word(uint64(len(b)))
	for len(b) >= 8 {
		h.word(uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56)
		b = b[8:]
	}
	var x uint64
	for i, c := range b {
		x |= uint64(c) << (8 * i)
	}
	h.word(x)
}
