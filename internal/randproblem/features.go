package randproblem

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Features are what a problem may hold beyond pods, pools, nodes and DaemonSets. Without any, a seed gives the problem that
// it always gave.
type Features uint32

const (
	// Spreads are required topology spreads of every kind, over zone, hostname, capacity type, architecture, zone id and rack.
	Spreads Features = 1 << iota
	// Affinities are required pod affinities and anti-affinities, over the same keys and over namespaces.
	Affinities
	// Soft are ScheduleAnyway spreads and preferred pod affinities and anti-affinities.
	Soft
	// DefaultSpreads are those of kube-scheduler's configuration, with services and owners.
	DefaultSpreads
	// Volumes are claims, usable or not, and limits on how many volumes a node attaches.
	Volumes
	// Reservations are reserved offerings with a count, shared between types and pools.
	Reservations
	// Limits are pool limits that a handful of pods can exhaust.
	Limits
	// Priorities of pods.
	Priorities
	// Gangs by schedulingGroup and by label.
	Gangs
	// Demands are pods by the number, some of them buffers.
	Demands
	// Devices are dynamic resource claims.
	Devices
	// PoolPreferences are policies of pools for soft constraints.
	PoolPreferences
	// Commitments are numbers of instances and amounts of money that lower the price of some offerings.
	Commitments

	// Everything is all of them.
	Everything Features = 1<<iota - 1
)

func (f Features) has(one Features) bool { return f&one != 0 }

// Constrained is a few dozen pods with every kind of constraint.
func Constrained() Size {
	s := Small()
	s.With = Everything
	return s
}

// TinyConstrained is small enough to try every plan and every order of binding: at most seven pods of three kinds.
// It has no DaemonSets, weights or minValues.
func TinyConstrained() Size {
	return Size{Pods: 5, Kinds: 3, Types: 4, Pools: 3, Nodes: 3, Plain: true, With: Everything}
}

// constrain draws for a kind of pod all that has to do with other pods, volumes and scarce supply.
func (g *draw) constrain(p *corev1.Pod) {
	with := g.size.With
	if g.chance(50) {
		p.Labels[revKey] = pick(g, "1", "2")
	}
	if g.chance(6) {
		if p.Spec.NodeSelector == nil {
			p.Spec.NodeSelector = map[string]string{}
		}
		p.Spec.NodeSelector[rackKey] = pick(g, racks()...)
	}
	if with.has(Spreads) && g.chance(40) {
		g.spreads(p)
	}
	if with.has(Affinities) && g.chance(40) {
		g.affinities(p)
	}
	if with.has(Soft) && g.chance(25) {
		g.softly(p)
	}
	if with.has(DefaultSpreads) && g.chance(40) {
		controller := true
		p.OwnerReferences = append(p.OwnerReferences, ownerOf(pick(g, "ReplicaSet", "StatefulSet", "ReplicationController"), p.Labels["app"], &controller))
	}
	if with.has(Volumes) && g.chance(30) {
		g.volumes(p)
	}
	if with.has(Priorities) {
		p.Spec.Priority = pick(g, nil, nil, ptr[int32](0), ptr[int32](1000), ptr[int32](-10), ptr[int32](2_000_000_000))
	}
	if with.has(Devices) && g.chance(3) {
		p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "device", ResourceClaimName: ptr("device-0")}}
	}
}

// enrich draws what belongs to the problem as a whole.
func (g *draw) enrich(p *scheduling.Problem) {
	with := g.size.With
	if with.has(Demands) {
		p.Demands = g.demands()
	}
	if with.has(Gangs) {
		g.gangs(p)
	}
	if with.has(DefaultSpreads) {
		p.DefaultSpread = g.defaultSpread()
	}
	if with.has(Volumes) {
		g.storage(p)
	}
}

// demands draws pods by the number; in the smallest problems at most two.
func (g *draw) demands() []scheduling.Demand {
	var out []scheduling.Demand
	for i := range g.IntN(1 + max(1, g.size.Pods/15)) {
		out = append(out, g.demand(i))
	}
	if len(out) == 0 && g.chance(30) {
		out = append(out, g.demand(0))
	}
	return out
}

func (g *draw) demand(i int) scheduling.Demand {
	stem := fmt.Sprintf("demand-%c", 'a'+i)
	d := scheduling.Demand{Template: g.pod(stem), Count: int32(g.upTo(max(2, g.size.Pods/8))), Buffer: g.chance(30)}
	if g.chance(30) {
		d.Names = []string{stem + "-first"}
	}
	return d
}

