package snapshot

import (
	"fmt"
	"strings"
	"testing"
)

const nodeN1 = `---
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
`

// TestPodStates has a row for each kind of pod that package doc's rules 1 to 6 tell apart. A row that ends up on
// neither side is dropped; want is a part of the finding that says so, where there must be one.
func TestPodStates(t *testing.T) {
	const owned = `ownerReferences: [{apiVersion: apps/v1, kind: KIND, name: o, uid: u, controller: true}]`
	by := func(kind string) string { return strings.Replace(owned, "KIND", kind, 1) }
	for _, tt := range []struct {
		name, reason         string
		meta, spec, status   string
		placed, on, mentions string
	}{
		{name: "pending", reason: "rule 1", placed: "p"},
		{name: "pending phase", reason: "rule 1", status: "phase: Pending", placed: "p"},
		{name: "of a ReplicaSet", reason: "rule 1", meta: by("ReplicaSet"), placed: "p"},
		{name: "bound", reason: "rule 2", spec: "nodeName: n1", status: "phase: Running", on: "p"},
		{name: "bound, not started", reason: "rule 2: the scheduler has decided", spec: "nodeName: n1", status: "phase: Pending", on: "p"},
		{name: "bound and terminating", reason: "rule 2: it holds its resources until it is gone",
			meta: "deletionTimestamp: 2026-01-01T00:00:00Z", spec: "nodeName: n1", on: "p"},
		{name: "bound elsewhere", reason: "rule 2", spec: "nodeName: n2", mentions: `bound to node "n2", which is not in the input; left out`},
		{name: "bound with gates", reason: "gates only hold back what has no node", spec: "nodeName: n1, schedulingGates: [{name: g}]", on: "p"},
		{name: "succeeded", reason: "rule 3", spec: "nodeName: n1", status: "phase: Succeeded"},
		{name: "failed", reason: "rule 3: an evicted pod keeps its nodeName and nothing else", spec: "nodeName: n1", status: "phase: Failed, reason: Evicted"},
		{name: "failed without a node", reason: "rule 3", status: "phase: Failed"},
		{name: "terminating without a node", reason: "rule 3", meta: "deletionTimestamp: 2026-01-01T00:00:00Z"},
		{name: "gated", reason: "rule 4", spec: "schedulingGates: [{name: example.com/quota}]", mentions: `held back by scheduling gate "example.com/quota"; left out`},
		{name: "nominated", reason: "rule 4", status: "nominatedNodeName: n1", mentions: `waiting for room on node "n1"`},
		{name: "mirror", reason: "rule 5: a static pod counts where it runs", meta: "annotations: {kubernetes.io/config.mirror: abc}", spec: "nodeName: n1", on: "p"},
		{name: "mirror of a node elsewhere", reason: "rule 5: nothing to plan, nothing to say", meta: "annotations: {kubernetes.io/config.mirror: abc}", spec: "nodeName: n2"},
		{name: "mirror without a node", reason: "rule 5", meta: "annotations: {kubernetes.io/config.mirror: abc}"},
		{name: "owned by a node", reason: "rule 5: the other mark of static pods", meta: by("Node")},
		{name: "of a DaemonSet, bound", reason: "rule 5", meta: by("DaemonSet"), spec: "nodeName: n1", on: "p", mentions: "DaemonSet default/o is not in the input"},
		{name: "of a DaemonSet, pending", reason: "rule 5: its template stands for it", meta: by("DaemonSet"), mentions: "DaemonSet default/o is not in the input"},
		{name: "finished pod of a DaemonSet", reason: "says nothing of what runs", meta: by("DaemonSet"), status: "phase: Failed"},
		{name: "owner that does not control", reason: "only the controller decides what a pod is",
			meta: strings.Replace(by("DaemonSet"), "true", "false", 1), placed: "p"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			join := func(a, b string) string { return strings.Trim(a+", "+b, ", ") }
			r := load(t, fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {%s}\nspec: {%s}\nstatus: {%s}\n",
				join("name: p", tt.meta), join("containers: [{name: c}]", tt.spec), tt.status)+nodeN1)
			short := func(s string) string { return strings.ReplaceAll(s, "default/", "") }
			if got := short(names(r.Problem.Pods)); got != tt.placed {
				t.Errorf("to place %q, want %q: %s", got, tt.placed, tt.reason)
			}
			if got := short(names(r.Problem.Nodes[0].Pods)); got != tt.on {
				t.Errorf("on the node %q, want %q: %s", got, tt.on, tt.reason)
			}
			if got := texts(r.Findings); (got == "") != (tt.mentions == "") || !strings.Contains(got, tt.mentions) {
				t.Errorf("findings %q, want %q: %s", got, tt.mentions, tt.reason)
			}
			if r.Err() != nil {
				t.Errorf("%v: none of these is an error", r.Err())
			}
		})
	}
}

