package scheduling

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// conditionsOf reads "key Op v v;key Op", keys first.
func conditionsOf(text string) []Requirement {
	var out []Requirement
	for c := range strings.SplitSeq(text, ";") {
		if c = strings.TrimSpace(c); c != "" {
			key, rest, _ := strings.Cut(c, " ")
			out = append(out, conditionOn(key, rest))
		}
	}
	return out
}

func requirementsOf(t testing.TB, text string) Requirements {
	t.Helper()
	out, err := ParseRequirements(conditionsOf(text), LabelRules{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func setText(r Requirements) string {
	var out []string
	for _, k := range r.Keys() {
		out = append(out, k+": "+r.Get(k).String())
	}
	return strings.Join(out, "; ")
}

const zone = corev1.LabelTopologyZone

func TestConflicts(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		have, want   string
		existing     bool // the node exists: nothing is open
		conflicts    string
	}{
		{"nothing asked", "anything satisfies no condition", "team In a", "", false, ""},
		{"well-known, new node", "the type or the offering may bring the zone", "", zone + " In a", false, ""},
		{"well-known, existing node", "a label must really be on a node that exists", "", zone + " In a", true,
			zone + ": want [a], have absent"},
		{"undefined custom, In", "nobody will put the label there", "", "team In a", false, "team: want [a], have absent"},
		{"undefined custom, Exists", "as above", "", "team Exists", false, "team: want any value, have absent"},
		{"undefined custom, Gt", "as above", "", "gen Gt 3", false, "gen: want integer from 4, have absent"},
		{"undefined custom, Lte", "as above", "", "gen Lte 3", false, "gen: want integer to 3, have absent"},
		{"undefined custom, NotIn", "a node without the label satisfies NotIn", "", "team NotIn a", false, ""},
		{"undefined custom, DoesNotExist", "a node without the label is what is asked", "", "team DoesNotExist", false, ""},
		{"undefined custom, Exists and NotIn", "kube-scheduler rejects the node, Karpenter's algebra accepts it (1.9, defect 5)",
			"", "team Exists; team NotIn a", false, "team: want any value but [a], have absent"},
		{"undefined custom, Gt and NotIn", "as above", "", "gen Gt 3; gen NotIn 7", false, "gen: want integer from 4 but [7], have absent"},
		{"pool Exists, pod In", "the pod may narrow what the pool leaves open", "team Exists", "team In a", false, ""},
		{"pool Exists, pod DoesNotExist", "the pool will put some value there", "team Exists", "team DoesNotExist", false,
			"team: want absent, have any value"},
		{"pool In, pod In another", "no value in common", "team In a b", "team In c", false, "team: want [c], have [a b]"},
		{"pool In, pod NotIn one of them", "the other is left", "team In a b", "team NotIn a", false, ""},
		{"pool In, pod NotIn all", "none is left", "team In a b", "team NotIn a b c", false, "team: want anything but [a b c], have [a b]"},
		{"pool NotIn, pod NotIn", "both hold without the label", "team NotIn a", "team NotIn b", false, ""},
		{"pool DoesNotExist, pod NotIn", "both hold without the label", "team DoesNotExist", "team NotIn b", false, ""},
		{"pool NotIn, pod DoesNotExist", "both hold without the label", "team NotIn a", "team DoesNotExist", false, ""},
		{"pool DoesNotExist, pod In", "the pool forbids the label", "team DoesNotExist", "team In a", false, "team: want [a], have absent"},
		{"pool NotIn, pod Exists", "the pool leaves room for another value", "team NotIn a", "team Exists", false, ""},
		{"window without integers", "Karpenter takes it for satisfiable (1.1, emptiness)", "gen Gt 3; gen Lt 5", "gen NotIn 4", false,
			"gen: want anything but [4], have integer from 4 to 4"},
		{"leading zeros", "07 is above 3 for kube-scheduler", "gen In 07", "gen Gt 3", false, ""},
		{"word against a bound", "a word is no integer", "gen In seven", "gen Gt 3", false, "gen: want integer from 4, have [seven]"},
		{"beyond the last integer", "nothing is above it", "gen Exists", "gen Gt 9223372036854775807", false, "gen: want nothing, have any value"},
		{"deprecated keys", "aliases are applied on both sides", "failure-domain.beta.kubernetes.io/zone In a", zone + " In b", true,
			zone + ": want [b], have [a]"},
		{"several", "all conflicts are reported, in the order of keys", "b In 1;d In 1", "d In 2;b In 2;c In 2;a In 2", false,
			"a: want [2], have absent; b: want [2], have [1]; c: want [2], have absent; d: want [2], have [1]"},
		{"typo in a well-known key", "one letter is missing", "", "topology.kubernetes.io/zne In a", false,
			"topology.kubernetes.io/zne: want [a], have absent (was topology.kubernetes.io/zone meant?)"},
		{"typo in the node's key", "keys of the node are candidates too", "example.com/team In a", "example.com/taem In a", true,
			"example.com/taem: want [a], have absent (was example.com/team meant?)"},
		{"prefix left out", "the same name under a prefix", "", "zone In a", false, "zone: want [a], have absent (was topology.kubernetes.io/zone meant?)"},
		{"part of a key", "the node has a longer key", "example.com/team-name In a", "team In a", false,
			"team: want [a], have absent (was example.com/team-name meant?)"},
		{"same name before part of a key", "a name is meant more often than a piece of one", "zone-id In a", "zone In a", false,
			"zone: want [a], have absent (was topology.kubernetes.io/zone meant?)"},
		{"two candidates", "the nearer key, then the smaller, whatever the order of maps", "team-c In a;team-b In a;team-bb In a", "team-a In a", false,
			"team-a: want [a], have absent (was team-b meant?)"},
		{"nothing similar", "a wrong hint is worse than none", "example.com/team In a", "colour In red", false, "colour: want [red], have absent"},
		{"key is right", "no hint where the key is not the trouble", "team In a;tram In a", "team In b", false, "team: want [b], have [a]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var open []string
			if !tc.existing {
				open = KubernetesLabels()
			}
			have, want := requirementsOf(t, tc.have), requirementsOf(t, tc.want)
			var got []string
			for _, c := range have.Conflicts(want, open...) {
				got = append(got, c.String())
			}
			if text := strings.Join(got, "; "); text != tc.conflicts {
				t.Errorf("%s:\ngot  %s\nwant %s", tc.reason, text, tc.conflicts)
			}
			slices.Reverse(open)
			if again := have.Conflicts(want, open...); len(again) != len(got) || len(got) > 0 && again[0].String() != got[0] {
				t.Errorf("the order of open keys shows: %v, %v", got, again)
			}
		})
	}
}

func TestParseRequirements(t *testing.T) {
	rules := LabelRules{
		Aliases:      map[string]string{"old/zone": "zone"},
		ValueAliases: map[string]map[string]string{"zone": {"": "0", "a": "b"}},
	}
	for _, tc := range []struct {
		name, reason, list string
		rules              LabelRules
		want               string
	}{
		{"sorted", "equal lists in any order give equal sets", "b In 1;a In 2", LabelRules{}, "a: [2]; b: [1]"},
		{"same key", "conditions on one key are intersected", "a In 1 2;a NotIn 1", LabelRules{}, "a: [2]"},
		{"default aliases", "nil aliases are those of Kubernetes", "beta.kubernetes.io/arch In arm64;kubernetes.io/arch In amd64 arm64", LabelRules{},
			"kubernetes.io/arch: [arm64]"},
		{"no aliases", "an empty map means none", "beta.kubernetes.io/arch Exists", LabelRules{Aliases: map[string]string{}},
			"beta.kubernetes.io/arch: any value"},
		{"own aliases", "they replace the defaults", "beta.kubernetes.io/arch Exists;old/zone In x", rules, "beta.kubernetes.io/arch: any value; zone: [x]"},
		{"values", "they are translated after the key", `old/zone In a "" c`, rules, "zone: [0 b c]"},
		{"contradiction", "it is no fault of the list, but of what it is used for", "a In 1;a In 2", LabelRules{}, "a: nothing"},
		{"empty", "nothing is asked", "", LabelRules{}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			list := conditionsOf(tc.list)
			before := fmt.Sprint(list)
			got, err := ParseRequirements(list, tc.rules)
			if err != nil || setText(got) != tc.want {
				t.Errorf("%s: got %q, %v; want %q", tc.reason, setText(got), err, tc.want)
			}
			if fmt.Sprint(list) != before {
				t.Errorf("the list was changed: %s, was %s", fmt.Sprint(list), before)
			}
			slices.Reverse(list)
			if again, _ := ParseRequirements(list, tc.rules); setText(again) != setText(got) {
				t.Errorf("the order of the list shows: %s", setText(again))
			}
			if self := got.Conflicts(got); (len(self) > 0) != strings.Contains(tc.want, "nothing") {
				t.Errorf("a set conflicts with itself exactly if it contradicts itself; got %v", self)
			}
		})
	}
}

