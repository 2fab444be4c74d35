package snapshot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func bufferText(name, spec string) string {
	return fmt.Sprintf("---\napiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\nmetadata: {name: %s}\nspec: {%s}\n", name, spec)
}

// shape is a PodTemplate; what its pods request is cpu 1500m and memory 1Gi.
const shape = `---
apiVersion: v1
kind: PodTemplate
metadata: {name: shape}
template:
  metadata: {labels: {app: spare}}
  spec:
    containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}]
    overhead: {cpu: 500m}
`

func TestBuffers(t *testing.T) {
	deployment := workloadText("apps/v1", "Deployment", "web", "  replicas: 10\n")
	like := func(spec string) string { return shape + bufferText("b", "podTemplateRef: {name: shape}, "+spec) }
	web := func(spec string) string {
		return deployment + bufferText("b", "scalableRef: {apiGroup: apps, kind: Deployment, name: web}, "+spec)
	}
	const none = "; no room is planned for the buffer"
	for _, tt := range []struct {
		name, reason, text string
		want               string // names and counts
		findings           string
	}{
		{"replicas", "as many", like("replicas: 3"), "default/capacity-buffer-b 3", ""},
		{"no replicas", "on purpose", like("replicas: 0"), "", ""},
		{"older version", "has the same fields", strings.Replace(like("replicas: 3"), "v1beta1", "v1alpha1", 1), "default/capacity-buffer-b 3", ""},
		{"strategy", "the default one", like("replicas: 3, provisioningStrategy: buffer.x-k8s.io/active-capacity"), "default/capacity-buffer-b 3", ""},
		{"limits", "overhead belongs to what a pod requests: 7 cpu hold four", like("limits: {cpu: 7, memory: 100Gi}"), "default/capacity-buffer-b 4", ""},
		{"limits of two", "the scarcer counts", like("limits: {cpu: 7, memory: 3.5Gi}"), "default/capacity-buffer-b 3", ""},
		{"limits that just do", "no rounding", like("limits: {cpu: 4500m}"), "default/capacity-buffer-b 3", ""},
		{"limit on pods", "a pod is one", like("limits: {pods: 2, cpu: 100}"), "default/capacity-buffer-b 2", ""},
		{"replicas within limits", "limits bound, they do not fill", like("replicas: 3, limits: {cpu: 100}"), "default/capacity-buffer-b 3", ""},
		{"replicas beyond limits", "fewer", like("replicas: 3, limits: {cpu: 3}"), "default/capacity-buffer-b 2", ""},
		{"limits below one pod", "said", like("replicas: 3, limits: {cpu: 1}"), "", "CapacityBuffer b: spec.limits: they hold less than one pod; no room is planned for the buffer; raise them"},
		{"limits of something else", "no bound", like("replicas: 3, limits: {example.com/x: 1}"), "default/capacity-buffer-b 3",
			"CapacityBuffer b: spec.limits: they name nothing that the pods request, and bound nothing; name what the pods request, such as cpu"},
		{"limits of something else only", "no number", like("limits: {example.com/x: 1}"), "",
			"CapacityBuffer b: spec: nothing says how many pods the buffer has; no room is planned for it; add replicas, percentage or limits on what its pods request"},
		{"percentage", "of the replicas wanted", web("percentage: 20"), "default/capacity-buffer-b 2", ""},
		{"percentage with a remainder", "up", web("percentage: 21"), "default/capacity-buffer-b 3", ""},
		{"small percentage", "at least one", web("percentage: 1"), "default/capacity-buffer-b 1", ""},
		{"more than all", "percentages above 100 are allowed", web("percentage: 250"), "default/capacity-buffer-b 25", ""},
		{"nothing of nothing", "a workload at 0 has no buffer, also with limits", strings.Replace(web("percentage: 20, limits: {pods: 5}"), "replicas: 10", "replicas: 0", 1), "", ""},
		{"default replicas", "one", strings.Replace(web("percentage: 100"), "  replicas: 10\n", "", 1), "default/capacity-buffer-b 1", ""},
		{"percentage and replicas", "the larger", web("percentage: 20, replicas: 5"), "default/capacity-buffer-b 5",
			"CapacityBuffer b: spec.percentage: 20% of 10 replicas is 2 pods, and replicas says 5; the larger number counts, as for Karpenter; write one of them: Cluster Autoscaler takes the smaller"},
		{"percentage and replicas that agree", "nothing to say", web("percentage: 20, replicas: 2"), "default/capacity-buffer-b 2", ""},
		{"all three", "the larger, bounded", web("percentage: 20, replicas: 2, limits: {pods: 1}"), "default/capacity-buffer-b 1", ""},
		{"scalable and limits", "as many as fit", web("limits: {pods: 7}"), "default/capacity-buffer-b 7", ""},
		{"scalable alone", "no number", web(""), "", "CapacityBuffer b: spec: nothing says how many pods the buffer has; no room is planned for it; add replicas, percentage or limits on what its pods request"},
		{"stateful set", "has replicas too", workloadText("apps/v1", "StatefulSet", "db", "  replicas: 4\n") + bufferText("b", "scalableRef: {kind: StatefulSet, name: db}, percentage: 50"), "default/capacity-buffer-b 2", ""},
		{"replica set", "and so has this", workloadText("apps/v1", "ReplicaSet", "rs", "  replicas: 4\n") + bufferText("b", "scalableRef: {kind: ReplicaSet, name: rs}, percentage: 50"), "default/capacity-buffer-b 2", ""},
		{"percentage of a template", "has no effect", like("percentage: 20, replicas: 1"), "default/capacity-buffer-b 1",
			"CapacityBuffer b: spec.percentage: a PodTemplate has no replicas to take a percentage of; it has no effect; write replicas, or a scalableRef"},
		{"missing template", "not in the input", bufferText("b", "podTemplateRef: {name: shape}, replicas: 1"), "", "CapacityBuffer b: spec.podTemplateRef.name: PodTemplate \"default/shape\" is not in the input, or has errors" + none + "; add it to the input"},
		{"template elsewhere", "references stay in the namespace", strings.Replace(like("replicas: 1"), "{name: shape}", "{name: shape, namespace: other}", 1), "", "CapacityBuffer b: spec.podTemplateRef.name: PodTemplate \"default/shape\" is not in the input, or has errors" + none + "; add it to the input"},
		{"missing workload", "not in the input", bufferText("b", "scalableRef: {kind: Deployment, name: web}, replicas: 1"), "", "CapacityBuffer b: spec.scalableRef.name: Deployment \"default/web\" is not in the input, or has errors" + none + "; add it to the input"},
		{"another kind", "we know only where templates are in these", bufferText("b", "scalableRef: {apiGroup: example.com, kind: Deployment, name: web}, replicas: 1"), "",
			"CapacityBuffer b: spec.scalableRef: buffers for \"example.com/Deployment\" are not read; no room is planned for this one; refer to a Deployment, ReplicaSet or StatefulSet of apps, or to a PodTemplate"},
		{"another strategy", "somebody else's", like("replicas: 3, provisioningStrategy: example.com/standby"), "",
			"CapacityBuffer b: spec.provisioningStrategy: \"example.com/standby\" is another autoscaler's strategy" + none + "; write buffer.x-k8s.io/active-capacity"},
		{"being deleted", "gone soon", strings.Replace(like("replicas: 3"), "{name: b}", "{name: b, deletionTimestamp: 2026-01-01T00:00:00Z}", 1), "", "CapacityBuffer b: metadata.deletionTimestamp: the buffer is being deleted; no room is planned for it"},
		{"no reference", "error", bufferText("b", "replicas: 1"), "", "CapacityBuffer b: spec: the buffer has no pods to be like; add podTemplateRef or scalableRef"},
		{"two references", "error", web("podTemplateRef: {name: shape}, replicas: 1"), "", "CapacityBuffer b: spec.scalableRef: the buffer also has a podTemplateRef; keep one of them"},
		{"template without a number", "error", like(""), "", "CapacityBuffer b: spec: nothing says how many pods the buffer has; add replicas or limits"},
		{"references without names", "error", bufferText("a", "podTemplateRef: {}, replicas: 1") + bufferText("b", "scalableRef: {kind: Deployment}"), "",
			"CapacityBuffer a: spec.podTemplateRef.name: the reference has no name; name a PodTemplate\nCapacityBuffer b: spec.scalableRef: the reference has no kind or no name; write both"},
		{"negative numbers", "errors", web("percentage: -1, replicas: -1, limits: {cpu: -1}"), "",
			"CapacityBuffer b: spec.limits.cpu: -1 is negative; write 0 or more\nCapacityBuffer b: spec.percentage: -1 is negative; write 0 or more\nCapacityBuffer b: spec.replicas: -1 is negative; write 0 or more"},
		{"too many", "a slip of the pen", like("limits: {cpu: 1e12}"), "", "CapacityBuffer b: spec: its 666666666666 pods are more than the 1000000 that may be made; lower replicas, percentage or limits"},
		{"name taken", "by a pod", like("replicas: 2") + "---\n" + pod("capacity-buffer-b-1"), "default/capacity-buffer-b-x0 2", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := load(t, tt.text)
			var got, findings []string
			for _, d := range r.Problem.Demands {
				if !d.Buffer {
					t.Error("not marked as a buffer")
				}
				got = append(got, fmt.Sprintf("%s/%s %d", d.Template.Namespace, d.Template.Name, d.Count))
			}
			for _, f := range r.Findings {
				f.Origin = Origin{}
				findings = append(findings, strings.Replace(f.String(), " default/", " ", 1))
			}
			if d := cmp.Diff(tt.want, strings.Join(got, " ")); d != "" {
				t.Errorf("%s\n%s", tt.reason, d)
			}
			if d := cmp.Diff(tt.findings, strings.Join(findings, "\n")); d != "" {
				t.Errorf("%s\n%s", tt.reason, d)
			}
		})
	}
}

