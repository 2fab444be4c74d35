package randproblem

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

func in(key string, values ...string) scheduling.Requirement {
	return scheduling.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

// types draws machine types: powers of two and odd sizes, prices near a curve with ties, some offerings
// unavailable or without a price, some types in some zones only.
func (g *draw) types() []*scheduling.InstanceType {
	var out []*scheduling.InstanceType
	for i := range g.upTo(g.size.Types) {
		cpu := pick(g, 1, 2, 4, 8, 8, 16, 16, 32, 48)
		ratio := pick(g, 2, 4, 8)
		arch := pick(g, "amd64", "amd64", "amd64", "arm64")
		t := &scheduling.InstanceType{
			Name: fmt.Sprintf("t%02d.%dx%d", i, cpu, ratio),
			Capacity: quantities("cpu", cpu*1000, "memory", cpu*ratio*1024, "pods", pick(g, 4, 8, 29, 58, 110),
				"ephemeral-storage", 20*1024),
			Overhead: quantities("cpu", 60+10*cpu, "memory", 200+25*cpu, "ephemeral-storage", 1024),
		}
		if g.chance(15) {
			t.Capacity[gpu] = quantities(gpu, pick(g, 1, 2, 4))[gpu]
		}
		where := zones()
		if g.chance(30) {
			where = some(g, where...)
		}
		t.Requirements = []scheduling.Requirement{
			in(corev1.LabelInstanceTypeStable, t.Name),
			in(corev1.LabelArchStable, arch),
			in(corev1.LabelOSStable, "linux"),
			in(corev1.LabelTopologyZone, where...),
			in(scheduling.CapacityTypeLabel, "on-demand", "spot"),
			in("example.com/family", pick(g, "c", "m", "r")),
			in("example.com/cpu", fmt.Sprint(cpu)),
		}
		base := cpu * (10 + 2*ratio) * 1_000_000 // billionths per hour
		if !g.chance(30) {                       // else on the curve, so that prices tie
			base += g.IntN(base / 3)
		}
		if _, has := t.Capacity[gpu]; has {
			base *= 4
		}
		for _, zone := range where {
			t.Offerings = append(t.Offerings, g.offerings(zone, base)...)
		}
		if g.size.With.has(Reservations) {
			t.Requirements[4] = in(scheduling.CapacityTypeLabel, "on-demand", "spot", "reserved")
			for _, zone := range where {
				t.Offerings = append(t.Offerings, g.reserved(zone, base)...)
			}
		}
		if g.size.With.has(Volumes) && g.chance(50) {
			name := string(scheduling.AttachLimit(diskDriver))
			t.Capacity[corev1.ResourceName(name)] = quantities(name, pick(g, 0, 1, 2, 3, 27))[corev1.ResourceName(name)]
		}
		out = append(out, t)
	}
	return out
}

func (g *draw) offerings(zone string, base int) []scheduling.Offering {
	labels := map[string]string{zoneID: "id-" + zone}
	od := scheduling.Offering{Zone: zone, CapacityType: "on-demand", Price: scheduling.PriceFromNano(int64(base)), Labels: labels}
	spot := scheduling.Offering{Zone: zone, CapacityType: "spot", Price: scheduling.PriceFromNano(int64(base * (30 + 10*g.IntN(5)) / 100)), Labels: labels}
	out := []scheduling.Offering{od}
	if g.chance(80) {
		out = append(out, spot)
	}
	for i := range out {
		switch {
		case g.chance(8):
			out[i].Unavailable = true
		case g.chance(5):
			out[i].Price = scheduling.Price{}
		}
	}
	return out
}

// pools draws node pools over the same types.
func (g *draw) pools(types []*scheduling.InstanceType) []scheduling.Pool {
	var out []scheduling.Pool
	for i := range g.upTo(g.size.Pools) {
		p := scheduling.Pool{Name: fmt.Sprintf("pool-%d", i), InstanceTypes: types}
		if g.chance(40) {
			p.InstanceTypes = some(g, types...)
		}
		g.poolLabels(&p)
		if g.chance(25) && (g.size.With == 0 || g.chance(40)) {
			p.Taints = append(p.Taints, g.taint())
		}
		if g.chance(15) {
			p.StartupTaints = append(p.StartupTaints, corev1.Taint{Key: "example.com/starting", Effect: corev1.TaintEffectNoExecute})
		}
		if !g.size.Plain {
			g.poolPolicy(&p)
		}
		if g.size.With != 0 {
			g.scarce(&p)
		}
		out = append(out, p)
	}
	return out
}

func (g *draw) taint() corev1.Taint {
	return corev1.Taint{Key: dedi, Value: pick(g, "x", "y"), Effect: pick(g,
		corev1.TaintEffectNoSchedule, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule)}
}

func (g *draw) poolLabels(p *scheduling.Pool) {
	add := func(percent int, r scheduling.Requirement) {
		if g.chance(percent) {
			p.Requirements = append(p.Requirements, r)
		}
	}
	add(20, in(scheduling.CapacityTypeLabel, pick(g, "on-demand", "spot")))
	if g.chance(60) {
		add(35, in(corev1.LabelTopologyZone, some(g, zones()...)...))
	} else {
		add(35, scheduling.Requirement{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpNotIn, Values: []string{pick(g, zones()...)}})
	}
	add(15, in(corev1.LabelArchStable, pick(g, "amd64", "arm64")))
	add(10, scheduling.Requirement{Key: "example.com/cpu", Operator: pick(g, corev1.NodeSelectorOpGt, scheduling.OpGte), Values: []string{"2"}})
	add(10, scheduling.Requirement{Key: "example.com/cpu", Operator: pick(g, corev1.NodeSelectorOpLt, scheduling.OpLte), Values: []string{"32"}})
	switch g.IntN(6) {
	case 0:
		p.Labels = map[string]string{teamKey: pick(g, "red", "blue")}
	case 1:
		p.Requirements = append(p.Requirements, scheduling.Requirement{Key: teamKey, Operator: corev1.NodeSelectorOpExists})
	case 2:
		p.Requirements = append(p.Requirements, in(teamKey, "red", "blue"))
	case 3:
		p.Requirements = append(p.Requirements, in(teamKey, "red", "blue", "green"),
			scheduling.Requirement{Key: teamKey, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"green"}})
	}
	if g.chance(20) {
		if p.Labels == nil {
			p.Labels = map[string]string{}
		}
		p.Labels[tierKey] = pick(g, "1", "2", "3")
	}
}

