package scheduling

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ExplainPod says where a pod went and why, or why it is left over. The name is "namespace/name";
// the name alone will do if only one pod of the plan has it. False: the plan has no such pod.
func (d *Document) ExplainPod(name string) (string, bool) {
	if s, ok := d.explain(name); ok || strings.Contains(name, "/") {
		return s, ok
	}
	found := d.podsNamed(name)
	switch len(found) {
	case 0:
		return "", false
	case 1:
		return d.explain(found[0])
	}
	more := ""
	if len(found) > 10 {
		more = fmt.Sprintf(" and %d more", len(found)-10)
		found = found[:10]
	}
	return fmt.Sprintf("%s is the name of several pods: %s%s; give the namespace too\n", clip(name, 63),
		clip(strings.Join(found, ", "), 600), more), true
}

// podsNamed lists the pods of that name in any namespace, sorted.
func (d *Document) podsNamed(name string) []string {
	var found []string
	try := func(pod string) {
		if _, n, ok := strings.Cut(pod, "/"); ok && n == name {
			found = append(found, pod)
		}
	}
	for i := range d.Launches {
		for _, p := range d.Launches[i].Pods {
			try(p)
		}
	}
	for i := range d.Placements {
		try(d.Placements[i].Pod)
	}
	for i := range d.Unplaced {
		try(d.Unplaced[i].Pod)
	}
	for _, p := range d.NotEvaluated {
		try(p)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func (d *Document) explain(pod string) (string, bool) {
	for i := range d.Launches {
		if slices.Contains(d.Launches[i].Pods, pod) {
			return d.explainLaunch(pod, &d.Launches[i]) + d.explainRelaxed(pod), true
		}
	}
	for _, p := range d.Placements {
		if p.Pod == pod {
			return fmt.Sprintf("%s goes to existing node %s: no new node has to be paid for\n", clip(pod, 320), clip(p.Node, 253)) +
				d.explainRelaxed(pod), true
		}
	}
	for i := range d.Unplaced {
		if u := &d.Unplaced[i]; u.Pod == pod {
			alike := 0
			for j := range d.Unplaced {
				if d.Unplaced[j].Reason.Message == u.Reason.Message {
					alike++
				}
			}
			s := fmt.Sprintf("%s is left over (%s): %s\n", clip(pod, 320), clip(string(u.Reason.Code), 40), clip(u.Reason.Message, 600))
			s += u.Reason.drawDomains()
			if alike > 1 {
				s += fmt.Sprintf("so it is with %s\n", count(alike-1, "other pod"))
			}
			return s, true
		}
	}
	if slices.Contains(d.NotEvaluated, pod) {
		return fmt.Sprintf("%s was not looked at: the step budget of %s ran out before; name it in Options.First to begin with it\n",
			clip(pod, 320), grouped(d.Options.Steps)), true
	}
	return "", false
}

func (d *Document) explainLaunch(pod string, l *LaunchDocument) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s goes to a new node: %s of pool %s, %s in %s, %s %s per hour%s\n", clip(pod, 320), clip(l.InstanceType, 60),
		clip(l.Pool, 253), clip(l.CapacityType, 60), clip(l.Zone, 60), l.Price, d.currency(), under(l.Commitment))
	if l.Why != "" {
		fmt.Fprintf(&b, "why this type: %s\n", clip(l.Why, 600))
	}
	if w := &l.Weighed; w.StrandedPrice.known && l.Price.nano > 0 {
		percent := func(x Price) int { return int(float64(x.nano)/float64(l.Price.nano)*100 + 0.5) }
		pods, daemons := percent(w.PodsPrice), percent(w.DaemonsPrice)
		fmt.Fprintf(&b, "of the price: %s (%d%%) for the pods, %s (%d%%) for DaemonSets, %s (%d%%) stranded\n", money(w.PodsPrice, 1, 4), pods,
			money(w.DaemonsPrice, 1, 4), daemons, money(w.StrandedPrice, 1, 4), max(100-pods-daemons, 0))
	}
	fmt.Fprintf(&b, "with it: %s, %s\n", count(len(l.Pods)-1, "other pod"), count(len(l.DaemonSets), "DaemonSet pod"))
	if used := usedText(l); used != "" {
		fmt.Fprintf(&b, "in use there: %s\n", used)
	}
	var others []string
	for _, a := range l.Alternatives {
		if a.InstanceType == l.InstanceType && a.Zone == l.Zone && a.CapacityType == l.CapacityType {
			continue
		}
		if len(others) == 5 {
			break
		}
		others = append(others, fmt.Sprintf("%s %s in %s at %s%s", clip(a.InstanceType, 60), clip(a.CapacityType, 60), clip(a.Zone, 60), a.Price, under(a.Commitment)))
	}
	if len(others) > 0 {
		more := ""
		if n := max(l.AlternativeCount, len(l.Alternatives)) - 1 - len(others); n > 0 {
			more = fmt.Sprintf(", and %d more", n)
		}
		fmt.Fprintf(&b, "if that is not to be had: %s%s\n", strings.Join(others, ", "), more)
	}
	return b.String()
}

