package scheduling

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// claiming returns a pod that mounts the claims.
func claiming(name string, claims ...string) *corev1.Pod {
	p := testPod("shop", name, list("cpu", "1"))
	for _, claim := range claims {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}})
	}
	return p
}

// storageProblem has claims a to f that wait for their first consumer, in zones a and b, a type that can attach two
// volumes, one that does not say, and a node that can attach five.
func storageProblem() *Problem {
	types := zoneTypes()
	types[0].Capacity[AttachLimit(driverEBS)] = resource.MustParse("2")
	p := &Problem{Pools: []Pool{{Name: "p", InstanceTypes: types}}}
	p.Storage.Classes = []*storagev1.StorageClass{{ObjectMeta: metav1.ObjectMeta{Name: "gp3"}, Provisioner: driverEBS,
		VolumeBindingMode: ptr(storagev1.VolumeBindingWaitForFirstConsumer),
		AllowedTopologies: []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
			{Key: corev1.LabelTopologyZone, Values: []string{"us-east-1a", "us-east-1b"}}}}}}}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		p.Storage.Claims = append(p.Storage.Claims, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
			Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: ptr("gp3")}})
	}
	p.Storage.CSINodes = []*storagev1.CSINode{{ObjectMeta: metav1.ObjectMeta{Name: "old"}, Spec: storagev1.CSINodeSpec{
		Drivers: []storagev1.CSINodeDriver{{Name: driverEBS, Allocatable: &storagev1.VolumeNodeResources{Count: ptr(int32(5))}}}}}}
	p.Nodes = []Node{{Name: "old", Allocatable: list("cpu", "8"), Labels: map[string]string{corev1.LabelTopologyZone: "us-east-1a"}}, {Name: "unknown", Allocatable: list("cpu", "8")}}
	return p
}

func TestVolumesBecomeResources(t *testing.T) {
	p := storageProblem()
	p.Pods = []*corev1.Pod{claiming("own-1", "a", "b"), claiming("own-2", "c", "d"), claiming("two-1", "e"), claiming("two-2", "e"), claiming("non-1")}
	c := compiled(t, p, nil)
	dim := slices.Index(c.dims, AttachLimit(driverEBS))
	if dim < 0 {
		t.Fatalf("resources are %v", c.dims)
	}
	want := map[string]string{"own-1": "[own-1 own-2] 2 0", "two-1": "[two-1 two-2] 0 1", "non-1": "[non-1] 0 0"}
	for i := range c.classes {
		cl, m := &c.classes[i], &c.model.Classes[i]
		names := podNames(c, cl)
		if got := fmt.Sprintf("%v %d %d", names, c.model.Shapes[m.Shape].Req[dim], len(m.Volumes)); got != want[names[0]] {
			t.Errorf("class %s, want %s", got, want[names[0]])
		}
		for _, v := range m.Volumes {
			if int(v.Dim) != dim || v.ID != 0 {
				t.Errorf("%v: volume %+v", names, v)
			}
		}
		// Zone c is allowed without volumes only.
		for r := range c.rows {
			for bit, o := range c.rows[r].offerings {
				allowed := m.Shape >= 0 && c.model.Shapes[m.Shape].Variants[0].Mask[r]>>bit&1 != 0
				if zone := c.rows[r].t.Offerings[o].Zone; allowed != (zone != "us-east-1c" || names[0] == "non-1") {
					t.Errorf("%v in %s: %v", names, zone, allowed)
				}
			}
		}
	}
	for r := range c.rows {
		if got, want := c.space.AllocOf(r)[dim], map[string]int64{"small": 2, "large": pack.Unlimited}[c.rows[r].t.Name]; got != want {
			t.Errorf("%s can attach %d, want %d", c.rows[r].t.Name, got, want)
		}
	}
}

func TestVolumesOnExistingNodes(t *testing.T) {
	p := storageProblem()
	p.Pods = []*corev1.Pod{claiming("new-1", "a"), claiming("new-2", "e")}
	gone := claiming("old-3", "c")
	gone.DeletionTimestamp = &metav1.Time{}
	done := claiming("old-4", "d")
	done.Status.Phase = corev1.PodSucceeded
	p.Nodes[0].Pods = []*corev1.Pod{claiming("old-1", "b", "e"), claiming("old-2", "e"), gone, done}
	c := compiled(t, p, nil)
	dim := slices.Index(c.dims, AttachLimit(driverEBS))
	if got := c.space.Nodes[0].Free[dim]; got != 2 {
		t.Errorf("%d more can be attached, want 5 less b, c (until it is gone) and e once", got)
	}
	if got := c.space.Nodes[1].Free[dim]; got != pack.Unlimited {
		t.Errorf("a node that does not say its limit can attach %d more", got)
	}
	shared := c.model.Classes[1].Volumes
	if shared == nil {
		shared = c.model.Classes[0].Volumes
	}
	content, n := c.space.Nodes[0].Content, int32(0)
	for _, x := range content {
		if slices.Equal(c.model.Classes[x.Class].Volumes, shared) {
			n += x.Count
		}
	}
	if len(shared) != 1 || n != 2 {
		t.Errorf("the node's pods %+v hold %v, want two with %v", content, c.model.Classes[2:], shared)
	}
	if c.space.Nodes[0].Free[0] != 5000 {
		t.Errorf("free cpu is %d", c.space.Nodes[0].Free[0])
	}
}

// A zone that a pod's volume rules out is no domain of its spread, as long as no node is there: kube-scheduler knows
// only nodes that exist. Which nodes count does not depend on volumes.
func TestVolumesNarrowDomains(t *testing.T) {
	p := storageProblem()
	p.Pods = []*corev1.Pod{claiming("own-1", "a")}
	p.Pods[0].Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{zoneSpread()}
	c := compiled(t, p, nil)
	if g := c.model.Groups[0]; !slices.Contains(g.Eligible, false) || !slices.Contains(g.Eligible, true) || g.Rows != nil || g.Old != nil {
		t.Errorf("group %+v", g)
	}
}

func TestUnusableClaimsRefuseTheirPods(t *testing.T) {
	p := storageProblem()
	p.Pods = []*corev1.Pod{claiming("own-1", "nowhere")}
	c := compiled(t, p, nil)
	if r := c.classes[0].refused; r == nil || r.Code != CodeVolume || r.Detail == "" {
		t.Errorf("reason %+v", r)
	}
}

// Limits of drivers that no pod uses cost nothing.
func TestNoVolumesNoResource(t *testing.T) {
	p := storageProblem()
	p.Pods = []*corev1.Pod{claiming("non-1")}
	if c := compiled(t, p, nil); len(c.dims) != usualDims {
		t.Errorf("resources are %v", c.dims)
	}
}

// Running pods that may have to move are of the class of pods like them.
func TestMovablePodsShareClasses(t *testing.T) {
	pod := func(name string) *corev1.Pod {
		p := testPod("shop", name, list("cpu", "1"))
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{zoneSpread()}
		return p
	}
	c := newCompiler(&Problem{Pods: []*corev1.Pod{pod("web-1")}, Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}},
		Nodes: []Node{{Name: "n", Allocatable: list("cpu", "8"), Pods: []*corev1.Pod{pod("web-2")}}}}, &Options{})
	c.movable = true
	if err := c.compile(); err != nil {
		t.Fatal(err)
	}
	if len(c.classes) != 1 || len(c.space.Nodes[0].Content) != 1 || c.space.Nodes[0].Content[0].Class != 0 {
		t.Errorf("%d classes, content %v", len(c.classes), c.space.Nodes[0].Content)
	}
}
