package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// compiler turns a problem into what the kernel works on. Strings, quantities and label sets end here.
type compiler struct {
	p     *Problem
	opts  *Options
	rules LabelRules
	known map[string]bool // well-known keys

	dims    []corev1.ResourceName
	atoms   []atom
	atomIDs map[string]int32
	// constraints and classes are numbered as met; order is the canonical order of the classes.
	constraints []constraint
	classes     []class
	order       []int32
	daemons     []daemon
	nodes       []oldNode
	softTaints  bool
	// tied are the claims whose volume only some nodes can reach.
	tied map[string]bool
	// constrained is set if pods mean anything to each other: selectors or host ports.
	constrained bool

	bound []*corev1.Pod
	// hasher and podSum are what the digest needs of the pods, gathered while they are read.
	hasher podHasher
	podSum hash128
	rows   []row
	space  pack.Space
	// poolRank maps Problem.Pools to their place in the order of names.
	openKeys []string
	states   []ValueSet
	stateIDs map[string]int32
	meets    map[[2]int32]int32
	masks    map[string]int32
	minKeys  []string
}

// usualDims is how many of the first resources every node has: cpu, memory, pods.
const usualDims = 3

// daemon is a DaemonSet.
type daemon struct {
	index      int32 // in Problem.DaemonSets
	constraint int32
	req        []int64
	ports      []hostPort
	mask       pack.Mask
}

// oldNode is an existing node.
type oldNode struct {
	index  int32
	node   *Node
	labels map[string]string // by unaliased key
	taints []corev1.Taint    // those that count
	free   []int64
	ports  []hostPort
	// bound lists the node's pods as classes of labels.
	content []pack.Content
}

func newCompiler(p *Problem, opts *Options) *compiler {
	c := &compiler{p: p, opts: opts, rules: p.Labels.filled(), known: map[string]bool{}, atomIDs: map[string]int32{},
		stateIDs: map[string]int32{}, meets: map[[2]int32]int32{}, masks: map[string]int32{}}
	for _, k := range c.rules.WellKnown {
		c.known[k] = true
	}
	soft := func(taints []corev1.Taint) bool {
		return slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectPreferNoSchedule })
	}
	for i := range p.Pools {
		c.softTaints = c.softTaints || soft(p.Pools[i].Taints)
	}
	for i := range p.Nodes {
		c.softTaints = c.softTaints || soft(p.Nodes[i].Taints)
	}
	c.dims, c.tied = newDims(), tiedClaims(&p.Storage)
	return c
}

// newDims lists the resources that come first: the kernel balances a node's cpu against its memory.
func newDims() []corev1.ResourceName {
	return []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods}
}

// dim returns the number of a resource, a new one if it was not met before.
func (c *compiler) dim(name corev1.ResourceName) int {
	for i, d := range c.dims {
		if d == name {
			return i
		}
	}
	c.dims = append(c.dims, name)
	return len(c.dims) - 1
}

// compile reads the whole problem.
func (c *compiler) compile() error {
	if err := c.check(); err != nil {
		return err
	}
	r := newPodReader(c)
	if err := c.readPods(r); err != nil {
		return err
	}
	c.constrained = r.anySelector || slices.ContainsFunc(c.classes, func(cl class) bool { return len(cl.ports) > 0 })
	if err := c.readDaemons(r); err != nil {
		return err
	}
	for i := range c.p.Pools {
		for _, name := range sortedKeys(c.p.Pools[i].Limits) {
			if name != NodesResource {
				c.dim(name)
			}
		}
	}
	c.canonicalDims()
	c.readRows()
	c.readNodes(r)
	c.evaluateConstraints()
	return nil
}

