package scheduling_test

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// The oracle plans by the book and without art: pods in decreasing size, each into the first node that takes
// it, where an open node is a set of offerings that shrinks; at the end each node becomes its cheapest
// offering. It knows labels, taints, resources, ports and DaemonSets, but no spread, affinity, limits,
// weights or minValues: use it on plain problems. Pods that have to do with other pods it leaves out.

// sets is what is known of labels.
type sets map[string]ValueSet

type oraclePod struct {
	index int32
	pod   *corev1.Pod
	need  map[corev1.ResourceName]int64
	terms []sets
	ports []corev1.ContainerPort
}

// oracleColumn is one offering that can be bought.
type oracleColumn struct {
	at     Alternative
	pool   int32
	price  int64
	labels sets
	free   map[corev1.ResourceName]int64
	taints []corev1.Taint
	// here names the DaemonSets that run already on a node that exists.
	here map[string]bool
}

type oracleNode struct {
	columns []*oracleColumn
	narrow  sets
	pods    []*oraclePod
}

type oracle struct {
	problem *Problem
	columns []*oracleColumn
	daemons []*oraclePod
}

func newOracle(p *Problem) *oracle {
	o := &oracle{problem: p}
	for i, d := range p.DaemonSets {
		o.daemons = append(o.daemons, oracleRead(int32(i), d))
	}
	for i := range p.Pools {
		for j, t := range p.Pools[i].InstanceTypes {
			for k := range t.Offerings {
				if c := oracleBuy(p, i, j, k); c != nil {
					o.columns = append(o.columns, c)
				}
			}
		}
	}
	slices.SortStableFunc(o.columns, func(a, b *oracleColumn) int { return cmp.Compare(a.price, b.price) })
	return o
}

func unalias(key string) string {
	if k, ok := KubernetesAliases()[key]; ok {
		return k
	}
	return key
}

func (s sets) and(key string, set ValueSet) {
	key = unalias(key)
	if have, ok := s[key]; ok {
		set = have.Intersect(set)
	}
	s[key] = set
}

// oracleBuy works out one offering; nil if it cannot be bought or its labels contradict each other.
func oracleBuy(p *Problem, pool, typ, offering int) *oracleColumn {
	from := &p.Pools[pool]
	t := from.InstanceTypes[typ]
	of := t.Offerings[offering]
	if of.Unavailable || !of.Price.Known() {
		return nil
	}
	c := &oracleColumn{at: Alternative{Type: int32(typ), Offering: int32(offering)}, pool: int32(pool), price: of.Price.Nano(), labels: sets{}}
	for _, r := range append(slices.Clone(t.Requirements), from.Requirements...) {
		set, err := ParseRequirement(r)
		if err != nil {
			return nil
		}
		c.labels.and(r.Key, set)
	}
	for _, m := range []map[string]string{from.Labels, of.Labels, {
		PoolLabel: from.Name, corev1.LabelTopologyZone: of.Zone, CapacityTypeLabel: of.CapacityType, corev1.LabelHostname: "new"}} {
		for k, v := range m {
			c.labels.and(k, Values(v))
		}
	}
	for _, s := range c.labels {
		if s.Empty() {
			return nil
		}
	}
	c.free = oracleAmounts(t.Capacity)
	for name, n := range oracleAmounts(t.Overhead) {
		c.free[name] -= n
	}
	for _, x := range from.Taints {
		if x.Effect != corev1.TaintEffectPreferNoSchedule {
			c.taints = append(c.taints, x)
		}
	}
	return c
}

func oracleAmounts(list corev1.ResourceList) map[corev1.ResourceName]int64 {
	out := map[corev1.ResourceName]int64{}
	for name, q := range list {
		if out[name] = q.Value(); name == corev1.ResourceCPU {
			out[name] = q.MilliValue()
		}
	}
	return out
}

