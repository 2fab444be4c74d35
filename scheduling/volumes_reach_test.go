package scheduling

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// TestVolumeProduct compares, on every assignment of a few labels, what the result allows with what each volume
// allows, by Kubernetes' own selectors.
func TestVolumeProduct(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		keys := []string{"k1", "k2", "4"}[:1+rng.IntN(3)]
		p := &Problem{Pods: []*corev1.Pod{volumePod("web")}}
		var claims []string
		for i := range 1 + rng.IntN(4) {
			name := fmt.Sprintf("c%d", i)
			claims = append(claims, name)
			o := testVolume(name, "")
			o.Spec.NodeAffinity.Required.NodeSelectorTerms = nil
			for range 1 + rng.IntN(4) {
				o.Spec.NodeAffinity.Required.NodeSelectorTerms = append(o.Spec.NodeAffinity.Required.NodeSelectorTerms, randomTerm(rng, keys))
			}
			addStorage(&p.Storage, []any{testClaim(name, "", name), o})
		}
		p.Pods[0] = volumePod("web", claims...)
		got := newVolumes(p).of(p.Pods[0])
		checkProduct(t, seed, keys, p, got)
		if t.Failed() {
			return
		}
	}
}

func randomTerm(rng *rand.Rand, keys []string) corev1.NodeSelectorTerm {
	var t corev1.NodeSelectorTerm
	for range 1 + rng.IntN(3) {
		e := corev1.NodeSelectorRequirement{Key: keys[rng.IntN(len(keys))]}
		switch rng.IntN(10) {
		case 0:
			e.Operator = corev1.NodeSelectorOpExists
		case 1:
			e.Operator = corev1.NodeSelectorOpDoesNotExist
		case 2:
			e.Operator, e.Values = corev1.NodeSelectorOpGt, []string{"1"}
		case 3:
			e.Operator, e.Values = corev1.NodeSelectorOpNotIn, []string{"2"}
		default:
			e.Operator = corev1.NodeSelectorOpIn
			for range 1 + rng.IntN(2) {
				e.Values = append(e.Values, []string{"1", "2", "3"}[rng.IntN(3)])
			}
		}
		t.MatchExpressions = append(t.MatchExpressions, e)
	}
	return t
}

func checkProduct(t *testing.T, seed uint64, keys []string, p *Problem, got podVolumes) {
	t.Helper()
	some := false
	states := []string{"", "1", "2", "3", "4"}
	all := 1
	for range keys {
		all *= len(states)
	}
	for i := range all {
		node := labels.Set{}
		for k, rest := 0, i; k < len(keys); k, rest = k+1, rest/len(states) {
			if s := states[rest%len(states)]; s != "" {
				node[keys[k]] = s
			}
		}
		want := true
		for _, o := range p.Storage.Volumes {
			want = want && affinityAllows(o, node)
		}
		some = some || want
		have := got.fault == "" && got.terms == nil
		for _, term := range got.terms {
			have = have || termAllows(t, term, node)
		}
		if have != want {
			t.Errorf("seed %d: node %v: allowed %v, want %v; terms %s, fault %q", seed, node, have, want, termsText(got.terms), got.fault)
			return
		}
	}
	if some == (got.fault != "") {
		t.Errorf("seed %d: fault %q, though a node is allowed: %v", seed, got.fault, some)
	}
}

// affinityAllows reads a volume's affinity with Kubernetes' selectors.
func affinityAllows(o *corev1.PersistentVolume, node labels.Set) bool {
	ops := map[corev1.NodeSelectorOperator]selection.Operator{
		corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn, corev1.NodeSelectorOpExists: selection.Exists,
		corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist, corev1.NodeSelectorOpGt: selection.GreaterThan,
	}
	for _, term := range o.Spec.NodeAffinity.Required.NodeSelectorTerms {
		all := true
		for _, e := range term.MatchExpressions {
			r, err := labels.NewRequirement(e.Key, ops[e.Operator], e.Values)
			all = all && err == nil && r.Matches(node)
		}
		if all {
			return true
		}
	}
	return false
}

func termAllows(t *testing.T, term []Requirement, node labels.Set) bool {
	t.Helper()
	for _, r := range term {
		set, err := ParseRequirement(r)
		if err != nil {
			t.Fatal(err)
		}
		value, there := node[r.Key]
		if there && !set.Has(value) || !there && !set.HasAbsent() {
			return false
		}
	}
	return true
}

// Volumes that nobody has: what they are reduced to stays small, is right, and is found soon.
func TestVolumeProductStaysSmall(t *testing.T) {
	many := func(volumes int, terms func(i int) []string) (got podVolumes) {
		p := &Problem{}
		var claims []string
		for i := range volumes {
			name := fmt.Sprintf("c%02d", i)
			claims = append(claims, name)
			addStorage(&p.Storage, []any{testClaim(name, "", name), testVolume(name, terms(i)...)})
		}
		p.Pods = []*corev1.Pod{volumePod("web", claims...)}
		return newVolumes(p).of(p.Pods[0])
	}
	racks := func(from, n int) (out []string) {
		for i := from; i < from+n; i++ {
			out = append(out, fmt.Sprintf("rack=%d & %s=%c", i, zone, 'a'+i%3))
		}
		return out
	}
	for _, tc := range []struct {
		name, reason string
		got          podVolumes
		most         int
		want         string
	}{
		{"alike", "the same alternatives forty times", many(40, func(int) []string { return []string{"x=1", "y=1"} }), 2, "x In [1] | y In [1]"},
		{"racks", "a thousand pairs are three lists", many(3, func(int) []string { return racks(0, 1000) }), 3, ""},
		{"racks in common", "two of a hundred", many(2, func(i int) []string { return racks(98*i, 100) }), 2, "rack In [98] & zone In [c] | rack In [99] & zone In [a]"},
		{"forced", "the first choice decides all others", many(30, func(i int) []string {
			return []string{fmt.Sprintf("%s=a & x%d=1", zone, i), fmt.Sprintf("%s=b & x%d=2", zone, i)}
		}), 2, ""},
		{"independent", "two to the thirtieth: some are enough", many(30, func(i int) []string { return []string{fmt.Sprintf("x%d=1", i), fmt.Sprintf("y%d=1", i)} }), maxAlternatives, ""},
		{"nowhere", "a contradiction behind many choices", many(31, func(i int) []string {
			if i == 30 {
				return []string{"x0=2 & y0=2"}
			}
			return []string{fmt.Sprintf("x%d=1", i), fmt.Sprintf("y%d=1", i)}
		}), 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := len(tc.got.terms)
			if n > tc.most || n == 0 && tc.got.fault == "" || (tc.most == 0) != (tc.got.fault != "") {
				t.Errorf("%d alternatives, want at most %d: %s (fault %q)", n, tc.most, tc.reason, tc.got.fault)
			}
			if text := termsText(tc.got.terms); tc.want != "" && text != tc.want {
				t.Errorf("terms %s, want %s", text, tc.want)
			}
			if len(tc.got.fault) > 200 && !strings.Contains(tc.got.fault, "...") {
				t.Errorf("the fault is long: %s", tc.got.fault)
			}
		})
	}
}
