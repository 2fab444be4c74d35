package scheduling

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Operators beyond those of a pod's node affinity; node pools and instance types may use them.
const (
	// OpGte holds for labels that are integers of at least the single value.
	OpGte corev1.NodeSelectorOperator = "Gte"
	// OpLte holds for labels that are integers of at most the single value.
	OpLte corev1.NodeSelectorOperator = "Lte"
)

// Requirement is one condition on a node label, spelled as in a NodePool manifest.
type Requirement struct {
	Key      string                      `json:"key"`
	Operator corev1.NodeSelectorOperator `json:"operator"`
	// Values has one element for Gt, Lt, Gte and Lte, none for Exists and DoesNotExist.
	Values []string `json:"values,omitempty"`
	// MinValues asks that the types a node may become have at least so many values of this label
	// between them. Nil or 0: no such wish. Meaningful on pools only.
	MinValues *int `json:"minValues,omitempty"`
}

// String prints the requirement as a person would write it: `zone In [a b]`.
func (r Requirement) String() string {
	s := r.Key + " " + string(r.Operator)
	if len(r.Values) > 0 {
		s += " " + listText(r.Values)
	}
	return s
}

// listText prints label values; what could be misread is quoted, so different lists differ in print.
func listText(values []string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, v := range values {
		if i > 0 {
			b.WriteByte(' ')
		}
		if v == "" || strings.ContainsFunc(v, oddInLabel) {
			v = strconv.Quote(v)
		}
		b.WriteString(v)
	}
	return b.String() + "]"
}

// oddInLabel holds for what no label value has.
func oddInLabel(c rune) bool {
	letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	return !letter && !('0' <= c && c <= '9') && c != '-' && c != '_' && c != '.'
}

// ValueSet is the set of states that one node label may be in: absent, or one of a finite, co-finite
// or integer-bounded set of strings. It is closed under intersection, which is why it distinguishes
// what Kubernetes' operators distinguish: Exists excludes "absent", NotIn does not, and the
// two together still exclude it. The zero value is the empty set. Immutable; safe to share.
type ValueSet struct {
	absent bool
	// all: every string but values; otherwise only values.
	all    bool
	values []string // sorted, unique, never written to
	// Integer window, inclusive and not empty; only with all, and never with absent. A string that
	// is not an integer is outside any window, even the widest.
	bounded bool
	lo, hi  int64
	min     int
}

// AnyValue is the set of every state, absent included: what is known of a label nobody mentions.
func AnyValue() ValueSet { return ValueSet{absent: true, all: true} }

// AbsentValue is the set with one state: the label is not there.
func AbsentValue() ValueSet { return ValueSet{absent: true} }

// Values is the set of the given strings; the label must be there.
func Values(v ...string) ValueSet {
	s := slices.Clone(v)
	slices.Sort(s)
	return ValueSet{values: slices.Compact(s)}
}

// ParseRequirement turns a requirement into the set of label states that satisfy it. It reads key and
// values as they are; see ParseRequirements for aliases. The error says what is wrong and what to write.
func ParseRequirement(r Requirement) (ValueSet, error) {
	s, f := readRequirement(r)
	if f.Problem != "" {
		return ValueSet{}, fmt.Errorf("scheduling: %s; %s", f.Problem, f.Remedy)
	}
	return s, nil
}

