package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// ebs is the driver of volumes and classes that name no other.
const ebs = "ebs.csi.aws.com"

// deletion is when everything that is being deleted was told to go.
var deletion = metav1.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

func deleting(f *fields) *metav1.Time {
	if !f.flag("deleting") {
		return nil
	}
	return deletion.DeepCopy()
}

func storageClass(name string, f *fields) *storagev1.StorageClass {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	if f.flag("immediate") {
		mode = storagev1.VolumeBindingImmediate
	}
	c := &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: name},
		Provisioner: f.str("provisioner", ebs), VolumeBindingMode: &mode,
	}
	if f.flag("default") {
		c.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
	}
	if s := f.str("created", ""); s != "" {
		t, err := time.Parse(time.DateOnly, s)
		if err != nil {
			f.fail("created", fmt.Sprintf("%q is not a date", s))
		}
		c.CreationTimestamp = metav1.NewTime(t)
	}
	for _, text := range split(f.str("topologies", ""), "|") {
		var t corev1.TopologySelectorTerm
		for _, r := range f.parseRequirements("topologies", text) {
			if r.Operator != corev1.NodeSelectorOpIn {
				f.fail("topologies", "a class knows no operator but In")
			}
			t.MatchLabelExpressions = append(t.MatchLabelExpressions,
				corev1.TopologySelectorLabelRequirement{Key: r.Key, Values: r.Values})
		}
		c.AllowedTopologies = append(c.AllowedTopologies, t)
	}
	return c
}

func volume(name string, f *fields) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: f.pairs("labels"), DeletionTimestamp: deleting(f)}}
	s := &v.Spec.PersistentVolumeSource
	switch source := f.str("source", "csi"); source {
	case "csi":
		s.CSI = &corev1.CSIPersistentVolumeSource{Driver: f.str("driver", ebs), VolumeHandle: name}
	case "local":
		s.Local = &corev1.LocalVolumeSource{Path: "/mnt"}
	case "hostpath":
		s.HostPath = &corev1.HostPathVolumeSource{Path: "/mnt"}
	case "nfs":
		s.NFS = &corev1.NFSVolumeSource{Server: "nfs", Path: "/"}
	case "ebs":
		s.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: name}
	default:
		f.fail("source", fmt.Sprintf("%q is not csi, local, hostpath, nfs or ebs", source))
	}
	if terms := nodeTerms(f, "affinity"); terms != nil {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: terms}}
	}
	return v
}

func claim(name string, f *fields) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: f.str("namespace", "default"), DeletionTimestamp: deleting(f)}}
	c.Spec.StorageClassName = className(f.str("class", ""))
	c.Status.Phase = corev1.ClaimPending
	if c.Spec.VolumeName = f.str("volume", ""); c.Spec.VolumeName != "" && !f.flag("pending") {
		c.Status.Phase = corev1.ClaimBound
		c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	}
	if f.flag("lost") {
		c.Status.Phase = corev1.ClaimLost
	}
	return c
}

// className reads - as the class "", and nothing as none.
func className(s string) *string {
	switch s {
	case "":
		return nil
	case "-":
		s = ""
	}
	return &s
}

// podVolumes are the volumes of a pod; a * in the name of a claim is left for numbered.
func podVolumes(f *fields) (out []corev1.Volume) {
	add := func(s corev1.VolumeSource) {
		out = append(out, corev1.Volume{Name: fmt.Sprintf("v%d", len(out)), VolumeSource: s})
	}
	for _, name := range f.list("claims") {
		add(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}})
	}
	for _, class := range f.list("ephemeral") {
		spec := corev1.PersistentVolumeClaimSpec{}
		if class != "-" {
			spec.StorageClassName = &class
		}
		add(corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
			VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: spec}}})
	}
	for _, id := range f.list("disks") {
		add(corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: id}})
	}
	return out
}

// numbered fills the pod's number into the names of its claims.
func numbered(p *corev1.Pod, number string) {
	for i := range p.Spec.Volumes {
		if c := p.Spec.Volumes[i].PersistentVolumeClaim; c != nil {
			c.ClaimName = strings.ReplaceAll(c.ClaimName, "*", number)
		}
	}
}

// attach notes how many volumes of each driver the node can have.
func (b *builder) attach(node string, f *fields) {
	limits := f.pairs("attach")
	if limits == nil {
		return
	}
	n := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}}
	for driver, text := range limits {
		d := storagev1.CSINodeDriver{Name: driver, NodeID: node}
		if count := f.count("attach", text); count >= 0 {
			d.Allocatable = &storagev1.VolumeNodeResources{Count: &count}
		}
		n.Spec.Drivers = append(n.Spec.Drivers, d)
	}
	slices.SortFunc(n.Spec.Drivers, func(x, y storagev1.CSINodeDriver) int { return strings.Compare(x.Name, y.Name) })
	b.s.Problem.Storage.CSINodes = append(b.s.Problem.Storage.CSINodes, n)
}

// attachLimits are the same for a type, as a part of its capacity.
func attachLimits(t *scheduling.InstanceType, f *fields) {
	for driver, text := range f.pairs("attach") {
		f.add(&t.Capacity, string(scheduling.AttachLimit(driver)), text)
	}
}
