package scheduling

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// podVolumes is what the volumes of a pod ask of its node.
type podVolumes struct {
	// fault says which claim cannot be used, why, and what would help; empty: all can. code is its Code.
	fault string
	code  Code
	// terms are alternatives of conditions on labels, keys and values as nodes carry them; nil: no condition. Pods
	// share them: read only.
	terms [][]Requirement
	// private counts the volumes that only this pod mounts, by CSI driver; sorted.
	private []driverCount
	// shared are the volumes that other pods of the problem mount too; sorted. A node attaches each once.
	shared []sharedVolume
}

// driverCount is a number of volumes of one CSI driver.
type driverCount struct {
	driver string
	n      int64
}

// sharedVolume is a volume, or a claim without one, and the CSI driver that attaches it.
type sharedVolume struct{ id, driver string }

// volumes knows what a problem says of storage. Nil: nothing, and no pod gets a condition. It does not
// change once made, so any number of goroutines may ask it.
type volumes struct {
	rules      LabelRules
	incomplete bool
	claims     map[claimKey]*claimInfo
	objects    map[string]*corev1.PersistentVolume
	classes    map[string]*classInfo
	byDefault  *classInfo
	// nodes are the names of existing nodes.
	nodes map[string]bool
	// free are the unclaimed volumes of classes that make none.
	free map[string][]*corev1.PersistentVolume
	// attachable is what CSINodes say, by node.
	attachable map[string][]driverCount
	// known are the drivers of which there may be a volume, or of which a node says a limit; sorted.
	known []string
}

type claimKey struct{ namespace, name string }

// claimInfo is a claim and how it is attached. Claims of one volume count their uses on the first.
type claimInfo struct {
	claim  *corev1.PersistentVolumeClaim
	driver string
	handle string
	first  *claimInfo
	uses   int64
	// last is the pod counted last, since a pod may name a claim twice.
	last *corev1.Pod
}

// classInfo is a StorageClass and where it makes volumes.
type classInfo struct {
	class *storagev1.StorageClass
	reach volumeReach
	terms [][]Requirement
}

// newVolumes indexes p.Storage, once. Pods are looked at only if there are claims, to learn which of them several
// pods mount.
func newVolumes(p *Problem) *volumes {
	s := &p.Storage
	if len(s.Claims)+len(s.Volumes)+len(s.Classes)+len(s.CSINodes) == 0 {
		return nil
	}
	v := &volumes{rules: p.Labels.filled(), incomplete: s.Incomplete, nodes: make(map[string]bool, len(p.Nodes))}
	for i := range p.Nodes {
		v.nodes[p.Nodes[i].Name] = true
	}
	v.objects = make(map[string]*corev1.PersistentVolume, len(s.Volumes))
	for _, o := range s.Volumes {
		if o != nil {
			v.objects[o.Name] = settleTwins(v.objects[o.Name], o)
		}
	}
	v.indexClasses(s.Classes)
	v.indexFree()
	v.indexClaims(s.Claims)
	v.indexNodes(s.CSINodes)
	v.indexDrivers()
	if len(v.claims) > 0 {
		v.countUses(p)
	}
	return v
}

