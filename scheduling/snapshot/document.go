package snapshot

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Document is one object of the input that this package does not read itself.
type Document struct {
	Origin
	APIVersion, Kind string
	// Namespace and Name are as written, either may be empty.
	Namespace, Name string

	root    *node
	decoder *decoder
}

// Object is how findings name the document: "NodePool general".
func (d Document) Object() string { return objectName(d.Kind, d.Namespace, d.Name) }

func objectName(kind, namespace, name string) string {
	if namespace != "" {
		name = namespace + "/" + name
	}
	return strings.Trim(kind+" "+name, " ")
}

// Decode sets *into, a struct with JSON tags as Kubernetes' types have them, from the document. Everything
// wrong comes back at once: unknown fields as warnings, values of the wrong type as errors. Fields
// without an error are set even if others have one.
func (d Document) Decode(into any) []Finding {
	var out []Finding
	if d.root == nil {
		return out
	}
	dec := d.decoder
	if dec == nil {
		dec = &decoder{}
	}
	dec.decode(d.root, into, func(sev Severity, path string, line int, problem, remedy string) {
		f := d.Report(sev, "", problem, remedy)
		f.Path, f.Line = path, line
		out = append(out, f)
	})
	return out
}

// Report makes a finding about the field at path, with the line where the document has that field or
// else the closest parent that it has.
func (d Document) Report(sev Severity, path, problem, remedy string) Finding {
	f := Finding{Origin: d.Origin, Object: d.Object(), Path: path, Severity: sev, Problem: problem, Remedy: remedy}
	if path != "" && d.root != nil {
		f.Line = d.root.lineOf(path)
	}
	return f
}

// JSON is the document in JSON, keys in the order they were written, aliases written out.
func (d Document) JSON() json.RawMessage {
	if d.root == nil {
		return nil
	}
	var b bytes.Buffer
	d.root.appendJSON(&b)
	return b.Bytes()
}
