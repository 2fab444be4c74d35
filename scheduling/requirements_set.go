package scheduling

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/spelling"
)

// Requirements are conditions on the labels of one node, one set of states per key. The zero value asks
// for nothing. Immutable; safe to share. With ParseRequirements and ParseNodeSelector it is all
// that a program needs which only asks whether pods, pools and nodes go together.
type Requirements struct {
	list []keySet // sorted by key, each key once
}

type keySet struct {
	key string
	set ValueSet
}

// ParseRequirements reads a pool's or a type's requirements: keys and values are unaliased, and
// several conditions on one key are intersected. The error is an *InputError with every fault; its
// paths are like "requirements[2]". A contradiction is no fault: it is a set that conflicts with itself.
func ParseRequirements(list []Requirement, rules LabelRules) (Requirements, error) {
	rules = rules.filled()
	var faults []Fault
	sets := map[string]ValueSet{}
	for i, r := range list {
		narrow(sets, &faults, fmt.Sprintf("requirements[%d]", i), rules.apply(r))
	}
	if len(faults) > 0 {
		return Requirements{}, &InputError{Faults: faults}
	}
	return collect(sets), nil
}

// NodeRequirements describes a node that exists: each label has its value. If a node carries a label in its
// old and in its new spelling, the new one counts.
func NodeRequirements(labels map[string]string, rules LabelRules) Requirements {
	rules = rules.filled()
	sets := make(map[string]ValueSet, len(labels))
	for _, k := range sortedKeys(labels) {
		key := rules.Key(k)
		if _, given := labels[key]; given && k != key {
			continue
		}
		if _, taken := sets[key]; !taken {
			sets[key] = Values(rules.Value(key, labels[k]))
		}
	}
	return collect(sets)
}

// narrow intersects sets with one more requirement.
func narrow(sets map[string]ValueSet, faults *[]Fault, path string, r Requirement) {
	s, f := readRequirement(r)
	if f.Problem != "" {
		f.Path = path
		*faults = append(*faults, f)
		return
	}
	if have, ok := sets[r.Key]; ok {
		s = have.Intersect(s)
	}
	sets[r.Key] = s
}

func collect(sets map[string]ValueSet) Requirements {
	list := make([]keySet, 0, len(sets))
	for _, k := range sortedKeys(sets) {
		list = append(list, keySet{k, sets[k]})
	}
	return Requirements{list: list}
}

func (r Requirements) find(key string) (int, bool) {
	return slices.BinarySearchFunc(r.list, key, func(e keySet, k string) int { return strings.Compare(e.key, k) })
}

// Get returns the states that the key may be in: every one, absent included, if nothing is asked of it.
func (r Requirements) Get(key string) ValueSet {
	if i, ok := r.find(key); ok {
		return r.list[i].set
	}
	return AnyValue()
}

// Keys lists the keys of which something is asked, sorted.
func (r Requirements) Keys() []string {
	out := make([]string, len(r.list))
	for i, e := range r.list {
		out[i] = e.key
	}
	return out
}

// Intersect returns what must hold where both must: what a new node of pool r is narrowed to by a pod
// that asks for t. It may be impossible; see Conflicts.
func (r Requirements) Intersect(t Requirements) Requirements {
	out := make([]keySet, 0, len(r.list)+len(t.list))
	a, b := r.list, t.list
	for len(a) > 0 && len(b) > 0 {
		switch strings.Compare(a[0].key, b[0].key) {
		case -1:
			out, a = append(out, a[0]), a[1:]
		case 1:
			out, b = append(out, b[0]), b[1:]
		default:
			out = append(out, keySet{a[0].key, a[0].set.Intersect(b[0].set)})
			a, b = a[1:], b[1:]
		}
	}
	return Requirements{list: append(append(out, a...), b...)}
}

// Labels returns the labels that are decided: those that can only be there with one value.
func (r Requirements) Labels() map[string]string {
	out := map[string]string{}
	for _, e := range r.list {
		if !e.set.all && !e.set.absent && len(e.set.values) == 1 {
			out[e.key] = e.set.values[0]
		}
	}
	return out
}

