package scheduling

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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

// between encodes what pods mean to each other, r.spread included.
func (r *podReader) between(p *corev1.Pod) {
	if r.anySelector {
		r.standing(p)
	}
	for i := range r.spread {
		if t := &r.spread[i]; t.WhenUnsatisfiable != corev1.ScheduleAnyway || r.c.softPods {
			r.spreadConstraint(t)
		}
	}
	if a := p.Spec.Affinity; a == nil || a.PodAffinity == nil && a.PodAntiAffinity == nil {
		return
	}
	r.podTerms('N', requiredAntiAffinity(p))
	r.podTerms('A', requiredAffinity(p))
	if r.c.softPods {
		with, without := preferredTerms(p)
		r.weightedTerms('a', with)
		r.weightedTerms('n', without)
	}
}

// standing encodes what selectors read of a pod.
func (r *podReader) standing(p *corev1.Pod) {
	r.str(p.Namespace)
	for _, k := range r.keys.labels {
		if v, ok := p.Labels[k]; ok {
			r.str(k)
			r.str(v)
		}
	}
	r.buf = append(r.buf, 0)
}

func (r *podReader) spreadConstraint(t *corev1.TopologySpreadConstraint) {
	r.keys.constraint(t.TopologyKey, nil, t.MatchLabelKeys)
	tag := byte('Z')
	if t.WhenUnsatisfiable == corev1.ScheduleAnyway {
		tag = 'Y'
	}
	r.buf = append(r.buf, tag)
	r.str(t.TopologyKey)
	r.buf = binary.AppendVarint(r.buf, int64(t.MaxSkew))
	r.buf = binary.AppendVarint(r.buf, int64(minDomainsOf(t)))
	r.buf = append(r.buf, byte(b2i(honorsAffinity(t))+2*b2i(honorsTaints(t))))
	r.podSelector(t.LabelSelector)
	r.strs(t.MatchLabelKeys)
}

// minDomainsOf is 1 where the constraint does not say.
func minDomainsOf(t *corev1.TopologySpreadConstraint) int32 {
	if t.MinDomains == nil {
		return 1
	}
	return *t.MinDomains
}

func honorsAffinity(t *corev1.TopologySpreadConstraint) bool {
	return t.NodeAffinityPolicy == nil || *t.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor
}

func honorsTaints(t *corev1.TopologySpreadConstraint) bool {
	return t.NodeTaintsPolicy != nil && *t.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
}

func (r *podReader) podTerms(tag byte, terms []corev1.PodAffinityTerm) {
	for i := range terms {
		r.buf = append(r.buf, tag)
		r.podTerm(&terms[i])
	}
}

func (r *podReader) weightedTerms(tag byte, terms []corev1.WeightedPodAffinityTerm) {
	for i := range terms {
		r.buf = binary.AppendVarint(append(r.buf, tag), int64(terms[i].Weight))
		r.podTerm(&terms[i].PodAffinityTerm)
	}
}

func (r *podReader) podTerm(t *corev1.PodAffinityTerm) {
	r.keys.constraint(t.TopologyKey, nil, t.MatchLabelKeys, t.MismatchLabelKeys)
	r.str(t.TopologyKey)
	r.strs(t.Namespaces)
	r.podSelector(t.LabelSelector)
	r.labelSelector(t.NamespaceSelector)
	r.strs(t.MatchLabelKeys)
	r.strs(t.MismatchLabelKeys)
}

// podSelector encodes a selector of pods and notes which labels it reads.
func (r *podReader) podSelector(s *metav1.LabelSelector) {
	r.labelSelector(s)
	if s == nil {
		return
	}
	for _, key := range r.names { // those of MatchLabels
		r.keys.label(key)
	}
	for i := range s.MatchExpressions {
		r.keys.label(s.MatchExpressions[i].Key)
	}
}

func (r *podReader) labelSelector(s *metav1.LabelSelector) {
	if s == nil {
		r.buf = append(r.buf, '0')
		return
	}
	r.buf = append(r.buf, '1')
	r.selector(s.MatchLabels)
	r.buf = binary.AppendUvarint(r.buf, uint64(len(s.MatchExpressions)))
	for i := range s.MatchExpressions {
		e := &s.MatchExpressions[i]
		r.str(e.Key)
		r.str(string(e.Operator))
		r.strs(e.Values)
	}
}

// profile encodes the soft constraints between pods as far as the order of giving up depends on them.
func (r *podReader) profile(p *corev1.Pod) {
	for _, s := range softTerms(p, r.spread) {
		r.buf = append(r.buf, 'W', byte(s.kind))
		r.str(s.key)
		r.buf = binary.AppendVarint(r.buf, int64(s.weight))
	}
}

// volumes encodes what the pod's volumes ask of a node; how many it attaches is among its requests.
func (r *podReader) volumes(v *podVolumes) {
	r.str(v.fault)
	for i := range v.shared {
		r.buf = append(r.buf, 'v')
		r.str(v.shared[i].id)
		r.str(v.shared[i].driver)
	}
}

func (r *podReader) volumeTerms(terms [][]Requirement) {
	for _, term := range terms {
		r.buf = binary.AppendUvarint(append(r.buf, 'O'), uint64(len(term)))
		for i := range term {
			r.str(term[i].Key)
			r.str(string(term[i].Operator))
			r.strs(term[i].Values)
		}
	}
}
