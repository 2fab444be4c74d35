package scheduling

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// checkLimits: the capacity of a pool's nodes, existing and launched, stays within its limits,
// whatever fallbacks the policy allows for.
func (v *verifier) checkLimits() {
	for i := range v.problem.Pools {
		pool := &v.problem.Pools[i]
		limits := verifyList(pool.Limits)
		for _, name := range limits.names() {
			used := v.poolUse(int32(i), name)
			var chosen, worst, jump int64
			for _, l := range v.plan.Launches {
				if !verifyInRange(l.Shape, v.plan.Shapes) || !v.goodShape[l.Shape] || v.plan.Shapes[l.Shape].Pool != int32(i) {
					continue
				}
				c, w := v.charge(&v.plan.Shapes[l.Shape], name)
				chosen, worst, jump = chosen+c, worst+w, max(jump, w-c)
			}
			charged, how := worst, "every launch at its largest alternative"
			if v.plan.Options.Limits == LimitOneFallback {
				charged, how = chosen+jump, "one launch at its largest alternative"
			}
			if charged > 0 && used+charged > limits[name] {
				v.report("limits", "pool "+pool.Name, "%s: %d in use and %d launched (%s), the limit is %d", name, used, charged, how, limits[name])
			}
		}
	}
}

// poolUse is what the pool's existing nodes take of a limit.
func (v *verifier) poolUse(pool int32, name corev1.ResourceName) int64 {
	var sum int64
	for i := range v.problem.Nodes {
		n := &v.problem.Nodes[i]
		if n.Pool != v.problem.Pools[pool].Name {
			continue
		}
		capacity := n.Capacity
		if len(capacity) == 0 {
			capacity = n.Allocatable
		}
		if name == NodesResource {
			sum++
		} else {
			sum += verifyAmount(name, capacity[name])
		}
	}
	return sum
}

// charge is what a launch takes of a limit: its choice, and its largest alternative.
func (v *verifier) charge(s *Shape, name corev1.ResourceName) (chosen, worst int64) {
	if name == NodesResource {
		return 1, 1
	}
	types := v.problem.Pools[s.Pool].InstanceTypes
	chosen = verifyAmount(name, types[s.Choice.Type].Capacity[name])
	worst = chosen
	for _, a := range s.Alternatives {
		worst = max(worst, verifyAmount(name, types[a.Type].Capacity[name]))
	}
	return chosen, worst
}

// checkReservations: launches come from pools that may launch, no reservation gives more than it has, and
// a launch falls back from reserved capacity to reserved capacity only, and from other to other only.
func (v *verifier) checkReservations() {
	for i := range v.plan.Shapes {
		if !v.goodShape[i] {
			continue
		}
		s := &v.plan.Shapes[i]
		reserved := v.reservation(s.Pool, s.Choice) != ""
		for _, a := range s.Alternatives {
			if id := v.reservation(s.Pool, a); reserved != (id != "") {
				v.report("reservations", fmt.Sprintf("shape %d", i), "chooses reservation %q and has an alternative of reservation %q",
					v.reservation(s.Pool, s.Choice), id)
				break
			}
		}
	}
	counts, taken := v.reservations()
	for _, id := range verifyKeys(taken) {
		if taken[id] > counts[id] {
			v.report("reservations", id, "%d launches are from it, it has %d", taken[id], counts[id])
		}
	}
	for i, l := range v.plan.Launches {
		if verifyInRange(l.Shape, v.plan.Shapes) && v.goodShape[l.Shape] && !v.mayLaunch(v.plan.Shapes[l.Shape].Pool) {
			v.report("pools", v.launchName(i), "is of a pool that may launch nothing, only %q may", v.plan.Options.Pools)
		}
	}
}

func (v *verifier) reservation(pool int32, a Alternative) string {
	return v.problem.Pools[pool].InstanceTypes[a.Type].Offerings[a.Offering].Reservation
}

func (v *verifier) mayLaunch(pool int32) bool {
	return v.plan.Options.Pools == nil || slices.Contains(v.plan.Options.Pools, v.problem.Pools[pool].Name)
}

