package scheduling

import (
	"encoding/binary"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podSelector is a label selector as constraints between pods use it. Equal ones are one: see selectors.
type podSelector struct {
	id int32
	// nothing selects no pod at all.
	nothing bool
	reqs    []labelCondition
}

// labelCondition is one requirement of a selector.
type labelCondition struct {
	key    string
	op     metav1.LabelSelectorOperator
	values []string
}

func (q *labelCondition) holds(labels map[string]string) bool {
	v, ok := labels[q.key]
	switch q.op {
	case metav1.LabelSelectorOpIn:
		return ok && slices.Contains(q.values, v)
	case metav1.LabelSelectorOpNotIn:
		return !ok || !slices.Contains(q.values, v)
	case metav1.LabelSelectorOpExists:
		return ok
	}
	return !ok
}

func (s *podSelector) matches(labels map[string]string) bool {
	if s.nothing {
		return false
	}
	for i := range s.reqs {
		if !s.reqs[i].holds(labels) {
			return false
		}
	}
	return true
}

// selectors interns selectors and sets of namespaces, so that they can be compared by number.
type selectors struct {
	buf        []byte
	reqs       []labelCondition
	byContent  map[string]*podSelector
	namespaces map[string]*namespaceSet
	// plain are those of one label with one value, which most are.
	plain map[[2]string]*podSelector
}

// newSelectors has room for some selectors.
func newSelectors(some int) *selectors {
	return &selectors{byContent: make(map[string]*podSelector, some), namespaces: map[string]*namespaceSet{}, plain: make(map[[2]string]*podSelector, some)}
}

// of is the selector together with the pod's own values of the match keys, and without those of the mismatch
// keys; keys that the pod lacks are ignored. No selector, or one that Kubernetes would refuse, selects nothing.
func (x *selectors) of(s *metav1.LabelSelector, pod *corev1.Pod, match, mismatch []string) *podSelector {
	if s == nil {
		return x.intern(podSelector{nothing: true})
	}
	if len(s.MatchLabels) == 1 && len(s.MatchExpressions)+len(match)+len(mismatch) == 0 {
		for k, v := range s.MatchLabels {
			id := [2]string{k, v}
			out, ok := x.plain[id]
			if !ok {
				out = x.build(s, pod, nil, nil)
				x.plain[id] = out
			}
			return out
		}
	}
	return x.build(s, pod, match, mismatch)
}

func (x *selectors) build(s *metav1.LabelSelector, pod *corev1.Pod, match, mismatch []string) *podSelector {
	if !validSelector(s) {
		return x.intern(podSelector{nothing: true})
	}
	reqs := x.reqs[:0]
	values := make([]string, 0, len(s.MatchLabels))
	for k, v := range s.MatchLabels {
		values = append(values, v)
		reqs = append(reqs, labelCondition{k, metav1.LabelSelectorOpIn, values[len(values)-1 : len(values) : len(values)]})
	}
	for i := range s.MatchExpressions {
		e := &s.MatchExpressions[i]
		values := slices.Clone(e.Values)
		slices.Sort(values)
		reqs = append(reqs, labelCondition{e.Key, e.Operator, slices.Compact(values)})
	}
	add := func(keys []string, op metav1.LabelSelectorOperator) {
		for _, k := range keys {
			if v, ok := pod.Labels[k]; ok {
				reqs = append(reqs, labelCondition{k, op, []string{v}})
			}
		}
	}
	add(match, metav1.LabelSelectorOpIn)
	add(mismatch, metav1.LabelSelectorOpNotIn)
	slices.SortFunc(reqs, compareConditions)
	reqs = slices.CompactFunc(reqs, func(a, b labelCondition) bool { return compareConditions(a, b) == 0 })
	x.reqs = reqs
	return x.intern(podSelector{reqs: reqs})
}

func compareConditions(a, b labelCondition) int {
	if o := strings.Compare(a.key, b.key); o != 0 {
		return o
	}
	if o := strings.Compare(string(a.op), string(b.op)); o != 0 {
		return o
	}
	return slices.Compare(a.values, b.values)
}

func (x *selectors) intern(s podSelector) *podSelector {
	b := x.buf[:0]
	str := func(v string) {
		b = binary.AppendUvarint(b, uint64(len(v)))
		b = append(b, v...)
	}
	if s.nothing {
		b = append(b, 'x')
	}
	for i := range s.reqs {
		q := &s.reqs[i]
		str(q.key)
		str(string(q.op))
		b = binary.AppendUvarint(b, uint64(len(q.values)))
		for _, v := range q.values {
			str(v)
		}
	}
	x.buf = b
	if have, ok := x.byContent[string(b)]; ok {
		return have
	}
	s.id, s.reqs = int32(len(x.byContent)), slices.Clone(s.reqs)
	x.byContent[string(b)] = &s
	return &s
}

// validSelector reports whether Kubernetes accepts the selector. Its own check is slow, and most selectors
// are plain.
func validSelector(s *metav1.LabelSelector) bool {
	plain := true
	for k, v := range s.MatchLabels {
		plain = plain && plainKey(k) && plainValue(v)
	}
	for i := range s.MatchExpressions {
		e := &s.MatchExpressions[i]
		plain = plain && plainKey(e.Key) && !slices.ContainsFunc(e.Values, func(v string) bool { return !plainValue(v) })
		switch e.Operator {
		case metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn:
			plain = plain && len(e.Values) > 0
		case metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist:
			plain = plain && len(e.Values) == 0
		default:
			plain = false
		}
	}
	if plain {
		return true
	}
	_, err := metav1.LabelSelectorAsSelector(s)
	return err == nil
}

// plainKey and plainValue hold for label keys and values that are valid beyond doubt.
func plainKey(k string) bool {
	if i := strings.IndexByte(k, '/'); i >= 0 {
		if !plainDomain(k[:i]) {
			return false
		}
		k = k[i+1:]
	}
	return k != "" && plainValue(k)
}

// plainDomain holds for a prefix of letters in lower case, digits and single dots.
func plainDomain(d string) bool {
	if d == "" || len(d) > 63 || d[0] == '.' || d[len(d)-1] == '.' {
		return false
	}
	for i := range len(d) {
		c := d[i]
		if c == '.' && d[i-1] != '.' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			continue
		}
		return false
	}
	return true
}

