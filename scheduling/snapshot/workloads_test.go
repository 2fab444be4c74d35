package snapshot

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

const template = `  template:
    metadata: {labels: {app: x}}
    spec: {containers: [{name: c}]}
`

func workloadText(apiVersion, kind, name, spec string) string {
	return fmt.Sprintf("---\napiVersion: %s\nkind: %s\nmetadata: {name: %s}\nspec:\n%s%s", apiVersion, kind, name, spec, template)
}

func ownedPod(name, kind, owner, more string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, ownerReferences: [{apiVersion: apps/v1, kind: %s, name: %s, uid: u, controller: true}]%s}\nspec: {containers: [{name: c}]}\n",
		name, kind, owner, more)
}

func TestWorkloadsAreExpanded(t *testing.T) {
	deployment := workloadText("apps/v1", "Deployment", "web", "  replicas: 3\n")
	set := strings.Replace(workloadText("apps/v1", "ReplicaSet", "web-abc", "  replicas: 3\n"), "{name: web-abc}",
		"{name: web-abc, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: u, controller: true}]}", 1)
	hash := ", labels: {pod-template-hash: abc}"
	job := func(spec, status string) string {
		return workloadText("batch/v1", "Job", "j", spec) + "status: {" + status + "}\n"
	}
	for _, tt := range []struct {
		name, reason, text, want string
	}{
		{"deployment", "none of its pods is there", deployment, "web-00000 web-00001 web-00002"},
		{"default replicas", "one, as the API server has it", workloadText("apps/v1", "Deployment", "web", ""), "web-00000"},
		{"no replicas", "scaled to nothing", workloadText("apps/v1", "Deployment", "web", "  replicas: 0\n"), ""},
		{"pods by way of the ReplicaSet", "kubectl get deploy,rs,pods", deployment + set + ownedPod("web-abc-1", "ReplicaSet", "web-abc", ""),
			"web-00000 web-00001 web-abc-1"},
		{"pods by the template hash", "kubectl get deploy,pods: the ReplicaSet's name tells", deployment + ownedPod("web-abc-1", "ReplicaSet", "web-abc", hash),
			"web-00000 web-00001 web-abc-1"},
		{"all there", "a dump of a running cluster", deployment + set + ownedPod("a", "ReplicaSet", "web-abc", "") +
			ownedPod("b", "ReplicaSet", "web-abc", "") + ownedPod("c", "ReplicaSet", "web-abc", ""), "a b c"},
		{"surge", "a rollout has more for a while", deployment + set + ownedPod("a", "ReplicaSet", "web-abc", "") + ownedPod("b", "ReplicaSet", "web-abc", "") +
			ownedPod("c", "ReplicaSet", "web-abc", "") + ownedPod("d", "ReplicaSet", "web-abc", ""), "a b c d"},
		{"another deployment's pods", "web-x is not web", deployment + ownedPod("web-x-abc-1", "ReplicaSet", "web-x-abc", hash),
			"web-00000 web-00001 web-00002 web-x-abc-1"},
		{"terminating pod", "the controller makes another", deployment +
			ownedPod("a", "ReplicaSet", "web-abc", ", deletionTimestamp: 2026-01-01T00:00:00Z, labels: {pod-template-hash: abc}"), "web-00000 web-00001 web-00002"},
		{"name taken", "numbers in use are passed over", deployment + "---\n" + pod("web-00001"), "web-00000 web-00001 web-00002 web-00003"},
		{"replica set", "on its own", workloadText("apps/v1", "ReplicaSet", "rs", "  replicas: 2\n") + ownedPod("a", "ReplicaSet", "rs", ""), "a rs-00000"},
		{"replica set of a deployment elsewhere", "the Deployment is not in the input", set, "web-abc-00000 web-abc-00001 web-abc-00002"},
		{"replication controller", "as a ReplicaSet", workloadText("v1", "ReplicationController", "rc", "  replicas: 2\n") + ownedPod("a", "ReplicationController", "rc", ""), "a rc-00000"},
		{"stateful set", "names are ordinals", workloadText("apps/v1", "StatefulSet", "db", "  replicas: 3\n") + ownedPod("db-1", "StatefulSet", "db", ""), "db-0 db-1 db-2"},
		{"ordinals start", "spec.ordinals.start", workloadText("apps/v1", "StatefulSet", "db", "  replicas: 2\n  ordinals: {start: 5}\n"), "db-5 db-6"},
		{"failed pod of a stateful set", "its successor has its name", workloadText("apps/v1", "StatefulSet", "db", "  replicas: 1\n") +
			ownedPod("db-0", "StatefulSet", "db", "") + "status: {phase: Failed}\n", "db-0"},
		{"job", "parallelism and completions default to one", job("", ""), "j-00000"},
		{"job with completions left", "the smaller of parallelism and what is left", job("  parallelism: 4\n  completions: 10\n", "succeeded: 8"), "j-00000 j-00001"},
		{"job in full swing", "parallelism", job("  parallelism: 2\n  completions: 10\n", ""), "j-00000 j-00001"},
		{"job with a running pod", "only what is missing", job("  parallelism: 2\n  completions: 10\n", "") + ownedPod("a", "Job", "j", ""), "a j-00000"},
		{"job counts finished pods", "if its status is behind", job("  parallelism: 2\n  completions: 2\n", "") + ownedPod("a", "Job", "j", "") + "status: {phase: Succeeded}\n", "j-00000"},
		{"work queue", "no completions: parallelism", job("  parallelism: 3\n", ""), "j-00000 j-00001 j-00002"},
		{"work queue that drains", "after the first success no new ones start", job("  parallelism: 3\n", "succeeded: 1"), ""},
		{"complete job", "finished", job("  parallelism: 3\n", "conditions: [{type: Complete, status: 'True'}]"), ""},
		{"failed job", "finished", job("", "conditions: [{type: Failed, status: 'True'}]"), ""},
		{"suspended job", "waits for someone", job("  suspend: true\n", ""), ""},
		{"indexed job", "names carry the index; done and running ones are left out",
			job("  parallelism: 3\n  completions: 8\n  completionMode: Indexed\n", "succeeded: 3, completedIndexes: '0-1,4'") +
				ownedPod("j-2-abc", "Job", "j", ", annotations: {batch.kubernetes.io/job-completion-index: '2'}"), "j-2-abc j-3 j-5"},
		{"two of one name", "a Job and a Deployment may share one", workloadText("apps/v1", "Deployment", "x", "  replicas: 1\n") +
			workloadText("batch/v1", "Job", "x", ""), "x-00000 x-00001"},
		{"being deleted", "no new pods", strings.Replace(deployment, "{name: web}", "{name: web, deletionTimestamp: 2026-01-01T00:00:00Z}", 1), ""},
		{"gated template", "rule 4", strings.Replace(deployment, "spec: {", "spec: {schedulingGates: [{name: g}], ", 1), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := load(t, tt.text)
			if got := strings.ReplaceAll(names(r.Problem.Pods), "default/", ""); got != tt.want {
				t.Errorf("pods %q, want %q: %s", got, tt.want, tt.reason)
			}
			if err := r.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestExpandedPods(t *testing.T) {
	r := load(t, workloadText("apps/v1", "StatefulSet", "db", `  replicas: 2
  serviceName: data
  volumeClaimTemplates:
  - metadata: {name: disk, labels: {a: b}}
    spec: {storageClassName: gp3, accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}}
`)+`---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: disk-db-1, labels: {mine: "yes"}}
spec: {volumeName: pv-1}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec: {}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: gp3}
provisioner: ebs.csi.aws.com
`)
	for i, p := range r.Problem.Pods {
		name := fmt.Sprintf("db-%d", i)
		if p.Name != name || p.Labels["app"] != "x" || p.Labels["statefulset.kubernetes.io/pod-name"] != name || p.Labels["apps.kubernetes.io/pod-index"] != fmt.Sprint(i) {
			t.Errorf("pod %s has labels %v", p.Name, p.Labels)
		}
		if len(p.Spec.Volumes) != 1 || p.Spec.Volumes[0].Name != "disk" || p.Spec.Volumes[0].PersistentVolumeClaim.ClaimName != "disk-"+name {
			t.Errorf("pod %s has volumes %v", p.Name, p.Spec.Volumes)
		}
		if o := p.OwnerReferences[0]; o.Kind != "StatefulSet" || o.Name != "db" || !*o.Controller {
			t.Errorf("pod %s has owner %v", p.Name, o)
		}
	}
	claims := r.Problem.Storage.Claims
	if len(claims) != 2 || claims[0].Name != "disk-db-0" || *claims[0].Spec.StorageClassName != "gp3" || claims[0].Labels["a"] != "b" || claims[0].Status.Phase != corev1.ClaimPending {
		t.Errorf("claims %v: want disk-db-0 made from the template", claims)
	}
	if claims[1].Name != "disk-db-1" || claims[1].Labels["mine"] != "yes" {
		t.Errorf("claim %v: want disk-db-1 as the input has it", claims[1])
	}
	if len(r.Findings) > 0 {
		t.Error(texts(r.Findings))
	}

	r = load(t, workloadText("batch/v1", "Job", "j", "  parallelism: 2\n"))
	for _, p := range r.Problem.Pods {
		if p.Labels["batch.kubernetes.io/job-name"] != "j" || p.Labels["job-name"] != "j" || p.Labels["app"] != "x" {
			t.Errorf("pod %s has labels %v, want those that the Job controller adds", p.Name, p.Labels)
		}
	}
}

func TestTemplateWithNodeName(t *testing.T) {
	text := strings.Replace(workloadText("apps/v1", "Deployment", "web", "  replicas: 2\n"), "spec: {containers", "spec: {nodeName: n1, containers", 1)
	if r := load(t, text+nodeN1); names(r.Problem.Nodes[0].Pods) != "default/web-00000 default/web-00001" || len(r.Problem.Pods) > 0 {
		t.Errorf("pods that name their node pass the scheduler by; to place %q, on the node %q", names(r.Problem.Pods), names(r.Problem.Nodes[0].Pods))
	}
	if got := texts(load(t, text).Findings); !strings.Contains(got, `go to node "n1", which is not in the input`) {
		t.Errorf("findings %q", got)
	}
}

func TestDaemonSets(t *testing.T) {
	set := func(spec string) string {
		return "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: sys}\nspec:\n  template:\n    metadata: {labels: {app: agent}}\n    spec: {containers: [{name: c}]" + spec + "}\n"
	}
	for _, tt := range []struct{ name, reason, spec, want string }{
		{"plain", "the controller tolerates what a node may have before it is ready", "",
			"not-ready:NoExecute unreachable:NoExecute disk-pressure:NoSchedule memory-pressure:NoSchedule pid-pressure:NoSchedule unschedulable:NoSchedule"},
		{"host network", "such pods bring up the network", ", hostNetwork: true",
			"not-ready:NoExecute unreachable:NoExecute disk-pressure:NoSchedule memory-pressure:NoSchedule pid-pressure:NoSchedule unschedulable:NoSchedule network-unavailable:NoSchedule"},
		{"own tolerations", "stay, and are not repeated", ", tolerations: [{operator: Exists, key: node.kubernetes.io/not-ready, effect: NoExecute}]",
			"not-ready:NoExecute unreachable:NoExecute disk-pressure:NoSchedule memory-pressure:NoSchedule pid-pressure:NoSchedule unschedulable:NoSchedule"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := load(t, set(tt.spec)+ownedPod("agent-1", "DaemonSet", "agent", ", namespace: sys"))
			if len(r.Problem.DaemonSets) != 1 || len(r.Problem.Pods) != 0 || len(r.Findings) > 0 {
				t.Fatalf("%d DaemonSets, pods %q, findings %s", len(r.Problem.DaemonSets), names(r.Problem.Pods), texts(r.Findings))
			}
			p := r.Problem.DaemonSets[0]
			var got []string
			for _, tol := range p.Spec.Tolerations {
				if tol.Operator != corev1.TolerationOpExists {
					t.Errorf("toleration %v should not ask for a value", tol)
				}
				got = append(got, strings.TrimPrefix(tol.Key, "node.kubernetes.io/")+":"+string(tol.Effect))
			}
			if p.Namespace != "sys" || p.Name != "agent" || p.Labels["app"] != "agent" || strings.Join(got, " ") != tt.want {
				t.Errorf("template %s/%s tolerates %q, want %q: %s", p.Namespace, p.Name, got, tt.want, tt.reason)
			}
		})
	}
	deleted := load(t, strings.Replace(set(""), "name: agent,", "name: agent, deletionTimestamp: 2026-01-01T00:00:00Z,", 1))
	if len(deleted.Problem.DaemonSets) != 0 || len(deleted.Findings) != 1 {
		t.Errorf("a DaemonSet that is being deleted runs on no new node: %v", deleted.Problem.DaemonSets)
	}
}
