package instancetype

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/extdata"
)

func TestExpected(t *testing.T) {
	dir, ok := extdata.Dir("ec2")
	if !ok {
		t.Skip("no data")
	}
	var facts struct{ Types []Facts }
	read(t, filepath.Join(dir, "instance-types.json"), &facts)
	var want struct {
		Types map[string]struct {
			Labels                map[string]string
			Capacity, Allocatable corev1.ResourceList
		}
	}
	read(t, filepath.Join(dir, "expected-resources.json"), &want)
	for _, f := range facts.Types {
		w, ok := want.Types[f.Name]
		if !ok {
			continue
		}
		it, err := Build(f, Settings{})
		if err != nil {
			t.Error(err)
			continue
		}
		r, _ := Compute(f, Settings{})
		got := map[string]string{}
		for _, q := range it.Requirements {
			if len(q.Values) > 0 {
				got[q.Key] = q.Values[0]
			}
		}
		for k, v := range w.Labels {
			if g, ok := got[k]; g != v || !ok {
				t.Logf("%s label %s got %q want %q", f.Name, k, g, v)
			}
		}
		for k, v := range got {
			if _, ok := w.Labels[k]; !ok {
				t.Logf("%s label %s got %q want none", f.Name, k, v)
			}
		}
		cmp := func(what string, g, w corev1.ResourceList) {
			for k, v := range g {
				if x, ok := w[k]; !ok || x.Cmp(v) != 0 {
					t.Logf("%s %s %s got %s want %s", f.Name, what, k, v.String(), x.String())
				}
			}
			for k, x := range w {
				if _, ok := g[k]; !ok {
					t.Logf("%s %s %s got none want %s", f.Name, what, k, x.String())
				}
			}
		}
		cmp("capacity", it.Capacity, w.Capacity)
		cmp("allocatable", r.Allocatable(), w.Allocatable)
	}
}

func read(t *testing.T, p string, into any) {
	b, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}
