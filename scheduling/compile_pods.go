package scheduling

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// class is a set of pods that no decision can tell apart.
type class struct {
	// pod is one of them; which one does not matter, since it is only read for what they share.
	pod *corev1.Pod
	// pods index Problem.Pods, in the order of their names.
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
}

// podReader turns pods into classes: it encodes everything a decision may read of a pod, once, and
// looks the bytes up. What differs between replicas (names, owners, kube-api-access volumes) is
// never encoded.
type podReader struct {
	c           *compiler
	buf         []byte
	names       []string
	vec         Vector
	constraints map[string]int32
	classes     map[string]int32
	// selectorKeys are the label keys some selector reads; without any selector
	// neither labels nor namespaces matter.
	selectorKeys []string
	anySelector  bool
}

func newPodReader(c *compiler) *podReader {
	return &podReader{c: c, constraints: map[string]int32{}, classes: map[string]int32{}}
}

func (r *podReader) str(s string) {
	r.buf = binary.AppendUvarint(r.buf, uint64(len(s)))
	r.buf = append(r.buf, s...)
}

func (r *podReader) strs(v []string) {
	r.buf = binary.AppendUvarint(r.buf, uint64(len(v)))
	for _, s := range v {
		r.str(s)
	}
}

// readSelectors collects what selectors read, which decides how much of a pod's labels matters.
func (r *podReader) readSelectors(pods []*corev1.Pod) {
	keys := map[string]bool{}
	for _, p := range pods {
		if p == nil {
			continue
		}
		for i := range p.Spec.TopologySpreadConstraints {
			t := &p.Spec.TopologySpreadConstraints[i]
			r.anySelector = true
			addSelectorKeys(keys, t.LabelSelector)
			for _, k := range t.MatchLabelKeys {
				keys[k] = true
			}
		}
		if a := p.Spec.Affinity; a != nil {
			for _, t := range requiredAntiAffinity(p) {
				r.anySelector = true
				addSelectorKeys(keys, t.LabelSelector)
				for _, k := range slices.Concat(t.MatchLabelKeys, t.MismatchLabelKeys) {
					keys[k] = true
				}
			}
		}
	}
	for k := range keys {
		r.selectorKeys = append(r.selectorKeys, k)
	}
	slices.Sort(r.selectorKeys)
}

func requiredAntiAffinity(p *corev1.Pod) []corev1.PodAffinityTerm {
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		return a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

func addSelectorKeys(keys map[string]bool, s *metav1.LabelSelector) {
	if s == nil {
		return
	}
	for k := range s.MatchLabels {
		keys[k] = true
	}
	for _, e := range s.MatchExpressions {
		keys[e.Key] = true
	}
}

// read returns the class of a pod that is to be placed.
func (r *podReader) read(p *corev1.Pod) int32 {
	constraint := r.constraint(p)
	r.buf = binary.AppendUvarint(r.buf[:0], uint64(constraint))
	var fault string
	vec, err := podRequests(p, r.vec[:0])
	if err != nil {
		fault = err.Error()
	}
	r.vec = vec
	for _, q := range vec {
		r.buf = binary.AppendUvarint(r.buf, uint64(r.c.dim(q.Name)))
		r.buf = binary.LittleEndian.AppendUint64(r.buf, uint64(q.Amount))
	}
	r.buf = append(r.buf, 0xff)
	tail := len(r.buf)
	r.ports(p)
	r.between(p)
	r.unmodelled(p)
	r.str(fault)
	if id, ok := r.classes[string(r.buf)]; ok {
		return id
	}
	id := int32(len(r.c.classes))
	cl := class{pod: p, constraint: constraint, ports: portsOf(p), req: slices.Repeat([]int64{0}, len(r.c.dims))}
	for _, q := range vec {
		cl.req[r.c.dim(q.Name)] = q.Amount
	}
	if fault != "" {
		cl.refused = &Reason{Code: CodeInvalid, Detail: fault}
	} else if what := r.c.unmodelled(p); what != "" {
		cl.refused = &Reason{Code: CodeNotModelled, Detail: what}
	}
	// The canonical key must not depend on the order in which pods were met, so it has names
	// instead of numbers.
	cl.shapeKey = r.c.constraints[constraint].key + "|" + vectorKey(vec)
	cl.key = cl.shapeKey + "|" + string(r.buf[tail:])
	r.classes[string(r.buf)] = id
	r.c.classes = append(r.c.classes, cl)
	return id
}

func vectorKey(v Vector) string {
	var b strings.Builder
	for _, q := range v {
		b.WriteString(string(q.Name))
		var amount [8]byte
		binary.BigEndian.PutUint64(amount[:], uint64(q.Amount))
		b.Write(amount[:])
	}
	return b.String()
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
	if id, ok := r.constraints[string(r.buf)]; ok {
		return id
	}
	id := int32(len(r.c.constraints))
	key := string(r.buf)
	r.constraints[key] = id
	r.c.constraints = append(r.c.constraints, r.c.parseConstraint(p, key))
	return id
}

// tolerations encodes them in an order of their own, since theirs means nothing.
func (r *podReader) tolerations(list []corev1.Toleration) {
	byContent := func(a, b corev1.Toleration) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(string(a.Effect), string(b.Effect)),
			strings.Compare(string(a.Operator), string(b.Operator)), strings.Compare(a.Value, b.Value))
	}
	if !slices.IsSortedFunc(list, byContent) {
		list = slices.Clone(list)
		slices.SortFunc(list, byContent)
	}
	for i := range list {
		t := &list[i]
		r.buf = append(r.buf, 'T')
		r.str(t.Key)
		r.str(string(t.Operator))
		r.str(t.Value)
		r.str(string(t.Effect))
	}
}

