package catalog

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/scheduling"
)

func quote(s string) string { return strconv.Quote(s) }

// UnknownRegionError says that a catalogue has no such region.
type UnknownRegionError struct {
	Region string
	// Near are regions with similar names, best first; empty if none is.
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
	var faults []scheduling.Fault
	if len(r.Zones) == 0 {
		faults = append(faults, scheduling.Fault{Path: "zones", Problem: "this catalogue has prices of the region but not its zones", Remedy: "load a snapshot that says what its zones offer"})
		return faults
	}
	for i, glob := range f.Types {
		if fault, bad := c.globFault(r, glob); bad {
			fault.Path = "types[" + strconv.Itoa(i) + "]"
			faults = append(faults, fault)
		}
	}
	for i, arch := range f.Arch {
		if arch != "amd64" && arch != "arm64" {
			faults = append(faults, scheduling.Fault{Path: "arch[" + strconv.Itoa(i) + "]", Problem: quote(arch) + " is not an architecture", Remedy: "use amd64 or arm64"})
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
	return scheduling.Fault{Path: path, Problem: quote(ct) + " is not a capacity type with prices", Remedy: "use on-demand or spot"}, true
}

// globFault says why a glob chooses no type of a region.
func (c *Catalog) globFault(r *region, glob string) (scheduling.Fault, bool) {
	if _, err := path.Match(glob, ""); err != nil {
		return scheduling.Fault{Problem: quote(glob) + " is not a glob", Remedy: "write letters, digits, dots, dashes, * and ?"}, true
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
		return scheduling.Fault{Problem: quote(glob) + " matches only machines that run no Kubernetes node", Remedy: "choose other types"}, true
	case elsewhere:
		return scheduling.Fault{Problem: quote(glob) + " matches only types that " + r.Name + " does not offer", Remedy: "choose other types or another region"}, true
	}
	return c.unknownType(glob), true
}

// unknownType suggests names for a type, or for a glob, that nothing matches.
func (c *Catalog) unknownType(name string) scheduling.Fault {
	family, size, dotted := strings.Cut(name, ".")
	var candidates []string
	for i := range c.snapshot.Types {
		switch f := &c.snapshot.Types[i]; {
		case strings.ContainsAny(name, "*?["):
			candidates = append(candidates, f.Family+".*")
		case dotted && (f.Family == family || f.Size == size):
			candidates = append(candidates, f.Name)
		case !dotted:
			candidates = append(candidates, f.Name, f.Family+".*")
		}
	}
	slices.Sort(candidates)
	names := near(name, slices.Compact(candidates))
	return scheduling.Fault{Path: "type", Problem: "no type matches " + quote(name), Remedy: strings.TrimPrefix(didYouMean(names, "write names such as m5.large or globs such as m5.*"), "; ")}
}

// near returns up to three candidates that differ from name by few letters, best first.
func near(name string, candidates []string) []string {
	type scored struct {
		name string
		d    int
	}
	limit := max(2, len(name)/4)
	var found []scored
	for _, c := range candidates {
		if d := distance(name, c, limit); d <= limit {
			found = append(found, scored{c, d})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.d, b.d), strings.Compare(a.name, b.name))
	})
	var out []string
	for _, s := range found[:min(len(found), 3)] {
		out = append(out, s.name)
	}
	return out
}

// distance is the number of letters to insert, delete or replace, or more than limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
