package scheduling_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/randproblem"
	. "github.com/fleetwright/fleetwright/scheduling"
)

// settled draws a problem in which no pod waits.
func settled(seed uint64, size randproblem.Size) *Problem {
	p := randproblem.New(seed, size)
	p.Pods, p.Demands = nil, nil
	if !weighted(seed) {
		for i := range p.Pools {
			p.Pools[i].Weight = 0
		}
	}
	return p
}

// weighted tells whether the pools of a settled problem have weights: then the turn of the pools decides what a launch
// costs.
func weighted(seed uint64) bool { return seed%3 == 0 }

// asking draws changes that can be made to a problem. Of its kinds, 0 drains nodes only.
type asking struct {
	*rand.Rand
	p    *Problem
	seed uint64
}

func newAsking(seed uint64, p *Problem) *asking {
	return &asking{Rand: rand.New(rand.NewPCG(seed, 0xa5c)), p: p, seed: seed}
}

// changes draws one to three nodes to drain and, mostly, changes of another kind too.
func (a *asking) changes(kind int) (ch Changes) {
	order := a.Perm(len(a.p.Nodes))
	for _, i := range order[:min(len(order), 1+a.IntN(3))] {
		if kind == 1 && a.IntN(2) == 0 {
			ch.RemoveNodes = append(ch.RemoveNodes, a.p.Nodes[i].Name)
		} else {
			ch.DrainNodes = append(ch.DrainNodes, a.p.Nodes[i].Name)
		}
	}
	stays := func(n *Node) bool {
		return !slices.Contains(ch.DrainNodes, n.Name) && !slices.Contains(ch.RemoveNodes, n.Name)
	}
	switch kind {
	case 2:
		for i := range a.p.Nodes {
			if n := &a.p.Nodes[i]; stays(n) && len(n.Pods) > 0 && a.IntN(2) == 0 {
				pod := n.Pods[a.IntN(len(n.Pods))]
				ch.RemovePods = append(ch.RemovePods, pod.Namespace+"/"+pod.Name)
			}
		}
	case 3:
		size := randproblem.Constrained()
		size.Pods, size.Kinds = 8, 4
		other := randproblem.New(a.seed+1_000_000, size)
		for i, pod := range other.Pods {
			pod.Name = fmt.Sprintf("added-%d-%d", a.Uint32(), i)
			pod.Spec.Volumes = nil // whose claims are not here
			ch.AddPods = append(ch.AddPods, pod)
		}
	case 4:
		other := randproblem.New(a.seed+2_000_000, randproblem.Small())
		for i := range other.Nodes {
			n := other.Nodes[i]
			n.Name = fmt.Sprintf("added-%d-%d", a.Uint32(), i)
			n.Labels[corev1.LabelHostname] = n.Name
			n.Pool = ""
			for k, pod := range n.Pods {
				pod.Name = fmt.Sprintf("%s-%d", n.Name, k)
			}
			ch.AddNodes = append(ch.AddNodes, n)
		}
	case 5:
		a.bind(&ch, stays)
	case 6:
		a.market(&ch)
	}
	return ch
}

// bind binds some of the pods that drained nodes had.
func (a *asking) bind(ch *Changes, stays func(*Node) bool) {
	var there []string
	for i := range a.p.Nodes {
		if stays(&a.p.Nodes[i]) {
			there = append(there, a.p.Nodes[i].Name)
		}
	}
	for i := range a.p.Nodes {
		n := &a.p.Nodes[i]
		for _, pod := range n.Pods {
			if slices.Contains(ch.DrainNodes, n.Name) && displaced(pod) && len(there) > 0 && a.IntN(2) == 0 {
				ch.Bind = append(ch.Bind, Binding{Pod: pod.Namespace + "/" + pod.Name, Node: there[a.IntN(len(there))]})
			}
		}
	}
}

func (a *asking) market(ch *Changes) {
	for _, k := range a.p.Commitments {
		if a.IntN(3) == 0 {
			if k.PerHour.Known() {
				k.PerHour = PriceFromNano(a.Int64N(500_000_000))
			} else {
				k.Instances = int32(a.IntN(4))
			}
			ch.Commitments = append(ch.Commitments, k)
		}
	}
	for i := range a.p.Pools {
		pool := &a.p.Pools[i]
		switch a.IntN(4) {
		case 0:
			ch.Limits = map[string]corev1.ResourceList{pool.Name: list("cpu", fmt.Sprint(a.IntN(60)))}
		case 1:
			if len(pool.InstanceTypes) > 0 {
				ch.Offerings = append(ch.Offerings, OfferingChange{Pool: pool.Name, InstanceType: pool.InstanceTypes[a.IntN(len(pool.InstanceTypes))].Name,
					Unavailable: a.IntN(2) == 0, Price: PriceFromNano(a.Int64N(1_000_000_000))})
			}
		}
		for _, t := range pool.InstanceTypes {
			for _, o := range t.Offerings {
				if o.Reservation != "" && a.IntN(4) == 0 {
					ch.Reservations = map[string]int32{o.Reservation: int32(a.IntN(4))}
				}
			}
		}
	}
}

