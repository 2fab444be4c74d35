package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxExpanded bounds the pods made from all workloads of a result.
const maxExpanded = 5_000_000

// workload is a controller whose missing pods are made from its template.
type workload struct {
	doc        Document
	apiVersion string
	meta       *metav1.ObjectMeta
	template   *corev1.PodTemplateSpec
	// names are those of the pods to make. Nil: count pods, numbered.
	names []string
	count int
	// labels (key, value, key, value) are added to all of them; each, if set, finishes one.
	labels []string
	each   func(p *corev1.Pod, i int)
}

// workloads expands what the input's pods do not cover, and returns the claims that StatefulSets
// make along the way.
func (r *resolver) workloads() (claims []*corev1.PersistentVolumeClaim) {
	deployments := map[string]bool{}
	for _, f := range r.in.deployments {
		deployments[f.obj.Namespace+"/"+f.obj.Name] = true
		w := workload{doc: f.doc, apiVersion: "apps/v1", meta: &f.obj.ObjectMeta, template: &f.obj.Spec.Template}
		w.count = r.missing("Deployment", w.meta, orOne(f.obj.Spec.Replicas))
		r.expand(w)
	}
	for _, f := range r.in.replicaSets {
		ref := metav1.GetControllerOfNoCopy(f.obj)
		if ref != nil && ref.Kind == "Deployment" && deployments[f.obj.Namespace+"/"+ref.Name] {
			continue
		}
		w := workload{doc: f.doc, apiVersion: "apps/v1", meta: &f.obj.ObjectMeta, template: &f.obj.Spec.Template}
		w.count = r.missing("ReplicaSet", w.meta, orOne(f.obj.Spec.Replicas))
		r.expand(w)
	}
	for _, f := range r.in.statefulSets {
		claims = append(claims, r.statefulSet(f)...)
	}
	for _, f := range r.in.replicationControllers {
		r.replicationController(f)
	}
	for _, f := range r.in.jobs {
		r.job(f)
	}
	return claims
}

func orOne(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}

func (r *resolver) missing(kind string, meta *metav1.ObjectMeta, want int) int {
	return max(0, want-r.live[owner{kind, meta.Namespace, meta.Name}])
}

func (r *resolver) statefulSet(f found[*appsv1.StatefulSet]) (claims []*corev1.PersistentVolumeClaim) {
	spec := &f.obj.Spec
	start := 0
	if spec.Ordinals != nil {
		start = int(max(0, spec.Ordinals.Start))
	}
	w := workload{doc: f.doc, apiVersion: "apps/v1", meta: &f.obj.ObjectMeta, template: &spec.Template}
	var ordinals []int
	for i := start; i < start+orOne(spec.Replicas); i++ {
		name := fmt.Sprintf("%s-%d", f.obj.Name, i)
		if !r.taken[f.obj.Namespace+"/"+name] {
			w.names, ordinals = append(w.names, name), append(ordinals, i)
		}
	}
	w.each = func(p *corev1.Pod, i int) {
		p.Labels = withLabels(p.Labels, appsv1.StatefulSetPodNameLabel, p.Name, appsv1.PodIndexLabel, strconv.Itoa(ordinals[i]))
		p.Spec.Hostname, p.Spec.Subdomain = p.Name, spec.ServiceName
		claims = append(claims, claim(f.obj, p)...)
	}
	w.count = len(w.names)
	r.expand(w)
	return claims
}

// claim gives a pod of a StatefulSet its volumes and returns their claims, named
// template-set-ordinal. A volume of the template's name in the pod template gives way.
func claim(set *appsv1.StatefulSet, p *corev1.Pod) (claims []*corev1.PersistentVolumeClaim) {
	if len(set.Spec.VolumeClaimTemplates) == 0 {
		return nil
	}
	volumes := slices.Clone(p.Spec.Volumes)
	for i := range set.Spec.VolumeClaimTemplates {
		c := set.Spec.VolumeClaimTemplates[i].DeepCopy()
		volume := c.Name
		c.Name, c.Namespace = volume+"-"+p.Name, p.Namespace
		c.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
		claims = append(claims, c)
		source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.Name}}
		volumes = slices.DeleteFunc(volumes, func(v corev1.Volume) bool { return v.Name == volume })
		volumes = append(volumes, corev1.Volume{Name: volume, VolumeSource: source})
	}
	p.Spec.Volumes = volumes
	return claims
}

