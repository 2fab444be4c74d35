package scheduling

import (
	"cmp"
	"slices"
	"strings"
)

// Difference is what changes from one plan to another. Two launches that differ in nothing but
// their place in the list are no change.
type Difference struct {
	// SameProblem: both plans were made for the same problem.
	SameProblem bool `json:"sameProblem"`
	// Before and After are the plans' totals.
	Before Totals `json:"before"`
	After  Totals `json:"after"`
	// Launches are the kinds of launches whose number or price changes, sorted by pool, type, zone and
	// capacity type.
	Launches []LaunchDifference `json:"launches,omitempty"`
	// Moved are the pods that both plans place, but not together with the same others: on
	// another node, as far as nodes that do not exist yet can be told apart.
	Moved []PodMove `json:"moved,omitempty"`
	// Placed are the pods that only the second plan places.
	Placed []PodMove `json:"placed,omitempty"`
	// Unplaced are the pods that the second plan knows but only the first one places, and those
	// that are new to it and left over.
	Unplaced []PodMove `json:"unplaced,omitempty"`
	// Gone are the pods that the second plan does not know.
	Gone []PodMove `json:"gone,omitempty"`
}

// LaunchDifference is a kind of launches that the plans have in different numbers or at different prices.
type LaunchDifference struct {
	Pool         string `json:"pool"`
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
	// Before and After count nodes; the prices are those of all of them per hour, unknown if one is.
	Before      int   `json:"before"`
	After       int   `json:"after"`
	PriceBefore Price `json:"pricePerHourBefore"`
	PriceAfter  Price `json:"pricePerHourAfter"`
}

// PodMove is a set of pods that go the same way. Lists of them are sorted by From, To, then pod.
type PodMove struct {
	From Place    `json:"from"`
	To   Place    `json:"to"`
	Pods []string `json:"pods"`
}

// Place is where a pod is in a plan: on a kind of launch, on an existing node, or nowhere. The
// zero value means that the plan does not know the pod.
type Place struct {
	Pool         string `json:"pool,omitempty"`
	InstanceType string `json:"instanceType,omitempty"`
	Zone         string `json:"zone,omitempty"`
	CapacityType string `json:"capacityType,omitempty"`
	// Node is the name of an existing node.
	Node string `json:"node,omitempty"`
	// Code is why the pod is left over.
	Code Code `json:"code,omitempty"`
	// NotEvaluated: the step budget ran out before the pod's turn.
	NotEvaluated bool `json:"notEvaluated,omitempty"`
}

func (p Place) placed() bool { return p.Node != "" || p.InstanceType != "" || p.Pool != "" }

func (p Place) compare(q Place) int {
	a, b := launchKind{p.Pool, p.InstanceType, p.Zone, p.CapacityType}, launchKind{q.Pool, q.InstanceType, q.Zone, q.CapacityType}
	return cmp.Or(cmp.Compare(p.Node, q.Node), a.compare(b), cmp.Compare(p.Code, q.Code), compareBool(p.NotEvaluated, q.NotEvaluated))
}

// location is a Place that tells equal launches apart.
type location struct {
	place  Place
	launch int // Index into the document's launches, -1 if it is none.
}

// locate maps every pod of a document to its location. A pod that is listed twice, which no
// solver does, counts where it comes first.
func locate(d *Document) map[string]location {
	out := make(map[string]location, d.Totals.Pods+len(d.Unplaced))
	put := func(pod string, l location) {
		if _, ok := out[pod]; !ok {
			out[pod] = l
		}
	}
	for i := range d.Launches {
		l := &d.Launches[i]
		for _, pod := range l.Pods {
			put(pod, location{Place{Pool: l.Pool, InstanceType: l.InstanceType, Zone: l.Zone, CapacityType: l.CapacityType}, i})
		}
	}
	for _, p := range d.Placements {
		put(p.Pod, location{Place{Node: p.Node}, -1})
	}
	for i := range d.Unplaced {
		put(d.Unplaced[i].Pod, location{Place{Code: d.Unplaced[i].Reason.Code}, -1})
	}
	for _, pod := range d.NotEvaluated {
		put(pod, location{Place{NotEvaluated: true}, -1})
	}
	return out
}

// Diff tells how b differs from a. It does not matter whether they were made for the same problem.
func Diff(a, b *Document) *Difference {
	d := &Difference{SameProblem: a.Digest == b.Digest, Before: a.Totals, After: b.Totals, Launches: diffLaunches(a, b)}
	before, after := locate(a), locate(b)
	partner := matchLaunches(a, b, before, after)
	var moved, placed, unplaced, gone moves
	for pod, from := range before {
		to, known := after[pod]
		switch {
		case !known:
			gone.add(pod, from.place, Place{})
		case from.place.placed() && to.place.placed():
			same := from.place == to.place && from.launch < 0
			if from.launch >= 0 && to.launch >= 0 {
				same = partner[from.launch] == to.launch
			}
			if !same {
				moved.add(pod, from.place, to.place)
			}
		case to.place.placed():
			placed.add(pod, from.place, to.place)
		case from.place.placed():
			unplaced.add(pod, from.place, to.place)
		}
	}
	for pod, to := range after {
		if _, known := before[pod]; known {
			continue
		}
		if to.place.placed() {
			placed.add(pod, Place{}, to.place)
		} else {
			unplaced.add(pod, Place{}, to.place)
		}
	}
	d.Moved, d.Placed, d.Unplaced, d.Gone = moved.list(), placed.list(), unplaced.list(), gone.list()
	return d
}

