// Package scheduling decides which nodes would hold a set of pods, at what price, and why the rest
// does not fit.
//
// [Solve] reads a [Problem]: pods to place, pools that nodes may come from with their instance types, zones
// and prices, nodes that exist, and DaemonSets. It returns a [Plan]: the nodes to launch, each with its pods and
// the offerings that would do as well; the pods that go to existing nodes; and one [Reason] for each
// pod left over. It launches nothing, binds nothing and evicts nobody.
//
//	problem := &scheduling.Problem{Pods: pods, Pools: []scheduling.Pool{{Name: "default", InstanceTypes: types}}}
//	plan, err := scheduling.Solve(ctx, problem, nil)
//	if err != nil {
//		return err // an *InputError lists all that is wrong with the problem
//	}
//	doc := plan.Document() // the plan in names: doc.Launches, doc.Placements, doc.Unplaced, doc.Totals
//
// Package scheduling/snapshot makes problems from Kubernetes objects, provider/catalog the types and prices
// of EC2, provider/manifest the pools of Karpenter's NodePools.
//
// # Guarantees
//
//   - Pure. No IO, clock, log, randomness or package variable that changes; a problem is read and never written.
//   - Deterministic. For equal problems and options the [Document] is equal, byte for byte, whatever the order
//     of their slices, the number of processors and [Options].Parallelism. Ties go by name.
//   - Concurrency. Solve may run many times at once, also on one problem, which must not change meanwhile.
//   - Errors. What is wrong with pools, types, nodes or DaemonSets is an [InputError] with every fault and no plan. What
//     is wrong with one pod leaves that pod over ([CodeInvalid]). Nothing that a user wrote causes a panic.
//   - Price. The plan is no worse than that of first-fit-decreasing with the cheapest type for each node, which is
//     computed too unless the step budget runs out. Totals.LowerBound says how far any plan could get.
//   - Cost. Each pod is read once, and again if some pod has a spread or an anti-affinity. The search grows with
//     classes of identical pods, rows (a type in a pool) and distinct nodes; only pods with a spread or an
//     anti-affinity over zones or capacity types are counted one by one. Then the plan is written, a few numbers a pod.
//   - Budget. [Options].Steps bounds the packing in counted steps, never in seconds. When they run out the plan is
//     Partial: what is in it holds, pods that nothing could hold have their reason, and every pod
//     that could still go somewhere is in NotEvaluated. Pass those as [Options].First next time.
//   - Checkable. [Verify] tests a plan against its problem by definition and shares no code with the search.
//
// # What is weighed
//
//  1. Labels: every operator (In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte) as sets of states ([ValueSet]),
//     absence being one; all terms of a required node affinity; labels that a pool leaves open and pods decide.
//  2. Taints: a pool's startup taints keep no pod away, nor do the taints that go away by themselves on a node
//     that is starting (Node.Uninitialized).
//  3. Resources of any name: containers, init containers, sidecars, pod overhead, pod-level requests, resizes
//     under way.
//  4. Host ports of containers and sidecars, those of DaemonSets included.
//  5. DaemonSets for each type and offering, zone and capacity type included; on existing nodes those yet to come.
//  6. Existing nodes first, then pools by weight in strict tiers; between equal weights the price decides.
//  7. Limits of any resource and of the number of nodes. A launch charges the type chosen for it, and its
//     alternatives are cut so that no fallback passes the limit ([LimitPolicy]).
//  8. minValues, strictly or as far as they can be had ([MinValuesPolicy]).
//  9. Preferred node affinity and PreferNoSchedule: met together as far as they can be, given up one by one,
//     lightest first, never a reason to leave a pod over ([PreferencePolicy]).
//  10. DoNotSchedule spreads over zone, capacity type and hostname, and required pod anti-affinity over the same keys,
//     that of running pods included. Spreads count the nodes that nodeAffinityPolicy and nodeTaintsPolicy say.
//
// # What is not weighed yet
//
//   - Required pod affinity, resource claims (DRA), and spreads or required anti-affinity over other keys: the
//     pod is left over with [CodeNotModelled], since placing it would be a guess.
//   - Preferred pod affinity and anti-affinity, and ScheduleAnyway spreads: ignored.
//   - Volumes: a pod whose bound volume only some nodes can reach is left over with [CodeNotModelled]; volumes that are
//     made where the pod lands are ignored, with what their class allows, and so are attachment limits.
//   - Priorities: all pods that fit are planned, whatever their priority, and nobody is preempted.
//   - Capacity reservations: an offering of capacity type reserved is one like any other, without a count.
//   - Scheduling groups (gangs): each pod is placed for itself.
//   - Anti-affinity that running pods have over other keys, and tolerations with operators other than Exists and
//     Equal (they tolerate nothing).
//
// # Where it differs from Karpenter
//
// Each of these is meant; DESIGN.md has the reasons and the whole list.
//
//   - Exists together with NotIn still asks that the label be there.
//   - All terms of a required node affinity count, and the cheapest is taken; a DaemonSet's are tried anew for each type.
//   - A limit charges the chosen type, not the largest one possible.
//   - Pools of equal weight are told apart by price, not by name.
//   - Preferences are tried all together first, not the heaviest alone.
//   - An offering without a price is never bought.
//
// A spread over hostnames is as in Karpenter, and stricter than in kube-scheduler: a new node can always be
// had, so no node is given more of the counted pods than maxSkew.
//
// # How it works
//
//  1. Compile, once: pods become classes, types in pools become rows of integers, and what a class asks of labels,
//     taints and offerings one bit mask over all rows. No string is compared after that.
//  2. Divide classes with a spread or an anti-affinity over the zones and capacity types they name.
//  3. Fill existing nodes, largest pods first.
//  4. Buy nodes by price: a relaxation (pods as a fluid) says what each resource is worth; the row and content
//     with the most worth for its money is bought as often as pods last.
//  5. Move every node to the cheapest row that holds it, take pods out where a spread does not hold, and refill.
//  6. Do the same with first fit and keep the better plan: fewest pods left over, then price, then nodes.
//  7. Explain: alternatives and runner-up of each launch, the cause for each kind of pod left over, a lower bound.
//
// Solve does not search for the optimum.
//
// # Sources
//
// Pods and nodes follow the documentation of Kubernetes: assigning pods to nodes
// (https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/), taints and tolerations
// (https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/), topology spread
// (https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/), resources
// (https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/) and sidecars
// (https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/). Pools, weights, limits and
// minValues follow Karpenter's (https://karpenter.sh/docs/concepts/nodepools/,
// https://karpenter.sh/docs/concepts/scheduling/).
package scheduling
