package instancetype

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Extended resources that EC2 types have.
const (
	resourceNvidiaGPU  corev1.ResourceName = "nvidia.com/gpu"
	resourceAMDGPU     corev1.ResourceName = "amd.com/gpu"
	resourceGaudi      corev1.ResourceName = "habana.ai/gaudi"
	resourceNeuron     corev1.ResourceName = "aws.amazon.com/neuron"
	resourceNeuronCore corev1.ResourceName = "aws.amazon.com/neuroncore"
	resourceEFA        corev1.ResourceName = "vpc.amazonaws.com/efa"
	resourcePodENI     corev1.ResourceName = "vpc.amazonaws.com/pod-eni"
	resourcePrivateIP  corev1.ResourceName = "vpc.amazonaws.com/PrivateIPv4Address"
)

// Resources are the amounts of a node, with their parts apart.
type Resources struct {
	// Capacity is what the node reports; resources it has none of are left out.
	Capacity corev1.ResourceList
	// KubeReserved, SystemReserved and EvictionThreshold are kept from pods.
	KubeReserved, SystemReserved, EvictionThreshold corev1.ResourceList
	// MemorySource says how the memory in Capacity is known.
	MemorySource string
}

// Overhead returns the sum of what is kept from pods.
func (r *Resources) Overhead() corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, list := range []corev1.ResourceList{r.KubeReserved, r.SystemReserved, r.EvictionThreshold} {
		for name, q := range list {
			sum := out[name]
			sum.Add(q)
			out[name] = sum
		}
	}
	return out
}

// Allocatable returns what is left for pods: capacity less overhead, never below 0.
func (r *Resources) Allocatable() corev1.ResourceList {
	out := r.Capacity.DeepCopy()
	for name, q := range r.Overhead() {
		left, ok := out[name]
		if !ok {
			continue
		}
		left.Sub(q)
		if left.Sign() < 0 {
			left = *resource.NewQuantity(0, q.Format)
		}
		out[name] = left
	}
	return out
}

// Builder builds many types for the same settings. It is immutable and safe for concurrent use.
type Builder struct{ s settings }

// NewBuilder checks the settings; an error is an *InputError with every fault.
func NewBuilder(s Settings) (*Builder, error) {
	c, err := s.compile()
	if err != nil {
		return nil, err
	}
	return &Builder{c}, nil
}

// Build is NewBuilder and Builder.Build in one.
func Build(f Facts, s Settings) (*scheduling.InstanceType, error) {
	b, err := NewBuilder(s)
	if err != nil {
		return nil, err
	}
	return b.Build(f)
}

// Compute is NewBuilder and Builder.Compute in one.
func Compute(f Facts, s Settings) (*Resources, error) {
	b, err := NewBuilder(s)
	if err != nil {
		return nil, err
	}
	return b.Compute(f)
}

// Build returns the type with labels, capacity and overhead, and without offerings. Its capacity says beside what
// Compute has how many EBS volumes pods can attach ([scheduling.AttachLimit]). Its zone,
// region and capacity type are left open. A machine that runs no Kubernetes node (macOS) is an
// *InputError, like impossible facts.
func (b *Builder) Build(f Facts) (*scheduling.InstanceType, error) {
	r, err := b.Compute(f)
	if err != nil {
		return nil, err
	}
	out := &scheduling.InstanceType{
		Name:         f.Name,
		Requirements: b.s.requirements(&f),
		Capacity:     r.Capacity,
		Overhead:     r.Overhead(),
	}
	if f.EBS.MaxAttachments > 0 {
		// No kubelet reports it, so Compute does not have it.
		volumes := VolumeAttachments(f, b.s.interfaces(&f), b.s.bootVolumes())
		out.Capacity[scheduling.AttachLimit(ebsDriver)] = *countOf(int64(volumes))
	}
	return out, nil
}

// ebsDriver is the CSI driver of EBS.
const ebsDriver = "ebs.csi.aws.com"

func (s *settings) bootVolumes() int {
	if s.BootVolumes > 0 {
		return s.BootVolumes
	}
	return 1
}

