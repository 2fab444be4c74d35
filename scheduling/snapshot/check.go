package snapshot

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxReplicas bounds what one workload is expanded to: more is a slip of the pen.
const maxReplicas = 1_000_000

// checker looks for what decoding lets through and a plan would trip over.
type checker struct {
	doc Document
	// known are the findings of decoding: what could not be read is not checked again as if it were missing.
	known    []Finding
	findings []Finding
	bad      bool
}

func (c *checker) fault(path, problem, remedy string) {
	for _, f := range c.known {
		if f.Severity == Error && (strings.HasPrefix(f.Path, path) || strings.HasPrefix(path, f.Path)) {
			return
		}
	}
	c.bad = true
	c.findings = append(c.findings, c.doc.Report(Error, path, problem, remedy))
}

func (c *checker) warn(path, problem, remedy string) {
	c.findings = append(c.findings, c.doc.Report(Warning, path, problem, remedy))
}

func (c *checker) object(obj metav1.Object) {
	switch o := obj.(type) {
	case *corev1.Pod:
		c.podSpec("spec", &o.Spec)
	case *corev1.Node:
		c.amounts("status.allocatable", o.Status.Allocatable)
		c.amounts("status.capacity", o.Status.Capacity)
	case *corev1.LimitRange:
		for i, item := range o.Spec.Limits {
			at := fmt.Sprintf("spec.limits[%d].", i)
			c.amounts(at+"default", item.Default)
			c.amounts(at+"defaultRequest", item.DefaultRequest)
			c.amounts(at+"max", item.Max)
			c.amounts(at+"min", item.Min)
		}
	case *nodev1.RuntimeClass:
		if o.Overhead != nil {
			c.amounts("overhead.podFixed", o.Overhead.PodFixed)
		}
	case *appsv1.Deployment:
		c.count("spec.replicas", o.Spec.Replicas)
		c.podSpec("spec.template.spec", &o.Spec.Template.Spec)
	case *appsv1.ReplicaSet:
		c.count("spec.replicas", o.Spec.Replicas)
		c.podSpec("spec.template.spec", &o.Spec.Template.Spec)
	case *appsv1.StatefulSet:
		c.count("spec.replicas", o.Spec.Replicas)
		c.podSpec("spec.template.spec", &o.Spec.Template.Spec)
	case *corev1.PodTemplate:
		c.podSpec("template.spec", &o.Template.Spec)
	case *capacityBuffer:
		c.buffer(&o.Spec)
	case *appsv1.DaemonSet:
		c.podSpec("spec.template.spec", &o.Spec.Template.Spec)
	case *corev1.ReplicationController:
		c.count("spec.replicas", o.Spec.Replicas)
		if o.Spec.Template != nil {
			c.podSpec("spec.template.spec", &o.Spec.Template.Spec)
		}
	case *schedulingv1alpha2.PodGroup:
		c.podGroup(o)
	case *coschedulingGroup:
		c.count("spec.minMember", &o.Spec.MinMember)
	case *batchv1.Job:
		c.count("spec.parallelism", o.Spec.Parallelism)
		c.count("spec.completions", o.Spec.Completions)
		c.podSpec("spec.template.spec", &o.Spec.Template.Spec)
	}
}

func (c *checker) count(path string, n *int32) {
	switch {
	case n == nil:
	case *n < 0:
		c.fault(path, fmt.Sprintf("%d is negative", *n), "write 0 or more")
	case *n > maxReplicas:
		c.fault(path, fmt.Sprintf("%d is more than the %d pods that one workload is expanded to", *n, maxReplicas), "write a smaller number, or several workloads")
	}
}

func (c *checker) podSpec(path string, spec *corev1.PodSpec) {
	if len(spec.Containers) == 0 {
		c.fault(path+".containers", "the pod has no containers", "add one")
	}
	for i := range spec.InitContainers {
		c.requirements(fmt.Sprintf("%s.initContainers[%d].resources", path, i), &spec.InitContainers[i].Resources)
	}
	for i := range spec.Containers {
		c.requirements(fmt.Sprintf("%s.containers[%d].resources", path, i), &spec.Containers[i].Resources)
	}
	if spec.Resources != nil {
		c.requirements(path+".resources", spec.Resources)
	}
	c.amounts(path+".overhead", spec.Overhead)
}

func (c *checker) requirements(path string, r *corev1.ResourceRequirements) {
	c.amounts(path+".requests", r.Requests)
	c.amounts(path+".limits", r.Limits)
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		request := r.Requests[name]
		limit, limited := r.Limits[name]
		at := path + ".requests" + pathKey(string(name))
		switch {
		case limited && request.Cmp(limit) > 0:
			c.fault(at, fmt.Sprintf("request %s is above the limit %s", request.String(), limit.String()), "raise the limit or lower the request; the API server refuses such a pod")
		case isExtended(name) && (!limited || request.Cmp(limit) != 0):
			c.warn(at, "an extended resource needs an equal limit", "add it; the API server refuses such a pod")
		}
	}
}

// amounts reports quantities that no machine has.
func (c *checker) amounts(path string, list corev1.ResourceList) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		at := path + pathKey(string(name))
		if problem, remedy := impossible(name, q); problem != "" {
			c.fault(at, problem, remedy)
			continue
		}
		if fraction(name) && !isWhole(q) {
			c.warn(at, fmt.Sprintf("%s is a fraction of a byte and counts as %d", q.String(), q.Value()), "m means a thousandth; write M or Mi for megabytes")
		}
	}
}

func impossible(name corev1.ResourceName, q resource.Quantity) (problem, remedy string) {
	bound := int64(math.MaxInt64)
	if name == corev1.ResourceCPU {
		bound = math.MaxInt64 / 1000
	}
	switch {
	case q.Sign() < 0:
		return q.String() + " is negative", "write 0 or more"
	case q.CmpInt64(bound) >= 0:
		return q.String() + " is more than any machine has", "check the unit"
	case isExtended(name) && !isWhole(q):
		return q.String() + " is a fraction; extended resources come whole", "write a whole number"
	}
	return "", ""
}

func isWhole(q resource.Quantity) bool {
	whole := resource.NewQuantity(q.Value(), q.Format)
	return whole.Cmp(q) == 0
}

// fraction tells resources of which a fraction is allowed by the API but never meant.
func fraction(name corev1.ResourceName) bool {
	return name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage
}

// isExtended follows Kubernetes: a domain, and not one of its own.
func isExtended(name corev1.ResourceName) bool {
	return strings.Contains(string(name), "/") && !strings.HasPrefix(string(name), corev1.ResourceDefaultNamespacePrefix) &&
		!strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix)
}
