package overlay_test

import (
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/provider/overlay"
	"github.com/fleetwright/fleetwright/scheduling"
)

// A savings plan of 30 percent for one family, and a licence that makes spot machines dearer.
func ExampleApply() {
	ec2, err := catalog.Embedded()
	if err != nil {
		log.Fatal(err)
	}
	types, _, err := ec2.InstanceTypes("us-east-1", catalog.Filter{Types: []string{"m7i.large", "c7i.large"}}, instancetype.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	in := func(key, value string) scheduling.Requirement {
		return scheduling.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}
	}
	r, err := overlay.Apply([]scheduling.Pool{{Name: "default", InstanceTypes: types}}, []overlay.Overlay{
		{Name: "savings-plan", PriceAdjustment: "-30%", Requirements: []scheduling.Requirement{
			in("karpenter.k8s.aws/instance-family", "m7i"), in(scheduling.CapacityTypeLabel, "on-demand")}},
		{Name: "licence", PriceAdjustment: "+0.05", Requirements: []scheduling.Requirement{in(scheduling.CapacityTypeLabel, "spot")}},
		{Name: "typo", PriceAdjustment: "-5%", Requirements: []scheduling.Requirement{in("karpenter.k8s.aws/instance-familiy", "c7i")}},
	}, scheduling.LabelRules{})
	if err != nil {
		log.Fatal(err)
	}
	for i, t := range r.Pools[0].InstanceTypes {
		was, is := types[i].Offerings[0], t.Offerings[0]
		fmt.Println(t.Name, is.Zone, is.CapacityType, was.Price, "now", is.Price)
	}
	for _, e := range r.Effects {
		fmt.Println(e.Overlay, "decided", e.Prices, "prices")
	}
	fmt.Println("matched nothing:", r.Unmatched())
	// Output:
	// c7i.large us-east-1a on-demand 0.08925 now 0.08925
	// m7i.large us-east-1a on-demand 0.1008 now 0.07056
	// licence decided 10 prices
	// savings-plan decided 5 prices
	// typo decided 0 prices
	// matched nothing: [typo]
}
