package scheduling

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// verifyNode is a place for pods: a node that exists, or one offering that a launch may become.
type verifyNode struct {
	name string
	// fresh nodes may turn out to have well-known labels that nobody mentioned; others have what they show.
	fresh  bool
	labels map[string]ValueSet
	// taints are those that keep pods off: soft ones and those that go away are not among them.
	taints      []corev1.Taint
	allocatable verifyAmounts
	// attach bounds the volumes of CSI drivers; a driver without an entry is not bounded.
	attach    map[string]int64
	price     Price
	available bool
	faults    []string
	// sure DaemonSets run here; possible ones, a superset, run if a label turns out so.
	sure, possible []int32
	// crew is what the possible ones ask for; nil: not added up yet.
	crew verifyAmounts
	// answers remembers per verifyPod.key what keeps such pods away.
	answers map[string]verifyRefusal
}

// verifyColumn names a fresh node.
type verifyColumn struct {
	pool, typ, offering int32
	custom              string
}

type verifyRefusal struct{ rule, detail string }

// label is the set of states that a label of the node may be in.
func (v *verifier) label(n *verifyNode, key string) ValueSet {
	if s, ok := n.labels[key]; ok {
		return s
	}
	if n.fresh && v.wellKnown[key] {
		return AnyValue()
	}
	return AbsentValue()
}

// loose labels of a fresh node are well known and not settled: pods may have it their way, but all the same way.
func (v *verifier) loose(n *verifyNode, key string) bool {
	if !n.fresh || !v.wellKnown[key] {
		return false
	}
	s := v.label(n, key)
	values, finite := s.Finite()
	return !finite || s.HasAbsent() && len(values) > 0 || len(values) > 1
}

// existingNode has exactly the labels it shows, and every taint counts unless the node is still starting.
func (v *verifier) existingNode(node *Node) *verifyNode {
	n := &verifyNode{name: node.Name, labels: map[string]ValueSet{}, allocatable: verifyList(node.Allocatable),
		attach: v.storage.attach[node.Name], answers: map[string]verifyRefusal{}}
	for k, value := range node.Labels {
		if _, both := node.Labels[v.key(k)]; both && v.key(k) != k {
			continue // an old spelling beside the new one
		}
		n.labels[v.key(k)] = Values(v.value(k, value))
	}
	for _, t := range node.Taints {
		if verifyHard(t) && !(node.Uninitialized && (verifyEphemeral(t) || verifyHasTaint(node.StartupTaints, t))) {
			n.taints = append(n.taints, t)
		}
	}
	v.daemonSets(n)
	return n
}

func verifyHard(t corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
}

func verifyHasTaint(list []corev1.Taint, t corev1.Taint) bool {
	for _, x := range list {
		if x.MatchTaint(&t) {
			return true
		}
	}
	return false
}

// verifyEphemeral tells the taints that go away by themselves while a node starts.
func verifyEphemeral(t corev1.Taint) bool {
	switch t.Key {
	case corev1.TaintNodeNotReady:
		return true
	case corev1.TaintNodeUnreachable:
		return t.Effect == corev1.TaintEffectNoSchedule
	case "node.cloudprovider.kubernetes.io/uninitialized", "karpenter.sh/unregistered":
		return true
	}
	return strings.HasPrefix(t.Key, "readiness.k8s.io/")
}

// verifyFreshName stands for the host name of a node that is not there yet; no selector can know it.
const verifyFreshName = "\x00a new node"

// freshNode is the node that an offering of a type of a pool becomes; all indexes must be valid.
func (v *verifier) freshNode(pool, typ, offering int32, custom map[string]string) *verifyNode {
	id := verifyColumn{pool, typ, offering, verifyCustomKey(custom)}
	if n := v.fresh[id]; n != nil {
		return n
	}
	from := &v.problem.Pools[pool]
	t := from.InstanceTypes[typ]
	o := &t.Offerings[offering]
	n := &verifyNode{
		name:  from.Name + "/" + t.Name + "/" + o.Zone + "/" + o.CapacityType,
		fresh: true, labels: map[string]ValueSet{}, price: o.Price, available: !o.Unavailable,
		allocatable: verifyAllocatable(t), attach: verifyAttach(t), answers: map[string]verifyRefusal{},
	}
	v.mention(n, from, t, o)
	for _, key := range []string{"karpenter.sh/registered", "karpenter.sh/initialized"} {
		if _, said := n.labels[key]; !said {
			n.labels[key] = Values("true") // every new node gets these once it is up
		}
	}
	v.decide(n, custom)
	for _, taint := range from.Taints {
		if verifyHard(taint) {
			n.taints = append(n.taints, taint)
		}
	}
	v.daemonSets(n)
	v.fresh[id] = n
	return n
}