// List spells the requirements in the order of their keys; see ValueSet.Requirements.
func (r Requirements) List() []Requirement {
	var out []Requirement
	for _, e := range r.list {
		out = append(out, e.set.Requirements(e.key)...)
	}
	return out
}

// Conflict is a label for which no state satisfies both sides.
type Conflict struct {
	Key string
	// Want is what is asked, Have what the node can be: AbsentValue if nothing mentions the key there.
	Want, Have ValueSet
	// Hint is a key of the node that may have been meant; empty if none is similar.
	Hint string
}

// String prints the conflict in one line.
func (c Conflict) String() string {
	s := fmt.Sprintf("%s: want %s, have %s", c.Key, c.Want, c.Have)
	if c.Hint != "" {
		s += fmt.Sprintf(" (was %s meant?)", c.Hint)
	}
	return s
}

// Conflicts compares what a node can be (r) with what is asked of it, in the order of keys; nil if a
// node exists that satisfies both. A key that r does not mention is absent, unless it is one of open: then it may
// turn out to be anything. For a node that does not exist yet, open is LabelRules.WellKnown (KubernetesLabels if nil), for
// one that does nothing is. A set that contradicts itself conflicts with itself.
//
// This is Karpenter's rule with one difference. There, Exists (or Gt, Lt) and NotIn on one key
// collapse to NotIn, and a node without the label is accepted; kube-scheduler rejects it, and
// so does this.
func (r Requirements) Conflicts(want Requirements, open ...string) []Conflict {
	var out []Conflict
	for _, w := range want.list {
		have := AbsentValue()
		i, mentioned := r.find(w.key)
		switch {
		case mentioned:
			have = r.list[i].set
		case slices.Contains(open, w.key):
			have = AnyValue()
		}
		if !have.Intersect(w.set).Empty() {
			continue
		}
		c := Conflict{Key: w.key, Want: w.set, Have: have}
		if !mentioned {
			c.Hint = similarKey(w.key, slices.Concat(r.Keys(), open))
		}
		out = append(out, c)
	}
	return out
}

// similarKey returns the key that was probably meant: one within a few letters, else one with the same name
// under another prefix, else one that contains the key or is contained in it. Between equals the smaller
// key wins.
func similarKey(key string, keys []string) string {
	type candidate struct {
		rank, distance int
		key            string
	}
	var all []candidate
	for _, k := range keys {
		c := candidate{distance: editDistance(key, k), key: k}
		switch {
		case k == "" || k == key:
			continue
		case c.distance <= min(len(key)/4, 3):
			c.rank = 0
		case baseName(key) != "" && baseName(k) == baseName(key):
			c.rank = 1
		case min(len(k), len(key)) > 2 && (strings.Contains(k, key) || strings.Contains(key, k)):
			c.rank = 2
		default:
			continue
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return ""
	}
	return slices.MinFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.distance, b.distance), strings.Compare(a.key, b.key))
	}).key
}