func under(commitment string) string {
	if commitment == "" {
		return ""
	}
	return " under commitment " + clip(commitment, 60)
}

// usedText lists requests against what there is, cpu and memory first, at most six resources.
func usedText(l *LaunchDocument) string {
	order := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
	var rest []corev1.ResourceName
	for name := range l.Requests {
		if !slices.Contains(order, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	var parts []string
	for _, name := range append(order, rest...) {
		want, ok := l.Requests[name]
		has, there := l.Allocatable[name]
		if !ok || !there || len(parts) == 6 {
			continue
		}
		if name == corev1.ResourceCPU {
			parts = append(parts, fmt.Sprintf("%s of %s%s", thousandths(want.MilliValue()), amountText(name, has.MilliValue(), down), l.usedPercent(name)))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s of %s%s", unitless(name, want.Value(), up), amountText(name, has.Value(), down), l.usedPercent(name)))
	}
	return strings.Join(parts, ", ")
}

func (l *LaunchDocument) usedPercent(name corev1.ResourceName) string {
	if n, ok := l.Weighed.UsedPercents[name]; ok {
		return fmt.Sprintf(" (%d%%)", n)
	}
	return ""
}

func (d *Document) explainRelaxed(pod string) string {
	for _, r := range d.Relaxed {
		if slices.Contains(r.Pods, pod) {
			return fmt.Sprintf("it does without what it would prefer: %s; %s\n", clip(strings.Join(r.Given, ", "), 300), r.costText())
		}
	}
	return ""
}

// drawDomains is a line for each domain of the constraint in the way, at most as many as a solver lists, and the
// pods in the way.
func (r *ReasonDocument) drawDomains() string {
	var b strings.Builder
	if len(r.Domains) > 0 {
		fmt.Fprintf(&b, "pods that count for the %s:\n", orElse(clip(r.Constraint, 120), "constraint"))
		top := int32(1)
		for _, d := range r.Domains {
			top = max(top, d.Count)
		}
		rows := [][]string{}
		for _, d := range r.Domains[:min(len(r.Domains), maxDomains)] {
			n := 0
			if d.Count > 0 {
				n = int((int64(d.Count)*10 + int64(top) - 1) / int64(top))
			}
			rows = append(rows, []string{"  " + clip(d.Domain, 63), grouped(int64(d.Count)), strings.Repeat("#", n), clip(d.Note, 80)})
		}
		writeTable(&b, rows, map[int]bool{1: true})
		if n := len(r.Domains) - len(rows); n > 0 {
			fmt.Fprintf(&b, "  and %s\n", count(n, "more domain"))
		}
	}
	if len(r.InTheWay) > maxNamed { // The message names as many.
		fmt.Fprintf(&b, "in the way: %s\n", clip(strings.Join(r.InTheWay, ", "), 600))
	}
	return b.String()
}
