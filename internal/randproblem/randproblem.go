package randproblem

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Size bounds what is drawn. Counts are upper bounds; how many there are is drawn too. A zero value gives
// a problem with nothing in it.
type Size struct {
	// Pods counts pods to place, Kinds how many different ones there are (0: as many as drawn).
	Pods, Kinds int
	// Types are shared by all Pools, at least one of each if there are to be any.
	Types, Pools int
	// Nodes exist already, some still starting, with pods on them.
	Nodes, DaemonSets int
	// Plain leaves out what makes one pod depend on others or on the pool as a whole: spread, anti-affinity,
	// limits, minValues, weights.
	Plain bool
	// Broken adds pods that are wrong: negative requests, empty terms, unknown operators.
	Broken bool
	// With says what else there is.
	With Features
}

// Small is a few dozen pods with a bit of everything.
func Small() Size { return Size{Pods: 40, Kinds: 10, Types: 20, Pools: 4, Nodes: 5, DaemonSets: 3} }

// Large is a few hundred pods.
func Large() Size { return Size{Pods: 400, Kinds: 40, Types: 30, Pools: 5, Nodes: 20, DaemonSets: 4} }

// Tiny is small enough to try every way of packing it.
func Tiny() Size { return Size{Pods: 5, Types: 4, Pools: 2, Nodes: 1, DaemonSets: 1, Plain: true} }

// New draws a problem.
func New(seed uint64, size Size) *scheduling.Problem {
	g := &draw{Rand: rand.New(rand.NewPCG(seed, 0x5eed)), size: size}
	p := &scheduling.Problem{
		Catalog: scheduling.Catalog{AsOf: "2026-01-01", Source: fmt.Sprintf("random problem %d", seed), Region: "region-1", Currency: "USD"},
		Namespaces: map[string]map[string]string{
			"default": {"kubernetes.io/metadata.name": "default"},
			"batch":   {"kubernetes.io/metadata.name": "batch", "tier": "low"},
		},
	}
	types := g.types()
	p.Pools = g.pools(types)
	p.DaemonSets = g.daemonSets()
	p.Nodes = g.nodes(p)
	p.Pods = g.pods()
	g.enrich(p)
	if size.With.has(Commitments) {
		commit(seed, p)
	}
	return p
}

// Text is the problem as JSON, for a report.
func Text(p *scheduling.Problem) string {
	text, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return "randproblem: " + err.Error()
	}
	return string(text)
}

// Shuffle returns the same problem with the order of its slices changed: pods, pools, types,
// offerings, nodes and their pods, DaemonSets, demands, gangs, storage, requirements and taints. Pods are left as they are. The
// argument is not touched.
func Shuffle(p *scheduling.Problem, seed uint64) *scheduling.Problem {
	r := rand.New(rand.NewPCG(seed, 0x5aff1e))
	q := *p
	q.Pods = shuffled(r, p.Pods)
	q.DaemonSets = shuffled(r, p.DaemonSets)
	q.Nodes = shuffled(r, p.Nodes)
	for i := range q.Nodes {
		q.Nodes[i].Pods = shuffled(r, q.Nodes[i].Pods)
		q.Nodes[i].Taints = shuffled(r, q.Nodes[i].Taints)
	}
	q.Pools = shuffled(r, p.Pools)
	for i := range q.Pools {
		pool := &q.Pools[i]
		pool.Requirements = shuffled(r, pool.Requirements)
		pool.Taints = shuffled(r, pool.Taints)
		pool.InstanceTypes = shuffled(r, pool.InstanceTypes)
		for j, t := range pool.InstanceTypes {
			c := *t
			c.Requirements = shuffled(r, t.Requirements)
			c.Offerings = shuffled(r, t.Offerings)
			pool.InstanceTypes[j] = &c
		}
	}
	q.Demands = shuffled(r, p.Demands)
	q.Gangs, q.GangLabels = shuffled(r, p.Gangs), shuffled(r, p.GangLabels)
	q.Commitments = shuffled(r, p.Commitments)
	s := &q.Storage
	s.Claims, s.Volumes, s.Classes, s.CSINodes = shuffled(r, s.Claims), shuffled(r, s.Volumes), shuffled(r, s.Classes), shuffled(r, s.CSINodes)
	d := &q.DefaultSpread
	d.Constraints, d.Services, d.Owners = shuffled(r, d.Constraints), shuffled(r, d.Services), shuffled(r, d.Owners)
	return &q
}

func shuffled[T any](r *rand.Rand, s []T) []T {
	out := append([]T(nil), s...)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// draw is a stream of random choices.
type draw struct {
	*rand.Rand
	size Size
}

// upTo draws from 1 to n, 0 if n is 0.
func (g *draw) upTo(n int) int {
	if n <= 0 {
		return 0
	}
	return 1 + g.IntN(n)
}

// chance is true in percent of 100 cases.
func (g *draw) chance(percent int) bool { return g.IntN(100) < percent }

func pick[T any](g *draw, s ...T) T { return s[g.IntN(len(s))] }

// some draws a subset with at least one element, in order.
func some[T any](g *draw, s ...T) []T {
	var out []T
	for _, x := range s {
		if g.chance(50) {
			out = append(out, x)
		}
	}
	if len(out) == 0 {
		out = append(out, pick(g, s...))
	}
	return out
}

func quantities(kv ...any) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(kv); i += 2 {
		name, amount := corev1.ResourceName(kv[i].(string)), int64(kv[i+1].(int))
		switch name {
		case corev1.ResourceCPU:
			out[name] = *resource.NewMilliQuantity(amount, resource.DecimalSI)
		case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
			out[name] = *resource.NewQuantity(amount<<20, resource.BinarySI)
		default:
			out[name] = *resource.NewQuantity(amount, resource.DecimalSI)
		}
	}
	return out
}

const (
	gpu     = "example.com/gpu"
	teamKey = "example.com/team"
	tierKey = "example.com/tier"
	dedi    = "example.com/dedicated"
	zoneID  = "topology.k8s.aws/zone-id"
	rackKey = "example.com/rack"
	revKey  = "rev"
	gangKey = "example.com/gang"
)

func zones() []string { return []string{"zone-a", "zone-b", "zone-c"} }
