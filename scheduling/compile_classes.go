package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// classIndex finds the classes that a selector counts without looking at all of them: by a value that the selector
// names, or by namespace.
type classIndex struct {
	known map[string]map[string]string // labels of namespaces
	// pods stand for the classes, nil for those that nobody counts.
	pods       []*corev1.Pod
	namespaces map[string][]int32
	// labels are by key and value; a key is indexed when a selector first asks for it.
	labels map[string]map[string][]int32
	all    []int32
}

func newClassIndex(namespaces map[string]map[string]string, pods []*corev1.Pod) *classIndex {
	x := &classIndex{known: namespaces, pods: pods, namespaces: map[string][]int32{}, labels: map[string]map[string][]int32{}}
	for i, p := range x.pods {
		if p != nil {
			x.namespaces[p.Namespace] = append(x.namespaces[p.Namespace], int32(i))
			x.all = append(x.all, int32(i))
		}
	}
	return x
}

// places reports whether anybody tries to place pods of the class.
func (c *compiler) places(class int32) bool {
	cl := &c.classes[class]
	return cl.refused == nil && c.constraints[cl.constraint].fault == ""
}

// find lists the classes that the selector counts in the namespaces, ascending.
func (x *classIndex) find(s *podSelector, n *namespaceSet) []int32 {
	if s.nothing {
		return nil
	}
	lists, best := [][]int32{x.all}, len(x.all)
	better := func(some [][]int32) {
		size := 0
		for _, l := range some {
			size += len(l)
		}
		if size < best {
			lists, best = some, size
		}
	}
	if !n.all && n.by == nil {
		var some [][]int32
		for _, name := range n.list {
			some = append(some, x.namespaces[name])
		}
		better(some)
	}
	for i := range s.reqs {
		q := &s.reqs[i]
		if q.op != metav1.LabelSelectorOpIn || best == 0 {
			continue
		}
		var some [][]int32
		for _, v := range q.values {
			some = append(some, x.byLabel(q.key)[v])
		}
		better(some)
	}
	var out []int32
	for _, list := range lists {
		for _, i := range list {
			if p := x.pods[i]; n.has(p.Namespace, x.known) && s.matches(p.Labels) {
				out = append(out, i)
			}
		}
	}
	slices.Sort(out)
	return out
}

func (x *classIndex) byLabel(key string) map[string][]int32 {
	m, ok := x.labels[key]
	if !ok {
		m = map[string][]int32{}
		for _, i := range x.all {
			if v, has := x.pods[i].Labels[key]; has {
				m[v] = append(m[v], i)
			}
		}
		x.labels[key] = m
	}
	return m
}
