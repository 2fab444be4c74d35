package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/golden"
	"github.com/fleetwright/fleetwright/scheduling"
)

const (
	csvPods  = "pod,count,cpu_milli,memory_mib\nworker,5,1500,2048\n"
	fewPods  = "pod,group,count,cpu_milli,memory_mib,max_per_node\nsolo,,3,100,128,1\na,pair,4,100,128,2\nb,pair,2,200,128,2\nfree,,4,100,128,\n"
	jsonPods = `{"schema":"pod-groups/v1","kind":"test","region":"us-west-2","groups":1,"pods":4,` +
		`"nodePools":[{"name":"west","requirements":[{"key":"kubernetes.io/arch","operator":"In","values":["arm64"]}]}],` +
		`"daemonSets":[{"name":"agent","requests":{"cpu":"100m","memory":"100Mi"}}]}` + "\n" +
		`{"name":"job","replicas":4,"owner":"Job","requests":{"cpu":"1500m","memory":"2Gi"},"labels":{"app":"job"}}` + "\n"
	overlays = "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: gift}\n" +
		"spec: {price: '0.001', requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m7g.large]}]}\n---\n" +
		"apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: typo}\n" +
		"spec: {price: '0.001', requirements: [{key: karpenter.k8s.aws/instance-familiy, operator: In, values: [m7g]}]}\n"
	giant = "apiVersion: v1\nkind: Pod\nmetadata: {name: giant, namespace: default}\n" +
		"spec:\n  containers: [{name: c, image: c, resources: {requests: {cpu: \"5000\"}}}]\n"
)

// command runs the program in this process.
func command(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(args, strings.NewReader(stdin), &out, &errs)
	return status, out.String(), errs.String()
}

