package scenario

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

func TestParseBuildsTheProblem(t *testing.T) {
	s, err := Parse(`# Prose.
type small cpu=2 memory=8Gi zones=a,b price=0.10 spot=0.04 overhead=cpu=100m unavailable=b/spot prices=b/on-demand=0.11 labels=fam=c
pool default types=small weight=10 taints=team=x:NoSchedule limits=cpu=64,nodes=3 requirements="zone In [a b]; type Exists min 2"
node n1 pool=default type=small zone=b uninitialized
daemonset logger cpu=100m tolerations=*
pods 1 old cpu=1 node=n1
pods 10 web cpu=500m selector=zone=a port=53/UDP affinity="fam In [c] | arch In [arm64]; zone Exists" spread=zone:1:soft
solve steps=100 preferences=ignore
----
expected
`)
	if err != nil {
		t.Fatal(err)
	}
	p := s.Problem
	check := func(name string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	check("want", s.Want, "expected\n")
	check("steps", s.Options.Steps, int64(100))
	check("preferences", s.Options.Preferences, scheduling.PreferencesIgnore)
	pool := p.Pools[0]
	check("limit", pool.Limits.Name("nodes", "").Value(), int64(3))
	check("minValues", *pool.Requirements[1].MinValues, 2)
	check("taint", pool.Taints[0].ToString(), "team=x:NoSchedule")
	var offers []string
	for _, o := range pool.InstanceTypes[0].Offerings {
		s := o.Zone + "/" + o.CapacityType + " " + o.Price.String()
		if o.Unavailable {
			s += " unavailable"
		}
		offers = append(offers, s)
	}
	check("offerings", strings.Join(offers, ", "),
		"a/on-demand 0.1, b/on-demand 0.11, a/spot 0.04, b/spot 0.04 unavailable")
	node := p.Nodes[0]
	check("node zone", node.Labels[corev1.LabelTopologyZone], "b")
	check("node label of its type", node.Labels["fam"], "c")
	check("node cpu", node.Allocatable.Cpu().String(), "1900m")
	check("bound pod", node.Pods[0].Spec.NodeName, "n1")
	check("pods", len(p.Pods), 10)
	pod := p.Pods[9]
	check("pod name", pod.Name, "web-10")
	check("selector", pod.Spec.NodeSelector[corev1.LabelTopologyZone], "a")
	check("terms", len(pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms), 2)
	check("port", pod.Spec.Containers[0].Ports[0].HostPort, int32(53))
	check("spread", pod.Spec.TopologySpreadConstraints[0].WhenUnsatisfiable, corev1.ScheduleAnyway)
	check("daemonset", p.DaemonSets[0].Spec.Tolerations[0].Operator, corev1.TolerationOpExists)
}

func TestParseErrorsNameLineAndKey(t *testing.T) {
	tests := []struct{ name, reason, in, want string }{
		{"unknown verb", "a misspelt verb would drop a pool", "pol default\nsolve\n", `line 1: unknown verb "pol"`},
		{"unknown key", "a misspelt key would drop a constraint", "pods 1 web cpus=1\nsolve\n", "line 1: cpus: no such key"},
		{"bad quantity", "the value is named", "\npods 1 web cpu=1O\nsolve\n", `line 2: cpu: "1O" is not a quantity`},
		{"unknown type", "types come first", "pool default types=small\nsolve\n", `"small" is not a type`},
		{"open quote", "the rest of the file would be one value", "pods 1 web affinity=\"a In [b]\nsolve\n", "not closed"},
		{"key twice", "the second would win silently", "pods 1 web cpu=1 cpu=2\nsolve\n", "cpu is given twice"},
		{"bad requirement", "an operator is missing", "pods 1 web affinity=\"zone [a]\"\nsolve\n", "is not `key Operator"},
		{"no solve", "there is nothing to compare", "pods 1 web\n", "no line says solve"},
		{"operands", "a name is missing", "pods 1\nsolve\n", "pods needs 2 operand(s)"},
		{"unknown option", "a misspelt option would drop a condition", "pods 1 web spread=zone:1:mn=2\nsolve\n", "no such option: mn"},
		{"spread without skew", "there is no default skew", "pods 1 web spread=zone\nsolve\n", "is not key:skew"},
		{"bad policy", "the words are two", "pods 1 web spread=zone:1:taints=no\nsolve\n", "neither ignore nor honor"},
		{"bad selector", "a value is missing", "pods 1 web together=zone:of=a=\nsolve\n", "is not a selector"},
		{"bad count", "nobody would see that there are none", "pods 0 web\nsolve\n", "is not a number from 1"},
		{"bad weight", "a weight is a number", "pods 1 web apart=host:x\nsolve\n", "is not key or key:weight"},
		{"bad cap", "a price is missing", "solve preferences=cap:\n", "preferences: "},
	}
	for _, tt := range tests {
		if _, err := Parse(tt.in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q: %s", tt.name, err, tt.want, tt.reason)
		}
	}
}

func TestParseBuildsConstraintsBetweenPods(t *testing.T) {
	s, err := Parse(`# Prose.
pods 1 web spread=zone:2:soft:min=3:affinity=ignore:taints=honor:match=rev+k:of=all,host:1:of=none apart=host:of=db&tier!=x+y together=zone:50:in=a+b:where=team=x:mismatch=rev:of=k=*
solve
`)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	spec := s.Problem.Pods[0].Spec
	zone, host := spec.TopologySpreadConstraints[0], spec.TopologySpreadConstraints[1]
	check("skew", zone.MaxSkew, int32(2))
	check("key", zone.TopologyKey, corev1.LabelTopologyZone)
	check("soft", zone.WhenUnsatisfiable, corev1.ScheduleAnyway)
	check("minDomains", *zone.MinDomains, int32(3))
	check("affinity policy", *zone.NodeAffinityPolicy, corev1.NodeInclusionPolicyIgnore)
	check("taints policy", *zone.NodeTaintsPolicy, corev1.NodeInclusionPolicyHonor)
	check("match", strings.Join(zone.MatchLabelKeys, " "), "rev k")
	check("all", metav1.FormatLabelSelector(zone.LabelSelector), "<none>") // which is how it prints {}
	check("nil", host.LabelSelector == nil, true)
	check("hard", host.WhenUnsatisfiable, corev1.DoNotSchedule)
	apart := spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
	check("apart", metav1.FormatLabelSelector(apart.LabelSelector), "app=db,tier notin (x,y)")
	near := spec.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0]
	check("weight", near.Weight, int32(50))
	check("together", metav1.FormatLabelSelector(near.PodAffinityTerm.LabelSelector), "k")
	check("namespaces", strings.Join(near.PodAffinityTerm.Namespaces, " "), "a b")
	check("namespace selector", metav1.FormatLabelSelector(near.PodAffinityTerm.NamespaceSelector), "team=x")
	check("mismatch", strings.Join(near.PodAffinityTerm.MismatchLabelKeys, " "), "rev")
}

