package instancetype_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

func loadFacts(t testing.TB) map[string]instancetype.Facts {
	t.Helper()
	var file struct{ Facts []instancetype.Facts }
	if tt, ok := t.(*testing.T); ok {
		decode(tt, filepath.Join("testdata", "subset.json"), &file)
	}
	out := map[string]instancetype.Facts{}
	for _, f := range file.Facts {
		out[f.Name] = f
	}
	return out
}

func TestSettings(t *testing.T) {
	const mib, gib = 1 << 20, 1 << 30
	facts := loadFacts(t)
	rows := []struct {
		name, reason string
		typ          string
		s            instancetype.Settings
		// part is what of Resources is looked at: capacity, kube, system, eviction or allocatable.
		part     string
		resource corev1.ResourceName
		want     int64 // thousandths for cpu
	}{
		{"eni pods", "3 interfaces x 9 addresses and 2 pods on the host's network", "m5.large", instancetype.Settings{}, "capacity", "pods", 29},
		{"custom networking", "one interface of 3 has no pods: 2 x 9 + 2, as AWS documents", "m5.large", instancetype.Settings{ReservedENIs: 1}, "capacity", "pods", 20},
		{"all interfaces reserved", "no interface, no pods, not even those on the host's network", "m5.large", instancetype.Settings{ReservedENIs: 9}, "capacity", "pods", 0},
		{"prefixes, few vCPUs", "3 x 9 x 16 + 2 = 434, capped below 30 vCPUs", "m5.large", instancetype.Settings{PrefixDelegation: true}, "capacity", "pods", 110},
		{"prefixes, many vCPUs", "capped at 250 above 30 vCPUs", "c7a.48xlarge", instancetype.Settings{PrefixDelegation: true}, "capacity", "pods", 250},
		{"prefixes below the cap", "one usable interface of 2 x 3 addresses x 16 + 2", "g4ad.xlarge", instancetype.Settings{PrefixDelegation: true, ReservedENIs: 1}, "capacity", "pods", 50},
		{"prefixes on Xen", "its interfaces take no prefixes", "t2.micro", instancetype.Settings{PrefixDelegation: true}, "capacity", "pods", 4},
		{"prefixes on bare metal", "they have no hypervisor, but Nitro cards", "m5.metal", instancetype.Settings{PrefixDelegation: true}, "capacity", "pods", 250},
		{"prefixes leave memory alone", "bootstrap reserves by the type's ENI-limited count", "m5.large", instancetype.Settings{PrefixDelegation: true}, "kube", "memory", (11*29 + 255) * mib},
		{"max pods", "what the user says wins", "m5.large", instancetype.Settings{MaxPods: new(200)}, "capacity", "pods", 200},
		{"max pods 0", "0 is a number, not a default", "m5.large", instancetype.Settings{MaxPods: new(0)}, "capacity", "pods", 0},
		{"max pods leave memory alone", "bootstrap does not know them", "m5.large", instancetype.Settings{MaxPods: new(200)}, "kube", "memory", (11*29 + 255) * mib},
		{"Bottlerocket reserves by pods", "it reserves for the pods that the node takes", "m5.large", instancetype.Settings{MaxPods: new(200), ReserveByPods: true}, "kube", "memory", (11*200 + 255) * mib},
		{"pods per core", "10 x 2 vCPUs is less than 29", "m5.large", instancetype.Settings{PodsPerCore: 10}, "capacity", "pods", 20},
		{"pods per core above the limit", "it never raises the number", "m5.large", instancetype.Settings{PodsPerCore: 100}, "capacity", "pods", 29},
		{"pods per core caps max pods", "the kubelet takes the smaller", "m5.large", instancetype.Settings{PodsPerCore: 10, MaxPods: new(50)}, "capacity", "pods", 20},
		{"Bottlerocket has no pods per core", "the family ignores it", "m5.large", instancetype.Settings{PodsPerCore: 10, NoPodsPerCore: true}, "capacity", "pods", 29},
		{"Windows pods", "the family does not limit pods by interfaces", "m5.large", instancetype.Settings{Windows: true, FixedPods: true, ReserveByPods: true}, "capacity", "pods", 110},
		{"Windows addresses", "one interface serves pods, its first address is not theirs", "m5.large", instancetype.Settings{Windows: true, FixedPods: true}, "capacity", "vpc.amazonaws.com/PrivateIPv4Address", 9},
		{"EFA-only interfaces", "one on the default card takes a place: 14 of 15 interfaces", "p4d.24xlarge", instancetype.Settings{EFAInterfaces: new(4), EFAOnDefaultCard: 1}, "capacity", "pods", 14*49 + 2},
		{"EFA as launched", "the launch attaches 2 of the 4 that the type can have", "p4d.24xlarge", instancetype.Settings{EFAInterfaces: new(2)}, "capacity", "vpc.amazonaws.com/efa", 2},
		{"EFA at most", "a launch cannot attach more than the type has", "p4d.24xlarge", instancetype.Settings{EFAInterfaces: new(9)}, "capacity", "vpc.amazonaws.com/efa", 4},
		{"no EFA", "0 is left out", "p4d.24xlarge", instancetype.Settings{EFAInterfaces: new(0)}, "capacity", "vpc.amazonaws.com/efa", -1},
		{"GPU slice off", "an eighth of a GPU is not one", "g6f.large", instancetype.Settings{}, "capacity", "nvidia.com/gpu", -1},
		{"GPU slice on", "the device plugin sees one device", "g6f.large", instancetype.Settings{GPUSlices: true}, "capacity", "nvidia.com/gpu", 1},
		{"whole GPUs stay", "slices have no say in whole GPUs", "p4d.24xlarge", instancetype.Settings{GPUSlices: true}, "capacity", "nvidia.com/gpu", 8},
		{"Neuron cores", "12 devices of 2 cores", "inf2.48xlarge", instancetype.Settings{}, "capacity", "aws.amazon.com/neuroncore", 24},
		{"root volume", "as large as the user says", "m5.large", instancetype.Settings{RootVolumeBytes: 100 * gib}, "capacity", "ephemeral-storage", 100 * gib},
		{"eviction follows the volume", "10 % of it", "m5.large", instancetype.Settings{RootVolumeBytes: 100 * gib}, "eviction", "ephemeral-storage", 10 * gib},
		{"RAID0", "468 GB of NVMe, decimal", "i4i.large", instancetype.Settings{InstanceStore: instancetype.InstanceStoreRAID0}, "capacity", "ephemeral-storage", 468_000_000_000},
		{"RAID0 without disks", "the root volume stays", "m5.large", instancetype.Settings{InstanceStore: instancetype.InstanceStoreRAID0}, "capacity", "ephemeral-storage", 20 * gib},
		{"RAID0 with old disks", "nothing sets up disks that are not NVMe", "c3.large", instancetype.Settings{InstanceStore: instancetype.InstanceStoreRAID0}, "capacity", "ephemeral-storage", 20 * gib},
		{"cpu tiers", "60 + 10 + 5 + 5 + 188 x 2.5", "c7a.48xlarge", instancetype.Settings{}, "kube", "cpu", 550},
		{"one core", "only the first tier", "t2.micro", instancetype.Settings{}, "kube", "cpu", 60},
		{"kube-reserved cpu", "replaces the tiers", "m5.large", instancetype.Settings{KubeReserved: map[string]string{"cpu": "0.5"}}, "kube", "cpu", 500},
		{"kube-reserved by key", "other keys keep their defaults", "m5.large", instancetype.Settings{KubeReserved: map[string]string{"cpu": "500m"}}, "kube", "ephemeral-storage", gib},
		{"kube-reserved 0", "0 replaces the default", "m5.large", instancetype.Settings{KubeReserved: map[string]string{"memory": "0"}}, "kube", "memory", 0},
		{"system-reserved", "only what the user says", "m5.large", instancetype.Settings{SystemReserved: map[string]string{"memory": "100Mi"}}, "system", "memory", 100 * mib},
		{"no system-reserved", "nothing by default", "m5.large", instancetype.Settings{}, "system", "memory", -1},
		{"all parts", "7577Mi less 574Mi, 100Mi and 50Mi", "m5.large", instancetype.Settings{SystemReserved: map[string]string{"memory": "100Mi"}, EvictionHard: map[string]string{"memory.available": "50Mi"}}, "allocatable", "memory", (7577 - 574 - 100 - 50) * mib},
		{"eviction percent", "5 % of 7577Mi, rounded up to a byte", "m5.large", instancetype.Settings{EvictionHard: map[string]string{"memory.available": "5%"}}, "eviction", "memory", 397_253_018},
		{"eviction 100%", "means off, as for the kubelet", "m5.large", instancetype.Settings{EvictionHard: map[string]string{"memory.available": "100%"}}, "eviction", "memory", 0},
		{"eviction 0%", "means off", "m5.large", instancetype.Settings{EvictionHard: map[string]string{"nodefs.available": "0%"}}, "eviction", "ephemeral-storage", 0},
		{"eviction by key", "the other keeps its default", "m5.large", instancetype.Settings{EvictionHard: map[string]string{"nodefs.available": "15%"}}, "eviction", "memory", 100 * mib},
		{"other signals", "they take nothing that pods request", "m5.large", instancetype.Settings{EvictionHard: map[string]string{"pid.available": "5%"}}, "allocatable", "memory", (7577 - 574 - 100) * mib},
		{"too much reserved", "allocatable is never below 0", "m5.large", instancetype.Settings{SystemReserved: map[string]string{"memory": "1Ti"}}, "allocatable", "memory", 0},
		{"flat overhead", "10 % of 8192 MiB is 819.2, rounded up", "m5.large", instancetype.Settings{Memory: instancetype.FlatOverhead(10)}, "capacity", "memory", (8192 - 820) * mib},
		{"arm64 overhead", "64 MiB are gone before the percentage", "t4g.small", instancetype.Settings{Memory: instancetype.FlatOverhead(0)}, "capacity", "memory", (2048 - 64) * mib},
		{"measured memory", "a measurement replaces the estimate", "m5.large", instancetype.Settings{Memory: instancetype.MeasuredMemory(map[string]int64{"m5.large": 7_800 * mib}, "seen", nil)}, "capacity", "memory", 7800 * mib},
		{"eviction of measured memory", "the percentage is of the same number", "m5.large", instancetype.Settings{Memory: instancetype.MeasuredMemory(map[string]int64{"m5.large": 7_800 * mib}, "seen", nil), EvictionHard: map[string]string{"memory.available": "10%"}}, "eviction", "memory", 780 * mib},
		{"not measured", "the next model is asked", "m5.large", instancetype.Settings{Memory: instancetype.MeasuredMemory(nil, "seen", nil)}, "capacity", "memory", 7577 * mib},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f, ok := facts[row.typ]
			if !ok {
				t.Fatalf("no facts of %s in testdata", row.typ)
			}
			r, err := instancetype.Compute(f, row.s)
			if err != nil {
				t.Fatal(err)
			}
			list := map[string]corev1.ResourceList{
				"capacity": r.Capacity, "kube": r.KubeReserved, "system": r.SystemReserved,
				"eviction": r.EvictionThreshold, "allocatable": r.Allocatable(),
			}[row.part]
			got := int64(-1)
			if q, ok := list[row.resource]; ok {
				got = q.Value()
				if row.resource == "cpu" {
					got = q.MilliValue()
				}
			}
			if got != row.want {
				t.Errorf("%s %s of %s is %d, want %d: %s", row.part, row.resource, row.typ, got, row.want, row.reason)
			}
		})
	}
}

