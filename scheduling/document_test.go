package scheduling

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/golden"
)

func mustJSON(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

func TestDocumentGolden(t *testing.T) {
	golden.Check(t, "testdata/document/plan.json", string(mustJSON(t, demoPlan(planProblem()))))
}

func TestDocumentIsTheSameInAnyOrder(t *testing.T) {
	want := mustJSON(t, demoPlan(planProblem()))
	for seed := range uint64(20) {
		if got := mustJSON(t, demoPlan(shuffled(planProblem(), seed))); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: document differs:\n%s", seed, got)
		}
	}
}

func TestDocumentRoundTrip(t *testing.T) {
	p := planProblem()
	want := mustJSON(t, demoPlan(p))
	d, err := ReadDocument(bytes.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	if got := mustJSON(t, d); !bytes.Equal(got, want) {
		t.Fatalf("read and written again:\n%s\nwant\n%s", got, want)
	}
	for seed := range uint64(5) {
		plan, err := d.Plan(shuffled(p, seed))
		if err != nil {
			t.Fatal(err)
		}
		if got := mustJSON(t, plan); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: bound to the problem and written again:\n%s\nwant\n%s", seed, got, want)
		}
		if len(plan.Shapes) != 2 || len(plan.Reasons) != 3 {
			t.Errorf("%d shapes and %d reasons, want 2 and 3: equal ones are shared", len(plan.Shapes), len(plan.Reasons))
		}
	}
}

func TestDocumentBindErrors(t *testing.T) {
	fresh := func() *Document { return demoPlan(planProblem()).Document() }
	tests := []struct {
		name, reason string
		change       func(d *Document, p *Problem)
		want         []string
	}{
		{"other problem", "indexes of another problem would be nonsense",
			func(_ *Document, p *Problem) { p.Pods[0].Name = "web-9" },
			[]string{"problemDigest: the plan was made for fw", `launches[0]: the problem has no pod "shop/web-1"`}},
		{"pool gone", "a launch needs its pool",
			func(d *Document, _ *Problem) { d.Launches[2].Pool = "gone" }, []string{`launches[2]: the problem has no pool "gone"`}},
		{"type gone", "the pool is there, the type is not",
			func(d *Document, _ *Problem) { d.Launches[0].InstanceType = "x1.mega" },
			[]string{`launches[0]: pool "default" has no instance type "x1.mega"`}},
		{"zone gone", "the type is there, the zone is not",
			func(d *Document, _ *Problem) { d.Launches[0].Zone = "mars" },
			[]string{`instance type "m7i.xlarge" has no "spot" offering in zone "mars"`}},
		{"node gone", "a placement needs its node",
			func(d *Document, _ *Problem) { d.Placements[0].Node = "x" }, []string{`placements[0]: the problem has no node "x"`}},
		{"DaemonSet gone", "requests would not add up",
			func(d *Document, _ *Problem) { d.Launches[0].DaemonSets = []string{"a/b"} }, []string{`no DaemonSet "a/b"`}},
		{"many", "all faults at once, the list bounded",
			func(_ *Document, p *Problem) { p.Pods = nil }, []string{"fault(s)", "and 9 more"}},
		{"no schema", "could be anything", func(d *Document, _ *Problem) { d.Schema = "" }, []string{`no "schema"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, p := fresh(), planProblem()
			tt.change(d, p)
			_, err := d.Plan(p)
			if err == nil {
				t.Fatalf("no error although %s", tt.reason)
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q lacks %q (%s)", err, w, tt.reason)
				}
			}
		})
	}
	if _, err := fresh().Plan(nil); err == nil {
		t.Error("bound to no problem at all")
	}
}

func TestReadDocumentErrors(t *testing.T) {
	tests := []struct{ name, reason, in, want string }{
		{"other version", "a later version may mean something else by a name", `{"schema":"fleetwright.dev/plan/v9"}`,
			`schema is "fleetwright.dev/plan/v9", this version reads "fleetwright.dev/plan/v1"`},
		{"problem", "the two are easily mixed up", `{"schema":"fleetwright.dev/problem/v1"}`, `schema is "fleetwright.dev/problem/v1"`},
		{"no schema", "it may be any JSON", `{}`, `no "schema"`},
		{"not JSON", "say where", "{\n\"schema\" oops", "line 2"},
		{"empty", "say what", "", "not JSON"},
		{"wrong type", "say which field", `{"schema":"fleetwright.dev/plan/v1","launches":[{"pool":3}]}`, "launches"},
		{"policy", "closed set", `{"schema":"fleetwright.dev/plan/v1","options":{"limits":"Never"}}`, "Never"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadDocument(strings.NewReader(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that says %q (%s)", err, tt.want, tt.reason)
			}
		})
	}
	_, err := ReadDocument(strings.NewReader(`{"schema":"other"}`))
	var schema *SchemaError
	if !errors.As(err, &schema) || schema.Schema != "other" || schema.Want != PlanSchema {
		t.Errorf("error %#v, want a *SchemaError callers can act on", err)
	}
	if _, err := ReadDocument(strings.NewReader(`{"schema":"` + PlanSchema + `","later":1}`)); err != nil {
		t.Errorf("a field of a later version is passed over, got %v", err)
	}
}

// A program can build a plan no solver would; writing it down must not panic.
func TestDocumentOfNonsense(t *testing.T) {
	p := &Plan{
		Shapes:   []Shape{{Pool: 3, Choice: Alternative{9, 9}, Alternatives: []Alternative{{-1, -1}}, DaemonSets: []int32{5}}},
		Launches: []Launch{{Shape: 0, Pods: []int32{7}}, {Shape: 4}, {Shape: -1}},
		Unplaced: []Unplaced{{Pod: -1, Reason: 8}}, Placements: []Placement{{Pod: 1, Node: 2}}, BindOrder: []int32{99},
	}
	d := p.Document()
	if len(d.Launches) != 3 || d.Placements[0].Node != "nodes[2]" {
		t.Errorf("document %+v", d)
	}
	d.Text(TextOptions{})
	mustJSON(t, d)
}

func FuzzReadDocument(f *testing.F) {
	f.Add(mustJSON(f, demoPlan(planProblem())))
	f.Add([]byte(`{"schema":"` + PlanSchema + `","totals":{"pricePerHour":1e3,"nodes":-1}}`))
	f.Add([]byte(`{"schema":"` + PlanSchema + `","launches":[{"pricePerHour":-0,"requests":{"cpu":"1e-9"},"pods":[""]}]}`))
	problem := planProblem()
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ReadDocument(bytes.NewReader(data))
		if err != nil {
			return
		}
		once, err := json.Marshal(d)
		if err != nil {
			t.Fatalf("read, but not written: %v", err)
		}
		again, err := ReadDocument(bytes.NewReader(once))
		if err != nil {
			t.Fatalf("written, but not read: %v\n%s", err, once)
		}
		if twice, _ := json.Marshal(again); !bytes.Equal(once, twice) {
			t.Fatalf("round trip differs:\n%s\n%s", once, twice)
		}
		if len(d.Text(TextOptions{})) > 11_000 {
			t.Errorf("text has %d bytes", len(d.Text(TextOptions{})))
		}
		_ = Diff(d, problemDocument).String()
		_, _ = d.Plan(problem)
	})
}

var problemDocument = demoPlan(planProblem()).Document()
