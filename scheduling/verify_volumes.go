package scheduling

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// verifyStorage is Storage by name.
type verifyStorage struct {
	claims  map[string]*corev1.PersistentVolumeClaim
	volumes map[string]*corev1.PersistentVolume
	classes map[string]*storagev1.StorageClass
	// attach has, by node and CSI driver, how many volumes may be attached.
	attach map[string]map[string]int64
	// unknown: nothing was said of volumes at all. incomplete: what is missing may be there.
	unknown, incomplete bool
}

func newVerifyStorage(s *Storage) *verifyStorage {
	out := &verifyStorage{
		claims: map[string]*corev1.PersistentVolumeClaim{}, volumes: map[string]*corev1.PersistentVolume{},
		classes: map[string]*storagev1.StorageClass{}, attach: map[string]map[string]int64{},
		unknown: len(s.Claims)+len(s.Volumes)+len(s.Classes)+len(s.CSINodes) == 0, incomplete: s.Incomplete,
	}
	for _, c := range s.Claims {
		if c != nil {
			out.claims[c.Namespace+"/"+c.Name] = c
		}
	}
	for _, pv := range s.Volumes {
		if pv != nil {
			out.volumes[pv.Name] = pv
		}
	}
	for _, c := range s.Classes {
		if c != nil {
			out.classes[c.Name] = c
		}
	}
	for _, n := range s.CSINodes {
		if n == nil {
			continue
		}
		out.attach[n.Name] = map[string]int64{}
		for _, d := range n.Spec.Drivers {
			if d.Allocatable != nil && d.Allocatable.Count != nil {
				out.attach[n.Name][d.Name] = int64(*d.Allocatable.Count)
			}
		}
	}
	return out
}

// verifyMount is one volume that a pod claims.
type verifyMount struct {
	// claim is namespace/name.
	claim string
	// fault says why the claim cannot be used on any node.
	fault string
	// terms are alternatives, one of which the node has to satisfy; nil: any node will do.
	terms []verifyTerm
	// driver attaches the volume, id tells it from others; empty: it does not count.
	driver, id string
	// doubtful claims may well be of no use, though nothing says so for sure.
	doubtful bool
}

// mounts reads the claims of a pod: those it names, and those that are made for it, which are called
// like the pod and the volume: "the name is a combination of the Pod name and volume name".
func (v *verifier) mounts(pod *corev1.Pod, name string) []verifyMount {
	var out []verifyMount
	for i := range pod.Spec.Volumes {
		x := &pod.Spec.Volumes[i]
		switch {
		case v.storage.unknown:
		case x.PersistentVolumeClaim != nil:
			out = append(out, v.mount(pod.Namespace+"/"+x.PersistentVolumeClaim.ClaimName, nil))
		case x.Ephemeral != nil && x.Ephemeral.VolumeClaimTemplate != nil:
			out = append(out, v.mount(name+"-"+x.Name, &x.Ephemeral.VolumeClaimTemplate.Spec))
		}
	}
	return out
}

// mount reads one claim; template is what it will be made from if it is not there yet.
func (v *verifier) mount(name string, template *corev1.PersistentVolumeClaimSpec) verifyMount {
	m := verifyMount{claim: name, id: "claim " + name}
	claim := v.storage.claims[name]
	switch {
	case claim == nil && template != nil:
		v.unbound(&m, template.StorageClassName)
	case claim == nil:
		m.missing("the claim does not exist", v.storage.incomplete)
	case claim.DeletionTimestamp != nil:
		m.fault = "the claim is being deleted"
	case claim.Status.Phase == corev1.ClaimLost:
		m.fault = "the claim has lost its volume"
	case claim.Spec.VolumeName == "":
		class := claim.Spec.StorageClassName
		if old, set := claim.Annotations[corev1.BetaStorageClassAnnotation]; set {
			class = &old
		}
		m.doubtful = class == nil // not every cluster fills in the default later
		v.unbound(&m, class)
	default:
		// A claim that names its volume is as good as bound: the rest is a moment's work of a controller.
		m.doubtful = claim.Status.Phase != corev1.ClaimBound
		v.bound(&m, claim)
	}
	return m
}

