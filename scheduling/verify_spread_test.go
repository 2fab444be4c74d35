package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	. "github.com/fleetwright/fleetwright/scheduling"
)

const (
	zoneKey = corev1.LabelTopologyZone
	hostKey = corev1.LabelHostname
)

func TestVerifySpread(t *testing.T) {
	honor, ignore := corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore
	inZoneA := func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{zoneKey: "a"} }
	noPools := func(s *stage) { s.Problem.Pools = nil }
	old := func(n int, edits ...func(*corev1.Pod)) []*corev1.Pod {
		pods := actors(n, edits...)
		for _, p := range pods {
			p.Name = "old-" + p.Name
		}
		return pods
	}
	zone := spreads(zoneKey)
	runStages(t, []stageCase{
		{"in turn", "one in each zone", newStage(actors(3, zone), "1:small/a", "n2", "3:small/c"), nil, ""},
		{"second before the others", "each step counts, not only the end", newStage(actors(4, zone), "1:small/a", "1:small/a", "n2", "3:small/c"), nil, "spread"},
		{"bound last", "the same plan in a better order", newStage(actors(4, zone), "1:small/a", "1:small/a", "n2", "3:small/c"),
			func(s *stage) { s.Plan.BindOrder = []int32{0, 2, 3, 1} }, ""},
		{"no order", "without an order any is to do, and this one does not", newStage(actors(4, zone), "1:small/a", "1:small/a", "2:small/b", "3:small/c"),
			(*stage).bindInPlanOrder, "spread"},
		{"no order needed", "this one does", newStage(actors(3, zone), "1:small/a", "2:small/b", "3:small/c"), (*stage).bindInPlanOrder, ""},
		{"skewed before", "who goes where there are fewest is not charged with what was", newStage(actors(1, zone), "n2"),
			func(s *stage) { running(s, 0, old(5)...) }, ""},
		{"skewed more", "who makes it worse is", newStage(actors(1, zone), "n1"), func(s *stage) { running(s, 0, old(1)...) }, "spread"},
		{"on its way out", "terminating pods are not counted", newStage(actors(1, zone), "n1"), func(s *stage) {
			running(s, 0, old(1, func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} })...)
		}, ""},
		{"finished", "nor are those that are done", newStage(actors(1, zone), "n1"), func(s *stage) {
			running(s, 0, old(1, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })...)
		}, ""},
		{"another namespace", "a spread counts its own namespace", newStage(actors(1, zone), "n1"), func(s *stage) {
			running(s, 0, old(1, inNamespace("other"))...)
		}, ""},
		{"max skew", "two more are allowed", newStage(actors(2, spreads(zoneKey, func(c *corev1.TopologySpreadConstraint) { c.MaxSkew = 2 })), "n1", "n1"), nil, ""},
		{"soft", "ScheduleAnyway is a wish", newStage(actors(3, spreads(zoneKey, func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = corev1.ScheduleAnyway })), "n1", "n1", "n1"), nil, ""},
		{"nil selector", "selects nothing", newStage(actors(3, spreads(zoneKey, func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = nil })), "n1", "n1", "n1"), nil, ""},
		{"empty selector", "selects all", newStage(actors(2, spreads(zoneKey, func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = selecting() })), "n1", "n1"), nil, "spread"},
		{"not itself", "who does not match itself may stay where others of its kind are", newStage(actors(3, zone, labelled("app", "b")), "n1", "n1", "n1"), nil, ""},
		{"min domains", "with fewer domains than asked for the least is 0", newStage(actors(4, spreads(zoneKey, func(c *corev1.TopologySpreadConstraint) { c.MinDomains = ptr(int32(4)) })), "n1", "n2", "1:small/c", "n1"), nil, "spread"},
		{"min domains there", "with as many it is the least", newStage(actors(4, spreads(zoneKey, func(c *corev1.TopologySpreadConstraint) { c.MinDomains = ptr(int32(3)) })), "n1", "n2", "1:small/c", "n1"), nil, ""},
		{"reach by labels", "a zone that the pod cannot be in does not count", newStage(actors(3, zone, inZoneA), "n1", "n1", "n1"), nil, ""},
		{"affinity policy", "unless the policy counts all nodes", newStage(actors(3, spreads(zoneKey, func(c *corev1.TopologySpreadConstraint) { c.NodeAffinityPolicy = &ignore }), inZoneA), "n1", "n1", "n1"), nil, "spread"},
		{"reach by resources", "nor one where no type holds it", newStage(actors(2, zone), "n1", "n2"), func(s *stage) {
			s.Problem.Pools[0].InstanceTypes[0].Capacity, s.Problem.Pools[0].InstanceTypes[1].Capacity = list("pods", "0"), list("pods", "0")
			s.place("n2", "n1")
			running(s, 0, old(1)...)
			running(s, 1, old(1)...)
		}, ""},
		{"reach by limits", "nor one for which the limit leaves nothing", newStage(actors(2, zone), "n1", "n2"), func(s *stage) {
			s.Problem.Pools[0].Limits = list("nodes", "0")
			running(s, 0, old(1)...)
			running(s, 1, old(1)...)
		}, ""},
		{"reach", "one that a new node would be in does", newStage(actors(1, zone), "n1"), func(s *stage) {
			running(s, 0, old(1)...)
			running(s, 1, old(1)...)
		}, "spread"},
		{"reach by pools", "new nodes come from pools that may launch", newStage(actors(1, zone), "n1"), func(s *stage) {
			s.Plan.Options.Pools = []string{"none"}
			running(s, 0, old(1)...)
			running(s, 1, old(1)...)
		}, ""},
		{"tainted", "taints are ignored by default: the zone counts, though nobody can go there", newStage(actors(2, zone), "n1", "n1"), func(s *stage) {
			noPools(s)
			s.Problem.Nodes[1].Taints = []corev1.Taint{{Key: "own", Effect: corev1.TaintEffectNoSchedule}}
		}, "spread"},
		{"taints policy", "unless they are honored", newStage(actors(2, spreads(zoneKey, func(c *corev1.TopologySpreadConstraint) { c.NodeTaintsPolicy = &honor })), "n1", "n1"), func(s *stage) {
			noPools(s)
			s.Problem.Nodes[1].Taints = []corev1.Taint{{Key: "own", Effect: corev1.TaintEffectNoSchedule}}
		}, ""},
		{"match label keys", "revisions are counted apart", newStage([]*corev1.Pod{
			actor("new", spreads(zoneKey, func(c *corev1.TopologySpreadConstraint) { c.MatchLabelKeys = []string{"rev"} }), labelled("rev", "2"))}, "n1"),
			func(s *stage) { running(s, 0, old(3, labelled("rev", "1"))...) }, ""},
		{"same revision", "each revision for itself", newStage([]*corev1.Pod{
			actor("new", spreads(zoneKey, func(c *corev1.TopologySpreadConstraint) { c.MatchLabelKeys = []string{"rev"} }), labelled("rev", "2"))}, "n1"),
			func(s *stage) { running(s, 0, old(1, labelled("rev", "2"))...) }, "spread"},
		{"no such label", "a node without the key takes no owner", newStage(actors(1, zone), "n1"),
			func(s *stage) { delete(s.Problem.Nodes[0].Labels, zoneKey) }, "spread"},
		{"all keys", "a node without one of the keys counts for none", newStage(actors(1, zone, spreads("rack")), "n1"), func(s *stage) {
			noPools(s)
			s.Problem.Nodes[0].Labels["rack"], s.Problem.Nodes[1].Labels["rack"] = "1", "2"
			s.Problem.Nodes = append(s.Problem.Nodes, Node{Name: "n3", Labels: map[string]string{zoneKey: "a"}, Pods: old(5)})
		}, ""},
		{"one key", "with one key it counts", newStage(actors(1, zone), "n1"), func(s *stage) {
			noPools(s)
			s.Problem.Nodes = append(s.Problem.Nodes, Node{Name: "n3", Labels: map[string]string{zoneKey: "a"}, Pods: old(5)})
		}, "spread"},
		{"untied", "the launch of an owner is in one domain", newStage(actors(1, zone), "1:small/a,small/b"), nil, "spread"},
		{"untied others", "a counted pod may be in either", newStage([]*corev1.Pod{actor("plain"), actor("p", zone)}, "1:small/b,small/a", "2:small/a"), nil, "spread"},
		{"untied least", "nor is a domain sure to have one that may be elsewhere", newStage([]*corev1.Pod{actor("plain"), actor("p", zone)}, "1:small/b,small/c", "n1"),
			func(s *stage) {
				s.Problem.Pools[0].Limits = list("nodes", "1") // nothing else is reachable
				running(s, 0, old(1)...)
			}, "spread"},
		{"untied elsewhere", "which does not matter to a third", newStage([]*corev1.Pod{actor("plain"), actor("p", zone)}, "1:small/b,small/a", "2:small/c"), nil, ""},
		{"hosts", "a new node could be had: the least is 0", newStage(actors(1, spreads(hostKey)), "n1"), func(s *stage) {
			running(s, 0, old(1)...)
			running(s, 1, old(1)...)
		}, "spread"},
		{"hosts alone", "it could not: the least is 1", newStage(actors(1, spreads(hostKey)), "n1"), func(s *stage) {
			noPools(s)
			running(s, 0, old(1)...)
			running(s, 1, old(1)...)
		}, ""},
		{"host launch", "launches are nodes", newStage(actors(2, spreads(hostKey)), "1:small/a,small/b", "1:small/a"), nil, "spread"},
		{"host launches", "two are two", newStage(actors(2, spreads(hostKey)), "1:small/a,small/b", "2:small/a,small/b"), nil, ""},
	})
}

