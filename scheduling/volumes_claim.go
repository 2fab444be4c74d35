package scheduling

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Annotations by which the volume controller and kube-scheduler tell each other how far a claim is.
const (
	bindCompletedAnnotation = "pv.kubernetes.io/bind-completed"
	selectedNodeAnnotation  = "volume.kubernetes.io/selected-node"
)

// volumePlace is where one volume of a pod can be mounted.
type volumePlace struct {
	// name is the claim's, with its namespace.
	name  string
	fault string
	reach volumeReach
	// terms spell reach, if somebody has done so already.
	terms [][]Requirement
	// info is the claim, nil if it is yet to be made; driver is then that of its class.
	info   *claimInfo
	driver string
}

// place finds out where a volume with a claim can be mounted. The checks and their order are those of
// kube-scheduler's plugins VolumeBinding and VolumeZone.
func (v *volumes) place(p *corev1.Pod, volume *corev1.Volume, name string) volumePlace {
	place := volumePlace{name: p.Namespace + "/" + name, info: v.claims[claimKey{p.Namespace, name}]}
	if place.info == nil {
		switch {
		case volume.Ephemeral != nil && volume.Ephemeral.VolumeClaimTemplate != nil:
			t := volume.Ephemeral.VolumeClaimTemplate
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
				Namespace: p.Namespace, Name: name, Labels: t.Labels, Annotations: t.Annotations}, Spec: t.Spec}
			place.driver, _ = v.attachedAs(claim)
			v.unbound(&place, claim)
		case v.incomplete:
			place.reach = volumeReach{anywhere: true}
		default:
			place.refuse("is missing; create it")
		}
		return place
	}
	c := place.info.claim
	switch {
	case volume.Ephemeral != nil && !madeFor(c, p):
		place.refuse("is not the pod's own, as the claim of an ephemeral volume must be; delete it or rename the volume")
	case c.Status.Phase == corev1.ClaimLost:
		place.refuse("has lost its volume; restore the volume or create the claim anew")
	case c.DeletionTimestamp != nil:
		place.refuse("is being deleted; wait until it is gone and create it anew")
	case c.Spec.VolumeName == "":
		v.unbound(&place, c)
	case !metav1.HasAnnotation(c.ObjectMeta, bindCompletedAnnotation) && c.Status.Phase != corev1.ClaimBound:
		place.refuse("is not bound to volume %s yet; wait until it is", c.Spec.VolumeName)
	default:
		v.bound(&place, c)
	}
	return place
}

func (place *volumePlace) refuse(format string, args ...any) {
	place.fault = "claim " + place.name + " " + fmt.Sprintf(format, args...)
}

// madeFor reports whether the claim of an ephemeral volume belongs to the pod.
func madeFor(c *corev1.PersistentVolumeClaim, p *corev1.Pod) bool {
	ref := metav1.GetControllerOfNoCopy(c)
	return ref != nil && ref.Kind == "Pod" && ref.Name == p.Name && (ref.UID == p.UID || ref.UID == "" || p.UID == "")
}

// bound claims are where their volume is.
func (v *volumes) bound(place *volumePlace, c *corev1.PersistentVolumeClaim) {
	o := v.objects[c.Spec.VolumeName]
	switch {
	case o == nil && v.incomplete:
		place.reach = volumeReach{anywhere: true}
	case o == nil:
		place.refuse("is bound to volume %s, which is missing; restore the volume or create the claim anew", c.Spec.VolumeName)
	case o.DeletionTimestamp != nil:
		place.refuse("is bound to volume %s, which is being deleted; create the claim anew", c.Spec.VolumeName)
	default:
		if place.reach = v.reachOfVolume(o, true); place.reach.nowhere() {
			place.refuse("is bound to volume %s, whose node affinity no node can meet; correct spec.nodeAffinity", o.Name)
		}
	}
}

// classOf is the class of a claim and the name it goes by: the default class if the claim names none. The
// name is empty if there is no default. given: the claim says what it wants, and be it no class ("").
func (v *volumes) classOf(c *corev1.PersistentVolumeClaim) (info *classInfo, name string, given bool) {
	name, given = c.Annotations[corev1.BetaStorageClassAnnotation]
	if !given && c.Spec.StorageClassName != nil {
		name, given = *c.Spec.StorageClassName, true
	}
	switch {
	case given:
		return v.classes[name], name, true
	case v.byDefault != nil:
		return v.byDefault, v.byDefault.class.Name, false
	}
	return nil, "", false
}

