package scheduling_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// crew is pods of one kind: how many, in which zones they may be (a bit each), and by what followers are bounded.
type crew struct {
	count int
	zones uint
	// skew of a zone spread, 0: none; apart: one a zone at most.
	skew  int
	apart bool
}

// convoy is targets with two kinds of followers, and a kind that follows the first of these.
type convoy struct {
	targets, first, second, last crew
	prices                       [3]string
}

func randomConvoy(r *rand.Rand) convoy {
	zones := func() uint {
		if r.IntN(3) > 0 {
			return 7
		}
		return 1 + r.UintN(7)
	}
	follower := func(count int) crew {
		c := crew{count: count, zones: zones()}
		switch r.IntN(4) {
		case 0, 1:
			c.skew = 1 + r.IntN(2)
		case 2:
			c.apart = true
		}
		return c
	}
	c := convoy{
		targets: crew{count: 1 + r.IntN(4), zones: zones()}, first: follower(1 + r.IntN(6)), second: follower(r.IntN(6)), last: follower(r.IntN(6)),
	}
	for i := range c.prices {
		c.prices[i] = fmt.Sprintf("0.%d", 1+r.IntN(3))
	}
	return c
}

// problem has a dozen pods besides, which is more than is searched.
func (c *convoy) problem() *Problem {
	p := &Problem{Pools: []Pool{{Name: "p"}}, Namespaces: map[string]map[string]string{"ns": {}}}
	for i, zone := range []string{"a", "b", "c"} {
		p.Pools[0].InstanceTypes = append(p.Pools[0].InstanceTypes, verifyTestType("t-"+zone, "4", c.prices[i], zone))
	}
	add := func(name string, w crew, after string) {
		for i := range w.count {
			pod := verifyTestPod(fmt.Sprint(name, "-", i), "1")
			if w.skew > 0 {
				spread(corev1.LabelTopologyZone, int32(w.skew))(pod)
				pod.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels = map[string]string{"app": name}
			}
			pod.Labels = map[string]string{"app": name}
			if w.zones != 7 {
				var in []string
				for z, zone := range []string{"a", "b", "c"} {
					if w.zones>>z&1 != 0 {
						in = append(in, zone)
					}
				}
				pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
					NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
						{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: in}}}}}}}
			}
			if after != "" {
				near(tinyTermOf(corev1.LabelTopologyZone, after))(pod)
			}
			if w.apart {
				far(tinyTermOf(corev1.LabelTopologyZone, name))(pod)
			}
			p.Pods = append(p.Pods, pod)
		}
	}
	add("target", c.targets, "")
	add("first", c.first, "target")
	add("second", c.second, "target")
	add("last", c.last, "first")
	add("other", crew{count: 12, zones: 7}, "")
	return p
}

// most is how many pods of the convoy have a place at best: all ways to divide them over the zones.
func (c *convoy) most() int {
	best := 0
	c.targets.ways(7, func(t [3]int) {
		at := support(t)
		second := 0
		c.second.ways(at, func(s [3]int) { second = max(second, s[0]+s[1]+s[2]) })
		c.first.ways(at, func(f [3]int) {
			c.last.ways(support(f), func(l [3]int) {
				n := second
				for z := range 3 {
					n += t[z] + f[z] + l[z]
				}
				best = max(best, n)
			})
		})
	})
	return best
}

func support(n [3]int) (zones uint) {
	for z := range n {
		if n[z] > 0 {
			zones |= 1 << z
		}
	}
	return zones
}

// ways calls yield with every way to place some of the pods, where those they follow are in the zones.
func (w crew) ways(zones uint, yield func([3]int)) {
	zones &= w.zones
	var n [3]int
	for n[0] = range w.count + 1 {
		for n[1] = range w.count + 1 - n[0] {
			for n[2] = range w.count + 1 - n[0] - n[1] {
				if w.allows(n, zones) {
					yield(n)
				}
			}
		}
	}
}

func (w crew) allows(n [3]int, zones uint) bool {
	least, most := w.count, 0
	for z := range n {
		if n[z] > 0 && (zones>>z&1 == 0 || w.apart && n[z] > 1) {
			return false
		}
		if w.zones>>z&1 != 0 { // the spread counts where its own labels let it go
			least, most = min(least, n[z]), max(most, n[z])
		}
	}
	return w.skew == 0 || most-least <= w.skew
}

// Targets go where their followers can follow: compared with all ways to divide pods over zones, in problems too large
// for those that are searched through.
func TestFollowersHaveTargets(t *testing.T) {
	missed, total := 0, seeds(1000)
	for seed := range total {
		c := randomConvoy(rand.New(rand.NewPCG(seed, 0)))
		p := c.problem()
		plan, err := Solve(context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := Verify(p, plan); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		switch want := c.most() + 12; {
		case plan.Totals.Pods > want:
			t.Fatalf("seed %d: %d pods where %d are possible: %+v", seed, plan.Totals.Pods, want, c)
		case plan.Totals.Pods < want:
			missed++
			t.Logf("seed %d: %d pods where %d are possible: %+v", seed, plan.Totals.Pods, want, c)
		}
	}
	t.Logf("%d of %d are missed", missed, total)
	if missed*500 > int(total) {
		t.Error("that is more than 2 of 1,000")
	}
}
