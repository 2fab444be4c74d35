package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// reserve adds reserved offerings to type small, two in zone a and one in zone b, and puts a launch on them.
func reserve(places ...string) func(*stage) {
	return func(s *stage) {
		small := s.Problem.Pools[0].InstanceTypes[0]
		price := PriceFromFloat(0.01)
		small.Offerings = append(small.Offerings,
			Offering{Zone: "a", CapacityType: "reserved", Price: price, Reservation: "r1", Count: 2},
			Offering{Zone: "b", CapacityType: "reserved", Price: price, Reservation: "r2", Count: 1})
		s.place(places...)
	}
}

func TestVerifyReservations(t *testing.T) {
	r1, r2 := ":small/a/reserved", ":small/b/reserved"
	strict := func(places ...string) func(*stage) {
		return func(s *stage) {
			reserve(places...)(s)
			s.Plan.Options.Reserved = ReservedStrict
		}
	}
	runStages(t, []stageCase{
		{"used up", "two of two", newStage(actors(3)), reserve("1"+r1, "2"+r1, "3"+r2), ""},
		{"too many", "three of two", newStage(actors(3)), reserve("1"+r1, "2"+r1, "3"+r1), "reservations"},
		{"fallback in", "the choice is charged, not the fallback", newStage(actors(2)), reserve("1:small/a/reserved,small/b/reserved", "2"+r2), ""},
		{"fallback out", "reserved capacity has no fallback outside", newStage(actors(1)), reserve("1:small/a/reserved,small/a"), "reservations"},
		{"fallback into", "nor is it one", newStage(actors(1)), func(s *stage) {
			reserve()(s)
			s.Problem.Pools[0].InstanceTypes[0].Offerings[3].Price = PriceFromFloat(0.1)
			s.place("1:small/a,small/a/reserved")
		}, "reservations"},
		{"other pool", "pools that share one share its count", newStage(actors(3)), func(s *stage) {
			reserve()(s)
			other := verifyTestType("other", "4", "0.1", "a")
			other.Offerings[0].Reservation, other.Offerings[0].Count = "r1", 9
			s.Problem.Pools = append(s.Problem.Pools, Pool{Name: "second", InstanceTypes: []*InstanceType{other}})
			s.place("1"+r1, "2"+r1, "3:other/a")
		}, "reservations"},
		{"least count", "where they differ the least holds", newStage(actors(2)), func(s *stage) {
			reserve()(s)
			more := s.Problem.Pools[0].InstanceTypes[0].Offerings[3]
			more.Zone, more.Count = "c", 1
			s.Problem.Pools[0].InstanceTypes[1].Offerings = append(s.Problem.Pools[0].InstanceTypes[1].Offerings, more)
			s.place("1"+r1, "2"+r1)
		}, "reservations"},
		{"pool", "only pools that may launch launch", newStage(actors(1), "1:small/a"), func(s *stage) { s.Plan.Options.Pools = []string{"second"} }, "pools"},
		{"no pool", "an empty list is none", newStage(actors(1), "1:small/a"), func(s *stage) { s.Plan.Options.Pools = []string{} }, "pools"},
		{"this pool", "it may", newStage(actors(1), "1:small/a"), func(s *stage) { s.Plan.Options.Pools = []string{"main"} }, ""},
		{"waits", "strictly, a pod may wait for a reservation", newStage(actors(2)), func(s *stage) {
			s.Problem.Nodes = nil
			strict("1"+r2, "!ReservationTaken")(s)
		}, ""},
		{"waits for nothing", "but not if none is used up", newStage(actors(1)), func(s *stage) {
			s.Problem.Nodes = nil
			strict("!ReservationTaken")(s)
		}, "placeable"},
		{"waits for no reason", "nor if it may take anything", newStage(actors(2)), func(s *stage) {
			s.Problem.Nodes = nil
			reserve("1"+r2, "!ReservationTaken")(s)
		}, "placeable"},
		{"waits for another's", "nor for one that it cannot use", newStage([]*corev1.Pod{actor("p"), actor("q", func(p *corev1.Pod) {
			p.Spec.NodeSelector = map[string]string{CapacityTypeLabel: "on-demand"}
		})}), func(s *stage) {
			s.Problem.Nodes = nil
			strict("1"+r2, "!ReservationTaken")(s)
		}, "placeable"},
		{"only what is reserved", "what is used up is not to be had", newStage([]*corev1.Pod{actor("p"), actor("q", func(p *corev1.Pod) {
			p.Spec.NodeSelector = map[string]string{CapacityTypeLabel: "reserved", zoneKey: "b"}
		})}), reserve("1"+r2, "!NotOffered"), ""},
		{"only what is left", "what is left is", newStage([]*corev1.Pod{actor("p"), actor("q", func(p *corev1.Pod) {
			p.Spec.NodeSelector = map[string]string{CapacityTypeLabel: "reserved", zoneKey: "a"}
		})}), reserve("1"+r1, "!NotOffered"), "placeable"},
	})
}