func TestParseRequirementsReportsEveryFault(t *testing.T) {
	_, err := ParseRequirements(conditionsOf("a In 1;b Gt x;c Foo;d In"), LabelRules{})
	var input *InputError
	if !errors.As(err, &input) {
		t.Fatalf("got %T %v", err, err)
	}
	const want = `requirements[1]: requirement "b Gt [x]" has no integer of 64 bits; give one such as 4
requirements[2]: requirement "c Foo" has an unknown operator; use In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte
requirements[3]: requirement "d In" has no values; list at least one, or use Exists or DoesNotExist`
	var got []string
	for _, f := range input.Faults {
		got = append(got, f.String())
	}
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

func TestRequirementsSpelling(t *testing.T) {
	r := requirementsOf(t, "team Exists;team NotIn x;cpu Gt 3;cpu Lt 99;cpu NotIn 7;zone In a;arch In amd64 arm64;gpu DoesNotExist")
	var text []string
	for _, q := range r.List() {
		text = append(text, q.String())
	}
	const want = "arch In [amd64 arm64], cpu Gte [4], cpu Lte [98], cpu NotIn [7], gpu DoesNotExist, team Exists, team NotIn [x], zone In [a]"
	if got := strings.Join(text, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	back, err := ParseRequirements(r.List(), LabelRules{})
	if err != nil || setText(back) != setText(r) {
		t.Errorf("came back as %s (%v)", setText(back), err)
	}
	if got := r.Labels(); !maps.Equal(got, map[string]string{"zone": "a"}) {
		t.Errorf("only zone is decided, got %v", got)
	}
	if s := r.Get("nobody"); !s.Equal(AnyValue()) {
		t.Errorf("of a key that is not mentioned nothing is asked, got %s", s)
	}
	var zero Requirements
	if len(zero.Keys()) != 0 || zero.List() != nil || len(zero.Labels()) != 0 || zero.Conflicts(zero) != nil || setText(zero.Intersect(r)) != setText(r) {
		t.Error("the zero value asks for something")
	}
}

func TestNodeRequirements(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		labels       map[string]string
		rules        LabelRules
		want         string
	}{
		{"plain", "each label has its value, empty ones too", map[string]string{"b": "", "a": "1"}, LabelRules{}, `a: [1]; b: [""]`},
		{"old spelling", "old nodes carry only that", map[string]string{corev1.LabelFailureDomainBetaZone: "z"}, LabelRules{}, zone + ": [z]"},
		{"both spellings", "the new one counts", map[string]string{corev1.LabelFailureDomainBetaZone: "old", zone: "new"}, LabelRules{}, zone + ": [new]"},
		{"two old spellings", "the first in the order of keys, never by chance", map[string]string{"q": "2", "p": "1"},
			LabelRules{Aliases: map[string]string{"p": "k", "q": "k"}}, "k: [1]"},
		{"value", "drivers may spell values differently", map[string]string{"p": "usw2-az1"},
			LabelRules{Aliases: map[string]string{"p": "k"}, ValueAliases: map[string]map[string]string{"k": {"usw2-az1": "us-west-2a"}}}, "k: [us-west-2a]"},
		{"none", "no labels", nil, LabelRules{}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := setText(NodeRequirements(tc.labels, tc.rules)); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

// termOf reads "key Op v;key Op v" into a term; keys that start with @ are fields.
func termOf(text string) corev1.NodeSelectorTerm {
	var t corev1.NodeSelectorTerm
	for _, r := range conditionsOf(text) {
		e := corev1.NodeSelectorRequirement{Key: r.Key, Operator: r.Operator, Values: r.Values}
		if key, field := strings.CutPrefix(r.Key, "@"); field {
			e.Key = key
			t.MatchFields = append(t.MatchFields, e)
		} else {
			t.MatchExpressions = append(t.MatchExpressions, e)
		}
	}
	return t
}

func podThatSelects(selector map[string]string, terms []string) *corev1.Pod {
	p := &corev1.Pod{Spec: corev1.PodSpec{NodeSelector: selector}}
	if terms != nil {
		s := &corev1.NodeSelector{}
		for _, t := range terms {
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, termOf(t))
		}
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: s}}
	}
	return p
}

func TestParseNodeSelector(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		selector     map[string]string
		terms        []string
		want         []string
	}{
		{"nothing", "any node will do", nil, nil, []string{""}},
		{"selector", "each pair is In with one value", map[string]string{"b": "2", "a": "1"}, nil, []string{"a: [1]; b: [2]"}},
		{"selector, old spelling", "aliases apply to it", map[string]string{"beta.kubernetes.io/os": "linux"}, nil, []string{"kubernetes.io/os: [linux]"}},
		{"terms", "they are alternatives; Karpenter looks at the first only (1.2)", nil, []string{"a In 1;b NotIn 2", "c Exists"},
			[]string{"a: [1]; b: anything but [2]", "c: any value"}},
		{"selector and terms", "the selector holds in every alternative", map[string]string{"s": "x"}, []string{"a In 1", "s In y"},
			[]string{"a: [1]; s: [x]", "s: nothing"}},
		{"same key in a term", "conditions of a term must hold together", nil, []string{"a Gt 3;a Lt 9;a NotIn 5"}, []string{"a: integer from 4 to 8 but [5]"}},
		{"empty term", "it matches no node, so the other decides", nil, []string{"", "a In 1"}, []string{"a: [1]"}},
		{"only an empty term", "no node will do; Karpenter lets any do (1.2)", map[string]string{"s": "x"}, []string{""}, nil},
		{"no terms", "an empty list of alternatives has none", nil, []string{}, nil},
		{"field", "the name of the node is a condition like others", nil, []string{"@metadata.name In n1;a In 1"}, []string{"a: [1]; metadata.name: [n1]"}},
		{"field, negative", "a node always has a name", nil, []string{"@metadata.name NotIn n1"}, []string{"metadata.name: anything but [n1]"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseNodeSelector(podThatSelects(tc.selector, tc.terms), LabelRules{})
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			var text []string
			for _, r := range got {
				text = append(text, setText(r))
			}
			if !slices.Equal(text, tc.want) {
				t.Errorf("%s: got %q, want %q", tc.reason, text, tc.want)
			}
		})
	}
}

