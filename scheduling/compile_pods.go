package scheduling

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// class is a set of pods that no decision can tell apart.
type class struct {
	// pod is one of them; which one does not matter, since it is only read for what they share.
	pod *corev1.Pod
	// pods are numbered as plans do, in the order of their names.
	pods []int32
	// constraint is what the pods ask of a node's labels and taints.
	constraint int32
	// req is by dimension.
	req   []int64
	ports []hostPort
	// key is the canonical encoding; classes are ordered by it where nothing else decides.
	key string
	// shapeKey is the part of key that says where a pod may run alone.
	shapeKey string
	// first ranks classes that Options.First names.
	first bool
	// refused is set where the pods are left out before any packing.
	refused *Reason

	// spread are the topology spread constraints, those by default included.
	spread []corev1.TopologySpreadConstraint
	// priority is that of the pods; buffer marks room to be kept free, which comes after all of them.
	priority int32
	buffer   bool
	// gangKey names the gang, empty without one; gang indexes compiler.gangs, -1 without one.
	gangKey string
	gang    int32
	// volumes is what the pods' volumes ask of a node, nil for nothing.
	volumes *podVolumes
	// volumeTerms are the alternatives that the volumes allow, as atoms; nil: no condition.
	volumeTerms [][]int32
}

// podReader turns pods into classes: it encodes everything a decision may read of a pod, once, and
// looks the bytes up. What differs between replicas (names, owners, kube-api-access volumes) is
// never encoded.
type podReader struct {
	c           *compiler
	buf, key    []byte
	names       []string
	vec         Vector
	constraints map[string]int32
	// classes are by encoding, byKey by canonical key.
	classes, byKey map[string]int32
	// keys is what selectors read; without any selector neither labels nor namespaces matter.
	keys        readKeys
	anySelector bool
	// spread and storage are those of the pod being read.
	spread  []corev1.TopologySpreadConstraint
	storage podVolumes
	// defaults remembers deduced spreads.
	defaults defaultMemo
	// draft readers only number constraints: the compiler that merges them reads them.
	draft bool
}

func newPodReader(c *compiler) *podReader {
	return &podReader{c: c, constraints: map[string]int32{}, classes: map[string]int32{}, byKey: map[string]int32{}}
}

// read returns the class of a pod that is to be placed.
func (r *podReader) read(p *corev1.Pod, buffer bool) int32 {
	r.spread = p.Spec.TopologySpreadConstraints
	if len(r.spread) == 0 && r.c.defaults != nil {
		r.spread = r.c.defaults.of(p, &r.defaults)
	}
	constraint := r.constraint(p)
	r.buf = binary.AppendUvarint(r.buf[:0], uint64(constraint))
	var fault string
	vec, err := podRequests(p, r.vec[:0])
	if err != nil {
		fault = err.Error()
	}
	vec = r.attach(p, vec)
	r.vec = vec
	for _, q := range vec {
		r.buf = binary.AppendUvarint(r.buf, uint64(r.c.dim(q.Name)))
		r.buf = binary.LittleEndian.AppendUint64(r.buf, uint64(q.Amount))
	}
	r.buf = append(r.buf, 0xff)
	shape := len(r.buf)
	r.volumeTerms(r.storage.terms)
	tail := len(r.buf)
	r.ports(p)
	r.between(p)
	cl := class{priority: priorityOf(p), buffer: buffer, gang: -1}
	if buffer {
		cl.priority = math.MinInt32
	}
	cl.gangKey = r.c.gangOf(p)
	r.standings(p, &cl)
	r.str(fault)
	if id, ok := r.classes[string(r.buf)]; ok {
		return id
	}
	cl.pod, cl.constraint, cl.ports, cl.req = p, constraint, portsOf(p), slices.Repeat([]int64{0}, len(r.c.dims))
	for _, q := range vec {
		cl.req[r.c.dim(q.Name)] += q.Amount
	}
	cl.refused = r.refusal(p, fault)
	cl.spread = r.spread
	if r.storage.terms != nil || r.storage.shared != nil {
		s := r.storage
		cl.volumes = &s
	}
	// The canonical key must not depend on the order in which pods were met, so it has names
	// instead of numbers.
	key := append(append(r.key[:0], r.c.constraints[constraint].key...), '|')
	key = append(appendVector(key, vec), r.buf[shape:tail]...)
	shape = len(key)
	r.key = append(append(key, '|'), r.buf[tail:]...)
	cl.key = string(r.key)
	cl.shapeKey = cl.key[:shape]
	// Whoever merges drafts finds those that are equal.
	id, ok := int32(0), false
	if !r.draft {
		id, ok = r.byKey[cl.key]
	}
	if !ok {
		id = int32(len(r.c.classes))
		if !r.draft {
			r.byKey[cl.key] = id
		}
		r.c.classes = append(r.c.classes, cl)
	}
	r.classes[string(r.buf)] = id
	return id
}

