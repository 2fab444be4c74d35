package pricing

import (
	"math"
	"math/big"

	"github.com/fleetwright/fleetwright/provider/internal/exact"
	"github.com/fleetwright/fleetwright/scheduling"
)

// hoursPerMonth is the month of cloud price lists.
const hoursPerMonth = 730

// Hourly is an amount of money for an hour; below 0, one that is taken off. The zero value is no money of any currency.
type Hourly struct{ money }

// Monthly is an amount of money for a month of 730 hours.
type Monthly struct{ month money } // another field than Hourly's, so that one is not converted to the other by its type

// money counts billionths.
type money struct {
	nano     int64
	currency string
	bad      bool
}

// PerHour is an amount in a currency (ISO 4217), rounded to a billionth. NaN and amounts beyond nine billion are refused by Apply.
func PerHour(amount float64, currency string) Hourly { return Hourly{newMoney(amount, currency)} }

// PerMonth is an amount in a currency (ISO 4217), rounded to a billionth. NaN and amounts beyond nine billion are refused by Apply.
func PerMonth(amount float64, currency string) Monthly {
	return Monthly{newMoney(amount, currency)}
}

// Hourly is a 730th of it, rounded to a billionth.
func (m Monthly) Hourly() Hourly {
	out := Hourly{m.month}
	if out.nano = exact.Round(big.NewRat(max(m.month.nano, -m.month.nano), hoursPerMonth)); m.month.nano < 0 {
		out.nano = -out.nano
	}
	return out
}

// String is the amount and its currency.
func (m Monthly) String() string { return m.month.String() }

func newMoney(amount float64, currency string) money {
	if !(math.Abs(amount) <= float64(exact.MaxNano/exact.NanoPerUnit)) {
		return money{currency: currency, bad: true}
	}
	v := new(big.Rat).Mul(exact.Decimal(math.Abs(amount)), big.NewRat(exact.NanoPerUnit, 1))
	n := exact.Round(v)
	if amount < 0 {
		n = -n
	}
	return money{nano: n, currency: currency}
}

// set reports whether it is an amount at all, 0 included.
func (m money) set() bool { return m != money{} }

// String is the amount, signed if below 0, and its currency: "0.03 USD".
func (m money) String() string {
	s := scheduling.PriceFromNano(max(m.nano, -m.nano)).String()
	switch {
	case m.bad:
		s = "(no amount)"
	case m.nano < 0:
		s = "-" + s
	}
	if m.currency != "" {
		s += " " + m.currency
	}
	return s
}

// Rate is what an offering costs per hour. The zero value is unknown.
type Rate struct {
	// Machine is what is paid for the machine. Unknown: the whole rate is.
	Machine scheduling.Price
	// Fees are paid for each node on top of it. Zero: none.
	Fees Hourly
	// Currency, ISO 4217.
	Currency string
	// AsOf is the date of the price, YYYY-MM-DD; empty: nobody knows.
	AsOf string
	// Source names where it came from.
	Source string
}

// Known reports whether the rate is known. One that is not has no total, whatever the fees.
func (r Rate) Known() bool { return r.Machine.Known() }

// Total is what an hour of a node costs, unknown if the machine's price is.
func (r Rate) Total() scheduling.Price {
	return exact.Change(r.Machine, big.NewRat(1, 1), big.NewRat(r.Fees.nano, 1))
}

// Quoted is a rate without fees.
func Quoted(machine Hourly, asOf, source string) Rate {
	if machine.bad {
		return Rate{Currency: machine.currency}
	}
	return Rate{Machine: scheduling.PriceFromNano(machine.nano), Currency: machine.currency, AsOf: asOf, Source: source}
}
