// Package lp solves linear covering problems whose columns arrive over time:
//
//	minimise    sum of cost[j] * x[j]
//	subject to  sum of a[i][j] * x[j] >= rhs[i]   for cover rows
//	            sum of a[i][j] * x[j] <= rhs[i]   for pack rows
//	            x >= 0
//
// It is made for column generation: Solve, read Duals, Add the columns these make attractive, Solve again.
//
//	c := lp.New([]lp.Row{{RHS: 44}, {RHS: 3}, {RHS: 2, AtMost: true}})
//	c.Add(1.5, []lp.Entry{{Row: 0, Value: 2}, {Row: 2, Value: 1}})
//	status := c.Solve(10_000)
//	y := c.Duals(nil)
//
// A Solve starts at the basis where the one before it ended. Columns that were added are handled by the primal
// simplex method, right-hand sides that were changed by the dual one. Costs are not negative, so
// no problem is unbounded; each row has an artificial variable of great cost, so none is
// without a basic solution either, and Infeasible says that one of these is in use.
//
// The basis is a sparse LU factorisation with a product of etas on top. Every product is
// rounded before it is added and ties go to the lower index, so that answers are the same on all machines.
// Duals are good to about nine digits: whoever must be sure rounds and checks them in integers.
package lp