// Topology keys of any origin: type, offering, pool, and labels that the launch decides.
func TestVerifySpreadOverAnyKey(t *testing.T) {
	type with = func(*stage)
	offeringLabel := func(s *stage) {
		for _, it := range s.Problem.Pools[0].InstanceTypes {
			for i := range it.Offerings {
				it.Offerings[i].Labels = map[string]string{"cell": it.Offerings[i].Zone}
			}
		}
	}
	twoPools := func(s *stage) {
		s.Problem.Pools = append(s.Problem.Pools, Pool{Name: "second", InstanceTypes: []*InstanceType{verifyTestType("other", "4", "0.1", "a")}})
		s.Problem.Pools[0].Labels, s.Problem.Pools[1].Labels = map[string]string{"team": "x"}, map[string]string{"team": "y"}
	}
	open := func(values ...string) with {
		return func(s *stage) {
			s.Problem.Pools[0].Requirements = []Requirement{in("team", "x", "y")}
			for i, x := range values {
				s.Plan.Shapes[i].CustomLabels = map[string]string{"team": x}
			}
		}
	}
	capacity := func(s *stage) {
		for _, it := range s.Problem.Pools[0].InstanceTypes {
			spot := it.Offerings[0]
			spot.CapacityType = "spot"
			it.Offerings = append(it.Offerings, spot)
		}
	}
	then := func(places []string, edits ...with) with {
		return func(s *stage) {
			for _, e := range edits {
				e(s)
			}
			s.place(places...)
		}
	}
	typeKey := corev1.LabelInstanceTypeStable
	second := "gen"
	runStages(t, []stageCase{
		{"offering", "zones by another name", newStage(actors(2, spreads("cell"))), then([]string{"1:small/a", "2:small/b"}, offeringLabel), ""},
		{"offering twice", "counted", newStage(actors(2, spreads("cell"))), then([]string{"1:small/a", "2:small/a"}, offeringLabel), "spread"},
		{"offering untied", "tied", newStage(actors(1, spreads("cell"))), then([]string{"1:small/a,small/b"}, offeringLabel), "spread"},
		{"capacity type", "two on demand, none on spot", newStage(actors(2, spreads(CapacityTypeLabel))), then([]string{"1:small/a", "2:small/a"}, capacity), "spread"},
		{"capacity types", "one and one", newStage(actors(2, spreads(CapacityTypeLabel))), then([]string{"1:small/a", "2:small/a/spot"}, capacity), ""},
		{"type", "one of each type", newStage(actors(2, spreads(typeKey)), "1:small/a,small/b", "2:large/a"), nil, ""},
		{"type twice", "two of one", newStage(actors(2, spreads(typeKey)), "1:small/a", "2:small/b"), nil, "spread"},
		{"type untied", "a fallback to another type is a fallback into another domain", newStage(actors(1, spreads(typeKey)), "1:small/a,large/a"), nil, "spread"},
		{"type requirement", "types that lack the label take nobody", newStage(actors(1, spreads(second))), func(s *stage) {
			s.Problem.Pools[0].InstanceTypes[0].Requirements = append(s.Problem.Pools[0].InstanceTypes[0].Requirements, in(second, "7"))
			s.place("1:large/a")
		}, "spread"},
		{"pool label", "pools are domains", newStage(actors(2, spreads("team"))), then([]string{"1:small/a", "2:other/a"}, twoPools), ""},
		{"pool label twice", "counted", newStage(actors(2, spreads("team"))), then([]string{"1:small/a", "2:large/a"}, twoPools), "spread"},
		{"open", "the launch decides", newStage(actors(2, spreads("team")), "1:small/a", "2:small/a"), open("x", "y"), ""},
		{"open twice", "and could have decided otherwise", newStage(actors(2, spreads("team")), "1:small/a", "2:small/a"), open("x", "x"), "spread"},
		{"open and undecided", "but it has to", newStage(actors(1, spreads("team")), "1:small/a"), open(), "spread"},
		{"alias", "an old key is the new one", newStage(actors(2, spreads(corev1.LabelFailureDomainBetaZone)), "n1", "1:small/a"), nil, "spread"},
		{"nobody's", "a key that no node has", newStage(actors(1, spreads("nobodys")), "1:small/a"), nil, "spread"},
		{"unsettled", "a region that nobody knows", newStage(actors(1, spreads(corev1.LabelTopologyRegion)), "1:small/a"), nil, "spread"},
	})
}