func TestMemorySource(t *testing.T) {
	f := loadFacts(t)["m5.large"]
	model := instancetype.MeasuredMemory(map[string]int64{"m5.large": 1 << 33}, "AL2023, 2026-08", nil)
	for name, want := range map[string]string{"m5.large": "AL2023, 2026-08", "m5.xlarge": "7.5% less than EC2 says"} {
		f.Name, f.Size = name, strings.TrimPrefix(name, "m5.")
		r, err := instancetype.Compute(f, instancetype.Settings{Memory: model})
		if err != nil || r.MemorySource != want {
			t.Errorf("%s: source %q, %v; want %q", name, r.MemorySource, err, want)
		}
	}
}

func TestWindowsLabels(t *testing.T) {
	it, err := instancetype.Build(loadFacts(t)["m5.large"], instancetype.Settings{Windows: true, WindowsBuild: "10.0.20348"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{corev1.LabelOSStable: "windows", corev1.LabelWindowsBuild: "10.0.20348"}
	for _, r := range it.Requirements {
		if v, ok := want[r.Key]; ok && strings.Join(r.Values, ",") == v {
			delete(want, r.Key)
		}
	}
	if len(want) > 0 {
		t.Errorf("labels missing: %v", want)
	}
}

func TestAbsentLabels(t *testing.T) {
	it, err := instancetype.Build(loadFacts(t)["m5.large"], instancetype.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	absent := map[string]bool{}
	for _, r := range it.Requirements {
		if r.Operator == corev1.NodeSelectorOpDoesNotExist {
			absent[strings.TrimPrefix(r.Key, "karpenter.k8s.aws/instance-")] = true
		}
	}
	for _, key := range []string{"gpu-name", "gpu-count", "accelerator-name", "local-nvme", corev1.LabelWindowsBuild} {
		if !absent[key] {
			t.Errorf("m5.large does not say that it never has the label %s", key)
		}
	}
}

func TestBadSettings(t *testing.T) {
	rows := []struct {
		name, reason string
		s            instancetype.Settings
		want         string
	}{
		{"percentage", "Karpenter panics on it", instancetype.Settings{EvictionHard: map[string]string{"memory.available": "five%"}},
			`instancetype: settings: evictionHard.memory.available: "five%" is not a percentage; write 0% to 100%, such as 5%`},
		{"above 100%", "nothing has more than all", instancetype.Settings{EvictionHard: map[string]string{"memory.available": "101%"}},
			`instancetype: settings: evictionHard.memory.available: "101%" is not a percentage; write 0% to 100%, such as 5%`},
		{"negative percentage", "a threshold cannot give back", instancetype.Settings{EvictionHard: map[string]string{"nodefs.available": "-1%"}},
			`instancetype: settings: evictionHard.nodefs.available: "-1%" is not a percentage; write 0% to 100%, such as 5%`},
		{"NaN", "ParseFloat reads it", instancetype.Settings{EvictionHard: map[string]string{"nodefs.available": "NaN%"}},
			`instancetype: settings: evictionHard.nodefs.available: "NaN%" is not a percentage; write 0% to 100%, such as 5%`},
		{"several", "all are reported at once, in a fixed order", instancetype.Settings{
			KubeReserved:   map[string]string{"cpu": "1O", "disk": "1Gi"},
			SystemReserved: map[string]string{"memory": "-1Gi"},
			EvictionHard:   map[string]string{"memory": "5%"},
			MaxPods:        new(-1), PodsPerCore: -2, ReservedENIs: -3, EFAInterfaces: new(-4), EFAOnDefaultCard: -5,
			RootVolumeBytes: -6, InstanceStore: "raid", BootVolumes: -7,
		}, `instancetype: settings: 12 faults
  kubeReserved.cpu: "1O" is not a quantity; write a number such as 100m or 512Mi
  kubeReserved.disk: is not a resource that can be reserved; use cpu, memory, ephemeral-storage or pid
  systemReserved.memory: "-1Gi" is negative; write 0 or more
  evictionHard.memory: is not an eviction signal; use one of imagefs.available, imagefs.inodesFree, memory.available, nodefs.available, nodefs.inodesFree, pid.available
  rootVolumeBytes: -6 is not the size of a volume; give bytes, or 0 for 20 GiB
  instanceStore: "raid" is not a policy; use RAID0, or leave it empty
  maxPods: -1 is not between 0 and 2147483647; give a count
  efaInterfaces: -4 is not between 0 and 2147483647; give a count
  podsPerCore: -2 is not between 0 and 2147483647; give a count
  reservedENIs: -3 is not between 0 and 2147483647; give a count
  ... and 2 more`},
		{"huge", "sums stay within 64 bits", instancetype.Settings{SystemReserved: map[string]string{"memory": "9Ei"}},
			`instancetype: settings: systemReserved.memory: "9Ei" is beyond any machine; write less`},
		{"huge exponent", "apimachinery would spend minutes on it", instancetype.Settings{SystemReserved: map[string]string{"memory": "1e-99999999"}},
			`instancetype: settings: systemReserved.memory: "1e-99999999" is beyond any machine; write a number such as 100m or 512Mi`},
		{"Linux with a Windows build", "one of the two is a mistake", instancetype.Settings{WindowsBuild: "10.0.20348"},
			`instancetype: settings: windowsBuild: is set for a node that is not Windows; set windows too, or leave it empty`},
		{"memory model", "100 % leaves nothing", instancetype.Settings{Memory: instancetype.FlatOverhead(100)},
			`instancetype: settings: memory: memory overhead of 100% is not a percentage from 0 to below 100 (asked for m5.large); mend the memory model`},
		{"negative memory", "a model can be wrong", instancetype.Settings{Memory: instancetype.MeasuredMemory(map[string]int64{"m5.large": -1}, "seen", nil)},
			`instancetype: settings: memory: memory is negative or beyond any machine (asked for m5.large); mend the memory model`},
	}
	f := loadFacts(t)["m5.large"]
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, err := instancetype.Build(f, row.s)
			var input *instancetype.InputError
			if !errors.As(err, &input) {
				t.Fatalf("error is %v, want an *InputError: %s", err, row.reason)
			}
			if err.Error() != row.want {
				t.Errorf("error is\n%s\nwant\n%s", err, row.want)
			}
		})
	}
}