func (m *verifyMount) missing(what string, incomplete bool) {
	if m.doubtful = incomplete; !incomplete {
		m.fault = what
	}
}

// bound: "a PV can specify node affinity to define constraints that limit what nodes this volume can be
// accessed from". The host name of a local disk is not such a constraint here: on another node the
// pod gets another one.
func (v *verifier) bound(m *verifyMount, claim *corev1.PersistentVolumeClaim) {
	pv := v.storage.volumes[claim.Spec.VolumeName]
	if pv == nil {
		m.missing(fmt.Sprintf("its volume %s does not exist", claim.Spec.VolumeName), v.storage.incomplete)
		if class := claim.Spec.StorageClassName; class != nil && v.storage.classes[*class] != nil {
			m.driver = verifyDriver(v.storage.classes[*class].Provisioner)
		}
		return
	}
	m.doubtful = m.doubtful || pv.DeletionTimestamp != nil
	m.id = "volume " + pv.Name
	switch s := &pv.Spec.PersistentVolumeSource; {
	case s.CSI != nil:
		m.driver = s.CSI.Driver
	case s.AWSElasticBlockStore != nil:
		m.driver = "ebs.csi.aws.com"
	case s.GCEPersistentDisk != nil:
		m.driver = "pd.csi.storage.gke.io"
	case s.AzureDisk != nil:
		m.driver = "disk.csi.azure.com"
	}
	if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return
	}
	m.terms = v.selectorTerms(verifyAnyTerm, pv.Spec.NodeAffinity.Required.NodeSelectorTerms)
	for _, t := range m.terms {
		if pv.Spec.Local != nil || pv.Spec.HostPath != nil {
			delete(t.labels, corev1.LabelHostname)
		}
	}
	if len(m.terms) == 0 {
		m.fault = fmt.Sprintf("its volume %s can be reached from no node", pv.Name)
	}
}

func verifyAnyTerm() verifyTerm { return verifyTerm{labels: map[string]ValueSet{}, names: AnyValue()} }

// unbound: "WaitForFirstConsumer delays the binding and provisioning of a PersistentVolume until a Pod using
// the claim is created", within the allowedTopologies of its class; Immediate is done before, so a pod
// with such a claim waits. No class name is the default class, an empty one none.
func (v *verifier) unbound(m *verifyMount, name *string) {
	if name == nil {
		if name = v.storage.defaultClass(); name == nil {
			m.missing("the claim has no class, there is no default one, and it is not bound", v.storage.incomplete)
			return
		}
	}
	class := v.storage.classes[*name]
	switch {
	case *name == "":
		m.fault = "the claim has no class and is not bound"
		return
	case class == nil:
		m.missing(fmt.Sprintf("its class %s does not exist", *name), v.storage.incomplete)
		return
	case class.VolumeBindingMode == nil || *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer:
		m.fault = fmt.Sprintf("the claim is not bound, and its class %s does not wait for a pod", *name)
		return
	}
	m.driver = verifyDriver(class.Provisioner)
	for _, topology := range class.AllowedTopologies {
		t := verifyAnyTerm()
		for _, e := range topology.MatchLabelExpressions {
			set, _ := v.parse(Requirement{Key: e.Key, Operator: corev1.NodeSelectorOpIn, Values: e.Values})
			v.narrow(t.labels, e.Key, set)
		}
		if len(topology.MatchLabelExpressions) > 0 {
			m.terms = append(m.terms, t)
		}
	}
	if len(class.AllowedTopologies) > 0 && m.terms == nil {
		m.fault = fmt.Sprintf("its class %s allows no node", *name)
	}
}