// gangs makes kinds of pods gangs, some of two kinds together, and lists some of them. Gangs have one priority.
func (g *draw) gangs(p *scheduling.Problem) {
	p.GangLabels = []string{gangKey}
	member := map[string]string{} // by kind: the gang, empty for none
	for _, space := range []string{"default", "batch"} {
		for _, name := range []string{"gang-0", "gang-1"} {
			if g.chance(60) {
				p.Gangs = append(p.Gangs, scheduling.Gang{Namespace: space, Name: name, MinCount: int32(g.IntN(4)), Basic: g.chance(10)})
			}
		}
	}
	label := g.chance(50)
	join := func(pod *corev1.Pod, kind string) {
		gang, known := member[kind]
		if !known {
			gang = pick(g, "", "", "", "", "", "", "gang-0", "gang-1")
			member[kind] = gang
		}
		switch {
		case gang == "":
		case label:
			pod.Labels[gangKey] = gang
		default:
			pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr(gang)}
		}
		if gang != "" {
			pod.Spec.Priority = nil
		}
	}
	for _, pod := range p.Pods {
		join(pod, kindOf(pod.Name))
	}
	for i := range p.Demands {
		join(p.Demands[i].Template, p.Demands[i].Template.Name)
	}
	for i := range p.Nodes {
		for _, pod := range p.Nodes[i].Pods {
			if pod.Labels["agent"] == "" && g.chance(10) {
				join(pod, pod.Name)
			}
		}
	}
}

// kindOf takes the number off a pod's name.
func kindOf(name string) string {
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '-' {
			return name[:i]
		}
	}
	return name
}

// reserved draws offerings of capacity reservations in a zone.
func (g *draw) reserved(zone string, base int) []scheduling.Offering {
	if !g.chance(30) {
		return nil
	}
	id := pick(g, "reservation-0", "reservation-1", "reservation-2")
	return []scheduling.Offering{{Zone: zone, CapacityType: "reserved", Price: scheduling.PriceFromNano(int64(base / pick(g, 2, 10, 1000))),
		Labels: map[string]string{zoneID: "id-" + zone}, Reservation: id, Count: int32(pick(g, 0, 1, 1, 2, 3))}}
}

// scarce draws limits and policies of a pool, and racks that its nodes may be in.
func (g *draw) scarce(p *scheduling.Pool) {
	with := g.size.With
	if with.has(Limits) && g.size.Plain && g.chance(35) {
		p.Limits = quantities("cpu", 1000*pick(g, 0, 4, 8, 16, 48))
		if g.chance(40) {
			p.Limits = quantities(string(scheduling.NodesResource), pick(g, 1, 1, 2, 3))
		}
	}
	if with.has(PoolPreferences) && g.chance(25) {
		p.Preferences = ptr(pick(g, scheduling.PreferencesIgnore, scheduling.PreferencesRespect, scheduling.PreferencesCap))
	}
	if with.has(Spreads | Affinities) {
		switch g.IntN(5) {
		case 0:
			if p.Labels == nil {
				p.Labels = map[string]string{}
			}
			p.Labels[rackKey] = pick(g, racks()...)
		case 1, 2:
			p.Requirements = append(p.Requirements, in(rackKey, some(g, racks()...)...))
		}
	}
}

func racks() []string { return []string{"rack-1", "rack-2", "rack-3"} }

// commit draws commitments and lists what they cover again at a lower price; now and then at no other. It has a stream of its
// own, so that a problem without it is the same in all else.
func commit(seed uint64, p *scheduling.Problem) {
	g := &draw{Rand: rand.New(rand.NewPCG(seed, 0xc0117))}
	p.Commitments = []scheduling.Commitment{
		{Name: "commitment-0", Instances: int32(pick(g, 0, 1, 1, 2, 3))},
		{Name: "commitment-1", PerHour: scheduling.PriceFromNano(int64(pick(g, 0, 50, 200, 1000)) * 1_000_000)},
	}[:1+g.IntN(2)]
	seen := map[*scheduling.InstanceType]bool{}
	for i := range p.Pools {
		for _, t := range p.Pools[i].InstanceTypes {
			if !seen[t] && g.chance(50) {
				g.cover(t, p.Commitments)
			}
			seen[t] = true
		}
	}
}

func (g *draw) cover(t *scheduling.InstanceType, commitments []scheduling.Commitment) {
	var out []scheduling.Offering
	k := pick(g, commitments...)
	for _, o := range t.Offerings {
		covered := o
		covered.Commitment = k.Name
		// Paid already, half the price, or hardly any less; money is drawn at the lower price as a rule.
		covered.Price = scheduling.PriceFromNano(o.Price.Nano() / 10 * int64(pick(g, 0, 5, 9)))
		if k.PerHour.Known() && (covered.Price.Nano() == 0 || g.chance(30)) {
			covered.Draw = scheduling.PriceFromNano(max(o.Price.Nano()/10*int64(pick(g, 3, 6, 9)), 1))
		}
		switch {
		case o.Reservation != "" || !o.Price.Known() || g.chance(30):
			out = append(out, o)
		case g.chance(10):
			out = append(out, covered)
		default:
			out = append(out, o, covered)
		}
	}
	t.Offerings = out
}

func ptr[T any](x T) *T { return &x }
