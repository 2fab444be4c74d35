package scheduling

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// parsed reads "Op v v", each a condition on the label k, and intersects them.
func parsed(t testing.TB, conditions ...string) ValueSet {
	t.Helper()
	s := AnyValue()
	for _, c := range conditions {
		one, err := ParseRequirement(conditionOn("k", c))
		if err != nil {
			t.Fatal(err)
		}
		s = s.Intersect(one)
	}
	return s
}

// conditionOn reads "Op v v", where "" stands for the empty value and min=3 for minValues.
func conditionOn(key, text string) Requirement {
	f := strings.Fields(text)
	r := Requirement{Key: key}
	for i, v := range f {
		switch least, isMin := strings.CutPrefix(v, "min="); {
		case i == 0:
			r.Operator = corev1.NodeSelectorOperator(v)
		case isMin:
			n, _ := strconv.Atoi(least)
			r.MinValues = &n
		default:
			r.Values = append(r.Values, strings.Trim(v, `"`))
		}
	}
	return r
}

// absentState stands for "the label is not there" in tests.
const absentState = "(absent)"

// admits is the oracle: what the Kubernetes documentation says of one operator and one state.
func admits(r Requirement, state string) bool {
	absent := state == absentState
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return !absent && slices.Contains(r.Values, state)
	case corev1.NodeSelectorOpNotIn:
		return absent || !slices.Contains(r.Values, state)
	case corev1.NodeSelectorOpExists:
		return !absent
	case corev1.NodeSelectorOpDoesNotExist:
		return absent
	}
	if absent {
		return false
	}
	n, err := strconv.ParseInt(state, 10, 64)
	bound, _ := new(big.Int).SetString(r.Values[0], 10)
	if err != nil {
		return false
	}
	c := big.NewInt(n).Cmp(bound)
	switch r.Operator {
	case corev1.NodeSelectorOpGt:
		return c > 0
	case corev1.NodeSelectorOpLt:
		return c < 0
	case OpGte:
		return c >= 0
	default:
		return c <= 0
	}
}

func has(s ValueSet, state string) bool {
	if state == absentState {
		return s.HasAbsent()
	}
	return s.Has(state)
}

