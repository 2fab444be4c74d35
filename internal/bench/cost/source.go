package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/internal/workload"
	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

const (
	// homeRegion is where everything is planned.
	homeRegion = "us-east-1"
	// defaultSeeds are two further seeds of each kind, in sizes other than those of the files.
	defaultSeeds = "simple:11:1000,simple:12:5000,batch:11:5000,batch:12:20000,gpu-ml:11:1500,gpu-ml:12:3000," +
		"planted:11:1000,planted:12:3000,microservices:11:1000,microservices:12:3000,adversarial:11:1000,adversarial:12:2000"
)

// kinds are those of the generator.
var kinds = []string{"adversarial", "batch", "gpu-ml", "microservices", "planted", "simple"}

// source is where a workload comes from: a file, or arguments of the generator.
type source struct {
	name, path string
	arguments  []string
}

// sources lists what the flags choose, and what of it cannot be had.
func (c config) sources() (out []source, skipped []string, err error) {
	files, err := filepath.Glob(filepath.Join(c.dir, "*"))
	if err != nil {
		return nil, nil, err
	}
	for _, path := range files {
		base := strings.TrimSuffix(filepath.Base(path), ".gz")
		table := base == "bounds.csv" || strings.HasSuffix(base, "-nodes.csv")
		if !table && (strings.HasSuffix(base, ".csv") || strings.HasSuffix(base, ".jsonl")) {
			out = append(out, source{name: filepath.Base(path), path: path})
		}
	}
	generated, err := c.generated()
	if err != nil {
		return nil, nil, err
	}
	out = append(out, generated...)
	unknown := error(nil)
	out = slices.DeleteFunc(out, func(s source) bool {
		for _, glob := range strings.Split(c.match, ",") {
			ok, err := filepath.Match(glob, s.name)
			unknown = errors.Join(unknown, err)
			if ok {
				return false
			}
		}
		return true
	})
	if unknown != nil {
		return nil, nil, fmt.Errorf("-match %q: %w", c.match, unknown)
	}
	_, noPython := exec.LookPath("python3")
	_, noGenerator := os.Stat(c.generator)
	if noPython == nil && noGenerator == nil {
		return out, nil, nil
	}
	out = slices.DeleteFunc(out, func(s source) bool {
		if s.path == "" {
			skipped = append(skipped, s.name+": python3 or the generator is not here")
		}
		return s.path == ""
	})
	return out, skipped, nil
}

// generated reads the flag of the same name.
func (c config) generated() (out []source, err error) {
	if c.generate == "" || c.asSpecified {
		return nil, nil
	}
	for _, text := range strings.Split(c.generate, ",") {
		parts := strings.Split(text, ":")
		if len(parts) < 2 || len(parts) > 3 || !slices.Contains(kinds, parts[0]) {
			return nil, fmt.Errorf("-generate: %q is not KIND:SEED or KIND:SEED:PODS with a kind of %s", text, strings.Join(kinds, ", "))
		}
		for _, number := range parts[1:] {
			if n, err := strconv.Atoi(number); err != nil || n < 1 {
				return nil, fmt.Errorf("-generate: %q in %q is not a number above 0", number, text)
			}
		}
		s := source{name: parts[0] + "-s" + parts[1], arguments: []string{parts[0], "--seed", parts[1], "--region", homeRegion}}
		if len(parts) == 3 {
			s.name += "-" + parts[2]
			s.arguments = append(s.arguments, "--pods", parts[2])
		}
		s.name += " (generated)"
		out = append(out, s)
	}
	return out, nil
}

// read returns the unpacked text and what the format is told by.
func (s source) read(ctx context.Context, generator string) (text []byte, name string, err error) {
	if s.path == "" {
		var stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, "python3", append([]string{generator}, s.arguments...)...)
		cmd.Stderr = &stderr
		if text, err = cmd.Output(); err != nil {
			err = fmt.Errorf("generator: %w: %s", err, stderr.Bytes())
		}
		return text, "generated.jsonl", err
	}
	f, err := os.Open(s.path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(s.path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, "", err
		}
	}
	text, err = io.ReadAll(r)
	return text, strings.TrimSuffix(s.name, ".gz"), err
}

// posed is a workload with types to choose from.
type posed struct {
	problem      *scheduling.Problem
	kind, region string
	// moved is the region that the file is about, if another one.
	moved   string
	planted scheduling.Price
}

// pose gives every pool of the workload the region's types.
func (c config) pose(ctx context.Context, s source) (*posed, error) {
	text, name, err := s.read(ctx, c.generator)
	if err != nil {
		return nil, err
	}
	w, err := workload.Read(bytes.NewReader(text), name)
	if err != nil {
		return nil, err
	}
	out := &posed{region: homeRegion, kind: w.Kind, planted: w.Planted}
	filter := catalog.Filter{Arch: []string{"amd64"}, CapacityTypes: []string{catalog.OnDemand}}
	switch elsewhere := w.Region != "" && w.Region != homeRegion; {
	case c.asSpecified:
		filter = catalog.Filter{}
		if elsewhere {
			out.region = w.Region
		}
	case elsewhere:
		out.moved = w.Region
		if w, err = workload.Read(bytes.NewReader(workload.MoveRegion(text, w.Region, homeRegion)), name); err != nil {
			return nil, err
		}
	}
	if !c.asSpecified {
		w.IgnoreCapacityTypes()
	}
	known, err := catalog.Embedded()
	if err != nil {
		return nil, err
	}
	types, origin, err := known.InstanceTypes(out.region, filter, instancetype.Settings{})
	if err != nil {
		return nil, err
	}
	for i := range w.Pools {
		w.Pools[i].InstanceTypes = types
	}
	if out.kind == "" {
		// Rows say nothing of themselves; the generator's can be told by the file's name.
		if out.kind = "trace"; slices.Contains(kinds, strings.Split(s.name, "-")[0]) {
			out.kind = strings.Split(s.name, "-")[0]
		}
	}
	out.problem = &scheduling.Problem{Pods: w.Pods, Pools: w.Pools, DaemonSets: w.DaemonSets, Catalog: origin}
	return out, nil
}
