package scheduling_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// stage is a problem and a plan in a few words, for what pods are to each other and to volumes. Pods ask
// for nothing but a place; nodes n1 and n2 exist in zones a and b; pool main sells types small and large in
// zones a, b and c.
type stage struct {
	*Problem
	*Plan
}

// newStage places pods in the order given. A place is the name of a node; or a launch, as a number and what it
// may become, "1:small/a,small/b", the first being the choice; or "!" and the code it is left out with.
// Types are looked for in all pools.
func newStage(pods []*corev1.Pod, places ...string) *stage {
	types := []*InstanceType{verifyTestType("small", "4", "0.1", "a", "b", "c"), verifyTestType("large", "8", "0.2", "a", "b", "c")}
	node := func(name, zone string) Node {
		return Node{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: zone, corev1.LabelHostname: name}, Allocatable: list("pods", "20")}
	}
	s := &stage{&Problem{Pods: pods, Pools: []Pool{{Name: "main", InstanceTypes: types}}, Nodes: []Node{node("n1", "a"), node("n2", "b")}}, &Plan{}}
	s.place(places...)
	return s
}

func (s *stage) place(places ...string) {
	s.Plan = &Plan{Catalog: s.Problem.Catalog, Options: s.Plan.Options, BindOrder: []int32{}}
	launches := map[string]int{}
	for i, where := range places {
		pod := int32(i)
		if code, out := strings.CutPrefix(where, "!"); out {
			s.Plan.Unplaced = append(s.Plan.Unplaced, Unplaced{Pod: pod, Reason: int32(len(s.Plan.Reasons))})
			s.Plan.Reasons = append(s.Plan.Reasons, Reason{Code: Code(code)})
			continue
		}
		s.Plan.BindOrder = append(s.Plan.BindOrder, pod)
		if n := slices.IndexFunc(s.Problem.Nodes, func(n Node) bool { return n.Name == where }); n >= 0 {
			s.Plan.Placements = append(s.Plan.Placements, Placement{Pod: pod, Node: int32(n)})
			continue
		}
		id, what, _ := strings.Cut(where, ":")
		if _, open := launches[id]; !open {
			launches[id] = len(s.Plan.Launches)
			s.Plan.Launches = append(s.Plan.Launches, Launch{Shape: int32(len(s.Plan.Shapes))})
			s.Plan.Shapes = append(s.Plan.Shapes, s.shape(what))
		}
		l := &s.Plan.Launches[launches[id]]
		l.Pods = append(l.Pods, pod)
	}
	s.settle()
}

func (s *stage) shape(what string) Shape {
	var out Shape
	for i, name := range strings.Split(what, ",") {
		pool, at := s.find(name)
		if out.Alternatives = append(out.Alternatives, at); i == 0 {
			out.Pool, out.Choice = pool, at
		}
	}
	out.AlternativeCount = len(out.Alternatives)
	return out
}

func (s *stage) find(name string) (int32, Alternative) {
	for i := range s.Problem.Pools {
		for j, t := range s.Problem.Pools[i].InstanceTypes {
			for k, o := range t.Offerings {
				if t.Name+"/"+o.Zone == name || t.Name+"/"+o.Zone+"/"+o.CapacityType == name {
					return int32(i), Alternative{Type: int32(j), Offering: int32(k)}
				}
			}
		}
	}
	panic("no offering " + name)
}

// settle does the arithmetic.
func (s *stage) settle() {
	t := &s.Plan.Totals
	*t = Totals{Nodes: len(s.Plan.Launches), Unplaced: len(s.Plan.Unplaced), NotEvaluated: len(s.Plan.NotEvaluated), Pods: len(s.Plan.Placements)}
	var sum int64
	for _, l := range s.Plan.Launches {
		shape := &s.Plan.Shapes[l.Shape]
		shape.Price = s.Problem.Pools[shape.Pool].InstanceTypes[shape.Choice.Type].Offerings[shape.Choice.Offering].Price
		shape.Requests = Vector{{"pods", int64(len(l.Pods))}}
		t.Pods += len(l.Pods)
		sum += shape.Price.Nano()
	}
	t.Price = PriceFromNano(sum)
}

// bindInPlanOrder forgets the bind order: any is to do.
func (s *stage) bindInPlanOrder() { s.Plan.BindOrder = nil }

// stageCase is one row of a table: what is wrong, if anything, is the rule to be found broken.
type stageCase struct {
	name, reason string
	stage        *stage
	edit         func(s *stage)
	want         string
}

func runStages(t *testing.T, cases []stageCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if tc.edit != nil {
				tc.edit(tc.stage)
			}
			before := mustText(tc.stage.Problem)
			err := Verify(tc.stage.Problem, tc.stage.Plan)
			if got := strings.Join(rules(err), " "); got != tc.want {
				t.Errorf("%s: broken rules %q, want %q\n%v", tc.reason, got, tc.want, err)
			}
			if mustText(tc.stage.Problem) != before {
				t.Error("Verify changed the problem")
			}
		})
	}
}

// actors makes n pods p0, p1 and so on, all alike.
func actors(n int, edits ...func(*corev1.Pod)) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range n {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("p%d", i), Labels: map[string]string{"app": "a"}}}
		p.Spec.Containers = []corev1.Container{{Name: "main"}}
		for _, e := range edits {
			e(p)
		}
		out = append(out, p)
	}
	return out
}

// actor makes one pod of that name.
func actor(name string, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := actors(1, edits...)[0]
	p.Name = name
	return p
}

// labelled gives a pod further labels, key and value in turn.
func labelled(kv ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Labels = maps.Clone(p.Labels)
		for i := 0; i < len(kv); i += 2 {
			p.Labels[kv[i]] = kv[i+1]
		}
	}
}

func inNamespace(ns string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Namespace = ns } }

func selecting(kv ...string) *metav1.LabelSelector {
	s := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for i := 0; i < len(kv); i += 2 {
		s.MatchLabels[kv[i]] = kv[i+1]
	}
	return s
}

// spreads adds a hard spread with maxSkew 1 over pods with label app=a.
func spreads(key string, edits ...func(*corev1.TopologySpreadConstraint)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		c := corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selecting("app", "a")}
		for _, e := range edits {
			e(&c)
		}
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
	}
}

func affinityOf(p *corev1.Pod) *corev1.Affinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	return p.Spec.Affinity
}

func term(key string, selector *metav1.LabelSelector, edits ...func(*corev1.PodAffinityTerm)) corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: selector}
	for _, e := range edits {
		e(&t)
	}
	return t
}

// with requires pods that match all terms nearby, apart forbids those that match any.
func with(terms ...corev1.PodAffinityTerm) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		affinityOf(p).PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
	}
}

func apart(terms ...corev1.PodAffinityTerm) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		affinityOf(p).PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
	}
}

func running(s *stage, node int, pods ...*corev1.Pod) {
	s.Problem.Nodes[node].Pods = append(s.Problem.Nodes[node].Pods, pods...)
}

func quantity(s string) *resource.Quantity {
	q := resource.MustParse(s)
	return &q
}
