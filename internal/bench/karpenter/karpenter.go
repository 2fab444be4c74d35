package karpenter

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
	"sigs.k8s.io/karpenter/pkg/utils/nodepool"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Input is one problem in both forms.
type Input struct {
	// Problem is what scheduling.Solve gets.
	Problem *scheduling.Problem
	// IgnorePreferences tells the peer to.
	IgnorePreferences bool
	pods              []*corev1.Pod
	// types and typeIndex are by pool of the problem; types have the same indexes in both forms.
	types     [][]*cloudprovider.InstanceType
	typeIndex []map[string]int32
	poolIndex map[string]int32
}

// NewInput converts the problem's types. The peer keeps the labels that it takes for well-known in a variable; those of
// the types are added there, as a cloud provider does.
func NewInput(p *scheduling.Problem) *Input {
	in := &Input{Problem: p}
	converted := map[*scheduling.InstanceType]*cloudprovider.InstanceType{}
	for i := range p.Pools {
		var list []*cloudprovider.InstanceType
		for _, it := range p.Pools[i].InstanceTypes {
			if converted[it] == nil {
				converted[it] = peerType(it)
				for _, r := range it.Requirements {
					v1.WellKnownLabels.Insert(r.Key)
				}
				for _, o := range it.Offerings {
					v1.WellKnownLabels.Insert(slices.Collect(maps.Keys(o.Labels))...)
				}
			}
			list = append(list, converted[it])
		}
		in.types = append(in.types, list)
	}
	return in.finish()
}

// MadeUp offers types that the peer's own tests make up in one pool: cpu and memory in one proportion, prices
// proportional to both.
func MadeUp(pods []*corev1.Pod, types int, limits corev1.ResourceList) *Input {
	made := fake.InstanceTypes(types)
	pool := scheduling.Pool{Name: "default", Limits: limits}
	for _, it := range made {
		pool.InstanceTypes = append(pool.InstanceTypes, ourType(it))
	}
	in := &Input{
		Problem: &scheduling.Problem{Pods: pods, Pools: []scheduling.Pool{pool}},
		types:   [][]*cloudprovider.InstanceType{made},
	}
	in.Problem.Labels.WellKnown = append(scheduling.KubernetesLabels(),
		fake.LabelInstanceSize, fake.ExoticInstanceLabelKey, fake.IntegerInstanceLabelKey)
	return in.finish()
}

// finish notes indexes and gives the peer pods that it can tell apart: it knows them by UID, and may write to them.
func (in *Input) finish() *Input {
	in.poolIndex = map[string]int32{}
	for i, list := range in.types {
		in.poolIndex[in.Problem.Pools[i].Name] = int32(i)
		index := make(map[string]int32, len(list))
		for j, it := range list {
			index[it.Name] = int32(j)
		}
		in.typeIndex = append(in.typeIndex, index)
	}
	in.pods = make([]*corev1.Pod, len(in.Problem.Pods))
	for i, p := range in.Problem.Pods {
		if p.UID == "" {
			p = p.DeepCopy()
			p.UID = types.UID(fmt.Sprintf("%08x-0000-4000-8000-000000000000", i))
		}
		in.pods[i] = p
	}
	return in
}

// Silence turns off what the peer logs.
func Silence() {
	log.SetLogger(logging.NopLogger)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
}

// Scheduler is the peer's scheduler, set up for one run.
type Scheduler struct {
	in        *Input
	scheduler *peer.Scheduler
	pods      []*corev1.Pod
	results   peer.Results
}

// NewScheduler sets a scheduler up as the peer's own benchmark does (setupScheduler in
// scheduling_benchmark_test.go, v1.14.1).
func NewScheduler(ctx context.Context, in *Input, workers int) (*Scheduler, error) {
	ctx = withOptions(ctx)
	var pools []*v1.NodePool
	offered := map[string][]*cloudprovider.InstanceType{}
	for i := range in.Problem.Pools {
		pool := nodePool(&in.Problem.Pools[i])
		pools = append(pools, pool)
		offered[pool.Name] = in.types[i]
	}
	nodepool.OrderByWeight(pools)
	var daemons []*corev1.Pod
	for _, d := range in.Problem.DaemonSets {
		daemons = append(daemons, d.DeepCopy())
	}
	provider := fake.NewCloudProvider()
	provider.InstanceTypes = slices.Concat(in.types...)
	client := fakeclient.NewClientBuilder().Build()
	wall := &clock.RealClock{}
	cluster := state.NewCluster(wall, client, provider)
	opts := []peer.Options{peer.NumConcurrentReconciles(workers)}
	if in.IgnorePreferences {
		opts = append(opts, peer.IgnorePreferences)
	}
	topology, err := peer.NewTopology(ctx, client, cluster, nil, pools, offered, in.pods, opts...)
	if err != nil {
		return nil, err
	}
	return &Scheduler{
		in: in,
		scheduler: peer.NewScheduler(ctx, client, pools, cluster, nil, topology, offered, daemons,
			events.NewRecorder(&record.FakeRecorder{}), wall, nil, nil, opts...),
		pods: slices.Clone(in.pods), // the peer sorts them in place
	}, nil
}

// Solve runs the peer. It stops with the context's error when that is over.
func (s *Scheduler) Solve(ctx context.Context) (err error) {
	s.results, err = s.scheduler.Solve(withOptions(ctx), s.pods)
	return err
}

func withOptions(ctx context.Context) context.Context {
	return options.ToContext(injection.WithControllerName(ctx, "provisioner"), test.Options())
}

// nodePool is a pool in the peer's words.
func nodePool(p *scheduling.Pool) *v1.NodePool {
	pool := test.NodePool(v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: p.Name}})
	pool.Spec.Limits = v1.Limits(p.Limits)
	if p.Weight > 0 {
		pool.Spec.Weight = &p.Weight
	}
	pool.Spec.Template.Labels = maps.Clone(p.Labels)
	pool.Spec.Template.Spec.Taints = p.Taints
	pool.Spec.Template.Spec.StartupTaints = p.StartupTaints
	pool.Spec.Template.Spec.Requirements = nil
	for _, r := range p.Requirements {
		pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements,
			v1.NodeSelectorRequirementWithMinValues{Key: r.Key, Operator: r.Operator, Values: r.Values, MinValues: r.MinValues})
	}
	return pool
}
