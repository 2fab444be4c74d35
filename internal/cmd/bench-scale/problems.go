package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/workload"
	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

// bench makes the problems of one call of the command.
type bench struct {
	config
	types  []*scheduling.InstanceType
	origin scheduling.Catalog
}

func amd64Types() ([]*scheduling.InstanceType, scheduling.Catalog, error) {
	known, err := catalog.Embedded()
	if err != nil {
		return nil, scheduling.Catalog{}, err
	}
	return known.InstanceTypes("us-east-1", catalog.Filter{Arch: []string{"amd64"}}, instancetype.Settings{})
}

func (b *bench) plainProblem(pods int) *scheduling.Problem { return b.shapedProblem(pods, b.shapes) }

func (b *bench) shapedProblem(pods, shapes int) *scheduling.Problem {
	return &scheduling.Problem{
		Pods:    workload.Plain(pods, shapes, b.seed),
		Pools:   []scheduling.Pool{{Name: "default", InstanceTypes: b.types}},
		Catalog: b.origin,
	}
}

func (b *bench) spreadProblem(pods int) *scheduling.Problem {
	return &scheduling.Problem{
		Pods:    workload.Spread(pods, max(1, pods/10), b.seed),
		Pools:   []scheduling.Pool{{Name: "default", InstanceTypes: b.types}},
		Catalog: b.origin,
	}
}

func (b *bench) servicesProblem(pods int) *scheduling.Problem {
	w := workload.Services(pods, max(1, pods/10), [3]string{"us-east-1a", "us-east-1b", "us-east-1c"}, b.seed)
	for i := range w.Pools {
		w.Pools[i].InstanceTypes = b.types
	}
	return &scheduling.Problem{Pods: w.Pods, Pools: w.Pools, DaemonSets: w.DaemonSets, Catalog: b.origin}
}

// leftOver counts the pods left over by code.
func leftOver(plan *scheduling.Plan) string {
	count := map[scheduling.Code]int{}
	for _, u := range plan.Unplaced {
		count[plan.Reasons[u.Reason].Code]++
	}
	var parts []string
	for _, code := range slices.Sorted(maps.Keys(count)) {
		parts = append(parts, fmt.Sprintf("%d %s", count[code], code))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