// displaced tells which pods of a drained node need another place.
func displaced(pod *corev1.Pod) bool {
	for _, o := range pod.OwnerReferences {
		if o.Kind == "DaemonSet" || o.Kind == "Node" {
			return false
		}
	}
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// byHand makes the changes to a copy of the problem, one after the other and as plainly as can be.
func byHand(p *Problem, ch Changes) *Problem {
	q := *p
	q.Pods, q.Nodes = slices.Clone(p.Pods), nil
	for _, n := range p.Nodes {
		drain := slices.Contains(ch.DrainNodes, n.Name)
		for _, pod := range n.Pods {
			if drain && displaced(pod) {
				q.Pods = append(q.Pods, pod)
			}
		}
		if !drain && !slices.Contains(ch.RemoveNodes, n.Name) {
			q.Nodes = append(q.Nodes, n)
		}
	}
	gone := func(pod *corev1.Pod) bool { return slices.Contains(ch.RemovePods, pod.Namespace+"/"+pod.Name) }
	q.Pods = slices.DeleteFunc(q.Pods, gone)
	for i := range q.Nodes {
		q.Nodes[i].Pods = slices.DeleteFunc(slices.Clone(q.Nodes[i].Pods), gone)
	}
	q.Nodes, q.Pods = append(q.Nodes, ch.AddNodes...), append(q.Pods, ch.AddPods...)
	for _, b := range ch.Bind {
		k := slices.IndexFunc(q.Pods, func(pod *corev1.Pod) bool { return pod.Namespace+"/"+pod.Name == b.Pod })
		n := slices.IndexFunc(q.Nodes, func(n Node) bool { return n.Name == b.Node })
		q.Nodes[n].Pods = append(slices.Clone(q.Nodes[n].Pods), q.Pods[k])
		q.Pods = slices.Delete(q.Pods, k, k+1)
	}
	q.Commitments = slices.Clone(p.Commitments)
	for _, k := range ch.Commitments {
		q.Commitments[slices.IndexFunc(q.Commitments, func(x Commitment) bool { return x.Name == k.Name })] = k
	}
	q.Pools = slices.Clone(p.Pools)
	for i := range q.Pools {
		pool := &q.Pools[i]
		if l, ok := ch.Limits[pool.Name]; ok {
			pool.Limits = l
		}
		pool.InstanceTypes = slices.Clone(pool.InstanceTypes)
		for k, t := range pool.InstanceTypes {
			c := *t
			c.Offerings = slices.Clone(t.Offerings)
			for j := range c.Offerings {
				o := &c.Offerings[j]
				if n, ok := ch.Reservations[o.Reservation]; ok {
					o.Count = n
				}
				for _, x := range ch.Offerings {
					is := func(want, have string) bool { return want == "" || want == have }
					if is(x.Pool, pool.Name) && is(x.InstanceType, t.Name) && is(x.Zone, o.Zone) && is(x.CapacityType, o.CapacityType) {
						if o.Unavailable = x.Unavailable; x.Price.Known() && o.Commitment == "" {
							o.Price = x.Price
						}
					}
				}
			}
			pool.InstanceTypes[k] = &c
		}
	}
	return &q
}

// planOf is an outcome as a plan of the problem after the changes. Pods that are left, and those that nobody asked about,
// were not evaluated.
func planOf(q *Problem, o *Outcome) *Plan {
	plan := &Plan{Catalog: q.Catalog, Options: Options{Steps: 1}}
	number := map[*corev1.Pod]int32{}
	for i, pod := range q.Pods {
		number[pod] = int32(i)
	}
	placed := map[int32]bool{}
	take := func(pod *corev1.Pod) int32 {
		i, ok := number[pod]
		if !ok {
			return -1
		}
		placed[i] = true
		return i
	}
	for _, m := range o.Moves {
		at := slices.IndexFunc(q.Nodes, func(n Node) bool { return n.Name == m.Node })
		plan.Placements = append(plan.Placements, Placement{Pod: take(m.Pod), Node: int32(at)})
	}
	for i, l := range o.Launches {
		at := Alternative{Type: l.Type, Offering: l.Offering}
		plan.Shapes = append(plan.Shapes, Shape{Pool: l.Pool, Choice: at, Alternatives: []Alternative{at}, AlternativeCount: 1,
			Price: l.Price, CustomLabels: l.CustomLabels})
		launch := Launch{Shape: int32(i)}
		for _, pod := range l.Pods {
			launch.Pods = append(launch.Pods, take(pod))
		}
		plan.Launches = append(plan.Launches, launch)
	}
	for _, pod := range o.BindOrder {
		plan.BindOrder = append(plan.BindOrder, number[pod])
	}
	for i := range int32(q.PodCount()) {
		if !placed[i] {
			plan.NotEvaluated = append(plan.NotEvaluated, i)
		}
	}
	plan.Totals = Totals{Price: o.Price, Nodes: len(plan.Launches), Pods: len(placed), NotEvaluated: len(plan.NotEvaluated)}
	plan.Commitments = commitmentUse(q, plan)
	return plan
}

// judgeOutcome verifies an outcome, but for what outcomes do not tell: what the pods and DaemonSets of a launch
// request together, the further offerings that minValues want; and for gangs, which they do not keep together.
func judgeOutcome(q *Problem, o *Outcome) error {
	err := Verify(q, planOf(q, o))
	var found *VerifyError
	if !errors.As(err, &found) {
		return err
	}
	found.Violations = slices.DeleteFunc(found.Violations, func(w Violation) bool {
		return slices.Contains([]string{"requests", "daemonSets", "minValues", "gang"}, w.Rule)
	})
	if len(found.Violations) == 0 {
		return nil
	}
	return found
}

// placedBy counts the pods that an outcome places.
func placedBy(o *Outcome) int {
	n := len(o.Moves)
	for _, l := range o.Launches {
		n += len(l.Pods)
	}
	return n
}
