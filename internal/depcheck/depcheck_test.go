package depcheck

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// listed asks the go command once for all tests.
var listed = sync.OnceValues(func() (map[string]Package, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	// The go command runs outside this test, so reading the directories here is what tells the test
	// cache that a result is out of date.
	err = filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return List(root)
})

func packages(t *testing.T) map[string]Package {
	t.Helper()
	pkgs, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}

func TestImportsFollowTheRules(t *testing.T) {
	bad, err := Check(packages(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bad {
		t.Error(b)
	}
}

func TestLedgerIsCurrent(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile(filepath.Join(root, LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	if d := LedgerDiff(string(committed), Ledger(packages(t))); d != "" {
		t.Errorf("%s is stale; if these are wanted, run `go run ./internal/depcheck/ledger -w`:\n%s", LedgerFile, d)
	}
}

func TestSchedulingCostsNoMoreThanKubernetesTypes(t *testing.T) {
	pkgs := packages(t)
	var allowed []string
	for path, p := range pkgs {
		if below(path, api) || below(path, apimachinery) {
			allowed = append(allowed, path)
			allowed = append(allowed, p.Deps...)
		}
	}
	for _, dep := range External(pkgs, pkgs[Module+"/scheduling"]) {
		if !slices.Contains(allowed, dep) {
			t.Errorf("scheduling reaches %s, which neither k8s.io/api nor k8s.io/apimachinery brings", dep)
		}
	}
}

// The rules themselves are tested on made-up packages: a rule that cannot fail is not a rule.
func TestCheckFindsBreaches(t *testing.T) {
	pure := t.TempDir()
	write(t, pure, "clock.go", "package scheduling\n\nimport clock \"time\"\n\nvar now = clock.Now()\n")
	write(t, pure, "env.go", "package scheduling\n\nimport _ \"os/exec\"\nimport _ \"net/netip\"\n")
	tests := []struct {
		name, reason string
		pkg          Package
		want         string
	}{
		{"arrow between leaves", "three leaves never import each other",
			Package{ImportPath: Module + "/selectors", Imports: []string{Module + "/scheduling"}},
			"selectors: imports scheduling, an arrow that does not exist"},
		{"arrow to a package below an allowed one", "scheduling does not stand for scheduling/snapshot",
			Package{ImportPath: Module + "/provider", Imports: []string{Module + "/scheduling/snapshot"}},
			"provider: imports scheduling/snapshot, an arrow that does not exist"},
		{"allowed arrow", "the table has it",
			Package{ImportPath: Module + "/scheduling/snapshot", Imports: []string{Module + "/scheduling"}}, ""},
		{"own internal package", "a subtree may use itself",
			Package{ImportPath: Module + "/scheduling", Imports: []string{Module + "/scheduling/internal/pack"}}, ""},
		{"shared internal package", "it is a constant",
			Package{ImportPath: Module + "/scheduling", Imports: []string{Module + "/internal/invariants"}}, ""},
		{"test support in the library", "golden registers a flag",
			Package{ImportPath: Module + "/scheduling", Imports: []string{Module + "/internal/golden"}},
			"scheduling: imports internal/golden, which is for tests"},
		{"external package without permission", "selectors has none",
			Package{ImportPath: Module + "/selectors", Imports: []string{"k8s.io/api/core/v1"}},
			"selectors: imports k8s.io/api/core/v1, which its row does not allow"},
		{"path that only starts alike", "k8s.io/apiserver is not below k8s.io/api",
			Package{ImportPath: Module + "/scheduling", Imports: []string{"k8s.io/apiserver/pkg"}},
			"imports k8s.io/apiserver/pkg"},
		{"client reached through another", "the whole of a build counts, not direct imports only",
			Package{ImportPath: Module + "/internal/cmd/x", Name: "main", Deps: []string{"k8s.io/client-go/rest"}},
			"internal/cmd/x: reaches k8s.io/client-go/rest"},
		{"SDK outside the edge", "the seam must not cost a cloud's SDK",
			Package{ImportPath: Module + "/provider", Deps: []string{awsSDK + "/aws"}},
			"only provider/ec2 and fake/aws may"},
		{"public package without a row", "new packages say what they may import",
			Package{ImportPath: Module + "/newcomer"}, "newcomer: has no row"},
		{"clock under another name", "the import is renamed in the file",
			Package{ImportPath: Module + "/scheduling", Dir: pure, GoFiles: []string{"clock.go"}},
			"scheduling/clock.go:5: uses time.Now"},
		{"package below a forbidden one", "os/exec is worse than os, netip only computes",
			Package{ImportPath: Module + "/scheduling", Dir: pure, GoFiles: []string{"env.go"}},
			"scheduling/env.go:3: imports os/exec"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.pkg.GoFiles == nil {
				write(t, pure, "empty.go", "package p\n")
				tt.pkg.Dir, tt.pkg.GoFiles = pure, []string{"empty.go"}
			}
			if tt.pkg.Name == "" {
				tt.pkg.Name = "p"
			}
			pkgs := map[string]Package{
				tt.pkg.ImportPath: tt.pkg, "k8s.io/client-go/rest": {}, awsSDK + "/aws": {},
				"k8s.io/api/core/v1": {}, "k8s.io/apiserver/pkg": {},
			}
			bad, err := Check(pkgs)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tt.want == "" && len(bad) > 0:
				t.Errorf("got %q, want no breach: %s", bad, tt.reason)
			case tt.want != "" && (len(bad) != 1 || !strings.Contains(bad[0], tt.want)):
				t.Errorf("got %q, want one breach with %q: %s", bad, tt.want, tt.reason)
			}
		})
	}
}

func TestLedgerListsWhatAPackageOwesToNobody(t *testing.T) {
	pkg := func(path string, deps ...string) Package {
		return Package{ImportPath: path, Name: "p", GoFiles: []string{"p.go"}, Deps: deps}
	}
	pkgs := map[string]Package{"x": {}, "y": {}, "fmt": {Standard: true}}
	for _, p := range []Package{
		pkg(Module+"/scheduling", "x", "fmt"),
		pkg(Module+"/scheduling/snapshot", "x", "y", Module+"/scheduling"),
		pkg(Module+"/internal/golden", "y"),
	} {
		pkgs[p.ImportPath] = p
	}
	want := ledgerHead + "\nscheduling: 1, its own 1\n  x\n\nscheduling/snapshot: 2, its own 1\n  y\n"
	if got := Ledger(pkgs); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLedgerDiffNamesThePackage(t *testing.T) {
	old := "# head\n\na: 1\n  x/y\n\nb: 0\n"
	now := "# other head\n\na: 2\n  x/y\n  x/z\n\nb: 0\n"
	if got, want := LedgerDiff(old, now), "- a: 1\n+ a -> x/z\n+ a: 2\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := LedgerDiff(now, now); got != "" {
		t.Errorf("equal ledgers differ:\n%s", got)
	}
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
