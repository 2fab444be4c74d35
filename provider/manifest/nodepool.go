package manifest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
	"github.com/fleetwright/fleetwright/scheduling/snapshot"
)

// poolReader reads one NodePool.
type poolReader struct {
	reader
	pool Pool
	in   nodePool
}

// readPool decodes and checks a NodePool. The rules are those of the CRD of karpenter.sh/v1 and of
// Karpenter's own validation at run time.
func readPool(d snapshot.Document) *poolReader {
	r := &poolReader{reader: reader{doc: d}}
	in := &r.in
	r.decode(in)
	for i, f := range r.findings {
		if to, ok := moved[f.Path]; ok {
			r.findings[i].Remedy = "since karpenter.sh/v1 it is " + to
		}
	}

	spec := &in.Spec.Template.Spec
	r.pool = Pool{
		Pool: scheduling.Pool{
			Name: in.Name, Labels: in.Spec.Template.Metadata.Labels, Requirements: spec.Requirements,
			Taints: spec.Taints, StartupTaints: spec.StartupTaints, Limits: in.Spec.Limits,
		},
		Annotations: in.Spec.Template.Metadata.Annotations,
		Origin:      d.Origin,
	}
	if in.Name == "" {
		r.fault("metadata.name", "the pool has no name", "name it")
	}
	r.weight(in.Spec.Weight)
	if in.Spec.Replicas != nil {
		r.fault("spec.replicas", "static pools (with replicas) are not planned yet", "remove replicas, or leave the pool out")
	}
	r.limits(in.Spec.Limits)
	r.nodeClass(spec.NodeClassRef)
	r.labels(r.pool.Labels)
	r.requirements(requirementsPath, spec.Requirements)
	for i, req := range spec.Requirements {
		r.minValues(fmt.Sprintf("%s[%d]", requirementsPath, i), req)
	}
	r.contradictions()
	r.taints(spec.Taints, spec.StartupTaints)
	r.lifetime(spec)
	if in.Spec.Disruption != nil {
		r.disruption(in.Spec.Disruption)
	}
	return r
}

// moved are fields of earlier versions and what became of them.
var moved = map[string]string{
	"spec.template.spec.kubelet":                 "in the node class",
	"spec.template.spec.resources":               "no longer there",
	"spec.disruption.expireAfter":                "spec.template.spec.expireAfter",
	"spec.template.spec.nodeClassRef.apiVersion": "group, without the version",
}

func (r *poolReader) weight(w *int32) {
	switch {
	case w == nil:
	case *w < 1 || *w > 100:
		r.fault("spec.weight", fmt.Sprintf("%d is not between 1 and 100", *w), "write a weight from 1 to 100, or none")
	default:
		r.pool.Weight = *w
	}
}

func (r *poolReader) limits(list corev1.ResourceList) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		at := "spec.limits" + key(string(name))
		switch {
		case q.Sign() < 0:
			r.fault(at, q.String()+" is negative", "write 0 or more")
		case q.CmpInt64(math.MaxInt64/1000) >= 0:
			r.fault(at, q.String()+" is more than can be counted", "check the unit, or remove the limit")
		}
	}
}

func (r *poolReader) nodeClass(ref *NodeClassRef) {
	const at = "spec.template.spec.nodeClassRef"
	if ref == nil {
		r.fault(at, "the pool names no node class", "add nodeClassRef with group, kind and name")
		return
	}
	r.pool.NodeClass = *ref
	for _, field := range [][2]string{{"group", ref.Group}, {"kind", ref.Kind}, {"name", ref.Name}} {
		if field[1] == "" {
			r.fault(at+"."+field[0], field[0]+" is empty", "write group, kind and name of the node class")
		}
	}
	if strings.Contains(ref.Group, "/") {
		r.fault(at+".group", fmt.Sprintf("%q has a version", ref.Group), "write the group alone, such as karpenter.k8s.aws")
	}
}

func (r *poolReader) labels(labels map[string]string) {
	const at = "spec.template.metadata.labels"
	if len(labels) > 100 {
		r.fault(at, fmt.Sprintf("%d labels are more than 100", len(labels)), "remove some")
	}
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		r.labelKey(at+key(k), k, false)
		r.labelValue(at+key(k), labels[k])
	}
}

// key spells a map's key as a step of a path.
func key(name string) string {
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return "[" + strconv.Quote(name) + "]"
		}
	}
	return "." + name
}
