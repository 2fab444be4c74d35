package snapshot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Loader collects objects from any number of places; [Loader.Result] makes a problem of them all. What
// refers to what is only looked at there, so the order of the calls does not matter. The zero
// value is ready. Not safe for concurrent use.
type Loader struct {
	in       inventory
	rest     []Document
	findings []Finding
	decoder  decoder
}

// Read reads a stream of YAML or JSON documents; file is how findings call it. Whatever is wrong with
// the text becomes a finding; the error is the reader's.
func (l *Loader) Read(file string, r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("snapshot: reading %s: %w", file, err)
	}
	for i, c := range split(text) {
		l.chunk(Origin{File: file, Document: i + 1, Line: c.line}, c)
	}
	return nil
}

// ReadFS reads files, whatever their names, and directories with all below them, of which
// only *.yaml, *.yml and *.json count and names that begin with a dot do not. No names: everything (".").
// Errors of single files do not keep it from the others.
func (l *Loader) ReadFS(fsys fs.FS, names ...string) error {
	if len(names) == 0 {
		names = []string{"."}
	}
	var errs []error
	for _, name := range names {
		err := fs.WalkDir(fsys, name, func(file string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				errs = append(errs, fmt.Errorf("snapshot: %w", err))
				return nil
			case file != name && strings.HasPrefix(path.Base(file), "."):
				if entry.IsDir() {
					return fs.SkipDir
				}
				return nil
			case entry.IsDir() || (file != name && !isManifest(file)):
				return nil
			}
			errs = append(errs, l.readFile(fsys, file))
			return nil
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("snapshot: %w", err))
		}
	}
	return errors.Join(errs...)
}

func isManifest(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

func (l *Loader) readFile(fsys fs.FS, file string) error {
	f, err := fsys.Open(file)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	defer f.Close()
	return l.Read(file, f)
}

// chunk reads one document of a stream.
func (l *Loader) chunk(at Origin, c chunk) {
	roots, err := parse(c)
	if err != nil {
		l.syntax(at, c, err)
	}
	for _, root := range roots {
		at.Line = root.line
		l.document(Document{Origin: at, root: root}, "")
	}
}

// parse reads a chunk as JSON if it looks like that, else, and if that fails, as YAML, of which JSON is
// nearly a subset.
func parse(c chunk) ([]*node, error) {
	text := strings.TrimSpace(string(c.text[:min(len(c.text), 4096)]))
	text = strings.TrimSpace(strings.TrimPrefix(text, "---"))
	var fault error
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		body := c
		if i := strings.Index(string(c.text[:min(len(c.text), 4096)]), "---"); i >= 0 && strings.TrimSpace(string(c.text[:i])) == "" {
			body.text = append([]byte("   "), c.text[i+3:]...)
			body.line += strings.Count(string(c.text[:i]), "\n")
		}
		roots, err := parseJSON(body)
		if err == nil {
			return roots, nil
		}
		if strings.HasPrefix(strings.TrimSpace(text[1:]), `"`) {
			fault = err
		}
	}
	root, err := parseYAML(c)
	switch {
	case err != nil && fault != nil:
		return nil, fault
	case err != nil:
		return nil, err
	case root == nil || root.kind == kindNull:
		return nil, nil
	}
	return []*node{root}, nil
}

func (l *Loader) syntax(at Origin, c chunk, err error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			l.syntax(at, c, e)
		}
		return
	}
	f := Finding{Origin: at, Severity: Error, Problem: err.Error()}
	var s *syntaxError
	if errors.As(err, &s) {
		f.Line, f.Problem, f.Remedy = c.line+s.line-1, s.problem, s.remedy
	}
	l.findings = append(l.findings, f)
}

// document reads an object, or the objects of a list of them. kind is what a typed list says its items are.
func (l *Loader) document(d Document, within string) {
	if d.root.kind == kindNull {
		return
	}
	if d.root.kind != kindMap {
		l.findings = append(l.findings, d.Report(Error, "", "this is "+d.root.kind.String()+", not an object", "give it apiVersion, kind and metadata"))
		return
	}
	d.decoder = &l.decoder
	d.APIVersion, d.Kind = d.root.str("apiVersion"), d.root.str("kind")
	if d.APIVersion == "" && d.Kind == "" && within != "" {
		// Items of a PodList, as Go programs write them, do not repeat what they are.
		d.APIVersion, d.Kind, _ = strings.Cut(within, " ")
	}
	d.Namespace, d.Name = d.root.str("metadata", "namespace"), d.root.str("metadata", "name")
	if d.APIVersion == "" || d.Kind == "" {
		l.findings = append(l.findings, d.Report(Error, "", "apiVersion or kind is missing", "say what the object is, such as apiVersion: v1, kind: Pod"))
		return
	}
	if item, ok := strings.CutSuffix(d.Kind, "List"); ok && d.root.get("items") != nil {
		l.list(d, item)
		return
	}
	l.object(d)
}

func (l *Loader) list(d Document, kind string) {
	items := d.root.get("items")
	if items.kind != kindList && items.kind != kindNull {
		l.findings = append(l.findings, d.Report(Error, "items", "this is "+items.kind.String()+" where a list belongs", "write a list of objects"))
		return
	}
	within := ""
	if kind != "" {
		within = d.APIVersion + " " + kind
	}
	for _, item := range items.items {
		l.document(Document{Origin: Origin{File: d.File, Document: d.Document, Line: item.line}, root: item}, within)
	}
}