func (r *podReader) selector(m map[string]string) {
	r.names = r.names[:0]
	for k := range m {
		r.names = append(r.names, k)
	}
	slices.Sort(r.names)
	for _, k := range r.names {
		r.buf = append(r.buf, 'S')
		r.str(k)
		r.str(m[k])
	}
}

func (r *podReader) affinity(a *corev1.NodeAffinity) {
	if req := a.RequiredDuringSchedulingIgnoredDuringExecution; req != nil {
		r.buf = append(r.buf, 'R')
		for i := range req.NodeSelectorTerms {
			r.term(&req.NodeSelectorTerms[i])
		}
	}
	for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		t := &a.PreferredDuringSchedulingIgnoredDuringExecution[i]
		r.buf = append(r.buf, 'P')
		r.buf = binary.AppendVarint(r.buf, int64(t.Weight))
		r.term(&t.Preference)
	}
}

func (r *podReader) term(t *corev1.NodeSelectorTerm) {
	r.buf = append(r.buf, 't')
	for _, list := range [][]corev1.NodeSelectorRequirement{t.MatchExpressions, t.MatchFields} {
		r.buf = binary.AppendUvarint(r.buf, uint64(len(list)))
		for i := range list {
			r.str(list[i].Key)
			r.str(string(list[i].Operator))
			r.strs(list[i].Values)
		}
	}
}

func (r *podReader) ports(p *corev1.Pod) {
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			for _, port := range list[i].Ports {
				if port.HostPort != 0 || p.Spec.HostNetwork {
					r.buf = append(r.buf, 'H')
					r.str(port.HostIP)
					r.str(string(port.Protocol))
					r.buf = binary.AppendVarint(r.buf, int64(port.HostPort))
					r.buf = binary.AppendVarint(r.buf, int64(port.ContainerPort))
				}
			}
		}
	}
}

// between encodes what pods mean to each other.
func (r *podReader) between(p *corev1.Pod) {
	if !r.anySelector {
		return
	}
	r.str(p.Namespace)
	for _, k := range r.selectorKeys {
		if v, ok := p.Labels[k]; ok {
			r.str(k)
			r.str(v)
		}
	}
	for i := range p.Spec.TopologySpreadConstraints {
		t := &p.Spec.TopologySpreadConstraints[i]
		if t.WhenUnsatisfiable == corev1.ScheduleAnyway {
			continue
		}
		r.buf = append(r.buf, 'Z')
		r.str(t.TopologyKey)
		r.buf = binary.AppendVarint(r.buf, int64(t.MaxSkew))
		if t.MinDomains != nil {
			r.buf = binary.AppendVarint(r.buf, int64(*t.MinDomains))
		}
		r.labelSelector(t.LabelSelector)
		r.strs(t.MatchLabelKeys)
	}
	terms := requiredAntiAffinity(p)
	for i := range terms {
		t := &terms[i]
		r.buf = append(r.buf, 'N')
		r.str(t.TopologyKey)
		r.strs(t.Namespaces)
		r.labelSelector(t.LabelSelector)
		r.labelSelector(t.NamespaceSelector)
		r.strs(t.MatchLabelKeys)
		r.strs(t.MismatchLabelKeys)
	}
}

