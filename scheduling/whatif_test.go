package scheduling_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// runningPod is a pod of one CPU.
func runningPod(name string, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := examplePod(name, list("cpu", "1"))
	p.Labels = map[string]string{"app": strings.TrimRight(name, "-0123456789")}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

func ownedBy(kind string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "owner"}} }
}

func apartFrom(app string) func(*corev1.Pod) { return far(tinyTermOf(corev1.LabelHostname, app)) }

// smallNode is of type small: two CPUs, 0.10 an hour.
func smallNode(name string, pods ...*corev1.Pod) Node {
	return Node{Name: name, Pool: "default", Pods: pods, Allocatable: list("cpu", "2", "memory", "8Gi", "pods", "29"),
		Labels: map[string]string{corev1.LabelInstanceTypeStable: "small", corev1.LabelTopologyZone: "a", CapacityTypeLabel: "on-demand", corev1.LabelHostname: name}}
}

func smallCluster(nodes ...Node) *Problem {
	return &Problem{
		Pools: []Pool{{Name: "default", InstanceTypes: []*InstanceType{
			exampleType("small", list("cpu", "2", "memory", "8Gi", "pods", "29"), 0.10),
			exampleType("large", list("cpu", "4", "memory", "16Gi", "pods", "58"), 0.24),
		}}},
		Nodes: nodes,
	}
}