// states are enough to tell any two of conditions apart, and to find a member of each set of theirs that has one.
var states = []string{absentState, "", "a", "b", "x", "-4", "-1", "0", "1", "2", "3", "4", "5", "6", "04", "07", "+4", "4.0",
	"9223372036854775806", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775807", "-9223372036854775809"}

var conditions = []string{"Exists", "DoesNotExist", "In a", "In a b", "In 4", "In 1 4 07 x", `In ""`, "NotIn a", "NotIn a b", "NotIn 4",
	"NotIn 3 4 5", "NotIn 9223372036854775807", "Gt 3", "Gt -5", "Gt 9223372036854775806", "Gt 9223372036854775807", "Gte 4",
	"Gte -9223372036854775808", "Lt 5", "Lt 0", "Lt -9223372036854775808", "Lt -9223372036854775807", "Lte 3", "Lte 9223372036854775807"}

// counts holds for states that Empty takes into account: any that In lists, else those that are not
// an odd spelling of an integer.
func counts(state string, reqs ...Requirement) bool {
	n, err := strconv.ParseInt(state, 10, 64)
	return err != nil || strconv.FormatInt(n, 10) == state ||
		slices.ContainsFunc(reqs, func(r Requirement) bool { return r.Operator == corev1.NodeSelectorOpIn })
}

// TestValueSetAgainstOracle checks every combination of up to three conditions against brute force.
func TestValueSetAgainstOracle(t *testing.T) {
	n := len(conditions)
	reqs := make([]Requirement, n)
	sets := make([]ValueSet, n)
	for i, c := range conditions {
		reqs[i], sets[i] = conditionOn("k", c), parsed(t, c)
	}
	texts := map[string]ValueSet{}
	check := func(s ValueSet, of ...int) {
		name := func() string {
			var out []string
			for _, i := range of {
				out = append(out, conditions[i])
			}
			return strings.Join(out, ", ")
		}
		members := 0
		var from []Requirement
		for _, i := range of {
			from = append(from, reqs[i])
		}
		for _, state := range states {
			want := !slices.ContainsFunc(from, func(r Requirement) bool { return !admits(r, state) })
			if has(s, state) != want {
				t.Fatalf("%s: state %q: got %v, want %v", name(), state, has(s, state), want)
			}
			if want && counts(state, from...) {
				members++
			}
		}
		if s.Empty() != (members == 0) {
			t.Fatalf("%s: Empty is %v with %d members (%s)", name(), s.Empty(), members, s)
		}
		if v, ok := s.Any(); ok && !s.Has(v) || !ok && !s.Empty() && !s.HasAbsent() {
			t.Fatalf("%s: Any gives %q, %v", name(), v, ok)
		}
		back, err := respell(s)
		if err != nil || !back.Equal(s) {
			t.Fatalf("%s: spelled %v, which reads as %s, not %s (%v)", name(), s.Requirements("k"), back, s, err)
		}
		if same, ok := texts[s.String()]; ok && !same.Equal(s) {
			t.Fatalf("%s: two different sets print as %s", name(), s)
		}
		texts[s.String()] = s
	}
	for i := range n {
		check(sets[i], i)
		for j := range n {
			two := sets[i].Intersect(sets[j])
			check(two, i, j)
			for k := range n {
				check(two.Intersect(sets[k]), i, j, k)
				if !two.Intersect(sets[k]).Equal(sets[i].Intersect(sets[j].Intersect(sets[k]))) {
					t.Fatalf("%s, %s, %s: the order of intersection matters", conditions[i], conditions[j], conditions[k])
				}
			}
			if !two.Equal(sets[j].Intersect(sets[i])) {
				t.Fatalf("%s, %s: the order of intersection matters", conditions[i], conditions[j])
			}
		}
	}
	t.Logf("%d different sets", len(texts))
}

// respell parses what a set spells itself as.
func respell(s ValueSet) (ValueSet, error) {
	out := AnyValue()
	for _, r := range s.Requirements("k") {
		one, err := ParseRequirement(r)
		if err != nil {
			return out, err
		}
		out = out.Intersect(one)
	}
	return out, nil
}

func TestValueSet(t *testing.T) {
	for _, tc := range []struct {
		name, reason, conditions string
		text, spelled            string
		any                      string // "-": no value
		empty                    bool
	}{
		{"in", "values are sorted and unique", "In b a b", "[a b]", "k In [a b]", "a", false},
		{"odd values", "a value with a space is not two values", `NotIn ""`, `anything but [""]`, `k NotIn [""]`, "0", false},
		{"not in", "a node without the label satisfies NotIn", "NotIn a", "anything but [a]", "k NotIn [a]", "0", false},
		{"exists and not in", "the label must still be there; Karpenter's algebra forgets that (1.9, defect 5)", "Exists;NotIn a",
			"any value but [a]", "k Exists, k NotIn [a]", "0", false},
		{"bound and not in", "an integer must still be there, and the exclusion is still spelled (1.9, defect 5)", "Gt 3;NotIn 5 x",
			"integer from 4 but [5]", "k Gte [4], k NotIn [5]", "4", false},
		{"window without integers", "Karpenter takes it for satisfiable", "Gt 3;Lt 5;NotIn 4",
			"integer from 4 to 4 but [4]", "k Gte [4], k Lte [4], k NotIn [4]", "-", true},
		{"crossing bounds", "no integer is above 5 and below 3", "Gt 5;Lt 3", "nothing", "k Exists, k DoesNotExist", "-", true},
		{"touching bounds", "Gt and Lt exclude the bound itself", "Gt 3;Lt 4", "nothing", "k Exists, k DoesNotExist", "-", true},
		{"one integer", "Gte and Lte include the bound", "Gte 4;Lte 4", "integer from 4 to 4", "k Gte [4], k Lte [4]", "4", false},
		{"above the largest", "no integer is above it", "Gt 9223372036854775807", "nothing", "k Exists, k DoesNotExist", "-", true},
		{"below the smallest", "no integer is below it", "Lt -9223372036854775808", "nothing", "k Exists, k DoesNotExist", "-", true},
		{"any integer", "a bound that excludes no integer still excludes words", "Gte -9223372036854775808", "integer",
			"k Gte [-9223372036854775808]", "0", false},
		{"any integer from above", "the same set by the other bound", "Lte 9223372036854775807", "integer",
			"k Gte [-9223372036854775808]", "0", false},
		{"bounds drop values", "only integers within them are left", "In 1 4 07 x 12;Gt 3;Lt 10", "[07 4]", "k In [07 4]", "07", false},
		{"in and not in", "difference", "In a b;NotIn b", "[a]", "k In [a]", "a", false},
		{"disjoint", "no state is left, which is not the same as absent", "In a;In b", "nothing", "k Exists, k DoesNotExist", "-", true},
		{"absent", "absent is a state, not emptiness", "DoesNotExist", "absent", "k DoesNotExist", "-", false},
		{"absent and not in", "both hold for a node without the label", "DoesNotExist;NotIn a", "absent", "k DoesNotExist", "-", false},
		{"absent and exists", "contradiction", "DoesNotExist;Exists", "nothing", "k Exists, k DoesNotExist", "-", true},
		{"absent and bound", "a bound needs the label", "DoesNotExist;Gt 3", "nothing", "k Exists, k DoesNotExist", "-", true},
		{"nothing asked", "no requirement says it", "", "anything", "", "0", false},
		{"any skips exclusions", "Karpenter draws a number that may be excluded", "NotIn 0 1 2 4", "anything but [0 1 2 4]", "k NotIn [0 1 2 4]", "3", false},
		{"any below zero", "the largest negative integer is next", "Lt 1;NotIn 0 -1", "integer to 0 but [-1 0]", "k Lte [0], k NotIn [-1 0]", "-2", false},
		{"any at the end", "counting stops at the last integer", "Gte 9223372036854775806;NotIn 9223372036854775806",
			"integer from 9223372036854775806 but [9223372036854775806]",
			"k Gte [9223372036854775806], k NotIn [9223372036854775806]", "9223372036854775807", false},
		{"last integer excluded", "counting past it would wrap", "Gte 9223372036854775807;NotIn 9223372036854775807",
			"integer from 9223372036854775807 but [9223372036854775807]",
			"k Gte [9223372036854775807], k NotIn [9223372036854775807]", "-", true},
		{"first integer excluded", "counting past it would wrap", "Lte -9223372036854775808;NotIn -9223372036854775808",
			"integer to -9223372036854775808 but [-9223372036854775808]",
			"k Lte [-9223372036854775808], k NotIn [-9223372036854775808]", "-", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := AnyValue()
			if tc.conditions != "" {
				s = parsed(t, strings.Split(tc.conditions, ";")...)
			}
			if s.String() != tc.text {
				t.Errorf("%s: prints %q, want %q", tc.reason, s, tc.text)
			}
			var spelled []string
			for _, r := range s.Requirements("k") {
				spelled = append(spelled, r.String())
			}
			if got := strings.Join(spelled, ", "); got != tc.spelled {
				t.Errorf("%s: spelled %q, want %q", tc.reason, got, tc.spelled)
			}
			v, ok := s.Any()
			if !ok {
				v = "-"
			}
			if v != tc.any || s.Empty() != tc.empty {
				t.Errorf("%s: Any %q, Empty %v; want %q, %v", tc.reason, v, s.Empty(), tc.any, tc.empty)
			}
		})
	}
}