func TestParseBuildsStorageAndSupply(t *testing.T) {
	s, err := Parse(`# Prose.
type small cpu=2 zones=a,b price=0.10 reservations=b/cr-1=0.02:3 attach=d=5 committed=a/sp=0.01:0.07,b/ri=0
commitment sp perhour=0.5
commitment ri instances=2
pool default types=small preferences=ignore
node n1 cpu=2 attach=d=2
class gp3 topologies="zone In [a] | zone In [b]"
volume pv-1 affinity="zone In [a]"
claims 2 data class=gp3 volume=pv-*
claims 1 lost class=- lost
pods 2 web claims=data-* ephemeral=- priority=7 gang=g
demand 5 more names=x,y cpu=1
buffer 2 room
gang g min=2
defaults spread=zone:3:soft
service web selects=app=web
owner ReplicaSet/rs selects=app=web
namespace other labels=team=x
solve preferences=cap:0.5 reserved=strict pools=p show=order
`)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	p := s.Problem
	pool := p.Pools[0]
	reserved := pool.InstanceTypes[0].Offerings[2]
	check("reservation", reserved.Zone+"/"+reserved.Reservation+" "+reserved.Price.String(), "b/cr-1 0.02")
	check("count of the reservation", reserved.Count, int32(3))
	check("draw of the savings plan", pool.InstanceTypes[0].Offerings[3].Draw.String(), "0.07")
	check("price of the reserved instance", pool.InstanceTypes[0].Offerings[4].Price.String()+" "+pool.InstanceTypes[0].Offerings[4].Draw.String(), "0 unknown")
	check("commitments", fmt.Sprint(p.Commitments), "[{sp 0 0.5} {ri 2 unknown}]")
	check("limit of the type", pool.InstanceTypes[0].Capacity.Name(scheduling.AttachLimit("d"), "").Value(), int64(5))
	check("preferences of the pool", *pool.Preferences, scheduling.PreferencesIgnore)
	check("claim of the second pod", p.Pods[1].Spec.Volumes[0].PersistentVolumeClaim.ClaimName, "data-2")
	check("volume of the second claim", p.Storage.Claims[1].Spec.VolumeName, "pv-2")
	check("bound", p.Storage.Claims[1].Status.Phase, corev1.ClaimBound)
	check("no class", *p.Storage.Claims[2].Spec.StorageClassName, "")
	check("lost", p.Storage.Claims[2].Status.Phase, corev1.ClaimLost)
	check("ephemeral of the default class", p.Pods[0].Spec.Volumes[1].Ephemeral.VolumeClaimTemplate.Spec.StorageClassName == nil, true)
	check("topologies", len(p.Storage.Classes[0].AllowedTopologies), 2)
	check("limit of the node", *p.Storage.CSINodes[0].Spec.Drivers[0].Allocatable.Count, int32(2))
	check("gang", *p.Pods[0].Spec.SchedulingGroup.PodGroupName, "g")
	check("priority", *p.Pods[0].Spec.Priority, int32(7))
	check("names", strings.Join(p.Demands[0].Names, " "), "x y")
	check("buffer", p.Demands[1].Buffer, true)
	check("minCount", p.Gangs[0].MinCount, int32(2))
	check("default", p.DefaultSpread.Constraints[0].LabelSelector == nil, true)
	check("service", p.DefaultSpread.Services[0].Spec.Selector["app"], "web")
	check("owner", p.DefaultSpread.Owners[0].Name, "rs")
	check("namespace", p.Namespaces["other"]["team"], "x")
	check("cap", s.Options.PreferenceCap.String(), "0.5")
	check("reserved", s.Options.Reserved, scheduling.ReservedStrict)
	check("order", s.Render(&scheduling.Document{BindOrder: []string{"default/a", "b/c"}}),
		"unknown per hour, 0 nodes, 0 pods placed, 0 left over\nbind: a, b/c\n")
}

