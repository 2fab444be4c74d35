package randproblem

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// pods draws kinds of pods and copies of them.
func (g *draw) pods() []*corev1.Pod {
	n := g.upTo(g.size.Pods)
	kinds := g.upTo(g.size.Kinds)
	if g.size.Kinds == 0 {
		kinds = n
	}
	var models, out []*corev1.Pod
	for i := range kinds {
		models = append(models, g.pod(fmt.Sprintf("app-%d", i)))
	}
	for i := range n {
		model := models[i%kinds]
		if g.chance(50) {
			model = pick(g, models...)
		}
		p := model.DeepCopy()
		p.Name = fmt.Sprintf("%s-%d", model.Name, i)
		out = append(out, p)
	}
	if g.size.Broken {
		out = append(out, g.broken()...)
	}
	return out
}

// pod draws one kind of pod.
func (g *draw) pod(name string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: pick(g, "default", "default", "batch"), Name: name,
		Labels: map[string]string{"app": pick(g, "web", "db", "job", "cache")},
	}}
	g.containers(&p.Spec)
	if g.size.With == 0 || g.chance(50) { // else too few pods live to meet each other
		g.placement(&p.Spec)
	}
	g.tolerations(&p.Spec)
	if g.chance(10) {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: int32(pick(g, 80, 81, 9100)),
			HostIP: pick(g, "", "10.0.0.1", "0.0.0.0"), Protocol: pick(g, corev1.ProtocolTCP, corev1.Protocol(""), corev1.ProtocolUDP)}}
	}
	if g.chance(3) {
		p.Spec.HostNetwork = true
		p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, corev1.ContainerPort{ContainerPort: 8080})
	}
	if !g.size.Plain {
		g.company(p)
	}
	if g.size.With != 0 {
		g.constrain(p)
	}
	return p
}

// containers draws requests: common shapes, zero, limits only, init containers, sidecars, overhead, GPUs,
// pod-level requests, and now and then more than any node has.
func (g *draw) containers(spec *corev1.PodSpec) {
	cpu := pick(g, 50, 100, 250, 500, 500, 1000, 1000, 2000, 4000, 7000)
	memory := cpu * pick(g, 1, 2, 4, 8)
	if g.chance(2) {
		cpu = 200_000
	}
	main := corev1.Container{Name: "main", Resources: corev1.ResourceRequirements{Requests: quantities("cpu", cpu, "memory", memory)}}
	switch {
	case g.chance(5):
		main.Resources = corev1.ResourceRequirements{}
	case g.chance(5):
		main.Resources = corev1.ResourceRequirements{Limits: quantities("cpu", cpu, "memory", memory)}
	case g.chance(6):
		main.Resources.Limits = quantities(gpu, pick(g, 1, 1, 2))
	case g.chance(5):
		main.Resources.Requests[corev1.ResourceEphemeralStorage] = quantities("ephemeral-storage", pick(g, 1024, 8*1024, 30*1024))["ephemeral-storage"]
	}
	spec.Containers = []corev1.Container{main}
	if g.chance(15) {
		spec.Containers = append(spec.Containers, corev1.Container{Name: "side", Resources: corev1.ResourceRequirements{Requests: quantities("cpu", 50, "memory", 64)}})
	}
	if g.chance(10) {
		c := corev1.Container{Name: "init", Resources: corev1.ResourceRequirements{Requests: quantities("cpu", pick(g, 100, 3000), "memory", pick(g, 64, 6000))}}
		spec.InitContainers = append(spec.InitContainers, c)
	}
	if g.chance(10) {
		always := corev1.ContainerRestartPolicyAlways
		c := corev1.Container{Name: "sidecar", RestartPolicy: &always, Resources: corev1.ResourceRequirements{Requests: quantities("cpu", 200, "memory", 100)}}
		spec.InitContainers = append(spec.InitContainers, c)
		if g.chance(50) {
			spec.InitContainers[0], spec.InitContainers[len(spec.InitContainers)-1] = c, spec.InitContainers[0]
		}
	}
	if g.chance(5) {
		spec.Overhead = quantities("cpu", 250, "memory", 120)
	}
	if g.chance(3) {
		spec.Resources = &corev1.ResourceRequirements{Requests: quantities("cpu", cpu+300, "memory", memory+300)}
	}
}

