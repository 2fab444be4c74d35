package scheduling_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// The exhaustive oracle: what is possible at all in a tiny problem with constraints between pods. It tries every
// plan and every order of binding. This file reads a problem into small numbers, by definition; DaemonSets, weights and
// minValues are not among them.

const (
	// tinyReachWithinLimits: a domain that the owner of a spread could only reach by a node that its pool's limit
	// forbids, the plan carried out, does not count.
	tinyReachWithinLimits = true
	// tinyAllKeysCount: a node counts for a pod's spreads only if it has the keys of all of them, as in kube-scheduler.
	tinyAllKeysCount = true
	// freshHost is the first domain of hostname that belongs to a new node.
	freshHost = 1000
	absent    = -1
)

// tinyPod is a pod to place. Sets of pods are bits by position.
type tinyPod struct {
	index   int32
	pod     *corev1.Pod
	read    *oraclePod
	band    int
	class   int
	need    []int64
	clash   uint32
	gang    string
	volumes []tinyVolume
	usable  bool
	spreads []tinySpread
	// terms are required affinities: only pods that match all of them count.
	terms []tinyTerm
	self  bool
	// anti are own terms, with the pods to place and the domains of running pods that each selects.
	anti []tinyTerm
	// shunned are domains, by key, of running pods whose terms select this pod.
	shunned map[int][]int
}

type tinyTerm struct {
	key      int
	selected uint32
	// running counts pods there are, by domain.
	running map[int]int
}

type tinySpread struct {
	key           int
	skew, minimum int
	selected      uint32
	self          bool
	// counts tells of each place whether its node counts.
	counts  []bool
	running map[int]int
	// always are the domains of nodes that exist or can be had without a limit; some, by pool, those that
	// a pool with limits could add, each with what the node would charge.
	always map[int]bool
	some   []tinyReach
}

type tinyReach struct{ domain, place int }

type tinyVolume struct {
	id, driver string
	// terms are alternatives for the node's labels; nil: any node will do.
	terms []sets
}

// tinyPlace is an existing node, or a kind of new node: an offering with its open labels decided.
type tinyPlace struct {
	node   int    // -1: new
	host   string // the name of a node without the label
	column *oracleColumn
	// labels are settled ones; custom those of them that the launch decides.
	labels, custom map[string]string
	free           []int64
	attach         map[string]int
	volumes        map[string]bool // attached already
	domain         []int           // by key
	infinite       []bool          // by key: one of endlessly many values
	hidden         bool            // takes no pods
	// fits, likes and stands are sets of pods: that may run here alone, whose labels wishes are met, that tolerate the taints.
	fits, likes, stands uint32
	charge              map[corev1.ResourceName]int64
	limited             bool
	reservation         string // or commitment, after a slash
	draw                int64
}

type tinyGang struct {
	members      uint32
	running, min int
}

type tinyOracle struct {
	problem      *Problem
	oracle       *oracle
	pods         []*tinyPod
	classes      int
	bands        []int // distinct, highest first
	resources    []corev1.ResourceName
	keys         []string
	values       []map[string]int
	places       []*tinyPlace // existing nodes first
	gangs        []tinyGang
	reservations map[string]int64
	// room is what is left of the limits, by pool.
	room []map[corev1.ResourceName]int64
}

func newTinyOracle(p *Problem) *tinyOracle {
	t := &tinyOracle{problem: p, oracle: newOracle(p), reservations: map[string]int64{}}
	for i := range p.PodCount() {
		t.readPod(int32(i))
	}
	t.readKeys()
	t.readPlaces()
	t.readCompany()
	t.readGangs()
	t.readBands()
	t.readLimits()
	t.readReach()
	t.readClasses()
	return t
}

func (t *tinyOracle) readPod(i int32) {
	pod := t.problem.PodAt(i).DeepCopy()
	_, pod.Name, _ = strings.Cut(t.problem.PodName(i), "/")
	p := &tinyPod{index: i, pod: pod, read: oracleRead(i, pod)}
	p.volumes, p.usable = tinyVolumes(&t.problem.Storage, pod)
	p.usable = p.usable && len(pod.Spec.ResourceClaims) == 0
	pod.Spec.TopologySpreadConstraints = tinySpreadsOf(t.problem, pod)
	t.pods = append(t.pods, p)
	for name, n := range p.read.need {
		if n > 0 && !slices.Contains(t.resources, name) {
			t.resources = append(t.resources, name)
		}
	}
}