func TestValueSetMinValues(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		conditions   []string
		want         int
	}{
		{"none", "no wish is 0", []string{"In a b"}, 0},
		{"one side", "a pod's condition on the key does not drop the pool's wish", []string{"In a b min=2", "In a"}, 2},
		{"both sides", "the larger covers the smaller", []string{"In a b min=2", "Exists min=5", "NotIn x min=3"}, 5},
		{"crossing bounds", "the wish outlives the contradiction, for the message", []string{"Gt 5 min=3", "Lt 3"}, 3},
		{"beyond the last integer", "as above", []string{"Gt 9223372036854775807 min=3"}, 3},
		{"absent", "as above", []string{"DoesNotExist min=1"}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := parsed(t, tc.conditions...)
			if s.MinValues() != tc.want {
				t.Errorf("%s: got %d, want %d", tc.reason, s.MinValues(), tc.want)
			}
			if back, err := respell(s); err != nil || !back.Equal(s) {
				t.Errorf("%s: lost in spelling: %v (%v)", tc.reason, s.Requirements("k"), err)
			}
		})
	}
}

func TestParseRequirementErrors(t *testing.T) {
	minus := -1
	for _, tc := range []struct {
		name, reason string
		r            Requirement
		want         string
	}{
		{"operator", "operators are case sensitive in Kubernetes", Requirement{Key: "k", Operator: "in", Values: []string{"a"}},
			`scheduling: requirement "k in [a]" has an unknown operator; use In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte`},
		{"no key", "it could not be told from others", conditionOn("", "Exists"), `scheduling: requirement " Exists" has no key; name the label`},
		{"in nothing", "Kubernetes refuses it; it would be DoesNotExist in disguise", conditionOn("k", "In"),
			`scheduling: requirement "k In" has no values; list at least one, or use Exists or DoesNotExist`},
		{"not in nothing", "as above", conditionOn("k", "NotIn"),
			`scheduling: requirement "k NotIn" has no values; list at least one, or use Exists or DoesNotExist`},
		{"exists with values", "the values would be ignored", conditionOn("k", "Exists a"),
			`scheduling: requirement "k Exists [a]" has values; remove them, or use In or NotIn`},
		{"bound without value", "nothing to compare with", conditionOn("k", "Gt"), `scheduling: requirement "k Gt" has 0 values; give one, an integer such as 4`},
		{"two bounds", "which one counts?", conditionOn("k", "Gte 1 2"), `scheduling: requirement "k Gte [1 2]" has 2 values; give one, an integer such as 4`},
		{"word as bound", "letter O", conditionOn("k", "Lt 1O"), `scheduling: requirement "k Lt [1O]" has no integer of 64 bits; give one such as 4`},
		{"fraction as bound", "labels are compared as integers", conditionOn("k", "Lt 1.5"),
			`scheduling: requirement "k Lt [1.5]" has no integer of 64 bits; give one such as 4`},
		{"bound too large", "it would wrap", conditionOn("k", "Lte 9223372036854775808"),
			`scheduling: requirement "k Lte [9223372036854775808]" has no integer of 64 bits; give one such as 4`},
		{"negative minValues", "no set has fewer than no values", Requirement{Key: "k", Operator: "Exists", MinValues: &minus},
			`scheduling: requirement "k Exists" has minValues -1; give at least 1, or leave it out`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := ParseRequirement(tc.r)
			if err == nil || err.Error() != tc.want {
				t.Errorf("%s:\ngot  %v\nwant %s", tc.reason, err, tc.want)
			}
			if !s.Empty() {
				t.Errorf("a set came with the error: %s", s)
			}
		})
	}
}

