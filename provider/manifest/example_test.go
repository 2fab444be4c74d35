package manifest_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/fleetwright/fleetwright/provider/manifest"
	"github.com/fleetwright/fleetwright/scheduling/snapshot"
)

func ExampleRead() {
	const text = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  limits: {cpu: 100}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      - {key: kubernetes.io/arch, operator: NotIn, values: [amd64]}
`
	var l snapshot.Loader
	if err := l.Read("pools.yaml", strings.NewReader(text)); err != nil {
		log.Fatal(err)
	}
	m := manifest.Read(l.Result().Rest)
	for _, p := range m.Pools {
		fmt.Println(p.Name, p.NodeClass.Name, p.Limits.Cpu(), p.Requirements)
	}
	fmt.Println(m.Err())
	// Output:
	// general default 100 [karpenter.k8s.aws/instance-category In [c m r]]
	// manifest: pools.yaml document 2, line 21: NodePool gpu: spec.template.spec.requirements[1]: kubernetes.io/arch must be anything but [amd64] here, which leaves nothing of [amd64] (spec.template.spec.requirements[0]); make them overlap, or remove one
}
