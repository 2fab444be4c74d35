package scheduling

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// faults collects what is wrong with a problem.
type faults struct{ list []Fault }

func (f *faults) add(problem, remedy, path string, args ...any) {
	f.list = append(f.list, Fault{Path: fmt.Sprintf(path, args...), Problem: problem, Remedy: remedy})
}

// check finds what is wrong with the problem as a whole; all of it, not only the first.
func (c *compiler) check() error {
	var f faults
	c.checkPods(&f)
	c.checkOptions(&f)
	c.checkDemands(&f)
	c.checkDefaultSpread(&f)
	c.checkGangs(&f)
	c.checkCommitments(&f)
	names := map[string]bool{}
	for i := range c.p.Pools {
		p := &c.p.Pools[i]
		switch {
		case p.Name == "":
			f.add("has no name", "give every pool a name of its own", "pools[%d]", i)
		case names[p.Name]:
			f.add("is there twice", "give every pool a name of its own", "pools[%q]", p.Name)
		}
		names[p.Name] = true
		c.checkPool(&f, p)
	}
	names = map[string]bool{}
	for i := range c.p.Nodes {
		n := &c.p.Nodes[i]
		if n.Name == "" || names[n.Name] {
			f.add("has no name, or one that another node has", "give every node a name of its own", "nodes[%d] %q", i, n.Name)
		}
		names[n.Name] = true
		checkQuantities(&f, n.Allocatable, "nodes[%q].allocatable", n.Name)
		checkQuantities(&f, n.Capacity, "nodes[%q].capacity", n.Name)
	}
	if len(f.list) > 0 {
		return &InputError{Faults: f.list}
	}
	return nil
}

// checkOptions looks at what options say of the problem.
func (c *compiler) checkOptions(f *faults) {
	var known []string
	for i := range c.p.Pools {
		known = append(known, c.p.Pools[i].Name)
	}
	slices.Sort(known)
	for _, name := range c.opts.Pools {
		if !slices.Contains(known, name) {
			f.add("is not a pool of the problem", fmt.Sprintf("known pools: %s", listText(known)), "options.pools[%q]", name)
		}
	}
	for _, p := range []struct {
		option string
		value  int
		names  []string
	}{
		{"effort", int(c.opts.Effort), effortNames[:]},
		{"preferences", int(c.opts.Preferences), preferenceNames[:]},
		{"reserved", int(c.opts.Reserved), reservedNames[:]},
		{"minValues", int(c.opts.MinValues), minValuesNames[:]},
		{"limits", int(c.opts.Limits), limitNames[:]},
	} {
		if p.value < 0 || p.value >= len(p.names) {
			f.add(fmt.Sprintf("there is no value %d", p.value), "use one of "+strings.Join(p.names, ", "), "options.%s", p.option)
		}
	}
	if c.opts.Preferences == PreferencesCap && !c.opts.PreferenceCap.Known() {
		f.add("is not set", "give the price per hour that preferences may cost, or choose another policy", "options.preferenceCap")
	}
}

// checkPods looks for pods that are not there; checkNames for those that are there twice.
func (c *compiler) checkPods(f *faults) {
	for i, p := range c.p.Pods {
		if p == nil {
			f.add("is nil", "leave it out", "pods[%d]", i)
		}
	}
	for i, p := range c.p.DaemonSets {
		if p == nil {
			f.add("is nil", "leave it out", "daemonSets[%d]", i)
		}
	}
	for i := range c.p.Nodes {
		for k, p := range c.p.Nodes[i].Pods {
			if p == nil {
				f.add("is nil", "leave it out", "nodes[%q].pods[%d]", c.p.Nodes[i].Name, k)
			}
		}
	}
}

