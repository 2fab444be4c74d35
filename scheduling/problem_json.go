package scheduling

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	sigsjson "sigs.k8s.io/json"
)

// ProblemSchema is the version of Problem's JSON form. A reader of a version refuses fields it
// does not know, because a constraint passed over would give a wrong plan without a word.
const ProblemSchema = "fleetwright.dev/problem/v1"

// problemJSON is Problem as it is written: instance types once, in a table that pools refer to by
// index, and every list sorted.
type problemJSON struct {
	Schema        string                       `json:"schema"`
	Catalog       Catalog                      `json:"catalog,omitzero"`
	Labels        LabelRules                   `json:"labels,omitzero"`
	Pools         []poolJSON                   `json:"pools,omitempty"`
	InstanceTypes []*InstanceType              `json:"instanceTypes,omitempty"`
	DaemonSets    []*corev1.Pod                `json:"daemonSets,omitempty"`
	Nodes         []Node                       `json:"nodes,omitempty"`
	Namespaces    map[string]map[string]string `json:"namespaces,omitempty"`
	Storage       Storage                      `json:"storage,omitzero"`
	DefaultSpread DefaultSpread                `json:"defaultSpread,omitzero"`
	Gangs         []Gang                       `json:"gangs,omitempty"`
	GangLabels    []string                     `json:"gangLabels,omitempty"`
	Commitments   []Commitment                 `json:"commitments,omitempty"`
	Pods          []*corev1.Pod                `json:"pods,omitempty"`
	Demands       []Demand                     `json:"demands,omitempty"`
}

// poolJSON hides the types of the pool behind their indexes.
type poolJSON struct {
	Pool
	InstanceTypes []int `json:"instanceTypes,omitempty"`
}

// MarshalJSON writes the problem in its canonical form: problems that differ in nothing but the
// order of their slices give the same bytes. Types of equal content are written once. Digests
// survive the round trip.
func (p Problem) MarshalJSON() ([]byte, error) {
	out := problemJSON{
		Schema: ProblemSchema, Catalog: p.Catalog, Labels: p.Labels,
		DaemonSets: sortedPods(p.DaemonSets), Pods: sortedPods(p.Pods), Namespaces: p.Namespaces, GangLabels: p.GangLabels,
		Demands: slices.Clone(p.Demands), Gangs: slices.Clone(p.Gangs), Commitments: slices.Clone(p.Commitments),
	}
	if err := sortByContent(out.Commitments, func(a, b *Commitment) int { return cmp.Compare(a.Name, b.Name) }); err != nil {
		return nil, err
	}
	if err := sortByContent(out.Demands, func(a, b *Demand) int { return cmp.Compare(podName(a.Template), podName(b.Template)) }); err != nil {
		return nil, err
	}
	if err := sortByContent(out.Gangs, func(a, b *Gang) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	}); err != nil {
		return nil, err
	}
	out.Labels.WellKnown = sorted(p.Labels.WellKnown, cmp.Compare[string])
	index, err := out.typeTable(p.Pools)
	if err != nil {
		return nil, err
	}
	for i := range p.Pools {
		q := poolJSON{Pool: p.Pools[i]}
		q.Requirements = sortedRequirements(q.Requirements)
		q.Taints, q.StartupTaints = sortedTaints(q.Taints), sortedTaints(q.StartupTaints)
		for _, t := range q.Pool.InstanceTypes {
			q.InstanceTypes = append(q.InstanceTypes, index[t])
		}
		slices.Sort(q.InstanceTypes)
		out.Pools = append(out.Pools, q)
	}
	for _, n := range p.Nodes {
		n.Taints, n.StartupTaints = sortedTaints(n.Taints), sortedTaints(n.StartupTaints)
		n.Pods = sortedPods(n.Pods)
		out.Nodes = append(out.Nodes, n)
	}
	if err := sortByContent(out.Pools, func(a, b *poolJSON) int { return cmp.Compare(a.Name, b.Name) }); err != nil {
		return nil, err
	}
	if err := sortByContent(out.Nodes, func(a, b *Node) int { return cmp.Compare(a.Name, b.Name) }); err != nil {
		return nil, err
	}
	if out.Storage, err = p.Storage.sorted(); err != nil {
		return nil, err
	}
	if out.DefaultSpread, err = p.DefaultSpread.sorted(); err != nil {
		return nil, err
	}
	return json.Marshal(&out)
}

