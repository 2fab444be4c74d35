package snapshot

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// capacityBuffer mirrors CapacityBuffer of autoscaling.x-k8s.io; v1alpha1 and v1beta1 have the same fields.
type capacityBuffer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              bufferSpec     `json:"spec"`
	Status            map[string]any `json:"status"`
}

type bufferSpec struct {
	ProvisioningStrategy *string             `json:"provisioningStrategy"`
	PodTemplateRef       *templateRef        `json:"podTemplateRef"`
	ScalableRef          *scalableRef        `json:"scalableRef"`
	Replicas             *int32              `json:"replicas"`
	Percentage           *int32              `json:"percentage"`
	Limits               corev1.ResourceList `json:"limits"`
}

type templateRef struct {
	Name string `json:"name"`
}

type scalableRef struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
}

// activeCapacity is the strategy that Karpenter and Cluster Autoscaler know: keep the room on running nodes.
const activeCapacity = "buffer.x-k8s.io/active-capacity"

// buffer checks what the CRD checks.
func (c *checker) buffer(spec *bufferSpec) {
	c.count("spec.replicas", spec.Replicas)
	if p := spec.Percentage; p != nil && *p < 0 {
		c.fault("spec.percentage", fmt.Sprintf("%d is negative", *p), "write 0 or more")
	}
	c.amounts("spec.limits", spec.Limits)
	t, s := spec.PodTemplateRef, spec.ScalableRef
	switch {
	case t == nil && s == nil:
		c.fault("spec", "the buffer has no pods to be like", "add podTemplateRef or scalableRef")
	case t != nil && s != nil:
		c.fault("spec.scalableRef", "the buffer also has a podTemplateRef", "keep one of them")
	case t != nil && t.Name == "":
		c.fault("spec.podTemplateRef.name", "the reference has no name", "name a PodTemplate")
	case t != nil && spec.Replicas == nil && spec.Limits == nil:
		c.fault("spec", "nothing says how many pods the buffer has", "add replicas or limits")
	case s != nil && (s.Name == "" || s.Kind == ""):
		c.fault("spec.scalableRef", "the reference has no kind or no name", "write both")
	}
	if t != nil && spec.Percentage != nil {
		c.warn("spec.percentage", "a PodTemplate has no replicas to take a percentage of; it has no effect", "write replicas, or a scalableRef")
	}
}

// buffers turns capacity buffers into demands, in the order of their names.
func (r *resolver) buffers() (out []scheduling.Demand) {
	for _, f := range r.in.buffers {
		spec := &f.obj.Spec
		switch s := spec.ProvisioningStrategy; {
		case f.obj.DeletionTimestamp != nil:
			r.warn(f.doc, "metadata.deletionTimestamp", "the buffer is being deleted; no room is planned for it", "")
			continue
		case s != nil && *s != "" && *s != activeCapacity:
			r.warn(f.doc, "spec.provisioningStrategy", fmt.Sprintf("%s is another autoscaler's strategy; no room is planned for the buffer", clip(*s)), "write "+activeCapacity)
			continue
		}
		shape, ok := r.bufferLike(f)
		if !ok {
			continue
		}
		count := r.bufferCount(f, shape)
		if count == 0 {
			continue
		}
		r.spare -= count
		shape.pod.Name = r.freeStem(f.obj.Namespace, "capacity-buffer-"+f.obj.Name, count)
		out = append(out, scheduling.Demand{Template: shape.pod, Count: int32(count), Buffer: true})
	}
	return out
}

// bufferShape is what a buffer refers to.
type bufferShape struct {
	pod *corev1.Pod
	// replicas are those of the workload; 0 for a PodTemplate.
	replicas int
}

