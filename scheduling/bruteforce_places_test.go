package scheduling_test

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// What the exhaustive oracle knows of places and volumes.

// tinyVolumes lists a pod's volumes of the kind that is attached; false: with one of them it cannot run.
func tinyVolumes(s *Storage, pod *corev1.Pod) ([]tinyVolume, bool) {
	var out []tinyVolume
	for _, v := range pod.Spec.Volumes {
		var name string
		var template *corev1.PersistentVolumeClaimSpec
		switch {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			name, template = pod.Name+"-"+v.Name, &v.Ephemeral.VolumeClaimTemplate.Spec
		default:
			continue
		}
		volume, ok := tinyClaim(s, pod.Namespace, name, template)
		if !ok {
			return nil, false
		}
		out = append(out, volume)
	}
	return out, true
}

func tinyClaim(s *Storage, space, name string, template *corev1.PersistentVolumeClaimSpec) (tinyVolume, bool) {
	out := tinyVolume{id: space + "/" + name}
	at := slices.IndexFunc(s.Claims, func(c *corev1.PersistentVolumeClaim) bool { return c.Namespace == space && c.Name == name })
	spec := template
	if at >= 0 {
		c := s.Claims[at]
		spec = &c.Spec
		if c.DeletionTimestamp != nil || c.Status.Phase == corev1.ClaimLost {
			return out, false
		}
		if spec.VolumeName != "" {
			i := slices.IndexFunc(s.Volumes, func(v *corev1.PersistentVolume) bool { return v.Name == spec.VolumeName })
			if c.Annotations["pv.kubernetes.io/bind-completed"] == "" || i < 0 || s.Volumes[i].DeletionTimestamp != nil {
				return out, false
			}
			v := s.Volumes[i]
			if v.Spec.CSI != nil {
				out.driver, out.id = v.Spec.CSI.Driver, v.Spec.CSI.VolumeHandle
			}
			if a := v.Spec.NodeAffinity; a != nil && a.Required != nil {
				out.terms = oracleTerms(&corev1.Pod{Spec: corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution: a.Required}}}})
			}
			return out, true
		}
	}
	if spec == nil || spec.StorageClassName == nil {
		return out, false
	}
	i := slices.IndexFunc(s.Classes, func(c *storagev1.StorageClass) bool { return c.Name == *spec.StorageClassName })
	if i < 0 || s.Classes[i].VolumeBindingMode == nil || *s.Classes[i].VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer {
		return out, false
	}
	out.driver = s.Classes[i].Provisioner
	for _, x := range s.Classes[i].AllowedTopologies {
		term := sets{}
		for _, e := range x.MatchLabelExpressions {
			term.and(e.Key, Values(e.Values...))
		}
		out.terms = append(out.terms, term)
	}
	return out, true
}

// readPlaces lists existing nodes and all that can be bought.
func (t *tinyOracle) readPlaces() {
	mentioned := t.mentioned()
	for i := range t.problem.Nodes {
		t.places = append(t.places, t.existingPlace(i))
	}
	for _, c := range t.oracle.columns {
		t.columnPlaces(c, mentioned)
	}
	for _, pl := range t.places {
		t.readFits(pl)
	}
}

// mentioned lists the label keys that matter, with the values that somebody names.
func (t *tinyOracle) mentioned() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	see := func(key string, values ...string) {
		if out[key] == nil {
			out[key] = map[string]bool{}
		}
		for _, v := range values {
			out[key][v] = true
		}
	}
	for _, p := range t.pods {
		terms := slices.Clone(p.read.terms)
		for _, v := range p.volumes {
			terms = append(terms, v.terms...)
		}
		for _, term := range terms {
			for key, set := range term {
				see(key)
				for _, r := range set.Requirements(key) {
					see(key, r.Values...)
				}
			}
		}
	}
	for _, key := range t.keys {
		see(key)
	}
	for i := range t.problem.Nodes {
		for _, key := range t.keys {
			if v, has := t.problem.Nodes[i].Labels[key]; has {
				out[key][v] = true
			}
		}
	}
	return out
}

