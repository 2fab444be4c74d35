package scheduling

import (
	"fmt"
	"math"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetwright/fleetwright/internal/golden"
)

func TestTextGolden(t *testing.T) {
	golden.Check(t, "testdata/document/plan.txt", demoPlan(planProblem()).Document().Text(TextOptions{}))
}

func TestExplainGolden(t *testing.T) {
	d := demoPlan(planProblem()).Document()
	var b strings.Builder
	for _, pod := range []string{"shop/web-3", "train-1", "shop/api-1", "big-1", "data/sql-1", "shop/spare-1", "ml/arm-1", "ops/late-1"} {
		text, ok := d.ExplainPod(pod)
		if !ok {
			t.Errorf("%s is not found", pod)
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	golden.Check(t, "testdata/document/explain.txt", b.String())
}

func TestExplainNames(t *testing.T) {
	d := demoPlan(planProblem()).Document()
	for _, name := range []string{"", "shop", "shop/", "web", "/web-1", "other/web-1"} {
		if text, ok := d.ExplainPod(name); ok {
			t.Errorf("%q is found: %s", name, text)
		}
	}
	d.NotEvaluated = append(d.NotEvaluated, "other/web-1")
	text, ok := d.ExplainPod("web-1")
	if want := "web-1 is the name of several pods: other/web-1, shop/web-1; give the namespace too\n"; !ok || text != want {
		t.Errorf("%q, want %q", text, want)
	}
}

// wideDocument has as many kinds of everything as a plan may have, with long names.
func wideDocument(pods, kinds int) *Document {
	d := &Document{Schema: PlanSchema, Catalog: Catalog{AsOf: strings.Repeat("2", 99), Source: strings.Repeat("s", 999), Currency: "USD"}}
	long := strings.Repeat("long-name-", 25)
	requests, allocatable := list("cpu", "3", "memory", "9Gi"), list("cpu", "4", "memory", "10Gi")
	for i := range pods / 2 {
		k := i % kinds
		d.Launches = append(d.Launches, LaunchDocument{
			Pool: fmt.Sprintf("pool-%d-%s", k%10, long), InstanceType: fmt.Sprintf("type-%d-%s", k, long),
			Zone: fmt.Sprintf("zone-%d-%s", i%7, long), CapacityType: "on-demand-" + long,
			Price: PriceFromNano(int64(k) * 1e6), Requests: requests, Allocatable: allocatable,
			Weighed: WeighedDocument{PodsPrice: PriceFromNano(1e5), RunnerUp: &AlternativeDocument{InstanceType: long, Price: PriceFromNano(math.MaxInt64)}},
			Pods:    []string{fmt.Sprintf("%s/pod-%d", long, i)},
		})
	}
	for i := range pods / 2 {
		d.Unplaced = append(d.Unplaced, UnplacedDocument{
			Pod:    fmt.Sprintf("%s/left-%d", long, i),
			Reason: ReasonDocument{Code: Code(fmt.Sprintf("Code%d-%s", i%50, long)), Message: fmt.Sprint(i%kinds, strings.Repeat(long, 9))},
		})
		d.NotEvaluated = append(d.NotEvaluated, long)
	}
	for i := range kinds {
		d.Relaxed = append(d.Relaxed, RelaxedDocument{Pods: []string{long}, Given: []string{fmt.Sprint(i, strings.Repeat(long, 9))}})
	}
	for i := range d.Unplaced {
		r := &d.Unplaced[i].Reason
		for k := range 100 {
			r.Domains, r.InTheWay = append(r.Domains, DomainCount{fmt.Sprint(k, long), int32(k), long}), append(r.InTheWay, long)
		}
		if i == 10 {
			break // Only ExplainPod looks at them, one pod at a time.
		}
	}
	for i := range kinds {
		d.Pools = append(d.Pools, PoolDocument{Pool: fmt.Sprint(i, long), Nodes: i, Price: PriceFromNano(4e15),
			PodsPrice: PriceFromNano(2e15), DaemonsPrice: PriceFromNano(1e15), StrandedPrice: PriceFromNano(1e15)})
		for k := range 9 {
			d.Pools[i].Resources = append(d.Pools[i].Resources, ResourceDocument{
				Name: corev1.ResourceName(fmt.Sprint(k, long)), Stranded: resource.MustParse("1234567890123"), StrandedPercent: 1_000_000,
			})
		}
		d.BoundLeavesOut = append(d.BoundLeavesOut, fmt.Sprint(i, long))
	}
	d.Totals = Totals{
		Price: PriceFromNano(math.MaxInt64), LowerBound: PriceFromNano(1), Nodes: math.MaxInt, Pods: math.MaxInt,
		Unplaced: math.MaxInt, NotEvaluated: math.MaxInt,
	}
	return d
}

func TestTextIsBounded(t *testing.T) {
	d := wideDocument(100_000, 1000)
	text := d.Text(TextOptions{})
	if len(text) > 10_000 {
		t.Errorf("text of a large plan has %d bytes, want at most 10,000:\n%s", len(text), text)
	}
	for _, want := range []string{"more kinds of launches", "more reasons", "more pools"} {
		if !strings.Contains(text, want) {
			t.Errorf("text lacks %q: what is cut must be counted\n%s", want, text)
		}
	}
	other := wideDocument(50_000, 999)
	for i := range other.Launches {
		other.Launches[i].Pool = fmt.Sprint("x", i)
	}
	if diff := Diff(d, other).String(); len(diff) > 8000 {
		t.Errorf("text of a large difference has %d bytes", len(diff))
	}
	if text, ok := d.ExplainPod(d.Launches[0].Pods[0]); !ok || len(text) > 3000 {
		t.Errorf("explanation has %d bytes", len(text))
	}
	if text, ok := d.ExplainPod(d.Unplaced[0].Pod); !ok || len(text) > 6000 || !strings.Contains(text, "and 84 more domains") {
		t.Errorf("explanation has %d bytes:\n%s", len(text), text)
	}
	small := d.Text(TextOptions{Groups: 2, Reasons: 1})
	if strings.Count(small, "[") != 4+poolRows || !strings.Contains(small, "998 more kinds") || !strings.Contains(small, "999 more reasons") {
		t.Errorf("options are not heeded:\n%s", small)
	}
}

func TestTextIsPlain(t *testing.T) {
	d := demoPlan(planProblem()).Document()
	d.Launches[0].Pool, d.Unplaced[0].Pod, d.Catalog.Source = "a\x1b[2Jb", "\a\nx/y", "caf\u00e9\xff"
	text := d.Text(TextOptions{})
	for _, c := range text {
		if c != '\n' && (c < ' ' || c > '~') {
			t.Fatalf("text has %q in it: a name must not control a terminal\n%s", c, text)
		}
	}
}

func TestTextOfSmallPlans(t *testing.T) {
	tests := []struct {
		name, reason string
		document     Document
		want         []string
	}{
		{"empty", "nothing to say, but say so", Document{}, []string{"no new nodes\n", "prices: unknown source, of unknown date"}},
		{"only existing nodes", "costs nothing more", Document{
			Placements: []PlacementDocument{{"a/b", "n1"}, {"a/c", "n1"}}, Totals: Totals{Pods: 2, Price: PriceFromNano(0)}},
			[]string{"no new nodes; 2 pods on 1 existing node"}},
		{"price unknown", "never shown as 0", Document{
			Launches: []LaunchDocument{{Pool: "a", InstanceType: "b", Pods: []string{"c/d"}}}, Totals: Totals{Nodes: 1, Pods: 1}},
			[]string{"1 new node for 1 pod, price unknown", "unknown"}},
		{"optimal", "no gap", Document{Totals: Totals{Nodes: 1, Price: PriceFromNano(5e8), LowerBound: PriceFromNano(5e8)}},
			[]string{"no plan for these pods costs less: that is proven"}},
		{"some bound", "rounded up, never down", Document{BoundLeavesOut: []string{"topology spread", "limits"},
			Totals: Totals{Nodes: 1, Price: PriceFromNano(6e8 + 1), LowerBound: PriceFromNano(5e8)}},
			[]string{"at most 20.01% above a proven bound of 0.5000 per hour, which leaves out topology spread, limits\n"}},
		{"worthless bound", "nothing is claimed", Document{Totals: Totals{Nodes: 1, Price: PriceFromNano(5e8), LowerBound: PriceFromNano(0)}},
			[]string{"730 hours\n\nprices"}},
		{"loose bound", "a factor reads better than thousands of percent",
			Document{Totals: Totals{Nodes: 1, Price: PriceFromNano(6e9), LowerBound: PriceFromNano(5e8)}}, []string{"at most 12.0 times a proven bound of 0.5000 per hour"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.document.Text(TextOptions{})
			for _, w := range tt.want {
				if !strings.Contains(text, w) {
					t.Errorf("text lacks %q (%s):\n%s", w, tt.reason, text)
				}
			}
		})
	}
}

func TestZonesText(t *testing.T) {
	tests := []struct {
		zones []string
		want  string
	}{
		{nil, ""},
		{[]string{"us-east-1a"}, "us-east-1a"},
		{[]string{"us-east-1a", "us-east-1b"}, "us-east-1{a,b}"},
		{[]string{"us-east-1", "us-east-1-atl-1a"}, "us-east-1{,-atl-1a}"},
		{[]string{"a", "b"}, "a,b"},
	}
	for _, tt := range tests {
		if got := zonesText(tt.zones); got != tt.want {
			t.Errorf("%v gives %q, want %q", tt.zones, got, tt.want)
		}
	}
}

func TestAmounts(t *testing.T) {
	tests := []struct {
		name   string
		res    corev1.ResourceName
		amount int64
		round  round
		want   string
	}{
		{"millicores", "cpu", 250, down, "0.25 CPU"},
		{"exact millicores", "cpu", 191450, up, "191.45 CPU"},
		{"whole", "cpu", 8000, up, "8 CPU"},
		{"one millicore", "cpu", 1, down, "0.001 CPU"},
		{"negative", "cpu", -1500, down, "-1.5 CPU"},
		{"smallest number", "cpu", math.MinInt64, down, "-9223372036854775.808 CPU"},
		{"GiB", "memory", 25 << 29, down, "12.5 GiB memory"},
		{"what there is, down", "memory", 16<<30 - 1, down, "15.99 GiB memory"},
		{"what is wanted, up", "memory", 16<<30 + 1, up, "16.01 GiB memory"},
		{"MiB", "memory", 100 << 20, up, "100 MiB memory"},
		{"bytes", "memory", 12, down, "12 bytes memory"},
		{"no bytes", "memory", 0, down, "0 bytes memory"},
		{"disk", "ephemeral-storage", 3 << 40, down, "3 TiB ephemeral-storage"},
		{"huge pages", "hugepages-2Mi", 4 << 20, down, "4 MiB hugepages-2Mi"},
		{"count", "nvidia.com/gpu", 8, down, "8 nvidia.com/gpu"},
		{"pods", "pods", 110, down, "110 pods"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := amountText(tt.res, tt.amount, tt.round); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// manyPods is a plan that puts pods on launches of a few shapes, four to a node.
func manyPods(n int) *Plan {
	p := planProblem()
	p.Pods = plainPods(n)
	plan := demoPlan(planProblem())
	plan.problem = p
	plan.Launches, plan.Placements, plan.Unplaced, plan.Relaxed = nil, nil, nil, nil
	plan.NotEvaluated, plan.BindOrder = nil, nil
	for i := int32(0); int(i)+4 <= n; i += 4 {
		plan.Launches = append(plan.Launches, Launch{Shape: i / 4 % 2, Pods: []int32{i, i + 1, i + 2, i + 3}})
	}
	return plan
}

func BenchmarkDocument(b *testing.B) {
	plan := manyPods(100_000)
	d := plan.Document()
	b.Run("build", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			plan.Document()
		}
	})
	b.Run("text", func(b *testing.B) {
		for range b.N {
			d.Text(TextOptions{})
		}
	})
	b.Run("diff", func(b *testing.B) {
		for range b.N {
			Diff(d, d)
		}
	})
}
