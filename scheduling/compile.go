package scheduling

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

// compiler turns a problem into what the kernel works on. Strings, quantities and label sets end here.
type compiler struct {
	p     *Problem
	opts  *Options
	rules LabelRules
	known map[string]bool // well-known keys

	dims    []corev1.ResourceName
	atoms   []atom
	atomIDs map[string]int32
	// constraints and classes are numbered as met; order is the canonical order of the classes.
	constraints []constraint
	classes     []class
	order       []int32
	daemons     []daemon
	nodes       []oldNode
	softTaints  bool
	// sorted is set if the pods come in the order of their names, each once, as the API server lists them.
	sorted bool
	// twice are pods that share their name with others.
	twice faults
	// constrained is set if pods mean anything to each other: selectors, host ports, shared volumes or gangs.
	constrained bool
	// model is what pods mean to each other, and where each may go.
	model board.Model
	// keyNames and domainNames name the model's keys and their domains, groups what its groups constrain, and
	// shapes what the variants of its shapes give up.
	keyNames    []string
	domainNames [][]string
	groups      []groupSpec
	shapes      []shapeInfo

	// respects tells whether preferences count anywhere: on existing nodes, or on new ones by pool.
	respects     bool
	nodesRespect bool
	poolRespects []bool
	// softPods is respects, for constraints between pods.
	softPods bool
	// launches marks the pools that may launch nodes.
	launches []bool

	// demands are those that have pods, demandStart the number of the first pod of each.
	demands     []Demand
	demandStart []int32
	defaults    *defaultSpread
	basicGangs  map[string]bool
	gangLabels  []string
	gangs       []gang
	storage     *volumes
	// attachable are the drivers of which some node can attach only so many volumes; attachDim marks the
	// resources that count them.
	attachable map[string]bool
	attachDim  []bool
	// place is where a class comes in order, depth how long a chain of affinities is behind it, deepest the most of
	// those.
	place   []int32
	depth   []int32
	deepest int32
	// turn is where a class comes in the order in which classes are placed.
	turn []int32
	// movable compiles running pods as if they might have to be placed again; prices are those of existing
	// nodes, -1 where unknown.
	movable      bool
	movableClass map[*corev1.Pod]int32
	prices       []int64
	// finites are what the space's reservations are: capacity reservations by name, then commitments.
	finites []finite
	// topology are the topology keys of constraints, other than the hostname, sorted; domainAtoms has an atom for
	// each of a key's domains.
	topology    []string
	domainAtoms [][]int32

	bound []*corev1.Pod
	// boundVolumes are the shared volumes of each of bound.
	boundVolumes [][]sharedVolume
	// counted is whom spreads count.
	counted *counting
	// hasher and podSum are what the digest needs of the pods, gathered while they are read.
	hasher podHasher
	podSum hash128
	// hashed brings the digest, which is worked out beside all else; nil if nobody wants it.
	hashed  chan string
	hashing bool
	summary string
	rows    []row
	space   pack.Space
	// types is what types say of labels; aliased marks keys that have another spelling.
	types map[*InstanceType]*typeFacts
	// lastSets is, by label, what the type before said of it.
	lastSets map[string]lastSet
	aliased  map[string]bool
	// left is what each reservation and commitment has; perHour are the commitments of money.
	left    map[finite]int64
	perHour map[string]bool
	// poolRank maps Problem.Pools to their place in the order of names.
	openKeys []string
	states   []ValueSet
	stateIDs map[string]int32
	meets    map[[2]int32]int32
	// stateLock guards states and meets, which grow while boards of one compiler are used side by side.
	stateLock sync.Mutex
	// masks numbers masks by their content, maskList has them by number.
	masks    map[string]int32
	maskList []pack.Mask
	maskBuf  []byte
	minKeys  []string

	portClosed   []portClosure
	tolerances   []tolerance
	toleranceIDs map[string]int32
	baseIDs      map[string]int32
}

// usualDims is how many of the first resources every node has: cpu, memory, pods.
const usualDims = 3

// daemon is a DaemonSet.
type daemon struct {
	index      int32 // in Problem.DaemonSets
	constraint int32
	req        []int64
	ports      []hostPort
	mask       pack.Mask
}

