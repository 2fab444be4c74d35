package scheduling_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// rules lists which rules a plan breaks, sorted, each once.
func rules(err error) []string {
	var e *VerifyError
	if !errors.As(err, &e) {
		return nil
	}
	var out []string
	for _, w := range e.Violations {
		out = append(out, w.Rule)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func list(kv ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(kv); i += 2 {
		out[corev1.ResourceName(kv[i])] = resource.MustParse(kv[i+1])
	}
	return out
}

func in(key string, values ...string) Requirement {
	return Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

func verifyTestPod(name, cpu string, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{"app": "a"}}}
	p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: list("cpu", cpu, "memory", "1Gi")}}}
	for _, e := range edits {
		e(p)
	}
	return p
}

func verifyTestType(name, cpu, price string, zones ...string) *InstanceType {
	t := &InstanceType{
		Name:         name,
		Requirements: []Requirement{in(corev1.LabelInstanceTypeStable, name), in(corev1.LabelArchStable, "amd64"), in(corev1.LabelTopologyZone, zones...)},
		Capacity:     list("cpu", cpu, "memory", "16Gi", "pods", "10"),
		Overhead:     list("cpu", "100m", "memory", "1Gi"),
	}
	for _, z := range zones {
		p, err := ParsePrice(price)
		if err != nil {
			panic(err)
		}
		t.Offerings = append(t.Offerings, Offering{Zone: z, CapacityType: "on-demand", Price: p})
	}
	return t
}

