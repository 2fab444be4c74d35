package scheduling

import "slices"

// usedUp names the reservations of which nothing is left. Offerings of one reservation may be listed with
// different counts, by several pools or types: the least holds.
func (c *compiler) usedUp() map[string]bool {
	var out map[string]bool
	c.left = c.reserved()
	for name, n := range c.left {
		if n <= 0 {
			if out == nil {
				out = map[string]bool{}
			}
			out[name] = true
		}
	}
	return out
}

// reserved is what is left of each reservation; nil if there are none.
func (c *compiler) reserved() map[string]int64 {
	var out map[string]int64
	seen := map[*InstanceType]bool{}
	for i := range c.p.Pools {
		for _, t := range c.p.Pools[i].InstanceTypes {
			if seen[t] {
				continue
			}
			seen[t] = true
			for k := range t.Offerings {
				o := &t.Offerings[k]
				if o.Reservation == "" {
					continue
				}
				if out == nil {
					out = map[string]int64{}
				}
				if n, ok := out[o.Reservation]; !ok || int64(o.Count) < n {
					out[o.Reservation] = int64(o.Count)
				}
			}
		}
	}
	return out
}

// reserve tells the kernel which offerings draw on which reservation, by the order of their names.
func (c *compiler) reserve() {
	left := c.left
	if len(left) == 0 {
		return
	}
	c.reservations = sortedKeys(left)
	for _, name := range c.reservations {
		c.space.Reserved = append(c.space.Reserved, left[name])
	}
	for i := range c.rows {
		r := &c.rows[i]
		for _, o := range r.offerings {
			id := int32(-1)
			if name := r.t.Offerings[o].Reservation; name != "" {
				k, _ := slices.BinarySearch(c.reservations, name)
				id = int32(k)
			}
			c.space.Reservation = append(c.space.Reservation, id)
		}
	}
}
