package scheduling

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// A domain is what a topology constraint counts pods in.
type domain int

const (
	domainNone domain = iota
	domainHost
	domainZone
	domainCapacityType
)

func domainKey(key string) domain {
	switch key {
	case corev1.LabelHostname:
		return domainHost
	case corev1.LabelTopologyZone, corev1.LabelFailureDomainBetaZone:
		return domainZone
	case CapacityTypeLabel:
		return domainCapacityType
	}
	return domainNone
}

// group is a set of pods that a constraint counts, with the constraint.
type group struct {
	domain     domain
	anti       bool
	maxSkew    int32
	minDomains int32
	selector   labels.Selector
	namespaces func(string) bool
	// constraint is the owners', for spreads: nodes it does not match, by labels or by taints as the
	// constraint's policies say, do not count.
	constraint               int32
	honorLabels, honorTaints bool
	// rows are the offerings whose nodes count.
	rows pack.Mask
	// selects and owns are by class; classes beyond the pending ones are those of bound pods.
	selects, owns []bool
}

// topology is what pods mean to each other.
type topology struct {
	c      *compiler
	groups []group
	ids    map[string]int32
	// bound are representatives of the classes of bound pods.
	bound []*corev1.Pod
	rules pack.Rules
	// of lists, per class, the groups over zones or capacity types that count or bind it; involved
	// marks the pending classes that have some.
	of       [][]int32
	involved []bool
	zones    []string
	types    []string
}

// boundReader gives bound pods classes of their own, after the pending ones.
type boundReader struct {
	r   *podReader
	ids map[string]int32
}

func newBoundReader(r *podReader) *boundReader { return &boundReader{r: r, ids: map[string]int32{}} }

// read returns the class of a bound pod; false: it matters to nobody.
func (b *boundReader) read(p *corev1.Pod) (int32, bool) {
	if !b.r.anySelector || p.DeletionTimestamp != nil {
		return 0, false
	}
	b.r.buf = b.r.buf[:0]
	b.r.between(p)
	id, ok := b.ids[string(b.r.buf)]
	if !ok {
		id = int32(len(b.r.c.classes) + len(b.r.c.bound))
		b.ids[string(b.r.buf)] = id
		b.r.c.bound = append(b.r.c.bound, p)
	}
	return id, true
}

// newTopology collects the groups and works out what they mean on one node.
func newTopology(c *compiler) *topology {
	t := &topology{c: c, ids: map[string]int32{}, bound: c.bound, involved: make([]bool, len(c.classes))}
	if !c.constrained {
		return t
	}
	reps := make([]*corev1.Pod, 0, len(c.classes)+len(c.bound))
	for i := range c.classes {
		reps = append(reps, c.classes[i].pod)
	}
	reps = append(reps, c.bound...)
	for i, p := range reps {
		t.own(int32(i), p, i >= len(c.classes))
	}
	for g := range t.groups {
		gr := &t.groups[g]
		gr.selects = make([]bool, len(reps))
		gr.owns = append(gr.owns, make([]bool, len(reps)-len(gr.owns))...)
		for i, p := range reps {
			gr.selects[i] = gr.namespaces(p.Namespace) && gr.selector.Matches(labels.Set(p.Labels))
		}
	}
	t.nodeRules(reps)
	t.of = make([][]int32, len(reps))
	for g := range t.groups {
		gr := &t.groups[g]
		if gr.domain == domainHost {
			continue
		}
		t.countedRows(gr)
		for i := range reps {
			if gr.selects[i] || gr.owns[i] {
				t.of[i] = append(t.of[i], int32(g))
				if i < len(t.involved) {
					t.involved[i] = true
				}
			}
		}
	}
	t.domains()
	return t
}

// countedRows finds the offerings whose nodes count for the group.
func (t *topology) countedRows(g *group) {
	if g.anti || !g.honorLabels && !g.honorTaints {
		return
	}
	c, k := t.c, &t.c.constraints[g.constraint]
	g.rows = make(pack.Mask, len(c.rows))
	for _, term := range k.terms {
		for i, b := range c.labelMask(term) {
			g.rows[i] |= b
		}
	}
	for i := range g.rows {
		if !g.honorLabels {
			g.rows[i] = ^uint64(0)
		}
		if g.honorTaints && tolerated(c.p.Pools[c.rows[i].pool].Taints, k.tolerations, false) != nil {
			g.rows[i] = 0
		}
	}
}

