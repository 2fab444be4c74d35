package main

import (
	"context"
	"io"
	"maps"
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

// poolLimits are those of the peer's own benchmark: there, but out of reach.
func poolLimits() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("10000000"),
		corev1.ResourceMemory: resource.MustParse("10000000Gi"),
	}
}

// fakeInput offers types that the peer's own tests make up: cpu and memory in one proportion, prices
// proportional to both.
func fakeInput(pods []*corev1.Pod, types int) *input {
	in := &input{pods: pods, types: fake.InstanceTypes(types)}
	pool := scheduling.Pool{Name: "default", Limits: poolLimits()}
	for _, it := range in.types {
		pool.InstanceTypes = append(pool.InstanceTypes, convertType(it))
	}
	in.ours = &scheduling.Problem{Pods: pods, Pools: []scheduling.Pool{pool}}
	in.ours.Labels.WellKnown = append(scheduling.KubernetesLabels(),
		fake.LabelInstanceSize, fake.ExoticInstanceLabelKey, fake.IntegerInstanceLabelKey)
	return in.finish()
}

// regionInput offers the amd64 types of a region, on-demand.
func regionInput(pods []*corev1.Pod, region string) (*input, error) {
	known, err := catalog.Embedded()
	if err != nil {
		return nil, err
	}
	filter := catalog.Filter{Arch: []string{"amd64"}, CapacityTypes: []string{catalog.OnDemand}}
	types, origin, err := known.InstanceTypes(region, filter, instancetype.Settings{})
	if err != nil {
		return nil, err
	}
	in := &input{pods: pods, ours: &scheduling.Problem{
		Pods: pods, Catalog: origin,
		Pools: []scheduling.Pool{{Name: "default", Limits: poolLimits(), InstanceTypes: types}},
	}}
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
	pool := test.NodePool(v1.NodePool{Spec: v1.NodePoolSpec{Limits: v1.Limits(poolLimits())}})
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
