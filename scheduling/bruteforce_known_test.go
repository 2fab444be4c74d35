package scheduling_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/internal/randproblem"
	. "github.com/fleetwright/fleetwright/scheduling"
)

// tinyBase is pods of one app and one pool with one type in zones a, b and c.
func tinyBase(pods int, edits ...func(*corev1.Pod)) *Problem {
	p := &Problem{Pools: []Pool{{Name: "p", InstanceTypes: []*InstanceType{verifyTestType("t", "4", "0.1", "a", "b", "c")}}},
		Namespaces: map[string]map[string]string{"ns": {}, "other": {"tier": "low"}}}
	for i := range pods {
		p.Pods = append(p.Pods, verifyTestPod(fmt.Sprint("p", i), "1", edits...))
	}
	return p
}

func tinyTermOf(key, app string) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}
}

func near(terms ...corev1.PodAffinityTerm) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		if p.Spec.Affinity == nil {
			p.Spec.Affinity = &corev1.Affinity{}
		}
		p.Spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
	}
}

func far(terms ...corev1.PodAffinityTerm) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		if p.Spec.Affinity == nil {
			p.Spec.Affinity = &corev1.Affinity{}
		}
		p.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
	}
}

func tinyNodeIn(zone string, pods ...*corev1.Pod) Node {
	return Node{Name: "n-" + zone, Labels: map[string]string{corev1.LabelTopologyZone: zone, corev1.LabelHostname: "n-" + zone},
		Allocatable: list("cpu", "4", "memory", "16Gi", "pods", "10"), Pods: pods}
}

// The exhaustive oracle itself, on problems whose answer is plain.
func TestExhaustiveOracleKnowsTheAnswer(t *testing.T) {
	const zone = corev1.LabelTopologyZone
	for _, tt := range []struct {
		name, reason string
		problem      func() *Problem
		want         int
	}{
		{"free", "nothing stands in the way", func() *Problem { return tinyBase(5) }, 5},
		{"zone anti-affinity", "one pod a zone", func() *Problem { return tinyBase(5, far(tinyTermOf(zone, "a"))) }, 3},
		{"anti-affinity from running pods", "their terms count as well", func() *Problem {
			p := tinyBase(3)
			p.Nodes = []Node{tinyNodeIn("a", verifyTestPod("b", "1", far(tinyTermOf(zone, "a"))))}
			p.Pods[0].Spec.NodeSelector = map[string]string{zone: "a"}
			return p
		}, 2},
		{"spread where a limit closes a zone", "with two nodes in two zones there is no third", func() *Problem {
			p := tinyBase(6, spread(zone, 1))
			p.Pools[0].Limits = list("nodes", "2")
			return p
		}, 6},
		{"spread over zones of which one is closed", "the closed zone exists, counts 0, and cannot grow", func() *Problem {
			p := tinyBase(6, spread(zone, 1))
			p.Pools[0].Requirements = []Requirement{in(zone, "a", "b")}
			n := tinyNodeIn("c")
			n.Unschedulable = true
			p.Nodes = []Node{n}
			return p
		}, 2},
		{"minDomains", "with fewer domains than that each may have maxSkew", func() *Problem {
			p := tinyBase(6, spread(zone, 1), func(p *corev1.Pod) { four := int32(4); p.Spec.TopologySpreadConstraints[0].MinDomains = &four })
			return p
		}, 3},
		{"affinity to nobody", "no pod matches and the pod does not match itself", func() *Problem { return tinyBase(2, near(tinyTermOf(zone, "x"))) }, 0},
		{"affinity to itself", "the first may start a zone, the others follow", func() *Problem {
			p := tinyBase(6, near(tinyTermOf(zone, "a")), far(tinyTermOf(corev1.LabelHostname, "a")))
			p.Pools[0].Limits = list("nodes", "4")
			return p
		}, 4},
		{"a chain", "c follows b follows a, whatever their order", func() *Problem {
			p := tinyBase(3)
			p.Pods[0].Labels, p.Pods[1].Labels = map[string]string{"app": "c"}, map[string]string{"app": "b"}
			near(tinyTermOf(zone, "b"))(p.Pods[0])
			near(tinyTermOf(zone, "a"))(p.Pods[1])
			return p
		}, 3},
		{"two terms, met by two pods", "a pod counts only if it matches all terms", func() *Problem {
			p := tinyBase(3)
			p.Pods[1].Labels = map[string]string{"app": "b"}
			near(tinyTermOf(zone, "a"), tinyTermOf(zone, "b"))(p.Pods[2])
			return p
		}, 2},
		{"another namespace", "terms are about the own one unless they say otherwise", func() *Problem {
			p := tinyBase(2)
			p.Pods[0].Namespace = "other"
			p.Pods[0].Labels = map[string]string{"app": "b"}
			near(tinyTermOf(zone, "b"))(p.Pods[1])
			return p
		}, 1},
		{"another namespace that is selected", "by its label", func() *Problem {
			p := tinyBase(2)
			p.Pods[0].Namespace = "other"
			p.Pods[0].Labels = map[string]string{"app": "b"}
			x := tinyTermOf(zone, "b")
			x.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "low"}}
			near(x)(p.Pods[1])
			return p
		}, 2},
		{"limit", "one node of four CPU, of which 3.9 are to be had", func() *Problem {
			p := tinyBase(5)
			p.Pools[0].Limits = list("nodes", "1")
			return p
		}, 3},
		{"reservation", "two machines are reserved, whatever the offering", func() *Problem {
			p := tinyBase(6, func(p *corev1.Pod) {
				p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = list("cpu", "2")["cpu"]
			})
			for i := range 3 {
				o := &p.Pools[0].InstanceTypes[0].Offerings[i]
				o.CapacityType, o.Reservation, o.Count = "reserved", "r", int32(2+i)
			}
			return p
		}, 2},
		{"commitment", "of 0.5 an hour two nodes of 0.2 are paid, with no other price", func() *Problem {
			p := tinyBase(6, func(p *corev1.Pod) {
				p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = list("cpu", "2")["cpu"]
			})
			p.Commitments = []Commitment{{Name: "c", PerHour: PriceFromFloat(0.5)}}
			for i := range 3 {
				o := &p.Pools[0].InstanceTypes[0].Offerings[i]
				o.Commitment, o.Draw = "c", PriceFromFloat(0.2)
			}
			return p
		}, 2},
		{"gang", "three of it are too many for the limit, so none goes", func() *Problem {
			p := tinyBase(4, func(p *corev1.Pod) { p.Labels["gang"] = "g" })
			p.GangLabels = []string{"gang"}
			p.Pools[0].Limits = list("nodes", "1")
			return p
		}, 0},
		{"gang of three", "of four, three go", func() *Problem {
			p := tinyBase(4, func(p *corev1.Pod) { p.Labels["gang"] = "g" })
			p.GangLabels, p.Gangs = []string{"gang"}, []Gang{{Namespace: "ns", Name: "g", MinCount: 3}}
			p.Pools[0].Limits = list("nodes", "1")
			return p
		}, 3},
		{"attach limit", "two volumes a node, two nodes", tinyAttach(false), 4},
		{"shared claim", "counts once a node", tinyAttach(true), 6},
		{"demands", "count as pods", func() *Problem {
			p := tinyBase(1)
			p.Demands = []Demand{{Template: verifyTestPod("d", "1"), Count: 3}}
			p.Pools[0].Limits = list("nodes", "1")
			return p
		}, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan, decided := newTinyOracle(tt.problem()).best(statesPerSearch)
			got := 0
			if plan != nil {
				got = plan.Totals.Pods
			}
			if got != tt.want || !decided {
				t.Errorf("%d pods, want %d: %s", got, tt.want, tt.reason)
			}
		})
	}
}

