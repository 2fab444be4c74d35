package scheduling

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// verifyPod is what one pod asks of a node, worked out from its spec.
type verifyPod struct {
	pod  *corev1.Pod
	name string
	// requests include the pod itself under "pods". negative: some request is below zero.
	requests verifyAmounts
	negative bool
	ports    []verifyPort
	// terms are alternatives; a node has to satisfy one of them wholly.
	terms []verifyTerm
	// key is equal for pods with equal terms and tolerations.
	key string
	// mounts are the volumes that the pod claims.
	mounts []verifyMount
}

// verifyAmounts holds millicores of cpu and plain numbers of everything else.
type verifyAmounts map[corev1.ResourceName]int64

// verifyTerm is a conjunction: every label in its set, the node's name in names.
type verifyTerm struct {
	labels map[string]ValueSet
	names  ValueSet
}

type verifyPort struct {
	ip, protocol string
	port         int32
}

func (v *verifier) read(pod *corev1.Pod) *verifyPod {
	if p := v.pods[pod]; p != nil {
		return p
	}
	p := &verifyPod{pod: pod, name: pod.Namespace + "/" + pod.Name, ports: verifyPorts(&pod.Spec), terms: v.terms(&pod.Spec)}
	p.requests, p.negative = verifyRequests(&pod.Spec)
	var required *corev1.NodeSelector
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		required = a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	if len(pod.Spec.NodeSelector) > 0 || required != nil || len(pod.Spec.Tolerations) > 0 {
		text, _ := json.Marshal([]any{pod.Spec.NodeSelector, required, pod.Spec.Tolerations})
		p.key = string(text)
	}
	p.mounts = v.mounts(pod, p.name)
	v.pods[pod] = p
	return p
}

// terms: "If you specify both nodeSelector and nodeAffinity, both must be satisfied. Terms are ORed,
// expressions of one term are ANDed", and a term without any expression matches no node.
func (v *verifier) terms(spec *corev1.PodSpec) []verifyTerm {
	base := func() verifyTerm {
		t := verifyTerm{labels: map[string]ValueSet{}, names: AnyValue()}
		for k, value := range spec.NodeSelector {
			v.narrow(t.labels, k, Values(v.value(k, value)))
		}
		return t
	}
	a := spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return []verifyTerm{base()}
	}
	return v.selectorTerms(base, a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms)
}

// selectorTerms adds each term of a node selector to what base says. Terms without any expression or with
// a wrong one match no node, and are left out.
func (v *verifier) selectorTerms(base func() verifyTerm, terms []corev1.NodeSelectorTerm) []verifyTerm {
	var out []verifyTerm
	for _, term := range terms {
		if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
			continue
		}
		t, ok := base(), true
		for _, e := range term.MatchExpressions {
			set, err := v.parse(Requirement{Key: e.Key, Operator: e.Operator, Values: e.Values})
			ok = ok && err == nil
			v.narrow(t.labels, e.Key, set)
		}
		for _, e := range term.MatchFields {
			set, err := ParseRequirement(Requirement{Key: e.Key, Operator: e.Operator, Values: e.Values})
			ok = ok && err == nil && e.Key == "metadata.name"
			t.names = t.names.Intersect(set)
		}
		if ok {
			out = append(out, t)
		}
	}
	return out
}

// narrow intersects what is known of a label with one more condition.
func (v *verifier) narrow(labels map[string]ValueSet, key string, set ValueSet) {
	key = v.key(key)
	if have, ok := labels[key]; ok {
		set = have.Intersect(set)
	}
	labels[key] = set
}

// key is the spelling that nodes carry.
func (v *verifier) key(key string) string {
	if k, ok := v.aliases[key]; ok {
		return k
	}
	return key
}

func (v *verifier) value(key, value string) string {
	if w, ok := v.problem.Labels.ValueAliases[v.key(key)][value]; ok {
		return w
	}
	return value
}

func (v *verifier) parse(r Requirement) (ValueSet, error) {
	if r.Operator == corev1.NodeSelectorOpIn || r.Operator == corev1.NodeSelectorOpNotIn {
		values := slices.Clone(r.Values)
		for i := range values {
			values[i] = v.value(r.Key, values[i])
		}
		r.Values = values
	}
	return ParseRequirement(r)
}

