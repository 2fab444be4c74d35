package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Where pools and overlays have their requirements.
const (
	requirementsPath    = "spec.template.spec.requirements"
	overlayRequirements = "spec.requirements"
)

// labelKey checks a label that a pool sets or requires, or that an overlay asks for; only there may it be the pool's name.
func (r *reader) labelKey(at, k string, overlay bool) {
	if len(validation.IsQualifiedName(k)) > 0 {
		r.fault(at, fmt.Sprintf("%q is no label key", k), "write name or domain/name, of letters, digits, '-', '_' and '.'")
		return
	}
	domain, _, _ := strings.Cut(k, "/")
	switch {
	case k == scheduling.CapacityTypeLabel, overlay && k == scheduling.PoolLabel:
	case k == scheduling.PoolLabel:
		r.fault(at, k+" is set by Karpenter to the pool's name", "remove it")
	case k == corev1.LabelHostname:
		r.fault(at, k+" differs on every node", "remove it")
	case strings.Contains(k, "/") && (domain == "karpenter.sh" || strings.HasSuffix(domain, ".karpenter.sh")):
		r.fault(at, k+" is in a domain reserved for Karpenter", "use a domain of your own")
	}
}

func (r *reader) labelValue(at, v string) {
	if len(validation.IsValidLabelValue(v)) > 0 {
		r.fault(at, fmt.Sprintf("%q is no label value", v), "use letters, digits, '-', '_' and '.', at most 63")
	}
}

// requirements checks all but minValues.
func (r *reader) requirements(path string, reqs []scheduling.Requirement) {
	if len(reqs) > 100 {
		r.fault(path, fmt.Sprintf("%d requirements are more than 100", len(reqs)), "join some")
	}
	for i, req := range reqs {
		at := fmt.Sprintf("%s[%d]", path, i)
		if req.Key == "" {
			r.fault(at+".key", "the requirement names no label", "add key")
		} else {
			r.labelKey(at+".key", req.Key, path == overlayRequirements)
		}
		r.operator(at, req)
	}
}

func (r *reader) operator(at string, req scheduling.Requirement) {
	switch req.Operator {
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt, scheduling.OpGte, scheduling.OpLte:
		if len(req.Values) != 1 {
			r.fault(at+".values", fmt.Sprintf("%s takes one value, not %d", req.Operator, len(req.Values)), "write one number")
		} else if n, err := strconv.ParseInt(req.Values[0], 10, 64); err != nil || n < 0 {
			r.fault(at+".values[0]", fmt.Sprintf("%q is no number from 0 up", req.Values[0]), "write a whole number in quotes")
		}
		return
	case corev1.NodeSelectorOpIn:
		if req.Key == scheduling.CapacityTypeLabel {
			r.capacityTypes(at, req.Values)
		}
	}
	for j, v := range req.Values {
		r.labelValue(fmt.Sprintf("%s.values[%d]", at, j), v)
	}
	if req.Key == "" {
		return
	}
	if _, err := scheduling.ParseRequirement(scheduling.Requirement{Key: req.Key, Operator: req.Operator, Values: req.Values}); err != nil {
		text := strings.TrimPrefix(err.Error(), "scheduling: ")
		remedy := ""
		if i := strings.LastIndex(text, "; "); i >= 0 {
			text, remedy = text[:i], text[i+2:]
		}
		r.fault(at, text, remedy)
	}
}

func (r *reader) capacityTypes(at string, values []string) {
	for j, v := range values {
		if v != "on-demand" && v != "spot" && v != "reserved" {
			r.fault(fmt.Sprintf("%s.values[%d]", at, j), fmt.Sprintf("%q is no capacity type", v), "write on-demand, spot or reserved")
		}
	}
}

func (r *poolReader) minValues(at string, req scheduling.Requirement) {
	if req.MinValues == nil {
		return
	}
	n := *req.MinValues
	if n < 1 || n > 50 {
		r.fault(at+".minValues", fmt.Sprintf("%d is not between 1 and 50", n), "write a number from 1 to 50, or none")
		return
	}
	unique := map[string]bool{}
	for _, v := range req.Values {
		unique[v] = true
	}
	if req.Operator == corev1.NodeSelectorOpIn && len(unique) < n {
		r.fault(at+".minValues", fmt.Sprintf("%d different values are wanted of a list of %d", n, len(unique)), "add values or lower minValues")
	}
}

// contradictions finds keys for which no value is left once all requirements and labels on them are taken
// together. Requirements that are wrong by themselves have been reported and count as none.
func (r *poolReader) contradictions() {
	aliases := scheduling.KubernetesAliases()
	type part struct {
		path string
		set  scheduling.ValueSet
	}
	parts := map[string][]part{}
	add := func(k, path string, set scheduling.ValueSet) {
		if a, ok := aliases[k]; ok {
			k = a
		}
		parts[k] = append(parts[k], part{path, set})
	}
	for i, req := range r.pool.Requirements {
		if set, err := scheduling.ParseRequirement(req); err == nil {
			add(req.Key, fmt.Sprintf("%s[%d]", requirementsPath, i), set)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(r.pool.Labels)) {
		add(k, "spec.template.metadata.labels"+key(k), scheduling.Values(r.pool.Labels[k]))
	}
	for _, k := range slices.Sorted(maps.Keys(parts)) {
		left := scheduling.AnyValue()
		for i, p := range parts[k] {
			next := left.Intersect(p.set)
			if !next.Empty() {
				left = next
				continue
			}
			if i == 0 {
				r.fault(p.path, fmt.Sprintf("no value of %s can satisfy this", k), "widen it")
				break
			}
			var earlier []string
			for _, q := range parts[k][:i] {
				earlier = append(earlier, q.path)
			}
			r.fault(p.path, fmt.Sprintf("%s must be %s here, which leaves nothing of %s (%s)", k, p.set, left, strings.Join(earlier, ", ")), "make them overlap, or remove one")
			break
		}
	}
}
