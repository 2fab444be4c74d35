package snapshot_test

import (
	"fmt"
	"log"
	"strings"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling/snapshot"
)

// A directory of manifests, as os.DirFS would give it, with a slip in one of them.
func ExampleLoader() {
	manifests := fstest.MapFS{
		"web.yaml": {Data: []byte(`apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelecter: {kubernetes.io/arch: arm64}
      containers:
      - name: web
        resources: {requests: {cpu: 500m, memory: 1Gi}}
`)},
		"agent.yaml": {Data: []byte(`apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-system}
spec:
  template:
    spec: {containers: [{name: agent}]}
`)},
	}
	var l snapshot.Loader
	if err := l.ReadFS(manifests); err != nil {
		log.Fatal(err)
	}
	r := l.Result()
	for _, p := range r.Problem.Pods {
		fmt.Println(p.Namespace, p.Name, p.Spec.Containers[0].Resources.Requests.Cpu())
	}
	fmt.Println(len(r.Problem.DaemonSets), "DaemonSet")
	for _, f := range r.Findings {
		fmt.Println(f.Severity, f)
	}
	// Output:
	// shop web-00000 500m
	// shop web-00001 500m
	// 1 DaemonSet
	// warning web.yaml document 1, line 9: Deployment shop/web: spec.template.spec.nodeSelecter: unknown field "nodeSelecter"; it has no effect; did you mean "nodeSelector"?
}

// Go values, such as a lister returns, and the errors of a text in one value.
func ExampleResult_Err() {
	var l snapshot.Loader
	l.Add(snapshot.Objects{Pods: []*corev1.Pod{{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}},
	}}})
	text := `apiVersion: v1
kind: Pod
metadata: {name: b}
spec: {containers: [{name: c, resources: {requests: {cpu: 1O}}}]}
`
	if err := l.Read("b.yaml", strings.NewReader(text)); err != nil {
		log.Fatal(err)
	}
	r := l.Result()
	fmt.Println(len(r.Problem.Pods), "pod")
	fmt.Println(r.Err())
	// Output:
	// 1 pod
	// snapshot: b.yaml document 1, line 4: Pod b: spec.containers[0].resources.requests.cpu: "1O" is not a quantity; write a number such as 100, 500m or 2Gi
}
