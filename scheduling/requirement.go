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
		s += " [" + strings.Join(r.Values, " ") + "]"
	}
	return s
}

// ValueSet is the set of states that one node label may be in: absent, or one of a finite, co-finite
// or integer-bounded set of strings. It is closed under intersection, which is why it distinguishes
// what Kubernetes' operators distinguish: Exists excludes "absent", NotIn does not, and the
// two together still exclude it. The zero value is the empty set. Immutable; safe to share.
type ValueSet struct {
	absent bool
	// all: every string but values; otherwise only values.
	all    bool
	values []string // sorted, unique
	// Integer window, inclusive; only meaningful with all. A string that is not an integer is
	// outside any window.
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

// ParseRequirement turns a requirement into the set of label states that satisfy it.
func ParseRequirement(r Requirement) (ValueSet, error) {
	var s ValueSet
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		s = Values(r.Values...)
	case corev1.NodeSelectorOpNotIn:
		s = Values(r.Values...)
		s.absent, s.all = true, true
	case corev1.NodeSelectorOpExists:
		s = ValueSet{all: true}
	case corev1.NodeSelectorOpDoesNotExist:
		s = AbsentValue()
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt, OpGte, OpLte:
		return parseBound(r)
	default:
		return s, requirementError(r, "unknown operator; use In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte")
	}
	switch needs := r.Operator == corev1.NodeSelectorOpIn || r.Operator == corev1.NodeSelectorOpNotIn; {
	case needs && len(r.Values) == 0:
		return s, requirementError(r, "needs at least one value")
	case !needs && len(r.Values) > 0:
		return s, requirementError(r, "takes no values")
	}
	return s.withMin(r)
}

func parseBound(r Requirement) (ValueSet, error) {
	s := ValueSet{all: true, bounded: true, lo: math.MinInt64, hi: math.MaxInt64}
	if len(r.Values) != 1 {
		return s, requirementError(r, "needs exactly one value, an integer")
	}
	n, err := strconv.ParseInt(r.Values[0], 10, 64)
	if err != nil {
		return s, requirementError(r, "needs an integer")
	}
	switch r.Operator {
	case corev1.NodeSelectorOpGt:
		if n == math.MaxInt64 {
			return ValueSet{}, nil
		}
		s.lo = n + 1
	case OpGte:
		s.lo = n
	case corev1.NodeSelectorOpLt:
		if n == math.MinInt64 {
			return ValueSet{}, nil
		}
		s.hi = n - 1
	case OpLte:
		s.hi = n
	}
	return s.withMin(r)
}

func (s ValueSet) withMin(r Requirement) (ValueSet, error) {
	if r.MinValues != nil {
		if *r.MinValues < 0 {
			return s, requirementError(r, "minValues must not be negative")
		}
		s.min = *r.MinValues
	}
	return s, nil
}

func requirementError(r Requirement, problem string) error {
	return fmt.Errorf("scheduling: requirement %q: %s", r.String(), problem)
}

// Intersect returns the states that are in both sets. The larger minValues survives.
func (s ValueSet) Intersect(t ValueSet) ValueSet {
	out := ValueSet{absent: s.absent && t.absent, all: s.all && t.all, min: max(s.min, t.min)}
	if out.all {
		out.values = union(s.values, t.values)
		if out.bounded = s.bounded || t.bounded; out.bounded {
			out.lo, out.hi = max(s.low(), t.low()), min(s.high(), t.high())
			out.values = slices.DeleteFunc(out.values, func(v string) bool { return !out.inWindow(v) })
		}
		return out
	}
	if s.all {
		s, t = t, s
	}
	for _, v := range s.values {
		if t.Has(v) {
			out.values = append(out.values, v)
		}
	}
	return out
}

