package scheduling

import (
	"maps"
	"runtime"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// minChunk is the least number of pods worth a goroutine of its own.
const minChunk = 1024

// chunk is a part of the pods, read on its own.
type chunk struct {
	pods    []*corev1.Pod
	classOf []int32 // by pod: at first the chunk's own numbers
	reader  *podReader
	hasher  podHasher
	sum     hash128
	// selective is set where a pod has selectors that the reader did not know of.
	selective bool
	// fetched keeps the compiler from leaving fetch out.
	fetched int
}

// readPods sorts the pods into classes and hashes them for the digest, in one walk: fetching pods from
// memory is most of the work, so it is done once, and by several goroutines. The result does not
// depend on how many: each finds classes of its own, and those are merged by what they are.
func (c *compiler) readPods(r *podReader) error {
	for i := range c.p.Nodes {
		r.readSelectors(c.p.Nodes[i].Pods)
	}
	classOf := make([]int32, len(c.p.Pods))
	chunks := c.readChunks(r, classOf)
	if !r.anySelector && anySelective(chunks) {
		// Most problems have no selectors, and which labels matter is known only when all are.
		r.readSelectors(c.p.Pods)
		chunks = c.readChunks(r, classOf)
	}
	for i := range chunks {
		c.merge(r, &chunks[i])
	}
	c.fillClasses(classOf)
	return c.checkNames()
}

func anySelective(chunks []chunk) bool {
	for i := range chunks {
		if chunks[i].selective {
			return true
		}
	}
	return false
}

// readChunks reads the pods in as many chunks as there are processors.
func (c *compiler) readChunks(r *podReader, classOf []int32) []chunk {
	n := max(min(c.parallelism(), len(c.p.Pods)/minChunk), 1)
	chunks := make([]chunk, n)
	for i := range chunks {
		from, to := len(classOf)*i/n, len(classOf)*(i+1)/n
		chunks[i] = chunk{pods: c.p.Pods[from:to], classOf: classOf[from:to], reader: newPodReader(c.scratch())}
		chunks[i].reader.selectorKeys, chunks[i].reader.anySelector = r.selectorKeys, r.anySelector
	}
	var wg sync.WaitGroup
	for i := range chunks[1:] {
		wg.Go(chunks[i+1].read)
	}
	chunks[0].read()
	wg.Wait()
	return chunks
}

func (c *compiler) parallelism() int {
	if c.opts.Parallelism > 0 {
		return c.opts.Parallelism
	}
	return min(runtime.GOMAXPROCS(0), 8)
}

// scratch is a compiler that may number classes as it likes.
func (c *compiler) scratch() *compiler {
	return &compiler{p: c.p, opts: c.opts, rules: c.rules, atomIDs: map[string]int32{}, softTaints: c.softTaints, tied: c.tied, dims: newDims()}
}

func (k *chunk) read() {
	for i, p := range k.pods {
		if i%batch == 0 {
			k.fetched += fetch(k.pods[i:min(i+batch, len(k.pods))])
		}
		if !k.reader.anySelector && (len(p.Spec.TopologySpreadConstraints) > 0 || len(requiredAntiAffinity(p)) > 0) {
			k.selective = true
			return
		}
		k.classOf[i] = k.reader.read(p)
		k.sum.add(k.hasher.pod(p))
	}
}

// batch is how many pods are fetched ahead: enough to keep the memory busy, few enough for the
// first-level cache.
const batch = 16

// fetch reads a word of every cache line that reading the pods will need. Its loads do not wait for one
// another, so that the processor has many of them under way at once, where reading a pod is a chain.
func fetch(pods []*corev1.Pod) (n int) {
	for _, p := range pods {
		s := &p.Spec
		n += len(p.Name) + len(p.Namespace) + len(p.OwnerReferences) + len(s.InitContainers) + len(s.Containers) + len(s.NodeSelector) +
			len(s.Tolerations) + len(s.Overhead) + len(s.TopologySpreadConstraints) + len(s.ResourceClaims) + len(p.Status.Phase) +
			len(p.Status.ContainerStatuses) + len(p.Status.Resize)
		if s.Affinity != nil || s.HostNetwork || s.Priority != nil || s.Resources != nil || p.DeletionTimestamp != nil {
			n++
		}
	}
	for _, p := range pods {
		for i := range p.Spec.Containers {
			c := &p.Spec.Containers[i]
			n += len(c.Ports) + len(c.Resources.Requests) + len(c.Resources.Limits)
		}
		if len(p.Name) > 0 {
			n += int(p.Name[0])
		}
	}
	for _, p := range pods {
		for i := range p.Spec.Containers {
			if _, ok := p.Spec.Containers[i].Resources.Requests[corev1.ResourceCPU]; ok {
				n++
			}
		}
	}
	return n
}

// merge gives the chunk's classes their numbers in c.
func (c *compiler) merge(r *podReader, k *chunk) {
	ids := make([]int32, len(k.reader.c.classes))
	for i := range ids {
		ids[i] = r.read(k.reader.c.classes[i].pod)
	}
	for i, id := range k.classOf {
		k.classOf[i] = ids[id]
	}
	c.podSum.add(k.sum)
	if c.hasher.keys == nil {
		c.hasher.keys = k.hasher.keys
	} else {
		maps.Copy(c.hasher.keys, k.hasher.keys)
	}
}

// fillClasses lists the pods of each class, by name.
func (c *compiler) fillClasses(classOf []int32) {
	count := make([]int32, len(c.classes))
	for _, id := range classOf {
		count[id]++
	}
	all := make([]int32, len(classOf))
	start := int32(0)
	for id := range c.classes {
		c.classes[id].pods = all[start : start : start+count[id]]
		start += count[id]
	}
	for i, id := range classOf {
		c.classes[id].pods = append(c.classes[id].pods, int32(i))
	}
	first := map[string]bool{}
	for _, name := range c.opts.First {
		first[name] = true
	}
	for id := range c.classes {
		cl := &c.classes[id]
		sortByName(c.p.Pods, cl.pods)
		if len(first) > 0 {
			c.urgent(cl, first)
		}
	}
}
