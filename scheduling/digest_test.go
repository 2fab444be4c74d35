package scheduling

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The digest is part of saved plans: if this fails, digestVersion has to change.
func TestDigestIsPinned(t *testing.T) {
	tests := []struct {
		name    string
		problem *Problem
		want    string
	}{
		{"empty", &Problem{}, "fw3-cebecc82404bf71bcf6325ed558b5be3"},
		{"demo", demoProblem(), "fw3-ed8e61731494c4bbc46ea6cc084eff4b"},
		{"all fields", fullProblem(), "fw3-908f1dcbe599ba3ca15df381712da85d"},
	}
	for _, tt := range tests {
		if got := problemDigest(tt.problem); got != tt.want {
			t.Errorf("%s: digest %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestDigestIgnoresOrder(t *testing.T) {
	for _, p := range []*Problem{demoProblem(), fullProblem()} {
		want := problemDigest(p)
		for seed := range uint64(20) {
			if got := problemDigest(shuffled(p, seed)); got != want {
				t.Fatalf("seed %d: digest %s, want %s", seed, got, want)
			}
		}
	}
}

func TestDigestWritesNothing(t *testing.T) {
	p := fullProblem()
	before, _ := json.Marshal(p)
	problemDigest(p)
	if after, _ := json.Marshal(p); !bytes.Equal(before, after) {
		t.Errorf("problem changed:\n%s\n%s", before, after)
	}
}

func ptr[T any](v T) *T { return &v }

// fullProblem adds to demoProblem what is rare.
func fullProblem() *Problem {
	p := demoProblem()
	rich := testPod("rich", "all-1", list("cpu", "1", "vendor.example/nic", "2"))
	s := &rich.Spec
	s.NodeSelector = map[string]string{"disk": "ssd", "tier": "back"}
	s.Tolerations = []corev1.Toleration{
		{Key: "dedicated", Operator: "Equal", Value: "ml", Effect: "NoSchedule"}, {Key: "spot", Operator: "Exists"},
	}
	s.Priority = ptr(int32(7))
	s.HostNetwork = true
	s.Overhead = list("cpu", "10m")
	s.Resources = &corev1.ResourceRequirements{Requests: list("cpu", "3"), Limits: list("memory", "1Gi")}
	s.InitContainers = []corev1.Container{{
		Name: "side", RestartPolicy: ptr(corev1.ContainerRestartPolicyAlways), Resources: corev1.ResourceRequirements{Limits: list("cpu", "1")},
	}}
	s.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8080, Protocol: "TCP", HostIP: "10.0.0.1"}}
	s.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}}
	s.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr("shared")}}
	s.SchedulingGates = []corev1.PodSchedulingGate{{Name: "wait"}}
	s.OS = &corev1.PodOS{Name: "linux"}
	s.Affinity = &corev1.Affinity{
		NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "cpu", Operator: "Gt", Values: []string{"3"}}}}},
		}},
		PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "color", Operator: "In", Values: []string{"red"}}}},
			TopologyKey: corev1.LabelHostname, MatchLabelKeys: []string{"pod-template-hash"},
		}}},
	}
	s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: "DoNotSchedule",
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "all"}},
	}}
	s.Volumes = []corev1.Volume{
		{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "d-1"}}},
		{Name: "disk", VolumeSource: corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}}},
		{Name: "kube-api-access-x7z", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}},
	}
	p.Pods = append(p.Pods, rich)
	p.Pools[0].Requirements = append(p.Pools[0].Requirements,
		Requirement{Key: corev1.LabelInstanceTypeStable, Operator: "Exists", MinValues: ptr(2)})
	p.Nodes = append(p.Nodes, Node{
		Name: "ip-10-0-0-8", Uninitialized: true, Unschedulable: true, Capacity: list("cpu", "4"),
		Taints:        []corev1.Taint{{Key: "a", Effect: "NoSchedule"}, {Key: "b", Effect: "NoExecute"}},
		StartupTaints: []corev1.Taint{{Key: "c", Effect: "NoSchedule"}},
	})
	p.Storage = Storage{
		Claims: []*corev1.PersistentVolumeClaim{
			{ObjectMeta: metav1.ObjectMeta{Namespace: "rich", Name: "d-1"}, Spec: corev1.PersistentVolumeClaimSpec{
				VolumeName: "pv-1", Resources: corev1.VolumeResourceRequirements{Requests: list("storage", "10Gi")}}},
			{ObjectMeta: metav1.ObjectMeta{Namespace: "rich", Name: "d-2"}},
		},
		Volumes: []*corev1.PersistentVolume{{ObjectMeta: metav1.ObjectMeta{Name: "pv-1"}}},
		Classes: []*storagev1.StorageClass{{ObjectMeta: metav1.ObjectMeta{Name: "gp3"}, Provisioner: "ebs.csi.aws.com",
			Parameters: map[string]string{"type": "gp3", "iops": "3000"}}},
		CSINodes: []*storagev1.CSINode{{ObjectMeta: metav1.ObjectMeta{Name: "ip-10-0-0-7"}, Spec: storagev1.CSINodeSpec{
			Drivers: []storagev1.CSINodeDriver{{Name: "ebs.csi.aws.com", Allocatable: &storagev1.VolumeNodeResources{Count: ptr(int32(24))}}}}}},
	}
	p.Labels = LabelRules{
		Aliases: map[string]string{}, WellKnown: []string{CapacityTypeLabel, corev1.LabelTopologyZone},
		ValueAliases: map[string]map[string]string{"zone": {"": "0"}},
	}
	return p
}

