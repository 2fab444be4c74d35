// Package board places pods one at a time, with every rule between them, and can take each step back.
//
// A Board is the state of a cluster: free room, what runs where, how many pods each constraint counts in each
// domain, and what is left of limits and reservations. Pods join existing nodes, open ones and new ones; a mark
// and Rollback undo everything since, so that a what-if costs what it changes and not what exists.
//
// It is exact where scheduling/internal/pack is fast: pack proposes nodes and contents by price, a board commits
// them in an order in which each pod's constraints hold when it is bound, and finds places for what was refused.
// Like pack it sees integers and masks only.
package board
