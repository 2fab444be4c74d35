package scheduling

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/golden"
)

// plan is a document with launches written as "type zone price: pod pod".
func planOf(t testing.TB, lines ...string) *Document {
	t.Helper()
	d := &Document{Schema: PlanSchema, Digest: "fw2-test", Totals: Totals{Price: PriceFromNano(0)}}
	for _, line := range lines {
		head, tail, ok := strings.Cut(line, ": ")
		pods := strings.Fields(tail)
		h := strings.Fields(head)
		switch {
		case ok && h[0] == "node":
			for _, p := range pods {
				d.Placements = append(d.Placements, PlacementDocument{Pod: p, Node: h[1]})
			}
			d.Totals.Pods += len(pods)
		case ok && h[0] == "left":
			for _, p := range pods {
				d.Unplaced = append(d.Unplaced, UnplacedDocument{Pod: p, Reason: ReasonDocument{Code: Code(h[1])}})
			}
			d.Totals.Unplaced += len(pods)
		case ok && h[0] == "later":
			d.NotEvaluated = append(d.NotEvaluated, pods...)
			d.Totals.NotEvaluated += len(pods)
		case ok && len(h) == 3:
			price, err := ParsePrice(h[2])
			if err != nil {
				t.Fatal(err)
			}
			d.Launches = append(d.Launches, LaunchDocument{
				Pool: "default", InstanceType: h[0], Zone: h[1], CapacityType: "spot", Price: price, Pods: pods,
			})
			d.Totals.Nodes++
			d.Totals.Pods += len(pods)
			d.Totals.Price = d.Totals.Price.plus(price)
		default:
			t.Fatalf("bad line %q", line)
		}
	}
	return d
}

func TestDiff(t *testing.T) {
	tests := []struct {
		name, reason  string
		before, after []string
		want          []string
	}{
		{"same", "nothing happened", []string{"m a 1: x/1 x/2"}, []string{"m a 1: x/1 x/2"}, []string{"no difference"}},
		{
			"identical launches in another order", "they are no change",
			[]string{"m a 1: x/1", "m a 1: x/2"}, []string{"m a 1: x/2", "m a 1: x/1"}, []string{"no difference"},
		},
		{
			"one node more", "the pods that stay together have not moved; the smaller part has",
			[]string{"m a 1: x/1 x/2 x/3"}, []string{"m a 1: x/1 x/2", "m a 1: x/3"},
			[]string{"nodes 1 -> 2, price per hour 1.0000 -> 2.0000 (+1, +100.0%), pods placed 3 -> 3", "1 -> 2", "moved: 1 pod", "such as x/3: default/m/a/spot -> default/m/a/spot"},
		},
		{
			"cheaper type, same pods", "the node changes, its pods stay together",
			[]string{"m a 1: x/1 x/2"}, []string{"l a 0.5: x/1 x/2"},
			[]string{"(-0.5, -50.0%)", "+  default  l", "-  default  m"},
		},
		{
			"price alone", "the same nodes cost more", []string{"m a 1: x/1"}, []string{"m a 1.5: x/1"},
			[]string{"launches: 1 kind", "1 -> 1  +0.5, +50.0%"},
		},
		{
			"exact match goes first", "though the other launch shares as many pods",
			[]string{"m a 1: x/1 x/2", "m b 1: x/3 x/4"}, []string{"m b 1: x/3 x/4", "m a 1: x/1 x/2 x/5"},
			[]string{"newly placed: 1 pod", "x/5: unknown -> default/m/a/spot"},
		},
		{
			"onto an existing node", "a pod moves", []string{"m a 1: x/1", "m a 1: x/2"}, []string{"m a 1: x/1", "node n1: x/2"},
			[]string{"moved: 1 pod", "x/2: default/m/a/spot -> node n1"},
		},
		{
			"left over before", "newly placed", []string{"left TooLarge: x/1", "later : x/2"}, []string{"m a 1: x/1 x/2"},
			[]string{"newly placed: 2 pods", "x/1: left over (TooLarge) -> default", "x/2: not looked at -> default"},
		},
		{
			"left over now", "newly left over, also if unknown before", []string{"m a 1: x/1"}, []string{"left PoolLimit: x/1 x/2"},
			[]string{"newly left over: 2 pods", "x/1: default/m/a/spot -> left over (PoolLimit)", "x/2: unknown -> left over"},
		},
		{"gone", "the second plan does not know it", []string{"node n1: x/1"}, []string{}, []string{"no longer there: 1 pod", "x/1: node n1 -> unknown"}},
		{"still left over", "no news", []string{"left A: x/1"}, []string{"left B: x/1"}, []string{"no difference"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := Diff(planOf(t, tt.before...), planOf(t, tt.after...))
			text := d.String()
			for _, w := range tt.want {
				if !strings.Contains(text, w) {
					t.Errorf("text lacks %q (%s):\n%s", w, tt.reason, text)
				}
			}
			if d.Empty() != slices.Equal(tt.want, []string{"no difference"}) {
				t.Errorf("Empty is %v (%s):\n%s", d.Empty(), tt.reason, text)
			}
			if back := Diff(planOf(t, tt.after...), planOf(t, tt.before...)); back.Empty() != d.Empty() || len(back.Moved) != len(d.Moved) ||
				len(back.Launches) != len(d.Launches) {
				t.Errorf("the other way round gives %s", back)
			}
		})
	}
}

