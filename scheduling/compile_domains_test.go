package scheduling

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
)

// spreadOver returns a pod that is spread over the key.
func spreadOver(name, key string) *corev1.Pod {
	p := testPod("shop", name, list("cpu", "1"))
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{zoneSpread(func(s *corev1.TopologySpreadConstraint) { s.TopologyKey = key })}
	return p
}

func TestDomainsOfKeys(t *testing.T) {
	tests := []struct {
		name, reason, key string
		give              func(p *Problem)
		want              []string
	}{
		{"zone", "the offerings decide", corev1.LabelTopologyZone, nil, []string{"us-east-1a", "us-east-1b", "us-east-1c"}},
		{"zone of a pool", "it narrows them", corev1.LabelTopologyZone, func(p *Problem) {
			p.Pools[0].Requirements = []Requirement{{Key: corev1.LabelTopologyZone, Operator: "In", Values: []string{"us-east-1b"}}}
		}, []string{"us-east-1b"}},
		{"zone of a node", "it exists", corev1.LabelTopologyZone, func(p *Problem) {
			p.Nodes = []Node{{Name: "n", Labels: map[string]string{corev1.LabelFailureDomainBetaZone: "us-east-1z"}}}
		}, []string{"us-east-1a", "us-east-1b", "us-east-1c", "us-east-1z"}},
		{"capacity type", "the offerings decide", CapacityTypeLabel, nil, []string{"on-demand", "spot"}},
		{"label of offerings", "one has none", "topology.k8s.aws/zone-id", nil, []string{"use1-aza", "use1-azb"}},
		{"type", "a label of each", corev1.LabelInstanceTypeStable, nil, []string{"large", "small"}},
		{"arch", "the type decides", corev1.LabelArchStable, nil, []string{"amd64"}},
		{"pool", "each pool is a domain", PoolLabel, nil, []string{"p"}},
		{"label of the pool", "every node has it", "team", func(p *Problem) { p.Pools[0].Labels = map[string]string{"team": "a"} }, []string{"a"}},
		{"open label with values", "the launch decides", "rack", func(p *Problem) {
			p.Pools[0].Requirements = []Requirement{{Key: "rack", Operator: "In", Values: []string{"r2", "r1"}}}
		}, []string{"r1", "r2"}},
		{"open label without values", "only pods can say which there are", "rack", func(p *Problem) {
			p.Pools[0].Requirements = []Requirement{{Key: "rack", Operator: "NotIn", Values: []string{"r9"}}}
			p.Pods[0].Spec.NodeSelector = map[string]string{"rack": "r7"}
			other := testPod("shop", "other", nil)
			other.Spec.NodeSelector = map[string]string{"rack": "r9"}
			p.Pods = append(p.Pods, other)
		}, []string{"r7"}},
		{"nobody has it", "the pods are left over", "rack", nil, nil},
		{"pools that may launch", "the others are as if they were not there", PoolLabel, func(p *Problem) {
			p.Pools = append(p.Pools, Pool{Name: "q", InstanceTypes: zoneTypes()})
		}, []string{"p"}},
	}
	for _, tt := range tests {
		p := &Problem{Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}}, Pods: []*corev1.Pod{spreadOver("web-1", tt.key)}}
		if tt.give != nil {
			tt.give(p)
		}
		c := compiled(t, p, &Options{Pools: []string{"p"}})
		if len(c.model.Keys) != 1 || !slices.Equal(c.domainNames[0], tt.want) {
			t.Errorf("%s (%s): keys %v, domains %v, want %v", tt.name, tt.reason, c.keyNames, c.domainNames, tt.want)
			continue
		}
		checkKey(t, tt.name, c)
	}
}

// checkKey compares the masks of the first key with the labels that each offering's nodes have or may have.
func checkKey(t *testing.T, name string, c *compiler) {
	t.Helper()
	k, key := &c.model.Keys[0], c.keyNames[0]
	sets := c.allPoolSets()
	for d, domain := range c.domainNames[0] {
		for i := range c.rows {
			for bit, o := range c.rows[i].offerings {
				have := c.labelSet(&c.rows[i], sets[c.rows[i].pool], key)
				if v, ok := offeringValue(&c.rows[i].t.Offerings[o], key); ok {
					have = Values(v)
				}
				if can, got := have.Has(domain), k.Mask[d][i]>>bit&1 != 0; can != got {
					t.Errorf("%s: offering %d of row %d has %s; mask of %s says %v", name, bit, i, have, domain, got)
				}
				if have.Has(domain) && !sameStates(have, Values(domain)) && k.Open < 0 {
					t.Errorf("%s: the label is open, the key is not", name)
				}
			}
		}
		if k.Open >= 0 && c.states[k.State[d]].String() != Values(domain).String() {
			t.Errorf("%s: domain %s asks for %s", name, domain, c.states[k.State[d]])
		}
	}
}