func TestVerifyDefaultSpread(t *testing.T) {
	yes := true
	owned := func(version, kind, name string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: name, Controller: &yes}}
		}
	}
	defaults := func(edits ...func(*DefaultSpread)) func(*stage) {
		return func(s *stage) {
			s.Problem.DefaultSpread.Constraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zoneKey, WhenUnsatisfiable: corev1.DoNotSchedule}}
			for _, e := range edits {
				e(&s.Problem.DefaultSpread)
			}
		}
	}
	service := func(ns string, selector map[string]string) func(*DefaultSpread) {
		return func(d *DefaultSpread) {
			d.Services = append(d.Services, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "svc"}, Spec: corev1.ServiceSpec{Selector: selector}})
		}
	}
	owner := func(kind, ns string, selector *metav1.LabelSelector) func(*DefaultSpread) {
		return func(d *DefaultSpread) {
			d.Owners = append(d.Owners, Owner{Kind: kind, Namespace: ns, Name: "o", Selector: selector})
		}
	}
	app := map[string]string{"app": "a"}
	two := func(edits ...func(*corev1.Pod)) *stage { return newStage(actors(2, edits...), "n1", "n1") }
	// Two pods of which only the first has a label.
	mixed := func(edits ...func(*corev1.Pod)) *stage {
		pods := actors(2, edits...)
		labelled("tier", "x")(pods[0])
		return newStage(pods, "n1", "n1")
	}
	runStages(t, []stageCase{
		{"service", "what a Service selects is spread", two(), defaults(service("ns", app)), "spread"},
		{"nobody selects", "no selector, no default", two(), defaults(), ""},
		{"other namespace", "a Service of its own namespace", two(), defaults(service("other", app)), ""},
		{"no selector", "a Service without selector selects nothing", two(), defaults(service("ns", nil)), ""},
		{"empty selector", "one that selects all says nothing", two(), defaults(service("ns", map[string]string{})), ""},
		{"own spread", "all or nothing: its own constraint, even a soft one, replaces the defaults",
			two(spreads(hostKey, func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = corev1.ScheduleAnyway })), defaults(service("ns", app)), ""},
		{"soft default", "defaults are as hard as they say", two(), defaults(service("ns", app), func(d *DefaultSpread) {
			d.Constraints[0].WhenUnsatisfiable = corev1.ScheduleAnyway
		}), ""},
		{"services together", "labels of all Services that select a pod are merged: the second pod lacks one", mixed(),
			defaults(service("ns", app), service("ns", map[string]string{"tier": "x"})), "spread"},
		{"services together in turn", "so the first, bound last, finds no other of its kind", mixed(),
			func(s *stage) {
				defaults(service("ns", app), service("ns", map[string]string{"tier": "x"}))(s)
				s.Plan.BindOrder = []int32{1, 0}
			}, ""},
		{"replica set", "the owner's selector counts", two(owned("apps/v1", "ReplicaSet", "o")), defaults(owner("ReplicaSet", "ns", selecting("app", "a"))), "spread"},
		{"stateful set", "likewise", two(owned("apps/v1", "StatefulSet", "o")), defaults(owner("StatefulSet", "ns", selecting("app", "a"))), "spread"},
		{"replication controller", "likewise", two(owned("v1", "ReplicationController", "o")), defaults(owner("ReplicationController", "ns", selecting("app", "a"))), "spread"},
		{"other group", "something else that is called StatefulSet is none", two(owned("apps.example.com/v1", "StatefulSet", "o")), defaults(owner("StatefulSet", "ns", selecting("app", "a"))), ""},
		{"other owner", "of another namespace", two(owned("apps/v1", "ReplicaSet", "o")), defaults(owner("ReplicaSet", "other", selecting("app", "a"))), ""},
		{"no controller", "an owner that does not control it", two(owned("apps/v1", "ReplicaSet", "o"), func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }),
			defaults(owner("ReplicaSet", "ns", selecting("app", "a"))), ""},
		{"both", "Service and ReplicaSet are ANDed", mixed(owned("apps/v1", "ReplicaSet", "o")),
			func(s *stage) {
				defaults(service("ns", app), owner("ReplicaSet", "ns", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpExists}}}))(s)
				s.Plan.BindOrder = []int32{1, 0}
			}, ""},
	})
}

func ptr[T any](x T) *T { return &x }
