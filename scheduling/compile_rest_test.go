package scheduling

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

func TestDemandsAreReadOnce(t *testing.T) {
	web := func(name string) *corev1.Pod {
		p := testPod("shop", name, list("cpu", "1"))
		p.Labels = nil
		return p
	}
	p := &Problem{
		Pods: []*corev1.Pod{web("web-b"), web("web-a")},
		Demands: []Demand{
			{Template: web("zeta"), Count: 2}, {Template: web("none"), Count: 0},
			{Template: web("more"), Count: 12, Names: []string{"x", "a"}}, {Template: web("room"), Count: 3, Buffer: true},
		},
		Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}},
	}
	c := compiled(t, p, nil)
	if len(c.classes) != 2 {
		t.Fatalf("%d classes, want the pods and the buffer", len(c.classes))
	}
	want := "web-a web-b x a more-2 more-3 more-4 more-5 more-6 more-7 more-8 more-9 more-10 more-11 zeta-0 zeta-1"
	if got := strings.Join(podNames(c, &c.classes[0]), " "); got != want {
		t.Errorf("pods are %s, want %s", got, want)
	}
	for i := range int32(p.PodCount()) {
		if c.podName(i) != p.PodName(i) || c.podAt(i) != p.PodAt(i) {
			t.Errorf("pod %d is %s, the problem calls it %s", i, c.podName(i), p.PodName(i))
		}
	}
	if room := &c.classes[1]; !room.buffer || room.priority >= 0 || len(room.pods) != 3 {
		t.Errorf("the buffer has %d pods of priority %d", len(room.pods), room.priority)
	}
	shuffled := slices.Clone(c.classes[0].pods)
	slices.Reverse(shuffled)
	c.sortPods(shuffled)
	if !slices.Equal(shuffled, c.classes[0].pods) {
		t.Errorf("sorted pods are %v, those of the class %v", shuffled, c.classes[0].pods)
	}
}

func TestFirstNamesPodsOfDemands(t *testing.T) {
	p := &Problem{Demands: []Demand{{Template: testPod("shop", "web", list("cpu", "1")), Count: 5}}}
	c := compiled(t, p, &Options{First: []string{"shop/web-3"}})
	if !c.classes[0].first || c.podName(c.classes[0].pods[0]) != "shop/web-3" {
		t.Errorf("pods are %v", podNames(c, &c.classes[0]))
	}
}