func union(a, b []string) []string {
	if len(a) == 0 {
		return slices.Clone(b)
	}
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
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
// them is excluded (Gt 3, Lt 5, NotIn 4), in its usual spelling.
func (s ValueSet) Empty() bool {
	if s.absent {
		return false
	}
	_, some := s.Any()
	return !some
}

// Any returns one value of the set, the same one every time: the smallest listed value, or the
// smallest integer from 0 (or from the lower bound) up that is not excluded. False: the set has no
// value, though "absent" may be in it.
func (s ValueSet) Any() (string, bool) {
	if !s.all {
		if len(s.values) == 0 {
			return "", false
		}
		return s.values[0], true
	}
	lo, hi := s.low(), s.high()
	// At most len(values) integers are excluded, so the loops end.
	for n := max(lo, 0); n <= hi; n++ {
		if v := strconv.FormatInt(n, 10); !slices.Contains(s.values, v) {
			return v, true
		}
		if n == math.MaxInt64 {
			break
		}
	}
	for n := min(hi, -1); n >= lo; n-- {
		if v := strconv.FormatInt(n, 10); !slices.Contains(s.values, v) {
			return v, true
		}
		if n == math.MinInt64 {
			break
		}
	}
	return "", false
}

// Finite returns the values if the set is a finite list of them (absent excluded), and whether it is.
func (s ValueSet) Finite() ([]string, bool) { return slices.Clone(s.values), !s.all }

// Equal reports whether both sets were built of the same states and carry the same minValues. Two
// sets that are empty for different reasons may differ.
func (s ValueSet) Equal(t ValueSet) bool {
	return s.absent == t.absent && s.all == t.all && s.min == t.min && s.bounded == t.bounded &&
		(!s.bounded || s.lo == t.lo && s.hi == t.hi) && slices.Equal(s.values, t.values)
}

// Requirements spells the set as requirements on key whose conjunction is the set again: bounds
// and exclusions are both kept. An unconstrained set gives none.
func (s ValueSet) Requirements(key string) []Requirement {
	var out []Requirement
	add := func(op corev1.NodeSelectorOperator, v ...string) {
		out = append(out, Requirement{Key: key, Operator: op, Values: v})
	}
	switch {
	case !s.all && s.absent && len(s.values) == 0:
		add(corev1.NodeSelectorOpDoesNotExist)
	case !s.all && len(s.values) > 0:
		add(corev1.NodeSelectorOpIn, s.values...)
	case !s.all:
		// The empty set: no label both exists and does not.
		add(corev1.NodeSelectorOpExists)
		add(corev1.NodeSelectorOpDoesNotExist)
	default:
		if s.bounded && s.lo != math.MinInt64 {
			add(OpGte, strconv.FormatInt(s.lo, 10))
		}
		if s.bounded && s.hi != math.MaxInt64 {
			add(OpLte, strconv.FormatInt(s.hi, 10))
		}
		if len(s.values) > 0 {
			add(corev1.NodeSelectorOpNotIn, s.values...)
		}
		if !s.absent && !(s.bounded && len(out) > 0 && out[0].Operator != corev1.NodeSelectorOpNotIn) {
			add(corev1.NodeSelectorOpExists)
		}
	}
	if len(out) > 0 && s.min > 0 {
		out[0].MinValues = &s.min
	}
	return out
}

// String prints the set for messages: `[a b]`, `any but [a]`, `absent`, `integer 3 to 7`.
func (s ValueSet) String() string {
	var parts []string
	if s.all {
		w := "any"
		if s.bounded {
			w = "integer"
			if s.lo != math.MinInt64 {
				w += " from " + strconv.FormatInt(s.lo, 10)
			}
			if s.hi != math.MaxInt64 {
				w += " to " + strconv.FormatInt(s.hi, 10)
			}
		}
		if len(s.values) > 0 {
			w += " but [" + strings.Join(s.values, " ") + "]"
		}
		parts = append(parts, w)
	} else if len(s.values) > 0 {
		parts = append(parts, "["+strings.Join(s.values, " ")+"]")
	}
	if s.absent {
		parts = append(parts, "absent")
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, " or ")
}