// mention collects what pool, type and offering say of each label.
func (v *verifier) mention(n *verifyNode, pool *Pool, t *InstanceType, o *Offering) {
	say := func(key string, set ValueSet) {
		v.narrow(n.labels, key, set)
		if s := n.labels[v.key(key)]; s.Empty() {
			n.faults = append(n.faults, fmt.Sprintf("pool, type and offering contradict each other on %s", v.key(key)))
		}
	}
	one := func(key, value string) { say(key, Values(v.value(key, value))) }
	demand := func(list []Requirement) {
		for _, r := range list {
			set, err := v.parse(r)
			if err != nil {
				n.faults = append(n.faults, err.Error())
				continue
			}
			say(r.Key, set)
		}
	}
	demand(t.Requirements)
	if _, said := n.labels[corev1.LabelInstanceTypeStable]; !said {
		one(corev1.LabelInstanceTypeStable, t.Name)
	}
	demand(pool.Requirements)
	for _, k := range verifyKeys(pool.Labels) {
		one(k, pool.Labels[k])
	}
	one(PoolLabel, pool.Name)
	if o.Zone != "" {
		one(corev1.LabelTopologyZone, o.Zone)
	}
	if o.CapacityType != "" {
		one(CapacityTypeLabel, o.CapacityType)
	}
	for _, k := range verifyKeys(o.Labels) {
		one(k, o.Labels[k])
	}
	if _, said := n.labels[corev1.LabelHostname]; !said {
		one(corev1.LabelHostname, verifyFreshName)
	}
}

// decide settles the labels that the pool left open: as the launch says, else absent where they may be.
func (v *verifier) decide(n *verifyNode, custom map[string]string) {
	for _, raw := range verifyKeys(custom) {
		key, value := v.key(raw), v.value(raw, custom[raw])
		_, mentioned := n.labels[key]
		switch s := v.label(n, key); {
		case !mentioned && !v.wellKnown[key]:
			n.faults = append(n.faults, fmt.Sprintf("custom label %s=%s, which the pool does not leave open", key, value))
		case !s.Has(value):
			n.faults = append(n.faults, fmt.Sprintf("custom label %s=%s, where only %v may be", key, value, s))
		}
		n.labels[key] = Values(value)
	}
	for key, s := range n.labels {
		if s.HasAbsent() && !v.wellKnown[key] {
			n.labels[key] = AbsentValue()
		}
	}
}

func verifyAllocatable(t *InstanceType) verifyAmounts {
	out := verifyList(t.Capacity)
	for name, q := range t.Overhead {
		if have, some := out[name]; some {
			out[name] = max(have-verifyAmount(name, q), 0)
		}
	}
	return out
}

func verifyCustomKey(m map[string]string) string {
	var b strings.Builder
	for _, k := range verifyKeys(m) {
		b.WriteString(strconv.Quote(k) + "=" + strconv.Quote(m[k]) + ",")
	}
	return b.String()
}

// refusal says what of the pod's labels and tolerations keeps it off the node, taken alone.
func (v *verifier) refusal(p *verifyPod, n *verifyNode) verifyRefusal {
	if r, known := n.answers[p.key]; known {
		return r
	}
	r := v.labelRefusal(p, n)
	if why := v.taintRefusal(p, n); r.rule == "" && why != "" {
		r = verifyRefusal{"taints", why}
	}
	n.answers[p.key] = r
	return r
}

