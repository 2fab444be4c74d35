package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// diffRows is how many rows each part of a difference's text has at most.
const diffRows = 10

func (d *Difference) write(b *strings.Builder) {
	if d.Empty() {
		b.WriteString("no difference")
		if !d.SameProblem {
			b.WriteString(", though the plans were made for different problems")
		}
		b.WriteByte('\n')
		d.writeBound(b)
		return
	}
	if !d.SameProblem {
		b.WriteString("the plans were made for different problems\n")
	}
	fmt.Fprintf(b, "nodes %s -> %s, price per hour %s -> %s (%s), pods placed %s -> %s\n",
		grouped(int64(d.Before.Nodes)), grouped(int64(d.After.Nodes)), money(d.Before.Price, 1, 4), money(d.After.Price, 1, 4),
		priceChange(d.Before.Price, d.After.Price), grouped(int64(d.Before.Pods)), grouped(int64(d.After.Pods)))
	d.writeBound(b)
	d.writeLaunches(b)
	writeMoves(b, "moved", d.Moved)
	writeMoves(b, "newly placed", d.Placed)
	writeMoves(b, "newly left over", d.Unplaced)
	writeMoves(b, "no longer there", d.Gone)
}

// writeBound says how the bounds differ, and how far above them the plans are. A bound may differ where the plans do not:
// more effort proves more.
func (d *Difference) writeBound(b *strings.Builder) {
	if d.Before.LowerBound == d.After.LowerBound {
		return
	}
	above := func(t Totals) string {
		gap, ok := t.GapPercent()
		switch {
		case !ok:
			return "nothing proven"
		case gap == 0:
			return "proven to be the cheapest"
		case gap <= 100:
			return gapText(gap) + " above it"
		}
		return gapText(gap) + " as dear"
	}
	fmt.Fprintf(b, "proven bound per hour %s -> %s: %s -> %s\n", money(d.Before.LowerBound, 1, 4), money(d.After.LowerBound, 1, 4),
		above(d.Before), above(d.After))
}

// priceChange prints a signed difference, with its share where that means something.
func priceChange(before, after Price) string {
	if !before.known || !after.known {
		return "unknown"
	}
	s := signedPrice(after.nano - before.nano)
	if before.nano > 0 && after.nano != before.nano {
		s += fmt.Sprintf(", %+.1f%%", (float64(after.nano)/float64(before.nano)-1)*100)
	}
	return s
}

func (d *Difference) writeLaunches(b *strings.Builder) {
	if len(d.Launches) == 0 {
		return
	}
	list := slices.Clone(d.Launches)
	slices.SortStableFunc(list, func(x, y LaunchDifference) int { return cmp.Compare(y.weight(), x.weight()) })
	fmt.Fprintf(b, "launches: %s\n", count(len(list), "kind"))
	rows := [][]string{{"", "pool", "type", "bought", "zone", "nodes", "per hour"}}
	for _, l := range list[:min(len(list), diffRows)] {
		mark := " "
		switch {
		case l.Before == 0:
			mark = "+"
		case l.After == 0:
			mark = "-"
		}
		rows = append(rows, []string{
			mark, clip(l.Pool, 21), clip(l.InstanceType, 21), clip(l.CapacityType, 10), clip(l.Zone, 24),
			fmt.Sprintf("%s -> %s", grouped(int64(l.Before)), grouped(int64(l.After))), l.priceChange(),
		})
	}
	writeTable(b, rows, nil)
	if n := len(list) - diffRows; n > 0 {
		fmt.Fprintf(b, "... and %s\n", count(n, "more kind"))
	}
}

// priceChange leaves the share out where all nodes of the kind come or go.
func (l *LaunchDifference) priceChange() string {
	if l.Before > 0 && l.After > 0 || !l.PriceBefore.known || !l.PriceAfter.known {
		return priceChange(l.PriceBefore, l.PriceAfter)
	}
	return signedPrice(l.PriceAfter.nano - l.PriceBefore.nano)
}

// weight orders launches for display: the largest change of price, then of number.
func (l *LaunchDifference) weight() float64 {
	price := float64(l.PriceAfter.nano) - float64(l.PriceBefore.nano)
	return max(price, -price) + float64(max(l.After-l.Before, l.Before-l.After))/1e6
}

func writeMoves(b *strings.Builder, what string, list []PodMove) {
	if len(list) == 0 {
		return
	}
	pods := 0
	for _, m := range list {
		pods += len(m.Pods)
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(x, y PodMove) int { return cmp.Compare(len(y.Pods), len(x.Pods)) })
	fmt.Fprintf(b, "%s: %s\n", what, count(pods, "pod"))
	for i, m := range list {
		if i == diffRows {
			rest := 0
			for _, m := range list[i:] {
				rest += len(m.Pods)
			}
			fmt.Fprintf(b, "  ... and %s in %s\n", count(rest, "pod"), count(len(list)-i, "more group"))
			return
		}
		fmt.Fprintf(b, "  %s, such as %s: %s -> %s\n", count(len(m.Pods), "pod"), clip(first(m.Pods), 80), m.From, m.To)
	}
}

// String names the place for a line of text.
func (p Place) String() string {
	switch {
	case p.Node != "":
		return "node " + clip(p.Node, 63)
	case p.placed():
		return strings.Join(slices.DeleteFunc([]string{clip(p.Pool, 30), clip(p.InstanceType, 30), clip(p.Zone, 30), clip(p.CapacityType, 20)},
			func(s string) bool { return s == "" }), "/")
	case p.NotEvaluated:
		return "not looked at"
	case p.Code != "":
		return "left over (" + clip(string(p.Code), 30) + ")"
	}
	return "unknown"
}