// Of several default classes the newest counts, so their age is part of the problem; that of others is not.
func TestDigestOfClassAge(t *testing.T) {
	digest := func(byDefault bool, age int64) string {
		c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "gp3", CreationTimestamp: metav1.Unix(age, 0)}}
		if byDefault {
			c.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
		}
		return problemDigest(&Problem{Storage: Storage{Classes: []*storagev1.StorageClass{c}}})
	}
	if digest(true, 1) == digest(true, 2) {
		t.Error("default classes of different ages have one digest")
	}
	if digest(false, 1) != digest(false, 2) {
		t.Error("the age of a class that is no default changes the digest")
	}
}

func TestDigestTellsProblemsApart(t *testing.T) {
	rich := func(p *Problem) *corev1.Pod { return p.Pods[len(p.Pods)-1] }
	tests := []struct {
		name   string
		change func(p *Problem)
	}{
		{"pod gone", func(p *Problem) { p.Pods = p.Pods[1:] }},
		{"pod twice", func(p *Problem) { p.Pods = append(p.Pods, p.Pods[0]) }},
		{"pod name", func(p *Problem) { p.Pods[0].Name = "web-0" }},
		{"namespace and name swapped", func(p *Problem) { p.Pods[0].Namespace, p.Pods[0].Name = p.Pods[0].Name, p.Pods[0].Namespace }},
		{"border between names", func(p *Problem) { p.Pods[0].Namespace, p.Pods[0].Name = "sho", "pweb-1" }},
		{"cpu", func(p *Problem) { p.Pods[0].Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("999m") }},
		{"memory", func(p *Problem) {
			p.Pods[0].Spec.Containers[0].Resources.Requests["memory"] = resource.MustParse("5Gi")
		}},
		{"extended resource", func(p *Problem) {
			rich(p).Spec.Containers[0].Resources.Requests["vendor.example/nic"] = resource.MustParse("3")
		}},
		{"limit that stands in", func(p *Problem) { p.Pods[0].Spec.Containers[0].Resources.Limits = list("vendor.example/nic", "1") }},
		{"two pods swap requests", func(p *Problem) {
			p.Pods[0].Spec.Containers, p.Pods[4].Spec.Containers = p.Pods[4].Spec.Containers, p.Pods[0].Spec.Containers
		}},
		{"node selector", func(p *Problem) { rich(p).Spec.NodeSelector["disk"] = "hdd" }},
		{"toleration", func(p *Problem) { rich(p).Spec.Tolerations[0].Value = "x" }},
		{"priority", func(p *Problem) { *rich(p).Spec.Priority = 8 }},
		{"host network", func(p *Problem) { rich(p).Spec.HostNetwork = false }},
		{"overhead", func(p *Problem) { rich(p).Spec.Overhead = list("cpu", "11m") }},
		{"pod-level requests", func(p *Problem) { rich(p).Spec.Resources.Requests = list("cpu", "4") }},
		{"pod-level limits", func(p *Problem) { rich(p).Spec.Resources.Limits = list("memory", "2Gi") }},
		{"sidecar", func(p *Problem) { rich(p).Spec.InitContainers[0].RestartPolicy = nil }},
		{"init container", func(p *Problem) { rich(p).Spec.InitContainers = nil }},
		{"host port", func(p *Problem) { rich(p).Spec.Containers[0].Ports[0].HostPort = 81 }},
		{"host IP", func(p *Problem) { rich(p).Spec.Containers[0].Ports[0].HostIP = "" }},
		{"container claim", func(p *Problem) { rich(p).Spec.Containers[0].Resources.Claims = nil }},
		{"resource claim", func(p *Problem) { rich(p).Spec.ResourceClaims[0].ResourceClaimName = ptr("own") }},
		{"gate", func(p *Problem) { rich(p).Spec.SchedulingGates = nil }},
		{"operating system", func(p *Problem) { rich(p).Spec.OS = nil }},
		{"node affinity", func(p *Problem) {
			rich(p).Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0].Values[0] = "4"
		}},
		{"anti-affinity", func(p *Problem) {
			rich(p).Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = "zone"
		}},
		{"spread", func(p *Problem) { rich(p).Spec.TopologySpreadConstraints[0].MaxSkew = 2 }},
		{"claim", func(p *Problem) { rich(p).Spec.Volumes[0].PersistentVolumeClaim.ClaimName = "d-2" }},
		{"in-tree volume", func(p *Problem) { rich(p).Spec.Volumes[1].AWSElasticBlockStore.VolumeID = "vol-2" }},
		{"label that a spread reads", func(p *Problem) { p.Pods[0].Labels["app"] = "all" }},
		{"label that an affinity reads", func(p *Problem) { p.Nodes[0].Pods[0].Labels["color"] = "red" }},
		{"label key of matchLabelKeys", func(p *Problem) { p.Pods[0].Labels["pod-template-hash"] = "1" }},
		{"phase", func(p *Problem) { p.Nodes[0].Pods[0].Status.Phase = "Succeeded" }},
		{"terminating", func(p *Problem) { p.Nodes[0].Pods[0].DeletionTimestamp = &metav1.Time{} }},
		{"resize under way", func(p *Problem) {
			p.Nodes[0].Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", AllocatedResources: list("cpu", "2")}}
		}},
		{"another resize", func(p *Problem) {
			p.Nodes[0].Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", AllocatedResources: list("cpu", "3")}}
		}},
		{"resize that will not come", func(p *Problem) {
			st := &p.Nodes[0].Pods[0].Status
			st.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", AllocatedResources: list("cpu", "2")}}
			st.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: corev1.PodReasonInfeasible}}
		}},
		{"DaemonSet's pod", func(p *Problem) {
			p.Nodes[0].Pods[1].OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "agent"}}
		}},
		{"DaemonSet", func(p *Problem) { p.DaemonSets[0].Name = "agent-2" }},
		{"DaemonSet moved to pods", func(p *Problem) { p.Pods, p.DaemonSets = append(p.Pods, p.DaemonSets...), nil }},
		{"pool weight", func(p *Problem) { p.Pools[0].Weight = 11 }},
		{"pool label", func(p *Problem) { p.Pools[0].Labels["team"] = "other" }},
		{"pool requirement", func(p *Problem) { p.Pools[0].Requirements[1].Values[0] = "reserved" }},
		{"minValues", func(p *Problem) { *p.Pools[0].Requirements[2].MinValues = 3 }},
		{"pool taint", func(p *Problem) { p.Pools[1].Taints[0].Effect = "NoExecute" }},
		{"taint becomes startup taint", func(p *Problem) { p.Pools[0].Taints, p.Pools[0].StartupTaints = p.Pools[0].StartupTaints, nil }},
		{"pool limit", func(p *Problem) { p.Pools[0].Limits = list("cpu", "101") }},
		{"limit of another resource", func(p *Problem) { p.Pools[0].Limits = list("memory", "100") }},
		{"type gone from one pool", func(p *Problem) { p.Pools[1].InstanceTypes = p.Pools[1].InstanceTypes[:1] }},
		{"type capacity", func(p *Problem) { p.Pools[0].InstanceTypes[0].Capacity["cpu"] = resource.MustParse("5") }},
		{"type overhead", func(p *Problem) { p.Pools[0].InstanceTypes[0].Overhead = nil }},
		{"price", func(p *Problem) { p.Pools[0].InstanceTypes[0].Offerings[0].Price.nano++ }},
		{"price unknown", func(p *Problem) { p.Pools[0].InstanceTypes[0].Offerings[0].Price = Price{} }},
		{"offering unavailable", func(p *Problem) { p.Pools[0].InstanceTypes[0].Offerings[0].Unavailable = true }},
		{"offering label", func(p *Problem) { p.Pools[1].InstanceTypes[0].Offerings[5].Labels["x"] = "y" }},
		{"node label", func(p *Problem) { p.Nodes[0].Labels["x"] = "y" }},
		{"node pool", func(p *Problem) { p.Nodes[0].Pool = "" }},
		{"node flags swapped", func(p *Problem) { p.Nodes[0].Uninitialized, p.Nodes[1].Uninitialized = true, false }},
		{"pod moves to another node", func(p *Problem) {
			p.Nodes[1].Pods = p.Nodes[0].Pods[1:]
			p.Nodes[0].Pods = p.Nodes[0].Pods[:1]
		}},
		{"namespace label", func(p *Problem) { p.Namespaces["shop"]["team"] = "x" }},
		{"volume claim", func(p *Problem) { p.Storage.Claims[0].Spec.VolumeName = "pv-2" }},
		{"volume", func(p *Problem) { p.Storage.Volumes[0].Labels = map[string]string{"zone": "a"} }},
		{"claim being deleted", func(p *Problem) { p.Storage.Claims[0].DeletionTimestamp = &metav1.Time{} }},
		{"claim of a pod", func(p *Problem) {
			p.Storage.Claims[0].OwnerReferences = []metav1.OwnerReference{{Kind: "Pod", Name: "web"}}
		}},
		{"storage class", func(p *Problem) { p.Storage.Classes[0].Parameters["iops"] = "4000" }},
		{"commitment", func(p *Problem) { p.Commitments = []Commitment{{Name: "c"}} }},
		{"instances of a commitment", func(p *Problem) { p.Commitments = []Commitment{{Name: "c", Instances: 1}} }},
		{"money of a commitment", func(p *Problem) { p.Commitments = []Commitment{{Name: "c", PerHour: PriceFromNano(1)}} }},
		{"commitment of no money", func(p *Problem) { p.Commitments = []Commitment{{Name: "c", PerHour: PriceFromNano(0)}} }},
		{"offering under a commitment", func(p *Problem) { p.Pools[0].InstanceTypes[0].Offerings[0].Commitment = "c" }},
		{"draw", func(p *Problem) {
			p.Pools[0].InstanceTypes[0].Offerings[0].Commitment, p.Pools[0].InstanceTypes[0].Offerings[0].Draw = "c", PriceFromNano(1)
		}},
		{"adjustment of prices", func(p *Problem) { p.Catalog.Adjustments = []string{"+5% on everything"} }},
		{"driver limit", func(p *Problem) { *p.Storage.CSINodes[0].Spec.Drivers[0].Allocatable.Count = 25 }},
		{"storage incomplete", func(p *Problem) { p.Storage.Incomplete = true }},
		{"aliases by default", func(p *Problem) { p.Labels.Aliases = nil }},
		{"value aliases", func(p *Problem) { p.Labels.ValueAliases["zone"][""] = "1" }},
		{"well-known keys", func(p *Problem) { p.Labels.WellKnown = p.Labels.WellKnown[:1] }},
		{"date of prices", func(p *Problem) { p.Catalog.AsOf = "2026-08-21" }},
	}
	seen := map[string]string{problemDigest(fullProblem()): "unchanged"}
	for _, tt := range tests {
		p := fullProblem()
		tt.change(p)
		d := problemDigest(p)
		if other, ok := seen[d]; ok {
			t.Errorf("%q and %q have the same digest", tt.name, other)
		}
		seen[d] = tt.name
	}
}

