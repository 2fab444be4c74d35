package scheduling_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/randproblem"
	. "github.com/fleetwright/fleetwright/scheduling"
)

// packings tries every way of dividing pods that mean nothing to each other over existing and new nodes. Sets of pods are
// bits by position. It knows weights of pools, minValues, limits and reservations.
type packings struct {
	*oracle
	pods []int32
	// tier is, by pod, the heaviest weight of a pool that could hold it alone.
	tier []int32
	// buys lists, by set, what could be bought for it, the cheapest first; known tells where that is worked out.
	buys  [][]*oracleColumn
	known []bool
	// fresh is, by set, the least price of new nodes for it if nothing runs out.
	fresh []int64
	holds []map[int]bool // by existing node
	room  []map[corev1.ResourceName]int64
	count map[string]int
	best  int64
}

const impossible = math.MaxInt64

func newPackings(o *oracle, pods []int32) *packings {
	s := &packings{oracle: o, pods: pods, buys: make([][]*oracleColumn, 1<<len(pods)), known: make([]bool, 1<<len(pods)), count: map[string]int{}}
	for i := range pods {
		s.tier = append(s.tier, -1)
		for _, c := range o.columns {
			if w := o.problem.Pools[c.pool].Weight; w > s.tier[i] && s.fits(c, 1<<i) {
				s.tier[i] = w
			}
		}
	}
	for range o.problem.Nodes {
		s.holds = append(s.holds, map[int]bool{})
	}
	for i := range o.problem.Pools {
		pool := &o.problem.Pools[i]
		room := oracleAmounts(pool.Limits)
		for _, n := range o.problem.Nodes {
			if n.Pool == pool.Name {
				used := oracleAmounts(n.Capacity)
				used[NodesResource] = 1
				for name := range room {
					room[name] -= used[name]
				}
			}
		}
		s.room = append(s.room, room)
		for _, t := range pool.InstanceTypes {
			for _, of := range t.Offerings {
				if n, known := s.count[of.Reservation]; !known || int(of.Count) < n {
					s.count[of.Reservation] = int(of.Count)
				}
			}
		}
	}
	s.fresh = make([]int64, 1<<len(pods))
	for set := 1; set < len(s.fresh); set++ {
		s.fresh[set] = impossible
		first := set & -set
		for rest := set &^ first; ; rest = (rest - 1) & (set &^ first) {
			if buys, others := s.buysOf(rest|first), s.fresh[set&^(rest|first)]; len(buys) > 0 && others < impossible {
				s.fresh[set] = min(s.fresh[set], buys[0].price+others)
			}
			if rest == 0 {
				break
			}
		}
	}
	return s
}

// fits tells whether a new node of the column may hold the pods of the set.
func (s *packings) fits(c *oracleColumn, set int) bool {
	pool := &s.problem.Pools[c.pool]
	wants := slices.IndexFunc(pool.Requirements, func(r Requirement) bool { return r.MinValues != nil })
	content := s.readAll(members(s.pods, set))
	if wants >= 0 && pool.InstanceTypes[c.at.Type].Offerings[c.at.Offering].Reservation != "" || !s.oracle.fits(c, sets{}, content) {
		return false
	}
	if wants < 0 {
		return true
	}
	values := map[string]bool{}
	for _, other := range s.columns {
		if other.pool == c.pool && pool.InstanceTypes[other.at.Type].Offerings[other.at.Offering].Reservation == "" && s.oracle.fits(other, sets{}, content) {
			if v, finite := other.state(pool.Requirements[wants].Key, nil).Finite(); finite && len(v) == 1 {
				values[v[0]] = true
			}
		}
	}
	return len(values) >= *pool.Requirements[wants].MinValues
}

// buysOf lists what could be bought for a set, cheapest first.
func (s *packings) buysOf(set int) []*oracleColumn {
	if s.known[set] {
		return s.buys[set]
	}
	s.known[set] = true
	from, tier := s.columns, s.tier[bits.TrailingZeros(uint(set))]
	if less := set & (set - 1); less != 0 {
		from = s.buysOf(less) // what is not enough for some of them is not for all
		for i := range s.pods {
			if set>>i&1 != 0 && (s.tier[i] != tier || len(s.buysOf(set&^(1<<i))) == 0) {
				return nil
			}
		}
	}
	for _, c := range from {
		if s.problem.Pools[c.pool].Weight == tier && s.fits(c, set) {
			s.buys[set] = append(s.buys[set], c)
		}
	}
	return s.buys[set]
}

