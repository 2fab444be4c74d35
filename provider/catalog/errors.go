package catalog

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/internal/spelling"
	"github.com/fleetwright/fleetwright/scheduling"
)

func quote(s string) string { return strconv.Quote(s) }

func fault(path, problem, remedy string) scheduling.Fault {
	return scheduling.Fault{Path: path, Problem: problem, Remedy: remedy}
}

// UnknownRegionError says that a catalogue has no such region.
type UnknownRegionError struct {
	Region string
	// Near are regions with similar names, empty if none is.
	Near []string
}

// Error names similar regions.
func (e *UnknownRegionError) Error() string {
	return "catalog: no region " + quote(e.Region) + didYouMean(e.Near, "Regions lists those of this catalogue")
}

// FilterError says why a filter or a lookup has no answer in a region.
type FilterError struct {
	Region string
	Faults []scheduling.Fault
}

// Error prints at most ten faults.
func (e *FilterError) Error() string { return printFaults("catalog: region "+e.Region, e.Faults) }

func filterError(region string, faults ...scheduling.Fault) *FilterError {
	return &FilterError{Region: region, Faults: faults}
}

// SnapshotError lists everything wrong with a snapshot.
type SnapshotError struct{ Faults []scheduling.Fault }

// Error prints at most ten faults.
func (e *SnapshotError) Error() string { return printFaults("catalog: snapshot", e.Faults) }

func printFaults(head string, faults []scheduling.Fault) string {
	if len(faults) == 1 {
		return head + ": " + faults[0].String()
	}
	s := fmt.Sprintf("%s: %d faults", head, len(faults))
	for i, f := range faults {
		if i == 10 {
			return s + fmt.Sprintf("\n  ... and %d more", len(faults)-i)
		}
		s += "\n  " + f.String()
	}
	return s
}

func didYouMean(names []string, otherwise string) string {
	if len(names) == 0 {
		return "; " + otherwise
	}
	return "; did you mean " + strings.Join(names, ", ") + "?"
}

// filterFaults returns what is wrong with a filter in a region.
func (c *Catalog) filterFaults(r *region, f Filter) []scheduling.Fault {
	if len(r.Zones) == 0 {
		return []scheduling.Fault{fault("zones", "this catalogue has prices of the region but not its zones",
			"load a snapshot that says what its zones offer")}
	}
	var faults []scheduling.Fault
	for i, glob := range f.Types {
		if fault, bad := c.globFault(r, glob); bad {
			fault.Path = "types[" + strconv.Itoa(i) + "]"
			faults = append(faults, fault)
		}
	}
	for i, arch := range f.Arch {
		if arch != "amd64" && arch != "arm64" {
			at := "arch[" + strconv.Itoa(i) + "]"
			faults = append(faults, fault(at, quote(arch)+" is not an architecture", "use amd64 or arm64"))
		}
	}
	for i, ct := range f.CapacityTypes {
		if fault, bad := unknownCapacityType("capacityTypes["+strconv.Itoa(i)+"]", ct); bad {
			faults = append(faults, fault)
		}
	}
	return faults
}

func unknownCapacityType(path, ct string) (scheduling.Fault, bool) {
	if ct == OnDemand || ct == Spot {
		return scheduling.Fault{}, false
	}
	return fault(path, quote(ct)+" is not a capacity type with prices", "use on-demand or spot"), true
}

// globFault says why a glob chooses no type of a region.
func (c *Catalog) globFault(r *region, glob string) (scheduling.Fault, bool) {
	if _, err := path.Match(glob, ""); err != nil {
		return fault("", quote(glob)+" is not a glob", "write letters, digits, dots, dashes, * and ?"), true
	}
	elsewhere, unfit := false, false
	for i := range c.snapshot.Types {
		f := &c.snapshot.Types[i]
		switch {
		case !match(glob, f.Name):
		case r.zones[i] == 0:
			elsewhere = true
		case f.Arch() == "":
			unfit = true
		default:
			return scheduling.Fault{}, false
		}
	}
	switch {
	case unfit:
		return fault("", quote(glob)+" matches only machines that run no Kubernetes node",
			"choose other types"), true
	case elsewhere:
		return fault("", quote(glob)+" matches only types that "+r.Name+" does not offer",
			"choose other types or another region"), true
	}
	return c.unknownType(glob), true
}

// unknownType suggests names for a type, or for a glob, that nothing matches.
func (c *Catalog) unknownType(name string) scheduling.Fault {
	fault := scheduling.Fault{Path: "type", Problem: "no type matches " + quote(name)}
	family, size, dotted := strings.Cut(name, ".")
	glob := strings.ContainsAny(name, "*?[")
	var candidates []string
	for i := range c.snapshot.Types {
		switch f := &c.snapshot.Types[i]; {
		case f.Family == name:
			fault.Remedy = "write " + name + ".* for all its sizes"
			return fault
		case glob:
			candidates = append(candidates, f.Family+".*")
		case !dotted || f.Family == family || f.Size == size:
			candidates = append(candidates, f.Name)
		}
	}
	slices.Sort(candidates)
	names := near(name, slices.Compact(candidates))
	hint := didYouMean(names, "write names such as m5.large or globs such as m5.*")
	fault.Remedy = strings.TrimPrefix(hint, "; ")
	return fault
}

// near returns up to three candidates, sorted, that differ least from name, and by few letters.
func near(name string, candidates []string) []string {
	best := max(1, len(name)/3)
	var out []string
	for _, c := range candidates {
		switch d := distance(name, c, best); {
		case d < best:
			best, out = d, []string{c}
		case d == best:
			out = append(out, c)
		}
	}
	slices.Sort(out)
	return out[:min(len(out), 3)]
}

// distance is the number of letters to insert, delete or replace, or more than limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	return spelling.Distance(a, b)
}