// tinySpreadsOf are the pod's own spreads, or else the defaults with what services and owners select.
func tinySpreadsOf(p *Problem, pod *corev1.Pod) []corev1.TopologySpreadConstraint {
	if len(pod.Spec.TopologySpreadConstraints) > 0 {
		return pod.Spec.TopologySpreadConstraints
	}
	all := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for _, s := range p.DefaultSpread.Services {
		if s.Namespace == pod.Namespace && s.Spec.Selector != nil && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels)) {
			maps.Copy(all.MatchLabels, s.Spec.Selector)
		}
	}
	if ref := metav1.GetControllerOf(pod); ref != nil {
		for _, o := range p.DefaultSpread.Owners {
			if o.Kind == ref.Kind && o.Name == ref.Name && o.Namespace == pod.Namespace && o.Selector != nil {
				maps.Copy(all.MatchLabels, o.Selector.MatchLabels)
				all.MatchExpressions = append(all.MatchExpressions, o.Selector.MatchExpressions...)
			}
		}
	}
	if len(all.MatchLabels)+len(all.MatchExpressions) == 0 {
		return nil
	}
	out := slices.Clone(p.DefaultSpread.Constraints)
	for i := range out {
		out[i].LabelSelector = all
	}
	return out
}

// key numbers a label key that names domains.
func (t *tinyOracle) key(name string) int {
	name = unalias(name)
	i := slices.Index(t.keys, name)
	if i < 0 {
		i = len(t.keys)
		t.keys, t.values = append(t.keys, name), append(t.values, map[string]int{})
	}
	return i
}

func tinyRequired(pod *corev1.Pod) (with, without []corev1.PodAffinityTerm) {
	if a := pod.Spec.Affinity; a != nil {
		if a.PodAffinity != nil {
			with = a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		}
		if a.PodAntiAffinity != nil {
			without = a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		}
	}
	return with, without
}

// running lists the pods on nodes that topology counts.
func (t *tinyOracle) running(yield func(node int, pod *corev1.Pod)) {
	for i := range t.problem.Nodes {
		for _, pod := range t.problem.Nodes[i].Pods {
			if tinyRuns(pod) && pod.DeletionTimestamp == nil {
				yield(i, pod)
			}
		}
	}
}

