package scheduling_test

import (
	"maps"
	"math"
	"slices"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// The search of the exhaustive oracle: bind one pod after another in every order, to every place that takes it when it
// is bound, and remember states that were seen. A state is the content of all nodes.

// tinyNode is an existing node or a bought one with the pods bound to it.
type tinyNode struct {
	place int
	pods  uint32
}

// tinyState packs the content of up to three existing and ten new nodes, by class, so that equal states are equal.
type tinyState [13]uint64

type tinySearch struct {
	*tinyOracle
	nodes []tinyNode
	bound uint32
	order []int
	seen  map[tinyState]struct{}
	aim   tinyAim
	spent int64
	most  int
	// plan is the answer.
	plan *Plan
}

// tinyAim is what a plan must do: place more pods than beat says, by band, or all pods of a set for less than a price.
type tinyAim struct {
	beat    []int
	only    uint32
	below   int64
	choices []int
}

func (s *tinySearch) enough(set uint32) bool {
	if s.aim.beat == nil {
		return set == s.aim.only && s.spent < s.aim.below
	}
	return slices.Compare(s.counts(set), s.aim.beat) > 0
}

// better looks for a plan that places more pods than beat says, in the highest band where they differ. Nil: there is
// none; false: it gave up after most states.
func (t *tinyOracle) better(beat []int, most int) (*Plan, bool) {
	return t.search(tinyAim{beat: beat, only: t.all(), below: math.MaxInt64, choices: t.choose(false)}, most)
}

// cheapest is a plan of all pods of a set that costs least, nil if there is none.
func (t *tinyOracle) cheapest(set uint32, most int) (*Plan, bool) {
	var best *Plan
	for aim := (tinyAim{only: set, below: math.MaxInt64, choices: t.choose(true)}); ; {
		plan, decided := t.search(aim, most)
		if plan == nil {
			return best, decided
		}
		best, aim.below = plan, plan.Totals.Price.Nano()
	}
}

func (t *tinyOracle) search(aim tinyAim, most int) (*Plan, bool) {
	s := &tinySearch{tinyOracle: t, seen: map[tinyState]struct{}{}, aim: aim, most: most}
	for i := range t.problem.Nodes {
		s.nodes = append(s.nodes, tinyNode{place: i})
	}
	s.step()
	return s.plan, s.plan != nil || len(s.seen) < most
}

// counts are the pods of a set, by band.
func (t *tinyOracle) counts(set uint32) []int {
	out := make([]int, len(t.bands))
	for i, p := range t.pods {
		if set&(1<<i) != 0 {
			out[p.band]++
		}
	}
	return out
}

func (t *tinyOracle) all() uint32 { return 1<<len(t.pods) - 1 }

// step goes on from the current state; true: a plan was found, or the search is given up.
func (s *tinySearch) step() bool {
	state := s.state()
	if _, known := s.seen[state]; known {
		return false
	}
	if len(s.seen) >= s.most {
		return true
	}
	s.seen[state] = struct{}{}
	if s.enough(s.bound) && s.gangsWhole() && s.finish() {
		return true
	}
	if !s.enough(s.bound | s.alive()) {
		return false // whatever comes, it is not enough
	}
	done := make([]bool, s.classes)
	for i, p := range s.pods {
		if s.waiting(i) == 0 || done[p.class] {
			continue
		}
		done[p.class] = true
		for n := range s.nodes {
			if s.takes(i, n) && s.holds(i, n, s.bound, nil) && s.with(i, n) {
				return true
			}
		}
		for _, c := range s.aim.choices {
			if s.places[c].column.price >= s.aim.below-s.spent || s.places[c].fits&(1<<i) == 0 || !s.buyable(c) {
				continue
			}
			s.nodes = append(s.nodes, tinyNode{place: c})
			s.spent += s.places[c].column.price
			n := len(s.nodes) - 1
			if s.apart(i, n) && s.holds(i, n, s.bound, nil) && s.with(i, n) {
				return true
			}
			s.nodes = s.nodes[:n]
			s.spent -= s.places[c].column.price
		}
	}
	return false
}

// waiting has a bit if the pod is to be bound and is not yet.
func (s *tinySearch) waiting(i int) uint32 { return s.aim.only &^ s.bound & (1 << i) }

// with binds the pod, goes on, and takes it back.
func (s *tinySearch) with(i, n int) bool {
	s.nodes[n].pods |= 1 << i
	s.bound |= 1 << i
	s.order = append(s.order, i)
	if s.step() {
		return true
	}
	s.nodes[n].pods &^= 1 << i
	s.bound &^= 1 << i
	s.order = s.order[:len(s.order)-1]
	return false
}

func (s *tinySearch) state() tinyState {
	var out tinyState
	for n, node := range s.nodes {
		x := uint64(node.place+1) << 40
		for i, p := range s.pods {
			if node.pods&(1<<i) != 0 {
				x += 1 << (4 * p.class)
			}
		}
		out[n] = x
	}
	slices.Sort(out[len(s.problem.Nodes):len(s.nodes)])
	return out
}

// alive is the set of pods that are not bound and not yet shut out for good: room, limits and anti-affinity only get worse.
func (s *tinySearch) alive() uint32 {
	out := uint32(0)
	for i := range s.pods {
		if s.waiting(i) == 0 {
			continue
		}
		for n := range s.nodes {
			if s.takes(i, n) {
				out |= 1 << i
			}
		}
		for _, c := range s.aim.choices {
			if out&(1<<i) != 0 {
				break
			}
			if s.places[c].column.price < s.aim.below-s.spent && s.places[c].fits&(1<<i) != 0 && s.buyable(c) {
				s.nodes = append(s.nodes, tinyNode{place: c})
				if s.apart(i, len(s.nodes)-1) {
					out |= 1 << i
				}
				s.nodes = s.nodes[:len(s.nodes)-1]
			}
		}
	}
	return out
}

// buyable tells whether limits and reservations let one more node of the kind be bought.
func (s *tinySearch) buyable(c int) bool {
	pl := s.places[c]
	if pl.reservation != "" {
		left := s.reservations[pl.reservation]
		for _, n := range s.nodes {
			if s.places[n.place].reservation == pl.reservation {
				left -= s.places[n.place].draw
			}
		}
		if left < pl.draw {
			return false
		}
	}
	return !pl.limited || s.affordable(pl)
}

func (s *tinySearch) affordable(pl *tinyPlace) bool {
	for name, room := range s.room[pl.column.pool] {
		for _, n := range s.nodes {
			if q := s.places[n.place]; q.node < 0 && q.column.pool == pl.column.pool {
				room -= q.charge[name]
			}
		}
		if pl.charge[name] > room {
			return false
		}
	}
	return true
}

// takes tells whether a node has room, ports and slots for the pod, and nobody in the way.
func (s *tinySearch) takes(i, n int) bool {
	node := &s.nodes[n]
	pl, p := s.places[node.place], s.pods[i]
	if pl.fits&(1<<i) == 0 || p.clash&node.pods != 0 {
		return false
	}
	for r := range p.need {
		sum := p.need[r]
		for j, q := range s.pods {
			if node.pods&(1<<j) != 0 {
				sum += q.need[r]
			}
		}
		if p.need[r] > 0 && sum > pl.free[r] {
			return false
		}
	}
	return (len(p.volumes) == 0 || s.attachable(pl, node.pods|1<<i)) && s.apart(i, n)
}

// domain is where a node is; every new node is a host of its own.
func (s *tinySearch) domain(n, key int) int {
	d := s.places[s.nodes[n].place].domain[key]
	if d == freshHost {
		return freshHost + n
	}
	return d
}

// apart: no pod that the pod's anti-affinity selects, or whose anti-affinity selects the pod, is in the same domain.
func (s *tinySearch) apart(i, n int) bool {
	p := s.pods[i]
	for key, domains := range p.shunned {
		if slices.Contains(domains, s.domain(n, key)) {
			return false
		}
	}
	for _, x := range p.anti {
		d := s.domain(n, x.key)
		if d == absent {
			continue
		}
		if x.running[d] > 0 {
			return false
		}
		for m, node := range s.nodes {
			if node.pods&x.selected != 0 && s.domain(m, x.key) == d {
				return false
			}
		}
	}
	for m, node := range s.nodes {
		for j, q := range s.pods {
			if node.pods&(1<<j) == 0 {
				continue
			}
			for _, x := range q.anti {
				if d := s.domain(n, x.key); x.selected&(1<<i) != 0 && d != absent && d == s.domain(m, x.key) {
					return false
				}
			}
		}
	}
	return true
}

// holds: spreads and affinities of the pod are met when it is bound to the node after those in before. The plan is done if
// reach is given: the domains of each of the pod's spreads. Else more nodes may come, and what may yet hold passes.
func (s *tinySearch) holds(i, n int, before uint32, reach [][]int) bool {
	p := s.pods[i]
	for k := range p.spreads {
		var domains []int
		if reach != nil {
			domains = reach[k]
		} else {
			domains = s.domains(&p.spreads[k], false)
		}
		if !s.even(&p.spreads[k], n, before, domains, reach != nil) {
			return false
		}
	}
	return len(p.terms) == 0 || s.together(p, n, before)
}

// domains are those whose counts set the minimum; without the rest only those that no later step takes away.
func (s *tinySearch) domains(x *tinySpread, final bool) []int {
	var out []int
	for d := range x.always {
		out = append(out, d)
	}
	add := func(d int) {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	for n := len(s.problem.Nodes); n < len(s.nodes); n++ {
		if x.counts[s.nodes[n].place] {
			add(s.domain(n, x.key))
		}
	}
	if final {
		for _, r := range x.some {
			if s.buyable(r.place) {
				add(r.domain)
			}
		}
	}
	return out
}

// even: "maxSkew: the difference between the number of matching pods in the domain and the global minimum"; the pod
// itself included if its own constraint selects it.
func (s *tinySearch) even(x *tinySpread, n int, before uint32, domains []int, final bool) bool {
	here := s.domain(n, x.key)
	if here == absent {
		return false
	}
	count := func(d int) int {
		sum := x.running[d]
		for m, node := range s.nodes {
			if x.counts[node.place] && s.domain(m, x.key) == d {
				sum += setSize(node.pods & before & x.selected)
			}
		}
		return sum
	}
	least := 0
	if s.keys[x.key] != hostname && (len(domains) >= x.minimum || !final) {
		for k, d := range domains {
			if c := count(d); k == 0 || c < least {
				least = c
			}
		}
	}
	sum := count(here) - least
	if x.self {
		sum++
	}
	return sum <= x.skew
}

const hostname = "kubernetes.io/hostname"

// together: every term finds a pod in its domain; or nobody matches anywhere, and the pod is one it looks for itself.
func (s *tinySearch) together(p *tinyPod, n int, before uint32) bool {
	met, anyone := true, false
	for _, x := range p.terms {
		d := s.domain(n, x.key)
		if d == absent {
			return false
		}
		found := x.running[d] > 0
		anyone = anyone || len(x.running) > 0
		for m, node := range s.nodes {
			if node.pods&before&x.selected != 0 && s.domain(m, x.key) != absent {
				anyone = true
				found = found || s.domain(m, x.key) == d
			}
		}
		met = met && found
	}
	return met || !anyone && p.self
}

func (s *tinySearch) gangsWhole() bool {
	for _, g := range s.gangs {
		if n := setSize(s.bound & g.members); n > 0 && n+g.running < g.min {
			return false
		}
	}
	return true
}

// finish looks for an order in which everything holds now that all nodes are known, and makes the plan.
func (s *tinySearch) finish() bool {
	reach := make([][][]int, len(s.pods))
	at := make([]int, len(s.pods))
	for i, p := range s.pods {
		reach[i] = [][]int{}
		for k := range p.spreads {
			reach[i] = append(reach[i], s.domains(&p.spreads[k], true))
		}
		at[i] = slices.IndexFunc(s.nodes, func(n tinyNode) bool { return n.pods&(1<<i) != 0 })
	}
	last := map[uint32]int{0: -1} // by set of bound pods, which of them came last
	for queue := []uint32{0}; len(queue) > 0; queue = queue[1:] {
		set := queue[0]
		if set == s.bound {
			s.plan = s.write(last)
			return true
		}
		for i := range s.pods {
			next := set | 1<<i
			if _, known := last[next]; known || s.bound&(1<<i) == 0 || next == set || !s.holds(i, at[i], set, reach[i]) {
				continue
			}
			last[next] = i
			queue = append(queue, next)
		}
	}
	return false
}

// write makes a Plan of the nodes and the order found.
func (s *tinySearch) write(last map[uint32]int) *Plan {
	plan := &Plan{Catalog: s.problem.Catalog, Reasons: []Reason{{Code: CodeNotModelled}}}
	for set := s.bound; set != 0; {
		i := last[set]
		plan.BindOrder = append(plan.BindOrder, s.pods[i].index)
		set &^= 1 << i
	}
	slices.Reverse(plan.BindOrder)
	price := int64(0)
	for _, node := range s.nodes {
		var pods []int32
		for i, p := range s.pods {
			if node.pods&(1<<i) != 0 {
				pods = append(pods, p.index)
			}
		}
		pl := s.places[node.place]
		if pl.node >= 0 {
			for _, p := range pods {
				plan.Placements = append(plan.Placements, Placement{Pod: p, Node: int32(pl.node)})
			}
			continue
		}
		shape := Shape{Pool: pl.column.pool, Choice: pl.column.at, Alternatives: []Alternative{pl.column.at}, AlternativeCount: 1,
			Price: PriceFromNano(pl.column.price), CustomLabels: maps.Clone(pl.custom), Requests: s.oracle.requests(pods, nil)}
		plan.Launches = append(plan.Launches, Launch{Shape: int32(len(plan.Shapes)), Pods: pods})
		plan.Shapes = append(plan.Shapes, shape)
		price += pl.column.price
	}
	for i, p := range s.pods {
		if s.bound&(1<<i) == 0 {
			plan.Unplaced = append(plan.Unplaced, Unplaced{Pod: p.index})
		}
	}
	plan.Totals = Totals{Price: PriceFromNano(price), Nodes: len(plan.Launches), Pods: setSize(s.bound), Unplaced: len(plan.Unplaced)}
	plan.Commitments = commitmentUse(s.problem, plan)
	return plan
}

// best is a plan that places most pods, those of the highest band first; nil if none can be placed.
func (t *tinyOracle) best(most int) (*Plan, bool) {
	var best *Plan
	for beat := t.counts(0); ; {
		plan, decided := t.better(beat, most)
		if plan == nil {
			return best, decided
		}
		best, beat = plan, t.counts(t.set(plan))
	}
}

// set is the set of pods that a plan places.
func (t *tinyOracle) set(plan *Plan) uint32 {
	out := uint32(0)
	for _, p := range placed(plan) {
		out |= 1 << p
	}
	return out
}
