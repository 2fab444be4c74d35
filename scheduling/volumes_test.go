package scheduling_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// places says in a line where a plan's pods are: "n1: p0 | small/a: p1 p2 | VolumeUnusable: p3".
func places(p *Plan) string {
	d := p.Document()
	short := func(pods []string) string { return strings.ReplaceAll(strings.Join(pods, " "), "ns/", "") }
	var parts []string
	nodes := map[string][]string{}
	for _, x := range d.Placements {
		nodes[x.Node] = append(nodes[x.Node], x.Pod)
	}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		parts = append(parts, name+": "+short(nodes[name]))
	}
	for _, l := range d.Launches {
		parts = append(parts, l.InstanceType+"/"+l.Zone+": "+short(l.Pods))
	}
	codes := map[string][]string{}
	for _, u := range d.Unplaced {
		codes[string(u.Reason.Code)] = append(codes[string(u.Reason.Code)], u.Pod)
	}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		parts = append(parts, code+": "+short(codes[code]))
	}
	return strings.Join(parts, " | ")
}

// inZone binds a pod to a zone by its node selector.
func inZone(zone string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{zoneKey: zone} }
}

// zonesByPrice makes zone a the cheapest and c the dearest, and large nodes three times as dear as small ones.
func zonesByPrice(s *stage) {
	for k, typ := range s.Problem.Pools[0].InstanceTypes {
		for i, price := range []int64{100, 110, 120} {
			typ.Offerings[i].Price = PriceFromNano(price * int64(2*k+1) * 1_000_000)
		}
	}
}

// volumeCase is a problem with volumes and where its pods go.
type volumeCase struct {
	name, reason string
	pods         []*corev1.Pod
	edit         func(s *stage)
	// want is as places says it; text is part of the first message.
	want, text string
}

func TestVolumesDecideWherePodsGo(t *testing.T) {
	within := func(zones ...string) func(*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
		var terms [][2]string
		for _, z := range zones {
			terms = append(terms, [2]string{zoneKey, z})
		}
		return within(terms...)
	}
	store := func(e func(s *Storage)) func(*stage) {
		return func(s *stage) { s.Problem.Nodes = nil; e(&s.Problem.Storage) }
	}
	fast := "fast"
	one := actors(1, claiming("c"))
	for _, tc := range []volumeCase{
		{"nothing known", "without any storage object a claim is no condition", one, nil, "n1: p0", ""},
		{"zonal", "the volume is in one zone, and no other node can mount it", one, store(func(s *Storage) { disk(s, "c", within("c")) }), "small/c: p0", ""},
		{"zonal, existing node", "the node in that zone has room", one, func(s *stage) { disk(&s.Problem.Storage, "c", within("b")) }, "n2: p0", ""},
		{"zonal, no node there", "the existing nodes are elsewhere", one, func(s *stage) { disk(&s.Problem.Storage, "c", within("c")) }, "small/c: p0", ""},
		{"alternatives", "each term will do, and b is cheaper than c", one, store(func(s *Storage) { disk(s, "c", within("c", "b")) }), "small/b: p0", ""},
		{"zone of no node", "nothing is sold there", one, store(func(s *Storage) { disk(s, "c", within("f")) }), "VolumeUnusable: p0",
			"its volumes can be mounted only where topology.kubernetes.io/zone [f]; the nearest, large of pool main in a, has a"},
		{"volume against selector", "the pod wants one zone and its volume is in another", actors(1, claiming("c"), inZone("b")),
			store(func(s *Storage) { disk(s, "c", within("c")) }), "VolumeUnusable: p0", "its volumes can be mounted only where topology.kubernetes.io/zone [c]"},
		{"volumes in two zones", "no node is in both", actors(1, claiming("c", "d")), store(func(s *Storage) {
			disk(s, "c", within("a"))
			disk(s, "d", within("b"))
		}), "VolumeUnusable: p0", "claims ns/c and ns/d are in different zones ([a] and [b]); move one of the volumes"},
		{"volumes with a zone in common", "both are reached there", actors(1, claiming("c", "d")), store(func(s *Storage) {
			disk(s, "c", within("a", "c"))
			disk(s, "d", within("b", "c"))
		}), "small/c: p0", ""},
		{"label of a driver", "EBS names the zone by a key of its own, which new nodes have once the driver runs", one, store(func(s *Storage) {
			disk(s, "c", func(_ *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) {
				pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "topology.ebs.csi.aws.com/zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"b"}}}}}}}
			})
		}), "small/b: p0", ""},

		{"waits for the pod", "the volume will be made where the pod lands", one, store(func(s *Storage) { class(s, fast); unborn(s, "c", &fast) }), "small/a: p0", ""},
		{"allowed topologies", "but only in these zones", one, store(func(s *Storage) { class(s, fast, "c", "b"); unborn(s, "c", &fast) }), "small/b: p0", ""},
		{"allowed nowhere", "no node is in that zone", one, store(func(s *Storage) { class(s, fast, "f"); unborn(s, "c", &fast) }), "VolumeUnusable: p0", "zone [f]"},
		{"default class", "a claim without one", one, store(func(s *Storage) {
			class(s, fast, "c").Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
			unborn(s, "c", nil)
		}), "small/c: p0", ""},
		{"immediate", "such a claim is bound without the pod, so it has to be before", one, store(func(s *Storage) {
			mode := storagev1.VolumeBindingImmediate
			class(s, fast).VolumeBindingMode = &mode
			unborn(s, "c", &fast)
		}), "VolumeUnusable: p0", "claim ns/c is not bound, and its storage class fast does not wait for pods; wait until it is bound, or use volumeBindingMode WaitForFirstConsumer"},
		{"missing claim", "nothing to mount", one, store(func(s *Storage) { disk(s, "other") }), "VolumeUnusable: p0", "claim ns/c is missing; create it"},
		{"claim not seen", "a caller who says that he does not see all is believed", one, store(func(s *Storage) { disk(s, "other"); s.Incomplete = true }), "small/a: p0", ""},
		{"lost claim", "its volume is gone", one, store(func(s *Storage) {
			disk(s, "c", func(c *corev1.PersistentVolumeClaim, _ *corev1.PersistentVolume) { c.Status.Phase = corev1.ClaimLost })
		}), "VolumeUnusable: p0", "claim ns/c has lost its volume"},
		{"ephemeral", "the class of its template decides", actors(1, scratch(&fast)), store(func(s *Storage) { class(s, fast, "c") }), "small/c: p0", ""},
		{"ephemeral, no class", "the class is missing", actors(1, scratch(&fast)), store(func(s *Storage) { class(s, "slow") }), "VolumeUnusable: p0",
			"claim ns/p0-tmp names storage class fast, which is missing; create the class"},
		{"one of many", "only the pod with the claim is refused", append(actors(3), actor("p3", claiming("c"))), store(func(s *Storage) { disk(s, "other") }),
			"small/a: p0 p1 p2 | VolumeUnusable: p3", ""},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t) })
	}
}

