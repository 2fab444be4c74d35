package main

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/workload"
	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/provider/manifest"
	"github.com/fleetwright/fleetwright/scheduling"
	"github.com/fleetwright/fleetwright/scheduling/snapshot"
)

//go:embed cluster
var cluster embed.FS

const (
	homeRegion  = "us-east-1" // Where the embedded cluster is.
	maxFindings = 100         // Printed; a file that is no YAML at all may have any number.
)

// problem makes the problem that the flags describe, and writes it to -dump. Errors are about the input;
// warnings go to stderr.
func (c *config) problem(stdin io.Reader, stderr io.Writer) (*scheduling.Problem, error) {
	p, err := c.read(stdin, stderr)
	if err != nil || c.dump == "" {
		return p, err
	}
	b, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	return p, os.WriteFile(c.dump, b, 0o666)
}

// read reads the input and gives its pools the machine types that the flags allow.
func (c *config) read(stdin io.Reader, stderr io.Writer) (*scheduling.Problem, error) {
	if c.replay != "" {
		return open(c.replay, scheduling.ReadProblem)
	}
	p, manifests, err := c.objects(stdin, stderr)
	if err != nil {
		return nil, err
	}
	region := regionOf(p)
	if c.pods != "" {
		w, err := open(c.pods, func(r io.Reader) (*workload.Workload, error) { return workload.Read(r, c.pods) })
		if err != nil {
			return nil, err
		}
		p.Pods = append(p.Pods, w.Pods...)
		p.DaemonSets = append(p.DaemonSets, w.DaemonSets...)
		if !reflect.DeepEqual(w.Pools, openPool) { // That is what a file without pools has.
			p.Pools = append(p.Pools, w.Pools...)
		}
		region = cmp.Or(region, w.Region)
	}
	if p.PodCount() == 0 {
		fmt.Fprintln(stderr, "plan: warning: the input has no pods that need a node")
	}
	if len(p.Pools) == 0 {
		p.Pools = slices.Clone(openPool)
		fmt.Fprintln(stderr, `plan: warning: the input has no NodePool: planning with one, "default", that takes every type the flags allow`)
	}
	if err := c.attach(p, cmp.Or(c.region, region, homeRegion), stderr); err != nil {
		return nil, err
	}
	findings, err := manifests.ApplyOverlays(p)
	printFindings(stderr, findings)
	return p, err
}

// openPool is the pool of an input that has none.
var openPool = []scheduling.Pool{{Name: "default"}}

// attach gives the pools the types of a region, and leaves out nodes that are in another one.
func (c *config) attach(p *scheduling.Problem, region string, stderr io.Writer) error {
	known, err := catalog.Embedded()
	if err != nil {
		return err
	}
	filter := catalog.Filter{Types: c.types, Arch: c.arch, CapacityTypes: c.capacityTypes}
	types, origin, err := known.InstanceTypes(region, filter, instancetype.Settings{})
	if unknown := new(catalog.UnknownRegionError); errors.As(err, &unknown) {
		return fmt.Errorf("-region: %w: %s", err, strings.Join(known.Regions(), ", "))
	} else if err != nil {
		return err
	}
	p.Catalog = origin
	startup := map[string][]corev1.Taint{}
	for i := range p.Pools {
		p.Pools[i].InstanceTypes = types
		startup[p.Pools[i].Name] = p.Pools[i].StartupTaints
	}
	p.Nodes = slices.DeleteFunc(p.Nodes, func(n scheduling.Node) bool {
		at := n.Labels[corev1.LabelTopologyRegion]
		if at == "" || at == region {
			return false
		}
		fmt.Fprintf(stderr, "plan: warning: node %s is in %s, not in %s: left out, with the %d pods on it\n", n.Name, at, region, len(n.Pods))
		return true
	})
	for i := range p.Nodes {
		p.Nodes[i].StartupTaints = startup[p.Nodes[i].Pool]
	}
	return nil
}

