// Package scheduling decides which nodes would hold a set of pods, at what price, and why the rest
// does not fit.
//
// [Solve] reads a [Problem]: pods to place, pools that nodes may come from with their instance types, zones
// and prices, nodes that exist with what runs on them, DaemonSets, volumes. It returns a [Plan]: the nodes to
// launch, each with its pods and the offerings that would do as well; the pods that go to existing nodes; an order
// in which all of them can be bound; and one [Reason] for each pod left over. It launches nothing, binds nothing
// and evicts nobody.
//
//	problem := &scheduling.Problem{Pods: pods, Pools: []scheduling.Pool{{Name: "default", InstanceTypes: types}}}
//	plan, err := scheduling.Solve(ctx, problem, nil)
//	if err != nil {
//		return err // an *InputError lists all that is wrong with the problem
//	}
//	doc := plan.Document() // the plan in names: doc.Launches, doc.Placements, doc.Unplaced, doc.Totals
//
// [Compile] prepares a problem for many questions, each at the cost of what it changes:
//
//	cluster, err := scheduling.Compile(problem, nil)
//	out, err := cluster.WhatIf(scheduling.Changes{DrainNodes: []string{"node-7"}})
//	// out.Moves, out.Launches, out.Left; out.Price of the launches against out.Saved
//
// Package scheduling/snapshot makes problems from Kubernetes objects, provider/catalog the types and prices
// of EC2, provider/overlay and provider/pricing correct them, provider/manifest reads the pools of Karpenter's NodePools.
//
// # Guarantees
//
//   - Pure. No IO, clock, log, randomness or package variable that changes; a problem is read and never written.
//   - Deterministic. For equal problems and options the [Document] is equal, byte for byte, whatever the order
//     of their slices, the number of processors and [Options].Parallelism. Ties go by name.
//   - Concurrency. Solve may run many times at once, also on one problem, which must not change meanwhile. A
//     [Snapshot] belongs to one goroutine; Fork makes another.
//   - Errors. What is wrong with pools, types, nodes or DaemonSets is an [InputError] with every fault and no plan. What
//     is wrong with one pod leaves that pod over ([CodeInvalid]). Nothing that a user wrote causes a panic.
//   - Feasible. A plan has an order of binding in which every pod passes the filters of kube-scheduler against what is
//     bound before it ([Plan].BindOrder; nil: any order).
//   - Price. The packing is no worse than that of first-fit-decreasing with the cheapest type for each node, which is
//     computed too unless the step budget runs out, and more [Effort] never gives a dearer one. Totals.LowerBound says how far any plan could get, Plan.Pools what the
//     price pays for and what nobody uses.
//   - Cost. Pods are read about once. The search grows with classes of identical pods, rows (a type in a pool) and
//     distinct nodes; a thousand replicas cost what one does. Only pods whose constraints count others are placed
//     one by one, in integers. Then the plan is written, a few numbers a pod.
//   - Budget. [Options].Steps bounds the work in counted steps, never in seconds. When they run out the plan is
//     Partial: what is in it holds, pods that nothing could hold have their reason, and every pod
//     that could still go somewhere is in NotEvaluated. Pass those as [Options].First next time.
//   - Checkable. [Verify] binds a plan's pods one after another by definition and shares no code with the search.
//
// # What is weighed
//
// On the node:
//
//  1. Labels: every operator (In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte) as sets of states ([ValueSet]),
//     absence being one; all terms of a required node affinity; labels that a pool leaves open and pods decide.
//  2. Taints: a pool's startup taints keep no pod away, nor do the taints that go away by themselves on a node
//     that is starting (Node.Uninitialized).
//  3. Resources of any name: containers, init containers, sidecars, pod overhead, pod-level requests, resizes
//     under way. Host ports of containers and sidecars. DaemonSets, and their ports, for each type and offering.
//  4. Volumes: node affinity and zones of those that exist, alternatives included; the topologies of the class for
//     those that are made where the pod lands; ephemeral ones. How many of a driver a node can attach, also one that
//     does not exist yet ([AttachLimit]); a claim that pods share counts once a node. A claim that cannot be used has a
//     reason of its own ([CodeVolume]).
//
// Between pods, over any label key:
//
//  5. Topology spread: maxSkew, minDomains, nodeAffinityPolicy, nodeTaintsPolicy, matchLabelKeys, several constraints
//     at once; kube-scheduler's defaults for pods that state none ([DefaultSpread]). Domains are those that a pod could
//     reach on a new node, its volumes and the other keys of its spreads considered, and those of nodes that count.
//  6. Required affinity and anti-affinity, of pods to be placed and of those that run: namespaces and
//     namespaceSelector, matchLabelKeys and mismatchLabelKeys, chains in any order of the pods, the first pod of its kind.
//  7. Gangs ([Gang], spec.schedulingGroup, labels): at least so many at once, or none.
//
// What a pod would rather have:
//
//  8. Preferred node affinity, preferred affinity and anti-affinity, ScheduleAnyway spreads and PreferNoSchedule. All are
//     met together if that is possible, else without the lightest, and so on; never is one a reason to leave a pod over.
//     They are met at any price, up to a price for the whole plan, or not at all ([PreferencePolicy], Pool.Preferences).
//     Plan.Relaxed says what was given up, and what keeping it would cost.
//
// Supply, and who gets it:
//
//  9. Existing nodes first, then pools by weight in strict tiers; between equal weights the price decides. [Options].Pools
//     says which pools may launch.
//  10. Limits of any resource and of the number of nodes. A launch charges the type chosen for it, and its
//     alternatives are cut so that no fallback passes the limit ([LimitPolicy]). minValues, strictly or as far as they
//     can be had ([MinValuesPolicy]).
//  11. Capacity reservations: never more nodes than one has left, over all pools and types. What is used up gives way to
//     other offerings, or leaves pods over to wait for it ([ReservedPolicy]). A launch's alternatives are of the same
//     reservation, or all of none; pools with minValues use none.
//     Commitments ([Commitment]): a lower price for so many nodes, or so much money an hour, until that is used up. Fees for
//     each node are part of prices: see provider/pricing.
//  12. Priority: where a finite supply leaves pods over, those of higher priority have it.
//  13. [Demand]: many pods from one template, at the cost of one. Capacity buffers are demands that come after all pods.
//
// FEATURES.md, beside this file, has every rule with the scenario or test that shows it.
//
// # What is not weighed
//
//   - Dynamic resource allocation: a pod with resource claims is left over with [CodeResourceClaim]. Devices, their
//     counters and their CEL are a model of their own, for which no catalogue has data.
//   - Preemption: nobody is evicted for a pod of higher priority. Moving pods is for package scheduling/disruption, to come.
//   - Free space of storage backends (CSIStorageCapacity), ReadWriteOncePod, and that one free volume suits one claim only:
//     they change while a node starts. Hosts of local volumes that are claimed: their pods are replaced elsewhere.
//   - Topology and devices that a PodGroup asks for: alpha; its pods are placed by their own constraints.
//   - DaemonSets' pods as targets of affinity and spread on new nodes: their order against other pods is not known.
//     What runs already is counted.
//   - Tolerations with the operators Lt and Gt (alpha): they tolerate nothing.
//   - Capacity or overhead that differ between offerings of a type: make two types of it.
//   - Pools with a fixed number of nodes: nothing is decided about them; their nodes are existing nodes.
//   - Scheduling gates, schedulerName, batching and nomination: which pods are asked about is the caller's choice.
//
// # Where it differs
//
// From Karpenter, each on purpose; DESIGN.md has the reasons and the whole list:
//
//   - Exists together with NotIn still asks that the label be there.
//   - All terms of a required node affinity count, and the cheapest is taken; a DaemonSet's are tried anew for each type.
//   - A spread allows every domain within the skew, and the price decides, not the least count. Domains that nobody can
//     open do not hold it up. Relaxing forgets no counts.
//   - Nodes are pinned to a zone when it matters, so one batch fills every zone of a zone anti-affinity.
//   - A limit charges the chosen type, not the largest one possible.
//   - Pools of equal weight are told apart by price, not by name. An offering without a price is never bought.
//   - Preferences are tried all together first, not the heaviest alone.
//
// From kube-scheduler, never more loosely:
//
//   - The least count of a spread over hostnames is 0, as in Karpenter, since a new node can always be had. kube-scheduler
//     takes the least of the nodes there are, and would sometimes allow more.
//   - Domains that new nodes could open count for a spread before there is a node; kube-scheduler sees nodes only.
//   - A new node has the labels that its pool, type and offering mention, and no others, until it is there.
//   - kube-scheduler scores nodes and may bind otherwise than planned.
//
// # How it works
//
//  1. Compile, once: pods become classes, types in pools become rows of integers, and what a class asks of labels,
//     taints and offerings one bit mask over all rows, one for each step of giving preferences up. Constraints between
//     pods become groups with the classes that state them and those they count. No string is compared after that.
//  2. Divide classes over the domains of their topology keys: pods that others must be near where most of those gain a
//     place, then by price among those allowed, then by the least count. Within a cell any node will do, and classes
//     that nothing on a node tells apart are one job.
//  3. Pack, in the kernel (internal/pack): existing nodes, then purchases by price. A relaxation, pods as a fluid, says
//     what each resource is worth, and the content with the most worth for its money is bought as often as pods last.
//     First fit does the same, and the better packing is kept.
//  4. Replay it on the board (internal/board), which knows every rule and can take each step back: pods join in an order
//     in which each one's constraints hold. That order is the plan's, and the proof.
//  5. Complete: what was refused goes where there is room, then to new nodes; then every node moves to the cheapest
//     type that holds it.
//  6. Search: if pods are left over that would fit alone, bands of priority come one after another, gangs that are
//     incomplete make room, those that failed go first, and small problems are searched through.
//  7. Explain: alternatives and runner-up of each launch, what its price pays for, the cause for each kind of pod left over,
//     a lower bound.
//
// What has up to about ten pods, or few kinds of them, is weighed as a whole after that, and the plan is mostly the cheapest
// there is. Larger problems are not searched for the optimum.
//
// # Many questions about one cluster
//
// A [Snapshot] is a compiled problem on a board. WhatIf does steps 4 and 5 for the pods that a change displaces or adds, and
// takes everything back: it costs what it moves, not what exists. It says where those pods would go, what launches
// would cost and what the nodes that go would save; pods that waited before are not looked at, and a plan of all pods
// together may be cheaper.
//
// Apply makes changes that stay until Revert; Commit keeps them for good. Nodes that go are followed on the board. All else
// (pods, new nodes, prices, limits, reservations) is compiled when the next question comes. Plan is Solve on the problem
// as it has become. Forks share what was compiled, and each has a board of its own.
//
// # Sources
//
// Pods and nodes follow the documentation of Kubernetes: assigning pods to nodes
// (https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/), taints and tolerations
// (https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/), topology spread
// (https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/), resources
// (https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/), sidecars
// (https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/), volumes
// (https://kubernetes.io/docs/concepts/storage/persistent-volumes/) and their limits
// (https://kubernetes.io/docs/concepts/storage/storage-limits/). Pools, weights, limits, minValues and reservations follow
// Karpenter's (https://karpenter.sh/docs/concepts/nodepools/, https://karpenter.sh/docs/concepts/scheduling/).
package scheduling
