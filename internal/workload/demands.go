package workload

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// ReadDemands is Read for who does not need the pods one by one: in place of Pods, the result has Demands, one for each
// group or row with a count, and one for all the single pods of a shape. Replicas are called web-0 and not web-00000, as
// in every demand. Time and memory follow the file and not the pods.
func ReadDemands(r io.Reader, name string) (*Workload, error) {
	return read(r, name, maxPods, &demands{shapes: map[*corev1.Pod]int{}, stems: map[string]stem{}})
}

// demands gathers what ReadDemands returns.
type demands struct {
	// shapes are the places in Demands of the single pods that look like a template.
	shapes map[*corev1.Pod]int
	// stems are the names that have numbers behind them.
	stems map[string]stem
}

// stem is the first part of numbered names: those of replicas, and single pods that happen to be called so.
type stem struct {
	replicas, line int
	// singles are the lines of the single pods, by number.
	singles map[int]int
}

// expand is the builder's expand.
func (d *demands) expand(b *builder, template *corev1.Pod, name string, count int, numbered bool) {
	if !numbered {
		d.single(b, template, name)
		return
	}
	s := d.stems[name]
	switch line, dup := s.taken(count); {
	case count == 0:
		return
	case dup:
		b.twice(name+"-N", line)
		return
	}
	s.replicas, s.line = count, b.line
	d.stems[name] = s
	b.count += count
	b.out.Demands = append(b.out.Demands, scheduling.Demand{Template: named(template, name), Count: int32(count)})
}

// taken returns the line of what has one of the first count numbers already.
func (s stem) taken(count int) (line int, dup bool) {
	if s.replicas > 0 {
		return s.line, true
	}
	for n, at := range s.singles {
		if n < count && (!dup || at < line) {
			line, dup = at, true
		}
	}
	return line, dup
}

func (d *demands) single(b *builder, template *corev1.Pod, name string) {
	if line, dup := b.seen[name]; dup {
		b.twice(name, line)
		return
	}
	if first, n, ok := numbered(name); ok {
		s := d.stems[first]
		if n < s.replicas {
			b.twice(name, s.line)
			return
		}
		if s.singles == nil {
			s.singles = map[int]int{}
		}
		s.singles[n] = b.line
		d.stems[first] = s
	}
	b.seen[name] = b.line
	b.count++
	i, ok := d.shapes[template]
	if !ok {
		i = len(b.out.Demands)
		d.shapes[template] = i
		b.out.Demands = append(b.out.Demands, scheduling.Demand{Template: named(template, name)})
	}
	b.out.Demands[i].Count++
	b.out.Demands[i].Names = append(b.out.Demands[i].Names, name)
}

// numbered splits web-7 into web and 7. A replica is never called web-07.
func numbered(name string) (first string, n int, ok bool) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(name[i+1:])
	if err != nil || strconv.Itoa(n) != name[i+1:] {
		return "", 0, false
	}
	return name[:i], n, true
}

// named is the template with a name; it shares the rest.
func named(template *corev1.Pod, name string) *corev1.Pod {
	p := *template
	p.Name = name
	return &p
}

// twice reports a name that is taken.
func (b *builder) twice(name string, line int) {
	b.add("", fmt.Sprintf("makes a second pod %s, the first is of line %d", quote(name), line), "give each pod a name of its own")
}
