// Package scheduling decides which nodes would hold a set of pods, at what price, and why the rest
// does not fit: problem in, plan out.
package scheduling
