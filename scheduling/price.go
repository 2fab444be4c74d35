package scheduling

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Price is an amount of the catalogue's currency per hour. The zero value means "not known",
// which is a state of its own: an offering without a price is never bought as if it were free.
// Amounts are integers (billionths), so that sums are exact and no rounding decides a tie.
type Price struct {
	nano  int64
	known bool
}

const nanoPerUnit = 1_000_000_000

// PriceFromNano returns the price of n billionths per hour; n below zero gives an unknown price.
func PriceFromNano(n int64) Price {
	if n < 0 {
		return Price{}
	}
	return Price{nano: n, known: true}
}

// PriceFromFloat rounds v to the nearest billionth. NaN, infinities, negative amounts and amounts
// beyond nine billion give an unknown price.
func PriceFromFloat(v float64) Price {
	if !(v >= 0 && v < math.MaxInt64/nanoPerUnit) {
		return Price{}
	}
	return Price{nano: int64(math.Round(v * nanoPerUnit)), known: true}
}

// Nano returns the amount in billionths, 0 if the price is not known.
func (p Price) Nano() int64 { return p.nano }

// Known reports whether there is a price at all.
func (p Price) Known() bool { return p.known }

// Equal lets go-cmp compare prices.
func (p Price) Equal(q Price) bool { return p == q }

// String prints the shortest exact decimal ("0.096"), or "unknown".
func (p Price) String() string {
	if !p.known {
		return "unknown"
	}
	s := strconv.FormatInt(p.nano/nanoPerUnit, 10)
	if frac := p.nano % nanoPerUnit; frac != 0 {
		s += "." + strings.TrimRight(fmt.Sprintf("%09d", frac), "0")
	}
	return s
}

// MarshalJSON writes a plain number, or null for an unknown price.
func (p Price) MarshalJSON() ([]byte, error) {
	if !p.known {
		return []byte("null"), nil
	}
	return []byte(p.String()), nil
}

// UnmarshalJSON reads what MarshalJSON writes; a decimal is read exactly, not through a float.
func (p *Price) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*p = Price{}
		return nil
	}
	q, err := ParsePrice(string(b))
	if err != nil {
		return err
	}
	*p = q
	return nil
}

// plus adds prices; the sum is unknown if either is, or if it is too large.
func (p Price) plus(q Price) Price {
	if sum := p.nano + q.nano; p.known && q.known && sum >= 0 {
		return Price{nano: sum, known: true}
	}
	return Price{}
}

// ParsePrice reads a decimal such as "0.0464", exactly; digits beyond the ninth are rounded.
// Scientific notation goes through a float. The price is at most nine billion.
func ParsePrice(s string) (Price, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f < math.MaxInt64/nanoPerUnit) {
		return Price{}, fmt.Errorf("scheduling: price %q: want a decimal amount per hour, 0 or more", clip(s, 40))
	}
	whole, frac, _ := strings.Cut(s, ".")
	if strings.Trim(whole+frac, "0123456789") != "" {
		return PriceFromFloat(f), nil
	}
	w, err1 := strconv.ParseInt("0"+whole, 10, 64)
	d, err2 := strconv.ParseInt((frac + "000000000")[:9], 10, 64)
	if err1 != nil || err2 != nil {
		return PriceFromFloat(f), nil
	}
	if len(frac) > 9 && frac[9] >= '5' {
		d++
	}
	return PriceFromNano(w*nanoPerUnit + d), nil
}
