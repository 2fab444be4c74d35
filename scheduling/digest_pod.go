package scheduling

import (
	corev1 "k8s.io/api/core/v1"
)

// podHasher hashes what a plan may depend on of pods. Labels are the slowest part to read and
// most are read by no selector; so pod leaves them out, notes which keys the selectors it meets ask
// for, and labels adds those in a second pass, if there are any.
type podHasher struct {
	buf  []byte // Reused for the encodings of deep parts.
	keys map[string]struct{}
	// owners is set where it matters which workload owns a pod.
	owners bool
}

// Parts of a pod that most pods do not have are announced by a tag of their own; the rest is
// absorbed in a fixed order.
const (
	partLimits = 0x100 + iota
	partInit
	partPort
	partContainerClaims
	partNodeSelector
	partTolerations
	partAffinity
	partSpread
	partVolume
	partOverhead
	partPodResources
	partClaims
	partGates
	partGroup
	partDaemonSet
	partDeleted
	partOS
	partNodeName
	partHostNetwork
	partRestart
	partLabels
	partResize
	partPriority
	partOwner
)

// pod hashes one pod. Add up the results for a set of pods; their labels come with labels.
func (d *podHasher) pod(p *corev1.Pod) hash128 {
	h := newHash(tagPods)
	if p == nil {
		return h.sum()
	}
	h.str(p.Namespace)
	h.str(p.Name)
	h.word(uint64(len(p.Spec.Containers)))
	for i := range p.Spec.Containers {
		d.container(&h, &p.Spec.Containers[i], p.Spec.HostNetwork)
	}
	d.common(&h, p)
	if p.Spec.Affinity != nil || len(p.Spec.TopologySpreadConstraints) > 0 || len(p.Spec.Volumes) > 0 ||
		len(p.Spec.InitContainers) > 0 {
		d.deep(&h, p)
	}
	d.rare(&h, p)
	return h.sum()
}

func (d *podHasher) container(h *hash128, c *corev1.Container, hostNetwork bool) {
	r := &c.Resources
	h.list(r.Requests)
	if len(r.Limits) > 0 {
		h.defaults(r)
	}
	for i := range c.Ports {
		p := &c.Ports[i]
		if p.HostPort == 0 && !hostNetwork {
			continue
		}
		h.word(partPort)
		h.word(uint64(uint32(p.HostPort))<<32 | uint64(uint32(p.ContainerPort)))
		h.str(string(p.Protocol))
		h.str(p.HostIP)
	}
	for i := range r.Claims {
		h.word(partContainerClaims)
		h.str(r.Claims[i].Name)
		h.str(r.Claims[i].Request)
	}
	if c.RestartPolicy != nil {
		h.word(partRestart)
		h.str(string(*c.RestartPolicy))
	}
}

// defaults absorbs the limits that stand in for requests; the others bear on no plan.
func (h *hash128) defaults(r *corev1.ResourceRequirements) {
	var all hash128
	n := 0
	for name, q := range r.Limits {
		if _, ok := r.Requests[name]; ok {
			continue
		}
		e := hash128{seedA, seedB}
		e.str(string(name))
		e.word(uint64(q.MilliValue()))
		all.add(e)
		n++
	}
	if n > 0 {
		h.word(partLimits)
		h.set(all, n)
	}
}

// common is what many pods have, or what is cheap to look at.
func (d *podHasher) common(h *hash128, p *corev1.Pod) {
	s := &p.Spec
	if len(s.NodeSelector) > 0 {
		h.word(partNodeSelector)
		h.stringMap(s.NodeSelector)
	}
	if len(s.Tolerations) > 0 {
		h.word(partTolerations)
		var all hash128
		for i := range s.Tolerations {
			t := &s.Tolerations[i]
			e := hash128{seedA, seedB}
			e.str(t.Key)
			e.str(string(t.Operator))
			e.str(t.Value)
			e.str(string(t.Effect))
			all.add(e)
		}
		h.set(all, len(s.Tolerations))
	}
	if s.Priority != nil {
		h.word(partPriority)
		h.word(uint64(*s.Priority))
	}
	if s.NodeName != "" {
		h.word(partNodeName)
		h.str(s.NodeName)
	}
	if s.HostNetwork {
		h.word(partHostNetwork)
	}
	h.str(string(p.Status.Phase))
	for i := range p.OwnerReferences {
		// The pods of a DaemonSet are told from others by their owner.
		if o := &p.OwnerReferences[i]; o.Kind == "DaemonSet" {
			h.word(partDaemonSet)
			h.str(o.Name)
			h.bool(o.Controller != nil && *o.Controller)
		}
	}
}

