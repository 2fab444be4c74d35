package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// mixes are the kinds of pods that can be asked for; each maker finishes a pod that has a name already.
var mixes = map[string]func(*rand.Rand, *corev1.Pod){
	"plain": plain,
}

func mixNames() []string { return slices.Sorted(maps.Keys(mixes)) }

func makePods(mix string, count int, seed uint64) ([]*corev1.Pod, error) {
	finish, ok := mixes[mix]
	if !ok {
		return nil, fmt.Errorf("no mix %q; there are %s", mix, strings.Join(mixNames(), ", "))
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	pods := make([]*corev1.Pod, count)
	for i := range pods {
		// Names come in no order, as they do from an API server. The peer keeps what it knows of a pod by UID.
		pods[i] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "default",
			Name:      fmt.Sprintf("pod-%08x-%05d", rng.Uint32(), i),
			UID:       types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i)),
		}}
		finish(rng, pods[i])
	}
	return pods, nil
}

// plain makes the "generic" pods of the peer's own benchmark (scheduling_benchmark_test.go, v1.14.1): sizes
// from two short lists, drawn per pod, and one label of seven values.
func plain(rng *rand.Rand, p *corev1.Pod) {
	p.Labels = map[string]string{"my-label": pick(rng, "a", "b", "c", "d", "e", "f", "g")}
	p.Spec.Containers = []corev1.Container{{
		Name:  "main",
		Image: "registry.example.com/main:1",
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse(pick(rng, "100m", "250m", "500m", "1000m", "1500m")),
			corev1.ResourceMemory: resource.MustParse(pick(rng, "100Mi", "256Mi", "512Mi", "1024Mi", "2048Mi", "4096Mi")),
		}},
	}}
}

func pick(rng *rand.Rand, from ...string) string { return from[rng.IntN(len(from))] }
