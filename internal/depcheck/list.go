package depcheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Module is the import path of the library.
const Module = "github.com/fleetwright/fleetwright"

// Package is what the go command says of one package.
type Package struct {
	ImportPath string
	Name       string
	Dir        string
	Standard   bool
	GoFiles    []string
	// Imports are direct, Deps all that follow from them.
	Imports []string
	Deps    []string
	Error   *struct{ Err string }
}

// Ours reports whether the package belongs to this module.
func (p Package) Ours() bool { return ours(p.ImportPath) }

// Rel is the import path within this module.
func (p Package) Rel() string { return rel(p.ImportPath) }

// Public reports whether other modules may import the package and would want to.
func (p Package) Public() bool {
	return p.Ours() && p.Name != "main" && !strings.Contains(p.ImportPath+"/", "/internal/") &&
		!strings.HasPrefix(p.Rel(), "examples/")
}

func ours(path string) bool { return path == Module || strings.HasPrefix(path, Module+"/") }

func rel(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, Module), "/") }

// Root returns the directory of the module's go.mod, starting the search at the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(b, []byte("module "+Module+"\n")) {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("depcheck: no go.mod of " + Module + " in this directory or above")
		}
		dir = up
	}
}

// List returns this module's packages and all that they reach, by import path. Tests are left out.
func List(root string) (map[string]Package, error) {
	cmd := exec.Command("go", "list", "-e", "-deps",
		"-json=ImportPath,Name,Dir,Standard,GoFiles,Imports,Deps,Error", "./...")
	cmd.Dir = root
	// One platform, so that the ledger is the same on every machine.
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("depcheck: go list: %w\n%s", err, stderr.Bytes())
	}
	pkgs := map[string]Package{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Package
		if err := dec.Decode(&p); err == io.EOF {
			return pkgs, nil
		} else if err != nil {
			return nil, fmt.Errorf("depcheck: go list: %w", err)
		}
		if p.Error != nil && p.Ours() && len(p.GoFiles) > 0 {
			return nil, fmt.Errorf("depcheck: %s: %s", p.ImportPath, p.Error.Err)
		}
		pkgs[p.ImportPath] = p
	}
}