func (c *compiler) checkPool(f *faults, p *Pool) {
	sets := map[string]ValueSet{}
	for i, r := range p.Requirements {
		s, fault := readRequirement(c.rules.apply(r))
		if fault.Problem != "" {
			f.add(fault.Problem, fault.Remedy, "pools[%q].requirements[%d]", p.Name, i)
			continue
		}
		k := c.rules.Key(r.Key)
		if have, ok := sets[k]; ok {
			s = have.Intersect(s)
		}
		if sets[k] = s; s.Empty() {
			f.add(fmt.Sprintf("no value of %s satisfies all requirements", k), "drop one of them", "pools[%q].requirements[%d]", p.Name, i)
		}
	}
	checkQuantities(f, p.Limits, "pools[%q].limits", p.Name)
	names := map[string]bool{}
	for i, t := range p.InstanceTypes {
		if t == nil {
			f.add("is nil", "leave it out", "pools[%q].instanceTypes[%d]", p.Name, i)
			continue
		}
		if t.Name == "" || names[t.Name] {
			f.add("has no name, or one that another type of the pool has", "name every type once", "pools[%q].instanceTypes[%d] %q", p.Name, i, t.Name)
		}
		names[t.Name] = true
		c.checkOfferings(f, p.Name, t)
		for k, r := range t.Requirements {
			if plainRequirement(&r) {
				continue
			}
			if _, fault := readRequirement(r); fault.Problem != "" {
				f.add(fault.Problem, fault.Remedy, "pools[%q].instanceTypes[%q].requirements[%d]", p.Name, t.Name, k)
			}
		}
	}
}

// plainRequirement holds for requirements that make sense beyond doubt, which are most.
func plainRequirement(r *Requirement) bool {
	return r.Key != "" && r.MinValues == nil && (r.Operator == corev1.NodeSelectorOpIn && len(r.Values) > 0 ||
		r.Operator == corev1.NodeSelectorOpDoesNotExist && len(r.Values) == 0)
}

func (c *compiler) checkOfferings(f *faults, pool string, t *InstanceType) {
	for i := range t.Offerings {
		o := &t.Offerings[i]
		if o.Commitment != "" || o.Draw.known {
			c.checkDraw(f, pool, t.Name, i, o)
		}
		if o.Reservation != "" && o.Count < 0 {
			f.add(fmt.Sprintf("reservation %q has a count of %d", o.Reservation, o.Count), "write 0 or more",
				"pools[%q].instanceTypes[%q].offerings[%d]", pool, t.Name, i)
		}
	}
}

func checkQuantities(f *faults, list corev1.ResourceList, path, name string) {
	for _, k := range sortedKeys(list) {
		if q := list[k]; q.Sign() < 0 {
			f.add(fmt.Sprintf("%s is negative", q.String()), "write 0 or more", path+"[%q]", name, k)
		}
	}
}

// checkNames finds pods that share namespace and name.
func (c *compiler) checkNames() error {
	f := c.twice
	c.checkDemandNames(&f)
	if len(f.list) == 0 {
		return nil
	}
	slices.SortFunc(f.list, func(a, b Fault) int { return strings.Compare(a.Path, b.Path) })
	return &InputError{Faults: slices.Compact(f.list)}
}

// checkPodNames hashes names into a table of indexes, since a map of strings would cost a tenth of the whole solve.
func (c *compiler) checkPodNames(f *faults) {
	size := 16
	for size < 2*len(c.p.Pods) {
		size *= 2
	}
	seen := make([]int32, size) // index+1
	seed := maphash.MakeSeed()
	for i, p := range c.p.Pods {
		at := int(maphash.String(seed, p.Name)+maphash.String(seed, p.Namespace)*3) & (size - 1)
		for seen[at] != 0 {
			if q := c.p.Pods[seen[at]-1]; q.Name == p.Name && q.Namespace == p.Namespace {
				f.add("is there twice", "place each pod once", "pods[%q]", podName(p))
				break
			}
			at = (at + 1) & (size - 1)
		}
		seen[at] = int32(i + 1)
	}
}