// TestValueSetIsImmutable: no result shares memory that a caller can write to.
func TestValueSetIsImmutable(t *testing.T) {
	in := []string{"c", "a", "b"}
	s := Values(in...)
	in[0] = "zzz"
	values, _ := s.Finite()
	values[0] = "zzz"
	s.Requirements("k")[0].Values[0] = "zzz"
	not := parsed(t, "NotIn a b c")
	not.Requirements("k")[0].Values[0] = "zzz"
	both := not.Intersect(parsed(t, "Exists"))
	both.Intersect(parsed(t, "Gt 3"))
	if s.String() != "[a b c]" || not.String() != "anything but [a b c]" || both.String() != "any value but [a b c]" {
		t.Errorf("a set changed: %s, %s, %s", s, not, both)
	}
}

// TestAnyWithManyExclusions: the work grows with the list, not with its square; checking each integer against
// each exclusion would take minutes.
func TestAnyWithManyExclusions(t *testing.T) {
	const n = 200_000
	all := make([]string, n)
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	s := parsed(t, "Gte 0", fmt.Sprintf("Lt %d", n)).Intersect(parsed(t, "NotIn "+strings.Join(all, " ")))
	if !s.Empty() {
		t.Error("every integer is excluded, yet the set is not empty")
	}
	wider := parsed(t, "NotIn "+strings.Join(all, " "))
	if v, ok := wider.Any(); !ok || v != strconv.Itoa(n) {
		t.Errorf("got %q, %v", v, ok)
	}
}

