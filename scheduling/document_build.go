package scheduling

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Document puts the plan in names. It costs about as much as writing down each pod's name once;
// what launches of one shape have in common they share.
func (p *Plan) Document() *Document {
	n := newNames(p.problem)
	d := &Document{
		Schema: PlanSchema, Digest: p.Digest, Catalog: p.Catalog, Options: p.Options.canonical(),
		Launches:     n.launches(p),
		Placements:   make([]PlacementDocument, len(p.Placements)),
		Unplaced:     make([]UnplacedDocument, len(p.Unplaced)),
		NotEvaluated: n.podList(p.NotEvaluated),
		Commitments:  p.Commitments,
		Pools:        n.pools(p.Pools),
		Totals:       p.Totals, BoundLeavesOut: p.BoundLeavesOut, Stats: p.Stats,
	}
	for i, x := range p.Placements {
		d.Placements[i] = PlacementDocument{Pod: n.pod(x.Pod), Node: n.node(x.Node)}
	}
	slices.SortFunc(d.Placements, func(a, b PlacementDocument) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Pod, b.Pod))
	})
	reasons := make([]ReasonDocument, len(p.Reasons))
	for i, r := range p.Reasons {
		reasons[i] = ReasonDocument{
			Code: r.Code, Message: r.Message(), Detail: r.Detail, Nearest: r.Nearest, Change: r.Change,
			Constraint: r.Constraint, Domains: r.Domains, InTheWay: r.InTheWay,
		}
	}
	for i, u := range p.Unplaced {
		d.Unplaced[i].Pod = n.pod(u.Pod)
		if int(u.Reason) < len(reasons) && u.Reason >= 0 {
			d.Unplaced[i].Reason = reasons[u.Reason]
		}
	}
	slices.SortFunc(d.Unplaced, func(a, b UnplacedDocument) int { return cmp.Compare(a.Pod, b.Pod) })
	for _, r := range p.Relaxed {
		d.Relaxed = append(d.Relaxed, RelaxedDocument{Pods: n.podList(r.Pods), Given: r.Given, Cost: r.Cost})
	}
	slices.SortStableFunc(d.Relaxed, func(a, b RelaxedDocument) int { return slices.Compare(a.Pods, b.Pods) })
	for _, pod := range p.BindOrder {
		d.BindOrder = append(d.BindOrder, n.pod(pod))
	}
	return d
}

// MarshalJSON writes the plan's Document. To read it back, see ReadDocument and Document.Plan.
func (p Plan) MarshalJSON() ([]byte, error) { return json.Marshal(p.Document()) }

// offering returns what a refers to in pool, never nil.
func offeringOf(pool *Pool, a Alternative) (*InstanceType, *Offering) {
	if a.Type < 0 || int(a.Type) >= len(pool.InstanceTypes) || pool.InstanceTypes[a.Type] == nil {
		return &InstanceType{Name: fmt.Sprintf("instanceTypes[%d]", a.Type)}, &Offering{}
	}
	t := pool.InstanceTypes[a.Type]
	if a.Offering < 0 || int(a.Offering) >= len(t.Offerings) {
		return t, &Offering{Zone: fmt.Sprintf("offerings[%d]", a.Offering)}
	}
	return t, &t.Offerings[a.Offering]
}

func (n *names) alternative(pool *Pool, a Alternative) AlternativeDocument {
	t, o := offeringOf(pool, a)
	out := AlternativeDocument{InstanceType: t.Name, Zone: o.Zone, CapacityType: o.CapacityType, Price: o.Price, Commitment: o.Commitment}
	for i := range t.Offerings {
		x := &t.Offerings[i]
		if x != o && x.Zone == o.Zone && x.CapacityType == o.CapacityType && (x.Commitment == o.Commitment || !samePurchase(x, o)) {
			out.Labels = o.Labels
		}
	}
	return out
}

