package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Render prints a plan in a few lines: equal launches once, pods by the name of their line.
func Render(d *scheduling.Document) string {
	var b strings.Builder
	for _, l := range counted(d.Launches, launchText) {
		b.WriteString(l)
	}
	onNode := map[string][]string{}
	for _, p := range d.Placements {
		onNode[p.Node] = append(onNode[p.Node], p.Pod)
	}
	for _, node := range slices.Sorted(maps.Keys(onNode)) {
		fmt.Fprintf(&b, "on %s: %s\n", node, podText(onNode[node]))
	}
	// One line per reason, with all the pods that have it.
	left := map[string][]string{}
	for _, u := range d.Unplaced {
		text := reasonText(u.Reason)
		left[text] = append(left[text], u.Pod)
	}
	for _, text := range slices.Sorted(maps.Keys(left)) {
		fmt.Fprintf(&b, "left over: %s: %s", podText(left[text]), text)
	}
	for _, r := range d.Relaxed {
		fmt.Fprintf(&b, "gave up: %s: %s%s\n", podText(r.Pods), strings.Join(r.Given, ", "), costText(r.Cost))
	}
	if len(d.NotEvaluated) > 0 {
		fmt.Fprintf(&b, "not evaluated: %s\n", podText(d.NotEvaluated))
	}
	for _, u := range d.Commitments {
		if u.PerHour.Known() {
			fmt.Fprintf(&b, "commitment %s: %d nodes draw %s of %s\n", u.Name, u.Nodes, u.Drawn, u.PerHour)
		} else {
			fmt.Fprintf(&b, "commitment %s: %d nodes of %d\n", u.Name, u.Nodes, u.Instances)
		}
	}
	fmt.Fprintf(&b, "%s per hour, %d nodes, %d pods placed, %d left over\n",
		d.Totals.Price, d.Totals.Nodes, d.Totals.Pods, d.Totals.Unplaced)
	return b.String()
}

// Render prints a plan as the package's Render does, and the order of binding if the scenario asks for it.
func (s *Scenario) Render(d *scheduling.Document) string {
	out := Render(d)
	if !s.showOrder {
		return out
	}
	order := names(d.BindOrder)
	if len(order) == 0 {
		order = []string{"any order"}
	}
	return out + "bind: " + strings.Join(order, ", ") + "\n"
}

// counted renders each item and puts the number of equal ones in front, in order of appearance.
func counted[T any](items []T, text func(T) string) (out []string) {
	number := map[string]int{}
	var order []string
	for _, item := range items {
		s := text(item)
		if number[s]++; number[s] == 1 {
			order = append(order, s)
		}
	}
	for _, s := range order {
		out = append(out, fmt.Sprintf("%d x %s", number[s], s))
	}
	return out
}

func launchText(l scheduling.LaunchDocument) string {
	var b strings.Builder
	under := ""
	if l.Commitment != "" {
		under = " (" + l.Commitment + ")"
	}
	fmt.Fprintf(&b, "%s/%s %s %s %s%s: %s\n", l.Pool, l.InstanceType, l.Zone, l.CapacityType, l.Price, under, podText(l.Pods))
	var used []string
	for _, name := range slices.Sorted(maps.Keys(l.Requests)) {
		if name != corev1.ResourcePods {
			used = append(used, fmt.Sprintf("%s %s of %s", name, amount(l.Requests, name), amount(l.Allocatable, name)))
		}
	}
	if len(used) > 0 {
		fmt.Fprintf(&b, "    %s\n", strings.Join(used, ", "))
	}
	if len(l.DaemonSets) > 0 {
		fmt.Fprintf(&b, "    with %s\n", strings.Join(names(l.DaemonSets), ", "))
	}
	if others := otherTypes(l); len(others) > 0 {
		fmt.Fprintf(&b, "    or %s\n", strings.Join(others, ", "))
	}
	if custom := customLabels(l.Labels); custom != "" {
		fmt.Fprintf(&b, "    labels %s\n", custom)
	}
	for _, key := range slices.Sorted(maps.Keys(l.MinValues)) {
		fmt.Fprintf(&b, "    minValues of %s lowered to %d\n", key, l.MinValues[key])
	}
	return b.String()
}