func (t *tinyOracle) existingPlace(i int) *tinyPlace {
	node := &t.problem.Nodes[i]
	pl := &tinyPlace{node: i, hidden: node.Unschedulable, labels: map[string]string{}, attach: map[string]int{}, volumes: map[string]bool{}}
	for k, v := range node.Labels {
		pl.labels[unalias(k)] = v
	}
	pl.labels["metadata.name"] = node.Name
	if pl.labels[corev1.LabelHostname] == "" {
		pl.host = node.Name // as every node has that label, one that does not show it is named so
	}
	free := oracleAmounts(node.Allocatable)
	c := &oracleColumn{}
	for _, x := range node.Taints {
		if x.Effect != corev1.TaintEffectPreferNoSchedule && !(node.Uninitialized && x.Key != "example.com/dedicated") {
			c.taints = append(c.taints, x)
		}
	}
	pl.column = c
	for _, n := range t.problem.Storage.CSINodes {
		for _, d := range n.Spec.Drivers {
			if n.Name == node.Name && d.Allocatable != nil && d.Allocatable.Count != nil {
				pl.attach[d.Name] = int(*d.Allocatable.Count)
			}
		}
	}
	for _, pod := range node.Pods {
		if !tinyRuns(pod) {
			continue
		}
		for name, n := range oracleRead(-1, pod).need {
			free[name] -= n
		}
		volumes, _ := tinyVolumes(&t.problem.Storage, pod)
		for _, v := range volumes {
			pl.volumes[v.driver+" "+v.id] = true
		}
	}
	t.settle(pl, free)
	return pl
}

// settle numbers the place's resources and domains.
func (t *tinyOracle) settle(pl *tinyPlace, free map[corev1.ResourceName]int64) {
	for _, r := range t.resources {
		pl.free = append(pl.free, free[r])
	}
	for k, key := range t.keys {
		v, has := pl.labels[key]
		switch {
		case key == corev1.LabelHostname && pl.node < 0:
			pl.domain = append(pl.domain, freshHost)
		case key == corev1.LabelHostname && pl.host != "":
			pl.domain = append(pl.domain, t.value(k, pl.host))
		case !has:
			pl.domain = append(pl.domain, absent)
		default:
			pl.domain = append(pl.domain, t.value(k, v))
		}
	}
	if pl.infinite == nil {
		pl.infinite = make([]bool, len(t.keys))
	}
}

// value numbers a value of a key.
func (t *tinyOracle) value(key int, v string) int {
	if _, known := t.values[key][v]; !known {
		t.values[key][v] = len(t.values[key])
	}
	return t.values[key][v]
}

