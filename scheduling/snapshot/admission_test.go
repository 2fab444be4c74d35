package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// amounts prints a list of resources as a test states it.
func amounts(l corev1.ResourceList) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(l)) {
		q := l[name]
		out = append(out, fmt.Sprintf("%s=%s", name, q.String()))
	}
	return strings.Join(out, " ")
}

func TestAdmissionOfResources(t *testing.T) {
	limitRange := func(item string) string {
		return "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: l}\nspec: {limits: [{" + item + "}]}\n"
	}
	for _, tt := range []struct {
		name, reason, container, more, requests, limits string
	}{
		{"requests", "stay", "requests: {cpu: 1}", "", "cpu=1", ""},
		{"limits", "are the requests where there are none", "limits: {cpu: 2, memory: 1Gi}, requests: {cpu: 1}", "", "cpu=1 memory=1Gi", "cpu=2 memory=1Gi"},
		{"defaultRequest", "fills in", "requests: {cpu: 1}", limitRange("type: Container, defaultRequest: {cpu: 100m, memory: 1Gi}"), "cpu=1 memory=1Gi", ""},
		{"default", "is a limit, and a request where the range names none", "", limitRange("type: Container, default: {cpu: 500m}"), "cpu=500m", "cpu=500m"},
		{"max", "is the default limit where there is none", "", limitRange("type: Container, max: {cpu: 2}"), "cpu=2", "cpu=2"},
		{"min", "is the default request where there is none", "", limitRange("type: Container, min: {cpu: 10m}"), "cpu=10m", ""},
		{"own limit first", "a request follows the container's own limit, before the range is asked", "limits: {cpu: 4}",
			limitRange("type: Container, defaultRequest: {cpu: 100m}"), "cpu=4", "cpu=4"},
		{"pod range", "only checks", "", limitRange("type: Pod, max: {cpu: 2}"), "", ""},
		{"elsewhere", "a range is about its namespace", "", strings.Replace(limitRange("type: Container, default: {cpu: 1}"), "{name: l}", "{name: l, namespace: b}", 1), "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spec := "spec: {initContainers: [{name: i, resources: {" + tt.container + "}}], containers: [{name: c, resources: {" + tt.container + "}}]}"
			text := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {" + spec + "}}\n" + tt.more
			r := load(t, text)
			for _, c := range slices.Concat(r.Problem.Pods[0].Spec.InitContainers, r.Problem.Pods[0].Spec.Containers) {
				if got := amounts(c.Resources.Requests); got != tt.requests {
					t.Errorf("container %s requests %q, want %q: %s", c.Name, got, tt.requests, tt.reason)
				}
				if got := amounts(c.Resources.Limits); got != tt.limits {
					t.Errorf("container %s has limits %q, want %q: %s", c.Name, got, tt.limits, tt.reason)
				}
			}
			if len(r.Findings) > 0 {
				t.Error(texts(r.Findings))
			}
		})
	}
}

func TestAdmissionOfPodLevelResources(t *testing.T) {
	r := load(t, `apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  resources: {limits: {cpu: 4, memory: 4Gi}}
  containers: [{name: c, resources: {requests: {cpu: 1}}}]
`)
	if got := amounts(r.Problem.Pods[0].Spec.Resources.Requests); got != "memory=4Gi" {
		t.Errorf("pod requests %q, want memory=4Gi: what containers ask for is summed up, the rest is the pod's limit", got)
	}
}

func TestAdmissionOfClasses(t *testing.T) {
	const classes = `---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata
overhead: {podFixed: {cpu: 250m, memory: 160Mi}}
scheduling: {nodeSelector: {runtime: kata}, tolerations: [{key: kata, operator: Exists}]}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
preemptionPolicy: Never
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: usual}
value: 10
globalDefault: true
`
	for _, tt := range []struct {
		name, reason, meta, spec, want, mentions string
	}{
		{"runtime class", "overhead, selector and toleration", "", "runtimeClassName: kata, priority: 1", `overhead cpu=250m memory=160Mi selector map[runtime:kata] tolerates 1 priority 1 ""`, ""},
		{"selector agrees", "no matter", "", "runtimeClassName: kata, priority: 1, nodeSelector: {runtime: kata}", `overhead cpu=250m memory=160Mi selector map[runtime:kata] tolerates 1 priority 1 ""`, ""},
		{"selector differs", "the server would refuse it", "", "runtimeClassName: kata, priority: 1, nodeSelector: {runtime: runc}",
			`overhead cpu=250m memory=160Mi selector map[runtime:runc] tolerates 1 priority 1 ""`, "the pod's is used"},
		{"unknown runtime class", "the rest can go on", "", "runtimeClassName: gvisor, priority: 1", `overhead  selector map[] tolerates 0 priority 1 ""`, `RuntimeClass "gvisor" is not in the input`},
		{"priority class", "its value and policy", "", "priorityClassName: high", `overhead  selector map[] tolerates 0 priority 1000 "Never"`, ""},
		{"default class", "for pods that name none", "", "", `overhead  selector map[] tolerates 0 priority 10 ""`, ""},
		{"system class", "every cluster has it", "", "priorityClassName: system-node-critical", `overhead  selector map[] tolerates 0 priority 2000001000 ""`, ""},
		{"unknown priority class", "the rest can go on", "", "priorityClassName: low", `overhead  selector map[] tolerates 0 priority 0 ""`, `PriorityClass "low" is not in the input`},
		{"live pod", "a server has been through all this", ", uid: abc", "runtimeClassName: kata", `overhead  selector map[] tolerates 0 priority -1 ""`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spec := strings.Trim("containers: [{name: c}], "+tt.spec, ", ")
			r := load(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p"+tt.meta+"}\nspec: {"+spec+"}\n"+classes)
			s := r.Problem.Pods[0].Spec
			priority, policy := int32(-1), corev1.PreemptionPolicy("")
			if s.Priority != nil {
				priority = *s.Priority
			}
			if s.PreemptionPolicy != nil {
				policy = *s.PreemptionPolicy
			}
			got := fmt.Sprintf("overhead %s selector %v tolerates %d priority %d %q", amounts(s.Overhead), s.NodeSelector, len(s.Tolerations), priority, policy)
			if got != tt.want {
				t.Errorf("got  %s\nwant %s: %s", got, tt.want, tt.reason)
			}
			if got := texts(r.Findings); (got == "") != (tt.mentions == "") || !strings.Contains(got, tt.mentions) {
				t.Errorf("findings %q, want %q", got, tt.mentions)
			}
		})
	}
}

func quantity(s string) resource.Quantity { return resource.MustParse(s) }