func TestDigestIgnoresWhatBearsOnNoPlan(t *testing.T) {
	tests := []struct {
		name   string
		change func(p *Problem)
	}{
		{"annotation", func(p *Problem) { p.Pods[0].Annotations = map[string]string{"a": "b"} }},
		{"environment", func(p *Problem) { p.Pods[0].Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A"}} }},
		{"image", func(p *Problem) { p.Pods[0].Spec.Containers[0].Image = "x" }},
		{"label that nothing reads", func(p *Problem) { p.Pods[0].Labels["x"] = "y" }},
		{"token volume", func(p *Problem) { p.Pods[len(p.Pods)-1].Spec.Volumes[2].Name = "kube-api-access-abc" }},
		{"limit beside a request", func(p *Problem) { p.Pods[0].Spec.Containers[0].Resources.Limits = list("cpu", "2") }},
		{"spelling of a quantity", func(p *Problem) { p.Pods[0].Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("1000m") }},
		{"Deployment's pod", func(p *Problem) { p.Pods[0].OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet"}} }},
		{"container status", func(p *Problem) {
			p.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Ready: true}}
		}},
		{"empty for nil", func(p *Problem) { p.Pools[1].Labels = map[string]string{} }},
		{"order of tolerations", func(p *Problem) { s := &p.Pods[len(p.Pods)-1].Spec; slices.Reverse(s.Tolerations) }},
		{"minValues 0", func(p *Problem) { p.Pools[0].Requirements[0].MinValues = ptr(0) }},
		{"types by other pointers", func(p *Problem) { c := *p.Pools[1].InstanceTypes[1]; p.Pools[1].InstanceTypes[1] = &c }},
	}
	want := problemDigest(fullProblem())
	for _, tt := range tests {
		p := fullProblem()
		tt.change(p)
		if got := problemDigest(p); got != want {
			t.Errorf("%s: digest %s, want %s", tt.name, got, want)
		}
	}
	byDefault := &Problem{Labels: LabelRules{Aliases: KubernetesAliases(), WellKnown: KubernetesLabels()}}
	if problemDigest(byDefault) != problemDigest(&Problem{}) {
		t.Error("spelling out the default label rules changes the digest")
	}
}

// Sums of many similar elements must not cancel out: names that differ in one digit are the usual case.
func TestDigestOfManySimilarPods(t *testing.T) {
	seen := map[hash128]int{}
	var h podHasher
	for i := range 200_000 {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprint("pod-", i)}}
		sum := h.pod(&p)
		if j, ok := seen[sum]; ok {
			t.Fatalf("pods %d and %d have the same hash", i, j)
		}
		seen[sum] = i
	}
	var ones [128]int
	for sum := range seen {
		for b := range 64 {
			ones[b] += int(sum.a >> b & 1)
			ones[64+b] += int(sum.b >> b & 1)
		}
	}
	for b, n := range ones {
		if n < 98_000 || n > 102_000 { // Nine standard deviations.
			t.Errorf("bit %d is set in %d of 200,000 hashes", b, n)
		}
	}
}

