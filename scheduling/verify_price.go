package scheduling

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// verifyUse is what the launches of a pool have and hold, added up from the problem.
type verifyUse struct {
	nodes                      int
	price, pods, daemons       int64
	allocatable, onPods, onAll verifyAmounts
}

// checkPrices: a price is not split into more than there is, and what is said of a pool's nodes adds up. What a
// resource is worth is the plan's own judgement.
func (v *verifier) checkPrices() {
	for i := range v.plan.Shapes {
		s := &v.plan.Shapes[i]
		pods, daemons := s.Why.PodsPrice, s.Why.DaemonsPrice
		if pods.Known() != daemons.Known() || pods.Known() && pods.Nano()+daemons.Nano() > s.Price.Nano() {
			v.report("price", fmt.Sprintf("shape %d", i), "%v for pods and %v for DaemonSets do not go into %v", pods, daemons, s.Price)
		}
	}
	if v.plan.Pools == nil {
		return
	}
	want := v.poolUses()
	for i := range v.plan.Pools {
		u := &v.plan.Pools[i]
		if want[u.Pool] == nil {
			v.report("totals", "", "there is nothing to say of the use of pool %d, or it was said", u.Pool)
			continue
		}
		v.checkUse(u, want[u.Pool])
		delete(want, u.Pool)
	}
	for i := range v.problem.Pools {
		if want[int32(i)] != nil {
			v.report("totals", "", "the use of pool %s is missing", v.problem.Pools[i].Name)
		}
	}
}

func (v *verifier) poolUses() map[int32]*verifyUse {
	out := map[int32]*verifyUse{}
	for i := range v.plan.Launches {
		l := &v.plan.Launches[i]
		if !verifyInRange(l.Shape, v.plan.Shapes) || !v.goodShape[l.Shape] {
			continue
		}
		s := &v.plan.Shapes[l.Shape]
		u := out[s.Pool]
		if u == nil {
			u = &verifyUse{allocatable: verifyAmounts{}, onPods: verifyAmounts{}, onAll: verifyAmounts{}}
			out[s.Pool] = u
		}
		u.nodes++
		u.price, u.pods, u.daemons = u.price+s.Price.Nano(), u.pods+s.Why.PodsPrice.Nano(), u.daemons+s.Why.DaemonsPrice.Nano()
		u.allocatable.add(v.freshNode(s.Pool, s.Choice.Type, s.Choice.Offering, s.CustomLabels).allocatable)
		for _, p := range v.readAll(l.Pods) {
			u.onPods.add(p.requests)
			u.onAll.add(p.requests)
		}
		for _, d := range s.DaemonSets {
			u.onAll.add(v.read(v.problem.DaemonSets[d]).requests)
		}
	}
	return out
}

func (v *verifier) checkUse(u *PoolUse, want *verifyUse) {
	pool := v.problem.Pools[u.Pool].Name
	if u.Nodes != want.nodes || u.Price.Nano() != want.price || u.PodsPrice.Nano() != want.pods || u.DaemonsPrice.Nano() != want.daemons {
		v.report("totals", "", "pool %s is said to have %d nodes for %v, %v of it for pods and %v for DaemonSets; it has %d for %v, %v and %v", pool,
			u.Nodes, u.Price, u.PodsPrice, u.DaemonsPrice, want.nodes, PriceFromNano(want.price), PriceFromNano(want.pods), PriceFromNano(want.daemons))
	}
	idle, listed := int64(0), []corev1.ResourceName{}
	for i := range u.Resources {
		r := &u.Resources[i]
		const most = 1 << 60 // Sums end there.
		has, pods, all := min(want.allocatable[r.Name], most), min(want.onPods[r.Name], most), min(want.onAll[r.Name], most)
		if r.Allocatable != has || r.Pods != pods || min(r.Pods+r.Daemons, most) != all || r.StrandedPrice.Nano() > want.price {
			v.report("totals", "", "pool %s is said to have %d of %s, %d for pods and %d for DaemonSets; it has %d, %d and %d",
				pool, r.Allocatable, r.Name, r.Pods, r.Daemons, has, pods, all-pods)
		}
		idle += r.StrandedPrice.Nano()
		listed = append(listed, r.Name)
	}
	for _, name := range want.onAll.names() {
		if want.onAll[name] > 0 && !slices.Contains(listed, name) {
			v.report("totals", "", "pool %s: nothing is said of %s", pool, name)
		}
	}
	// Each part of each node's price is rounded to a billionth.
	if off := idle - u.Stranded().Nano(); max(off, -off) > int64(want.nodes)*int64(len(u.Resources)+2) {
		v.report("totals", "", "pool %s: %v are stranded, its resources say %v", pool, u.Stranded(), PriceFromNano(idle))
	}
}