func (r *resolver) job(f found[*batchv1.Job]) {
	spec, status := &f.obj.Spec, &f.obj.Status
	for _, c := range status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			return
		}
	}
	if spec.Suspend != nil && *spec.Suspend {
		r.warn(f.doc, "spec.suspend", "the job is suspended; no pods are planned for it", "set suspend to false to plan for them")
		return
	}
	meta := &f.obj.ObjectMeta
	succeeded := max(int(status.Succeeded), r.live[owner{"succeeded", meta.Namespace, meta.Name}])
	want := orOne(spec.Parallelism)
	switch {
	case spec.Completions != nil:
		want = min(want, int(*spec.Completions)-succeeded)
	case succeeded > 0:
		// A work queue: once one pod has succeeded no new ones start.
		want = 0
	}
	w := workload{doc: f.doc, apiVersion: "batch/v1", meta: meta, template: &spec.Template}
	w.count = r.missing("Job", meta, want)
	w.labels = []string{batchv1.JobNameLabel, meta.Name, "job-name", meta.Name}
	if spec.CompletionMode != nil && *spec.CompletionMode == batchv1.IndexedCompletion && spec.Completions != nil {
		indexes := r.openIndexes(f.obj, w.count)
		w.count = len(indexes)
		for _, i := range indexes {
			w.names = append(w.names, r.freeName(meta.Namespace, fmt.Sprintf("%s-%d", meta.Name, i)))
		}
		w.each = func(p *corev1.Pod, i int) {
			p.Labels = withLabels(p.Labels, batchv1.JobCompletionIndexAnnotation, strconv.Itoa(indexes[i]))
		}
	}
	r.expand(w)
}

// openIndexes returns the first n indexes of an Indexed job that are neither completed nor running.
func (r *resolver) openIndexes(job *batchv1.Job, n int) (open []int) {
	done := make([]bool, *job.Spec.Completions)
	mark := func(i int) {
		if i >= 0 && i < len(done) {
			done[i] = true
		}
	}
	// Such as 0-2,5: ascending, so that each index is looked at once whatever somebody wrote.
	next := 0
	for part := range strings.SplitSeq(job.Status.CompletedIndexes, ",") {
		from, to, ranged := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		b := a
		if err == nil && ranged {
			b, err = strconv.Atoi(to)
		}
		if err != nil {
			continue
		}
		for next = max(next, a); next <= b && next < len(done); next++ {
			mark(next)
		}
	}
	for _, i := range r.indexes[owner{"Job", job.Namespace, job.Name}] {
		mark(i)
	}
	for i := 0; i < len(done) && len(open) < n; i++ {
		if !done[i] {
			open = append(open, i)
		}
	}
	return open
}

// freeName returns name, or name with a number if the input has a pod of that name.
func (r *resolver) freeName(namespace, name string) string {
	free := name
	for i := 0; r.taken[namespace+"/"+free]; i++ {
		free = fmt.Sprintf("%s-x%d", name, i)
	}
	return free
}

// expand makes the pods of a workload. They share one admitted template but for their names and
// what each changes.
func (r *resolver) expand(w workload) {
	switch {
	case w.count == 0:
		return
	case w.meta.DeletionTimestamp != nil:
		r.warn(w.doc, "metadata.deletionTimestamp", "the object is being deleted; no pods are planned for it", "")
		return
	case w.count > r.spare:
		r.fault(w.doc, "", fmt.Sprintf("its %d pods are more than the %d that may still be made", w.count, r.spare), "split the problem")
		return
	}
	r.spare -= w.count
	template := r.templatePod(w.doc, w.meta, w.template)
	yes := true
	template.OwnerReferences = []metav1.OwnerReference{{APIVersion: w.apiVersion, Kind: w.doc.Kind, Name: w.meta.Name, UID: w.meta.UID, Controller: &yes}}
	template.Labels = withLabels(template.Labels, w.labels...)
	node := template.Spec.NodeName
	switch {
	case len(template.Spec.SchedulingGates) > 0:
		r.warn(w.doc, "spec.template.spec.schedulingGates", fmt.Sprintf("%d pods are held back by scheduling gate %q; left out", w.count, template.Spec.SchedulingGates[0].Name), "remove the gate to plan for them")
		return
	case node != "" && !r.nodes[node]:
		r.warn(w.doc, "spec.template.spec.nodeName", fmt.Sprintf("%d pods go to node %q, which is not in the input; left out", w.count, node), "remove nodeName, or add the node")
		return
	}
	pods := make([]corev1.Pod, w.count)
	number := 0
	for i := range pods {
		p := &pods[i]
		*p = *template
		if w.names != nil {
			p.Name = w.names[i]
		} else {
			for p.Name == "" || r.taken[p.Namespace+"/"+p.Name] {
				p.Name = fmt.Sprintf("%s-%05d", w.meta.Name, number)
				number++
			}
		}
		r.taken[p.Namespace+"/"+p.Name] = true
		if w.each != nil {
			w.each(p, i)
		}
		if node != "" {
			r.bound[node] = append(r.bound[node], p)
		} else {
			r.pending = append(r.pending, p)
		}
	}
}

// templatePod is a pod without a name made from a template, as the API server would admit it.
func (r *resolver) templatePod(d Document, meta *metav1.ObjectMeta, t *corev1.PodTemplateSpec) *corev1.Pod {
	t = t.DeepCopy()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: meta.Namespace, Labels: t.Labels, Annotations: t.Annotations}, Spec: t.Spec}
	r.admit.admit(p, d, "spec.template.spec")
	return p
}

// withLabels returns a copy of labels with more, given as key, value, key, value.
func withLabels(labels map[string]string, more ...string) map[string]string {
	out := make(map[string]string, len(labels)+len(more)/2)
	maps.Copy(out, labels)
	for i := 0; i+1 < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}