// typeTable fills in the table of types, sorted by name, and returns where each pointer went.
func (out *problemJSON) typeTable(pools []Pool) (map[*InstanceType]int, error) {
	type entry struct {
		t    *InstanceType
		text string
	}
	texts := map[*InstanceType]string{}
	distinct := map[string]*InstanceType{}
	for i := range pools {
		for _, t := range pools[i].InstanceTypes {
			if _, ok := texts[t]; ok {
				continue
			}
			if t == nil {
				return nil, fmt.Errorf("scheduling: pools[%q].instanceTypes: a type is nil; leave it out", pools[i].Name)
			}
			c := t.canonical()
			text, err := json.Marshal(c)
			if err != nil {
				return nil, fmt.Errorf("scheduling: pools[%q].instanceTypes[%q]: %w", pools[i].Name, t.Name, err)
			}
			texts[t], distinct[string(text)] = string(text), c
		}
	}
	entries := make([]entry, 0, len(distinct))
	for text, t := range distinct {
		entries = append(entries, entry{t, text})
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.t.Name, b.t.Name), cmp.Compare(a.text, b.text))
	})
	place := make(map[string]int, len(entries))
	for i, e := range entries {
		out.InstanceTypes = append(out.InstanceTypes, e.t)
		place[e.text] = i
	}
	index := make(map[*InstanceType]int, len(texts))
	for t, text := range texts {
		index[t] = place[text]
	}
	return index, nil
}

// canonical returns the type with its lists sorted; shallow otherwise.
func (t *InstanceType) canonical() *InstanceType {
	c := *t
	c.Requirements = sortedRequirements(t.Requirements)
	c.Offerings = sorted(t.Offerings, func(a, b Offering) int {
		return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.CapacityType, b.CapacityType),
			cmp.Compare(a.Price.nano, b.Price.nano), compareBool(a.Price.known, b.Price.known),
			compareBool(a.Unavailable, b.Unavailable), cmp.Compare(fmt.Sprint(a.Labels), fmt.Sprint(b.Labels)),
			cmp.Compare(a.Reservation, b.Reservation), cmp.Compare(a.Count, b.Count),
			cmp.Compare(a.Commitment, b.Commitment), cmp.Compare(a.Draw.nano, b.Draw.nano), compareBool(a.Draw.known, b.Draw.known))
	})
	return &c
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// sorted copies and sorts; it keeps nil and empty apart.
func sorted[T any](s []T, compare func(a, b T) int) []T {
	s = slices.Clone(s)
	slices.SortStableFunc(s, compare)
	return s
}

func sortedRequirements(list []Requirement) []Requirement {
	list = slices.Clone(list)
	for i := range list {
		list[i].Values = sorted(list[i].Values, cmp.Compare[string])
	}
	slices.SortFunc(list, func(a, b Requirement) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Operator, b.Operator), slices.Compare(a.Values, b.Values),
			cmp.Compare(minValuesOf(a), minValuesOf(b)))
	})
	return list
}

func minValuesOf(r Requirement) int {
	if r.MinValues == nil {
		return -1
	}
	return *r.MinValues
}

// sortedPods sorts by namespace and name; pods that share a name, which Solve refuses, by content.
func sortedPods(pods []*corev1.Pod) []*corev1.Pod {
	out := slices.Clone(pods)
	text := func(p *corev1.Pod) string {
		b, _ := json.Marshal(p)
		return string(b)
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int {
		switch {
		case a == b:
			return 0
		case a == nil || b == nil:
			return compareBool(a != nil, b != nil)
		}
		if c := cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name)); c != 0 {
			return c
		}
		return cmp.Compare(text(a), text(b))
	})
	return out
}

// sortByContent sorts by compare and settles ties by what would be written.
func sortByContent[T any](s []T, compare func(a, b *T) int) error {
	var failed error
	text := func(v *T) string {
		b, err := json.Marshal(v)
		failed = cmp.Or(failed, err)
		return string(b)
	}
	slices.SortStableFunc(s, func(a, b T) int {
		if c := compare(&a, &b); c != 0 {
			return c
		}
		return strings.Compare(text(&a), text(&b))
	})
	return failed
}

