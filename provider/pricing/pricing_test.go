package pricing_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/provider/pricing"
	"github.com/fleetwright/fleetwright/scheduling"
)

// machine is a type in zone a, on demand; price below 0: unknown. offers adds zone/capacityType=price.
func machine(name string, cpu int64, price float64, offers ...string) *scheduling.InstanceType {
	amount := func(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.DecimalSI) }
	t := &scheduling.InstanceType{Name: name, Capacity: corev1.ResourceList{"cpu": amount(cpu), "pods": amount(110)},
		Offerings: []scheduling.Offering{{Zone: "a", CapacityType: "on-demand", Price: scheduling.PriceFromFloat(price)}}}
	for _, o := range offers {
		where, price, _ := strings.Cut(o, "=")
		zone, kind, _ := strings.Cut(where, "/")
		p, err := scheduling.ParsePrice(price)
		if err != nil {
			panic(err)
		}
		t.Offerings = append(t.Offerings, scheduling.Offering{Zone: zone, CapacityType: kind, Price: p})
	}
	return t
}

// problem has one pool and pods of one CPU each.
func problem(pods int, types ...*scheduling.InstanceType) *scheduling.Problem {
	p := &scheduling.Problem{Pools: []scheduling.Pool{{Name: "main", InstanceTypes: types}},
		Catalog: scheduling.Catalog{AsOf: "2026-08-01", Source: "list", Currency: "USD"}}
	for i := range pods {
		p.Pods = append(p.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("p-%02d", i)},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": *resource.NewQuantity(1, resource.DecimalSI)}}}}}})
	}
	return p
}

