package workload

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fleetwright/fleetwright/scheduling"
)

// groupPod returns the pod that a group's replicas look like, or adds faults.
func (b *builder) groupPod(g *group) *corev1.Pod {
	b.checkName("name", g.name)
	if g.replicas < 0 {
		b.add("replicas", strconv.Itoa(g.replicas)+" is negative", "write 0 or more")
	}
	if !slices.Contains([]string{"Deployment", "StatefulSet", "Job", "Pod"}, g.owner) {
		b.add("owner", quote(g.owner)+" is not known", "write Deployment, StatefulSet, Job or Pod")
	}
	if !slices.Contains([]string{"", "Guaranteed", "Burstable", "BestEffort"}, g.qos) {
		b.add("qos", quote(g.qos)+" is not a class", "write Guaranteed, Burstable, BestEffort or nothing")
	}
	b.checkLabels("labels", g.labels)
	b.checkLabels("nodeSelector", g.selector)
	pod := newPod("default", g.labels, b.requests("requests", g.requests), g.qos == "Guaranteed")
	pod.OwnerReferences = owners(g.owner, g.name)
	pod.Spec.NodeSelector = g.selector
	pod.Spec.Priority = g.priority
	pod.Spec.Tolerations = g.tolerations
	for i, t := range g.tolerations {
		b.checkToleration(fmt.Sprintf("tolerations[%d]", i), t)
	}
	for i, s := range g.spread {
		pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints,
			b.spread(fmt.Sprintf("topologySpread[%d]", i), s, g.labels))
	}
	pod.Spec.Affinity = affinity(requireNode(b.expressions(g)), b.podAffinity(g.with), b.podAntiAffinity(g.against))
	return pod
}

// expressions are the group's node affinity and the zones of its volumes.
func (b *builder) expressions(g *group) []corev1.NodeSelectorRequirement {
	var out []corev1.NodeSelectorRequirement
	for i, e := range g.nodeAffinity {
		path := fmt.Sprintf("nodeAffinity[%d]", i)
		b.checkKey(path+".key", e.Key)
		if e.Operator == scheduling.OpGte || e.Operator == scheduling.OpLte {
			b.add(path+".operator", quote(string(e.Operator))+" is for pools only", "write Gt or Lt with the next number")
		}
		if _, err := scheduling.ParseRequirement(requirement(e)); err != nil {
			b.add(path, strings.TrimPrefix(err.Error(), "scheduling: "), "")
		}
		out = append(out, corev1.NodeSelectorRequirement(e))
	}
	for i, zone := range g.volumeZones {
		if wrong := validation.IsValidLabelValue(zone); zone == "" || len(wrong) > 0 {
			b.add(fmt.Sprintf("volumeZones[%d]", i), quote(zone)+" is not a zone", "write the name of a zone such as us-east-1a")
		}
	}
	if len(g.volumeZones) > 0 {
		out = append(out, corev1.NodeSelectorRequirement{
			Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: g.volumeZones,
		})
	}
	return out
}

func requirement(e expression) scheduling.Requirement {
	return scheduling.Requirement{Key: e.Key, Operator: e.Operator, Values: e.Values}
}

func (b *builder) spread(path string, s spread, labels map[string]string) corev1.TopologySpreadConstraint {
	b.checkKey(path+".topologyKey", s.TopologyKey)
	if s.MaxSkew < 1 {
		b.add(path+".maxSkew", fmt.Sprintf("%d is too small", s.MaxSkew), "write 1 or more")
	}
	if s.WhenUnsatisfiable != corev1.DoNotSchedule && s.WhenUnsatisfiable != corev1.ScheduleAnyway {
		b.add(path+".whenUnsatisfiable", quote(string(s.WhenUnsatisfiable))+" is not known", "write DoNotSchedule or ScheduleAnyway")
	}
	if s.MinDomains != nil && (*s.MinDomains < 1 || s.WhenUnsatisfiable != corev1.DoNotSchedule) {
		b.add(path+".minDomains", fmt.Sprintf("%d does not do", *s.MinDomains), "write 1 or more, with DoNotSchedule only")
	}
	if labels["app"] == "" {
		b.add(path, "spreads pods of the same app, but the group has no label app", "add it to labels")
	}
	out := spreadOver(s.TopologyKey, s.MaxSkew, map[string]string{"app": labels["app"]})
	out.WhenUnsatisfiable, out.MinDomains = s.WhenUnsatisfiable, s.MinDomains
	return out
}

// podTerms splits terms into required and preferred ones.
func (b *builder) podTerms(field string, terms []podTerm) (must []corev1.PodAffinityTerm, should []corev1.WeightedPodAffinityTerm) {
	for i, t := range terms {
		path := fmt.Sprintf("%s[%d]", field, i)
		b.checkKey(path+".topologyKey", t.TopologyKey)
		b.checkLabels(path+".matchLabels", t.MatchLabels)
		if len(t.MatchLabels) == 0 {
			b.add(path+".matchLabels", "selects nothing", "write the labels of the pods that are meant")
		}
		required := t.Required == nil || *t.Required
		if term := affinityTerm(t.TopologyKey, t.MatchLabels); required {
			must = append(must, term)
		} else if t.Weight != nil {
			should = append(should, corev1.WeightedPodAffinityTerm{Weight: *t.Weight, PodAffinityTerm: term})
		}
		switch {
		case required && t.Weight != nil:
			b.add(path+".weight", "is for preferences only", `drop it or write "required":false`)
		case !required && (t.Weight == nil || *t.Weight < 1 || *t.Weight > 100):
			b.add(path+".weight", "a preference needs a weight", "write a number from 1 to 100")
		}
	}
	return must, should
}

