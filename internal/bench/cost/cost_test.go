package main

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fleetwright/fleetwright/scheduling"
)

func TestEffortsFlag(t *testing.T) {
	for _, c := range []struct{ text, want, err string }{
		{"default", "default", ""},
		{"best,fast", "fast,best", ""},
		{"fast,default,best,fast", "fast,default,best", ""},
		{"Best", "best", ""},
		{"slow", "", `"Slow" is not known`},
	} {
		var e efforts
		err := e.Set(c.text)
		switch {
		case c.err == "" && (err != nil || e.String() != c.want):
			t.Errorf("%s: got %s and %v, want %s", c.text, e.String(), err, c.want)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: got error %v, want one with %q", c.text, err, c.err)
		}
	}
}

func TestSources(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv.gz", "b.jsonl", "bounds.csv", "x-nodes.csv", "README.md", "generator.py"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const missing = "/nowhere/generator.py"
	for _, tt := range []struct {
		name, reason string
		in           config
		want         []string
		skipped      int
		err          string
	}{
		{"files", "tables and texts are no workloads", config{match: "*"}, []string{"a.csv.gz", "b.jsonl"}, 0, ""},
		{"match", "several globs", config{match: "a*,c*"}, []string{"a.csv.gz"}, 0, ""},
		{"no generator", "what cannot be had is said", config{match: "*", generate: "simple:3", generator: missing}, []string{"a.csv.gz", "b.jsonl"}, 1, ""},
		{"not chosen", "what nobody asked for is not skipped", config{match: "a*", generate: "simple:3", generator: missing}, []string{"a.csv.gz"}, 0, ""},
		{"glob", "a malformed one is an error", config{match: "["}, nil, 0, "syntax error in pattern"},
		{"kind", "there are six", config{match: "*", generate: "odd:3"}, nil, 0, `"odd:3" is not KIND:SEED`},
		{"number", "seeds and pods are numbers", config{match: "*", generate: "simple:3:many"}, nil, 0, `"many" in "simple:3:many" is not a number above 0`},
	} {
		tt.in.dir = dir
		sources, skipped, err := tt.in.sources()
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s (%s): got error %v, want one with %q", tt.name, tt.reason, err, tt.err)
			}
			continue
		}
		var names []string
		for _, s := range sources {
			names = append(names, s.name)
		}
		if err != nil || !slices.Equal(names, tt.want) || len(skipped) != tt.skipped {
			t.Errorf("%s (%s): got %v, skipped %v, %v; want %v and %d skipped", tt.name, tt.reason, names, skipped, err, tt.want, tt.skipped)
		}
	}
}

func TestGeneratorArguments(t *testing.T) {
	got, err := config{generate: "gpu-ml:7,simple:8:1000"}.generated()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []source{
		{name: "gpu-ml-s7 (generated)", arguments: []string{"gpu-ml", "--seed", "7", "--region", "us-east-1"}},
		{name: "simple-s8-1000 (generated)", arguments: []string{"simple", "--seed", "8", "--region", "us-east-1", "--pods", "1000"}},
	} {
		if got[i].name != want.name || !slices.Equal(got[i].arguments, want.arguments) {
			t.Errorf("got %+v, want %+v", got[i], want)
		}
	}
}

func TestReadBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bounds.csv")
	content := "workload,offers,region,pods,bound,ffd_largest,greedy\na.csv,x,r,5,1.5,2,3\na.csv,y,r,6,1,,\n"
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readBounds(path, "x")
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]check{"a.csv": {region: "r", pods: 5, bound: 1.5, ffd: 2, greedy: 3}}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, err := readBounds(path+".none", "x"); got != nil || err != nil {
		t.Errorf("no file: got %v, %v", got, err)
	}
	if err := os.WriteFile(path, []byte("a,b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readBounds(path, "x"); err == nil || !strings.Contains(err.Error(), "has no column workload") {
		t.Errorf("wrong table: got %v", err)
	}
}

