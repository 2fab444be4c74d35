// Package karpenter gives problems of package scheduling to the scheduler of sigs.k8s.io/karpenter (the peer), and
// reads what it answers as a plan. The peer sees the same pods, DaemonSets, pools and instance types; volumes, existing
// nodes and demands are not handed over.
//
// A launch of the peer's is a set of requirements and types; the plan has it as if the cheapest offering among
// them were bought, with its pods bound in the order in which the peer takes them up, as far as that is known.
package karpenter
