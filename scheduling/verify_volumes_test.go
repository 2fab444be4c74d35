package scheduling_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// claiming mounts claims by name.
func claiming(names ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		for _, name := range names {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
		}
	}
}

// scratch has a generic ephemeral volume of a class; nil is the default one.
func scratch(class *string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "tmp", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
			VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: class}}}}})
	}
}

// disk adds a claim and its volume, which some driver attaches.
func disk(s *Storage, name string, edits ...func(*corev1.PersistentVolumeClaim, *corev1.PersistentVolume)) {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	c.Spec.VolumeName, c.Status.Phase = "pv-"+name, corev1.ClaimBound
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name}}
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: name}
	for _, e := range edits {
		e(c, pv)
	}
	s.Claims, s.Volumes = append(s.Claims, c), append(s.Volumes, pv)
}

// within ties a volume to nodes: each argument is a term, key=value.
func within(terms ...[2]string) func(*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
	return func(_ *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) {
		required := &corev1.NodeSelector{}
		for _, t := range terms {
			required.NodeSelectorTerms = append(required.NodeSelectorTerms, corev1.NodeSelectorTerm{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: t[0], Operator: corev1.NodeSelectorOpIn, Values: []string{t[1]}}}})
		}
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: required}
	}
}

// class adds a storage class that waits for a pod and allows the zones named, all if none is.
func class(s *Storage, name string, zones ...string) *storagev1.StorageClass {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "d", VolumeBindingMode: &mode}
	for _, z := range zones {
		c.AllowedTopologies = append(c.AllowedTopologies, corev1.TopologySelectorTerm{
			MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: zoneKey, Values: []string{z}}}})
	}
	s.Classes = append(s.Classes, c)
	return c
}

// unborn adds a claim that has no volume yet.
func unborn(s *Storage, name string, class *string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	c.Spec.StorageClassName = class
	s.Claims = append(s.Claims, c)
	return c
}

// csi says how many volumes of a driver an existing node may have attached.
func csi(s *stage, node, driver string, count int32) {
	s.Problem.Storage.CSINodes = append(s.Problem.Storage.CSINodes, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node},
		Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: driver, Allocatable: &storagev1.VolumeNodeResources{Count: &count}}}}})
}

