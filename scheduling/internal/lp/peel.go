package lp

import (
	"cmp"
	"slices"
)

// peel finds the order in which to eliminate a basis: columns and then rows with a single entry, which need no
// elimination, one after the other; then what is left, by number of entries.
type peel struct {
	order []int32 // positions
	pivot []int32 // the row of each, -1 where elimination is to choose it

	rowCount, colCount []int32 // entries in what is left
	rowDone, colDone   []bool
	start, at          []int32 // of each row in cols
	cols               []int32 // the positions with an entry, row by row
}

func (p *peel) run(c *Cover) {
	p.reset(c)
	for changed := true; changed; {
		changed = false
		for k, j := range c.head {
			if p.colDone[k] || p.colCount[k] != 1 {
				continue
			}
			entries := c.index[c.start[j]:c.start[j+1]]
			p.take(c, int32(k), entries[slices.IndexFunc(entries, func(i int32) bool { return !p.rowDone[i] })])
			changed = true
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range int32(c.m) {
			if p.rowDone[i] || p.rowCount[i] != 1 {
				continue
			}
			cols := p.cols[p.start[i]:p.start[i+1]]
			p.take(c, cols[slices.IndexFunc(cols, func(k int32) bool { return !p.colDone[k] })], i)
			changed = true
		}
	}
	rest := len(p.order)
	for k := range int32(c.m) {
		if !p.colDone[k] {
			p.order, p.pivot = append(p.order, k), append(p.pivot, -1)
		}
	}
	slices.SortFunc(p.order[rest:], func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.colCount[a], p.colCount[b]), cmp.Compare(a, b))
	})
}

// reset counts the entries and lists them by row.
func (p *peel) reset(c *Cover) {
	p.order, p.pivot = p.order[:0], p.pivot[:0]
	if p.start == nil {
		p.rowCount, p.colCount = make([]int32, c.m), make([]int32, c.m)
		p.rowDone, p.colDone = make([]bool, c.m), make([]bool, c.m)
		p.start, p.at = make([]int32, c.m+1), make([]int32, c.m)
	}
	clear(p.rowCount)
	clear(p.rowDone)
	clear(p.colDone)
	for k, j := range c.head {
		entries := c.index[c.start[j]:c.start[j+1]]
		p.colCount[k] = int32(len(entries))
		for _, i := range entries {
			p.rowCount[i]++
		}
	}
	for i, n := range p.rowCount {
		p.at[i] = p.start[i]
		p.start[i+1] = p.start[i] + n
	}
	p.cols = slices.Grow(p.cols[:0], int(p.start[c.m]))[:p.start[c.m]]
	for k, j := range c.head {
		for _, i := range c.index[c.start[j]:c.start[j+1]] {
			p.cols[p.at[i]] = int32(k)
			p.at[i]++
		}
	}
}

// take makes the entry of position k in row i the next pivot.
func (p *peel) take(c *Cover, k, i int32) {
	p.order, p.pivot = append(p.order, k), append(p.pivot, i)
	p.rowDone[i], p.colDone[k] = true, true
	j := c.head[k]
	for _, i2 := range c.index[c.start[j]:c.start[j+1]] {
		p.rowCount[i2]--
	}
	for _, k2 := range p.cols[p.start[i]:p.start[i+1]] {
		p.colCount[k2]--
	}
}
