package pack

import (
	"cmp"
	"math/bits"
	"slices"
)

// Ledger tracks what new nodes leave of the pools' limits and of the reservations. A node takes one of its
// pool's nodes, what it charges, and what its target, the cheapest offering it allows, draws on a reservation.
// Whoever moves a node to another row or target refunds the old claim and charges the new one.
type Ledger struct {
	s *Space
	// left and nodes are what is left of the limits; nil without limits.
	left, nodes []int64
	// reserved is what is left of the reservations; nil without any.
	reserved []int64
	// shut are, per row, the offerings whose reservation has less left than they draw.
	shut []uint64
	// offers lists the offerings of each reservation, those that draw most first; never written to, so that copies
	// share it. closed is how many of them, from the first on, are shut.
	offers [][]offering
	closed []int32
	// turns counts how often offerings were shut or opened again.
	turns int
}

type offering struct {
	row  int32
	bit  uint64
	draw int64
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
				l.offers[id] = append(l.offers[id], offering{int32(r), 1 << k, s.drawOf(int(s.OfferStart[r]) + k)})
			}
		}
	}
	l.closed = make([]int32, len(s.Reserved))
	for id := range l.reserved {
		slices.SortStableFunc(l.offers[id], func(a, b offering) int { return cmp.Compare(b.draw, a.draw) })
		l.mark(int32(id))
	}
	return l
}

// Clone is a copy that does not share what charges change.
func (l *Ledger) Clone() Ledger {
	out := *l
	out.left, out.nodes = slices.Clone(l.left), slices.Clone(l.nodes)
	out.reserved, out.shut, out.closed = slices.Clone(l.reserved), slices.Clone(l.shut), slices.Clone(l.closed)
	return out
}

// Limited reports whether there are limits; without them charges mean nothing and may be nil.
func (l *Ledger) Limited() bool { return l.left != nil }

// Open is the part of m that a new node of row may have: offerings whose reservation has too little left drop out.
func (l *Ledger) Open(row int32, m uint64) uint64 {
	if l.shut == nil {
		return m
	}
	return m &^ l.shut[row]
}

// OpenTo is Open for a node that is there, of the row from with the offerings bits: what it has drawn is its own to use.
func (l *Ledger) OpenTo(row int32, m uint64, from int32, bits uint64) uint64 {
	open := l.Open(row, m)
	if open == m {
		return m
	}
	own, drawn := l.s.DrawOf(from, bits)
	if own < 0 {
		return open
	}
	for shut := m &^ open; shut != 0; shut &= shut - 1 {
		if id, draw := l.s.DrawOf(row, shut&-shut); id == own && draw <= l.reserved[own]+drawn {
			open |= shut & -shut
		}
	}
	return open
}

// Room is how many more nodes of row there may be, at most n, if each takes charge of its pool's limits and
// allows the offerings m. A nil charge is what the row itself has; m 0 leaves reservations aside.
func (l *Ledger) Room(row int32, m uint64, charge []int64, n int32) int32 {
	if l.reserved != nil {
		if id, draw := l.s.DrawOf(row, m); id >= 0 {
			n = int32(min(int64(n), max(l.reserved[id], 0)/draw))
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
		l.hold(row, m, n)
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

// hold takes what n nodes draw on their reservation, below 0: gives it back.
func (l *Ledger) hold(row int32, m uint64, n int64) {
	if id, draw := l.s.DrawOf(row, m); id >= 0 {
		l.reserved[id] -= n * draw
		l.mark(id)
	}
}

// mark shuts the offerings that draw more than the reservation has left, and opens the others.
func (l *Ledger) mark(id int32) {
	offers, at := l.offers[id], l.closed[id]
	for ; int(at) < len(offers) && offers[at].draw > l.reserved[id]; at++ {
		l.shut[offers[at].row] |= offers[at].bit
	}
	for ; at > 0 && offers[at-1].draw <= l.reserved[id]; at-- {
		l.shut[offers[at-1].row] &^= offers[at-1].bit
	}
	if at != l.closed[id] {
		l.closed[id] = at
		l.turns++
	}
}

// ReservationOf is the reservation of the cheapest offering in m; -1: none.
func (s *Space) ReservationOf(row int32, m uint64) int32 {
	id, _ := s.DrawOf(row, m)
	return id
}

// DrawOf is the reservation of the cheapest offering in m and how much a node takes of it; -1: none.
func (s *Space) DrawOf(row int32, m uint64) (id int32, draw int64) {
	if m == 0 || s.Reservation == nil {
		return -1, 0
	}
	at := int(s.OfferStart[row]) + bits.TrailingZeros64(m)
	return s.Reservation[at], s.drawOf(at)
}

// drawOf is what a node takes of the reservation of an offering, by the offering's place in Offer.
func (s *Space) drawOf(at int) int64 {
	if s.Draw == nil {
		return 1
	}
	return max(s.Draw[at], 1)
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