func TestVerifyVolumes(t *testing.T) {
	type edit = func(*stage)
	store := func(e func(s *Storage)) edit { return func(s *stage) { e(&s.Problem.Storage) } }
	one := func(where string) *stage { return newStage(actors(1, claiming("c")), where) }
	local := func(_ *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) {
		pv.Spec.CSI, pv.Spec.Local = nil, &corev1.LocalVolumeSource{Path: "/x"}
	}
	zoneA := within([2]string{zoneKey, "a"})
	fast := "fast"
	immediate := storagev1.VolumeBindingImmediate
	runStages(t, []stageCase{
		{"unknown", "nothing is known of any volume", one("n1"), nil, ""},
		{"missing", "the claim has to exist", one("n1"), store(func(s *Storage) { disk(s, "other") }), "volumes"},
		{"not seen", "if all have been seen", one("n1"), store(func(s *Storage) { disk(s, "other"); s.Incomplete = true }), ""},
		{"other namespace", "in the pod's namespace", one("n1"), store(func(s *Storage) {
			disk(s, "c", func(c *corev1.PersistentVolumeClaim, _ *corev1.PersistentVolume) { c.Namespace = "other" })
		}), "volumes"},
		{"going", "and must not be on its way out", one("n1"), store(func(s *Storage) {
			disk(s, "c", func(c *corev1.PersistentVolumeClaim, _ *corev1.PersistentVolume) {
				c.DeletionTimestamp = &metav1.Time{}
			})
		}), "volumes"},
		{"lost", "nor have lost its volume", one("n1"), store(func(s *Storage) {
			disk(s, "c", func(c *corev1.PersistentVolumeClaim, _ *corev1.PersistentVolume) { c.Status.Phase = corev1.ClaimLost })
		}), "volumes"},
		{"no volume", "its volume has to exist", one("n1"), store(func(s *Storage) { disk(s, "c"); s.Volumes = nil }), "volumes"},
		{"volume not seen", "if all have been seen", one("n1"), store(func(s *Storage) { disk(s, "c"); s.Volumes = nil; s.Incomplete = true }), ""},
		{"anywhere", "a volume of any node", one("n1"), store(func(s *Storage) { disk(s, "c") }), ""},
		{"here", "the volume is in the node's zone", one("n1"), store(func(s *Storage) { disk(s, "c", zoneA) }), ""},
		{"there", "it is not", one("n2"), store(func(s *Storage) { disk(s, "c", zoneA) }), "volumes"},
		{"old key", "an old key is the new one", one("n2"), store(func(s *Storage) { disk(s, "c", within([2]string{corev1.LabelFailureDomainBetaZone, "a"})) }), "volumes"},
		{"launched there", "nor in the launch's", one("1:small/b"), store(func(s *Storage) { disk(s, "c", zoneA) }), "volumes"},
		{"fallback", "nor in that of one alternative", one("1:small/a,small/b"), store(func(s *Storage) { disk(s, "c", zoneA) }), "volumes"},
		{"terms", "terms are alternatives", one("1:small/a,small/b"), store(func(s *Storage) {
			disk(s, "c", within([2]string{zoneKey, "a"}, [2]string{zoneKey, "b"}))
		}), ""},
		{"nowhere", "no term, no node", one("n1"), store(func(s *Storage) { disk(s, "c", within()) }), "volumes"},
		{"host", "an attached disk of one host", one("n2"), store(func(s *Storage) { disk(s, "c", within([2]string{hostKey, "n1"})) }), "volumes"},
		{"local", "a disk inside it is another one on another host", one("n2"), store(func(s *Storage) { disk(s, "c", local, within([2]string{hostKey, "n1"})) }), ""},
		{"local zone", "but in the same zone", one("n2"), store(func(s *Storage) { disk(s, "c", local, zoneA) }), "volumes"},
		{"any region", "the volume settles what nobody knows", one("1:small/a"), store(func(s *Storage) {
			disk(s, "c", within([2]string{corev1.LabelTopologyRegion, "x"}))
		}), ""},
		{"two regions", "but only once", newStage(actors(1, claiming("c", "e")), "1:small/a"), store(func(s *Storage) {
			disk(s, "c", within([2]string{corev1.LabelTopologyRegion, "x"}))
			disk(s, "e", within([2]string{corev1.LabelTopologyRegion, "y"}))
		}), "labels"},
		{"made here", "made where the pod lands, anywhere", one("n2"), store(func(s *Storage) { class(s, fast); unborn(s, "c", &fast) }), ""},
		{"allowed", "in the zones that the class allows", one("n1"), store(func(s *Storage) { class(s, fast, "a", "c"); unborn(s, "c", &fast) }), ""},
		{"not allowed", "and no other", one("n2"), store(func(s *Storage) { class(s, fast, "a", "c"); unborn(s, "c", &fast) }), "volumes"},
		{"immediate", "a claim that should have a volume by now", one("n1"), store(func(s *Storage) {
			class(s, fast).VolumeBindingMode = &immediate
			unborn(s, "c", &fast)
		}), "volumes"},
		{"mode not said", "immediate is what a class means that does not say", one("n1"), store(func(s *Storage) {
			class(s, fast).VolumeBindingMode = nil
			unborn(s, "c", &fast)
		}), "volumes"},
		{"immediate and bound", "once it has one it may be used", one("n1"), store(func(s *Storage) {
			class(s, fast).VolumeBindingMode = &immediate
			disk(s, "c", func(c *corev1.PersistentVolumeClaim, _ *corev1.PersistentVolume) { c.Spec.StorageClassName = &fast })
		}), ""},
		{"no such class", "the class has to exist", one("n1"), store(func(s *Storage) { unborn(s, "c", &fast) }), "volumes"},
		{"class not seen", "if all have been seen", one("n1"), store(func(s *Storage) { unborn(s, "c", &fast); s.Incomplete = true }), ""},
		{"no class", "nobody makes a volume without a class", one("n1"), store(func(s *Storage) { class(s, fast); unborn(s, "c", ptr("")) }), "volumes"},
		{"surely no class", "whatever else there may be", one("n1"), store(func(s *Storage) { unborn(s, "c", ptr("")); s.Incomplete = true }), "volumes"},
		{"no class of old", "nor by the old annotation", one("n1"), store(func(s *Storage) {
			class(s, fast)
			unborn(s, "c", &fast).Annotations = map[string]string{corev1.BetaStorageClassAnnotation: "gone"}
		}), "volumes"},
		{"scratch", "a volume for the pod alone", newStage(actors(1, scratch(&fast)), "n2"), store(func(s *Storage) { class(s, fast, "b") }), ""},
		{"scratch elsewhere", "within what its class allows", newStage(actors(1, scratch(&fast)), "n1"), store(func(s *Storage) { class(s, fast, "b") }), "volumes"},
		{"scratch made", "once made it is where it is", newStage(actors(1, scratch(&fast)), "n2"), store(func(s *Storage) {
			class(s, fast, "b")
			disk(s, "p0-tmp", zoneA)
		}), "volumes"},
		{"no default", "no class named, and no default", newStage(actors(1, scratch(nil)), "n1"), store(func(s *Storage) { class(s, fast) }), "volumes"},
		{"default", "the newest default is taken", newStage(actors(1, scratch(nil)), "n1"), store(func(s *Storage) {
			for i, c := range []*storagev1.StorageClass{class(s, "a-older", "b"), class(s, "m-new", "a"), class(s, "z-old", "b")} {
				c.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
				c.CreationTimestamp = metav1.NewTime(time.Unix(int64([]int{1, 9, 5}[i]), 0))
			}
		}), ""},
	})
}

