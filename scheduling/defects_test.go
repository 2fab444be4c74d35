package scheduling_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/scenario"
	"github.com/fleetwright/fleetwright/scheduling"
)

// solveText solves a problem in the notation of scenario files; Verify has to accept the plan.
func solveText(t *testing.T, text string) (*scheduling.Problem, *scheduling.Document) {
	t.Helper()
	s, err := scenario.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	d, rendered := solveScenario(t, s)
	if d == nil {
		t.Fatal(rendered)
	}
	return s.Problem, d
}

// whereabouts tells where pods are, one "name: zone" a pod, and the code of those left over.
func whereabouts(p *scheduling.Problem, d *scheduling.Document) string {
	zones := map[string]string{}
	for i := range p.Nodes {
		zones[p.Nodes[i].Name] = p.Nodes[i].Labels[corev1.LabelTopologyZone]
	}
	at := map[string]string{}
	for _, l := range d.Launches {
		for _, pod := range l.Pods {
			at[pod] = l.Zone
		}
	}
	for _, x := range d.Placements {
		at[x.Pod] = zones[x.Node]
	}
	for _, u := range d.Unplaced {
		at[u.Pod] = string(u.Reason.Code)
	}
	var out []string
	for _, pod := range slices.Sorted(maps.Keys(at)) {
		out = append(out, strings.TrimPrefix(pod, "default/")+": "+at[pod])
	}
	return strings.Join(out, ", ")
}

// countByZone counts the pods of a label app=NAME in each zone, running ones included.
func countByZone(p *scheduling.Problem, d *scheduling.Document, prefix string) map[string]int {
	out := map[string]int{}
	for _, part := range strings.Split(whereabouts(p, d), ", ") {
		if name, where, ok := strings.Cut(part, ": "); ok && strings.HasPrefix(name, prefix) {
			out[where]++
		}
	}
	return out
}

// TestDefects has the seven defects that were reproduced in Karpenter's scheduler, each with the input that shows it.
func TestDefects(t *testing.T) {
	t.Run("1 minDomains tells spreads apart", testMinDomainsIdentity)
	t.Run("2 two spreads over one key", testTwoSpreadsOverOneKey)
	t.Run("3 relaxing forgets no placements", testRelaxingKeepsCounts)
	t.Run("4 terms of DaemonSets stay", testDaemonSetTermsStay)
	t.Run("5 Exists beside NotIn", testExistsBesideNotIn)
	t.Run("6 every run gives the same plan", testEveryRunIsTheSame)
	t.Run("7 limits charge what is launched", testLimitsChargeWhatIsLaunched)
}

