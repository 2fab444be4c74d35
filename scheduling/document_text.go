package scheduling

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// monthHours is the month that cloud price lists use.
const monthHours = 730

// TextOptions bound what Document.Text prints. The zero value suits a terminal.
type TextOptions struct {
	// Groups is how many kinds of launches are listed, dearest first; 12 if 0.
	Groups int
	// Reasons is how many kinds of leftover pods are listed, most pods first; 8 if 0.
	Reasons int
}

// Text prints the plan for people: its totals, a table of the launches by pool, type and capacity type, where
// the price of each pool goes, and the pods left over by reason. What exceeds opts is summed up, so that the
// text stays below 10 KB with the default options, however large the plan.
func (d *Document) Text(opts TextOptions) string {
	var b strings.Builder
	d.writeTotals(&b)
	d.writeLaunches(&b, cmp.Or(max(opts.Groups, 0), 12))
	d.writePools(&b)
	d.writeCommitments(&b)
	d.writeUnplaced(&b, cmp.Or(max(opts.Reasons, 0), 8))
	d.writeRemarks(&b)
	return b.String()
}

func (d *Document) currency() string { return orElse(clip(d.Catalog.Currency, 8), "(no currency)") }

func (d *Document) writeTotals(b *strings.Builder) {
	t := &d.Totals
	onNodes, nodes := len(d.Placements), map[string]bool{}
	for _, p := range d.Placements {
		nodes[p.Node] = true
	}
	switch {
	case t.Nodes == 0:
		b.WriteString("no new nodes")
	case t.Price.known:
		fmt.Fprintf(b, "%s for %s: %s %s per hour, %s per month of %d hours", count(t.Nodes, "new node"),
			count(t.Pods-onNodes, "pod"), money(t.Price, 1, 4), d.currency(), money(t.Price, monthHours, 2), monthHours)
	default:
		fmt.Fprintf(b, "%s for %s, price unknown", count(t.Nodes, "new node"), count(t.Pods-onNodes, "pod"))
	}
	if onNodes > 0 {
		fmt.Fprintf(b, "; %s on %s", count(onNodes, "pod"), count(len(nodes), "existing node"))
	}
	if t.Unplaced > 0 {
		fmt.Fprintf(b, "; %s left over", count(t.Unplaced, "pod"))
	}
	if t.NotEvaluated > 0 {
		fmt.Fprintf(b, "; %s not looked at", count(t.NotEvaluated, "pod"))
	}
	b.WriteByte('\n')
	if t.Nodes > 0 {
		b.WriteString(d.boundText())
	}
}

// boundText is a line about the bound and what it leaves out, empty if it says nothing.
func (d *Document) boundText() string {
	gap, ok := d.Totals.GapPercent()
	bound := d.Totals.LowerBound
	switch {
	case !ok:
		return ""
	case gap == 0:
		return "no plan for these pods costs less: that is proven\n"
	}
	s := fmt.Sprintf("%s above a proven bound of %s per hour", gapText(gap), money(bound, 1, 4))
	if gap > 100 {
		s = fmt.Sprintf("%s a proven bound of %s per hour", gapText(gap), money(bound, 1, 4))
	}
	if len(d.BoundLeavesOut) > 0 {
		s += ", which leaves out " + clip(strings.Join(d.BoundLeavesOut, ", "), 160)
	}
	return s + "\n"
}

// gapText says what a gap means, in percent or, where that reads better, times. It never sounds smaller than it is.
func gapText(percent float64) string {
	if percent <= 100 {
		return "at most " + strconv.FormatFloat(percent, 'f', -1, 64) + "%"
	}
	return fmt.Sprintf("at most %.1f times", math.Ceil(min(1+percent/100, 1e9)*10)/10)
}

// launchGroup sums up the launches of one pool, type and capacity type.
type launchGroup struct {
	kind                launchKind // Without zone.
	nodes, pods         int
	nano                int64
	unpriced            bool
	zones               map[string]int
	cpu, memory         float64 // Requested.
	cpuTotal, memoryAll float64 // Allocatable.
	podsNano            int64   // What of the price pays for pods.
	unsplit             bool
	next                map[string]int // How often which runner-up is named.
}

func (d *Document) launchGroups() []*launchGroup {
	index := map[launchKind]*launchGroup{}
	var out []*launchGroup
	for i := range d.Launches {
		l := &d.Launches[i]
		k := l.kind()
		k.Zone = ""
		g := index[k]
		if g == nil {
			g = &launchGroup{kind: k, zones: map[string]int{}, next: map[string]int{}}
			index[k] = g
			out = append(out, g)
		}
		g.nodes++
		g.pods += len(l.Pods)
		g.nano += l.Price.nano
		g.unpriced = g.unpriced || !l.Price.known
		g.podsNano += l.Weighed.PodsPrice.nano
		g.unsplit = g.unsplit || !l.Weighed.PodsPrice.known
		if r := l.Weighed.RunnerUp; r != nil {
			g.next[clip(r.InstanceType, 18)+shareText(l.Price, r.Price)]++
		}
		g.zones[l.Zone]++
		g.cpu += floatOf(l.Requests, corev1.ResourceCPU)
		g.memory += floatOf(l.Requests, corev1.ResourceMemory)
		g.cpuTotal += floatOf(l.Allocatable, corev1.ResourceCPU)
		g.memoryAll += floatOf(l.Allocatable, corev1.ResourceMemory)
	}
	slices.SortFunc(out, func(a, b *launchGroup) int {
		return cmp.Or(cmp.Compare(b.nano, a.nano), cmp.Compare(b.nodes, a.nodes), a.kind.compare(b.kind))
	})
	return out
}

