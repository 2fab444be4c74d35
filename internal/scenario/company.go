package scenario

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// spread reads zone:1, host:2:soft:of=db and so on. Without an app, who is counted is left open.
func spread(f *fields, app string) (out []corev1.TopologySpreadConstraint) {
	for _, text := range f.list("spread") {
		it := f.item("spread", text)
		skew, err := strconv.ParseInt(it.number, 10, 32)
		if err != nil {
			f.fail("spread", fmt.Sprintf("%q is not key:skew or key:skew:soft", text))
			continue
		}
		c := corev1.TopologySpreadConstraint{
			MaxSkew: int32(skew), TopologyKey: it.key, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: it.selector("of", app), MatchLabelKeys: it.keys("match"),
			NodeAffinityPolicy: it.policy("affinity"), NodeTaintsPolicy: it.policy("taints"),
		}
		if it.flag("soft") {
			c.WhenUnsatisfiable = corev1.ScheduleAnyway
		}
		if s := it.str("min"); s != "" {
			n, err := strconv.ParseInt(s, 10, 32)
			if err != nil {
				f.fail("spread", fmt.Sprintf("min=%q is not a number", s))
			}
			few := int32(n)
			c.MinDomains = &few
		}
		it.done()
		out = append(out, c)
	}
	return out
}

// podTerms reads the affinities of a key: required ones, and those with a weight.
func podTerms(f *fields, key, app string) (required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
	for _, text := range f.list(key) {
		it := f.item(key, text)
		t := corev1.PodAffinityTerm{
			TopologyKey: it.key, LabelSelector: it.selector("of", app), Namespaces: it.keys("in"),
			MatchLabelKeys: it.keys("match"), MismatchLabelKeys: it.keys("mismatch"),
		}
		if it.has("where") {
			t.NamespaceSelector = it.selector("where", "")
		}
		weight, err := strconv.ParseInt(it.number, 10, 32)
		switch it.done(); {
		case it.number == "":
			required = append(required, t)
		case err != nil:
			f.fail(key, fmt.Sprintf("%q is not key or key:weight", text))
		default:
			preferred = append(preferred, corev1.WeightedPodAffinityTerm{Weight: int32(weight), PodAffinityTerm: t})
		}
	}
	return required, preferred
}

// item is one constraint between pods: KEY:NUMBER:option:option=value.
type item struct {
	f *fields
	// name is the key of the line, key that of the topology.
	name, key, number string
	options           map[string]string
}

func (f *fields) item(name, text string) *item {
	parts := strings.Split(text, ":")
	it := &item{f: f, name: name, key: labelKey(parts[0]), options: map[string]string{}}
	for i, part := range parts[1:] {
		k, v, valued := strings.Cut(part, "=")
		if i == 0 && !valued && k != "soft" {
			it.number = k
			continue
		}
		it.options[k] = v
	}
	return it
}

// done reports options that nobody asked for.
func (it *item) done() {
	for k := range it.options {
		it.f.fail(it.name, fmt.Sprintf("no such option: %s", k))
	}
}

func (it *item) has(option string) bool {
	_, ok := it.options[option]
	return ok
}

func (it *item) str(option string) string {
	v := it.options[option]
	delete(it.options, option)
	return v
}

func (it *item) flag(option string) bool {
	ok := it.has(option)
	delete(it.options, option)
	return ok
}

func (it *item) keys(option string) []string { return split(it.str(option), "+") }

func (it *item) policy(option string) *corev1.NodeInclusionPolicy {
	policies := map[string]corev1.NodeInclusionPolicy{
		"ignore": corev1.NodeInclusionPolicyIgnore, "honor": corev1.NodeInclusionPolicyHonor,
	}
	s := it.str(option)
	if s == "" {
		return nil
	}
	p, ok := policies[s]
	if !ok {
		it.f.fail(it.name, fmt.Sprintf("%s=%s is neither ignore nor honor", option, s))
	}
	return &p
}

// selector reads an option; without it, pods of the app are selected, or with no app none.
func (it *item) selector(option, app string) *metav1.LabelSelector {
	if it.has(option) {
		return it.f.selector(it.name, it.str(option))
	}
	if app == "" {
		return nil
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

// selector reads db, k=v, k=v+v2, k!=v, k=*, k!=*, several joined by &, all and none.
func (f *fields) selector(key, text string) *metav1.LabelSelector {
	s := &metav1.LabelSelector{}
	switch text {
	case "none":
		return nil
	case "all":
		return s
	}
	for _, part := range split(text, "&") {
		k, v, valued := strings.Cut(part, "=")
		k, not := strings.CutSuffix(k, "!")
		r := metav1.LabelSelectorRequirement{Key: labelKey(k), Operator: metav1.LabelSelectorOpIn, Values: strings.Split(v, "+")}
		switch {
		case k == "" || valued && v == "":
			f.fail(key, fmt.Sprintf("%q is not a selector", text))
		case !valued:
			s.MatchLabels = with(s.MatchLabels, "app", k)
			continue
		case v == "*" && not:
			r.Operator, r.Values = metav1.LabelSelectorOpDoesNotExist, nil
		case v == "*":
			r.Operator, r.Values = metav1.LabelSelectorOpExists, nil
		case not:
			r.Operator = metav1.LabelSelectorOpNotIn
		case len(r.Values) == 1:
			s.MatchLabels = with(s.MatchLabels, r.Key, v)
			continue
		}
		s.MatchExpressions = append(s.MatchExpressions, r)
	}
	return s
}

func with(m map[string]string, k, v string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[k] = v
	return m
}
