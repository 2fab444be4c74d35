package scheduling

import (
	"fmt"

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

// checkPods looks for pods without a name of their own. A map of all names would cost more than the
// whole solve, so duplicates are found where they are cheap to find: within a class, once it is
// sorted (see readPods).
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
		s, err := ParseRequirement(r)
		if err != nil {
			f.add(err.Error(), "", "pools[%q].requirements[%d]", p.Name, i)
			continue
		}
		k := c.key(r.Key)
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
		for k, r := range t.Requirements {
			if _, err := ParseRequirement(r); err != nil {
				f.add(err.Error(), "", "pools[%q].instanceTypes[%q].requirements[%d]", p.Name, t.Name, k)
			}
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
