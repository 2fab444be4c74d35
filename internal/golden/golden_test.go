package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseAndFormatAreInverse(t *testing.T) {
	tests := []struct{ name, reason, in string }{
		{"empty", "a file that is to be written", ""},
		{"prose only", "a heading may come first", "What this shows.\n"},
		{"sections", "the usual case", "Prose.\n-- a --\none\ntwo\n-- b c --\nthree\n"},
		{"empty section", "an output may be empty", "-- a --\n-- b --\nx\n"},
		{"dashes in a section", "only a line with a name in between opens one", "-- a --\n--\n----\n"},
	}
	for _, tt := range tests {
		if got := Parse(tt.in).Format(); got != tt.in {
			t.Errorf("%s: got %q, want %q: %s", tt.name, got, tt.in, tt.reason)
		}
	}
}

// recorder takes the place of the test that uses a golden file.
type recorder struct {
	testing.TB
	failed bool
	log    string
	end    []func()
}

func (r *recorder) Helper()           {}
func (r *recorder) Failed() bool      { return r.failed }
func (r *recorder) Cleanup(fn func()) { r.end = append(r.end, fn) }
func (r *recorder) Errorf(format string, args ...any) {
	r.failed = true
	r.log += format
}

func TestCheckFailsWhereItShould(t *testing.T) {
	if Update() {
		t.Skip("compares nothing when it updates")
	}
	path := filepath.Join(t.TempDir(), "g.txt")
	if err := os.WriteFile(path, []byte("-- a --\none\n-- b --\ntwo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, reason string
		use          func(*recorder, *File)
		want         string
	}{
		{"equal", "both sections are as they were", func(r *recorder, f *File) {
			f.Check(r, "a", "one")
			f.Check(r, "b", "two\n")
		}, ""},
		{"different", "section b changed", func(r *recorder, f *File) {
			f.Check(r, "a", "one")
			f.Check(r, "b", "three")
		}, "differs"},
		{"new section", "what is not in the file cannot be right", func(r *recorder, f *File) {
			f.Check(r, "c", "x")
		}, "no section"},
		{"forgotten section", "an expectation that nobody checks is noise", func(r *recorder, f *File) {
			f.Check(r, "a", "one")
		}, "no test asks for"},
	}
	for _, tt := range tests {
		if tt.name == "forgotten section" && filtered() {
			continue
		}
		r := &recorder{TB: t}
		tt.use(r, Open(r, path))
		for _, end := range r.end {
			end()
		}
		if r.failed != (tt.want != "") || !strings.Contains(r.log, tt.want) {
			t.Errorf("%s: got %q, want a failure with %q: %s", tt.name, r.log, tt.want, tt.reason)
		}
	}
}
