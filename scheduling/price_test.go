package scheduling

import (
	"encoding/json"
	"math"
	"testing"
)

func TestParsePrice(t *testing.T) {
	tests := []struct {
		name, in string
		want     int64
		fails    bool
	}{
		{name: "usual", in: "0.0464", want: 46_400_000},
		{name: "zero is a price", in: "0", want: 0},
		{name: "a billionth", in: "0.000000001", want: 1},
		{name: "tenth digit rounds down", in: "0.0000000014", want: 1},
		{name: "tenth digit rounds up", in: "0.0000000015", want: 2},
		{name: "rounding carries", in: "0.9999999999", want: 1_000_000_000},
		{name: "large and exact", in: "8999999999.123456789", want: 8_999_999_999_123_456_789},
		{name: "rounded without a float", in: "123456789.1234567891", want: 123_456_789_123_456_789},
		{name: "no digit before the point", in: ".5", want: 500_000_000},
		{name: "scientific", in: "1.5e-3", want: 1_500_000},
		{name: "minus zero", in: "-0", want: 0},
		{name: "negative", in: "-1", fails: true},
		{name: "too large", in: "9300000000", fails: true},
		{name: "text", in: "free", fails: true},
		{name: "empty", in: "", fails: true},
		{name: "not a number", in: "NaN", fails: true},
		{name: "infinite", in: "Inf", fails: true},
		{name: "two points", in: "1.2.3", fails: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParsePrice(tt.in)
			if (err != nil) != tt.fails {
				t.Fatalf("error %v", err)
			}
			if err == nil && (got.Nano() != tt.want || !got.Known()) {
				t.Errorf("%d, want %d", got.Nano(), tt.want)
			}
			if err != nil && got.Known() {
				t.Error("a price besides the error")
			}
		})
	}
}

func TestPriceFromFloat(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -0.1, 1e10} {
		if p := PriceFromFloat(v); p.Known() {
			t.Errorf("%v gives %v, want an unknown price", v, p)
		}
	}
	if p := PriceFromFloat(0.1 + 0.2); p.String() != "0.3" {
		t.Errorf("0.1 + 0.2 gives %v", p)
	}
	if PriceFromNano(-1).Known() {
		t.Error("a negative amount is no price")
	}
}

func TestPriceJSON(t *testing.T) {
	for _, want := range []string{"null", "0", "0.000000001", "12.5", "8999999999.999999999"} {
		var p Price
		if err := json.Unmarshal([]byte(want), &p); err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(p); string(got) != want {
			t.Errorf("%s comes back as %s", want, got)
		}
	}
	var p Price
	if err := json.Unmarshal([]byte(`"0.5"`), &p); err == nil {
		t.Error("a string was read as a price")
	}
}

func TestPricePlus(t *testing.T) {
	if got := PriceFromNano(1).plus(PriceFromNano(2)); got.Nano() != 3 {
		t.Errorf("1 + 2 = %v", got)
	}
	for _, q := range []Price{{}, PriceFromNano(math.MaxInt64)} {
		if got := PriceFromNano(1).plus(q); got.Known() {
			t.Errorf("1 + %v = %v, want unknown", q, got)
		}
	}
}

func FuzzParsePrice(f *testing.F) {
	for _, s := range []string{"0.0464", "1e3", "-0", "0x1p-2", "1_0", "9223372035.9999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePrice(s)
		if err != nil {
			return
		}
		if q, err := ParsePrice(p.String()); err != nil || p != q {
			t.Errorf("%q is %v, and that is %v (%v)", s, p, q, err)
		}
	})
}