// poolPolicy draws what ties launches of one pool together.
func (g *draw) poolPolicy(p *scheduling.Pool) {
	p.Weight = int32(pick(g, 0, 0, 0, 10, 50))
	if g.chance(25) {
		p.Limits = quantities("cpu", 1000*pick(g, 0, 8, 40, 100, 400))
	}
	if g.chance(10) {
		p.Limits = quantities("memory", 1024*pick(g, 16, 64, 512))
	}
	if g.chance(10) {
		p.Limits = quantities(string(scheduling.NodesResource), pick(g, 1, 3, 10))
	}
	if g.chance(15) {
		n := pick(g, 2, 2, 3)
		key := pick(g, corev1.LabelInstanceTypeStable, "example.com/family", "example.com/cpu")
		p.Requirements = append(p.Requirements, scheduling.Requirement{Key: key, Operator: corev1.NodeSelectorOpExists, MinValues: &n})
	}
}

// daemonSets draws agents: some only in a zone, on an architecture or capacity type, some with a host port.
func (g *draw) daemonSets() []*corev1.Pod {
	var out []*corev1.Pod
	for i := range g.IntN(g.size.DaemonSets + 1) {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: fmt.Sprintf("agent-%d", i), Labels: map[string]string{"agent": fmt.Sprint(i)}}}
		p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: quantities("cpu", pick(g, 0, 50, 100, 300), "memory", pick(g, 32, 100, 500))}}}
		switch g.IntN(6) {
		case 0:
			p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: pick(g, zones()...)}
		case 1:
			p.Spec.NodeSelector = map[string]string{corev1.LabelArchStable: "arm64"}
		case 2:
			p.Spec.Affinity = required(expr(scheduling.CapacityTypeLabel, corev1.NodeSelectorOpIn, "spot"), expr("example.com/family", corev1.NodeSelectorOpIn, "r"))
		case 3:
			p.Spec.NodeSelector = map[string]string{teamKey: "red"}
		}
		if g.chance(70) {
			p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		}
		if g.chance(25) {
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 9100, HostPort: 9100}}
		}
		out = append(out, p)
	}
	return out
}

