package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/scheduling"
)

// timing is what JSON output has apart from the plan, which is the same whenever it is made.
type timing struct {
	SolveMillis int64 `json:"solveMillis"`
	LoadMillis  int64 `json:"loadMillis"`
}

// render returns what the flags ask for. Errors are about the input.
func (c *config) render(p *scheduling.Problem, d *scheduling.Document, t timing) ([]byte, error) {
	switch {
	case c.explain != "":
		text, ok := d.ExplainPod(c.explain)
		if !ok {
			return nil, fmt.Errorf("-explain %s: the plan has no such pod; pods are named namespace/name, as in -o json", c.explain)
		}
		return []byte(text), nil
	case c.diff != "":
		before, err := open(c.diff, scheduling.ReadDocument)
		if err != nil {
			return nil, fmt.Errorf("-diff %s: %w", c.diff, err)
		}
		return []byte(scheduling.Diff(before, d).String()), nil
	case c.output == "json":
		return planJSON(d, t)
	case c.output == "nodes":
		return nodesYAML(p, d)
	}
	return fmt.Appendf(nil, "%splanned in %d ms, after %d ms of reading\n", d.Text(scheduling.TextOptions{}), t.SolveMillis, t.LoadMillis), nil
}

// planJSON puts the timing behind the plan, in one object.
func planJSON(d *scheduling.Document, t timing) ([]byte, error) {
	plan, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	clock, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	whole := fmt.Appendf(nil, `%s,"timing":%s}`, bytes.TrimSuffix(plan, []byte("}")), clock)
	if err := json.Indent(&out, whole, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// node is the part of a Node that is known before its kubelet reports.
type node struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Taints []corev1.Taint `json:"taints,omitempty"`
	} `json:"spec"`
	Status struct {
		Capacity    corev1.ResourceList `json:"capacity"`
		Allocatable corev1.ResourceList `json:"allocatable"`
	} `json:"status"`
}

// nodesYAML writes the launches as the Nodes that would register. Their real names are not known, so they are
// numbered within their pool, around the names that are taken.
func nodesYAML(p *scheduling.Problem, d *scheduling.Document) ([]byte, error) {
	taken := map[string]bool{}
	for _, n := range p.Nodes {
		taken[n.Name] = true
	}
	var out bytes.Buffer
	for _, l := range d.Launches {
		n := node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}}
		for i := 1; n.Name == "" || taken[n.Name]; i++ {
			n.Name = fmt.Sprintf("%s-%d", l.Pool, i)
		}
		taken[n.Name] = true
		n.Labels = maps.Clone(l.Labels)
		n.Labels[corev1.LabelHostname] = n.Name
		n.Spec.Taints = slices.Concat(l.Taints, l.StartupTaints)
		n.Status.Capacity, n.Status.Allocatable = onNode(l.Capacity), onNode(l.Allocatable)
		objects := []any{n}
		if d := drivers(n.Name, l.Allocatable); len(d) > 0 && len(p.Storage.Claims)+len(p.Storage.Volumes) > 0 {
			c := storagev1.CSINode{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSINode"}}
			c.Name, c.Spec.Drivers = n.Name, d
			objects = append(objects, c)
		}
		for _, object := range objects {
			text, err := yaml.Marshal(object)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&out, "---\n%s", text)
		}
	}
	return out.Bytes(), nil
}

// attachPrefix begins the resources that say how many volumes can be attached: a Node has none of them, its CSINode
// says it.
var attachPrefix = string(scheduling.AttachLimit(""))

func onNode(all corev1.ResourceList) corev1.ResourceList {
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(name corev1.ResourceName, _ resource.Quantity) bool {
		return strings.HasPrefix(string(name), attachPrefix)
	})
	return out
}

func drivers(node string, all corev1.ResourceList) (out []storagev1.CSINodeDriver) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if driver, ok := strings.CutPrefix(string(name), attachPrefix); ok {
			q := all[name]
			n := int32(q.Value())
			out = append(out, storagev1.CSINodeDriver{Name: driver, NodeID: node, Allocatable: &storagev1.VolumeNodeResources{Count: &n}})
		}
	}
	return out
}

// progress draws a line on a terminal and does nothing elsewhere.
func progress(stderr io.Writer) func(scheduling.Progress) {
	f, ok := stderr.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return func(p scheduling.Progress) {
		fmt.Fprintf(f, "\r%s: %d of %d pods\x1b[K", p.Stage, p.Done, p.Total)
		if p.Done == p.Total {
			fmt.Fprint(f, "\r\x1b[K")
		}
	}
}
