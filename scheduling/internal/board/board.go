package board

import (
	"math/bits"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// Board is the state of a cluster while pods are placed. Not safe for concurrent use; boards of one
// Model may be used at the same time.
type Board struct {
	m     *Model
	tally Tally
	nodes []node
	// old is the number of nodes that exist; those behind them are to be launched.
	old int
	// most is, by block of existing nodes and resource, at least the most that is free on one of them.
	most []int64
	// led is what limits and reservations leave.
	led pack.Ledger
	log []entry
	was []state
	// vectors and lists are where the memory of new nodes comes from.
	vectors []int64
	lists   []int32
	items   []Item
	hosts   []hostCount
	choices []Choice
	spare   scratch
	// Steps counts tries to put a pod on a node.
	Steps int64
	// Lax lets minValues go where nothing satisfies them.
	Lax bool
}

// node is one that exists, or one that is to be launched.
type node struct {
	// row is what it is launched as, -1 if it exists.
	row int32
	// bits are the offerings that all its pods allow.
	bits uint64
	// open are the states of the row's open keys.
	open []int32
	// domain is by key: a domain, Absent, or free.
	domain []int32
	free   []int64
	items  []Item
	// hosts count pods by group over hostnames.
	hosts []hostCount
	// attached are the shared volumes on the node.
	attached []attachment
	// charge is what it takes of its pool's limits, nil for what its row has.
	charge []int64
	gone   bool
}

// free marks a key of a new node whose domain is not settled.
const free = -3

// Item is a number of pods of one class on a node. Variant is -1 for those that ran there before.
type Item struct {
	Class, Variant, Count int32
}

type hostCount struct{ group, in, own int32 }

type attachment struct{ id, count int32 }

// block is how many existing nodes share a maximum of what is free.
const block = 32

// New returns the board of the model with its existing nodes and what runs on them. It copies what
// changes: O(nodes and their pods).
func New(m *Model) *Board {
	b := &Board{m: m, tally: *NewTally(m), old: len(m.Space.Nodes)}
	s := m.Space
	for i := range s.Nodes {
		n := node{row: -1, domain: s.Nodes[i].Domain, free: slices.Clone(s.Nodes[i].Free)}
		b.nodes = append(b.nodes, n)
		b.stand(int32(i), 1)
		for _, c := range s.Nodes[i].Content {
			b.count(int32(i), c.Class, c.Count)
			b.nodes[i].items = append(b.nodes[i].items, Item{c.Class, -1, c.Count})
			b.attach(&b.nodes[i], c.Class, c.Count, false)
		}
	}
	b.most = make([]int64, (b.old+block-1)/block*s.Dims)
	for i := range b.most {
		b.most[i] = -1 << 62
	}
	for i := range b.nodes {
		b.raise(i)
	}
	b.led = pack.NewLedger(s)
	return b
}

// raise keeps the maxima above what is free on an existing node.
func (b *Board) raise(i int) {
	d := b.m.Space.Dims
	most := b.most[i/block*d : (i/block+1)*d]
	for x, f := range b.nodes[i].free {
		most[x] = max(most[x], f)
	}
}

// Nodes returns how many nodes there are, existing ones first, and how many of them exist.
func (b *Board) Nodes() (all, existing int) { return len(b.nodes), b.old }

// Node describes a node: its row (-1: it exists), the offerings left and the states of its open keys.
func (b *Board) Node(i int) (row int32, allowed uint64, open []int32) {
	return b.nodes[i].row, b.nodes[i].bits, b.nodes[i].open
}

// Items are the pods on a node; read only.
func (b *Board) Items(i int) []Item { return b.nodes[i].items }

// Domain is the node's domain of a key, Absent or below if it has none that is settled.
func (b *Board) Domain(i int, key int32) int32 { return b.nodes[i].domain[key] }

// Free is what the node has left; read only.
func (b *Board) Free(i int) []int64 { return b.nodes[i].free }

// Charge is what a new node takes of its pool's limits; nil: what its row has.
func (b *Board) Charge(i int) []int64 { return b.nodes[i].charge }

// Tally is what the groups count; read only.
func (b *Board) Tally() *Tally { return &b.tally }

// counts reports whether pods on the node count for the group.
func (b *Board) counts(i int32, gr *Group) bool {
	n := &b.nodes[i]
	if n.row < 0 {
		return gr.Old == nil || gr.Old[i]
	}
	if gr.Match != nil {
		return gr.Match(n.row, n.bits&-n.bits, n.open)
	}
	return gr.Rows == nil || gr.Rows[n.row]&(n.bits&-n.bits) != 0
}

// stand counts an existing node, or a new one under its cheapest offering, for the spreads whose pods could not
// reach its domains by themselves.
func (b *Board) stand(i int32, n int32) {
	nd := &b.nodes[i]
	for k := range b.m.loose {
		if len(b.m.loose[k]) == 0 {
			continue
		}
		d := nd.domain[k]
		if nd.row >= 0 && d == free {
			if d = b.m.DomainOf(int32(k), nd.row, bits.TrailingZeros64(nd.bits)); d == several {
				d = b.settled(b.m.Space.Settle(nd.open[b.m.Keys[k].Open]), int32(k))
			}
		}
		if d < 0 {
			continue
		}
		for _, g := range b.m.loose[k] {
			if b.counts(i, &b.m.Groups[g]) {
				b.tally.nodes[b.m.at[g]+d] += n
			}
		}
	}
}

// count adds n pods of the class on the node to what the groups count.
func (b *Board) count(i, class, n int32) {
	l := &b.m.links[class]
	if !l.any {
		return
	}
	nd := &b.nodes[i]
	for k, key := range l.keys {
		for _, x := range l.of[k] {
			if b.counts(i, &b.m.Groups[x.group]) {
				b.tally.add(x, nd.domain[key], n)
			}
		}
	}
	if len(l.host) > 0 && cap(nd.hosts) == 0 {
		nd.hosts = portion(&b.hosts)
	}
	for _, x := range l.host {
		gr := &b.m.Groups[x.group]
		if !b.counts(i, gr) {
			continue
		}
		h := nd.host(x.group)
		if x.in {
			h.in += n
			b.tally.sum[x.group] += n
		}
		if x.owns && gr.Kind == Anti {
			h.own += n
		}
	}
}

// host finds the node's counts of a group.
func (n *node) host(g int32) *hostCount {
	for i := range n.hosts {
		if n.hosts[i].group == g {
			return &n.hosts[i]
		}
	}
	n.hosts = append(n.hosts, hostCount{group: g})
	return &n.hosts[len(n.hosts)-1]
}

func (n *node) hostCounts(g int32) (in, own int32) {
	for i := range n.hosts {
		if n.hosts[i].group == g {
			return n.hosts[i].in, n.hosts[i].own
		}
	}
	return 0, 0
}

// attach mounts the class's shared volumes, or unmounts them with n below 0; charged says whether they take of
// what is free.
func (b *Board) attach(nd *node, class, n int32, charged bool) {
	for _, v := range b.m.Classes[class].Volumes {
		k := slices.IndexFunc(nd.attached, func(a attachment) bool { return a.id == v.ID })
		if k < 0 {
			k = len(nd.attached)
			nd.attached = append(nd.attached, attachment{id: v.ID})
		}
		was := nd.attached[k].count
		nd.attached[k].count += n
		if now := nd.attached[k].count; charged && v.Dim >= 0 && (was == 0) != (now == 0) {
			nd.free[v.Dim] -= int64(n / max(n, -n))
		}
	}
}

// fit is how many pods of the class the node has room for, at most n.
func (b *Board) fit(nd *node, class int32, req []int64, n int32) int32 {
	if volumes := b.m.Classes[class].Volumes; len(volumes) > 0 {
		room := b.spare.room[:0]
		room = append(room, nd.free...)
		b.spare.room = room
		for _, v := range volumes {
			if v.Dim >= 0 && !slices.ContainsFunc(nd.attached, func(a attachment) bool { return a.id == v.ID && a.count > 0 }) {
				if room[v.Dim]--; room[v.Dim] < 0 {
					return 0
				}
			}
		}
		return pack.Fit(room, req, n)
	}
	return pack.Fit(nd.free, req, n)
}

// rules is how many pods of the class may join the node as far as ports and groups over hostnames go, at most n.
func (b *Board) rules(i, class, variant, n int32) int32 {
	nd := &b.nodes[i]
	if ex := b.m.Classes[class].Excludes; len(ex) > 0 {
		for k := range nd.items {
			if nd.items[k].Count > 0 && contains(ex, nd.items[k].Class) {
				return 0
			}
		}
		if contains(ex, class) {
			n = min(n, 1)
		}
	}
	l := &b.m.links[class]
	for _, x := range l.host {
		if n = b.hostRule(i, x, n); n == 0 {
			return 0
		}
	}
	if variant >= 0 && int(variant) < len(l.soft) {
		for _, x := range l.soft[variant] {
			if b.m.Groups[x.group].Key == Host {
				if n = b.hostRule(i, x, n); n == 0 {
					return 0
				}
			}
		}
	}
	return n
}

func (b *Board) hostRule(i int32, x link, n int32) int32 {
	gr := &b.m.Groups[x.group]
	in, own := b.nodes[i].hostCounts(x.group)
	if !b.tally.permits(x, in, own, 0) {
		return 0
	}
	switch {
	case gr.Kind == Spread && x.owns && x.in:
		n = min(n, gr.MaxSkew-in)
	case gr.Kind == Anti && x.owns && x.in, gr.Kind == Affinity && x.owns && in == 0:
		n = min(n, 1)
	}
	return n
}
