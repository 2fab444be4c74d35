package workload

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
)

// Plain makes pods for benchmarks: the given number in as many shapes, each shape one Deployment with requests of
// its own, in shuffled order. A pod has one container, requests, two labels, an owner and a UID, as the API
// server would give it, and nothing that constrains where it runs. Unlike what Read returns, no two
// pods share memory. Equal arguments give equal pods.
func Plain(pods, shapes int, seed uint64) []*corev1.Pod {
	rng := rand.New(rand.NewPCG(seed, 0))
	templates := make([]*corev1.Pod, max(shapes, 1))
	for i := range templates {
		templates[i] = plainShape(rng, i)
	}
	out := make([]*corev1.Pod, pods)
	for i := range out {
		// Every shape has a pod; beyond that, popular shapes have many.
		n := i
		if i >= len(templates) {
			n = min(rng.IntN(len(templates)), rng.IntN(len(templates)))
		}
		out[i] = instance(rng, templates[n], i)
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// plainShape draws between 50m and 4 cpus at 1 to 8 GiB each; so many KiB more as the shape's number says
// make the requests of the first thousand shapes unique.
func plainShape(rng *rand.Rand, shape int) *corev1.Pod {
	cpu := []int64{50, 100, 200, 250, 500, 750, 1000, 1500, 2000, 4000}[rng.IntN(10)]
	memory := max(64, cpu*(1+rng.Int64N(8)))<<20 + int64(shape)<<10
	return replica(rng, fmt.Sprintf("app-%03d", shape), corev1.ResourceList{
		corev1.ResourceCPU: millis(cpu), corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
	}, false)
}

// suffix spells the low bits of n in letters of generated names, which keep clear of vowels.
func suffix(n uint64) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	var s [5]byte
	for i := range s {
		s[len(s)-1-i] = letters[n%uint64(len(letters))]
		n /= uint64(len(letters))
	}
	return string(s[:])
}

func uid(rng *rand.Rand) types.UID {
	a, b := rng.Uint64(), rng.Uint64()
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&0xffffffffffff))
}