func TestFaultsOfNewFields(t *testing.T) {
	tests := []struct {
		name string
		give func(p *Problem, o *Options)
		want string
	}{
		{"negative count", func(p *Problem, _ *Options) { p.Demands[0].Count = -1; p.Demands[0].Names = nil }, `demands["shop/web"]: has a count of -1; write 0 or more`},
		{"no template", func(p *Problem, _ *Options) { p.Demands[0].Template = nil }, `demands[0]: has no template`},
		{"more names than pods", func(p *Problem, _ *Options) { p.Demands[0].Count = 0 }, `demands["shop/web"]: names 1 pods of 0`},
		{"too many pods", func(p *Problem, _ *Options) {
			p.Demands = append(p.Demands, Demand{Template: testPod("shop", "all", nil), Count: 1<<31 - 1})
		}, "at most 2147483647"},
		{"same stem", func(p *Problem, _ *Options) {
			p.Demands = append(p.Demands, Demand{Template: testPod("shop", "web", nil), Count: 2})
		}, `pods["shop/web-1"]: is there twice`},
		{"same name given twice", func(p *Problem, _ *Options) {
			p.Demands = append(p.Demands, Demand{Template: testPod("shop", "other", nil), Count: 2, Names: []string{"given"}})
		}, `pods["shop/given"]: is there twice`},
		{"given and generated", func(p *Problem, _ *Options) { p.Demands[0].Names[0] = "web-2" }, `pods["shop/web-2"]: is there twice`},
		{"a pod has a generated name", func(p *Problem, _ *Options) { p.Pods[0].Name = "web-2" }, `pods["shop/web-2"]: is there twice`},
		{"a pod has a given name", func(p *Problem, _ *Options) { p.Pods[0].Name = "given" }, `pods["shop/given"]: is there twice`},
		{"unknown pool", func(_ *Problem, o *Options) { o.Pools = []string{"p", "x"} }, `options.pools["x"]: is not a pool of the problem; known pools: [p]`},
		{"cap without a cap", func(_ *Problem, o *Options) { o.Preferences = PreferencesCap }, "options.preferenceCap: is not set"},
		{"default spread with a selector", func(p *Problem, _ *Options) {
			p.DefaultSpread.Constraints = []corev1.TopologySpreadConstraint{zoneSpread()}
		}, "defaultSpread.constraints[0]: says what it counts"},
		{"default spread twice", func(p *Problem, _ *Options) {
			one := zoneSpread(func(s *corev1.TopologySpreadConstraint) { s.LabelSelector = nil })
			p.DefaultSpread.Constraints = []corev1.TopologySpreadConstraint{one, one}
		}, "defaultSpread.constraints[1]: is the second over topology.kubernetes.io/zone"},
		{"owner of another kind", func(p *Problem, _ *Options) { p.DefaultSpread.Owners = []Owner{{Kind: "Job", Name: "j"}} }, `is a "Job"`},
		{"negative reservation", func(p *Problem, _ *Options) {
			o := &p.Pools[0].InstanceTypes[0].Offerings[0]
			o.Reservation, o.Count = "r", -1
		}, `reservation "r" has a count of -1`},
		{"gang twice", func(p *Problem, _ *Options) { p.Gangs = []Gang{{Name: "g"}, {Name: "g", MinCount: 2}} }, `gangs["/g"]: is there twice`},
		{"negative gang", func(p *Problem, _ *Options) { p.Gangs = []Gang{{Name: "g", MinCount: -2}} }, "has a minCount of -2"},
	}
	for _, tt := range tests {
		p := &Problem{Pods: []*corev1.Pod{testPod("shop", "one", nil)}, Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}},
			Demands: []Demand{{Template: testPod("shop", "web", nil), Count: 3, Names: []string{"given"}}}}
		opts := &Options{}
		tt.give(p, opts)
		c := newCompiler(p, opts)
		err := c.compile()
		var in *InputError
		if !errors.As(err, &in) || len(in.Faults) != 1 || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one fault with %q", tt.name, err, tt.want)
		}
	}
}

// Disjoint ranges of one stem are no clash: they are how a demand goes on where another one stopped.
func TestDemandsMayShareAStem(t *testing.T) {
	names := []string{"a", "b"}
	compiled(t, &Problem{Demands: []Demand{{Template: testPod("shop", "web", nil), Count: 2}, {Template: testPod("shop", "web", nil), Count: 4, Names: names},
		{Template: testPod("ops", "web", nil), Count: 2}}, Pods: []*corev1.Pod{testPod("shop", "web-02", nil), testPod("shop", "web-4", nil)}}, nil)
}

