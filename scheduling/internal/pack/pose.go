package pack

import (
	"encoding/binary"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/cover"
)

// poser states what is to be bought as a cover.Problem: items in groups of one mask, and a site for each row and
// offering that differs from others to some item.
type poser struct {
	s *Space
	p cover.Problem
	// masks and items are by group.
	masks []Mask
	items [][]int32
	// spots are by site.
	spots []spot
	// shelves are numbered by the groups that may go there.
	shelves map[string]int32
	// units are, by what is finite, in how much of it amounts are told; relaxed rounds these in favour of the plan.
	units   []int64
	relaxed bool
	cells   []cell
	key     []byte
}

// spot is where a site's nodes are opened: any of the offerings, all of one price.
type spot struct {
	row  int32
	bits uint64
	// seed is the group of the pods that decide what minValues leave of the row, -1 without minValues.
	seed int32
}

// cell is the offerings of a row that are alike: of one price and reservation, for the same groups.
type cell struct {
	bits     uint64
	price    int64
	reserved int32
	draw     int64
	groups   []uint64
}

func newPoser(s *Space) *poser { return &poser{s: s, shelves: map[string]int32{}} }

// group returns the number of a new group.
func (q *poser) group(m Mask) int {
	q.masks, q.items = append(q.masks, m), append(q.items, nil)
	return len(q.masks) - 1
}

// item adds an item to the group.
func (q *poser) item(group int, it cover.Item) {
	q.items[group] = append(q.items[group], int32(len(q.p.Items)))
	q.p.Items = append(q.p.Items, it)
}

// finest is in how many units anything finite is told at most.
const finest = 1 << 20

// finite adds something of which there is n.
func (q *poser) finite(n int64) int32 {
	n = max(n, 0)
	unit := n/finest + 1
	if q.relaxed {
		n += unit - 1
	}
	q.units = append(q.units, unit)
	q.p.Finite = append(q.p.Finite, n/unit)
	return int32(len(q.p.Finite) - 1)
}

// claim adds a claim on something finite.
func (q *poser) claim(list []cover.Claim, finite int32, n int64) []cover.Claim {
	unit := q.units[finite]
	if !q.relaxed {
		n += unit - 1
	}
	if n /= unit; n > 0 {
		list = append(list, cover.Claim{Finite: finite, Amount: n})
	}
	return list
}

// cellsOf are the row's offerings among open, without those that another one replaces: as cheap, without end, and
// for at least the same groups. They are valid until the next call.
func (q *poser) cellsOf(row int32, open uint64) []cell {
	q.cells = q.cells[:0]
	from, to := q.s.OfferStart[row], q.s.OfferStart[row+1]
	words := (len(q.masks) + 63) / 64
next:
	for at := from; at < to; at++ {
		bit := uint64(1) << (at - from)
		if open&bit == 0 {
			continue
		}
		c := cell{bits: bit, price: q.s.Offer[at], reserved: -1, groups: make([]uint64, words)}
		if q.s.Reservation != nil {
			c.reserved, c.draw = q.s.Reservation[at], q.s.drawOf(int(at))
		}
		some := false
		for g, m := range q.masks {
			if m[row]&bit != 0 {
				c.groups[g>>6] |= 1 << (g & 63)
				some = true
			}
		}
		if !some {
			continue
		}
		for i := range q.cells {
			o := &q.cells[i]
			if o.price == c.price && o.reserved == c.reserved && o.draw == c.draw && slices.Equal(o.groups, c.groups) {
				o.bits |= bit
				continue next
			}
			if o.reserved < 0 && within(c.groups, o.groups) {
				continue next
			}
		}
		q.cells = append(q.cells, c)
	}
	return q.cells
}

// within reports whether all groups of a are in b.
func within(a, b []uint64) bool {
	for i, w := range a {
		if w&^b[i] != 0 {
			return false
		}
	}
	return true
}

// shelf is the set of all items of the groups.
func (q *poser) shelf(groups []uint64) int32 {
	q.key = q.key[:0]
	for _, w := range groups {
		q.key = binary.LittleEndian.AppendUint64(q.key, w)
	}
	id, ok := q.shelves[string(q.key)]
	if !ok {
		id = int32(len(q.p.Shelves))
		q.shelves[string(q.key)] = id
		var items []int32
		for g := range q.items {
			if groups[g>>6]>>(g&63)&1 != 0 {
				items = append(items, q.items[g]...)
			}
		}
		slices.Sort(items)
		q.p.Shelves = append(q.p.Shelves, items)
	}
	return id
}

// enough is more of a resource than pods ask for; what is unlimited would cost precision.
const enough int64 = 1 << 50

// site adds a site.
func (q *poser) site(at spot, room []int64, price int64, groups []uint64, claims []cover.Claim) {
	if slices.ContainsFunc(room, func(a int64) bool { return a < 0 || a > enough }) {
		room = slices.Clone(room)
		for d := range room {
			room[d] = min(max(room[d], 0), enough)
		}
	}
	q.p.Sites = append(q.p.Sites, cover.Site{Room: room, Price: price, Shelf: q.shelf(groups), Claims: claims})
	q.spots = append(q.spots, at)
}