func TestBadFacts(t *testing.T) {
	good := loadFacts(t)["m5.large"]
	rows := []struct {
		name, reason string
		change       func(*instancetype.Facts)
		want         string
	}{
		{"zero value", "nothing is known", func(f *instancetype.Facts) { *f = instancetype.Facts{} },
			`instancetype: facts of (unnamed): 4 faults
  name: "" is not a machine type; write family.size, such as m5.large
  vcpu: 0 is not a number of vCPUs; give the default number of vCPUs
  memoryMiB: 0 is not a machine's memory; give the nominal memory in MiB
  architectures: is empty; name at least one, such as x86_64`},
		{"halves", "labels would contradict the name", func(f *instancetype.Facts) { f.Size = "xlarge" },
			`instancetype: facts of m5.large: family: family "m5" and size "xlarge" are not the halves of the name; use the two halves around the dot`},
		{"macOS", "there is no kubelet for it", func(f *instancetype.Facts) { f.Architectures = []string{"arm64_mac"} },
			`instancetype: facts of m5.large: architectures: no Kubernetes node runs on it; leave this type out`},
		{"bytes", "MiB are wanted", func(f *instancetype.Facts) { f.MemoryMiB = 8 << 30 },
			`instancetype: facts of m5.large: memoryMiB: 8589934592 is not a machine's memory; give the nominal memory in MiB`},
		{"negative", "a count cannot be", func(f *instancetype.Facts) { f.Network.MaxENIs = -1 },
			`instancetype: facts of m5.large: network.maxENIs: -1 is not between 0 and 65536; leave it out where it does not apply`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f := good
			row.change(&f)
			_, err := instancetype.Build(f, instancetype.Settings{})
			if err == nil || err.Error() != row.want {
				t.Errorf("error is\n%v\nwant\n%s\n(%s)", err, row.want, row.reason)
			}
		})
	}
}

