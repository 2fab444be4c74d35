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
	// preferred are the pods' preferences, heaviest first.
	preferred []preference
}

type preference struct {
	text  string
	atoms []int32
}

// variant is the constraint with some of the preferences given up.
type variant struct {
	// terms are alternatives of atoms that must hold together.
	terms [][]int32
	// allowSoft tolerates PreferNoSchedule.
	allowSoft bool
	// given are the preferences it does without, in the order in which they were given up.
	given []string

	mask   pack.Mask
	maskID int32
	alts   []pack.Alternative
	// nodes memoises which existing nodes match: 0 unknown, 1 yes, 2 no.
	nodes []uint8
}

// atom is one condition on one label.
type atom struct {
	key  string
	set  ValueSet
	mask pack.Mask
	// open is the state the atom asks of an open key, -1 if the key is open nowhere.
	open    int32
	openKey int32
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
	if aff != nil && c.opts.Preferences == PreferencesRespect {
		out.preferred = c.preferences(aff)
	}
	out.terms = terms
	return out
}

// vary lists the variants of a constraint: all preferences, then one fewer at a time, the lightest first,
// and in the end PreferNoSchedule taints too. Preferences that nobody can meet are left out of all
// of them, so that they do not take others with them.
func (c *compiler) vary(k *constraint) {
	var hopeful []preference
	var given []string
	for _, pref := range k.preferred {
		if c.hopeless(k, &pref) {
			given = append(given, pref.text)
		} else {
			hopeful = append(hopeful, pref)
		}
	}
	for kept := len(hopeful); kept >= 0; kept-- {
		v := variant{allowSoft: c.opts.Preferences == PreferencesIgnore, given: slices.Clone(given)}
		for i := len(hopeful) - 1; i >= kept; i-- {
			v.given = append(v.given, hopeful[i].text)
		}
		v.terms = withPreferences(k.terms, hopeful[:kept])
		k.variants = append(k.variants, v)
	}
	if c.softTaints && c.opts.Preferences == PreferencesRespect && !c.toleratesAllSoft(k.tolerations) {
		last := k.variants[len(k.variants)-1]
		last.allowSoft = true
		last.given = append(slices.Clone(last.given), "no PreferNoSchedule taint")
		k.variants = append(k.variants, last)
	}
}

func withPreferences(terms [][]int32, prefs []preference) [][]int32 {
	out := make([][]int32, len(terms))
	for i, t := range terms {
		out[i] = slices.Clone(t)
		for _, pref := range prefs {
			out[i] = append(out[i], pref.atoms...)
		}
	}
	return out
}

// hopeless reports whether the preference, alone with what is required, leaves nothing.
func (c *compiler) hopeless(k *constraint, pref *preference) bool {
	v := variant{allowSoft: true, terms: withPreferences(k.terms, []preference{*pref})}
	for _, term := range v.terms {
		for _, b := range c.termMask(k, term, true) {
			if b != 0 {
				return false
			}
		}
	}
	for i := range c.nodes {
		if c.admits(k, &v, i) {
			return false
		}
	}
	return true
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
			out = append(out, preference{text: termText(t), atoms: atoms})
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
	id := r.Key + "\x00" + set.String()
	if a, ok := c.atomIDs[id]; ok {
		return a, nil
	}
	a := int32(len(c.atoms))
	c.atomIDs[id] = a
	c.atoms = append(c.atoms, atom{key: r.Key, set: set, open: -1})
	return a, nil
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

func (c *compiler) toleratesAllSoft(tols []corev1.Toleration) bool {
	for i := range c.p.Pools {
		if tolerated(c.p.Pools[i].Taints, tols, true) != nil {
			return false
		}
	}
	for i := range c.p.Nodes {
		if tolerated(c.p.Nodes[i].Taints, tols, true) != nil {
			return false
		}
	}
	return true
}

// matchesNode reports whether an existing node has the labels and taints that the variant asks for.
func (c *compiler) matchesNode(k *constraint, v *variant, node int) bool {
	if v.nodes == nil {
		v.nodes = make([]uint8, len(c.nodes))
	}
	if v.nodes[node] == 0 {
		v.nodes[node] = 2
		if c.admits(k, v, node) {
			v.nodes[node] = 1
		}
	}
	return v.nodes[node] == 1
}

func (c *compiler) admits(k *constraint, v *variant, node int) bool {
	n := &c.nodes[node]
	if tolerated(n.taints, k.tolerations, false) != nil || !v.allowSoft && tolerated(n.taints, k.tolerations, true) != nil {
		return false
	}
	return n.matches(c, v.terms)
}

// matches reports whether the node's labels satisfy one of the terms.
func (n *oldNode) matches(c *compiler, terms [][]int32) bool {
	return slices.ContainsFunc(terms, func(term []int32) bool {
		return !slices.ContainsFunc(term, func(a int32) bool { return !n.has(&c.atoms[a]) })
	})
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