func TestRenderIsShort(t *testing.T) {
	price := scheduling.PriceFromNano(100_000_000)
	launch := scheduling.LaunchDocument{
		Pool: "default", InstanceType: "small", Zone: "a", CapacityType: "on-demand", Price: price,
		Pods: []string{"default/web-1", "default/web-2", "other/db"},
		Alternatives: []scheduling.AlternativeDocument{
			{InstanceType: "small", Zone: "a", CapacityType: "on-demand", Price: price},
			{InstanceType: "small", Zone: "b", CapacityType: "on-demand", Price: price},
			{InstanceType: "large", Zone: "a", CapacityType: "spot", Price: price},
		},
		AlternativeCount: 5,
		Labels:           map[string]string{corev1.LabelArchStable: "amd64", "team": "x"},
	}
	d := &scheduling.Document{
		Launches:   []scheduling.LaunchDocument{launch, launch},
		Placements: []scheduling.PlacementDocument{{Pod: "default/old-1", Node: "n1"}, {Pod: "default/old-2", Node: "n1"}},
		Unplaced: []scheduling.UnplacedDocument{{Pod: "default/big", Reason: scheduling.ReasonDocument{
			Code: scheduling.CodeResource, Message: "too large",
			Nearest: scheduling.Nearest{Pool: "default", Type: "large", Resource: "cpu", Wanted: 9000, Available: 4000},
			Change:  scheduling.Change{Kind: scheduling.ChangeRequest, Resource: "cpu", Amount: 4000},
		}}},
		Totals: scheduling.Totals{Price: scheduling.PriceFromNano(200_000_000), Nodes: 2, Pods: 8, Unplaced: 1},
	}
	want := `2 x default/small a on-demand 0.1: other/db, web x2
    or small b, large spot, (5 offerings in all)
    labels team=x
on n1: old x2
left over: big: TooLarge: too large
    nearest: pool default, type large, cpu 9000 of 4000
    change: LowerRequest, cpu to 4000
0.2 per hour, 2 nodes, 8 pods placed, 1 left over
`
	if got := Render(d); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