// TestPodsLeftOutAreSummedUp: a dump of pods alone has thousands on nodes that are not there.
func TestPodsLeftOutAreSummedUp(t *testing.T) {
	var b strings.Builder
	for i := range 5 {
		b.WriteString("---\n" + strings.Replace(pod(fmt.Sprintf("p%d", i)), "spec: {", fmt.Sprintf("spec: {nodeName: n%d, ", i+1), 1))
	}
	want := "warning: in.yaml document 1, line 2: Pod default/p0: spec.nodeName: 5 pods (default/p0, default/p1, default/p2 and 2 more) " +
		"are bound to nodes, and the input has none; left out; add the nodes (kubectl get nodes -o yaml)\n"
	if got := texts(load(t, b.String()).Findings); got != want {
		t.Errorf("without nodes:\n%swant:\n%s", got, want)
	}
	got := load(t, b.String()+nodeN1)
	if n := len(got.Findings); n != 4 {
		t.Errorf("with one of five nodes there are %d findings, want one for each that is missing:\n%s", n, texts(got.Findings))
	}
}

func TestNodes(t *testing.T) {
	for _, tt := range []struct {
		name, reason, meta, spec, want string
	}{
		{"plain", "nobody's, ready", "", "", "pool= starting=false closed=false"},
		{"managed", "its label says by whom", "labels: {karpenter.sh/nodepool: a, karpenter.sh/initialized: 'true'}", "", "pool=a starting=false closed=false"},
		{"starting", "Karpenter sets the label once its taints are gone", "labels: {karpenter.sh/nodepool: a}", "", "pool=a starting=true closed=false"},
		{"not initialised in so many words", "only true counts", "labels: {karpenter.sh/nodepool: a, karpenter.sh/initialized: 'false'}", "", "pool=a starting=true closed=false"},
		{"unmanaged without the label", "nobody would set it", "labels: {x: z}", "", "pool= starting=false closed=false"},
		{"cordoned", "kubectl cordon", "", "unschedulable: true", "pool= starting=false closed=true"},
		{"disrupted", "Karpenter is about to remove it", "", "taints: [{key: karpenter.sh/disrupted, effect: NoSchedule}]", "pool= starting=false closed=true"},
		{"being deleted", "waits for its finalizers", "deletionTimestamp: 2026-01-01T00:00:00Z", "", "pool= starting=false closed=true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			meta := strings.Trim("name: n1, "+tt.meta, ", ")
			r := load(t, "apiVersion: v1\nkind: Node\nmetadata: {"+meta+"}\nspec: {"+tt.spec+"}\nstatus: {allocatable: {cpu: 4}, capacity: {cpu: 5}}\n")
			n := r.Problem.Nodes[0]
			if got := fmt.Sprintf("pool=%s starting=%v closed=%v", n.Pool, n.Uninitialized, n.Unschedulable); got != tt.want {
				t.Errorf("%s, want %s: %s", got, tt.want, tt.reason)
			}
			if n.Allocatable.Cpu().Value() != 4 || n.Capacity.Cpu().Value() != 5 || len(r.Findings) > 0 {
				t.Errorf("allocatable %v, capacity %v, findings %s", n.Allocatable, n.Capacity, texts(r.Findings))
			}
		})
	}
	r := load(t, "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n")
	if got := texts(r.Findings); !strings.Contains(got, "does not say what pods can use") {
		t.Errorf("a node without allocatable must be reported, got %q", got)
	}
	leaving := strings.Replace(pod("p"), "spec: {", "spec: {nodeName: n1, ", 1) + strings.Replace(nodeN1, "{name: n1}", "{name: n1, deletionTimestamp: 2026-01-01T00:00:00Z}", 1)
	if got := texts(load(t, leaving).Findings); !strings.Contains(got, "going away; its 1 pods") {
		t.Errorf("a node that goes away with pods on it must be reported, got %q", got)
	}
}
