package scheduling_test

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// fits tells whether the column holds the pods under any choice of their terms. It follows all states of the
// labels that the column leaves open, which are few.
func (o *oracle) fits(c *oracleColumn, narrow sets, pods []*oraclePod) bool {
	states := map[string]sets{"": narrow}
	for _, p := range pods {
		next := map[string]sets{}
		for _, state := range states {
			for _, t := range p.terms {
				both := maps.Clone(state)
				for k, s := range t {
					both.and(k, s)
				}
				if !c.allows(both) {
					continue
				}
				maps.DeleteFunc(both, func(k string, _ ValueSet) bool {
					have := c.state(k, nil)
					values, finite := have.Finite()
					return finite && (len(values) == 0 || len(values) == 1 && !have.HasAbsent()) // settled: nothing to remember
				})
				next[fmt.Sprint(both)] = both
			}
		}
		states = next
	}
	for _, state := range states {
		if slices.ContainsFunc(o.decided(c, state), func(s sets) bool { return o.holds(c, s, pods) }) {
			return true
		}
	}
	return false
}

// decided lists the ways to decide the labels that a DaemonSet asks for and the pods leave open: it runs only where they
// are as it asks.
func (o *oracle) decided(c *oracleColumn, narrow sets) []sets {
	asked := map[string][]string{}
	for _, d := range o.daemons {
		for _, t := range d.terms {
			for key, set := range t {
				if values, finite := set.Finite(); finite && !slices.Contains(KubernetesLabels(), key) {
					asked[key] = append(asked[key], values...)
				}
			}
		}
	}
	out := []sets{narrow}
	for _, key := range slices.Sorted(maps.Keys(asked)) {
		rest, err := ParseRequirement(Requirement{Key: key, Operator: corev1.NodeSelectorOpNotIn, Values: asked[key]})
		if err != nil {
			return nil
		}
		choices := []ValueSet{rest}
		for _, v := range asked[key] {
			choices = append(choices, Values(v))
		}
		var next []sets
		for _, s := range out {
			for _, choice := range choices {
				one := maps.Clone(s)
				if one.and(key, choice); c.allows(one) {
					next = append(next, one)
				}
			}
		}
		out = next
	}
	return out
}

// fitsAt is fits for an offering of a pool with labels that a launch decided.
func (o *oracle) fitsAt(pool int32, at Alternative, custom map[string]string, pods []int32) bool {
	narrow := sets{}
	for k, v := range custom {
		narrow[k] = Values(v)
	}
	i := slices.IndexFunc(o.columns, func(c *oracleColumn) bool { return c.pool == pool && c.at == at })
	return i >= 0 && o.fits(o.columns[i], narrow, o.readAll(pods))
}

func (o *oracle) readAll(pods []int32) []*oraclePod {
	var out []*oraclePod
	for _, p := range pods {
		out = append(out, oracleRead(p, o.problem.PodAt(p)))
	}
	return out
}

// fitsOn is fits for a node that exists.
func (o *oracle) fitsOn(node int, pods []int32) bool {
	n := o.existing(node)
	if n == nil {
		return false
	}
	all := append(n.pods, o.readAll(pods)...)
	for _, p := range n.pods {
		p.terms = []sets{{}}
	}
	return o.fits(n.columns[0], sets{}, all)
}

// requests are what pods and the listed DaemonSets ask for, as a launch states it.
func (o *oracle) requests(pods, daemons []int32) Vector {
	sum := map[corev1.ResourceName]int64{}
	all := o.readAll(pods)
	for _, d := range daemons {
		all = append(all, o.daemons[d])
	}
	for _, p := range all {
		for name, x := range p.need {
			sum[name] += x
		}
	}
	var out Vector
	for _, name := range slices.Sorted(maps.Keys(sum)) {
		if sum[name] != 0 {
			out = append(out, Quantity{Name: name, Amount: sum[name]})
		}
	}
	return out
}