func plainValue(v string) bool {
	if v == "" {
		return true
	}
	if len(v) > 63 || !alphanumeric(v[0]) || !alphanumeric(v[len(v)-1]) {
		return false
	}
	for i := range len(v) {
		if c := v[i]; !alphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

func alphanumeric(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
}

// namespaceSet is the namespaces that a pod affinity term looks into.
type namespaceSet struct {
	id   int32
	all  bool
	list []string
	// by selects namespaces by their labels; nil: none.
	by *podSelector
}

// has reports whether pods of the namespace are looked at.
func (n *namespaceSet) has(namespace string, known map[string]map[string]string) bool {
	return n.all || slices.Contains(n.list, namespace) || n.by != nil && n.by.matches(known[namespace])
}

// own is the namespace of the pod alone.
func (x *selectors) own(namespace string) *namespaceSet {
	return x.internNamespaces(namespaceSet{list: []string{namespace}})
}

// namespacesOf follows the API: the list and what the selector matches together; neither means the
// pod's own namespace, an empty selector all.
func (x *selectors) namespacesOf(pod *corev1.Pod, t *corev1.PodAffinityTerm) *namespaceSet {
	s := t.NamespaceSelector
	switch {
	case len(t.Namespaces) == 0 && s == nil:
		return x.own(pod.Namespace)
	case s != nil && len(s.MatchLabels)+len(s.MatchExpressions) == 0:
		return x.internNamespaces(namespaceSet{all: true})
	}
	n := namespaceSet{list: slices.Compact(slices.Sorted(slices.Values(t.Namespaces)))}
	if s != nil {
		n.by = x.of(s, pod, nil, nil)
	}
	return x.internNamespaces(n)
}

func (x *selectors) internNamespaces(n namespaceSet) *namespaceSet {
	b := x.buf[:0]
	if n.all {
		b = append(b, '*')
	}
	if n.by != nil {
		b = binary.AppendUvarint(append(b, 's'), uint64(n.by.id))
	}
	for _, v := range n.list {
		b = binary.AppendUvarint(append(b, 'n'), uint64(len(v)))
		b = append(b, v...)
	}
	x.buf = b
	if have, ok := x.namespaces[string(b)]; ok {
		return have
	}
	n.id = int32(len(x.namespaces))
	x.namespaces[string(b)] = &n
	return &n
}