// countsOld reports whether pods on an existing node count for the group.
func (t *topology) countsOld(g *group, node int) bool {
	if g.anti {
		return true
	}
	c, k, n := t.c, &t.c.constraints[g.constraint], &t.c.nodes[node]
	return (!g.honorLabels || n.matches(c, k.terms)) && (!g.honorTaints || tolerated(n.taints, k.tolerations, false) == nil)
}

// countsNew is countsOld for a new node of the row and offering.
func (g *group) countsNew(row int32, bit int) bool { return g.rows == nil || g.rows[row]>>bit&1 != 0 }

// own registers the constraints of a class. Bound pods keep others away, but nobody moves them:
// their spread constraints do not matter.
func (t *topology) own(class int32, p *corev1.Pod, bound bool) {
	if !bound {
		for i := range p.Spec.TopologySpreadConstraints {
			s := &p.Spec.TopologySpreadConstraints[i]
			if s.WhenUnsatisfiable == corev1.ScheduleAnyway || domainKey(s.TopologyKey) == domainNone {
				continue
			}
			g := group{domain: domainKey(s.TopologyKey), maxSkew: s.MaxSkew, minDomains: 1, constraint: t.c.classes[class].constraint}
			g.honorLabels = s.NodeAffinityPolicy == nil || *s.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor
			g.honorTaints = s.NodeTaintsPolicy != nil && *s.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
			if s.MinDomains != nil {
				g.minDomains = *s.MinDomains
			}
			g.selector = selectorOf(s.LabelSelector, p, s.MatchLabelKeys, nil)
			ns := p.Namespace
			g.namespaces = func(n string) bool { return n == ns }
			id := "spread|" + s.TopologyKey + "|" + strconv.Itoa(int(g.maxSkew)) + "|" + strconv.Itoa(int(g.minDomains)) +
				"|" + ns + "|" + g.selector.String() + emptiness(s.LabelSelector) + "|" + strconv.FormatBool(g.honorLabels) +
				strconv.FormatBool(g.honorTaints) + "|" + strconv.Itoa(int(g.constraint))
			t.register(id, g, class)
		}
	}
	terms := requiredAntiAffinity(p)
	for i := range terms {
		a := &terms[i]
		g := group{domain: domainKey(a.TopologyKey), anti: true}
		if g.domain == domainNone {
			continue
		}
		g.selector = selectorOf(a.LabelSelector, p, a.MatchLabelKeys, a.MismatchLabelKeys)
		var nsText string
		g.namespaces, nsText = t.namespacesOf(p, a)
		t.register("anti|"+a.TopologyKey+"|"+nsText+"|"+g.selector.String()+emptiness(a.LabelSelector), g, class)
	}
}

// emptiness tells a selector of everything from one of nothing: both print as "".
func emptiness(s *metav1.LabelSelector) string {
	if s == nil {
		return "|none"
	}
	return ""
}

func (t *topology) register(id string, g group, class int32) {
	k, ok := t.ids[id]
	if !ok {
		k = int32(len(t.groups))
		t.ids[id] = k
		t.groups = append(t.groups, g)
	}
	gr := &t.groups[k]
	for len(gr.owns) <= int(class) {
		gr.owns = append(gr.owns, false)
	}
	gr.owns[class] = true
}

// selectorOf is the selector with the pod's own values of matchLabelKeys (and not those of
// mismatchLabelKeys) added. No selector, or one that cannot be read, selects nothing.
func selectorOf(s *metav1.LabelSelector, p *corev1.Pod, match, mismatch []string) labels.Selector {
	sel, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing()
	}
	if s == nil {
		return sel
	}
	add := func(keys []string, op selection.Operator) {
		for _, k := range keys {
			if v, ok := p.Labels[k]; ok {
				if r, err := labels.NewRequirement(k, op, []string{v}); err == nil {
					sel = sel.Add(*r)
				}
			}
		}
	}
	add(match, selection.In)
	add(mismatch, selection.NotIn)
	return sel
}

