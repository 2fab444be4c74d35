// Package randproblem makes random scheduling problems from a seed: small universes in which all kinds
// of constraints meet often. The same seed and size always give the same problem, so a test that
// fails prints the seed, and Text gives the problem itself for a report.
//
// Features add what pods want of each other, volumes, and supply that runs out; a test takes those it is about.
//
// It draws from what a cluster could really hold. Pods that are wrong on purpose come only if asked for. It knows
// nothing of the solver and judges nothing.
package randproblem
