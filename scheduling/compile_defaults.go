package scheduling

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// defaultSpread gives pods without a spread of their own the constraints that kube-scheduler is configured with.
// They count what the pod's Services and its owner select (helper.DefaultSelector of kube-scheduler).
type defaultSpread struct {
	constraints []corev1.TopologySpreadConstraint
	services    []*corev1.Service
	// byPair finds services by namespace and one pair of their selector.
	byPair map[servicePair][]int32
	owners map[ownerName]*metav1.LabelSelector
}

type servicePair struct{ namespace, key, value string }

type ownerName struct{ kind, namespace, name string }

// defaultMemo remembers what was deduced, by the services and the owner that say it.
type defaultMemo struct {
	buf  []byte
	hits []int32
	sets map[string][]corev1.TopologySpreadConstraint
}

// newDefaultSpread returns nil if there are no constraints by default.
func newDefaultSpread(p *DefaultSpread) *defaultSpread {
	if len(p.Constraints) == 0 {
		return nil
	}
	// A pod's own constraints come in the order in which it states them; these come in no order.
	constraints := slices.Clone(p.Constraints)
	text := func(c corev1.TopologySpreadConstraint) string { return c.String() }
	slices.SortStableFunc(constraints, func(a, b corev1.TopologySpreadConstraint) int { return strings.Compare(text(a), text(b)) })
	d := &defaultSpread{constraints: constraints, byPair: map[servicePair][]int32{}, owners: map[ownerName]*metav1.LabelSelector{}}
	for _, s := range p.Services {
		if s == nil || len(s.Spec.Selector) == 0 {
			continue // selects no pods, or says nothing about those it selects
		}
		first := sortedKeys(s.Spec.Selector)[0]
		pair := servicePair{s.Namespace, first, s.Spec.Selector[first]}
		d.byPair[pair] = append(d.byPair[pair], int32(len(d.services)))
		d.services = append(d.services, s)
	}
	for i := range p.Owners {
		o := &p.Owners[i]
		if _, err := metav1.LabelSelectorAsSelector(o.Selector); err == nil && o.Selector != nil {
			d.owners[ownerName{o.Kind, o.Namespace, o.Name}] = o.Selector
		}
	}
	return d
}

// selectorKeys notes the labels that deduced selectors read.
func (d *defaultSpread) selectorKeys(k *readKeys) {
	for i := range d.constraints {
		k.constraint(d.constraints[i].TopologyKey, nil)
	}
	for _, s := range d.services {
		for key := range s.Spec.Selector {
			k.label(key)
		}
	}
	for _, s := range d.owners {
		k.selector(s)
	}
	k.grown = false
}

// of returns the pod's constraints; none if nothing selects it.
func (d *defaultSpread) of(p *corev1.Pod, m *defaultMemo) []corev1.TopologySpreadConstraint {
	m.hits = m.hits[:0]
	for k, v := range p.Labels {
		for _, i := range d.byPair[servicePair{p.Namespace, k, v}] {
			if holdsPairs(p.Labels, d.services[i].Spec.Selector) {
				m.hits = append(m.hits, i)
			}
		}
	}
	slices.Sort(m.hits)
	owner, selector := d.owner(p)
	if len(m.hits) == 0 && selector == nil {
		return nil
	}
	m.buf = m.buf[:0]
	for _, i := range m.hits {
		m.buf = binary.AppendUvarint(m.buf, uint64(i)+1)
	}
	m.buf = append(append(append(m.buf, 0), owner.kind...), 0)
	m.buf = append(append(m.buf, owner.namespace...), 0)
	m.buf = append(m.buf, owner.name...)
	if out, ok := m.sets[string(m.buf)]; ok {
		return out
	}
	out := d.deduce(m.hits, owner, selector)
	if m.sets == nil {
		m.sets = map[string][]corev1.TopologySpreadConstraint{}
	}
	m.sets[string(m.buf)] = out
	return out
}

func holdsPairs(labels, pairs map[string]string) bool {
	for k, v := range pairs {
		if have, ok := labels[k]; !ok || have != v {
			return false
		}
	}
	return true
}