// namespacesOf follows the API: the list and what the selector matches together; neither means the
// pod's own namespace, an empty selector all.
func (t *topology) namespacesOf(p *corev1.Pod, a *corev1.PodAffinityTerm) (func(string) bool, string) {
	if len(a.Namespaces) == 0 && a.NamespaceSelector == nil {
		ns := p.Namespace
		return func(n string) bool { return n == ns }, "own " + ns
	}
	list := slices.Sorted(slices.Values(a.Namespaces))
	sel, err := metav1.LabelSelectorAsSelector(a.NamespaceSelector)
	if err != nil {
		sel = labels.Nothing()
	}
	known := t.c.p.Namespaces
	text := strconv.Quote(sel.String()) + emptiness(a.NamespaceSelector)
	for _, n := range list {
		text += "," + n
	}
	return func(n string) bool {
		return slices.Contains(list, n) || sel.Matches(labels.Set(known[n]))
	}, text
}

// nodeRules turns what concerns a single node into the kernel's terms: anti-affinity and host
// ports exclude, spread over hosts caps. A new node can always be had, so no node may hold more
// of a spread's pods than its skew.
func (t *topology) nodeRules(reps []*corev1.Pod) {
	n := len(reps)
	ru := &t.rules
	ru.Excludes = make([][]int32, n)
	ru.Caps = make([][]pack.Cap, n)
	exclude := func(a, b int) {
		ru.Excludes[a] = append(ru.Excludes[a], int32(b))
		ru.Excludes[b] = append(ru.Excludes[b], int32(a))
	}
	for g := range t.groups {
		gr := &t.groups[g]
		if gr.domain != domainHost {
			continue
		}
		for a := range n {
			if !gr.anti && (gr.owns[a] || gr.selects[a]) {
				ru.Caps[a] = append(ru.Caps[a], pack.Cap{Group: int32(g), Max: max(gr.maxSkew, 1), In: gr.selects[a], Owns: gr.owns[a]})
			}
			if !gr.anti || !gr.owns[a] {
				continue
			}
			for b := range n {
				if gr.selects[b] {
					exclude(a, b)
				}
			}
		}
	}
	var ported []int
	for i := range t.c.classes {
		if len(t.c.classes[i].ports) > 0 {
			ported = append(ported, i)
		}
	}
	for x, a := range ported {
		for _, b := range ported[x:] {
			if portsClash(t.c.classes[a].ports, t.c.classes[b].ports) {
				exclude(a, b)
			}
		}
	}
	for i := range ru.Excludes {
		slices.Sort(ru.Excludes[i])
		ru.Excludes[i] = slices.Compact(ru.Excludes[i])
	}
}

// domains lists the zones and capacity types there are.
func (t *topology) domains() {
	zones, types := map[string]bool{}, map[string]bool{}
	for i := range t.c.rows {
		r := &t.c.rows[i]
		for _, o := range r.offerings {
			zones[r.t.Offerings[o].Zone] = true
			types[r.t.Offerings[o].CapacityType] = true
		}
	}
	for i := range t.c.nodes {
		if z, ok := t.c.nodes[i].labels[corev1.LabelTopologyZone]; ok {
			zones[z] = true
		}
		if ct, ok := t.c.nodes[i].labels[CapacityTypeLabel]; ok {
			types[ct] = true
		}
	}
	delete(zones, "")
	delete(types, "")
	t.zones, t.types = sortedKeys(zones), sortedKeys(types)
}

// oldCell is the existing node's cell.
func (t *topology) oldCell(n *oldNode) cell {
	return cell{place(t.zones, n.labels[corev1.LabelTopologyZone]), place(t.types, n.labels[CapacityTypeLabel])}
}

// newCell is the cell of a new node.
func (t *topology) newCell(row int32, bit int) cell {
	r := &t.c.rows[row]
	o := &r.t.Offerings[r.offerings[bit]]
	return cell{place(t.zones, o.Zone), place(t.types, o.CapacityType)}
}

// place finds a domain by name.
func place(sorted []string, name string) int {
	if k, ok := slices.BinarySearch(sorted, name); ok {
		return k
	}
	return noDomain
}
