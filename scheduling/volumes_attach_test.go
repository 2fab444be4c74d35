package scheduling

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// attachText prints what is attached: "driver:2 shared(id)".
func attachText(private []driverCount, shared []sharedVolume) string {
	var out []string
	for _, d := range private {
		out = append(out, fmt.Sprintf("%s:%d", d.driver, d.n))
	}
	for _, s := range shared {
		out = append(out, fmt.Sprintf("%s(%s)", s.driver, s.id))
	}
	return strings.Join(out, " ")
}

func testCSINode(name string, limits map[string]int32) *storagev1.CSINode {
	n := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for driver, count := range limits {
		d := storagev1.CSINodeDriver{Name: driver}
		if count >= 0 {
			d.Allocatable = &storagev1.VolumeNodeResources{Count: &count}
		}
		n.Spec.Drivers = append(n.Spec.Drivers, d)
	}
	return n
}

func withSource(name string, source corev1.PersistentVolumeSource) *corev1.PersistentVolume {
	o := testVolume(name)
	o.Spec.PersistentVolumeSource = source
	return o
}

func TestVolumesAttached(t *testing.T) {
	old := testClass("old")
	old.Provisioner = "kubernetes.io/aws-ebs"
	nothing := testClass("nothing")
	nothing.Provisioner = "kubernetes.io/cephfs"
	objects := []any{
		testClass("gp3"), old, nothing,
		testClaim("a", "gp3", ""), testClaim("b", "gp3", ""), testClaim("c", "", "vol-c"), testVolume("vol-c"),
		testClaim("in-tree", "", "ebs"), withSource("ebs", corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://us-east-1a/vol-1"}}),
		testClaim("in-tree-too", "", "ebs2"), withSource("ebs2", corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driverEBS, VolumeHandle: "vol-1"}}),
		testClaim("gce", "", "gce"), withSource("gce", corev1.PersistentVolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "d"}}),
		testClaim("azure", "", "azure"), withSource("azure", corev1.PersistentVolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{DiskName: "d"}}),
		testClaim("nfs", "", "nfs"), withSource("nfs", corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Path: "/"}}),
		testClaim("old", "old", ""), testClaim("nothing", "nothing", ""),
	}
	inline := volumePod("web")
	inline.Spec.Volumes = []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-9"}}},
		{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	done := volumePod("job", "a")
	done.Status.Phase = corev1.PodSucceeded
	for _, tc := range []struct {
		name, reason string
		pod          *corev1.Pod
		others       []*corev1.Pod
		demand       int32
		want         string
	}{
		{"none", "no volumes", volumePod("web"), nil, 0, ""},
		{"unbound", "the class says the driver", volumePod("web", "a", "b"), nil, 0, "ebs.csi.aws.com:2"},
		{"bound", "the volume says the driver", volumePod("web", "c"), nil, 0, "ebs.csi.aws.com:1"},
		{"twice in a pod", "one claim is attached once", volumePod("web", "c", "c"), nil, 0, "ebs.csi.aws.com:1"},
		{"in-tree class", "CSI drivers do its work", volumePod("web", "old"), nil, 0, "ebs.csi.aws.com:1"},
		{"in-tree volumes", "CSI drivers do their work", volumePod("web", "azure", "gce", "in-tree"), nil, 0, "disk.csi.azure.com:1 ebs.csi.aws.com:1 pd.csi.storage.gke.io:1"},
		{"one disk by two names", "a disk is attached once, whatever its claims", volumePod("web", "in-tree", "in-tree-too"), nil, 0, "ebs.csi.aws.com:1"},
		{"not attached", "NFS is mounted only", volumePod("web", "nfs", "nothing"), nil, 0, ""},
		{"ephemeral", "one for each pod", volumePod("web", "tmp:gp3"), nil, 5, "ebs.csi.aws.com:1"},
		{"inline", "a disk of the pod's own; an empty directory is none", inline, nil, 0, "ebs.csi.aws.com:1"},
		{"shared", "another pod mounts it", volumePod("web", "a", "b"), []*corev1.Pod{volumePod("other", "a")}, 0, "ebs.csi.aws.com:1 ebs.csi.aws.com(claim default/a)"},
		{"shared disk", "by way of another claim", volumePod("web", "in-tree"), []*corev1.Pod{volumePod("other", "in-tree-too")}, 0, "ebs.csi.aws.com(volume vol-1)"},
		{"finished pod", "mounts nothing any more", volumePod("web", "a"), []*corev1.Pod{done}, 0, "ebs.csi.aws.com:1"},
		{"replicas", "the pods of a demand share the claim they name", volumePod("web", "a"), nil, 2, "ebs.csi.aws.com(claim default/a)"},
		{"one of a demand", "nobody to share with", volumePod("web", "a"), nil, 1, "ebs.csi.aws.com:1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &Problem{Nodes: []Node{{Name: "n1", Pods: tc.others}}}
			addStorage(&p.Storage, objects)
			if tc.demand > 0 {
				p.Demands = []Demand{{Template: tc.pod, Count: tc.demand}}
			} else {
				p.Pods = []*corev1.Pod{tc.pod}
			}
			got := newVolumes(p).of(tc.pod)
			if text := attachText(got.private, got.shared); text != tc.want || got.fault != "" {
				t.Errorf("attached %q, want %q: %s (fault %q)", text, tc.want, tc.reason, got.fault)
			}
		})
	}
}

