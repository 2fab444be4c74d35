package snapshot

import (
	"bytes"
	"cmp"
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
	// cutAt is from what size a list is cut into items; 0: largeList.
	cutAt int
	// maxPods bounds the pods made from workloads; 0: maxExpanded.
	maxPods int
}

// largeList is a size in bytes; below it the tree of a whole list is small enough.
const largeList = 1 << 20

// Read reads a stream of YAML or JSON documents; file is how findings call it. Whatever is wrong with
// the text becomes a finding; the error is the reader's.
func (l *Loader) Read(file string, r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("snapshot: reading %s: %w", file, err)
	}
	for i, c := range split(toUTF8(text)) {
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
	l.decoder.left = budgetFor(c.text)
	if list, ok := splitList(c, cmp.Or(l.cutAt, largeList)); ok {
		l.largeList(at, c, list)
		return
	}
	l.plain(at, c)
}

// plain reads a document in one piece.
func (l *Loader) plain(at Origin, c chunk) {
	roots, err := parse(c)
	if err != nil {
		l.syntax(at, err)
	}
	for _, root := range roots {
		at.Line = root.line
		l.document(Document{Origin: at, root: root}, "")
	}
}

// largeList reads a list item by item. If a part of it cannot be read by itself, the whole is tried, once: quotes that
// run over lines can make the cut go wrong.
func (l *Loader) largeList(at Origin, c chunk, list listText) {
	head, err := parseYAML(list.head)
	if err != nil {
		l.plain(at, c)
		return
	}
	d, kind, ok := l.identify(Document{Origin: Origin{at.File, at.Document, head.line}, root: head}, "")
	if !ok {
		return
	}
	if kind == nil {
		// It has items but is no list.
		l.plain(at, c)
		return
	}
	tried := false
	for i, text := range list.items {
		item, err := parseYAML(text)
		if err == nil {
			l.list(d, *kind, item)
			continue
		}
		if !tried {
			tried = true
			if root, err := parseYAML(c); err == nil {
				if items := root.get("items"); items != nil && items.kind == kindList {
					// The items before this one are the same either way: a wrong cut makes the text before it unreadable.
					l.list(d, *kind, &node{kind: kindList, line: items.line, items: items.items[min(i, len(items.items)):]})
				}
				return
			}
		}
		l.syntax(at, err)
	}
}

// parse reads a chunk as JSON if it looks like that, else, and if that fails, as YAML, of which JSON is
// nearly a subset. If neither will do, the error is about the one that the text begins like.
func parse(c chunk) ([]*node, error) {
	var fault error
	if body := c.body(); len(body.text) > 0 && (body.text[0] == '{' || body.text[0] == '[') {
		roots, err := parseJSON(body)
		if err == nil {
			return roots, nil
		}
		if next := bytes.TrimSpace(body.text[1:]); len(next) > 0 && (next[0] == '"' || next[0] == '{') {
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

// syntax reports what parse returned: one error or several joined.
func (l *Loader) syntax(at Origin, err error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			l.syntax(at, e)
		}
		return
	}
	f := Finding{Origin: at, Severity: Error, Problem: err.Error()}
	var s *syntaxError
	if errors.As(err, &s) {
		f.Line, f.Problem, f.Remedy = s.line, s.problem, s.remedy
	}
	l.findings = append(l.findings, f)
}

// document reads an object, or the objects of a list of them. within is what a typed list says its items
// are: apiVersion and kind.
func (l *Loader) document(d Document, within string) {
	d, list, ok := l.identify(d, within)
	switch {
	case !ok:
	case list != nil:
		l.list(d, *list, d.root.get("items"))
	default:
		l.object(d)
	}
}

// identify finds out what a document is; for a list, what its items are unless they say so themselves.
func (l *Loader) identify(d Document, within string) (_ Document, list *string, ok bool) {
	switch d.root.kind {
	case kindMap:
	case kindNull:
		return d, nil, false
	default:
		l.findings = append(l.findings, d.Report(Error, "", "this is "+d.root.kind.String()+", not an object", "give it apiVersion, kind and metadata"))
		return d, nil, false
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
		return d, nil, false
	}
	item, isList := strings.CutSuffix(d.Kind, "List")
	if !isList || d.root.get("items") == nil {
		return d, nil, true
	}
	of := ""
	if item != "" {
		of = d.APIVersion + " " + item
	}
	return d, &of, true
}

// list reads items, of which a typed list says what they are.
func (l *Loader) list(d Document, of string, items *node) {
	if items.kind != kindList && items.kind != kindNull {
		l.findings = append(l.findings, d.Report(Error, "items", "this is "+items.kind.String()+" where a list belongs", "write a list of objects"))
		return
	}
	for _, item := range items.items {
		if !l.decoder.left.spend() {
			l.findings = append(l.findings, d.Report(Error, "items", tooLarge, tooLargeRemedy))
			return
		}
		l.document(Document{Origin: Origin{File: d.File, Document: d.Document, Line: item.line}, root: item}, of)
	}
}
