package board

// Blockers lists the required groups that keep one more pod of the class out of domain d of its k-th key.
func (t *Tally) Blockers(class int32, k int, d int32) (groups []int32) {
	for _, x := range t.m.links[class].of[k] {
		least := int32(0)
		if t.m.Groups[x.group].Kind == Spread {
			least = t.least(x)
		}
		if !t.allows(x, d, least) {
			groups = append(groups, x.group)
		}
	}
	return groups
}

// HostBlockers lists the required groups over hostnames that keep one more pod of the class off a node.
func (b *Board) HostBlockers(i int, class int32) (groups []int32) {
	for _, x := range b.m.links[class].host {
		in, own := b.nodes[i].hostCounts(x.group)
		if !b.tally.permits(x, in, own, 0) {
			groups = append(groups, x.group)
		}
	}
	return groups
}

// HostIn is how many pods on a node a group over hostnames counts.
func (b *Board) HostIn(i int, group int32) int32 {
	in, _ := b.nodes[i].hostCounts(group)
	return in
}
