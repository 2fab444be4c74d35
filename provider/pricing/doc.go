// Package pricing says what offerings cost you: list prices with discounts, fees for each node, prices of your own,
// and commitments that run out. It puts the result into a problem, so that the solver weighs it.
//
//	r, err := pricing.Apply(problem, pricing.Model{
//		Pricer: pricing.Adjust(pricing.Listed(),
//			pricing.Percent{By: -8, Where: pricing.Match{Types: []string{"m7i.*"}}},
//			pricing.Fee{Name: "monitoring agent", Per: pricing.PerMonth(21.90, "USD").Hourly()}),
//		Commitments: []pricing.Commitment{{Name: "savings-plan", PerHour: pricing.PerHour(12, "USD"), Discount: 28, Paid: true}},
//		Now: now, MaxAge: 90 * 24 * time.Hour,
//	})
//	plan, err := scheduling.Solve(ctx, r.Problem, nil)   // r.Findings say what is old, unknown or matches nothing
//
// # Rules
//
//  1. A [Pricer] gives an offering a [Rate]: what the machine costs, fees on top, currency, date and source. Unknown is an
//     answer of its own and stays unknown under every change: an offering without a price is never bought, whatever its
//     fees. Pricers are values; First, Only, Flat and Adjust make new ones of others.
//  2. Changes are made in the order in which they are written. [Percent] and [Fixed] change what the machine costs, exactly,
//     rounded to a billionth, never below 0. A [Fee] is somebody else's: nothing discounts it, wherever it stands.
//  3. A [Commitment] lists what it covers once more, at its own price, fees on top: [scheduling.Commitment] says how it
//     runs out. The discount is off the machine's price after all changes. Offerings that are under a commitment already keep
//     their price and bear fees only.
//  4. Everything is in the problem's currency, per hour. Another currency is an error with its place. What is money per month
//     says so in its type, and is turned into money per hour by a call: mixing them does not compile.
//  5. No clock: who wants to hear of old prices says what day it is.
//
// The plan of the changed problem says in its catalogue what its prices contain.
//
// Apply writes to nothing that it is given. Pools and types in which nothing changes are shared with the result.
//
// # Sources
//
// Fees per node are what https://github.com/kubernetes-sigs/karpenter/issues/1664 asks for, whose figures are a test here.
// A month has 730 hours, as in AWS's calculators. Savings plans and reserved instances follow
// https://docs.aws.amazon.com/savingsplans/latest/userguide/what-is-savings-plans.html: a plan of so much an hour is used by
// covered hours at their discounted rate. Reserved instances that are flexible in size are an amount an hour, too.
package pricing