func newCompiler(p *Problem, opts *Options) *compiler {
	c := &compiler{p: p, opts: opts, rules: p.Labels.filled(), known: map[string]bool{}, atomIDs: map[string]int32{},
		stateIDs: map[string]int32{}, meets: map[[2]int32]int32{}, masks: map[string]int32{},
		toleranceIDs: map[string]int32{}, baseIDs: map[string]int32{}, lastSets: map[string]lastSet{}, types: map[*InstanceType]*typeFacts{}, aliased: map[string]bool{}}
	for _, k := range c.rules.Aliases {
		c.aliased[k] = true
	}
	for _, k := range c.rules.WellKnown {
		c.known[k] = true
	}
	soft := func(taints []corev1.Taint) bool {
		return slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectPreferNoSchedule })
	}
	for i := range p.Pools {
		c.softTaints = c.softTaints || soft(p.Pools[i].Taints)
	}
	for i := range p.Nodes {
		c.softTaints = c.softTaints || soft(p.Nodes[i].Taints)
	}
	c.dims = newDims()
	return c
}

// prepare settles what reading pods depends on.
func (c *compiler) prepare() {
	c.nodesRespect = c.opts.Preferences != PreferencesIgnore
	c.respects = c.nodesRespect
	for i := range c.p.Pools {
		policy := c.opts.Preferences
		if own := c.p.Pools[i].Preferences; own != nil {
			policy = *own
		}
		may := c.opts.Pools == nil || slices.Contains(c.opts.Pools, c.p.Pools[i].Name)
		c.launches = append(c.launches, may)
		c.poolRespects = append(c.poolRespects, policy != PreferencesIgnore)
		c.respects = c.respects || may && policy != PreferencesIgnore
	}
	c.softPods = c.respects
	c.readDemands()
	c.defaults = newDefaultSpread(&c.p.DefaultSpread)
	c.gangLabels = slices.Sorted(slices.Values(c.p.GangLabels))
	for i := range c.p.Gangs {
		if g := &c.p.Gangs[i]; g.Basic {
			if c.basicGangs == nil {
				c.basicGangs = map[string]bool{}
			}
			c.basicGangs[g.Namespace+"/"+g.Name] = true
		}
	}
	c.storage = newVolumes(c.p)
	c.findAttachable()
}

// newDims lists the resources that come first: the kernel balances a node's cpu against its memory.
func newDims() []corev1.ResourceName {
	return []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods}
}

// dim returns the number of a resource, a new one if it was not met before.
func (c *compiler) dim(name corev1.ResourceName) int {
	for i, d := range c.dims {
		if d == name {
			return i
		}
	}
	c.dims = append(c.dims, name)
	return len(c.dims) - 1
}

// compile reads the whole problem.
func (c *compiler) compile() error {
	if err := c.check(); err != nil {
		return err
	}
	c.prepare()
	r := newPodReader(c)
	if err := c.readPods(r); err != nil {
		return err
	}
	c.startDigest()
	c.readMovable(r)
	if err := c.readDaemons(r); err != nil {
		return err
	}
	for i := range c.p.Pools {
		for _, name := range sortedKeys(c.p.Pools[i].Limits) {
			if name != NodesResource {
				c.dim(name)
			}
		}
	}
	c.sharedDims()
	c.canonicalDims()
	c.labelNodes()
	c.readVolumeTerms()
	c.topology = c.topologyKeys(r)
	c.startCounting()
	c.readRows()
	c.readNodes(r)
	c.evaluateConstraints()
	c.readGangs()
	c.constrained = r.anySelector || len(c.gangs) > 0 || slices.ContainsFunc(c.classes, func(cl class) bool {
		return len(cl.ports) > 0 || cl.volumes != nil
	})
	c.fillModel()
	return nil
}

// startDigest begins to work out the digest, once the pods are read.
func (c *compiler) startDigest() {
	if c.hashed == nil {
		return
	}
	c.hashing = true
	work := func() { c.hashed <- digestWithPods(c.p, &c.hasher, c.podSum) }
	if c.parallelism() == 1 {
		work()
	} else {
		go work()
	}
}

// digest waits for the digest; empty if it was not begun.
func (c *compiler) digest() string {
	if c.hashing {
		c.summary, c.hashing = <-c.hashed, false
	}
	return c.summary
}

