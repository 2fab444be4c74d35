package scheduling_test

import (
	"strings"
	"testing"

	. "github.com/fleetwright/fleetwright/scheduling"
)

// verifyPriced is verifyBase with what prices pay for: 3 of 3.9 cores for pods, 0.1 for the DaemonSet.
func verifyPriced() (*Problem, *Plan) {
	problem, plan := verifyBase()
	w := &plan.Shapes[0].Why
	w.PodsPrice, w.DaemonsPrice = PriceFromNano(76_923_077), PriceFromNano(2_564_102)
	plan.Pools = []PoolUse{{
		Pool: 0, Nodes: 1, Price: PriceFromNano(1e8), PodsPrice: w.PodsPrice, DaemonsPrice: w.DaemonsPrice,
		Resources: []ResourceUse{
			{"cpu", 3900, 3000, 100, PriceFromNano(20_512_821)},
			{"memory", 15 << 30, 2 << 30, 1 << 30, PriceFromNano(0)},
			{"pods", 10, 2, 1, PriceFromNano(0)},
		},
	}}
	return problem, plan
}

func TestVerifyPrices(t *testing.T) {
	tests := []struct {
		name, reason string
		edit         func(*Plan, *PoolUse)
		want         string // The rule broken.
	}{
		{"right", "nothing is wrong", func(*Plan, *PoolUse) {}, ""},
		{"not worked out", "a plan made elsewhere need not say", func(q *Plan, _ *PoolUse) { q.Pools, q.Shapes[0].Why = nil, Why{} }, ""},
		{"rounded", "a billionth for each part is granted", func(_ *Plan, u *PoolUse) { u.Resources[0].StrandedPrice = PriceFromNano(20_512_823) }, ""},
		{"parts beyond the price", "a price is paid once", func(q *Plan, u *PoolUse) {
			q.Shapes[0].Why.DaemonsPrice, u.DaemonsPrice = PriceFromNano(9e7), PriceFromNano(9e7)
			u.Resources[0].StrandedPrice = PriceFromNano(0)
		}, "price"},
		{"half a split", "both parts or none", func(q *Plan, u *PoolUse) {
			q.Shapes[0].Why.DaemonsPrice, u.DaemonsPrice = Price{}, PriceFromNano(0)
			u.Resources[0].StrandedPrice = PriceFromNano(23_076_923)
		}, "price"},
		{"nodes", "launches can be counted", func(_ *Plan, u *PoolUse) { u.Nodes = 2 }, "totals"},
		{"price", "and added up", func(_ *Plan, u *PoolUse) { u.Price = PriceFromNano(1e8 + 1) }, "totals"},
		{"pods' price", "it is the sum of those of the launches", func(_ *Plan, u *PoolUse) { u.PodsPrice = PriceFromNano(76_923_078) }, "totals"},
		{"allocatable", "types say what there is", func(_ *Plan, u *PoolUse) { u.Resources[1].Allocatable = 16 << 30 }, "totals"},
		{"pods", "pods say what they ask for", func(_ *Plan, u *PoolUse) { u.Resources[0].Pods++ }, "totals"},
		{"DaemonSets", "so do these", func(_ *Plan, u *PoolUse) { u.Resources[0].Daemons++ }, "totals"},
		{"stranded", "it costs what nothing else does", func(_ *Plan, u *PoolUse) { u.Resources[0].StrandedPrice = PriceFromNano(3e7) }, "totals"},
		{"resource left out", "all that is asked for is listed", func(_ *Plan, u *PoolUse) { u.Resources = u.Resources[:2] }, "totals"},
		{"pool left out", "it launches a node", func(q *Plan, _ *PoolUse) { q.Pools = []PoolUse{} }, "totals"},
		{"pool twice", "once is enough", func(q *Plan, u *PoolUse) { q.Pools = append(q.Pools, *u) }, "totals"},
		{"no such pool", "an index anywhere", func(q *Plan, u *PoolUse) { u.Pool = 7 }, "totals"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			problem, plan := verifyPriced()
			tt.edit(plan, &plan.Pools[0])
			err := Verify(problem, plan)
			if got := strings.Join(rules(err), " "); got != tt.want {
				t.Errorf("%s: broken rules %q, want %q\n%v", tt.reason, got, tt.want, err)
			}
		})
	}
}