func TestGangs(t *testing.T) {
	member := func(name, gang string) *corev1.Pod {
		p := testPod("shop", name, list("cpu", "1"))
		p.Labels = nil
		if gang != "" {
			p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &gang}
		}
		return p
	}
	labelled := func(name string, pairs ...string) *corev1.Pod {
		p := member(name, "")
		p.Labels = selects(pairs...).MatchLabels
		return p
	}
	gone := member("old-3", "train")
	gone.DeletionTimestamp = &metav1.Time{}
	done := member("old-4", "train")
	done.Status.Phase = corev1.PodSucceeded
	large := member("big-1", "train")
	large.Spec.Containers[0].Resources.Requests = list("cpu", "2")
	p := &Problem{
		Pods: []*corev1.Pod{
			member("tra-1", "train"), member("tra-2", "train"), large,
			member("all-1", "unlisted"), labelled("lab-1", "batch", "unlisted"), labelled("lab-2", "a-job", "second", "batch", "unlisted"),
			member("bas-1", "loose"), member("non-1", ""), member("met-1", "met"),
		},
		Gangs: []Gang{{Namespace: "shop", Name: "train", MinCount: 4}, {Namespace: "shop", Name: "loose", Basic: true}, {Namespace: "ops", Name: "unlisted", MinCount: 9},
			{Namespace: "shop", Name: "met", MinCount: 1}},
		GangLabels: []string{"batch", "a-job"},
		Nodes:      []Node{{Name: "n", Pods: []*corev1.Pod{member("old-1", "train"), member("old-2", "other"), gone, done, member("old-5", "met"), member("old-6", "met")}}},
	}
	c := compiled(t, p, nil)
	var got []string
	for _, g := range c.gangs {
		var pods []string
		for _, id := range g.classes {
			pods = append(pods, podNames(c, &c.classes[id])...)
		}
		slices.Sort(pods)
		got = append(got, fmt.Sprintf("%s needs %d of %v", g.name, g.need, pods))
	}
	want := []string{"shop/met needs 0 of [met-1]", "shop/second needs 1 of [lab-2]", "shop/train needs 3 of [big-1 tra-1 tra-2]", "shop/unlisted needs 2 of [all-1 lab-1]"}
	if !slices.Equal(got, want) {
		t.Errorf("gangs are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for i := range c.classes {
		if cl := &c.classes[i]; cl.gang >= 0 != (cl.gangKey != "") || cl.gang >= 0 && c.gangs[cl.gang].name != cl.gangKey {
			t.Errorf("class of %v: gang %d is not %q", podNames(c, cl), cl.gang, cl.gangKey)
		}
	}
}

func TestReservations(t *testing.T) {
	types := zoneTypes()
	reserve := func(it *InstanceType, at int, name string, count int32) {
		it.Offerings[at].Reservation, it.Offerings[at].Count = name, count
	}
	reserve(types[0], 0, "b", 3)
	reserve(types[0], 1, "a", 7)
	reserve(types[0], 2, "gone", 0)
	reserve(types[1], 3, "b", 2)
	types[1].Offerings[4].Count = -5 // no reservation, no count
	c := compiled(t, &Problem{Pools: []Pool{{Name: "p", InstanceTypes: types}, {Name: "q", InstanceTypes: types}}}, nil)
	if !slices.Equal(c.finites, []finite{{name: "a"}, {name: "b"}, {name: "gone"}}) || !slices.Equal(c.space.Reserved, []int64{7, 2, 0}) {
		t.Fatalf("reservations %v have %v left", c.finites, c.space.Reserved)
	}
	if c.space.Draw != nil {
		t.Error("nodes draw amounts although there is no commitment of money")
	}
	if len(c.space.Reservation) != len(c.space.Offer) {
		t.Fatalf("%d of %d offerings are told", len(c.space.Reservation), len(c.space.Offer))
	}
	for i := range c.rows {
		for bit, o := range c.rows[i].offerings {
			name := c.rows[i].t.Offerings[o].Reservation
			id := c.space.Reservation[int(c.space.OfferStart[i])+bit]
			if name == "gone" || (id < 0) != (name == "") || id >= 0 && c.finites[id].name != name {
				t.Errorf("row %d, offering %d: %q has number %d", i, bit, name, id)
			}
		}
	}
	if c := compiled(t, &Problem{Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}}}, nil); c.space.Reservation != nil {
		t.Error("offerings have reservations although there are none")
	}
}

func TestPoolsOfTheCall(t *testing.T) {
	p := &Problem{Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}, {Name: "q", InstanceTypes: zoneTypes()}}, Nodes: []Node{{Name: "n", Pool: "q", Allocatable: list("cpu", "1")}}}
	for _, tt := range []struct {
		pools []string
		want  int
	}{{nil, 4}, {[]string{}, 0}, {[]string{"q"}, 2}, {[]string{"q", "p"}, 4}} {
		c := compiled(t, p, &Options{Pools: tt.pools})
		if len(c.rows) != tt.want || len(c.space.Nodes) != 1 {
			t.Errorf("pools %v: %d rows and %d nodes, want %d and 1", tt.pools, len(c.rows), len(c.space.Nodes), tt.want)
		}
		for i := range c.rows {
			if tt.pools != nil && !slices.Contains(tt.pools, p.Pools[c.rows[i].pool].Name) {
				t.Errorf("pools %v: a row of %s", tt.pools, p.Pools[c.rows[i].pool].Name)
			}
		}
	}
}

