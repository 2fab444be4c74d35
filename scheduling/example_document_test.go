package scheduling_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/fleetwright/fleetwright/scheduling"
)

const saved = `{
  "schema": "fleetwright.dev/plan/v1",
  "problemDigest": "fw3-cebecc82404bf71bcf6325ed558b5be3",
  "catalog": {"asOf": "2026-08-20", "source": "EC2 price list", "currency": "USD"},
  "launches": [{
    "pool": "default", "instanceType": "m7i.xlarge", "zone": "us-east-1a", "capacityType": "on-demand",
    "pricePerHour": 0.2016, "why": "cheapest of 212 types that hold these 2 pods; memory 97% used",
    "allocatable": {"cpu": "3920m", "memory": "14Gi"}, "requests": {"cpu": "3", "memory": "13900Mi"},
    "pods": ["shop/api-0", "shop/web-0"]
  }],
  "placements": [],
  "unplaced": [{"pod": "ml/train-0", "reason": {
    "code": "TooLarge",
    "message": "needs 200 CPU; the largest of pool default, m7i.48xlarge, has 191.45: lower the request to 191.45 CPU"
  }}],
  "totals": {"pricePerHour": 0.2016, "lowerBoundPerHour": 0.19, "nodes": 1, "pods": 2, "unplaced": 1}
}`

func ExampleDocument_Text() {
	d, err := scheduling.ReadDocument(strings.NewReader(saved))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(d.Text(scheduling.TextOptions{}))
	// Output:
	// 1 new node for 2 pods: 0.2016 USD per hour, 147.17 per month of 730 hours; 1 pod left over
	// at most 6.11% above a proven bound of 0.1900 per hour
	//
	// nodes  pool     type        bought     zone        per hour  pods  cpu                memory
	//     1  default  m7i.xlarge  on-demand  us-east-1a    0.2016     2  [########--]  77%  [##########]  97%
	//
	// left over: 1 pod
	//   1  TooLarge  ml/train-0: needs 200 CPU; the largest of pool default, m7i.48xlarge, has 191.45: lower the request to 191.45 CPU
	//
	// prices as of 2026-08-20: EC2 price list, USD
}

func ExampleDocument_ExplainPod() {
	d, err := scheduling.ReadDocument(strings.NewReader(saved))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := d.ExplainPod("web-0") // The namespace may be left out if the name is clear.
	fmt.Print(text)
	// Output:
	// shop/web-0 goes to a new node: m7i.xlarge of pool default, on-demand in us-east-1a, 0.2016 USD per hour
	// why this type: cheapest of 212 types that hold these 2 pods; memory 97% used
	// with it: 1 other pod, 0 DaemonSet pods
	// in use there: 3 of 3.92 CPU, 13.58 GiB of 14 GiB memory
}

func ExampleDiff() {
	before, err := scheduling.ReadDocument(strings.NewReader(saved))
	if err != nil {
		fmt.Println(err)
		return
	}
	after, err := scheduling.ReadDocument(strings.NewReader(strings.NewReplacer(
		"m7i.xlarge", "m7a.xlarge", "0.2016", "0.1985").Replace(saved)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(scheduling.Diff(before, after))
	// Output:
	// nodes 1 -> 1, price per hour 0.2016 -> 0.1985 (-0.0031, -1.5%), pods placed 2 -> 2
	// launches: 2 kinds
	//    pool     type        bought     zone        nodes   per hour
	// -  default  m7i.xlarge  on-demand  us-east-1a  1 -> 0  -0.2016
	// +  default  m7a.xlarge  on-demand  us-east-1a  0 -> 1  +0.1985
}

func ExampleReason_Message() {
	r := scheduling.Reason{
		Code: scheduling.CodeResource,
		Nearest: scheduling.Nearest{
			Pool: "default", Type: "m7i.48xlarge", Resource: "cpu", Wanted: 200_000, Available: 191_450,
		},
		Change: scheduling.Change{Kind: scheduling.ChangeRequest, Resource: "cpu", Amount: 191_450},
	}
	fmt.Println(r.Message())
	// Output:
	// needs 200 CPU; the largest of pool default, m7i.48xlarge, has 191.45: lower the request to 191.45 CPU
}

// Pools that share an instance type refer to one entry of a table.
func ExampleProblem_MarshalJSON() {
	small := &scheduling.InstanceType{
		Name:      "m7i.large",
		Offerings: []scheduling.Offering{{Zone: "us-east-1a", CapacityType: "spot", Price: scheduling.PriceFromFloat(0.0464)}},
	}
	p := &scheduling.Problem{Pools: []scheduling.Pool{
		{Name: "b", InstanceTypes: []*scheduling.InstanceType{small}},
		{Name: "a", InstanceTypes: []*scheduling.InstanceType{small}},
	}}
	e := json.NewEncoder(os.Stdout)
	if err := e.Encode(p); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"schema":"fleetwright.dev/problem/v1","pools":[{"name":"a","instanceTypes":[0]},{"name":"b","instanceTypes":[0]}],"instanceTypes":[{"name":"m7i.large","offerings":[{"zone":"us-east-1a","capacityType":"spot","price":0.0464}]}]}
}

func ExampleReadProblem() {
	_, err := scheduling.ReadProblem(strings.NewReader(`{
	  "schema": "fleetwright.dev/problem/v1",
	  "pools": [{"name": "default", "wieght": 10, "instanceTypes": [3]}]
	}`))
	fmt.Println(err)
	// Output:
	// scheduling: problem has 2 fault(s)
	//   pools[0].wieght: unknown field; remove it, or check its spelling
	//   pools["default"].instanceTypes: refers to instance type 3 of 0; give the index of an entry of instanceTypes, counted from 0
}
