package main

import (
	"fmt"
	"maps"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

const (
	region = "us-east-1"
	// unit is what the requests of all pods are multiples of: 250 millicores, with 768 MiB.
	unitCPU, unitMemory = 250, 768 << 20
	daemonCPU           = 100
	deployments         = 100
	// hostSkew is the maxSkew of spreads over hostnames.
	hostSkew = 2
)

var zones = []string{"us-east-1a", "us-east-1b", "us-east-1c"}

// nodePattern repeats over the nodes: a type and how many pods are on it, a DaemonSet's included. Six nodes have 90 pods;
// the nodes after the last whole pattern have the first type, so that every cluster has 15 pods a node.
var nodePattern = []struct {
	typ  string
	pods int
}{
	{"m7i.4xlarge", 15}, {"m7i.2xlarge", 8}, {"m6i.4xlarge", 15}, {"m7i.2xlarge", 8}, {"m7a.4xlarge", 15}, {"m7i.8xlarge", 29},
}

// sizes are what pods ask for, in units.
var sizes = []int{1, 2, 4, 8}

// deployment is what its pods have in common.
type deployment struct {
	name string
	size int
	// overZones and overHosts are spreads.
	overZones, overHosts bool
	// zone counts its pods in each zone.
	zone [3]int
}

// builder makes a cluster.
type builder struct {
	rng   *rand.Rand
	types map[string]*scheduling.InstanceType
	apps  []*deployment
	pods  int
}

// cluster makes a running cluster with nothing to be placed. If full, no node has room for the smallest pod, so that
// whatever leaves a node needs a launch; else three fifths of every node's cpu are requested. Equal arguments
// give equal clusters, in which every spread holds.
func cluster(nodes int, full bool, seed uint64) (*scheduling.Problem, error) {
	known, err := catalog.Embedded()
	if err != nil {
		return nil, err
	}
	filter := catalog.Filter{Arch: []string{"amd64"}, CapacityTypes: []string{catalog.OnDemand}}
	all, origin, err := known.InstanceTypes(region, filter, instancetype.Settings{})
	if err != nil {
		return nil, err
	}
	b := builder{rng: rand.New(rand.NewPCG(seed, 0)), types: map[string]*scheduling.InstanceType{}, apps: apps()}
	for _, it := range all {
		b.types[it.Name] = it
	}
	p := &scheduling.Problem{
		Pools: []scheduling.Pool{{
			Name: "default", InstanceTypes: all,
			Requirements: []scheduling.Requirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: zones}},
		}},
		DaemonSets: []*corev1.Pod{daemon("")},
		Catalog:    origin,
	}
	for i := range nodes {
		n, err := b.node(i, nodes, full)
		if err != nil {
			return nil, err
		}
		p.Nodes = append(p.Nodes, n)
	}
	return p, nil
}

// apps are equally many of each size; three of ten spread over zones, two over hostnames.
func apps() []*deployment {
	out := make([]*deployment, deployments)
	for i := range out {
		kind := i / len(sizes) % 10
		out[i] = &deployment{
			name: fmt.Sprintf("app-%03d", i), size: sizes[i%len(sizes)], overZones: kind < 3, overHosts: kind == 3 || kind == 4,
		}
	}
	return out
}

func (b *builder) node(i, nodes int, full bool) (scheduling.Node, error) {
	kind := nodePattern[0]
	if round := len(nodePattern); i < nodes/round*round {
		kind = nodePattern[i%round]
	}
	it := b.types[kind.typ]
	if it == nil {
		return scheduling.Node{}, fmt.Errorf("the catalogue has no type %s", kind.typ)
	}
	zone := (i + i/len(nodePattern)) % len(zones) // no size of node keeps to one zone
	n := scheduling.Node{
		Name: fmt.Sprintf("node-%05d", i), Pool: "default", Capacity: it.Capacity, Allocatable: allocatable(it),
	}
	n.Labels = labels(it, zones[zone], n.Name)
	units := (n.Allocatable.Cpu().MilliValue() - daemonCPU) / unitCPU
	if !full {
		units = units * 3 / 5
	}
	here := map[*deployment]int{}
	for _, size := range b.mixture(kind.pods-1, int(units)) {
		app := b.choose(size, zone, here)
		here[app]++
		app.zone[zone]++
		n.Pods = append(n.Pods, b.pod(app, n.Name))
	}
	d := daemon("-" + n.Name)
	d.Spec.NodeName = n.Name
	n.Pods = append(n.Pods, d)
	return n, nil
}