// launches builds a template per shape and fills in the pods of each launch.
func (n *names) launches(p *Plan) []LaunchDocument {
	shapes := make([]LaunchDocument, len(p.Shapes))
	for i := range p.Shapes {
		shapes[i] = n.shape(&p.Shapes[i])
	}
	type launch struct {
		kind  launchKind
		shape int32
		pods  []string
	}
	list := make([]launch, len(p.Launches))
	for i, l := range p.Launches {
		list[i] = launch{shape: l.Shape, pods: n.podList(l.Pods)}
		if l.Shape >= 0 && int(l.Shape) < len(shapes) {
			list[i].kind = shapes[l.Shape].kind()
		} else {
			list[i].shape = -1
		}
	}
	slices.SortStableFunc(list, func(a, b launch) int {
		return cmp.Or(a.kind.compare(b.kind), cmp.Compare(first(a.pods), first(b.pods)))
	})
	out := make([]LaunchDocument, len(list))
	whyFor := make([]int, len(shapes)) // Number of pods that a shape's Why speaks of.
	for i, l := range list {
		if l.shape >= 0 {
			s := &shapes[l.shape]
			if whyFor[l.shape] != len(l.pods) {
				whyFor[l.shape] = len(l.pods)
				s.Why = s.Weighed.text(s.Price, len(l.pods))
			}
			out[i] = *s
		}
		if out[i].Pods = l.pods; l.pods == nil {
			out[i].Pods = []string{}
		}
	}
	return out
}

func first(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[0]
}

// launchKind is what a person counts launches by.
type launchKind struct {
	Pool         string `json:"pool,omitempty"`
	InstanceType string `json:"instanceType,omitempty"`
	Zone         string `json:"zone,omitempty"`
	CapacityType string `json:"capacityType,omitempty"`
}

func (l *LaunchDocument) kind() launchKind {
	return launchKind{l.Pool, l.InstanceType, l.Zone, l.CapacityType}
}

func (k launchKind) compare(o launchKind) int {
	return cmp.Or(cmp.Compare(k.Pool, o.Pool), cmp.Compare(k.InstanceType, o.InstanceType),
		cmp.Compare(k.Zone, o.Zone), cmp.Compare(k.CapacityType, o.CapacityType))
}

func (n *names) shape(s *Shape) LaunchDocument {
	pool := &Pool{Name: fmt.Sprintf("pools[%d]", s.Pool)}
	if s.Pool >= 0 && int(s.Pool) < len(n.problem.Pools) {
		pool = &n.problem.Pools[s.Pool]
	}
	t, o := offeringOf(pool, s.Choice)
	d := LaunchDocument{
		Pool: pool.Name, InstanceType: t.Name, Zone: o.Zone, CapacityType: o.CapacityType, Price: s.Price, Commitment: o.Commitment,
		AlternativeCount: s.AlternativeCount,
		Labels:           n.labels(pool, t, o, s.CustomLabels),
		CustomLabels:     s.CustomLabels,
		Taints:           append([]corev1.Taint{}, sortedTaints(pool.Taints)...), // a list in JSON even if empty
		StartupTaints:    sortedTaints(pool.StartupTaints),
		Requests:         s.Requests.resourceList(),
		MinValues:        s.MinValues,
		Weighed: WeighedDocument{
			Candidates: s.Why.Candidates, Binding: s.Why.Binding, Used: s.Why.Used,
		},
	}
	for _, a := range s.Alternatives {
		d.Alternatives = append(d.Alternatives, n.alternative(pool, a))
	}
	for _, i := range s.DaemonSets {
		d.DaemonSets = append(d.DaemonSets, n.daemonSet(i))
	}
	slices.Sort(d.DaemonSets)
	if s.Why.RunnerUpPrice.Known() {
		a := n.alternative(pool, s.Why.RunnerUp)
		a.Price = s.Why.RunnerUpPrice
		d.Weighed.RunnerUp = &a
	}
	lists, ok := n.resources[t]
	if !ok {
		lists = [2]corev1.ResourceList{canonicalList(t.Capacity), allocatableList(t)}
		n.resources[t] = lists
	}
	d.Capacity, d.Allocatable = lists[0], lists[1]
	d.Weighed.addPrices(s, d.Allocatable)
	return d
}

// text says in a line why a type was chosen for a number of pods.
func (w *WeighedDocument) text(price Price, pods int) string {
	var parts []string
	them := fmt.Sprintf("these %d pods", pods)
	if pods == 1 {
		them = "this pod"
	}
	switch {
	case w.Candidates == 1:
		parts = append(parts, "the only type that holds "+them)
	case w.Candidates > 1 && (w.RunnerUp == nil || w.RunnerUp.Price.nano >= price.nano):
		parts = append(parts, fmt.Sprintf("cheapest of %d types that hold %s", w.Candidates, them))
	case w.Candidates > 1:
		parts = append(parts, fmt.Sprintf("one of %d types that hold %s", w.Candidates, them))
	}
	if w.Binding != "" {
		parts = append(parts, fmt.Sprintf("%s %d%% used", w.Binding, w.Used))
	}
	if r := w.RunnerUp; r != nil {
		parts = append(parts, fmt.Sprintf("next best: %s at %s (%s)", r.InstanceType, r.Price, priceChange(price, r.Price)))
	}
	return strings.Join(parts, "; ")
}

