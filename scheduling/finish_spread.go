package scheduling

import (
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
)

// spreads tells for spreads over zones and the like how many pods of a class each domain must have, whatever the plan:
// with n pods in d domains that differ by at most s, none has fewer than (n-s(d-1))/d. It knows spreads that count the
// pods of one class and those that run already.
type spreads struct {
	f *finisher
	// only is the one class that a group counts, -1 if there are several.
	only []int32
	// start has the counts before anything was placed; made when first asked for.
	start *board.Tally
}

// spreadPart is a number of pods that must be in a domain.
type spreadPart struct {
	key, domain int32
	n           int64
}

func (f *finisher) spreads() *spreads {
	m := &f.c.model
	sp := &spreads{f: f}
	// Limits and what is finite may close domains, and then their counts do not matter any more.
	if f.o.board == nil || len(m.Groups) == 0 || f.c.space.Limits != nil || f.c.space.Reservation != nil {
		return sp
	}
	sp.only = make([]int32, len(m.Groups))
	for g := range sp.only {
		sp.only[g] = -2
	}
	for id := range m.Classes {
		if len(f.c.classes) <= id || len(f.c.classes[id].pods) == 0 {
			continue
		}
		for _, g := range m.Classes[id].In {
			if sp.only[g] == -2 {
				sp.only[g] = int32(id)
			} else {
				sp.only[g] = -1
			}
		}
	}
	return sp
}

// parts are the pods of n that must be in certain domains of one key.
func (sp *spreads) parts(id int32, n int64) []spreadPart {
	if sp.only == nil {
		return nil
	}
	m := &sp.f.c.model
	for _, g := range m.Classes[id].Owns {
		gr := &m.Groups[g]
		if gr.Kind != board.Spread || gr.Soft || gr.Key == board.Host || sp.only[g] != id || !slices.Contains(m.KeysOf(id), gr.Key) {
			continue
		}
		if out := sp.partsOf(id, g, n); len(out) > 0 {
			return out
		}
	}
	return nil
}

func (sp *spreads) partsOf(id, g int32, n int64) (out []spreadPart) {
	m := &sp.f.c.model
	if sp.start == nil {
		sp.start = board.New(m).Tally()
	}
	key := m.Groups[g].Key
	skew := int64(max(m.Groups[g].MaxSkew, 1))
	total, domains := n, int64(0)
	for d := range m.Keys[key].Mask {
		if sp.start.Counts(id, g, int32(d)) {
			domains++
			total += int64(sp.start.In(g, int32(d)))
		}
	}
	if domains == 0 {
		return nil
	}
	least := (total - skew*(domains-1) + domains - 1) / domains
	for d := range m.Keys[key].Mask {
		if !sp.start.Counts(id, g, int32(d)) {
			continue
		}
		if need := least - int64(sp.start.In(g, int32(d))); need > 0 && n > 0 {
			need = min(need, n)
			n -= need
			out = append(out, spreadPart{key, int32(d), need})
		}
	}
	return out
}

// mostOnNode is how many pods of a class a node may hold, as far as its own constraints say.
func (f *finisher) mostOnNode(id int32) int64 {
	m := &f.c.model
	cl := &m.Classes[id]
	most := int64(len(f.c.classes[id].pods))
	if contains32(cl.Excludes, id) {
		most = 1
	}
	for _, g := range cl.Owns {
		gr := &m.Groups[g]
		if gr.Key != board.Host || gr.Soft || !contains32(cl.In, g) {
			continue
		}
		switch gr.Kind {
		case board.Spread:
			most = min(most, int64(max(gr.MaxSkew, 1)))
		case board.Anti:
			most = min(most, 1)
		}
	}
	return most
}
