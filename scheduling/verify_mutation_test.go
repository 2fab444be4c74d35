package scheduling_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fleetwright/fleetwright/internal/randproblem"
	. "github.com/fleetwright/fleetwright/scheduling"
)

// mutant is a plan to spoil. Its bookkeeping (requests, totals) is put right again after each
// change, so that Verify has to find the cause and not the arithmetic.
type mutant struct {
	*rand.Rand
	oracle  *oracle
	problem *Problem
	plan    *Plan
}

// verdict is what Verify has to make of a mutant.
type verdict int

const (
	none verdict = iota // the mutation does not apply to this plan, or nobody knows
	rejected
	accepted
)

func judge(ok bool) verdict {
	if ok {
		return accepted
	}
	return rejected
}

func newMutant(seed uint64, problem *Problem, plan *Plan) *mutant {
	c := *plan
	c.Pools = nil // What a price pays for would give every change away.
	c.Shapes = slices.Clone(plan.Shapes)
	for i := range c.Shapes {
		c.Shapes[i].Why = Why{}
		c.Shapes[i].Alternatives = slices.Clone(c.Shapes[i].Alternatives)
		c.Shapes[i].CustomLabels = maps.Clone(c.Shapes[i].CustomLabels)
		c.Shapes[i].Requests = slices.Clone(c.Shapes[i].Requests)
	}
	c.Launches = slices.Clone(plan.Launches)
	for i := range c.Launches {
		c.Launches[i].Pods = slices.Clone(c.Launches[i].Pods)
	}
	c.Placements = slices.Clone(plan.Placements)
	c.Unplaced = slices.Clone(plan.Unplaced)
	c.Reasons = slices.Clone(plan.Reasons)
	c.BindOrder = nil
	return &mutant{rand.New(rand.NewPCG(seed, 7)), newOracle(problem), problem, &c}
}

// own gives a launch a shape of its own and returns it; -1 if there is no launch.
func (m *mutant) own() (int, *Shape) {
	if len(m.plan.Launches) == 0 {
		return -1, nil
	}
	i := m.IntN(len(m.plan.Launches))
	s := m.plan.Shapes[m.plan.Launches[i].Shape]
	s.Alternatives = slices.Clone(s.Alternatives)
	m.plan.Launches[i].Shape = int32(len(m.plan.Shapes))
	m.plan.Shapes = append(m.plan.Shapes, s)
	return i, &m.plan.Shapes[len(m.plan.Shapes)-1]
}

func (m *mutant) offering(pool int32, a Alternative) *Offering {
	return &m.problem.Pools[pool].InstanceTypes[a.Type].Offerings[a.Offering]
}

// become makes a launch one offering of a pool and nothing else.
func (m *mutant) become(launch int, s *Shape, pool int32, at Alternative) {
	s.Pool, s.Choice, s.Alternatives, s.AlternativeCount = pool, at, []Alternative{at}, 1
	s.Price = m.offering(pool, at).Price
	m.settle(launch, s)
}

// settle lists the DaemonSets that run, and what is asked for.
func (m *mutant) settle(launch int, s *Shape) {
	narrow := sets{}
	for k, v := range s.CustomLabels {
		narrow[k] = Values(v)
	}
	for _, c := range m.oracle.columns {
		if c.pool == s.Pool && c.at == s.Choice {
			s.DaemonSets = nil
			for _, d := range m.oracle.daemonsOn(c, narrow) {
				s.DaemonSets = append(s.DaemonSets, d.index)
			}
		}
	}
	s.Requests = m.oracle.requests(m.plan.Launches[launch].Pods, s.DaemonSets)
}