// mixture draws count sizes that sum up to units.
func (b *builder) mixture(count, units int) []int {
	drawn, sum := make([]int, count), 0
	for i := range drawn {
		drawn[i] = b.rng.IntN(len(sizes))
		sum += sizes[drawn[i]]
	}
	for sum != units {
		i := b.rng.IntN(count)
		next := drawn[i] + 1
		if sum > units {
			next = drawn[i] - 1
		}
		if next >= 0 && next < len(sizes) {
			sum += sizes[next] - sizes[drawn[i]]
			drawn[i] = next
		}
	}
	out := make([]int, count)
	for i, d := range drawn {
		out[i] = sizes[d]
	}
	return out
}

// choose returns a deployment of the size that allows one more pod in the zone and on the node.
func (b *builder) choose(size, zone int, here map[*deployment]int) *deployment {
	first := b.rng.IntN(len(b.apps))
	for k := range b.apps {
		app := b.apps[(first+k)%len(b.apps)]
		fits := app.size == size
		fits = fits && (!app.overZones || app.zone[zone] == min(app.zone[0], app.zone[1], app.zone[2]))
		if fits && (!app.overHosts || here[app] < hostSkew) {
			return app
		}
	}
	panic("no deployment of the size is free of constraints")
}

func (b *builder) pod(app *deployment, node string) *corev1.Pod {
	b.pods++
	own := map[string]string{"app": app.name}
	p := newPod(fmt.Sprintf("%s-%06d", app.name, b.pods), app.name, "ReplicaSet", int64(app.size*unitCPU), int64(app.size*unitMemory))
	p.Namespace = "default"
	p.Spec.NodeName = node
	spread := func(key string, skew int32) {
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: skew, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: maps.Clone(own)},
		})
	}
	if app.overZones {
		spread(corev1.LabelTopologyZone, 1)
	}
	if app.overHosts {
		spread(corev1.LabelHostname, hostSkew)
	}
	return p
}

// daemon is the DaemonSet's template or, with a suffix, one of its pods.
func daemon(suffix string) *corev1.Pod {
	p := newPod("node-agent"+suffix, "node-agent", "DaemonSet", daemonCPU, 128<<20)
	p.Namespace = "kube-system"
	p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	return p
}

func newPod(name, app, owner string, cpu, memory int64) *corev1.Pod {
	yes := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name), Labels: map[string]string{"app": app},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: owner, Name: app, Controller: &yes}},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "registry.example.com/main:1",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewMilliQuantity(cpu, resource.DecimalSI),
				corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
			}},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

func allocatable(it *scheduling.InstanceType) corev1.ResourceList {
	out := it.Capacity.DeepCopy()
	for name, q := range it.Overhead {
		if have, ok := out[name]; ok {
			have.Sub(q)
			out[name] = have
		}
	}
	return out
}

// labels are those of a node of the type, bought on-demand in the zone.
func labels(it *scheduling.InstanceType, zone, host string) map[string]string {
	out := map[string]string{}
	for _, r := range it.Requirements {
		if r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			out[r.Key] = r.Values[0]
		}
	}
	for _, o := range it.Offerings {
		if o.Zone == zone {
			maps.Copy(out, o.Labels)
		}
	}
	out[corev1.LabelTopologyZone] = zone
	out[corev1.LabelHostname] = host
	out[corev1.LabelInstanceTypeStable] = it.Name
	out[scheduling.CapacityTypeLabel] = catalog.OnDemand
	out[scheduling.PoolLabel] = "default"
	return out
}