// owner finds what the pod's controller selects, if it is one that kube-scheduler asks.
func (d *defaultSpread) owner(p *corev1.Pod) (ownerName, *metav1.LabelSelector) {
	for i := range p.OwnerReferences {
		o := &p.OwnerReferences[i]
		if o.Controller == nil || !*o.Controller {
			continue
		}
		version := "apps/v1"
		if o.Kind == ownerReplication {
			version = "v1"
		}
		if o.APIVersion != version && o.APIVersion != "" {
			return ownerName{}, nil
		}
		name := ownerName{o.Kind, p.Namespace, o.Name}
		if s, ok := d.owners[name]; ok {
			return name, s
		}
		break
	}
	return ownerName{}, nil
}

// The kinds of owners that have a say.
const (
	ownerReplication = "ReplicationController"
	ownerReplicas    = "ReplicaSet"
	ownerStateful    = "StatefulSet"
	// ownerDeployment stands for the ReplicaSet that pods from its template will have.
	ownerDeployment = "Deployment"
)

// deduce merges what Services and a ReplicationController select as a set of labels, and adds what another owner
// requires.
func (d *defaultSpread) deduce(services []int32, owner ownerName, selector *metav1.LabelSelector) []corev1.TopologySpreadConstraint {
	s := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for _, i := range services {
		maps.Copy(s.MatchLabels, d.services[i].Spec.Selector)
	}
	switch {
	case selector == nil:
	case owner.kind == ownerReplication:
		maps.Copy(s.MatchLabels, selector.MatchLabels)
	default:
		for _, k := range sortedKeys(selector.MatchLabels) {
			s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{Key: k, Operator: metav1.LabelSelectorOpIn,
				Values: []string{selector.MatchLabels[k]}})
		}
		s.MatchExpressions = append(s.MatchExpressions, selector.MatchExpressions...)
	}
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return nil
	}
	out := slices.Clone(d.constraints)
	for i := range out {
		out[i].LabelSelector = s
	}
	return out
}

// checkDefaultSpread applies the rules that kube-scheduler has for its configuration.
func (c *compiler) checkDefaultSpread(f *faults) {
	type pair struct {
		key  string
		when corev1.UnsatisfiableConstraintAction
	}
	seen := map[pair]bool{}
	for i := range c.p.DefaultSpread.Constraints {
		t := &c.p.DefaultSpread.Constraints[i]
		path := fmt.Sprintf("defaultSpread.constraints[%d]", i)
		if t.LabelSelector != nil || len(t.MatchLabelKeys) > 0 {
			f.add("says what it counts", "remove labelSelector and matchLabelKeys: they are deduced for each pod", "%s", path)
		}
		if t.TopologyKey == "" {
			f.add("has no topologyKey", "name a node label, such as topology.kubernetes.io/zone", "%s", path)
		}
		if t.MaxSkew <= 0 {
			f.add(fmt.Sprintf("has a maxSkew of %d", t.MaxSkew), "write 1 or more", "%s", path)
		}
		if t.WhenUnsatisfiable != corev1.DoNotSchedule && t.WhenUnsatisfiable != corev1.ScheduleAnyway {
			f.add(fmt.Sprintf("has whenUnsatisfiable %q", t.WhenUnsatisfiable), "write DoNotSchedule or ScheduleAnyway", "%s", path)
		}
		p := pair{c.rules.Key(t.TopologyKey), t.WhenUnsatisfiable}
		if seen[p] {
			f.add(fmt.Sprintf("is the second over %s with %s", t.TopologyKey, t.WhenUnsatisfiable), "leave one of them", "%s", path)
		}
		seen[p] = true
	}
	for i, s := range c.p.DefaultSpread.Services {
		if s == nil {
			f.add("is nil", "leave it out", "defaultSpread.services[%d]", i)
		}
	}
	owners := map[ownerName]bool{}
	for i := range c.p.DefaultSpread.Owners {
		o := &c.p.DefaultSpread.Owners[i]
		name := ownerName{o.Kind, o.Namespace, o.Name}
		if !slices.Contains([]string{ownerReplication, ownerReplicas, ownerStateful, ownerDeployment}, o.Kind) {
			f.add(fmt.Sprintf("is a %q", o.Kind), "give ReplicaSets, StatefulSets, ReplicationControllers or Deployments", "defaultSpread.owners[%q]",
				strings.Join([]string{o.Namespace, o.Name}, "/"))
		}
		if owners[name] {
			f.add("is there twice", "give every owner once", "defaultSpread.owners[%q]", strings.Join([]string{o.Namespace, o.Name}, "/"))
		}
		owners[name] = true
	}
}
