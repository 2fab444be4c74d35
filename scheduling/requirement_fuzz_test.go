package scheduling

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// FuzzValueSet reads conditions such as "Gt 3;NotIn 4 x;Exists" and holds their algebra against the
// oracle of requirement_test.go at every point where the answer could change.
func FuzzValueSet(f *testing.F) {
	for _, seed := range []string{
		"Exists;NotIn a", "Gt 3;Lt 5;NotIn 4", "Gte -9223372036854775808", "Gt 9223372036854775807", "Lt -9223372036854775808",
		"In a b min=2;NotIn b", "DoesNotExist;NotIn a", `In "" x;Lte 07`, "Gt 1;Gt 2;NotIn 3 4 5", "In 04 4;Gt 3;NotIn 4", "In;Gt x;nonsense",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var reqs []Requirement
		var sets []ValueSet
		for c := range strings.SplitSeq(text, ";") {
			r := conditionOn("k", c)
			s, err := ParseRequirement(r)
			if err != nil {
				if !strings.Contains(err.Error(), "; ") {
					t.Errorf("an error without a remedy: %v", err)
				}
				continue
			}
			if len(reqs) < 6 {
				reqs, sets = append(reqs, r), append(sets, s)
			}
		}
		all := AnyValue()
		for _, s := range sets {
			all = all.Intersect(s)
		}
		back := AnyValue()
		for _, s := range slices.Backward(sets) {
			back = s.Intersect(back)
		}
		if !all.Equal(back) || !all.Intersect(all).Equal(all) {
			t.Errorf("%q: %s one way, %s the other, %s twice", text, all, back, all.Intersect(all))
		}
		members := 0
		for _, state := range turningPoints(reqs) {
			want := !slices.ContainsFunc(reqs, func(r Requirement) bool { return !admits(r, state) })
			if has(all, state) != want {
				t.Errorf("%q: state %q: got %v, want %v", text, state, !want, want)
			}
			if want && counts(state, reqs...) {
				members++
			}
		}
		if all.Empty() != (members == 0) {
			t.Errorf("%q: Empty is %v, but %d states are in %s", text, all.Empty(), members, all)
		}
		if v, ok := all.Any(); ok && !all.Has(v) {
			t.Errorf("%q: Any gives %q, which is not in %s", text, v, all)
		}
		if again, err := respell(all); err != nil || !again.Equal(all) {
			t.Errorf("%q: %s spelled %v reads as %s (%v)", text, all, all.Requirements("k"), again, err)
		}
	})
}

// turningPoints are the states at which membership can change: those named, the integers next to them,
// the ends of the integers, zero, and one of each kind that nobody names.
func turningPoints(reqs []Requirement) []string {
	out := append([]string{"a word nobody names"}, states...)
	for _, r := range reqs {
		for _, v := range r.Values {
			out = append(out, v, "0"+v)
			if n, err := strconv.ParseInt(v, 10, 64); err == nil {
				for _, m := range []int64{n - 1, n, n + 1} {
					out = append(out, strconv.FormatInt(m, 10))
				}
			}
		}
	}
	return out
}
