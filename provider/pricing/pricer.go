package pricing

import "fmt"

// Pricer knows what offerings cost. An offering whose price it does not know has the zero [Rate]. An error is for what is
// wrong with the pricer, such as amounts in two currencies. It gives the same answer to the same question every time.
type Pricer interface {
	Rate(o Offering) (Rate, error)
}

// Func is a function as a Pricer: a catalogue's, or one that reads a table.
type Func func(Offering) (Rate, error)

// Rate calls it.
func (f Func) Rate(o Offering) (Rate, error) { return f(o) }

// Listed knows the prices that the problem has.
func Listed() Pricer { return listed{} }

type listed struct{}

func (listed) Rate(o Offering) (Rate, error) { return o.Listed, nil }

// Flat knows one rate, for whatever is asked. Use it with Only.
func Flat(r Rate) Pricer { return flat{r} }

type flat struct{ rate Rate }

func (f flat) Rate(Offering) (Rate, error) { return f.rate, nil }

// Only asks another pricer about the offerings that match, and knows no others.
func Only(where Match, p Pricer) Pricer { return only{where, p} }

type only struct {
	where Match
	of    Pricer
}

func (p only) Rate(o Offering) (Rate, error) {
	if !p.where.matches(&o) {
		return Rate{}, nil
	}
	return p.of.Rate(o)
}

// First asks one pricer after the other until one knows: what overrides comes first, what is fallen back to last.
func First(list ...Pricer) Pricer { return first(list) }

type first []Pricer

func (p first) Rate(o Offering) (Rate, error) {
	for _, q := range p {
		if r, err := q.Rate(o); err != nil || r.Known() {
			return r, err
		}
	}
	return Rate{}, nil
}

// Adjust changes what another pricer knows, one change after the other.
func Adjust(p Pricer, changes ...Adjustment) Pricer { return adjusted{p, changes} }

type adjusted struct {
	of      Pricer
	changes []Adjustment
}

func (p adjusted) Rate(o Offering) (Rate, error) {
	r, err := p.of.Rate(o)
	if err != nil || !r.Known() {
		return Rate{}, err
	}
	for _, a := range p.changes {
		if !a.where().matches(&o) {
			continue
		}
		if m := a.money(); m.set() && m.currency != r.Currency {
			return Rate{}, fmt.Errorf("%s is in %s, the price that it changes in %s", a.note(), orNone(m.currency), orNone(r.Currency))
		}
		r = a.change(r)
	}
	return r, nil
}

func orNone(currency string) string {
	if currency == "" {
		return "no currency"
	}
	return currency
}

// parts are what this package's pricers are made of, with the path of each.
type parts struct {
	matches []placed[Match]
	changes []placed[Adjustment]
}

type placed[T any] struct {
	path string
	of   T
}

func (s *parts) collect(p Pricer, at string) {
	switch p := p.(type) {
	case only:
		s.matches = append(s.matches, placed[Match]{at + ".where", p.where})
		s.collect(p.of, at)
	case first:
		for i, q := range p {
			s.collect(q, fmt.Sprintf("%s[%d]", at, i))
		}
	case adjusted:
		s.collect(p.of, at)
		for i, a := range p.changes {
			s.changes = append(s.changes, placed[Adjustment]{fmt.Sprintf("%s.changes[%d]", at, i), a})
		}
	}
}
