package manifest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fleetwright/fleetwright/internal/golden"
	"github.com/fleetwright/fleetwright/scheduling"
	"github.com/fleetwright/fleetwright/scheduling/snapshot"
)

func documents(t testing.TB, file string) []snapshot.Document {
	t.Helper()
	var l snapshot.Loader
	if err := l.ReadFS(os.DirFS("testdata"), file); err != nil {
		t.Fatal(err)
	}
	r := l.Result()
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return r.Rest
}

func fromText(t testing.TB, text string) *Result {
	t.Helper()
	var l snapshot.Loader
	if err := l.Read("in.yaml", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return Read(l.Result().Rest)
}

// render prints a result so that a person can judge it.
func render(t testing.TB, r *Result) string {
	var b strings.Builder
	for _, p := range r.Pools {
		text, err := json.MarshalIndent(p, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	for _, o := range r.Overlays {
		text, err := json.MarshalIndent(o, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "overlay %s\n", text)
	}
	for _, d := range r.Rest {
		fmt.Fprintf(&b, "left over: %s %s\n", d.APIVersion, d.Object())
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s: %s\n", f.Severity, f)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for _, name := range []string{"pools", "overlays", "bad"} {
		t.Run(name, func(t *testing.T) {
			golden.Check(t, "testdata/"+name+".txt", render(t, Read(documents(t, name+".yaml"))))
		})
	}
}

// TestOrderDoesNotMatter shuffles documents: the same pools come out.
func TestOrderDoesNotMatter(t *testing.T) {
	docs := slices.Concat(documents(t, "pools.yaml"), documents(t, "overlays.yaml"), documents(t, "bad.yaml"))
	want := Read(docs)
	if len(want.Pools) != 4 || len(want.Overlays) != 4 {
		t.Fatalf("%d pools, want everything, arm, same and dumped; %d overlays, want everything, discount, dumped and empty", len(want.Pools), len(want.Overlays))
	}
	const seed = 7
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 50 {
		r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		got := Read(docs)
		if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(snapshot.Document{}, Overlay{})); d != "" {
			t.Fatalf("the order of documents changed the result:\n%s", d)
		}
	}
}

func TestAddTo(t *testing.T) {
	m := Read(documents(t, "pools.yaml"))
	p := scheduling.Problem{Pools: []scheduling.Pool{{Name: "own"}}, Nodes: []scheduling.Node{
		{Name: "starting", Pool: "everything", Uninitialized: true}, {Name: "ready", Pool: "everything"}, {Name: "other", Uninitialized: true}}}
	m.AddTo(&p)
	if len(p.Pools) != 3 || p.Pools[0].Name != "own" || p.Pools[1].Name != "arm" || p.Pools[2].Name != "everything" {
		t.Errorf("pools %v", p.Pools)
	}
	for i, want := range []int{1, 0, 0} {
		if n := p.Nodes[i]; len(n.StartupTaints) != want {
			t.Errorf("node %s has startup taints %v, want %d: only a node that is starting has any", n.Name, n.StartupTaints, want)
		}
	}
}

// TestRequirements accepts what the CRD accepts; testdata/bad.yaml has the rest.
func TestRequirements(t *testing.T) {
	for _, tt := range []struct{ name, reason, requirements string }{
		{"none", "an empty list is allowed", ""},
		{"zero", "the numbers begin at 0", "{key: a, operator: Gte, values: ['0']}"},
		{"touching bounds", "one value is left", "{key: a, operator: Gt, values: ['3']}, {key: a, operator: Lt, values: ['5']}"},
		{"capacity types", "all three", "{key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand, reserved]}"},
		{"not in", "the value need not be a known one", "{key: karpenter.sh/capacity-type, operator: NotIn, values: [other]}"},
		{"kubernetes domains", "only karpenter.sh is closed", "{key: node-role.kubernetes.io/x, operator: Exists}, {key: kubernetes.io/os, operator: In, values: [linux]}"},
		{"provider's domain", "karpenter.k8s.aws is not below karpenter.sh", "{key: karpenter.k8s.aws/instance-cpu, operator: Exists}"},
		{"lookalike", "notkarpenter.sh is somebody else's", "{key: notkarpenter.sh/a, operator: Exists}"},
		{"absent twice", "NotIn and DoesNotExist agree on absence", "{key: a, operator: NotIn, values: [b]}, {key: a, operator: DoesNotExist}"},
		{"minValues without values", "any number of types may have it", "{key: a, operator: Exists, minValues: 50}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := fromText(t, "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {template: {spec: {nodeClassRef: {group: g, kind: K, name: x}, requirements: ["+tt.requirements+"]}}}\n")
			if len(r.Pools) != 1 || len(r.Findings) > 0 {
				t.Errorf("%d pools, findings:\n%s%s", len(r.Pools), render(t, r), tt.reason)
			}
		})
	}
}

// FuzzRead holds for any text: no panic, and a pool with an error is left out.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"pools", "overlays", "bad"} {
		b, err := os.ReadFile("testdata/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		for _, doc := range strings.Split(string(b), "---\n") {
			f.Add(doc)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		r := fromText(t, text)
		if again := fromText(t, text); render(t, r) != render(t, again) {
			t.Fatalf("two readings differ:\n%s\n%s", render(t, r), render(t, again))
		}
		bad := map[string]bool{}
		for _, f := range r.Findings {
			if f.Severity == snapshot.Error {
				bad[f.Object] = true
			}
		}
		for _, p := range r.Pools {
			if bad["NodePool "+p.Name] && !strings.Contains(text, "---") && !strings.Contains(text, "List") {
				t.Fatalf("pool %q has an error and was not left out:\n%s", p.Name, render(t, r))
			}
		}
	})
}