// reservations tells how many nodes each reservation has, the least that any offering says of it, and how
// many launches choose it.
func (v *verifier) reservations() (counts, taken map[string]int) {
	counts, taken = map[string]int{}, map[string]int{}
	for i := range v.problem.Pools {
		for _, t := range v.problem.Pools[i].InstanceTypes {
			for k := 0; t != nil && k < len(t.Offerings); k++ {
				o := &t.Offerings[k]
				if have, known := counts[o.Reservation]; !known || int(o.Count) < have {
					counts[o.Reservation] = int(o.Count)
				}
			}
		}
	}
	for _, l := range v.plan.Launches {
		if verifyInRange(l.Shape, v.plan.Shapes) && v.goodShape[l.Shape] {
			s := &v.plan.Shapes[l.Shape]
			taken[v.reservation(s.Pool, s.Choice)]++
		}
	}
	delete(counts, "")
	delete(taken, "")
	return counts, taken
}

// verifySupply is what could be bought beside what the plan buys.
type verifySupply struct {
	// offered can be had at a known price, limits aside; open fit the limits too; spent are those of
	// reservations of which nothing is left.
	offered, open, spent []*verifyNode
	// byLabel lists the open ones by the value of a label; those where it may have many are unsettled.
	byLabel   map[string]map[string][]*verifyNode
	unsettled map[string][]*verifyNode
	// reach remembers answers, by pod and topology key.
	reach map[string][]string
}

func (v *verifier) supplyLeft() *verifySupply {
	if v.supply != nil {
		return v.supply
	}
	s := &verifySupply{byLabel: map[string]map[string][]*verifyNode{}, unsettled: map[string][]*verifyNode{}, reach: map[string][]string{}}
	counts, taken := v.reservations()
	for i := range v.problem.Pools {
		if !v.mayLaunch(int32(i)) {
			continue
		}
		used := v.used(int32(i))
		for j, t := range v.problem.Pools[i].InstanceTypes {
			if t == nil {
				continue
			}
			room := v.room(int32(i), t, used)
			for k := range t.Offerings {
				n := v.freshNode(int32(i), int32(j), int32(k), nil)
				id := t.Offerings[k].Reservation
				switch {
				case !n.available || !n.price.Known() || len(n.faults) > 0:
				case id != "" && verifyWantsValues(&v.problem.Pools[i]): // a reservation has no alternatives
				case !v.covered(&t.Offerings[k]):
				case verifyWantsValues(&v.problem.Pools[i]) && !verifyPlainly(t, k): // nor has what is offered under a commitment only
				case id != "" && taken[id] >= counts[id]:
					s.spent = append(s.spent, n)
				default:
					s.offered = append(s.offered, n)
					if room {
						s.open = append(s.open, n)
					}
				}
			}
		}
	}
	v.supply = s
	return s
}

func verifyWantsValues(p *Pool) bool {
	return slices.ContainsFunc(p.Requirements, func(r Requirement) bool { return r.MinValues != nil && *r.MinValues > 1 })
}

// used is what existing nodes and the launches' choices take of a pool's limits.
func (v *verifier) used(pool int32) verifyAmounts {
	out := verifyAmounts{}
	for name := range v.problem.Pools[pool].Limits {
		out[name] = v.poolUse(pool, name)
		for _, l := range v.plan.Launches {
			if verifyInRange(l.Shape, v.plan.Shapes) && v.goodShape[l.Shape] && v.plan.Shapes[l.Shape].Pool == pool {
				c, _ := v.charge(&v.plan.Shapes[l.Shape], name)
				out[name] += c
			}
		}
	}
	return out
}

// room tells whether the pool's limits leave room for one more node of the type.
func (v *verifier) room(pool int32, t *InstanceType, used verifyAmounts) bool {
	limits := v.problem.Pools[pool].Limits
	for name, limit := range limits {
		next := verifyAmount(name, t.Capacity[name])
		if name == NodesResource {
			next = 1
		}
		if used[name]+next > verifyAmount(name, limit) {
			return false
		}
	}
	return true
}
