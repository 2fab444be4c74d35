// Package units mixes units up in every way that must not compile. Lines that end in "want error" are those, and no others.
package units

import (
	"github.com/fleetwright/fleetwright/provider/pricing"
	"github.com/fleetwright/fleetwright/scheduling"
)

var (
	hour  = pricing.PerHour(0.03, "USD")
	month = pricing.PerMonth(21.90, "USD")

	_ = pricing.Fee{Per: hour}
	_ = pricing.Fee{Per: month.Hourly()}
	_ = pricing.Fee{Per: month}                 // want error
	_ = pricing.Fee{Per: 0.03}                  // want error
	_ = pricing.Fee{Per: pricing.Hourly(month)} // want error
	_ = pricing.Fixed{By: month}                // want error
	_ = pricing.Fixed{By: -8}                   // want error
	_ = pricing.Percent{By: -8}
	_ = pricing.Percent{By: hour}              // want error
	_ = pricing.Commitment{PerHour: month}     // want error
	_ = pricing.Commitment{PerHour: 10}        // want error
	_ = pricing.Commitment{Instances: hour}    // want error
	_ = pricing.Commitment{Discount: hour}     // want error
	_ = pricing.Rate{Machine: hour}            // want error
	_ = pricing.Rate{Machine: 0.10}            // want error
	_ = pricing.Rate{Fees: scheduling.Price{}} // want error
	_ = pricing.Quoted(month, "", "")          // want error
	_ = scheduling.Commitment{PerHour: month}  // want error
	_ = scheduling.Offering{Price: hour}       // want error
)

var _ bool = hour == month // want error
