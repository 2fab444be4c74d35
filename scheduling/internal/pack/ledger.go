package pack

import (
	"math/bits"
	"slices"
)

// Ledger tracks what new nodes leave of the pools' limits and of the reservations. A node takes one of its
// pool's nodes, what it charges, and one of the reservation of its target: the cheapest offering it allows.
// Whoever moves a node to another row or target refunds the old claim and charges the new one.
type Ledger struct {
	s *Space
	// left and nodes are what is left of the limits; nil without limits.
	left, nodes []int64
	// reserved is what is left of the reservations; nil without any.
	reserved []int64
	// shut are, per row, the offerings whose reservation is used up.
	shut []uint64
	// offers lists the offerings of each reservation; never written to, so that copies share it.
	offers [][]offering
	// turns counts how often offerings were shut or opened again.
	turns int
}

type offering struct {
	row int32
	bit uint64
}

// NewLedger has all that the space has.
func NewLedger(s *Space) Ledger {
	l := Ledger{s: s}
	if s.Limits != nil {
		l.left = append([]int64(nil), s.Limits...)
		l.nodes = append([]int64(nil), s.NodeLimit...)
	}
	if s.Reservation == nil {
		return l
	}
	l.reserved, l.shut = append([]int64(nil), s.Reserved...), make([]uint64, s.Rows)
	l.offers = make([][]offering, len(s.Reserved))
	for r := range s.Rows {
		for k, id := range s.Reservation[s.OfferStart[r]:s.OfferStart[r+1]] {
			if id >= 0 {
				l.offers[id] = append(l.offers[id], offering{int32(r), 1 << k})
			}
		}
	}
	for id, n := range l.reserved {
		if n <= 0 {
			l.mark(int32(id), true)
		}
	}
	return l
}

// Clone is a copy that does not share what charges change.
func (l *Ledger) Clone() Ledger {
	out := *l
	out.left, out.nodes = slices.Clone(l.left), slices.Clone(l.nodes)
	out.reserved, out.shut = slices.Clone(l.reserved), slices.Clone(l.shut)
	return out
}

// Limited reports whether there are limits; without them charges mean nothing and may be nil.
func (l *Ledger) Limited() bool { return l.left != nil }

// Open is the part of m that a new node of row may have: offerings whose reservation is used up drop out.
func (l *Ledger) Open(row int32, m uint64) uint64 {
	if l.shut == nil {
		return m
	}
	return m &^ l.shut[row]
}

// Room is how many more nodes of row there may be, at most n, if each takes charge of its pool's limits and
// allows the offerings m. A nil charge is what the row itself has; m 0 leaves reservations aside.
func (l *Ledger) Room(row int32, m uint64, charge []int64, n int32) int32 {
	if l.reserved != nil {
		if id := l.s.ReservationOf(row, m); id >= 0 {
			n = int32(min(int64(n), l.reserved[id]))
		}
	}
	if l.left == nil {
		return max(n, 0)
	}
	pool := int(l.s.Pool[row])
	if charge == nil {
		charge = l.s.capOf(int(row))
	}
	n = int32(min(int64(n), l.nodes[pool]))
	left := l.left[pool*l.s.Dims:]
	for d, c := range charge {
		if left[d] == Unlimited || c <= 0 {
			continue
		}
		n = int32(min(int64(n), max(left[d], 0)/c))
	}
	return max(n, 0)
}

// Rest is what the result leaves of limits and reservations.
func (s *Space) Rest(res *Result) Ledger {
	l := NewLedger(s)
	for i := range res.Runs {
		r := &res.Runs[i]
		l.Charge(r.Row, r.Bits, r.Charge, r.Mult)
	}
	return l
}

// Charge takes what n nodes claim; see Room for what that is. It does not ask whether there is room.
func (l *Ledger) Charge(row int32, m uint64, charge []int64, n int32) {
	l.book(row, m, charge, int64(n))
}

// Refund gives back what Charge took.
func (l *Ledger) Refund(row int32, m uint64, charge []int64, n int32) {
	l.book(row, m, charge, -int64(n))
}

func (l *Ledger) book(row int32, m uint64, charge []int64, n int64) {
	if l.reserved != nil {
		l.hold(l.s.ReservationOf(row, m), n)
	}
	if l.left == nil {
		return
	}
	pool := int(l.s.Pool[row])
	if charge == nil {
		charge = l.s.capOf(int(row))
	}
	if l.nodes[pool] != Unlimited {
		l.nodes[pool] -= n
	}
	left := l.left[pool*l.s.Dims:]
	for d, c := range charge {
		if left[d] != Unlimited {
			left[d] -= c * n
		}
	}
}

// hold takes n of the reservation, below 0: gives them back. id -1 is no reservation.
func (l *Ledger) hold(id int32, n int64) {
	if id < 0 {
		return
	}
	had := l.reserved[id] > 0
	l.reserved[id] -= n
	if has := l.reserved[id] > 0; has != had {
		l.mark(id, had)
	}
}

// mark shuts the offerings of the reservation, or opens them again.
func (l *Ledger) mark(id int32, shut bool) {
	l.turns++
	for _, o := range l.offers[id] {
		if shut {
			l.shut[o.row] |= o.bit
		} else {
			l.shut[o.row] &^= o.bit
		}
	}
}

// ReservationOf is the reservation of the cheapest offering in m; -1: none.
func (s *Space) ReservationOf(row int32, m uint64) int32 {
	if m == 0 || s.Reservation == nil {
		return -1
	}
	return s.Reservation[int(s.OfferStart[row])+bits.TrailingZeros64(m)]
}

// Release takes n of what an existing node charges to its pool's limits off them, below 0: puts it on again.
func (l *Ledger) Release(pool int32, charge []int64, n int64) {
	if l.left == nil {
		return
	}
	if l.nodes[pool] != Unlimited {
		l.nodes[pool] += n
	}
	left := l.left[int(pool)*l.s.Dims:]
	for d, c := range charge {
		if left[d] != Unlimited {
			left[d] += c * n
		}
	}
}