// baseName is a label key without its prefix.
func baseName(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// editDistance counts the letters to insert, delete or replace (Levenshtein), upper case aside.
// No label key is longer than 317 bytes; what follows counts as different.
func editDistance(a, b string) int {
	const longest = 317
	extra := max(len(a)-longest, 0) + max(len(b)-longest, 0)
	a, b = strings.ToLower(a[:min(len(a), longest)]), strings.ToLower(b[:min(len(b), longest)])
	return spelling.Distance(a, b) + extra
}

// Key returns the spelling of a label key that nodes carry. One step: an alias of an alias
// is not followed. With Aliases nil it looks into a fresh copy of KubernetesAliases.
func (l LabelRules) Key(k string) string {
	aliases := l.Aliases
	if aliases == nil {
		aliases = KubernetesAliases()
	}
	if to, ok := aliases[k]; ok {
		return to
	}
	return k
}

// Value returns the spelling of a label's value that nodes carry; key may be in either spelling.
func (l LabelRules) Value(key, v string) string {
	if len(l.ValueAliases) == 0 {
		return v
	}
	if to, ok := l.ValueAliases[l.Key(key)][v]; ok {
		return to
	}
	return v
}

// filled puts the defaults in.
func (l LabelRules) filled() LabelRules {
	if l.Aliases == nil {
		l.Aliases = KubernetesAliases()
	}
	if l.WellKnown == nil {
		l.WellKnown = KubernetesLabels()
	}
	return l
}

// apply unaliases key and values.
func (l LabelRules) apply(r Requirement) Requirement {
	r.Key = l.Key(r.Key)
	if len(l.ValueAliases[r.Key]) > 0 {
		r.Values = slices.Clone(r.Values)
		for i, v := range r.Values {
			r.Values[i] = l.Value(r.Key, v)
		}
	}
	return r
}

// ParseNodeSelector returns what a pod requires of its node's labels, as alternatives of which one must
// hold: its nodeSelector together with each term of its required node affinity, in their order. A pod
// without either has one alternative that asks for nothing. Empty terms match no node and are left
// out, so the result may be empty: no node will do. Preferences are not read.
//
// The field metadata.name appears as the key "metadata.name": give it to the node side as if it were a
// label. The error is an *InputError with every fault; with one, kube-scheduler would not place the pod at all.
func ParseNodeSelector(pod *corev1.Pod, rules LabelRules) ([]Requirements, error) {
	rules = rules.filled()
	var faults []Fault
	base := map[string]ValueSet{}
	for _, k := range sortedKeys(pod.Spec.NodeSelector) {
		r := Requirement{Key: k, Operator: corev1.NodeSelectorOpIn, Values: []string{pod.Spec.NodeSelector[k]}}
		narrow(base, &faults, fmt.Sprintf("spec.nodeSelector[%q]", k), rules.apply(r))
	}
	out := []Requirements{collect(base)}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		const path = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
		out = nil
		for i, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			if len(t.MatchExpressions)+len(t.MatchFields) == 0 {
				continue
			}
			sets := maps.Clone(base)
			narrowByTerm(sets, &faults, fmt.Sprintf("%s[%d]", path, i), t, rules)
			out = append(out, collect(sets))
		}
	}
	if len(faults) > 0 {
		return nil, &InputError{Faults: faults}
	}
	return out, nil
}

// narrowByTerm intersects sets with the conditions of a term, all of which must hold.
func narrowByTerm(sets map[string]ValueSet, faults *[]Fault, path string, t corev1.NodeSelectorTerm, rules LabelRules) {
	for i, e := range t.MatchExpressions {
		at := fmt.Sprintf("%s.matchExpressions[%d]", path, i)
		if e.Operator == OpGte || e.Operator == OpLte {
			*faults = append(*faults, Fault{Path: at, Problem: fmt.Sprintf("operator %s is not known to Kubernetes", e.Operator),
				Remedy: "pods have Gt and Lt; only pools have Gte and Lte"})
			continue
		}
		narrow(sets, faults, at, rules.apply(Requirement{Key: e.Key, Operator: e.Operator, Values: e.Values}))
	}
	for i, e := range t.MatchFields {
		at := fmt.Sprintf("%s.matchFields[%d]", path, i)
		single := len(e.Values) == 1 && (e.Operator == corev1.NodeSelectorOpIn || e.Operator == corev1.NodeSelectorOpNotIn)
		if e.Key != nodeNameKey || !single {
			*faults = append(*faults, Fault{Path: at, Problem: fmt.Sprintf("field condition %q cannot be used",
				Requirement{Key: e.Key, Operator: e.Operator, Values: e.Values}), Remedy: "fields know metadata.name In or NotIn one value"})
			continue
		}
		narrow(sets, faults, at, Requirement{Key: e.Key, Operator: e.Operator, Values: e.Values})
	}
}
