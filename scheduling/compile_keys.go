package scheduling

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// readKeys is what the selectors of the problem read, which decides how much of a pod matters: without
// any selector neither labels nor namespaces do.
type readKeys struct {
	any bool
	// labels are the label keys that selectors read, sorted; topology the keys whose domains they count in.
	labels   []string
	topology map[string]struct{}
	// grown is set when something was added.
	grown bool
	seen  map[string]struct{}
}

func (k *readKeys) label(key string) {
	if k.seen != nil {
		if _, ok := k.seen[key]; ok {
			return
		}
	} else if slices.Contains(k.labels, key) {
		return
	}
	i, _ := slices.BinarySearch(k.labels, key)
	k.labels = slices.Insert(k.labels, i, key)
	k.grown = true
	if len(k.labels) > 8 {
		if k.seen == nil {
			k.seen = map[string]struct{}{}
			for _, l := range k.labels {
				k.seen[l] = struct{}{}
			}
		}
		k.seen[key] = struct{}{}
	}
}

func (k *readKeys) constraint(topologyKey string, s *metav1.LabelSelector, more ...[]string) {
	if !k.any {
		k.any, k.grown = true, true
	}
	if _, ok := k.topology[topologyKey]; !ok {
		if k.topology == nil {
			k.topology = map[string]struct{}{}
		}
		k.topology[topologyKey] = struct{}{}
	}
	k.selector(s)
	for _, list := range more {
		for _, key := range list {
			k.label(key)
		}
	}
}

func (k *readKeys) selector(s *metav1.LabelSelector) {
	if s == nil {
		return
	}
	for key := range s.MatchLabels {
		k.label(key)
	}
	for i := range s.MatchExpressions {
		k.label(s.MatchExpressions[i].Key)
	}
}

// add takes over what another reader has seen, and reports whether that was news.
func (k *readKeys) add(o *readKeys) {
	if o.any && !k.any {
		k.any, k.grown = true, true
	}
	for _, key := range o.labels {
		k.label(key)
	}
	for key := range o.topology {
		if k.topology == nil {
			k.topology = map[string]struct{}{}
		}
		k.topology[key] = struct{}{}
	}
}

// copy returns keys that may grow on their own.
func (k *readKeys) copy() readKeys {
	return readKeys{any: k.any, labels: slices.Clone(k.labels), topology: maps.Clone(k.topology), seen: maps.Clone(k.seen)}
}

// bound notes what a running pod asks of others: nobody moves it, so only its anti-affinity counts.
func (k *readKeys) bound(p *corev1.Pod) {
	if finished(p) || p.DeletionTimestamp != nil {
		return
	}
	terms := requiredAntiAffinity(p)
	for i := range terms {
		t := &terms[i]
		k.constraint(t.TopologyKey, t.LabelSelector, t.MatchLabelKeys, t.MismatchLabelKeys)
	}
}

func requiredAntiAffinity(p *corev1.Pod) []corev1.PodAffinityTerm {
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		return a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

func requiredAffinity(p *corev1.Pod) []corev1.PodAffinityTerm {
	if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil {
		return a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// preferredTerms are the preferred affinity and anti-affinity terms.
func preferredTerms(p *corev1.Pod) (with, without []corev1.WeightedPodAffinityTerm) {
	if a := p.Spec.Affinity; a != nil {
		if a.PodAffinity != nil {
			with = a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution
		}
		if a.PodAntiAffinity != nil {
			without = a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
		}
	}
	return with, without
}
