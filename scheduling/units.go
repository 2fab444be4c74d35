package scheduling

import (
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// round says which way a shortened number may err. What is wanted is rounded up and what there
// is down, so that a printed shortage is never "needs 16 GiB, has 16 GiB", and advice taken
// literally works.
type round bool

const (
	down round = false
	up   round = true
)

// amountText prints an amount of a resource in the unit that people use: "0.25 CPU", "12.5 GiB
// memory", "2 nvidia.com/gpu".
func amountText(name corev1.ResourceName, amount int64, r round) string {
	if name == corev1.ResourceCPU {
		return thousandths(amount) + " CPU"
	}
	return unitless(name, amount, r) + prefixed(" ", clip(string(name), 60))
}

// unitless is amountText without the name, for the second number of a sentence.
func unitless(name corev1.ResourceName, amount int64, r round) string {
	if name == corev1.ResourceCPU {
		return thousandths(amount)
	}
	if isBytes(name) {
		return bytesText(amount, r)
	}
	return strconv.FormatInt(amount, 10)
}

// thousandths prints n/1000 exactly: 250 is "0.25".
func thousandths(n int64) string {
	sign, u := "", uint64(n)
	if n < 0 {
		sign, u = "-", -u
	}
	s := sign + strconv.FormatUint(u/1000, 10)
	if rest := u % 1000; rest != 0 {
		s += "." + strings.TrimRight(strconv.FormatUint(1000+rest, 10)[1:], "0")
	}
	return s
}

// bytesText prints bytes in the largest binary unit below them, with at most two decimals.
func bytesText(n int64, r round) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	u, size := 0, 1.0
	for u+1 < len(units) && math.Abs(float64(n)) >= size*1024 {
		u, size = u+1, size*1024
	}
	v := float64(n) / size * 100
	if r == up {
		v = math.Ceil(v)
	} else {
		v = math.Floor(v)
	}
	return strconv.FormatFloat(v/100, 'f', -1, 64) + " " + units[u]
}

// signedPrice prints a difference of prices: "+0.0096", "-1.5", "same price".
func signedPrice(nano int64) string {
	switch {
	case nano > 0:
		return "+" + PriceFromNano(nano).String()
	case nano < 0 && nano != math.MinInt64:
		return "-" + PriceFromNano(-nano).String()
	}
	return "same price"
}

// grouped prints n with commas between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	digits := strings.TrimPrefix(s, "-")
	out := s[:len(s)-len(digits)]
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out += ","
		}
		out += string(c)
	}
	return out
}

// money prints a price per hour, or what it makes in a number of hours, with a few decimals.
func money(p Price, hours float64, decimals int) string {
	if !p.known {
		return "unknown"
	}
	s := strconv.FormatFloat(float64(p.nano)/nanoPerUnit*hours, 'f', decimals, 64)
	whole, frac, _ := strings.Cut(s, ".")
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
		whole = grouped(n)
	}
	if frac != "" {
		whole += "." + frac
	}
	return whole
}

// count prints a number with its noun: "1 pod", "2,000 pods".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(int64(n)) + " " + noun + "s"
}

// clip makes a text safe to print and at most n characters long, or n and "...". Names come from
// files: one that holds control characters must not reach a terminal as such, and without wide
// ones characters, bytes and columns are the same.
func clip(s string, n int) string {
	if len(s) <= n && isPlain(s) {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if n--; n < 0 {
			return b.String() + "..."
		}
		if c < ' ' || c > '~' {
			c = '?'
		}
		b.WriteRune(c)
	}
	return b.String()
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
