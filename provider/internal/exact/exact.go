// Package exact changes prices by factors and amounts without rounding in between.
package exact

import (
	"math/big"
	"strconv"

	"github.com/fleetwright/fleetwright/scheduling"
)

const (
	// NanoPerUnit is how many billionths one unit of a currency has.
	NanoPerUnit = 1_000_000_000
	// MaxNano is the dearest price that there is.
	MaxNano = 9_000_000_000 * int64(NanoPerUnit)
)

// Decimal is the number that v is the shortest spelling of: 0.1 is a tenth. v is finite.
func Decimal(v float64) *big.Rat {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'f', -1, 64))
	return r
}

// Percent is the factor 1 + v/100.
func Percent(v *big.Rat) *big.Rat {
	f := new(big.Rat).Quo(v, big.NewRat(100, 1))
	return f.Add(f, big.NewRat(1, 1))
}

// Change is times * p + plus, plus in billionths, rounded to a billionth, half of one up; never below 0 nor beyond the
// dearest price. An unknown price stays unknown.
func Change(p scheduling.Price, times, plus *big.Rat) scheduling.Price {
	if !p.Known() {
		return p
	}
	v := new(big.Rat).SetInt64(p.Nano())
	v.Add(v.Mul(v, times), plus)
	if v.Sign() <= 0 {
		return scheduling.PriceFromNano(0)
	}
	return scheduling.PriceFromNano(min(Round(v), MaxNano))
}

// Round is the nearest integer of a number that is not negative, half up; the largest there is, if it is beyond.
func Round(v *big.Rat) int64 {
	twice := new(big.Int).Lsh(v.Num(), 1)
	n := twice.Add(twice, v.Denom()).Quo(twice, new(big.Int).Lsh(v.Denom(), 1))
	if !n.IsInt64() {
		return 1<<63 - 1
	}
	return n.Int64()
}
