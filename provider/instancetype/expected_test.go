package instancetype_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/extdata"
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

var update = flag.Bool("update", false, "write testdata/subset.json anew from the external data")

// documented is what Karpenter's reference of instance types says of a type.
type documented struct {
	Labels      map[string]string   `json:"labels"`
	Capacity    corev1.ResourceList `json:"capacity"`
	Allocatable corev1.ResourceList `json:"allocatable"`
}

type factsFile struct {
	Types []instancetype.Facts `json:"types"`
}

type documentedFile struct {
	Types map[string]documented `json:"types"`
}

// subsetFile holds the facts and the documents of a few types of every sort, so that the comparison
// means something where the whole data is not there.
type subsetFile struct {
	Facts      []json.RawMessage          `json:"facts"`
	Documented map[string]json.RawMessage `json:"documented"`
}

// subset names a type for every rule.
var subset = []string{
	"m5.large", "m5.metal", "t3.medium", "t4g.small", "m7i-flex.large", "c7a.48xlarge", "a1.medium",
	"c6gd.metal", "i4i.large", // NVMe
	"t2.micro", "i3.large", "m1.small", "c3.large", // Xen, old disks, no clock speed
	"g4dn.xlarge", "g4ad.xlarge", "g6f.large", "gr6f.4xlarge", "p4d.24xlarge", "p5.48xlarge", // GPUs
	"inf1.xlarge", "inf2.48xlarge", "trn1.32xlarge", "trn2.48xlarge", "dl2q.24xlarge", "vt1.3xlarge",
	"f2.6xlarge", "hpc7a.96xlarge", "u7i-12tb.224xlarge",
	"m9g.large", "g7.2xlarge", // differences
}

func TestDocumentedSubset(t *testing.T) {
	name := filepath.Join("testdata", "subset.json")
	if *update {
		writeSubset(t, name)
	}
	var file struct {
		Facts      []instancetype.Facts
		Documented map[string]documented
	}
	decode(t, name, &file)
	if len(file.Facts) != len(subset) || len(file.Documented) != len(subset) {
		t.Fatalf("testdata has %d facts and %d documents, want %d each: run with -update", len(file.Facts), len(file.Documented), len(subset))
	}
	all := differenceTable(t)
	maps.DeleteFunc(all, func(at, _ string) bool {
		name, _, _ := strings.Cut(at, " ")
		return !slices.Contains(subset, name)
	})
	compareDifferences(t, differences(t, file.Facts, file.Documented), all)
}

func TestDocumentedAll(t *testing.T) {
	dir, ok := extdata.Dir("ec2")
	if !ok {
		t.Skipf("the EC2 facts are not here; set %s to the directory that has them", extdata.Env)
	}
	var facts factsFile
	decode(t, filepath.Join(dir, "instance-types.json"), &facts)
	var docs documentedFile
	decode(t, filepath.Join(dir, "expected-resources.json"), &docs)
	if len(docs.Types) < 1363 {
		t.Fatalf("only %d documented types", len(docs.Types))
	}
	compareDifferences(t, differences(t, facts.Types, docs.Types), differenceTable(t))
}

// differences builds every documented type with default settings and returns where it differs from its
// document: "type what" to "documented -> ours".
func differences(t *testing.T, facts []instancetype.Facts, docs map[string]documented) map[string]string {
	t.Helper()
	out := map[string]string{}
	seen := 0
	for _, f := range facts {
		doc, ok := docs[f.Name]
		if !ok {
			continue
		}
		seen++
		it, err := instancetype.Build(f, instancetype.Settings{})
		if err != nil {
			t.Error(err)
			continue
		}
		r, err := instancetype.Compute(f, instancetype.Settings{})
		if err != nil {
			t.Error(err)
			continue
		}
		labels := map[string]string{}
		for _, q := range it.Requirements {
			if q.Operator == corev1.NodeSelectorOpIn {
				labels[q.Key] = strings.Join(q.Values, ",")
			}
		}
		diffInto(out, f.Name+" label ", doc.Labels, labels)
		// The attach limit is for the solver; nodes report none.
		delete(it.Capacity, scheduling.AttachLimit("ebs.csi.aws.com"))
		diffInto(out, f.Name+" capacity ", texts(doc.Capacity), texts(it.Capacity))
		diffInto(out, f.Name+" allocatable ", texts(doc.Allocatable), texts(r.Allocatable()))
		// What Build hands to the solver is the same amounts.
		diffInto(out, f.Name+" overhead ", texts(r.Overhead()), texts(it.Overhead))
	}
	if seen != len(docs) {
		t.Errorf("%d of %d documented types have facts", seen, len(docs))
	}
	return out
}