// expr is a term of one expression.
func expr(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}}}
}

func required(terms ...corev1.NodeSelectorTerm) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
}

// nodes draws machines that are there: of a pool or of nobody, running or starting, cordoned, with room or
// overfull, with their DaemonSets' pods there or still to come.
func (g *draw) nodes(p *scheduling.Problem) []scheduling.Node {
	var out []scheduling.Node
	for i := range g.IntN(g.size.Nodes + 1) {
		cpu := pick(g, 2, 4, 8, 16)
		n := scheduling.Node{
			Name: fmt.Sprintf("node-%d", i),
			Labels: map[string]string{
				corev1.LabelTopologyZone: pick(g, zones()...), corev1.LabelArchStable: pick(g, "amd64", "amd64", "arm64"), corev1.LabelOSStable: "linux",
				scheduling.CapacityTypeLabel: pick(g, "on-demand", "spot"),
			},
			Capacity:    quantities("cpu", cpu*1000, "memory", cpu*4096, "pods", 20, "ephemeral-storage", 20*1024),
			Allocatable: quantities("cpu", cpu*1000-100, "memory", cpu*4096-500, "pods", 20, "ephemeral-storage", 18*1024),
		}
		n.Labels[corev1.LabelHostname] = n.Name
		if g.chance(50) {
			n.Labels[teamKey] = pick(g, "red", "blue")
		}
		if len(p.Pools) > 0 && g.chance(60) {
			n.Pool = pick(g, p.Pools...).Name
			n.Labels[scheduling.PoolLabel] = n.Pool
			if g.chance(30) {
				g.starting(&n)
			}
		}
		if g.chance(15) {
			n.Taints = append(n.Taints, g.taint())
		}
		n.Unschedulable = g.chance(8)
		if g.size.With.has(Spreads | Affinities) {
			if g.chance(70) {
				n.Labels[rackKey] = pick(g, racks()...)
			}
			if g.chance(80) {
				n.Labels[zoneID] = "id-" + n.Labels[corev1.LabelTopologyZone]
			}
		}
		g.bound(&n, i, p.DaemonSets)
		out = append(out, n)
	}
	return out
}

func (g *draw) starting(n *scheduling.Node) {
	n.Uninitialized = true
	n.StartupTaints = []corev1.Taint{{Key: "example.com/starting", Effect: corev1.TaintEffectNoExecute}}
	n.Taints = append(n.Taints, n.StartupTaints[0],
		corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: pick(g, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute)})
	if g.chance(50) {
		n.Taints = append(n.Taints, corev1.Taint{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute},
			corev1.Taint{Key: "readiness.k8s.io/network", Effect: corev1.TaintEffectNoSchedule})
	}
}

// bound puts pods on a node.
func (g *draw) bound(n *scheduling.Node, node int, daemons []*corev1.Pod) {
	for i := range g.IntN(5) {
		p := g.pod(fmt.Sprintf("bound-%d-%d", node, i))
		p.Spec.NodeName = n.Name
		p.Status.Phase = corev1.PodRunning
		if g.size.With != 0 {
			g.leaving(p)
		}
		n.Pods = append(n.Pods, p)
	}
	for i, d := range daemons {
		if !g.chance(40) {
			continue
		}
		p := d.DeepCopy()
		p.Name = fmt.Sprintf("%s-%d-%d", d.Name, node, i)
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: d.Name}}
		p.Spec.NodeName = n.Name
		p.Status.Phase = corev1.PodRunning
		n.Pods = append(n.Pods, p)
	}
}

// leaving makes some running pods finished, or on their way out.
func (g *draw) leaving(p *corev1.Pod) {
	switch g.IntN(20) {
	case 0:
		p.DeletionTimestamp = ptr(longAgo())
	case 1:
		p.Status.Phase = corev1.PodSucceeded
	}
}
