package scheduling

import corev1 "k8s.io/api/core/v1"

// counting is what topology spread constraints select and whom they count. Nothing of it depends on what can be bought,
// so it is worked out beside that.
type counting struct {
	x     *selectors
	index *classIndex
	// audible are the classes that a selector counts in namespaces, by the numbers of both.
	audible map[[2]int32][]int32
	// spreads are, by class, the selectors of its constraints and its own namespace.
	spreads [][]*podSelector
	own     []*namespaceSet
	done    chan struct{}
}

// startCounting begins, once the classes and their order are known.
func (c *compiler) startCounting() {
	some := 0 // classes that state a constraint: about as many groups and selectors there are
	for i := range c.classes {
		if cl := &c.classes[i]; len(cl.spread) > 0 || cl.pod.Spec.Affinity != nil {
			some++
		}
	}
	k := &counting{x: newSelectors(some), audible: make(map[[2]int32][]int32, some), done: make(chan struct{})}
	c.counted = k
	pods := make([]*corev1.Pod, len(c.classes))
	for id := range pods {
		if c.places(int32(id)) {
			pods[id] = c.classes[id].pod
		}
	}
	work := func() {
		k.index = newClassIndex(c.p.Namespaces, pods)
		k.resolve(c, pods)
		close(k.done)
	}
	if c.parallelism() == 1 {
		work()
	} else {
		go work()
	}
}

// resolve finds the selectors in the order of the classes, so that their numbers do not depend on that of the pods.
func (k *counting) resolve(c *compiler, pods []*corev1.Pod) {
	k.spreads, k.own = make([][]*podSelector, len(pods)), make([]*namespaceSet, len(pods))
	n := 0
	for i := range c.classes {
		n += len(c.classes[i].spread)
	}
	store := make([]*podSelector, 0, n)
	for _, id := range c.order {
		cl := &c.classes[id]
		if pods[id] == nil || len(cl.spread) == 0 {
			continue
		}
		own := k.x.own(cl.pod.Namespace)
		from := len(store)
		for i := range cl.spread {
			t := &cl.spread[i]
			if t.WhenUnsatisfiable == corev1.ScheduleAnyway && !c.softPods {
				store = append(store, nil)
				continue
			}
			s := k.x.of(t.LabelSelector, cl.pod, t.MatchLabelKeys, nil)
			store = append(store, s)
			k.audience(s, own)
		}
		k.spreads[id], k.own[id] = store[from:len(store):len(store)], own
	}
}

// audience is the classes that the selector counts in the namespaces.
func (k *counting) audience(s *podSelector, n *namespaceSet) []int32 {
	id := [2]int32{s.id, n.id}
	out, ok := k.audible[id]
	if !ok {
		out = k.index.find(s, n)
		k.audible[id] = out
	}
	return out
}

// counting waits for what is worked out beside. Pods that run already are counted too, once it is known which matter.
func (c *compiler) counting() *counting {
	k := c.counted
	<-k.done
	if len(c.bound) > 0 {
		k.index = newClassIndex(c.p.Namespaces, append(k.index.pods, c.bound...))
		clear(k.audible)
	}
	return k
}