// settleTwins picks one of two objects of the same name, which no cluster has, whatever their order.
func settleTwins[T any](a, b *T) *T {
	if a == nil || a == b {
		return b
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	if bytes.Compare(x, y) < 0 {
		return b
	}
	return a
}

func (v *volumes) indexClasses(all []*storagev1.StorageClass) {
	v.classes = make(map[string]*classInfo, len(all))
	for _, c := range all {
		if c == nil {
			continue
		}
		info := &classInfo{class: c}
		if have := v.classes[c.Name]; have != nil {
			info.class = settleTwins(have.class, c)
		}
		v.classes[c.Name] = info
	}
	for _, info := range v.classes {
		info.reach = v.reachOfClass(info.class)
		info.terms = info.reach.terms()
		if isDefaultClass(info.class) && newerClass(info, v.byDefault) {
			v.byDefault = info
		}
	}
}

// isDefaultClass reads the annotation that marks the class of claims which name none.
func isDefaultClass(c *storagev1.StorageClass) bool {
	return c.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" ||
		c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
}

// newerClass orders default classes as the API server does: the newest, of equals the first by name.
func newerClass(a, b *classInfo) bool {
	if b == nil {
		return true
	}
	x, y := a.class.CreationTimestamp.Time, b.class.CreationTimestamp.Time
	return x.After(y) || x.Equal(y) && a.class.Name < b.class.Name
}

// indexFree lists the volumes that claims of a class without a provisioner may still be bound to.
func (v *volumes) indexFree() {
	for _, o := range v.objects {
		c := v.classes[o.Spec.StorageClassName]
		phase := o.Status.Phase
		if c == nil || c.class.Provisioner != noProvisioner || o.DeletionTimestamp != nil || phase != "" && phase != corev1.VolumeAvailable {
			continue
		}
		if v.free == nil {
			v.free = map[string][]*corev1.PersistentVolume{}
		}
		v.free[c.class.Name] = append(v.free[c.class.Name], o)
	}
	for _, list := range v.free {
		slices.SortFunc(list, func(a, b *corev1.PersistentVolume) int { return strings.Compare(a.Name, b.Name) })
	}
}

func (v *volumes) indexClaims(all []*corev1.PersistentVolumeClaim) {
	type volume struct{ driver, handle string }
	v.claims = make(map[claimKey]*claimInfo, len(all))
	firsts := map[volume]*claimInfo{}
	slab := make([]claimInfo, 0, len(all))
	for _, c := range all {
		if c == nil {
			continue
		}
		key := claimKey{c.Namespace, c.Name}
		if have := v.claims[key]; have != nil {
			have.claim = settleTwins(have.claim, c)
			continue
		}
		slab = append(slab, claimInfo{claim: c})
		v.claims[key] = &slab[len(slab)-1]
	}
	for i := range slab {
		info := &slab[i]
		info.first = info
		info.driver, info.handle = v.attachedAs(info.claim)
		if info.handle == "" {
			continue
		}
		key := volume{info.driver, info.handle}
		if firsts[key] == nil {
			firsts[key] = info
		}
		info.first = firsts[key]
	}
}

// countUses counts the pods that mount each claim.
func (v *volumes) countUses(p *Problem) {
	// Most pods have none, and looking is waiting for memory: in batches, nothing keeps the next pods from being fetched.
	var batch [32]struct {
		pod     *corev1.Pod
		volumes []corev1.Volume
	}
	for pods := range slices.Chunk(p.Pods, len(batch)) {
		n := 0
		for _, pod := range pods {
			if pod != nil && len(pod.Spec.Volumes) > 0 {
				batch[n].pod, batch[n].volumes = pod, pod.Spec.Volumes
				n++
			}
		}
		for i := range batch[:n] {
			if hasClaim(batch[i].volumes) {
				v.countPod(batch[i].pod, 1)
			}
		}
	}
	for i := range p.Nodes {
		for _, pod := range p.Nodes[i].Pods {
			v.countPod(pod, 1)
		}
	}
	for i := range p.Demands {
		v.countPod(p.Demands[i].Template, int64(p.Demands[i].Count))
	}
	for _, pod := range p.DaemonSets {
		v.countPod(pod, 2)
	}
}

func hasClaim(all []corev1.Volume) bool {
	for i := range all {
		if all[i].PersistentVolumeClaim != nil || all[i].Ephemeral != nil {
			return true
		}
	}
	return false
}

func (v *volumes) countPod(p *corev1.Pod, n int64) {
	if p == nil || len(p.Spec.Volumes) == 0 || n <= 0 || isFinished(p) {
		return
	}
	for i := range p.Spec.Volumes {
		volume := &p.Spec.Volumes[i]
		if name := claimName(p, volume); name != "" {
			if info := v.claims[claimKey{p.Namespace, name}]; info != nil && info.first.last != p {
				info.first.last = p
				info.first.uses += n
			}
		}
	}
}

// isFinished: the pod's volumes are no longer mounted.
func isFinished(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// claimName is the claim that a volume goes by, empty if by none. That of a generic ephemeral volume is called
// after pod and volume.
func claimName(p *corev1.Pod, volume *corev1.Volume) string {
	switch {
	case volume.PersistentVolumeClaim != nil:
		return volume.PersistentVolumeClaim.ClaimName
	case volume.Ephemeral != nil:
		return p.Name + "-" + volume.Name
	}
	return ""
}

// of returns what the pod's volumes ask. For a pod without claims that is nothing, at once.
func (v *volumes) of(p *corev1.Pod) podVolumes {
	var out podVolumes
	if v == nil || len(p.Spec.Volumes) == 0 {
		return out
	}
	var places []volumePlace
	for i := range p.Spec.Volumes {
		volume := &p.Spec.Volumes[i]
		name := claimName(p, volume)
		if name == "" {
			out.attach(v.inlineDriver(volume))
			continue
		}
		place := v.place(p, volume, name)
		if place.fault != "" {
			return podVolumes{fault: place.fault, code: CodeVolume}
		}
		if place.info != nil {
			out.attachClaim(p, i, v)
		} else {
			out.attach(place.driver)
		}
		if !place.reach.anywhere {
			places = append(places, place)
		}
	}
	out.sort()
	switch {
	case len(places) == 0:
	case len(places) == 1 && places[0].terms != nil:
		out.terms = places[0].terms
	case len(places) == 1:
		out.terms = places[0].reach.terms()
	default:
		reach, fault := combinePlaces(places)
		if fault != "" {
			return podVolumes{fault: fault, code: CodeVolume}
		}
		out.terms = reach.terms()
	}
	return out
}

// sort puts what is attached in order.
func (out *podVolumes) sort() {
	slices.SortFunc(out.private, func(a, b driverCount) int { return strings.Compare(a.driver, b.driver) })
	slices.SortFunc(out.shared, compareShared)
	out.shared = slices.Compact(out.shared)
}

func compareShared(a, b sharedVolume) int {
	if c := strings.Compare(a.driver, b.driver); c != 0 {
		return c
	}
	return strings.Compare(a.id, b.id)
}
