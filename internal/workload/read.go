package workload

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// maxPods is how many pods a file may expand to: a typing error in "replicas" should be an error, not
// a machine without memory.
const maxPods = 5_000_000

// maxLine is the longest line of a file in bytes.
const maxLine = 8 << 20

// Workload is what a file says should run.
type Workload struct {
	// Name is the name that Read was given; Kind and Region are what the meta record says, empty for rows.
	Name, Kind, Region string
	// Pods are in namespace "default", in the order of the file. Pods of one group share the slices and
	// maps of their specs and labels: they are to be read, not written.
	Pods []*corev1.Pod
	// Demands are the same pods, many at a time; see ReadDemands. Read leaves them empty.
	Demands []scheduling.Demand
	// Pools have no instance types yet. A file that names none gives one pool "default", open to everything.
	Pools []scheduling.Pool
	// DaemonSets are template pods in namespace "kube-system" that tolerate every taint.
	DaemonSets []*corev1.Pod
	// Planted is the price per hour of the best plan, where the file was made of a known one.
	Planted scheduling.Price
}

// Read reads one file of either format; name is for messages and to tell the format. An error is an *Error.
func Read(r io.Reader, name string) (*Workload, error) { return read(r, name, maxPods, nil) }

// read makes demands in place of pods if told where to gather them.
func read(r io.Reader, name string, podLimit int, d *demands) (*Workload, error) {
	b := builder{demands: d, limit: podLimit, seen: map[string]int{}, out: Workload{Name: name}}
	err := b.readAny(r, name)
	if err != nil && !b.full() {
		b.add("", err.Error(), "")
	}
	if len(b.list) > 0 {
		return nil, &Error{File: name, Faults: b.list, err: err}
	}
	if len(b.out.Pools) == 0 {
		b.out.Pools = []scheduling.Pool{{Name: "default"}}
	}
	return &b.out, nil
}

// readAny returns errors of the reader; what is wrong with the content goes to the builder's faults.
func (b *builder) readAny(r io.Reader, name string) error {
	br := bufio.NewReaderSize(r, 64<<10)
	if magic, _ := br.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(br)
		if err != nil {
			return fmt.Errorf("cannot be unpacked: %w", err)
		}
		br = bufio.NewReaderSize(z, 64<<10)
	}
	if bom, _ := br.Peek(3); string(bom) == "\ufeff" {
		_, _ = br.Discard(3)
	}
	switch base := strings.TrimSuffix(strings.ToLower(name), ".gz"); {
	case strings.HasSuffix(base, ".jsonl"):
		return b.readGroups(br)
	case strings.HasSuffix(base, ".csv"):
		return b.readRows(br)
	}
	if first, _ := br.Peek(1); string(first) == "{" {
		return b.readGroups(br)
	}
	return b.readRows(br)
}