func (s *packings) reservation(c *oracleColumn) string {
	return s.problem.Pools[c.pool].InstanceTypes[c.at.Type].Offerings[c.at.Offering].Reservation
}

// cheapest is the least price of new nodes with which all pods of a set have a place; impossible if there are none.
func (s *packings) cheapest(set int) int64 {
	s.best = impossible
	s.place(set, 0, 0)
	return s.best
}

// place puts any part of the set on each existing node in turn, the rest on new ones.
func (s *packings) place(set, node int, spent int64) {
	if node == len(s.problem.Nodes) {
		s.buy(set, spent)
		return
	}
	for part := set; spent < s.best; part = (part - 1) & set {
		ok, known := s.holds[node][part]
		if !known {
			ok = part == 0 || s.fitsOn(node, members(s.pods, part))
			s.holds[node][part] = ok
		}
		if ok {
			s.place(set&^part, node+1, spent)
		}
		if part == 0 {
			return
		}
	}
}

// buy divides the set over new nodes.
func (s *packings) buy(set int, spent int64) {
	if s.fresh[set] == impossible || spent+s.fresh[set] >= s.best {
		return
	}
	if set == 0 {
		s.best = spent
		return
	}
	first := set & -set
	for rest := set &^ first; ; rest = (rest - 1) & (set &^ first) {
		part := rest | first
		type kind struct {
			pool, typ   int32
			reservation string
		}
		tried := map[kind]bool{}
		for _, c := range s.buysOf(part) {
			k := kind{c.pool, c.at.Type, s.reservation(c)}
			if tried[k] || !s.take(c) {
				continue
			}
			tried[k] = true
			s.buy(set&^part, spent+c.price)
			s.giveBack(c)
			if len(s.problem.Pools[c.pool].Limits) == 0 && k.reservation == "" {
				break // nothing after it is better
			}
		}
		if rest == 0 {
			return
		}
	}
}

// take takes what a node of the column does of what is finite; false: there is not enough.
func (s *packings) take(c *oracleColumn) bool {
	room := s.room[c.pool]
	charge := s.charge(c)
	for name := range room {
		if charge[name] > max(room[name], 0) {
			return false
		}
	}
	if id := s.reservation(c); id != "" {
		if s.count[id] <= 0 {
			return false
		}
		s.count[id]--
	}
	for name := range room {
		room[name] -= charge[name]
	}
	return true
}

func (s *packings) giveBack(c *oracleColumn) {
	charge := s.charge(c)
	for name := range s.room[c.pool] {
		s.room[c.pool][name] += charge[name]
	}
	if id := s.reservation(c); id != "" {
		s.count[id]++
	}
}

func (s *packings) charge(c *oracleColumn) map[corev1.ResourceName]int64 {
	out := oracleAmounts(s.problem.Pools[c.pool].InstanceTypes[c.at.Type].Capacity)
	out[NodesResource] = 1
	return out
}

func members(pods []int32, set int) []int32 {
	var out []int32
	for i, p := range pods {
		if set&(1<<i) != 0 {
			out = append(out, p)
		}
	}
	return out
}

func placed(plan *Plan) []int32 {
	var out []int32
	for _, l := range plan.Launches {
		out = append(out, l.Pods...)
	}
	for _, p := range plan.Placements {
		out = append(out, p.Pod)
	}
	return out
}

// supply makes what there is to buy harder to divide.
type supply struct {
	name string
	with randproblem.Features
	make func(p *Problem, r *rand.Rand)
}

// supplies leaves weights together with limits out: which pods get what is left of a heavy pool is for Solve to decide.
func supplies() []supply {
	weigh := func(p *Problem, r *rand.Rand) {
		for i := range p.Pools {
			p.Pools[i].Weight = int32(r.IntN(3) * 10)
		}
	}
	return []supply{
		{"plain", 0, func(*Problem, *rand.Rand) {}},
		{"limits and reservations", randproblem.Limits | randproblem.Reservations, func(*Problem, *rand.Rand) {}},
		{"weights", 0, weigh},
		{"minValues and weights", 0, func(p *Problem, r *rand.Rand) {
			weigh(p, r)
			for i := range p.Pools {
				pool := &p.Pools[i]
				// How a label that is left open gets decided can take alternatives away.
				pool.Requirements = slices.DeleteFunc(pool.Requirements, func(r Requirement) bool { return r.Key == "example.com/team" })
				if n := 2 + r.IntN(2); r.IntN(3) > 0 {
					key := []string{corev1.LabelInstanceTypeStable, "example.com/family", "example.com/cpu"}[r.IntN(3)]
					pool.Requirements = append(pool.Requirements, Requirement{Key: key, Operator: corev1.NodeSelectorOpExists, MinValues: &n})
				}
			}
		}},
	}
}

