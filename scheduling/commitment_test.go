package scheduling_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/randproblem"
	. "github.com/fleetwright/fleetwright/scheduling"
)

// covered is a pool with one type of 4 CPU in zones a and b for 0.1, in zone a also for 0.04 under commitment c.
func covered(k Commitment, draw float64, pods int) *Problem {
	t := verifyTestType("t", "4", "0.1", "a", "b")
	o := t.Offerings[0]
	o.Commitment, o.Price = k.Name, PriceFromFloat(0.04)
	if draw >= 0 {
		o.Draw = PriceFromFloat(draw)
	}
	t.Offerings = append(t.Offerings, o)
	p := &Problem{Pools: []Pool{{Name: "p", InstanceTypes: []*InstanceType{t}}}, Commitments: []Commitment{k}}
	for i := range pods {
		p.Pods = append(p.Pods, verifyTestPod(fmt.Sprint("p", i), "3"))
	}
	return p
}

func TestCommitmentsRunOut(t *testing.T) {
	instances := func(n int32) Commitment { return Commitment{Name: "c", Instances: n} }
	money := func(v float64) Commitment { return Commitment{Name: "c", PerHour: PriceFromFloat(v)} }
	for _, tc := range []struct {
		name, reason string
		commitment   Commitment
		draw         float64 // below 0: not said
		pods         int
		price, drawn string
		nodes        int
	}{
		{"two of three", "2 x 0.04 + 0.1", instances(2), -1, 3, "0.18", "unknown", 2},
		{"none left", "3 x 0.1", instances(0), -1, 3, "0.3", "unknown", 0},
		{"more than needed", "3 x 0.04", instances(9), -1, 3, "0.12", "unknown", 3},
		{"money at the price", "0.1 pays for two at 0.04; the 0.02 left cover no third", money(0.1), -1, 3, "0.18", "0.08", 2},
		{"money to the cent", "0.12 pays for three", money(0.12), -1, 3, "0.12", "0.12", 3},
		{"money, drawn otherwise", "a node takes 0.06 of 0.13, whatever is billed", money(0.13), 0.06, 3, "0.18", "0.12", 2},
		{"a billionth short", "is not enough", money(0.119999999), -1, 3, "0.18", "0.08", 2},
		{"no money", "0 is known, and nothing", money(0), -1, 2, "0.2", "0", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := covered(tc.commitment, tc.draw, tc.pods)
			plan, err := trial(p, Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := []CommitmentUse{{Name: "c", Instances: tc.commitment.Instances, PerHour: tc.commitment.PerHour, Nodes: tc.nodes}}
			if tc.drawn != "unknown" {
				want[0].Drawn, _ = ParsePrice(tc.drawn)
			}
			if got := plan.Totals.Price.String(); got != tc.price || !slices.Equal(plan.Commitments, want) {
				t.Errorf("price %s, want %s; use %v, want %v: %s", got, tc.price, plan.Commitments, want, tc.reason)
			}
			for _, s := range plan.Shapes { // the offering in the other zone is an alternative, the same one at the other price is not
				if len(s.Alternatives) != 2 {
					t.Errorf("alternatives %v of choice %v: %s", s.Alternatives, s.Choice, tc.reason)
				}
			}
		})
	}
}