func oracleRead(index int32, pod *corev1.Pod) *oraclePod {
	p := &oraclePod{index: index, pod: pod, need: map[corev1.ResourceName]int64{}}
	sum, peak := map[corev1.ResourceName]int64{}, map[corev1.ResourceName]int64{}
	request := func(c corev1.Container) map[corev1.ResourceName]int64 {
		out := oracleAmounts(c.Resources.Limits)
		maps.Copy(out, oracleAmounts(c.Resources.Requests))
		return out
	}
	for _, c := range pod.Spec.InitContainers {
		for name, n := range request(c) {
			if peak[name] = max(peak[name], sum[name]+n); c.RestartPolicy != nil {
				sum[name] += n
			}
		}
	}
	for _, c := range pod.Spec.Containers {
		for name, n := range request(c) {
			sum[name] += n
		}
		for _, x := range c.Ports {
			if x.HostPort == 0 && pod.Spec.HostNetwork {
				x.HostPort = x.ContainerPort
			}
			if x.HostPort > 0 {
				p.ports = append(p.ports, x)
			}
		}
	}
	for _, m := range []map[corev1.ResourceName]int64{sum, peak} {
		for name, n := range m {
			p.need[name] = max(p.need[name], n)
		}
	}
	if pod.Spec.Resources != nil {
		maps.Copy(p.need, oracleAmounts(pod.Spec.Resources.Requests))
	}
	for name, n := range oracleAmounts(pod.Spec.Overhead) {
		p.need[name] += n
	}
	p.need[corev1.ResourcePods] = 1
	p.terms = oracleTerms(pod)
	return p
}

func oracleTerms(pod *corev1.Pod) []sets {
	base := sets{}
	for k, v := range pod.Spec.NodeSelector {
		base.and(k, Values(v))
	}
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return []sets{base}
	}
	var out []sets
	for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		s := maps.Clone(base)
		for _, e := range t.MatchExpressions {
			set, err := ParseRequirement(Requirement{Key: e.Key, Operator: e.Operator, Values: e.Values})
			if err != nil {
				set = ValueSet{}
			}
			s.and(e.Key, set)
		}
		for _, e := range t.MatchFields {
			s.and(e.Key, Values(e.Values...)) // nodes below carry metadata.name as a label
		}
		if len(t.MatchExpressions)+len(t.MatchFields) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// state is what a label of the column may be, given what pods narrowed it to.
func (c *oracleColumn) state(key string, narrow sets) ValueSet {
	s, said := c.labels[key]
	switch {
	case said:
	case slices.Contains(KubernetesLabels(), key):
		s = AnyValue()
	default:
		s = AbsentValue()
	}
	if n, ok := narrow[key]; ok {
		s = s.Intersect(n)
	}
	return s
}

func (c *oracleColumn) allows(s sets) bool {
	for key := range s {
		if c.state(key, s).Empty() {
			return false
		}
	}
	return true
}

func oracleTolerates(pod *corev1.Pod, taints []corev1.Taint) bool {
	for _, t := range taints {
		if !slices.ContainsFunc(pod.Spec.Tolerations, func(x corev1.Toleration) bool {
			return (x.Effect == "" || x.Effect == t.Effect) && (x.Key == t.Key || x.Key == "" && x.Operator == "Exists") &&
				(x.Operator == "Exists" || x.Value == t.Value)
		}) {
			return false
		}
	}
	return true
}

func oracleClash(a, b []corev1.ContainerPort) bool {
	proto := func(p corev1.ContainerPort) corev1.Protocol { return cmp.Or(p.Protocol, corev1.ProtocolTCP) }
	ip := func(p corev1.ContainerPort) string { return cmp.Or(p.HostIP, "0.0.0.0") }
	for _, x := range a {
		for _, y := range b {
			if x.HostPort == y.HostPort && proto(x) == proto(y) && (ip(x) == ip(y) || ip(x) == "0.0.0.0" || ip(y) == "0.0.0.0") {
				return true
			}
		}
	}
	return false
}

// daemonsOn lists the DaemonSets that may run on the column.
func (o *oracle) daemonsOn(c *oracleColumn, narrow sets) []*oraclePod {
	var out []*oraclePod
	for _, d := range o.daemons {
		if !c.here[d.pod.Name] && oracleTolerates(d.pod, c.taints) && slices.ContainsFunc(d.terms, func(t sets) bool {
			both := maps.Clone(narrow)
			for k, s := range t {
				both.and(k, s)
			}
			return c.allows(both)
		}) {
			out = append(out, d)
		}
	}
	return out
}

