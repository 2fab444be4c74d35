package workload

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

const (
	teamLabel    = "example.com/team"
	instanceFact = "karpenter.k8s.aws/instance-"
)

var teams = [...]string{"payments", "search", "ads"}

// Services makes what a busy shared cluster carries, for benchmarks: services of very different sizes, of which some
// spread over zones or nodes, keep clear of their own or follow another service, ask for families,
// generations or capacity types, belong to a team with a pool of its own, or have volumes in three zones. Pools and
// DaemonSets come with them. All pods run on amd64. Pods come in shuffled order; no two share memory.
// Equal arguments give equal workloads.
func Services(pods, services int, zones [3]string, seed uint64) *Workload {
	m := servicesMaker{rng: rand.New(rand.NewPCG(seed, 0)), zones: zones[:]}
	counts := m.counts(max(pods, services), services)
	var all []*corev1.Pod
	for i, count := range counts {
		s := m.service(i, count)
		for k := range count {
			p := instance(m.rng, s.template, len(all))
			if s.volumes {
				// One volume for each replica, in turn over the zones.
				requireLabel(&p.Spec, corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, m.zones[k%len(m.zones)])
			}
			all = append(all, p)
		}
	}
	m.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return &Workload{Name: "services", Kind: "microservices", Pods: all, Pools: m.pools(), DaemonSets: m.daemonSets()}
}

type servicesMaker struct {
	rng   *rand.Rand
	zones []string
}

type service struct {
	template *corev1.Pod
	// volumes: each replica has one that is in one zone.
	volumes bool
}

// counts gives each service one pod and shares the others out log-normally.
func (m *servicesMaker) counts(pods, services int) []int {
	weights := make([]float64, services)
	var sum float64
	for i := range weights {
		weights[i] = math.Exp(m.rng.NormFloat64())
		sum += weights[i]
	}
	counts, order, left := make([]int, services), make([]int, services), pods
	rest := make([]float64, services)
	for i, w := range weights {
		share := w / sum * float64(pods-services)
		counts[i], order[i], rest[i] = 1+int(share), i, share-math.Floor(share)
		left -= counts[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
	for _, i := range order[:max(left, 0)] {
		counts[i]++
	}
	return counts
}

func (m *servicesMaker) service(i, count int) service {
	app := fmt.Sprintf("svc-%05d", i)
	requests := m.requests()
	if m.rng.Float64() < 0.05 {
		requests[corev1.ResourceEphemeralStorage] = mebibytes(256 << m.rng.IntN(4))
	}
	p := replica(m.rng, app, requests, m.rng.Float64() < 0.25)
	m.spreadOverZones(p, count)
	m.keepApart(p, count)
	m.askOfNodes(&p.Spec)
	if m.rng.Float64() < 0.07 {
		team := teams[m.rng.IntN(len(teams))]
		selectLabel(&p.Spec, teamLabel, team)
		p.Spec.Tolerations = []corev1.Toleration{{
			Key: teamLabel, Operator: corev1.TolerationOpEqual, Value: team, Effect: corev1.TaintEffectNoSchedule,
		}}
	}
	if i > 0 && m.rng.Float64() < 0.02 {
		other := map[string]string{"app": fmt.Sprintf("svc-%05d", m.rng.IntN(i))}
		affinityOf(&p.Spec).PodAffinity = &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{affinityTerm(corev1.LabelTopologyZone, other)},
		}
	}
	if priority := draw(m.rng, []weighted[int32]{{80, 0}, {12, 1000}, {6, 10000}, {2, -100}}); priority != 0 {
		p.Spec.Priority = &priority
	}
	return service{template: p, volumes: count <= 30 && m.rng.Float64() < 0.07}
}

// requests draws cpu from a list and memory around 2.2 GiB a cpu.
func (m *servicesMaker) requests() corev1.ResourceList {
	cpu := draw(m.rng, []weighted[int64]{
		{6, 10}, {8, 25}, {14, 50}, {20, 100}, {9, 150}, {12, 200}, {10, 250}, {10, 500},
		{6, 1000}, {1.5, 1500}, {2, 2000}, {1.2, 4000}, {0.3, 8000},
	})
	memory := (2.2*1024*float64(cpu)/1000 + 96) * math.Exp(0.7*m.rng.NormFloat64())
	step := 256.0
	switch {
	case memory < 256:
		step = 16
	case memory < 2048:
		step = 64
	}
	return corev1.ResourceList{
		corev1.ResourceCPU:    millis(cpu),
		corev1.ResourceMemory: mebibytes(min(65536, max(32, int64(math.Round(memory/step)*step)))),
	}
}

func (m *servicesMaker) spreadOverZones(p *corev1.Pod, count int) {
	x := m.rng.Float64()
	if count < 3 || x >= 0.44 {
		return
	}
	s := spreadOver(corev1.LabelTopologyZone, 1, m.own(p))
	switch {
	case x >= 0.42:
		s.MinDomains = new(int32(3))
	case x >= 0.28:
		s.MaxSkew, s.WhenUnsatisfiable = 1+m.rng.Int32N(2), corev1.ScheduleAnyway
	}
	p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, s)
}

