package workload_test

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/workload"
)

func ExampleRead() {
	const file = `pod,group,count,cpu_milli,memory_mib
web,web,2,250,512
cron,cron,1,100,64
`
	w, err := workload.Read(strings.NewReader(file), "pods.csv")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range w.Pods {
		r := p.Spec.Containers[0].Resources.Requests
		fmt.Println(p.Name, r.Cpu(), r.Memory())
	}
	fmt.Println("pool:", w.Pools[0].Name)
	// Output:
	// web-00000 250m 512Mi
	// web-00001 250m 512Mi
	// cron 100m 64Mi
	// pool: default
}
