// Package golden keeps expected outputs in text files that a person can read: named sections in one
// file, each opened by a line `-- name --`, below free prose. Run a test with -update to write what it
// got instead of comparing, then read the diff.
//
// For tests only: importing it registers the flag.
package golden

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files instead of comparing with them")

// Update reports whether the test run rewrites golden files.
func Update() bool { return *update }

// File is one golden file in use by a test. Not safe for concurrent use.
type File struct {
	path     string
	prose    string
	names    []string // in the order of the file
	sections map[string]string
	used     map[string]bool
}

// Open reads a file of sections. When the test ends, sections that it did not ask for fail it; with
// -update they are dropped and the file is written.
func Open(t testing.TB, path string) *File {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !(Update() && os.IsNotExist(err)) {
		t.Fatalf("golden: %v; run with -update to write it", err)
	}
	f := Parse(string(b))
	f.path, f.used = path, map[string]bool{}
	t.Cleanup(func() { f.close(t) })
	return f
}

// Parse splits a file into prose and sections.
func Parse(s string) *File {
	f, name := &File{sections: map[string]string{}}, ""
	for line := range strings.Lines(s) {
		trimmed := strings.TrimRight(line, "\r\n")
		inner, open := strings.CutPrefix(trimmed, "-- ")
		inner, shut := strings.CutSuffix(inner, " --")
		switch {
		case open && shut:
			name = inner
			f.names = append(f.names, name)
			f.sections[name] = ""
		case len(f.names) == 0:
			f.prose += line
		default:
			f.sections[name] += line
		}
	}
	return f
}

// Format is the inverse of Parse.
func (f *File) Format() string {
	var b strings.Builder
	b.WriteString(f.prose)
	for _, name := range f.names {
		b.WriteString("-- " + name + " --\n" + f.sections[name])
	}
	return b.String()
}

// Section returns what the file has under name, for inputs that live beside their outputs.
func (f *File) Section(name string) string {
	f.used[name] = true
	return f.sections[name]
}

// Check compares got with the section of that name. A newline is added to got where it lacks one.
func (f *File) Check(t testing.TB, name, got string) {
	t.Helper()
	if got != "" && !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	want, known := f.sections[name]
	f.used[name] = true
	switch {
	case Update():
		if !known {
			f.names = append(f.names, name)
		}
		f.sections[name] = got
	case !known:
		t.Errorf("golden: %s has no section %q; run with -update to write it. Got:\n%s", f.path, name, got)
	default:
		compare(t, f.path+", section "+name, want, got)
	}
}

func (f *File) close(t testing.TB) {
	unused := slices.DeleteFunc(slices.Sorted(maps.Keys(f.sections)), func(n string) bool { return f.used[n] })
	if !Update() {
		if len(unused) > 0 && !t.Failed() && !filtered() {
			t.Errorf("golden: %s has sections that no test asks for: %q; run with -update to drop them", f.path, unused)
		}
		return
	}
	if !filtered() {
		f.names = slices.DeleteFunc(f.names, func(n string) bool { return !f.used[n] })
	}
	write(t, f.path, f.Format())
}

// filtered reports whether -run may have left out a subtest that uses a section.
func filtered() bool {
	sel := flag.Lookup("test.run")
	return sel != nil && sel.Value.String() != ""
}

// Check compares got with the whole of a file.
func Check(t testing.TB, path, got string) {
	t.Helper()
	if Update() {
		write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("golden: %v; run with -update to write it. Got:\n%s", err, got)
	}
	compare(t, path, string(want), got)
}

// compare shows the first line that differs, which is where reading starts, and then all of got.
func compare(t testing.TB, where, want, got string) {
	t.Helper()
	if want == got {
		return
	}
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < len(w) && i < len(g) && w[i] == g[i] {
		i++
	}
	line := func(s []string) string {
		if i < len(s) {
			return s[i]
		}
		return "(nothing)"
	}
	t.Errorf("golden: %s differs at its line %d; run with -update if that is right.\nwant: %s\n got: %s\nall of it:\n%s",
		where, i+1, line(w), line(g), got)
}

func write(t testing.TB, path, s string) {
	t.Helper()
	if old, err := os.ReadFile(path); err == nil && string(old) == s {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(s), 0o644); err != nil {
		t.Fatal(err)
	}
}
