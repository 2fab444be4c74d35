package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Objects are Kubernetes objects as Go values, such as listers return. Nothing reachable from them
// is written; the result refers to those it does not have to change.
type Objects struct {
	Pods                   []*corev1.Pod
	Nodes                  []*corev1.Node
	Namespaces             []*corev1.Namespace
	Services               []*corev1.Service
	PodTemplates           []*corev1.PodTemplate
	LimitRanges            []*corev1.LimitRange
	PersistentVolumeClaims []*corev1.PersistentVolumeClaim
	PersistentVolumes      []*corev1.PersistentVolume
	DaemonSets             []*appsv1.DaemonSet
	Deployments            []*appsv1.Deployment
	StatefulSets           []*appsv1.StatefulSet
	ReplicaSets            []*appsv1.ReplicaSet
	ReplicationControllers []*corev1.ReplicationController
	Jobs                   []*batchv1.Job
	StorageClasses         []*storagev1.StorageClass
	CSINodes               []*storagev1.CSINode
	PodDisruptionBudgets   []*policyv1.PodDisruptionBudget
	PriorityClasses        []*schedulingv1.PriorityClass
	PodGroups              []*schedulingv1alpha2.PodGroup
	RuntimeClasses         []*nodev1.RuntimeClass
}

// found is an object and where it came from.
type found[P metav1.Object] struct {
	obj P
	doc Document
}

// inventory is Objects with their places.
type inventory struct {
	pods                   []found[*corev1.Pod]
	nodes                  []found[*corev1.Node]
	namespaces             []found[*corev1.Namespace]
	services               []found[*corev1.Service]
	podTemplates           []found[*corev1.PodTemplate]
	limitRanges            []found[*corev1.LimitRange]
	claims                 []found[*corev1.PersistentVolumeClaim]
	volumes                []found[*corev1.PersistentVolume]
	daemonSets             []found[*appsv1.DaemonSet]
	deployments            []found[*appsv1.Deployment]
	statefulSets           []found[*appsv1.StatefulSet]
	replicaSets            []found[*appsv1.ReplicaSet]
	replicationControllers []found[*corev1.ReplicationController]
	jobs                   []found[*batchv1.Job]
	storageClasses         []found[*storagev1.StorageClass]
	csiNodes               []found[*storagev1.CSINode]
	budgets                []found[*policyv1.PodDisruptionBudget]
	priorityClasses        []found[*schedulingv1.PriorityClass]
	podGroups              []found[*schedulingv1alpha2.PodGroup]
	coscheduling           []found[*coschedulingGroup]
	runtimeClasses         []found[*nodev1.RuntimeClass]
	buffers                []found[*capacityBuffer]
}

// Add takes Go values. Nil elements are ignored.
func (l *Loader) Add(o Objects) {
	in := &l.in
	addAll(l, "Pod", o.Pods, &in.pods)
	addAll(l, "Node", o.Nodes, &in.nodes)
	addAll(l, "Namespace", o.Namespaces, &in.namespaces)
	addAll(l, "Service", o.Services, &in.services)
	addAll(l, "PodTemplate", o.PodTemplates, &in.podTemplates)
	addAll(l, "LimitRange", o.LimitRanges, &in.limitRanges)
	addAll(l, "PersistentVolumeClaim", o.PersistentVolumeClaims, &in.claims)
	addAll(l, "PersistentVolume", o.PersistentVolumes, &in.volumes)
	addAll(l, "DaemonSet", o.DaemonSets, &in.daemonSets)
	addAll(l, "Deployment", o.Deployments, &in.deployments)
	addAll(l, "StatefulSet", o.StatefulSets, &in.statefulSets)
	addAll(l, "ReplicaSet", o.ReplicaSets, &in.replicaSets)
	addAll(l, "ReplicationController", o.ReplicationControllers, &in.replicationControllers)
	addAll(l, "Job", o.Jobs, &in.jobs)
	addAll(l, "StorageClass", o.StorageClasses, &in.storageClasses)
	addAll(l, "CSINode", o.CSINodes, &in.csiNodes)
	addAll(l, "PodDisruptionBudget", o.PodDisruptionBudgets, &in.budgets)
	addAll(l, "PriorityClass", o.PriorityClasses, &in.priorityClasses)
	addAll(l, "PodGroup", o.PodGroups, &in.podGroups)
	addAll(l, "RuntimeClass", o.RuntimeClasses, &in.runtimeClasses)
}

func addAll[T any, P interface {
	*T
	metav1.Object
}](l *Loader, kind string, objs []P, into *[]found[P]) {
	for _, obj := range objs {
		if obj == nil {
			continue
		}
		d := Document{Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName()}
		keep(l, d, obj, into)
	}
}

