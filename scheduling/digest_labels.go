package scheduling

import (
	"maps"
	"runtime"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// labels absorbs the labels of all pods of p under the keys that selectors read, and their owners where they
// matter.
func (d *podHasher) labels(h *hash128, p *Problem) {
	if len(d.keys) == 0 && !d.owners {
		return
	}
	keys := slices.Sorted(maps.Keys(d.keys))
	all := d.labelsOf(p.Pods, keys)
	all.add(d.labelsOf(p.DaemonSets, keys))
	for i := range p.Nodes {
		all.add(d.labelsOf(p.Nodes[i].Pods, keys))
	}
	for i := range p.Demands {
		all.add(d.labelsOf([]*corev1.Pod{p.Demands[i].Template}, keys))
	}
	h.set(all, len(keys))
}

// labelsOf adds up the labels of pods; of many by several goroutines, since most of it is waiting for memory.
func (d *podHasher) labelsOf(pods []*corev1.Pod, keys []string) hash128 {
	n := max(min(runtime.GOMAXPROCS(0), 8, len(pods)/minChunk), 1)
	sums := make([]hash128, n)
	read := func(i int) {
		for _, pod := range pods[len(pods)*i/n : len(pods)*(i+1)/n] {
			if pod != nil {
				sums[i].add(d.labelSum(pod, keys))
			}
		}
	}
	var wg sync.WaitGroup
	for i := 1; i < n; i++ {
		wg.Go(func() { read(i) })
	}
	read(0)
	wg.Wait()
	var all hash128
	for _, s := range sums {
		all.add(s)
	}
	return all
}

func (d *podHasher) labelSum(pod *corev1.Pod, keys []string) hash128 {
	e := newHash(partLabels)
	e.str(pod.Namespace)
	e.str(pod.Name)
	for _, k := range keys {
		if v, ok := pod.Labels[k]; ok {
			e.str(k)
			e.str(v)
		}
	}
	for i := range pod.OwnerReferences {
		if o := &pod.OwnerReferences[i]; d.owners && o.Controller != nil && *o.Controller {
			e.word(partOwner)
			e.str(o.APIVersion)
			e.str(o.Kind)
			e.str(o.Name)
		}
	}
	return e.sum()
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
