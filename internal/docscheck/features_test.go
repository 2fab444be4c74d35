package docscheck

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFeaturesNameTheirEvidence: a row that shows a scenario or a test which is gone promises something nobody checks.
func TestFeaturesNameTheirEvidence(t *testing.T) {
	dir := filepath.Join(root(t), "scheduling")
	text, err := os.ReadFile(filepath.Join(dir, "FEATURES.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	for _, f := range goFiles(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test() && fn.Recv == nil {
				tests[path.Dir(f.path)+"."+fn.Name.Name] = true
			}
		}
	}
	named := 0
	for _, m := range regexp.MustCompile("`([A-Za-z0-9./-]*[A-Za-z0-9])`").FindAllStringSubmatch(string(text), -1) {
		name := m[1]
		switch {
		case strings.Contains(name, ".Test"):
			named++
			if !tests[name] {
				t.Errorf("scheduling/FEATURES.md names %s, and there is no such test", name)
			}
		case strings.HasPrefix(name, "Test"):
			named++
			if !tests["scheduling."+name] && !tests["internal/spelling."+name] {
				t.Errorf("scheduling/FEATURES.md names %s, and there is no such test in scheduling", name)
			}
		case strings.Contains(name, "-") && !strings.ContainsAny(name, "./"):
			named++
			if _, err := os.Stat(filepath.Join(dir, "testdata", "solve", name+".txt")); err != nil {
				t.Errorf("scheduling/FEATURES.md names %s, and there is no such scenario", name)
			}
		}
	}
	if named < 100 {
		t.Errorf("only %d names of scenarios and tests found in scheduling/FEATURES.md", named)
	}
}
