package scheduling

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// BindError tells why a document does not fit a problem.
type BindError struct {
	// Faults are all that was found, at most 100.
	Faults []Fault
}

// Error prints at most ten faults.
func (e *BindError) Error() string {
	return faultText(fmt.Sprintf("scheduling: plan does not fit the problem, %d fault(s)", len(e.Faults)), e.Faults)
}

func faultText(head string, faults []Fault) string {
	for i, f := range faults {
		if i == 10 {
			return head + fmt.Sprintf("\n  ... and %d more", len(faults)-i)
		}
		head += "\n  " + f.String()
	}
	return head
}

// Plan puts the document's names back into indexes of problem, which must be the one it was made
// for: its digest is compared. The error is a *SchemaError or a *BindError, which lists the
// names that the problem lacks.
func (d *Document) Plan(problem *Problem) (*Plan, error) {
	if d.Schema != PlanSchema {
		return nil, &SchemaError{What: "plan", Schema: d.Schema, Want: PlanSchema}
	}
	if problem == nil {
		problem = &Problem{}
	}
	b := newBinder(problem)
	if digest := problemDigest(problem); digest != d.Digest {
		b.fault("problemDigest", fmt.Sprintf("the plan was made for %s, this problem is %s", d.Digest, digest),
			"load the problem that was saved with the plan, or solve this one anew")
	}
	p := &Plan{
		problem: problem, Digest: d.Digest, Options: d.Options, Catalog: d.Catalog, Totals: d.Totals, Stats: d.Stats,
		NotEvaluated: b.pods("notEvaluated", d.NotEvaluated), BindOrder: b.pods("bindOrder", d.BindOrder),
		Pools: b.pools(d.Pools), BoundLeavesOut: d.BoundLeavesOut, Commitments: d.Commitments,
	}
	b.launches(p, d.Launches)
	for i, x := range d.Placements {
		path := fmt.Sprintf("placements[%d]", i)
		p.Placements = append(p.Placements, Placement{Pod: b.pod(path, x.Pod), Node: b.find(b.nodeIndex, path, "node", x.Node)})
	}
	b.reasons(p, d.Unplaced)
	for i, r := range d.Relaxed {
		p.Relaxed = append(p.Relaxed, Relaxation{Pods: b.pods(fmt.Sprintf("relaxed[%d]", i), r.Pods), Given: r.Given, Cost: r.Cost})
	}
	if len(b.faults) > 0 {
		return nil, &BindError{Faults: b.faults}
	}
	return p, nil
}

// binder finds names in a problem and collects those that are not there.
type binder struct {
	problem                       *Problem
	podFinder                     *podFinder
	nodeIndex, poolIndex, dsIndex map[string]int32
	typeIndex                     []map[string]int32 // Per pool, made when first needed.
	faults                        []Fault
}

func newBinder(p *Problem) *binder {
	b := &binder{
		problem: p, podFinder: newPodFinder(p), dsIndex: podIndex(p.DaemonSets),
		nodeIndex: make(map[string]int32, len(p.Nodes)), poolIndex: make(map[string]int32, len(p.Pools)),
		typeIndex: make([]map[string]int32, len(p.Pools)),
	}
	for i := range p.Nodes {
		b.nodeIndex[p.Nodes[i].Name] = int32(i)
	}
	for i := range p.Pools {
		b.poolIndex[p.Pools[i].Name] = int32(i)
	}
	return b
}

const maxBindFaults = 100

func (b *binder) fault(path, problem, remedy string) {
	if len(b.faults) < maxBindFaults {
		b.faults = append(b.faults, Fault{Path: path, Problem: problem, Remedy: remedy})
	}
}

func (b *binder) find(index map[string]int32, path, what, name string) int32 {
	i, ok := index[name]
	if !ok {
		b.missing(path, what, name)
	}
	return i
}

func (b *binder) missing(path, what, name string) {
	b.fault(path, fmt.Sprintf("the problem has no %s %q", what, name), "")
}

func (b *binder) pod(path, name string) int32 {
	i, ok := b.podFinder.find(name)
	if !ok {
		b.missing(path, "pod", name)
	}
	return i
}

func (b *binder) pods(path string, list []string) []int32 {
	if len(list) == 0 {
		return nil
	}
	out := make([]int32, len(list))
	for i, name := range list {
		out[i] = b.pod(path, name)
	}
	return out
}

func (b *binder) launches(p *Plan, list []LaunchDocument) {
	known := map[string]int32{}
	var key []byte
	for i := range list {
		l := &list[i]
		path := fmt.Sprintf("launches[%d]", i)
		s := b.shape(path, l)
		key = s.appendKey(key[:0])
		id, ok := known[string(key)]
		if !ok {
			id = int32(len(p.Shapes))
			known[string(key)] = id
			p.Shapes = append(p.Shapes, s)
		}
		p.Launches = append(p.Launches, Launch{Shape: id, Pods: b.pods(path, l.Pods)})
	}
}

func (b *binder) shape(path string, l *LaunchDocument) Shape {
	pool := b.find(b.poolIndex, path, "pool", l.Pool)
	s := Shape{
		Pool: pool, Price: l.Price, AlternativeCount: l.AlternativeCount, Requests: amountsOf(l.Requests),
		CustomLabels: l.CustomLabels, MinValues: l.MinValues,
		Why: Why{
			Candidates: l.Weighed.Candidates, Binding: l.Weighed.Binding, Used: l.Weighed.Used,
			PodsPrice: l.Weighed.PodsPrice, DaemonsPrice: l.Weighed.DaemonsPrice,
		},
	}
	if len(b.problem.Pools) == 0 {
		return s
	}
	s.Choice = b.offering(path, pool, &AlternativeDocument{
		InstanceType: l.InstanceType, Zone: l.Zone, CapacityType: l.CapacityType, Price: l.Price, Labels: l.Labels, Commitment: l.Commitment,
	})
	for i := range l.Alternatives {
		s.Alternatives = append(s.Alternatives, b.offering(path, pool, &l.Alternatives[i]))
	}
	if r := l.Weighed.RunnerUp; r != nil {
		s.Why.RunnerUp, s.Why.RunnerUpPrice = b.offering(path, pool, r), r.Price
	}
	for _, name := range l.DaemonSets {
		s.DaemonSets = append(s.DaemonSets, b.find(b.dsIndex, path, "DaemonSet", name))
	}
	return s
}