// urgent splits a class of which only some pods are to come first.
func (c *compiler) urgent(cl *class, first map[string]bool) {
	n := 0
	for _, i := range cl.pods {
		if first[podName(c.p.Pods[i])] {
			n++
		}
	}
	cl.first = n > 0
	if n > 0 && n < len(cl.pods) {
		// Within a class pods are alike, so it is enough that those named are taken first.
		slices.SortStableFunc(cl.pods, func(a, b int32) int {
			return cmp.Compare(b2i(first[podName(c.p.Pods[b])]), b2i(first[podName(c.p.Pods[a])]))
		})
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (c *compiler) readDaemons(r *podReader) error {
	order := make([]int32, len(c.p.DaemonSets))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return strings.Compare(podName(c.p.DaemonSets[a]), podName(c.p.DaemonSets[b]))
	})
	var faults []Fault
	for _, i := range order {
		p := c.p.DaemonSets[i]
		vec, err := podRequests(p, nil)
		if err != nil {
			faults = append(faults, Fault{Path: fmt.Sprintf("daemonSets[%q]", podName(p)), Problem: err.Error()})
			continue
		}
		d := daemon{index: i, constraint: r.constraint(p), ports: portsOf(p)}
		if f := c.constraints[d.constraint].fault; f != "" {
			faults = append(faults, Fault{Path: fmt.Sprintf("daemonSets[%q]", podName(p)), Problem: f})
			continue
		}
		for _, q := range vec {
			k := c.dim(q.Name)
			for len(d.req) <= k {
				d.req = append(d.req, 0)
			}
			d.req[k] = q.Amount
		}
		c.daemons = append(c.daemons, d)
	}
	if len(faults) > 0 {
		return &InputError{Faults: faults}
	}
	return nil
}

// canonicalDims makes the order of the resources independent of the order of the pods, fills every
// vector up and orders the classes.
func (c *compiler) canonicalDims() {
	sorted := slices.Clone(c.dims)
	slices.Sort(sorted[usualDims:])
	perm := make([]int, len(sorted))
	for i, name := range sorted {
		perm[i] = slices.Index(c.dims, name)
	}
	fix := func(v []int64) []int64 {
		out := make([]int64, len(sorted))
		for i, from := range perm {
			if from < len(v) {
				out[i] = v[from]
			}
		}
		return out
	}
	c.dims = sorted
	for i := range c.classes {
		c.classes[i].req = fix(c.classes[i].req)
	}
	for i := range c.daemons {
		c.daemons[i].req = fix(c.daemons[i].req)
	}
	c.order = make([]int32, len(c.classes))
	for i := range c.order {
		c.order[i] = int32(i)
	}
	slices.SortFunc(c.order, func(a, b int32) int {
		return strings.Compare(c.classes[a].key, c.classes[b].key)
	})
}

// vector reads a resource list into dimensions, unknown resources left out.
func (c *compiler) vector(list corev1.ResourceList, dst []int64) {
	for i, name := range c.dims {
		if q, ok := list[name]; ok {
			dst[i] = amountOf(name, &q)
		}
	}
}

// readNodes reads existing nodes, initialised ones first, then by name.
func (c *compiler) readNodes(r *podReader) {
	order := make([]int32, len(c.p.Nodes))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &c.p.Nodes[a], &c.p.Nodes[b]
		return cmp.Or(cmp.Compare(b2i(x.Uninitialized), b2i(y.Uninitialized)), strings.Compare(x.Name, y.Name))
	})
	bound := newBoundReader(r)
	for _, i := range order {
		c.nodes = append(c.nodes, c.readNode(i, bound))
	}
	for i := range c.nodes {
		c.space.Nodes = append(c.space.Nodes, pack.Node{Free: c.nodes[i].free, Content: c.nodes[i].content})
	}
}

func (c *compiler) readNode(i int32, bound *boundReader) oldNode {
	n := &c.p.Nodes[i]
	out := oldNode{index: i, node: n, labels: map[string]string{}, free: make([]int64, len(c.dims))}
	for _, k := range NodeRequirements(n.Labels, c.rules).list {
		out.labels[k.key] = k.set.values[0]
	}
	for _, t := range n.Taints {
		if !n.Uninitialized || !ephemeral(t, n.StartupTaints) {
			out.taints = append(out.taints, t)
		}
	}
	c.vector(n.Allocatable, out.free)
	used := make([]int64, len(c.dims))
	present := map[string][]int64{} // what the pods of each DaemonSet take
	for _, p := range n.Pods {
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
		if id, ok := bound.read(p); ok {
			out.content = append(out.content, pack.Content{Class: id, Job: -1, Count: 1})
		}
	}
	// DaemonSets that belong on the node but are not there yet still take their share.
	for d := range c.daemons {
		ds := &c.daemons[d]
		if !c.admitsDaemon(&c.constraints[ds.constraint], &out) {
			continue
		}
		own := present[podName(c.p.DaemonSets[ds.index])]
		for x, q := range ds.req {
			if own != nil {
				q -= own[x]
			}
			used[x] += max(q, 0)
		}
		if own == nil {
			out.ports = append(out.ports, ds.ports...)
		}
	}
	for x := range out.free {
		out.free[x] -= used[x]
		if n.Unschedulable {
			out.free[x] = -1
		}
	}
	return out
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