func TestDomainsOfNodes(t *testing.T) {
	p := &Problem{Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}}, Nodes: []Node{
		{Name: "a", Labels: map[string]string{corev1.LabelTopologyZone: "us-east-1b"}},
		{Name: "b"},
		{Name: "c", Labels: map[string]string{corev1.LabelTopologyZone: "mars", CapacityTypeLabel: "spot"}},
	}}
	p.Pods = []*corev1.Pod{spreadOver("web-1", corev1.LabelTopologyZone), spreadOver("web-2", CapacityTypeLabel), spreadOver("web-3", corev1.LabelHostname)}
	c := compiled(t, p, nil)
	if want := []string{CapacityTypeLabel, corev1.LabelTopologyZone}; !slices.Equal(c.keyNames, want) {
		t.Fatalf("keys are %v, want %v: the hostname is none", c.keyNames, want)
	}
	// Capacity types: on-demand, spot. Zones: mars, us-east-1a and so on.
	for i, want := range [][]int32{{board.Absent, 2}, {board.Absent, board.Absent}, {1, 0}} {
		if !slices.Equal(c.space.Nodes[i].Domain, want) {
			t.Errorf("node %s is in %v, want %v", c.nodes[i].node.Name, c.space.Nodes[i].Domain, want)
		}
	}
}

func TestEligibleDomains(t *testing.T) {
	big := func(p *Problem) { p.Pods[0].Spec.Containers[0].Resources.Requests = list("cpu", "12") }
	tests := []struct {
		name, reason string
		give         func(p *Problem)
		want         []string
	}{
		{"all", "nothing stands in the way", func(*Problem) {}, []string{"us-east-1a", "us-east-1b", "us-east-1c"}},
		{"node selector", "only zones that the pod may go to", func(p *Problem) {
			p.Pods[0].Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "us-east-1b"}
		}, []string{"us-east-1b"}},
		{"affinity terms", "one or the other", func(p *Problem) {
			p.Pods[0].Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{
					{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: "In", Values: []string{"us-east-1c"}}}},
					{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: "NotIn", Values: []string{"us-east-1c", "us-east-1b"}}}},
				}}}}
		}, []string{"us-east-1a", "us-east-1c"}},
		{"preference", "does not bind", func(p *Problem) {
			p.Pods[0].Spec.Affinity = &corev1.Affinity{NodeAffinity: fullPod("any").Spec.Affinity.NodeAffinity}
		}, []string{"us-east-1a", "us-east-1b", "us-east-1c"}},
		{"size", "only the large type holds it, and that is in one zone", func(p *Problem) {
			big(p)
			it := p.Pools[0].InstanceTypes[1]
			it.Offerings = slices.DeleteFunc(it.Offerings, func(o Offering) bool { return o.Zone != "us-east-1a" })
		}, []string{"us-east-1a"}},
		{"size and another owner", "what either can reach", func(p *Problem) {
			big(p)
			it := p.Pools[0].InstanceTypes[1]
			it.Offerings = slices.DeleteFunc(it.Offerings, func(o Offering) bool { return o.Zone != "us-east-1a" })
			other := spreadOver("web-2", corev1.LabelTopologyZone)
			other.Spec.NodeSelector = map[string]string{corev1.LabelInstanceTypeStable: "small"}
			p.Pods = append(p.Pods, other)
			for _, pod := range p.Pods {
				pod.Spec.TopologySpreadConstraints[0].NodeAffinityPolicy = ptr(corev1.NodeInclusionPolicyIgnore)
			}
		}, []string{"us-east-1a", "us-east-1b", "us-east-1c"}},
		{"unavailable", "cannot be bought", func(p *Problem) {
			for _, it := range p.Pools[0].InstanceTypes {
				for i := range it.Offerings {
					it.Offerings[i].Unavailable = it.Offerings[i].Zone == "us-east-1c"
				}
			}
		}, []string{"us-east-1a", "us-east-1b"}},
		{"taint", "nobody gets into the pool", func(p *Problem) {
			p.Pools[0].Taints = []corev1.Taint{{Key: "a", Effect: "NoSchedule"}}
		}, nil},
		{"soft taint", "is given up in the end", func(p *Problem) {
			p.Pools[0].Taints = []corev1.Taint{{Key: "a", Effect: "PreferNoSchedule"}}
		}, []string{"us-east-1a", "us-east-1b", "us-east-1c"}},
		{"limit", "the pool is full", func(p *Problem) { p.Pools[0].Limits = list("cpu", "1") }, nil},
		{"host port", "a DaemonSet has it in one zone", func(p *Problem) {
			agent := testPod("kube-system", "agent", nil)
			agent.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "us-east-1a"}
			agent.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}}
			p.DaemonSets = []*corev1.Pod{agent}
			p.Pods[0].Spec.Containers[0].Ports = agent.Spec.Containers[0].Ports
		}, []string{"us-east-1b", "us-east-1c"}},
	}
	for _, tt := range tests {
		p := &Problem{Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}}, Pods: []*corev1.Pod{spreadOver("web-1", corev1.LabelTopologyZone)}}
		tt.give(p)
		c := compiled(t, p, nil)
		var got []string
		for d, ok := range c.model.Groups[0].Eligible {
			if ok {
				got = append(got, c.domainNames[0][d])
			}
		}
		if len(c.model.Groups) != 1 || !slices.Equal(got, tt.want) {
			t.Errorf("%s (%s): %d groups, reachable are %v, want %v", tt.name, tt.reason, len(c.model.Groups), got, tt.want)
		}
	}
}

