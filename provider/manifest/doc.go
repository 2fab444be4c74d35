// Package manifest reads Karpenter manifests into this library's values: NodePools of karpenter.sh/v1 into scheduling
// pools, NodeOverlays of karpenter.sh/v1alpha1 into overlays on their instance types.
//
//	r := loader.Result()              // package scheduling/snapshot
//	m := manifest.Read(r.Rest)
//	m.AddTo(&r.Problem)               // then give each pool the instance types of its m.Pools[i].NodeClass
//	findings, err := m.ApplyOverlays(&r.Problem)
//
// Every rule of the schemas and of Karpenter's validation at run time is checked, and what they let
// through: requirements and labels of a pool that leave a label no value. All findings come at once, with file,
// document, line, field and remedy (see [snapshot.Finding]).
//
//  1. A pool with an error is left out. Errors are: values of the wrong type, keys and values that are no labels,
//     restricted labels (karpenter.sh and below except karpenter.sh/capacity-type, kubernetes.io/hostname),
//     unknown operators, minValues outside 1-50 or above the number of values listed, contradictions,
//     weights outside 1-100, negative limits, taints that are malformed or repeated, a node class
//     reference that is missing or incomplete, durations, budgets and policies that cannot be read.
//  2. An overlay with an error is left out. Errors are those of requirements, where karpenter.sh/nodepool is allowed
//     and contradictions are not looked for; weights outside 1-10000, prices that cannot be read, a price together with
//     an adjustment, and capacity that is negative or names cpu, memory, ephemeral-storage or pods.
//  3. What overlays do, and which contradict each other, depends on the instance types: ApplyOverlays says it, in
//     warnings. The rules are those of package overlay.
//  4. Unknown fields are warnings; they have no effect.
//  5. Two pools or overlays of one name: a warning if they are equal or one has the newer resource version, which is
//     used; else an error and neither is used.
//  6. Static pools (spec.replicas) are refused: they are not planned yet.
//  7. Other versions (NodePool v1beta1, Provisioner) are refused. NodeClaim and node classes are not read yet and
//     give a warning. Other kinds of these groups are errors. Documents of other groups are in Result.Rest; those of
//     capacity buffers do not get here, since package snapshot reads them.
//  8. The disruption block, expireAfter and terminationGracePeriod are checked and not kept: a plan of new
//     nodes does not depend on them.
//
// Pools and overlays come sorted by name whatever the order of the documents. The package does no IO and keeps no state.
//
// The rules are those of Karpenter v1.14: the CRDs of NodePool and NodeOverlay and their documentation,
// https://karpenter.sh/docs/concepts/nodepools/ and https://karpenter.sh/docs/concepts/nodeoverlays/.
package manifest