func TestDefaultSpread(t *testing.T) {
	service := func(namespace string, pairs ...string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}, Spec: corev1.ServiceSpec{Selector: selects(pairs...).MatchLabels}}
	}
	owned := func(kind, name string) []metav1.OwnerReference {
		version := "apps/v1"
		if kind == ownerReplication {
			version = "v1"
		}
		return []metav1.OwnerReference{{Kind: "Other", Name: name}, {APIVersion: version, Kind: kind, Name: name, Controller: ptr(true)}}
	}
	tests := []struct {
		name, reason string
		labels       *metav1.LabelSelector
		owner        []metav1.OwnerReference
		own          bool
		want         string // what the constraints select, "none" if there are none
	}{
		{"nobody", "nothing selects the pod", selects("app", "none"), nil, false, "none"},
		{"service", "", selects("app", "web", "x", "y"), nil, false, "app=web"},
		{"two services", "their selectors are merged", selects("app", "web", "tier", "front"), nil, false, "app=web,tier=front"},
		{"service of another namespace", "does not count", selects("app", "far"), nil, false, "none"},
		{"ReplicaSet", "its requirements", selects("app", "rs"), owned(ownerReplicas, "rs"), false, "app=rs,rev in (1)"},
		{"service and ReplicaSet", "both", selects("app", "web"), owned(ownerReplicas, "rs"), false, "app=web,app=rs,rev in (1)"},
		{"ReplicationController", "labels merged over the services'", selects("app", "web"), owned(ownerReplication, "rc"), false, "app=rc"},
		{"unknown owner", "only the services", selects("app", "web"), owned(ownerStateful, "who"), false, "app=web"},
		{"owner that is no controller", "only the services", selects("app", "web"), []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: ownerReplicas, Name: "rs"}}, false, "app=web"},
		{"owner of another group", "is not the ReplicaSet of that name", selects("app", "web"), []metav1.OwnerReference{{APIVersion: "x/v1", Kind: ownerReplicas, Name: "rs", Controller: ptr(true)}}, false, "app=web"},
		{"own spread", "all or nothing", selects("app", "web"), nil, true, "own"},
	}
	for _, tt := range tests {
		pod := testPod("shop", "web-1", list("cpu", "1"))
		pod.Labels, pod.OwnerReferences = tt.labels.MatchLabels, tt.owner
		if tt.own {
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{zoneSpread()}
		}
		p := &Problem{Pods: []*corev1.Pod{pod}, Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}}, DefaultSpread: DefaultSpread{
			Constraints: []corev1.TopologySpreadConstraint{{MaxSkew: 2, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: "DoNotSchedule"},
				{MaxSkew: 3, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: "ScheduleAnyway"}},
			Services: []*corev1.Service{service("shop", "app", "web"), service("shop", "tier", "front"), service("ops", "app", "far"), service("shop")},
			Owners: []Owner{{Kind: ownerReplicas, Namespace: "shop", Name: "rs", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "rs"},
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "rev", Operator: "In", Values: []string{"1"}}}}},
				{Kind: ownerReplication, Namespace: "shop", Name: "rc", Selector: selects("app", "rc")}},
		}}
		c := compiled(t, p, nil)
		spread := c.classes[0].spread
		got := "none"
		switch {
		case tt.own && len(spread) == 1 && spread[0].MaxSkew == 1:
			got = "own"
		case len(spread) == 2 && spread[0].MaxSkew == 2 && spread[1].MaxSkew == 3:
			got = metav1.FormatLabelSelector(spread[0].LabelSelector)
			if sel, err := metav1.LabelSelectorAsSelector(spread[1].LabelSelector); err == nil {
				got = sel.String()
			}
		case len(spread) > 0:
			got = fmt.Sprintf("%d constraints", len(spread))
		}
		if strings.ReplaceAll(strings.ReplaceAll(got, " in (web)", "=web"), " in (rs)", "=rs") != tt.want {
			t.Errorf("%s (%s): spread over %s, want %s", tt.name, tt.reason, got, tt.want)
		}
		if len(pod.Spec.TopologySpreadConstraints) > 0 != tt.own {
			t.Errorf("%s: the pod was written to", tt.name)
		}
	}
}

