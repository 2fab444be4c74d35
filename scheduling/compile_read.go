package scheduling

import (
	"maps"
	"runtime"
	"sync"
	"sync/atomic"

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
	// hashed is how many pods sum covers.
	hashed int
	// sorted is set while the pods come in the order of their names, each once.
	sorted bool
	// demands are those whose templates pods are; nil for a chunk of real pods.
	demands []Demand
	// fetched keeps the compiler from leaving fetch out.
	fetched int
}

// readPods sorts the pods into classes and hashes them for the digest, in one walk: fetching pods from
// memory is most of the work, so it is done once, and by several goroutines. The result does not
// depend on how many: each finds classes of its own, and those are merged by what they are.
func (c *compiler) readPods(r *podReader) error {
	for i := range c.p.Nodes {
		for _, p := range c.p.Nodes[i].Pods {
			r.keys.bound(p)
			if c.movable && movable(p) {
				r.spread, r.buf = p.Spec.TopologySpreadConstraints, r.buf[:0]
				r.between(p)
			}
		}
	}
	if c.defaults != nil {
		c.defaults.selectorKeys(&r.keys)
	}
	r.sample(c.p.Pods)
	classOf, ofDemand := make([]int32, len(c.p.Pods)), make([]int32, len(c.demands))
	chunks := c.readChunks(r, classOf, ofDemand)
	c.sorted = true
	some := 0
	for i := range chunks {
		some += len(chunks[i].reader.c.classes)
	}
	c.classes, r.byKey = make([]class, 0, some), make(map[string]int32, some)
	for i := range chunks {
		k := &chunks[i]
		c.merge(r, k)
		c.sorted = c.sorted && (k.demands != nil || k.sorted) &&
			(i == 0 || k.demands != nil || compareNames(chunks[i-1].pods[len(chunks[i-1].pods)-1], k.pods[0]) < 0)
	}
	c.fillClasses(classOf, ofDemand)
	return c.checkNames()
}

// sample looks for selectors at a few of the pods. Each label that a selector reads and that is found only later makes
// pods be read again.
func (r *podReader) sample(pods []*corev1.Pod) {
	for i := 0; i < len(pods); i += max(len(pods)/samples, 1) {
		r.spread, r.buf = pods[i].Spec.TopologySpreadConstraints, r.buf[:0]
		r.between(pods[i])
	}
	r.keys.grown = false
}

const samples = 256

// readChunks reads the pods in as many chunks as there are processors, and the templates of the demands in
// one of their own. Which labels matter is known only when all selectors have been seen, so a chunk that
// missed some of them is read again.
func (c *compiler) readChunks(r *podReader, classOf, ofDemand []int32) []chunk {
	n := max(min(c.parallelism(), len(c.p.Pods)/minChunk), 1)
	chunks := make([]chunk, n)
	for i := range chunks {
		from, to := len(classOf)*i/n, len(classOf)*(i+1)/n
		chunks[i] = chunk{pods: c.p.Pods[from:to], classOf: classOf[from:to], sorted: true}
	}
	if len(c.demands) > 0 {
		k := chunk{classOf: ofDemand, demands: c.demands}
		for i := range c.demands {
			k.pods = append(k.pods, c.demands[i].Template)
		}
		chunks = append(chunks, k)
	}
	all := func(chunks []*chunk) {
		var wg sync.WaitGroup
		for _, k := range chunks[1:] {
			wg.Go(k.read)
		}
		chunks[0].read()
		wg.Wait()
	}
	var todo []*chunk
	for i := range chunks {
		chunks[i].renew(c, &r.keys)
		todo = append(todo, &chunks[i])
	}
	all(todo)
	for i := range chunks {
		r.keys.add(&chunks[i].reader.keys)
	}
	todo = todo[:0]
	for i := range chunks {
		if k := &chunks[i].reader.keys; k.any != r.keys.any || len(k.labels) != len(r.keys.labels) {
			chunks[i].renew(c, &r.keys)
			todo = append(todo, &chunks[i])
		}
	}
	if len(todo) > 0 {
		all(todo)
	}
	r.anySelector = r.keys.any
	return chunks
}

// renew gives the chunk a reader that has read nothing.
func (k *chunk) renew(c *compiler, keys *readKeys) {
	k.reader = newPodReader(c.scratch())
	k.reader.draft = true
	// Pods come from templates, so most problems have far fewer classes than pods.
	k.reader.classes = make(map[string]int32, len(k.pods)/8)
	k.reader.c.classes = make([]class, 0, len(k.pods)/16)
	k.reader.keys, k.reader.anySelector = keys.copy(), keys.any
}

func (c *compiler) parallelism() int {
	if c.opts.Parallelism > 0 {
		return c.opts.Parallelism
	}
	return min(runtime.GOMAXPROCS(0), 8)
}

// scratch is a compiler that may number classes as it likes.
func (c *compiler) scratch() *compiler {
	s := &compiler{p: c.p, opts: c.opts, rules: c.rules, dims: newDims(), softPods: c.softPods,
		defaults: c.defaults, basicGangs: c.basicGangs, gangLabels: c.gangLabels, storage: c.storage, attachable: c.attachable}
	return s
}