// defaultClass: "if more than one default StorageClass is marked, the most recently created is used".
func (s *verifyStorage) defaultClass() *string {
	var best *storagev1.StorageClass
	for _, name := range verifyKeys(s.classes) {
		c := s.classes[name]
		marked := c.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" ||
			c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
		if marked && (best == nil || best.CreationTimestamp.Before(&c.CreationTimestamp)) {
			best = c
		}
	}
	if best == nil {
		return nil
	}
	return &best.Name
}

// verifyDriver is the CSI driver that stands in for a provisioner of old.
func verifyDriver(provisioner string) string {
	switch provisioner {
	case "kubernetes.io/aws-ebs":
		return "ebs.csi.aws.com"
	case "kubernetes.io/gce-pd":
		return "pd.csi.storage.gke.io"
	case "kubernetes.io/azure-disk":
		return "disk.csi.azure.com"
	}
	return provisioner
}

// checkClaims: what no node can help.
func (v *verifier) checkClaims(pods []*verifyPod) {
	for _, p := range pods {
		for i := range p.mounts {
			if m := &p.mounts[i]; m.fault != "" {
				v.report("volumes", p.name, "is placed, but claim %s cannot be used: %s", m.claim, m.fault)
			}
		}
		if verifyAsksForDevices(p.pod) {
			v.report("resourceClaims", p.name, "is placed, but nobody has weighed the devices it claims")
		}
	}
}

func verifyAsksForDevices(pod *corev1.Pod) bool {
	return len(pod.Spec.ResourceClaims) > 0
}

// checkMounts: the node is one that the pod's volumes can be reached from.
func (v *verifier) checkMounts(p *verifyPod, n *verifyNode) {
	for i := range p.mounts {
		if why := v.mountRefusal(&p.mounts[i], n); why != "" {
			v.report("volumes", p.name, "claim %s: %s", p.mounts[i].claim, why)
		}
	}
}

func (v *verifier) mountRefusal(m *verifyMount, n *verifyNode) string {
	why := ""
	for _, t := range m.terms {
		key, ok := v.termHolds(t, n)
		switch {
		case ok:
			return ""
		case key == "":
			why = fmt.Sprintf("the volume is for nodes %v, which %s is not", t.names, n.name)
		default:
			why = fmt.Sprintf("the volume is for %s %v, %s has %v", key, t.labels[key], n.name, v.label(n, key))
		}
	}
	return why
}

// checkAttach: a node has no more volumes of a driver attached than it may, however many pods share one. What
// the pods that are there have attached is no fault of pods that bring nothing new.
func (v *verifier) checkAttach(subject string, n *verifyNode, pods, here []*verifyPod) {
	before, after := verifyAttached(here), verifyAttached(slices.Concat(here, pods))
	for _, driver := range verifyKeys(after) {
		limit, bounded := n.attach[driver]
		if count := int64(len(after[driver])); bounded && count > limit && len(after[driver]) > len(before[driver]) {
			v.report("attach", subject, "would have %d volumes of %s attached, %s may have %d", count, driver, n.name, limit)
		}
	}
}

// verifyAttached lists the distinct volumes of pods by driver.
func verifyAttached(pods []*verifyPod) map[string]map[string]bool {
	var out map[string]map[string]bool
	for _, p := range pods {
		for i := range p.mounts {
			m := &p.mounts[i]
			if m.driver == "" {
				continue
			}
			if out == nil {
				out = map[string]map[string]bool{}
			}
			if out[m.driver] == nil {
				out[m.driver] = map[string]bool{}
			}
			out[m.driver][m.id] = true
		}
	}
	return out
}

// verifyAttach reads off a type's capacity how many volumes of each driver its nodes may have attached.
func verifyAttach(t *InstanceType) map[string]int64 {
	var out map[string]int64
	for name, q := range t.Capacity {
		if driver, is := strings.CutPrefix(string(name), string(AttachLimit(""))); is {
			if out == nil {
				out = map[string]int64{}
			}
			out[driver] = verifyAmount(name, q)
		}
	}
	return out
}
