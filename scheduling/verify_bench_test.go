package scheduling_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// crowd is 1,000 deployments of 5 new pods and 15 running ones each, on 1,000 nodes and 500 launches of 100
// types. Deployments are of three sorts: spread over zones, spread over hosts and apart on them, and together in a
// zone. Pods are of different sizes, so that nothing is alike.
func crowd() *stage {
	const deployments = 1000
	zones := []string{"a", "b", "c"}
	var types []*InstanceType
	for i := range 100 {
		t := verifyTestType(fmt.Sprintf("t%03d", i), "64", fmt.Sprint(1+i), zones...)
		t.Capacity["pods"] = *quantity("100")
		types = append(types, t)
	}
	pod := func(d, i int) *corev1.Pod {
		app := fmt.Sprintf("app-%d", d)
		p := actor(fmt.Sprintf("%s-%d", app, i), labelled("app", app))
		p.Spec.Containers[0].Resources.Requests = list("cpu", fmt.Sprintf("%dm", 1+d))
		own := selecting("app", app)
		mine := func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = own }
		switch d % 3 {
		case 0:
			spreads(zoneKey, mine)(p)
		case 1:
			spreads(hostKey, mine)(p)
			apart(term(hostKey, own))(p)
		default:
			with(term(zoneKey, own))(p)
		}
		return p
	}
	s := &stage{&Problem{Pools: []Pool{{Name: "main", InstanceTypes: types}}}, &Plan{}}
	for i := range deployments {
		s.Problem.Nodes = append(s.Problem.Nodes, Node{Name: fmt.Sprintf("n%d", i), Allocatable: list("pods", "100"),
			Labels: map[string]string{zoneKey: zones[i%3], hostKey: fmt.Sprintf("n%d", i)}})
	}
	for d := range deployments {
		for i := range 15 {
			node := (d + i*i + i) % deployments // 15 different nodes
			switch d % 3 {
			case 0:
				node = (d*7+i)%(deployments-1)/3*3 + i%3
			case 2:
				node = (d*3 + i*3) % (deployments - 1)
			}
			node %= deployments - 1
			s.Problem.Nodes[node].Pods = append(s.Problem.Nodes[node].Pods, pod(d, 100+i))
		}
	}
	var places []string
	for d := range deployments {
		for i := range 5 {
			s.Problem.Pods = append(s.Problem.Pods, pod(d, i))
			zone := i % 3
			if d%3 == 2 {
				zone = 0 // where those run that it has to be with
			}
			launch := (d/2+i*100)%500/3*3 + zone
			places = append(places, fmt.Sprintf("%d:t%03d/%s,t%03d/%s", launch, launch%99, zones[zone], launch%99+1, zones[zone]))
		}
	}
	s.place(places...)
	for i := range s.Plan.Launches {
		s.Plan.Shapes[i].Requests = sumRequests(s.Problem, s.Plan.Launches[i].Pods)
	}
	return s
}

func sumRequests(p *Problem, pods []int32) Vector {
	var cpu int64
	for _, i := range pods {
		q := p.PodAt(i).Spec.Containers[0].Resources.Requests["cpu"]
		cpu += q.MilliValue()
	}
	return Vector{{"cpu", cpu}, {"pods", int64(len(pods))}}
}

func BenchmarkVerify(b *testing.B) {
	s := crowd()
	if err := Verify(s.Problem, s.Plan); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		_ = Verify(s.Problem, s.Plan)
	}
}