// read reads the pods. A selector of new labels makes it start again, for it has read those before without them;
// most problems show all their selectors soon, and for the others all are looked for first.
func (k *chunk) read() {
	for tries := 0; ; tries++ {
		if tries == 8 {
			k.seek()
		}
		if k.walk() {
			return
		}
		keys := k.reader.keys
		keys.grown = false
		k.renew(k.reader.c, &keys)
	}
}

// walk is read until a selector turns up that reads labels which nobody looked at before.
func (k *chunk) walk() bool {
	for i, p := range k.pods {
		if i%batch == 0 {
			some := k.pods[i:min(i+batch, len(k.pods))]
			k.fetched += fetch(some) + fetchLabels(some, k.reader.keys.labels)
		}
		k.classOf[i] = k.reader.read(p, k.demands != nil && k.demands[i].Buffer)
		if i == k.hashed && k.demands == nil {
			k.sum.add(k.hasher.pod(p))
			k.hashed++
			k.sorted = k.sorted && (i == 0 || compareNames(k.pods[i-1], p) < 0)
		}
		if k.reader.keys.grown {
			return false
		}
	}
	return true
}

// seek finds all selectors.
func (k *chunk) seek() {
	r := k.reader
	for _, p := range k.pods {
		r.spread, r.buf = p.Spec.TopologySpreadConstraints, r.buf[:0]
		r.between(p)
	}
	r.keys.grown = false
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
		for i := range p.Spec.TopologySpreadConstraints {
			if s := p.Spec.TopologySpreadConstraints[i].LabelSelector; s != nil {
				n += len(s.MatchLabels) + len(p.Labels)
			}
		}
		for i := range p.Spec.Containers {
			if _, ok := p.Spec.Containers[i].Resources.Requests[corev1.ResourceCPU]; ok {
				n++
			}
		}
	}
	return n
}

// fetchLabels does the same for the labels that selectors read, and for the selectors.
func fetchLabels(pods []*corev1.Pod, keys []string) (n int) {
	if len(keys) == 0 {
		return 0
	}
	key := keys[0]
	for _, p := range pods {
		n += len(p.Labels[key])
		for i := range p.Spec.TopologySpreadConstraints {
			if s := p.Spec.TopologySpreadConstraints[i].LabelSelector; s != nil {
				n += len(s.MatchLabels[key])
			}
		}
	}
	return n
}

// merge gives the chunk's classes their numbers in c.
func (c *compiler) merge(r *podReader, k *chunk) {
	from := k.reader.c
	constraints := make([]int32, len(from.constraints))
	for i := range constraints {
		constraints[i] = -1
	}
	dims := make([]int, len(from.dims))
	for i, name := range from.dims {
		dims[i] = c.dim(name)
	}
	ids := make([]int32, len(from.classes))
	for i := range from.classes {
		cl := &from.classes[i]
		id, ok := r.byKey[cl.key]
		if !ok {
			if constraints[cl.constraint] < 0 {
				r.spread = cl.spread
				constraints[cl.constraint] = r.constraint(cl.pod)
			}
			id = int32(len(c.classes))
			r.byKey[cl.key] = id
			next := *cl
			next.constraint, next.req = constraints[cl.constraint], make([]int64, len(c.dims))
			for d, q := range cl.req {
				next.req[dims[d]] = q
			}
			c.classes = append(c.classes, next)
		}
		ids[i] = id
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
func (c *compiler) fillClasses(classOf, ofDemand []int32) {
	count := make([]int32, len(c.classes))
	for _, id := range classOf {
		count[id]++
	}
	total := int32(len(classOf))
	for d, id := range ofDemand {
		count[id] += c.demands[d].Count
		total += c.demands[d].Count
	}
	all := make([]int32, total)
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
	c.sortClasses()
	for _, d := range c.demandOrder() {
		pods := &c.classes[ofDemand[d]].pods
		for k := range c.demands[d].Count {
			*pods = append(*pods, c.demandStart[d]+k)
		}
	}
	if len(first) > 0 {
		for id := range c.classes {
			c.urgent(&c.classes[id], first)
		}
	}
}

// sortClasses puts the pods of every class into the order of their names. It waits for memory most of the time, as
// looking for names that are there twice does, so that runs beside it.
func (c *compiler) sortClasses() {
	if c.sorted {
		return
	}
	n := max(min(c.parallelism(), len(c.p.Pods)/minChunk), 1)
	var next atomic.Int32
	sort := func() {
		const some = 64
		for {
			from := int(next.Add(some)) - some
			if from >= len(c.classes) {
				return
			}
			for id := from; id < min(from+some, len(c.classes)); id++ {
				sortByName(c.p.Pods, c.classes[id].pods)
			}
		}
	}
	var wg sync.WaitGroup
	if n > 1 {
		wg.Go(func() { c.checkPodNames(&c.twice) })
		for range n - 2 {
			wg.Go(sort)
		}
	}
	sort()
	if n == 1 {
		c.checkPodNames(&c.twice)
	}
	wg.Wait()
}