// bufferLike finds what the buffer refers to and makes a pod of it, as the API server would admit it. What ties or
// holds back single pods is dropped: their node, scheduling gates and group.
func (r *resolver) bufferLike(f found[*capacityBuffer]) (bufferShape, bool) {
	var (
		shape    bufferShape
		template *corev1.PodTemplateSpec
		doc      Document
		path     = "spec.template.spec"
		place    = "spec.scalableRef"
		kind     = "PodTemplate"
		name     string
	)
	ns := f.obj.Namespace
	if ref := f.obj.Spec.PodTemplateRef; ref != nil {
		place, path, name = "spec.podTemplateRef", "template.spec", ref.Name
		if t, ok := find(r.in.podTemplates, ns, name); ok {
			template, doc = &t.obj.Template, t.doc
		}
	} else {
		ref := f.obj.Spec.ScalableRef
		kind, name = ref.Kind, ref.Name
		if ref.APIGroup != "" && ref.APIGroup != "apps" {
			kind = ref.APIGroup + "/" + kind
		}
		switch kind {
		case "Deployment":
			if w, ok := find(r.in.deployments, ns, name); ok {
				template, doc, shape.replicas = &w.obj.Spec.Template, w.doc, orOne(w.obj.Spec.Replicas)
			}
		case "ReplicaSet":
			if w, ok := find(r.in.replicaSets, ns, name); ok {
				template, doc, shape.replicas = &w.obj.Spec.Template, w.doc, orOne(w.obj.Spec.Replicas)
			}
		case "StatefulSet":
			if w, ok := find(r.in.statefulSets, ns, name); ok {
				template, doc, shape.replicas = &w.obj.Spec.Template, w.doc, orOne(w.obj.Spec.Replicas)
			}
		default:
			r.warn(f.doc, place, fmt.Sprintf("buffers for %s are not read; no room is planned for this one", clip(kind)), "refer to a Deployment, ReplicaSet or StatefulSet of apps, or to a PodTemplate")
			return shape, false
		}
	}
	if template == nil {
		r.warn(f.doc, place+".name", fmt.Sprintf("%s %s is not in the input, or has errors; no room is planned for the buffer", kind, clip(ns+"/"+name)), "add it to the input")
		return shape, false
	}
	t := template.DeepCopy()
	shape.pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Labels: t.Labels, Annotations: t.Annotations}, Spec: t.Spec}
	shape.pod.Spec.NodeName, shape.pod.Spec.SchedulingGates, shape.pod.Spec.SchedulingGroup = "", nil, nil
	r.admit.admit(shape.pod, doc, path)
	return shape, true
}

// bufferCount says how many pods the buffer has: the larger of replicas and the percentage, and no more than the limits
// hold; with neither of the two, as many as they hold.
func (r *resolver) bufferCount(f found[*capacityBuffer], shape bufferShape) int {
	spec := &f.obj.Spec
	want, sized := int64(0), false
	if n := spec.Replicas; n != nil {
		want, sized = int64(*n), true
	}
	if p := spec.Percentage; p != nil && spec.ScalableRef != nil {
		share := (int64(shape.replicas)*int64(*p) + 99) / 100
		if sized && share != want {
			r.warn(f.doc, "spec.percentage", fmt.Sprintf("%d%% of %d replicas is %d pods, and replicas says %d; the larger number counts, as for Karpenter", *p, shape.replicas, share, want),
				"write one of them: Cluster Autoscaler takes the smaller")
		}
		want, sized = max(want, share), true
	}
	room, limited := roomFor(shape.pod, spec.Limits)
	switch {
	case !sized && !limited:
		r.warn(f.doc, "spec", "nothing says how many pods the buffer has; no room is planned for it", "add replicas, percentage or limits on what its pods request")
	case !limited && len(spec.Limits) > 0:
		r.warn(f.doc, "spec.limits", "they name nothing that the pods request, and bound nothing", "name what the pods request, such as cpu")
	case limited && room == 0 && (want > 0 || !sized):
		r.warn(f.doc, "spec.limits", "they hold less than one pod; no room is planned for the buffer", "raise them")
	}
	if limited && (!sized || room < want) {
		want = room
	}
	if most := int64(min(maxReplicas, r.spare)); want > most {
		r.fault(f.doc, "spec", fmt.Sprintf("its %d pods are more than the %d that may be made", want, most), "lower replicas, percentage or limits")
		return 0
	}
	return int(want)
}

// roomFor says how many pods the limits hold, and whether they limit them at all.
func roomFor(pod *corev1.Pod, limits corev1.ResourceList) (room int64, limited bool) {
	requests, err := scheduling.PodRequests(pod)
	if err != nil { // Amounts were checked when the template was read.
		return 0, false
	}
	room = math.MaxInt64
	for _, q := range requests {
		limit, ok := limits[q.Name]
		if !ok {
			continue
		}
		amount := limit.Value()
		if q.Name == corev1.ResourceCPU {
			amount = limit.MilliValue()
		}
		room, limited = min(room, amount/q.Amount), true
	}
	return room, limited
}

// freeStem returns stem, or stem with a number if the input has a pod that one of the count pods would be called like.
func (r *resolver) freeStem(namespace, stem string, count int) string {
	free := stem
	for i := 0; ; i++ {
		taken := false
		for k := 0; k < count && !taken; k++ {
			taken = r.taken[fmt.Sprintf("%s/%s-%d", namespace, free, k)]
		}
		if !taken {
			return free
		}
		free = fmt.Sprintf("%s-x%d", stem, i)
	}
}

// find looks an object up in a list that unique made.
func find[P metav1.Object](all []found[P], namespace, name string) (found[P], bool) {
	i, ok := slices.BinarySearchFunc(all, [2]string{namespace, name}, func(f found[P], key [2]string) int {
		return cmp.Or(cmp.Compare(f.obj.GetNamespace(), key[0]), cmp.Compare(f.obj.GetName(), key[1]))
	})
	if !ok {
		return found[P]{}, false
	}
	return all[i], true
}
