package main

import (
	"context"
	"io"
	"maps"
	"math"
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

// input is the same problem in both forms.
type input struct {
	pods  []*corev1.Pod
	types []*cloudprovider.InstanceType
	ours  *scheduling.Problem
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
	return in
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
	return in, nil
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
		err = measure(&s, func() (err error) {
			results, err = scheduler.Solve(ctx, in.pods)
			return err
		})
		s.nodes, s.unplaced = len(results.NewNodeClaims), len(results.PodErrors)
		for _, n := range results.NewNodeClaims {
			s.price += cheapest(n)
		}
		return s, err
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
	opt := peer.NumConcurrentReconciles(workers)
	topology, err := peer.NewTopology(ctx, client, cluster, nil, pools, types, in.pods, opt)
	if err != nil {
		return nil, err
	}
	return peer.NewScheduler(ctx, client, pools, cluster, nil, topology, types, nil,
		events.NewRecorder(&record.FakeRecorder{}), wall, nil, nil, opt), nil
}

// cheapest returns the price of the cheapest offering left to a node; the peer's cloud provider would get no
// better one.
func cheapest(n *peer.NodeClaim) float64 {
	best := math.Inf(1)
	for _, it := range n.InstanceTypeOptions {
		for _, o := range it.Offerings.Available().Compatible(n.Requirements) {
			best = min(best, o.Price)
		}
	}
	return best
}