func mustCompile(t *testing.T, p *Problem) *Snapshot {
	t.Helper()
	s, err := Compile(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustAsk(t *testing.T, s *Snapshot, ch Changes) *Outcome {
	t.Helper()
	o, err := s.WhatIf(ch)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// short tells an outcome in a line.
func short(o *Outcome) string {
	var parts []string
	for _, m := range o.Moves {
		parts = append(parts, m.Pod.Name+">"+m.Node)
	}
	for _, l := range o.Launches {
		var names []string
		for _, p := range l.Pods {
			names = append(names, p.Name)
		}
		parts = append(parts, strings.Join(names, "+")+">new")
	}
	for _, p := range o.Left {
		parts = append(parts, p.Name+" left")
	}
	return strings.Join(append(parts, fmt.Sprintf("%v-%v", o.Price, o.Saved)), " ")
}

func TestWhatIfAnswers(t *testing.T) {
	gone := metav1.Unix(1, 0)
	high, low := int32(1000), int32(-10)
	drain := Changes{DrainNodes: []string{"n1"}}
	tests := []struct {
		name    string
		problem *Problem
		changes Changes
		want    string
	}{
		{"a pod moves where there is room", smallCluster(smallNode("n1", runningPod("a")), smallNode("n2", runningPod("b"))), drain, "a>n2 0-0.1"},
		{"or to a new node", smallCluster(smallNode("n1", runningPod("a"))), drain, "a>new 0.1-0.1"},
		{"what is removed needs no place", smallCluster(smallNode("n1", runningPod("a"))), Changes{RemoveNodes: []string{"n1"}}, "0-0.1"},
		{"pods that nobody would create anew elsewhere vanish", smallCluster(smallNode("n1",
			runningPod("daemon", ownedBy("DaemonSet")), runningPod("static", ownedBy("Node")),
			runningPod("mirror", func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }),
			runningPod("done", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
			runningPod("leaving", func(p *corev1.Pod) { p.DeletionTimestamp = &gone }),
			runningPod("bare"), runningPod("owned", ownedBy("ReplicaSet")))), drain, "bare+owned>new 0.1-0.1"},
		{"who waits is not looked at", func() *Problem {
			p := smallCluster(smallNode("n1", runningPod("a")), smallNode("n2", runningPod("b")))
			p.Pods = []*corev1.Pod{runningPod("waiting")}
			return p
		}(), drain, "a>n2 0-0.1"},
		{"a node that goes frees the limit of its pool for what replaces it", limited(smallCluster(smallNode("n1", runningPod("a"))), "2"), drain, "a>new 0.1-0.1"},
		{"the limit is not freed by a node that stays", limited(smallCluster(smallNode("n1", runningPod("a"), runningPod("b")), smallNode("n2", runningPod("c"), runningPod("d"))), "4"),
			Changes{AddPods: []*corev1.Pod{runningPod("e")}}, "e left 0-0"},
		{"nor by one of another pool", func() *Problem {
			p := limited(smallCluster(smallNode("n1", runningPod("a")), smallNode("n2", runningPod("c"), runningPod("d"))), "2")
			p.Nodes[0].Pool = ""
			return p
		}(), drain, "a left 0-unknown"},
		{"priority decides who gets what is left", withoutPools(smallCluster(smallNode("n1",
			runningPod("a", func(p *corev1.Pod) { p.Spec.Priority = &low }), runningPod("b", func(p *corev1.Pod) { p.Spec.Priority = &high })), smallNode("n2", runningPod("c")))),
			drain, "b>n2 a left 0-unknown"},
		{"names decide who of the same kind does", withoutPools(smallCluster(smallNode("n1", runningPod("b"), runningPod("a")), smallNode("n2", runningPod("c")))),
			drain, "a>n2 b left 0-unknown"},
		{"a running pod that nobody could place again still keeps others away", smallCluster(smallNode("n1", runningPod("a", apartFrom("b"))),
			smallNode("n2", runningPod("b", func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} }))), drain, "a>new 0.1-0.1"},
		{"and has no place if its own node goes", smallCluster(smallNode("n1",
			runningPod("b", func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} }))), drain, "b left 0-0.1"},
		{"a node that closes takes its pods' rules along", smallCluster(smallNode("n1", runningPod("b", apartFrom("a"))), smallNode("n2", runningPod("a"))),
			Changes{DrainNodes: []string{"n1", "n2"}}, "a>new b>new 0.2-0.2"},
		{"members of a gang are placed one by one", func() *Problem {
			member := func(p *corev1.Pod) { p.Labels["gang"] = "g" }
			p := withoutPools(smallCluster(smallNode("n1", runningPod("a", member), runningPod("b", member)), smallNode("n2", runningPod("c"))))
			p.GangLabels, p.Gangs = []string{"gang"}, []Gang{{Namespace: "default", Name: "g", MinCount: 2}}
			return p
		}(), drain, "a>n2 b left 0-unknown"},
		{"what is drained may be bound by the same changes", smallCluster(smallNode("n1", runningPod("a"), runningPod("b")), smallNode("n2", runningPod("c"))),
			Changes{DrainNodes: []string{"n1"}, Bind: []Binding{{Pod: "default/a", Node: "n2"}}}, "b>new 0.1-0.1"},
		{"new nodes have room", smallCluster(smallNode("n1", runningPod("a"))), Changes{DrainNodes: []string{"n1"}, AddNodes: []Node{smallNode("n3")}}, "a>n3 0-0.1"},
		{"so have those that pods leave", smallCluster(smallNode("n1", runningPod("a")), smallNode("n2", runningPod("b"), runningPod("c"))),
			Changes{DrainNodes: []string{"n1"}, RemovePods: []string{"default/b"}}, "a>n2 0-0.1"},
		{"prices are those of the changes", smallCluster(smallNode("n1", runningPod("a"))),
			Changes{DrainNodes: []string{"n1"}, Offerings: []OfferingChange{{InstanceType: "small", Price: PriceFromFloat(0.07)}}}, "a>new 0.07-0.07"},
		{"offerings go, and what runs of them goes on", smallCluster(smallNode("n1", runningPod("a"))),
			Changes{DrainNodes: []string{"n1"}, Offerings: []OfferingChange{{InstanceType: "small", Unavailable: true}}}, "a>new 0.24-0.1"},
		{"limits come", smallCluster(smallNode("n1", runningPod("a"))),
			Changes{DrainNodes: []string{"n1"}, Limits: map[string]corev1.ResourceList{"default": list("nodes", "0")}}, "a left 0-0.1"},
		{"nothing happens", smallCluster(smallNode("n1", runningPod("a"))), Changes{}, "0-0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := mustCompile(t, test.problem)
			o := mustAsk(t, s, test.changes)
			if got := short(o); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if err := judgeOutcome(byHand(test.problem, test.changes), o); err != nil {
				t.Error(err)
			}
		})
	}
}

func limited(p *Problem, cpu string) *Problem {
	p.Pools[0].Limits = list("cpu", cpu)
	return p
}

func withoutPools(p *Problem) *Problem {
	p.Pools = nil
	return p
}