// labels are all that a node is certain to carry: later sources win, though a sound plan has no
// two that disagree.
func (n *names) labels(pool *Pool, t *InstanceType, o *Offering, custom map[string]string) map[string]string {
	rules := &n.problem.Labels
	aliases := rules.Aliases
	if aliases == nil {
		aliases = KubernetesAliases()
	}
	out := map[string]string{}
	set := func(key, value string) {
		if k, ok := aliases[key]; ok {
			key = k
		}
		if v, ok := rules.ValueAliases[key][value]; ok {
			value = v
		}
		out[key] = value
	}
	for _, list := range [][]Requirement{pool.Requirements, t.Requirements} {
		for i := range list {
			if r := &list[i]; r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
				set(r.Key, r.Values[0])
			}
		}
	}
	for _, m := range []map[string]string{pool.Labels, o.Labels, custom} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			set(k, m[k])
		}
	}
	for k, v := range map[string]string{PoolLabel: pool.Name, corev1.LabelTopologyZone: o.Zone, CapacityTypeLabel: o.CapacityType} {
		if v != "" {
			out[k] = v
		}
	}
	if _, ok := out[corev1.LabelInstanceTypeStable]; !ok {
		out[corev1.LabelInstanceTypeStable] = t.Name
	}
	return out
}

func sortedTaints(t []corev1.Taint) []corev1.Taint {
	out := slices.Clone(t)
	slices.SortFunc(out, func(a, b corev1.Taint) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Effect, b.Effect))
	})
	return out
}

// resourceList spells the vector as Kubernetes does.
func (v Vector) resourceList() corev1.ResourceList {
	if len(v) == 0 {
		return nil
	}
	out := make(corev1.ResourceList, len(v))
	for _, q := range v {
		out[q.Name] = quantityOf(q.Name, q.Amount)
	}
	return out
}

// quantityOf spells an amount as Kubernetes does.
func quantityOf(name corev1.ResourceName, amount int64) resource.Quantity {
	if name == corev1.ResourceCPU {
		return *resource.NewMilliQuantity(amount, resource.DecimalSI)
	}
	return *resource.NewQuantity(amount, usualFormat(name))
}

// amountIn is the inverse of quantityOf.
func amountIn(name corev1.ResourceName, q *resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// amountsOf is the inverse of resourceList; amounts finer than the solver's units are rounded up.
func amountsOf(l corev1.ResourceList) Vector {
	var out Vector
	for name, q := range l {
		if amount := amountIn(name, &q); amount != 0 {
			out = append(out, Quantity{name, amount})
		}
	}
	slices.SortFunc(out, func(a, b Quantity) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// isBytes reports whether a resource is an amount of memory or disk.
func isBytes(name corev1.ResourceName) bool {
	return name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || name == corev1.ResourceStorage ||
		strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

func usualFormat(name corev1.ResourceName) resource.Format {
	if isBytes(name) {
		return resource.BinarySI
	}
	return resource.DecimalSI
}

// canonicalList copies l with every quantity in its resource's usual form: two spellings of one amount
// print alike.
func canonicalList(l corev1.ResourceList) corev1.ResourceList {
	if len(l) == 0 {
		return nil
	}
	out := make(corev1.ResourceList, len(l))
	for name, q := range l {
		c := q.DeepCopy()
		c.Add(resource.Quantity{}) // Forgets the spelling it was read with.
		c.Format = usualFormat(name)
		out[name] = c
	}
	return out
}

// allocatableList is capacity less overhead, never below zero.
func allocatableList(t *InstanceType) corev1.ResourceList {
	out := canonicalList(t.Capacity)
	for name, q := range out {
		if over, ok := t.Overhead[name]; ok {
			over = over.DeepCopy() // Arithmetic may rewrite its operands.
			if q.Sub(over); q.Sign() < 0 {
				q = resource.Quantity{}
			}
			q.Format = usualFormat(name)
			out[name] = q
		}
	}
	return out
}