func tinyRuns(pod *corev1.Pod) bool {
	return pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

func (t *tinyOracle) readKeys() {
	see := func(pod *corev1.Pod) {
		with, without := tinyRequired(pod)
		for _, x := range slices.Concat(with, without) {
			t.key(x.TopologyKey)
		}
		for _, c := range pod.Spec.TopologySpreadConstraints {
			if c.WhenUnsatisfiable == corev1.DoNotSchedule {
				t.key(c.TopologyKey)
			}
		}
	}
	for _, p := range t.pods {
		see(p.pod)
	}
	t.running(func(_ int, pod *corev1.Pod) { see(pod) })
}

// selects tells whether a term of one pod selects another.
func (t *tinyOracle) selects(owner *corev1.Pod, x *corev1.PodAffinityTerm, other *corev1.Pod) bool {
	in := slices.Contains(x.Namespaces, other.Namespace)
	if x.NamespaceSelector != nil {
		s, err := metav1.LabelSelectorAsSelector(x.NamespaceSelector)
		in = in || err == nil && s.Matches(labels.Set(t.problem.Namespaces[other.Namespace]))
	}
	if len(x.Namespaces) == 0 && x.NamespaceSelector == nil {
		in = owner.Namespace == other.Namespace
	}
	return in && tinyMatches(owner, other, x.LabelSelector, x.MatchLabelKeys, x.MismatchLabelKeys)
}

func tinyMatches(owner, other *corev1.Pod, selector *metav1.LabelSelector, same, different []string) bool {
	s, err := metav1.LabelSelectorAsSelector(selector) // nil selects nothing
	if err != nil || !s.Matches(labels.Set(other.Labels)) {
		return false
	}
	for _, k := range same {
		if own, has := owner.Labels[k]; has {
			if v, there := other.Labels[k]; !there || v != own {
				return false
			}
		}
	}
	for _, k := range different {
		if own, has := owner.Labels[k]; has && other.Labels[k] == own {
			return false
		}
	}
	return true
}

// readCompany works out what pods mean to each other.
func (t *tinyOracle) readCompany() {
	for i, p := range t.pods {
		for j, q := range t.pods {
			if i != j && oracleClash(p.read.ports, q.read.ports) {
				p.clash |= 1 << j
			}
		}
		with, without := tinyRequired(p.pod)
		matchesAll := func(q *corev1.Pod) bool {
			return !slices.ContainsFunc(with, func(x corev1.PodAffinityTerm) bool { return !t.selects(p.pod, &x, q) })
		}
		p.self = matchesAll(p.pod)
		for _, x := range with {
			p.terms = append(p.terms, t.term(x.TopologyKey, i, matchesAll))
		}
		for _, x := range without {
			p.anti = append(p.anti, t.term(x.TopologyKey, i, func(q *corev1.Pod) bool { return t.selects(p.pod, &x, q) }))
		}
		p.shunned = map[int][]int{}
		t.running(func(node int, q *corev1.Pod) {
			_, theirs := tinyRequired(q)
			for _, x := range theirs {
				key := t.key(x.TopologyKey)
				if d := t.places[node].domain[key]; d != absent && t.selects(q, &x, p.pod) {
					p.shunned[key] = append(p.shunned[key], d)
				}
			}
		})
		for _, c := range p.pod.Spec.TopologySpreadConstraints {
			if c.WhenUnsatisfiable == corev1.DoNotSchedule {
				p.spreads = append(p.spreads, t.spread(&c, i))
			}
		}
	}
}

// term counts who is selected, the pod itself left out.
func (t *tinyOracle) term(key string, self int, selects func(*corev1.Pod) bool) tinyTerm {
	x := tinyTerm{key: t.key(key), running: map[int]int{}}
	for j, q := range t.pods {
		if j != self && selects(q.pod) {
			x.selected |= 1 << j
		}
	}
	t.running(func(node int, q *corev1.Pod) {
		if d := t.places[node].domain[x.key]; d != absent && selects(q) {
			x.running[d]++
		}
	})
	return x
}

func (t *tinyOracle) spread(c *corev1.TopologySpreadConstraint, self int) tinySpread {
	owner := t.pods[self].pod
	s := tinySpread{key: t.key(c.TopologyKey), skew: int(c.MaxSkew), minimum: 1, running: map[int]int{}, always: map[int]bool{}}
	if c.MinDomains != nil {
		s.minimum = int(*c.MinDomains)
	}
	selects := func(q *corev1.Pod) bool {
		return q.Namespace == owner.Namespace && tinyMatches(owner, q, c.LabelSelector, c.MatchLabelKeys, nil)
	}
	s.self = selects(owner)
	for j, q := range t.pods {
		if j != self && selects(q.pod) {
			s.selected |= 1 << j
		}
	}
	for _, pl := range t.places {
		ok := pl.domain[s.key] != absent
		if c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor {
			ok = ok && pl.likes&(1<<self) != 0
		}
		if c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor {
			ok = ok && pl.stands&(1<<self) != 0
		}
		for _, other := range owner.Spec.TopologySpreadConstraints {
			if tinyAllKeysCount && other.WhenUnsatisfiable == corev1.DoNotSchedule {
				ok = ok && pl.domain[t.key(other.TopologyKey)] != absent
			}
		}
		s.counts = append(s.counts, ok)
	}
	t.running(func(node int, q *corev1.Pod) {
		if s.counts[node] && selects(q) {
			s.running[t.places[node].domain[s.key]]++
		}
	})
	return s
}

// readReach finds, for each spread, the domains that count although no pod of the plan is there.
func (t *tinyOracle) readReach() {
	for i, p := range t.pods {
		for k := range p.spreads {
			s := &p.spreads[k]
			for at, pl := range t.places {
				d := pl.domain[s.key]
				switch {
				case !s.counts[at]:
				case pl.node >= 0:
					s.always[d] = true
				case pl.fits&(1<<i) == 0 || pl.infinite[s.key] && !p.names(t.keys[s.key], pl.labels[t.keys[s.key]]):
				case (pl.limited || pl.reservation != "") && tinyReachWithinLimits:
					s.some = append(s.some, tinyReach{domain: d, place: at})
				default:
					s.always[d] = true
				}
			}
		}
	}
}

// names tells whether the pod's own terms leave few values of a label, this one among them.
func (p *tinyPod) names(key, value string) bool {
	return slices.ContainsFunc(p.read.terms, func(t sets) bool {
		_, finite := t[key].Finite()
		return finite && t[key].Has(value)
	})
}

func setSize(s uint32) int {
	n := 0
	for ; s != 0; s &= s - 1 {
		n++
	}
	return n
}

func (p *tinyPlace) String() string {
	if p.node >= 0 {
		return fmt.Sprint("node ", p.node)
	}
	return fmt.Sprint("pool ", p.column.pool, p.column.at, p.custom)
}
