package scheduling

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestGapPercent(t *testing.T) {
	known := PriceFromNano
	tests := []struct {
		name, reason string
		price, bound Price
		want         float64
		json         string // What is said of the gap, empty: nothing.
	}{
		{"optimal", "a proof is shown as 0, not left out", known(7e8), known(7e8), 0, `"gapPercent":0}`},
		{"free", "nothing costs less than nothing", known(0), known(0), 0, `"gapPercent":0}`},
		{"exact", "a quarter more", known(125), known(100), 25, `"gapPercent":25}`},
		{"a billionth", "never smaller than it is, so not 0", known(1e9 + 1), known(1e9), 0.01, `"gapPercent":0.01}`},
		{"rounded up", "1.2 % and a bit", known(101_200_001), known(100_000_000), 1.21, `"gapPercent":1.21}`},
		{"a third", "33.33... %", known(4), known(3), 33.34, `"gapPercent":33.34}`},
		{"vast", "no overflow", known(math.MaxInt64), known(1), 9.223372036854776e20, `"gapPercent":922337203685477600000}`},
		{"no bound", "nothing is known", known(5), Price{}, 0, ""},
		{"a bound of nothing", "no share of it can be named", known(5), known(0), 0, ""},
		{"no price", "nothing is known", Price{}, known(5), 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			totals := Totals{Price: tt.price, LowerBound: tt.bound}
			got, ok := totals.GapPercent()
			if got != tt.want || ok != (tt.json != "") {
				t.Errorf("%v, %v; want %v (%s)", got, ok, tt.want, tt.reason)
			}
			text := strings.Join(strings.Fields(string(mustJSON(t, totals))), "")
			if !strings.HasSuffix(text, tt.json) || strings.Contains(text, "gapPercent") != ok {
				t.Errorf("JSON is %s; want %s (%s)", text, tt.json, tt.reason)
			}
		})
	}
}

// However the numbers fall, the gap is as large as the real one and less than a hundredth larger.
func TestGapIsRoundedUp(t *testing.T) {
	const seed = 4
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 20_000 {
		bound := 1 + r.Int64N(1<<r.IntN(40))
		price := bound + r.Int64N(1<<r.IntN(40))
		got, ok := Totals{Price: PriceFromNano(price), LowerBound: PriceFromNano(bound)}.GapPercent()
		hundredths := int64(math.Round(got * 100))
		// (hundredths-1) x bound < (price-bound) x 10,000 <= hundredths x bound
		real := new(big.Int).Mul(big.NewInt(price-bound), big.NewInt(10_000))
		most := new(big.Int).Mul(big.NewInt(hundredths), big.NewInt(bound))
		least := new(big.Int).Sub(most, big.NewInt(bound))
		if !ok || float64(hundredths)/100 != got || real.Cmp(most) > 0 || real.Cmp(least) <= 0 {
			t.Fatalf("price %d, bound %d: gap %v", price, bound, got)
		}
	}
}
