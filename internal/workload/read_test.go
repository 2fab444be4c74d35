package workload

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/extdata"
	"github.com/fleetwright/fleetwright/scheduling"
)

func mustRead(t *testing.T, name string) *Workload {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := Read(f, name)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func names(pods []*corev1.Pod) []string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Namespace+"/"+p.Name)
	}
	return out
}

func TestGroups(t *testing.T) {
	w := mustRead(t, "shop.jsonl")
	if w.Region != "eu-west-1" || w.Kind != "sample" || w.Planted != scheduling.PriceFromFloat(0.214) {
		t.Errorf("meta: region %q, kind %q, planted %v", w.Region, w.Kind, w.Planted)
	}
	want := []string{
		"default/web-00000", "default/web-00001", "default/web-00002",
		"default/db-00000", "default/db-00001", "default/render-00000", "default/shell",
	}
	if d := cmp.Diff(want, names(w.Pods)); d != "" {
		t.Fatalf("pods (-want +got):\n%s", d)
	}
	web, db, render := w.Pods[0], w.Pods[3], w.Pods[5]

	two := 2
	wantPools := []scheduling.Pool{
		{Name: "general", Weight: 10, Requirements: []scheduling.Requirement{
			{Key: "kubernetes.io/arch", Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}},
			{Key: "karpenter.k8s.aws/instance-family", Operator: corev1.NodeSelectorOpExists, MinValues: &two},
		}},
		{Name: "gpu", Labels: map[string]string{"example.com/team": "vision"},
			Taints: []corev1.Taint{{Key: "nvidia.com/gpu", Effect: corev1.TaintEffectNoSchedule}}},
	}
	if d := cmp.Diff(wantPools, w.Pools); d != "" {
		t.Errorf("pools (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"kube-system/node-agent"}, names(w.DaemonSets)); d != "" {
		t.Errorf("daemon sets (-want +got):\n%s", d)
	}
	if got := w.DaemonSets[0].Spec.Tolerations; len(got) != 1 || got[0].Operator != corev1.TolerationOpExists || got[0].Key != "" {
		t.Errorf("a DaemonSet runs on every node, but tolerates only %v", got)
	}

	for _, tt := range []struct{ name, reason, want, got string }{
		{"spread", "spreads over pods of the same app", "app=web", labelsOf(web.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels)},
		{"owner", "a Deployment's pods belong to a ReplicaSet", "ReplicaSet web", web.OwnerReferences[0].Kind + " " + web.OwnerReferences[0].Name},
		{"gpu limit", "extended resources are limited to the request", "1", quantity(render.Spec.Containers[0].Resources.Limits, "nvidia.com/gpu")},
		{"no cpu limit", "only Guaranteed pods limit cpu", "none", quantity(render.Spec.Containers[0].Resources.Limits, "cpu")},
		{"guaranteed", "limits equal requests", "8Gi", quantity(db.Spec.Containers[0].Resources.Limits, "memory")},
		{"zero", "a request of 0 is a request", "0", quantity(w.Pods[6].Spec.Containers[0].Resources.Requests, "cpu")},
	} {
		if tt.got != tt.want {
			t.Errorf("%s (%s): got %q, want %q", tt.name, tt.reason, tt.got, tt.want)
		}
	}
	if web.Spec.Priority == nil || *web.Spec.Priority != 1000 {
		t.Errorf("priority %v, want 1000", web.Spec.Priority)
	}
	if weight := web.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].Weight; weight != 50 {
		t.Errorf("preferred anti-affinity has weight %d, want 50", weight)
	}
	if len(render.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) != 1 {
		t.Error("an affinity that does not say is required")
	}
	terms := db.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	wantTerms := []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
		{Key: "karpenter.k8s.aws/instance-cpu", Operator: corev1.NodeSelectorOpGt, Values: []string{"3"}},
		{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"eu-west-1a", "eu-west-1b"}},
	}}}
	if d := cmp.Diff(wantTerms, terms); d != "" {
		t.Errorf("the zones of volumes hold besides the affinity (-want +got):\n%s", d)
	}
}

func labelsOf(m map[string]string) string {
	var out []string
	for k, v := range m {
		out = append(out, k+"="+v)
	}
	return strings.Join(out, ",")
}

func quantity(list corev1.ResourceList, name corev1.ResourceName) string {
	q, ok := list[name]
	if !ok {
		return "none"
	}
	return q.String()
}

