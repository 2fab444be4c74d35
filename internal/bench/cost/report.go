package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/scheduling"
)

// report is what the command prints.
type report struct {
	config  config
	rows    []*row
	skipped []string
}

// misses lists all that is not as promised, averages included; nothing is promised of plans as specified.
func (r *report) misses() (out []string) {
	if r.config.asSpecified {
		return r.broken()
	}
	for _, row := range r.rows {
		for _, miss := range row.misses() {
			out = append(out, row.name+": "+miss)
		}
	}
	for _, g := range groups[:averaged] {
		for _, effort := range r.config.efforts {
			percent, n := average(r.rows, g.kinds, effort)
			if most := promised(&row{kind: g.kinds[0]}, effort).average; n > 0 && most > 0 && percent > most+rounding {
				out = append(out, fmt.Sprintf("%s, %v: %.2f %% above the bounds on average, promised %g %%", g.name, effort, percent, most))
			}
		}
	}
	return out
}

// broken lists what is wrong and not only dear.
func (r *report) broken() (out []string) {
	for _, row := range r.rows {
		for _, miss := range row.misses() {
			if strings.Contains(miss, "BROKEN") {
				out = append(out, row.name+": "+miss)
			}
		}
	}
	return out
}

// markdown is the whole report.
func (r *report) markdown() string {
	var b strings.Builder
	offers := "EC2 region us-east-1, all amd64 types on-demand, capacity-type selectors taken as met"
	if r.config.asSpecified {
		offers = "the file's region, both architectures, on-demand and spot"
	}
	fmt.Fprintf(&b, "# What plans cost\n\nMade by `make bench-cost` on %s with %s, %s/%s, %d cores:\n%s. Prices in USD per hour.\n\n",
		r.config.date, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), offers)
	r.costs(&b)
	r.averages(&b)
	if r.config.peer > 0 {
		r.peers(&b)
	}
	r.times(&b)
	r.checks(&b)
	fmt.Fprintf(&b, "## Misses\n\n")
	for _, miss := range r.misses() {
		fmt.Fprintf(&b, "* %s\n", miss)
	}
	if len(r.misses()) == 0 {
		fmt.Fprintf(&b, "None.\n")
	}
	if len(r.skipped) > 0 {
		fmt.Fprintf(&b, "\n## Skipped\n\n* %s\n", strings.Join(r.skipped, "\n* "))
	}
	return b.String()
}

func (r *report) costs(b *strings.Builder) {
	fmt.Fprint(b, "## Above a proven bound\n\nThe bound is the largest that any of the plans proves for the pods placed, or the planted optimum. "+
		"The target is for each\nworkload, at the default effort and at Best.\n\n")
	head := []string{"workload", "pods", "left over", "bound", "from"}
	for _, effort := range r.config.efforts {
		head = append(head, effort.String(), "above")
	}
	t := table{head: append(head, "target", "verdict"), left: []int{0, 2, 4}}
	for _, row := range r.rows {
		bound, of := row.proven()
		left := row.fullest().leftOver()
		if row.moved != "" {
			left = strings.TrimPrefix(left+"; moved from "+row.moved, "; ")
		}
		cells := []string{row.name, fmt.Sprint(row.pods), left, money(bound), of}
		for i := range row.ours {
			above := "-"
			if percent, ok := row.above(&row.ours[i]); ok {
				above = fmt.Sprintf("%.2f %%", percent)
			}
			cells = append(cells, money(row.ours[i].price), above)
		}
		verdict := "ok"
		if n := len(row.misses()); n > 0 {
			verdict = fmt.Sprintf("**%d missed**", n)
		}
		target := fmt.Sprintf("%g %%, %g %%", promised(row, scheduling.EffortDefault).each, promised(row, scheduling.EffortBest).each)
		t.add(append(cells, target, verdict)...)
	}
	t.write(b)
	r.leavesOut(b)
}

// leavesOut says what the bounds take no account of.
func (r *report) leavesOut(b *strings.Builder) {
	by := map[string][]string{}
	var order []string
	for _, row := range r.rows {
		o := row.ours[len(row.ours)-1]
		if key := strings.Join(o.leavesOut, ", "); key != "" {
			if by[key] == nil {
				order = append(order, key)
			}
			by[key] = append(by[key], row.name)
		}
	}
	for _, key := range order {
		fmt.Fprintf(b, "Bounds that leave out %s: %s.\n\n", key, strings.Join(by[key], ", "))
	}
}

func (r *report) averages(b *strings.Builder) {
	head := []string{"average above the bound", "workloads"}
	for _, effort := range r.config.efforts {
		head = append(head, effort.String(), "target")
	}
	t := table{head: head, left: []int{0}}
	for i, g := range groups {
		cells := []string{g.name, ""}
		total := 0
		for _, effort := range r.config.efforts {
			percent, n := average(r.rows, g.kinds, effort)
			total = max(total, n)
			target := ""
			if most := promised(&row{kind: g.kinds[0]}, effort).average; i < averaged && most > 0 {
				target = fmt.Sprintf("%g %%", most)
				if percent > most+rounding {
					target += " **missed**"
				}
			}
			cells = append(cells, fmt.Sprintf("%.2f %%", percent), target)
		}
		if cells[1] = fmt.Sprint(total); total > 0 {
			t.add(cells...)
		}
	}
	t.write(b)
}

