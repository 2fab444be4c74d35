package scheduling

import (
	"encoding/json"
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

// ParsePrice reads a decimal such as "0.0464". Digits beyond the ninth are rounded.
func ParsePrice(s string) (Price, error) {
	var n json.Number = json.Number(s)
	f, err := n.Float64()
	if err != nil || f < 0 || math.IsNaN(f) || f >= math.MaxInt64/nanoPerUnit {
		return Price{}, fmt.Errorf("scheduling: price %q: want a decimal amount per hour, 0 or more", s)
	}
	whole, frac, _ := strings.Cut(s, ".")
	if strings.ContainsAny(s, "eE+") || len(frac) > 9 {
		return PriceFromFloat(f), nil
	}
	w, err1 := strconv.ParseInt("0"+whole, 10, 64)
	d, err2 := strconv.ParseInt((frac + "000000000")[:9], 10, 64)
	if err1 != nil || err2 != nil {
		return PriceFromFloat(f), nil
	}
	return Price{nano: w*nanoPerUnit + d, known: true}, nil
}