func TestRows(t *testing.T) {
	w := mustRead(t, "trace.csv")
	want := []string{"default/web_1", "default/web_2", "default/etl-00000", "default/etl-00001", "default/etl-00002", "default/train"}
	if d := cmp.Diff(want, names(w.Pods)); d != "" {
		t.Fatalf("pods (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]scheduling.Pool{{Name: "default"}}, w.Pools); d != "" {
		t.Errorf("pools (-want +got):\n%s", d)
	}
	web, etl, train := w.Pods[0].Spec, w.Pods[2].Spec, w.Pods[5].Spec
	term := web.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
	if term.TopologyKey != corev1.LabelHostname || labelsOf(term.LabelSelector.MatchLabels) != "group=web" {
		t.Errorf("one pod per node: got %v", term)
	}
	if s := etl.TopologySpreadConstraints; len(s) != 1 || s[0].MaxSkew != 2 || s[0].TopologyKey != corev1.LabelHostname || s[0].WhenUnsatisfiable != corev1.DoNotSchedule {
		t.Errorf("two pods per node: got %v", s)
	}
	gpu := train.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions
	wantGPU := []corev1.NodeSelectorRequirement{{
		Key: "karpenter.k8s.aws/instance-gpu-name", Operator: corev1.NodeSelectorOpIn, Values: []string{"t4", "a10g"},
	}}
	if d := cmp.Diff(wantGPU, gpu); d != "" {
		t.Errorf("gpu models (-want +got):\n%s", d)
	}
	for name, want := range map[corev1.ResourceName]string{"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "2"} {
		if got := quantity(train.Containers[0].Resources.Requests, name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestFormatsAreToldApart(t *testing.T) {
	pack := func(s string) string {
		var buf bytes.Buffer
		z := gzip.NewWriter(&buf)
		_, _ = io.WriteString(z, s)
		_ = z.Close()
		return buf.String()
	}
	groups := "{\"schema\":\"pod-groups/v1\"}\n{\"name\":\"a\"}\n"
	rows := "pod,cpu_milli,memory_mib\na,1,1\n"
	for _, tt := range []struct{ name, reason, file, content string }{
		{"jsonl", "by name", "x.jsonl", groups},
		{"jsonl.gz", "by name and magic number", "x.jsonl.gz", pack(groups)},
		{"csv", "by name", "x.csv", rows},
		{"csv.gz", "by name and magic number", "dir/X.CSV.GZ", pack(rows)},
		{"standard input", "a group begins with a brace", "-", groups},
		{"packed standard input", "magic number, then brace", "-", pack(groups)},
		{"rows on standard input", "no brace", "-", rows},
		{"unpacked on the way", "the name still says gz", "x.csv.gz", rows},
		{"byte order mark", "spreadsheets write one", "x.csv", "\ufeff" + rows},
	} {
		w, err := Read(iotest.OneByteReader(strings.NewReader(tt.content)), tt.file)
		if err != nil {
			t.Errorf("%s (%s): %v", tt.name, tt.reason, err)
		} else if len(w.Pods) != 1 || w.Pods[0].Name != "a" {
			t.Errorf("%s (%s): got pods %v", tt.name, tt.reason, names(w.Pods))
		}
	}
}

func TestFaults(t *testing.T) {
	const head = `{"schema":"pod-groups/v1"}` + "\n"
	for _, tt := range []struct{ name, reason, file, content, want string }{
		{"empty", "an empty file is not an empty workload", "f.jsonl", "", "f.jsonl the file is empty; begin with a meta record"},
		{"empty rows", "no header either", "f.csv", "", "f.csv line 1: the file is empty; begin with a line of column names"},
		{"no meta", "a group is no meta record", "f.jsonl", `{"name":"a"}`, `line 1, schema: "" is not known`},
		{"no object", "position within the line", "f.jsonl", head + `{"name" 1}`, "line 2: is not a JSON object: invalid character '1' after object key at column 9"},
		{"null", "null is an object to encoding/json", "f.jsonl", head + `null`, "line 2: is not a JSON object: null"},
		{"unknown field", "typing errors must not be dropped", "f.jsonl", head + `{"name":"a","replica":2}`, `line 2, "replica": is no field of this record; known fields: labels, name,`},
		{"unknown inner field", "nor deeper down", "f.jsonl", head + `{"name":"a","topologySpread":[{"skew":1}]}`, `line 2, topologySpread: unknown field "skew"`},
		{"wrong kind", "in words of the format", "f.jsonl", head + `{"name":"a","replicas":"two"}`, "line 2, replicas: a string does not do, this is a whole number"},
		{"fraction", "1.5 pods", "f.jsonl", head + `{"name":"a","replicas":1.5}`, "line 2, replicas: a number 1.5 does not do, this is a whole number"},
		{"bad quantity", "letter O", "f.jsonl", head + `{"name":"a","requests":{"cpu":"1O"}}`, `line 2, requests.cpu: "1O" is not a quantity; write a number such as 2, 500m or 4Gi`},
		{"negative", "requests are at least 0", "f.jsonl", head + `{"name":"a","requests":{"cpu":"-1"}}`, `line 2, requests.cpu: "-1" is negative`},
		{"giant exponent", "must not be computed", "f.jsonl", head + `{"name":"a","requests":{"cpu":"1e999999999"}}`, `"1e999999999" is not a quantity`},
		{"negative replicas", "a count is not negative", "f.jsonl", head + `{"name":"a","replicas":-1}`, "replicas: -1 is negative; write 0 or more"},
		{"too many pods", "a typing error, not a request for memory", "f.jsonl", head + `{"name":"a","replicas":1000000000}`, "makes more than 5000000 pods of the file"},
		{"pool operator on pod", "Kubernetes does not know Gte", "f.jsonl", head + `{"name":"a","nodeAffinity":[{"key":"k","operator":"Gte","values":["1"]}]}`, "is for pools only; write Gt"},
		{"no values", "In without values admits nothing", "f.jsonl", head + `{"name":"a","nodeAffinity":[{"key":"k","operator":"In"}]}`, `nodeAffinity[0]: requirement "k In" has no values; list at least one`},
		{"spread without app", "would select nothing", "f.jsonl", head + `{"name":"a","topologySpread":[{"topologyKey":"z","maxSkew":1,"whenUnsatisfiable":"DoNotSchedule"}]}`, "has no label app"},
		{"preference without weight", "Kubernetes wants 1 to 100", "f.jsonl", head + `{"name":"a","podAffinity":[{"topologyKey":"z","matchLabels":{"app":"b"},"required":false}]}`, "podAffinity[0].weight: a preference needs a weight"},
		{"bad toleration", "Kubernetes refuses an empty key with Equal", "f.jsonl", head + `{"name":"a","tolerations":[{"operator":"Equal"}]}`, "tolerations[0].key: is empty"},
		{"same pod twice", "a problem wants unique names", "f.jsonl", head + `{"name":"a"}` + "\n" + `{"name":"a"}`, `line 3: makes a second pod "a", the first is of line 2`},
		{"cut short", "the meta record knows better", "f.jsonl", `{"schema":"pod-groups/v1","groups":2}` + "\n" + `{"name":"a"}`, "the meta record says 2 groups, there are 1"},
		{"same pool twice", "a pool is known by its name", "f.jsonl", `{"schema":"pod-groups/v1","nodePools":[{"name":"p"},{"name":"p"}]}`, `nodePools[1].name: "p" is there twice`},
		{"bad taint", "a taint without effect does nothing", "f.jsonl", `{"schema":"pod-groups/v1","nodePools":[{"name":"p","taints":[{"key":"k"}]}]}`, `nodePools[0].taints[0].effect: "" is not an effect`},
		{"unknown column", "a list of nodes is not a list of pods", "f.csv", "node,cpu_milli,memory_mib\n", `line 1, "node": is no column of a list of pods`},
		{"no number", "column and remedy", "f.csv", "pod,cpu_milli,memory_mib\na,1O,1\n", `line 2, cpu_milli: "1O" is not a whole number in range; write a number from 0 to`},
		{"missing field", "values would shift to the wrong column", "f.csv", "pod,cpu_milli,memory_mib\na,1\n", "line 2: has not as many fields as the first line"},
		{"bare quote", "the csv reader's own complaint is placed", "f.csv", "pod,cpu_milli,memory_mib\na\"b,1,1\n", `line 2: column 2: bare "`},
		{"cut archive", "the rest is missing", "f.csv", "\x1f\x8b\x08", "cannot be unpacked"},
	} {
		_, err := Read(strings.NewReader(tt.content), tt.file)
		if err == nil {
			t.Errorf("%s (%s): read without error", tt.name, tt.reason)
		} else if !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "workload: "+tt.file) {
			t.Errorf("%s (%s):\n got %s\nwant %s", tt.name, tt.reason, err, tt.want)
		}
	}
}

func TestSeveralFaultsAtOnce(t *testing.T) {
	file := "{\"schema\":\"pod-groups/v1\"}\n" + strings.Repeat(`{"name":"A_","owner":"Cron","requests":{"cpu":"x"}}`+"\n", 100)
	_, err := Read(strings.NewReader(file), "f.jsonl")
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want *Error", err)
	}
	if len(e.Faults) != maxFaults || e.Faults[0].Line != 2 || e.Faults[2].Field != "requests.cpu" || e.Faults[3].Line != 3 {
		t.Errorf("got %d faults, beginning with %v", len(e.Faults), e.Faults[:min(4, len(e.Faults))])
	}
}

func TestReaderErrorIsWrapped(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, file := range []string{"f.jsonl", "f.csv"} {
		r := io.MultiReader(strings.NewReader("{\"schema\":\"pod-groups/v1\"}\n"), iotest.ErrReader(broken))
		if file == "f.csv" {
			r = io.MultiReader(strings.NewReader("pod,cpu_milli,memory_mib\na,1,1\n"), iotest.ErrReader(broken))
		}
		if _, err := Read(r, file); !errors.Is(err, broken) {
			t.Errorf("%s: got %v, want it to wrap the reader's error", file, err)
		}
	}
}

// The numbers are those of the data's own README.
func TestExternalWorkloads(t *testing.T) {
	dir, ok := extdata.Dir("workloads")
	if !ok {
		t.Skip("the external workloads are not here; set FLEETWRIGHT_DATA to the directory that has workloads/")
	}
	want := map[string]int{
		"alibaba-openb-default.csv.gz": 8152, "alibaba-openb-gpuspec33.csv.gz": 8152, "alibaba-openb-cpu250.csv.gz": 9420,
		"alibaba-dlrm2025-a.csv.gz": 13517, "azure-vm-v1-a.csv.gz": 14317, "nextflow-nfcore-a.csv.gz": 843,
		"simple-s1.jsonl": 2000, "simple-s2-10k.jsonl": 10000, "simple-s3-200.csv": 200,
		"microservices-s1.jsonl": 10000, "microservices-s2-1k.jsonl": 1000, "batch-s1.jsonl": 50000, "gpu-ml-s1.jsonl": 1468,
		"adversarial-s1.jsonl.gz": 5000, "adversarial-s2-500.jsonl": 500, "planted-s1.jsonl.gz": 1500, "planted-s2-300.jsonl": 305,
	}
	for name, pods := range want {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		w, err := Read(f, name)
		_ = f.Close()
		if err != nil {
			t.Error(err)
		} else if len(w.Pods) != pods || len(w.Pools) == 0 {
			t.Errorf("%s: got %d pods and %d pools, want %d pods", name, len(w.Pods), len(w.Pools), pods)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"shop.jsonl", "trace.csv"} {
		content, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content, name)
	}
	f.Add([]byte("{\"schema\":\"pod-groups/v1\"}\n{\"name\":\"a\",\"requests\":{\"cpu\":\"1e99\"}}"), "-")
	f.Fuzz(func(t *testing.T, content []byte, name string) {
		w, err := read(bytes.NewReader(content), name, 1000, nil)
		var e *Error
		switch {
		case err != nil && (!errors.As(err, &e) || len(e.Faults) == 0 || len(e.Faults) > maxFaults || err.Error() == ""):
			t.Errorf("error says nothing: %#v", err)
		case err == nil && (len(w.Pods) > 1000 || len(w.Pools) == 0):
			t.Errorf("%d pods, %d pools", len(w.Pods), len(w.Pools))
		case err == nil:
			seen := map[string]bool{}
			for _, p := range w.Pods {
				if p.Name == "" || seen[p.Name] {
					t.Errorf("pod name %q is empty or there twice", p.Name)
				}
				seen[p.Name] = true
			}
		}
	})
}

func BenchmarkRead100k(b *testing.B) {
	file := []byte("{\"schema\":\"pod-groups/v1\"}\n")
	for i := range 200 {
		file = append(file, replicaName(`{"name":"app`, i)+`","replicas":500,"owner":"Deployment","requests":{"cpu":"100m","memory":"1Gi"},"labels":{"app":"a"}}`+"\n"...)
	}
	for b.Loop() {
		if _, err := Read(bytes.NewReader(file), "f.jsonl"); err != nil {
			b.Fatal(err)
		}
	}
}
