package scheduling_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// Each row leaves pods over, and says so in words that help. The cheapest zone is a.
func TestReasonsOfLeftOverPods(t *testing.T) {
	app := func(name string) func(*corev1.Pod) { return labelled("app", name) }
	asking := func(cpu string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = list("cpu", cpu) }
	}
	ofGang := func(name string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name} }
	}
	noNodes := func(s *stage) { s.Problem.Nodes = nil }
	reserved := func(s *stage) {
		noNodes(s)
		for _, typ := range s.Problem.Pools[0].InstanceTypes {
			for i := range typ.Offerings {
				typ.Offerings[i].CapacityType, typ.Offerings[i].Reservation = "reserved", "cr-1"
			}
		}
	}
	claims := func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}, {Name: "nic"}} }
	port := func(p *corev1.Pod) {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 9100, ContainerPort: 9100}}
	}
	for _, tc := range []struct {
		name, reason string
		pods         []*corev1.Pod
		edit         func(s *stage)
		opts         *Options
		want         string
		texts        []string
	}{
		{"spread", "zone b may not have more than one pod more than the rest, and the pod may go to no other", append(actors(1, spreads(zoneKey)), actor("p1", spreads(zoneKey, func(c *corev1.TopologySpreadConstraint) {
			never := corev1.NodeInclusionPolicyIgnore
			c.NodeAffinityPolicy = &never
		}), inZone("b"))), func(s *stage) { running(s, 1, actor("x"), actor("y")) }, nil, "n1: p0 | TopologySpread: p1",
			[]string{"every domain left would break its spread over topology.kubernetes.io/zone (maxSkew 1); the nearest is in b, with a skew of 3 where 1 is allowed",
				"pods counted: a 1 (out of reach), b 2, c 0 (out of reach)"}},
		{"anti-affinity", "one to a zone, and there are three", actors(4, apart(term(zoneKey, selecting("app", "a")))), noNodes, nil,
			"small/a: p2 | small/b: p1 | small/c: p0 | AntiAffinity: p3",
			[]string{"by pod anti-affinity over topology.kubernetes.io/zone; the nearest is in a", "pods counted: a 1, b 1, c 1", "in the way: ns/p2"}},
		{"anti-affinity of others", "the pods that run say it, the new one does not", actors(1, inZone("a")), func(s *stage) {
			running(s, 0, actor("x", app("x"), apart(term(zoneKey, selecting("app", "a")))))
		}, nil, "AntiAffinity: p0", []string{"by pod anti-affinity over topology.kubernetes.io/zone of other pods", "in the way: ns/x"}},
		{"two constraints", "each zone is closed by one of them", []*corev1.Pod{
			actor("p0", apart(term(zoneKey, selecting("app", "x"))), with(term(zoneKey, selecting("app", "y")))),
		}, func(s *stage) { running(s, 0, actor("x", app("x")), actor("y", app("y"))) }, nil, "AntiAffinity: p0",
			[]string{"pods counted: a 1, b 0 (closed by pod affinity over topology.kubernetes.io/zone), c 0 (closed by pod affinity over topology.kubernetes.io/zone); in the way: ns/x"}},
		{"affinity to nobody", "no pod has the label", actors(1, with(term(zoneKey, selecting("app", "x")))), nil, nil, "PodAffinity: p0",
			[]string{"no domain left has the pods it must be with, by pod affinity over topology.kubernetes.io/zone", "(no pod is such)", "a 0, b 0, c 0"}},
		{"affinity to a pod left over", "what becomes of it decides", []*corev1.Pod{actor("p0", with(term(zoneKey, selecting("app", "x")))), actor("p1", app("x"), asking("99"))},
			noNodes, nil, "PodAffinity: p0 | TooLarge: p1", []string{"(left over too: ns/p1)"}},
		{"affinity on a full node", "the only node with such a pod has no room", actors(1, with(term(corev1.LabelHostname, selecting("app", "x")))), func(s *stage) {
			s.Problem.Nodes[0].Allocatable = list("pods", "1")
			running(s, 0, actor("x", app("x")))
		}, nil, "PodAffinity: p0", []string{"by pod affinity over kubernetes.io/hostname", "pods counted: n1 1 (no room)"}},
		{"one to a node", "there is no pool, and every node has one", actors(3, apart(term(corev1.LabelHostname, selecting("app", "a")))),
			func(s *stage) { s.Problem.Pools = nil }, nil, "n1: p0 | n2: p1 | AntiAffinity: p2", []string{"pods counted: n1 1, n2 1", "in the way: ns/p0, ns/p1"}},
		{"gang", "one of two fits nowhere, so neither gets a place", []*corev1.Pod{actor("p0", ofGang("g")), actor("p1", ofGang("g"), asking("99"))}, noNodes, nil,
			"GangIncomplete: p0 p1", []string{"gang ns/g needs 2 of its 2 waiting pods placed at once; ns/p1: needs 99 CPU", "these fit nowhere even alone: ns/p1"}},
		{"devices", "they are not weighed", actors(1, claims), nil, nil, "ResourceClaim: p0", []string{"asks for devices by resource claims gpu, nic"}},
		{"host port", "the agent has it everywhere", actors(1, port), func(s *stage) {
			noNodes(s)
			s.Problem.DaemonSets = []*corev1.Pod{actor("agent", port)}
		}, nil, "HostPortTaken: p0", []string{"(TCP 9100, held by ns/agent)"}},
		{"reservation, all taken", "nothing else is offered", actors(1), reserved, nil, "NotOffered: p0", []string{"(reservation cr-1 has nothing left)"}},
		{"reservation, strictly", "it may be given back", actors(1), reserved, &Options{Reserved: ReservedStrict}, "ReservationTaken: p0",
			[]string{"the capacity reservations that it could use have nothing left (cr-1)"}},
		{"pools closed", "the caller said so", actors(1), noNodes, &Options{Pools: []string{}}, "NoPool: p0", []string{"no pool may launch nodes (Options.Pools)"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStage(tc.pods)
			zonesByPrice(s)
			if tc.edit != nil {
				tc.edit(s)
			}
			plan, err := Solve(t.Context(), s.Problem, tc.opts)
			if err != nil {
				t.Fatal(err)
			}
			if err := Verify(s.Problem, plan); err != nil {
				t.Error(err)
			}
			if got := places(plan); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
			d := plan.Document()
			if len(d.Unplaced) == 0 {
				t.Fatal("no pod is left over")
			}
			message := d.Unplaced[0].Reason.Message
			for _, want := range tc.texts {
				if !strings.Contains(message, want) {
					t.Errorf("%s: %q does not say %q", tc.reason, message, want)
				}
			}
		})
	}
}