func TestVerifyAttachLimits(t *testing.T) {
	// limited: n1 and type small may have two volumes of driver d attached.
	limited := func(edits ...func(*stage)) func(*stage) {
		return func(s *stage) {
			csi(s, "n1", "d", 2)
			s.Problem.Pools[0].InstanceTypes[0].Capacity[AttachLimit("d")] = resource.MustParse("2")
			for _, name := range []string{"c0", "c1", "c2"} {
				disk(&s.Problem.Storage, name)
			}
			for _, e := range edits {
				e(s)
			}
		}
	}
	each := func(places ...string) *stage {
		pods := actors(len(places))
		for i, p := range pods {
			claiming(fmt.Sprintf("c%d", i))(p)
		}
		return newStage(pods, places...)
	}
	inTree := func(driver string, set func(*corev1.PersistentVolumeSource)) func(*stage) {
		return func(s *stage) {
			csi(s, "n1", driver, 1)
			for _, name := range []string{"c0", "c1"} {
				disk(&s.Problem.Storage, name, func(_ *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) {
					pv.Spec.CSI = nil
					set(&pv.Spec.PersistentVolumeSource)
				})
			}
		}
	}
	wait := func(provisioner string) func(*stage) {
		return func(s *stage) {
			csi(s, "n1", "ebs.csi.aws.com", 1)
			class(&s.Problem.Storage, "fast").Provisioner = provisioner
			unborn(&s.Problem.Storage, "c0", ptr("fast"))
			unborn(&s.Problem.Storage, "c1", ptr("fast"))
		}
	}
	runStages(t, []stageCase{
		{"as many as it may", "two of two", each("n1", "n1"), limited(), ""},
		{"one more", "three of two", each("n1", "n1", "n1"), limited(), "attach"},
		{"shared", "a volume counts once a node", newStage(actors(5, claiming("c0", "c1")), "n1", "n1", "n1", "n1", "n1"), limited(), ""},
		{"running", "what runs there has volumes too", each("n1", "n1"), limited(func(s *stage) { running(s, 0, actor("old", claiming("c2"))) }), "attach"},
		{"leaving", "also while it leaves", each("n1", "n1"), limited(func(s *stage) {
			running(s, 0, actor("old", claiming("c2"), func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }))
		}), "attach"},
		{"full before", "what was too much before is not charged", newStage(actors(1, claiming("c0")), "n1"), limited(func(s *stage) {
			running(s, 0, actor("old", claiming("c0", "c1", "c2")))
		}), ""},
		{"another driver", "of its own driver", each("n1", "n1", "n1"), limited(func(s *stage) { s.Problem.Storage.Volumes[2].Spec.CSI.Driver = "e" }), ""},
		{"no limit", "a node that says nothing has none", each("n2", "n2", "n2"), limited(), ""},
		{"new node", "types have limits as well", each("1:small/a", "1:small/a", "1:small/a"), limited(), "attach"},
		{"two new nodes", "each node its own", each("1:small/a", "1:small/a", "2:small/a"), limited(), ""},
		{"other type", "a type that says nothing has none", each("1:large/a", "1:large/a", "1:large/a"), limited(), ""},
		{"alternatives", "every alternative has to do", each("1:small/a,large/a", "1:small/a", "1:small/a"), limited(), "attach"},
		{"ebs", "in-tree volumes count for the driver that took over", each("n1", "n1"), inTree("ebs.csi.aws.com", func(s *corev1.PersistentVolumeSource) {
			s.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{}
		}), "attach"},
		{"gce", "likewise", each("n1", "n1"), inTree("pd.csi.storage.gke.io", func(s *corev1.PersistentVolumeSource) {
			s.GCEPersistentDisk = &corev1.GCEPersistentDiskVolumeSource{}
		}), "attach"},
		{"azure", "likewise", each("n1", "n1"), inTree("disk.csi.azure.com", func(s *corev1.PersistentVolumeSource) {
			s.AzureDisk = &corev1.AzureDiskVolumeSource{}
		}), "attach"},
		{"nfs", "others are not attached", each("n1", "n1"), inTree("ebs.csi.aws.com", func(s *corev1.PersistentVolumeSource) {
			s.NFS = &corev1.NFSVolumeSource{}
		}), ""},
		{"not made yet", "volumes to be made count by their class", each("n1", "n1"), wait("ebs.csi.aws.com"), "attach"},
		{"not made yet, of old", "also by an old name", each("n1", "n1"), wait("kubernetes.io/aws-ebs"), "attach"},
		{"scratch", "each pod has its own", newStage(actors(2, scratch(ptr("fast"))), "n1", "n1"), wait("ebs.csi.aws.com"), "attach"},
	})
}