func TestValueSetEqual(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		a, b         []string
		want         bool
	}{
		{"window spelled twice", "Gt 3 and Gte 4 are the same integers", []string{"Gt 3"}, []string{"Gte 4"}, true},
		{"idle exclusion", "the window excludes it anyway", []string{"Gt 3", "NotIn 2 x"}, []string{"Gt 3"}, true},
		{"impossible twice", "nothing is nothing, however it came about", []string{"In a", "In b"}, []string{"Gt 5", "Lt 3"}, true},
		{"excluded end", "4 is excluded, 04 is not", []string{"Gte 4", "NotIn 4"}, []string{"Gte 5"}, false},
		{"minValues", "it is part of the condition", []string{"In a min=1"}, []string{"In a"}, false},
		{"must exist", "Exists is not nothing", []string{"Exists", "NotIn a"}, []string{"NotIn a"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := parsed(t, tc.a...).Equal(parsed(t, tc.b...)); got != tc.want {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}
}

func TestRequirementJSON(t *testing.T) {
	two := 2
	for _, tc := range []struct {
		name string
		r    Requirement
		want string
	}{
		{"list", Requirement{Key: "zone", Operator: "In", Values: []string{"a", "b"}}, `{"key":"zone","operator":"In","values":["a","b"]}`},
		{"no values", Requirement{Key: "zone", Operator: "Exists"}, `{"key":"zone","operator":"Exists"}`},
		{"minValues", Requirement{Key: "zone", Operator: "Gte", Values: []string{"4"}, MinValues: &two},
			`{"key":"zone","operator":"Gte","values":["4"],"minValues":2}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := json.Marshal(tc.r)
			if err != nil || string(got) != tc.want {
				t.Fatalf("got %s, %v, want the form of a NodePool manifest %s", got, err, tc.want)
			}
			var back Requirement
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatal(err)
			}
			a, _ := ParseRequirement(tc.r)
			b, err := ParseRequirement(back)
			if err != nil || !a.Equal(b) || back.Key != tc.r.Key {
				t.Errorf("%v came back as %v (%v)", tc.r, back, err)
			}
		})
	}
}

// TestZeroValueSet: the zero value is the empty set, in every answer.
func TestZeroValueSet(t *testing.T) {
	var s ValueSet
	if !s.Empty() || s.HasAbsent() || s.Has("") || s.String() != "nothing" || !s.Intersect(AnyValue()).Equal(s) {
		t.Errorf("the zero value is %s", s)
	}
	if v, finite := s.Finite(); len(v) != 0 || !finite {
		t.Errorf("Finite: %v, %v", v, finite)
	}
	if _, finite := parsed(t, "Gte 1", "Lte 2").Finite(); finite {
		t.Error("a window has many spellings of its integers, so it is not finite")
	}
	if n := parsed(t, "Gte 1").high(); n != math.MaxInt64 {
		t.Errorf("high: %d", n)
	}
}