// tally puts the totals right.
func (m *mutant) tally() {
	t := &m.plan.Totals
	m.plan.Launches = slices.DeleteFunc(m.plan.Launches, func(l Launch) bool { return len(l.Pods) == 0 })
	var sum int64
	t.Pods = len(m.plan.Placements)
	for _, l := range m.plan.Launches {
		sum += m.plan.Shapes[l.Shape].Price.Nano()
		t.Pods += len(l.Pods)
	}
	t.Price, t.LowerBound = PriceFromNano(sum), Price{}
	m.plan.Commitments = commitmentUse(m.problem, m.plan)
	t.Nodes, t.Unplaced, t.NotEvaluated = len(m.plan.Launches), len(m.plan.Unplaced), len(m.plan.NotEvaluated)
}

// column draws any offering of a pool.
func (m *mutant) column(pool int32) (Alternative, bool) {
	types := m.problem.Pools[pool].InstanceTypes
	if len(types) == 0 {
		return Alternative{}, false
	}
	t := m.IntN(len(types))
	if len(types[t].Offerings) == 0 {
		return Alternative{}, false
	}
	return Alternative{Type: int32(t), Offering: int32(m.IntN(len(types[t].Offerings)))}, true
}

// take removes a pod from a launch.
func (m *mutant) take() (pod int32, ok bool) {
	i, s := m.own()
	if i < 0 {
		return 0, false
	}
	l := &m.plan.Launches[i]
	k := m.IntN(len(l.Pods))
	pod = l.Pods[k]
	l.Pods = slices.Delete(l.Pods, k, k+1)
	m.settle(i, s)
	return pod, true
}

// put adds a pod to a launch and tells what to think of it.
func (m *mutant) put(pod int32) verdict {
	i, s := m.own()
	if i < 0 || len(m.plan.Launches[i].Pods) == 0 {
		return none
	}
	m.plan.Launches[i].Pods = append(m.plan.Launches[i].Pods, pod)
	m.settle(i, s)
	ok := true
	for _, a := range s.Alternatives {
		ok = ok && m.oracle.fitsAt(s.Pool, a, s.CustomLabels, m.plan.Launches[i].Pods)
	}
	return judge(ok)
}

