package instancetype

import (
	"errors"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

var errMemoryRange = errors.New("memory is negative or beyond any machine")

const labelPrefix = "karpenter.k8s.aws/instance-"

// requirements spells the labels of a node, sorted by key: In with one value for a label it has,
// DoesNotExist for one of Karpenter's that it lacks.
func (s *settings) requirements(f *Facts) []scheduling.Requirement {
	out := requirementList{make([]scheduling.Requirement, 0, 40), make([]string, 0, 40)}
	out.accelerator(f)
	out.add("capability-flex", strconv.FormatBool(strings.Contains(f.Family, "-flex")))
	category, generation := nameParts(f.Name)
	out.addKnown("category", category, category != "")
	out.addInt("cpu", int64(f.VCPU), true)
	out.add("cpu-manufacturer", labelValue(f.CPUManufacturer))
	// EC2 gives some old types no clock speed; Karpenter labels them 0.
	out.addInt("cpu-sustained-clock-speed-mhz", int64(math.Round(f.ClockGHz*1000)), true)
	out.addInt("ebs-bandwidth", int64(f.EBS.MaxMbps), f.EBS.Optimized == "default" && f.EBS.MaxMbps > 0)
	out.add("encryption-in-transit-supported", strconv.FormatBool(f.Network.EncryptionInTransit))
	out.add("family", f.Family)
	out.addKnown("generation", generation, generation != "")
	out.gpu(f)
	out.add("hypervisor", f.Hypervisor)
	out.addInt("local-nvme", f.nvmeGB(), f.nvmeGB() > 0)
	out.addInt("memory", f.MemoryMiB, true)
	out.addInt("network-bandwidth", int64(f.Network.BandwidthMbps), f.Network.BandwidthMbps > 0)
	out.add("size", f.Size)
	out.raw(corev1.LabelArchStable, f.Arch(), true)
	if s.Windows {
		out.raw(corev1.LabelOSStable, "windows", true)
	} else {
		out.raw(corev1.LabelOSStable, "linux", true)
	}
	out.raw(corev1.LabelInstanceTypeStable, f.Name, true)
	out.raw(corev1.LabelWindowsBuild, s.WindowsBuild, s.WindowsBuild != "")
	return out.list
}

// requirementList grows a list of requirements whose values share one array.
type requirementList struct {
	list   []scheduling.Requirement
	values []string
}

func (l *requirementList) raw(key, value string, known bool) {
	r := scheduling.Requirement{Key: key, Operator: corev1.NodeSelectorOpDoesNotExist}
	if known {
		n := len(l.values)
		l.values = append(l.values, value)
		r.Operator, r.Values = corev1.NodeSelectorOpIn, l.values[n:n+1:n+1]
	}
	l.list = append(l.list, r)
}

func (l *requirementList) addKnown(name, value string, known bool) {
	l.raw(labelPrefix+name, value, known)
}
func (l *requirementList) add(name, value string) { l.raw(labelPrefix+name, value, true) }

func (l *requirementList) addInt(name string, n int64, known bool) {
	l.raw(labelPrefix+name, strconv.FormatInt(n, 10), known)
}

// accelerator labels describe the one kind of device for inference or training that a type has.
func (l *requirementList) accelerator(f *Facts) {
	var a Accelerator
	switch {
	case len(f.InferenceAccelerators) == 1:
		a = f.InferenceAccelerators[0]
	case len(f.InferenceAccelerators) == 0 && len(f.Neuron) == 1:
		a = Accelerator{Name: f.Neuron[0].Name, Manufacturer: "aws", Count: f.Neuron[0].Count}
	}
	known := a.Name != ""
	l.addInt("accelerator-count", int64(a.Count), known)
	l.addKnown("accelerator-manufacturer", labelValue(a.Manufacturer), known)
	l.addKnown("accelerator-name", labelValue(a.Name), known)
}

// gpu labels are only there where all GPUs are of one kind.
func (l *requirementList) gpu(f *Facts) {
	var g GPU
	known := len(f.GPUs) == 1
	if known {
		g = f.GPUs[0]
	}
	l.addInt("gpu-count", int64(g.Count), known)
	l.addKnown("gpu-manufacturer", labelValue(g.Manufacturer), known)
	l.addInt("gpu-memory", g.MemoryMiB, known)
	l.addKnown("gpu-name", labelValue(g.Name), known)
}

// labelValue makes EC2's names fit for labels.
func labelValue(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "-")) }

// nameParts returns the category of a type, the leading letters of its name, and its generation,
// the first number behind them; the terabytes in u-12tb1 are no generation.
func nameParts(name string) (category, generation string) {
	family, _, _ := strings.Cut(name, ".")
	rest := strings.TrimLeft(family, "abcdefghijklmnopqrstuvwxyz")
	category = family[:len(family)-len(rest)]
	if tail, ok := strings.CutPrefix(rest, "-"); ok {
		digits := leadingDigits(tail)
		if after, ok := strings.CutPrefix(tail[len(digits):], "tb"); ok && digits != "" {
			rest = after
		}
	}
	return category, leadingDigits(rest)
}

func leadingDigits(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))] }
