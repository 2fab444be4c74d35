package scheduling

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
)

// softTerm is a soft constraint between pods, as far as the order of giving up depends on it.
type softTerm struct {
	kind   board.Kind
	key    string
	weight int32
}

// spreadWeight ranks ScheduleAnyway spreads, which have no weight, above everything that has one.
const spreadWeight = math.MaxInt32

// softTerms lists the soft constraints between pods: spreads, preferred affinity, preferred anti-affinity, each in
// the order in which the pod states them.
func softTerms(p *corev1.Pod, spread []corev1.TopologySpreadConstraint) []softTerm {
	var out []softTerm
	for i := range spread {
		if spread[i].WhenUnsatisfiable == corev1.ScheduleAnyway {
			out = append(out, softTerm{board.Spread, spread[i].TopologyKey, spreadWeight})
		}
	}
	with, without := preferredTerms(p)
	for i := range with {
		out = append(out, softTerm{board.Affinity, with[i].PodAffinityTerm.TopologyKey, with[i].Weight})
	}
	for i := range without {
		out = append(out, softTerm{board.Anti, without[i].PodAffinityTerm.TopologyKey, without[i].Weight})
	}
	return out
}

// String says what is given up.
func (s softTerm) String() string {
	switch s.kind {
	case board.Spread:
		return "spread over " + s.key
	case board.Affinity:
		return fmt.Sprintf("pod affinity over %s (weight %d)", s.key, s.weight)
	}
	return fmt.Sprintf("pod anti-affinity over %s (weight %d)", s.key, s.weight)
}

// preferencesOf are all the constraint's preferences, for nodes and between pods.
func (k *constraint) preferencesOf() []preference {
	out := slices.Clone(k.preferred)
	for i, s := range k.soft {
		out = append(out, preference{text: s.String(), weight: s.weight, soft: i})
	}
	return out
}

// softGroups returns the groups of the class's soft constraints in the order of softTerms, and which of them nobody
// can meet: no node has the label, or nobody is there to be with.
func (g *grouper) softGroups(cl *class, spreads []int32) (groups []int32, out []bool) {
	if !g.c.softPods {
		return nil, nil
	}
	groups = spreads
	with, without := preferredTerms(cl.pod)
	for i := range with {
		groups = append(groups, g.term(board.Affinity, cl.pod, &with[i].PodAffinityTerm, true))
	}
	for i := range without {
		groups = append(groups, g.anti(cl.pod, &without[i].PodAffinityTerm, true))
	}
	for _, id := range groups {
		spec := &g.c.groups[id]
		nowhere := spec.key != board.Host && len(g.c.domainNames[spec.key]) == 0
		out = append(out, spec.kind != board.Anti && nowhere || spec.kind == board.Affinity && len(spec.audience) == 0)
	}
	return groups, out
}