func apply(t *testing.T, p *scheduling.Problem, m pricing.Model) *pricing.Result {
	t.Helper()
	r, err := pricing.Apply(p, m)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// bought is the price of the plan and the types of its launches.
func bought(t *testing.T, p *scheduling.Problem) string {
	t.Helper()
	plan, err := scheduling.Solve(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := scheduling.Verify(p, plan); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, l := range plan.Document().Launches {
		name := l.InstanceType
		if l.Commitment != "" {
			name += "(" + l.Commitment + ")"
		}
		count[name]++
	}
	return fmt.Sprint(plan.Totals.Price, " ", count)
}

// The figures of https://github.com/kubernetes-sigs/karpenter/issues/1664: 16 nodes at 0.04 are 0.64 and beat one at 0.65,
// until each costs 0.03 more: 16 x 0.07 = 1.12 against 0.68. With a fee f it is 0.64 + 16 f against 0.65 + f: equal at 0.01/15.
func TestFeePerNodeTurnsTheAnswer(t *testing.T) {
	types := func() []*scheduling.InstanceType {
		return []*scheduling.InstanceType{machine("large", 2, 0.04), machine("8xlarge", 32, 0.65)}
	}
	for _, tc := range []struct {
		reason string
		fee    pricing.Hourly
		want   string
	}{
		{"no fee", pricing.PerHour(0, "USD"), "0.64 map[large:16]"},
		{"the fee of the issue", pricing.PerHour(0.03, "USD"), "0.68 map[8xlarge:1]"},
		{"below 0.000667: 16 x 0.0404 against 0.6504", pricing.PerHour(0.0004, "USD"), "0.6464 map[large:16]"},
		{"above it: 16 x 0.0407 against 0.6507", pricing.PerHour(0.0007, "USD"), "0.6507 map[8xlarge:1]"},
		{"by the month: 21.90 / 730", pricing.PerMonth(21.90, "USD").Hourly(), "0.68 map[8xlarge:1]"},
	} {
		r := apply(t, problem(32, types()...), pricing.Model{Pricer: pricing.Adjust(pricing.Listed(), pricing.Fee{Name: "agent", Per: tc.fee})})
		if got := bought(t, r.Problem); got != tc.want {
			t.Errorf("%s: bought for %s, want %s", tc.reason, got, tc.want)
		}
	}
}

func TestPricers(t *testing.T) {
	usd := func(v float64) pricing.Hourly { return pricing.PerHour(v, "USD") }
	spot := pricing.Match{CapacityTypes: []string{"spot"}}
	contract := pricing.Flat(pricing.Quoted(usd(0.05), "2026-01-01", "contract"))
	for _, tc := range []struct {
		name, reason string
		pricer       pricing.Pricer
		want         string // m.large a on-demand, a spot, b on-demand; c.large a on-demand (unknown)
	}{
		{"nothing", "list prices", nil, "0.1 0.04 0.11 unknown"},
		{"listed", "the same", pricing.Listed(), "0.1 0.04 0.11 unknown"},
		{"discount", "8 percent less of what is known", pricing.Adjust(pricing.Listed(), pricing.Percent{By: -8}), "0.092 0.0368 0.1012 unknown"},
		{"markup by family", "m only, spot only", pricing.Adjust(pricing.Listed(), pricing.Percent{Where: pricing.Match{Types: []string{"m.*"}, CapacityTypes: spot.CapacityTypes}, By: 25}),
			"0.1 0.05 0.11 unknown"},
		{"fixed", "in a zone; never below 0", pricing.Adjust(pricing.Listed(), pricing.Fixed{Where: pricing.Match{Zones: []string{"a"}}, By: usd(-0.06)}), "0.04 0 0.11 unknown"},
		{"fee of an unknown price", "stays unknown", pricing.Adjust(pricing.Listed(), pricing.Fee{Per: usd(0.5)}), "0.6 0.54 0.61 unknown"},
		{"order", "a percentage of what the change before it left", pricing.Adjust(pricing.Listed(), pricing.Fixed{By: usd(0.1)}, pricing.Percent{By: -50}), "0.1 0.07 0.105 unknown"},
		{"fee first", "nothing discounts it", pricing.Adjust(pricing.Listed(), pricing.Fee{Per: usd(0.02)}, pricing.Percent{By: -50}), "0.07 0.04 0.075 unknown"},
		{"fee after free", "0 for the machine, not for the fee", pricing.Adjust(pricing.Listed(), pricing.Percent{By: -100}, pricing.Fee{Per: usd(0.02)}), "0.02 0.02 0.02 unknown"},
		{"override", "the contract for c, the list for others", pricing.First(pricing.Only(pricing.Match{Types: []string{"c.*"}}, contract), pricing.Listed()), "0.1 0.04 0.11 0.05"},
		{"fallback", "the list first", pricing.First(pricing.Listed(), contract), "0.1 0.04 0.11 0.05"},
		{"only", "what it does not match it does not know", pricing.Only(spot, pricing.Listed()), "unknown 0.04 unknown unknown"},
		{"nobody", "an empty chain knows nothing", pricing.First(), "unknown unknown unknown unknown"},
		{"composed", "the contract is discounted too, the list is not", pricing.First(pricing.Adjust(pricing.Only(pricing.Match{Pools: []string{"ma?n"}, Zones: []string{"b"}}, contract),
			pricing.Percent{By: -10}), pricing.Listed()), "0.1 0.04 0.045 unknown"},
		{"function", "anything can be a pricer", pricing.Func(func(o pricing.Offering) (pricing.Rate, error) {
			return pricing.Quoted(usd(float64(len(o.Type+o.Zone+o.CapacityType))/100), "", ""), nil
		}), "0.17 0.12 0.17 0.17"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := problem(0, machine("m.large", 2, 0.1, "a/spot=0.04", "b/on-demand=0.11"), machine("c.large", 2, -1))
			before := fmt.Sprint(prices(p))
			r := apply(t, p, pricing.Model{Pricer: tc.pricer})
			if got := strings.Join(prices(r.Problem), " "); got != tc.want {
				t.Errorf("prices %s, want %s: %s", got, tc.want, tc.reason)
			}
			if fmt.Sprint(prices(p)) != before || p.Catalog.Adjustments != nil {
				t.Error("the problem given was written to")
			}
		})
	}
}

func prices(p *scheduling.Problem) (out []string) {
	for i := range p.Pools {
		for _, it := range p.Pools[i].InstanceTypes {
			for _, o := range it.Offerings {
				out = append(out, o.Price.String())
			}
		}
	}
	return out
}

// A change and its inverse leave a price as it was, but for rounding by a billionth or so; fees commute with all else.
func TestChangesAndTheirInverses(t *testing.T) {
	usd := func(v float64) pricing.Hourly { return pricing.PerHour(v, "USD") }
	for i := range 400 {
		nano := int64(i*i)*1_000_003 + int64(i)
		for _, by := range []float64{-60, -20, -0.1, 0, 25, 33.3, 150} {
			one := func(changes ...pricing.Adjustment) int64 {
				r, err := pricing.Adjust(pricing.Listed(), changes...).Rate(pricing.Offering{Listed: pricing.Rate{Machine: scheduling.PriceFromNano(nano), Currency: "USD"}})
				if err != nil || !r.Known() {
					t.Fatalf("%v, %v", r, err)
				}
				return r.Total().Nano()
			}
			back := 100/(1+by/100) - 100
			if got := one(pricing.Percent{By: by}, pricing.Percent{By: back}); math.Abs(float64(got-nano)) > 2 {
				t.Errorf("%d changed by %v%% and %v%% is %d", nano, by, back, got)
			}
			if got := one(pricing.Fixed{By: usd(0.1)}, pricing.Fixed{By: usd(-0.1)}); got != nano {
				t.Errorf("%d with 0.1 more and less is %d", nano, got)
			}
			fee, cut := pricing.Fee{Per: usd(0.07)}, pricing.Percent{By: by}
			if a, b := one(fee, cut), one(cut, fee); a != b || a != one(cut)+70_000_000 {
				t.Errorf("%d: %d with the fee first, %d with it last", nano, a, b)
			}
			if got := one(pricing.Percent{By: by}) - nano; by > 0 && got < 0 || by < 0 && got > 0 || by == 0 && got != 0 {
				t.Errorf("%v%% of %d: %d", by, nano, got)
			}
		}
	}
}

func TestCommitments(t *testing.T) {
	usd := func(v float64) pricing.Hourly { return pricing.PerHour(v, "USD") }
	m := pricing.Match{Types: []string{"m.*"}}
	agent := pricing.Adjust(pricing.Listed(), pricing.Fee{Name: "agent", Per: usd(0.01)})
	for _, tc := range []struct {
		name, reason string
		pricer       pricing.Pricer
		commitments  []pricing.Commitment
		pods         int
		want         string
	}{
		{"instances", "2 x 0.06 + 0.1", nil, []pricing.Commitment{{Name: "ri", Where: m, Instances: 2, Discount: 40}}, 6, "0.22 map[m.large:1 m.large(ri):2]"},
		{"price", "2 x 0.03 + 0.1", nil, []pricing.Commitment{{Name: "ri", Where: m, Instances: 2, Price: usd(0.03)}}, 6, "0.16 map[m.large:1 m.large(ri):2]"},
		{"money", "covered at 0.06, which 0.17 an hour pay for twice", nil, []pricing.Commitment{{Name: "sp", Where: m, PerHour: usd(0.17), Discount: 40}}, 6,
			"0.22 map[m.large:1 m.large(sp):2]"},
		{"paid money", "the same, of which only the third is to be paid", nil, []pricing.Commitment{{Name: "sp", Where: m, PerHour: usd(0.17), Discount: 40, Paid: true}}, 6,
			"0.1 map[m.large:1 m.large(sp):2]"},
		{"fees on top", "0.01 for each of three; of the commitment a node takes 0.06 as before, so 0.12 are enough", agent,
			[]pricing.Commitment{{Name: "sp", Where: m, PerHour: usd(0.12), Discount: 40, Paid: true}}, 6, "0.13 map[m.large:1 m.large(sp):2]"},
		{"discounted first", "half of 0.1 less 40%: 0.03, four times 0.12", pricing.Adjust(pricing.Listed(), pricing.Percent{By: -50}),
			[]pricing.Commitment{{Name: "sp", Where: m, PerHour: usd(0.12), Discount: 40}}, 8, "0.12 map[m.large(sp):4]"},
		{"two", "the cheaper one first", nil, []pricing.Commitment{{Name: "ri", Where: m, Instances: 1, Discount: 70}, {Name: "sp", Where: m, PerHour: usd(0.07), Discount: 40}}, 6,
			"0.19 map[m.large:1 m.large(ri):1 m.large(sp):1]"},
		{"elsewhere", "spot is not covered unless it is named", nil, []pricing.Commitment{{Name: "ri", Where: pricing.Match{Types: []string{"s.*"}}, Instances: 2, Discount: 99}}, 2,
			"0.1 map[m.large:1]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			spot := machine("s.large", 2, 0.2)
			spot.Offerings[0].CapacityType = "spot"
			p := problem(tc.pods, machine("m.large", 2, 0.1), spot)
			r := apply(t, p, pricing.Model{Pricer: tc.pricer, Commitments: tc.commitments})
			if got := bought(t, r.Problem); got != tc.want {
				t.Errorf("bought for %s, want %s: %s", got, tc.want, tc.reason)
			}
		})
	}
}