// verifyRequests: "the effective request of a pod is the higher of the sum of all app containers and
// the largest init container"; sidecars (init containers that restart) run on and add to both; requests
// that are not set default to limits; pod-level cpu, memory and hugepages replace the containers' sum; the
// overhead of the runtime class comes on top; and a pod counts as one pod.
func verifyRequests(spec *corev1.PodSpec) (verifyAmounts, bool) {
	running, peak := verifyQuantities{}, verifyQuantities{}
	negative := false
	ask := func(r corev1.ResourceRequirements) verifyQuantities {
		q := verifyQuantities{}
		q.add(r.Requests)
		for name, limit := range r.Limits {
			if _, set := r.Requests[name]; !set {
				q[name] = limit.DeepCopy()
			}
		}
		for _, x := range q {
			negative = negative || x.Sign() < 0
		}
		return q
	}
	for _, c := range spec.InitContainers {
		mine := ask(c.Resources)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			running.add(corev1.ResourceList(mine))
			peak.raise(running)
			continue
		}
		mine.add(corev1.ResourceList(running))
		peak.raise(mine)
	}
	for _, c := range spec.Containers {
		running.add(corev1.ResourceList(ask(c.Resources)))
	}
	total := running
	total.raise(peak)
	if spec.Resources != nil {
		for name, q := range spec.Resources.Limits {
			if _, some := total[name]; !some && verifyPodLevel(name) {
				total[name] = q.DeepCopy()
			}
		}
		for name, q := range spec.Resources.Requests {
			if verifyPodLevel(name) {
				total[name] = q.DeepCopy()
				negative = negative || q.Sign() < 0
			}
		}
	}
	total.add(spec.Overhead)
	out := verifyAmounts{}
	for name, q := range total {
		out[name] = verifyAmount(name, q)
		negative = negative || q.Sign() < 0
	}
	out[corev1.ResourcePods] = 1
	return out, negative
}

func verifyPodLevel(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory ||
		strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// verifyQuantities adds exactly, before anything is rounded.
type verifyQuantities corev1.ResourceList

func (q verifyQuantities) add(list corev1.ResourceList) {
	for name, x := range list {
		have := q[name].DeepCopy()
		have.Add(x)
		q[name] = have
	}
}

func (q verifyQuantities) raise(to verifyQuantities) {
	for name, x := range to {
		if have, some := q[name]; !some || have.Cmp(x) < 0 {
			q[name] = x.DeepCopy()
		}
	}
}

// verifyAmount rounds up to whole millicores or units and stops short of overflow.
func verifyAmount(name corev1.ResourceName, q resource.Quantity) int64 {
	factor := int64(1)
	if name == corev1.ResourceCPU {
		factor = 1000
	}
	if n, ok := q.AsInt64(); ok && n < 1<<50 && n > -1<<50 {
		return n * factor
	}
	exact := q.DeepCopy()
	dec := exact.AsDec()
	n := new(big.Int).Mul(dec.UnscaledBig(), big.NewInt(factor))
	const most = math.MaxInt64 / 4
	scale := int64(dec.Scale())
	switch {
	case n.Sign() == 0:
		return 0
	case scale < -40 && n.Sign() > 0:
		return most
	case scale < -40:
		return -most
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(min(max(scale, -scale), 1000)), nil)
	if scale <= 0 {
		n.Mul(n, power)
	} else {
		rest := new(big.Int)
		n.DivMod(n, power, rest)
		if rest.Sign() > 0 {
			n.Add(n, big.NewInt(1))
		}
	}
	if n.CmpAbs(big.NewInt(most)) > 0 {
		return int64(n.Sign()) * most
	}
	return n.Int64()
}

func verifyList(list corev1.ResourceList) verifyAmounts {
	out := verifyAmounts{}
	for name, q := range list {
		out[name] = verifyAmount(name, q)
	}
	return out
}

func (a verifyAmounts) add(b verifyAmounts) {
	const most = math.MaxInt64 / 4
	for name, n := range b {
		a[name] = max(min(a[name]+n, most), -most)
	}
}

// names lists the resources in order, so that violations come in the same order every time.
func (a verifyAmounts) names() []corev1.ResourceName {
	out := make([]corev1.ResourceName, 0, len(a))
	for name := range a {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// verifyPorts: the host ports of containers and sidecars; on the host's network every container
// port is one. The protocol is TCP unless it says otherwise.
func verifyPorts(spec *corev1.PodSpec) []verifyPort {
	var out []verifyPort
	read := func(c *corev1.Container) {
		for _, p := range c.Ports {
			port := p.HostPort
			if port == 0 && spec.HostNetwork {
				port = p.ContainerPort
			}
			if port == 0 {
				continue
			}
			proto := string(p.Protocol)
			if proto == "" {
				proto = string(corev1.ProtocolTCP)
			}
			out = append(out, verifyPort{ip: p.HostIP, protocol: proto, port: port})
		}
	}
	for i := range spec.Containers {
		read(&spec.Containers[i])
	}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			read(c)
		}
	}
	return out
}

// clash: same port and protocol, and the same address or one that means all of them.
func (p verifyPort) clash(q verifyPort) bool {
	all := func(ip string) bool { return ip == "" || ip == "0.0.0.0" || ip == "::" }
	return p.port == q.port && p.protocol == q.protocol && (p.ip == q.ip || all(p.ip) || all(q.ip))
}

func verifyClash(a, b *verifyPod) bool {
	for _, p := range a.ports {
		if slices.ContainsFunc(b.ports, p.clash) {
			return true
		}
	}
	return false
}
