package scheduling

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/golden"
)

func TestProblemGolden(t *testing.T) {
	p := planProblem()
	p.Pods = p.Pods[:2]
	golden.Check(t, "testdata/document/problem.json", string(mustJSON(t, p)))
}

func TestProblemRoundTrip(t *testing.T) {
	for name, p := range map[string]*Problem{"demo": planProblem(), "full": fullProblem(), "empty": {}} {
		want := mustJSON(t, p)
		for seed := range uint64(10) {
			if got := mustJSON(t, shuffled(p, seed)); !bytes.Equal(got, want) {
				t.Fatalf("%s, seed %d: another order gives other bytes:\n%s\nwant\n%s", name, seed, got, want)
			}
		}
		q, err := ReadProblem(bytes.NewReader(want))
		if err != nil {
			t.Fatal(err)
		}
		if got := mustJSON(t, q); !bytes.Equal(got, want) {
			t.Errorf("%s: round trip gives\n%s\nwant\n%s", name, got, want)
		}
		if problemDigest(p) != problemDigest(q) {
			t.Errorf("%s: the digest changes in a round trip", name)
		}
	}
}

func TestProblemWritesSharedTypesOnce(t *testing.T) {
	p := planProblem()
	alike := *p.Pools[1].InstanceTypes[1]
	p.Pools[1].InstanceTypes[1] = &alike // Same content, other pointer.
	var q Problem
	if err := json.Unmarshal(mustJSON(t, p), &q); err != nil {
		t.Fatal(err)
	}
	byPool := map[string]map[string]*InstanceType{}
	for _, pool := range q.Pools {
		byPool[pool.Name] = map[string]*InstanceType{}
		for _, it := range pool.InstanceTypes {
			byPool[pool.Name][it.Name] = it
		}
	}
	if a, b := byPool["default"]["m7i.2xlarge"], byPool["gpu"]["m7i.2xlarge"]; a == nil || a != b {
		t.Errorf("the pools' m7i.2xlarge are %p and %p, want one", a, b)
	}
}