// tinyAttach has six small pods with a volume each, or all with the same one, and two nodes with two slots.
func tinyAttach(shared bool) func() *Problem {
	return func() *Problem {
		wait, class := storagev1.VolumeBindingWaitForFirstConsumer, "c"
		p := tinyBase(6)
		p.Storage.Classes = []*storagev1.StorageClass{{ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "d", VolumeBindingMode: &wait}}
		p.Pools[0].InstanceTypes[0].Capacity[AttachLimit("d")] = list("x", "2")["x"]
		p.Pools[0].Limits = list("nodes", "2")
		for _, pod := range p.Pods {
			name := "of-" + pod.Name
			if shared {
				name = "of-all"
			}
			pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}}
			if shared && len(p.Storage.Claims) > 0 {
				continue
			}
			p.Storage.Claims = append(p.Storage.Claims, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
				Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class}})
		}
		return p
	}
}

// The exhaustive oracle and Verify were written apart from each other: what the one plans, the other accepts.
func TestExhaustivePlansAreAccepted(t *testing.T) {
	for _, with := range []randproblem.Features{randproblem.Spreads, randproblem.Affinities, randproblem.Volumes, randproblem.Reservations,
		randproblem.Commitments, randproblem.Limits, randproblem.Gangs, randproblem.DefaultSpreads, randproblem.Everything} {
		size := randproblem.TinyConstrained()
		size.With = with
		plans, pods := 0, 0
		for seed := range seeds(500) {
			problem := randproblem.New(seed, size)
			plan, _ := newTinyOracle(problem).best(statesPerSearch)
			if plan == nil {
				continue
			}
			plans, pods = plans+1, pods+plan.Totals.Pods
			if err := Verify(problem, plan); err != nil {
				t.Errorf("features %b, seed %d: %v\n%s", with, seed, err, tinyText(problem, plan))
			}
		}
		if t.Logf("features %b: %d plans with %d pods", with, plans, pods); plans < int(seeds(250)) {
			t.Errorf("features %b: only %d plans", with, plans)
		}
	}
}

// tinyText tells where pods go, in the order in which they are bound.
func tinyText(p *Problem, plan *Plan) string {
	where := map[int32]string{}
	for i, l := range plan.Launches {
		s := plan.Shapes[l.Shape]
		ty := p.Pools[s.Pool].InstanceTypes[s.Choice.Type]
		o := ty.Offerings[s.Choice.Offering]
		for _, pod := range l.Pods {
			where[pod] = fmt.Sprintf("launch %d: %s %s %s %s %v", i, p.Pools[s.Pool].Name, ty.Name, o.Zone, o.CapacityType, s.CustomLabels)
		}
	}
	for _, x := range plan.Placements {
		where[x.Pod] = p.Nodes[x.Node].Name
	}
	var out strings.Builder
	for _, pod := range plan.BindOrder {
		fmt.Fprintf(&out, "  %s to %s\n", p.PodName(pod), where[pod])
	}
	return out.String()
}