// readRequirement returns a fault without a path if the requirement makes no sense.
func readRequirement(r Requirement) (ValueSet, Fault) {
	fault := func(problem, remedy string) (ValueSet, Fault) {
		return ValueSet{}, Fault{Problem: "requirement " + strconv.Quote(r.String()) + " " + problem, Remedy: remedy}
	}
	var s ValueSet
	list, bound := false, false
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		s, list = Values(r.Values...), true
	case corev1.NodeSelectorOpNotIn:
		s, list = Values(r.Values...), true
		s.absent, s.all = true, true
	case corev1.NodeSelectorOpExists:
		s.all = true
	case corev1.NodeSelectorOpDoesNotExist:
		s.absent = true
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt, OpGte, OpLte:
		bound = true
	default:
		return fault("has an unknown operator", "use In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte")
	}
	switch {
	case r.Key == "":
		return fault("has no key", "name the label")
	case list && len(r.Values) == 0:
		return fault("has no values", "list at least one, or use Exists or DoesNotExist")
	case bound && len(r.Values) != 1:
		return fault("has "+strconv.Itoa(len(r.Values))+" values", "give one, an integer such as 4")
	case !list && !bound && len(r.Values) > 0:
		return fault("has values", "remove them, or use In or NotIn")
	case r.MinValues != nil && *r.MinValues < 0:
		return fault("has minValues "+strconv.Itoa(*r.MinValues), "give at least 1, or leave it out")
	}
	if bound {
		n, err := strconv.ParseInt(r.Values[0], 10, 64)
		if err != nil {
			return fault("has no integer of 64 bits", "give one such as 4")
		}
		s = window(r.Operator, n)
	}
	if r.MinValues != nil {
		s.min = *r.MinValues
	}
	return s, Fault{}
}

// window is the set that Gt, Lt, Gte or Lte n describes.
func window(op corev1.NodeSelectorOperator, n int64) ValueSet {
	s := ValueSet{all: true, bounded: true, lo: math.MinInt64, hi: math.MaxInt64}
	switch {
	case op == OpGte:
		s.lo = n
	case op == OpLte:
		s.hi = n
	case op == corev1.NodeSelectorOpGt && n < math.MaxInt64:
		s.lo = n + 1
	case op == corev1.NodeSelectorOpLt && n > math.MinInt64:
		s.hi = n - 1
	default: // beyond the last integer
		return ValueSet{}
	}
	return s
}

// Intersect returns the states that are in both sets. The larger minValues survives.
func (s ValueSet) Intersect(t ValueSet) ValueSet {
	out := ValueSet{absent: s.absent && t.absent, all: s.all && t.all, min: max(s.min, t.min)}
	if out.all {
		out.values = union(s.values, t.values)
		if out.bounded = s.bounded || t.bounded; !out.bounded {
			return out
		}
		if out.lo, out.hi = max(s.low(), t.low()), min(s.high(), t.high()); out.lo > out.hi {
			return ValueSet{min: out.min}
		}
		// What the window excludes anyway need not be listed.
		out.values = filter(out.values, out.inWindow)
		return out
	}
	if s.all {
		s, t = t, s
	}
	out.values = filter(s.values, t.Has)
	return out
}

