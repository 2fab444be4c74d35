// Package snapshot turns Kubernetes objects into a scheduling problem.
package snapshot