// moves groups pods by where they come from and go to.
type moves map[[2]Place][]string

func (m *moves) add(pod string, from, to Place) {
	if *m == nil {
		*m = moves{}
	}
	(*m)[[2]Place{from, to}] = append((*m)[[2]Place{from, to}], pod)
}

func (m moves) list() []PodMove {
	var out []PodMove
	for k, pods := range m {
		slices.Sort(pods)
		out = append(out, PodMove{From: k[0], To: k[1], Pods: pods})
	}
	slices.SortFunc(out, func(a, b PodMove) int { return cmp.Or(a.From.compare(b.From), a.To.compare(b.To)) })
	return out
}

func diffLaunches(a, b *Document) []LaunchDifference {
	index := map[launchKind]*LaunchDifference{}
	of := func(k launchKind) *LaunchDifference {
		if index[k] == nil {
			index[k] = &LaunchDifference{
				Pool: k.Pool, InstanceType: k.InstanceType, Zone: k.Zone, CapacityType: k.CapacityType,
				PriceBefore: PriceFromNano(0), PriceAfter: PriceFromNano(0),
			}
		}
		return index[k]
	}
	for i := range a.Launches {
		l := of(a.Launches[i].kind())
		l.Before++
		l.PriceBefore = l.PriceBefore.plus(a.Launches[i].Price)
	}
	for i := range b.Launches {
		l := of(b.Launches[i].kind())
		l.After++
		l.PriceAfter = l.PriceAfter.plus(b.Launches[i].Price)
	}
	var out []LaunchDifference
	for _, l := range index {
		if l.Before != l.After || l.PriceBefore != l.PriceAfter {
			out = append(out, *l)
		}
	}
	slices.SortFunc(out, func(a, b LaunchDifference) int {
		x, y := launchKind{a.Pool, a.InstanceType, a.Zone, a.CapacityType}, launchKind{b.Pool, b.InstanceType, b.Zone, b.CapacityType}
		return x.compare(y)
	})
	return out
}

// matchLaunches pairs the launches of a with those of b that continue them; -1 is none. Launches
// have no identity of their own: first those with the same pods on the same kind of node go
// together, then those with the most pods in common.
func matchLaunches(a, b *Document, before, after map[string]location) []int {
	partner := make([]int, len(a.Launches))
	taken := make([]bool, len(b.Launches))
	for i := range a.Launches {
		partner[i] = -1
		l := &a.Launches[i]
		if len(l.Pods) == 0 {
			continue
		}
		j := launchOf(after, l.Pods[0])
		if j >= 0 && !taken[j] && l.kind() == b.Launches[j].kind() && slices.Equal(l.Pods, b.Launches[j].Pods) {
			partner[i], taken[j] = j, true
		}
	}
	type pair struct {
		i, j, common int
		sameKind     bool
	}
	var pairs []pair
	for i := range a.Launches {
		if partner[i] >= 0 {
			continue
		}
		common := map[int]int{}
		for _, pod := range a.Launches[i].Pods {
			if j := launchOf(after, pod); j >= 0 && !taken[j] && before[pod].launch == i {
				common[j]++
			}
		}
		for j, n := range common {
			pairs = append(pairs, pair{i, j, n, a.Launches[i].kind() == b.Launches[j].kind()})
		}
	}
	slices.SortFunc(pairs, func(x, y pair) int {
		return cmp.Or(cmp.Compare(y.common, x.common), compareBool(y.sameKind, x.sameKind), cmp.Compare(x.i, y.i), cmp.Compare(x.j, y.j))
	})
	for _, p := range pairs {
		if partner[p.i] < 0 && !taken[p.j] {
			partner[p.i], taken[p.j] = p.j, true
		}
	}
	return partner
}

// launchOf is the launch that holds pod, -1 if none does.
func launchOf(all map[string]location, pod string) int {
	if l, ok := all[pod]; ok {
		return l.launch
	}
	return -1
}

// Empty reports whether both plans do the same at the same price.
func (d *Difference) Empty() bool {
	return len(d.Launches)+len(d.Moved)+len(d.Placed)+len(d.Unplaced)+len(d.Gone) == 0 && d.Before.Price == d.After.Price
}

// String prints the difference in at most about 6 KB: the totals, then the launches that change
// most and the largest groups of pods.
func (d *Difference) String() string {
	var b strings.Builder
	d.write(&b)
	return b.String()
}
