package scheduling

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// digestVersion changes whenever the same problem would get another digest.
const digestVersion = "fw3-"

// Tags keep equal content in different places from looking the same.
const (
	tagPods = iota + 1
	tagPools
	tagTypes
	tagOfferings
	tagNodes
	tagNamespaces
	tagClaims
	tagVolumes
	tagClasses
	tagCSINodes
	tagRules
	tagDemands
	tagSpread
	tagServices
	tagOwners
	tagGangs
	tagCommitments
)

// problemDigest identifies a problem whatever the order of its slices: equal problems have equal
// digests, and different ones differ unless someone means them to (the hash is fast, not
// cryptographic). Of pods it covers what may bear on a plan and leaves out the rest, such as
// annotations, environment, images, mounted configuration, and labels that no selector reads.
func problemDigest(p *Problem) string {
	var hasher podHasher
	var pods hash128
	for _, pod := range p.Pods {
		pods.add(hasher.pod(pod))
	}
	return digestWithPods(p, &hasher, pods)
}

// digestWithPods is problemDigest for a caller that has added up hasher.pod over p.Pods already,
// on a walk that it makes anyway and that brings every pod into the cache.
func digestWithPods(p *Problem, hasher *podHasher, pods hash128) string {
	h := newHash(0)
	h.set(pods, len(p.Pods))
	h.set(hashPools(p.Pools), len(p.Pools))
	h.set(hashNodes(hasher, p.Nodes), len(p.Nodes))
	var templates hash128
	for _, pod := range p.DaemonSets {
		templates.add(hasher.pod(pod))
	}
	h.set(templates, len(p.DaemonSets))
	hasher.demands(&h, p.Demands)
	hasher.together(&h, p)
	hasher.labels(&h, p)
	var namespaces hash128
	for name, labels := range p.Namespaces {
		e := newHash(tagNamespaces)
		e.str(name)
		e.stringMap(labels)
		namespaces.add(e.sum())
	}
	h.set(namespaces, len(p.Namespaces))
	hasher.storage(&h, &p.Storage)
	hashRules(&h, &p.Labels)
	for _, s := range []string{p.Catalog.AsOf, p.Catalog.Source, p.Catalog.Region, p.Catalog.Currency} {
		h.str(s)
	}
	if len(p.Catalog.Adjustments)+len(p.Commitments) > 0 {
		hashPricing(&h, p)
	}
	h = h.sum()
	return fmt.Sprintf("%s%016x%016x", digestVersion, h.a, h.b)
}

func hashPools(pools []Pool) hash128 {
	types := map[*InstanceType]hash128{} // Pools share types; each is hashed once.
	var all hash128
	for i := range pools {
		p := &pools[i]
		h := newHash(tagPools)
		h.str(p.Name)
		h.word(uint64(p.Weight))
		h.stringMap(p.Labels)
		h.requirements(p.Requirements)
		h.taints(p.Taints)
		h.taints(p.StartupTaints)
		h.list(p.Limits)
		if p.Preferences != nil {
			h.word(uint64(*p.Preferences) + 1)
		}
		var sum hash128
		for _, t := range p.InstanceTypes {
			th, ok := types[t]
			if !ok {
				th = hashType(t)
				types[t] = th
			}
			sum.add(th)
		}
		h.set(sum, len(p.InstanceTypes))
		all.add(h.sum())
	}
	return all
}

func hashType(t *InstanceType) hash128 {
	h := newHash(tagTypes)
	if t == nil {
		return h.sum()
	}
	h.str(t.Name)
	h.requirements(t.Requirements)
	h.list(t.Capacity)
	h.list(t.Overhead)
	var offerings hash128
	for i := range t.Offerings {
		o := &t.Offerings[i]
		e := newHash(tagOfferings)
		e.str(o.Zone)
		e.str(o.CapacityType)
		e.bool(o.Price.known)
		e.word(uint64(o.Price.nano))
		e.bool(o.Unavailable)
		e.stringMap(o.Labels)
		if o.Reservation != "" {
			e.str(o.Reservation)
			e.word(uint64(o.Count))
		}
		if o.Commitment != "" || o.Draw.known {
			e.str(o.Commitment)
			e.price(o.Draw)
		}
		offerings.add(e.sum())
	}
	h.set(offerings, len(t.Offerings))
	return h.sum()
}

// hashPricing absorbs what few problems have.
func hashPricing(h *hash128, p *Problem) {
	h.word(uint64(len(p.Catalog.Adjustments)))
	for _, s := range p.Catalog.Adjustments {
		h.str(s)
	}
	var all hash128
	for i := range p.Commitments {
		k := &p.Commitments[i]
		e := newHash(tagCommitments)
		e.str(k.Name)
		e.word(uint64(k.Instances))
		e.price(k.PerHour)
		all.add(e.sum())
	}
	h.set(all, len(p.Commitments))
}

func (h *hash128) price(p Price) {
	h.bool(p.known)
	h.word(uint64(p.nano))
}

func hashNodes(hasher *podHasher, nodes []Node) hash128 {
	var all hash128
	for i := range nodes {
		n := &nodes[i]
		h := newHash(tagNodes)
		h.str(n.Name)
		h.stringMap(n.Labels)
		h.taints(n.Taints)
		h.taints(n.StartupTaints)
		h.list(n.Allocatable)
		h.list(n.Capacity)
		var pods hash128
		for _, pod := range n.Pods {
			pods.add(hasher.pod(pod))
		}
		h.set(pods, len(n.Pods))
		h.str(n.Pool)
		h.bool(n.Uninitialized)
		h.bool(n.Unschedulable)
		all.add(h.sum())
	}
	return all
}

