package scheduling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
)

// modelText writes the model in names, so that models can be compared whose classes are numbered otherwise.
func modelText(c *compiler) string {
	var b strings.Builder
	for g := range c.model.Groups {
		b.WriteString(groupText(c, int32(g)) + "\n")
	}
	for _, id := range c.order {
		cl, m := &c.classes[id], &c.model.Classes[id]
		fmt.Fprintf(&b, "class %s: priority %d, gang %d, owns %v, in %v, soft %v, excludes %v, volumes %v\n", strings.Join(podNames(c, cl), " "),
			cl.priority, cl.gang, m.Owns, m.In, m.Soft, classNames(c, m.Excludes), m.Volumes)
		if m.Shape < 0 {
			continue
		}
		for v := range c.model.Shapes[m.Shape].Variants {
			x := &c.model.Shapes[m.Shape].Variants[v]
			fmt.Fprintf(&b, "  without %v: rows %x, nodes %x\n", c.shapes[m.Shape].given[v], x.Mask, x.Fits)
		}
	}
	for i := range c.nodes {
		fmt.Fprintf(&b, "node %s: free %v, domains %v\n", c.nodes[i].node.Name, c.space.Nodes[i].Free, c.space.Nodes[i].Domain)
	}
	return b.String()
}

// groupText is one group in words: `soft pod affinity over zone of [web-1]`.
func groupText(c *compiler, g int32) string {
	s, m := &c.groups[g], &c.model.Groups[g]
	text := s.String()
	if s.soft {
		text = "soft " + text
	}
	if s.minDomains > 1 {
		text += fmt.Sprintf(" minDomains %d", s.minDomains)
	}
	if m.Set >= 0 {
		text += fmt.Sprintf(" set %d", m.Set)
	}
	text += fmt.Sprintf(" of %v", classNames(c, s.audience))
	if s.kind == board.Spread && s.key != board.Host {
		var reach []string
		for d, ok := range m.Eligible {
			if ok {
				reach = append(reach, c.domainNames[s.key][d])
			}
		}
		text += fmt.Sprintf(" reach %v", reach)
	}
	if m.Old != nil {
		text += fmt.Sprintf(" old %v", m.Old)
	}
	if m.Rows != nil {
		text += fmt.Sprintf(" rows %x", m.Rows)
	}
	return text
}

func podNames(c *compiler, cl *class) []string {
	var out []string
	for _, p := range cl.pods {
		out = append(out, strings.TrimPrefix(c.podName(p), "shop/"))
	}
	return out
}

// classNames names classes by their first pods, sorted.
func classNames(c *compiler, list []int32) []string {
	out := make([]string, 0, len(list))
	for _, id := range list {
		if int(id) >= len(c.classes) {
			out = append(out, c.bound[int(id)-len(c.classes)].Name)
		} else {
			out = append(out, podNames(c, &c.classes[id])[0])
		}
	}
	slices.Sort(out)
	return out
}
