// Package catalog knows EC2's machine types, zones and prices on a date, without asking EC2.
//
//	c, err := catalog.Embedded()
//	types, origin, err := c.InstanceTypes("eu-west-1",
//		catalog.Filter{Arch: []string{"arm64"}}, instancetype.Settings{})
//
// gives types for a scheduling.Pool, and the origin that a scheduling.Problem carries into its plan.
//
// # What is known, and how well
//
// A catalogue is a Snapshot: facts of types, zones and what they offer, prices. Each part has its
// date and source, each region its currency. A price is Quoted (the source said so), Derived
// (computed by a stated rule) or Unknown; an unknown price is an offering without a price, never
// one that costs nothing.
//
// The embedded snapshot quotes on-demand prices of us-east-1 and the GovCloud regions (USD) and of
// cn-north-1 (CNY). Those of other regions are derived from us-east-1 by ratios per family that are
// some years old; two new regions have none. Spot prices are derived from the savings that AWS's
// Spot Advisor showed; they are the same in all zones, since nobody publishes them by zone, and
// unknown for types it did not list. Derived prices tell regions and types apart; do not quote
// them. Zones of GovCloud and China are not known, so nothing can be planned there with it. Region
// says all of this of each region in numbers.
//
// A user's own snapshot, with quoted prices by zone for instance, is made with New or read with
// Load, and written with Save.
//
// # What it does not do
//
// It does not look anything up, does not know what is sold out now, and has no prices for Windows,
// dedicated tenancy, reserved capacity or savings plans.
package catalog
