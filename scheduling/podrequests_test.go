package scheduling

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// amounts reads "cpu=500m memory=1Gi".
func amounts(text string) corev1.ResourceList {
	if text == "" {
		return nil
	}
	out := corev1.ResourceList{}
	for _, f := range strings.Fields(text) {
		name, amount, _ := strings.Cut(f, "=")
		out[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return out
}

func resourcesOf(requests, limits string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: amounts(requests), Limits: amounts(limits)}
}

func plainContainer(name, requests string) corev1.Container {
	return corev1.Container{Name: name, Resources: resourcesOf(requests, "")}
}

func sidecarContainer(name, requests string) corev1.Container {
	c := plainContainer(name, requests)
	always := corev1.ContainerRestartPolicyAlways
	c.RestartPolicy = &always
	return c
}

func vectorText(v Vector) string {
	var out []string
	for _, q := range v {
		out = append(out, fmt.Sprintf("%s=%d", q.Name, q.Amount))
	}
	return strings.Join(out, " ")
}

func TestPodRequests(t *testing.T) {
	type spec = corev1.PodSpec
	infeasible := []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: corev1.PodReasonInfeasible}}
	always := func(list ...corev1.Container) []corev1.Container { return list }
	for _, tc := range []struct {
		name, reason string
		spec         spec
		status       corev1.PodStatus
		want         string
	}{
		{name: "no requests", reason: "a pod still takes one of the node's pod slots",
			spec: spec{Containers: always(plainContainer("a", ""))}, want: "pods=1"},
		{name: "containers add up", reason: "they run at the same time",
			spec: spec{Containers: always(plainContainer("a", "cpu=100m memory=1Gi"), plainContainer("b", "cpu=1 memory=1"))},
			want: "cpu=1100 memory=1073741825 pods=1"},
		{name: "extended resource", reason: "they are ordinary resource names",
			spec: spec{Containers: always(plainContainer("a", "nvidia.com/gpu=2 cpu=1"))}, want: "cpu=1000 nvidia.com/gpu=2 pods=1"},
		{name: "zero request", reason: "asks for nothing, so a node without the resource will do",
			spec: spec{Containers: always(plainContainer("a", "cpu=0 nvidia.com/gpu=0"))}, want: "pods=1"},
		{name: "limit alone", reason: "the API server makes it the request",
			spec: spec{Containers: []corev1.Container{{Resources: resourcesOf("cpu=1", "cpu=4 memory=2Ki")}}},
			want: "cpu=1000 memory=2048 pods=1"},
		{name: "limit with zero request", reason: "a request of 0 is a request",
			spec: spec{Containers: []corev1.Container{{Resources: resourcesOf("cpu=0", "cpu=4")}}}, want: "pods=1"},
		{name: "fractions round up", reason: "a node that lacks the last byte would reject the pod",
			spec: spec{Containers: always(plainContainer("a", "cpu=100u memory=1500m"))}, want: "cpu=1 memory=2 pods=1"},
		{name: "init container smaller", reason: "it is done before the containers start",
			spec: spec{InitContainers: always(plainContainer("i", "cpu=1")), Containers: always(plainContainer("a", "cpu=2"))},
			want: "cpu=2000 pods=1"},
		{name: "init container larger in one resource", reason: "the maximum is per resource",
			spec: spec{InitContainers: always(plainContainer("i", "cpu=4 memory=1")), Containers: always(plainContainer("a", "cpu=2 memory=8"))},
			want: "cpu=4000 memory=8 pods=1"},
		{name: "init containers do not add up", reason: "they run one after another",
			spec: spec{InitContainers: always(plainContainer("i", "cpu=3"), plainContainer("j", "cpu=3")), Containers: always(plainContainer("a", "cpu=1"))},
			want: "cpu=3000 pods=1"},
		{name: "init container limit alone", reason: "defaults apply to init containers too",
			spec: spec{InitContainers: []corev1.Container{{Resources: resourcesOf("", "cpu=3")}}, Containers: always(plainContainer("a", "cpu=1"))},
			want: "cpu=3000 pods=1"},
		{name: "sidecar stays", reason: "a restartable init container runs next to the containers (KEP-753)",
			spec: spec{InitContainers: always(sidecarContainer("s", "cpu=1")), Containers: always(plainContainer("a", "cpu=2"))},
			want: "cpu=3000 pods=1"},
		{name: "sidecar before init container", reason: "it runs while the init container does",
			spec: spec{InitContainers: always(sidecarContainer("s", "cpu=1"), plainContainer("i", "cpu=5")), Containers: always(plainContainer("a", "cpu=2"))},
			want: "cpu=6000 pods=1"},
		{name: "sidecar after init container", reason: "it starts when the init container is done",
			spec: spec{InitContainers: always(plainContainer("i", "cpu=5"), sidecarContainer("s", "cpu=1")), Containers: always(plainContainer("a", "cpu=2"))},
			want: "cpu=5000 pods=1"},
		{name: "two sidecars around an init container", reason: "only those that are started already count",
			spec: spec{InitContainers: always(sidecarContainer("s", "cpu=1"), plainContainer("i", "cpu=5"), sidecarContainer("r", "cpu=2")),
				Containers: always(plainContainer("a", "cpu=4"))},
			want: "cpu=7000 pods=1"},
		{name: "overhead", reason: "the runtime class takes it on top",
			spec: spec{Containers: always(plainContainer("a", "cpu=1")), Overhead: amounts("cpu=250m memory=1Mi")},
			want: "cpu=1250 memory=1048576 pods=1"},
		{name: "overhead on an init peak", reason: "the sandbox is there from the start",
			spec: spec{InitContainers: always(plainContainer("i", "cpu=4")), Containers: always(plainContainer("a", "cpu=1")), Overhead: amounts("cpu=250m")},
			want: "cpu=4250 pods=1"},
		{name: "pod level lower", reason: "spec.resources replaces the sum, init peak included (KEP-2837)",
			spec: spec{InitContainers: always(plainContainer("i", "cpu=8")), Containers: always(plainContainer("a", "cpu=4 memory=5")),
				Resources: &corev1.ResourceRequirements{Requests: amounts("cpu=2")}},
			want: "cpu=2000 memory=5 pods=1"},
		{name: "pod level and overhead", reason: "overhead is on top of what the pod asks for itself",
			spec: spec{Containers: always(plainContainer("a", "")), Overhead: amounts("cpu=1"),
				Resources: &corev1.ResourceRequirements{Requests: amounts("cpu=2")}},
			want: "cpu=3000 pods=1"},
		{name: "pod level for an extended resource", reason: "only cpu, memory and huge pages can be set for the pod",
			spec: spec{Containers: always(plainContainer("a", "nvidia.com/gpu=1")),
				Resources: &corev1.ResourceRequirements{Requests: amounts("nvidia.com/gpu=4 hugepages-2Mi=2Mi")}},
			want: "hugepages-2Mi=2097152 nvidia.com/gpu=1 pods=1"},
		{name: "pod level limit alone", reason: "no container asks, so the limit is the request",
			spec: spec{Containers: always(plainContainer("a", "cpu=1")), Resources: &corev1.ResourceRequirements{Limits: amounts("cpu=4 memory=7")}},
			want: "cpu=1000 memory=7 pods=1"},
		{name: "pod level limit over zero", reason: "a container that asks for 0 has asked",
			spec: spec{Containers: always(plainContainer("a", "cpu=0")), Resources: &corev1.ResourceRequirements{Limits: amounts("cpu=4")}},
			want: "pods=1"},
		{name: "pod level huge page limit", reason: "request and limit of huge pages are always equal",
			spec: spec{Containers: always(plainContainer("a", "hugepages-2Mi=2Mi")),
				Resources: &corev1.ResourceRequirements{Limits: amounts("hugepages-2Mi=8Mi nvidia.com/gpu=1")}},
			want: "hugepages-2Mi=8388608 pods=1"},
		{name: "resize down not done", reason: "the node still holds the larger amount (KEP-1287)",
			spec:   spec{Containers: always(plainContainer("a", "cpu=1"), plainContainer("b", "cpu=1"))},
			status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "a", AllocatedResources: amounts("cpu=3")}}},
			want:   "cpu=4000 pods=1"},
		{name: "resize up not done", reason: "the room is spoken for",
			spec: spec{Containers: always(plainContainer("a", "cpu=3"))},
			status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "a", AllocatedResources: amounts("cpu=1"),
				Resources: &corev1.ResourceRequirements{Requests: amounts("cpu=2")}}}},
			want: "cpu=3000 pods=1"},
		{name: "resize running", reason: "the container runs with more than it was promised",
			spec: spec{Containers: always(plainContainer("a", "cpu=1"))},
			status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "a", AllocatedResources: amounts("cpu=1"),
				Resources: &corev1.ResourceRequirements{Requests: amounts("cpu=2")}}}},
			want: "cpu=2000 pods=1"},
		{name: "resize infeasible", reason: "the node said it will never happen",
			spec: spec{Containers: always(plainContainer("a", "cpu=30"))},
			status: corev1.PodStatus{Conditions: infeasible,
				ContainerStatuses: []corev1.ContainerStatus{{Name: "a", AllocatedResources: amounts("cpu=1")}}},
			want: "cpu=1000 pods=1"},
		{name: "resize of a sidecar", reason: "sidecars can be resized, other init containers cannot",
			spec: spec{InitContainers: always(sidecarContainer("s", "cpu=1"), plainContainer("i", "cpu=1")), Containers: always(plainContainer("a", "cpu=1"))},
			status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{Name: "s", AllocatedResources: amounts("cpu=2")},
				{Name: "i", AllocatedResources: amounts("cpu=9")}}},
			want: "cpu=3000 pods=1"},
		{name: "resize of the pod", reason: "what the pod as a whole holds counts too",
			spec:   spec{Containers: always(plainContainer("a", "")), Resources: &corev1.ResourceRequirements{Requests: amounts("cpu=1 memory=9")}},
			status: corev1.PodStatus{AllocatedResources: amounts("cpu=3 memory=1"), Resources: &corev1.ResourceRequirements{Requests: amounts("cpu=2 memory=1")}},
			want:   "cpu=3000 memory=9 pods=1"},
		{name: "infeasible resize of the pod", reason: "the node said it will never happen",
			spec: spec{Containers: always(plainContainer("a", "")), Resources: &corev1.ResourceRequirements{Requests: amounts("cpu=9")}},
			status: corev1.PodStatus{Conditions: infeasible, AllocatedResources: amounts("cpu=3"),
				Resources: &corev1.ResourceRequirements{Requests: amounts("cpu=2")}},
			want: "cpu=3000 pods=1"},
		{name: "absurd amounts", reason: "sums saturate instead of overflowing into small numbers",
			spec: spec{Containers: always(plainContainer("a", "cpu=9E memory=8E"), plainContainer("b", "cpu=9E memory=8E"))},
			want: "cpu=1152921504606846976 memory=1152921504606846976 pods=1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: tc.spec, Status: tc.status}
			before := pod.DeepCopy()
			got, err := podRequests(pod, nil)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if vectorText(got) != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, vectorText(got), tc.want)
			}
			if !reflect.DeepEqual(before, pod) {
				t.Errorf("the pod was changed: before %v, after %v", before, pod)
			}
		})
	}
}