// TestBufferPods: they are admitted like others, and nothing ties them to a node, a gate or a group.
func TestBufferPods(t *testing.T) {
	template := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Name: "shape", Namespace: "shop"}, Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "spare"}},
		Spec: corev1.PodSpec{NodeName: "n1", SchedulingGates: []corev1.PodSchedulingGate{{Name: "g"}}, PriorityClassName: "high",
			SchedulingGroup: &corev1.PodSchedulingGroup{}, Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": quantity("1")}}}}}}}
	before := template.DeepCopy()
	var l Loader
	l.Add(Objects{PodTemplates: []*corev1.PodTemplate{template}})
	text := strings.Replace(bufferText("b", "podTemplateRef: {name: shape}, replicas: 2"), "{name: b}", "{name: b, namespace: shop}", 1) +
		"---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 7\n"
	if err := l.Read("in.yaml", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	r := l.Result()
	if err := r.Err(); err != nil || len(r.Problem.Demands) != 1 {
		t.Fatalf("%d demands, %v", len(r.Problem.Demands), err)
	}
	p := r.Problem.Demands[0].Template
	switch {
	case p.Spec.NodeName != "" || p.Spec.SchedulingGates != nil || p.Spec.SchedulingGroup != nil:
		t.Error("tied to a node, a gate or a group")
	case amounts(p.Spec.Containers[0].Resources.Requests) != "cpu=1" || *p.Spec.Priority != 7:
		t.Error("not admitted: requests come from limits, the priority from its class")
	case p.Labels["app"] != "spare" || r.Problem.Namespaces["shop"] == nil:
		t.Error("without labels or namespace")
	case r.Problem.PodName(1) != "shop/capacity-buffer-b-1":
		t.Errorf("called %s", r.Problem.PodName(1))
	}
	if d := cmp.Diff(before, template); d != "" {
		t.Errorf("the template was written to:\n%s", d)
	}
}