// verifyBase is a problem with two pools, a DaemonSet and two nodes, and a plan for it that is right: pods 0 and 1
// on one launch, pod 2 on node n1, pod 3 too large for anything.
func verifyBase() (*Problem, *Plan) {
	small, large := verifyTestType("small", "4", "0.1", "a", "b"), verifyTestType("large", "8", "0.2", "a", "b")
	problem := &Problem{
		Pods: []*corev1.Pod{verifyTestPod("p0", "1"), verifyTestPod("p1", "2"), verifyTestPod("p2", "1"), verifyTestPod("p3", "100")},
		Pools: []Pool{
			{Name: "main", InstanceTypes: []*InstanceType{small, large}, Limits: list("cpu", "40", "nodes", "5")},
			{Name: "other", InstanceTypes: []*InstanceType{small, large}, Taints: []corev1.Taint{{Key: "own", Effect: corev1.TaintEffectNoSchedule}}},
		},
		Nodes: []Node{
			{Name: "n1", Pool: "main", Labels: map[string]string{corev1.LabelTopologyZone: "a", corev1.LabelHostname: "n1"}, Allocatable: list("cpu", "2", "memory", "8Gi", "pods", "10")},
			{Name: "n2", Labels: map[string]string{corev1.LabelTopologyZone: "b"}, Allocatable: list("cpu", "500m", "memory", "8Gi", "pods", "10")},
		},
		DaemonSets: []*corev1.Pod{verifyTestPod("agent", "100m")},
		Catalog:    Catalog{AsOf: "2026-01-01"},
	}
	price, _ := ParsePrice("0.1")
	alternatives := []Alternative{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
	plan := &Plan{
		Catalog: problem.Catalog,
		Shapes: []Shape{{
			Pool: 0, Choice: Alternative{0, 0}, Alternatives: alternatives, AlternativeCount: 4, Price: price, DaemonSets: []int32{0},
			Requests: Vector{{"cpu", 3100}, {"memory", 3 << 30}, {"pods", 3}},
		}},
		Launches:   []Launch{{Shape: 0, Pods: []int32{0, 1}}},
		Placements: []Placement{{Pod: 2, Node: 0}},
		Unplaced:   []Unplaced{{Pod: 3, Reason: 0}},
		Reasons:    []Reason{{Code: CodeResource}},
		Totals:     Totals{Price: price, Nodes: 1, Pods: 3, Unplaced: 1},
	}
	return problem, plan
}

func TestVerifyAccepts(t *testing.T) {
	problem, plan := verifyBase()
	if err := Verify(problem, plan); err != nil {
		t.Fatal(err)
	}
}

func TestVerifyRejects(t *testing.T) {
	anti := func(key string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}}}}}
		}
	}
	affinity := func(terms ...corev1.NodeSelectorTerm) *corev1.Affinity {
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
	}
	port := func(ip string, port int32) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostIP: ip, HostPort: port}}
		}
	}
	always := corev1.ContainerRestartPolicyAlways
	two := 2
	for _, tc := range []struct {
		name, reason string
		edit         func(*Problem, *Plan)
		want         string
	}{
		{"pod lost", "every pod is somewhere", func(p *Problem, q *Plan) { q.Placements = nil; q.Totals.Pods = 2 }, "once"},
		{"pod twice", "and only once", func(p *Problem, q *Plan) {
			q.Placements = append(q.Placements, Placement{Pod: 0, Node: 0})
			q.Totals.Pods = 4
		}, "once resources"},
		{"pod index", "indexes out of range are no panic", func(p *Problem, q *Plan) { q.Launches[0].Pods[0] = 99 }, "once requests structure"},
		{"shape index", "same", func(p *Problem, q *Plan) { q.Launches[0].Shape = -1 }, "structure totals"},
		{"pool index", "same", func(p *Problem, q *Plan) { q.Shapes[0].Pool = 7 }, "structure"},
		{"type index", "same", func(p *Problem, q *Plan) { q.Shapes[0].Choice.Type = 7 }, "structure"},
		{"offering index", "same", func(p *Problem, q *Plan) { q.Shapes[0].Alternatives[1].Offering = 7 }, "structure"},
		{"node index", "same", func(p *Problem, q *Plan) { q.Placements[0].Node = 7 }, "structure"},
		{"reason index", "same", func(p *Problem, q *Plan) { q.Unplaced[0].Reason = 3 }, "reason"},
		{"total price", "sums are exact", func(p *Problem, q *Plan) { q.Totals.Price = PriceFromNano(1) }, "totals"},
		{"total pods", "sums are exact", func(p *Problem, q *Plan) { q.Totals.Pods = 4 }, "totals"},
		{"bound", "no bound is above the price", func(p *Problem, q *Plan) { q.Totals.LowerBound = PriceFromFloat(0.3) }, "totals"},
		{"catalog", "a saved plan tells how old its prices are", func(p *Problem, q *Plan) { q.Catalog.AsOf = "" }, "catalog"},
		{"no price", "an unknown price is never bought", func(p *Problem, q *Plan) { p.Pools[0].InstanceTypes[1].Offerings[0].Price = Price{} }, "alternatives offering"},
		{"unavailable", "nor what cannot be had", func(p *Problem, q *Plan) { p.Pools[0].InstanceTypes[0].Offerings[1].Unavailable = true }, "offering"},
		{"price", "the launch states its offering's price", func(p *Problem, q *Plan) { q.Shapes[0].Price = PriceFromFloat(0.2) }, "price totals"},
		{"order", "alternatives are cheapest first", func(p *Problem, q *Plan) { slices.Reverse(q.Shapes[0].Alternatives) }, "alternatives"},
		{"twice", "alternatives are unique", func(p *Problem, q *Plan) { q.Shapes[0].Alternatives[1] = q.Shapes[0].Alternatives[0] }, "alternatives"},
		{"no choice", "the choice is among them", func(p *Problem, q *Plan) {
			q.Shapes[0].Alternatives = q.Shapes[0].Alternatives[1:]
		}, "alternatives"},
		{"too many", "the option caps types", func(p *Problem, q *Plan) { q.Options.MaxAlternatives = 1 }, "alternatives"},
		{"selector", "an alternative in another zone does not do", func(p *Problem, q *Plan) {
			p.Pods[0].Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "a"}
		}, "labels"},
		{"old key", "deprecated keys are read as the new ones", func(p *Problem, q *Plan) {
			p.Pods[0].Spec.NodeSelector = map[string]string{corev1.LabelFailureDomainBetaZone: "a"}
		}, "labels"},
		{"custom", "a label that nobody mentions is absent", func(p *Problem, q *Plan) {
			p.Pods[0].Spec.NodeSelector = map[string]string{"team": "x"}
		}, "labels"},
		{"open", "an open label has to be decided", func(p *Problem, q *Plan) {
			p.Pools[0].Requirements = []Requirement{{Key: "team", Operator: corev1.NodeSelectorOpExists}}
			p.Pods[0].Spec.NodeSelector = map[string]string{"team": "x"}
		}, "labels"},
		{"decided outside", "within what the pool allows", func(p *Problem, q *Plan) {
			p.Pools[0].Requirements = []Requirement{in("team", "x", "y")}
			q.Shapes[0].CustomLabels = map[string]string{"team": "z"}
		}, "labels"},
		{"not open", "and only where it leaves one open", func(p *Problem, q *Plan) {
			q.Shapes[0].CustomLabels = map[string]string{"team": "z"}
		}, "labels"},
		{"joint", "pods cannot want different values of a label that is not settled", func(p *Problem, q *Plan) {
			p.Pods[0].Spec.NodeSelector = map[string]string{corev1.LabelTopologyRegion: "x"}
			p.Pods[1].Spec.Affinity = affinity(
				corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyRegion, Operator: "In", Values: []string{"y"}}}},
				corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyRegion, Operator: "NotIn", Values: []string{"x"}}}})
		}, "labels"},
		{"empty term", "an empty term matches nothing", func(p *Problem, q *Plan) { p.Pods[0].Spec.Affinity = affinity(corev1.NodeSelectorTerm{}) }, "labels"},
		{"node name", "a name never matches a new node", func(p *Problem, q *Plan) {
			p.Pods[0].Spec.Affinity = affinity(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"n1"}}}})
		}, "labels"},
		{"contradiction", "pool and type must agree", func(p *Problem, q *Plan) {
			p.Pools[0].Labels = map[string]string{corev1.LabelArchStable: "arm64"}
		}, "labels"},
		{"taint", "a pool's taint must be tolerated", func(p *Problem, q *Plan) { q.Shapes[0].Pool = 1 }, "daemonSets taints"},
		{"no execute", "NoExecute as well", func(p *Problem, q *Plan) {
			p.Pools[0].Taints = []corev1.Taint{{Key: "x", Effect: corev1.TaintEffectNoExecute}}
			for _, pod := range append(p.Pods, p.DaemonSets...) {
				pod.Spec.Tolerations = []corev1.Toleration{{Key: "x", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
			}
		}, "daemonSets taints"},
		{"too large", "the choice holds what is on it", func(p *Problem, q *Plan) {
			p.Pools[0].InstanceTypes[0].Overhead = list("cpu", "1", "memory", "1Gi")
		}, "resources"},
		{"sidecar", "sidecars run beside the containers", func(p *Problem, q *Plan) {
			p.Pods[0].Spec.InitContainers = []corev1.Container{{RestartPolicy: &always, Resources: corev1.ResourceRequirements{Limits: list("cpu", "1")}}}
		}, "requests resources"},
		{"init", "an init container may need more than the rest", func(p *Problem, q *Plan) {
			p.Pods[0].Spec.InitContainers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: list("cpu", "3")}}}
		}, "requests resources"},
		{"overhead", "the runtime's overhead counts", func(p *Problem, q *Plan) { p.Pods[0].Spec.Overhead = list("cpu", "1") }, "requests resources"},
		{"pod level", "pod-level requests replace the containers'", func(p *Problem, q *Plan) {
			p.Pods[0].Spec.Resources = &corev1.ResourceRequirements{Limits: list("cpu", "9"), Requests: list("cpu", "2")}
		}, "requests resources"},
		{"gpu", "a resource that a type lacks is zero", func(p *Problem, q *Plan) {
			p.Pods[0].Spec.Containers[0].Resources.Requests["example.com/gpu"] = resource.MustParse("1")
			q.Shapes[0].Requests = append(Vector{q.Shapes[0].Requests[0], {"example.com/gpu", 1}}, q.Shapes[0].Requests[1:]...)
		}, "resources"},
		{"requests", "the launch states what is asked", func(p *Problem, q *Plan) { q.Shapes[0].Requests[0].Amount-- }, "requests"},
		{"ports", "one host port, one pod", func(p *Problem, q *Plan) { port("", 80)(p.Pods[0]); port("10.0.0.1", 80)(p.Pods[1]) }, "ports"},
		{"daemon port", "DaemonSets hold theirs", func(p *Problem, q *Plan) { port("", 80)(p.Pods[0]); port("::", 80)(p.DaemonSets[0]) }, "ports"},
		{"daemon missing", "DaemonSets that run are listed", func(p *Problem, q *Plan) {
			q.Shapes[0].DaemonSets = nil
			q.Shapes[0].Requests = Vector{{"cpu", 3000}, {"memory", 2 << 30}, {"pods", 2}}
		}, "daemonSets"},
		{"daemon elsewhere", "others are not", func(p *Problem, q *Plan) {
			p.DaemonSets[0].Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "b"}
		}, "daemonSets"},
		{"limit", "every fallback stays within the limit", func(p *Problem, q *Plan) { p.Pools[0].Limits = list("cpu", "9") }, "limits"},
		{"node limit", "nodes are counted", func(p *Problem, q *Plan) { p.Pools[0].Limits = list("nodes", "1") }, "limits"},
		{"min values", "a pool may demand a choice of types", func(p *Problem, q *Plan) {
			r := in(corev1.LabelInstanceTypeStable, "small", "large")
			r.MinValues = &two
			p.Pools[0].Requirements = []Requirement{r}
			q.Shapes[0].Alternatives, q.Shapes[0].AlternativeCount = q.Shapes[0].Alternatives[:2], 2
		}, "minValues"},
		{"lowered", "and strictness forbids lowering it", func(p *Problem, q *Plan) { q.Shapes[0].MinValues = map[string]int{"x": 1} }, "minValues"},
		{"full node", "existing nodes have only so much", func(p *Problem, q *Plan) { q.Placements[0].Node = 1 }, "resources"},
		{"cordoned", "cordoned nodes take nothing", func(p *Problem, q *Plan) { p.Nodes[0].Unschedulable = true }, "node"},
		{"node taint", "taints of nodes count", func(p *Problem, q *Plan) {
			p.Nodes[0].Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}
		}, "taints"},
		{"node label", "a node has exactly the labels it shows", func(p *Problem, q *Plan) {
			p.Pods[2].Spec.NodeSelector = map[string]string{corev1.LabelArchStable: "amd64"}
		}, "labels"},
		{"bound pods", "what runs there needs its share", func(p *Problem, q *Plan) { p.Nodes[0].Pods = []*corev1.Pod{verifyTestPod("old", "1")} }, "resources"},
		{"bound port", "and its ports", func(p *Problem, q *Plan) {
			p.Nodes[0].Pods = []*corev1.Pod{verifyTestPod("old", "0", port("", 80))}
			port("", 80)(p.Pods[2])
		}, "ports"},
		{"anti host", "no two on one node", func(p *Problem, q *Plan) { anti(corev1.LabelHostname)(p.Pods[0]) }, "antiAffinity"},
		{"anti zone", "no fallback into the zone either", func(p *Problem, q *Plan) { anti(corev1.LabelTopologyZone)(p.Pods[2]) }, "antiAffinity"},
		{"anti inverse", "what runs already has a say", func(p *Problem, q *Plan) {
			p.Nodes[0].Pods = []*corev1.Pod{verifyTestPod("old", "0", anti(corev1.LabelHostname))}
		}, "antiAffinity"},
		{"spread untied", "a spread pod's launch is in one zone", func(p *Problem, q *Plan) { spread(corev1.LabelTopologyZone, 1)(p.Pods[0]) }, "spread"},
		{"spread", "two here and none there is a skew of two", func(p *Problem, q *Plan) {
			for _, pod := range p.Pods[:2] {
				spread(corev1.LabelTopologyZone, 1)(pod)
			}
			q.Shapes[0].Alternatives, q.Shapes[0].AlternativeCount = []Alternative{{0, 0}, {1, 0}}, 2
		}, "spread"},
		{"spread host", "counted per node too", func(p *Problem, q *Plan) {
			for _, pod := range p.Pods[:2] {
				spread(corev1.LabelHostname, 1)(pod)
			}
		}, "spread"},
		{"affinity", "there is no such pod", func(p *Problem, q *Plan) {
			p.Pods[2].Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "b"}}}}}}
		}, "affinity"},
		{"placeable", "a reason has to hold", func(p *Problem, q *Plan) { p.Pods[3] = verifyTestPod("p3", "7") }, "placeable"},
		{"placeable here", "also for existing nodes", func(p *Problem, q *Plan) {
			p.Pods[3] = verifyTestPod("p3", "1")
			q.Reasons[0].Code = CodeLimit
			p.Nodes[1].Allocatable = list("cpu", "2", "memory", "8Gi", "pods", "10")
		}, "placeable"},
		{"negative", "a wrong pod is not placed", func(p *Problem, q *Plan) {
			p.Pods[2].Spec.Containers[0].Resources.Requests["memory"] = resource.MustParse("-1")
			p.Pods[0].Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("-1")
		}, "invalid requests"},
		{"bind order", "it lists what is placed", func(p *Problem, q *Plan) { q.BindOrder = []int32{0, 1} }, "bindOrder"},
		{"not looked at", "only a budget excuses that", func(p *Problem, q *Plan) {
			q.NotEvaluated, q.Unplaced, q.Totals.Unplaced, q.Totals.NotEvaluated = []int32{3}, nil, 0, 1
		}, "totals"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			problem, plan := verifyBase()
			tc.edit(problem, plan)
			err := Verify(problem, plan)
			if got := strings.Join(rules(err), " "); got != tc.want {
				t.Errorf("%s: broken rules %q, want %q\n%v", tc.reason, got, tc.want, err)
			}
		})
	}
}

