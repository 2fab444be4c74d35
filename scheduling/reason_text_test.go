package scheduling

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/golden"
)

// allReasons has each code with what the solver may know about it, from most to nothing.
func allReasons() []Reason {
	gpu := &corev1.Taint{Key: "gpu", Value: "true", Effect: corev1.TaintEffectNoSchedule}
	at := Nearest{Pool: "default", Type: "m7i.48xlarge", Zone: "us-east-1a"}
	with := func(change func(n *Nearest)) Nearest { n := at; change(&n); return n }
	return []Reason{
		{Code: CodeInvalid, Detail: `spec.containers[0].resources.requests["cpu"] is negative`},
		{Code: CodeNoPool},
		{Code: CodeNotModelled, Detail: "resource claims"},
		{
			Code: CodeTaint, Nearest: Nearest{Pool: "gpu", Taint: "gpu=true:NoSchedule"},
			Change: Change{Kind: ChangeToleration, Taint: gpu},
		},
		{
			Code: CodeRequirement, Nearest: Nearest{Pool: "default", Requirement: "kubernetes.io/arch In [arm64]", Have: "[amd64]"},
			Change: Change{Kind: ChangePool, Pool: "default", Key: "kubernetes.io/arch", Value: "arm64"},
		},
		{
			Code: CodeRequirement, Nearest: with(func(n *Nearest) { n.Requirement = "disk In [hdd]"; n.Have = "[ssd]" }),
			Change: Change{Kind: ChangeRequirement, Key: "disk", Value: "ssd"},
		},
		{
			Code: CodeResource, Nearest: Nearest{Pool: "default", Type: "m7i.48xlarge", Resource: "cpu", Wanted: 200000, Available: 191450},
			Change: Change{Kind: ChangeRequest, Resource: "cpu", Amount: 191450},
		},
		{
			Code: CodeResource, Nearest: with(func(n *Nearest) { n.Resource = "memory"; n.Wanted = 16<<30 + 5; n.Available = 16<<30 - 5 }),
			Change: Change{Kind: ChangeRequest, Resource: "memory", Amount: 25<<29 + 7},
		},
		{Code: CodeResource, Nearest: Nearest{Resource: "nvidia.com/gpu", Wanted: 9, Available: 8}},
		{
			Code: CodeResource, Nearest: Nearest{Pool: "default", Type: "m7i.large", Resource: "nvidia.com/gpu", Wanted: 1},
			Change: Change{Kind: ChangeRequest, Resource: "nvidia.com/gpu"},
		},
		{
			Code: CodeRequirement, Nearest: Nearest{Pool: "default", Type: "m7i.large", Requirement: "pool wants kubernetes.io/arch [arm64]", Have: "[amd64]"},
			Change: Change{Kind: ChangePool, Pool: "default", Key: "kubernetes.io/arch", Value: "amd64"},
		},
		{Code: CodeOffering, Nearest: at, Change: Change{Kind: ChangeOffering, Type: "m7i.48xlarge", Zone: "us-east-1a"}},
		{Code: CodePrice, Nearest: at, Change: Change{Kind: ChangeOffering, Type: "m7i.48xlarge", Zone: "us-east-1a"}},
		{Code: CodePort, Nearest: at, Detail: "TCP 9100, held by monitoring/node-exporter"},
		{
			Code: CodeMinValues, Nearest: Nearest{Pool: "default", Requirement: "node.kubernetes.io/instance-type", Wanted: 15, Available: 3},
			Change: Change{Kind: ChangeMinValues, Pool: "default", Key: "node.kubernetes.io/instance-type", Amount: 3},
		},
		{
			Code: CodeLimit, Nearest: Nearest{Pool: "default", Type: "m7i.large", Resource: "cpu", Wanted: 2000, Available: 500},
			Change: Change{Kind: ChangeLimit, Pool: "default", Resource: "cpu", Amount: 102000},
		},
		{
			Code: CodeLimit, Nearest: Nearest{Pool: "default", Resource: NodesResource, Wanted: 1},
			Change: Change{Kind: ChangeLimit, Pool: "default", Resource: NodesResource, Amount: 11},
		},
		{Code: CodeSpread, Nearest: Nearest{Zone: "us-east-1a", Wanted: 3, Available: 1}, Detail: "topology.kubernetes.io/zone"},
		{Code: CodeAntiAffinity, Nearest: Nearest{Zone: "us-east-1a", Requirement: "app In [db]"}},
	}
}

func TestMessagesGolden(t *testing.T) {
	var b strings.Builder
	for _, r := range allReasons() {
		fmt.Fprintf(&b, "%s\n    %s\n", r.Code, r.Message())
	}
	b.WriteString("\nwith nothing known but the code\n")
	seen := map[Code]bool{}
	for _, r := range allReasons() {
		if !seen[r.Code] {
			seen[r.Code] = true
			fmt.Fprintf(&b, "%s\n    %s\n", r.Code, Reason{Code: r.Code}.Message())
		}
	}
	golden.Check(t, "testdata/document/messages.txt", b.String())
}

func TestMessagesCoverEveryCodeAndChange(t *testing.T) {
	codes, kinds := map[Code]bool{}, map[ChangeKind]bool{}
	for _, r := range allReasons() {
		codes[r.Code], kinds[r.Change.Kind] = true, true
	}
	for _, c := range []Code{
		CodeInvalid, CodeNoPool, CodeNotModelled, CodeTaint, CodeRequirement, CodeResource, CodeOffering, CodePrice,
		CodePort, CodeMinValues, CodeLimit, CodeSpread, CodeAntiAffinity,
	} {
		if !codes[c] {
			t.Errorf("no message of code %s is tested", c)
		}
		if m := (Reason{Code: c}).Message(); strings.Contains(m, string(c)) {
			t.Errorf("code %s has no phrase of its own: %s", c, m)
		}
	}
	for _, k := range []ChangeKind{
		ChangeRequest, ChangeToleration, ChangeRequirement, ChangePool, ChangeLimit, ChangeOffering, ChangeMinValues,
	} {
		if !kinds[k] {
			t.Errorf("no change of kind %s is tested", k)
		}
		if m := (&Change{Kind: k}).imperative(CodeResource); strings.Contains(m, string(k)) {
			t.Errorf("change %s has no phrase of its own: %s", k, m)
		}
	}
}

// Whatever is in the fields, the message is bounded, plain and one line.
func TestMessagesAreBounded(t *testing.T) {
	long := strings.Repeat("long\n\x1b\u00e9", 500)
	for _, r := range append(allReasons(), Reason{Code: Code(long), Change: Change{Kind: ChangeKind(long)}}) {
		fill(reflect.ValueOf(&r.Nearest).Elem(), long)
		fill(reflect.ValueOf(&r.Change).Elem(), long)
		r.Detail = long
		if r.Change.Taint != nil {
			r.Change.Taint.Key = long
		}
		m := r.Message()
		if len(m) > 600 {
			t.Errorf("%s: message of %d bytes", clip(string(r.Code), 20), len(m))
		}
		if !isPlain(m) {
			t.Errorf("%s: message %q is not plain text", clip(string(r.Code), 20), m)
		}
	}
}

// fill puts s into each string field but Kind, which chooses the phrase.
func fill(v reflect.Value, s string) {
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.String && v.Type().Field(i).Name != "Kind" {
			f.SetString(s)
		}
	}
}
