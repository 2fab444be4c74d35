package snapshot

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

const (
	initializedLabel = "karpenter.sh/initialized"
	disruptedTaint   = "karpenter.sh/disrupted"
)

// machines turns Nodes, with the pods bound to them, into the solver's.
func (r *resolver) machines() []scheduling.Node {
	var out []scheduling.Node
	for _, f := range r.in.nodes {
		n := f.obj
		pool := n.Labels[scheduling.PoolLabel]
		slices.SortFunc(r.bound[n.Name], byName)
		out = append(out, scheduling.Node{
			Name:          n.Name,
			Labels:        n.Labels,
			Taints:        n.Spec.Taints,
			Allocatable:   n.Status.Allocatable,
			Capacity:      n.Status.Capacity,
			Pods:          r.bound[n.Name],
			Pool:          pool,
			Uninitialized: pool != "" && n.Labels[initializedLabel] != "true",
			Unschedulable: leaving(n) || n.Spec.Unschedulable,
		})
		if len(n.Status.Allocatable) == 0 {
			r.warn(f.doc, "status.allocatable", "the node does not say what pods can use; nothing will be placed on it", "take the node from a running cluster, or fill it in")
		}
		if leaving(n) && len(r.bound[n.Name]) > 0 {
			r.warn(f.doc, "", fmt.Sprintf("the node is going away; its %d pods count as running there and are not planned anew", len(r.bound[n.Name])), "take a new snapshot once it is gone")
		}
	}
	return out
}

// leaving tells nodes that have been chosen for removal from those only cordoned.
func leaving(n *corev1.Node) bool {
	return n.DeletionTimestamp != nil || slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == disruptedTaint })
}

// daemonSets makes one template pod of each, with the tolerations that the DaemonSet controller adds (see
// "Taints and tolerations" in Kubernetes' documentation of DaemonSets).
func (r *resolver) daemonSets() {
	known := map[owner]bool{}
	for _, f := range r.in.daemonSets {
		known[owner{"DaemonSet", f.obj.Namespace, f.obj.Name}] = true
		if f.obj.DeletionTimestamp != nil {
			r.warn(f.doc, "metadata.deletionTimestamp", "the DaemonSet is being deleted; new nodes are planned without it", "")
			continue
		}
		p := r.templatePod(f.doc, &f.obj.ObjectMeta, &f.obj.Spec.Template)
		p.Name = f.obj.Name
		for _, t := range daemonTolerations(p.Spec.HostNetwork) {
			tolerate(&p.Spec, t)
		}
		r.templates = append(r.templates, p)
	}
	orphans := map[owner][]found[*corev1.Pod]{}
	for _, f := range r.in.pods {
		ref := metav1.GetControllerOfNoCopy(f.obj)
		if ref == nil || ref.Kind != "DaemonSet" || classify(f.obj) == finished {
			continue
		}
		if o := (owner{"DaemonSet", f.obj.Namespace, ref.Name}); !known[o] {
			orphans[o] = append(orphans[o], f)
		}
	}
	for o, fs := range orphans {
		r.warn(first(fs), "metadata.ownerReferences", fmt.Sprintf("DaemonSet %s/%s is not in the input; new nodes are planned without its pods", o.namespace, o.name), "add it (kubectl get daemonsets -A -o yaml)")
	}
}

func daemonTolerations(hostNetwork bool) []corev1.Toleration {
	on := func(key string, effect corev1.TaintEffect) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
	}
	out := []corev1.Toleration{
		on(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute),
		on(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute),
		on(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule),
		on(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule),
		on(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule),
		on(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule),
	}
	if hostNetwork {
		out = append(out, on(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule))
	}
	return out
}
