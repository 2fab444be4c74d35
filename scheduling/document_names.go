package scheduling

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// names looks up what a plan's indexes mean. An index that the problem does not have, which no
// solver makes but a program may, reads as its number.
type names struct {
	problem *Problem
	// pods are those of Problem.Pods; demands are written down when one of their pods is first asked for.
	pods      []string
	demands   []demandNames
	resources map[*InstanceType][2]corev1.ResourceList
}

// demandNames are the names of a demand's pods, which have the numbers from start up to end.
type demandNames struct {
	demand     *Demand
	start, end int
	list       []string
}

func newNames(p *Problem) *names {
	if p == nil {
		p = &Problem{}
	}
	n := &names{problem: p, pods: make([]string, len(p.Pods)), resources: map[*InstanceType][2]corev1.ResourceList{}}
	w := nameWriter{}
	for _, pod := range p.Pods {
		if pod != nil {
			w.size += len(pod.Namespace) + 1 + len(pod.Name)
		}
	}
	for i, pod := range p.Pods {
		if pod != nil {
			n.pods[i] = w.join(pod.Namespace, "/", pod.Name)
		}
	}
	start := len(p.Pods)
	for i := range p.Demands {
		d := demandNames{demand: &p.Demands[i], start: start, end: start + int(max(p.Demands[i].Count, 0))}
		n.demands, start = append(n.demands, d), d.end
	}
	return n
}

// nameWriter makes one allocation for many names, if it is told how long they are together.
type nameWriter struct {
	size int
	all  strings.Builder
}

func (w *nameWriter) join(parts ...string) string {
	if w.all.Cap() == 0 {
		w.all.Grow(w.size)
	}
	start := w.all.Len()
	for _, p := range parts {
		w.all.WriteString(p)
	}
	return w.all.String()[start:]
}

// fill writes the names of all pods of the demand.
func (d *demandNames) fill() {
	t := d.demand.Template
	d.list = make([]string, d.end-d.start)
	w := nameWriter{}
	digits := len(strconv.Itoa(len(d.list)))
	for k := range d.list {
		if w.size += len(t.Namespace) + 1; k < len(d.demand.Names) {
			w.size += len(d.demand.Names[k])
		} else {
			w.size += len(t.Name) + 1 + digits
		}
	}
	for k := range d.list {
		if k < len(d.demand.Names) {
			d.list[k] = w.join(t.Namespace, "/", d.demand.Names[k])
		} else {
			d.list[k] = w.join(t.Namespace, "/", t.Name, "-", strconv.Itoa(k))
		}
	}
}

func podName(p *corev1.Pod) string {
	if p == nil {
		return ""
	}
	return p.Namespace + "/" + p.Name
}

func (n *names) pod(i int32) string {
	if i >= 0 && int(i) < len(n.pods) {
		return n.pods[i]
	}
	k := sort.Search(len(n.demands), func(k int) bool { return n.demands[k].end > int(i) })
	if i < 0 || k == len(n.demands) || n.demands[k].demand.Template == nil {
		return fmt.Sprintf("pods[%d]", i)
	}
	d := &n.demands[k]
	if d.list == nil {
		d.fill()
	}
	return d.list[int(i)-d.start]
}

func (n *names) podList(pods []int32) []string {
	if len(pods) == 0 {
		return nil
	}
	out := make([]string, len(pods))
	for i, p := range pods {
		out[i] = n.pod(p)
	}
	slices.Sort(out)
	return out
}

func (n *names) node(i int32) string {
	if i < 0 || int(i) >= len(n.problem.Nodes) {
		return fmt.Sprintf("nodes[%d]", i)
	}
	return n.problem.Nodes[i].Name
}

func (n *names) daemonSet(i int32) string {
	if i < 0 || int(i) >= len(n.problem.DaemonSets) {
		return fmt.Sprintf("daemonSets[%d]", i)
	}
	return podName(n.problem.DaemonSets[i])
}

// podFinder is the inverse of names for pods. It costs as much as the names that somebody spelled out,
// however many pods the demands have.
type podFinder struct {
	exact map[string]int32
	// stems are the numbered pods of demands, by the name without the number.
	stems map[string][]podSpan
}

// podSpan are pods of a demand that are called by their place in it; start is the number of its first pod.
type podSpan struct{ from, to, start int32 }

func newPodFinder(p *Problem) *podFinder {
	f := &podFinder{exact: podIndex(p.Pods), stems: map[string][]podSpan{}}
	start := int32(len(p.Pods))
	for i := range p.Demands {
		d := &p.Demands[i]
		n := max(d.Count, 0)
		if d.Template != nil {
			named := min(int32(len(d.Names)), n)
			for k := range named {
				f.exact[d.Template.Namespace+"/"+d.Names[k]] = start + k
			}
			stem := podName(d.Template)
			f.stems[stem] = append(f.stems[stem], podSpan{named, n, start})
		}
		start += n
	}
	return f
}

func (f *podFinder) find(name string) (int32, bool) {
	if i, ok := f.exact[name]; ok {
		return i, true
	}
	dash := strings.LastIndexByte(name, '-')
	if dash < 0 {
		return 0, false
	}
	spans := f.stems[name[:dash]]
	if spans == nil {
		return 0, false
	}
	k, err := strconv.ParseInt(name[dash+1:], 10, 32)
	if err != nil || strconv.FormatInt(k, 10) != name[dash+1:] {
		return 0, false // Not as demands write it, such as -007.
	}
	for _, s := range spans {
		if int32(k) >= s.from && int32(k) < s.to {
			return s.start + int32(k), true
		}
	}
	return 0, false
}

func podIndex(pods []*corev1.Pod) map[string]int32 {
	out := make(map[string]int32, len(pods))
	for i, pod := range pods {
		out[podName(pod)] = int32(i)
	}
	return out
}