// deep hashes the nested parts by their protobuf form, which is canonical (map keys sorted, empty
// and missing the same) and needs no code for each field that Kubernetes adds.
func (d *podHasher) deep(h *hash128, p *corev1.Pod) {
	s := &p.Spec
	for i := range s.InitContainers {
		h.word(partInit)
		d.container(h, &s.InitContainers[i], s.HostNetwork)
	}
	if s.Affinity != nil {
		h.word(partAffinity)
		d.message(h, s.Affinity)
		d.affinityKeys(s.Affinity)
	}
	for i := range s.TopologySpreadConstraints {
		h.word(partSpread)
		d.message(h, &s.TopologySpreadConstraints[i])
		d.selectorKeys(s.TopologySpreadConstraints[i].LabelSelector, s.TopologySpreadConstraints[i].MatchLabelKeys)
	}
	for i := range s.Volumes {
		v := &s.Volumes[i]
		switch {
		case v.PersistentVolumeClaim != nil:
			h.word(partVolume)
			h.str(v.PersistentVolumeClaim.ClaimName)
			h.bool(v.PersistentVolumeClaim.ReadOnly)
		case v.EmptyDir != nil, v.ConfigMap != nil, v.Secret != nil, v.Projected != nil,
			v.DownwardAPI != nil, v.HostPath != nil:
			// Bound to no place; some have random names.
		default:
			h.word(partVolume)
			d.message(h, v)
			if v.Ephemeral != nil {
				h.str(string(p.UID)) // by which its claim is the pod's own
			}
		}
	}
}

func (d *podHasher) rare(h *hash128, p *corev1.Pod) {
	s := &p.Spec
	if len(s.Overhead) > 0 {
		h.word(partOverhead)
		h.list(s.Overhead)
	}
	if s.Resources != nil {
		h.word(partPodResources)
		h.list(s.Resources.Requests)
		h.defaults(s.Resources)
	}
	for i := range s.ResourceClaims {
		h.word(partClaims)
		d.message(h, &s.ResourceClaims[i])
	}
	for i := range s.SchedulingGates {
		h.word(partGates)
		h.str(s.SchedulingGates[i].Name)
	}
	if s.SchedulingGroup != nil {
		h.word(partGroup)
		d.message(h, s.SchedulingGroup)
	}
	if s.OS != nil {
		h.word(partOS)
		h.str(string(s.OS.Name))
	}
	if p.DeletionTimestamp != nil {
		h.word(partDeleted)
	}
	if st := &p.Status; st.Resources != nil || len(st.ContainerStatuses)+len(st.InitContainerStatuses) > 0 {
		h.resize(p)
	}
}

// resize absorbs what a running pod holds already, which counts while its requests are being changed.
func (h *hash128) resize(p *corev1.Pod) {
	st := &p.Status
	if st.Resources == nil && !hasResize(st) {
		return
	}
	h.word(partResize)
	h.bool(resizeInfeasible(st))
	h.list(st.AllocatedResources)
	if st.Resources != nil {
		h.list(st.Resources.Requests)
	}
	for _, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range containers {
			h.str(containers[i].Name)
		}
	}
	for _, statuses := range [][]corev1.ContainerStatus{st.ContainerStatuses, st.InitContainerStatuses} {
		for i := range statuses {
			h.str(statuses[i].Name)
			h.list(statuses[i].AllocatedResources)
			if r := statuses[i].Resources; r != nil {
				h.list(r.Requests)
			}
		}
	}
}
