package snapshot

import (
	"strings"
	"testing"
)

func TestSmoke(t *testing.T) {
	var l Loader
	err := l.Read("a.yaml", strings.NewReader(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelecter: {a: b}
      containers:
      - name: c
        resources:
          requests: {cpu: 1O, memory: 1Gi}
          limits: {memory: true}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: p}
  spec: {containers: [{name: a, resources: {limits: {cpu: 2}}}]}
---
a: [
---
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"j"},
"spec":{"containers":[{"name":"x","resources":{"requests":{"cpu":"-1"}}}]}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  template:
    spec:
      containers: [{name: c}]
  volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: gp3}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	r := l.Result()
	for _, f := range r.Findings {
		t.Log(f)
	}
	for _, p := range r.Problem.Pods {
		t.Log(p.Namespace, p.Name, p.Spec.Containers[0].Resources.Requests, len(p.Spec.Volumes))
	}
	t.Log(r.Err())
}
