package docscheck

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/depcheck"
)

// maxLines is where a file is split, whatever its reason for being long.
const maxLines = 600

func root(t *testing.T) string {
	t.Helper()
	dir, err := depcheck.Root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// file is one Go file of the repository, nested modules included.
type file struct {
	path string // relative to the root, with slashes
	src  []byte
	ast  *ast.File
	fset *token.FileSet
}

func (f file) test() bool { return strings.HasSuffix(f.path, "_test.go") }

func (f file) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.path, f.fset.Position(n.Pos()).Line)
}

// public reports whether the file belongs to a package that other modules would import.
func (f file) public() bool {
	return !strings.Contains("/"+f.path, "/internal/") && !strings.HasPrefix(f.path, "examples/") &&
		f.ast.Name.Name != "main"
}

func goFiles(t *testing.T) []file {
	t.Helper()
	var out []file
	top := root(t)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != top):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, path, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, path)
		out = append(out, file{filepath.ToSlash(rel), src, parsed, fset})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFilesStayReadable(t *testing.T) {
	for _, f := range goFiles(t) {
		if n := bytes.Count(f.src, []byte("\n")); n > maxLines && !ast.IsGenerated(f.ast) {
			t.Errorf("%s has %d lines, more than %d: split it by concern", f.path, n, maxLines)
		}
	}
}

func TestImportingDoesNothing(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: func init runs on import; compute the value where it is used", f.at(fn))
			}
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test() || !f.public() {
			continue
		}
		for _, d := range f.ast.Decls {
			for _, n := range undocumented(d) {
				t.Errorf("%s: %s has no comment", f.at(n), n.Name)
			}
		}
	}
}

// undocumented returns the exported names of a declaration that no comment is about. A comment on a
// group of constants or variables is about all of them.
func undocumented(d ast.Decl) (out []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) {
			out = append(out, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
					out = append(out, s.Name)
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
						out = append(out, name)
					}
				}
			}
		}
	}
	return out
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if gen, ok := typ.(*ast.IndexExpr); ok {
		typ = gen.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

func TestPublicPackagesOpenWithDocAndShowAnExample(t *testing.T) {
	type seen struct{ doc, example bool }
	pkgs := map[string]*seen{}
	for _, f := range goFiles(t) {
		if !f.public() {
			continue
		}
		dir := filepath.ToSlash(filepath.Dir(f.path))
		if pkgs[dir] == nil {
			pkgs[dir] = &seen{}
		}
		if filepath.Base(f.path) == "doc.go" && f.ast.Doc != nil {
			pkgs[dir].doc = strings.HasPrefix(f.ast.Doc.Text(), "Package "+f.ast.Name.Name+" ")
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && f.test() && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Example") && hasOutput(f, fn) {
				pkgs[dir].example = true
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(pkgs)) {
		if !pkgs[dir].doc {
			t.Errorf("%s: no doc.go with a comment that starts \"Package ...\"", dir)
		}
		if !pkgs[dir].example {
			t.Errorf("%s: no Example in its tests with an \"// Output:\" comment, so nothing shows its use and runs", dir)
		}
	}
}

func hasOutput(f file, fn *ast.FuncDecl) bool {
	for _, c := range f.ast.Comments {
		text := strings.ToLower(c.Text())
		if c.Pos() > fn.Pos() && c.End() < fn.End() &&
			(strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:")) {
			return true
		}
	}
	return false
}

func TestNoFileNamesSomebodysMachine(t *testing.T) {
	// Spelled in two parts so that this file passes its own test.
	banned := []string{".." + "/shared", "/wo" + "rk/", "/tmp" + "/wt"}
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("not a git checkout, so the list of its files is not known: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		src, err := os.ReadFile(filepath.Join(cmd.Dir, name))
		if err != nil {
			continue // deleted, not yet committed
		}
		for _, word := range banned {
			if i := bytes.Index(src, []byte(word)); i >= 0 && !bytes.ContainsRune(src[:min(len(src), 8000)], 0) {
				t.Errorf("%s:%d: mentions %s, which means nothing on another machine",
					name, 1+bytes.Count(src[:i], []byte("\n")), word)
			}
		}
	}
}
