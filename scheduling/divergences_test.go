package scheduling_test

import "testing"

// TestDivergences has what Karpenter's scheduler does otherwise than kube-scheduler, and what is right here because kube-scheduler
// binds the pods. Where this solver follows Karpenter instead, the package comment says so.
func TestDivergences(t *testing.T) {
	const zones = "type small cpu=2 memory=8Gi zones=a,b price=0.10 prices=b/on-demand=0.15\npool default types=small\n"
	tests := []struct{ name, reason, text, want string }{
		{"preferences do not wait", "1: kube-scheduler scores them; no pod waits behind one that cannot be met",
			zones + `pods 1 web cpu=500m prefer="100 zone In [z]" together=zone:100:of=ghost`, "web: a"},
		{"all terms at once", "2: Karpenter takes the first term as long as it can be met, whatever it costs",
			zones + `pods 1 web cpu=500m affinity="zone In [b] | zone In [a]"`, "web: a"},
		{"all preferences at once", "2: Karpenter sees the heaviest only, and b or c would do for it",
			"type small cpu=2 memory=8Gi zones=a,b,c price=0.10 prices=c/on-demand=0.15\npool default types=small\n" +
				`pods 1 web cpu=500m prefer="100 zone In [b c] | 1 zone In [a c]"`, "web: c"},
		{"every legal domain", "3: Karpenter picks one domain of least count; all within the skew are legal, and a is cheaper",
			zones + "node n1 cpu=1 memory=8Gi zone=a\npods 1 old cpu=1 labels=app=web node=n1\npods 1 web cpu=500m spread=zone:2", "web: a"},
		{"target later by name", "5: the pod to be with is in the same batch and comes later; kube-scheduler tries again, too",
			zones + "pods 1 a-web cpu=500m together=zone:of=z-db\npods 1 z-db cpu=500m selector=zone=b", "a-web: b, z-db: b"},
		{"matchLabelKeys of affinity", "6: Karpenter does not read them; the pod of the same revision is in b",
			zones + "node na cpu=1 memory=8Gi zone=a\nnode nb cpu=1 memory=8Gi zone=b\npods 1 one cpu=1 labels=app=web,rev=1 node=na\n" +
				"pods 1 two cpu=1 labels=app=web,rev=2 node=nb\npods 1 new cpu=500m labels=app=web,rev=2 together=zone:match=rev", "new: b"},
		{"mismatchLabelKeys of anti-affinity", "6: Karpenter does not read them; the other tenant is in a",
			zones + "node na cpu=4 memory=8Gi zone=a\npods 1 one cpu=1 labels=tenant=x node=na\n" +
				"pods 1 new cpu=500m labels=tenant=y apart=zone:of=tenant=*:mismatch=tenant", "new: b"},
		{"attach limits of new nodes", "8: Karpenter takes new nodes for unlimited and needs another round",
			"type small cpu=2 memory=8Gi price=0.10 attach=ebs.csi.aws.com=1\npool default types=small limits=nodes=1\nclass gp3\n" +
				"pods 2 db cpu=100m ephemeral=gp3", "db-1: a, db-2: PoolLimit"},
		{"an empty term matches nothing", "1.2: Karpenter takes it for everything", zones + `pods 1 web cpu=500m affinity="()"`, "web: Invalid"},
		{"a nil selector counts nobody", "1.4: Karpenter counts every running pod of the namespace",
			zones + "node n1 cpu=4 memory=8Gi zone=a\npods 2 old cpu=1 node=n1\npods 1 web cpu=500m spread=zone:1:of=none", "web: a"},
		{"terms are met by the same pods", "1.4: two pods that meet a term each are not enough",
			zones + "node n1 cpu=4 memory=8Gi zone=a\npods 1 db cpu=1 node=n1\npods 1 cache cpu=1 node=n1\n" +
				"pods 1 web cpu=500m together=zone:of=db,zone:of=cache", "web: PodAffinity"},
		{"no second start", "1.4: Karpenter lets a pod start anew if all of its kind are where it may not go",
			zones + "node n1 cpu=1 memory=8Gi zone=c\npods 1 old cpu=1 labels=app=web node=n1\n" +
				`pods 1 web cpu=500m affinity="zone In [a b]" together=zone`, "web: PodAffinity"},
		{"PreferNoSchedule of a pool is soft", "1.3: Karpenter takes it for hard until nothing else is left to give up",
			"type small cpu=2 memory=8Gi price=0.10\npool default types=small taints=k=v:PreferNoSchedule\n" +
				`pods 1 web cpu=500m prefer="1 arch In [amd64]"`, "web: a"},
		{"a gang runs whole or not", "9: Karpenter knows no gangs",
			"type small cpu=2 memory=8Gi price=0.10\npool default types=small limits=nodes=1\npods 2 web cpu=1500m gang=g",
			"web-1: GangIncomplete, web-2: GangIncomplete"},
		{"priority decides who waits", "9: Karpenter does not look at it",
			"type small cpu=2 memory=8Gi price=0.10\npool default types=small limits=nodes=1\n" +
				"pods 1 a-low cpu=2\npods 1 z-high cpu=1500m priority=1", "a-low: PoolLimit, z-high: a"},
	}
	for _, tt := range tests {
		p, d := solveText(t, tt.text+"\nsolve\n")
		if got := whereabouts(p, d); got != tt.want {
			t.Errorf("%s: got %s, want %s: %s", tt.name, got, tt.want, tt.reason)
		}
	}
}