// holds tells whether the column holds the pods, whose label wishes are in narrow already.
func (o *oracle) holds(c *oracleColumn, narrow sets, pods []*oraclePod) bool {
	if !c.allows(narrow) {
		return false
	}
	all := slices.Concat(pods, o.daemonsOn(c, narrow))
	used := map[corev1.ResourceName]int64{}
	for i, p := range all {
		if i < len(pods) && !oracleTolerates(p.pod, c.taints) {
			return false
		}
		for name, n := range p.need {
			if used[name] += n; used[name] > 0 && used[name] > c.free[name] {
				return false
			}
		}
		for _, q := range all[:min(i, len(pods))] {
			planned := i < len(pods) && p.index >= 0 || q.index >= 0
			if planned && oracleClash(p.ports, q.ports) {
				return false
			}
		}
	}
	return true
}

// join returns the node with the pod added under the first term that leaves an offering, nil if none does.
func (o *oracle) join(n *oracleNode, p *oraclePod) *oracleNode {
	for _, t := range p.terms {
		next := &oracleNode{narrow: maps.Clone(n.narrow), pods: append(slices.Clone(n.pods), p)}
		for k, s := range t {
			next.narrow.and(k, s)
		}
		for _, c := range n.columns {
			if o.holds(c, next.narrow, next.pods) {
				next.columns = append(next.columns, c)
			}
		}
		if len(next.columns) > 0 {
			return next
		}
	}
	return nil
}

// open returns a node for the pod alone, in the pool where that is cheapest.
func (o *oracle) open(p *oraclePod) *oracleNode {
	n := o.join(&oracleNode{columns: o.columns, narrow: sets{}}, p)
	if n == nil {
		return nil
	}
	pool := n.columns[0].pool
	n.columns = slices.DeleteFunc(slices.Clone(n.columns), func(c *oracleColumn) bool { return c.pool != pool })
	return n
}

// existing turns a node that is there into a column of its own; nil if it takes no pods.
func (o *oracle) existing(i int) *oracleNode {
	node := &o.problem.Nodes[i]
	if node.Unschedulable {
		return nil
	}
	c := &oracleColumn{labels: sets{"metadata.name": Values(node.Name)}, free: oracleAmounts(node.Allocatable), here: map[string]bool{}}
	for _, k := range KubernetesLabels() {
		c.labels[k] = AbsentValue()
	}
	for k, v := range node.Labels {
		c.labels[unalias(k)] = Values(v)
	}
	for _, t := range node.Taints {
		if t.Effect != corev1.TaintEffectPreferNoSchedule && !(node.Uninitialized && t.Key != "example.com/dedicated") {
			c.taints = append(c.taints, t)
		}
	}
	n := &oracleNode{columns: []*oracleColumn{c}, narrow: sets{}}
	for _, pod := range node.Pods {
		if !tinyRuns(pod) {
			continue
		}
		p := oracleRead(-1, pod)
		for name, x := range p.need {
			c.free[name] -= x
		}
		// Only the ports of what runs there matter from here on.
		n.pods = append(n.pods, &oraclePod{index: -1, pod: &corev1.Pod{Spec: corev1.PodSpec{Tolerations: []corev1.Toleration{{Operator: "Exists"}}}}, ports: p.ports})
		for _, r := range pod.OwnerReferences {
			c.here[r.Name] = true
		}
	}
	return n
}