// union merges two sorted lists. It may return one of them, as no one writes to a set's values.
func union(a, b []string) []string {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	out := make([]string, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		c := strings.Compare(a[0], b[0])
		if c <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out = append(out, b[0])
		}
		if c >= 0 {
			b = b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// filter returns the values that pass, without a copy if all do.
func filter(values []string, keep func(string) bool) []string {
	for i, v := range values {
		if keep(v) {
			continue
		}
		out := slices.Clone(values[:i])
		for _, w := range values[i+1:] {
			if keep(w) {
				out = append(out, w)
			}
		}
		return out
	}
	return values
}

func (s ValueSet) low() int64 {
	if !s.bounded {
		return math.MinInt64
	}
	return s.lo
}

func (s ValueSet) high() int64 {
	if !s.bounded {
		return math.MaxInt64
	}
	return s.hi
}

// inWindow reads integers as kube-scheduler does, leading zeros and all.
func (s ValueSet) inWindow(v string) bool {
	n, err := strconv.ParseInt(v, 10, 64)
	return err == nil && n >= s.lo && n <= s.hi
}

// Has reports whether the label may have the value v.
func (s ValueSet) Has(v string) bool {
	_, listed := slices.BinarySearch(s.values, v)
	if !s.all {
		return listed
	}
	return !listed && (!s.bounded || s.inWindow(v))
}

// HasAbsent reports whether the label may be missing.
func (s ValueSet) HasAbsent() bool { return s.absent }

// MinValues returns the minValues that the set carries.
func (s ValueSet) MinValues() int { return s.min }

// Empty reports whether no state is left. Integer windows count as empty when every integer in
// them is excluded (Gt 3, Lt 5, NotIn 4) in its usual spelling, though Has still accepts "04".
func (s ValueSet) Empty() bool {
	switch {
	case s.absent || s.all && !s.bounded:
		return false
	case !s.all:
		return len(s.values) == 0
	case uint64(s.hi)-uint64(s.lo) >= uint64(len(s.values)): // more integers than exclusions
		return false
	}
	_, some := s.Any()
	return !some
}

// Any returns one value of the set, the same one every time: the smallest listed value, or the
// smallest integer from 0 (or from the lower bound) up that is not excluded, or else the largest
// negative one. False: the set has no value, though "absent" may be in it.
func (s ValueSet) Any() (string, bool) {
	if !s.all {
		if len(s.values) == 0 {
			return "", false
		}
		return s.values[0], true
	}
	// At most len(values) integers are excluded, so the loops end soon.
	free := func(n int64) (string, bool) {
		v := strconv.FormatInt(n, 10)
		_, excluded := slices.BinarySearch(s.values, v)
		return v, !excluded
	}
	lo, hi := s.low(), s.high()
	for n := max(lo, 0); n <= hi && n >= 0; n++ { // negative: past the last integer
		if v, ok := free(n); ok {
			return v, true
		}
	}
	for n := min(hi, -1); n >= lo && n < 0; n-- {
		if v, ok := free(n); ok {
			return v, true
		}
	}
	return "", false
}

// Finite returns the values if the set is a finite list of them (absent excluded), and whether it is.
func (s ValueSet) Finite() ([]string, bool) { return slices.Clone(s.values), !s.all }

// Equal reports whether both sets have the same states and carry the same minValues. Where
// Empty takes an integer window for empty it still differs from the set without any state.
func (s ValueSet) Equal(t ValueSet) bool {
	return s.absent == t.absent && s.all == t.all && s.min == t.min && s.bounded == t.bounded &&
		s.lo == t.lo && s.hi == t.hi && slices.Equal(s.values, t.values)
}

// Requirements spells the set as requirements on key whose conjunction is the set again: bounds
// and exclusions are both kept, minValues is on the first. AnyValue gives none. Bounds come as Gte and
// Lte, which pods cannot use.
func (s ValueSet) Requirements(key string) []Requirement {
	var out []Requirement
	add := func(op corev1.NodeSelectorOperator, v ...string) {
		out = append(out, Requirement{Key: key, Operator: op, Values: v})
	}
	switch {
	case !s.all && len(s.values) > 0:
		add(corev1.NodeSelectorOpIn, slices.Clone(s.values)...)
	case !s.all && s.absent:
		add(corev1.NodeSelectorOpDoesNotExist)
	case !s.all:
		// The empty set: no label both exists and does not.
		add(corev1.NodeSelectorOpExists)
		add(corev1.NodeSelectorOpDoesNotExist)
	default:
		if s.bounded && (s.lo != math.MinInt64 || s.hi == math.MaxInt64) {
			add(OpGte, strconv.FormatInt(s.lo, 10))
		}
		if s.bounded && s.hi != math.MaxInt64 {
			add(OpLte, strconv.FormatInt(s.hi, 10))
		}
		if !s.bounded && !s.absent {
			add(corev1.NodeSelectorOpExists)
		}
		if len(s.values) > 0 {
			add(corev1.NodeSelectorOpNotIn, slices.Clone(s.values)...)
		}
	}
	if least := s.min; least > 0 && len(out) > 0 {
		out[0].MinValues = &least
	}
	return out
}

// String prints the states for messages: `[a b]`, `anything but [a]` (which includes absent), `any value but
// [a]` (which does not), `absent`, `integer from 3 to 7`. Sets with different states differ in print;
// minValues is left out.
func (s ValueSet) String() string {
	var w string
	switch {
	case !s.all && len(s.values) > 0:
		return listText(s.values)
	case !s.all && s.absent:
		return "absent"
	case !s.all:
		return "nothing"
	case s.bounded:
		w = "integer"
		if s.lo != math.MinInt64 {
			w += " from " + strconv.FormatInt(s.lo, 10)
		}
		if s.hi != math.MaxInt64 {
			w += " to " + strconv.FormatInt(s.hi, 10)
		}
	case s.absent:
		w = "anything"
	default:
		w = "any value"
	}
	if len(s.values) > 0 {
		w += " but " + listText(s.values)
	}
	return w
}
