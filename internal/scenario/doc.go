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
//	pool NAME      types weight labels taints startup limits=cpu=64,nodes=3 requirements="zone In [a b]; fam Exists"
//	node NAME      pool type zone (a) capacity (on-demand) labels taints startup, or cpu memory pods resources
//	               in place of type; uninitialized, cordoned
//	daemonset NAME as pods
//	pods N NAME    cpu memory resources namespace labels (app=NAME is there) selector=zone=a
//	               tolerations=k=v:NoSchedule,k2 (any value and effect),* (all)
//	               affinity="zone In [a]; fam Exists | arch In [arm64]"  prefer="10 zone In [a] | 5 arch In [arm64]"
//	               spread=zone:1,host:2:soft  antiaffinity=host  together=zone  port=8080,53/UDP
//	               init=cpu=2  sidecar=cpu=100m  overhead=cpu=100m  level=cpu=3 (pod-level requests)
//	               node=n1 (already bound to it)  daemonset=agent (that one's pod)
//	solve          steps maxalternatives preferences=ignore minvalues=best-effort limits=one
//
// zone, arch, os, type, capacity, host and pool stand for the long label keys. A requirement may end
// in "min N"; a term without any is (). Taints are k=v:Effect.
package scenario
