package scheduling

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Changes are made together, in the order of the fields: a pod of a drained node may be bound by the same changes.
// Names of pods are "namespace/name". Reservations are as Offering.Count says, and so are commitments: a node that goes gives
// nothing back, until Reservations or Commitments say so.
type Changes struct {
	// DrainNodes go away, and their pods wait for another place: all but those of DaemonSets, mirror pods, and pods
	// that have finished or are on their way out. A pod without an owner is taken to be created anew too.
	DrainNodes []string
	// RemoveNodes go away with all that runs on them.
	RemoveNodes []string
	// RemovePods go away, whether they wait or run. Pods of Problem.Demands are none of them.
	RemovePods []string
	// AddNodes come, with what runs on them.
	AddNodes []Node
	// AddPods come and wait for a place.
	AddPods []*corev1.Pod
	// Bind puts waiting pods on nodes. Nobody asks whether they fit.
	Bind []Binding
	// Offerings are repriced, or come and go; a later entry overrides an earlier one.
	Offerings []OfferingChange
	// Limits replaces all limits of pools, by name; nil: none any more.
	Limits map[string]corev1.ResourceList
	// Reservations replaces the counts of reservations, by name.
	Reservations map[string]int32
	// Commitments take the place of those of the same name.
	Commitments []Commitment
}

// Binding says that a pod ("namespace/name") runs on a node.
type Binding struct {
	Pod, Node string
}

// OfferingChange is what is new of some offerings.
type OfferingChange struct {
	// Pool, InstanceType, Zone and CapacityType choose offerings; an empty one matches all.
	Pool, InstanceType, Zone, CapacityType string
	// Unavailable is the new state of what matches.
	Unavailable bool
	// Price, if known, is the new price of what matches, offerings under a commitment apart: theirs is agreed.
	Price Price
}

// nodesOnly reports whether nothing happens but that nodes go away.
func (ch *Changes) nodesOnly() bool {
	return len(ch.RemovePods)+len(ch.AddNodes)+len(ch.AddPods)+len(ch.Bind)+len(ch.Offerings)+len(ch.Limits)+len(ch.Reservations)+len(ch.Commitments) == 0
}

func changeError(problem, remedy, path string, args ...any) error {
	return fmt.Errorf("scheduling: changes.%s", Fault{Path: fmt.Sprintf(path, args...), Problem: problem, Remedy: remedy})
}

const (
	nameNode = "name one that Snapshot.Problem has, once"
	namePod  = `name one that Snapshot.Problem has, as "namespace/name"`
)

// with is the problem after the changes. It shares what does not change. Light changes are those after which what was
// compiled is still true of the nodes that are left and of all that runs on them.
func (p *Problem) with(ch *Changes) (q *Problem, light bool, err error) {
	q = new(Problem)
	*q = *p
	if err := q.removeNodes(ch); err != nil {
		return nil, false, err
	}
	ran, err := q.removePods(ch.RemovePods)
	if err != nil {
		return nil, false, err
	}
	for i, pod := range ch.AddPods {
		if pod == nil {
			return nil, false, changeError("is nil", "leave it out", "addPods[%d]", i)
		}
	}
	q.Nodes = append(q.Nodes[:len(q.Nodes):len(q.Nodes)], ch.AddNodes...)
	q.Pods = append(q.Pods[:len(q.Pods):len(q.Pods)], ch.AddPods...)
	if err := q.bind(ch.Bind); err != nil {
		return nil, false, err
	}
	if err := q.market(ch); err != nil {
		return nil, false, err
	}
	light = !ran && len(ch.AddNodes)+len(ch.Bind)+len(ch.Offerings)+len(ch.Limits)+len(ch.Reservations)+len(ch.Commitments) == 0
	return q, light, nil
}

func (p *Problem) removeNodes(ch *Changes) error {
	if len(ch.DrainNodes)+len(ch.RemoveNodes) == 0 {
		return nil
	}
	const drain, remove = "drainNodes", "removeNodes"
	gone := map[string]string{}
	for _, name := range ch.DrainNodes {
		if gone[name] != "" {
			return changeError("is there twice", nameNode, "%s[%q]", drain, name)
		}
		gone[name] = drain
	}
	for _, name := range ch.RemoveNodes {
		if gone[name] != "" {
			return changeError("is to go already", nameNode, "%s[%q]", remove, name)
		}
		gone[name] = remove
	}
	var displaced []*corev1.Pod
	nodes := make([]Node, 0, len(p.Nodes))
	for i := range p.Nodes {
		n := &p.Nodes[i]
		how := gone[n.Name]
		if how == "" {
			nodes = append(nodes, *n)
			continue
		}
		for _, pod := range n.Pods {
			if how == drain && movable(pod) {
				displaced = append(displaced, pod)
			}
		}
		delete(gone, n.Name)
	}
	for _, name := range sortedKeys(gone) {
		return changeError("there is no such node", nameNode, "%s[%q]", gone[name], name)
	}
	p.Nodes = nodes
	p.Pods = append(p.Pods[:len(p.Pods):len(p.Pods)], displaced...)
	return nil
}

// movable reports whether a running pod would be created anew elsewhere if its node went away.
func movable(p *corev1.Pod) bool {
	if p == nil || finished(p) || p.DeletionTimestamp != nil {
		return false
	}
	for i := range p.OwnerReferences {
		if k := p.OwnerReferences[i].Kind; k == "DaemonSet" || k == "Node" {
			return false
		}
	}
	_, mirror := p.Annotations[corev1.MirrorPodAnnotationKey]
	return !mirror
}

