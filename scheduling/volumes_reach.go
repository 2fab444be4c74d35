package scheduling

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// maxAlternatives bounds how many combinations of places a pod's volumes are reduced to. Alternatives
// that differ in the values of one label are one, so few clusters have more than a handful.
const maxAlternatives = 64

// volumeReach is where a volume can be mounted: anywhere, or where one of the alternatives holds. The
// alternatives are simplified.
type volumeReach struct {
	anywhere bool
	alts     []Requirements
}

// nowhere: no node can meet it.
func (r volumeReach) nowhere() bool { return !r.anywhere && len(r.alts) == 0 }

// terms spells the alternatives; nil: anywhere.
func (r volumeReach) terms() [][]Requirement {
	if r.anywhere {
		return nil
	}
	out := make([][]Requirement, len(r.alts))
	for i, a := range r.alts {
		out[i] = a.List()
	}
	return out
}

// String prints at most three alternatives.
func (r volumeReach) String() string {
	const most = 3
	var parts []string
	for i, a := range r.alts {
		if i == most {
			parts = append(parts, "...")
			break
		}
		parts = append(parts, altText(a))
	}
	return strings.Join(parts, " or ")
}

// single is the only key that the only alternative has a condition on.
func (r volumeReach) single() (key string, set ValueSet, ok bool) {
	if len(r.alts) != 1 || len(r.alts[0].list) != 1 {
		return "", ValueSet{}, false
	}
	return r.alts[0].list[0].key, r.alts[0].list[0].set, true
}

// and is where both hold. Neither is large: see combine for the general case.
func (r volumeReach) and(s volumeReach) volumeReach {
	if r.anywhere {
		return s
	}
	if s.anywhere {
		return r
	}
	return volumeReach{alts: simplify(product(r.alts, s.alts))}
}

// reachOfVolume reads a volume's node affinity (VolumeBinding) and its zone labels (VolumeZone). The host of a local
// volume counts while nobody has claimed it; a pod that has may leave its node and then leaves such data behind, as
// in Karpenter.
func (v *volumes) reachOfVolume(o *corev1.PersistentVolume, claimed bool) volumeReach {
	moves := claimed && (o.Spec.Local != nil || o.Spec.HostPath != nil)
	return v.reachOfAffinity(o, moves).and(v.reachOfLabels(o))
}

func (v *volumes) reachOfAffinity(o *corev1.PersistentVolume, moves bool) volumeReach {
	if o.Spec.NodeAffinity == nil || o.Spec.NodeAffinity.Required == nil {
		return volumeReach{anywhere: true}
	}
	var alts []Requirements
	for _, t := range o.Spec.NodeAffinity.Required.NodeSelectorTerms {
		if len(t.MatchExpressions)+len(t.MatchFields) == 0 {
			continue // matches nothing
		}
		var faults []Fault
		sets := map[string]ValueSet{}
		narrowByTerm(sets, &faults, "", t, v.rules)
		if moves {
			if delete(sets, corev1.LabelHostname); len(sets)+len(faults) == 0 {
				return volumeReach{anywhere: true}
			}
		}
		if len(faults) == 0 {
			alts = append(alts, collect(sets))
		}
	}
	return volumeReach{alts: simplify(alts)}
}

// reachOfLabels reads the zone and region labels that old volumes carry, several values joined by "__". A node
// without any such label may mount the volume all the same.
func (v *volumes) reachOfLabels(o *corev1.PersistentVolume) volumeReach {
	sets := map[string]ValueSet{}
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
		corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion} {
		text, ok := o.Labels[key]
		if !ok {
			continue
		}
		values := strings.Split(text, "__")
		for i := range values {
			values[i] = strings.TrimSpace(values[i])
		}
		if slices.Contains(values, "") {
			continue // kube-scheduler ignores what it cannot read
		}
		var ignored []Fault
		narrow(sets, &ignored, "", v.rules.apply(Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}))
	}
	if len(sets) == 0 {
		return volumeReach{anywhere: true}
	}
	none := map[string]ValueSet{
		v.rules.Key(corev1.LabelTopologyZone): AbsentValue(), v.rules.Key(corev1.LabelTopologyRegion): AbsentValue(),
		v.rules.Key(corev1.LabelFailureDomainBetaZone): AbsentValue(), v.rules.Key(corev1.LabelFailureDomainBetaRegion): AbsentValue(),
	}
	return volumeReach{alts: simplify([]Requirements{collect(sets), collect(none)})}
}

// reachOfClass reads where a class makes volumes. A term without expressions matches nothing.
func (v *volumes) reachOfClass(c *storagev1.StorageClass) volumeReach {
	if len(c.AllowedTopologies) == 0 {
		return volumeReach{anywhere: true}
	}
	var alts []Requirements
	for _, t := range c.AllowedTopologies {
		var faults []Fault
		sets := map[string]ValueSet{}
		for _, e := range t.MatchLabelExpressions {
			narrow(sets, &faults, "", v.rules.apply(Requirement{Key: e.Key, Operator: corev1.NodeSelectorOpIn, Values: e.Values}))
		}
		if len(faults) == 0 && len(sets) > 0 {
			alts = append(alts, collect(sets))
		}
	}
	return volumeReach{alts: simplify(alts)}
}