// at is a plan for ten pods but those left over.
func at(effort scheduling.Effort, price, lower float64, left ...int32) outcome {
	return outcome{
		effort: effort, price: scheduling.PriceFromFloat(price), lower: scheduling.PriceFromFloat(lower),
		placed: 10 - len(left), left: left, took: time.Second,
	}
}

func TestMisses(t *testing.T) {
	const fast, usual, best = scheduling.EffortFast, scheduling.EffortDefault, scheduling.EffortBest
	peer := func(price float64, left ...int32) *outcome { o := at(0, price, 0, left...); return &o }
	broken := peer(90)
	broken.fault = errors.New("pod on two nodes")
	late := outcome{late: true, took: time.Minute}
	slow := at(best, 100, 100)
	slow.took = 61 * time.Second
	faulty := at(usual, 100, 100)
	faulty.fault = errors.New("pod on two nodes")
	for _, tt := range []struct {
		name, reason string
		row          row
		want         string // parts, each in its place; empty: no miss
	}{
		{"fast", "nothing is promised of it", row{ours: []outcome{at(fast, 200, 100)}}, ""},
		{"kept", "6 % at the default effort, 2 % at Best", row{ours: []outcome{at(usual, 106, 90), at(best, 102, 100)}}, ""},
		{"each", "the bound of one effort is for all", row{ours: []outcome{at(usual, 107, 90), at(best, 103, 100)}},
			"Default: 7.00 % above the bound, promised 6 %: 1.00 too much|Best: 3.00 % above"},
		{"microservices", "15 % at Best", row{kind: "microservices", ours: []outcome{at(usual, 125, 100), at(best, 116, 100)}}, "Best: 16.00 % above the bound, promised 15 %"},
		{"adversarial", "20 % at Best", row{kind: "adversarial", pods: 501, ours: []outcome{at(best, 120, 100)}}, ""},
		{"adversarial, 500", "5 % at 500 pods", row{kind: "adversarial", pods: 500, ours: []outcome{at(best, 106, 100)}}, "promised 5 %"},
		{"planted", "the optimum is a bound", row{planted: scheduling.PriceFromFloat(100), ours: []outcome{at(best, 103, 50)}}, "Best: 3.00 % above"},
		{"planted, pods left over", "the optimum is for all pods", row{planted: scheduling.PriceFromFloat(100), ours: []outcome{at(best, 81, 80, 3)}}, ""},
		{"no bound", "an unknown one shows nothing", row{ours: []outcome{{effort: best, price: scheduling.PriceFromFloat(1)}}}, "no proven bound"},
		{"bound", "another effort's plan refutes it", row{ours: []outcome{at(usual, 100, 90), at(best, 99, 99.5)}}, "BROKEN bound: 99.5 of Best is above the price 99"},
		{"other pods", "a bound for more pods says nothing of fewer", row{ours: []outcome{at(usual, 90, 80, 1), at(best, 101, 100)}}, "Default: places 1 pods fewer than Best"},
		{"dearer", "more effort is never dearer", row{ours: []outcome{at(fast, 100, 99), at(usual, 101, 100)}}, "Default: at 101 is dearer than Fast at 100"},
		{"slow", "a minute", row{ours: []outcome{slow}}, "Best: takes 1m1s, promised 1m0s"},
		{"fault", "what Verify says", row{ours: []outcome{faulty}}, "BROKEN plan: pod on two nodes"},
		{"bounds.csv", "proven elsewhere", row{region: "r", check: check{region: "r", pods: 10, bound: 101}, ours: []outcome{at(best, 100, 99)}}, "below the bound of bounds.csv"},
		{"bounds.csv, other region", "it is about other prices", row{region: "r", check: check{region: "s", pods: 10, bound: 101}, ours: []outcome{at(best, 100, 99)}}, ""},
		{"bounds.csv, more pods", "it is about other pods", row{region: "r", check: check{region: "r", pods: 11, bound: 101}, ours: []outcome{at(best, 100, 99)}}, ""},
		{"peer dearer", "as promised", row{peer: peer(110), ours: []outcome{at(best, 100, 99)}}, ""},
		{"peer cheaper", "never", row{peer: peer(99.5), ours: []outcome{at(best, 100, 99)}}, "Best: 100 is above the peer's price 99.5 by 0.50 %"},
		{"peer cheaper, broken", "counts, and is said", row{peer: broken, ours: []outcome{at(best, 100, 99)}}, "above the peer's price 90 by 11.11 % (whose plan breaks 1 rules)"},
		{"peer below the bound", "then it is none", row{peer: peer(98), ours: []outcome{at(fast, 98, 0), at(best, 98, 99)}}, "BROKEN bound: 99 of Best is above the price 98|BROKEN bound: 99 of Best is above the price 98|BROKEN bound: 99 of Best is above the peer's price 98"},
		{"peer with fewer pods", "not comparable", row{peer: peer(50, 1, 2), ours: []outcome{at(best, 100, 99)}}, ""},
		{"peer with more pods", "then ours is not the best", row{peer: peer(150), ours: []outcome{at(best, 100, 99, 4)}}, "Best: places 1 pods fewer than the peer"},
		{"peer late", "says nothing", row{peer: &late, ours: []outcome{at(best, 100, 99)}}, ""},
	} {
		got := tt.row.misses()
		want := strings.Split(tt.want, "|")
		if tt.want == "" {
			want = nil
		}
		if !slices.EqualFunc(got, want, strings.Contains) {
			t.Errorf("%s (%s): got %q, want %q", tt.name, tt.reason, got, want)
		}
	}
}

