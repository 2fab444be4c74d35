package snapshot

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// FuzzLoader holds for any text: no panic; the same findings and pods a second time; and lists say the same item
// by item as in one piece, unless something in them cannot be read.
func FuzzLoader(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml", "testdata/cluster/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal(pattern, err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
			for _, c := range split(b) {
				f.Add(c.text)
			}
		}
	}
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nkind: &c [*b,*b,*b,*b]\napiVersion: *c"))
	f.Add([]byte(`{"kind":"Pod","apiVersion":"v1","spec":{"containers":[{"resources":{"requests":{"cpu":1e30}}}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		read := func(cutAt int) *Result {
			l := Loader{cutAt: cutAt, maxPods: 1000}
			if err := l.Read("f", bytes.NewReader(text)); err != nil {
				t.Fatal(err)
			}
			return l.Result()
		}
		a, b, cut := read(0), read(0), read(1)
		if texts(a.Findings) != texts(b.Findings) || !reflect.DeepEqual(a.Problem, b.Problem) {
			t.Fatalf("two readings differ:\n%s\n%s", texts(a.Findings), texts(b.Findings))
		}
		if a.Err() == nil && cut.Err() == nil && names(a.Problem.Pods) != names(cut.Problem.Pods) {
			t.Fatalf("in one piece %q, item by item %q", names(a.Problem.Pods), names(cut.Problem.Pods))
		}
		for _, f := range a.Findings {
			if f.Problem == "" || (f.Severity != Error && f.Severity != Warning) || (f.File != "" && f.Line < 1) {
				t.Fatalf("finding without place or text: %#v", f)
			}
		}
		for _, d := range a.Rest {
			if j := d.JSON(); j != nil && !json.Valid(j) {
				t.Fatalf("%s is not JSON: %s", d.Object(), j)
			}
		}
	})
}