func TestPodRequestsNegative(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{plainContainer("setup", "memory=-2Gi")},
		Containers:     []corev1.Container{{Name: "web", Resources: resourcesOf("cpu=-1 memory=-1500m", "memory=-5 zeta=-3 alpha=-1")}},
		Resources:      &corev1.ResourceRequirements{Requests: amounts("cpu=-7")},
		Overhead:       amounts("cpu=-250m"),
	}}
	const want = `init container "setup": resources.requests.memory: -2Gi is negative, ` +
		`container "web": resources.requests.cpu: -1 is negative, ` +
		`container "web": resources.requests.memory: -1500m is negative, ` +
		`container "web": resources.limits.alpha: -1 is negative, ` +
		`container "web": resources.limits.zeta: -3 is negative, ` +
		`spec.resources.requests.cpu: -7 is negative, ` +
		`spec.overhead.cpu: -250m is negative; quantities must be 0 or more`
	for range 20 { // map order must not show
		v, err := podRequests(pod, nil)
		if err == nil || err.Error() != want {
			t.Fatalf("got  %v\nwant %s", err, want)
		}
		if got := vectorText(v); got != "pods=1" {
			t.Fatalf("negative amounts leaked into the sum: %s", got)
		}
	}
	for _, place := range []func(*corev1.PodSpec){
		func(s *corev1.PodSpec) { s.InitContainers = []corev1.Container{plainContainer("x", "cpu=-1")} },
		func(s *corev1.PodSpec) { s.InitContainers = []corev1.Container{sidecarContainer("x", "cpu=-1")} },
		func(s *corev1.PodSpec) { s.Containers[0].Resources = resourcesOf("", "cpu=-1") },
		func(s *corev1.PodSpec) { s.Resources = &corev1.ResourceRequirements{Limits: amounts("cpu=-1")} },
		func(s *corev1.PodSpec) { s.Overhead = amounts("cpu=-1") },
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{plainContainer("a", "cpu=4")}}}
		place(&pod.Spec)
		if _, err := podRequests(pod, nil); err == nil || !strings.Contains(err.Error(), "-1 is negative") {
			t.Errorf("one negative quantity among good ones: got %v", err)
		}
	}
}

