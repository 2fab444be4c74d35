package scheduling

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Problem is everything Solve may know. It is read, never written, and must not change while a
// call runs. The order of its slices carries no meaning: names decide wherever an order is needed.
type Problem struct {
	// Pods are to be placed. Each needs a namespace and name of its own.
	Pods []*corev1.Pod `json:"pods,omitempty"`
	// Demands are further pods to be placed, many alike at a time. They are numbered after Pods: see PodAt.
	Demands []Demand `json:"demands,omitempty"`
	// Pools are where new nodes may come from.
	Pools []Pool `json:"pools,omitempty"`
	// Nodes are there already or on their way.
	Nodes []Node `json:"nodes,omitempty"`
	// DaemonSets holds one template pod of each; its namespace and name are those of the DaemonSet.
	DaemonSets []*corev1.Pod `json:"daemonSets,omitempty"`
	// Namespaces are the labels of each namespace, for selectors that choose by them.
	Namespaces map[string]map[string]string `json:"namespaces,omitempty"`
	// Storage describes the volumes that pods claim.
	Storage Storage `json:"storage,omitzero"`
	// DefaultSpread is what kube-scheduler is configured to ask for pods without a spread of their own.
	DefaultSpread DefaultSpread `json:"defaultSpread,omitzero"`
	// Gangs are sets of pods that are placed together or not at all.
	Gangs []Gang `json:"gangs,omitempty"`
	// GangLabels are label keys by which pods without spec.schedulingGroup name their gang; of several that a pod has
	// the first by name counts. Nil: none.
	GangLabels []string `json:"gangLabels,omitempty"`
	// Commitments are what offerings may draw on by name: capacity that is to be had at a lower price while it lasts.
	Commitments []Commitment `json:"commitments,omitempty"`
	// Labels says how label keys are read.
	Labels LabelRules `json:"labels,omitzero"`
	// Catalog says where prices and types come from; it is copied into the plan.
	Catalog Catalog `json:"catalog,omitzero"`
}

// Catalog is the origin of instance types and prices.
type Catalog struct {
	// AsOf is the date of the facts, YYYY-MM-DD.
	AsOf string `json:"asOf,omitempty"`
	// Source names where they came from.
	Source string `json:"source,omitempty"`
	// Region is the cloud region they describe.
	Region string `json:"region,omitempty"`
	// Currency of every price, ISO 4217.
	Currency string `json:"currency,omitempty"`
	// Adjustments say what prices contain beside what the source says, such as "+0.03 USD an hour for each node", in the order
	// in which they were made. Package provider/pricing writes them.
	Adjustments []string `json:"adjustments,omitempty"`
}

// Equal reports whether two catalogues say the same.
func (c Catalog) Equal(d Catalog) bool {
	return c.AsOf == d.AsOf && c.Source == d.Source && c.Region == d.Region && c.Currency == d.Currency && slices.Equal(c.Adjustments, d.Adjustments)
}

// Demand is a number of pods that differ in nothing but their names: replicas that nobody has created
// yet, a row of a table, or room to be kept free (a capacity buffer). It costs the solver what one pod does.
type Demand struct {
	// Template is the pod; its namespace is theirs, its name the stem of theirs.
	Template *corev1.Pod `json:"template"`
	// Count is how many there are.
	Count int32 `json:"count"`
	// Names are the names of the first pods; those without one are called like the template, with
	// "-0", "-1" and so on behind it.
	Names []string `json:"names,omitempty"`
	// Buffer marks room to be kept free: whatever the template's priority, it comes after all real pods.
	Buffer bool `json:"buffer,omitempty"`
}

// Gang is a set of pods of which at least MinCount run at the same time, or none does. A pod belongs to the gang
// that its spec.schedulingGroup.podGroupName names, or else one of Problem.GangLabels, in its namespace.
type Gang struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// MinCount includes pods that run already. 0, or a gang that is not listed: all of its pods in the problem.
	MinCount int32 `json:"minCount,omitempty"`
	// Basic marks a group whose pods are scheduled one by one; it is no gang at all.
	Basic bool `json:"basic,omitempty"`
}

// DefaultSpread are the default constraints of kube-scheduler's PodTopologySpread plugin: they apply, all or none, to a
// pod that states no spread of its own. What such a constraint counts is deduced from Services and from the
// pod's owner; a pod that neither selects gets none.
type DefaultSpread struct {
	// Constraints have no labelSelector and no matchLabelKeys.
	Constraints []corev1.TopologySpreadConstraint `json:"constraints,omitempty"`
	// Services of any namespace; those that select a pod count.
	Services []*corev1.Service `json:"services,omitempty"`
	// Owners are the ReplicaSets, StatefulSets and ReplicationControllers that own pods.
	Owners []Owner `json:"owners,omitempty"`
}

