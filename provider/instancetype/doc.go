// Package instancetype turns the facts of an EC2 machine type and a node's settings into what a
// scheduler needs to know of it: labels, capacity, and what of the capacity pods cannot use.
//
//	it, err := instancetype.Build(facts, instancetype.Settings{})   // an AL2023 node
//	r, err := instancetype.Compute(facts, instancetype.Settings{})  // the same, with its parts apart
//
// Facts is what EC2 says of a type, Settings what the node's image, kubelet and disks say; both are
// plain values. Who has many types and one Settings makes a Builder, which checks the settings once.
//
// # Rules
//
//   - cpu: the default vCPUs. memory: what the MemoryModel says, by default EC2's figure less 7.5 %.
//   - pods: Settings.MaxPods; else usable interfaces x (addresses - 1) + 2, the interfaces being
//     those of the default card less ReservedENIs; with PrefixDelegation 16 pods for each of those
//     addresses, at most 110, or 250 above 30 vCPUs; with FixedPods 110. PodsPerCore x vCPUs caps
//     all of them.
//   - kube-reserved: cpu 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of
//     the rest; memory 11 MiB a pod and 255 MiB; ephemeral storage 1 GiB. Each key can be replaced.
//   - eviction: 100 MiB of memory and 10 % of ephemeral storage, or the hard thresholds given.
//   - ephemeral storage: the root volume, or all NVMe instance-store disks with InstanceStoreRAID0.
//   - EBS volumes that pods can attach (Build only, since kubelets report no such capacity): EC2's attachments
//     less the boot volumes and, where interfaces take the same slots, those that a node has soon after its start, as
//     the CSI driver counts: a second one, which the VPC CNI keeps ready, and reserved ones.
//   - labels: those that Karpenter gives its nodes (karpenter.k8s.aws/instance-...). A label that a
//     type does not have is a DoesNotExist requirement, so that no pod waits for it.
//
// A slice of a GPU (g6f, gr6f) is no whole GPU: its label instance-gpu-count is 0, and it
// offers nvidia.com/gpu only if Settings.GPUSlices asks for that.
//
// The numbers come from Karpenter's provider for EC2 (v1.14), from the EKS AMIs and from the
// max-pods calculator of EKS. Tests compare every type that Karpenter documents.
//
// # What it does not do
//
// It knows no zones, prices or offerings (package provider/catalog), does not decide whether an image
// boots on a type, and guesses nothing: impossible facts or settings are an *InputError with every
// fault in it.
package instancetype
