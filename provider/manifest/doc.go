// Package manifest reads Karpenter manifests into this library's values: now NodePools of karpenter.sh/v1 into
// scheduling pools.
//
//	r := loader.Result()              // package scheduling/snapshot
//	m := manifest.Read(r.Rest)
//	m.AddTo(&r.Problem)               // then give each pool the instance types of its m.Pools[i].NodeClass
//
// Every rule of the NodePool's schema and of Karpenter's validation at run time is checked, and what they let
// through: requirements and labels that leave a label no value. All findings come at once, with file,
// document, line, field and remedy (see [snapshot.Finding]).
//
//  1. A pool with an error is left out. Errors are: values of the wrong type, keys and values that are no labels,
//     restricted labels (karpenter.sh and below except karpenter.sh/capacity-type, kubernetes.io/hostname),
//     unknown operators, minValues outside 1-50 or above the number of values listed, contradictions,
//     weights outside 1-100, negative limits, taints that are malformed or repeated, a node class
//     reference that is missing or incomplete, durations, budgets and policies that cannot be read.
//  2. Unknown fields are warnings; they have no effect.
//  3. Two pools of one name: a warning if they are equal or one has the newer resource version, which is
//     used; else an error and neither is used.
//  4. Static pools (spec.replicas) are refused: they are not planned yet.
//  5. Older versions (NodePool v1beta1, Provisioner) are refused. NodeClaim, NodeOverlay, CapacityBuffer and
//     node classes are not read yet and give a warning. Other kinds of these groups are
//     errors. Documents of other groups are in Result.Rest.
//  6. The disruption block, expireAfter and terminationGracePeriod are checked and not kept: a plan of new
//     nodes does not depend on them.
//
// Pools come sorted by name whatever the order of the documents. The package does no IO and keeps no state.
//
// The rules are those of Karpenter v1.14: the CRD of NodePool and its documentation,
// https://karpenter.sh/docs/concepts/nodepools/.
package manifest