// tinySize is that of problems with one to ten pods. The large ones are few, as trying everything takes its time.
func tinySize(seed uint64, with randproblem.Features) randproblem.Size {
	size := randproblem.Tiny()
	size.With = with
	switch {
	case seed%25 == 0:
		size.Pods, size.Kinds = 10, 4
	case seed%5 == 0:
		size.Pods = 7
	}
	return size
}

// Where pods mean nothing to each other, every plan of up to ten pods is the cheapest there is, its bound is its price, and
// no more pods could be placed.
func TestAgainstTheOptimum(t *testing.T) {
	for _, of := range supplies() {
		t.Run(of.name, func(t *testing.T) {
			most, left := 0, 0
			for seed := range seeds(1000) {
				problem := randproblem.New(seed, tinySize(seed, of.with))
				of.make(problem, rand.New(rand.NewPCG(seed, 0)))
				plan, err := trial(problem, Options{Preferences: PreferencesIgnore})
				if err != nil {
					t.Errorf("seed %d: %v", seed, err)
					continue
				}
				o := newOracle(problem)
				s := newPackings(o, placed(plan))
				optimum := s.cheapest(1<<len(s.pods) - 1)
				if price := plan.Totals.Price.Nano(); price != optimum {
					t.Errorf("seed %d: price %v, the optimum is %v", seed, plan.Totals.Price, PriceFromNano(optimum))
				}
				if bound := plan.Totals.LowerBound; bound.Nano() != optimum {
					t.Errorf("seed %d: bound %v, the optimum is %v", seed, bound, PriceFromNano(optimum))
				}
				most, left = max(most, len(s.pods)), left+plan.Totals.Unplaced
				if plan.Totals.Unplaced > 0 {
					if n := o.most(); n > len(s.pods) {
						t.Errorf("seed %d: %d pods are placed, %d could be", seed, len(s.pods), n)
					}
				}
			}
			if t.Logf("up to %d pods placed, %d left over", most, left); !testing.Short() && most < 8 || left < int(seeds(1000))/10 {
				t.Error("the problems are too easy")
			}
		})
	}
}

// most is how many pods could be placed at once.
func (o *oracle) most() int {
	var pods []int32
	for i := range o.problem.PodCount() {
		if newPackings(o, []int32{int32(i)}).cheapest(1) < impossible {
			pods = append(pods, int32(i))
		}
	}
	s := newPackings(o, pods)
	most := 0
	for set := range 1 << len(pods) {
		if n := bits.OnesCount(uint(set)); n > most && s.cheapest(set) < impossible {
			most = n
		}
	}
	return most
}

// Among pools of equal weight the price decides, whatever they are called.
func TestPriceDoesNotDependOnNamesOfPools(t *testing.T) {
	for seed := range seeds(300) {
		size := tinySize(seed, 0)
		size.Pools = 4
		problem := randproblem.New(seed, size)
		want, err := trial(problem, Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		renamed := randproblem.New(seed, size)
		name := func(old string) string { return "pool-" + string('z'-old[len(old)-1]+'0') }
		for i := range renamed.Pools {
			renamed.Pools[i].Name = name(renamed.Pools[i].Name)
		}
		for i := range renamed.Nodes {
			if n := &renamed.Nodes[i]; n.Pool != "" {
				n.Pool = name(n.Pool)
				n.Labels[PoolLabel] = n.Pool
			}
		}
		got, err := trial(renamed, Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got.Totals != want.Totals {
			t.Errorf("seed %d: %+v became %+v", seed, want.Totals, got.Totals)
		}
	}
}

// With nothing finite in the way (limits, nodes that exist), a pod that a new node would hold is placed.
func TestEveryPodThatFitsIsPlaced(t *testing.T) {
	size := randproblem.Small()
	size.Plain = true
	left := 0
	for seed := range uint64(400) {
		problem := randproblem.New(seed, size)
		plan, err := trial(problem, Options{})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		o := newOracle(problem)
		for _, u := range plan.Unplaced {
			left++
			for _, c := range o.columns {
				if o.fits(c, sets{}, o.readAll([]int32{u.Pod})) {
					t.Errorf("seed %d: %s is left out with %s, but fits %s", seed, problem.Pods[u.Pod].Name, plan.Reasons[u.Reason].Code,
						problem.Pools[c.pool].InstanceTypes[c.at.Type].Name)
					break
				}
			}
		}
	}
	if left == 0 {
		t.Error("no pod was ever left out")
	}
}
