package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	. "github.com/fleetwright/fleetwright/scheduling"
)

func TestVerifyAffinity(t *testing.T) {
	self := with(term(zoneKey, selecting("app", "a")))
	db := actor("db", labelled("app", "db"))
	nearDB := with(term(zoneKey, selecting("app", "db")))
	pair := func(a, b *corev1.Pod) []*corev1.Pod { return []*corev1.Pod{a, b} }
	wants := func(edits ...func(*corev1.PodAffinityTerm)) func(*corev1.Pod) {
		return with(term(zoneKey, selecting("app", "db"), edits...))
	}
	namespaces := func(list ...string) func(*corev1.PodAffinityTerm) {
		return func(t *corev1.PodAffinityTerm) { t.Namespaces = list }
	}
	namespaceSelector := func(kv ...string) func(*corev1.PodAffinityTerm) {
		return func(t *corev1.PodAffinityTerm) { t.NamespaceSelector = selecting(kv...) }
	}
	elsewhere := func(edits ...func(*corev1.Pod)) *stage {
		s := newStage([]*corev1.Pod{actor("db", labelled("app", "db"), inNamespace("other")), actor("p", edits...)}, "n1", "1:small/a")
		s.Problem.Namespaces = map[string]map[string]string{"other": {"team": "x"}}
		return s
	}
	both := with(term(zoneKey, selecting("app", "a")), term(hostKey, selecting("tier", "x")))
	runStages(t, []stageCase{
		{"first of its kind", "it may start a domain, and others follow", newStage(actors(3, self), "1:small/a", "n1", "2:small/a"), nil, ""},
		{"second domain", "but not a second one", newStage(actors(2, self), "1:small/a", "2:small/b"), nil, "affinity"},
		{"first of all", "not its own kind: it has to wait", newStage(pair(actor("p", nearDB), db), "1:small/a", "1:small/a"), nil, "affinity"},
		{"after it", "until the other is there", newStage(pair(db, actor("p", nearDB)), "1:small/a", "1:small/a"), nil, ""},
		{"order", "as the bind order says", newStage(pair(actor("p", nearDB), db), "1:small/a", "2:small/a"),
			func(s *stage) { s.Plan.BindOrder = []int32{1, 0} }, ""},
		{"no order", "without one any has to do", newStage(pair(actor("p", nearDB), db), "1:small/a", "2:small/a"), (*stage).bindInPlanOrder, "affinity"},
		{"chain", "one after another", newStage([]*corev1.Pod{db, actor("web", labelled("app", "web"), nearDB), actor("p", with(term(zoneKey, selecting("app", "web"))))},
			"n1", "1:small/a", "2:large/a"), nil, ""},
		{"running", "what runs already counts", newStage([]*corev1.Pod{actor("p", nearDB)}, "1:small/a"), func(s *stage) { running(s, 0, db) }, ""},
		{"running elsewhere", "where it is", newStage([]*corev1.Pod{actor("p", nearDB)}, "1:small/b"), func(s *stage) { running(s, 0, db) }, "affinity"},
		{"on its way out", "unless it is leaving", newStage([]*corev1.Pod{actor("p", nearDB)}, "1:small/a"), func(s *stage) {
			running(s, 0, actor("db", labelled("app", "db"), func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }))
		}, "affinity"},
		{"not the first", "where its kind is already it may not start another", newStage(actors(1, self), "1:small/b"),
			func(s *stage) { running(s, 0, actor("old")) }, "affinity"},
		{"all terms", "one pod has to match all terms", newStage([]*corev1.Pod{actor("p", labelled("tier", "y"), both)}, "n1"), func(s *stage) {
			running(s, 0, actor("one"), actor("two", labelled("app", "b", "tier", "x")))
		}, "affinity"},
		{"all terms by one", "this one does", newStage([]*corev1.Pod{actor("p", labelled("tier", "y"), both)}, "n1"), func(s *stage) {
			running(s, 0, actor("one", labelled("tier", "x")))
		}, ""},
		{"each term in its domain", "same zone, but another host", newStage([]*corev1.Pod{actor("p", labelled("tier", "y"), both)}, "1:small/a"), func(s *stage) {
			running(s, 0, actor("one", labelled("tier", "x")))
		}, "affinity"},
		{"no key", "a node without the key takes nobody, not even the first", newStage(actors(1, self), "n1"),
			func(s *stage) { delete(s.Problem.Nodes[0].Labels, zoneKey) }, "affinity"},
		{"one key of two", "all the keys", newStage([]*corev1.Pod{actor("p", with(term(zoneKey, selecting("app", "a")), term("rack", selecting("app", "a"))))}, "n1"), nil, "affinity"},
		{"untied", "the other may fall into another zone", newStage(pair(db, actor("p", nearDB)), "1:small/a,small/b", "2:small/a"), nil, "affinity"},
		{"both untied", "also if both may fall into the same ones", newStage(pair(db, actor("p", nearDB)), "1:small/a,small/b", "2:small/a,small/b"), nil, "affinity"},
		{"on one node", "they are together wherever that is", newStage(pair(db, actor("p", nearDB)), "1:small/a,small/b", "1:small/a"), nil, ""},
		{"over types", "any key will do", newStage(pair(db, actor("p", with(term(corev1.LabelInstanceTypeStable, selecting("app", "db"))))), "1:small/a", "2:large/a"), nil, "affinity"},
		{"same type", "this is one type", newStage(pair(db, actor("p", with(term(corev1.LabelInstanceTypeStable, selecting("app", "db"))))), "1:small/a", "2:small/b"), nil, ""},
		{"own namespace", "no namespace means its own", elsewhere(wants()), nil, "affinity"},
		{"namespaces", "or those listed", elsewhere(wants(namespaces("other"))), nil, ""},
		{"namespace selector", "or selected", elsewhere(wants(namespaceSelector("team", "x"))), nil, ""},
		{"wrong namespace selector", "this selects others", elsewhere(wants(namespaceSelector("team", "y"))), nil, "affinity"},
		{"all namespaces", "an empty selector is all", elsewhere(wants(namespaceSelector())), nil, ""},
		{"list or selector", "either", elsewhere(wants(namespaces("other"), namespaceSelector("team", "y"))), nil, ""},
		{"not its own any more", "a list replaces its own", newStage(pair(db, actor("p", wants(namespaces("other")))), "n1", "1:small/a"), nil, "affinity"},
		{"match label keys", "only of the same revision", newStage([]*corev1.Pod{actor("p", labelled("rev", "2"),
			with(term(zoneKey, selecting("app", "a"), func(t *corev1.PodAffinityTerm) { t.MatchLabelKeys = []string{"rev"} })))}, "1:small/b"),
			func(s *stage) { running(s, 0, actor("old", labelled("rev", "1"))) }, ""},
		{"preferred", "a wish", newStage([]*corev1.Pod{actor("p", func(p *corev1.Pod) {
			affinityOf(p).PodAffinity = &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
				{Weight: 1, PodAffinityTerm: term(zoneKey, selecting("app", "db"))}}}
		})}, "n1"), nil, ""},
	})
}

