package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/workload"
	"github.com/fleetwright/fleetwright/scheduling"
)

func TestWrong(t *testing.T) {
	dollars := func(v float64) scheduling.Price { return scheduling.PriceFromFloat(v) }
	b := bound{pods: 10, bound: 2}
	for _, tt := range []struct {
		name, reason string
		in           result
		want, gap    string
	}{
		{"fine", "dearer than the bound", result{placed: 10, price: dollars(3)}, "<nil>", "1.500"},
		{"optimal", "bounds are rounded", result{placed: 10, price: dollars(1.99995)}, "<nil>", "1.000"},
		{"impossible", "no plan costs less than a proven bound", result{placed: 10, price: dollars(1.9)}, "costs less than is possible", "0.950"},
		{"fewer pods", "the bound is for more pods", result{placed: 9, price: dollars(1)}, "<nil>", "-"},
		{"own bound", "the plan's bound must hold too", result{placed: 9, price: dollars(1), lower: dollars(2)}, "costs less than its own lower bound", "-"},
		{"fault", "what Verify says comes first", result{placed: 10, price: dollars(1), fault: errors.New("pod on two nodes")}, "pod on two nodes", "0.500"},
	} {
		if got := fmt.Sprint(tt.in.wrong(b)); got != tt.want {
			t.Errorf("%s (%s): got %q, want %q", tt.name, tt.reason, got, tt.want)
		}
		if got := tt.in.gap(b); got != tt.gap {
			t.Errorf("%s (%s): gap %s, want %s", tt.name, tt.reason, got, tt.gap)
		}
	}
}

func TestCodesAreSorted(t *testing.T) {
	r := result{unplaced: map[scheduling.Code]int{scheduling.CodeResource: 2, scheduling.CodeOffering: 1}}
	if got := r.codes(); got != "NotOffered:1 TooLarge:2" {
		t.Errorf("got %q", got)
	}
}

func TestReadBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bounds.csv")
	content := "workload,offers,pods,bound,ffd_largest,greedy\na.csv,x,5,1.5,2,3\na.csv,y,6,1,,\n"
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readBounds(path, "x")
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]bound{"a.csv": {pods: 5, bound: 1.5, ffd: 2, greedy: 3}}; !maps.Equal(got, want) {
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

func TestDropCapacityTypes(t *testing.T) {
	const file = `{"schema":"pod-groups/v1","nodePools":[{"name":"p","requirements":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["spot"]},{"key":"kubernetes.io/arch","operator":"In","values":["amd64"]}]}]}
{"name":"a","replicas":2,"nodeSelector":{"karpenter.sh/capacity-type":"spot","kubernetes.io/arch":"amd64"}}
{"name":"b","nodeAffinity":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["spot"]}]}
{"name":"c","replicas":2,"nodeAffinity":[{"key":"karpenter.sh/capacity-type","operator":"NotIn","values":["spot"]},{"key":"kubernetes.io/os","operator":"Exists"}]}
`
	w, err := workload.Read(strings.NewReader(file), "f.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	dropCapacityTypes(w)
	if r := w.Pools[0].Requirements; len(r) != 1 || r[0].Key != "kubernetes.io/arch" {
		t.Errorf("pool keeps %v", r)
	}
	for _, p := range w.Pods {
		if _, kept := p.Spec.NodeSelector[scheduling.CapacityTypeLabel]; kept {
			t.Errorf("%s keeps its selector", p.Name)
		}
		switch a := p.Spec.Affinity; {
		case p.Name == "b" && a.NodeAffinity != nil:
			t.Error("b had one condition and keeps an empty term, which matches nothing")
		case strings.HasPrefix(p.Name, "c") && !slices.EqualFunc(conditions(a), []string{"kubernetes.io/os"},
			func(r corev1.NodeSelectorRequirement, key string) bool { return r.Key == key }):
			t.Errorf("%s has conditions %v", p.Name, conditions(a))
		}
	}
}

func conditions(a *corev1.Affinity) []corev1.NodeSelectorRequirement {
	return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions
}

func TestWorkloadFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv.gz", "b.jsonl", "bounds.csv", "x-nodes.csv", "README.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := workloadFiles(dir, "*")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{filepath.Join(dir, "a.csv.gz"), filepath.Join(dir, "b.jsonl")}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := workloadFiles(dir, "["); err == nil {
		t.Error("a malformed glob is an error")
	}
}
