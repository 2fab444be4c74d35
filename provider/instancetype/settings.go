package instancetype

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Settings is what a node's image, kubelet and disks contribute. The zero value is a node of the
// AL2023 image with no settings of its own: ENI-limited pods, a root volume of 20 GiB, default
// reservations. Other families differ so:
//
//	Bottlerocket  ReserveByPods, NoPodsPerCore, BootVolumes 2
//	Windows       Windows, FixedPods, ReserveByPods, RootVolumeBytes 50 GiB
type Settings struct {
	// MaxPods is the kubelet's maxPods. Nil: computed from the type's interfaces.
	MaxPods *int
	// PodsPerCore caps pods at so many for each vCPU. 0: no cap.
	PodsPerCore int
	// KubeReserved and SystemReserved are the kubelet's kubeReserved and systemReserved:
	// quantities for cpu, memory, ephemeral-storage, pid. A key of KubeReserved replaces the
	// default of that resource; nothing is system-reserved by default. pid reserves nothing that
	// pods request.
	KubeReserved, SystemReserved map[string]string
	// EvictionHard is the kubelet's evictionHard: quantities, or percentages such as "5%". Only
	// memory.available and nodefs.available take resources from pods; 0% and 100% switch one off.
	EvictionHard map[string]string
	// RootVolumeBytes is the size of the volume that pods' files live on. 0: 20 GiB.
	RootVolumeBytes int64
	// BootVolumes is how many EBS volumes a launch attaches by itself; pods cannot attach as many more. 0: one.
	BootVolumes int
	// InstanceStore says what becomes of the instance-store disks.
	InstanceStore InstanceStorePolicy
	// Memory says how much memory a node reports. Nil: FlatOverhead(7.5).
	Memory MemoryModel

	// ReservedENIs are interfaces that no pod address comes from (custom networking: 1).
	ReservedENIs int
	// PrefixDelegation gives pods addresses from /28 prefixes, on types whose interfaces take
	// them (Nitro and bare metal).
	PrefixDelegation bool
	// EFAInterfaces is the number of EFA-only interfaces a launch attaches; a type has at most
	// its own maximum. Nil: all that the type can have.
	EFAInterfaces *int
	// EFAOnDefaultCard of them take a place for an ordinary interface on the default card.
	EFAOnDefaultCard int
	// GPUSlices offers a slice of a GPU as nvidia.com/gpu (the type's logical count). Off, as in
	// Karpenter: otherwise any pod that asks for one GPU may get an eighth of one, and slices
	// need another driver.
	GPUSlices bool

	// FixedPods: the family does not limit pods by interfaces; 110 unless MaxPods says otherwise.
	FixedPods bool
	// NoPodsPerCore: the family ignores PodsPerCore.
	NoPodsPerCore bool
	// ReserveByPods: the family reserves memory for the pods that the node really takes, and
	// not for those its interfaces would allow with nothing reserved.
	ReserveByPods bool
	// Windows nodes have their own os label and the resource
	// vpc.amazonaws.com/PrivateIPv4Address.
	Windows bool
	// WindowsBuild is the label node.kubernetes.io/windows-build, such as 10.0.20348; optional.
	WindowsBuild string
}

// InstanceStorePolicy says what becomes of the instance-store disks.
type InstanceStorePolicy string

const (
	// InstanceStoreUnused leaves them as they are; ephemeral storage is the root volume. The
	// default.
	InstanceStoreUnused InstanceStorePolicy = ""
	// InstanceStoreRAID0 joins the NVMe ones to one volume for pods' ephemeral storage. A type
	// without NVMe disks is as if unused.
	InstanceStoreRAID0 InstanceStorePolicy = "RAID0"
)

// InputError lists everything wrong with settings or facts.
type InputError struct {
	// Type is the machine type with impossible facts, empty if the settings are at fault.
	Type string
	// Faults name fields as their paths.
	Faults []scheduling.Fault
}

// Error prints at most ten faults.
func (e *InputError) Error() string {
	where := "settings"
	if e.Type != "" {
		where = "facts of " + e.Type
	}
	if len(e.Faults) == 1 {
		return "instancetype: " + where + ": " + e.Faults[0].String()
	}
	s := fmt.Sprintf("instancetype: %s: %d faults", where, len(e.Faults))
	for i, f := range e.Faults {
		if i == 10 {
			return s + fmt.Sprintf("\n  ... and %d more", len(e.Faults)-i)
		}
		s += "\n  " + f.String()
	}
	return s
}

// Defaults, and where they come from: the families of Karpenter's provider for EC2.
const (
	mib, gib          = 1 << 20, 1 << 30
	defaultRootVolume = 20 * gib
	defaultMaxPods    = 110
	maxBytes          = 1 << 60
)

// threshold is an amount, or a part of the capacity in millionths.
type threshold struct {
	bytes, millionths int64
}

func (t threshold) of(capacity int64) int64 {
	if t.millionths > 0 {
		return part(capacity, t.millionths)
	}
	return t.bytes
}

// reserved is an amount per resource; a nil pointer means nothing was said.
type reserved struct {
	cpuMilli, memory, storage *int64
}

// settings is Settings, checked and read once.
type settings struct {
	Settings
	kube, system           reserved
	evictMemory, evictDisk threshold
}

