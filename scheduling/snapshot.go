package scheduling

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
)

// Snapshot is a problem compiled once, to ask it many questions: WhatIf tells what a change would lead to, and
// costs what it changes, not what exists. Apply makes changes that last until Revert. A Snapshot is not safe for
// concurrent use; Fork gives each goroutine one of its own, and forks share what was compiled.
//
// It holds on to the problem's pods and nodes, which must not change while it is in use.
type Snapshot struct {
	opts    Options
	problem *Problem
	c       *compiler
	board   *board.Board
	// nodes finds existing nodes of c by name; pods finds pods by name once somebody asks for one.
	nodes map[string]int32
	// stale is set where the problem has changed in a way that the board does not know.
	stale bool
	// saved is what Revert returns to, mark the state of its board.
	saved *Snapshot
	mark  int
	spare whatIf
}

// Compile compiles a problem for questions. Its errors are those of Solve. Options.First, Steps and Progress are ignored.
// O(problem), about as much as a Solve takes before it packs.
func Compile(p *Problem, opts *Options) (*Snapshot, error) {
	s := &Snapshot{problem: p}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.First, s.opts.Steps, s.opts.Progress = nil, 0, nil
	if err := s.compile(); err != nil {
		return nil, err
	}
	s.Commit()
	return s, nil
}

// compile reads the problem anew.
func (s *Snapshot) compile() error {
	c := newCompiler(s.problem, &s.opts)
	c.movable = true
	if err := c.compile(); err != nil {
		return err
	}
	c.nodePrices()
	c.model.Prepare()
	c.depths()
	s.c, s.board, s.stale = c, board.New(&c.model), false
	s.nodes = make(map[string]int32, len(c.nodes))
	for i := range c.nodes {
		s.nodes[c.nodes[i].node.Name] = int32(i)
	}
	return nil
}

// Fork returns a snapshot in the same state that may be used at the same time. O(nodes and their pods).
func (s *Snapshot) Fork() *Snapshot {
	f := &Snapshot{opts: s.opts, problem: s.problem, c: s.c, board: s.board.Clone(), nodes: s.nodes, stale: s.stale}
	f.Commit()
	return f
}

// Commit makes what was applied final: Revert returns to here from now on.
func (s *Snapshot) Commit() {
	s.board.Forget()
	s.saved = &Snapshot{problem: s.problem, c: s.c, board: s.board, nodes: s.nodes, stale: s.stale}
	s.mark = 0
}

// Revert takes back all that was applied since the last Commit, or since Compile or Fork.
func (s *Snapshot) Revert() {
	was := s.saved
	was.board.Rollback(s.mark)
	s.problem, s.c, s.board, s.nodes, s.stale = was.problem, was.c, was.board, was.nodes, was.stale
}

// Problem returns the problem as it is after what was applied. It shares pods and nodes with the one that
// was compiled; read it only.
func (s *Snapshot) Problem() *Problem { return s.problem }

// Plan solves the problem as it is: pods that are pending, those that changes displaced among them. It keeps no state
// between calls: to go on with a partial plan, name what was not evaluated in Options.First; to launch from
// some pools only, name them in Options.Pools.
func (s *Snapshot) Plan(ctx context.Context, opts *Options) (*Plan, error) {
	return Solve(ctx, s.problem, opts)
}

// Changes are made together, in the order of the fields. Names of pods are "namespace/name".
type Changes struct {
	// DrainNodes go away, and their pods need another place, those of DaemonSets and mirror pods apart.
	DrainNodes []string
	// RemoveNodes go away with all that runs on them.
	RemoveNodes []string
	// RemovePods go away, wherever they are.
	RemovePods []string
	// AddNodes come, with what runs on them.
	AddNodes []Node
	// AddPods come and wait for a place.
	AddPods []*corev1.Pod
	// Bind puts waiting pods on nodes.
	Bind []Binding
	// Offerings are repriced, or come and go.
	Offerings []OfferingChange
	// Limits replaces the limits of pools, by name.
	Limits map[string]corev1.ResourceList
	// Reservations replaces the counts of reservations, by name.
	Reservations map[string]int32
}

// Binding says that a pod runs on a node.
type Binding struct {
	Pod, Node string
}

// OfferingChange is what is new of the offerings of a type. Empty fields match all.
type OfferingChange struct {
	Pool, InstanceType, Zone, CapacityType string
	// Unavailable is the new state of what matches.
	Unavailable bool
	// Price, if known, is the new price of what matches.
	Price Price
}

// light reports whether the board can follow the changes without compiling anything.
func (ch *Changes) light() bool {
	return len(ch.AddNodes)+len(ch.AddPods)+len(ch.Bind)+len(ch.Offerings)+len(ch.Limits)+len(ch.Reservations)+len(ch.RemovePods) == 0
}