// mutations are to be rejected or accepted as the oracle, or the nature of the change, says.
var mutations = []struct {
	name, reason string
	apply        func(m *mutant) verdict
}{
	{"drop a pod", "every pod is somewhere", func(m *mutant) verdict {
		_, ok := m.take()
		return onlyIf(ok, rejected)
	}},
	{"repeat a pod", "no pod is twice", func(m *mutant) verdict {
		i, s := m.own()
		if i < 0 {
			return none
		}
		m.plan.Launches[i].Pods = append(m.plan.Launches[i].Pods, m.plan.Launches[i].Pods[0])
		m.settle(i, s)
		return rejected
	}},
	{"move a pod to another launch", "it must fit every alternative there", func(m *mutant) verdict {
		pod, ok := m.take()
		if !ok {
			return none
		}
		return m.put(pod)
	}},
	{"move a pod to a node", "it must fit what is left there", func(m *mutant) verdict {
		pod, ok := m.take()
		if !ok || len(m.problem.Nodes) == 0 {
			return none
		}
		node := m.IntN(len(m.problem.Nodes))
		m.plan.Placements = append(m.plan.Placements, Placement{Pod: pod, Node: int32(node)})
		var there []int32
		for _, p := range m.plan.Placements {
			if p.Node == int32(node) {
				there = append(there, p.Pod)
			}
		}
		need := m.oracle.readAll([]int32{pod})[0].need
		if fits := m.oracle.fitsOn(node, there); fits || need["cpu"] > 0 && need["memory"] > 0 {
			return judge(fits)
		}
		return none // it asks for nothing of what the node may have too little
	}},
	{"move a pod to another node", "same", func(m *mutant) verdict {
		if len(m.plan.Placements) == 0 || len(m.problem.Nodes) < 2 {
			return none
		}
		p := &m.plan.Placements[m.IntN(len(m.plan.Placements))]
		p.Node = (p.Node + 1 + int32(m.IntN(len(m.problem.Nodes)-1))) % int32(len(m.problem.Nodes))
		var there []int32
		for _, q := range m.plan.Placements {
			if q.Node == p.Node {
				there = append(there, q.Pod)
			}
		}
		need := m.oracle.readAll([]int32{p.Pod})[0].need
		if fits := m.oracle.fitsOn(int(p.Node), there); fits || need["cpu"] > 0 && need["memory"] > 0 {
			return judge(fits)
		}
		return none
	}},
	{"place a pod that fits nowhere", "a reason for leaving it out is one for not placing it", func(m *mutant) verdict {
		k := slices.IndexFunc(m.plan.Unplaced, func(u Unplaced) bool { return lonely(m.problem, m.problem.Pods[u.Pod]) })
		if k < 0 {
			return none
		}
		pod := m.plan.Unplaced[k].Pod
		m.plan.Unplaced = slices.Delete(m.plan.Unplaced, k, k+1)
		return m.put(pod)
	}},
	{"leave out a pod that fits", "a reason has to hold", func(m *mutant) verdict {
		pod, ok := m.take()
		if !ok {
			return none
		}
		m.plan.Reasons = append(m.plan.Reasons, Reason{Code: CodeResource})
		m.plan.Unplaced = append(m.plan.Unplaced, Unplaced{Pod: pod, Reason: int32(len(m.plan.Reasons) - 1)})
		return rejected
	}},
	{"become any offering of the pool", "type, zone and capacity type must suit", func(m *mutant) verdict {
		i, s := m.own()
		if i < 0 {
			return none
		}
		at, ok := m.column(s.Pool)
		if !ok {
			return none
		}
		fits := m.oracle.fitsAt(s.Pool, at, s.CustomLabels, m.plan.Launches[i].Pods)
		m.become(i, s, s.Pool, at)
		return judge(fits)
	}},
	{"become the smallest type", "what is on it must fit", func(m *mutant) verdict {
		i, s := m.own()
		if i < 0 {
			return none
		}
		at := s.Choice
		for k, t := range m.problem.Pools[s.Pool].InstanceTypes {
			c := t.Capacity["cpu"]
			if len(t.Offerings) > 0 && c.Cmp(m.problem.Pools[s.Pool].InstanceTypes[at.Type].Capacity["cpu"]) < 0 {
				at = Alternative{Type: int32(k)}
			}
		}
		fits := m.oracle.fitsAt(s.Pool, at, s.CustomLabels, m.plan.Launches[i].Pods)
		m.become(i, s, s.Pool, at)
		return judge(fits)
	}},
	{"become a node of another pool", "with that pool's taints and labels", func(m *mutant) verdict {
		i, s := m.own()
		if i < 0 {
			return none
		}
		pool := int32(m.IntN(len(m.problem.Pools)))
		at, ok := m.column(pool)
		if !ok {
			return none
		}
		fits := m.oracle.fitsAt(pool, at, nil, m.plan.Launches[i].Pods)
		s.CustomLabels = nil
		m.become(i, s, pool, at)
		return onlyIf(!fits, rejected) // else an open label may need deciding
	}},
	{"add an alternative", "fallbacks must hold the pods too", func(m *mutant) verdict {
		i, s := m.own()
		if i < 0 {
			return none
		}
		at, ok := m.column(s.Pool)
		if !ok || slices.Contains(s.Alternatives, at) {
			return none
		}
		s.Alternatives = append(s.Alternatives, at)
		price := func(a Alternative) int64 { return m.offering(s.Pool, a).Price.Nano() }
		slices.SortStableFunc(s.Alternatives, func(a, b Alternative) int { return int(price(a) - price(b)) })
		s.AlternativeCount = len(s.Alternatives)
		fits := m.oracle.fitsAt(s.Pool, at, s.CustomLabels, m.plan.Launches[i].Pods)
		if fits && price(at) < price(s.Choice) {
			return none
		}
		return judge(fits)
	}},
	{"decide an open label anew", "pods that chose it do not agree", func(m *mutant) verdict {
		i, s := m.own()
		if i < 0 || len(s.CustomLabels) == 0 {
			return none
		}
		for _, p := range m.plan.Launches[i].Pods {
			for k := range m.problem.Pods[p].Spec.NodeSelector {
				if _, open := s.CustomLabels[k]; open {
					s.CustomLabels = maps.Clone(s.CustomLabels)
					s.CustomLabels[k] = "nobody's"
					return rejected
				}
			}
		}
		return none
	}},
	{"add a label", "a label must be open", func(m *mutant) verdict {
		i, s := m.own()
		if i < 0 {
			return none
		}
		s.CustomLabels = map[string]string{"example.com/unheard": "of"}
		return rejected
	}},
	{"cut the price", "a price is the offering's", func(m *mutant) verdict {
		i, s := m.own()
		if i < 0 {
			return none
		}
		s.Price = PriceFromNano(s.Price.Nano() / 2)
		return rejected
	}},
	{"forget the price", "an unknown price is never paid", func(m *mutant) verdict {
		i, s := m.own()
		if i < 0 {
			return none
		}
		s.Price = Price{}
		return rejected
	}},
	{"ask for less", "requests are those of the pods", func(m *mutant) verdict {
		i, s := m.own()
		if i < 0 {
			return none
		}
		s.Requests = slices.Clone(s.Requests)
		s.Requests[m.IntN(len(s.Requests))].Amount--
		return rejected
	}},
	{"turn alternatives round", "the cheapest comes first", func(m *mutant) verdict {
		i, s := m.own()
		if i < 0 {
			return none
		}
		first, last := s.Alternatives[0], s.Alternatives[len(s.Alternatives)-1]
		slices.Reverse(s.Alternatives)
		return onlyIf(m.offering(s.Pool, first).Price != m.offering(s.Pool, last).Price, rejected)
	}},
	{"unknown offering", "no index out of range", func(m *mutant) verdict {
		i, s := m.own()
		if i < 0 {
			return none
		}
		s.Choice.Offering = int32(m.IntN(2))*200 - 100
		return rejected
	}},
}