// combine is where all of several volumes can be mounted: every way to meet one alternative of each, less those that
// contradict themselves. Alternatives that allow the same or less are merged on the way, so the number stays small;
// where it does not, some are left out, and a pod may miss a node but is never on a wrong one. Not complete:
// it gave up before it found any.
func combine(all []volumeReach) (out volumeReach, complete bool) {
	all = slices.DeleteFunc(slices.Clone(all), func(r volumeReach) bool { return r.anywhere })
	if len(all) == 0 {
		return volumeReach{anywhere: true}, true
	}
	texts := make(map[string]volumeReach, len(all))
	for _, r := range all {
		r.alts = simplify(r.alts)
		var b strings.Builder
		for _, a := range r.alts {
			b.WriteString(altText(a) + " or ")
		}
		texts[b.String()] = r
	}
	keys := slices.SortedFunc(maps.Keys(texts), func(a, b string) int {
		if d := len(texts[a].alts) - len(texts[b].alts); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	all = all[:0]
	for _, k := range keys {
		all = append(all, texts[k])
	}
	alts, most := all[0].alts, max(maxAlternatives, len(all[len(all)-1].alts))
	for _, r := range all[1:] {
		if len(alts)*len(r.alts) > maxAlternatives*maxAlternatives {
			return search(all)
		}
		alts = simplify(product(alts, r.alts))
	}
	return volumeReach{alts: alts[:min(len(alts), most)]}, true
}

// product joins each of a with each of b.
func product(a, b []Requirements) []Requirements {
	out := make([]Requirements, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x.Intersect(y))
		}
	}
	return out
}

// search finds combinations one by one, depth first, so that what contradicts itself costs nothing more. It
// stops at maxAlternatives, or after so many steps as no real volumes need.
func search(all []volumeReach) (out volumeReach, complete bool) {
	left := 100_000
	seen := map[string]bool{}
	var walk func(i int, have Requirements)
	walk = func(i int, have Requirements) {
		if i == len(all) {
			if text := altText(have); !seen[text] {
				seen[text] = true
				out.alts = append(out.alts, have)
			}
			return
		}
		for _, a := range all[i].alts {
			if left--; left < 0 || len(out.alts) >= maxAlternatives {
				return
			}
			if next := have.Intersect(a); !next.impossible() {
				walk(i+1, next)
			}
		}
	}
	walk(0, Requirements{})
	out.alts = simplify(out.alts)
	return out, left >= 0 || len(out.alts) > 0
}

// impossible reports whether some label has no state left.
func (r Requirements) impossible() bool {
	return slices.ContainsFunc(r.list, func(e keySet) bool { return e.set.Empty() })
}

// altText prints an alternative; different ones differ in print.
func altText(r Requirements) string {
	parts := make([]string, len(r.list))
	for i, e := range r.list {
		parts[i] = e.key + " " + e.set.String()
	}
	return strings.Join(parts, " and ")
}

// simplify returns alternatives that together allow the same nodes, fewer if possible and in an order of
// their own: impossible ones go, those that differ in the listed values of one label become one, and those
// within another go.
func simplify(alts []Requirements) []Requirements {
	if len(alts) == 1 && !alts[0].impossible() {
		return alts
	}
	byText := make(map[string]Requirements, len(alts))
	for _, a := range alts {
		if !a.impossible() {
			byText[altText(a)] = a
		}
	}
	for before := -1; before != len(byText) && len(byText) > 1; {
		before = len(byText)
		byText = mergeValues(byText)
	}
	out := make([]Requirements, 0, len(byText))
	for _, text := range slices.Sorted(maps.Keys(byText)) {
		out = append(out, byText[text])
	}
	if len(out) > 1 && len(out) <= maxAlternatives*4 {
		out = dropCovered(out)
	}
	return out
}

// dropCovered leaves out what is within another alternative.
func dropCovered(alts []Requirements) []Requirements {
	for i := len(alts) - 1; i >= 0; i-- {
		for k := range alts {
			if k != i && alts[k].covers(alts[i]) {
				alts = slices.Delete(alts, i, i+1)
				break
			}
		}
	}
	return alts
}

// mergeValues joins, for one key after another, the alternatives that list values for it and are alike in all
// else.
func mergeValues(byText map[string]Requirements) map[string]Requirements {
	keys := map[string]bool{}
	for _, a := range byText {
		for _, e := range a.list {
			keys[e.key] = true
		}
	}
	for _, key := range sortedKeys(keys) {
		next := make(map[string]Requirements, len(byText))
		values := map[string][]string{}
		for text, a := range byText {
			i, ok := a.find(key)
			if !ok || a.list[i].set.all || a.list[i].set.absent {
				next[text] = a
				continue
			}
			rest := Requirements{list: slices.Delete(slices.Clone(a.list), i, i+1)}
			group := altText(rest)
			values[group] = append(values[group], a.list[i].set.values...)
			next["\x00"+group] = rest
		}
		byText = make(map[string]Requirements, len(next))
		for text, a := range next {
			if group, ok := strings.CutPrefix(text, "\x00"); ok {
				a = a.Intersect(Requirements{list: []keySet{{key, Values(values[group]...)}}})
				text = altText(a)
			}
			byText[text] = a
		}
	}
	return byText
}

// covers reports whether every node that meets s meets r.
func (r Requirements) covers(s Requirements) bool {
	for _, e := range r.list {
		if have := s.Get(e.key); !have.Intersect(e.set).Equal(have) {
			return false
		}
	}
	return true
}