// Owner is what a workload selects.
type Owner struct {
	// Kind is ReplicaSet, StatefulSet or ReplicationController; or Deployment, for pods made from its template
	// before it has a ReplicaSet.
	Kind      string                `json:"kind"`
	Namespace string                `json:"namespace,omitempty"`
	Name      string                `json:"name"`
	Selector  *metav1.LabelSelector `json:"selector,omitempty"`
}

// Pool is a source of new nodes that look alike.
type Pool struct {
	// Name is unique and becomes the label karpenter.sh/nodepool of its nodes.
	Name string `json:"name"`
	// Weight ranks pools in strict tiers, larger first: a pod goes to a lighter pool only if no
	// heavier one can take it. Between equal weights the price decides, never the name.
	Weight int32 `json:"weight,omitempty"`
	// Labels are put on every node of the pool.
	Labels map[string]string `json:"labels,omitempty"`
	// Requirements narrow types, offerings and custom labels. A custom label left open here
	// (Exists, or In with several values) takes the value that the first pod to need one asks for.
	Requirements []Requirement `json:"requirements,omitempty"`
	// Taints are on every node of the pool for good.
	Taints []corev1.Taint `json:"taints,omitempty"`
	// StartupTaints go away before pods run; they keep no pod from a new node.
	StartupTaints []corev1.Taint `json:"startupTaints,omitempty"`
	// Limits bound the sum of the capacities of the pool's nodes, existing ones included.
	// The resource "nodes" bounds their number. A resource that is not named has no limit.
	Limits corev1.ResourceList `json:"limits,omitempty"`
	// Preferences, if set, is the policy for pods on the pool's new nodes in place of Options.Preferences:
	// PreferencesIgnore lets them ask nothing of the pool that they do not require.
	Preferences *PreferencePolicy `json:"preferences,omitempty"`
	// InstanceTypes may be shared between pools; names are unique within a pool.
	InstanceTypes []*InstanceType `json:"instanceTypes,omitempty"`
}

// InstanceType is a kind of machine, with the same meaning as in a Karpenter cloud provider.
type InstanceType struct {
	Name string `json:"name"`
	// Requirements describe the labels of its nodes: In with one value for a fixed label, with
	// several where the offering decides, DoesNotExist where it never has the label.
	Requirements []Requirement `json:"requirements,omitempty"`
	Offerings    []Offering    `json:"offerings,omitempty"`
	// Capacity is what the machine has.
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// Overhead is what of it pods cannot use: kube-reserved, system-reserved and eviction
	// threshold together, and memory that is set aside as huge pages. A resource without capacity
	// ignores its overhead.
	Overhead corev1.ResourceList `json:"overhead,omitempty"`
}

// Offering is one way to buy an instance type.
type Offering struct {
	// Zone is the value of topology.kubernetes.io/zone.
	Zone string `json:"zone"`
	// CapacityType is the value of karpenter.sh/capacity-type: on-demand, spot or reserved.
	CapacityType string `json:"capacityType"`
	// Price per hour. An offering without one is never chosen.
	Price Price `json:"price"`
	// Unavailable marks an offering that is known not to be had now.
	Unavailable bool `json:"unavailable,omitempty"`
	// Labels are further labels that this offering decides, such as topology.k8s.aws/zone-id.
	Labels map[string]string `json:"labels,omitempty"`
	// Reservation names a capacity reservation. At most Count nodes are launched from it, over all pools and
	// offerings that name the same one; where their counts differ the least holds. Empty: no reservation, no bound.
	Reservation string `json:"reservation,omitempty"`
	// Count is how many more instances the reservation has; it means nothing without Reservation.
	Count int32 `json:"count,omitempty"`
	// Commitment names one of Problem.Commitments that lowers the price while it lasts. List the same type, zone and
	// capacity type again at the ordinary price, or else no more than it covers can be had. Not together with Reservation.
	Commitment string `json:"commitment,omitempty"`
	// Draw is what a node takes of a commitment of money, per hour. Unknown: its Price. Means nothing without one.
	Draw Price `json:"draw,omitzero"`
}