func spread(key string, skew int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "s"}
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: skew, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "s"}}})
	}
}

func TestVerifyNil(t *testing.T) {
	problem, plan := verifyBase()
	for _, err := range []error{Verify(nil, plan), Verify(problem, nil), Verify(nil, nil)} {
		if got := rules(err); !slices.Equal(got, []string{"structure"}) {
			t.Errorf("broken rules %v, want structure", got)
		}
	}
}

func TestVerifyErrorIsBounded(t *testing.T) {
	e := &VerifyError{}
	for i := range 1000 {
		e.Violations = append(e.Violations, Violation{Rule: "once", Subject: fmt.Sprint(i), Detail: strings.Repeat("x", 5000)})
	}
	if n := len(e.Error()); n > 6000 {
		t.Errorf("message has %d bytes", n)
	}
	if !strings.Contains(e.Error(), "990 more") {
		t.Errorf("message does not tell how many more: %s", e.Error()[:100])
	}
}

// clutter fills a problem with holes and contradictions.
func clutter(p *Problem) {
	p.Demands = []Demand{{Count: 3}, {Template: actor("d", claiming("c"), scratch(nil)), Count: 2}, {Template: &corev1.Pod{}, Count: -1}}
	p.Storage = Storage{Claims: []*corev1.PersistentVolumeClaim{nil, {}}, Volumes: []*corev1.PersistentVolume{nil, {}},
		Classes: []*storagev1.StorageClass{nil, {}}, CSINodes: []*storagev1.CSINode{nil, {}}}
	p.DefaultSpread = DefaultSpread{Constraints: []corev1.TopologySpreadConstraint{{}, {WhenUnsatisfiable: corev1.DoNotSchedule}},
		Services: []*corev1.Service{nil, {}}, Owners: []Owner{{}}}
	p.Gangs, p.GangLabels = []Gang{{}, {Name: "g", MinCount: -1}}, []string{"", "app"}
	p.Pods[0].Spec.Volumes = []corev1.Volume{{}, {VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
	p.Pods[0].Spec.SchedulingGroup = &corev1.PodSchedulingGroup{}
	apart(corev1.PodAffinityTerm{}, term(zoneKey, &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Operator: "?"}}}))(p.Pods[0])
	with(corev1.PodAffinityTerm{})(p.Pods[2])
	p.Nodes[0].Pods = []*corev1.Pod{nil, {}}
	p.Pools[0].InstanceTypes[0].Offerings[0].Reservation, p.Pools[0].InstanceTypes[0].Offerings[0].Count = "r", -4
}