func TestVerifyGangs(t *testing.T) {
	gang := func(p *corev1.Pod) { p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr("g")} }
	byLabel := labelled("group", "g")
	listed := func(min int32, edits ...func(*Gang)) func(*stage) {
		return func(s *stage) {
			g := Gang{Namespace: "ns", Name: "g", MinCount: min}
			for _, e := range edits {
				e(&g)
			}
			s.Problem.Gangs, s.Problem.GangLabels = []Gang{g}, []string{"team", "group"}
		}
	}
	big := func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": *quantity("1000")}
	}
	// partly places the first pods of a gang; the last is too large for anything.
	partly := func(places ...string) *stage {
		pods := actors(len(places), gang)
		big(pods[len(pods)-1])
		return newStage(pods, places...)
	}
	runStages(t, []stageCase{
		{"all", "all of them", newStage(actors(3, gang), "n1", "n1", "n2"), listed(3), ""},
		{"too few", "two of three", partly("n1", "n1", "!TooLarge"), listed(3), "gang"},
		{"enough", "two of at least two", partly("n1", "n1", "!TooLarge"), listed(2), ""},
		{"none", "or none", partly("!GangIncomplete", "!GangIncomplete", "!TooLarge"), listed(3), ""},
		{"not listed", "without a number it is all of them", partly("n1", "n1", "!TooLarge"), nil, "gang"},
		{"no number", "also if it is listed", partly("n1", "n1", "!TooLarge"), listed(0), "gang"},
		{"basic", "a basic group is no gang", partly("n1", "n1", "!TooLarge"), listed(3, func(g *Gang) { g.Basic = true }), ""},
		{"other namespace", "gangs are of a namespace", partly("n1", "n1", "!TooLarge"), listed(2, func(g *Gang) { g.Namespace = "other" }), "gang"},
		{"running", "those that run count", partly("n1", "!TooLarge"), func(s *stage) { listed(2)(s); running(s, 0, actor("old", gang)) }, ""},
		{"ran", "those that are done do not", partly("n1", "!TooLarge"), func(s *stage) {
			listed(2)(s)
			running(s, 0, actor("old", gang, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }))
		}, "gang"},
		{"by label", "labels name gangs too", newStage([]*corev1.Pod{actor("p", byLabel), actor("q", byLabel, big)}, "n1", "!TooLarge"), listed(2), "gang"},
		{"by no label", "those that the problem lists", newStage([]*corev1.Pod{actor("p", byLabel), actor("q", byLabel, big)}, "n1", "!TooLarge"), nil, ""},
		{"group first", "the group of the spec comes first", newStage([]*corev1.Pod{actor("p", byLabel, func(p *corev1.Pod) {
			p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr("h")}
		}), actor("q", byLabel, big)}, "n1", "!TooLarge"), listed(2), ""},
		{"not evaluated", "nobody looked: not placed", newStage(actors(2, gang), "n1", "!X"), func(s *stage) {
			listed(2)(s)
			s.Plan.Unplaced, s.Plan.Reasons, s.Plan.NotEvaluated, s.Plan.Options.Steps = nil, nil, []int32{1}, 1
			s.settle()
		}, "gang"},
		{"reason", "a gang that is placed is no reason", partly("n1", "n1", "!GangIncomplete"), listed(2), "placeable"},
		{"no gang", "nor one that it is not in", newStage(actors(1), "!GangIncomplete"), listed(2), "placeable"},
		{"demand", "the pods of a demand are a gang as well", newStage(nil), func(s *stage) {
			listed(0)(s)
			s.Problem.Demands = []Demand{{Template: actor("p", gang), Count: 3}}
			s.place("n1", "n1", "!TooLarge")
		}, "gang placeable"},
	})
}