// lonely pods neither ask for nor mind company.
func lonely(p *Problem, pod *corev1.Pod) bool {
	a := pod.Spec.Affinity
	if len(pod.Spec.TopologySpreadConstraints) > 0 || a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
		return false
	}
	minds := func(q *corev1.Pod) bool {
		b := q.Spec.Affinity
		return b != nil && b.PodAntiAffinity != nil && slices.ContainsFunc(b.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
			func(t corev1.PodAffinityTerm) bool {
				s, _ := metav1.LabelSelectorAsSelector(t.LabelSelector)
				return q.Namespace == pod.Namespace && s.Matches(labels.Set(pod.Labels))
			})
	}
	return !slices.ContainsFunc(p.Nodes, func(n Node) bool { return slices.ContainsFunc(n.Pods, minds) }) && !slices.ContainsFunc(p.Pods, minds)
}

// plan is the oracle's plan.
func (o *oracle) plan() *Plan {
	plan := &Plan{Catalog: o.problem.Catalog, Reasons: []Reason{{Code: CodeNotModelled}, {Code: CodeRequirement}}}
	plan.Totals.Price = PriceFromNano(0)
	var pods []*oraclePod
	for i, p := range o.problem.Pods {
		pods = append(pods, oracleRead(int32(i), p))
	}
	slices.SortStableFunc(pods, func(a, b *oraclePod) int {
		return cmp.Or(-cmp.Compare(a.need["cpu"], b.need["cpu"]), -cmp.Compare(a.need["memory"], b.need["memory"]), cmp.Compare(a.pod.Name, b.pod.Name))
	})
	var nodes []*oracleNode
	for i := range o.problem.Nodes {
		nodes = append(nodes, o.existing(i))
	}
	for _, p := range pods {
		at := -1
		for i := 0; i < len(nodes) && at < 0 && lonely(o.problem, p.pod); i++ {
			if nodes[i] == nil {
				continue
			}
			if n := o.join(nodes[i], p); n != nil {
				nodes[i], at = n, i
			}
		}
		if n := o.open(p); at < 0 && n != nil && lonely(o.problem, p.pod) {
			nodes, at = append(nodes, n), len(nodes)
		}
		switch {
		case at < 0:
			u := Unplaced{Pod: p.index}
			if lonely(o.problem, p.pod) {
				u.Reason = 1 // which Verify then doubts
			}
			plan.Unplaced = append(plan.Unplaced, u)
		case at < len(o.problem.Nodes):
			plan.Placements = append(plan.Placements, Placement{Pod: p.index, Node: int32(at)})
		}
	}
	for _, n := range nodes[len(o.problem.Nodes):] {
		o.launch(plan, n)
	}
	plan.Totals.Pods, plan.Totals.Unplaced = len(o.problem.Pods)-len(plan.Unplaced), len(plan.Unplaced)
	return plan
}

// launch adds a node to the plan as the cheapest offering left.
func (o *oracle) launch(plan *Plan, n *oracleNode) {
	c := n.columns[0]
	custom := map[string]string{}
	for key := range c.labels {
		s := c.state(key, n.narrow)
		values, finite := s.Finite()
		if settled := finite && len(values) == 1 && !s.HasAbsent(); !s.HasAbsent() && (!settled || !c.labels[key].Equal(s)) {
			if v, ok := s.Any(); ok && !slices.Contains(KubernetesLabels(), key) {
				custom[key] = v
				n.narrow.and(key, Values(v))
			}
		}
	}
	shape := Shape{Pool: c.pool, Choice: c.at, Price: PriceFromNano(c.price), CustomLabels: custom}
	for _, d := range o.daemonsOn(c, n.narrow) {
		shape.DaemonSets = append(shape.DaemonSets, d.index)
	}
	launch := Launch{Shape: int32(len(plan.Shapes))}
	for _, p := range n.pods {
		launch.Pods = append(launch.Pods, p.index)
	}
	shape.Requests = o.requests(launch.Pods, shape.DaemonSets)
	for _, a := range n.columns {
		if o.holds(a, n.narrow, n.pods) {
			shape.Alternatives = append(shape.Alternatives, a.at)
		}
	}
	shape.AlternativeCount = len(shape.Alternatives)
	plan.Shapes = append(plan.Shapes, shape)
	plan.Launches = append(plan.Launches, launch)
	plan.Totals.Nodes++
	plan.Totals.Price = PriceFromNano(plan.Totals.Price.Nano() + c.price)
}