func onlyIf(ok bool, v verdict) verdict {
	if ok {
		return v
	}
	return none
}

func TestMutatedPlansAreRejected(t *testing.T) {
	size := randproblem.Small()
	size.Plain = true
	count := make([][3]int, len(mutations))
	for seed := range uint64(120) {
		problem := randproblem.New(seed, size)
		plan := newOracle(problem).plan()
		for k, mutation := range mutations {
			m := newMutant(seed*1000+uint64(k), problem, plan)
			want := mutation.apply(m)
			count[k][want]++
			m.tally()
			err := Verify(problem, m.plan)
			if want == rejected && err == nil || want == accepted && err != nil {
				t.Errorf("seed %d, %s (%s): want it %s, got %v", seed, mutation.name, mutation.reason, []string{"", "rejected", "accepted"}[want], err)
			}
		}
	}
	for k, mutation := range mutations {
		t.Logf("%-36s rejected %4d, accepted %4d, does not apply %4d", mutation.name, count[k][rejected], count[k][accepted], count[k][none])
		if count[k][rejected] == 0 {
			t.Errorf("%s: no mutant had to be rejected", mutation.name)
		}
	}
}

// mutate spoils a plan of the solver, which knows more than the oracle: only what is sure to be wrong is judged.
func mutate(seed uint64, problem *Problem, plan *Plan, apply func(*mutant) verdict) error {
	m := newMutant(seed, problem, plan)
	want := apply(m)
	m.tally()
	if want == rejected && Verify(problem, m.plan) == nil {
		return errors.New("the mutant was not rejected")
	}
	return nil
}

func TestMutatedPlansOfTheSolverAreRejected(t *testing.T) {
	for seed := range uint64(120) {
		problem := randproblem.New(seed, randproblem.Small())
		plan, err := trial(problem, Options{})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		for k, mutation := range mutations {
			if err := mutate(seed*1000+uint64(k), problem, plan, mutation.apply); err != nil {
				t.Errorf("seed %d, %s (%s): %v", seed, mutation.name, mutation.reason, err)
			}
		}
	}
}
