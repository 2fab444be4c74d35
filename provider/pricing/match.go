package pricing

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Offering is what a price is asked for.
type Offering struct {
	Pool, Type, Zone, CapacityType string
	// Listed is what the problem says of it.
	Listed Rate
}

// Match selects offerings. Entries are globs (* and ?) of which one has to match; a list without entries matches all.
type Match struct {
	// Types are names of instance types: "m7i.*" is a family, "*.metal" all bare metal.
	Types []string
	// Zones, CapacityTypes and Pools are names of those.
	Zones, CapacityTypes, Pools []string
}

func (m Match) matches(o *Offering) bool {
	return anyGlob(m.Types, o.Type) && anyGlob(m.Zones, o.Zone) && anyGlob(m.CapacityTypes, o.CapacityType) && anyGlob(m.Pools, o.Pool)
}

func anyGlob(globs []string, name string) bool {
	if len(globs) == 0 {
		return true
	}
	return slices.ContainsFunc(globs, func(g string) bool {
		ok, err := path.Match(g, name)
		return ok && err == nil
	})
}

// String lists what is selected: "m7i.* on-demand in us-east-1a"; "everything" if nothing is excluded.
func (m Match) String() string {
	var parts []string
	add := func(before string, list []string) {
		if len(list) > 0 {
			parts = append(parts, before+strings.Join(list, "|"))
		}
	}
	add("", m.Types)
	add("", m.CapacityTypes)
	add("in ", m.Zones)
	add("of pool ", m.Pools)
	if len(parts) == 0 {
		return "everything"
	}
	return strings.Join(parts, " ")
}

// faults lists globs that cannot be read; at is the path of the match.
func (m Match) faults(at string) (out []scheduling.Fault) {
	for _, f := range []struct {
		name string
		list []string
	}{{"types", m.Types}, {"zones", m.Zones}, {"capacityTypes", m.CapacityTypes}, {"pools", m.Pools}} {
		for i, g := range f.list {
			if _, err := path.Match(g, ""); err != nil || g == "" {
				out = append(out, scheduling.Fault{Path: fmt.Sprintf("%s.%s[%d]", at, f.name, i), Problem: strconv.Quote(g) + " is no glob",
					Remedy: `write a name, with * and ? for what may differ, such as "m7i.*"`})
			}
		}
	}
	return out
}
