package scheduling

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// oldNode is an existing node.
type oldNode struct {
	index  int32
	node   *Node
	labels map[string]string // by unaliased key
	taints []corev1.Taint    // those that count
	free   []int64
	ports  []hostPort
	// content lists the node's pods as classes of labels; classes is the class of each of the node's pods, -1 for those
	// that matter to nobody.
	content []pack.Content
	classes []int32
}

// labelNodes lists existing nodes with their labels and taints, initialised ones first, then by name.
func (c *compiler) labelNodes() {
	order := make([]int32, len(c.p.Nodes))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &c.p.Nodes[a], &c.p.Nodes[b]
		return cmp.Or(cmp.Compare(b2i(x.Uninitialized), b2i(y.Uninitialized)), strings.Compare(x.Name, y.Name))
	})
	for _, i := range order {
		n := &c.p.Nodes[i]
		out := oldNode{index: i, node: n, labels: c.nodeLabels(n.Labels), free: make([]int64, len(c.dims))}
		for _, t := range n.Taints {
			if !n.Uninitialized || !ephemeral(t, n.StartupTaints) {
				out.taints = append(out.taints, t)
			}
		}
		c.nodes = append(c.nodes, out)
	}
}

// nodeLabels spells labels as NodeRequirements does.
func (c *compiler) nodeLabels(labels map[string]string) map[string]string {
	out := make(map[string]string, len(labels))
	aliased := false
	for k, v := range labels {
		if key := c.rules.Key(k); key != k {
			aliased = true
			continue
		}
		out[k] = c.rules.Value(k, v)
	}
	if aliased {
		for _, k := range sortedKeys(labels) {
			key := c.rules.Key(k)
			if _, given := labels[key]; given && k != key {
				continue
			}
			if _, taken := out[key]; !taken {
				out[key] = c.rules.Value(key, labels[k])
			}
		}
	}
	return out
}

// readNodes reads what runs on existing nodes and what that leaves free.
func (c *compiler) readNodes(r *podReader) {
	running := &runningReader{r: r, ids: map[string]int32{}}
	for i := range c.nodes {
		c.readNode(&c.nodes[i], running)
	}
	for i := range c.nodes {
		c.space.Nodes = append(c.space.Nodes, pack.Node{Free: c.nodes[i].free, Content: c.nodes[i].content})
	}
}

// readMovable gives running pods that may have to be placed again the classes that they would have then.
func (c *compiler) readMovable(r *podReader) {
	if !c.movable {
		return
	}
	c.movableClass = map[*corev1.Pod]int32{}
	for i := range c.p.Nodes {
		for _, p := range c.p.Nodes[i].Pods {
			if movable(p) {
				c.movableClass[p] = r.read(p, false)
			}
		}
	}
}

// runningReader gives running pods classes of their own, after those that are to be placed.
type runningReader struct {
	r   *podReader
	ids map[string]int32
}

// read returns the class of a running pod; false: it matters to nobody. Its spread does not matter, since nobody
// moves it.
func (b *runningReader) read(p *corev1.Pod) (int32, bool) {
	r, c := b.r, b.r.c
	if p.DeletionTimestamp != nil {
		return 0, false
	}
	var shared []sharedVolume
	if anyStorage(p) {
		_, shared = c.storage.attached(&Node{Pods: []*corev1.Pod{p}})
		shared = slices.DeleteFunc(shared, func(v sharedVolume) bool { return !c.attachable[v.driver] })
	}
	if !r.anySelector && len(shared) == 0 {
		return 0, false
	}
	r.buf = r.buf[:0]
	r.standing(p)
	r.podTerms('N', requiredAntiAffinity(p))
	for i := range shared {
		r.buf = append(r.buf, 'v')
		r.str(shared[i].id)
	}
	id, ok := b.ids[string(r.buf)]
	if !ok {
		id = int32(len(c.classes) + len(c.bound))
		b.ids[string(r.buf)] = id
		c.bound, c.boundVolumes = append(c.bound, p), append(c.boundVolumes, shared)
	}
	return id, true
}