func (tc *volumeCase) run(t *testing.T) {
	s := newStage(tc.pods)
	zonesByPrice(s)
	if tc.edit != nil {
		tc.edit(s)
	}
	plan, err := Solve(t.Context(), s.Problem, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(s.Problem, plan); err != nil {
		t.Error(err)
	}
	if got := places(plan); got != tc.want {
		t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
	}
	left := plan.Document().Unplaced
	if len(left) > 0 && !strings.Contains(left[0].Reason.Message, tc.text) {
		t.Errorf("left over: %q, want a message that says %q", left[0].Reason.Message, tc.text)
	}
	if len(left) == 0 && tc.text != "" {
		t.Errorf("no pod is left over, want %q", tc.text)
	}
}

// Nodes have attached so many volumes as they may, and no more.
func TestAttachLimitsDecideWherePodsGo(t *testing.T) {
	names := []string{"c0", "c1", "c2", "c3", "c4", "c5"}
	var each []*corev1.Pod // each pod has a volume of its own
	for i, name := range names {
		each = append(each, actor("p"+string(rune('0'+i)), claiming(name)))
	}
	disks := func(s *stage, names ...string) {
		for _, name := range names {
			disk(&s.Problem.Storage, name)
		}
	}
	limit := func(s *stage, n string) {
		for _, typ := range s.Problem.Pools[0].InstanceTypes {
			typ.Capacity[AttachLimit("d")] = resource.MustParse(n)
		}
	}
	for _, tc := range []volumeCase{
		{"no limit known", "one node holds all", each, func(s *stage) { s.Problem.Nodes = nil; disks(s, names...) }, "small/a: p0 p1 p2 p3 p4 p5", ""},
		{"new nodes", "two to a node", each, func(s *stage) { s.Problem.Nodes = nil; disks(s, names...); limit(s, "2") },
			"small/a: p0 p1 | small/a: p2 p3 | small/a: p4 p5", ""},
		{"larger type", "a type that may have all is cheaper than six that may have one", each, func(s *stage) {
			s.Problem.Nodes = nil
			disks(s, names...)
			limit(s, "1")
			s.Problem.Pools[0].InstanceTypes[1].Capacity[AttachLimit("d")] = resource.MustParse("6")
		}, "large/a: p0 p1 p2 p3 p4 p5", ""},
		{"existing nodes", "their CSINodes say how many", each, func(s *stage) {
			disks(s, names...)
			csi(s, "n1", "d", 4)
			csi(s, "n2", "d", 2)
		}, "n1: p0 p1 p2 p3 | n2: p4 p5", ""},
		{"taken already", "volumes of running pods count", each[:2], func(s *stage) {
			s.Problem.Nodes = s.Problem.Nodes[:1]
			disks(s, names...)
			csi(s, "n1", "d", 2)
			running(s, 0, actor("old", claiming("c5")))
		}, "n1: p0 | small/a: p1", ""},
		{"shared", "pods with the same claim attach it once", actors(6, claiming("c")), func(s *stage) {
			s.Problem.Nodes = nil
			disks(s, "c")
			limit(s, "1")
		}, "small/a: p0 p1 p2 p3 p4 p5", ""},
		{"shared with a running pod", "it is attached there already", actors(3, claiming("c")), func(s *stage) {
			s.Problem.Nodes = s.Problem.Nodes[:1]
			disks(s, "c")
			csi(s, "n1", "d", 1)
			running(s, 0, actor("old", claiming("c")))
		}, "n1: p0 p1 p2", ""},
		{"too many for one node", "no type may have so many", actors(1, claiming(names[:3]...)), func(s *stage) {
			s.Problem.Nodes = nil
			disks(s, names...)
			limit(s, "2")
		}, "AttachLimit: p0", "needs 3 volumes of d attached to its node, DaemonSets' included; the most that any may have is 2, on large of pool main"},
		{"too many shared ones", "no type may have so many, however many pods share them", actors(2, claiming(names[:3]...)), func(s *stage) {
			s.Problem.Nodes = nil
			disks(s, names...)
			limit(s, "2")
		}, "AttachLimit: p0 p1", "needs 3 volumes of d attached"},
		{"only existing nodes", "no pool, and the node may not have so many", actors(1, claiming(names[:3]...)), func(s *stage) {
			s.Problem.Pools = nil
			disks(s, names...)
			csi(s, "n1", "d", 2)
			csi(s, "n2", "d", 1)
		}, "NoPool: p0", "there is no pool"},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t) })
	}
}