func (r *podReader) labelSelector(s *metav1.LabelSelector) {
	if s == nil {
		r.buf = append(r.buf, '0')
		return
	}
	r.buf = append(r.buf, '1')
	r.selector(s.MatchLabels)
	for i := range s.MatchExpressions {
		e := &s.MatchExpressions[i]
		r.str(e.Key)
		r.str(string(e.Operator))
		r.strs(e.Values)
	}
}

func (r *podReader) unmodelled(p *corev1.Pod) {
	if what := r.c.unmodelled(p); what != "" {
		r.buf = append(r.buf, 'U')
		r.str(what)
	}
}

// unmodelled names the first hard constraint of the pod that Solve cannot weigh yet.
func (c *compiler) unmodelled(p *corev1.Pod) string {
	for i := range p.Spec.Volumes {
		if v := p.Spec.Volumes[i].PersistentVolumeClaim; v != nil && c.tied[p.Namespace+"/"+v.ClaimName] {
			return "a volume that only some nodes can reach"
		}
	}
	if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil &&
		len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
		return "required pod affinity"
	}
	if len(p.Spec.ResourceClaims) > 0 {
		return "dynamic resource claims"
	}
	for i := range p.Spec.TopologySpreadConstraints {
		t := &p.Spec.TopologySpreadConstraints[i]
		if t.WhenUnsatisfiable == corev1.DoNotSchedule && domainKey(t.TopologyKey) == domainNone {
			return "a topology spread over " + t.TopologyKey
		}
	}
	for _, t := range requiredAntiAffinity(p) {
		if domainKey(t.TopologyKey) == domainNone {
			return "pod anti-affinity over " + t.TopologyKey
		}
	}
	return ""
}

// tiedClaims are the claims, by namespace and name, whose volume says which nodes can reach it.
func tiedClaims(s *Storage) map[string]bool {
	var tied map[string]bool
	choosy := map[string]bool{}
	for _, v := range s.Volumes {
		if v != nil && v.Spec.NodeAffinity != nil && v.Spec.NodeAffinity.Required != nil {
			choosy[v.Name] = true
		}
	}
	for _, claim := range s.Claims {
		if claim != nil && choosy[claim.Spec.VolumeName] {
			if tied == nil {
				tied = map[string]bool{}
			}
			tied[claim.Namespace+"/"+claim.Name] = true
		}
	}
	return tied
}

// sortByName orders pods by namespace and name; most lists come sorted already.
func sortByName(all []*corev1.Pod, pods []int32) {
	byName := func(a, b int32) int {
		p, q := all[a], all[b]
		if c := strings.Compare(p.Namespace, q.Namespace); c != 0 {
			return c
		}
		if c := strings.Compare(p.Name, q.Name); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	}
	if !slices.IsSortedFunc(pods, byName) {
		slices.SortFunc(pods, byName)
	}
}

// hostPort is a port of the node that a pod takes for itself.
type hostPort struct {
	ip, protocol string
	port         int32
}

func portsOf(p *corev1.Pod) []hostPort {
	var out []hostPort
	add := func(c *corev1.Container) {
		for _, port := range c.Ports {
			h := hostPort{ip: port.HostIP, protocol: string(port.Protocol), port: port.HostPort}
			if h.port == 0 && p.Spec.HostNetwork {
				h.port = port.ContainerPort // as the API server defaults it
			}
			if h.port == 0 {
				continue
			}
			if h.protocol == "" {
				h.protocol = string(corev1.ProtocolTCP)
			}
			if h.ip == "" || h.ip == "::" {
				h.ip = "0.0.0.0"
			}
			out = append(out, h)
		}
	}
	for i := range p.Spec.Containers {
		add(&p.Spec.Containers[i])
	}
	// kube-scheduler counts the ports of sidecars, not those of init containers that end.
	for i := range p.Spec.InitContainers {
		if c := &p.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(c)
		}
	}
	return out
}

// portsClash reports whether two sets of host ports cannot be on one node.
func portsClash(a, b []hostPort) bool {
	for _, x := range a {
		for _, y := range b {
			if x.port == y.port && x.protocol == y.protocol && (x.ip == y.ip || x.ip == "0.0.0.0" || y.ip == "0.0.0.0") {
				return true
			}
		}
	}
	return false
}