func (c *compiler) readNode(out *oldNode, running *runningReader) {
	n := out.node
	c.vector(n.Allocatable, out.free)
	c.attachments(n, out.free)
	used := make([]int64, len(c.dims))
	present := map[string][]int64{} // what the pods of each DaemonSet take
	if out.classes == nil {
		out.classes = slices.Repeat([]int32{-1}, len(n.Pods))
		for k, p := range n.Pods {
			if id, ok := c.movableClass[p]; ok {
				out.classes[k] = id
			}
		}
	}
	for k, p := range n.Pods {
		if finished(p) {
			continue
		}
		vec, err := podRequests(p, nil)
		if err != nil {
			continue // what runs already is counted as far as it can be read
		}
		var own []int64
		if name, ok := daemonOf(p); ok {
			if own = present[name]; own == nil {
				own = make([]int64, len(c.dims))
				present[name] = own
			}
		}
		for _, q := range vec {
			if k := slices.Index(c.dims, q.Name); k >= 0 {
				used[k] += q.Amount
				if own != nil {
					own[k] += q.Amount
				}
			}
		}
		out.ports = append(out.ports, portsOf(p)...)
		if out.classes[k] >= 0 && c.places(out.classes[k]) {
			out.add(out.classes[k])
		} else if id, ok := running.read(p); ok {
			if out.add(id); out.classes[k] < 0 {
				out.classes[k] = id
			} // else nobody could place it again, but it counts
		}
	}
	// DaemonSets that belong on the node but are not there yet still take their share.
	for d := range c.daemons {
		ds := &c.daemons[d]
		if !c.admitsDaemon(&c.constraints[ds.constraint], out) {
			continue
		}
		own := present[podName(c.p.DaemonSets[ds.index])]
		for x, q := range ds.req {
			if own != nil {
				if c.attachDim[x] {
					continue
				}
				q -= own[x]
			}
			used[x] += max(q, 0)
		}
		if own == nil {
			out.ports = append(out.ports, ds.ports...)
		}
	}
	for x := range out.free {
		if out.free[x] != pack.Unlimited {
			out.free[x] -= used[x]
		}
		if n.Unschedulable {
			out.free[x] = -1
		}
	}
}

// add counts one more running pod of the class.
func (n *oldNode) add(class int32) {
	for i := range n.content {
		if n.content[i].Class == class {
			n.content[i].Count++
			return
		}
	}
	n.content = append(n.content, pack.Content{Class: class, Job: -1, Count: 1})
}

func (n *oldNode) has(a *atom) bool {
	if a.key == nodeNameKey {
		return a.set.Has(n.node.Name)
	}
	if v, ok := n.labels[a.key]; ok {
		return a.set.Has(v)
	}
	if a.key == corev1.LabelHostname {
		return a.set.Has(n.node.Name)
	}
	return a.set.HasAbsent()
}

func (c *compiler) admitsDaemon(k *constraint, n *oldNode) bool {
	if tolerated(n.taints, k.tolerations, false) != nil {
		return false
	}
	return slices.ContainsFunc(k.terms, func(term []int32) bool {
		return !slices.ContainsFunc(term, func(a int32) bool {
			return !n.has(&c.atoms[a]) && !c.atoms[a].daemonKnows()
		})
	})
}

// daemonKnows reports whether the atom is about a label that every node gets once it is up.
func (a *atom) daemonKnows() bool {
	return (a.key == "karpenter.sh/registered" || a.key == "karpenter.sh/initialized") && a.set.Has("true")
}

// finished pods use nothing.
func finished(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// daemonOf returns the name of the DaemonSet that owns the pod.
func daemonOf(p *corev1.Pod) (string, bool) {
	for i := range p.OwnerReferences {
		if o := &p.OwnerReferences[i]; o.Kind == "DaemonSet" {
			return p.Namespace + "/" + o.Name, true
		}
	}
	return "", false
}

// ephemeral reports whether a taint on a starting node will go away by itself.
func ephemeral(t corev1.Taint, startup []corev1.Taint) bool {
	for _, s := range startup {
		if s.Key == t.Key && s.Effect == t.Effect && s.Value == t.Value {
			return true
		}
	}
	switch {
	case t.Key == corev1.TaintNodeNotReady && t.Effect != corev1.TaintEffectPreferNoSchedule,
		t.Key == corev1.TaintNodeUnreachable && t.Effect == corev1.TaintEffectNoSchedule,
		t.Key == "node.cloudprovider.kubernetes.io/uninitialized",
		t.Key == "karpenter.sh/unregistered",
		strings.HasPrefix(t.Key, "readiness.k8s.io/"):
		return true
	}
	return false
}