// urgent splits a class of which only some pods are to come first.
func (c *compiler) urgent(cl *class, first map[string]bool) {
	n := 0
	for _, i := range cl.pods {
		if first[c.podName(i)] {
			n++
		}
	}
	cl.first = n > 0
	if n > 0 && n < len(cl.pods) {
		// Within a class pods are alike, so it is enough that those named are taken first.
		slices.SortStableFunc(cl.pods, func(a, b int32) int {
			return cmp.Compare(b2i(first[c.podName(b)]), b2i(first[c.podName(a)]))
		})
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (c *compiler) readDaemons(r *podReader) error {
	order := make([]int32, len(c.p.DaemonSets))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return strings.Compare(podName(c.p.DaemonSets[a]), podName(c.p.DaemonSets[b]))
	})
	var faults []Fault
	for _, i := range order {
		p := c.p.DaemonSets[i]
		vec, err := podRequests(p, nil)
		if err != nil {
			faults = append(faults, Fault{Path: fmt.Sprintf("daemonSets[%q]", podName(p)), Problem: err.Error()})
			continue
		}
		r.spread = nil
		d := daemon{index: i, constraint: r.constraint(p), ports: portsOf(p)}
		vec = r.attach(p, vec)
		if f := c.constraints[d.constraint].fault; f != "" {
			faults = append(faults, Fault{Path: fmt.Sprintf("daemonSets[%q]", podName(p)), Problem: f})
			continue
		}
		for _, q := range vec {
			k := c.dim(q.Name)
			for len(d.req) <= k {
				d.req = append(d.req, 0)
			}
			d.req[k] = q.Amount
		}
		c.daemons = append(c.daemons, d)
	}
	if len(faults) > 0 {
		return &InputError{Faults: faults}
	}
	return nil
}

// canonicalDims makes the order of the resources independent of the order of the pods, fills every
// vector up and orders the classes.
func (c *compiler) canonicalDims() {
	sorted := slices.Clone(c.dims)
	slices.Sort(sorted[usualDims:])
	perm := make([]int, len(sorted))
	for i, name := range sorted {
		perm[i] = slices.Index(c.dims, name)
	}
	fix := func(v []int64) []int64 {
		out := make([]int64, len(sorted))
		for i, from := range perm {
			if from < len(v) {
				out[i] = v[from]
			}
		}
		return out
	}
	c.dims = sorted
	c.attachDim = make([]bool, len(sorted))
	for driver := range c.attachable {
		if d := slices.Index(sorted, AttachLimit(driver)); d >= 0 {
			c.attachDim[d] = true
		}
	}
	for i := range c.classes {
		c.classes[i].req = fix(c.classes[i].req)
	}
	for i := range c.daemons {
		c.daemons[i].req = fix(c.daemons[i].req)
	}
	c.orderClasses()
}

// orderClasses puts the classes into the order of their keys. Many of these begin alike, so what follows that is
// compared as a number first.
func (c *compiler) orderClasses() {
	type entry struct {
		head uint64
		key  string
		id   int32
	}
	list := make([]entry, len(c.classes))
	same := 0
	for i := range c.classes {
		key := c.classes[i].key
		if i == 0 {
			same = len(key)
		}
		for k := range min(same, len(key)) {
			if key[k] != c.classes[0].key[k] {
				same = k
				break
			}
		}
		same = min(same, len(key))
		list[i] = entry{key: key, id: int32(i)}
	}
	for i := range list {
		var head [8]byte
		copy(head[:], list[i].key[same:])
		list[i].head = binary.BigEndian.Uint64(head[:])
	}
	slices.SortFunc(list, func(a, b entry) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return strings.Compare(a.key[same:], b.key[same:])
	})
	c.order, c.place = make([]int32, len(list)), make([]int32, len(list))
	for i := range list {
		c.order[i], c.place[list[i].id] = list[i].id, int32(i)
	}
}

// vector reads a resource list into dimensions, unknown resources left out.
func (c *compiler) vector(list corev1.ResourceList, dst []int64) {
	for i, name := range c.dims {
		if q, ok := list[name]; ok {
			dst[i] = amountOf(name, &q)
		}
	}
}