// removePods reports whether one of the pods ran.
func (p *Problem) removePods(names []string) (ran bool, err error) {
	if len(names) == 0 {
		return false, nil
	}
	gone := map[string]bool{}
	for _, name := range names {
		gone[name] = true
	}
	left := maps.Clone(gone)
	keep := func(pods []*corev1.Pod) ([]*corev1.Pod, bool) {
		if !slices.ContainsFunc(pods, func(q *corev1.Pod) bool { return q != nil && gone[podName(q)] }) {
			return pods, false
		}
		out := make([]*corev1.Pod, 0, len(pods))
		for _, q := range pods {
			if q != nil && gone[podName(q)] {
				delete(left, podName(q))
			} else {
				out = append(out, q)
			}
		}
		return out, true
	}
	p.Pods, _ = keep(p.Pods)
	p.Nodes = slices.Clone(p.Nodes)
	for i := range p.Nodes {
		var some bool
		p.Nodes[i].Pods, some = keep(p.Nodes[i].Pods)
		ran = ran || some
	}
	for _, name := range sortedKeys(left) {
		return false, changeError("there is no such pod", namePod, "removePods[%q]", name)
	}
	return ran, nil
}

func (p *Problem) bind(list []Binding) error {
	if len(list) == 0 {
		return nil
	}
	waiting := map[string]int{}
	for i, pod := range p.Pods {
		waiting[podName(pod)] = i
	}
	at := map[string]int{}
	for i := range p.Nodes {
		at[p.Nodes[i].Name] = i
	}
	p.Nodes = slices.Clone(p.Nodes)
	bound := map[int]bool{}
	for _, b := range list {
		i, ok := waiting[b.Pod]
		if !ok || bound[i] {
			return changeError("no such pod waits", "bind pods of Problem.Pods, each once; add it with AddPods if it is new", "bind[%q]", b.Pod)
		}
		n, ok := at[b.Node]
		if !ok {
			return changeError(fmt.Sprintf("there is no node %q", b.Node), "add it with AddNodes if it is new", "bind[%q]", b.Pod)
		}
		bound[i] = true
		node := &p.Nodes[n]
		node.Pods = append(node.Pods[:len(node.Pods):len(node.Pods)], p.Pods[i])
	}
	pods := make([]*corev1.Pod, 0, len(p.Pods)-len(bound))
	for i, pod := range p.Pods {
		if !bound[i] {
			pods = append(pods, pod)
		}
	}
	p.Pods = pods
	return nil
}

// market applies what is new of pools and offerings.
func (p *Problem) market(ch *Changes) error {
	if err := p.commit(ch.Commitments); err != nil {
		return err
	}
	if len(ch.Offerings)+len(ch.Limits)+len(ch.Reservations) == 0 {
		return nil
	}
	p.Pools = slices.Clone(p.Pools)
	left := maps.Clone(ch.Limits)
	used := make([]bool, len(ch.Offerings))
	counted := maps.Clone(ch.Reservations)
	for i := range p.Pools {
		pool := &p.Pools[i]
		if limits, ok := ch.Limits[pool.Name]; ok {
			pool.Limits = limits
			delete(left, pool.Name)
		}
		if len(ch.Offerings)+len(ch.Reservations) == 0 {
			continue
		}
		types := slices.Clone(pool.InstanceTypes)
		for k, t := range types {
			types[k] = t.with(pool.Name, ch, used, counted)
		}
		pool.InstanceTypes = types
	}
	for _, name := range sortedKeys(left) {
		return changeError("there is no such pool", "name a pool of the problem", "limits[%q]", name)
	}
	for _, name := range sortedKeys(counted) {
		return changeError("no offering is of this reservation", "name one that an offering has", "reservations[%q]", name)
	}
	for i, ok := range used {
		if x := &ch.Offerings[i]; !ok {
			return changeError(fmt.Sprintf("no offering is of pool %q, type %q, zone %q, capacity type %q", x.Pool, x.InstanceType, x.Zone, x.CapacityType),
				"leave out what need not match", "offerings[%d]", i)
		}
	}
	return nil
}

// with is the type after the changes; itself if they do not concern it.
func (t *InstanceType) with(pool string, ch *Changes, used []bool, counted map[string]int32) *InstanceType {
	out := t
	edit := func(i int) *Offering {
		if out == t {
			c := *t
			c.Offerings = slices.Clone(t.Offerings)
			out = &c
		}
		return &out.Offerings[i]
	}
	for i := range t.Offerings {
		o := &t.Offerings[i]
		if n, ok := ch.Reservations[o.Reservation]; ok && o.Reservation != "" {
			edit(i).Count = n
			delete(counted, o.Reservation)
		}
		for k := range ch.Offerings {
			x := &ch.Offerings[k]
			if !matches(x.Pool, pool) || !matches(x.InstanceType, t.Name) || !matches(x.Zone, o.Zone) || !matches(x.CapacityType, o.CapacityType) {
				continue
			}
			used[k] = true
			e := edit(i)
			e.Unavailable = x.Unavailable
			if x.Price.Known() && o.Commitment == "" {
				e.Price = x.Price
			}
		}
	}
	return out
}

// commit replaces commitments.
func (p *Problem) commit(list []Commitment) error {
	if len(list) == 0 {
		return nil
	}
	p.Commitments = slices.Clone(p.Commitments)
	for _, k := range list {
		i := slices.IndexFunc(p.Commitments, func(old Commitment) bool { return old.Name == k.Name })
		if i < 0 {
			return changeError("there is no such commitment", "name one of the problem", "commitments[%q]", k.Name)
		}
		p.Commitments[i] = k
	}
	return nil
}

func matches(pattern, s string) bool { return pattern == "" || pattern == s }