func floatOf(l corev1.ResourceList, name corev1.ResourceName) float64 {
	q, ok := l[name]
	if !ok {
		return 0
	}
	return q.AsApproximateFloat64()
}

func (d *Document) writeLaunches(b *strings.Builder, limit int) {
	groups := d.launchGroups()
	if len(groups) == 0 {
		return
	}
	rest := groups[min(limit, len(groups)):]
	groups = groups[:len(groups)-len(rest)]
	rows := [][]string{{"nodes", "pool", "type", "bought", "zone", "per hour", "pods", "cpu", "memory", "price used", "next best"}}
	for _, g := range groups {
		price := "unknown"
		if !g.unpriced {
			price = money(PriceFromNano(g.nano), 1, 4)
		}
		rows = append(rows, []string{
			grouped(int64(g.nodes)), clip(g.kind.Pool, 21), clip(g.kind.InstanceType, 21), clip(g.kind.CapacityType, 10),
			clip(zonesText(slices.Sorted(maps.Keys(g.zones))), 24), price, grouped(int64(g.pods)),
			bar(g.cpu, g.cpuTotal), bar(g.memory, g.memoryAll), g.usedText(), g.nextText(),
		})
	}
	b.WriteByte('\n')
	writeTable(b, withoutEmpty(rows), map[int]bool{0: true, 5: true, 6: true, 9: true})
	if len(rest) > 0 {
		var sum launchGroup
		for _, g := range rest {
			sum.nodes, sum.pods, sum.nano = sum.nodes+g.nodes, sum.pods+g.pods, sum.nano+g.nano
		}
		fmt.Fprintf(b, "... and %s of launches: %s with %s, %s per hour\n", count(len(rest), "more kind"),
			count(sum.nodes, "node"), count(sum.pods, "pod"), money(PriceFromNano(sum.nano), 1, 4))
	}
}

// usedText is what part of the group's price pays for pods.
func (g *launchGroup) usedText() string {
	if g.unsplit || g.unpriced || g.nano <= 0 {
		return ""
	}
	return fmt.Sprintf("%d%%", percentOf(g.podsNano, g.nano, down))
}

// nextText is the runner-up of most of the group's launches, by name if several are named as often.
func (g *launchGroup) nextText() string {
	best := ""
	for _, s := range slices.Sorted(maps.Keys(g.next)) {
		if best == "" || g.next[s] > g.next[best] {
			best = s
		}
	}
	return best
}

// shareText is the difference of two prices in percent of the first: " +3.1%".
func shareText(from, to Price) string {
	if !from.known || !to.known || from.nano == 0 {
		return ""
	}
	return fmt.Sprintf(" %+.1f%%", min((float64(to.nano)/float64(from.nano)-1)*100, 9999))
}

// withoutEmpty cuts the last columns of a table as far as they have nothing but a head.
func withoutEmpty(rows [][]string) [][]string {
	last := len(rows[0]) - 1
	if slices.ContainsFunc(rows[1:], func(r []string) bool { return r[last] != "" }) {
		return rows
	}
	for i := range rows {
		rows[i] = rows[i][:last]
	}
	return withoutEmpty(rows)
}

