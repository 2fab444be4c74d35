package instancetype

import (
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Facts is what EC2 says of one machine type, with DescribeInstanceTypes' meaning and shorter
// names. MiB are 2^20 bytes, GB 10^9 bytes, Mbps 10^6 bits a second. What does not apply is zero.
type Facts struct {
	// Name is Family, a dot and Size.
	Name   string `json:"name"`
	Family string `json:"family"`
	Size   string `json:"size"`
	// VCPU is the default number of virtual CPUs: Cores x ThreadsPerCore.
	VCPU           int `json:"vcpu"`
	Cores          int `json:"cores,omitzero"`
	ThreadsPerCore int `json:"threadsPerCore,omitzero"`
	// MemoryMiB is nominal; see MemoryModel for what a node reports.
	MemoryMiB int64 `json:"memoryMiB"`
	// Architectures in EC2's spelling: i386, x86_64, arm64, x86_64_mac, arm64_mac.
	Architectures   []string `json:"architectures"`
	CPUManufacturer string   `json:"cpuManufacturer,omitzero"`
	// ClockGHz is the sustained clock speed, 0 where EC2 gives none.
	ClockGHz float64 `json:"clockGHz,omitzero"`
	// Hypervisor is nitro or xen, empty on bare metal.
	Hypervisor        string `json:"hypervisor,omitzero"`
	BareMetal         bool   `json:"bareMetal,omitzero"`
	CurrentGeneration bool   `json:"currentGeneration,omitzero"`
	Burstable         bool   `json:"burstable,omitzero"`

	GPUs                  []GPU         `json:"gpus,omitempty"`
	GPUTotalMemoryMiB     int64         `json:"gpuTotalMemoryMiB,omitzero"`
	Neuron                []Neuron      `json:"neuron,omitempty"`
	InferenceAccelerators []Accelerator `json:"inferenceAccelerators,omitempty"`
	MediaAccelerators     []Accelerator `json:"mediaAccelerators,omitempty"`
	FPGAs                 []Accelerator `json:"fpgas,omitempty"`
	LocalStorage          LocalStorage  `json:"localStorage,omitzero"`
	EBS                   EBS           `json:"ebs"`
	Network               Network       `json:"network"`

	// UsageClasses are the ways to buy it: on-demand, spot, capacity-block.
	UsageClasses        []string `json:"usageClasses"`
	BootModes           []string `json:"bootModes,omitempty"`
	VirtualizationTypes []string `json:"virtualizationTypes,omitempty"`
	RootDeviceTypes     []string `json:"rootDeviceTypes,omitempty"`
	PlacementStrategies []string `json:"placementStrategies,omitempty"`
	DedicatedHosts      bool     `json:"dedicatedHosts,omitzero"`
	Hibernation         bool     `json:"hibernation,omitzero"`
	NitroEnclaves       bool     `json:"nitroEnclaves,omitzero"`
}

// GPU is one kind of GPU in a machine.
type GPU struct {
	Name         string `json:"name"`
	Manufacturer string `json:"manufacturer"`
	// Count is the number of whole GPUs, 0 if the machine has a slice of one.
	Count int `json:"count"`
	// MemoryMiB of one GPU, or of the slice.
	MemoryMiB int64 `json:"memoryMiB"`
	// LogicalCount is the number of devices that the operating system sees.
	LogicalCount int `json:"logicalCount,omitzero"`
	// PartitionSize is the part of a whole GPU that one device is, such as 0.125.
	PartitionSize float64 `json:"partitionSize,omitzero"`
}

// Neuron is one kind of AWS Inferentia or Trainium device.
type Neuron struct {
	Name           string `json:"name"`
	Count          int    `json:"count"`
	CoresPerDevice int    `json:"coresPerDevice"`
	CoreVersion    int    `json:"coreVersion,omitzero"`
	MemoryMiB      int64  `json:"memoryMiB"`
}

// Accelerator is any other device: for inference, for media, or an FPGA.
type Accelerator struct {
	Name         string `json:"name"`
	Manufacturer string `json:"manufacturer"`
	Count        int    `json:"count"`
	MemoryMiB    int64  `json:"memoryMiB,omitzero"`
}

// LocalStorage is the instance store: disks that live and die with the machine.
type LocalStorage struct {
	TotalGB int64 `json:"totalGB"`
	// NVMe is required, supported or unsupported.
	NVMe       string `json:"nvme,omitzero"`
	Encryption string `json:"encryption,omitzero"`
	Disks      []Disk `json:"disks,omitempty"`
}

// Disk is Count equal disks of the instance store.
type Disk struct {
	Count  int    `json:"count"`
	SizeGB int64  `json:"sizeGB"`
	Type   string `json:"type,omitzero"`
}

// EBS is how a type is connected to network volumes.
type EBS struct {
	// Optimized is default, supported or unsupported.
	Optimized string `json:"optimized,omitzero"`
	NVMe      string `json:"nvme,omitzero"`
	// MaxAttachments and AttachmentLimit are read by VolumeAttachments.
	MaxAttachments int `json:"maxAttachments,omitzero"`
	// AttachmentLimit is dedicated (volumes have slots of their own) or shared (with interfaces).
	AttachmentLimit string `json:"attachmentLimit,omitzero"`
	BaselineMbps    int    `json:"baselineMbps,omitzero"`
	MaxMbps         int    `json:"maxMbps,omitzero"`
	BaselineIOPS    int    `json:"baselineIops,omitzero"`
	MaxIOPS         int    `json:"maxIops,omitzero"`
}

// Network is what a type can have of interfaces, addresses and bandwidth.
type Network struct {
	// Performance is EC2's phrase, such as "Up to 10 Gigabit".
	Performance string `json:"performance,omitzero"`
	// BandwidthMbps is the guaranteed bandwidth, 0 where EC2 is vague.
	BandwidthMbps    int     `json:"bandwidthMbps,omitzero"`
	BaselineGbps     float64 `json:"baselineGbps,omitzero"`
	PeakGbps         float64 `json:"peakGbps,omitzero"`
	Cards            int     `json:"cards,omitzero"`
	DefaultCardIndex int     `json:"defaultCardIndex,omitzero"`
	// MaxENIs counts interfaces of the default card: the number that bounds pods.
	MaxENIs         int  `json:"maxENIs"`
	MaxENIsAllCards int  `json:"maxENIsAllCards,omitzero"`
	IPv4PerENI      int  `json:"ipv4PerENI"`
	IPv6PerENI      int  `json:"ipv6PerENI,omitzero"`
	IPv6            bool `json:"ipv6,omitzero"`
	// Trunking and BranchENIs: interfaces that single pods can have for themselves.
	Trunking            bool   `json:"trunking,omitzero"`
	BranchENIs          int    `json:"branchENIs,omitzero"`
	ENA                 string `json:"ena,omitzero"`
	EFAMax              int    `json:"efaMax,omitzero"`
	EncryptionInTransit bool   `json:"encryptionInTransit,omitzero"`
}

// Arch returns the type's architecture as Kubernetes spells it, amd64 or arm64, or "" for a
// machine that runs no Kubernetes node (macOS).
func (f *Facts) Arch() string {
	for _, a := range f.Architectures {
		switch a {
		case "x86_64":
			return "amd64"
		case "arm64":
			return "arm64"
		}
	}
	return ""
}

// VolumeAttachments returns how many EBS volumes pods can attach to a machine that already has
// the given numbers of network interfaces and boot volumes, never less than 0. EC2's limit
// already leaves out the first interface, instance-store disks and accelerators; further
// interfaces take slots where the limit is shared, but not on Xen. For a node of the VPC CNI give
// the interfaces that it attaches in the end, at worst Network.MaxENIs.
func VolumeAttachments(f Facts, interfaces, bootVolumes int) int {
	n := f.EBS.MaxAttachments - max(bootVolumes, 0)
	if f.EBS.AttachmentLimit != "dedicated" && f.Hypervisor != "xen" {
		n -= max(interfaces-1, 0)
	}
	return max(n, 0)
}

// Check returns what is impossible about the facts, nil if nothing is. Paths name the JSON
// fields.
func (f *Facts) Check() []scheduling.Fault {
	var faults []scheduling.Fault
	add := func(path, problem, remedy string) {
		faults = append(faults, scheduling.Fault{Path: path, Problem: problem, Remedy: remedy})
	}
	if family, size, ok := strings.Cut(f.Name, "."); !ok || family == "" || size == "" {
		add("name", strconv.Quote(f.Name)+" is not a machine type", "write family.size, such as m5.large")
	} else if f.Family != family || f.Size != size {
		halves := "family " + strconv.Quote(f.Family) + " and size " + strconv.Quote(f.Size)
		add("family", halves+" are not the halves of the name", "use the two halves around the dot")
	}
	if f.VCPU <= 0 || f.VCPU > maxCount {
		add("vcpu", strconv.Itoa(f.VCPU)+" is not a number of vCPUs", "give the default number of vCPUs")
	}
	if f.MemoryMiB <= 0 || f.MemoryMiB > maxAmount {
		add("memoryMiB", strconv.FormatInt(f.MemoryMiB, 10)+" is not a machine's memory", "give the nominal memory in MiB")
	}
	if len(f.Architectures) == 0 {
		add("architectures", "is empty", "name at least one, such as x86_64")
	}
	if !(f.ClockGHz >= 0 && f.ClockGHz < 1000) {
		add("clockGHz", "is not a clock speed", "give GHz, or leave it out")
	}
	f.eachNumber(func(path string, n, limit int64) {
		if n < 0 || n > limit {
			problem := strconv.FormatInt(n, 10) + " is not between 0 and " + strconv.FormatInt(limit, 10)
			add(path, problem, "leave it out where it does not apply")
		}
	})
	return faults
}

// Bounds that keep every product below in an int64; real machines are orders of magnitude
// smaller.
const (
	maxCount  = 1 << 16
	maxAmount = 1 << 32
)

// eachNumber visits every number that capacity or labels are made of, with what it may be at
// most.
func (f *Facts) eachNumber(visit func(path string, n, limit int64)) {
	count := func(path string, n int) { visit(path, int64(n), maxCount) }
	n := &f.Network
	count("network.maxENIs", n.MaxENIs)
	count("network.ipv4PerENI", n.IPv4PerENI)
	count("network.branchENIs", n.BranchENIs)
	count("network.efaMax", n.EFAMax)
	count("ebs.maxAttachments", f.EBS.MaxAttachments)
	visit("network.bandwidthMbps", int64(n.BandwidthMbps), maxAmount)
	visit("ebs.maxMbps", int64(f.EBS.MaxMbps), maxAmount)
	visit("localStorage.totalGB", f.LocalStorage.TotalGB, maxAmount)
	for i, g := range f.GPUs {
		at := "gpus[" + strconv.Itoa(i) + "]."
		count(at+"count", g.Count)
		count(at+"logicalCount", g.LogicalCount)
		visit(at+"memoryMiB", g.MemoryMiB, maxAmount)
	}
	for i, d := range f.Neuron {
		at := "neuron[" + strconv.Itoa(i) + "]."
		count(at+"count", d.Count)
		count(at+"coresPerDevice", d.CoresPerDevice)
	}
	for i, a := range f.InferenceAccelerators {
		count("inferenceAccelerators["+strconv.Itoa(i)+"].count", a.Count)
	}
}
