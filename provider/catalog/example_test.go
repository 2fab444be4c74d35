package catalog_test

import (
	"fmt"

	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/instancetype"
)

// The cheapest ways to buy four Graviton vCPUs in Ireland, and where the prices come from.
func ExampleCatalog_InstanceTypes() {
	c, err := catalog.Embedded()
	if err != nil {
		fmt.Println(err)
		return
	}
	filter := catalog.Filter{Types: []string{"c7g.xlarge", "m7g.xlarge"}, CapacityTypes: []string{catalog.OnDemand}}
	types, origin, err := c.InstanceTypes("eu-west-1", filter, instancetype.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, it := range types {
		o := it.Offerings[0]
		fmt.Printf("%s: cpu %s, memory %s, %d offerings, the first in %s for %s %s\n",
			it.Name, it.Capacity.Cpu(), it.Capacity.Memory(), len(it.Offerings), o.Zone, o.Price, origin.Currency)
	}
	fmt.Println(origin.Source)
	// Output:
	// c7g.xlarge: cpu 4, memory 7518Mi, 3 offerings, the first in eu-west-1a for 0.154991 USD
	// m7g.xlarge: cpu 4, memory 15096Mi, 3 offerings, the first in eu-west-1a for 0.181903 USD
	// EC2 snapshot: types 2026-08-02, on-demand prices derived 2023-08-06, spot prices derived 2025-06-28
}

// A price says how it is known.
func ExampleCatalog_Price() {
	c, err := catalog.Embedded()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, region := range []string{"us-east-1", "eu-west-1", "ap-southeast-5"} {
		p, err := c.Price(region, "m5.large", "", catalog.OnDemand)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s %s, %s %s\n", region, p.PerHour, p.Currency, p.Basis, p.AsOf)
	}
	// Output:
	// us-east-1: 0.096 USD, quoted 2026-07-20
	// eu-west-1: 0.107002 USD, derived 2023-08-06
	// ap-southeast-5: unknown USD, unknown
}

// A mistake in a name is answered with the names that were probably meant.
func ExampleFilterError() {
	c, err := catalog.Embedded()
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _, err = c.InstanceTypes("eu-west-1", catalog.Filter{Types: []string{"m55.*", "m5.lage"}}, instancetype.Settings{})
	fmt.Println(err)
	_, _, err = c.InstanceTypes("eu-west1", catalog.Filter{}, instancetype.Settings{})
	fmt.Println(err)
	// Output:
	// catalog: region eu-west-1: 2 faults
	//   types[0]: no type matches "m55.*"; did you mean m5.*, m5a.*, m5d.*?
	//   types[1]: no type matches "m5.lage"; did you mean m5.large?
	// catalog: no region "eu-west1"; did you mean eu-west-1?
}