// Fees come on top of what is under a commitment already, and use nothing of it.
func TestFeesOfCommittedOfferings(t *testing.T) {
	p := problem(4, machine("m.large", 2, 0.1))
	it := p.Pools[0].InstanceTypes[0]
	it.Offerings = append(it.Offerings, scheduling.Offering{Zone: "a", CapacityType: "on-demand", Price: scheduling.PriceFromFloat(0.06), Commitment: "sp"})
	p.Commitments = []scheduling.Commitment{{Name: "sp", PerHour: scheduling.PriceFromFloat(0.12)}}
	r := apply(t, p, pricing.Model{Pricer: pricing.Adjust(pricing.Listed(), pricing.Percent{By: 50}, pricing.Fee{Per: pricing.PerHour(0.01, "USD")})})
	if got, want := bought(t, r.Problem), "0.14 map[m.large(sp):2]"; got != want {
		t.Errorf("bought for %s, want %s: twice 0.06, agreed, and the fee", got, want)
	}
}

func TestFaults(t *testing.T) {
	usd, eur := pricing.PerHour(1, "USD"), pricing.PerHour(1, "EUR")
	listed := func(a ...pricing.Adjustment) pricing.Pricer { return pricing.Adjust(pricing.Listed(), a...) }
	for _, tc := range []struct {
		name  string
		model pricing.Model
		want  string
	}{
		{"currency of a fee", pricing.Model{Pricer: listed(pricing.Fee{Name: "agent", Per: eur})},
			`pools["main"].instanceTypes["m.large"].offerings[0] (a on-demand): agent: 1 EUR an hour for each node of everything is in EUR, the price that it changes in USD; write all`},
		{"currency of a rate", pricing.Model{Pricer: pricing.Flat(pricing.Quoted(eur, "", ""))},
			`pools["main"].instanceTypes["m.large"].offerings[0] (a on-demand): its price is in EUR, the problem's are in USD; convert it`},
		{"currency of a commitment", pricing.Model{Commitments: []pricing.Commitment{{Name: "c", PerHour: eur, Discount: 1}}}, `commitments[0].perHour: is in EUR, the problem's prices in USD`},
		{"no currency", pricing.Model{Pricer: listed(pricing.Fixed{By: pricing.PerHour(1, "")})}, `in no currency, the price that it changes in USD`},
		{"NaN", pricing.Model{Pricer: listed(pricing.Fixed{By: pricing.PerHour(math.NaN(), "USD")})}, `pricer.changes[0].by: is no amount of money`},
		{"too much off", pricing.Model{Pricer: listed(pricing.Percent{By: -101})}, `pricer.changes[0].by: -101 percent cannot be; take off 100 percent at most`},
		{"negative fee", pricing.Model{Pricer: pricing.First(pricing.Listed(), listed(pricing.Fee{Per: pricing.PerHour(-1, "USD")}))}, `pricer[1].changes[0].per: -1 USD is below 0`},
		{"bad glob", pricing.Model{Pricer: pricing.Only(pricing.Match{Types: []string{"m[."}}, pricing.Listed())}, `pricer.where.types[0]: "m[." is no glob`},
		{"age without a date", pricing.Model{MaxAge: time.Hour}, `now: is not set, but maxAge is`},
		{"no name", pricing.Model{Commitments: []pricing.Commitment{{Discount: 5}}}, `commitments[0].name: the commitment has no name`},
		{"same name", pricing.Model{Commitments: []pricing.Commitment{{Name: "c", Discount: 5}, {Name: "c", Discount: 5}}}, `commitments[1].name: "c" is the name of another one`},
		{"two kinds", pricing.Model{Commitments: []pricing.Commitment{{Name: "c", Instances: 1, PerHour: usd, Discount: 5}}}, `commitments[0].instances: 1 instances, and 1 USD an hour`},
		{"no price", pricing.Model{Commitments: []pricing.Commitment{{Name: "c"}}}, `commitments[0].discount: neither or both`},
		{"two prices", pricing.Model{Commitments: []pricing.Commitment{{Name: "c", Price: usd, Discount: 5}}}, `commitments[0].discount: neither or both`},
		{"too large a discount", pricing.Model{Commitments: []pricing.Commitment{{Name: "c", Discount: 140}}}, `commitments[0].discount: 140 percent cannot be`},
		{"never used", pricing.Model{Commitments: []pricing.Commitment{{Name: "c", PerHour: usd, Discount: 100}}}, `commitments[0].perHour: is used by machines that cost nothing`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := pricing.Apply(problem(0, machine("m.large", 2, 0.1, "b/on-demand=0.1")), tc.model)
			if err == nil || r != nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestFindings(t *testing.T) {
	day := func(s string) time.Time { d, _ := time.Parse(time.DateOnly, s); return d }
	old := pricing.Flat(pricing.Quoted(pricing.PerHour(0.05, "USD"), "2025-01-31", "contract"))
	c := pricing.Match{Types: []string{"c.*"}}
	p := problem(0, machine("m.large", 2, 0.1, "b/on-demand=0.11"), machine("c.large", 2, -1))
	p.Pools[0].InstanceTypes[1].Offerings = append(p.Pools[0].InstanceTypes[1].Offerings, scheduling.Offering{Zone: "b", Unavailable: true})
	for _, tc := range []struct {
		name, reason string
		model        pricing.Model
		want         []string
	}{
		{"unknown", "one that could be bought", pricing.Model{}, []string{`Unknown pools["main"].instanceTypes["c.large"].offerings[0] (a on-demand): 1 offerings have no price and are never bought`}},
		{"fresh", "29 days are no more than 30", pricing.Model{Pricer: pricing.Only(pricing.Match{Types: []string{"m.*"}}, pricing.Listed()), Now: day("2026-08-30"), MaxAge: 30 * 24 * time.Hour},
			[]string{"Unknown "}},
		{"stale", "the list is, and of the contract nobody asked", pricing.Model{Now: day("2026-09-01"), MaxAge: 30 * 24 * time.Hour},
			[]string{`Stale pools["main"].instanceTypes["m.large"].offerings[0] (a on-demand): 2 prices from list are of 2026-08-01, 31 days ago; look for newer ones`, "Unknown "}},
		{"only the contract", "each source has its date", pricing.Model{Pricer: pricing.First(pricing.Only(c, old), pricing.Listed()), Now: day("2026-08-02"), MaxAge: 30 * 24 * time.Hour},
			[]string{`Stale pools["main"].instanceTypes["c.large"].offerings[0] (a on-demand): 2 prices from contract are of 2025-01-31, 548 days ago`}},
		{"no date", "could be any", pricing.Model{Pricer: pricing.Flat(pricing.Quoted(pricing.PerHour(1, "USD"), "last year", "")), Now: day("2026-08-02"), MaxAge: time.Hour},
			[]string{`Stale pools["main"].instanceTypes["c.large"].offerings[0] (a on-demand): 4 prices from (unknown) are of unknown age, since "last year" is no date`}},
		{"lost", "had a price, and the pricer knows none", pricing.Model{Pricer: pricing.Only(pricing.Match{Zones: []string{"b"}}, pricing.Listed())},
			[]string{`Lost pools["main"].instanceTypes["m.large"].offerings[0] (a on-demand): 1 offerings had a price`, "Unknown "}},
		{"misspelt", "selects nothing", pricing.Model{Pricer: pricing.Adjust(pricing.Listed(), pricing.Percent{Where: pricing.Match{Types: []string{"m7*"}}, By: -5}),
			Commitments: []pricing.Commitment{{Name: "ri", Instances: 1, Discount: 5, Where: pricing.Match{Zones: []string{"x"}}}}},
			[]string{"Unknown ", `Unmatched commitments[0]: commitment ri: 5% less for on-demand in x, up to 1 nodes matches no offering`, `Unmatched pricer.changes[0]: -5% on m7* matches no offering`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, f := range apply(t, p, tc.model).Findings {
				got = append(got, string(f.Kind)+" "+f.String())
			}
			if !slices.EqualFunc(got, tc.want, strings.HasPrefix) {
				t.Errorf("found\n%s\nwant\n%s\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"), tc.reason)
			}
		})
	}
}

// Pools that share a type share it afterwards, unless their prices differ; what does not change is the same value.
func TestApplySharesTypes(t *testing.T) {
	m, c := machine("m.large", 2, 0.1), machine("c.large", 2, 0.1)
	p := problem(0, m, c)
	p.Pools = append(p.Pools, scheduling.Pool{Name: "other", InstanceTypes: []*scheduling.InstanceType{m, c}}, scheduling.Pool{Name: "third", InstanceTypes: []*scheduling.InstanceType{m}})
	r := apply(t, p, pricing.Model{Pricer: pricing.Adjust(pricing.Listed(), pricing.Percent{Where: pricing.Match{Types: []string{"m.*"}}, By: -5},
		pricing.Percent{Where: pricing.Match{Pools: []string{"other"}, Types: []string{"m.*"}}, By: -5})})
	q := r.Problem.Pools
	if q[0].InstanceTypes[1] != c || q[1].InstanceTypes[1] != c || q[0].InstanceTypes[0] == m {
		t.Error("c.large is another value, or m.large is none")
	}
	if q[0].InstanceTypes[0] != q[2].InstanceTypes[0] || q[0].InstanceTypes[0] == q[1].InstanceTypes[0] {
		t.Error("main and third do not share m.large, or main and other do")
	}
	want := []string{"-5% on m.*", "-5% on m.* of pool other"}
	if got := r.Problem.Catalog.Adjustments; !slices.Equal(got, want) {
		t.Errorf("the catalogue says %q, want %q", got, want)
	}
}