// Node is a machine that exists or has been asked for.
type Node struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels,omitempty"`
	Taints []corev1.Taint    `json:"taints,omitempty"`
	// StartupTaints are ignored until the node is initialised.
	StartupTaints []corev1.Taint `json:"startupTaints,omitempty"`
	// Allocatable is what pods can use; for a node that has not registered, what is expected.
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`
	// Capacity is charged to the limits of the node's pool. Empty: Allocatable is.
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// Pods run on the node or are bound to it, DaemonSet pods included.
	Pods []*corev1.Pod `json:"pods,omitempty"`
	// Pool is the name of the pool that owns the node, empty for a node that nobody manages.
	Pool string `json:"pool,omitempty"`
	// Uninitialized marks a node that is still starting and will be usable: its startup taints and the
	// taints that Kubernetes puts on nodes that are not ready yet do not count. Karpenter means only
	// managed nodes by it.
	Uninitialized bool `json:"uninitialized,omitempty"`
	// Unschedulable nodes (cordoned, or on their way out) take no pods but still count.
	Unschedulable bool `json:"unschedulable,omitempty"`
}

// Storage holds the volume objects that decide where a pod with claims may run.
type Storage struct {
	Claims     []*corev1.PersistentVolumeClaim `json:"claims,omitempty"`
	Volumes    []*corev1.PersistentVolume      `json:"volumes,omitempty"`
	Classes    []*storagev1.StorageClass       `json:"classes,omitempty"`
	CSINodes   []*storagev1.CSINode            `json:"csiNodes,omitempty"`
	Incomplete bool                            `json:"incomplete,omitempty"`
}

// AttachLimit is the resource by which an instance type's capacity says how many volumes of a CSI driver a
// node can have attached; pods need not ask for it. A type without it has no limit for the driver. Nodes that
// exist take theirs from Storage.CSINodes.
func AttachLimit(driver string) corev1.ResourceName {
	return corev1.ResourceName("attachable-volumes-csi-" + driver)
}

// PodCount is how many pods are to be placed, those of the demands included.
func (p *Problem) PodCount() int {
	n := len(p.Pods)
	for i := range p.Demands {
		n += int(max(p.Demands[i].Count, 0))
	}
	return n
}

// PodAt returns the pod with the number that a plan knows it by: an index of Pods, or beyond them the pods of the
// demands one after another. For a pod of a demand it is the template, which is shared: read it only. Nil: there is none.
func (p *Problem) PodAt(i int32) *corev1.Pod {
	if i >= 0 && int(i) < len(p.Pods) {
		return p.Pods[i]
	}
	d, _ := p.demandOf(i)
	if d < 0 {
		return nil
	}
	return p.Demands[d].Template
}

// PodName returns the pod's namespace and name, "namespace/name"; empty if there is no such pod.
func (p *Problem) PodName(i int32) string {
	if i >= 0 && int(i) < len(p.Pods) {
		return podName(p.Pods[i])
	}
	d, k := p.demandOf(i)
	if d < 0 {
		return ""
	}
	demand := &p.Demands[d]
	if int(k) < len(demand.Names) {
		return demand.Template.Namespace + "/" + demand.Names[k]
	}
	return podName(demand.Template) + "-" + strconv.Itoa(int(k))
}

// demandOf finds the demand of a pod and the pod's place in it; -1: it is of none.
func (p *Problem) demandOf(i int32) (demand int, place int32) {
	i -= int32(len(p.Pods))
	if i < 0 {
		return -1, 0
	}
	for d := range p.Demands {
		n := max(p.Demands[d].Count, 0)
		if i < n {
			if p.Demands[d].Template == nil {
				return -1, 0
			}
			return d, i
		}
		i -= n
	}
	return -1, 0
}

// LabelRules are the conventions on label keys that are data, not code, because providers add to them.
type LabelRules struct {
	// Aliases maps old spellings of a key to the one that nodes carry. They apply wherever a
	// key is read. Nil: KubernetesAliases; to have none, give an empty, non-nil map.
	Aliases map[string]string `json:"aliases,omitzero"`
	// ValueAliases translates values per (unaliased) key, for drivers that spell one differently.
	ValueAliases map[string]map[string]string `json:"valueAliases,omitempty"`
	// WellKnown are keys that a new node may turn out to have although neither pool nor type
	// nor offering mentions them. Any other key that nobody mentions is taken to be absent. Nil:
	// KubernetesLabels; an empty, non-nil slice means none.
	WellKnown []string `json:"wellKnown,omitzero"`
}

// Label keys with a meaning to the solver.
const (
	// PoolLabel names the pool on its nodes.
	PoolLabel = "karpenter.sh/nodepool"
	// CapacityTypeLabel says how a node is paid for.
	CapacityTypeLabel = "karpenter.sh/capacity-type"
	// NodesResource is the resource name under which a pool's limits count nodes.
	NodesResource corev1.ResourceName = "nodes"
)

// KubernetesAliases returns the deprecated spellings that Kubernetes itself still accepts, and the keys by which CSI
// drivers tell zones in volumes and storage classes: a new node has those too, once the driver runs there.
func KubernetesAliases() map[string]string {
	return map[string]string{
		corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
		corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
		corev1.LabelInstanceType:            corev1.LabelInstanceTypeStable,
		"beta.kubernetes.io/arch":           corev1.LabelArchStable,
		"beta.kubernetes.io/os":             corev1.LabelOSStable,
		"topology.ebs.csi.aws.com/zone":     corev1.LabelTopologyZone,
		"topology.gke.io/zone":              corev1.LabelTopologyZone,
	}
}

// KubernetesLabels returns the keys that a new node carries though no pool mentions them.
func KubernetesLabels() []string {
	return []string{
		PoolLabel, CapacityTypeLabel,
		corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelInstanceTypeStable,
		corev1.LabelArchStable, corev1.LabelOSStable, corev1.LabelWindowsBuild,
	}
}
