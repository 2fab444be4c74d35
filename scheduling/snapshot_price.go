package scheduling

import corev1 "k8s.io/api/core/v1"

// nodePrices finds what existing nodes cost.
func (c *compiler) nodePrices() {
	prices := c.priceList(c.p.Nodes)
	c.prices = make([]int64, len(c.nodes))
	for i := range c.nodes {
		c.prices[i] = prices.of(c.nodes[i].node.Pool, c.nodes[i].labels)
	}
}

// priceList tells what nodes cost by what their labels say of the offering they were bought as.
type priceList struct {
	c *compiler
	// offerings have a known price.
	offerings map[sold][]*Offering
}

// sold is what a node shows of its offering without more labels.
type sold struct{ pool, typ, zone, kind string }

// priceList is for nodes of the pools that these have.
func (c *compiler) priceList(nodes []Node) *priceList {
	l := &priceList{c: c, offerings: map[sold][]*Offering{}}
	value := func(key, v string) string { return c.rules.Value(c.rules.Key(key), v) }
	seen := map[string]bool{}
	for i := range nodes {
		seen[nodes[i].Pool] = true
	}
	for i := range c.p.Pools {
		pool := &c.p.Pools[i]
		if !seen[pool.Name] {
			continue
		}
		for _, t := range pool.InstanceTypes {
			for k := range t.Offerings {
				// A commitment with something left covers all that runs already; one that is used up would cover another
				// node next.
				if o := &t.Offerings[k]; o.Price.Known() && (o.Commitment == "" || !c.spent(o)) {
					at := sold{pool.Name, value(corev1.LabelInstanceTypeStable, t.Name), value(corev1.LabelTopologyZone, o.Zone), value(CapacityTypeLabel, o.CapacityType)}
					l.offerings[at] = append(l.offerings[at], o)
				}
			}
		}
	}
	return l
}

// of is the price per hour, in billionths, of a node with the labels, as nodeLabels spells them: that of the offering of
// its pool with its type, zone, capacity type and most of its other labels, none of which it contradicts; the least of several.
// -1: there is none.
func (l *priceList) of(pool string, labels map[string]string) int64 {
	label := func(key string) string { return labels[l.c.rules.Key(key)] }
	price, most := int64(-1), -1
	for _, o := range l.offerings[sold{pool, label(corev1.LabelInstanceTypeStable), label(corev1.LabelTopologyZone), label(CapacityTypeLabel)}] {
		agree, ok := 0, true
		for k, v := range o.Labels {
			k = l.c.rules.Key(k)
			have, has := labels[k]
			if ok = ok && (!has || have == l.c.rules.Value(k, v)); has {
				agree++
			}
		}
		if ok && (agree > most || agree == most && o.Price.nano < price) {
			price, most = o.Price.nano, agree
		}
	}
	return price
}