func (m *servicesMaker) keepApart(p *corev1.Pod, count int) {
	against := func(key string) *corev1.PodAntiAffinity {
		return &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{affinityTerm(key, m.own(p))}}
	}
	switch x := m.rng.Float64(); {
	case count <= 40 && x < 0.09:
		affinityOf(&p.Spec).PodAntiAffinity = against(corev1.LabelHostname)
	case x < 0.20:
		affinityOf(&p.Spec).PodAntiAffinity = &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
				Weight: 100, PodAffinityTerm: affinityTerm(corev1.LabelHostname, m.own(p)),
			}},
		}
	case x < 0.26:
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints,
			spreadOver(corev1.LabelHostname, 1+m.rng.Int32N(3), m.own(p)))
	case count <= 3 && x < 0.28:
		affinityOf(&p.Spec).PodAntiAffinity = against(corev1.LabelTopologyZone)
	}
}

func (m *servicesMaker) own(p *corev1.Pod) map[string]string {
	return map[string]string{"app": p.Labels["app"]}
}

// askOfNodes draws conditions on architecture, capacity type and kind of machine.
func (m *servicesMaker) askOfNodes(spec *corev1.PodSpec) {
	if m.rng.Float64() < 0.14 {
		requireLabel(spec, corev1.LabelArchStable, corev1.NodeSelectorOpIn, "amd64", "arm64")
	} else {
		selectLabel(spec, corev1.LabelArchStable, "amd64")
	}
	switch x := m.rng.Float64(); {
	case x < 0.15:
		selectLabel(spec, scheduling.CapacityTypeLabel, "spot")
	case x < 0.35:
		selectLabel(spec, scheduling.CapacityTypeLabel, "on-demand")
	}
	switch x := m.rng.Float64(); {
	case x < 0.02:
		requireLabel(spec, instanceFact+"category", corev1.NodeSelectorOpIn, "c")
	case x < 0.04:
		requireLabel(spec, instanceFact+"category", corev1.NodeSelectorOpIn, "m", "r")
	case x < 0.06:
		requireLabel(spec, instanceFact+"generation", corev1.NodeSelectorOpGt, "5")
	case x < 0.07:
		requireLabel(spec, instanceFact+"family", corev1.NodeSelectorOpNotIn, "t3", "t3a", "t4g", "t2")
	case x < 0.08:
		requireLabel(spec, instanceFact+"cpu", corev1.NodeSelectorOpLt, "33")
	}
}

// pools are one for everybody and one for each team.
func (m *servicesMaker) pools() []scheduling.Pool {
	in := func(key string, values ...string) scheduling.Requirement {
		return scheduling.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
	}
	requirements := []scheduling.Requirement{
		in(corev1.LabelArchStable, "amd64", "arm64"), in(scheduling.CapacityTypeLabel, "on-demand", "spot"),
		in(corev1.LabelTopologyZone, m.zones...),
	}
	out := []scheduling.Pool{{
		Name: "default", Weight: 10, Requirements: append(slices.Clone(requirements), in(instanceFact+"category", "c", "m", "r", "t")),
	}}
	for _, team := range teams {
		out = append(out, scheduling.Pool{
			Name: team, Labels: map[string]string{teamLabel: team}, Requirements: requirements,
			Taints: []corev1.Taint{{Key: teamLabel, Value: team, Effect: corev1.TaintEffectNoSchedule}},
		})
	}
	return out
}

// daemonSets are agents that run on every node.
func (m *servicesMaker) daemonSets() []*corev1.Pod {
	var out []*corev1.Pod
	for _, d := range []struct {
		name        string
		cpu, memory int64
	}{{"node-network", 50, 96}, {"node-proxy", 100, 64}, {"log-agent", 100, 200}, {"metrics-agent", 50, 128}} {
		out = append(out, daemon(d.name, corev1.ResourceList{corev1.ResourceCPU: millis(d.cpu), corev1.ResourceMemory: mebibytes(d.memory)}))
	}
	return out
}

// daemon is the template of a DaemonSet that runs on every node, whatever its taints.
func daemon(name string, requests corev1.ResourceList) *corev1.Pod {
	pod := newPod("kube-system", map[string]string{"app": name}, requests, false)
	pod.Name = name
	pod.OwnerReferences = owners("DaemonSet", name)
	pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	return pod
}

type weighted[T any] struct {
	weight float64
	value  T
}

func draw[T any](rng *rand.Rand, from []weighted[T]) T {
	var total float64
	for _, w := range from {
		total += w.weight
	}
	x := rng.Float64() * total
	for _, w := range from {
		if x -= w.weight; x < 0 {
			return w.value
		}
	}
	return from[len(from)-1].value
}

func affinityOf(spec *corev1.PodSpec) *corev1.Affinity {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	return spec.Affinity
}

func selectLabel(spec *corev1.PodSpec, key, value string) {
	if spec.NodeSelector == nil {
		spec.NodeSelector = map[string]string{}
	}
	spec.NodeSelector[key] = value
}

// requireLabel adds a condition to the one term of the required node affinity.
func requireLabel(spec *corev1.PodSpec, key string, op corev1.NodeSelectorOperator, values ...string) {
	e := corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
	a := affinityOf(spec)
	if a.NodeAffinity == nil {
		a.NodeAffinity = requireNode([]corev1.NodeSelectorRequirement{e})
		return
	}
	term := &a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0]
	term.MatchExpressions = append(term.MatchExpressions, e)
}