func TestChangesThatCannotBeMade(t *testing.T) {
	p := smallCluster(smallNode("n1", runningPod("a")), smallNode("n2"))
	p.Pods = []*corev1.Pod{runningPod("waiting")}
	p.Pools[0].InstanceTypes[0].Offerings[0].Reservation = "r"
	tests := []struct {
		name    string
		changes Changes
		want    string
	}{
		{"unknown", Changes{DrainNodes: []string{"n3"}}, `changes.drainNodes["n3"]: there is no such node; name one`},
		{"unknown after a known one", Changes{DrainNodes: []string{"n1", "n3"}}, `changes.drainNodes["n3"]: there is no such node`},
		{"unknown", Changes{RemoveNodes: []string{"n3"}}, `changes.removeNodes["n3"]: there is no such node`},
		{"twice", Changes{DrainNodes: []string{"n1", "n1"}}, `changes.drainNodes["n1"]: is there twice`},
		{"both ways", Changes{DrainNodes: []string{"n1"}, RemoveNodes: []string{"n1"}}, `changes.removeNodes["n1"]: is to go already`},
		{"unknown pod", Changes{RemovePods: []string{"default/x"}}, `changes.removePods["default/x"]: there is no such pod; name one that Snapshot.Problem has, as "namespace/name"`},
		{"nil", Changes{AddPods: []*corev1.Pod{nil}}, `changes.addPods[0]: is nil; leave it out`},
		{"a pod that waits already", Changes{AddPods: []*corev1.Pod{runningPod("waiting")}}, `pods["default/waiting"]: is there twice`},
		{"a node that is there", Changes{AddNodes: []Node{smallNode("n1")}}, `nodes[2] "n1": has no name, or one that another node has`},
		{"a nil pod on a node", Changes{AddNodes: []Node{smallNode("n3", nil)}}, `nodes["n3"].pods[0]: is nil`},
		{"a pod that runs", Changes{Bind: []Binding{{"default/a", "n2"}}}, `changes.bind["default/a"]: no such pod waits`},
		{"bound twice", Changes{Bind: []Binding{{"default/waiting", "n1"}, {"default/waiting", "n2"}}}, `changes.bind["default/waiting"]: no such pod waits`},
		{"bound to nowhere", Changes{Bind: []Binding{{"default/waiting", "n3"}}}, `changes.bind["default/waiting"]: there is no node "n3"`},
		{"bound to what goes", Changes{DrainNodes: []string{"n1"}, Bind: []Binding{{"default/waiting", "n1"}}}, `there is no node "n1"`},
		{"nobody sells it", Changes{Offerings: []OfferingChange{{InstanceType: "tiny"}}}, `changes.offerings[0]: no offering is of pool "", type "tiny"`},
		{"unknown pool", Changes{Limits: map[string]corev1.ResourceList{"other": nil}}, `changes.limits["other"]: there is no such pool`},
		{"limit below 0", Changes{Limits: map[string]corev1.ResourceList{"default": list("cpu", "-1")}}, `pools["default"].limits["cpu"]: -1 is negative`},
		{"unknown reservation", Changes{Reservations: map[string]int32{"q": 1}}, `changes.reservations["q"]: no offering is of this reservation`},
		{"reservation below 0", Changes{Reservations: map[string]int32{"r": -1}}, `reservation "r" has a count of -1`},
	}
	for _, test := range tests {
		s := mustCompile(t, p)
		problem, state := mustText(s.Problem()), State(s)
		_, asked := s.WhatIf(test.changes)
		for how, err := range map[string]error{"Apply": s.Apply(test.changes), "WhatIf": asked} {
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "scheduling: ") {
				t.Errorf("%s, %s: error %v, want %s", test.name, how, err, test.want)
			}
		}
		if mustText(s.Problem()) != problem || State(s) != state {
			t.Errorf("%s: something changed", test.name)
		}
	}
}

