package main

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetwright/fleetwright/internal/workload"
)

// mix is a kind of pods, and how both schedulers are asked to treat them.
type mix struct {
	// count is how many pods there are if nobody says.
	count int
	// ignorePreferences is an option of both schedulers.
	ignorePreferences bool
	// promised is the least ratio of the peer's time to ours on the row of that name; 0: none.
	promised float64
	row      string
	make     func(d *dice, count int) []*corev1.Pod
}

// mixes but microservices are those of the peer's own benchmark (scheduling_benchmark_test.go, v1.14.1): the same
// draws of the same generator in the same order, so that with seed 42 sizes, labels and selectors are those of its
// BenchmarkScheduling5000 (diverse) and BenchmarkRespectPreferences run alone. Names and UIDs are random
// there; here they come from the seed too.
var mixes = map[string]mix{
	"plain":               {count: 5000, promised: 300, row: "plain", make: (*dice).plain},
	"diverse":             {count: 5000, promised: 500, row: "diverse", make: (*dice).diverse},
	"preferences":         {count: 4000, make: (*dice).preferences},
	"preferences-ignored": {count: 4000, make: (*dice).preferences, ignorePreferences: true},
	"microservices":       {count: 5000, promised: 2000, row: "microservices@us-east-1:small", make: microservices},
}

func mixNames() []string { return slices.Sorted(maps.Keys(mixes)) }

// makePods makes count pods of a mix, the mix's own number if count is 0.
func makePods(name string, count int, seed int64) ([]*corev1.Pod, error) {
	m, ok := mixes[name]
	if !ok {
		return nil, fmt.Errorf("no mix %q; there are %s", name, strings.Join(mixNames(), ", "))
	}
	if count == 0 {
		count = m.count
	}
	pods := m.make(&dice{Rand: rand.New(rand.NewSource(seed)), seed: seed}, count)
	ids := rand.New(rand.NewSource(^seed))
	for i, p := range pods {
		// Names come in no order, as they do from an API server. The peer orders equal pods by UID.
		p.Namespace = "default"
		p.Name = fmt.Sprintf("pod-%08x-%05d", ids.Uint32(), i)
		p.UID = types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", ids.Uint32(), i))
	}
	return pods, nil
}

// dice draws what the peer's benchmark draws.
type dice struct {
	*rand.Rand
	seed int64
}

func (d *dice) diverse(count int) []*corev1.Pod {
	fifth := count / 5
	pods := d.plain(fifth)
	pods = append(pods, d.spread(fifth, corev1.LabelTopologyZone)...)
	pods = append(pods, d.spread(fifth, corev1.LabelHostname)...)
	pods = append(pods, d.affinity(fifth, corev1.LabelTopologyZone)...)
	pods = append(pods, d.antiAffinity(fifth, corev1.LabelHostname)...)
	return append(pods, d.plain(count-len(pods))...)
}

func (d *dice) plain(count int) []*corev1.Pod {
	pods := make([]*corev1.Pod, count)
	for i := range pods {
		pods[i] = d.pod(d.label("my-label"))
	}
	return pods
}

// spread makes pods that spread the pods of a label which need not be their own.
func (d *dice) spread(count int, key string) []*corev1.Pod {
	pods := make([]*corev1.Pod, count)
	for i := range pods {
		labels, counted := d.label("my-label"), d.label("my-label")
		pods[i] = d.pod(labels)
		pods[i].Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: counted},
		}}
	}
	return pods
}

func (d *dice) affinity(count int, key string) []*corev1.Pod {
	pods := make([]*corev1.Pod, count)
	for i := range pods {
		labels := d.label("my-affininity") // spelt so there
		pods[i] = d.pod(labels)
		pods[i].Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term(key, labels)},
		}}
	}
	return pods
}

// antiAffinity makes pods of which no two can be together.
func (d *dice) antiAffinity(count int, key string) []*corev1.Pod {
	labels := map[string]string{"app": "nginx"}
	pods := make([]*corev1.Pod, count)
	for i := range pods {
		pods[i] = d.pod(maps.Clone(labels))
		pods[i].Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term(key, maps.Clone(labels))},
		}}
	}
	return pods
}

// preferences makes pods that are alike: they would like to be in one zone (which can be had), in zones without each
// other (which cannot) and on nodes without each other.
func (d *dice) preferences(count int) []*corev1.Pod {
	labels := map[string]string{"app": "nginx"}
	like := d.pod(labels)
	like.Spec.Affinity = &corev1.Affinity{
		NodeAffinity: &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{
				Weight: 1,
				Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"test-zone-1"},
				}}},
			}},
		},
		PodAntiAffinity: &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: 10, PodAffinityTerm: term(corev1.LabelTopologyZone, labels)},
				{Weight: 1, PodAffinityTerm: term(corev1.LabelHostname, labels)},
			},
		},
	}
	pods := make([]*corev1.Pod, count)
	for i := range pods {
		pods[i] = like.DeepCopy()
	}
	return pods
}

// microservices has a deployment for every five pods, each spread over zones.
func microservices(d *dice, count int) []*corev1.Pod {
	return workload.Spread(count, max(1, count/5), uint64(d.seed))
}

func (d *dice) pod(labels map[string]string) *corev1.Pod {
	cpu := pick(d, "100m", "250m", "500m", "1000m", "1500m")
	memory := pick(d, "100Mi", "256Mi", "512Mi", "1024Mi", "2048Mi", "4096Mi")
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name:  "main",
			Image: "registry.example.com/main:1",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
			}},
		}}},
	}
}

func (d *dice) label(key string) map[string]string {
	return map[string]string{key: pick(d, "a", "b", "c", "d", "e", "f", "g")}
}

func pick(d *dice, from ...string) string { return from[d.Intn(len(from))] }

func term(key string, labels map[string]string) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: maps.Clone(labels)}}
}