// interfaces is how many network interfaces a node has soon after its start, when the CSI driver counts what they
// leave for volumes: the first, one that the VPC CNI keeps ready, reserved ones, and those for EFA that a launch asks
// for. Later ones take slots too, but nobody tells kube-scheduler, and so they do not count here either.
func (s *settings) interfaces(f *Facts) int {
	if s.Windows {
		return 1 // pods' addresses are all on the first
	}
	n := min(2+int64(s.ReservedENIs)+int64(s.EFAOnDefaultCard), int64(max(f.Network.MaxENIs, 1)))
	if s.EFAInterfaces != nil {
		n += int64(max(min(*s.EFAInterfaces, f.Network.EFAMax)-s.EFAOnDefaultCard, 0))
	}
	return int(n)
}

// Compute returns the amounts of a node of the type, with their parts apart.
func (b *Builder) Compute(f Facts) (*Resources, error) {
	faults := f.Check()
	if len(faults) == 0 && f.Arch() == "" {
		faults = []scheduling.Fault{{
			Path: "architectures", Problem: "no Kubernetes node runs on it", Remedy: "leave this type out",
		}}
	}
	if len(faults) > 0 {
		return nil, &InputError{Type: cmp.Or(f.Name, "(unnamed)"), Faults: faults}
	}
	memory, err := b.s.Memory(&f)
	if err == nil && (memory.Bytes < 0 || memory.Bytes > maxBytes) {
		err = errMemoryRange
	}
	if err != nil {
		return nil, &InputError{Faults: []scheduling.Fault{{
			Path: "memory", Problem: err.Error() + " (asked for " + f.Name + ")", Remedy: "mend the memory model",
		}}}
	}
	pods := b.s.pods(&f)
	r := &Resources{Capacity: b.s.capacity(&f, memory.Bytes, pods), MemorySource: memory.Source}
	r.KubeReserved = b.s.kubeReserved(&f, pods)
	r.SystemReserved = b.s.system.list()
	storage := r.Capacity[corev1.ResourceEphemeralStorage]
	r.EvictionThreshold = corev1.ResourceList{
		corev1.ResourceMemory:           *bytesOf(b.s.evictMemory.of(memory.Bytes)),
		corev1.ResourceEphemeralStorage: *bytesOf(b.s.evictDisk.of(storage.Value())),
	}
	return r, nil
}

func bytesOf(n int64) *resource.Quantity { return resource.NewQuantity(n, resource.BinarySI) }
func countOf(n int64) *resource.Quantity { return resource.NewQuantity(n, resource.DecimalSI) }
func milliOf(n int64) *resource.Quantity { return resource.NewMilliQuantity(n, resource.DecimalSI) }

func (s *settings) capacity(f *Facts, memory, pods int64) corev1.ResourceList {
	out := corev1.ResourceList{
		corev1.ResourceCPU:              *countOf(int64(f.VCPU)),
		corev1.ResourceMemory:           *bytesOf(memory),
		corev1.ResourceEphemeralStorage: *bytesOf(s.ephemeralStorage(f)),
		corev1.ResourcePods:             *countOf(pods),
	}
	put := func(name corev1.ResourceName, n int) {
		if n > 0 {
			out[name] = *countOf(int64(n))
		}
	}
	put(resourceNvidiaGPU, s.gpus(f, "NVIDIA"))
	put(resourceAMDGPU, s.gpus(f, "AMD"))
	put(resourceGaudi, s.gpus(f, "Habana"))
	devices, cores := 0, 0
	for _, d := range f.Neuron {
		devices += d.Count
		cores += d.Count * d.CoresPerDevice
	}
	put(resourceNeuron, devices)
	put(resourceNeuronCore, cores)
	efa := f.Network.EFAMax
	if s.EFAInterfaces != nil {
		efa = min(efa, *s.EFAInterfaces)
	}
	put(resourceEFA, efa)
	if f.Network.Trunking {
		put(resourcePodENI, f.Network.BranchENIs)
	}
	if s.Windows {
		put(resourcePrivateIP, f.Network.IPv4PerENI-1)
	}
	return out
}