// Pods of demands have indexes after the pods, a name each, and a template in common.
func TestVerifyDemands(t *testing.T) {
	demand := func(count int32, places []string, edits ...func(*corev1.Pod)) func(*stage) {
		return func(s *stage) {
			s.Problem.Demands = append(s.Problem.Demands, Demand{Template: actor("d", edits...), Count: count, Names: []string{"first"}})
			s.place(places...)
		}
	}
	port := func(p *corev1.Pod) { p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}} }
	runStages(t, []stageCase{
		{"all there", "one pod and three of a demand", newStage(actors(1)), demand(3, []string{"n1", "n1", "n2", "1:small/a"}), ""},
		{"one lost", "each is somewhere", newStage(actors(1)), demand(3, []string{"n1", "n1", "n2"}), "once"},
		{"one too many", "and there are no more", newStage(actors(1)), demand(1, []string{"n1", "n1", "n2"}), "structure"},
		{"empty demands", "a demand of none is none", newStage(actors(1)), func(s *stage) {
			s.Problem.Demands = []Demand{{Template: actor("x")}, {Count: -3}}
			demand(1, []string{"n1", "n2"})(s)
		}, ""},
		{"ports", "each wants the port for itself", newStage(nil), demand(2, []string{"n1", "n1"}, port), "ports"},
		{"own ports", "on two nodes they have it", newStage(nil), demand(2, []string{"n1", "n2"}, port), ""},
		{"spread", "they are counted one by one", newStage(nil), demand(2, []string{"n1", "1:small/a"}, spreads(zoneKey)), "spread"},
		{"anti-affinity", "they keep each other away", newStage(nil), demand(2, []string{"n1", "n1"}, apart(term(zoneKey, selecting("app", "a")))), "antiAffinity"},
		{"shared claim", "a claim of the template is one for all", newStage(nil), func(s *stage) {
			disk(&s.Problem.Storage, "c", within([2]string{zoneKey, "a"}))
			demand(2, []string{"n1", "n2"}, claiming("c"))(s)
		}, "volumes"},
		{"own claims", "what is made for each is called like it", newStage(nil), func(s *stage) {
			class(&s.Problem.Storage, "fast")
			disk(&s.Problem.Storage, "first-tmp", within([2]string{zoneKey, "a"}))
			disk(&s.Problem.Storage, "d-1-tmp", within([2]string{zoneKey, "b"}))
			demand(2, []string{"n1", "n2"}, scratch(ptr("fast")))(s)
		}, ""},
		{"own claims swapped", "and only it", newStage(nil), func(s *stage) {
			class(&s.Problem.Storage, "fast")
			disk(&s.Problem.Storage, "first-tmp", within([2]string{zoneKey, "a"}))
			disk(&s.Problem.Storage, "d-1-tmp", within([2]string{zoneKey, "b"}))
			demand(2, []string{"n2", "n1"}, scratch(ptr("fast")))(s)
		}, "volumes"},
	})
}