func TestHostPorts(t *testing.T) {
	on := func(name string, ports ...corev1.ContainerPort) *corev1.Pod {
		p := testPod("shop", name, list("cpu", "1"))
		p.Spec.Containers[0].Ports = ports
		return p
	}
	p := &Problem{
		Pods: []*corev1.Pod{
			on("all-1", corev1.ContainerPort{HostPort: 80}), on("one-1", corev1.ContainerPort{HostPort: 80, HostIP: "10.0.0.1"}),
			on("two-1", corev1.ContainerPort{HostPort: 80, HostIP: "10.0.0.2"}), on("udp-1", corev1.ContainerPort{HostPort: 80, Protocol: "UDP"}), on("non-1"),
		},
		Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}},
		Nodes: []Node{{Name: "a", Pods: []*corev1.Pod{on("old-1", corev1.ContainerPort{HostPort: 80, HostIP: "10.0.0.2"})}}, {Name: "b"}},
	}
	c := compiled(t, p, nil)
	want := map[string]string{"all-1": "[all-1 one-1 two-1] b", "one-1": "[all-1 one-1] ab", "two-1": "[all-1 two-1] b", "udp-1": "[udp-1] ab", "non-1": "[] ab"}
	for i := range c.classes {
		m := &c.model.Classes[i]
		fits := ""
		for n := range c.nodes {
			if c.model.Shapes[m.Shape].Variants[0].Has(n) {
				fits += c.nodes[n].node.Name
			}
		}
		name := podNames(c, &c.classes[i])[0]
		if got := fmt.Sprintf("%v %s", classNames(c, m.Excludes), fits); got != want[name] {
			t.Errorf("%s clashes with, and fits: %s, want %s", name, got, want[name])
		}
	}
}

func TestRefusedPodsHaveNoPlaceInTheModel(t *testing.T) {
	claims := testPod("shop", "dra-1", list("cpu", "1"))
	claims.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}, {Name: "nic"}}
	claims.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{zoneSpread()}
	c := compiled(t, &Problem{Pods: []*corev1.Pod{claims}, Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes()}}}, nil)
	if r := c.classes[0].refused; r == nil || r.Code != CodeResourceClaim || r.Detail != "gpu, nic" {
		t.Errorf("reason %+v", r)
	}
	if m := c.model.Classes[0]; m.Shape != -1 || len(c.model.Groups) != 0 {
		t.Errorf("the class is %+v among %d groups", m, len(c.model.Groups))
	}
}

func TestLimitsOfNodes(t *testing.T) {
	p := &Problem{Pools: []Pool{{Name: "p", InstanceTypes: zoneTypes(), Limits: list("cpu", "10")}}, Pods: []*corev1.Pod{spreadOver("web-1", corev1.LabelTopologyZone)},
		Nodes: []Node{{Name: "a", Pool: "p", Capacity: list("cpu", "4")}, {Name: "b", Allocatable: list("cpu", "2")}}}
	c := compiled(t, p, nil)
	if !slices.Equal(c.model.NodePool, []int32{0, -1}) || c.model.NodeCap[0][0] != 4000 || c.model.NodeCap[1][0] != 2000 {
		t.Errorf("pools %v, charges %v", c.model.NodePool, c.model.NodeCap)
	}
	if c.space.Limits[0] != 6000 || c.space.Limits[1] != pack.Unlimited {
		t.Errorf("limits %v", c.space.Limits)
	}
}