// objects reads -f, or the embedded cluster where no other input is given. Every finding is printed.
func (c *config) objects(stdin io.Reader, stderr io.Writer) (*scheduling.Problem, *manifest.Result, error) {
	var loader snapshot.Loader
	var errs []error
	for _, name := range c.files {
		errs = append(errs, readInto(&loader, name, stdin))
	}
	if len(c.files) == 0 && c.pods == "" {
		fmt.Fprintln(stderr, "plan: no input: planning for the example cluster in examples/plan/cluster; -h tells how to plan for yours")
		errs = append(errs, readCluster(&loader, cmp.Or(c.region, homeRegion)))
	}
	found := loader.Result()
	manifests := manifest.Read(found.Rest)
	findings := snapshot.SortFindings(append(found.Findings, manifests.Findings...))
	printFindings(stderr, findings)
	unused := map[string]int{}
	for _, d := range manifests.Rest {
		unused[d.Kind+" of "+d.APIVersion]++
	}
	for _, kind := range slices.Sorted(maps.Keys(unused)) {
		fmt.Fprintf(stderr, "plan: warning: not used: %d %s\n", unused[kind], kind)
	}
	if found.Err() != nil || manifests.Err() != nil {
		errs = append(errs, errors.New("the input has errors, listed above; mend or leave out what they name"))
	}
	found.Problem.Pools = manifests.SchedulingPools()
	return &found.Problem, manifests, errors.Join(errs...)
}

// printFindings prints errors first.
func printFindings(stderr io.Writer, findings []snapshot.Finding) {
	slices.SortStableFunc(findings, func(a, b snapshot.Finding) int { return cmp.Compare(a.Severity, b.Severity) })
	for i, f := range findings {
		if i == maxFindings {
			fmt.Fprintf(stderr, "plan: ... and %d more\n", len(findings)-i)
			break
		}
		fmt.Fprintf(stderr, "plan: %s: %s\n", f.Severity, f)
	}
}

func readInto(l *snapshot.Loader, name string, stdin io.Reader) error {
	if name == "-" {
		return l.Read("standard input", stdin)
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	switch ext := filepath.Ext(strings.TrimSuffix(name, ".gz")); {
	case ext == ".csv" || ext == ".jsonl":
		return fmt.Errorf("-f %s: a list of pods is no Kubernetes object; give it with -pods", name)
	case info.IsDir():
		dir, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		return l.ReadFS(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	}
	_, err = open(name, func(r io.Reader) (any, error) { return nil, l.Read(name, r) })
	return err
}

// readCluster reads the embedded cluster as if it were in another region: its zones are named after it.
func readCluster(l *snapshot.Loader, region string) error {
	return fs.WalkDir(cluster, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := cluster.ReadFile(name)
		if err != nil {
			return err
		}
		return l.Read(name, bytes.NewReader(bytes.ReplaceAll(text, []byte(homeRegion), []byte(region))))
	})
}

// open reads the file of that name.
func open[T any](name string, read func(io.Reader) (T, error)) (T, error) {
	f, err := os.Open(name)
	if err != nil {
		return *new(T), err
	}
	defer f.Close()
	return read(f)
}

// regionOf is the region that the nodes or the pools name, if any does.
func regionOf(p *scheduling.Problem) string {
	for _, n := range p.Nodes {
		if r := n.Labels[corev1.LabelTopologyRegion]; r != "" {
			return r
		}
	}
	for _, pool := range p.Pools {
		for _, r := range pool.Requirements {
			if len(r.Values) == 0 || r.Operator != corev1.NodeSelectorOpIn {
				continue
			}
			switch r.Key {
			case corev1.LabelTopologyRegion:
				return r.Values[0]
			case corev1.LabelTopologyZone: // us-east-1a; names of local zones are longer.
				return strings.TrimRight(r.Values[0], "abcdefgh")
			}
		}
	}
	return ""
}