func (v *verifier) taintRefusal(p *verifyPod, n *verifyNode) string {
	for _, t := range n.taints {
		if !verifyTolerated(p.pod.Spec.Tolerations, t) {
			return fmt.Sprintf("taint %s is not tolerated on %s", t.ToString(), n.name)
		}
	}
	return ""
}

func (v *verifier) labelRefusal(p *verifyPod, n *verifyNode) verifyRefusal {
	why := "no term of the required affinity can match any node"
	for _, t := range p.terms {
		key, ok := v.termHolds(t, n)
		if ok {
			return verifyRefusal{}
		}
		if key == "" {
			why = fmt.Sprintf("wants node name %v, which %s is not", t.names, n.name)
			continue
		}
		why = fmt.Sprintf("wants %s %v, %s has %v", key, t.labels[key], n.name, v.label(n, key))
	}
	return verifyRefusal{"labels", why}
}

// termHolds: each label is sure to be in the term's set; a loose one can be. If not, it names the label.
func (v *verifier) termHolds(t verifyTerm, n *verifyNode) (string, bool) {
	for _, key := range verifyKeys(t.labels) {
		have := v.label(n, key)
		both := have.Intersect(t.labels[key])
		if both.Empty() || !v.loose(n, key) && !both.Equal(have.Intersect(have)) {
			return key, false
		}
	}
	name := n.name
	if n.fresh {
		name = verifyFreshName
	}
	return "", t.names.Has(name)
}

// verifyTolerated: "A toleration matches a taint if the keys are the same and the effects are the same, and
// the operator is Exists, or Equal and the values are equal. An empty key with operator
// Exists matches all; an empty effect matches all effects." Gt and Lt compare integers.
func verifyTolerated(tolerations []corev1.Toleration, taint corev1.Taint) bool {
	for _, t := range tolerations {
		if t.Effect != "" && t.Effect != taint.Effect {
			continue
		}
		if t.Key != taint.Key && !(t.Key == "" && t.Operator == corev1.TolerationOpExists) {
			continue
		}
		have, err1 := strconv.ParseInt(taint.Value, 10, 64)
		want, err2 := strconv.ParseInt(t.Value, 10, 64)
		numbers := err1 == nil && err2 == nil
		switch t.Operator {
		case corev1.TolerationOpExists:
			return true
		case corev1.TolerationOpEqual, "":
			if t.Value == taint.Value {
				return true
			}
		case corev1.TolerationOpGt:
			if numbers && have > want {
				return true
			}
		case corev1.TolerationOpLt:
			if numbers && have < want {
				return true
			}
		}
	}
	return false
}

// daemonSets works out which DaemonSets run on the node: those whose required node affinity and
// tolerations let them.
func (v *verifier) daemonSets(n *verifyNode) {
	for i, pod := range v.problem.DaemonSets {
		if pod == nil {
			continue
		}
		p := v.read(pod)
		if !v.daemonTolerates(p, n) {
			continue
		}
		sure, possible := false, false
		for _, t := range p.terms {
			s, c := v.daemonTerm(t, n)
			sure, possible = sure || s, possible || c
		}
		if sure {
			n.sure = append(n.sure, int32(i))
		}
		if possible {
			n.possible = append(n.possible, int32(i))
		}
	}
}

func (v *verifier) daemonTerm(t verifyTerm, n *verifyNode) (sure, possible bool) {
	name := n.name
	if n.fresh {
		name = verifyFreshName
	}
	if !t.names.Has(name) {
		return false, false
	}
	sure = true
	for key, want := range t.labels {
		have := v.label(n, key)
		both := have.Intersect(want)
		if both.Empty() {
			return false, false
		}
		sure = sure && both.Equal(have.Intersect(have))
	}
	return sure, true
}

// daemonTolerates: the DaemonSet controller adds tolerations for the conditions of a node by itself.
func (v *verifier) daemonTolerates(p *verifyPod, n *verifyNode) bool {
	for _, t := range n.taints {
		switch t.Key {
		case corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeDiskPressure,
			corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable:
			continue
		}
		if !verifyTolerated(p.pod.Spec.Tolerations, t) {
			return false
		}
	}
	return true
}

// verifyKeys lists a map's keys in order, so that violations come in the same order every time.
func verifyKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
