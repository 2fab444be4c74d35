package snapshot

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// clusterDocuments are those of testdata/cluster, which has an object of every kind.
func clusterDocuments(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/cluster/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata/cluster: %v", err)
	}
	var out []string
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range split(b) {
			text := strings.TrimPrefix(string(c.text), "---\n")
			out = append(out, text)
		}
	}
	return out
}

// TestOrderDoesNotMatter deals the documents of a cluster to files in random order, some of them twice.
func TestOrderDoesNotMatter(t *testing.T) {
	docs := clusterDocuments(t)
	read := func(files ...[]string) *Result {
		var l Loader
		for i, f := range files {
			if err := l.Read(string(rune('a'+i)), strings.NewReader(strings.Join(f, "---\n"))); err != nil {
				t.Fatal(err)
			}
		}
		return l.Result()
	}
	want := read(docs)
	if len(want.Problem.Pods) < 10 || len(want.Problem.Nodes) < 2 || want.Err() != nil {
		t.Fatalf("the cluster has %d pods and %d nodes, err %v", len(want.Problem.Pods), len(want.Problem.Nodes), want.Err())
	}
	const seed = 20261121
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 50 {
		files := make([][]string, 1+r.IntN(4))
		for _, i := range r.Perm(len(docs)) {
			for range 1 + r.IntN(2) {
				f := r.IntN(len(files))
				files[f] = append(files[f], docs[i])
			}
		}
		got := read(files...)
		if d := cmp.Diff(want.Problem, got.Problem); d != "" {
			t.Fatalf("the order of documents changed the problem:\n%s\n%v", d, files)
		}
		sameRest := cmp.Diff(want.Rest, got.Rest, cmpopts.IgnoreFields(Document{}, "Origin", "root", "decoder"),
			cmpopts.SortSlices(func(a, b Document) bool { return a.Object() < b.Object() }))
		if d := sameRest; d != "" && len(got.Rest) == len(want.Rest) {
			t.Fatalf("the order of documents changed what is left over:\n%s", d)
		}
	}
}

// TestGoValuesAreNotWritten gives values that all need something done to them.
func TestGoValuesAreNotWritten(t *testing.T) {
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": quantity("1")}}}},
			Volumes:    []corev1.Volume{{Name: "disk"}},
		},
	}
	in := Objects{
		Pods: []*corev1.Pod{
			{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: template.Spec},
			nil,
			{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "x"}, Spec: template.Spec},
		},
		Nodes:      []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}},
		Namespaces: []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "x", Labels: map[string]string{"team": "a"}}}},
		StatefulSets: []*appsv1.StatefulSet{{ObjectMeta: metav1.ObjectMeta{Name: "db"}, Spec: appsv1.StatefulSetSpec{
			Template: template, VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "disk"}}}}}},
		DaemonSets: []*appsv1.DaemonSet{{ObjectMeta: metav1.ObjectMeta{Name: "agent"}, Spec: appsv1.DaemonSetSpec{Template: template}}},
	}
	in.Pods[0].Spec.NodeName = "n1"
	before := Objects{Pods: slices.Clone(in.Pods), Nodes: []*corev1.Node{in.Nodes[0].DeepCopy()}, Namespaces: []*corev1.Namespace{in.Namespaces[0].DeepCopy()},
		StatefulSets: []*appsv1.StatefulSet{in.StatefulSets[0].DeepCopy()}, DaemonSets: []*appsv1.DaemonSet{in.DaemonSets[0].DeepCopy()}}
	before.Pods[0], before.Pods[2] = in.Pods[0].DeepCopy(), in.Pods[2].DeepCopy()

	var l Loader
	l.Add(in)
	r := l.Result()
	if d := cmp.Diff(before, in); d != "" {
		t.Errorf("the input was changed:\n%s", d)
	}
	if got := names(r.Problem.Pods); got != "default/db-0 x/a" {
		t.Errorf("pods %q", got)
	}
	if got := names(r.Problem.Nodes[0].Pods); got != "default/b" {
		t.Errorf("pods on the node %q", got)
	}
	for _, p := range r.Problem.Pods {
		if got := amounts(p.Spec.Containers[0].Resources.Requests); got != "cpu=1" {
			t.Errorf("%s requests %q, want its limit", p.Name, got)
		}
	}
	want := map[string]map[string]string{"x": {"team": "a", "kubernetes.io/metadata.name": "x"}, "default": {"kubernetes.io/metadata.name": "default"}}
	if d := cmp.Diff(want, r.Problem.Namespaces); d != "" {
		t.Errorf("namespaces:\n%s", d)
	}
	if d := cmp.Diff(r, l.Result(), cmpopts.IgnoreUnexported(Document{})); d != "" {
		t.Errorf("a second result differs:\n%s", d)
	}
}
