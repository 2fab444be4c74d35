package pricing

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/fleetwright/fleetwright/provider/internal/exact"
	"github.com/fleetwright/fleetwright/scheduling"
)

// Adjustment is a [Percent], a [Fixed] or a [Fee].
type Adjustment interface {
	where() Match
	// money is the amount that it contains, zero if none.
	money() Hourly
	// change is asked for rates that are known, of the same currency.
	change(Rate) Rate
	faults(at string) []scheduling.Fault
	note() string
}

// Percent changes what machines cost in proportion: -8 is eight percent less.
type Percent struct {
	Where Match
	// By is at least -100.
	By float64
}

// Fixed changes what machines cost by an amount an hour; below 0 they cost less, but never less than nothing.
type Fixed struct {
	Where Match
	By    Hourly
}

// Fee is paid for every hour of a node to somebody else: an agent's licence, support, a share of the control plane. It makes
// fewer, larger nodes cheaper. Percentages do not touch it.
type Fee struct {
	Where Match
	// Name says what it is for.
	Name string
	// Per is not below 0.
	Per Hourly
}

func (a Percent) where() Match  { return a.Where }
func (a Percent) money() Hourly { return Hourly{} }
func (a Fixed) where() Match    { return a.Where }
func (a Fixed) money() Hourly   { return a.By }
func (a Fee) where() Match      { return a.Where }
func (a Fee) money() Hourly     { return a.Per }

func (a Percent) change(r Rate) Rate {
	if a.By >= -100 && !math.IsInf(a.By, 1) {
		r.Machine = exact.Change(r.Machine, exact.Percent(exact.Decimal(a.By)), new(big.Rat))
	}
	return r
}

func (a Fixed) change(r Rate) Rate {
	r.Machine = exact.Change(r.Machine, big.NewRat(1, 1), big.NewRat(a.By.nano, 1))
	return r
}

func (a Fee) change(r Rate) Rate {
	r.Fees.currency = a.Per.currency
	r.Fees.nano = min(r.Fees.nano+max(a.Per.nano, 0), exact.MaxNano)
	return r
}

func (a Percent) faults(at string) []scheduling.Fault {
	out := a.Where.faults(at + ".where")
	if !(a.By >= -100) || math.IsInf(a.By, 1) {
		out = append(out, scheduling.Fault{Path: at + ".by", Problem: fmt.Sprintf("%v percent cannot be", a.By), Remedy: "take off 100 percent at most"})
	}
	return out
}

func (a Fixed) faults(at string) []scheduling.Fault {
	return append(a.Where.faults(at+".where"), a.By.faults(at+".by")...)
}

func (a Fee) faults(at string) []scheduling.Fault {
	out := append(a.Where.faults(at+".where"), a.Per.faults(at+".per")...)
	if a.Per.nano < 0 {
		out = append(out, scheduling.Fault{Path: at + ".per", Problem: a.Per.String() + " is below 0", Remedy: "write what is paid, or a Fixed change for what is taken off"})
	}
	return out
}

func (m money) faults(at string) []scheduling.Fault {
	if !m.bad {
		return nil
	}
	return []scheduling.Fault{{Path: at, Problem: "is no amount of money", Remedy: "write a number up to nine billion"}}
}

func (a Percent) note() string {
	return fmt.Sprintf("%s%% on %s", signed(a.By), a.Where)
}

func (a Fixed) note() string {
	s := a.By.String()
	if a.By.nano >= 0 {
		s = "+" + s
	}
	return fmt.Sprintf("%s an hour on %s", s, a.Where)
}

func (a Fee) note() string {
	name := a.Name
	if name == "" {
		name = "a fee"
	}
	return fmt.Sprintf("%s: %s an hour for each node of %s", name, a.Per, a.Where)
}

func signed(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if v >= 0 {
		s = "+" + s
	}
	return s
}
