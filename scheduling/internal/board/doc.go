// Package board places pods one at a time, with every rule between them, and can take each step back.
//
// A Board is the state of a cluster: free room, what runs where, how many pods each constraint counts in each
// domain, and what is left of limits and reservations. Pods join existing nodes, open ones and new ones; a mark
// and Rollback undo everything since, so that a what-if costs what it changes and not what exists.
//
// It is exact where scheduling/internal/pack is fast: pack proposes nodes and contents by price, a board commits
// them in an order in which each pod's constraints hold when it is bound, and finds places for what was refused.
// Like pack it sees integers and masks only.
//
// Words, beside those of pack: a class is pods that nothing tells apart. A key is a topology key, a domain one of its
// values; the hostname is no key, since each node is a domain of it. A group is one constraint between pods: classes
// own it (they state it) or are in it (it counts them). A variant is what a class asks with some of its preferences
// given up. What is counted where is the Tally. Join puts pods on one node, Place looks for nodes that are there,
// Buy opens new ones, Replay commits what somebody proposes, Settle moves a node to a cheaper row.
//
// The rules are the filters of kube-scheduler against what is on the board at that moment. A node's domain of a key, and
// an open label on which a count depends, are settled when the first pod joins that they matter for.
package board