func TestProblemKeepsNilAndEmptyApart(t *testing.T) {
	p := &Problem{Labels: LabelRules{Aliases: map[string]string{}, WellKnown: []string{}}}
	q, err := ReadProblem(bytes.NewReader(mustJSON(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	if q.Labels.Aliases == nil || q.Labels.WellKnown == nil {
		t.Errorf("%+v: empty label rules mean none, nil means the default", q.Labels)
	}
}

func TestReadProblemErrors(t *testing.T) {
	head := `{"schema":"` + ProblemSchema + `",`
	tests := []struct {
		name, reason, in string
		want             []string
	}{
		{"other version", "it may mean something else", `{"schema":"fleetwright.dev/problem/v2"}`, []string{`schema is "fleetwright.dev/problem/v2"`}},
		{"a plan", "easily mixed up", `{"schema":"fleetwright.dev/plan/v1"}`, []string{"scheduling: problem: schema is"}},
		{"no schema", "may be any JSON", `{"pods":[]}`, []string{`no "schema"`}},
		{"unknown fields", "a constraint passed over gives a wrong plan; all at once",
			head + `"pods":[{"spec":{"nodeSelektor":{}}}],"pools":[{"name":"a","wieght":1}]}`,
			[]string{"2 fault(s)", "pools[0].wieght: unknown field", "pods[0].spec.nodeSelektor: unknown field"}},
		{"other case", "names are case-sensitive, as in Kubernetes", head + `"Pods":[]}`, []string{"Pods: unknown field"}},
		{"twice", "which of them is meant", head + `"pods":[],"pods":[]}`, []string{"pods: duplicate field"}},
		{"no such type", "index beyond the table", head + `"pools":[{"name":"a","instanceTypes":[0]}]}`,
			[]string{`pools["a"].instanceTypes: refers to instance type 0 of 0`, "counted from 0"}},
		{"quantity", "say what is wrong", head + `"pools":[{"name":"a","limits":{"cpu":"1O"}}]}`, []string{"scheduling: problem: "}},
		{"price", "negative amounts are no prices", head + `"instanceTypes":[{"name":"a","offerings":[{"price":-1}]}]}`, []string{`price "-1"`}},
		{"truncated", "say where", head + "\n\"pods\":[", []string{"line 2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadProblem(strings.NewReader(tt.in))
			if err == nil {
				t.Fatalf("no error (%s)", tt.reason)
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q lacks %q (%s)", err, w, tt.reason)
				}
			}
		})
	}
	var input *InputError
	if _, err := ReadProblem(strings.NewReader(head + `"x":1}`)); !errors.As(err, &input) {
		t.Errorf("error %v, want an *InputError", err)
	}
	if _, err := json.Marshal(Problem{Pools: []Pool{{Name: "a", InstanceTypes: []*InstanceType{nil}}}}); err == nil {
		t.Error("a nil type was written")
	}
}

func FuzzReadProblem(f *testing.F) {
	f.Add(mustJSON(f, planProblem()))
	f.Add(mustJSON(f, fullProblem()))
	f.Add([]byte(`{"schema":"` + ProblemSchema + `","pods":[null,{}],"nodes":[{"pods":[null]}],"storage":{"claims":[null,null]},` +
		`"instanceTypes":[{},{}],"pools":[{"instanceTypes":[1,0,0]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ReadProblem(bytes.NewReader(data))
		if err != nil {
			return
		}
		once, err := json.Marshal(p)
		if err != nil {
			t.Skip(err) // Times beyond the year 9999 can be read, but not written.
		}
		q, err := ReadProblem(bytes.NewReader(once))
		if err != nil {
			t.Fatalf("written, but not read: %v\n%s", err, once)
		}
		if twice, _ := json.Marshal(q); !bytes.Equal(once, twice) {
			t.Fatalf("round trip differs:\n%s\n%s", once, twice)
		}
		if problemDigest(p) != problemDigest(q) {
			t.Fatal("digest differs after a round trip")
		}
	})
}

// BenchmarkProblemJSON tells what saving and loading 10,000 pods costs.
func BenchmarkProblemJSON(b *testing.B) {
	p := &Problem{Pods: plainPods(10_000)}
	var data []byte
	b.Run("write", func(b *testing.B) {
		for range b.N {
			data, _ = json.Marshal(p)
		}
	})
	b.Run("read", func(b *testing.B) {
		for range b.N {
			if err := json.Unmarshal(data, new(Problem)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestReadProblemRefusesAbsurdExponents(t *testing.T) {
	for _, q := range []string{"1e-99999999", "0e99999999", "-1.5E+10000"} {
		text := `{"schema":"` + ProblemSchema + `","pods":[{"spec":{"containers":[{"name":"m","resources":{"requests":{"cpu":"` + q + `"}}}]}}]}`
		if _, err := ReadProblem(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), q) {
			t.Errorf("cpu %q: got %v, want an error that names it: parsing it would take minutes", q, err)
		}
	}
}

func TestProblemJSONKeepsCommitments(t *testing.T) {
	p := demoProblem()
	p.Catalog.Adjustments = []string{"agent: 0.03 USD an hour for each node of everything"}
	p.Commitments = []Commitment{{Name: "sp", PerHour: PriceFromNano(5)}, {Name: "ri", Instances: 2}}
	o := &p.Pools[0].InstanceTypes[0].Offerings[0]
	o.Commitment, o.Draw = "sp", PriceFromNano(3)
	for seed := range uint64(5) {
		q, err := ReadProblem(bytes.NewReader(mustJSON(t, shuffled(p, seed))))
		if err != nil {
			t.Fatal(err)
		}
		if problemDigest(q) != problemDigest(p) || q.Commitments[0].Name != "ri" || !q.Catalog.Equal(p.Catalog) {
			t.Errorf("seed %d: read back as %+v, %+v", seed, q.Commitments, q.Catalog)
		}
	}
}
