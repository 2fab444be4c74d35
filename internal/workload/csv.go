package workload

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Names that rows give rise to.
const (
	// groupLabel carries the group of a row's pods.
	groupLabel = "group"
	// gpuNameLabel is the label of EC2 GPU models, see provider/instancetype.
	gpuNameLabel = "karpenter.k8s.aws/instance-gpu-name"
	// gpuResource is the extended resource of whole NVIDIA GPUs.
	gpuResource corev1.ResourceName = "nvidia.com/gpu"
)

var columns = []string{
	"pod", "group", "count", "cpu_milli", "memory_mib", "gpu_count", "gpu_milli", "gpu_names",
	"qos", "max_per_node", "arrival_s", "departure_s",
}

// rowShape is what decides how a row's pods look; pods of equal rows share their spec.
type rowShape struct {
	group, gpuNames, qos        string
	cpu, memory, gpus, maxOnOne int64
}

// rows reads the CSV format.
type rows struct {
	*builder
	index  map[string]int
	record []string
	shapes map[rowShape]*corev1.Pod
}

func (b *builder) readRows(r io.Reader) error {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	t := rows{builder: b, shapes: map[rowShape]*corev1.Pod{}}
	b.line = 1
	header, err := in.Read()
	switch {
	case err == io.EOF:
		b.add("", "the file is empty", "begin with a line of column names: "+strings.Join(columns[:5], ","))
		return nil
	case err != nil:
		return b.csvError(err)
	case !t.readHeader(header):
		return nil
	}
	for !b.full() {
		t.record, err = in.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			if err := b.csvError(err); err != nil {
				return err
			}
			continue
		}
		b.line, _ = in.FieldPos(0)
		t.readRow()
	}
	return nil
}

// csvError turns a mistake of the file into a fault and returns any other error, which ends the reading.
func (b *builder) csvError(err error) error {
	var p *csv.ParseError
	if !errors.As(err, &p) {
		b.line++
		return fmt.Errorf("cannot be read further: %w", err)
	}
	b.line = p.Line
	switch {
	case errors.Is(p.Err, csv.ErrFieldCount):
		b.add("", "has not as many fields as the first line", "separate the values by commas, leave absent ones empty")
	default:
		b.add("", fmt.Sprintf("column %d: %v", p.Column, p.Err), `write quotes inside a quoted value as ""`)
	}
	return nil
}

func (t *rows) readHeader(header []string) bool {
	t.index = map[string]int{}
	for i, name := range header {
		name = strings.TrimSpace(name)
		if !slices.Contains(columns, name) {
			t.add(quote(name), "is no column of a list of pods", "known columns: "+strings.Join(columns, ", "))
		}
		if _, dup := t.index[name]; dup {
			t.add(quote(name), "is there twice", "drop one of the columns")
		}
		t.index[name] = i
	}
	for _, name := range []string{"pod", "cpu_milli", "memory_mib"} {
		if _, ok := t.index[name]; !ok {
			t.add(name, "is missing", "a list of pods has the columns pod, cpu_milli and memory_mib at least")
		}
	}
	return len(t.list) == 0
}

func (t *rows) text(column string) string {
	i, ok := t.index[column]
	if !ok {
		return ""
	}
	return strings.TrimSpace(t.record[i])
}

// number returns the value of an integer column, absent where it is empty.
func (t *rows) number(column string, absent, lowest, highest int64) int64 {
	s := t.text(column)
	if s == "" {
		return absent
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < lowest || n > highest {
		t.add(column, quote(s)+" is not a whole number in range", fmt.Sprintf("write a number from %d to %d", lowest, highest))
		return absent
	}
	return n
}

func (t *rows) readRow() {
	before := len(t.list)
	name := t.text("pod")
	if name == "" || len(name) > 253 {
		t.add("pod", quote(name)+" is not a name", "write 1 to 253 characters")
	}
	shape := rowShape{
		group: t.text("group"), gpuNames: t.text("gpu_names"), qos: t.text("qos"),
		cpu:      t.number("cpu_milli", 0, 0, 1e15),
		memory:   t.number("memory_mib", 0, 0, 1<<40),
		gpus:     t.number("gpu_count", 0, 0, 1e6),
		maxOnOne: t.number("max_per_node", 0, 1, 1e6),
	}
	count := t.number("count", 1, 0, int64(t.limit))
	t.number("gpu_milli", 0, 0, 1e6)
	t.number("arrival_s", 0, -1e15, 1e15)
	t.number("departure_s", 0, -1e15, 1e15)
	if shape.group == "" {
		shape.group = name
	}
	template := t.shapes[shape]
	if template == nil && len(t.list) == before {
		template = t.newTemplate(shape)
	}
	if len(t.list) > before {
		return
	}
	t.shapes[shape] = template
	t.expand(template, name, int(count), count != 1)
}

func (t *rows) newTemplate(s rowShape) *corev1.Pod {
	if wrong := validation.IsValidLabelValue(s.group); len(wrong) > 0 {
		t.add(groupLabel, quote(s.group)+" cannot be the value of a label", wrong[0])
	}
	switch s.qos {
	case "", "LS", "BE", "Burstable", "Guaranteed", "BestEffort":
	default:
		t.add("qos", quote(s.qos)+" is not a class", "write LS, BE, BestEffort, Burstable, Guaranteed or nothing")
	}
	requests := corev1.ResourceList{corev1.ResourceCPU: millis(s.cpu), corev1.ResourceMemory: mebibytes(s.memory)}
	if s.gpus > 0 {
		requests[gpuResource] = *resource.NewQuantity(s.gpus, resource.DecimalSI)
	}
	labels := map[string]string{groupLabel: s.group}
	pod := newPod("default", labels, requests, s.qos == "Guaranteed")
	var node *corev1.NodeAffinity
	if s.gpuNames != "" {
		names := strings.Split(s.gpuNames, "|")
		for _, name := range names {
			if wrong := validation.IsValidLabelValue(name); name == "" || len(wrong) > 0 {
				t.add("gpu_names", quote(name)+" is not the name of a GPU", `separate names by "|", such as t4|a10g`)
			}
		}
		node = requireNode([]corev1.NodeSelectorRequirement{{Key: gpuNameLabel, Operator: corev1.NodeSelectorOpIn, Values: names}})
	}
	var against *corev1.PodAntiAffinity
	switch {
	case s.maxOnOne == 1:
		against = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			affinityTerm(corev1.LabelHostname, labels),
		}}
	case s.maxOnOne > 1:
		// New nodes have no pods of the group, so a skew of N on hosts is N pods on a host at most.
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
			spreadOver(corev1.LabelHostname, int32(s.maxOnOne), labels),
		}
	}
	pod.Spec.Affinity = affinity(node, nil, against)
	return pod
}