// Apply makes changes, all or none: an error names the first that cannot be made. Nodes that go are
// O(what runs on them) beside a copy of the lists of pods and nodes; other changes are compiled when the next question is
// asked.
func (s *Snapshot) Apply(ch Changes) error {
	p, err := s.problem.with(&ch)
	if err != nil {
		return err
	}
	switch {
	case s.stale:
	case ch.light():
		for _, name := range slices.Concat(ch.DrainNodes, ch.RemoveNodes) {
			s.board.Close(s.nodes[name])
		}
	default:
		s.stale = true
	}
	s.problem = p
	return nil
}

// fresh compiles what Apply left stale.
func (s *Snapshot) fresh() error {
	if !s.stale {
		return nil
	}
	return s.compile()
}

// with is the problem after the changes. It shares what does not change.
func (p *Problem) with(ch *Changes) (*Problem, error) {
	q := *p
	if err := q.removeNodes(ch); err != nil {
		return nil, err
	}
	if err := q.removePods(ch.RemovePods); err != nil {
		return nil, err
	}
	q.Nodes = append(q.Nodes[:len(q.Nodes):len(q.Nodes)], ch.AddNodes...)
	q.Pods = append(q.Pods[:len(q.Pods):len(q.Pods)], ch.AddPods...)
	if err := q.bind(ch.Bind); err != nil {
		return nil, err
	}
	if err := q.market(ch); err != nil {
		return nil, err
	}
	return &q, nil
}

func (p *Problem) removeNodes(ch *Changes) error {
	if len(ch.DrainNodes)+len(ch.RemoveNodes) == 0 {
		return nil
	}
	gone := map[string]bool{}
	for _, name := range ch.RemoveNodes {
		gone[name] = true
	}
	drain := map[string]bool{}
	for _, name := range ch.DrainNodes {
		gone[name], drain[name] = true, true
	}
	var displaced []*corev1.Pod
	nodes := make([]Node, 0, len(p.Nodes))
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if !gone[n.Name] {
			nodes = append(nodes, *n)
			continue
		}
		if drain[n.Name] {
			for _, pod := range n.Pods {
				if movable(pod) {
					displaced = append(displaced, pod)
				}
			}
		}
		delete(gone, n.Name)
	}
	for _, name := range sortedKeys(gone) {
		return fmt.Errorf("scheduling: there is no node %q to take away", name)
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
	return true
}

func (p *Problem) removePods(names []string) error {
	if len(names) == 0 {
		return nil
	}
	gone := map[string]bool{}
	for _, name := range names {
		gone[name] = true
	}
	left := maps.Clone(gone)
	keep := func(pods []*corev1.Pod) []*corev1.Pod {
		if !slices.ContainsFunc(pods, func(q *corev1.Pod) bool { return q != nil && gone[podName(q)] }) {
			return pods
		}
		out := make([]*corev1.Pod, 0, len(pods))
		for _, q := range pods {
			if q != nil && gone[podName(q)] {
				delete(left, podName(q))
			} else {
				out = append(out, q)
			}
		}
		return out
	}
	p.Pods = keep(p.Pods)
	p.Nodes = slices.Clone(p.Nodes)
	for i := range p.Nodes {
		p.Nodes[i].Pods = keep(p.Nodes[i].Pods)
	}
	for _, name := range sortedKeys(left) {
		return fmt.Errorf("scheduling: there is no pod %q to take away", name)
	}
	return nil
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
			return fmt.Errorf("scheduling: pod %q is not waiting, so it cannot be bound to node %q", b.Pod, b.Node)
		}
		n, ok := at[b.Node]
		if !ok {
			return fmt.Errorf("scheduling: there is no node %q for pod %q", b.Node, b.Pod)
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
		return fmt.Errorf("scheduling: there is no pool %q whose limits could change", name)
	}
	for _, name := range sortedKeys(counted) {
		return fmt.Errorf("scheduling: no offering names the reservation %q", name)
	}
	for i, ok := range used {
		if !ok {
			return fmt.Errorf("scheduling: no offering matches the change %+v", ch.Offerings[i])
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
			if x.Price.Known() {
				e.Price = x.Price
			}
		}
	}
	return out
}

func matches(pattern, s string) bool { return pattern == "" || pattern == s }

// nodePrices finds what existing nodes cost: the price of the offering that their labels name.
func (c *compiler) nodePrices() {
	type sold struct{ pool, typ, zone, kind string }
	prices := map[sold]int64{}
	for i := range c.p.Pools {
		pool := &c.p.Pools[i]
		for _, t := range pool.InstanceTypes {
			for k := range t.Offerings {
				o := &t.Offerings[k]
				if o.Price.Known() {
					prices[sold{pool.Name, t.Name, o.Zone, o.CapacityType}] = o.Price.nano
				}
			}
		}
	}
	c.prices = make([]int64, len(c.nodes))
	for i := range c.nodes {
		n := &c.nodes[i]
		price, ok := prices[sold{n.node.Pool, n.labels[corev1.LabelInstanceTypeStable], n.labels[corev1.LabelTopologyZone], n.labels[CapacityTypeLabel]}]
		if !ok {
			price = -1
		}
		c.prices[i] = price
	}
}
