// Package cover plans which nodes to buy for pods where each node's content is chosen freely: a covering problem with
// a column for every possible content of every node. It knows integers only; names and rules end further up.
//
//	a := cover.Solve(&problem, &options)
//	// a.Patterns hold all items for a.Price; nothing holds them for less than a.Bound
//
// Words: an item is pods that are alike, a site is a node that can be had, a shelf is the set of items that may
// share a site, a content is how many pods of each item are on one node, and a pattern a number of nodes with one
// content. An item is worth something: what the relaxation of the problem would pay to have one pod less.
//
// A master solves the linear relaxation over the contents that are known. What its duals make items worth is what
// contents are looked for by (counter): those worth more than their site costs become columns, until there are none.
// Sweeps fill nodes by the same worths, one after another, and so make columns that go together. Then the dive fixes
// whole numbers of columns and solves what is left. Improving takes a few nodes apart at a time. Items beyond what the
// relaxation takes are grouped, which gives a bound and worths but no contents.
//
// The bound rests on worths alone: if no content of any site is worth more than the site costs, then all the items
// together are worth no more than any plan for them. Worths are scaled down, item by item, until that is certain, rounded
// down to integers, and summed up. How certain it is depends on an upper bound on the best content of each site, which is
// the relaxation's or that of a search; either is valid whatever the rounding, within a billionth that is allowed for.
//
// All is deterministic: work is counted, never timed, and ties go to the lower number.
package cover
