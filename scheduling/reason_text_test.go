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
		{
			Code: CodeSpread, Nearest: Nearest{Zone: "us-east-1b", Wanted: 2, Available: 1},
			Constraint: "spread over topology.kubernetes.io/zone (maxSkew 1)", Detail: "topology.kubernetes.io/zone",
			Domains: []DomainCount{{"us-east-1a", 3, ""}, {"us-east-1b", 1, ""}, {"us-east-1c", 0, "out of reach"}},
		},
		{
			Code: CodeAntiAffinity, Nearest: Nearest{Zone: "us-east-1a", Requirement: "app In [db]"},
			Constraint: "pod anti-affinity over topology.kubernetes.io/zone",
			Domains:    []DomainCount{{"us-east-1a", 1, ""}, {"us-east-1b", 2, ""}},
			InTheWay:   []string{"data/db-0", "data/db-1", "data/db-2", "data/db-3"},
		},
		{
			Code: CodeAffinity, Constraint: "pod affinity over kubernetes.io/hostname",
			Domains: []DomainCount{{"ip-10-0-0-7", 2, "no room"}, {"(new node)", 0, ""}},
		},
		{Code: CodeVolume, Detail: "claim default/data-0 is missing; create it"},
		{
			Code: CodeVolume, Nearest: with(func(n *Nearest) {
				n.Requirement, n.Have = "topology.kubernetes.io/zone In [us-east-1f]", "us-east-1a"
			}),
		},
		{
			Code:    CodeAttachLimit,
			Nearest: Nearest{Pool: "default", Type: "m7i.large", Resource: AttachLimit("ebs.csi.aws.com"), Wanted: 30, Available: 27},
		},
		{Code: CodeResourceClaim, Detail: "gpu, nic"},
		{Code: CodeReservation, Nearest: Nearest{Pool: "default", Type: "p5.48xlarge", Zone: "us-east-1a"}, Detail: "cr-1"},
		{Code: CodeGang, Detail: "gang ml/train needs 4 of its 4 waiting pods placed at once", InTheWay: []string{"ml/train-3"}},
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
		CodePort, CodeMinValues, CodeLimit, CodeSpread, CodeAntiAffinity, CodeAffinity, CodeVolume, CodeAttachLimit,
		CodeResourceClaim, CodeReservation, CodeGang,
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
		r.Detail, r.Constraint = long, long
		for range 20 {
			r.Domains, r.InTheWay = append(r.Domains, DomainCount{long, 1 << 30, long}), append(r.InTheWay, long)
		}
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

// What a domain counts is what a reader looks for: it stays in the message however many there are.
func TestDomainsText(t *testing.T) {
	var many []DomainCount
	for i := range 16 {
		many = append(many, DomainCount{Domain: fmt.Sprintf("rack-%02d", i), Count: int32(i)})
	}
	for _, tt := range []struct {
		name, reason string
		domains      []DomainCount
		want         string
	}{
		{"none", "hostnames are not always listed", nil, ""},
		{"notes", "why a domain with a low count does not help", []DomainCount{{"a", 1, ""}, {"b", 0, "out of reach"}}, "a 1, b 0 (out of reach)"},
		{"many", "the rest is counted", many, "rack-00 0, rack-01 1, rack-02 2, and 13 more domains"},
		{"long", "the first is always there", []DomainCount{{strings.Repeat("x", 90), 1, ""}, {"b", 2, ""}}, strings.Repeat("x", 63) + "... 1, and 1 more domain"},
	} {
		if got := domainsText(tt.domains, 40); got != tt.want {
			t.Errorf("%s: %q, want %q: %s", tt.name, got, tt.want, tt.reason)
		}
	}
}