func TestVolumesOnNodes(t *testing.T) {
	done := volumePod("done", "d")
	done.Status.Phase = corev1.PodFailed
	leaving := volumePod("leaving", "c")
	leaving.DeletionTimestamp = &metav1.Time{}
	p := &Problem{
		Pods: []*corev1.Pod{volumePod("new", "a")},
		Nodes: []Node{
			{Name: "n1", Pods: []*corev1.Pod{volumePod("one", "a", "b"), volumePod("two", "a", "gone"), done, leaving}},
			{Name: "n2", Pods: []*corev1.Pod{volumePod("three")}},
		},
	}
	addStorage(&p.Storage, []any{testClass("gp3"), testClaim("a", "gp3", ""), testClaim("b", "gp3", ""), testClaim("c", "gp3", ""), testClaim("d", "gp3", ""),
		testCSINode("n1", map[string]int32{driverEBS: 25, "efs.csi.aws.com": -1, "a.example.com": 0}), testCSINode("n2", nil)})
	v := newVolumes(p)
	private, shared := v.attached(&p.Nodes[0])
	if got, want := attachText(private, shared), "ebs.csi.aws.com:2 ebs.csi.aws.com(claim default/a)"; got != want {
		t.Errorf("n1 has %q attached, want %q: a is shared and counts once, d is the claim of a finished pod", got, want)
	}
	if private, shared = v.attached(&p.Nodes[1]); len(private)+len(shared) > 0 {
		t.Errorf("n2 has %q attached, want nothing", attachText(private, shared))
	}
	for _, row := range []struct{ node, reason, want string }{
		{"n1", "a driver without a count has no limit, one with 0 takes no volumes", "a.example.com:0 ebs.csi.aws.com:25"},
		{"n2", "no driver has registered", ""},
		{"n3", "no CSINode, no limit", ""},
	} {
		if got := attachText(v.limits(row.node), nil); got != row.want {
			t.Errorf("limits of %s are %q, want %q: %s", row.node, got, row.want, row.reason)
		}
	}
	if got, want := v.drivers(), []string{"a.example.com", "ebs.csi.aws.com"}; !slices.Equal(got, want) {
		t.Errorf("drivers %q, want %q", got, want)
	}
	var none *volumes
	if private, shared := none.attached(&p.Nodes[0]); len(private)+len(shared)+len(none.limits("n1"))+len(none.drivers()) > 0 {
		t.Error("a problem without storage knows volumes")
	}
}

// A problem without storage costs nothing, whatever its pods; with storage, pods without volumes next to nothing.
func TestVolumesCostNothing(t *testing.T) {
	p := &Problem{Pods: []*corev1.Pod{volumePod("web"), volumePod("app", "a")}}
	if n := testing.AllocsPerRun(10, func() {
		v := newVolumes(p)
		for _, pod := range p.Pods {
			v.of(pod)
		}
	}); n > 0 {
		t.Errorf("%v allocations without storage", n)
	}
	addStorage(&p.Storage, []any{testClass("gp3")})
	v := newVolumes(p)
	if n := testing.AllocsPerRun(10, func() { v.of(p.Pods[0]) }); n > 0 {
		t.Errorf("%v allocations for a pod without volumes", n)
	}
}

func BenchmarkVolumes(b *testing.B) {
	plain, claims := &Problem{}, &Problem{}
	plain.Storage.Classes = []*storagev1.StorageClass{testClass("gp3")}
	claims.Storage.Classes = plain.Storage.Classes
	for i := range 100_000 {
		plain.Pods = append(plain.Pods, volumePod("web", "x")) // kube-api-access
		plain.Pods[i].Spec.Volumes[0].VolumeSource = corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}
		if i%10 == 0 {
			name := fmt.Sprintf("data-%d", i)
			claims.Pods = append(claims.Pods, volumePod("web", name))
			addStorage(&claims.Storage, []any{testClaim(name, "", name), testVolume(name, zone+"="+string(rune('a'+i/10%3)))})
		}
	}
	claimed := &Problem{Pods: plain.Pods}
	addStorage(&claimed.Storage, []any{testClaim("other", "", "x"), testVolume("x")})
	for _, bench := range []struct {
		name string
		p    *Problem
	}{{"100000-plain", plain}, {"100000-plain-among-claims", claimed}, {"10000-claims", claims}} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v := newVolumes(bench.p)
				if bench.p == claims {
					for _, pod := range bench.p.Pods {
						v.of(pod)
					}
				}
			}
		})
	}
}
