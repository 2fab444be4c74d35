package snapshot

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"

	corev1 "k8s.io/api/core/v1"
)

// load reads one text.
func load(t *testing.T, text string) *Result {
	t.Helper()
	var l Loader
	if err := l.Read("in.yaml", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return l.Result()
}

// names lists pods as a reader of a test would.
func names(pods []*corev1.Pod) string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Namespace+"/"+p.Name)
	}
	return strings.Join(out, " ")
}

// texts lists findings, one a line.
func texts(fs []Finding) string {
	var b strings.Builder
	for _, f := range fs {
		b.WriteString(string(f.Severity) + ": " + f.String() + "\n")
	}
	return b.String()
}

const onePod = `apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec: {containers: [{name: c}]}
`

func pod(name string) string { return strings.ReplaceAll(onePod, "NAME", name) }

func TestReadForms(t *testing.T) {
	for _, tt := range []struct {
		name, reason, text, want string
	}{
		{"one document", "the plain case", pod("a"), "default/a"},
		{"documents", "--- separates", pod("a") + "---\n" + pod("b"), "default/a default/b"},
		{"helm", "comments and separators around a document are not documents",
			"---\n# Source: a\n---\n# Source: b\n" + pod("a") + "---\n\n---\n", "default/a"},
		{"separator with text", "content may follow --- on its line",
			`--- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c}]}}`, "default/a"},
		{"end marker", "... ends a document and a directive may follow",
			pod("a") + "...\n%YAML 1.1\n---\n" + pod("b"), "default/a default/b"},
		{"dashes in text", "an indented --- is text",
			strings.Replace(pod("a"), "{name: a}", "\n  name: a\n  annotations:\n    x: |\n      ---\n      y", 1), "default/a"},
		{"windows", "carriage returns end lines too", strings.ReplaceAll(pod("a")+"---\n"+pod("b"), "\n", "\r\n"), "default/a default/b"},
		{"byte order mark", "editors write it", "\xef\xbb\xbf" + pod("a"), "default/a"},
		{"utf-16", "PowerShell's > writes it", utf16LE(pod("a")), "default/a"},
		{"list", "kubectl get -o yaml",
			"apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(pod("a")), "\n", "\n  ") + "\n", "default/a"},
		{"typed list", "items of a PodList, as Go marshals them, do not say what they are",
			"apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a, namespace: x}\n  spec: {containers: [{name: c}]}\n", "x/a"},
		{"empty list", "kubectl prints it when there is nothing", "apiVersion: v1\nkind: List\nitems: []\n", ""},
		{"json", "kubectl get -o json",
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]}}`, "default/a"},
		{"json stream", "values one after the other, with escapes that YAML does not know",
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","annotations":{"u":"http:\/\/\ud83d\ude00"}},"spec":{"containers":[{"name":"c"}]}}
			 {"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"},"spec":{"containers":[{"name":"c"}]}}`, "default/a default/b"},
		{"json after separator", "mixed streams", pod("a") + "---\n" +
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"},"spec":{"containers":[{"name":"c"}]}}`, "default/a default/b"},
		{"flow yaml", "begins like JSON and is not",
			`{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c}]}}`, "default/a"},
		{"anchors", "aliases and merge keys are written out",
			"apiVersion: v1\nkind: List\nitems:\n- &base\n  apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  spec: &s {containers: [{name: c}]}\n" +
				"- <<: *base\n  metadata: {name: b}\n", "default/a default/b"},
		{"nothing", "an empty file is no fault", "", ""},
		{"comments", "neither is one of comments", "# nothing\n---\n# here\n", ""},
		{"null", "nor an explicit null", "---\nnull\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := load(t, tt.text)
			if got := names(r.Problem.Pods); got != tt.want {
				t.Errorf("pods %q, want %q: %s", got, tt.want, tt.reason)
			}
			if len(r.Findings) > 0 {
				t.Errorf("findings:\n%s%s", texts(r.Findings), tt.reason)
			}
		})
	}
}

func utf16LE(s string) string {
	b := []byte{0xff, 0xfe}
	for _, c := range s {
		b = append(b, byte(c), byte(c>>8))
	}
	return string(b)
}