func TestAverages(t *testing.T) {
	rows := []*row{
		{name: "a", kind: "trace", ours: []outcome{at(scheduling.EffortBest, 101.5, 100)}},
		{name: "b", kind: "trace", ours: []outcome{at(scheduling.EffortBest, 100.7, 100)}},
		{name: "c", kind: "simple", ours: []outcome{at(scheduling.EffortBest, 100, 100)}},
	}
	r := report{config: config{efforts: efforts{scheduling.EffortBest}, date: "2026-11-21"}, rows: rows}
	// Traces are at 1.1 %; with simple it is less than 1 %.
	if got := r.misses(); len(got) != 1 || got[0] != "real traces, Best: 1.10 % above the bounds on average, promised 1 %" {
		t.Errorf("got %q", got)
	}
	text := r.markdown()
	for _, want := range []string{"on 2026-11-21 with", "| real traces", "1.10 % | 1 % **missed** |", "* real traces, Best: "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("asks the peer with the whole catalogue")
	}
	dir := t.TempDir()
	for name, content := range map[string]string{
		"simple-x.csv": "pod,cpu_milli,memory_mib,count\nweb,500,1024,20\n",
		"west.jsonl": `{"schema":"pod-groups/v1","kind":"microservices","region":"us-west-2","nodePools":[{"name":"p","requirements":[{"key":"topology.kubernetes.io/zone","operator":"In","values":["us-west-2a"]}]}]}
{"name":"a","replicas":3,"requests":{"cpu":"1"},"nodeSelector":{"karpenter.sh/capacity-type":"spot"}}
{"name":"b","replicas":2,"requests":{"cpu":"1"},"nodeSelector":{"kubernetes.io/arch":"arm64"}}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := config{
		dir: dir, match: "*", efforts: efforts{scheduling.EffortFast, scheduling.EffortBest}, runs: 1, peer: time.Minute, workers: 1,
		generate: "simple:3", generator: filepath.Join(dir, "none.py"), file: filepath.Join(dir, "COST.md"), date: "2026-11-21",
	}
	var out strings.Builder
	if _, err := run(t.Context(), c, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| simple-x.csv |   20 |", "| west.jsonl   |    5 | 2 LabelsNotMet; moved from us-west-2 |", "6 %, 2 %", "25 %, 15 %",
		"## Against Karpenter's scheduler", "* simple-s3 (generated): python3 or the generator is not here",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	if b, err := os.ReadFile(c.file); err != nil || !strings.Contains(string(b), "| west.jsonl") {
		t.Errorf("the file has %q, %v", b, err)
	}
}