func (b *builder) podAffinity(terms []podTerm) *corev1.PodAffinity {
	must, should := b.podTerms("podAffinity", terms)
	if len(must)+len(should) == 0 {
		return nil
	}
	return &corev1.PodAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: must, PreferredDuringSchedulingIgnoredDuringExecution: should,
	}
}

func (b *builder) podAntiAffinity(terms []podTerm) *corev1.PodAntiAffinity {
	must, should := b.podTerms("podAntiAffinity", terms)
	if len(must)+len(should) == 0 {
		return nil
	}
	return &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: must, PreferredDuringSchedulingIgnoredDuringExecution: should,
	}
}

func (b *builder) addPools(pools []poolRecord) {
	names := map[string]bool{}
	for i, p := range pools {
		path := fmt.Sprintf("nodePools[%d]", i)
		b.checkName(path+".name", p.Name)
		if names[p.Name] {
			b.add(path+".name", quote(p.Name)+" is there twice", "give each pool a name of its own")
		}
		names[p.Name] = true
		b.checkLabels(path+".labels", p.Labels)
		for j, t := range p.Taints {
			place := fmt.Sprintf("%s.taints[%d]", path, j)
			b.checkKey(place+".key", t.Key)
			b.checkEffect(place+".effect", t.Effect, false)
		}
		for j, r := range p.Requirements {
			place := fmt.Sprintf("%s.requirements[%d]", path, j)
			b.checkKey(place+".key", r.Key)
			if _, err := scheduling.ParseRequirement(r); err != nil {
				b.add(place, strings.TrimPrefix(err.Error(), "scheduling: "), "")
			}
		}
		b.out.Pools = append(b.out.Pools, scheduling.Pool{
			Name: p.Name, Weight: p.Weight, Labels: p.Labels, Taints: p.Taints, Requirements: p.Requirements,
		})
	}
}

// addDaemons appends template pods; one of each runs on every node.
func (b *builder) addDaemons(daemons []daemonRecord) {
	names := map[string]bool{}
	for i, d := range daemons {
		path := fmt.Sprintf("daemonSets[%d]", i)
		b.checkName(path+".name", d.Name)
		if names[d.Name] {
			b.add(path+".name", quote(d.Name)+" is there twice", "give each DaemonSet a name of its own")
		}
		names[d.Name] = true
		b.out.DaemonSets = append(b.out.DaemonSets, daemon(d.Name, b.requests(path+".requests", d.Requests)))
	}
}

func (b *builder) requests(path string, raw map[string]json.RawMessage) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		if wrong := validation.IsQualifiedName(name); len(wrong) > 0 {
			b.add(path, quote(name)+" is not a resource", wrong[0])
			continue
		}
		text := strings.Trim(string(raw[name]), `"`)
		q, ok := parseQuantity(text)
		switch {
		case !ok:
			b.add(path+"."+name, quote(text)+" is not a quantity", "write a number such as 2, 500m or 4Gi")
		case q.Sign() < 0:
			b.add(path+"."+name, quote(text)+" is negative", "write 0 or more")
		}
		out[corev1.ResourceName(name)] = q
	}
	return out
}

// parseQuantity refuses exponents that no machine has before they cost time: parsing 1e999999999
// would compute that number.
func parseQuantity(s string) (resource.Quantity, bool) {
	if i := strings.LastIndexAny(s, "eE"); len(s) > 60 || i >= 0 && len(strings.TrimLeft(s[i+1:], "+-0")) > 2 {
		return resource.Quantity{}, false
	}
	q, err := resource.ParseQuantity(s)
	return q, err == nil
}

func (b *builder) checkName(path, name string) {
	if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
		b.add(path, quote(name)+" is not a name", wrong[0])
	}
}

func (b *builder) checkKey(path, key string) {
	if wrong := validation.IsQualifiedName(key); len(wrong) > 0 {
		b.add(path, quote(key)+" is not a label key", wrong[0])
	}
}

func (b *builder) checkLabels(path string, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		b.checkKey(path, key)
		if wrong := validation.IsValidLabelValue(labels[key]); len(wrong) > 0 {
			b.add(path+"."+key, quote(labels[key])+" cannot be the value of a label", wrong[0])
		}
	}
}

func (b *builder) checkEffect(path string, effect corev1.TaintEffect, optional bool) {
	switch effect {
	case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		return
	case "":
		if optional {
			return
		}
	}
	b.add(path, quote(string(effect))+" is not an effect", "write NoSchedule, PreferNoSchedule or NoExecute")
}

func (b *builder) checkToleration(path string, t corev1.Toleration) {
	b.checkEffect(path+".effect", t.Effect, true)
	switch t.Operator {
	case corev1.TolerationOpExists:
		if t.Value != "" {
			b.add(path+".value", "Exists takes no value", "drop the value or write Equal")
		}
	case "", corev1.TolerationOpEqual:
		if t.Key == "" {
			b.add(path+".key", "is empty", "write a key, or Exists to tolerate every taint")
		}
	default:
		b.add(path+".operator", quote(string(t.Operator))+" is not known", "write Exists or Equal")
	}
}
