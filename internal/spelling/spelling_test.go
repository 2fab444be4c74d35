package spelling

import "testing"

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b, reason string
		want         int
	}{
		{"", "", "nothing to do", 0},
		{"zone", "zone", "equal words", 0},
		{"", "zone", "four to insert", 4},
		{"zone", "", "four to delete", 4},
		{"zone", "zome", "one to replace", 1},
		{"kitten", "sitting", "two to replace, one to insert", 3},
		{"ab", "ba", "an exchange is two edits", 2},
	} {
		if got := Distance(tc.a, tc.b); got != tc.want {
			t.Errorf("Distance(%q, %q) = %d, want %d: %s", tc.a, tc.b, got, tc.want, tc.reason)
		}
	}
}