// object reads a single object of a kind known here, or puts it aside.
func (l *Loader) object(d Document) {
	in := &l.in
	switch d.APIVersion + " " + d.Kind {
	case "v1 Pod":
		take(l, d, &in.pods)
	case "v1 Node":
		take(l, d, &in.nodes)
	case "v1 Namespace":
		take(l, d, &in.namespaces)
	case "v1 Service":
		take(l, d, &in.services)
	case "v1 PodTemplate":
		take(l, d, &in.podTemplates)
	case "v1 LimitRange":
		take(l, d, &in.limitRanges)
	case "v1 PersistentVolumeClaim":
		take(l, d, &in.claims)
	case "v1 PersistentVolume":
		take(l, d, &in.volumes)
	case "apps/v1 DaemonSet":
		take(l, d, &in.daemonSets)
	case "apps/v1 Deployment":
		take(l, d, &in.deployments)
	case "apps/v1 StatefulSet":
		take(l, d, &in.statefulSets)
	case "apps/v1 ReplicaSet":
		take(l, d, &in.replicaSets)
	case "v1 ReplicationController":
		take(l, d, &in.replicationControllers)
	case "batch/v1 Job":
		take(l, d, &in.jobs)
	case "storage.k8s.io/v1 StorageClass":
		take(l, d, &in.storageClasses)
	case "storage.k8s.io/v1 CSINode":
		take(l, d, &in.csiNodes)
	case "policy/v1 PodDisruptionBudget":
		take(l, d, &in.budgets)
	case "scheduling.k8s.io/v1 PriorityClass":
		take(l, d, &in.priorityClasses)
	case "scheduling.k8s.io/v1alpha2 PodGroup":
		take(l, d, &in.podGroups)
	case "scheduling.x-k8s.io/v1alpha1 PodGroup":
		take(l, d, &in.coscheduling)
	case "node.k8s.io/v1 RuntimeClass":
		take(l, d, &in.runtimeClasses)
	case "autoscaling.x-k8s.io/v1beta1 CapacityBuffer", "autoscaling.x-k8s.io/v1alpha1 CapacityBuffer":
		take(l, d, &in.buffers)
	default:
		l.other(d)
	}
}

// take decodes an object and keeps it unless something in it is an error.
func take[T any, P interface {
	*T
	metav1.Object
}](l *Loader, d Document, into *[]found[P]) {
	obj := P(new(T))
	fs := d.Decode(obj)
	l.findings = append(l.findings, fs...)
	keep(l, d, obj, into, fs...)
}

// keep checks an object and keeps it unless something in it is an error, found now or before. The
// tree is let go.
func keep[P metav1.Object](l *Loader, d Document, obj P, into *[]found[P], before ...Finding) {
	c := checker{doc: d, known: before, bad: ErrorOf("", before) != nil}
	if obj.GetName() == "" {
		c.fault("metadata.name", "the object has no name", "name it; objects that the server would name cannot be told apart here")
	}
	c.object(obj)
	l.findings = append(l.findings, c.findings...)
	if c.bad {
		return
	}
	if namespaced(d.Kind) && obj.GetNamespace() == "" {
		if d.root == nil {
			// A Go value is its owner's.
			obj = any(obj).(runtime.Object).DeepCopyObject().(P)
		}
		obj.SetNamespace(metav1.NamespaceDefault)
	}
	d.Namespace, d.root, d.decoder = obj.GetNamespace(), nil, nil
	*into = append(*into, found[P]{obj, d})
}

func namespaced(kind string) bool {
	switch kind {
	case "Node", "Namespace", "PersistentVolume", "StorageClass", "CSINode", "PriorityClass", "RuntimeClass":
		return false
	}
	return true
}

// unique sorts objects by name and leaves out all but one of each name. Of two that differ the newer one
// stays if both carry a resource version, else neither: any choice would be a guess, and one that
// depended on the order of the files.
func unique[P metav1.Object](r *resolver, all []found[P]) []found[P] {
	key := func(f found[P]) string { return f.obj.GetNamespace() + "/" + f.obj.GetName() }
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b found[P]) int {
		return cmp.Or(cmp.Compare(a.obj.GetNamespace(), b.obj.GetNamespace()), cmp.Compare(a.obj.GetName(), b.obj.GetName()),
			-cmp.Compare(version(a.obj), version(b.obj)), cmp.Compare(a.doc.File, b.doc.File),
			cmp.Compare(a.doc.Document, b.doc.Document), cmp.Compare(a.doc.Line, b.doc.Line))
	})
	out := all[:0]
	for len(all) > 0 {
		n := 1
		for n < len(all) && key(all[n]) == key(all[0]) {
			n++
		}
		same := all[:n]
		all = all[n:]
		if settle(r, same) {
			out = append(out, same[0])
		}
	}
	return out
}

// settle reports on objects of one name, newest first, and whether the first is to be used.
func settle[P metav1.Object](r *resolver, same []found[P]) bool {
	first := same[0]
	use := true
	for _, other := range same[1:] {
		where := "in the Go values"
		if first.doc.File != "" {
			where = "in " + first.doc.Origin.String()
		}
		switch {
		case equality.Semantic.DeepEqual(first.obj, other.obj):
			r.warn(other.doc, "", "the same object is there twice, also "+where, "remove one of them")
		case version(first.obj) > 0 && version(other.obj) > 0 && version(first.obj) != version(other.obj):
			r.warn(other.doc, "", fmt.Sprintf("resource version %s is older than %s %s, which is used", other.obj.GetResourceVersion(), first.obj.GetResourceVersion(), where), "remove the older one")
		default:
			use = false
			r.fault(other.doc, "", "another object of this name, "+where+", is different; neither is used", "remove one of them, or rename it")
		}
	}
	return use
}

func version(o metav1.Object) uint64 {
	v, _ := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	return v
}

func (f found[P]) object() P { return f.obj }
