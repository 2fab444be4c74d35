package randproblem

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

const diskDriver, shareDriver = "ebs.csi.aws.com", "efs.csi.aws.com"

// volumes draws a pod's volumes by kind: the name of the volume says which, storage makes the claims.
func (g *draw) volumes(p *corev1.Pod) {
	kinds := some(g, "bound", "alternatives", "made", "limited", "generic", "shared")
	if len(kinds) > 2 {
		kinds = kinds[:2]
	}
	if g.chance(7) {
		kinds = append(kinds, pick(g, unusable()...))
	}
	for _, kind := range kinds {
		v := corev1.Volume{Name: kind}
		if kind == "generic" {
			v.Ephemeral = &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
				Spec: claimSpec(pick(g, "made", "limited"))}}
		} else {
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, v)
	}
}

// unusable are the kinds of claims with which no pod can run.
func unusable() []string {
	return []string{"missing", "lost", "deleted", "immediate", "gone", "volume-deleted", "unfinished", "classless", "unknown-class"}
}

func claimSpec(class string) corev1.PersistentVolumeClaimSpec {
	return corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: ptr(class),
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}}}
}

// storage makes the claims that pods name, the volumes behind them, classes, and what nodes report.
func (g *draw) storage(p *scheduling.Problem) {
	p.Storage.Classes = []*storagev1.StorageClass{
		class("made", storagev1.VolumeBindingWaitForFirstConsumer),
		class("limited", storagev1.VolumeBindingWaitForFirstConsumer, some(g, zones()...)...),
		class("immediate", storagev1.VolumeBindingImmediate)}
	for _, pod := range p.Pods {
		g.claims(&p.Storage, pod, false)
	}
	for i := range p.Demands {
		pod := p.Demands[i].Template // its pods share what it names
		pod.Spec.Volumes = slices.DeleteFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name != "generic" && v.Name != "shared" })
		g.claims(&p.Storage, pod, false)
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		for _, pod := range n.Pods {
			g.claims(&p.Storage, pod, true)
		}
		if g.chance(60) {
			d := storagev1.CSINodeDriver{Name: diskDriver, NodeID: n.Name}
			if g.chance(90) {
				d.Allocatable = &storagev1.VolumeNodeResources{Count: ptr(int32(pick(g, 0, 1, 2, 3, 26)))}
			}
			p.Storage.CSINodes = append(p.Storage.CSINodes, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: n.Name},
				Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{d, {Name: shareDriver, NodeID: n.Name}}}})
		}
	}
}

func class(name string, mode storagev1.VolumeBindingMode, where ...string) *storagev1.StorageClass {
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: diskDriver, VolumeBindingMode: &mode}
	if len(where) > 0 {
		c.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
			{Key: corev1.LabelTopologyZone, Values: where}}}}
	}
	return c
}

// claims makes the claims of one pod. Those of a running pod are bound.
func (g *draw) claims(s *scheduling.Storage, pod *corev1.Pod, running bool) {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		kind := v.Name
		if running && (kind == "made" || kind == "limited" || slices.Contains(unusable(), kind)) {
			kind = "bound"
		}
		switch {
		case v.Ephemeral != nil:
			if running {
				c := g.bind(s, pod.Namespace, pod.Name+"-"+v.Name, *v.Ephemeral.VolumeClaimTemplate.Spec.StorageClassName, diskDriver)
				c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: ptr(true)}}
			}
			continue
		case kind == "shared":
			v.PersistentVolumeClaim.ClaimName = pick(g, "shared-0", "shared-1")
		default:
			v.PersistentVolumeClaim.ClaimName = kind + "-of-" + pod.Name
		}
		g.claim(s, pod.Namespace, v.PersistentVolumeClaim.ClaimName, kind)
	}
}

// claim makes one claim of a kind, unless it is there.
func (g *draw) claim(s *scheduling.Storage, space, name, kind string) {
	if slices.ContainsFunc(s.Claims, func(c *corev1.PersistentVolumeClaim) bool { return c.Namespace == space && c.Name == name }) {
		return
	}
	loose := func(class string) *corev1.PersistentVolumeClaim {
		c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}, Spec: claimSpec(class)}
		c.Status.Phase = corev1.ClaimPending
		s.Claims = append(s.Claims, c)
		return c
	}
	switch kind {
	case "made", "limited", "immediate", "unknown-class":
		loose(kind)
	case "classless":
		loose("").Spec.StorageClassName = ptr("")
	case "missing":
	case "shared":
		g.bind(s, space, name, "made", pick(g, diskDriver, diskDriver, shareDriver))
	default:
		c := g.bind(s, space, name, "made", diskDriver)
		v := s.Volumes[len(s.Volumes)-1]
		switch kind {
		case "alternatives":
			terms := &v.Spec.NodeAffinity.Required.NodeSelectorTerms
			*terms = append(*terms, expr(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, pick(g, zones()...)),
				expr(zoneID, corev1.NodeSelectorOpIn, "id-"+pick(g, zones()...)))
		case "lost":
			c.Status.Phase = corev1.ClaimLost
		case "deleted":
			c.DeletionTimestamp = ptr(longAgo())
		case "gone":
			s.Volumes = s.Volumes[:len(s.Volumes)-1]
		case "volume-deleted":
			v.DeletionTimestamp = ptr(longAgo())
		case "unfinished":
			c.Annotations, c.Status.Phase = nil, corev1.ClaimPending
		}
	}
}

// bind makes a claim with a volume in one zone, or in none if the driver serves all.
func (g *draw) bind(s *scheduling.Storage, space, name, class, driver string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name,
		Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}}, Spec: claimSpec(class)}
	c.Spec.VolumeName = strings.Join([]string{"pv", space, name}, "-")
	c.Status.Phase = corev1.ClaimBound
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: c.Spec.VolumeName}}
	v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "vol-" + space + "-" + name}
	v.Spec.StorageClassName = class
	v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: space, Name: name}
	v.Status.Phase = corev1.VolumeBound
	if driver == diskDriver {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			expr(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, some(g, zones()...)...)}}}
	}
	s.Claims, s.Volumes = append(s.Claims, c), append(s.Volumes, v)
	return c
}

// longAgo is when things were deleted.
func longAgo() metav1.Time { return metav1.Unix(1_760_000_000, 0) }