// unbound claims are where their class makes volumes, if it waits for the pod.
func (v *volumes) unbound(place *volumePlace, c *corev1.PersistentVolumeClaim) {
	info, name, given := v.classOf(c)
	switch {
	case given && name == "":
		place.refuse("is not bound and wants no storage class; bind it to a volume, or name a class")
	case info == nil && v.incomplete:
		place.reach = volumeReach{anywhere: true}
	case info == nil && given:
		place.refuse("names storage class %s, which is missing; create the class", name)
	case info == nil:
		place.refuse("is not bound and names no storage class, and there is no default one; name a class")
	case info.class.VolumeBindingMode == nil || *info.class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer:
		place.refuse("is not bound, and its storage class %s does not wait for pods; wait until it is bound, or use volumeBindingMode WaitForFirstConsumer", name)
	case info.class.Provisioner == noProvisioner:
		place.reach = v.reachOfFree(c, name)
		if place.reach.nowhere() && v.incomplete {
			place.reach = volumeReach{anywhere: true}
		}
		if place.reach.nowhere() {
			place.refuse("is not bound, its storage class %s makes no volumes, and no free one suits it; add a volume", name)
		}
	default:
		place.reach, place.terms = info.reach, info.terms
		if place.reach.nowhere() {
			place.refuse("is not bound, and no node can have a volume of its storage class %s; correct allowedTopologies", name)
		}
	}
	// kube-scheduler chose a node before and has the volume made there.
	if node := c.Annotations[selectedNodeAnnotation]; node != "" && v.nodes[node] && place.fault == "" {
		at := volumeReach{alts: []Requirements{{list: []keySet{{nodeNameKey, Values(node)}}}}}
		if place.reach, place.terms = place.reach.and(at), nil; place.reach.nowhere() {
			place.refuse("is to have its volume on node %s, which its storage class %s does not reach; remove the annotation %s", node, name, selectedNodeAnnotation)
		}
	}
}

// reachOfFree is where the volumes are that a claim of a class without a provisioner may get. That each
// of them suits only one claim is not weighed.
func (v *volumes) reachOfFree(c *corev1.PersistentVolumeClaim, class string) volumeReach {
	var out volumeReach
	for _, o := range v.free[class] {
		if !suits(o, c) {
			continue
		}
		r := v.reachOfVolume(o, false)
		if r.anywhere {
			return r
		}
		out.alts = append(out.alts, r.alts...)
	}
	out.alts = simplify(out.alts)
	return out
}

// suits reports whether an unclaimed volume may be bound to a claim.
func suits(o *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) bool {
	if ref := o.Spec.ClaimRef; ref != nil && (ref.Namespace != c.Namespace || ref.Name != c.Name) {
		return false
	}
	want, have := c.Spec.Resources.Requests[corev1.ResourceStorage], o.Spec.Capacity[corev1.ResourceStorage]
	if have.Cmp(want) < 0 {
		return false
	}
	modeOf := func(m *corev1.PersistentVolumeMode) corev1.PersistentVolumeMode {
		if m == nil {
			return corev1.PersistentVolumeFilesystem
		}
		return *m
	}
	if modeOf(o.Spec.VolumeMode) != modeOf(c.Spec.VolumeMode) {
		return false
	}
	modes := map[corev1.PersistentVolumeAccessMode]bool{}
	for _, m := range o.Spec.AccessModes {
		modes[m] = true
	}
	for _, m := range c.Spec.AccessModes {
		if !modes[m] {
			return false
		}
	}
	if c.Spec.Selector == nil {
		return true
	}
	selector, err := metav1.LabelSelectorAsSelector(c.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(o.Labels))
}

// combinePlaces is where all volumes of a pod can be mounted at once; the fault tells which cannot.
func combinePlaces(places []volumePlace) (volumeReach, string) {
	all := make([]volumeReach, len(places))
	for i := range places {
		all[i] = places[i].reach
	}
	out, complete := combine(all)
	if !out.nowhere() {
		return out, ""
	}
	for i := range places {
		for k := i + 1; k < len(places); k++ {
			if r, complete := combine([]volumeReach{all[i], all[k]}); complete && r.nowhere() {
				return out, apart(&places[i], &places[k])
			}
		}
	}
	names := make([]string, len(places))
	for i := range places {
		names[i] = places[i].name
	}
	what := "are on no node together; move some of the volumes"
	if !complete {
		what = "can be mounted in too many combinations of places to try them all; name fewer places for each"
	}
	return out, "claims " + strings.Join(names, ", ") + " " + what
}

// apart says why two volumes are on no node together.
func apart(a, b *volumePlace) string {
	if a.name > b.name {
		a, b = b, a
	}
	key, first, ok := a.reach.single()
	other, second, alike := b.reach.single()
	if ok && alike && key == other {
		what := "are where " + key + " differs"
		if key == corev1.LabelTopologyZone {
			what = "are in different zones"
		}
		return fmt.Sprintf("claims %s and %s %s (%s and %s); move one of the volumes", a.name, b.name, what, first, second)
	}
	return fmt.Sprintf("claims %s and %s are on no node together (%s and %s); move one of the volumes", a.name, b.name, a.reach, b.reach)
}
