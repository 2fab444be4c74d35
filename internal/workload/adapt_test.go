package workload_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/internal/workload"
	"github.com/fleetwright/fleetwright/scheduling"
)

func TestIgnoreCapacityTypes(t *testing.T) {
	const file = `{"schema":"pod-groups/v1","nodePools":[{"name":"p","requirements":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["spot"]},{"key":"kubernetes.io/arch","operator":"In","values":["amd64"]}]}]}
{"name":"a","replicas":2,"nodeSelector":{"karpenter.sh/capacity-type":"spot","kubernetes.io/arch":"amd64"}}
{"name":"b","nodeAffinity":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["spot"]}]}
{"name":"c","replicas":2,"nodeAffinity":[{"key":"karpenter.sh/capacity-type","operator":"NotIn","values":["spot"]},{"key":"kubernetes.io/os","operator":"Exists"}]}
`
	w, err := workload.Read(strings.NewReader(file), "f.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	w.IgnoreCapacityTypes()
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

func TestMoveRegion(t *testing.T) {
	const text = `{"region":"us-west-2","volumeZones":["us-west-2b"]}`
	if got, want := string(workload.MoveRegion([]byte(text), "us-west-2", "us-east-1")), `{"region":"us-east-1","volumeZones":["us-east-1b"]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := string(workload.MoveRegion([]byte(text), "", "us-east-1")); got != text {
		t.Errorf("a file without a region became %s", got)
	}
}