// writeTable pads the columns of rows to equal width; columns in right are aligned right.
func writeTable(b *strings.Builder, rows [][]string, right map[int]bool) {
	width := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			width[i] = max(width[i], len(c))
		}
	}
	for _, r := range rows {
		line := ""
		for i, c := range r {
			pad := strings.Repeat(" ", width[i]-len(c))
			if right[i] {
				c = pad + c
			} else {
				c += pad
			}
			line += c + "  "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// bar draws how much is used: [#######---]  72%.
func bar(used, total float64) string {
	if total <= 0 {
		return ""
	}
	share := min(max(used/total, 0), 9.99)
	n := int(min(share, 1)*10 + 0.5)
	return fmt.Sprintf("[%s%s] %3.0f%%", strings.Repeat("#", n), strings.Repeat("-", 10-n), share*100)
}

// zonesText joins zones with what they have in common written once: us-east-1{a,b}.
func zonesText(zones []string) string {
	if len(zones) < 2 {
		return strings.Join(zones, "")
	}
	prefix := zones[0]
	for _, z := range zones[1:] {
		for !strings.HasPrefix(z, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	tails := make([]string, len(zones))
	for i, z := range zones {
		tails[i] = z[len(prefix):]
	}
	if prefix == "" {
		return strings.Join(tails, ",")
	}
	return prefix + "{" + strings.Join(tails, ",") + "}"
}

func (d *Document) writeUnplaced(b *strings.Builder, limit int) {
	if len(d.Unplaced) == 0 {
		return
	}
	type kind struct {
		code          Code
		message, pod  string
		pods, ordinal int
	}
	index := map[[2]string]*kind{}
	var kinds []*kind
	for i := range d.Unplaced {
		u := &d.Unplaced[i]
		k := index[[2]string{string(u.Reason.Code), u.Reason.Message}]
		if k == nil {
			k = &kind{code: u.Reason.Code, message: u.Reason.Message, pod: u.Pod, ordinal: len(kinds)}
			index[[2]string{string(u.Reason.Code), u.Reason.Message}] = k
			kinds = append(kinds, k)
		}
		k.pods++
	}
	slices.SortFunc(kinds, func(a, b *kind) int {
		return cmp.Or(cmp.Compare(b.pods, a.pods), cmp.Compare(a.code, b.code), cmp.Compare(a.ordinal, b.ordinal))
	})
	fmt.Fprintf(b, "\nleft over: %s\n", count(len(d.Unplaced), "pod"))
	var rows [][]string
	for _, k := range kinds[:min(limit, len(kinds))] {
		rows = append(rows, []string{"  " + grouped(int64(k.pods)), clip(string(k.code), 20), clip(k.pod, 100) + ": " + clip(k.message, 340)})
	}
	writeTable(b, rows, map[int]bool{0: true})
	if rest := kinds[len(rows):]; len(rest) > 0 {
		pods, codes := 0, map[Code]int{}
		for _, k := range rest {
			pods += k.pods
			codes[k.code] += k.pods
		}
		var parts []string
		for _, c := range slices.Sorted(maps.Keys(codes)) {
			parts = append(parts, fmt.Sprintf("%s %s", clip(string(c), 20), grouped(int64(codes[c]))))
		}
		fmt.Fprintf(b, "... and %s for %s: %s\n", count(pods, "pod"), count(len(rest), "more reason"),
			clip(strings.Join(parts, ", "), 300))
	}
}

// writeRemarks says what else a reader should know before trusting the plan.
func (d *Document) writeRemarks(b *strings.Builder) {
	b.WriteByte('\n')
	if n := len(d.NotEvaluated); n > 0 {
		fmt.Fprintf(b, "not looked at: %s, such as %s; the step budget ran out, begin with them next time (Options.First)\n",
			count(n, "pod"), clip(d.NotEvaluated[0], 100))
	}
	d.writeRelaxed(b)
	c := &d.Catalog
	source := strings.Join(slices.DeleteFunc([]string{clip(c.Source, 100), clip(c.Region, 40), clip(c.Currency, 8)},
		func(s string) bool { return s == "" }), ", ")
	if c.AsOf == "" {
		fmt.Fprintf(b, "prices: %s, of unknown date\n", orElse(source, "unknown source"))
	} else {
		fmt.Fprintf(b, "prices as of %s: %s\n", clip(c.AsOf, 20), orElse(source, "unknown source"))
	}
	for _, s := range c.Adjustments[:min(commitmentsShown, len(c.Adjustments))] {
		fmt.Fprintf(b, "  with %s\n", clip(s, 200))
	}
	if n := len(c.Adjustments) - commitmentsShown; n > 0 {
		fmt.Fprintf(b, "  and %s\n", count(n, "more adjustment"))
	}
}

// relaxedKinds is how many kinds of preferences given up are listed.
const relaxedKinds = 4

// writeRelaxed lists what pods did without and what it would have cost, most pods first.
func (d *Document) writeRelaxed(b *strings.Builder) {
	type kind struct{ given, cost string }
	pods, such := map[kind]int{}, map[kind]string{}
	var kinds []kind
	total := 0
	for i := range d.Relaxed {
		r := &d.Relaxed[i]
		k := kind{clip(strings.Join(r.Given, ", "), 120), r.costText()}
		if _, ok := pods[k]; !ok {
			kinds, such[k] = append(kinds, k), first(r.Pods)
		}
		pods[k] += len(r.Pods)
		total += len(r.Pods)
	}
	if total == 0 {
		return
	}
	slices.SortStableFunc(kinds, func(x, y kind) int { return cmp.Compare(pods[y], pods[x]) })
	fmt.Fprintf(b, "did without preferences: %s\n", count(total, "pod"))
	var rows [][]string
	for _, k := range kinds[:min(relaxedKinds, len(kinds))] {
		rows = append(rows, []string{"  " + grouped(int64(pods[k])), clip(such[k], 60) + ": " + k.given + "; " + k.cost})
	}
	writeTable(b, rows, map[int]bool{0: true})
	if rest := kinds[len(rows):]; len(rest) > 0 {
		n := 0
		for _, k := range rest {
			n += pods[k]
		}
		fmt.Fprintf(b, "... and %s for %s\n", count(n, "pod"), count(len(rest), "more kind"))
	}
	b.WriteByte('\n')
}

// costText says what keeping the preferences would have cost.
func (r *RelaxedDocument) costText() string {
	if !r.Cost.known {
		return "not to be had at any price"
	}
	return "to be had for " + money(r.Cost, 1, 4) + " per hour more"
}
