package scheduling

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// nodeNameKey stands for the field metadata.name in node selectors.
const nodeNameKey = "metadata.name"

// newNode is the value of labels whose value on a new node nobody can know: it equals nothing.
const newNode = "\x00"

// constraint is what pods ask of a node's labels and taints, strictest variant first.
type constraint struct {
	key         string
	tolerations []corev1.Toleration
	// terms are the required alternatives; the variants add preferences to them.
	terms    [][]int32
	variants []variant
	// fault is set where the pods' selectors are malformed.
	fault string
	// preferred are the pods' preferences for nodes, heaviest first; soft those between pods, as stated.
	preferred []preference
	soft      []softTerm
	// base numbers equal terms, tol equal tolerations.
	base, tol int32
}

// preference is a soft condition on the node's labels, or a soft constraint between pods.
type preference struct {
	text   string
	atoms  []int32
	weight int32
	// soft indexes constraint.soft, -1 for conditions on the node.
	soft int
}

// variant is the constraint with some of the preferences given up.
type variant struct {
	// terms are alternatives of atoms that must hold together.
	terms [][]int32
	// allowSoft tolerates PreferNoSchedule.
	allowSoft bool
	// given are the preferences it does without, in the order in which they were given up.
	given []string
	// soft are those constraints between pods that it keeps, as indexes of constraint.soft.
	soft []int

	mask   pack.Mask
	maskID int32
	alts   []pack.Alternative
	// fits has a bit for each existing node that matches.
	fits []uint64
}

// atom is one condition on one label.
type atom struct {
	key  string
	set  ValueSet
	mask pack.Mask
	// open is the state the atom asks of an open key, -1 if the key is open nowhere.
	open    int32
	openKey int32
	// nodes has a bit for each existing node that meets the condition.
	nodes []uint64
}

// parseConstraint reads the constraint of a pod; key is its encoding.
func (c *compiler) parseConstraint(p *corev1.Pod, key string) constraint {
	out := constraint{key: key, tolerations: p.Spec.Tolerations}
	fail := func(err error) constraint {
		out.fault = err.Error()
		return out
	}
	var base []int32
	for _, k := range sortedKeys(p.Spec.NodeSelector) {
		a, err := c.atom(Requirement{Key: k, Operator: corev1.NodeSelectorOpIn, Values: []string{p.Spec.NodeSelector[k]}})
		if err != nil {
			return fail(err)
		}
		base = append(base, a)
	}
	terms := [][]int32{base}
	var aff *corev1.NodeAffinity
	if p.Spec.Affinity != nil {
		aff = p.Spec.Affinity.NodeAffinity
	}
	if aff != nil && aff.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		terms = nil
		for i := range aff.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			t := &aff.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[i]
			if len(t.MatchExpressions)+len(t.MatchFields) == 0 {
				continue // an empty term matches no node
			}
			atoms, err := c.term(t)
			if err != nil {
				return fail(err)
			}
			terms = append(terms, append(slices.Clone(base), atoms...))
		}
	}
	if aff != nil && c.respects {
		out.preferred = c.preferences(aff)
	}
	out.terms = terms
	out.base = c.baseID(terms)
	return out
}

// preferences reads preferred terms; those that cannot be read are no preference.
func (c *compiler) preferences(aff *corev1.NodeAffinity) []preference {
	list := slices.Clone(aff.PreferredDuringSchedulingIgnoredDuringExecution)
	slices.SortStableFunc(list, func(a, b corev1.PreferredSchedulingTerm) int { return cmp.Compare(b.Weight, a.Weight) })
	var out []preference
	for i := range list {
		t := &list[i].Preference
		if len(t.MatchExpressions)+len(t.MatchFields) == 0 {
			continue
		}
		if atoms, err := c.term(t); err == nil {
			out = append(out, preference{text: termText(t), atoms: atoms, weight: list[i].Weight, soft: -1})
		}
	}
	return out
}

func termText(t *corev1.NodeSelectorTerm) string {
	var parts []string
	for _, list := range [][]corev1.NodeSelectorRequirement{t.MatchExpressions, t.MatchFields} {
		for _, e := range list {
			parts = append(parts, Requirement{Key: e.Key, Operator: e.Operator, Values: e.Values}.String())
		}
	}
	return strings.Join(parts, " and ")
}

func (c *compiler) term(t *corev1.NodeSelectorTerm) ([]int32, error) {
	var out []int32
	for _, list := range [][]corev1.NodeSelectorRequirement{t.MatchExpressions, t.MatchFields} {
		for _, e := range list {
			a, err := c.atom(Requirement{Key: e.Key, Operator: e.Operator, Values: e.Values})
			if err != nil {
				return nil, err
			}
			out = append(out, a)
		}
	}
	return out, nil
}

// atom interns a condition.
func (c *compiler) atom(r Requirement) (int32, error) {
	r = c.rules.apply(r)
	set, err := ParseRequirement(r)
	if err != nil {
		return 0, err
	}
	return c.atomOf(r.Key, set), nil
}

// atomOf interns a condition whose key and values are spelled as on nodes.
func (c *compiler) atomOf(key string, set ValueSet) int32 {
	id := key + "\x00" + set.String()
	if a, ok := c.atomIDs[id]; ok {
		return a
	}
	a := int32(len(c.atoms))
	c.atomIDs[id] = a
	c.atoms = append(c.atoms, atom{key: key, set: set, open: -1})
	return a
}

func sortedKeys[K ~string, V any](m map[K]V) []K {
	if len(m) == 0 {
		return nil
	}
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// tolerated returns the first taint that the tolerations do not cover; soft taints are those with
// effect PreferNoSchedule.
func tolerated(taints []corev1.Taint, tols []corev1.Toleration, soft bool) *corev1.Taint {
	for i := range taints {
		t := &taints[i]
		if (t.Effect == corev1.TaintEffectPreferNoSchedule) != soft {
			continue
		}
		if !slices.ContainsFunc(tols, func(tol corev1.Toleration) bool { return tolerates(&tol, t) }) {
			return t
		}
	}
	return nil
}

// tolerates follows the Kubernetes API: an empty effect covers all effects, an empty key with
// Exists all keys.
func tolerates(tol *corev1.Toleration, t *corev1.Taint) bool {
	if tol.Effect != "" && tol.Effect != t.Effect || tol.Key != "" && tol.Key != t.Key {
		return false
	}
	switch tol.Operator {
	case corev1.TolerationOpExists:
		return true
	case "", corev1.TolerationOpEqual:
		return tol.Key != "" && tol.Value == t.Value
	}
	return false
}