// sorted returns s with sorted lists.
func (s Storage) sorted() (Storage, error) {
	s.Claims, s.Volumes = slices.Clone(s.Claims), slices.Clone(s.Volumes)
	s.Classes, s.CSINodes = slices.Clone(s.Classes), slices.Clone(s.CSINodes)
	// Objects without a name sort by content alone.
	for _, err := range []error{
		sortByContent(s.Claims, byName), sortByContent(s.Volumes, byName),
		sortByContent(s.Classes, byName), sortByContent(s.CSINodes, byName),
	} {
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// sorted returns d with sorted lists.
func (d DefaultSpread) sorted() (DefaultSpread, error) {
	d.Constraints, d.Services, d.Owners = slices.Clone(d.Constraints), slices.Clone(d.Services), slices.Clone(d.Owners)
	for _, err := range []error{
		sortByContent(d.Constraints, func(a, b *corev1.TopologySpreadConstraint) int { return cmp.Compare(a.TopologyKey, b.TopologyKey) }),
		sortByContent(d.Services, byName),
		sortByContent(d.Owners, func(a, b *Owner) int {
			return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		}),
	} {
		if err != nil {
			return d, err
		}
	}
	return d, nil
}

// named is a Kubernetes object; a nil pointer has no name.
type named interface {
	comparable
	GetNamespace() string
	GetName() string
}

func byName[T named](a, b *T) int {
	var none T
	if *a == none || *b == none {
		return compareBool(*a != none, *b != none)
	}
	return cmp.Or(cmp.Compare((*a).GetNamespace(), (*b).GetNamespace()), cmp.Compare((*a).GetName(), (*b).GetName()))
}

// ReadProblem reads one problem, to the end of r, and fails as UnmarshalJSON does.
func ReadProblem(r io.Reader) (*Problem, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("scheduling: problem: %w", err)
	}
	p := new(Problem)
	if err := p.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	return p, nil
}

// UnmarshalJSON reads what MarshalJSON writes. Pools that shared a type share it again. Another
// schema gives a *SchemaError; unknown and repeated fields, and references to types that are not
// there, an *InputError that lists them all.
func (p *Problem) UnmarshalJSON(data []byte) error {
	if err := checkSchema(data, "problem", ProblemSchema); err != nil {
		return err
	}
	if bad := absurdExponent(data); bad != "" {
		return &InputError{Faults: []Fault{{Path: "problem", Problem: bad + " is beyond every quantity",
			Remedy: "write a number such as 100, 500m or 2Gi"}}}
	}
	var in problemJSON
	strict, err := sigsjson.UnmarshalStrict(data, &in)
	if err != nil {
		return readError("problem", data, err)
	}
	faults := strictFaults(strict)
	out := Problem{
		Pods: in.Pods, Nodes: in.Nodes, DaemonSets: in.DaemonSets, Namespaces: in.Namespaces,
		Storage: in.Storage, Labels: in.Labels, Catalog: in.Catalog, Demands: in.Demands, DefaultSpread: in.DefaultSpread,
		Gangs: in.Gangs, GangLabels: in.GangLabels, Commitments: in.Commitments,
	}
	for _, q := range in.Pools {
		pool := q.Pool
		pool.InstanceTypes = nil
		for _, i := range q.InstanceTypes {
			if i < 0 || i >= len(in.InstanceTypes) || in.InstanceTypes[i] == nil {
				faults = append(faults, Fault{
					Path:    fmt.Sprintf("pools[%q].instanceTypes", q.Name),
					Problem: fmt.Sprintf("refers to instance type %d of %d", i, len(in.InstanceTypes)),
					Remedy:  "give the index of an entry of instanceTypes, counted from 0",
				})
				continue
			}
			pool.InstanceTypes = append(pool.InstanceTypes, in.InstanceTypes[i])
		}
		out.Pools = append(out.Pools, pool)
	}
	if len(faults) > 0 {
		return &InputError{Faults: faults}
	}
	*p = out
	return nil
}

// strictFaults turns the decoder's findings, such as `unknown field "pods[0].spec.foo"`, into faults.
func strictFaults(errs []error) []Fault {
	var out []Fault
	for _, err := range errs {
		f := Fault{Path: "problem", Problem: err.Error()}
		if field, ok := err.(sigsjson.FieldError); ok {
			f.Path = field.FieldPath()
			f.Problem, _, _ = strings.Cut(err.Error(), " \"")
			f.Remedy = "remove it, or check its spelling"
		}
		out = append(out, f)
	}
	return out
}

// absurdExponent finds a quoted number with an exponent of four digits or more. Kubernetes' own parser
// accepts such a quantity and then computes for minutes.
func absurdExponent(data []byte) string {
	return string(regexp.MustCompile(`"[+-]?[0-9.]+[eE][+-]?[0-9]{4,}"`).Find(data))
}
