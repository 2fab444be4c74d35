package scheduling

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// labels absorbs the labels of all pods of p under the keys that selectors read.
func (d *podHasher) labels(h *hash128, p *Problem) {
	if len(d.keys) == 0 {
		return
	}
	keys := slices.Sorted(maps.Keys(d.keys))
	var all hash128
	add := func(pods []*corev1.Pod) {
		for _, pod := range pods {
			if pod == nil {
				continue
			}
			e := newHash(partLabels)
			e.str(pod.Namespace)
			e.str(pod.Name)
			for _, k := range keys {
				if v, ok := pod.Labels[k]; ok {
					e.str(k)
					e.str(v)
				}
			}
			all.add(e.sum())
		}
	}
	add(p.Pods)
	add(p.DaemonSets)
	for i := range p.Nodes {
		add(p.Nodes[i].Pods)
	}
	h.set(all, len(keys))
}

func (d *podHasher) affinityKeys(a *corev1.Affinity) {
	terms := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			d.termKeys(&required[i])
		}
		for i := range preferred {
			d.termKeys(&preferred[i].PodAffinityTerm)
		}
	}
	if t := a.PodAffinity; t != nil {
		terms(t.RequiredDuringSchedulingIgnoredDuringExecution, t.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if t := a.PodAntiAffinity; t != nil {
		terms(t.RequiredDuringSchedulingIgnoredDuringExecution, t.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func (d *podHasher) termKeys(t *corev1.PodAffinityTerm) {
	d.selectorKeys(t.LabelSelector, t.MatchLabelKeys)
	d.selectorKeys(nil, t.MismatchLabelKeys)
}

func (d *podHasher) selectorKeys(s *metav1.LabelSelector, extra []string) {
	if s != nil {
		for k := range s.MatchLabels {
			d.key(k)
		}
		for i := range s.MatchExpressions {
			d.key(s.MatchExpressions[i].Key)
		}
	}
	for _, k := range extra {
		d.key(k)
	}
}

func (d *podHasher) key(k string) {
	if _, ok := d.keys[k]; ok {
		return
	}
	if d.keys == nil {
		d.keys = map[string]struct{}{}
	}
	d.keys[k] = struct{}{}
}

// message is what every Kubernetes type with a protobuf form can do.
type message interface {
	Size() int
	MarshalToSizedBuffer([]byte) (int, error)
}

// message absorbs m by its encoding. The types used here never fail to encode, and hold no
// quantities other than in maps, whose encoding would otherwise write into the problem.
func (d *podHasher) message(h *hash128, m message) {
	n := m.Size()
	if cap(d.buf) < n {
		d.buf = make([]byte, n+n/2+64)
	}
	buf := d.buf[:n]
	if written, err := m.MarshalToSizedBuffer(buf); err != nil || written != n {
		h.word(^uint64(0))
		return
	}
	h.bytes(buf)
}