// TestLargeListIsCut reads a list item by item and in one piece; both must say the same.
func TestLargeListIsCut(t *testing.T) {
	item := func(name, more string) string {
		return "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: " + name + "\n" + more + "  spec:\n    containers:\n    - name: c\n"
	}
	head, tail := "apiVersion: v1\nitems:\n", "kind: List\nmetadata:\n  resourceVersion: \"\"\n"
	indent := func(s string) string {
		return "  " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n  ") + "\n"
	}
	for _, tt := range []struct{ name, reason, text string }{
		{"kubectl", "items are not indented", head + item("a", "") + item("b", "") + tail},
		{"indented", "other printers indent", head + indent(item("a", "")+item("b", "")) + tail},
		{"kind first", "the order of keys is free", tail + head + item("a", "") + item("b", "")},
		{"typed", "the head says what the items are",
			"apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n  spec: {containers: [{name: c}]}\n- metadata: {name: b}\n  spec: {containers: [{name: c}]}\n"},
		{"quotes over lines", "a line that looks like an item is text",
			head + item("a", "    annotations:\n      x: \"one\n- two\nthree: four\"\n") + item("b", "") + item("c", "") + tail},
		{"block text", "indented dashes and separators are text",
			head + item("a", "    annotations:\n      x: |\n        - two\n        ---\n") + item("b", "") + tail},
		{"anchors", "an alias reaches into another item", head + item("a", "    labels: &l {x: y}\n") + item("b", "    labels: *l\n") + tail},
		{"broken item", "the others are read", head + item("a", "") + item("b", "    labels: [\n") + item("c", "") + tail},
		{"two broken items", "both are reported", head + item("a", "    labels: {\n") + item("b", "    labels: [\n") + item("c", "") + tail},
		{"unknown fields", "lines stay right on both sides of the items", head + item("a", "  sepc: {}\n") + item("b", "") + "items: []\n" + tail},
		{"no list", "a kind with items that is no list", "apiVersion: v1\nkind: ConfigMap\nitems:\n- a\n- b\n"},
		{"no kind", "the same complaint", "apiVersion: v1\nitems:\n- a\n- b\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			read := func(cutAt int) *Result {
				l := Loader{cutAt: cutAt}
				if err := l.Read("in.yaml", strings.NewReader(tt.text)); err != nil {
					t.Fatal(err)
				}
				return l.Result()
			}
			cut, whole := read(1), read(1<<30)
			if strings.Contains(tt.name, "broken") {
				// In one piece nothing of it can be read; this is what cutting is better at.
				if got := names(cut.Problem.Pods); !strings.HasSuffix(got, "default/c") || cut.Err() == nil {
					t.Errorf("pods %q, err %v: %s", got, cut.Err(), tt.reason)
				}
				return
			}
			if a, b := names(cut.Problem.Pods), names(whole.Problem.Pods); a != b {
				t.Errorf("item by item %q, in one piece %q: %s", a, b, tt.reason)
			}
			if a, b := texts(cut.Findings), texts(whole.Findings); a != b {
				t.Errorf("item by item:\n%sin one piece:\n%s%s", a, b, tt.reason)
			}
		})
	}
}

func TestReadFS(t *testing.T) {
	file := func(name string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(pod(name))} }
	fsys := fstest.MapFS{
		"a.yaml": file("a"), "sub/b.yml": file("b"), "sub/deep/c.JSON": file("c"), "README.md": file("readme"),
		".hidden.yaml": file("hidden"), ".git/d.yaml": file("git"), "pods": file("plain"),
	}
	for _, tt := range []struct {
		name, reason string
		args         []string
		want         string
	}{
		{"everything", "no names: all manifests, hidden files left out", nil, "default/a default/b default/c"},
		{"directory", "with all below it", []string{"sub"}, "default/b default/c"},
		{"named files", "what is named is read whatever it is called", []string{"pods", ".hidden.yaml"}, "default/hidden default/plain"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var l Loader
			if err := l.ReadFS(fsys, tt.args...); err != nil {
				t.Fatal(err)
			}
			if got := names(l.Result().Problem.Pods); got != tt.want {
				t.Errorf("pods %q, want %q: %s", got, tt.want, tt.reason)
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		var l Loader
		err := l.ReadFS(fsys, "none.yaml", "a.yaml")
		if err == nil || !strings.Contains(err.Error(), "none.yaml") {
			t.Errorf("error %v should name the file", err)
		}
		if got := names(l.Result().Problem.Pods); got != "default/a" {
			t.Errorf("pods %q: one file's error must not keep the others out", got)
		}
	})
	t.Run("reader fails", func(t *testing.T) {
		var l Loader
		want := errors.New("disk on fire")
		if err := l.Read("x", io.MultiReader(strings.NewReader(pod("a")), iotest.ErrReader(want))); !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
	})
}

func TestOtherKinds(t *testing.T) {
	for _, tt := range []struct {
		name, reason, apiVersion, kind, want string
		rest                                 bool
	}{
		{"node pool", "for package manifest", "karpenter.sh/v1", "NodePool", "", true},
		{"secret", "decides nothing here, and dumps are full of them", "v1", "Secret", "", true},
		{"foreign service", "a kind of the same name in a foreign group", "serving.knative.dev/v1", "Service", "", true},
		{"misspelt", "most likely a slip", "apps/v1", "Depoyment", `unknown kind "Depoyment"; did you mean Deployment?`, false},
		{"wrong group", "the API server would refuse it", "v1", "Deployment", "use apps/v1", false},
		{"old version", "removed from Kubernetes", "extensions/v1beta1", "DaemonSet", "use apps/v1", false},
		{"old budget", "removed from Kubernetes", "policy/v1beta1", "PodDisruptionBudget", "use policy/v1", false},
		{"cron job", "its jobs count, it does not", "batch/v1", "CronJob", "cron jobs are not expanded", false},
		{"old pod group", "only one version is read", "scheduling.k8s.io/v1alpha1", "PodGroup", "use scheduling.k8s.io/v1alpha2", false},
		{"foreign pod group", "another scheduler's", "scheduling.volcano.sh/v1beta1", "PodGroup", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := load(t, "apiVersion: "+tt.apiVersion+"\nkind: "+tt.kind+"\nmetadata: {name: x}\n")
			if got := len(r.Rest) == 1; got != tt.rest {
				t.Errorf("in Rest: %v, want %v: %s", got, tt.rest, tt.reason)
			}
			if got := texts(r.Findings); (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("findings %q, want %q: %s", got, tt.want, tt.reason)
			}
		})
	}
}