func diffInto(out map[string]string, at string, want, got map[string]string) {
	for key, w := range want {
		if g, ok := got[key]; !ok {
			out[at+key] = w + " -> none"
		} else if g != w {
			out[at+key] = w + " -> " + g
		}
	}
	for key, g := range got {
		if _, ok := want[key]; !ok {
			out[at+key] = "none -> " + g
		}
	}
}

// texts prints amounts in one spelling, so that 20Gi and 21474836480 are equal.
func texts(l corev1.ResourceList) map[string]string {
	out := map[string]string{}
	for name, q := range l {
		out[string(name)] = q.AsDec().String()
	}
	return out
}

// differenceTable reads testdata/differences.txt: a line "# reason" and below it lines
// "type what: documented -> ours" for everything that proved right although the documents differ.
func differenceTable(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "differences.txt"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	reason := ""
	for i, line := range strings.Split(string(data), "\n") {
		if text, ok := strings.CutPrefix(line, "# "); ok {
			reason = text
			continue
		}
		if line == "" {
			continue
		}
		at, change, ok := strings.Cut(line, ": ")
		if !ok || reason == "" {
			t.Fatalf("differences.txt line %d: want a reason and below it `type what: documented -> ours`", i+1)
		}
		for _, at := range both(at) {
			out[at] = change
		}
	}
	return out
}

// both expands "resource" to what it stands for: capacity and allocatable.
func both(at string) []string {
	if before, after, ok := strings.Cut(at, " resource "); ok {
		return []string{before + " capacity " + after, before + " allocatable " + after}
	}
	return []string{at}
}

func compareDifferences(t *testing.T, got, listed map[string]string) {
	t.Helper()
	for _, at := range slices.Sorted(maps.Keys(got)) {
		if listed[at] != got[at] {
			t.Errorf("differs from the documents: %s: %s", at, got[at])
		}
	}
	for _, at := range slices.Sorted(maps.Keys(listed)) {
		if _, ok := got[at]; !ok {
			t.Errorf("differences.txt lists %s: %s, which is no difference any more; remove it", at, listed[at])
		}
	}
}

func decode(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func writeSubset(t *testing.T, name string) {
	t.Helper()
	dir, ok := extdata.Dir("ec2")
	if !ok {
		t.Fatalf("-update needs the EC2 facts; set %s", extdata.Env)
	}
	var facts struct{ Types []json.RawMessage }
	decode(t, filepath.Join(dir, "instance-types.json"), &facts)
	var docs struct{ Types map[string]json.RawMessage }
	decode(t, filepath.Join(dir, "expected-resources.json"), &docs)
	out := subsetFile{Documented: map[string]json.RawMessage{}}
	for _, raw := range facts.Types {
		var f instancetype.Facts
		if err := json.Unmarshal(raw, &f); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(subset, f.Name) {
			out.Facts = append(out.Facts, raw)
			out.Documented[f.Name] = docs.Types[f.Name]
		}
	}
	var b bytes.Buffer
	b.WriteString("{\"facts\":[\n")
	for i, raw := range out.Facts {
		fmt.Fprintf(&b, "%s%s\n", raw, map[bool]string{true: ",", false: ""}[i+1 < len(out.Facts)])
	}
	b.WriteString("],\n\"documented\":{\n")
	names := slices.Sorted(maps.Keys(out.Documented))
	for i, name := range names {
		fmt.Fprintf(&b, "%q:%s%s\n", name, out.Documented[name], map[bool]string{true: ",", false: ""}[i+1 < len(names)])
	}
	b.WriteString("}}\n")
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
