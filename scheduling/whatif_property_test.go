package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/randproblem"
	. "github.com/fleetwright/fleetwright/scheduling"
)

// whatIfFamily is a kind of problems, and how far WhatIf may fall behind Solve on them.
type whatIfFamily struct {
	size  randproblem.Size
	seeds uint64
	// missed is how many of 1,000 pods that WhatIf places Solve may place besides.
	missed int
}

func whatIfFamilies() map[string]whatIfFamily {
	plain, small, constrained, crowded := randproblem.Small(), randproblem.Small(), randproblem.Constrained(), randproblem.Constrained()
	plain.Plain = true // nothing is finite but the room of existing nodes
	free := randproblem.Constrained()
	free.With &^= randproblem.Limits | randproblem.Reservations | randproblem.Commitments
	for _, s := range []*randproblem.Size{&plain, &small, &constrained, &free} {
		s.Nodes = 10
	}
	crowded.Nodes = 30
	return map[string]whatIfFamily{"plain": {plain, 100, 5}, "small": {small, 100, 10}, "constrained": {constrained, 50, 40},
		"free": {free, 50, 40}, "crowded": {crowded, 25, 40}}
}

// comparison is what WhatIf does beside what Solve does.
type comparison struct {
	asked, pods, fewer, more int
	ours, solve              int64
	worst                    float64
	worstSeed                uint64
}

// add compares the pods; and the prices, where the same number has a place and no weights decide.
func (c *comparison) add(seed uint64, o *Outcome, plan *Plan) {
	c.asked++
	n := placedBy(o)
	c.pods += n
	switch d := plan.Totals.Pods - n; {
	case d > 0:
		c.fewer += d
		return
	case d < 0:
		c.more -= d
		return
	case weighted(seed):
		return
	}
	ours, solve := o.Price.Nano(), plan.Totals.Price.Nano()
	c.ours, c.solve = c.ours+ours, c.solve+solve
	if q := float64(ours) / float64(max(solve, 1)); q > c.worst && solve > 0 && plan.Commitments == nil { // what is paid for makes any ratio
		c.worst, c.worstSeed = q, seed
	}
}

// The bounds on prices that WhatIf's documentation states: all together, and each.
const (
	priceTogether = 1.1
	priceEach     = 3
)

func (c *comparison) judge(t *testing.T, f whatIfFamily) {
	t.Helper()
	t.Logf("%d questions, %d pods placed, Solve placed %d more and %d fewer; price %v, Solve's %v (%+.2f %%), at worst %.3f times as much (seed %d)", c.asked, c.pods,
		c.fewer, c.more, PriceFromNano(c.ours), PriceFromNano(c.solve), 100*(float64(c.ours)/float64(max(c.solve, 1))-1), c.worst, c.worstSeed)
	if c.fewer*1000 > c.pods*f.missed+1000 {
		t.Errorf("Solve placed %d pods more", c.fewer)
	}
	if c.worst > priceEach {
		t.Errorf("the what-if with seed %d is too dear", c.worstSeed)
	}
	if c.pods < c.asked {
		t.Errorf("only %d pods in %d questions: the problems are too poor", c.pods, c.asked)
	}
}

func TestWhatIfAgainstSolve(t *testing.T) {
	var ours, solve int64
	for name, f := range whatIfFamilies() {
		t.Run(name, func(t *testing.T) {
			var c comparison
			for seed := range seeds(f.seeds) {
				p := settled(seed, f.size)
				opts := Options{Effort: EffortFast, MinValues: MinValuesPolicy(seed % 2), Preferences: PreferencePolicy(seed / 2 % 2)}
				ch := newAsking(seed, p).changes(int(seed % 7))
				if o, plan := ask(t, seed, p, opts, ch); o != nil {
					c.add(seed, o, plan)
				}
			}
			c.judge(t, f)
			ours, solve = ours+c.ours, solve+c.solve
		})
	}
	if t.Logf("all together %v, Solve's %v", PriceFromNano(ours), PriceFromNano(solve)); float64(ours) > float64(solve)*priceTogether {
		t.Errorf("what-ifs are too dear")
	}
}

// ask asks a question twice, makes the changes for good and solves.
func ask(t *testing.T, seed uint64, p *Problem, opts Options, ch Changes) (*Outcome, *Plan) {
	t.Helper()
	q, before := byHand(p, ch), mustText(p)
	s, err := Compile(p, &opts)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	state := State(s)
	o, err := s.WhatIf(ch)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if err := judgeOutcome(q, o); err != nil {
		t.Errorf("seed %d: %v\nchanges %+v", seed, err, ch)
	}
	if now := State(s); now != state || mustText(p) != before {
		t.Errorf("seed %d: the question left something behind: %s", seed, firstDifference(state, now))
	}
	twice, err := s.WhatIf(ch)
	if d := cmp.Diff(o, twice); err != nil || d != "" {
		t.Errorf("seed %d: another answer the second time, %v: %s", seed, err, d)
	}
	if placedBy(o)+len(o.Left) != len(q.Pods) {
		t.Errorf("seed %d: %d pods placed, %d left, %d asked about", seed, placedBy(o), len(o.Left), len(q.Pods))
	}
	if err := s.Apply(ch); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if want, got := mustText(q), mustText(s.Problem()); want != got {
		t.Errorf("seed %d: the problem is not the one written by hand: %s", seed, firstDifference(want, got))
	}
	plan, err := s.Plan(t.Context(), nil)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return o, plan
}

// The order of slices decides nothing, as far as the changes name the same.
func TestWhatIfDoesNotDependOnOrder(t *testing.T) {
	for name, f := range whatIfFamilies() {
		for seed := range seeds(50) {
			p := settled(seed, f.size)
			ch := newAsking(seed, p).changes(0)
			want, got := answer(t, p, ch), answer(t, randproblem.Shuffle(p, seed), ch)
			if want != got {
				t.Errorf("%s, seed %d: another answer for another order: %s", name, seed, firstDifference(want, got))
			}
		}
	}
}

// answer is an outcome in names.
func answer(t *testing.T, p *Problem, ch Changes) string {
	t.Helper()
	s, err := Compile(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.WhatIf(ch)
	if err != nil {
		t.Fatal(err)
	}
	return outcomeText(p, o)
}

func outcomeText(p *Problem, o *Outcome) string {
	out := fmt.Sprintln(o.Price, o.Saved)
	names := func(pods []*corev1.Pod) (list []string) {
		for _, pod := range pods {
			list = append(list, pod.Namespace+"/"+pod.Name)
		}
		return list
	}
	for _, m := range o.Moves {
		out += fmt.Sprintln(names([]*corev1.Pod{m.Pod}), "to", m.Node)
	}
	for _, l := range o.Launches {
		pool := &p.Pools[l.Pool]
		it := pool.InstanceTypes[l.Type]
		out += fmt.Sprintln(names(l.Pods), "to", pool.Name, it.Name, it.Offerings[l.Offering], l.CustomLabels)
	}
	return out + fmt.Sprintln("left", names(o.Left), "order", names(o.BindOrder))
}
