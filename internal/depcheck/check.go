package depcheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Check returns every breach of the import rules, sorted: who imports what, and the reason against it.
func Check(pkgs map[string]Package) ([]string, error) {
	var bad []string
	for _, path := range slices.Sorted(maps.Keys(pkgs)) {
		p := pkgs[path]
		if !p.Ours() || len(p.GoFiles) == 0 {
			continue
		}
		bad = append(bad, checkReached(pkgs, p)...)
		r, ok := ruleFor(p.Rel())
		if !ok {
			if p.Public() {
				bad = append(bad, fmt.Sprintf("%s: has no row in internal/depcheck/rules.go; add one with its reason", p.Rel()))
			}
			continue
		}
		bad = append(bad, checkDirect(pkgs, p, r)...)
		if r.pure && p.Name != "main" {
			impure, err := checkPure(p)
			if err != nil {
				return nil, err
			}
			bad = append(bad, impure...)
		}
	}
	return bad, nil
}

// ruleFor returns the row with the longest path that covers pkg.
func ruleFor(pkg string) (best rule, ok bool) {
	for _, r := range rules {
		if below(pkg, r.pkg) && len(r.pkg) > len(best.pkg) {
			best, ok = r, true
		}
	}
	return best, ok
}

func below(path, top string) bool { return path == top || strings.HasPrefix(path, top+"/") }

func anyBelow(path string, tops []string) bool {
	return slices.ContainsFunc(tops, func(top string) bool { return below(path, top) })
}

func checkDirect(pkgs map[string]Package, p Package, r rule) (bad []string) {
	breach := func(format string, args ...any) {
		bad = append(bad, p.Rel()+": "+fmt.Sprintf(format, args...)+"; "+r.reason)
	}
	for _, imp := range p.Imports {
		switch q := pkgs[imp]; {
		case q.Standard || imp == "C" || imp == "unsafe":
		case !ours(imp):
			// Generators and other commands may use what the row's packages may, and no more.
			if !anyBelow(imp, r.external) {
				breach("imports %s, which its row does not allow", imp)
			}
		case strings.Contains(imp+"/", "/internal/") && !below(rel(imp), r.pkg):
			if _, shared := sharedInternals[rel(imp)]; !shared && !slices.Contains(r.ours, rel(imp)) && p.Name != "main" {
				breach("imports %s, which is for tests and developers' commands", rel(imp))
			}
		case p.Name == "main":
		default:
			// The row of the imported package names it: scheduling does not stand for scheduling/snapshot.
			if to, ok := ruleFor(rel(imp)); !ok || to.pkg != r.pkg && !slices.Contains(r.ours, to.pkg) {
				breach("imports %s, an arrow that does not exist", rel(imp))
			}
		}
	}
	return bad
}

func checkReached(pkgs map[string]Package, p Package) (bad []string) {
	for _, dep := range External(pkgs, p) {
		for _, top := range slices.Sorted(maps.Keys(neverReached)) {
			if below(dep, top) || strings.HasPrefix(dep, top+"-") {
				bad = append(bad, fmt.Sprintf("%s: reaches %s%s; %s", p.Rel(), dep, via(pkgs, p, dep), neverReached[top]))
			}
		}
		for _, top := range slices.Sorted(maps.Keys(onlyReachedBy)) {
			if below(dep, top) && !anyBelow(p.Rel(), onlyReachedBy[top]) && !below(p.Rel(), "examples") {
				bad = append(bad, fmt.Sprintf("%s: reaches %s%s; only %s may", p.Rel(), dep, via(pkgs, p, dep),
					strings.Join(onlyReachedBy[top], " and ")))
			}
		}
	}
	return bad
}

// via names the direct import through which p reaches dep.
func via(pkgs map[string]Package, p Package, dep string) string {
	for _, imp := range p.Imports {
		if imp == dep {
			return ""
		}
		if slices.Contains(pkgs[imp].Deps, dep) {
			return " through " + imp
		}
	}
	return ""
}

// checkPure looks into the package's own files: what its dependencies import is their affair.
func checkPure(p Package) (bad []string, err error) {
	for _, name := range p.GoFiles {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		where := func(n ast.Node) string {
			return fmt.Sprintf("%s/%s:%d", p.Rel(), name, fset.Position(n.Pos()).Line)
		}
		timeName := ""
		for _, imp := range file.Imports {
			path := strings.Trim(imp.Path.Value, `"`)
			if path == "time" {
				timeName = "time"
				if imp.Name != nil {
					timeName = imp.Name.Name
				}
			}
			for _, top := range slices.Sorted(maps.Keys(impureImports)) {
				if below(path, top) && !pureBelow[path] {
					bad = append(bad, fmt.Sprintf("%s: imports %s; %s", where(imp), path, impureImports[top]))
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && timeName != "" && x.Name == timeName && impureTime[sel.Sel.Name] {
				bad = append(bad, fmt.Sprintf("%s: uses time.%s; pure packages read no clock: the time is an argument",
					where(sel), sel.Sel.Name))
			}
			return true
		})
	}
	return bad, nil
}
