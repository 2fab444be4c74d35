// Package scenario reads problems for the solver from text that a person can write in a minute, and
// renders plans as short as that. A scenario file is
//
//	# Prose: what this shows, and why the answer is right.
//	type small cpu=2 memory=8Gi zones=a,b price=0.10
//	pool default types=small
//	pods 3 web cpu=900m
//	solve
//	----
//	the rendered plan
//
// Words are separated by spaces; a value with spaces stands in double quotes. Lists are separated by
// commas. The verbs and their keys:
//
//	type NAME      cpu memory pods (default 110) ephemeral-storage resources=nvidia.com/gpu=1
//	               overhead=cpu=70m,memory=1Gi  arch (amd64) os (linux) labels=fam=c
//	               zones (a) price spot  prices=b/on-demand=0.2  unavailable=a/spot  unpriced=a/spot
//	               reservations=a/cr-1=0.02:3 (zone, name, price, count)  zonelabels=a/id=use1-az1
//	               committed=a/sp-1=0.02:0.06 (zone, commitment, price on demand, what a node draws, which may be left out)
//	               attach=ebs.csi.aws.com=25
//	pool NAME      types weight labels taints startup limits=cpu=64,nodes=3 requirements="zone In [a b]; fam Exists"
//	               preferences=ignore
//	node NAME      pool type zone (a, - for none) capacity (on-demand) labels taints startup, or cpu memory pods
//	               resources in place of type; uninitialized, cordoned, attach=ebs.csi.aws.com=2
//	daemonset NAME as pods
//	pods N NAME    cpu memory resources namespace labels (app=NAME is there) selector=zone=a
//	               tolerations=k=v:NoSchedule,k2 (any value and effect),* (all)
//	               affinity="zone In [a]; fam Exists | arch In [arm64]"  prefer="10 zone In [a] | 5 arch In [arm64]"
//	               spread=zone:1,host:2:soft  together=zone  apart=host (see below)  port=8080,53/UDP
//	               init=cpu=2  sidecar=cpu=100m  overhead=cpu=100m  level=cpu=3 (pod-level requests)
//	               claims=data-* (* is the pod's number)  ephemeral=gp3 (class, - for none)  disks=vol-1 (in-tree)
//	               priority gang=NAME devices=NAME (a resource claim)  owner=ReplicaSet/web
//	               node=n1 (already bound to it)  deleting finished  daemonset=agent (that one's pod)
//	demand N NAME  as pods, and names=x,y: pods that are not there one by one
//	buffer N NAME  as demand: room to be kept free
//	gang NAME      min namespace basic;  ganglabel KEY: pods with that label are in a gang
//	commitment NAME instances=2 or perhour=0.50
//	namespace NAME labels
//	defaults       spread=zone:3:soft  the cluster's default spread
//	service NAME   selects=SELECTOR namespace;  owner KIND/NAME  selects=SELECTOR namespace
//	class NAME     provisioner (ebs.csi.aws.com) topologies="zone In [a] | zone In [b]" immediate default created=2026-01-02
//	volume NAME    driver (ebs.csi.aws.com) source=local|hostpath|nfs|ebs (in place of csi)  affinity labels deleting
//	claims N NAME  class (- for "") volume=NAME (bound to it) pending (not yet after all) lost deleting namespace
//	solve          steps maxalternatives minvalues=best-effort limits=one preferences=ignore, respect or cap:0.10
//	               reserved=strict pools=a,b first=web-1  show=order (the order of binding)
//
// zone, arch, os, type, capacity, host and pool stand for the long label keys, name for a node's name. A requirement
// may end in "min N"; a term without any is (). Taints are k=v:Effect.
//
// Constraints between pods are lists, too. A spread is KEY:SKEW, together and apart (pod affinity and anti-affinity) are KEY,
// or KEY:WEIGHT if only preferred. Behind that may follow, each with a colon:
//
//	soft                           ScheduleAnyway
//	min=3                          minDomains
//	affinity=ignore taints=honor   nodeAffinityPolicy, nodeTaintsPolicy
//	of=SELECTOR                    whom it counts; by default the pod's own label app
//	match=k+k2 mismatch=k          matchLabelKeys, mismatchLabelKeys
//	in=ns+ns2 where=SELECTOR       namespaces, namespaceSelector
//
// A SELECTOR is db (app=db), k=v, k=v+v2, k!=v, k=* (exists), k!=* (does not), several joined by &, all, or none (nil).
package scenario