func TestParseNodeSelectorReportsEveryFault(t *testing.T) {
	pod := podThatSelects(map[string]string{"": "x"}, []string{"a Gt x;b Gte 3;c In", "@metadata.uid In 1;@metadata.name In a b;@metadata.name Exists"})
	_, err := ParseNodeSelector(pod, LabelRules{})
	var input *InputError
	if !errors.As(err, &input) {
		t.Fatalf("got %T %v", err, err)
	}
	const terms = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
	want := []string{
		`spec.nodeSelector[""]: requirement " In [x]" has no key; name the label`,
		terms + `[0].matchExpressions[0]: requirement "a Gt [x]" has no integer of 64 bits; give one such as 4`,
		terms + `[0].matchExpressions[1]: operator Gte is not known to Kubernetes; pods have Gt and Lt; only pools have Gte and Lte`,
		terms + `[0].matchExpressions[2]: requirement "c In" has no values; list at least one, or use Exists or DoesNotExist`,
		terms + `[1].matchFields[0]: field condition "metadata.uid In [1]" cannot be used; fields know metadata.name In or NotIn one value`,
		terms + `[1].matchFields[1]: field condition "metadata.name In [a b]" cannot be used; fields know metadata.name In or NotIn one value`,
		terms + `[1].matchFields[2]: field condition "metadata.name Exists" cannot be used; fields know metadata.name In or NotIn one value`,
	}
	var got []string
	for _, f := range input.Faults {
		got = append(got, f.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestConflictsAgainstLabels holds Conflicts against nodes that exist: no conflict means exactly that the node's
// labels satisfy every condition, and intersecting two sets means that both are satisfied.
func TestConflictsAgainstLabels(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	keys := []string{"a", "b", "c"}
	random := func() []Requirement {
		var out []Requirement
		for range rng.IntN(5) {
			out = append(out, conditionOn(keys[rng.IntN(3)], conditions[rng.IntN(len(conditions))]))
		}
		return out
	}
	met := 0
	for range 20_000 {
		labels := map[string]string{}
		for _, k := range keys {
			if s := states[rng.IntN(len(states))]; s != absentState {
				labels[k] = s
			}
		}
		node := NodeRequirements(labels, LabelRules{})
		one, two := random(), random()
		satisfied := func(list []Requirement) bool {
			return !slices.ContainsFunc(list, func(r Requirement) bool {
				state, ok := labels[r.Key]
				if !ok {
					state = absentState
				}
				return !admits(r, state)
			})
		}
		a, errA := ParseRequirements(one, LabelRules{})
		b, errB := ParseRequirements(two, LabelRules{})
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if got := node.Conflicts(a); (got == nil) != satisfied(one) {
			t.Fatalf("labels %v against %v: conflicts %v", labels, one, got)
		}
		if got := node.Conflicts(a.Intersect(b)); (got == nil) != (satisfied(one) && satisfied(two)) {
			t.Fatalf("labels %v against %v and %v: conflicts %v", labels, one, two, got)
		}
		if satisfied(one) && satisfied(two) {
			met++
			if got := a.Conflicts(b, keys...); got != nil {
				t.Fatalf("%v and %v are both met by %v, yet conflict: %v", one, two, labels, got)
			}
		}
	}
	if met < 500 {
		t.Errorf("only %d random nodes met their conditions; the test says little", met)
	}
}

func TestLabelRules(t *testing.T) {
	for old, now := range KubernetesAliases() {
		if got := (LabelRules{}).Key(old); got != now {
			t.Errorf("%s: got %s, want %s, as nil means the aliases of Kubernetes", old, got, now)
		}
		if got := (LabelRules{Aliases: map[string]string{}}).Key(old); got != old {
			t.Errorf("%s: got %s, though an empty map means no aliases", old, got)
		}
	}
	r := LabelRules{ValueAliases: map[string]map[string]string{zone: {"": "0"}}}
	for _, key := range []string{zone, corev1.LabelFailureDomainBetaZone} {
		if got := r.Value(key, ""); got != "0" {
			t.Errorf("value of %s: got %q, want the translation by either spelling of the key", key, got)
		}
	}
	if r.Value("other", "") != "" || r.Value(zone, "a") != "a" || (LabelRules{}).Value(zone, "a") != "a" {
		t.Error("a value was translated that has no translation")
	}
}

func TestEditDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"zone", "zne", 1}, {"team", "taem", 2}, {"kitten", "sitting", 3}, {"Zone", "zone", 0},
		{strings.Repeat("a", 400), strings.Repeat("a", 317), 83}} {
		if got := editDistance(tc.a, tc.b); got != tc.want {
			t.Errorf("%.20q to %.20q: got %d, want %d", tc.a, tc.b, got, tc.want)
		}
		if got := editDistance(tc.b, tc.a); got != tc.want {
			t.Errorf("%.20q to %.20q: got %d, want %d", tc.b, tc.a, got, tc.want)
		}
	}
}