// demands absorbs each demand as its template and what makes many of it.
func (d *podHasher) demands(h *hash128, demands []Demand) {
	var all hash128
	for i := range demands {
		e := newHash(tagDemands)
		t := d.pod(demands[i].Template)
		e.word(t.a)
		e.word(t.b)
		e.word(uint64(demands[i].Count))
		e.bool(demands[i].Buffer)
		e.word(uint64(len(demands[i].Names)))
		for _, name := range demands[i].Names {
			e.str(name)
		}
		all.add(e.sum())
	}
	h.set(all, len(demands))
}

// together absorbs what makes pods belong together, and notes the labels that it reads.
func (d *podHasher) together(h *hash128, p *Problem) {
	var all hash128
	for i := range p.Gangs {
		g := &p.Gangs[i]
		e := newHash(tagGangs)
		e.str(g.Namespace)
		e.str(g.Name)
		e.word(uint64(g.MinCount))
		e.bool(g.Basic)
		all.add(e.sum())
	}
	h.set(all, len(p.Gangs))
	h.word(uint64(len(p.GangLabels)))
	for _, k := range p.GangLabels {
		h.str(k)
		d.key(k)
	}
	s := &p.DefaultSpread
	if len(s.Constraints) == 0 {
		return // services and owners say nothing then
	}
	all, d.owners = hash128{}, true
	for i := range s.Constraints {
		e := newHash(tagSpread)
		d.message(&e, &s.Constraints[i])
		all.add(e.sum())
	}
	for _, service := range s.Services {
		e := newHash(tagServices)
		if service != nil {
			e.str(service.Namespace)
			e.stringMap(service.Spec.Selector)
			d.selectorKeys(nil, slices.Collect(maps.Keys(service.Spec.Selector)))
		}
		all.add(e.sum())
	}
	for i := range s.Owners {
		o := &s.Owners[i]
		e := newHash(tagOwners)
		e.str(o.Kind)
		e.str(o.Namespace)
		e.str(o.Name)
		if o.Selector != nil {
			d.message(&e, o.Selector)
		}
		d.selectorKeys(o.Selector, nil)
		all.add(e.sum())
	}
	h.set(all, len(s.Constraints)+len(s.Services)+len(s.Owners))
}

func hashRules(h *hash128, r *LabelRules) {
	aliases, known := r.Aliases, r.WellKnown
	if aliases == nil {
		aliases = KubernetesAliases()
	}
	if known == nil {
		known = KubernetesLabels()
	}
	h.stringMap(aliases)
	h.strings(known)
	var values hash128
	for key, m := range r.ValueAliases {
		e := newHash(tagRules)
		e.str(key)
		e.stringMap(m)
		values.add(e.sum())
	}
	h.set(values, len(r.ValueAliases))
}

// storage hashes the volume objects whole, but for the metadata that says nothing about them:
// drivers keep what matters in labels, annotations and the spec alike.
func (d *podHasher) storage(h *hash128, s *Storage) {
	var all hash128
	for _, c := range s.Claims {
		e := newHash(tagClaims)
		if c != nil {
			hashMeta(&e, &c.ObjectMeta)
			e.str(string(c.Status.Phase))
			spec := c.Spec
			d.message(&e, &spec)
		}
		all.add(e.sum())
	}
	for _, v := range s.Volumes {
		e := newHash(tagVolumes)
		if v != nil {
			hashMeta(&e, &v.ObjectMeta)
			e.str(string(v.Status.Phase))
			spec := v.Spec
			d.message(&e, &spec)
		}
		all.add(e.sum())
	}
	for _, c := range s.Classes {
		e := newHash(tagClasses)
		if c != nil {
			hashMeta(&e, &c.ObjectMeta)
			if isDefaultClass(c) {
				e.word(uint64(c.CreationTimestamp.Unix())) // the newest counts
			}
			class := *c
			class.ObjectMeta = metav1.ObjectMeta{}
			d.message(&e, &class)
		}
		all.add(e.sum())
	}
	for _, n := range s.CSINodes {
		e := newHash(tagCSINodes)
		if n != nil {
			hashMeta(&e, &n.ObjectMeta)
			spec := n.Spec
			d.message(&e, &spec)
		}
		all.add(e.sum())
	}
	h.set(all, len(s.Claims)+len(s.Volumes)+len(s.Classes)+len(s.CSINodes))
	h.bool(s.Incomplete)
}

func hashMeta(h *hash128, m *metav1.ObjectMeta) {
	h.str(m.Namespace)
	h.str(m.Name)
	h.stringMap(m.Labels)
	h.stringMap(m.Annotations)
	if m.DeletionTimestamp != nil {
		h.word(partDeleted)
	}
	// Whose an ephemeral volume's claim is.
	for i := range m.OwnerReferences {
		if o := &m.OwnerReferences[i]; o.Kind == "Pod" {
			h.word(partOwner)
			h.str(o.Name)
			h.str(string(o.UID))
			h.bool(o.Controller != nil && *o.Controller)
		}
	}
}