// An offering whose price nobody knows is not bought, under a commitment or not.
func TestUnknownPricesAreNeverChosen(t *testing.T) {
	p := covered(Commitment{Name: "c", PerHour: PriceFromFloat(9)}, 0.01, 2)
	offerings := p.Pools[0].InstanceTypes[0].Offerings
	offerings[0].Price, offerings[2].Price = Price{}, Price{}
	plan, err := trial(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if plan.Totals.Price.String() != "0.2" || plan.Commitments[0].Nodes != 0 {
		t.Errorf("price %v, commitments %v; only zone b has a price", plan.Totals.Price, plan.Commitments)
	}
	offerings[1].Price = Price{}
	if plan, err = trial(p, Options{}); err != nil || len(plan.Unplaced) != 2 || plan.Reasons[0].Code != CodePrice {
		t.Errorf("%v, unplaced %v for %v, want both for want of a price", err, plan.Unplaced, plan.Reasons)
	}
}

func TestCommitmentFaults(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		edit         func(p *Problem)
		want         string
	}{
		{"unknown", "a misspelt name would lose the lower price without a word", func(p *Problem) { p.Commitments[0].Name = "d" },
			`pools["p"].instanceTypes["t"].offerings[2].commitment: there is no commitment "c"; known commitments: [d]`},
		{"twice", "which one?", func(p *Problem) { p.Commitments = append(p.Commitments, p.Commitments[0]) }, `commitments["c"]: is there twice`},
		{"no name", "nothing can draw on it", func(p *Problem) { p.Commitments = append(p.Commitments, Commitment{}) }, `commitments[1]: has no name`},
		{"negative", "", func(p *Problem) {
			p.Commitments[0] = Commitment{Name: "c", Instances: -1}
			p.Pools[0].InstanceTypes[0].Offerings[2].Draw = Price{}
		},
			`commitments["c"].instances: covers -1 instances`},
		{"both kinds", "it is one or the other", func(p *Problem) { p.Commitments[0].Instances = 1 }, `commitments["c"]: is a number of instances and an amount of money`},
		{"draw of instances", "units must agree", func(p *Problem) { p.Commitments[0] = Commitment{Name: "c", Instances: 1} },
			`offerings[2].draw: draws money, but commitment "c" counts instances`},
		{"draws nothing", "it would never run out", func(p *Problem) { p.Pools[0].InstanceTypes[0].Offerings[2].Draw = PriceFromNano(0) },
			`offerings[2].draw: draws nothing of commitment "c"`},
		{"draws on nothing", "a draw without a commitment", func(p *Problem) { p.Pools[0].InstanceTypes[0].Offerings[2].Commitment = "" },
			`offerings[2].draw: draws on no commitment`},
		{"two masters", "reserved and committed", func(p *Problem) { o := &p.Pools[0].InstanceTypes[0].Offerings[2]; o.Reservation, o.Count = "r", 1 },
			`offerings[2]: draws on reservation "r" and on commitment "c"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := covered(Commitment{Name: "c", PerHour: PriceFromFloat(1)}, 0.05, 1)
			tc.edit(p)
			if _, err := Solve(context.Background(), p, nil); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q: %s", err, tc.want, tc.reason)
			}
		})
	}
}

// A document finds the offering again among several at different prices, says what covers it, and so does its text.
func TestCommitmentsInDocuments(t *testing.T) {
	p := covered(Commitment{Name: "sp", PerHour: PriceFromFloat(0.1)}, 0.05, 3)
	p.Catalog.Currency = "USD"
	plan, err := trial(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := plan.Document()
	back, err := d.Plan(p)
	if err != nil || Verify(p, back) != nil {
		t.Fatalf("the plan does not come back: %v, %v", err, Verify(p, back))
	}
	if d.Launches[0].Commitment != "sp" || d.Launches[0].Alternatives[0].Commitment != "sp" || d.Launches[2].Commitment != "" {
		t.Errorf("launches are under %q, %q and %q, want sp twice and nothing", d.Launches[0].Commitment, d.Launches[1].Commitment, d.Launches[2].Commitment)
	}
	if want, text := "commitment sp covers 2 nodes: 0.1 of 0.1 USD per hour\n", d.Text(TextOptions{}); !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	if got, _ := d.ExplainPod(d.Launches[0].Pods[0]); !strings.Contains(got, "0.04 USD per hour under commitment sp\n") {
		t.Errorf("the pod is explained as\n%s", got)
	}
}

// A covered node costs what it costs under the commitment as long as something is left of it; what runs beyond it pays
// the ordinary price.
func TestWhatIfUnderCommitments(t *testing.T) {
	p := covered(Commitment{Name: "c", Instances: 1}, -1, 0)
	p.Nodes = []Node{{Name: "n", Pool: "p", Allocatable: list("cpu", "4", "memory", "8Gi", "pods", "10"),
		Labels: map[string]string{"node.kubernetes.io/instance-type": "t", "topology.kubernetes.io/zone": "a", "karpenter.sh/capacity-type": "on-demand"}}}
	p.Nodes[0].Pods = append(p.Nodes[0].Pods, verifyTestPod("runs", "3"))
	s, err := Compile(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(reason, price, saved string, ch Changes) {
		t.Helper()
		o, err := s.WhatIf(ch)
		if err != nil || o.Price.String() != price || o.Saved.String() != saved {
			t.Errorf("%v, price %v and saved %v, want %s and %s: %s", err, o.Price, o.Saved, price, saved, reason)
		}
	}
	drain := []string{"n"}
	ask("one more is covered, so the node is", "0.04", "0.04", Changes{DrainNodes: drain})
	ask("none is left for the new one; the old one gives nothing back by itself", "0.1", "0.1", Changes{DrainNodes: drain, Commitments: []Commitment{{Name: "c"}}})
	ask("a new price is not that of what is agreed", "0.04", "0.04", Changes{DrainNodes: drain, Offerings: []OfferingChange{{Price: PriceFromFloat(0.3)}}})
	if _, err := s.WhatIf(Changes{Commitments: []Commitment{{Name: "x"}}}); err == nil || !strings.Contains(err.Error(), `changes.commitments["x"]: there is no such commitment`) {
		t.Errorf("an unknown commitment gives %v", err)
	}
}

func TestVerifyCommitments(t *testing.T) {
	cover := func(have Commitment, edit func(s *stage), places ...string) func(*stage) {
		return func(s *stage) {
			for _, t := range s.Problem.Pools[0].InstanceTypes {
				o := t.Offerings[0]
				o.Commitment, o.CapacityType, o.Price = "c", "covered", PriceFromFloat(0.01)
				if have.PerHour.Known() && t.Name == "large" {
					o.Draw = PriceFromFloat(0.02)
				}
				t.Offerings = append(t.Offerings, o)
			}
			s.Problem.Commitments = []Commitment{have}
			s.place(places...)
			s.Plan.Commitments = commitmentUse(s.Problem, s.Plan)
			if edit != nil {
				edit(s)
			}
		}
	}
	two, cents := Commitment{Name: "c", Instances: 2}, Commitment{Name: "c", PerHour: PriceFromFloat(0.03)}
	small, large := ":small/a/covered", ":large/a/covered"
	runStages(t, []stageCase{
		{"used up", "two of two", newStage(actors(2)), cover(two, nil, "1"+small, "2"+large), ""},
		{"too many", "three of two", newStage(actors(3)), cover(two, nil, "1"+small, "2"+small, "3"+large), "commitments"},
		{"money", "0.01 + 0.02 of 0.03", newStage(actors(2)), cover(cents, nil, "1"+small, "2"+large), ""},
		{"too much money", "0.02 + 0.02", newStage(actors(2)), cover(cents, nil, "1"+large, "2"+large), "commitments"},
		{"falls back to less", "from 0.02 to 0.01, all at once if need be", newStage(actors(1)), cover(cents, nil, "1:large/a/covered,small/a/covered,small/b"), ""},
		{"falls back to more", "0.02 may not be left", newStage(actors(1)), cover(cents, nil, "1:small/a/covered,large/a/covered"), "commitments"},
		{"falls back into it", "nobody knows whether anything is left", newStage(actors(1)), func(s *stage) {
			cover(two, nil)(s)
			s.Problem.Pools[0].InstanceTypes[0].Offerings[3].Price = PriceFromFloat(0.1)
			s.place("1:small/b,small/a/covered")
			s.Plan.Commitments = commitmentUse(s.Problem, s.Plan)
		}, "commitments"},
		{"one purchase, two prices", "the same machine twice", newStage(actors(1)), cover(two, func(s *stage) {
			for _, t := range s.Problem.Pools[0].InstanceTypes {
				t.Offerings[3].CapacityType = t.Offerings[0].CapacityType
			}
			s.Plan.Shapes[0].Alternatives = []Alternative{{0, 3}, {0, 0}}
			s.Plan.Shapes[0].AlternativeCount = 2
		}, "1"+small), "commitments"},
		{"counts wrongly", "the plan says how much is used", newStage(actors(1)), cover(two, func(s *stage) { s.Plan.Commitments[0].Nodes = 2 }, "1"+small), "commitments"},
		{"says nothing", "or does not", newStage(actors(1)), cover(two, func(s *stage) { s.Plan.Commitments = nil }, "1"+small), "commitments"},
		{"says too much", "of one that is not there", newStage(actors(1)), cover(two, func(s *stage) {
			s.Plan.Commitments = append(s.Plan.Commitments, CommitmentUse{Name: "d"})
		}, "1"+small), "commitments"},
	})
}

// As verify_mutation_test.go, for commitments: a plan that draws one unit more than there is, says that it draws less, or
// moves a launch to the covered price once nothing is left, is found out.
func TestMutatedCommitmentsAreRejected(t *testing.T) {
	size := randproblem.Small()
	size.With = randproblem.Commitments
	count := map[string]int{}
	for seed := range uint64(150) {
		p := randproblem.New(seed, size)
		plan, err := trial(p, Options{})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		refused := func(what string, p *Problem, plan *Plan) {
			t.Helper()
			if count[what]++; !slices.Contains(rules(Verify(p, plan)), "commitments") {
				t.Errorf("seed %d, %s: not rejected", seed, what)
			}
		}
		for i, u := range plan.Commitments {
			if u.Nodes == 0 {
				continue
			}
			less := *p
			less.Commitments = slices.Clone(p.Commitments)
			k := slices.IndexFunc(p.Commitments, func(k Commitment) bool { return k.Name == u.Name })
			if u.PerHour.Known() {
				less.Commitments[k].PerHour = PriceFromNano(u.Drawn.Nano() - 1)
			} else {
				less.Commitments[k].Instances = int32(u.Nodes - 1)
			}
			refused("a unit too few", &less, plan)
			m := newMutant(seed, p, plan)
			m.plan.Commitments = slices.Clone(plan.Commitments)
			m.plan.Commitments[i].Nodes--
			refused("a node not told of", p, m.plan)
		}
		m := newMutant(seed, p, plan)
		i, s := m.own()
		if i < 0 || m.offering(s.Pool, s.Choice).Commitment != "" {
			continue
		}
		none := *p
		none.Commitments = slices.Clone(p.Commitments)
		for k := range none.Commitments {
			if none.Commitments[k].Instances = 0; none.Commitments[k].PerHour.Known() {
				none.Commitments[k].PerHour = PriceFromNano(0)
			}
		}
		for k, o := range p.Pools[s.Pool].InstanceTypes[s.Choice.Type].Offerings {
			if o.Commitment != "" && o.Price.Nano() > 0 && !o.Unavailable {
				m.become(i, s, s.Pool, Alternative{Type: s.Choice.Type, Offering: int32(k)})
				m.tally()
				refused("covered by nothing", &none, m.plan)
				break
			}
		}
	}
	t.Log(count)
	for _, what := range []string{"a unit too few", "a node not told of", "covered by nothing"} {
		if count[what] < 10 {
			t.Errorf("%s: only %d mutants", what, count[what])
		}
	}
}