func (s *settings) gpus(f *Facts, manufacturer string) int {
	n := 0
	for _, g := range f.GPUs {
		if g.Manufacturer != manufacturer {
			continue
		}
		if g.Count == 0 && s.GPUSlices {
			n += g.LogicalCount
		}
		n += g.Count
	}
	return n
}

func (s *settings) ephemeralStorage(f *Facts) int64 {
	if s.InstanceStore == InstanceStoreRAID0 && f.nvmeGB() > 0 {
		return f.nvmeGB() * 1_000_000_000
	}
	return s.RootVolumeBytes
}

// nvmeGB is the size of the NVMe instance store. Old types have disks of another kind, which
// nothing sets up for pods.
func (f *Facts) nvmeGB() int64 {
	if f.LocalStorage.NVMe == "unsupported" {
		return 0
	}
	return f.LocalStorage.TotalGB
}

// pods returns how many pods the node takes.
func (s *settings) pods(f *Facts) int64 {
	var n int64
	switch {
	case s.MaxPods != nil:
		n = int64(*s.MaxPods)
	case s.FixedPods:
		n = defaultMaxPods
	case s.PrefixDelegation && (f.Hypervisor == "nitro" || f.BareMetal):
		// A /28 prefix has 16 addresses. The caps are those of the max-pods calculator of EKS.
		limit := int64(defaultMaxPods)
		if f.VCPU > 30 {
			limit = 250
		}
		n = min(eniPods(f, s.ReservedENIs+s.EFAOnDefaultCard, 16), limit)
	default:
		n = eniPods(f, s.ReservedENIs+s.EFAOnDefaultCard, 1)
	}
	if s.PodsPerCore > 0 && !s.NoPodsPerCore {
		n = min(n, int64(s.PodsPerCore)*int64(f.VCPU))
	}
	return n
}

// eniPods is what the VPC CNI has addresses for: the first address of an interface is not a
// pod's; two pods more use the host's network (the CNI itself and kube-proxy).
func eniPods(f *Facts, reservedENIs int, podsPerAddress int64) int64 {
	usable := max(f.Network.MaxENIs-reservedENIs, 0)
	if usable == 0 {
		return 0
	}
	return int64(usable)*int64(max(f.Network.IPv4PerENI-1, 0))*podsPerAddress + 2
}

// kubeReserved computes what images reserve when nobody says otherwise (the rule of the EKS
// AMIs).
func (s *settings) kubeReserved(f *Facts, pods int64) corev1.ResourceList {
	counted := pods
	if !s.ReserveByPods {
		// The image's bootstrap knows the type, but neither reserved interfaces nor maxPods.
		counted = eniPods(f, 0, 1)
	}
	cpu, memory, storage := reservedCPUMilli(int64(f.VCPU)), (11*counted+255)*mib, int64(gib)
	if s.kube.cpuMilli != nil {
		cpu = *s.kube.cpuMilli
	}
	if s.kube.memory != nil {
		memory = *s.kube.memory
	}
	if s.kube.storage != nil {
		storage = *s.kube.storage
	}
	return reserved{&cpu, &memory, &storage}.list()
}

// reservedCPUMilli is 6 % of the first core, 1 % of the second, 0.5 % of the third and fourth and
// 0.25 % of every further one; each tier is cut to whole thousandths.
func reservedCPUMilli(cores int64) int64 {
	n := 60 * min(cores, 1)
	n += 10 * min(max(cores-1, 0), 1)
	n += 5 * min(max(cores-2, 0), 2)
	return n + max(cores-4, 0)*5/2
}

func (r reserved) list() corev1.ResourceList {
	out := corev1.ResourceList{}
	if r.cpuMilli != nil {
		out[corev1.ResourceCPU] = *milliOf(*r.cpuMilli)
	}
	if r.memory != nil {
		out[corev1.ResourceMemory] = *bytesOf(*r.memory)
	}
	if r.storage != nil {
		out[corev1.ResourceEphemeralStorage] = *bytesOf(*r.storage)
	}
	return out
}