func TestVerifyAntiAffinity(t *testing.T) {
	self := apart(term(zoneKey, selecting("app", "a")))
	noDB := apart(term(zoneKey, selecting("app", "db")))
	db := func(edits ...func(*corev1.Pod)) *corev1.Pod {
		return actor("db", append(edits, func(p *corev1.Pod) { p.Labels["app"] = "db" })...)
	}
	region := apart(term(corev1.LabelTopologyRegion, selecting("app", "a")))
	tenants := apart(term(zoneKey, selecting(), func(t *corev1.PodAffinityTerm) { t.MismatchLabelKeys = []string{"tenant"} }))
	runStages(t, []stageCase{
		{"each its own", "one zone each", newStage(actors(3, self), "1:small/a", "n2", "3:small/c"), nil, ""},
		{"two", "two in one", newStage(actors(2, self), "n1", "1:small/a"), nil, "antiAffinity"},
		{"own term", "the second states it", newStage([]*corev1.Pod{db(), actor("p", noDB)}, "n1", "1:small/a"), nil, "antiAffinity"},
		{"inverse", "the first states it", newStage([]*corev1.Pod{actor("p", noDB), db()}, "n1", "1:small/a"), nil, "antiAffinity"},
		{"inverse of what runs", "a running pod states it", newStage([]*corev1.Pod{db()}, "1:small/a"), func(s *stage) { running(s, 0, actor("p", noDB)) }, "antiAffinity"},
		{"running", "a running pod is meant", newStage([]*corev1.Pod{actor("p", noDB)}, "1:small/a"), func(s *stage) { running(s, 0, db()) }, "antiAffinity"},
		{"on its way out", "one that is leaving neither", newStage([]*corev1.Pod{actor("p", noDB)}, "1:small/a"), func(s *stage) {
			running(s, 0, db(noDB, func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }))
		}, ""},
		{"running both", "what runs together already is not the plan's fault", newStage([]*corev1.Pod{actor("p", labelled("app", "c"))}, "n1"),
			func(s *stage) { running(s, 0, actor("old", noDB), db()) }, ""},
		{"untied", "a launch may fall into the zone", newStage(actors(2, self), "n1", "1:small/b,small/a"), nil, "antiAffinity"},
		{"both untied", "two may fall into one", newStage(actors(2, self), "1:small/a,small/b", "2:small/c,small/b"), nil, "antiAffinity"},
		{"untied before, own term", "the one that is meant may be in the zone", newStage([]*corev1.Pod{db(), actor("p", noDB)}, "1:small/a,small/b", "2:small/a"), nil, "antiAffinity"},
		{"untied before, inverse", "the one that states it may be", newStage([]*corev1.Pod{actor("p", noDB), db()}, "1:small/a,small/b", "2:small/b"), nil, "antiAffinity"},
		{"untied apart", "but not these", newStage(actors(2, self), "1:small/a,small/b", "2:small/c"), nil, ""},
		{"no key", "a node without the key is in no domain", newStage(actors(2, self), "n1", "n1"),
			func(s *stage) { delete(s.Problem.Nodes[0].Labels, zoneKey) }, ""},
		{"hosts", "on one host", newStage(actors(2, apart(term(hostKey, selecting("app", "a")))), "1:small/a", "1:small/a"), nil, "antiAffinity"},
		{"hosts apart", "on two", newStage(actors(2, apart(term(hostKey, selecting("app", "a")))), "1:small/a", "2:small/a"), nil, ""},
		{"host without label", "a node is known by its name too", newStage(actors(2, apart(term(hostKey, selecting("app", "a")))), "n1", "n1"),
			func(s *stage) { delete(s.Problem.Nodes[0].Labels, hostKey) }, "antiAffinity"},
		{"capacity type", "over any key", newStage(actors(2, apart(term(CapacityTypeLabel, selecting("app", "a")))), "1:small/a", "2:large/b"), nil, "antiAffinity"},
		{"types", "of the type", newStage(actors(2, apart(term(corev1.LabelInstanceTypeStable, selecting("app", "a")))), "1:small/a", "2:large/b"), nil, ""},
		{"types fall back", "which may be the other's", newStage(actors(2, apart(term(corev1.LabelInstanceTypeStable, selecting("app", "a")))), "1:small/a,large/a", "2:large/b"), nil, "antiAffinity"},
		{"pool", "pools are domains", newStage(actors(2, apart(term(PoolLabel, selecting("app", "a")))), "1:small/a", "2:large/b"), nil, "antiAffinity"},
		{"region", "nobody knows the region: it may well be one", newStage(actors(2, region), "1:small/a", "2:small/b"), nil, "antiAffinity"},
		{"other namespace", "its own namespace is meant", newStage([]*corev1.Pod{actor("p", self), actor("q", inNamespace("other"))}, "n1", "n1"), nil, ""},
		{"other namespace listed", "or those it names", newStage([]*corev1.Pod{actor("p", apart(term(zoneKey, selecting("app", "a"), func(t *corev1.PodAffinityTerm) { t.Namespaces = []string{"other"} }))),
			actor("q", inNamespace("other"))}, "n1", "n1"), nil, "antiAffinity"},
		{"one tenant", "mismatchLabelKeys: pods of one tenant may be together", newStage(actors(2, tenants, labelled("tenant", "x")), "n1", "n1"), nil, ""},
		{"two tenants", "those of another may not", newStage([]*corev1.Pod{actor("p", tenants, labelled("tenant", "x")), actor("q", labelled("tenant", "y"))}, "n1", "n1"), nil, "antiAffinity"},
		{"no tenant", "nor those of none", newStage([]*corev1.Pod{actor("p", tenants, labelled("tenant", "")), actor("q")}, "n1", "n1"), nil, "antiAffinity"},
		{"revisions", "matchLabelKeys: another revision may be there", newStage([]*corev1.Pod{
			actor("p", labelled("rev", "1"), apart(term(zoneKey, selecting("app", "a"), func(t *corev1.PodAffinityTerm) { t.MatchLabelKeys = []string{"rev"} }))),
			actor("q", labelled("rev", "2"))}, "n1", "n1"), nil, ""},
	})
}
