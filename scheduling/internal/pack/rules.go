package pack

// nodeCap returns how many more pods of class may join a node with the given content, at most n.
func (ru *Rules) nodeCap(class int32, content []Content, n int32) int32 {
	if ru == nil || ru.Excludes == nil || n == 0 {
		return n
	}
	if ex := ru.Excludes[class]; len(ex) > 0 {
		for _, c := range content {
			if contains(ex, c.Class) {
				return 0
			}
		}
		if contains(ex, class) {
			n = min(n, 1)
		}
	}
	for _, cap := range ru.Caps[class] {
		have, bound := int32(0), cap.Owns
		for _, c := range content {
			for _, other := range ru.Caps[c.Class] {
				if other.Group != cap.Group {
					continue
				}
				if other.In {
					have += c.Count
				}
				bound = bound || other.Owns
			}
		}
		n = cap.least(have, bound, n)
	}
	return max(n, 0)
}

// least is how many of n pods may join where have pods of the group are, bound if one owns it.
func (c *Cap) least(have int32, bound bool, n int32) int32 {
	switch {
	case !bound:
	case c.In:
		return min(n, c.Max-have)
	case have > c.Max:
		return 0
	}
	return n
}

func contains(sorted []int32, v int32) bool {
	lo, hi := 0, len(sorted)
	for lo < hi {
		if m := (lo + hi) / 2; sorted[m] < v {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo < len(sorted) && sorted[lo] == v
}

// knot is what the rules say of a class.
type knot struct {
	// limit is how many of its pods a node may hold, whatever else is there.
	limit int32
	// tangled is set if the rules concern other classes as well. If not, limit is all that they say.
	tangled bool
}

// knots reads the rules class by class; nil if there are none.
func (ru *Rules) knots() []knot {
	if ru == nil || ru.Excludes == nil {
		return nil
	}
	out := make([]knot, len(ru.Excludes))
	first := map[int32]int32{} // class by group
	for class := range int32(len(out)) {
		k := &out[class]
		k.limit = ru.nodeCap(class, nil, noLimit)
		for _, other := range ru.Excludes[class] {
			if other != class {
				k.tangled, out[other].tangled = true, true
			}
		}
		for _, c := range ru.Caps[class] {
			if other, ok := first[c.Group]; ok && other != class {
				k.tangled, out[other].tangled = true, true
			} else {
				first[c.Group] = class
			}
		}
	}
	return out
}

// tally counts the pods on a node under way as far as rules between classes go, so that a node with many
// kinds of pods is not searched for each that joins.
type tally struct {
	ru *Rules
	// round tells entries of this node from older ones.
	round   int32
	classes []int32 // by class: the round in which it was there
	groups  []groupTally
	content []Content
}

type groupTally struct {
	round, have int32
	bound       bool
}

func newTally(ru *Rules) *tally {
	groups := int32(0)
	for _, caps := range ru.Caps {
		for _, c := range caps {
			groups = max(groups, c.Group+1)
		}
	}
	return &tally{ru: ru, classes: make([]int32, len(ru.Excludes)), groups: make([]groupTally, groups)}
}

func (t *tally) reset() {
	t.round++
	t.content = t.content[:0]
}

// room does as nodeCap.
func (t *tally) room(class, n int32) int32 {
	ex := t.ru.Excludes[class]
	if len(ex) > len(t.content) {
		for _, c := range t.content {
			if contains(ex, c.Class) {
				return 0
			}
		}
	} else {
		for _, other := range ex {
			if t.classes[other] == t.round {
				return 0
			}
		}
	}
	if len(ex) > 0 && contains(ex, class) {
		n = min(n, 1)
	}
	for i := range t.ru.Caps[class] {
		c := &t.ru.Caps[class][i]
		have, bound := int32(0), c.Owns
		if g := &t.groups[c.Group]; g.round == t.round {
			have, bound = g.have, bound || g.bound
		}
		n = c.least(have, bound, n)
	}
	return max(n, 0)
}

func (t *tally) add(class, n int32) {
	if t.classes[class] != t.round {
		t.classes[class] = t.round
		t.content = append(t.content, Content{Class: class})
	}
	for _, c := range t.ru.Caps[class] {
		g := &t.groups[c.Group]
		if g.round != t.round {
			*g = groupTally{round: t.round}
		}
		if c.In {
			g.have += n
		}
		g.bound = g.bound || c.Owns
	}
}
