package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// gang is a set of pods that get a place together or not at all.
type gang struct {
	// name is "namespace/name".
	name string
	// need is how many of the pods in classes must get a place, so that any keeps one.
	need    int32
	classes []int32
}

// gangOf names the gang of a pod, "namespace/name"; empty: it is in none.
func (c *compiler) gangOf(p *corev1.Pod) string {
	name := ""
	if g := p.Spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
		name = *g.PodGroupName
	}
	for i := 0; name == "" && i < len(c.gangLabels); i++ {
		name = p.Labels[c.gangLabels[i]]
	}
	if name == "" {
		return ""
	}
	if name = p.Namespace + "/" + name; c.basicGangs[name] {
		return ""
	}
	return name
}

// readGangs lists the gangs that have pods to be placed, by name.
func (c *compiler) readGangs() {
	classes := map[string][]int32{}
	for _, id := range c.order {
		if key := c.classes[id].gangKey; key != "" {
			classes[key] = append(classes[key], id)
		}
	}
	if len(classes) == 0 {
		return
	}
	least := map[string]int32{}
	for i := range c.p.Gangs {
		g := &c.p.Gangs[i]
		least[g.Namespace+"/"+g.Name] = g.MinCount
	}
	running := c.runningGangs()
	for _, name := range sortedKeys(classes) {
		g := gang{name: name, classes: classes[name]}
		pending := int32(0)
		for _, id := range g.classes {
			c.classes[id].gang = int32(len(c.gangs))
			pending += int32(len(c.classes[id].pods))
		}
		if g.need = pending; least[name] > 0 {
			g.need = max(least[name]-running[name], 0)
		}
		c.gangs = append(c.gangs, g)
	}
}

// runningGangs counts the pods of each gang that run already, and will go on.
func (c *compiler) runningGangs() map[string]int32 {
	out := map[string]int32{}
	for i := range c.p.Nodes {
		for _, p := range c.p.Nodes[i].Pods {
			if finished(p) || p.DeletionTimestamp != nil {
				continue
			}
			if name := c.gangOf(p); name != "" {
				out[name]++
			}
		}
	}
	return out
}

// checkGangs looks for gangs that are there twice and for counts that cannot be.
func (c *compiler) checkGangs(f *faults) {
	order := slices.Clone(c.p.Gangs)
	slices.SortStableFunc(order, func(a, b Gang) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	for i := range order {
		g := &order[i]
		path := g.Namespace + "/" + g.Name
		if i > 0 && order[i-1].Namespace == g.Namespace && order[i-1].Name == g.Name {
			f.add("is there twice", "describe every gang once", "gangs[%q]", path)
		}
		if g.Name == "" {
			f.add("has no name", "name the gang", "gangs[%q]", path)
		}
		if g.MinCount < 0 {
			f.add(fmt.Sprintf("has a minCount of %d", g.MinCount), "write 0 or more", "gangs[%q]", path)
		}
	}
}