// Verify takes any plan: indexes anywhere, holes in the problem, empty everything.
func TestVerifyTakesNonsense(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		problem, _ := verifyBase()
		problem.Pods = append(problem.Pods, nil, &corev1.Pod{})
		problem.DaemonSets = append(problem.DaemonSets, nil)
		problem.Pools[1].InstanceTypes = []*InstanceType{nil, {}}
		spread(corev1.LabelTopologyZone, 0)(problem.Pods[1])
		clutter(problem)
		n := func() int32 { return int32(r.IntN(9) - 2) }
		some := func() []int32 {
			var out []int32
			for range r.IntN(4) {
				out = append(out, n())
			}
			return out
		}
		options := Options{MaxAlternatives: int(n()), Steps: int64(n()), Reserved: ReservedPolicy(n()), Pools: [][]string{nil, {}, {"main"}}[r.IntN(3)]}
		plan := &Plan{Options: options, NotEvaluated: some(), BindOrder: some()}
		for range r.IntN(4) {
			s := Shape{Pool: n() % 3, Choice: Alternative{n() % 3, n() % 3}, DaemonSets: some(), MinValues: map[string]int{"x": int(n())},
				Requests: Vector{{"cpu", int64(n())}, {"cpu", math.MaxInt64}}}
			for range r.IntN(3) {
				s.Alternatives = append(s.Alternatives, Alternative{n() % 3, n() % 3})
			}
			plan.Shapes = append(plan.Shapes, s)
			plan.Launches = append(plan.Launches, Launch{Shape: n() % 4, Pods: some()})
			plan.Placements = append(plan.Placements, Placement{Pod: n(), Node: n() % 3})
			plan.Unplaced = append(plan.Unplaced, Unplaced{Pod: n(), Reason: n() % 3})
			plan.Reasons = append(plan.Reasons, Reason{Code: []Code{"", CodeResource, CodeLimit, CodeGang, CodeVolume, CodeReservation, CodeSpread}[r.IntN(7)]})
			plan.Relaxed = append(plan.Relaxed, Relaxation{Pods: some()})
		}
		if err := Verify(problem, plan); err == nil {
			t.Fatalf("seed %d: nonsense was accepted", seed)
		}
	}
}
