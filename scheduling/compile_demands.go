package scheduling

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// readDemands numbers the pods of the demands. Those of no pods at all are left out of demands.
func (c *compiler) readDemands() {
	at := int32(len(c.p.Pods))
	for i := range c.p.Demands {
		if d := &c.p.Demands[i]; d.Count > 0 {
			c.demands, c.demandStart = append(c.demands, *d), append(c.demandStart, at)
			at += d.Count
		}
	}
}

// demandOf finds the demand of a pod of one, and the pod's place in it.
func (c *compiler) demandOf(pod int32) (demand int, place int32) {
	d, ok := slices.BinarySearch(c.demandStart, pod)
	if !ok {
		d--
	}
	return d, pod - c.demandStart[d]
}

// podAt is Problem.PodAt for pods that exist, without a walk over the demands.
func (c *compiler) podAt(pod int32) *corev1.Pod {
	if int(pod) < len(c.p.Pods) {
		return c.p.Pods[pod]
	}
	d, _ := c.demandOf(pod)
	return c.demands[d].Template
}

// podName is Problem.PodName, likewise.
func (c *compiler) podName(pod int32) string {
	if int(pod) < len(c.p.Pods) {
		return podName(c.p.Pods[pod])
	}
	d, k := c.demandOf(pod)
	return c.demands[d].podName(k)
}

func (d *Demand) podName(k int32) string {
	if int(k) < len(d.Names) {
		return d.Template.Namespace + "/" + d.Names[k]
	}
	return podName(d.Template) + "-" + strconv.Itoa(int(k))
}

// demandOrder lists the demands by the names of their templates; those of one template by their own pods'.
func (c *compiler) demandOrder() []int32 {
	order := make([]int32, len(c.demands))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &c.demands[a], &c.demands[b]
		if o := strings.Compare(podName(x.Template), podName(y.Template)); o != 0 {
			return o
		}
		if o := slices.Compare(x.Names, y.Names); o != 0 {
			return o
		}
		return cmp.Compare(x.Count, y.Count)
	})
	return order
}

// sortPods orders pods as their classes do: real ones by name, then those of demands.
func (c *compiler) sortPods(pods []int32) {
	if len(c.demands) == 0 {
		sortByName(c.p.Pods, pods)
		return
	}
	rank := make([]int32, len(c.demands))
	for i, d := range c.demandOrder() {
		rank[d] = int32(i)
	}
	slices.SortFunc(pods, func(a, b int32) int {
		x, y := int(a) >= len(c.p.Pods), int(b) >= len(c.p.Pods)
		switch {
		case !x && !y:
			return compareNames(c.p.Pods[a], c.p.Pods[b])
		case x != y:
			return b2i(x) - b2i(y)
		}
		d, i := c.demandOf(a)
		e, j := c.demandOf(b)
		return cmp.Or(cmp.Compare(rank[d], rank[e]), cmp.Compare(i, j))
	})
}

// sortByName orders pods by namespace and name; most lists come sorted already.
func sortByName(all []*corev1.Pod, pods []int32) {
	byName := func(a, b int32) int {
		if o := compareNames(all[a], all[b]); o != 0 {
			return o
		}
		return cmp.Compare(a, b)
	}
	if slices.IsSortedFunc(pods, byName) {
		return
	}
	// Pods of a class mostly share a namespace and the first part of their names: what comes after that, as a
	// number, decides nearly always, without looking at the pods again.
	type keyed struct {
		key uint64
		pod int32
	}
	first := all[pods[0]]
	shared := len(first.Name)
	for _, i := range pods[1:] {
		if all[i].Namespace != first.Namespace {
			slices.SortFunc(pods, byName)
			return
		}
		shared = sharedPrefix(first.Name[:shared], all[i].Name)
	}
	list := make([]keyed, len(pods))
	for k, i := range pods {
		rest, key := all[i].Name[shared:], uint64(0)
		for b := range 8 {
			key <<= 8
			if b < len(rest) {
				key |= uint64(rest[b])
			}
		}
		list[k] = keyed{key, i}
	}
	slices.SortFunc(list, func(a, b keyed) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return byName(a.pod, b.pod)
	})
	for k := range list {
		pods[k] = list[k].pod
	}
}

func sharedPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func compareNames(p, q *corev1.Pod) int {
	if o := strings.Compare(p.Namespace, q.Namespace); o != 0 {
		return o
	}
	return strings.Compare(p.Name, q.Name)
}

// checkDemands looks at each demand alone.
func (c *compiler) checkDemands(f *faults) {
	total := int64(len(c.p.Pods))
	for i := range c.p.Demands {
		d := &c.p.Demands[i]
		if d.Template == nil {
			f.add("has no template", "give it one pod, or leave it out", "demands[%d]", i)
			continue
		}
		name := podName(d.Template)
		if d.Count < 0 {
			f.add(fmt.Sprintf("has a count of %d", d.Count), "write 0 or more", "demands[%q]", name)
		}
		if len(d.Names) > int(max(d.Count, 0)) {
			f.add(fmt.Sprintf("names %d pods of %d", len(d.Names), d.Count), "name as many as there are at most", "demands[%q]", name)
		}
		total += int64(max(d.Count, 0))
	}
	if total > math.MaxInt32 {
		f.add(fmt.Sprintf("%d pods in all", total), fmt.Sprintf("at most %d are counted", math.MaxInt32), "demands")
	}
}

// checkDemandNames finds pods of demands that share their name with another pod. Generated names are compared as
// stems and ranges, so that a demand costs no more than the names it spells out.
func (c *compiler) checkDemandNames(f *faults) {
	if len(c.demands) == 0 {
		return
	}
	type span struct{ from, to int32 }
	spans := map[string][]span{} // by namespace/stem
	explicit := map[string]bool{}
	twice := func(name string) { f.add("is there twice", "place each pod once", "pods[%q]", name) }
	for _, i := range c.demandOrder() {
		d := &c.demands[i]
		for _, name := range d.Names {
			name = d.Template.Namespace + "/" + name
			if explicit[name] {
				twice(name)
			}
			explicit[name] = true
		}
		if n := int32(len(d.Names)); n < d.Count {
			stem := podName(d.Template)
			for _, s := range spans[stem] {
				if from := max(s.from, n); from < min(s.to, d.Count) {
					twice(stem + "-" + strconv.Itoa(int(from)))
				}
			}
			spans[stem] = append(spans[stem], span{n, d.Count})
		}
	}
	generated := func(name string) bool {
		dash := strings.LastIndexByte(name, '-')
		if dash < 0 {
			return false
		}
		list, ok := spans[name[:dash]]
		if !ok {
			return false
		}
		k, err := strconv.ParseInt(name[dash+1:], 10, 32)
		return err == nil && strconv.FormatInt(k, 10) == name[dash+1:] &&
			slices.ContainsFunc(list, func(s span) bool { return int32(k) >= s.from && int32(k) < s.to })
	}
	for name := range explicit {
		if generated(name) {
			twice(name)
		}
	}
	for _, p := range c.p.Pods {
		if name := podName(p); explicit[name] || generated(name) {
			twice(name)
		}
	}
}
