package scheduling

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// maxAmount is where amounts saturate: far above any real resource, and low enough that eight of them
// can be added without overflow.
const maxAmount = int64(1) << 60

// PodRequests returns what must be free on a node for the pod to run there: what kube-scheduler reserves for it, and one
// of the resource "pods". The error names every negative amount.
func PodRequests(pod *corev1.Pod) (Vector, error) {
	v, err := podRequests(pod, nil)
	if err != nil {
		return nil, fmt.Errorf("scheduling: pod %s: %w", podName(pod), err)
	}
	return v, nil
}

// podRequests returns what the pod needs of a node, which is what kube-scheduler reserves for it
// (Kubernetes documentation, "Resource Management for Pods and Containers", "Sidecar Containers" and
// KEP-753, KEP-1287, KEP-2837): containers and sidecars together, or the most that starting them takes if
// that is more, replaced by the pod's own spec.resources where it sets them, plus spec.overhead,
// and one of the resource "pods". A limit without a request counts as the request, as the API
// server would have defaulted it.
//
// The result reuses dst's memory and replaces its contents. An error names every negative quantity; it has no prefix.
func podRequests(pod *corev1.Pod, dst Vector) (Vector, error) {
	s := requestSum{v: dst[:0]}
	spec := &pod.Spec
	resized := hasResize(&pod.Status)
	for i := range spec.Containers {
		c := &spec.Containers[i]
		if resized {
			s.addResized(pod, c, pod.Status.ContainerStatuses)
		} else {
			s.addContainer(&c.Resources)
		}
	}
	if len(spec.InitContainers) > 0 {
		s.addInit(pod, resized)
	}
	if spec.Resources != nil {
		s.override(pod)
	}
	for name, q := range spec.Overhead {
		s.add(name, &q)
	}
	s.v = s.v.plus(corev1.ResourcePods, 1)
	s.v = slices.DeleteFunc(s.v, func(q Quantity) bool { return q.Amount == 0 })
	if s.negative {
		return s.v, negativeRequests(pod)
	}
	return s.v, nil
}

// vectorOf returns the amounts of a list, rounded up (requests) or down (what a node has). Zero and
// missing are the same in a Vector; where they are not, as in a pool's limits, ask the list.
// The error names the first negative quantity.
func vectorOf(list corev1.ResourceList, up bool) (Vector, error) {
	out := make(Vector, 0, len(list))
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		if q.Sign() < 0 {
			return nil, fmt.Errorf("%s: %s is negative; amounts are 0 or more", name, q.String())
		}
		n := amountOf(name, &q)
		if !up && n > 0 && resource.NewScaledQuantity(n, scaleOf(name)).Cmp(q) > 0 {
			n--
		}
		if n > 0 {
			out = append(out, Quantity{Name: name, Amount: n})
		}
	}
	return out, nil
}

// scaleOf is the unit of a resource's amounts.
func scaleOf(name corev1.ResourceName) resource.Scale {
	if name == corev1.ResourceCPU {
		return resource.Milli
	}
	return 0
}

// amountOf converts a quantity to its unit, rounded up and capped at maxAmount; 0 if it is negative.
func amountOf(name corev1.ResourceName, q *resource.Quantity) int64 {
	unit := int64(1)
	if name == corev1.ResourceCPU {
		unit = 1000
	}
	if n, ok := q.AsInt64(); ok {
		if n > maxAmount/unit {
			return maxAmount
		}
		return max(n, 0) * unit
	}
	// What is left has a fraction or is huge; Quantity's own conversions overflow silently.
	if q.AsApproximateFloat64() >= float64(maxAmount/unit) {
		return maxAmount
	}
	return max(q.ScaledValue(scaleOf(name)), 0)
}

// plus adds an amount, saturating, and keeps the vector sorted. It keeps zeros: "asks for none" differs
// from "does not say" until defaults are applied.
func (v Vector) plus(name corev1.ResourceName, amount int64) Vector {
	i, found := v.find(name)
	if !found {
		return slices.Insert(v, i, Quantity{Name: name, Amount: amount})
	}
	v[i].Amount = min(v[i].Amount+amount, maxAmount)
	return v
}

// atLeast raises an amount.
func (v Vector) atLeast(name corev1.ResourceName, amount int64) Vector {
	i, found := v.find(name)
	if !found {
		return slices.Insert(v, i, Quantity{Name: name, Amount: amount})
	}
	v[i].Amount = max(v[i].Amount, amount)
	return v
}

// find is linear: pods name two or three resources.
func (v Vector) find(name corev1.ResourceName) (int, bool) {
	for i := range v {
		if v[i].Name >= name {
			return i, v[i].Name == name
		}
	}
	return len(v), false
}

// requestSum adds requests up and remembers whether one was negative.
type requestSum struct {
	v        Vector
	negative bool
}

func (s *requestSum) add(name corev1.ResourceName, q *resource.Quantity) {
	s.negative = s.negative || q.Sign() < 0
	s.v = s.v.plus(name, amountOf(name, q))
}

// addContainer adds what one container asks for.
func (s *requestSum) addContainer(r *corev1.ResourceRequirements) {
	for name, q := range r.Requests {
		s.add(name, &q)
	}
	for name, q := range r.Limits {
		if _, set := r.Requests[name]; !set {
			s.add(name, &q)
		}
	}
}