// inputs writes files that tests name as $DIR/name.
func inputs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"pods.csv": csvPods, "few.csv": fewPods, "pods.jsonl": jsonPods, "giant.yaml": giant,
		"broken.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a\n",
		"pod.json":    `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"j"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}`,
		"negative.yaml": strings.Replace(giant, `"5000"`, `"-1"`, 1) + "---\n" +
			strings.NewReplacer(`"5000"`, "1O0m", "giant", "typo").Replace(giant),
		"contradiction.yaml": "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: both}\nspec:\n  template:\n    spec:\n" +
			"      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}\n      requirements:\n" +
			"      - {key: kubernetes.io/arch, operator: In, values: [amd64]}\n      - {key: kubernetes.io/arch, operator: In, values: [arm64]}\n",
		"strange.yaml": "apiVersion: example.com/v1\nkind: Gizmo\nmetadata: {name: g}\n---\n" + strings.Replace(giant, "5000", "1", 1) + "  frobnicate: true\n",
		"noise.yaml":   strings.Repeat("- x\n---\n", 12000),
		"bad.csv":      "pod,cpu_milli,memory_mib\na,-5,100\nb,many,100\n",
		"plan.json":    `{"schema":"fleetwright.dev/plan/v9"}`,
		"problem.json": `{"schema":"fleetwright.dev/problem/v1","podz":[]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if ext := filepath.Ext(name); ext == ".csv" || ext == ".jsonl" {
			var zipped bytes.Buffer
			z := gzip.NewWriter(&zipped)
			_, err := io.WriteString(z, text)
			if err := cmpErr(err, z.Close(), os.WriteFile(filepath.Join(dir, name+".gz"), zipped.Bytes(), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func cmpErr(errs ...error) error {
	i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if i < 0 {
		return nil
	}
	return errs[i]
}

// words splits at spaces, or at bars where an argument has spaces.
func words(args string) []string {
	if strings.Contains(args, "|") {
		return strings.Split(args, "|")
	}
	return strings.Fields(args)
}

func TestRun(t *testing.T) {
	dir := inputs(t)
	tests := []struct {
		name, reason string
		args         string // $DIR stands for the directory of inputs.
		stdin        string
		status       int
		stdout       []string // Each is there,
		stderr       []string // and so is each of these; none: nothing at all.
	}{
		{name: "help", reason: "asked for, so it goes to standard output and is no error",
			args: "-h", stdout: []string{"Usage:", "Exit status", "-replay"}},
		{name: "no flags", reason: "the embedded cluster has one pod that fits nowhere, and why is said",
			status: leftOver, stdout: []string{"1 pod left over", "batch/currency-rates", "needs 400", "USD", "planned in"}, stderr: []string{"example cluster"}},
		{name: "a directory", reason: "everything fits",
			args: "-f testdata/small", stdout: []string{"m7g.", "3 pods"}},
		{name: "files", reason: "-f may be repeated, and what refers to what does not depend on the file",
			args: "-f testdata/small/web.yaml -f testdata/small/pools.yaml", stdout: []string{"plain", "3 pods"}},
		{name: "standard input", reason: "- is where kubectl writes to",
			args: "-f - -f testdata/small/pools.yaml", stdin: strings.Replace(giant, "5000", "1", 1), stdout: []string{"plain", "1 pod"}},
		{name: "overlay", reason: "a price of one's own decides, and a label that nobody has is named",
			args: "-f testdata/small -f -", stdin: overlays, stdout: []string{"m7g.large", "0.001"}, stderr: []string{"NodeOverlay typo", "instance-familiy: check its spelling"}},
		{name: "JSON object", reason: "kubectl get -o json", args: "-f $DIR/pod.json -f testdata/small/pools.yaml", stdout: []string{"1 pod:"}},
		{name: "no pools", reason: "pods alone get a pool, and the reader is told",
			args: "-f testdata/small/web.yaml", stdout: []string{"default"}, stderr: []string{`no NodePool`, `"default"`}},
		{name: "rows", reason: "a CSV has no pools either",
			args: "-pods $DIR/pods.csv", stdout: []string{"5 pods", "us-east-1"}, stderr: []string{"no NodePool"}},
		{name: "gzipped rows", reason: "traces come gzipped",
			args: "-pods $DIR/pods.csv.gz", stdout: []string{"5 pods"}, stderr: []string{"no NodePool"}},
		{name: "groups", reason: "the file brings pools and a region of its own",
			args: "-pods $DIR/pods.jsonl", stdout: []string{"4 pods", "west", "us-west-2"}},
		{name: "gzipped groups", reason: "as above",
			args: "-pods $DIR/pods.jsonl.gz", stdout: []string{"4 pods", "west"}},
		{name: "rows with pools from elsewhere", reason: "then the stand-in pool is not wanted",
			args: "-pods $DIR/pods.csv -f testdata/small/pools.yaml", stdout: []string{"plain", "5 pods"}},
		{name: "region", reason: "beats the file's", args: "-pods $DIR/pods.jsonl -region eu-west-1", stdout: []string{"eu-west-1a", "4 pods"}},
		{name: "cluster elsewhere", reason: "the embedded cluster goes where it is told",
			args: "-region eu-west-1", status: leftOver, stdout: []string{"eu-west-1", "1 pod left over"}, stderr: []string{"example cluster"}},
		{name: "nodes elsewhere", reason: "they do not move with -region, and silence would mislead", args: "-f cluster -region eu-west-1",
			status: leftOver, stdout: []string{"no new nodes"}, stderr: []string{"warning: node ip-10-0-12-41.ec2.internal is in us-east-1, not in eu-west-1"}},
		{name: "types", reason: "globs choose", args: "-pods $DIR/pods.csv -types m8g.*,c8g.* -capacity-types on-demand",
			stdout: []string{"8g.", "on-demand"}, stderr: []string{"no NodePool"}},
		{name: "arch", reason: "the embedded payments pool is amd64 only, so its pods are left over",
			args: "-arch arm64", status: leftOver, stdout: []string{"payments/"}, stderr: []string{"example cluster"}},
		{name: "capacity types", reason: "what asks for spot is left over",
			args: "-capacity-types on-demand", status: leftOver, stdout: []string{"on-demand", "spot"}, stderr: []string{"example cluster"}},
		{name: "explain", reason: "the pod with the missing m",
			args: "-explain batch/currency-rates-29393405-00000", status: leftOver, stdout: []string{"needs 400"}, stderr: []string{"example cluster"}},
		{name: "explain by name alone", reason: "nobody likes to type namespaces",
			args: "-f testdata/small -explain web-00001", stdout: []string{"default/web-00001", "m7g."}},
		{name: "steps", reason: "a budget that runs out leaves pods over",
			args: "-steps 1", status: leftOver, stdout: []string{"not looked at"}, stderr: []string{"example cluster"}},
		{name: "preferences", reason: "accepted", args: "-f testdata/small -preferences ignore", stdout: []string{"3 pods"}},
		{name: "effort", reason: "accepted", args: "-f testdata/small -effort fast", stdout: []string{"3 pods"}},
		{name: "default effort", reason: "has a name too", args: "-f testdata/small -effort default", stdout: []string{"3 pods"}},
		{name: "best effort", reason: "a JSON plan says so", args: "-f testdata/small -effort best -o json", stdout: []string{`"effort": "Best"`}},
		{name: "warnings go on", reason: "a kind and a field nobody knows cost nothing but a line each",
			args: "-f $DIR/strange.yaml -f testdata/small/pools.yaml", stdout: []string{"1 pod"},
			stderr: []string{"warning", "not used: 1 Gizmo of example.com/v1", "strange.yaml document 2, line 10", "frobnicate"}},
		{name: "nothing to plan", reason: "an empty directory is likely a mistake, though not a fault", args: "-f $DIR/empty", stdout: []string{"no new nodes"}, stderr: []string{"no pods"}},
		{name: "spaces between globs", reason: "as people write lists", args: "-f|testdata/small|-types|m7g.large,  m7g.xlarge", stdout: []string{"3 pods"}},
		{name: "too large", reason: "a plan with a pod left over has a status of its own",
			args: "-f $DIR/giant.yaml", status: leftOver, stdout: []string{"giant", "5000"}, stderr: []string{"no NodePool"}},

		{name: "unknown flag", reason: "bad input", args: "-frob", status: badInput, stderr: []string{"-frob", "-h"}},
		{name: "argument", reason: "a forgotten -f", args: "testdata/small", status: badInput, stderr: []string{"-f testdata/small"}},
		{name: "unknown output", reason: "says which there are", args: "-o xml", status: badInput, stderr: []string{"text or json or nodes"}},
		{name: "unknown policy", reason: "says which there are", args: "-preferences maybe", status: badInput, stderr: []string{"respect or ignore"}},
		{name: "unknown effort", reason: "says which there are", args: "-effort Best", status: badInput, stderr: []string{`"Best"`, "-effort", "fast or default or best"}},
		{name: "negative steps", reason: "bad input", args: "-steps -1", status: badInput, stderr: []string{"negative"}},
		{name: "replay with types", reason: "the problem has its types already", args: "-replay x -types m7g.*", status: badInput, stderr: []string{"leave out"}},
		{name: "two views", reason: "one at a time", args: "-explain a -diff b", status: badInput, stderr: []string{"choose one"}},
		{name: "explain as JSON", reason: "there is no such thing", args: "-explain a -o json", status: badInput, stderr: []string{"leave out -o"}},
		{name: "no such file", reason: "bad input", args: "-f $DIR/nowhere.yaml", status: badInput, stderr: []string{"nowhere.yaml", "no such file"}},
		{name: "no such pod", reason: "bad input", args: "-f testdata/small -explain web-9", status: badInput, stderr: []string{"web-9", "namespace/name"}},
		{name: "rows as objects", reason: "the wrong flag", args: "-f $DIR/pods.csv", status: badInput, stderr: []string{"-pods"}},
		{name: "a dozen thousand faults", reason: "nobody reads them all", args: "-f $DIR/noise.yaml", status: badInput, stderr: []string{"... and 11900 more"}},
		{name: "malformed YAML", reason: "file and line are named", args: "-f $DIR/broken.yaml", status: badInput, stderr: []string{"error", "broken.yaml document 1, line 2"}},
		{name: "unusable quantities", reason: "both are listed, with places", args: "-f $DIR/negative.yaml", status: badInput,
			stderr: []string{"document 1, line 5", "-1", "document 2, line 11", "1O0m", "listed above"}},
		{name: "contradictory pool", reason: "no node can be amd64 and arm64", args: "-f $DIR/contradiction.yaml -f testdata/small/web.yaml",
			status: badInput, stderr: []string{"contradiction.yaml", "kubernetes.io/arch"}},
		{name: "bad rows", reason: "both lines are listed", args: "-pods $DIR/bad.csv", status: badInput, stderr: []string{"bad.csv", "line 2", "line 3"}},
		{name: "unknown region", reason: "says which there are", args: "-region us-east-9", status: badInput, stderr: []string{"us-east-9", "us-west-2"}},
		{name: "unknown types", reason: "suggests some", args: "-types m9z.*", status: badInput, stderr: []string{"m9z.*", "did you mean"}},
		{name: "unknown arch", reason: "bad input", args: "-arch vax", status: badInput, stderr: []string{"vax"}},
		{name: "unknown capacity type", reason: "bad input", args: "-capacity-types free", status: badInput, stderr: []string{"free"}},
		{name: "plan of another version", reason: "it is not compared blindly", args: "-f testdata/small -diff $DIR/plan.json", status: badInput, stderr: []string{"plan/v9"}},
		{name: "problem with an unknown field", reason: "it may be a constraint", args: "-replay $DIR/problem.json", status: badInput, stderr: []string{"podz"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if testing.Short() && tt.args != "" && (slices.Contains(tt.stderr, "example cluster") || strings.Contains(tt.args, "-f cluster")) {
				t.Skip("one plan of the whole cluster is enough for a short run")
			}
			status, stdout, stderr := command(tt.stdin, words(strings.ReplaceAll(tt.args, "$DIR", dir))...)
			if status != tt.status {
				t.Errorf("status %d, want %d: %s", status, tt.status, tt.reason)
			}
			for _, want := range tt.stdout {
				if !strings.Contains(stdout, want) {
					t.Errorf("standard output lacks %q: %s", want, tt.reason)
				}
			}
			for _, want := range tt.stderr {
				if !strings.Contains(stderr, want) {
					t.Errorf("standard error lacks %q: %s", want, tt.reason)
				}
			}
			if tt.status == badInput && stdout != "" || len(tt.stderr) == 0 && stderr != "" {
				t.Error("there is output where none is due")
			}
			if t.Failed() {
				t.Logf("plan %s\nstdout:\n%s\nstderr:\n%s", tt.args, stdout, stderr)
			}
		})
	}
}

// What a newcomer sees, as it is; read it after an update.
func TestOutput(t *testing.T) {
	file := golden.Open(t, filepath.Join("testdata", "output.golden"))
	for _, args := range []string{
		"", "-explain shop/pricing-00005", "-explain batch/currency-rates-29393405-00000", "-f testdata/small -o json", "-f testdata/small -o nodes",
		"-f testdata/crowded", "-f testdata/crowded -explain quorum-2",
	} {
		_, stdout, stderr := command("", strings.Fields(args)...)
		file.Check(t, strings.TrimSpace("go run ./examples/plan "+args), withoutTiming(stdout)+stderr)
	}
}

var (
	textTiming = regexp.MustCompile(`(?m)^planned in .*\n`)
	jsonTiming = regexp.MustCompile(`(?s),\s*"timing": \{[^}]*\}`)
)

func withoutTiming(s string) string {
	return jsonTiming.ReplaceAllString(textTiming.ReplaceAllString(s, ""), "")
}

func TestClusterPlanIsValid(t *testing.T) {
	for _, args := range [][]string{nil, {"-region", "eu-west-1"}, {"-capacity-types", "on-demand", "-preferences", "ignore"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			if testing.Short() && len(args) > 0 {
				t.Skip("Verify takes a second for each of these")
			}
			var c config
			if err := flags(&c).Parse(args); err != nil {
				t.Fatal(err)
			}
			problem, err := c.problem(nil, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := scheduling.Solve(context.Background(), problem, &c.options)
			if err != nil {
				t.Fatal(err)
			}
			if err := scheduling.Verify(problem, plan); err != nil {
				t.Error(err)
			}
			if len(problem.Pods) < 400 || len(args) == 0 && (plan.Totals.Unplaced != 1 || len(plan.Placements) == 0) {
				t.Errorf("%d pods, %+v, %d placements; want 400 pods or more, one of them left over, and existing nodes in use",
					len(problem.Pods), plan.Totals, len(plan.Placements))
			}
		})
	}
}

func TestReplayGivesTheSamePlan(t *testing.T) {
	dir := inputs(t)
	for _, args := range []string{"", "-steps 5000", "-pods " + dir + "/pods.jsonl", "-f testdata/small -preferences ignore"} {
		t.Run(args, func(t *testing.T) {
			if testing.Short() && args == "" {
				t.Skip("plans for the whole cluster twice")
			}
			dump := filepath.Join(t.TempDir(), "problem.json")
			status, first, _ := command("", append(strings.Fields(args), "-o", "json", "-dump", dump)...)
			replay := []string{"-replay", dump, "-o", "json"}
			if _, options, ok := strings.Cut(args, "-steps"); ok {
				replay = append(replay, "-steps", strings.TrimSpace(options))
			}
			if strings.Contains(args, "-preferences") {
				replay = append(replay, "-preferences", "ignore")
			}
			again, second, stderr := command("", replay...)
			if status != again || withoutTiming(first) != withoutTiming(second) {
				t.Errorf("status %d and %d, plans of %d and %d bytes; %s", status, again, len(first), len(second), stderr)
			}
			if first == "" || !json.Valid([]byte(first)) {
				t.Errorf("no JSON: %.200s", first)
			}
		})
	}
}

func TestOrderOfInputDoesNotMatter(t *testing.T) {
	files, err := filepath.Glob("cluster/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var forward, backward []string
	for _, f := range files {
		forward = append(forward, "-f", f)
		backward = append([]string{"-f", f}, backward...)
	}
	_, want, _ := command("", "-o", "json")
	orders := [][]string{backward, forward, {"-f", "cluster"}}
	if testing.Short() {
		orders = orders[:1]
	}
	for _, args := range orders {
		if _, got, stderr := command("", append(args, "-o", "json")...); withoutTiming(got) != withoutTiming(want) {
			t.Errorf("%v gives another plan; %s", args, stderr)
		}
	}
}

func TestJSONKeys(t *testing.T) {
	_, stdout, _ := command("", "-o", "json")
	var plan map[string]json.RawMessage
	if err := json.Unmarshal([]byte(stdout), &plan); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"launches":   "pool instanceType zone capacityType pricePerHour alternatives labels taints allocatable requests pods",
		"placements": "pod node",
		"unplaced":   "pod reason",
		"totals":     "pricePerHour lowerBoundPerHour gapPercent nodes pods unplaced",
		"pools":      "pool pricePerHour podsPricePerHour daemonSetsPricePerHour strandedPricePerHour resources",
		"timing":     "solveMillis loadMillis",
	} {
		// Of a list, some element has the key: a node without taints need not say so.
		var list []map[string]json.RawMessage
		if err := json.Unmarshal(plan[key], &list); err != nil {
			list = make([]map[string]json.RawMessage, 1)
			if err := json.Unmarshal(plan[key], &list[0]); err != nil {
				t.Errorf("%s: %v", key, err)
			}
		}
		for _, k := range strings.Fields(want) {
			if !slices.ContainsFunc(list, func(m map[string]json.RawMessage) bool { return m[k] != nil }) {
				t.Errorf("%s has no %q", key, k)
			}
		}
	}
	var reasons struct {
		Unplaced []struct {
			Reason struct {
				Code, Message string
				Nearest       struct{ Pool, InstanceType, Resource string }
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &reasons); err != nil || len(reasons.Unplaced) != 1 {
		t.Fatal(reasons, err)
	}
	if r := reasons.Unplaced[0].Reason; r.Code != "TooLarge" || r.Message == "" || r.Nearest.Pool != "general" || r.Nearest.Resource != "cpu" {
		t.Errorf("reason is %+v", r)
	}
}

// The nodes that a plan launches, once they are there, hold what they were launched for.
func TestNodesAreInputAgain(t *testing.T) {
	_, nodes, _ := command("", "-o", "nodes")
	if n := strings.Count(nodes, "\nkind: Node\n"); n < 10 {
		t.Fatalf("%d nodes:\n%.500s", n, nodes)
	}
	status, stdout, stderr := command(nodes, "-f", "-", "-f", "testdata/small/web.yaml", "-f", "cluster/00-nodepools.yaml", "-o", "json")
	var plan scheduling.Document
	if err := json.Unmarshal([]byte(stdout), &plan); err != nil {
		t.Fatal(err, stderr)
	}
	if status != planned || len(plan.Launches) != 0 || len(plan.Placements) != 3 || stderr != "" {
		t.Errorf("status %d, %+v; want the pods on the nodes that are there; %s", status, plan.Totals, stderr)
	}
}

func TestDiff(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "plan.json")
	_, before, _ := command("", "-f", "testdata/small", "-o", "json")
	if err := os.WriteFile(saved, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, stdout, stderr := command("", "-f", "testdata/small", "-diff", saved); status != planned || stdout != "no difference\n" {
		t.Errorf("the same plan: status %d, %s%s", status, stdout, stderr)
	}
	if _, stdout, stderr := command("", "-f", "testdata/small", "-types", "m7g.large", "-diff", saved); !strings.Contains(stdout, "m7g.large") {
		t.Errorf("another plan: %s%s", stdout, stderr)
	}
}

// A list of pods without pools is placed on one pool that is open to every type the flags allow, without DaemonSets, and
// no node has more of a group than its rows say.
func TestRowsAlone(t *testing.T) {
	status, stdout, stderr := command("", "-pods", filepath.Join(inputs(t), "few.csv"), "-region", "eu-west-1", "-types", "m7g.*,t4g.*", "-capacity-types", "on-demand", "-o", "json")
	var plan scheduling.Document
	if err := json.Unmarshal([]byte(stdout), &plan); err != nil {
		t.Fatal(status, err, stderr)
	}
	if plan.Totals.Pods != 13 || len(plan.Launches) < 3 || len(plan.Placements) > 0 || plan.Catalog.Region != "eu-west-1" {
		t.Fatalf("%+v in %s; want all 13 pods on 3 nodes or more, for 6 of them must be two on a node", plan.Totals, plan.Catalog.Region)
	}
	offered := map[string]bool{}
	for _, l := range plan.Launches {
		if l.Pool != "default" || len(l.Taints)+len(l.DaemonSets) > 0 || l.CapacityType != "on-demand" || !strings.HasPrefix(l.Zone, "eu-west-1") {
			t.Errorf("launch %+v", l)
		}
		for _, a := range l.Alternatives {
			family, _, _ := strings.Cut(a.InstanceType, ".")
			offered[family] = true
		}
		count := map[string]int{}
		for _, pod := range l.Pods {
			row, _, _ := strings.Cut(strings.TrimPrefix(pod, "default/"), "-")
			count[row]++
		}
		if count["solo"] > 1 || count["a"]+count["b"] > 2 {
			t.Errorf("%v on one node; at most one solo and two of the pair may be", l.Pods)
		}
	}
	if !offered["m7g"] || !offered["t4g"] || len(offered) != 2 {
		t.Errorf("families %v are open to it, want those of -types", offered)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestOutputThatCannotBeWritten(t *testing.T) {
	if got := run([]string{"-f", "testdata/small"}, nil, brokenPipe{}, io.Discard); got != ourFault {
		t.Errorf("status %d, want %d", got, ourFault)
	}
}