func TestPodRequestsReuse(t *testing.T) {
	plain := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "a", Resources: resourcesOf("cpu=250m memory=512Mi", "memory=512Mi nvidia.com/gpu=1")}, plainContainer("b", "cpu=1"),
	}}}
	dst := make(Vector, 0, 8)
	if n := testing.AllocsPerRun(100, func() { dst, _ = podRequests(plain, dst) }); n != 0 {
		t.Errorf("a plain pod with a reused vector costs %v allocations, want 0", n)
	}
	// What was in dst must not reach the result.
	dst = append(dst[:0], Quantity{"zzz", 7}, Quantity{"aaa", 9})
	dst, err := podRequests(plain, dst)
	if got := vectorText(dst); err != nil || got != "cpu=1250 memory=536870912 nvidia.com/gpu=1 pods=1" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestVectorOf(t *testing.T) {
	for _, tc := range []struct {
		name, reason, list string
		up                 bool
		want               string
	}{
		{name: "whole", reason: "exact amounts stay", list: "memory=1Gi cpu=2 pods=110", want: "cpu=2000 memory=1073741824 pods=110"},
		{name: "down", reason: "a node has not what it has only part of", list: "memory=1500m cpu=1500u ephemeral-storage=900m", want: "cpu=1 memory=1"},
		{name: "up", reason: "a request needs all of it", list: "memory=1500m cpu=1500u ephemeral-storage=900m", up: true,
			want: "cpu=2 ephemeral-storage=1 memory=2"},
		{name: "exact fraction", reason: "milli is the unit of cpu", list: "cpu=1930m", want: "cpu=1930"},
		{name: "zero", reason: "zero amounts are left out", list: "cpu=0", want: ""},
		{name: "empty", reason: "nothing is nothing", list: "", want: ""},
		{name: "huge", reason: "saturates", list: "cpu=2000000000000000000 memory=7E", want: "cpu=1152921504606846976 memory=1152921504606846976"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := vectorOf(amounts(tc.list), tc.up)
			if err != nil || vectorText(got) != tc.want {
				t.Errorf("%s: got %q, %v; want %q", tc.reason, vectorText(got), err, tc.want)
			}
		})
	}
	_, err := vectorOf(amounts("memory=-1Gi cpu=-1 pods=3"), true)
	if want := "cpu: -1 is negative; amounts are 0 or more"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestAmountOf(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		q            *resource.Quantity
		cpu, other   int64
	}{
		{"milli", "a cpu share", resource.NewMilliQuantity(1500, resource.DecimalSI), 1500, 2},
		{"largest integer", "times 1000 it would overflow", resource.NewQuantity(math.MaxInt64, resource.DecimalSI), maxAmount, maxAmount},
		{"beyond int64", "scale 18 holds more than an int64", resource.NewScaledQuantity(1<<40, 18), maxAmount, maxAmount},
		{"least integer", "negative is no amount", resource.NewQuantity(math.MinInt64, resource.DecimalSI), 0, 0},
		{"far below int64", "negative is no amount", resource.NewScaledQuantity(-1<<40, 18), 0, 0},
		{"arbitrary precision", "a sum may be held as a decimal", func() *resource.Quantity { q := resource.MustParse("1.5"); return q.ToDec() }(), 1500, 2},
		{"huge decimal", "the conversion of Quantity would wrap", func() *resource.Quantity { q := resource.NewScaledQuantity(1<<40, 18); return q.ToDec() }(), maxAmount, maxAmount},
		{"tiny", "rounds up to one unit", resource.NewScaledQuantity(1, resource.Nano), 1, 1},
		{"cap", "exactly the cap", resource.NewQuantity(maxAmount, resource.BinarySI), maxAmount, maxAmount},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := amountOf(corev1.ResourceCPU, tc.q); got != tc.cpu {
				t.Errorf("%s: cpu: got %d, want %d", tc.reason, got, tc.cpu)
			}
			if got := amountOf("example.com/x", tc.q); got != tc.other {
				t.Errorf("%s: other: got %d, want %d", tc.reason, got, tc.other)
			}
		})
	}
}

func BenchmarkPodRequests(b *testing.B) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Resources: resourcesOf("cpu=250m memory=512Mi", "memory=512Mi")}}}}
	dst := make(Vector, 0, 8)
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = podRequests(pod, dst)
	}
}

// TestPodRequestsOfAPod: the exported name says whose fault an error is.
func TestPodRequestsOfAPod(t *testing.T) {
	p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{plainContainer("a", "cpu=250m"), plainContainer("b", "cpu=1")}}}
	p.Namespace, p.Name = "shop", "web"
	got, err := PodRequests(p)
	if want := (Vector{{"cpu", 1250}, {"pods", 1}}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	p.Spec.Containers[0] = plainContainer("a", "cpu=-1")
	if _, err := PodRequests(p); err == nil || !strings.HasPrefix(err.Error(), "scheduling: pod shop/web: ") {
		t.Errorf("error %v", err)
	}
}