// Two pods a zone run already. Without minDomains another may join; with three domains asked for and two there the least
// count is 0, and none may. If both were one group, the first by name would decide for the other.
func testMinDomainsIdentity(t *testing.T) {
	const plain, wide = "spread=zone:1:of=group=g", "spread=zone:1:of=group=g:min=3"
	for _, tt := range []struct{ first, second, want string }{
		{plain, wide, "first: a, second: TopologySpread"},
		{wide, plain, "first: TopologySpread, second: a"},
	} {
		p, d := solveText(t, `
type small cpu=2 memory=8Gi zones=a,b price=0.10
pool default types=small
node na cpu=4 memory=16Gi zone=a
node nb cpu=1 memory=16Gi zone=b
pods 2 in-a cpu=100m labels=group=g node=na
pods 2 in-b cpu=500m labels=group=g node=nb
pods 1 first cpu=100m labels=group=g `+tt.first+`
pods 1 second cpu=100m labels=group=g `+tt.second+`
solve
`)
		if got := whereabouts(p, d); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

// Counts are {a:0 b:1 c:1} and {a:1 b:0 c:0}, the skew is 2: each zone is legal for both. Karpenter takes the zone with the least
// count for each spread, and the two have none in common.
func testTwoSpreadsOverOneKey(t *testing.T) {
	for _, only := range []string{"a", "b", "c"} {
		p, d := solveText(t, `
type small cpu=2 memory=8Gi zones=a,b,c price=0.10
pool default types=small
node na cpu=1 memory=16Gi zone=a
node nb cpu=1 memory=16Gi zone=b
node nc cpu=1 memory=16Gi zone=c
pods 1 y-1 cpu=1 labels=y=1 node=na
pods 1 x-1 cpu=1 labels=x=1 node=nb
pods 1 x-2 cpu=1 labels=x=1 node=nc
pods 1 web cpu=500m labels=x=1,y=1 spread=zone:2:of=x=1:affinity=ignore,zone:2:of=y=1:affinity=ignore selector=zone=`+only+`
solve
`)
		if got, want := whereabouts(p, d), "web: "+only; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Three pods must be in zone a. Two others, which need a node each, are spread with them and have something to give up or a term that nobody meets.
// Karpenter makes a new count when it relaxes them, which does not know of the three, and puts one in a: a skew of 3.
func testRelaxingKeepsCounts(t *testing.T) {
	for _, loose := range []string{
		`affinity="zone In [z] | zone In [a b]"`, `prefer="1 zone In [z]"`, `together=zone:1:of=ghost`, `spread=zone:1,host:1:soft`,
	} {
		if !strings.Contains(loose, "spread") {
			loose += " spread=zone:1"
		}
		p, d := solveText(t, `
type small cpu=2 memory=8Gi zones=a,b price=0.10
pool default types=small
pods 3 web-a cpu=300m labels=app=web selector=zone=a
pods 2 web-b cpu=1200m labels=app=web `+loose+`
solve
`)
		if got := countByZone(p, d, "web"); got["a"] != 3 || got["b"] != 2 {
			t.Errorf("%s: got %v, want 3 in a and 2 in b: %s", loose, got, whereabouts(p, d))
		}
	}
}

// The agent's terms are fam=a or fam=b. Karpenter drops the first for good when it comes to type b1, and takes a2 for a node
// without the agent.
func testDaemonSetTermsStay(t *testing.T) {
	for _, types := range []string{"a1,b1,a2", "a2,b1,a1", "b1,a1,a2", "a1,a2,b1"} {
		_, d := solveText(t, `
type a1 cpu=2 memory=8Gi price=0.10 labels=fam=a
type b1 cpu=2 memory=8Gi price=0.10 labels=fam=b
type a2 cpu=2 memory=8Gi price=0.10 labels=fam=a
pool default types=`+types+`
daemonset agent cpu=500m affinity="fam In [a] | fam In [b]"
pods 1 on-a1 cpu=1500m selector=type=a1
pods 1 on-b1 cpu=1500m selector=type=b1
pods 1 on-a2 cpu=1500m selector=type=a2
pods 1 too-large cpu=1501m selector=type=a2
solve
`)
		for _, l := range d.Launches {
			if !slices.Equal(l.DaemonSets, []string{"default/agent"}) {
				t.Errorf("types %s: %s runs %v, want the agent", types, l.InstanceType, l.DaemonSets)
			}
		}
		if len(d.Launches) != 3 || len(d.Unplaced) != 1 || d.Unplaced[0].Pod != "default/too-large" {
			t.Errorf("types %s: got %d launches and %v left over, want all but too-large placed", types, len(d.Launches), d.Unplaced)
		}
	}
}

// "k exists" and "k is not x" together still ask for k, and so does a bound; Karpenter forgets it, and forgets the exclusion when it
// writes a requirement with a bound.
func testExistsBesideNotIn(t *testing.T) {
	for _, tt := range []struct{ affinity, labels, want string }{
		{"k Exists; k NotIn [x]", "", "web: LabelsNotMet"},
		{"k NotIn [x]; k Exists", "", "web: LabelsNotMet"},
		{"k Gt [3]; k NotIn [5]", "", "web: LabelsNotMet"},
		{"k Gt [3]; k NotIn [5]", "labels=k=5", "web: LabelsNotMet"},
		{"k Gt [3]; k NotIn [5]", "labels=k=6", "web: a"},
		{"k Exists; k NotIn [x]", "labels=k=y", "web: a"},
	} {
		p, d := solveText(t, `
type small cpu=2 memory=8Gi price=0.10 `+tt.labels+`
pool default types=small
node n1 cpu=4 memory=16Gi zone=b
pods 1 web cpu=500m affinity="`+tt.affinity+`"
solve
`)
		if got := whereabouts(p, d); got != tt.want {
			t.Errorf("%s with %q: got %s, want %s", tt.affinity, tt.labels, got, tt.want)
		}
	}
	set, err := scheduling.ParseRequirements([]scheduling.Requirement{
		{Key: "k", Operator: corev1.NodeSelectorOpGt, Values: []string{"3"}},
		{Key: "k", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"5"}},
	}, scheduling.LabelRules{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(set.List()), "[k Gte [4] k NotIn [5]]"; got != want {
		t.Errorf("written as %s, want %s", got, want)
	}
}

// Karpenter gave other groups of pods in three of five runs of this input: 300 pods in 11 shapes, spread over zones, and 365 types.
func testEveryRunIsTheSame(t *testing.T) {
	var b strings.Builder
	var types []string
	for i := range 365 {
		cpu, ratio := 1+i%24, []int{2, 4, 8}[i%3]
		name := fmt.Sprintf("t%03d", i)
		types = append(types, name)
		// Prices repeat, so that there are ties to break.
		fmt.Fprintf(&b, "type %s cpu=%d memory=%dGi zones=a,b,c price=0.%03d spot=0.%03d\n",
			name, 2*cpu, 2*cpu*ratio, 10*cpu+ratio, 4*cpu+ratio)
	}
	fmt.Fprintf(&b, "pool default types=%s\n", strings.Join(types, ","))
	for i := range 11 {
		count := 27
		if i < 3 {
			count = 28
		}
		fmt.Fprintf(&b, "pods %d app%02d cpu=%dm memory=%dMi spread=zone:1 apart=host:%d:of=app%02d\n",
			count, i, 100+130*i, 200+700*(i%4), 1+i, (i+1)%11)
	}
	b.WriteString("solve\n")
	_, first := solveText(t, b.String())
	if first.Totals.Pods != 300 {
		t.Fatalf("%d of 300 pods placed", first.Totals.Pods)
	}
	want := marshal(t, first)
	for run := range 4 {
		s, err := scenario.Parse(b.String())
		if err != nil {
			t.Fatal(err)
		}
		s.Options.Parallelism = 1 + run
		if run%2 == 1 {
			reverse(s.Problem)
		}
		plan, err := scheduling.Solve(t.Context(), s.Problem, s.Options)
		if err != nil {
			t.Fatal(err)
		}
		if got := marshal(t, plan.Document()); !bytes.Equal(got, want) {
			t.Errorf("run %d gives another plan", run+2)
		}
	}
}

// Eight pods that must not share a node, under a limit of 64 CPU. Karpenter charges the largest type that a node might become,
// opens two, and lets six pods wait.
func testLimitsChargeWhatIsLaunched(t *testing.T) {
	p, d := solveText(t, `
type c2 cpu=2 memory=4Gi price=0.10
type c8 cpu=8 memory=16Gi price=0.40
type c32 cpu=32 memory=64Gi price=1.60
pool default types=c2,c8,c32 limits=cpu=64
pods 8 web cpu=1 apart=host
solve
`)
	if len(d.Launches) != 8 || len(d.Unplaced) != 0 {
		t.Errorf("got %d nodes, want 8: %s", len(d.Launches), whereabouts(p, d))
	}
	worst := int64(0)
	for _, l := range d.Launches {
		largest := int64(0)
		for _, a := range l.Alternatives {
			largest = max(largest, map[string]int64{"c2": 2, "c8": 8, "c32": 32}[a.InstanceType])
		}
		worst += largest
	}
	if worst > 64 {
		t.Errorf("if every launch falls back to its largest alternative there are %d CPU, and 64 are allowed", worst)
	}
}