func (s Settings) compile() (settings, error) {
	out := settings{
		Settings:    s,
		evictMemory: threshold{bytes: 100 * mib},
		evictDisk:   threshold{millionths: 100_000},
	}
	var p problems
	out.kube = p.reserved("kubeReserved", s.KubeReserved)
	out.system = p.reserved("systemReserved", s.SystemReserved)
	p.eviction(s.EvictionHard, &out)
	if s.RootVolumeBytes < 0 || s.RootVolumeBytes > maxBytes {
		text := strconv.FormatInt(s.RootVolumeBytes, 10)
		p.add("rootVolumeBytes", text+" is not the size of a volume", "give bytes, or 0 for 20 GiB")
	}
	if s.RootVolumeBytes == 0 {
		out.RootVolumeBytes = defaultRootVolume
	}
	if s.InstanceStore != InstanceStoreUnused && s.InstanceStore != InstanceStoreRAID0 {
		p.add("instanceStore", strconv.Quote(string(s.InstanceStore))+" is not a policy", "use RAID0, or leave it empty")
	}
	if s.MaxPods != nil {
		p.count("maxPods", *s.MaxPods)
	}
	if s.EFAInterfaces != nil {
		p.count("efaInterfaces", *s.EFAInterfaces)
	}
	p.count("podsPerCore", s.PodsPerCore)
	p.count("reservedENIs", s.ReservedENIs)
	p.count("efaOnDefaultCard", s.EFAOnDefaultCard)
	p.count("bootVolumes", s.BootVolumes)
	if s.WindowsBuild != "" && !s.Windows {
		p.add("windowsBuild", "is set for a node that is not Windows", "set windows too, or leave it empty")
	}
	if s.Memory == nil {
		out.Memory = FlatOverhead(defaultOverheadPercent)
	}
	if len(p.faults) > 0 {
		return settings{}, &InputError{Faults: p.faults}
	}
	return out, nil
}

// problems gathers faults.
type problems struct{ faults []scheduling.Fault }

func (p *problems) add(path, problem, remedy string) {
	p.faults = append(p.faults, scheduling.Fault{Path: path, Problem: problem, Remedy: remedy})
}

func (p *problems) count(path string, n int) {
	if n < 0 || n > math.MaxInt32 {
		p.add(path, strconv.Itoa(n)+" is not between 0 and 2147483647", "give a count")
	}
}

func (p *problems) reserved(field string, m map[string]string) reserved {
	var out reserved
	for _, key := range slices.Sorted(maps.Keys(m)) {
		path := field + "." + key
		into, milli := (**int64)(nil), false
		switch key {
		case "cpu":
			into, milli = &out.cpuMilli, true
		case "memory":
			into = &out.memory
		case "ephemeral-storage":
			into = &out.storage
		case "pid":
		default:
			p.add(path, "is not a resource that can be reserved", "use cpu, memory, ephemeral-storage or pid")
			continue
		}
		if n, ok := p.quantity(path, m[key], milli); ok && into != nil {
			*into = &n
		}
	}
	return out
}

// quantity reads an amount in units or, of cpu, in thousandths.
func (p *problems) quantity(path, text string, milli bool) (int64, bool) {
	if hugeExponent(text) {
		p.add(path, strconv.Quote(text)+" is beyond any machine", "write a number such as 100m or 512Mi")
		return 0, false
	}
	q, err := resource.ParseQuantity(text)
	switch {
	case err != nil:
		p.add(path, strconv.Quote(text)+" is not a quantity", "write a number such as 100m or 512Mi")
	case q.Sign() < 0:
		p.add(path, strconv.Quote(text)+" is negative", "write 0 or more")
	case q.CmpInt64(maxBytes/1000) > 0:
		p.add(path, strconv.Quote(text)+" is beyond any machine", "write less")
	case milli:
		return q.MilliValue(), true
	default:
		return q.Value(), true
	}
	return 0, false
}

// hugeExponent reports whether a quantity has an exponent of more than two digits (1e-99999999).
// Such a one means nothing here, and apimachinery spends minutes on it.
func hugeExponent(text string) bool {
	i := strings.LastIndexAny(text, "eE")
	return i >= 0 && len(strings.TrimLeft(text[i+1:], "+-0")) > 2
}

// evictionSignals are those that a kubelet knows.
var evictionSignals = []string{
	"imagefs.available", "imagefs.inodesFree", "memory.available",
	"nodefs.available", "nodefs.inodesFree", "pid.available",
}

func (p *problems) eviction(m map[string]string, out *settings) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		path := "evictionHard." + key
		if !slices.Contains(evictionSignals, key) {
			p.add(path, "is not an eviction signal", "use one of "+strings.Join(evictionSignals, ", "))
			continue
		}
		t, ok := p.threshold(path, m[key])
		switch {
		case !ok:
		case key == "memory.available":
			out.evictMemory = t
		case key == "nodefs.available":
			out.evictDisk = t
		}
	}
}

func (p *problems) threshold(path, text string) (threshold, bool) {
	percent, is := strings.CutSuffix(text, "%")
	if !is {
		n, ok := p.quantity(path, text, false)
		return threshold{bytes: n}, ok
	}
	f, err := strconv.ParseFloat(percent, 64)
	if err != nil || !(f >= 0 && f <= 100) {
		p.add(path, strconv.Quote(text)+" is not a percentage", "write 0% to 100%, such as 5%")
		return threshold{}, false
	}
	if f == 100 {
		return threshold{}, true
	}
	return threshold{millionths: int64(math.Round(f * 10_000))}, true
}
