package catalog

import (
	"github.com/fleetwright/fleetwright/provider/instancetype"
	"github.com/fleetwright/fleetwright/scheduling"
)

// Schema is the version of the file format that Save writes and Load reads.
const Schema = "fleetwright-catalog/v1"

// Snapshot is a dated set of facts and prices as plain values: the content of a catalogue file,
// and what New makes a Catalog of. All dates are YYYY-MM-DD.
type Snapshot struct {
	Schema string `json:"schema"`
	// AsOf is the date of Types.
	AsOf string `json:"asOf"`
	// Sources are where everything came from.
	Sources []Source             `json:"sources,omitempty"`
	Types   []instancetype.Facts `json:"types"`
	Regions []Region             `json:"regions"`
}

// Source is the origin of a part of a snapshot.
type Source struct {
	// What was taken: "types", "on-demand prices".
	What string `json:"what"`
	// From names a repository and path, an API, or an address; Revision its version.
	From     string `json:"from"`
	Revision string `json:"revision,omitempty"`
	AsOf     string `json:"asOf,omitempty"`
	License  string `json:"license,omitempty"`
}

// Region is what can be had where, and for how much.
type Region struct {
	Name string `json:"name"`
	// Currency of every price of the region, ISO 4217.
	Currency string `json:"currency"`
	// ZonesAsOf is the date of Zones and Offered.
	ZonesAsOf string `json:"zonesAsOf,omitempty"`
	// Zones may be empty where only prices are known; nothing can be planned in such a region.
	Zones []Zone `json:"zones,omitempty"`
	// Offered says which types each zone has; zone sets that many types share are written once.
	Offered  []Offered  `json:"offered,omitempty"`
	OnDemand PriceTable `json:"onDemand,omitzero"`
	Spot     PriceTable `json:"spot,omitzero"`
}

// Zone is an availability zone.
type Zone struct {
	Name string `json:"name"`
	// ID is the name that is the same in every account, such as use1-az2. Which zone name it
	// belongs to differs between accounts; a snapshot has one account's view.
	ID string `json:"id,omitempty"`
	// IDAssumed marks an ID that was not observed but follows from elimination.
	IDAssumed bool `json:"idAssumed,omitempty"`
}

// Offered says that every one of Types is offered in every one of Zones, and in no other.
type Offered struct {
	Zones []string `json:"zones"`
	Types []string `json:"types"`
}

// PriceTable is the prices of one capacity type in one region: quoted ones, and a rule for
// deriving others. A type in neither has an unknown price. A quoted price wins over a derived
// one, one for a zone over one for the region.
type PriceTable struct {
	// AsOf is the date of the quoted prices, Source who quoted them.
	AsOf   string `json:"asOf,omitempty"`
	Source string `json:"source,omitempty"`
	// PerHour are quoted prices by type, for all zones. 0 is not a price; leave out what is
	// unknown.
	PerHour map[string]scheduling.Price `json:"perHour,omitempty"`
	// PerZone are quoted prices by zone and type.
	PerZone map[string]map[string]scheduling.Price `json:"perZone,omitempty"`
	// Derived computes prices that nobody quoted.
	Derived Derivation `json:"derived,omitzero"`
}

// Derivation is a rule for prices that nobody quoted. Results are rounded to a millionth.
type Derivation struct {
	AsOf   string `json:"asOf,omitempty"`
	Source string `json:"source,omitempty"`
	// From and Multipliers, for on-demand: the quoted price in the region From times the
	// multiplier of the type's family.
	From        string             `json:"from,omitempty"`
	Multipliers map[string]float64 `json:"multipliers,omitempty"`
	// Savings, for spot: percent off the region's on-demand price, by type. A negative saving
	// gives the on-demand price, which EC2 never exceeds by default.
	Savings map[string]int `json:"savings,omitempty"`
}