// An open label has the values that the pod's own conditions leave it.
func TestEligibleDomainsOfAnOpenLabel(t *testing.T) {
	p := &Problem{Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes(), Requirements: []Requirement{{Key: "rack", Operator: "In", Values: []string{"r1", "r2", "r3"}}}}},
		Pods: []*corev1.Pod{spreadOver("web-1", "rack")}}
	p.Pods[0].Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "rack", Operator: "NotIn", Values: []string{"r2"}}}}}}}}
	c := compiled(t, p, nil)
	if got := c.model.Groups[0].Eligible; !slices.Equal(got, []bool{true, false, true}) {
		t.Errorf("eligible are %v of %v", got, c.domainNames[0])
	}
}

// Random problems: which domains can be reached, by looking at every offering.
func TestEligibleDomainsAgainstOfferings(t *testing.T) {
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 11))
		p := &Problem{}
		zones := []string{"us-east-1a", "us-east-1b", "us-east-1c"}
		for i := range 2 {
			pool := Pool{Name: fmt.Sprint("p", i), InstanceTypes: zoneTypes()}
			if r.IntN(2) == 0 {
				pool.Taints = []corev1.Taint{{Key: "t", Effect: "NoSchedule"}}
			}
			for _, it := range pool.InstanceTypes {
				for k := range it.Offerings {
					it.Offerings[k].Unavailable = r.IntN(3) > 0
				}
			}
			p.Pools = append(p.Pools, pool)
		}
		for i := range 6 {
			pod := spreadOver(fmt.Sprintf("web-%d", i), corev1.LabelTopologyZone)
			pod.Spec.TopologySpreadConstraints[0].NodeAffinityPolicy = ptr(corev1.NodeInclusionPolicyIgnore)
			pod.Spec.TopologySpreadConstraints[0].LabelSelector = selects("app", fmt.Sprint(r.IntN(3)))
			pod.Spec.Containers[0].Resources.Requests = list("cpu", []string{"1", "12"}[r.IntN(2)])
			if r.IntN(2) == 0 {
				pod.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: zones[r.IntN(3)]}
			}
			if r.IntN(2) == 0 {
				pod.Spec.Tolerations = []corev1.Toleration{{Operator: "Exists"}}
			}
			p.Pods = append(p.Pods, pod)
		}
		c := compiled(t, p, nil)
		want := map[string]map[string]bool{}
		for _, pod := range p.Pods {
			app := pod.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels["app"]
			if want[app] == nil {
				want[app] = map[string]bool{}
			}
			for i := range p.Pools {
				if len(p.Pools[i].Taints) > 0 && len(pod.Spec.Tolerations) == 0 {
					continue
				}
				for _, it := range p.Pools[i].InstanceTypes {
					cpu := pod.Spec.Containers[0].Resources.Requests["cpu"]
					for _, o := range it.Offerings {
						selector, some := pod.Spec.NodeSelector[corev1.LabelTopologyZone]
						if !o.Unavailable && (!some || selector == o.Zone) && (it.Name == "large" || cpu.Value() == 1) {
							want[app][o.Zone] = true
						}
					}
				}
			}
		}
		for g := range c.model.Groups {
			got := map[string]bool{}
			for d, ok := range c.model.Groups[g].Eligible {
				if ok {
					got[c.domainNames[0][d]] = true
				}
			}
			var app string
			for i := range c.classes {
				if slices.Contains(c.model.Classes[i].Owns, int32(g)) {
					app = c.classes[i].spread[0].LabelSelector.MatchLabels["app"]
				}
			}
			if fmt.Sprint(sortedKeys(got)) != fmt.Sprint(sortedKeys(want[app])) {
				t.Fatalf("seed %d, app %s: reachable are %v, want %v", seed, app, sortedKeys(got), sortedKeys(want[app]))
			}
		}
	}
}

