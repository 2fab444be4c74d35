package scheduling

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// CSI drivers that took over what Kubernetes once had in its own tree.
const (
	driverEBS       = "ebs.csi.aws.com"
	driverGCE       = "pd.csi.storage.gke.io"
	driverAzureDisk = "disk.csi.azure.com"
)

// noProvisioner is the provisioner of classes whose volumes somebody else makes, local disks mostly.
const noProvisioner = "kubernetes.io/no-provisioner"

// driverOfClass is the CSI driver that attaches what a provisioner makes, empty for old ones that have none.
func driverOfClass(provisioner string) string {
	switch provisioner {
	case "kubernetes.io/aws-ebs":
		return driverEBS
	case "kubernetes.io/gce-pd":
		return driverGCE
	case "kubernetes.io/azure-disk":
		return driverAzureDisk
	}
	if strings.HasPrefix(provisioner, "kubernetes.io/") {
		return ""
	}
	return provisioner
}

// driverOfVolume is the CSI driver that attaches a volume and what the driver calls it; NFS and others that
// are not attached have none.
func driverOfVolume(o *corev1.PersistentVolume) (driver, handle string) {
	s := &o.Spec.PersistentVolumeSource
	switch {
	case s.CSI != nil:
		driver, handle = s.CSI.Driver, s.CSI.VolumeHandle
	case s.AWSElasticBlockStore != nil:
		// aws://zone/vol-1 or vol-1, which is what the driver calls it.
		id := s.AWSElasticBlockStore.VolumeID
		driver, handle = driverEBS, id[strings.LastIndexByte(id, '/')+1:]
	case s.GCEPersistentDisk != nil:
		driver, handle = driverGCE, s.GCEPersistentDisk.PDName
	case s.AzureDisk != nil:
		driver, handle = driverAzureDisk, s.AzureDisk.DataDiskURI
	default:
		return "", ""
	}
	return driver, cmp.Or(handle, o.Name)
}

// inlineDriver is the CSI driver of a disk that a pod names without a claim, if the problem knows the driver. CSI's
// own inline volumes live on the node and are not attached.
func (v *volumes) inlineDriver(volume *corev1.Volume) string {
	driver := ""
	switch {
	case volume.AWSElasticBlockStore != nil:
		driver = driverEBS
	case volume.GCEPersistentDisk != nil:
		driver = driverGCE
	case volume.AzureDisk != nil:
		driver = driverAzureDisk
	default:
		return ""
	}
	if !slices.Contains(v.known, driver) {
		return ""
	}
	return driver
}

// attachedAs is how the volume of a claim is attached, or will be: no handle means that there is none yet.
func (v *volumes) attachedAs(c *corev1.PersistentVolumeClaim) (driver, handle string) {
	if o := v.objects[c.Spec.VolumeName]; o != nil {
		return driverOfVolume(o)
	}
	class, _, _ := v.classOf(c)
	if class == nil {
		return "", ""
	}
	return driverOfClass(class.class.Provisioner), ""
}

// attach counts one more volume that only this pod mounts.
func (out *podVolumes) attach(driver string) {
	if driver == "" {
		return
	}
	for i := range out.private {
		if out.private[i].driver == driver {
			out.private[i].n++
			return
		}
	}
	out.private = append(out.private, driverCount{driver, 1})
}

// attachClaim counts the claim of the i-th volume of p, unless an earlier volume is the same.
func (out *podVolumes) attachClaim(p *corev1.Pod, i int, v *volumes) {
	info := v.claims[claimKey{p.Namespace, claimName(p, &p.Spec.Volumes[i])}]
	if info == nil || info.driver == "" {
		return
	}
	for k := range p.Spec.Volumes[:i] {
		if name := claimName(p, &p.Spec.Volumes[k]); name != "" {
			if other := v.claims[claimKey{p.Namespace, name}]; other != nil && other.first == info.first {
				return
			}
		}
	}
	if info.first.uses <= 1 {
		out.attach(info.driver)
		return
	}
	out.shared = append(out.shared, sharedVolume{id: info.id(), driver: info.driver})
}

// id tells a volume from all others, however many claims it has.
func (info *claimInfo) id() string {
	if info.handle != "" {
		return "volume " + info.handle
	}
	return "claim " + info.claim.Namespace + "/" + info.claim.Name
}

func (v *volumes) indexNodes(all []*storagev1.CSINode) {
	settled := make(map[string]*storagev1.CSINode, len(all))
	for _, n := range all {
		if n != nil {
			settled[n.Name] = settleTwins(settled[n.Name], n)
		}
	}
	v.attachable = make(map[string][]driverCount, len(settled))
	for name, n := range settled {
		var list []driverCount
		for _, d := range n.Spec.Drivers {
			if d.Allocatable != nil && d.Allocatable.Count != nil {
				list = append(list, driverCount{d.Name, max(int64(*d.Allocatable.Count), 0)})
			}
		}
		slices.SortFunc(list, func(a, b driverCount) int { return strings.Compare(a.driver, b.driver) })
		v.attachable[name] = list
	}
}

// limits is how many volumes of each CSI driver an existing node can have attached; a driver that is not
// listed has no limit there, and a node without a CSINode none at all. Read it only.
func (v *volumes) limits(node string) []driverCount {
	if v == nil {
		return nil
	}
	return v.attachable[node]
}

// attached is what the pods on a node mount, each volume once. Pods that are being deleted still count,
// finished ones do not.
func (v *volumes) attached(n *Node) (private []driverCount, shared []sharedVolume) {
	if v == nil {
		return nil, nil
	}
	var out podVolumes
	for _, p := range n.Pods {
		if p == nil || isFinished(p) {
			continue
		}
		for i := range p.Spec.Volumes {
			if claimName(p, &p.Spec.Volumes[i]) != "" {
				out.attachClaim(p, i, v)
			} else {
				out.attach(v.inlineDriver(&p.Spec.Volumes[i]))
			}
		}
	}
	out.sort()
	return out.private, out.shared
}

// drivers are all CSI drivers of which pods may have volumes, or of which a CSINode says a limit; sorted. Instance
// types may have limits for further ones, which bind nobody.
func (v *volumes) drivers() []string {
	if v == nil {
		return nil
	}
	return v.known
}

func (v *volumes) indexDrivers() {
	all := map[string]bool{}
	for _, c := range v.classes {
		all[driverOfClass(c.class.Provisioner)] = true
	}
	for _, o := range v.objects {
		driver, _ := driverOfVolume(o)
		all[driver] = true
	}
	for _, list := range v.attachable {
		for _, d := range list {
			all[d.driver] = true
		}
	}
	delete(all, "")
	v.known = sortedKeys(all)
}
