package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
	"github.com/fleetwright/fleetwright/scheduling/snapshot"
)

func TestApplyOverlays(t *testing.T) {
	overlay := func(name, spec string) string {
		return fmt.Sprintf("---\napiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: %s}\nspec: {%s}\n", name, spec)
	}
	const spot = `requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]`
	for _, tt := range []struct {
		name, reason, text string
		prices             string // of t1's and t2's spot and on-demand offerings in pool p
		findings           string
	}{
		{"none", "nothing happens", "", "1 2 1 2", ""},
		{"spot", "of every type", overlay("a", spot+`, priceAdjustment: "+50%"`), "1.5 2 1.5 2", ""},
		{"another pool", "types that pools share differ", overlay("a", `requirements: [{key: karpenter.sh/nodepool, operator: In, values: [q]}], price: "9"`), "1 2 1 2", ""},
		{"misspelt", "the label is named", overlay("a", `requirements: [{key: node.kubernetes.io/instance-typ, operator: In, values: [t1]}], price: "9"`), "1 2 1 2",
			"NodeOverlay a: spec.requirements: no offering of any pool matches; the overlay has no effect; no type, offering or pool's template has the label node.kubernetes.io/instance-typ: check its spelling"},
		{"too narrow", "no label is to blame", overlay("a", `requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [t3]}], price: "9"`), "1 2 1 2",
			"NodeOverlay a: spec.requirements: no offering of any pool matches; the overlay has no effect; widen the requirements, or remove the overlay"},
		{"contradiction", "one finding for all offerings, at the line of the field", overlay("b", spot+`, price: "9"`) + overlay("a", `requirements: [], priceAdjustment: "+1"`), "1 3 1 3",
			"NodeOverlay a: spec.priceAdjustment: a, b have the same weight and say different things of t1 z spot in pool p and 3 more; none of them counts there; give them different weights, or requirements that exclude each other"},
		{"contradicting capacity", "by resource", overlay("b", `requirements: [], capacity: {example.com/g: 1, h: 1}`) + overlay("a", `requirements: [], capacity: {example.com/g: 2}`), "1 2 1 2",
			"NodeOverlay a: spec.capacity[\"example.com/g\"]: a, b have the same weight and say different things of t1 in pool p and 3 more; none of them counts there; give them different weights, or requirements that exclude each other"},
		{"capacity of some offerings", "all of them get it", overlay("a", spot+`, capacity: {example.com/g: 1}`), "1 2 1 2",
			"NodeOverlay a: spec.capacity: only some offerings of 4 types match, and capacity belongs to the type: all their offerings have it; ask for labels of types only"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := fromText(t, tt.text)
			if err := r.Err(); err != nil {
				t.Fatal(err)
			}
			machine := func(name string) *scheduling.InstanceType {
				return &scheduling.InstanceType{Name: name, Requirements: []scheduling.Requirement{{Key: corev1.LabelInstanceTypeStable, Operator: "In", Values: []string{name}}},
					Offerings: []scheduling.Offering{{Zone: "z", CapacityType: "spot", Price: scheduling.PriceFromNano(1e9)}, {Zone: "z", CapacityType: "on-demand", Price: scheduling.PriceFromNano(2e9)}}}
			}
			types := []*scheduling.InstanceType{machine("t1"), machine("t2")}
			p := scheduling.Problem{Pools: []scheduling.Pool{{Name: "p", InstanceTypes: types}, {Name: "q", InstanceTypes: types}}}
			found, err := r.ApplyOverlays(&p)
			if err != nil {
				t.Fatal(err)
			}
			var prices, findings []string
			for _, it := range p.Pools[0].InstanceTypes {
				for _, o := range it.Offerings {
					prices = append(prices, o.Price.String())
				}
			}
			for _, f := range found {
				if f.Line == 0 || f.Severity != snapshot.Warning {
					t.Errorf("line %d, %s", f.Line, f.Severity)
				}
				f.Origin = snapshot.Origin{}
				findings = append(findings, f.String())
			}
			if got := strings.Join(prices, " "); got != tt.prices {
				t.Errorf("prices %s, want %s: %s", got, tt.prices, tt.reason)
			}
			if d := cmp.Diff(tt.findings, strings.Join(findings, "\n")); d != "" {
				t.Errorf("%s\n%s", tt.reason, d)
			}
		})
	}
}

func TestApplyOverlaysToTypesThatCannotBeRead(t *testing.T) {
	r := fromText(t, "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: a}\nspec: {requirements: [{key: k, operator: Exists}], price: '1'}\n")
	p := scheduling.Problem{Pools: []scheduling.Pool{{Name: "p", InstanceTypes: []*scheduling.InstanceType{{Name: "t", Requirements: []scheduling.Requirement{{Key: "k", Operator: "Is"}}}}}}}
	if _, err := r.ApplyOverlays(&p); err == nil || !strings.HasPrefix(err.Error(), `manifest: overlay: pools["p"].instanceTypes["t"].requirements[0]: `) {
		t.Errorf("error %v", err)
	}
}
