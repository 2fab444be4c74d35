// Package snapshot turns Kubernetes objects into a scheduling problem: what a cluster's manifests, or a dump
// of a running one, say about pods to place and nodes to place them on.
//
//	var l snapshot.Loader
//	err := l.ReadFS(os.DirFS("cluster"))      // *.yaml and *.json, any number of documents and Lists
//	err = l.Read("stdin", os.Stdin)           // kubectl get ... -o yaml
//	l.Add(snapshot.Objects{Pods: pods})       // what a lister returned
//	r := l.Result()                           // r.Problem, r.Rest, r.Findings; r.Err()
//
// It reads Pods, Nodes, Namespaces, DaemonSets, Deployments, ReplicaSets, StatefulSets, ReplicationControllers, Jobs,
// Services, LimitRanges, PriorityClasses, RuntimeClasses, PodDisruptionBudgets, PersistentVolumeClaims,
// PersistentVolumes, StorageClasses, CSINodes and PodTemplates, each in its one stable version; CapacityBuffers
// of autoscaling.x-k8s.io in v1alpha1 and v1beta1; and PodGroups in version scheduling.k8s.io/v1alpha2 or, of the
// coscheduling plugin, scheduling.x-k8s.io/v1alpha1. Documents of other kinds
// are in Result.Rest: package provider/manifest reads Karpenter's. The problem has no pools.
//
// # Which pods
//
//  1. A pod without a node is to be placed (Problem.Pods).
//  2. A bound pod (spec.nodeName) counts on its node, also while it is being deleted. If the input does not
//     have the node, the pod is left out with a finding.
//  3. Finished pods (Succeeded, Failed) and unbound pods that are being deleted are dropped.
//  4. Pods held by a scheduling gate, and pods that wait on a nominated node for others to be evicted,
//     are left out with a finding.
//  5. Mirror pods and pods of DaemonSets are never placed; bound ones count on their node. A new
//     node gets the pods of the DaemonSets' templates (Problem.DaemonSets).
//  6. Pods on a node that is going away (being deleted, or with the taint karpenter.sh/disrupted) still count
//     there, and the node takes no others; moving them is for package scheduling/disruption.
//
// # Which pods of workloads
//
//  7. A Deployment, ReplicaSet, StatefulSet, ReplicationController or Job is expanded to the pods that it wants and
//     that are not in the input. Live pods count for it by their controller reference, those of a Deployment by way
//     of its ReplicaSets. Terminating pods do not count: their controller makes another.
//  8. Names are the workload's with a number (web-00000), for StatefulSets and Indexed Jobs the ordinal (db-0).
//     A StatefulSet's pods get the claims of its templates.
//  9. A Job wants min(parallelism, completions - succeeded) pods; none if it is finished or suspended.
//     CronJobs make no pods here; the Jobs they made do.
//
// # Capacity buffers
//
//  10. A CapacityBuffer becomes a demand for pods like its PodTemplate, Deployment, ReplicaSet or StatefulSet, marked as
//     a buffer (Problem.Demands). They are called capacity-buffer-NAME-0 and so on, keep the template's labels, constraints
//     and volumes, and lose what concerns single pods: nodeName, scheduling gates, scheduling group. Claims that a
//     StatefulSet would make are not among their volumes.
//  11. There are as many as replicas says, or percentage of the replicas that the workload wants, rounded up; where both
//     are given the larger number counts, as for Karpenter 1.14 and in the text of v1alpha1 (that of v1beta1 and Cluster
//     Autoscaler take the smaller), with a warning if they differ. limits hold so many pods as the scarcest
//     resource has room for: no more than that, and just as many where nothing else gives a number.
//  12. A buffer whose reference is not in the input, or of a kind or strategy not named here, is left out with a finding.
//
// # Admission
//
//  13. Pods of templates, and Pods that no API server has seen (no uid, no creation time), are completed as a
//     server would: requests from limits, LimitRange defaults, RuntimeClass overhead, node selector and
//     tolerations, PriorityClass. DaemonSet templates get the tolerations that their controller adds.
//
// # Volumes
//
//  14. A claim that no API server has seen and that names its volume counts as bound to it.
//  15. If pods to be placed need claims, volumes or storage classes, and the input has none of that kind at all, what
//     is missing is not known (Storage.Incomplete, with a finding). If it has some, the others do not exist.
//
// # Groups and spreads
//
//  16. PodGroups are the problem's gangs; a group of the coscheduling plugin is named by its label on pods.
//  17. Services and the selectors of workloads go to Problem.DefaultSpread, where they mean nothing until the caller adds
//     the constraints that kube-scheduler is configured with.
//
// # Nodes
//
//  18. A node belongs to the pool that its label karpenter.sh/nodepool names; it is still starting until
//     karpenter.sh/initialized is "true". Startup taints are the pool's and not known here.
//
// # Findings
//
// Bad text gives findings, several at once, never a panic: with file, document, line, object, field and remedy. An
// [Error] means that the object was left out: the text is malformed, a key is set twice, a
// value has the wrong type, a quantity is negative or beyond any machine, a request is above its limit, the
// object has no name or no containers, its version is not read, or two different objects have one
// name. A [Warning] means that it was used, and that something in it had no effect or may not be
// what was meant: an unknown field, a fraction of a byte, a class that is not in the input, and everything left out by
// rules 2, 4 and 12. Errors of Read and ReadFS are those of reading, not of content.
//
// # Guarantees
//
// The result does not depend on the order of documents, files or calls. Go values that are given are never
// written: what must change is copied, the rest is shared with the result. YAML is read as Kubernetes reads
// it (1.1: yes and on are booleans), JSON likewise; lists in block style are read item by item, so memory
// follows the objects and not the text. Work is linear in the input; aliases are bounded.
//
// # What it does not do
//
// It opens no files and asks no cluster. It does not validate all that an API server would, fill in fields that no
// scheduler reads, run webhooks, nor model quotas. Sources: Kubernetes' documentation of the API, of LimitRange,
// RuntimeClass, DaemonSet ("taints and tolerations") and Job; Karpenter v1.14 for the nodes' labels and for capacity
// buffers (https://karpenter.sh/docs/concepts/capacitybuffers/).
package snapshot