func TestVolumeAttachments(t *testing.T) {
	facts := loadFacts(t)
	rows := []struct {
		name, reason        string
		typ                 string
		interfaces, volumes int
		want                int
	}{
		{"shared, one interface", "28 slots less the interface and the root volume", "m5.large", 1, 1, 26},
		{"shared, all interfaces", "each further one takes a slot", "m5.large", 3, 1, 24},
		{"dedicated", "interfaces have slots of their own", "m7i-flex.large", 3, 1, 31},
		{"Bottlerocket", "two boot volumes", "m5.large", 1, 2, 25},
		{"Xen", "interfaces take no slots", "t2.micro", 2, 1, 39},
		{"more than there are", "never below 0", "m5.large", 100, 1, 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := instancetype.VolumeAttachments(facts[row.typ], row.interfaces, row.volumes); got != row.want {
				t.Errorf("%s has room for %d volumes, want %d: %s", row.typ, got, row.want, row.reason)
			}
		})
	}
}

func TestAttachLimit(t *testing.T) {
	facts := loadFacts(t)
	rows := []struct {
		name, reason, typ string
		s                 instancetype.Settings
		want              int64 // -1: none
	}{
		{"shared slots", "27 beside the first interface, less a second one and the root volume: the well-known 25", "m5.large", instancetype.Settings{}, 25},
		{"large", "interfaces that come with later pods do not count", "m5.metal", instancetype.Settings{}, 29},
		{"Bottlerocket", "two boot volumes", "m5.large", instancetype.Settings{BootVolumes: 2}, 24},
		{"custom networking", "the first interface has no pods, so a third comes soon", "m5.large", instancetype.Settings{ReservedENIs: 1}, 24},
		{"all reserved", "the type has three interfaces", "m5.large", instancetype.Settings{ReservedENIs: 9}, 24},
		{"dedicated slots", "interfaces take none", "m7i-flex.large", instancetype.Settings{}, 31},
		{"Xen", "interfaces take none", "t2.micro", instancetype.Settings{}, 39},
		{"Windows", "all pods are on one interface", "m5.large", instancetype.Settings{Windows: true, FixedPods: true}, 26},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			it, err := instancetype.Build(facts[row.typ], row.s)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := it.Capacity[scheduling.AttachLimit("ebs.csi.aws.com")]
			if !ok || got.Value() != row.want {
				t.Errorf("%s takes %s volumes (given: %v), want %d: %s", row.typ, got.String(), ok, row.want, row.reason)
			}
		})
	}
	unknown := facts["m5.large"]
	unknown.EBS.MaxAttachments = 0
	it, err := instancetype.Build(unknown, instancetype.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := it.Capacity[scheduling.AttachLimit("ebs.csi.aws.com")]; ok {
		t.Errorf("a type of which nobody says the attachments takes %s, want no limit", got.String())
	}
	r, err := instancetype.Compute(facts["m5.large"], instancetype.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := r.Capacity[scheduling.AttachLimit("ebs.csi.aws.com")]; ok {
		t.Errorf("what the node reports has %s volumes; kubelets report none", got.String())
	}
}