func TestHashOfStrings(t *testing.T) {
	seen := map[hash128]string{}
	text := "abcdefghijklmnopqrstuvwxyz"
	for i := range len(text) {
		for j := i; j <= len(text); j++ {
			for _, s := range []string{text[i:j], text[i:j] + "\x00", "\x00" + text[i:j]} {
				h := newHash(0)
				h.str(s)
				if other, ok := seen[h]; ok && other != s {
					t.Fatalf("%q and %q have the same hash", s, other)
				}
				seen[h] = s
			}
		}
	}
}

func plainPods(n int) []*corev1.Pod {
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		shape := i % 200
		pods[i] = testPod(fmt.Sprintf("team-%d", shape%20), fmt.Sprintf("web-%d-7d4b9c6f5-%05x", shape, i), corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(100+shape*10), resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(int64(1+shape)<<26, resource.BinarySI),
		})
		pods[i].Labels["pod-template-hash"] = "7d4b9c6f5"
	}
	return pods
}

func TestDigestAllocatesLittle(t *testing.T) {
	p := &Problem{Pods: plainPods(1000)}
	if n := testing.AllocsPerRun(10, func() { problemDigest(p) }); n > 20 {
		t.Errorf("%v allocations for 1,000 pods, want a constant few", n)
	}
	rich := fullProblem().Pods[10]
	var h podHasher
	if n := testing.AllocsPerRun(10, func() { h.pod(rich) }); n > 4 {
		t.Errorf("%v allocations for a pod with every field, want those of sorting map keys only", n)
	}
}

// BenchmarkDigest compares the digest of 100,000 plain pods with copying them, and with pods that
// are in the cache because the caller has just looked at them.
func BenchmarkDigest(b *testing.B) {
	pods := plainPods(100_000)
	perPod := func(b *testing.B, n int) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/pod")
	}
	b.Run("cold", func(b *testing.B) {
		b.ReportAllocs()
		p := &Problem{Pods: pods}
		for range b.N {
			problemDigest(p)
		}
		perPod(b, len(pods))
	})
	b.Run("cached", func(b *testing.B) {
		p := &Problem{Pods: pods[:200]}
		for range b.N {
			problemDigest(p)
		}
		perPod(b, 200)
	})
	b.Run("deepcopy", func(b *testing.B) {
		var last *corev1.Pod
		for range b.N {
			for _, p := range pods {
				last = p.DeepCopy()
			}
		}
		_ = last
		perPod(b, len(pods))
	})
}