func TestDiffOfOtherProblems(t *testing.T) {
	a, b := planOf(t, "m a 1: x/1"), planOf(t, "m a 1: x/1")
	b.Digest = "fw2-other"
	if d := Diff(a, b); d.SameProblem || !strings.Contains(d.String(), "different problems") {
		t.Errorf("%s", d)
	}
}

func TestDiffGolden(t *testing.T) {
	before := planOf(t, "m7i.xlarge a 0.2: x/1 x/2", "m7i.xlarge a 0.2: x/3 x/4", "m7i.xlarge b 0.2: x/5", "left TooLarge: x/6", "node n1: x/7")
	after := planOf(t, "m7i.2xlarge a 0.4: x/1 x/2 x/3", "m7i.xlarge b 0.2: x/5 x/6", "left PoolLimit: x/4", "node n2: x/7")
	d := Diff(before, after)
	golden.Check(t, "testdata/document/diff.txt", d.String())
	golden.Check(t, "testdata/document/diff.json", string(mustJSON(t, d)))
}

// Shuffling the launches of both sides changes nothing as long as no tie has to be broken, and the
// counts not even then.
func TestDiffIgnoresOrder(t *testing.T) {
	const seed = 3
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	random := func() []string {
		byNode := map[int][]string{}
		for i := range 40 {
			n := r.IntN(12)
			byNode[n] = append(byNode[n], fmt.Sprintf("x/%02d", i))
		}
		var out []string
		for n, pods := range byNode {
			out = append(out, fmt.Sprintf("t%d z%d 0.%d: %s", n%2, n%3, n+1, strings.Join(pods, " ")))
		}
		slices.Sort(out)
		return out
	}
	for range 200 {
		a, b := random(), random()
		first := Diff(planOf(t, a...), planOf(t, b...))
		if again := Diff(planOf(t, a...), planOf(t, b...)); !bytes.Equal(mustJSON(t, first), mustJSON(t, again)) {
			t.Fatal("the same documents give two differences")
		}
		second := Diff(planOf(t, shuffle(r, a)...), planOf(t, shuffle(r, b)...))
		x, _ := json.Marshal(first.Launches)
		y, _ := json.Marshal(second.Launches)
		if !bytes.Equal(x, y) {
			t.Fatalf("launches differ:\n%s\n%s", x, y)
		}
		if !Diff(planOf(t, a...), planOf(t, shuffle(r, a)...)).Empty() {
			t.Fatal("a plan differs from itself in another order")
		}
	}
}

// The bound is no part of what a plan does, but whoever compares efforts wants to see it move.
func TestDiffOfBounds(t *testing.T) {
	with := func(bound int64, launches ...string) *Document {
		d := planOf(t, launches...)
		d.Totals.LowerBound = PriceFromNano(bound)
		return d
	}
	tests := []struct {
		name, reason  string
		before, after *Document
		want          string
	}{
		{"same", "no news", with(9e8, "m a 1: x/1"), with(9e8, "m a 1: x/1"), "no difference\n"},
		{"tighter bound", "the plan is the same, what is known of it is not", with(5e8, "m a 1: x/1"), with(8e8, "m a 1: x/1"),
			"no difference\nproven bound per hour 0.5000 -> 0.8000: at most 100% above it -> at most 25% above it\n"},
		{"now proven", "no gap is left", with(4e8, "m a 1: x/1"), with(1e9, "m a 1: x/1"),
			"no difference\nproven bound per hour 0.4000 -> 1.0000: at most 2.5 times as dear -> proven to be the cheapest\n"},
		{"bound lost", "never shown as 0", with(5e8, "m a 1: x/1"), with(-1, "m a 1: x/1"),
			"no difference\nproven bound per hour 0.5000 -> unknown: at most 100% above it -> nothing proven\n"},
		{"cheaper plan", "both lines", with(5e8, "m a 1: x/1"), with(5.5e8, "m a 0.6: x/1"),
			"proven bound per hour 0.5000 -> 0.5500: at most 100% above it -> at most 9.1% above it\nlaunches: 1 kind\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := Diff(tt.before, tt.after)
			if text := d.String(); !strings.Contains(text, tt.want) || d.Empty() != strings.HasPrefix(text, "no difference") {
				t.Errorf("%s: text is\n%swant\n%s", tt.reason, text, tt.want)
			}
		})
	}
	if text := string(mustJSON(t, Diff(with(5e8, "m a 1: x/1"), with(8e8, "m a 1: x/1")))); !strings.Contains(text, `"gapPercent": 25`) {
		t.Errorf("JSON says nothing of the gap: %s", text)
	}
}
