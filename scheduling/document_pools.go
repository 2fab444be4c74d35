package scheduling

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// addPrices says what of each resource is used and what the shape's price pays for.
func (w *WeighedDocument) addPrices(s *Shape, allocatable corev1.ResourceList) {
	w.PodsPrice, w.DaemonsPrice = s.Why.PodsPrice, s.Why.DaemonsPrice
	w.StrandedPrice = stranded(s.Price, w.PodsPrice, w.DaemonsPrice)
	for _, q := range s.Requests {
		has := allocatable[q.Name]
		if all := amountIn(q.Name, &has); all > 0 {
			if w.UsedPercents == nil {
				w.UsedPercents = map[corev1.ResourceName]int{}
			}
			w.UsedPercents[q.Name] = percentOf(q.Amount, all, down)
		}
	}
}

// percentOf is a share in whole percent, at most a million.
func percentOf(part, whole int64, r round) int {
	const most = 1_000_000
	if part <= 0 || whole <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(part), 100)
	if high >= uint64(whole) {
		return most
	}
	n, rest := bits.Div64(high, low, uint64(whole))
	if r == up && rest > 0 {
		n++
	}
	return int(min(n, most))
}

func (n *names) pools(uses []PoolUse) []PoolDocument {
	var out []PoolDocument
	for i := range uses {
		u := &uses[i]
		d := PoolDocument{
			Pool: fmt.Sprintf("pools[%d]", u.Pool), Nodes: u.Nodes, Price: u.Price,
			PodsPrice: u.PodsPrice, DaemonsPrice: u.DaemonsPrice, StrandedPrice: u.Stranded(),
			Resources: make([]ResourceDocument, len(u.Resources)),
		}
		if u.Pool >= 0 && int(u.Pool) < len(n.problem.Pools) {
			d.Pool = n.problem.Pools[u.Pool].Name
		}
		for k := range u.Resources {
			r := &u.Resources[k]
			d.Resources[k] = ResourceDocument{
				Name: r.Name, Allocatable: quantityOf(r.Name, r.Allocatable), Pods: quantityOf(r.Name, r.Pods),
				Daemons: quantityOf(r.Name, r.Daemons), Stranded: quantityOf(r.Name, r.Stranded()),
				StrandedPercent: percentOf(r.Stranded(), r.Allocatable, up), StrandedPrice: r.StrandedPrice,
			}
		}
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b PoolDocument) int { return cmp.Compare(a.Pool, b.Pool) })
	return out
}

// pools is the way back.
func (b *binder) pools(list []PoolDocument) []PoolUse {
	var out []PoolUse
	for i := range list {
		d := &list[i]
		u := PoolUse{
			Pool: b.find(b.poolIndex, fmt.Sprintf("pools[%d]", i), "pool", d.Pool), Nodes: d.Nodes, Price: d.Price,
			PodsPrice: d.PodsPrice, DaemonsPrice: d.DaemonsPrice,
		}
		for k := range d.Resources {
			r := &d.Resources[k]
			u.Resources = append(u.Resources, ResourceUse{
				Name: r.Name, Allocatable: amountIn(r.Name, &r.Allocatable), Pods: amountIn(r.Name, &r.Pods),
				Daemons: amountIn(r.Name, &r.Daemons), StrandedPrice: r.StrandedPrice,
			})
		}
		out = append(out, u)
	}
	return out
}

// poolRows is how many pools are listed.
const poolRows = 4

// writePools draws where the price of each pool's launches goes, dearest pool first.
func (d *Document) writePools(b *strings.Builder) {
	list := slices.DeleteFunc(slices.Clone(d.Pools), func(p PoolDocument) bool { return !p.StrandedPrice.known })
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(x, y PoolDocument) int { return cmp.Compare(y.Price.nano, x.Price.nano) })
	b.WriteString("\nwhere the price goes: # pods, + DaemonSets, - stranded, which nobody uses\n")
	rows := [][]string{{"pool", "per hour", "", "stranded", "of which there is"}}
	for i := range list[:min(poolRows, len(list))] {
		p := &list[i]
		rows = append(rows, []string{
			clip(p.Pool, 21), money(p.Price, 1, 4), p.bar(),
			fmt.Sprintf("%s (%d%%)", money(p.StrandedPrice, 1, 4), percentOf(p.StrandedPrice.nano, p.Price.nano, up)), p.strandedText(),
		})
	}
	writeTable(b, rows, map[int]bool{1: true, 3: true})
	if rest := list[len(rows)-1:]; len(rest) > 0 {
		price, idle := PriceFromNano(0), PriceFromNano(0)
		for _, p := range rest {
			price, idle = price.plus(p.Price), idle.plus(p.StrandedPrice)
		}
		fmt.Fprintf(b, "... and %s: %s per hour, of which %s is stranded\n", count(len(rest), "more pool"), money(price, 1, 4), money(idle, 1, 4))
	}
}

// bar draws the parts of the price: [##############++----].
func (p *PoolDocument) bar() string {
	const width = 20
	cells := func(nano int64) int {
		if p.Price.nano <= 0 {
			return 0
		}
		return int(min(max(float64(nano)/float64(p.Price.nano), 0), 1)*width + 0.5)
	}
	pods := cells(p.PodsPrice.nano)
	both := max(min(cells(p.PodsPrice.nano+p.DaemonsPrice.nano), width), pods)
	return "[" + strings.Repeat("#", pods) + strings.Repeat("+", both-pods) + strings.Repeat("-", width-both) + "]"
}

// strandedText lists what nobody uses, the dearest resources first, at most three.
func (p *PoolDocument) strandedText() string {
	list := slices.DeleteFunc(slices.Clone(p.Resources), func(r ResourceDocument) bool {
		return r.Name == corev1.ResourcePods || r.Stranded.Sign() <= 0
	})
	slices.SortStableFunc(list, func(x, y ResourceDocument) int { return cmp.Compare(y.StrandedPrice.nano, x.StrandedPrice.nano) })
	var parts []string
	for i := range list[:min(3, len(list))] {
		r := &list[i]
		parts = append(parts, fmt.Sprintf("%s (%d%%)", amountText(r.Name, amountIn(r.Name, &r.Stranded), down), r.StrandedPercent))
	}
	return clip(strings.Join(parts, ", "), 80)
}
