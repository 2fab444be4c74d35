package scheduling

import (
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// crowded reports whether rules on single nodes force so many nodes, and tell so many classes apart, that choosing
// each node by price would take far longer than all the rest: then first fit comes first.
func (sv *solve) crowded(todo []*pending) bool {
	apart := int64(0)
	alone := map[int32]int64{} // pods by group of which a node may have one
	forced := int64(0)
	for _, pd := range todo {
		if !sv.alone(pd.class) {
			continue
		}
		apart++
		if contains32(sv.rules.Excludes[pd.class], pd.class) {
			forced = max(forced, int64(pd.left))
		}
		for _, cp := range sv.rules.Caps[pd.class] {
			if cp.Owns && cp.In {
				alone[cp.Group] += int64(pd.left)
				forced = max(forced, alone[cp.Group]/int64(cp.Max))
			}
		}
	}
	return forced*apart > maxTrials
}

// maxTrials bounds the nodes times the classes that are chosen by price whatever first fit gives.
const maxTrials = 1 << 17

// opening is a first round: how classes are divided over domains when nothing is packed yet.
type opening struct {
	todo  []pending
	jobs  []pack.Job
	infos []jobInfo
	tally board.Tally
}

// opening divides the classes for the first round of a band, or takes over how they were divided for the packing before.
func (sv *solve) opening(a *attempt, todo []*pending) ([]pack.Job, []*pending) {
	o := sv.first
	if o == nil || len(a.jobs) > 0 || len(o.todo) != len(todo) {
		fresh := len(a.jobs) == 0
		jobs := sv.jobs(a, todo)
		if fresh && sv.twice {
			sv.first = &opening{jobs: jobs, infos: copyInfos(a.jobs)}
			sv.first.tally.Copy(&a.div.tally)
			for _, pd := range todo {
				sv.first.todo = append(sv.first.todo, *pd)
			}
		}
		return jobs, todo
	}
	a.jobs = copyInfos(o.infos)
	a.div.tally.Copy(&o.tally)
	pds := slices.Clone(o.todo)
	todo = todo[:0]
	for i := range pds {
		pds[i].banned = make([]bool, len(pds[i].cells))
		if o.todo[i].banned == nil {
			pds[i].banned = nil
		}
		todo = append(todo, &pds[i])
	}
	a.pds = slices.Clone(todo)
	return o.jobs, todo
}

func copyInfos(infos []jobInfo) []jobInfo {
	n := 0
	for i := range infos {
		n += len(infos[i].shares)
	}
	out, store := slices.Clone(infos), make([]share, 0, n)
	for i := range out {
		from := len(store)
		store = append(store, out[i].shares...)
		out[i].shares = store[from:len(store):len(store)]
	}
	return out
}
