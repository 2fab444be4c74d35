package scheduling_test

import (
	"slices"
	"strings"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// commitmentUse is what a plan should say of the problem's commitments.
func commitmentUse(p *Problem, plan *Plan) []CommitmentUse {
	var out []CommitmentUse
	for _, k := range p.Commitments {
		u := CommitmentUse{Name: k.Name, Instances: k.Instances, PerHour: k.PerHour}
		drawn := int64(0)
		for _, l := range plan.Launches {
			s := &plan.Shapes[l.Shape]
			types := p.Pools[s.Pool].InstanceTypes
			if int(s.Choice.Type) >= len(types) || s.Choice.Offering < 0 || int(s.Choice.Offering) >= len(types[s.Choice.Type].Offerings) {
				continue
			}
			o := types[s.Choice.Type].Offerings[s.Choice.Offering]
			if o.Commitment != k.Name {
				continue
			}
			u.Nodes++
			if drawn += o.Price.Nano(); o.Draw.Known() {
				drawn += o.Draw.Nano() - o.Price.Nano()
			}
		}
		if k.PerHour.Known() {
			u.Drawn = PriceFromNano(drawn)
		}
		out = append(out, u)
	}
	slices.SortFunc(out, func(a, b CommitmentUse) int { return strings.Compare(a.Name, b.Name) })
	return out
}
