package scheduling

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Problem is everything Solve may know. It is read, never written, and must not change while a
// call runs. The order of its slices carries no meaning: names decide wherever an order is needed.
type Problem struct {
	// Pods are to be placed. Each needs a namespace and name of its own.
	Pods []*corev1.Pod `json:"pods,omitempty"`
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

// KubernetesAliases returns the deprecated spellings that Kubernetes itself still accepts.
func KubernetesAliases() map[string]string {
	return map[string]string{
		corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
		corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
		corev1.LabelInstanceType:            corev1.LabelInstanceTypeStable,
		"beta.kubernetes.io/arch":           corev1.LabelArchStable,
		"beta.kubernetes.io/os":             corev1.LabelOSStable,
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