// addInit accounts for init containers. Those that end need room only while they run, next to the
// sidecars (restartable init containers) started before them; sidecars stay.
func (s *requestSum) addInit(pod *corev1.Pod, resized bool) {
	var start, sidecars, one requestSum
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		sidecar := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		one.v = one.v[:0]
		if sidecar && resized {
			one.addResized(pod, c, pod.Status.InitContainerStatuses)
		} else {
			one.addContainer(&c.Resources)
		}
		if sidecar {
			for _, q := range one.v {
				s.v = s.v.plus(q.Name, q.Amount)
				sidecars.v = sidecars.v.plus(q.Name, q.Amount)
			}
			continue
		}
		for _, q := range sidecars.v {
			one.v = one.v.plus(q.Name, q.Amount)
		}
		for _, q := range one.v {
			start.v = start.v.atLeast(q.Name, q.Amount)
		}
	}
	// The sidecars by themselves never need more than the steady state, which has them too.
	for _, q := range start.v {
		s.v = s.v.atLeast(q.Name, q.Amount)
	}
	s.negative = s.negative || one.negative
}

// hasResize reports whether the kubelet has told what containers hold.
func hasResize(st *corev1.PodStatus) bool {
	held := func(c corev1.ContainerStatus) bool { return len(c.AllocatedResources) > 0 || c.Resources != nil }
	return slices.ContainsFunc(st.ContainerStatuses, held) || slices.ContainsFunc(st.InitContainerStatuses, held)
}

// addResized adds a container that may be in the middle of a resize: the most of what it wants, what
// the node promised it and what it has (KEP-1287). A resize that the node called infeasible
// will not come, so the wish does not count.
func (s *requestSum) addResized(pod *corev1.Pod, c *corev1.Container, all []corev1.ContainerStatus) {
	i := slices.IndexFunc(all, func(cs corev1.ContainerStatus) bool { return cs.Name == c.Name })
	if i < 0 {
		s.addContainer(&c.Resources)
		return
	}
	var one, wish requestSum
	wish.addContainer(&c.Resources)
	for name, q := range all[i].AllocatedResources {
		one.v = one.v.atLeast(name, amountOf(name, &q))
	}
	if all[i].Resources != nil {
		for name, q := range all[i].Resources.Requests {
			one.v = one.v.atLeast(name, amountOf(name, &q))
		}
	}
	if len(one.v) == 0 || !resizeInfeasible(&pod.Status) {
		for _, q := range wish.v {
			one.v = one.v.atLeast(q.Name, q.Amount)
		}
	}
	for _, q := range one.v {
		s.v = s.v.plus(q.Name, q.Amount)
	}
	s.negative = s.negative || wish.negative
}

func resizeInfeasible(st *corev1.PodStatus) bool {
	return slices.ContainsFunc(st.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodResizePending && c.Reason == corev1.PodReasonInfeasible
	})
}

// podLevel reports whether a pod may set the resource as a whole (KEP-2837).
func podLevel(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || isHugePages(name)
}

func isHugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// override replaces the containers' sums by what the pod as a whole asks for. Of a limit without a
// request the API server makes a request only where no container asks for the resource, or where
// request and limit cannot differ (huge pages).
func (s *requestSum) override(pod *corev1.Pod) {
	r, st := pod.Spec.Resources, &pod.Status
	for name, q := range r.Requests {
		if !podLevel(name) {
			continue
		}
		s.negative = s.negative || q.Sign() < 0
		n := amountOf(name, &q)
		if st.Resources != nil {
			// The pod as a whole may be in the middle of a resize, as in addResized.
			promised, has := st.AllocatedResources[name], st.Resources.Requests[name]
			held := max(amountOf(name, &promised), amountOf(name, &has))
			if held > 0 && resizeInfeasible(st) {
				n = 0
			}
			n = max(n, held)
		}
		s.set(name, n)
	}
	for name, q := range r.Limits {
		if _, set := r.Requests[name]; set || !podLevel(name) {
			continue
		}
		s.negative = s.negative || q.Sign() < 0
		if _, asked := s.v.find(name); !asked || isHugePages(name) {
			s.set(name, amountOf(name, &q))
		}
	}
}

// set replaces an amount.
func (s *requestSum) set(name corev1.ResourceName, amount int64) {
	i, found := s.v.find(name)
	if !found {
		s.v = slices.Insert(s.v, i, Quantity{Name: name})
	}
	s.v[i].Amount = amount
}

// negativeRequests names every negative quantity of the pod, in the order of the manifest.
func negativeRequests(pod *corev1.Pod) error {
	var out []string
	check := func(place string, list corev1.ResourceList) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if q := list[name]; q.Sign() < 0 {
				out = append(out, fmt.Sprintf("%s.%s: %s is negative", place, name, q.String()))
			}
		}
	}
	both := func(place string, r *corev1.ResourceRequirements) {
		check(place+"resources.requests", r.Requests)
		limits := maps.Clone(r.Limits)
		maps.DeleteFunc(limits, func(name corev1.ResourceName, _ resource.Quantity) bool {
			_, set := r.Requests[name]
			return set
		})
		check(place+"resources.limits", limits)
	}
	for i := range pod.Spec.InitContainers {
		both(fmt.Sprintf("init container %q: ", pod.Spec.InitContainers[i].Name), &pod.Spec.InitContainers[i].Resources)
	}
	for i := range pod.Spec.Containers {
		both(fmt.Sprintf("container %q: ", pod.Spec.Containers[i].Name), &pod.Spec.Containers[i].Resources)
	}
	if r := pod.Spec.Resources; r != nil {
		both("spec.", r)
	}
	check("spec.overhead", pod.Spec.Overhead)
	return fmt.Errorf("%s; quantities must be 0 or more", strings.Join(out, ", "))
}
