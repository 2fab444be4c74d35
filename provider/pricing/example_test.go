package pricing_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/fleetwright/fleetwright/provider/pricing"
	"github.com/fleetwright/fleetwright/scheduling"
)

// An agent is licensed per node and a savings plan pays for two nodes an hour.
func ExampleApply() {
	p := problem(12, machine("m.large", 2, 0.10), machine("m.2xlarge", 8, 0.42))
	r, err := pricing.Apply(p, pricing.Model{
		Pricer:      pricing.Adjust(pricing.Listed(), pricing.Fee{Name: "agent", Per: pricing.PerMonth(21.90, "USD").Hourly()}),
		Commitments: []pricing.Commitment{{Name: "savings-plan", PerHour: pricing.PerHour(0.15, "USD"), Discount: 28, Paid: true}},
		Now:         time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), MaxAge: 90 * 24 * time.Hour,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range r.Findings {
		fmt.Println(f.Kind, f.Text)
	}
	plan, err := scheduling.Solve(context.Background(), r.Problem, nil)
	if err != nil {
		log.Fatal(err)
	}
	d := plan.Document()
	for _, l := range d.Launches {
		fmt.Printf("%s at %s %q\n", l.InstanceType, l.Price, l.Commitment)
	}
	fmt.Println(d.Totals.Price, "per hour;", d.Commitments[0].Drawn, "of", d.Commitments[0].PerHour, "used")
	for _, s := range d.Catalog.Adjustments {
		fmt.Println("with", s)
	}
	// Output:
	// Stale 2 prices from list are of 2026-08-01, 153 days ago; look for newer ones
	// m.2xlarge at 0.45 ""
	// m.large at 0.03 "savings-plan"
	// m.large at 0.03 "savings-plan"
	// 0.51 per hour; 0.144 of 0.15 used
	// with agent: 0.03 USD an hour for each node of everything
	// with commitment savings-plan: 28% less, paid for already, for on-demand, up to 0.15 USD an hour
}
