package snapshot

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPodGroups(t *testing.T) {
	kubernetes := func(policy string) string {
		return "---\napiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\nmetadata: {name: g}\nspec: {schedulingPolicy: {" + policy + "}}\n"
	}
	plugin := func(spec string) string {
		return "---\napiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: g}\nspec: {" + spec + "}\n"
	}
	const label = " by scheduling.x-k8s.io/pod-group"
	for _, tt := range []struct{ name, reason, text, want, finding string }{
		{"gang", "all or nothing", kubernetes("gang: {minCount: 3}"), "default/g 3 false", ""},
		{"basic", "a group that is no gang", kubernetes("basic: {}"), "default/g 0 true", ""},
		{"no policy", "the API server refuses it", kubernetes(""), "", "spec.schedulingPolicy: one of gang and basic is needed"},
		{"both policies", "the API server refuses it", kubernetes("basic: {}, gang: {minCount: 1}"), "", "one of gang and basic is needed"},
		{"no minimum", "the API server refuses it", kubernetes("gang: {}"), "", "spec.schedulingPolicy.gang.minCount: 0 is less than one pod"},
		{"coscheduling", "pods name it by a label", plugin("minMember: 3"), "default/g 3 false" + label, ""},
		{"coscheduling without a minimum", "the plugin holds no pod back", plugin(""), "default/g 0 true" + label, ""},
		{"coscheduling with a negative minimum", "a slip", plugin("minMember: -1"), "", "spec.minMember: -1 is negative"},
		{"both", "two groups of one name", kubernetes("gang: {minCount: 2}") + plugin("minMember: 3"), "default/g 2 false" + label, "a PodGroup of scheduling.k8s.io has the same name and is used"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := load(t, tt.text)
			var got []string
			for _, g := range r.Problem.Gangs {
				got = append(got, fmt.Sprintf("%s/%s %d %v", g.Namespace, g.Name, g.MinCount, g.Basic))
			}
			if len(r.Problem.GangLabels) > 0 {
				got = append(got, "by "+strings.Join(r.Problem.GangLabels, " "))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("gangs %q, want %q: %s", got, tt.want, tt.reason)
			}
			if text := texts(r.Findings); (text == "") != (tt.finding == "") || !strings.Contains(text, tt.finding) {
				t.Errorf("findings %q, want %q: %s", text, tt.finding, tt.reason)
			}
		})
	}
	var l Loader
	group := &schedulingv1alpha2.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "g"}}
	group.Spec.SchedulingPolicy.Gang = &schedulingv1alpha2.GangSchedulingPolicy{MinCount: 2}
	l.Add(Objects{PodGroups: []*schedulingv1alpha2.PodGroup{group}})
	if g := l.Result().Problem.Gangs; len(g) != 1 || g[0].Namespace != "default" || g[0].MinCount != 2 || group.Namespace != "" {
		t.Errorf("gangs %v of a Go value with namespace %q, want one of default, and the value as it was", g, group.Namespace)
	}
}

func TestDefaultSpread(t *testing.T) {
	var l Loader
	l.Add(Objects{
		Services: []*corev1.Service{{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "s"}}, {ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "s"}}},
		ReplicationControllers: []*corev1.ReplicationController{
			{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "named"}, Spec: corev1.ReplicationControllerSpec{Selector: map[string]string{"app": "x"}}},
			{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "by-template"}, Spec: corev1.ReplicationControllerSpec{Replicas: new(int32), Template: &corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "y"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}}},
		},
	})
	s := l.Result().Problem.DefaultSpread
	if len(s.Constraints) > 0 || len(s.Services) != 2 || s.Services[0].Namespace != "a" {
		t.Errorf("%d constraints and services %v, want none, and those of a and b", len(s.Constraints), s.Services)
	}
	var got []string
	for _, o := range s.Owners {
		got = append(got, o.Name+" "+metav1.FormatLabelSelector(o.Selector))
	}
	// A ReplicationController without a selector has its template's labels.
	if want := "by-template app=y, named app=x"; strings.Join(got, ", ") != want {
		t.Errorf("owners %q, want %q", got, want)
	}
}
