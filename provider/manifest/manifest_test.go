package manifest

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/scheduling/snapshot"
)

func TestSmoke(t *testing.T) {
	var l snapshot.Loader
	l.Read("pools.yaml", strings.NewReader(`apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  weight: 500
  limts: {cpu: 10}
  limits: {cpu: -1}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws/v1, kind: EC2NodeClass}
      requirements:
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      - {key: beta.kubernetes.io/arch, operator: NotIn, values: [amd64]}
      - {key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: [3]}
      - {key: foo, operator: Inn, values: ["3"]}
      - {key: foo, operator: In}
---
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: old}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: good}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
`))
	r := Read(l.Result().Rest)
	for _, f := range r.Findings {
		t.Log(f)
	}
	t.Logf("%+v", r.Pools)
}
