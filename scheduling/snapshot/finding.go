package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity says what became of the document that a finding is about.
type Severity string

const (
	// Warning: the document was used; what the finding says may not be what its author meant.
	Warning Severity = "warning"
	// Error: the document, or the part that the path names, was left out.
	Error Severity = "error"
)

// Origin is the place a document came from. All fields are zero for Go values.
type Origin struct {
	// File is the name given to Loader.Read, or the path in the file system.
	File string `json:"file,omitempty"`
	// Document counts the documents of the file from 1; a List is one document.
	Document int `json:"document,omitempty"`
	// Line counts the lines of the file from 1.
	Line int `json:"line,omitempty"`
}

// String prints `pods.yaml document 2, line 14`, or as much of it as is known.
func (o Origin) String() string {
	if o.File == "" {
		return ""
	}
	s := o.File
	if o.Document > 0 {
		s += fmt.Sprintf(" document %d", o.Document)
	}
	if o.Line > 0 {
		s += fmt.Sprintf(", line %d", o.Line)
	}
	return s
}

// Finding is one thing a person should know about the input.
type Finding struct {
	Origin
	// Object is the kind and name: "Pod default/web". Empty for text that is no object.
	Object string `json:"object,omitempty"`
	// Path is the field within the object: `spec.containers[0].resources.requests.cpu`.
	Path     string   `json:"path,omitempty"`
	Severity Severity `json:"severity"`
	// Problem says what is wrong with which value, Remedy how to mend it.
	Problem string `json:"problem"`
	Remedy  string `json:"remedy,omitempty"`
}

// String prints place, object, path, problem and remedy in one line.
func (f Finding) String() string {
	var parts []string
	for _, p := range []string{f.Origin.String(), f.Object, f.Path} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	s := strings.Join(append(parts, f.Problem), ": ")
	if f.Remedy != "" {
		s += "; " + f.Remedy
	}
	return s
}

// SortFindings orders findings by place, object, path and text, so that they do not depend on the order
// in which files were read, and drops repetitions.
func SortFindings(fs []Finding) []Finding {
	slices.SortFunc(fs, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Object, b.Object), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Problem, b.Problem), cmp.Compare(a.Remedy, b.Remedy))
	})
	return slices.Compact(fs)
}

// FindingsError is the error form of findings: those of severity Error.
type FindingsError struct {
	// Package prefixes the message.
	Package  string
	Findings []Finding
}

// Error prints at most ten findings.
func (e *FindingsError) Error() string {
	if len(e.Findings) == 1 {
		return e.Package + ": " + e.Findings[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d errors in the input", e.Package, len(e.Findings))
	for i, f := range e.Findings {
		if i == 10 {
			fmt.Fprintf(&b, "\n  ... and %d more", len(e.Findings)-i)
			break
		}
		b.WriteString("\n  " + f.String())
	}
	return b.String()
}

// ErrorOf returns a *FindingsError with the findings of severity Error, or nil if there are none.
// pkg is the package that the message names.
func ErrorOf(pkg string, fs []Finding) error {
	var bad []Finding
	for _, f := range fs {
		if f.Severity == Error {
			bad = append(bad, f)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return &FindingsError{Package: pkg, Findings: bad}
}
