package workload

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// sizes are what the containers of a shared cluster ask for: millicores and MiB.
var sizes = [...][2]int64{
	{100, 128}, {100, 256}, {250, 256}, {250, 512}, {500, 512}, {500, 1024}, {1000, 1024}, {1000, 2048}, {1000, 4096}, {2000, 4096},
}

// Spread makes pods for benchmarks: Deployments of equally many pods, each spread over zones with a skew of at most
// one, with requests of ten kinds. Pods come in shuffled order, with the fields that the API server sets;
// no two share memory. Equal arguments give equal pods.
func Spread(pods, deployments int, seed uint64) []*corev1.Pod {
	rng := rand.New(rand.NewPCG(seed, 0))
	templates := make([]*corev1.Pod, max(deployments, 1))
	for i := range templates {
		size := sizes[rng.IntN(len(sizes))]
		p := replica(rng, fmt.Sprintf("svc-%05d", i), corev1.ResourceList{
			corev1.ResourceCPU: millis(size[0]), corev1.ResourceMemory: mebibytes(size[1]),
		}, false)
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
			spreadOver(corev1.LabelTopologyZone, 1, map[string]string{"app": p.Labels["app"]}),
		}
		templates[i] = p
	}
	out := make([]*corev1.Pod, pods)
	for i := range out {
		out[i] = instance(rng, templates[i%len(templates)], i)
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// replica is what the pods of a Deployment look like to the API server.
func replica(rng *rand.Rand, app string, requests corev1.ResourceList, guaranteed bool) *corev1.Pod {
	hash := fmt.Sprintf("%010x", rng.Uint64()>>24)
	p := newPod("default", map[string]string{"app": app, "pod-template-hash": hash}, requests, guaranteed)
	p.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	p.OwnerReferences = owners("Deployment", app+"-"+hash)
	p.OwnerReferences[0].UID = uid(rng)
	return p
}

// instance is the n-th pod of all, with a name and memory of its own.
func instance(rng *rand.Rand, template *corev1.Pod, n int) *corev1.Pod {
	p := template.DeepCopy()
	p.GenerateName = p.OwnerReferences[0].Name + "-"
	p.Name = p.GenerateName + suffix(rng.Uint64()) + suffix(uint64(n))
	p.UID = uid(rng)
	return p
}
