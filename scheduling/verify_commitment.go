package scheduling

import (
	"fmt"
	"maps"
)

// verifyCover is what launches take of a commitment, in billionths of money or in nodes, and what there is.
type verifyCover struct {
	money       bool
	have, taken int64
	nodes       int
}

// commitments adds up, by definition, what the plan's launches draw.
func (v *verifier) commitments() map[string]*verifyCover {
	if v.covers != nil {
		return v.covers
	}
	v.covers = map[string]*verifyCover{}
	for _, k := range v.problem.Commitments {
		c := &verifyCover{have: int64(k.Instances)}
		if k.PerHour.Known() {
			c.money, c.have = true, k.PerHour.Nano()
		}
		v.covers[k.Name] = c
	}
	for _, l := range v.plan.Launches {
		if !verifyInRange(l.Shape, v.plan.Shapes) || !v.goodShape[l.Shape] {
			continue
		}
		s := &v.plan.Shapes[l.Shape]
		if c := v.covers[v.offeringAt(s.Pool, s.Choice).Commitment]; c != nil {
			c.taken += c.takes(v.offeringAt(s.Pool, s.Choice))
			c.nodes++
		}
	}
	return v.covers
}

func (v *verifier) offeringAt(pool int32, a Alternative) *Offering {
	return &v.problem.Pools[pool].InstanceTypes[a.Type].Offerings[a.Offering]
}

// takes is what a node of the offering draws.
func (c *verifyCover) takes(o *Offering) int64 {
	switch {
	case !c.money:
		return 1
	case o.Draw.Known():
		return o.Draw.Nano()
	}
	return o.Price.Nano()
}

// covered tells whether enough is left for one more node of the offering, or if it draws on nothing.
func (v *verifier) covered(o *Offering) bool {
	c := v.commitments()[o.Commitment]
	return o.Commitment == "" || c != nil && c.have-c.taken >= c.takes(o)
}

// verifyPlainly tells whether the offering, or the same purchase at the ordinary price, is to be had without a commitment.
func verifyPlainly(t *InstanceType, offering int) bool {
	o := &t.Offerings[offering]
	for i := range t.Offerings {
		x := &t.Offerings[i]
		if x.Commitment == "" && !x.Unavailable && x.Price.Known() && verifySamePurchase(x, o) {
			return true
		}
	}
	return o.Commitment == ""
}

func verifySamePurchase(a, b *Offering) bool {
	return a.Zone == b.Zone && a.CapacityType == b.CapacityType && a.Reservation == b.Reservation && maps.Equal(a.Labels, b.Labels)
}

// checkCommitments: launches draw no more than there is, fall back under the same commitment to what draws no more, and
// list nothing under it that they list at the ordinary price too.
func (v *verifier) checkCommitments() {
	if len(v.problem.Commitments) == 0 {
		return
	}
	for i := range v.plan.Shapes {
		if !v.goodShape[i] {
			continue
		}
		s, subject := &v.plan.Shapes[i], fmt.Sprintf("shape %d", i)
		choice := v.offeringAt(s.Pool, s.Choice)
		for k, a := range s.Alternatives {
			o := v.offeringAt(s.Pool, a)
			if o.Commitment == "" {
				continue
			}
			if c := v.commitments()[o.Commitment]; o.Commitment != choice.Commitment || c == nil || c.takes(o) > c.takes(choice) {
				v.report("commitments", subject, "chooses commitment %q and has an alternative of %q, or one that draws more", choice.Commitment, o.Commitment)
			}
			for j, b := range s.Alternatives {
				other := v.offeringAt(s.Pool, b)
				if j != k && a.Type == b.Type && verifySamePurchase(o, other) {
					v.report("commitments", subject, "lists type %d in zone %s twice", a.Type, o.Zone)
				}
			}
		}
	}
	use := map[string]CommitmentUse{}
	for _, u := range v.plan.Commitments {
		use[u.Name] = u
	}
	for _, name := range verifyKeys(v.commitments()) {
		c := v.covers[name]
		if c.taken > c.have {
			v.report("commitments", name, "%d are drawn, it has %d", c.taken, c.have)
		}
		u, ok := use[name]
		if delete(use, name); !ok || u.Nodes != c.nodes || c.money && u.Drawn.Nano() != c.taken {
			v.report("commitments", name, "covers %d nodes that draw %d; the plan says %d and %v", c.nodes, c.taken, u.Nodes, u.Drawn)
		}
	}
	for _, name := range verifyKeys(use) {
		v.report("commitments", name, "is not the problem's")
	}
}
