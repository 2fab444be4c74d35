package snapshot

import (
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/internal/golden"
)

// TestBadInput reads a file with every fault there is; what is said about them is for a person to judge.
func TestBadInput(t *testing.T) {
	var l Loader
	if err := l.ReadFS(os.DirFS("testdata"), "bad.yaml"); err != nil {
		t.Fatal(err)
	}
	r := l.Result()
	var b strings.Builder
	fmt.Fprintf(&b, "pods: %s\n\n%s", names(r.Problem.Pods), texts(r.Findings))
	golden.Check(t, "testdata/bad.txt", b.String())
}

// TestCluster reads a small cluster with an object of every kind.
func TestCluster(t *testing.T) {
	var l Loader
	if err := l.ReadFS(os.DirFS("testdata"), "cluster"); err != nil {
		t.Fatal(err)
	}
	r := l.Result()
	p := &r.Problem
	var b strings.Builder
	pods := func(what string, pods []*corev1.Pod) {
		for _, pod := range pods {
			fmt.Fprintf(&b, "%s %s/%s requests", what, pod.Namespace, pod.Name)
			for _, c := range pod.Spec.Containers {
				fmt.Fprintf(&b, " [%s]", amounts(c.Resources.Requests))
			}
			if len(pod.Spec.Overhead) > 0 {
				fmt.Fprintf(&b, " overhead [%s]", amounts(pod.Spec.Overhead))
			}
			if pod.Spec.Priority != nil {
				fmt.Fprintf(&b, " priority %d", *pod.Spec.Priority)
			}
			b.WriteString("\n")
		}
	}
	pods("place", p.Pods)
	for _, d := range p.Demands {
		pods(fmt.Sprintf("demand of %d, buffer %v,", d.Count, d.Buffer), []*corev1.Pod{d.Template})
	}
	for _, n := range p.Nodes {
		fmt.Fprintf(&b, "node %s pool %s starting %v allocatable [%s]\n", n.Name, n.Pool, n.Uninitialized, amounts(n.Allocatable))
		pods("  runs", n.Pods)
	}
	pods("daemon", p.DaemonSets)
	for _, c := range p.Storage.Claims {
		fmt.Fprintf(&b, "claim %s/%s %s volume %q\n", c.Namespace, c.Name, c.Status.Phase, c.Spec.VolumeName)
	}
	fmt.Fprintf(&b, "%d volumes, %d classes, %d CSI nodes, incomplete %v\n", len(p.Storage.Volumes), len(p.Storage.Classes), len(p.Storage.CSINodes), p.Storage.Incomplete)
	for _, o := range p.DefaultSpread.Owners {
		fmt.Fprintf(&b, "owner %s %s/%s selects %s\n", o.Kind, o.Namespace, o.Name, metav1.FormatLabelSelector(o.Selector))
	}
	fmt.Fprintf(&b, "%d services for the default spread\n", len(p.DefaultSpread.Services))
	for _, g := range p.Gangs {
		fmt.Fprintf(&b, "gang %s/%s of %d, basic %v\n", g.Namespace, g.Name, g.MinCount, g.Basic)
	}
	fmt.Fprintf(&b, "gang labels %v\n", p.GangLabels)
	fmt.Fprintf(&b, "namespaces %v\n", p.Namespaces)
	fmt.Fprintf(&b, "%d budgets, %d priority classes, %d services\n", len(r.PodDisruptionBudgets), len(r.PriorityClasses), len(r.Services))
	for _, d := range r.Rest {
		fmt.Fprintf(&b, "rest %s %s\n", d.APIVersion, d.Object())
	}
	golden.Check(t, "testdata/cluster.txt", b.String()+texts(r.Findings))
}
