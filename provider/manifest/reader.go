package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling/snapshot"
)

// reader reads one document and collects what is wrong with it.
type reader struct {
	doc      snapshot.Document
	findings []snapshot.Finding
	// decoded is how many of them come from decoding.
	decoded int
	bad     bool
}

func (r *reader) decode(into any) {
	r.findings = r.doc.Decode(into)
	r.decoded = len(r.findings)
	r.bad = snapshot.ErrorOf("", r.findings) != nil
}

// fault reports an error, unless decoding has already said why the field is missing.
func (r *reader) fault(path, problem, remedy string) {
	r.bad = true
	for _, f := range r.findings[:r.decoded] {
		if f.Severity == snapshot.Error && (below(f.Path, path) || below(path, f.Path)) {
			return
		}
	}
	r.findings = append(r.findings, r.doc.Report(snapshot.Error, path, problem, remedy))
}

// below reports whether a path is another one or a step further down.
func below(path, other string) bool {
	rest, ok := strings.CutPrefix(path, other)
	return ok && (rest == "" || other == "" || rest[0] == '.' || rest[0] == '[')
}

func (r *reader) warn(path, problem, remedy string) {
	r.findings = append(r.findings, r.doc.Report(snapshot.Warning, path, problem, remedy))
}

// candidate is a sound object, and what it was read from to compare with another of its name.
type candidate[T any] struct {
	value T
	meta  metav1.ObjectMeta
	spec  any
	doc   snapshot.Document
}

// version orders copies of one object by age; 0 if the manifest has not been to a server.
func (c candidate[T]) version() uint64 {
	v, _ := strconv.ParseUint(c.meta.ResourceVersion, 10, 64)
	return v
}

// group sorts the candidates by name, and returns the one of each name that is to be used.
func group[T any](r *Result, noun string, all []candidate[T]) (out []T) {
	slices.SortFunc(all, func(a, b candidate[T]) int {
		x, y := a.doc.Origin, b.doc.Origin
		return cmp.Or(cmp.Compare(a.meta.Name, b.meta.Name), -cmp.Compare(a.version(), b.version()),
			cmp.Compare(x.File, y.File), cmp.Compare(x.Document, y.Document), cmp.Compare(x.Line, y.Line))
	})
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].meta.Name == all[0].meta.Name {
			n++
		}
		if settle(r, noun, all[:n]) {
			out = append(out, all[0].value)
		}
		all = all[n:]
	}
	return out
}

// settle reports on objects of one name and whether the first is to be used. Of two that differ the newer one is if
// both carry a resource version, else neither: any choice would be a guess.
func settle[T any](r *Result, noun string, same []candidate[T]) bool {
	use, first := true, same[0]
	for _, other := range same[1:] {
		at := first.doc.Origin.String()
		switch {
		case equality.Semantic.DeepEqual(first.spec, other.spec):
			r.Findings = append(r.Findings, other.doc.Report(snapshot.Warning, "metadata.name", "the same "+noun+" is there twice, also in "+at, "remove one of them"))
		case other.version() > 0 && first.version() != other.version():
			r.Findings = append(r.Findings, other.doc.Report(snapshot.Warning, "metadata.resourceVersion", fmt.Sprintf("%d is older than %d in %s, which is used", other.version(), first.version(), at), "remove the older one"))
		default:
			use = false
			r.Findings = append(r.Findings, other.doc.Report(snapshot.Error, "metadata.name", "another "+noun+" of this name, in "+at+", is different; neither is used", "remove one of them, or rename it"))
		}
	}
	return use
}