// columnPlaces makes a place for every way to decide the open labels of an offering that somebody minds.
func (t *tinyOracle) columnPlaces(c *oracleColumn, mentioned map[string]map[string]bool) {
	pool := &t.problem.Pools[c.pool]
	ty := pool.InstanceTypes[c.at.Type]
	states := []*tinyPlace{{labels: map[string]string{}, custom: map[string]string{}, infinite: make([]bool, len(t.keys))}}
	all := maps.Clone(mentioned)
	for key := range c.labels {
		if all[key] == nil {
			all[key] = nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		set := c.state(key, nil)
		if key == corev1.LabelHostname {
			continue
		}
		var next []*tinyPlace
		values, finite := set.Finite()
		_, minded := mentioned[key]
		for _, st := range states {
			for _, v := range tinyStates(set, mentioned[key], minded) {
				s := &tinyPlace{labels: maps.Clone(st.labels), custom: maps.Clone(st.custom), infinite: slices.Clone(st.infinite)}
				if next = append(next, s); v == "" {
					continue
				}
				s.labels[key] = v
				if (!finite || len(values) > 1 || set.HasAbsent()) && !slices.Contains(KubernetesLabels(), key) {
					s.custom[key] = v
				}
				if k := slices.Index(t.keys, key); k >= 0 {
					s.infinite[k] = !finite
				}
			}
		}
		states = next
	}
	for _, pl := range states {
		pl.node, pl.column = -1, c
		pl.attach, pl.volumes = map[string]int{}, map[string]bool{}
		for _, p := range t.pods {
			for _, v := range p.volumes {
				if q, limited := ty.Capacity[AttachLimit(v.driver)]; limited {
					pl.attach[v.driver] = int(q.Value())
				}
			}
		}
		pl.charge = oracleAmounts(ty.Capacity)
		pl.charge[NodesResource] = 1
		pl.limited = len(pool.Limits) > 0
		pl.reservation, pl.draw = t.draws(&ty.Offerings[c.at.Offering])
		t.settle(pl, c.free)
		for k, key := range t.keys {
			// A value that nobody names is a domain that nobody can tell from others.
			if pl.infinite[k] && !mentioned[key][pl.labels[key]] {
				pl.domain[k] = absent
			}
		}
		t.places = append(t.places, pl)
	}
}

// tinyStates lists what a label may turn out to be: absent (empty), any value that somebody names, and one more.
func tinyStates(set ValueSet, named map[string]bool, minded bool) []string {
	var out []string
	if set.HasAbsent() {
		out = append(out, "")
	}
	values, finite := set.Finite()
	if finite {
		out = append(out, values...)
	} else {
		for _, v := range slices.Sorted(maps.Keys(named)) {
			if set.Has(v) {
				out = append(out, v)
			}
		}
		v, ok := "another-value", set.Has("another-value")
		if !ok {
			v, ok = set.Any()
		}
		if ok && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	if !minded && len(out) > 1 {
		out = out[:1] // nobody minds which
	}
	return out
}

// readFits finds which pods could run in a place, all else empty.
func (t *tinyOracle) readFits(pl *tinyPlace) {
	allows := func(term sets) bool {
		for key, set := range term {
			v, has := pl.labels[key]
			if key == corev1.LabelHostname && pl.node < 0 {
				v, has = "\x00new", true
			}
			if has && !set.Has(v) || !has && !set.HasAbsent() {
				return false
			}
		}
		return true
	}
	for i, p := range t.pods {
		bit := uint32(1) << i
		if slices.ContainsFunc(p.read.terms, allows) {
			pl.likes |= bit
		}
		if oracleTolerates(p.pod, pl.column.taints) {
			pl.stands |= bit
		}
		ok := p.usable && !pl.hidden && pl.likes&pl.stands&bit != 0
		for _, v := range p.volumes {
			ok = ok && (len(v.terms) == 0 || slices.ContainsFunc(v.terms, allows))
		}
		if pl.node >= 0 {
			for _, q := range t.problem.Nodes[pl.node].Pods {
				ok = ok && !(tinyRuns(q) && oracleClash(p.read.ports, oracleRead(-1, q).ports))
			}
		}
		p.need = p.need[:0]
		for k, r := range t.resources {
			p.need = append(p.need, p.read.need[r])
			ok = ok && (p.need[k] <= 0 || p.need[k] <= pl.free[k])
		}
		if pl.fits |= bit; !ok || !t.attachable(pl, bit) {
			pl.fits &^= bit
		}
	}
}

// attachable tells whether the place may have the volumes of the pods attached besides those it has.
func (t *tinyOracle) attachable(pl *tinyPlace, pods uint32) bool {
	if len(pl.attach) == 0 {
		return true
	}
	fresh := map[string]map[string]bool{}
	for i, p := range t.pods {
		if pods&(1<<i) == 0 {
			continue
		}
		for _, v := range p.volumes {
			if id := v.driver + " " + v.id; !pl.volumes[id] {
				if fresh[v.driver] == nil {
					fresh[v.driver] = map[string]bool{}
				}
				fresh[v.driver][id] = true
			}
		}
	}
	for driver, ids := range fresh {
		limit, limited := pl.attach[driver]
		had := 0
		for id := range pl.volumes {
			if len(id) > len(driver) && id[:len(driver)+1] == driver+" " {
				had++
			}
		}
		if limited && had+len(ids) > limit {
			return false
		}
	}
	return true
}

// readLimits works out what is left of limits and reservations.
func (t *tinyOracle) readLimits() {
	for _, k := range t.problem.Commitments {
		if t.reservations["/"+k.Name] = int64(k.Instances); k.PerHour.Known() {
			t.reservations["/"+k.Name] = k.PerHour.Nano()
		}
	}
	for i := range t.problem.Pools {
		pool := &t.problem.Pools[i]
		room := oracleAmounts(pool.Limits)
		for _, n := range t.problem.Nodes {
			if n.Pool != pool.Name {
				continue
			}
			used := oracleAmounts(n.Capacity)
			if len(n.Capacity) == 0 {
				used = oracleAmounts(n.Allocatable)
			}
			used[NodesResource] = 1
			for name := range room {
				room[name] -= used[name]
			}
		}
		t.room = append(t.room, room)
		for _, ty := range pool.InstanceTypes {
			for _, o := range ty.Offerings {
				if o.Reservation == "" {
					continue
				}
				if n, known := t.reservations[o.Reservation]; !known || int64(o.Count) < n {
					t.reservations[o.Reservation] = int64(o.Count)
				}
			}
		}
	}
}

// draws is what a node takes of which reservation or commitment, in nodes or billionths.
func (t *tinyOracle) draws(o *Offering) (string, int64) {
	if o.Commitment == "" {
		return o.Reservation, 1
	}
	for _, k := range t.problem.Commitments {
		if k.Name == o.Commitment && k.PerHour.Known() {
			if o.Draw.Known() {
				return "/" + k.Name, o.Draw.Nano()
			}
			return "/" + k.Name, o.Price.Nano()
		}
	}
	return "/" + o.Commitment, 1
}

// choose keeps new places that no other makes needless: of two where the same pods may run, in the same domains,
// the one with more room that takes no more of what is scarce and, if prices matter, costs no more.
func (t *tinyOracle) choose(prices bool) []int {
	groups := map[string][]int{}
	var order []string
	for at, pl := range t.places {
		if pl.node >= 0 || pl.fits == 0 {
			continue
		}
		id := fmt.Sprint(pl.fits, pl.likes, pl.stands, pl.domain)
		if groups[id] == nil {
			order = append(order, id)
		}
		covers := func(a, b *tinyPlace) bool {
			return t.covers(a, b) && (!prices || a.column.price <= b.column.price)
		}
		needless := func(b int) bool { return covers(t.places[b], pl) }
		if slices.ContainsFunc(groups[id], needless) {
			continue
		}
		groups[id] = slices.DeleteFunc(groups[id], func(b int) bool { return covers(pl, t.places[b]) })
		groups[id] = append(groups[id], at)
	}
	var out []int
	for _, id := range order {
		out = append(out, groups[id]...)
	}
	return out
}

func (t *tinyOracle) covers(a, b *tinyPlace) bool {
	for i := range a.free {
		if a.free[i] < b.free[i] {
			return false
		}
	}
	for driver, n := range a.attach {
		if m, limited := b.attach[driver]; !limited || n < m {
			return false
		}
	}
	if a.limited {
		if !b.limited || a.column.pool != b.column.pool {
			return false
		}
		for name := range t.room[a.column.pool] {
			if a.charge[name] > b.charge[name] {
				return false
			}
		}
	}
	return a.reservation == "" || a.reservation == b.reservation && a.draw <= b.draw
}