// otherTypes lists the alternatives, without the launch's own offering; a type in several zones once.
func otherTypes(l scheduling.LaunchDocument) (out []string) {
	for _, a := range l.Alternatives {
		if a.InstanceType == l.InstanceType && a.Zone == l.Zone && a.CapacityType == l.CapacityType {
			continue
		}
		s := a.InstanceType
		if a.CapacityType != l.CapacityType {
			s += " " + a.CapacityType
		}
		if a.InstanceType == l.InstanceType || a.Zone != l.Zone {
			s += " " + a.Zone
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if l.AlternativeCount > len(l.Alternatives) {
		out = append(out, fmt.Sprintf("(%d offerings in all)", l.AlternativeCount))
	}
	return out
}

// customLabels are those that only some pools, types or pods care for.
func customLabels(labels map[string]string) string {
	standard := append(scheduling.KubernetesLabels(), corev1.LabelHostname)
	var out []string
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		if !slices.Contains(standard, k) {
			out = append(out, k+"="+labels[k])
		}
	}
	return strings.Join(out, " ")
}

func amount(list corev1.ResourceList, name corev1.ResourceName) string {
	q, ok := list[name]
	if !ok {
		return "0"
	}
	if name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage ||
		strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
		// Whatever the plan's spelling of it was.
		return resource.NewQuantity(q.Value(), resource.BinarySI).String()
	}
	return resource.NewMilliQuantity(q.MilliValue(), resource.DecimalSI).String()
}

// podText groups pods by the name of their line: "web x3, db".
func podText(pods []string) string {
	number := map[string]int{}
	for _, p := range names(pods) {
		if i := strings.LastIndexByte(p, '-'); i > 0 && strings.Trim(p[i+1:], "0123456789") == "" {
			p = p[:i]
		}
		number[p]++
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(number)) {
		if n := number[name]; n > 1 {
			name = fmt.Sprintf("%s x%d", name, n)
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

// names drops the namespace "default".
func names(pods []string) []string {
	out := make([]string, len(pods))
	for i, p := range pods {
		out[i] = strings.TrimPrefix(p, "default/")
	}
	return out
}

func reasonText(r scheduling.ReasonDocument) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", r.Code, r.Message)
	if n := r.Nearest; n != (scheduling.Nearest{}) {
		fmt.Fprintf(&b, "    nearest: %s\n", nearestText(n))
	}
	if c := r.Change; c.Kind != "" {
		fmt.Fprintf(&b, "    change: %s\n", changeText(c))
	}
	return b.String()
}

// costText says what it would cost to keep what was given up; nothing if it cannot be had.
func costText(p scheduling.Price) string {
	if !p.Known() {
		return ""
	}
	return " (to be had for " + p.String() + " more)"
}

func nearestText(n scheduling.Nearest) string {
	parts := some("pool ", n.Pool, "type ", n.Type, "zone ", n.Zone, "wants ", n.Requirement, "has ", n.Have,
		"taint ", n.Taint)
	if n.Resource != "" {
		parts = append(parts, fmt.Sprintf("%s %d of %d", n.Resource, n.Wanted, n.Available))
	}
	return strings.Join(parts, ", ")
}

func changeText(c scheduling.Change) string {
	parts := append([]string{string(c.Kind)}, some("pool ", c.Pool, "type ", c.Type, "zone ", c.Zone, "label ", c.Key,
		"value ", c.Value)...)
	if c.Resource != "" {
		parts = append(parts, fmt.Sprintf("%s to %d", c.Resource, c.Amount))
	} else if c.Amount != 0 {
		parts = append(parts, fmt.Sprintf("to %d", c.Amount))
	}
	if c.Taint != nil {
		parts = append(parts, "taint "+c.Taint.ToString())
	}
	return strings.Join(parts, ", ")
}

// some joins names and values pairwise and leaves out the empty values.
func some(pairs ...string) (out []string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out = append(out, pairs[i]+pairs[i+1])
		}
	}
	return out
}
