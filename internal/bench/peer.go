package main

import (
	"context"
	"io"
	"maps"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	fakeclient "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	peer "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/logging"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/test"

	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

// input is the same problem in both forms; types have the same indexes in both.
type input struct {
	pods              []*corev1.Pod
	types             []*cloudprovider.InstanceType
	ours              *scheduling.Problem
	typeIndex         map[string]int32
	ignorePreferences bool
}

// finish notes the types' indexes.
func (in *input) finish() *input {
	in.typeIndex = make(map[string]int32, len(in.types))
	for i, it := range in.types {
		in.typeIndex[it.Name] = int32(i)
	}
	return in
}

// poolLimits are those of the peer's own benchmark: there, but out of reach. The peer charges a new node with the
// largest of the types it may become, so that a real catalogue needs them a hundred times as high.
func poolLimits(real bool) corev1.ResourceList {
	if real {
		return corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("1000000000"),
			corev1.ResourceMemory: resource.MustParse("1000000000Gi"),
		}
	}
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("10000000"),
		corev1.ResourceMemory: resource.MustParse("10000000Gi"),
	}
}

// fakeInput offers types that the peer's own tests make up: cpu and memory in one proportion, prices
// proportional to both.
func fakeInput(pods []*corev1.Pod, types int) *input {
	in := &input{pods: pods, types: fake.InstanceTypes(types)}
	pool := scheduling.Pool{Name: "default", Limits: poolLimits(false)}
	for _, it := range in.types {
		pool.InstanceTypes = append(pool.InstanceTypes, convertType(it))
	}
	in.ours = &scheduling.Problem{Pods: pods, Pools: []scheduling.Pool{pool}}
	in.ours.Labels.WellKnown = append(scheduling.KubernetesLabels(),
		fake.LabelInstanceSize, fake.ExoticInstanceLabelKey, fake.IntegerInstanceLabelKey)
	return in.finish()
}

// regionInput offers the amd64 types of a region, on-demand; if small, only those that smallTypes keeps.
func regionInput(pods []*corev1.Pod, region string, small bool) (*input, error) {
	known, err := catalog.Embedded()
	if err != nil {
		return nil, err
	}
	filter := catalog.Filter{Arch: []string{"amd64"}, CapacityTypes: []string{catalog.OnDemand}}
	types, origin, err := known.InstanceTypes(region, filter, instancetype.Settings{})
	if err != nil {
		return nil, err
	}
	pool := scheduling.Pool{Name: "default", Limits: poolLimits(true)}
	if small {
		var zones []string
		types, zones = smallTypes(types)
		pool.Requirements = []scheduling.Requirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: zones}}
	}
	pool.InstanceTypes = types
	in := &input{pods: pods, ours: &scheduling.Problem{Pods: pods, Catalog: origin, Pools: []scheduling.Pool{pool}}}
	for _, it := range types {
		in.types = append(in.types, peerType(it))
		// A provider registers its labels with the peer, which keeps them in a variable.
		for _, r := range it.Requirements {
			v1.WellKnownLabels.Insert(r.Key)
		}
		for _, o := range it.Offerings {
			v1.WellKnownLabels.Insert(slices.Collect(maps.Keys(o.Labels))...)
		}
	}
	return in.finish(), nil
}

// smallTypes keeps what many clusters allow: general, compute and memory types from generation 3 on of at most 32
// cpus. The zones are the first three of the region.
func smallTypes(types []*scheduling.InstanceType) (kept []*scheduling.InstanceType, firstZones []string) {
	family := regexp.MustCompile(`^[cmr]([3-9]|[1-9][0-9])[a-z-]*\.`)
	zones := map[string]bool{}
	for _, it := range types {
		if family.MatchString(it.Name) && it.Capacity.Cpu().Value() <= 32 {
			kept = append(kept, it)
		}
		for _, o := range it.Offerings {
			zones[o.Zone] = true
		}
	}
	firstZones = slices.Sorted(maps.Keys(zones))
	return kept, firstZones[:min(3, len(firstZones))]
}

func silencePeer() {
	log.SetLogger(logging.NopLogger)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
}

// peerWith returns a run of the peer's scheduler with the given number of workers.
func peerWith(workers int) func(context.Context, *input) (sample, error) {
	return func(ctx context.Context, in *input) (sample, error) {
		ctx = options.ToContext(injection.WithControllerName(ctx, "provisioner"), test.Options())
		scheduler, err := newPeer(ctx, in, workers)
		if err != nil {
			return sample{}, err
		}
		var s sample
		var results peer.Results
		pods := slices.Clone(in.pods) // the peer sorts them in place
		err = measure(&s, func() (err error) {
			results, err = scheduler.Solve(ctx, pods)
			return err
		})
		if err != nil {
			return s, err
		}
		s.nodes, s.unplaced = len(results.NewNodeClaims), len(results.PodErrors)
		plan, err := peerPlan(in, &results)
		if err != nil {
			return s, err
		}
		s.price = float64(plan.Totals.Price.Nano()) / 1e9
		s.fault = scheduling.Verify(in.ours, plan)
		return s, nil
	}
}

// newPeer sets the scheduler up as the peer's own benchmark does (setupScheduler in
// scheduling_benchmark_test.go, v1.14.1).
func newPeer(ctx context.Context, in *input, workers int) (*peer.Scheduler, error) {
	pool := test.NodePool(v1.NodePool{Spec: v1.NodePoolSpec{Limits: v1.Limits(in.ours.Pools[0].Limits)}})
	for _, r := range in.ours.Pools[0].Requirements {
		pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements,
			v1.NodeSelectorRequirementWithMinValues{Key: r.Key, Operator: r.Operator, Values: r.Values})
	}
	pools := []*v1.NodePool{pool}
	types := map[string][]*cloudprovider.InstanceType{pool.Name: in.types}
	provider := fake.NewCloudProvider()
	provider.InstanceTypes = in.types
	client := fakeclient.NewClientBuilder().Build()
	wall := &clock.RealClock{}
	cluster := state.NewCluster(wall, client, provider)
	opts := []peer.Options{peer.NumConcurrentReconciles(workers)}
	if in.ignorePreferences {
		opts = append(opts, peer.IgnorePreferences)
	}
	topology, err := peer.NewTopology(ctx, client, cluster, nil, pools, types, in.pods, opts...)
	if err != nil {
		return nil, err
	}
	return peer.NewScheduler(ctx, client, pools, cluster, nil, topology, types, nil,
		events.NewRecorder(&record.FakeRecorder{}), wall, nil, nil, opts...), nil
}