func TestNodePrices(t *testing.T) {
	label := func(key, value string) func(*Node) { return func(n *Node) { n.Labels[key] = value } }
	without := func(key string) func(*Node) { return func(n *Node) { delete(n.Labels, key) } }
	tests := []struct {
		name string
		edit func(*Node)
		want string
	}{
		{"as it was bought", func(*Node) {}, "0.1"},
		{"old spelling of a label", func(n *Node) {
			delete(n.Labels, corev1.LabelInstanceTypeStable)
			n.Labels[corev1.LabelInstanceType] = "small"
		}, "0.1"},
		{"not in the pool any more", func(n *Node) { n.Pool = "old" }, "unknown"},
		{"of nobody", func(n *Node) { n.Pool = "" }, "unknown"},
		{"a type without labels", without(corev1.LabelInstanceTypeStable), "unknown"},
		{"sold elsewhere only", label(corev1.LabelTopologyZone, "b"), "unknown"},
		{"offered without a price", label(CapacityTypeLabel, "spot"), "unknown"},
		{"of one reservation", func(n *Node) { n.Labels[CapacityTypeLabel], n.Labels["cr"] = "reserved", "one" }, "0.01"},
		{"of the other", func(n *Node) { n.Labels[CapacityTypeLabel], n.Labels["cr"] = "reserved", "two" }, "0.02"},
		{"of none that is known", func(n *Node) { n.Labels[CapacityTypeLabel], n.Labels["cr"] = "reserved", "three" }, "unknown"},
		{"of one that nobody says: the least", label(CapacityTypeLabel, "reserved"), "0.01"},
	}
	for _, test := range tests {
		n := smallNode("n1")
		test.edit(&n)
		p := smallCluster(n)
		offerings := &p.Pools[0].InstanceTypes[0].Offerings
		*offerings = append(*offerings, Offering{Zone: "a", CapacityType: "spot"},
			Offering{Zone: "a", CapacityType: "reserved", Price: PriceFromFloat(0.02), Labels: map[string]string{"cr": "two"}, Reservation: "two"},
			Offering{Zone: "a", CapacityType: "reserved", Price: PriceFromFloat(0.01), Labels: map[string]string{"cr": "one"}, Reservation: "one"})
		for _, ch := range []Changes{{DrainNodes: []string{"n1"}}, {RemoveNodes: []string{"n1"}, AddNodes: []Node{smallNode("n2")}}} {
			if got := mustAsk(t, mustCompile(t, p), ch).Saved.String(); got != test.want {
				t.Errorf("%s: %s saved, want %s", test.name, got, test.want)
			}
		}
	}
}

func TestDifference(t *testing.T) {
	for _, test := range []struct {
		price, saved Price
		want         int64
		known        bool
	}{
		{PriceFromNano(3), PriceFromNano(5), -2, true},
		{PriceFromNano(5), PriceFromNano(3), 2, true},
		{PriceFromNano(5), Price{}, 0, false},
	} {
		o := Outcome{Price: test.price, Saved: test.saved}
		if got, known := o.Difference(); known != test.known || known && got != test.want {
			t.Errorf("%v - %v: %d, %v", test.price, test.saved, got, known)
		}
	}
}

// A label that the pool leaves open is settled by the pods, and said.
func TestOutcomeTellsCustomLabels(t *testing.T) {
	p := smallCluster(smallNode("n1", runningPod("a", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"team": "blue"} })))
	p.Pools[0].Requirements = []Requirement{{Key: "team", Operator: corev1.NodeSelectorOpIn, Values: []string{"red", "blue"}}}
	o := mustAsk(t, mustCompile(t, p), Changes{DrainNodes: []string{"n1"}})
	if len(o.Launches) != 1 || o.Launches[0].CustomLabels["team"] != "blue" {
		t.Errorf("launches %+v", o.Launches)
	}
}

// A plan that ran out of steps is continued by naming what was not looked at; pools are chosen per call.
func TestSnapshotPlans(t *testing.T) {
	p := smallCluster(smallNode("n1", runningPod("a"), runningPod("b")))
	s := mustCompile(t, p)
	if err := s.Apply(Changes{DrainNodes: []string{"n1"}}); err != nil {
		t.Fatal(err)
	}
	none, err := s.Plan(t.Context(), &Options{Pools: []string{}})
	if err != nil || none.Totals.Unplaced != 2 {
		t.Fatalf("%v, %+v", err, none)
	}
	plan, err := s.Plan(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Solve(t.Context(), byHand(p, Changes{DrainNodes: []string{"n1"}}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.Document(), plan.Document()); d != "" {
		t.Errorf("not the plan of the problem written by hand: %s", d)
	}
}