// placement draws node selectors, required terms and preferences.
func (g *draw) placement(spec *corev1.PodSpec) {
	selector := map[string]string{}
	say := func(percent int, key string, values ...string) {
		if g.chance(percent) {
			selector[key] = pick(g, values...)
		}
	}
	say(10, corev1.LabelTopologyZone, zones()...)
	say(2, corev1.LabelFailureDomainBetaZone, zones()...)
	say(12, corev1.LabelArchStable, "amd64", "arm64")
	say(10, scheduling.CapacityTypeLabel, "spot", "on-demand")
	say(10, teamKey, "red", "blue", "green")
	say(4, tierKey, "1", "2")
	say(2, corev1.LabelTopologyRegion, "region-1", "region-2")
	say(2, corev1.LabelHostname, "node-0", "node-1")
	if len(selector) > 0 {
		spec.NodeSelector = selector
	}
	if g.chance(20) {
		var terms []corev1.NodeSelectorTerm
		for range g.upTo(3) {
			term := g.expression()
			if g.chance(30) {
				term.MatchExpressions = append(term.MatchExpressions, g.expression().MatchExpressions...)
			}
			terms = append(terms, term)
		}
		if g.chance(5) {
			terms = append(terms, corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{
				{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"node-0"}}}})
		}
		spec.Affinity = required(terms...)
	}
	if g.chance(15) {
		if spec.Affinity == nil {
			spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
		}
		for range g.upTo(2) {
			spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(
				spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
				corev1.PreferredSchedulingTerm{Weight: int32(g.upTo(100)), Preference: g.expression()})
		}
	}
}

func (g *draw) expression() corev1.NodeSelectorTerm {
	not := corev1.NodeSelectorOpNotIn
	switch g.IntN(11) {
	case 0:
		return expr(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, some(g, zones()...)...)
	case 1:
		return expr(corev1.LabelTopologyZone, not, pick(g, zones()...))
	case 2:
		return expr("example.com/family", corev1.NodeSelectorOpIn, some(g, "c", "m", "r")...)
	case 3:
		return expr("example.com/cpu", corev1.NodeSelectorOpGt, pick(g, "1", "4", "15"))
	case 4:
		return expr("example.com/cpu", corev1.NodeSelectorOpLt, pick(g, "5", "32"))
	case 5:
		return expr(teamKey, pick(g, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist))
	case 6:
		return expr(teamKey, not, some(g, "red", "blue")...)
	case 7:
		return expr(teamKey, corev1.NodeSelectorOpIn, some(g, "red", "blue", "green")...)
	case 8:
		return expr(zoneID, corev1.NodeSelectorOpIn, "id-"+pick(g, zones()...))
	case 9:
		return expr(corev1.LabelHostname, not, "node-0")
	default:
		return expr(scheduling.CapacityTypeLabel, corev1.NodeSelectorOpIn, some(g, "spot", "on-demand")...)
	}
}

func (g *draw) tolerations(spec *corev1.PodSpec) {
	switch g.IntN(8) {
	case 0:
		spec.Tolerations = []corev1.Toleration{{Key: dedi, Value: pick(g, "x", "y")}}
	case 1:
		spec.Tolerations = []corev1.Toleration{{Key: dedi, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
	case 2:
		spec.Tolerations = []corev1.Toleration{{Key: "other", Operator: corev1.TolerationOpExists}, {Key: dedi, Operator: corev1.TolerationOpEqual, Value: "x"}}
	case 3:
		if g.chance(30) {
			spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		}
	}
}

// company draws what pods want of each other: zone and host spread, anti-affinity per host.
func (g *draw) company(p *corev1.Pod) {
	own := &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}}
	spread := func(key string, when corev1.UnsatisfiableConstraintAction) {
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: int32(pick(g, 1, 1, 2, 4)), TopologyKey: key, WhenUnsatisfiable: when, LabelSelector: own})
	}
	if g.chance(10) {
		spread(corev1.LabelTopologyZone, corev1.DoNotSchedule)
	}
	if g.chance(5) {
		spread(corev1.LabelHostname, pick(g, corev1.DoNotSchedule, corev1.ScheduleAnyway))
	}
	if g.chance(8) {
		if p.Spec.Affinity == nil {
			p.Spec.Affinity = &corev1.Affinity{}
		}
		p.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: corev1.LabelHostname, LabelSelector: own}}}
	}
	if g.chance(3) {
		p.Labels = map[string]string{"app": p.Labels["app"], "rev": fmt.Sprint(g.IntN(2))}
	}
}

// broken draws pods that are wrong, each in its way.
func (g *draw) broken() []*corev1.Pod {
	var out []*corev1.Pod
	for i, spoil := range []func(*corev1.Pod){
		func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = quantities("cpu", -100) },
		func(p *corev1.Pod) { p.Spec.Affinity = required() },
		func(p *corev1.Pod) { p.Spec.Affinity = required(corev1.NodeSelectorTerm{}) },
		func(p *corev1.Pod) { p.Spec.Affinity = required(expr("example.com/cpu", "Near", "4")) },
		func(p *corev1.Pod) {
			p.Spec.Affinity = required(expr("example.com/cpu", corev1.NodeSelectorOpGt, "many"))
		},
		func(p *corev1.Pod) { p.Spec.Containers = nil },
	} {
		if g.chance(50) {
			p := g.pod(fmt.Sprintf("broken-%d", i))
			spoil(p)
			out = append(out, p)
		}
	}
	return out
}