// peers compares each effort with the peer.
func (r *report) peers(b *strings.Builder) {
	fmt.Fprintf(b, "## Against Karpenter's scheduler\n\nsigs.k8s.io/karpenter with %d workers and at most %v for a workload; "+
		"`-`: it did not end. Percentages are its price over ours.\n\n", r.config.workers, r.config.peer)
	head := []string{"workload", "pods"}
	for _, effort := range r.config.efforts {
		head = append(head, effort.String())
	}
	head = append(head, "placed", "Karpenter", "placed", "nodes")
	for _, effort := range r.config.efforts {
		head = append(head, "over "+effort.String())
	}
	t := table{head: append(head, "remark"), left: []int{0, len(head)}}
	for _, row := range r.rows {
		p := row.peer
		cells := []string{row.name, fmt.Sprint(row.pods)}
		for _, o := range row.ours {
			cells = append(cells, money(o.price))
		}
		cells = append(cells, fmt.Sprint(row.fullest().placed))
		if p.late || p.placed == 0 {
			cells = append(cells, "-", "-", "-")
		} else {
			cells = append(cells, money(p.price), fmt.Sprint(p.placed), fmt.Sprint(p.nodes))
		}
		for _, o := range row.ours {
			over := "-"
			if !p.late && p.placed > 0 && o.price.Nano() > 0 {
				over = fmt.Sprintf("%+.1f %%", 100*(dollars(p.price)/dollars(o.price)-1))
			}
			cells = append(cells, over)
		}
		t.add(append(cells, row.remark())...)
	}
	t.write(b)
}

// remark is what keeps the peer's result from being comparable.
func (r *row) remark() string {
	p, placed := r.peer, r.fullest().placed
	var out []string
	switch n := p.broken(); {
	case p.late:
		return fmt.Sprintf("not done after %v", p.took.Round(time.Second))
	case p.placed == 0 && p.fault != nil:
		return p.fault.Error()
	case n > 0:
		out = append(out, fmt.Sprintf("its plan breaks %d rules", n))
	}
	switch {
	case p.placed < placed:
		out = append(out, fmt.Sprintf("it leaves over %d pods that we place", placed-p.placed))
	case p.placed > placed:
		out = append(out, fmt.Sprintf("it places %d pods more", p.placed-placed))
	}
	return strings.Join(out, "; ")
}

func (r *report) times(b *strings.Builder) {
	fmt.Fprintf(b, "## Times\n\nEvery solve is cold. Medians of up to %d runs; of the peer one run.\n\n", r.config.runs)
	head := []string{"workload", "pods"}
	for _, effort := range r.config.efforts {
		head = append(head, effort.String())
	}
	if r.config.peer > 0 {
		head = append(head, "Karpenter")
	}
	t := table{head: head, left: []int{0}}
	for _, row := range r.rows {
		cells := []string{row.name, fmt.Sprint(row.pods)}
		for _, o := range row.ours {
			cells = append(cells, seconds(o.took))
		}
		if p := row.peer; p != nil && p.late {
			cells = append(cells, "> "+seconds(p.took))
		} else if p != nil {
			cells = append(cells, seconds(p.took))
		}
		t.add(cells...)
	}
	t.write(b)
}

// checks shows the numbers of bounds.csv, where there are any for the region planned in.
func (r *report) checks(b *strings.Builder) {
	head := []string{"workload", "pods", "bound there", "our bound over it"}
	for _, effort := range r.config.efforts {
		head = append(head, effort.String()+" above it")
	}
	t := table{head: append(head, "first fit decreasing", "greedy"), left: []int{0}}
	for _, row := range r.rows {
		c := row.check
		if c.bound == 0 || c.region != row.region {
			continue
		}
		ratio := "-"
		if bound, _ := row.proven(); bound.Known() && row.fullest().placed == c.pods {
			ratio = fmt.Sprintf("%.4f", dollars(bound)/c.bound)
		}
		cells := []string{row.name, fmt.Sprint(c.pods), number(c.bound), ratio}
		for _, o := range row.ours {
			above := "-"
			if o.placed == c.pods {
				above = fmt.Sprintf("%.2f %%", 100*(dollars(o.price)/c.bound-1))
			}
			cells = append(cells, above)
		}
		t.add(append(cells, number(c.ffd), number(c.greedy))...)
	}
	if len(t.rows) > 0 {
		fmt.Fprint(b, "## Cross-check\n\nBounds computed by another program, which come with the data, and two plain packings "+
			"that are blind to spread, affinity\nand zones. `-`: they count other pods than we place.\n\n")
		t.write(b)
	}
}

// table is a Markdown table with aligned columns.
type table struct {
	head []string
	// left are the columns that are not numbers.
	left []int
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(b *strings.Builder) {
	width := make([]int, len(t.head))
	for _, cells := range append([][]string{t.head}, t.rows...) {
		for i, cell := range cells {
			width[i] = max(width[i], len(cell), 3)
		}
	}
	line := func(cells []string) {
		for i, cell := range cells {
			pad := strings.Repeat(" ", width[i]-len(cell))
			if slices.Contains(t.left, i) {
				fmt.Fprintf(b, "| %s%s ", cell, pad)
			} else {
				fmt.Fprintf(b, "| %s%s ", pad, cell)
			}
		}
		b.WriteString("|\n")
	}
	line(t.head)
	for i, w := range width {
		if slices.Contains(t.left, i) {
			fmt.Fprintf(b, "|%s", strings.Repeat("-", w+2))
		} else {
			fmt.Fprintf(b, "|%s:", strings.Repeat("-", w+1))
		}
	}
	b.WriteString("|\n")
	for _, cells := range t.rows {
		line(cells)
	}
	b.WriteString("\n")
}

func money(p scheduling.Price) string {
	if !p.Known() {
		return "-"
	}
	return number(dollars(p))
}

func number(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.4f", v)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }

// upper makes the first letter a capital.
func upper(s string) string { return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):] }