// Which nodes count for a spread.
func TestWhoCounts(t *testing.T) {
	p := &Problem{
		Pools: []Pool{{Name: "open", InstanceTypes: zoneTypes()[:1]},
			{Name: "shut", InstanceTypes: zoneTypes()[:1], Taints: []corev1.Taint{{Key: "t", Effect: "NoSchedule"}}}},
		Nodes: []Node{
			{Name: "a", Labels: map[string]string{"disk": "ssd", corev1.LabelTopologyZone: "us-east-1a"}},
			{Name: "b", Labels: map[string]string{"disk": "hdd", corev1.LabelTopologyZone: "us-east-1a"}},
			{Name: "c", Labels: map[string]string{"disk": "ssd", corev1.LabelTopologyZone: "us-east-1a"}, Taints: []corev1.Taint{{Key: "t", Effect: "NoExecute"}}},
			{Name: "d", Labels: map[string]string{"disk": "ssd"}},
		},
	}
	honor, ignore := ptr(corev1.NodeInclusionPolicyHonor), ptr(corev1.NodeInclusionPolicyIgnore)
	tests := []struct {
		name             string
		affinity, taints *corev1.NodeInclusionPolicy
		second           string // topology key of another spread of the pod
		old, rows        string
	}{
		{"by default the selector counts, taints do not", nil, nil, "", "a  c d", ""},
		{"nothing counts", ignore, ignore, "", "a b c d", "open shut"},
		{"taints", ignore, honor, "", "a b d", "open"},
		{"both", honor, honor, "", "a d", ""},
		{"nodes without a key of the pod's other spreads", ignore, nil, corev1.LabelTopologyZone, "a b c", "open shut"},
	}
	for _, tt := range tests {
		pod := spreadOver("web-1", corev1.LabelHostname)
		pod.Spec.NodeSelector = map[string]string{"disk": "ssd"}
		s := &pod.Spec.TopologySpreadConstraints
		(*s)[0].NodeAffinityPolicy, (*s)[0].NodeTaintsPolicy = tt.affinity, tt.taints
		if tt.second != "" {
			*s = append(*s, zoneSpread(func(s *corev1.TopologySpreadConstraint) { s.TopologyKey = tt.second }))
		}
		p.Pods = []*corev1.Pod{pod}
		c := compiled(t, p, nil)
		g := &c.model.Groups[0]
		var old, rows []string
		for i := range c.nodes {
			if g.Old == nil || g.Old[i] {
				old = append(old, c.nodes[i].node.Name)
			}
		}
		for i := range c.rows {
			if all := ^uint64(0) >> (64 - len(c.rows[i].offerings)); g.Rows == nil || g.Rows[i] == all {
				rows = append(rows, p.Pools[c.rows[i].pool].Name)
			} else if g.Rows[i] != 0 {
				rows = append(rows, "some of "+p.Pools[c.rows[i].pool].Name)
			}
		}
		if got := strings.Join(old, " "); got != strings.Join(strings.Fields(tt.old), " ") {
			t.Errorf("%s: nodes %s count, want %s", tt.name, got, tt.old)
		}
		if got := strings.Join(rows, " "); got != tt.rows {
			t.Errorf("%s: rows of %s count, want %s", tt.name, got, tt.rows)
		}
	}
}