// Reasons have to be about something that the pod has, and not to be refuted by an easy example.
func TestVerifyReasons(t *testing.T) {
	devices := func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} }
	left := func(code Code, edits ...func(*corev1.Pod)) *stage {
		return newStage(actors(1, edits...), "!"+string(code))
	}
	noNodes := func(s *stage) { s.Problem.Nodes = nil }
	full := func(s *stage) {
		for i := range s.Problem.Nodes {
			s.Problem.Nodes[i].Allocatable = list("pods", "0")
		}
	}
	stored := func(edit func(*Storage)) func(*stage) {
		return func(s *stage) { edit(&s.Problem.Storage) }
	}
	zonal := spreads(zoneKey)
	runStages(t, []stageCase{
		{"devices", "it does claim devices", left(CodeResourceClaim, devices), nil, ""},
		{"no devices", "it does not", left(CodeResourceClaim), nil, "placeable"},
		{"devices placed", "nobody has weighed them", newStage(actors(1, devices), "n1"), nil, "resourceClaims"},
		{"volume", "its claim is lost", left(CodeVolume, claiming("c")), stored(func(s *Storage) { disk(s, "other") }), ""},
		{"no volume", "it has none", left(CodeVolume), nil, "placeable"},
		{"volume usable", "its claim is as good as any", left(CodeVolume, claiming("c")), stored(func(s *Storage) { disk(s, "c") }), "placeable"},
		{"volume elsewhere", "no node is where its volume is", left(CodeVolume, claiming("c")), stored(func(s *Storage) { disk(s, "c", within([2]string{zoneKey, "z"})) }), ""},
		{"volume unknown", "nobody knows", left(CodeVolume, claiming("c")), nil, ""},
		{"volume not seen", "perhaps it is not there", left(CodeVolume, claiming("c")), stored(func(s *Storage) { s.Incomplete = true; disk(s, "other") }), ""},
		{"attach", "no type may have two volumes", left(CodeAttachLimit, claiming("c", "e")), func(s *stage) {
			full(s)
			disk(&s.Problem.Storage, "c")
			disk(&s.Problem.Storage, "e")
			for _, it := range s.Problem.Pools[0].InstanceTypes {
				it.Capacity[AttachLimit("d")] = *quantity("1")
			}
		}, ""},
		{"attach enough", "large may", left(CodeAttachLimit, claiming("c", "e")), func(s *stage) {
			full(s)
			disk(&s.Problem.Storage, "c")
			disk(&s.Problem.Storage, "e")
			s.Problem.Pools[0].InstanceTypes[0].Capacity[AttachLimit("d")] = *quantity("1")
		}, "placeable"},
		{"attach here", "an existing node may", left(CodeAttachLimit, claiming("c", "e")), func(s *stage) {
			disk(&s.Problem.Storage, "c")
			disk(&s.Problem.Storage, "e")
			s.Problem.Pools = nil
		}, "placeable"},
		{"attach nowhere", "existing nodes may not either", left(CodeAttachLimit, claiming("c", "e")), func(s *stage) {
			disk(&s.Problem.Storage, "c")
			disk(&s.Problem.Storage, "e")
			csi(s, "n1", "d", 1)
			csi(s, "n2", "d", 1)
			s.Problem.Pools = nil
		}, ""},
		{"attach beside", "the volume is there already", left(CodeAttachLimit, claiming("c")), func(s *stage) {
			disk(&s.Problem.Storage, "c")
			csi(s, "n1", "d", 1)
			csi(s, "n2", "d", 0)
			running(s, 0, actor("old", claiming("c")))
			s.Problem.Pools = nil
		}, "placeable"},
		{"no affinity", "it wants to be with nobody", left(CodeAffinity), nil, "placeable"},
		{"affinity", "nobody is there to be with", left(CodeAffinity, with(term(zoneKey, selecting("app", "db")))), nil, ""},
		{"no anti-affinity", "nobody keeps it away", left(CodeAntiAffinity), nil, "placeable"},
		{"anti-affinity", "it keeps away from others", left(CodeAntiAffinity, apart(term(zoneKey, selecting("app", "a")))), nil, ""},
		{"inverse", "others keep it away", left(CodeAntiAffinity), func(s *stage) {
			running(s, 0, actor("old", apart(term(zoneKey, selecting("app", "a")))))
		}, ""},
		{"no spread", "nothing spreads it", left(CodeSpread), nil, "placeable"},
		{"spread", "something does", left(CodeSpread, zonal), nil, ""},
		{"room here", "a limit does not keep it off an existing node", left(CodeLimit), nil, "placeable"},
		{"no room here", "that is full", left(CodeLimit), full, ""},
		{"pools closed", "no pool may launch", left(CodeNoPool), func(s *stage) { noNodes(s); s.Plan.Options.Pools = []string{} }, ""},
		{"pool open", "this one may", left(CodeNoPool), noNodes, "placeable"},
		{"gang", "one of a gang does not go alone", left(CodeLimit, func(p *corev1.Pod) {
			p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr("g")}
		}), nil, ""},
	})
}
