package snapshot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// owner is a controller of pods.
type owner struct{ kind, namespace, name string }

// state is what a pod of the input is to a plan.
type state uint8

const (
	// pending pods are to be placed.
	pending state = iota
	// bound pods count on their node.
	bound
	// finished pods (Succeeded, Failed) hold nothing any more.
	finished
	// terminating pods without a node will never get one.
	terminating
	// daemon pods without a node: the template of their DaemonSet stands for them.
	daemon
	// mirror pods without a node: some kubelet made them from a file.
	mirror
	// gated pods are not ready to be scheduled.
	gated
	// nominated pods wait on a node for others to be evicted.
	nominated
)

// classify tells pods apart. The order of the cases matters: a bound pod that is being deleted still holds
// its node's resources, a finished one does not.
func classify(p *corev1.Pod) state {
	owner := metav1.GetControllerOfNoCopy(p)
	switch {
	case p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed:
		return finished
	case p.Spec.NodeName != "":
		return bound
	case p.DeletionTimestamp != nil:
		return terminating
	case isMirror(p):
		return mirror
	case owner != nil && owner.Kind == "DaemonSet":
		return daemon
	case len(p.Spec.SchedulingGates) > 0:
		return gated
	case p.Status.NominatedNodeName != "":
		return nominated
	}
	return pending
}

// isMirror: static pods carry an annotation, and the node owns them.
func isMirror(p *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(p)
	_, ok := p.Annotations[corev1.MirrorPodAnnotationKey]
	return ok || (owner != nil && owner.Kind == "Node")
}

// pods sorts the input's pods to where they belong.
func (r *resolver) pods() {
	for _, f := range r.in.nodes {
		r.nodes[f.obj.Name] = true
	}
	aside := map[string][]found[*corev1.Pod]{}
	for _, f := range r.in.pods {
		p := f.obj
		s := classify(p)
		if s != finished && s != terminating {
			r.taken[p.Namespace+"/"+p.Name] = true
		}
		r.countOwned(p, s)
		if (s == pending || s == bound) && !seen(p) {
			p = p.DeepCopy()
			r.admit.admit(p, f.doc, "spec")
		}
		switch s {
		case pending:
			r.pending = append(r.pending, p)
		case bound:
			r.bound[p.Spec.NodeName] = append(r.bound[p.Spec.NodeName], p)
			if owner := metav1.GetControllerOfNoCopy(p); !r.nodes[p.Spec.NodeName] && !isMirror(p) && (owner == nil || owner.Kind != "DaemonSet") {
				key := "bound " + p.Spec.NodeName
				if len(r.nodes) == 0 {
					key = "bound"
				}
				aside[key] = append(aside[key], f)
			}
		case gated:
			key := "gated " + p.Spec.SchedulingGates[0].Name
			aside[key] = append(aside[key], f)
		case nominated:
			key := "nominated " + p.Status.NominatedNodeName
			aside[key] = append(aside[key], f)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(aside)) {
		r.leftAside(key, aside[key])
	}
}

// leftAside reports pods that are not planned for the same cause, in one finding at the first of them: a dump may
// have thousands.
func (r *resolver) leftAside(key string, fs []found[*corev1.Pod]) {
	var names []string
	for _, f := range fs {
		names = append(names, f.obj.Namespace+"/"+f.obj.Name)
	}
	pods, where := "the pod is ", "a node"
	if len(fs) > 1 {
		where = "nodes"
		pods = fmt.Sprintf("%d pods (%s) are ", len(fs), some(names))
	}
	d := first(fs)
	cause, name, _ := strings.Cut(key, " ")
	switch {
	case cause == "bound" && name == "":
		r.warn(d, "spec.nodeName", pods+"bound to "+where+", and the input has none; left out", "add the nodes (kubectl get nodes -o yaml)")
	case cause == "bound":
		r.warn(d, "spec.nodeName", pods+fmt.Sprintf("bound to node %q, which is not in the input; left out", name), "add the node (kubectl get nodes -o yaml)")
	case cause == "gated":
		r.warn(d, "spec.schedulingGates", pods+fmt.Sprintf("held back by scheduling gate %q; left out", name), "remove the gate to plan for them")
	case cause == "nominated":
		r.warn(d, "status.nominatedNodeName", pods+fmt.Sprintf("waiting for room on node %q, where pods are being evicted; left out", name), "take a new snapshot once they run")
	}
}

// first returns the place that comes first, so that findings do not depend on names only.
func first(fs []found[*corev1.Pod]) Document {
	return slices.MinFunc(fs, func(a, b found[*corev1.Pod]) int {
		return cmp.Or(cmp.Compare(a.doc.File, b.doc.File), cmp.Compare(a.doc.Document, b.doc.Document), cmp.Compare(a.doc.Line, b.doc.Line))
	}).doc
}

// some lists the first few of many names.
func some(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// countOwned counts a pod for its controllers, unless the controller makes another in its place. (A
// StatefulSet does so only once the old pod is gone, since both have one name; there names decide.)
func (r *resolver) countOwned(p *corev1.Pod, s state) {
	ref := metav1.GetControllerOfNoCopy(p)
	if ref == nil {
		return
	}
	o := owner{ref.Kind, p.Namespace, ref.Name}
	if p.Status.Phase == corev1.PodSucceeded && ref.Kind == "Job" {
		r.live[owner{"succeeded", o.namespace, o.name}]++
	}
	if s == finished || p.DeletionTimestamp != nil {
		return
	}
	r.live[o]++
	if i, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation]); err == nil && ref.Kind == "Job" {
		r.indexes[o] = append(r.indexes[o], i)
	}
	if ref.Kind != "ReplicaSet" {
		return
	}
	if d, ok := r.deploymentOf(p, ref.Name); ok {
		r.live[owner{"Deployment", p.Namespace, d}]++
	}
}

// deploymentOf finds the Deployment behind a pod of a ReplicaSet: through the ReplicaSet if that is in the
// input, else by its name, which is the Deployment's and the hash of the template.
func (r *resolver) deploymentOf(p *corev1.Pod, set string) (string, bool) {
	if owner, ok := find(r.in.replicaSets, p.Namespace, set); ok {
		ref := metav1.GetControllerOfNoCopy(owner.obj)
		if ref == nil || ref.Kind != "Deployment" {
			return "", false
		}
		return ref.Name, true
	}
	hash := p.Labels["pod-template-hash"]
	if hash == "" {
		return "", false
	}
	return strings.CutSuffix(set, "-"+hash)
}