// offering finds an offering by zone, capacity type and commitment. If the type has several of those, the
// labels decide, then the price, then which can be had.
func (b *binder) offering(path string, pool int32, a *AlternativeDocument) Alternative {
	types := b.problem.Pools[pool].InstanceTypes
	if b.typeIndex[pool] == nil {
		b.typeIndex[pool] = make(map[string]int32, len(types))
		for i, t := range types {
			if t != nil {
				b.typeIndex[pool][t.Name] = int32(i)
			}
		}
	}
	ti, ok := b.typeIndex[pool][a.InstanceType]
	if !ok {
		b.fault(path, fmt.Sprintf("pool %q has no instance type %q", b.problem.Pools[pool].Name, a.InstanceType), "")
		return Alternative{}
	}
	best, rank := int32(-1), -1
	for i := range types[ti].Offerings {
		o := &types[ti].Offerings[i]
		if o.Zone != a.Zone || o.CapacityType != a.CapacityType || o.Commitment != a.Commitment {
			continue
		}
		if r := offeringRank(o, a); r > rank {
			best, rank = int32(i), r
		}
	}
	if best < 0 {
		under := ""
		if a.Commitment != "" {
			under = fmt.Sprintf(" under commitment %q", a.Commitment)
		}
		b.fault(path, fmt.Sprintf("instance type %q has no %q offering in zone %q%s", a.InstanceType, a.CapacityType, a.Zone, under), "")
		return Alternative{}
	}
	return Alternative{Type: ti, Offering: best}
}

func offeringRank(o *Offering, a *AlternativeDocument) int {
	r := 0
	for k, v := range o.Labels {
		if a.Labels[k] != v {
			r = -1000
			break
		}
		r += 4
	}
	r += 1000
	if o.Price == a.Price {
		r += 2
	}
	if !o.Unavailable {
		r++
	}
	return r
}

// appendKey appends what tells one shape from another.
func (s *Shape) appendKey(b []byte) []byte {
	num := func(n int64) { b = binary.AppendVarint(b, n) }
	str := func(s string) { num(int64(len(s))); b = append(b, s...) }
	alternative := func(a Alternative) { num(int64(a.Type)); num(int64(a.Offering)) }
	price := func(p Price) {
		if !p.known {
			num(-1)
		} else {
			num(p.nano)
		}
	}
	num(int64(s.Pool))
	alternative(s.Choice)
	num(int64(len(s.Alternatives)))
	for _, a := range s.Alternatives {
		alternative(a)
	}
	num(int64(s.AlternativeCount))
	price(s.Price)
	num(int64(len(s.Requests)))
	for _, q := range s.Requests {
		str(string(q.Name))
		num(q.Amount)
	}
	num(int64(len(s.DaemonSets)))
	for _, d := range s.DaemonSets {
		num(int64(d))
	}
	num(int64(len(s.CustomLabels)))
	for _, k := range slices.Sorted(maps.Keys(s.CustomLabels)) {
		str(k)
		str(s.CustomLabels[k])
	}
	num(int64(len(s.MinValues)))
	for _, k := range slices.Sorted(maps.Keys(s.MinValues)) {
		str(k)
		num(int64(s.MinValues[k]))
	}
	num(int64(s.Why.Candidates))
	alternative(s.Why.RunnerUp)
	price(s.Why.RunnerUpPrice)
	price(s.Why.PodsPrice)
	price(s.Why.DaemonsPrice)
	str(string(s.Why.Binding))
	num(int64(s.Why.Used))
	return b
}

// reasonKey tells reasons apart; pointers and lists are compared by what is in them.
type reasonKey struct {
	code               Code
	detail, constraint string
	nearest            Nearest
	change             Change
	taint, lists       string
}

func (b *binder) reasons(p *Plan, list []UnplacedDocument) {
	known := map[reasonKey]int32{}
	for i := range list {
		r := &list[i].Reason
		k := reasonKey{code: r.Code, detail: r.Detail, constraint: r.Constraint, nearest: r.Nearest, change: r.Change, lists: listsKey(r)}
		if k.change.Taint != nil {
			k.taint, k.change.Taint = k.change.Taint.ToString(), nil
		}
		id, ok := known[k]
		if !ok {
			id = int32(len(p.Reasons))
			known[k] = id
			p.Reasons = append(p.Reasons, Reason{
				Code: r.Code, Detail: r.Detail, Nearest: r.Nearest, Change: r.Change,
				Constraint: r.Constraint, Domains: r.Domains, InTheWay: r.InTheWay,
			})
		}
		p.Unplaced = append(p.Unplaced, Unplaced{Pod: b.pod(fmt.Sprintf("unplaced[%d]", i), list[i].Pod), Reason: id})
	}
}

// listsKey is empty for most reasons.
func listsKey(r *ReasonDocument) string {
	if len(r.Domains)+len(r.InTheWay) == 0 {
		return ""
	}
	return fmt.Sprintf("%#v %q", r.Domains, r.InTheWay)
}