// standings encodes what decides between pods, and what they hold in common.
func (r *podReader) standings(p *corev1.Pod, cl *class) {
	if cl.priority != 0 {
		r.buf = binary.AppendVarint(append(r.buf, 'p'), int64(cl.priority))
		r.buf = append(r.buf, byte(b2i(cl.buffer)))
	}
	if cl.gangKey != "" {
		r.buf = append(r.buf, 'g')
		r.str(cl.gangKey)
	}
	if r.storage.fault != "" || r.storage.shared != nil {
		r.volumes(&r.storage)
	}
	for i := range p.Spec.ResourceClaims {
		r.buf = append(r.buf, 'D')
		r.str(p.Spec.ResourceClaims[i].Name)
	}
}

func priorityOf(p *corev1.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}

// attach reads the pod's volumes and adds those that it alone attaches to its requests.
func (r *podReader) attach(p *corev1.Pod, vec Vector) Vector {
	r.storage = podVolumes{}
	if !anyStorage(p) {
		return vec
	}
	r.storage = r.c.storage.of(p)
	for _, d := range r.storage.private {
		if r.c.attachable[d.driver] && d.n > 0 {
			vec = append(vec, Quantity{Name: AttachLimit(d.driver), Amount: d.n})
		}
	}
	// Volumes that no node bounds matter to nobody.
	r.storage.shared = slices.DeleteFunc(slices.Clone(r.storage.shared), func(v sharedVolume) bool { return !r.c.attachable[v.driver] })
	if len(r.storage.shared) == 0 {
		r.storage.shared = nil
	}
	return vec
}

// anyStorage reports whether the pod has volumes that may tie it to a place or take of a node's attachments.
func anyStorage(p *corev1.Pod) bool {
	for i := range p.Spec.Volumes {
		v := &p.Spec.Volumes[i]
		if v.EmptyDir == nil && v.ConfigMap == nil && v.Secret == nil && v.Projected == nil && v.DownwardAPI == nil && v.HostPath == nil {
			return true
		}
	}
	return false
}

// refusal is why pods of the class are left out before any packing, nil if they are not.
func (r *podReader) refusal(p *corev1.Pod, fault string) *Reason {
	if fault != "" {
		return &Reason{Code: CodeInvalid, Detail: fault}
	}
	if what := spreadFault(p.Spec.TopologySpreadConstraints); what != "" {
		return &Reason{Code: CodeInvalid, Detail: what}
	}
	if len(p.Spec.ResourceClaims) > 0 {
		var names []string
		for i := range p.Spec.ResourceClaims {
			names = append(names, p.Spec.ResourceClaims[i].Name)
		}
		return &Reason{Code: CodeResourceClaim, Detail: strings.Join(names, ", ")}
	}
	if r.storage.fault != "" {
		return &Reason{Code: r.storage.code, Detail: r.storage.fault}
	}
	return nil
}

// spreadFault is what no API server would let through.
func spreadFault(list []corev1.TopologySpreadConstraint) string {
	for i := range list {
		t := &list[i]
		switch {
		case t.MaxSkew < 1:
			return fmt.Sprintf("topologySpreadConstraints[%d].maxSkew is %d, must be at least 1", i, t.MaxSkew)
		case t.TopologyKey == "":
			return fmt.Sprintf("topologySpreadConstraints[%d] has no topologyKey", i)
		case t.WhenUnsatisfiable != corev1.DoNotSchedule && t.WhenUnsatisfiable != corev1.ScheduleAnyway:
			return fmt.Sprintf("topologySpreadConstraints[%d].whenUnsatisfiable is %q, must be DoNotSchedule or ScheduleAnyway", i, t.WhenUnsatisfiable)
		case t.MinDomains != nil && *t.MinDomains < 1:
			return fmt.Sprintf("topologySpreadConstraints[%d].minDomains is %d, must be at least 1", i, *t.MinDomains)
		}
	}
	return ""
}

func appendVector(b []byte, v Vector) []byte {
	for _, q := range v {
		b = append(b, q.Name...)
		b = binary.BigEndian.AppendUint64(b, uint64(q.Amount))
	}
	return b
}

// constraint returns the id of what the pod asks of a node's labels and taints.
func (r *podReader) constraint(p *corev1.Pod) int32 {
	s := &p.Spec
	hasAffinity := s.Affinity != nil && s.Affinity.NodeAffinity != nil
	r.buf = r.buf[:0]
	if len(s.NodeSelector) > 0 || hasAffinity || len(s.Tolerations) > 0 {
		r.selector(s.NodeSelector)
		if hasAffinity {
			r.affinity(s.Affinity.NodeAffinity)
		}
		r.tolerations(s.Tolerations)
	}
	if r.c.softPods && (len(r.spread) > 0 || s.Affinity != nil) {
		r.profile(p)
	}
	if id, ok := r.constraints[string(r.buf)]; ok {
		return id
	}
	id := int32(len(r.c.constraints))
	key := string(r.buf)
	r.constraints[key] = id
	k := constraint{key: key}
	if !r.draft {
		k = r.c.parseConstraint(p, key)
		r.buf = r.buf[:0]
		r.tolerations(s.Tolerations)
		k.tol = r.c.toleranceID(string(r.buf), s.Tolerations)
		if r.c.softPods {
			k.soft = softTerms(p, r.spread)
		}
	}
	r.c.constraints = append(r.c.constraints, k)
	return id
}
