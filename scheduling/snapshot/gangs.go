package snapshot

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// coschedulingLabel is how pods name their PodGroup of the coscheduling plugin
// (https://github.com/kubernetes-sigs/scheduler-plugins).
const coschedulingLabel = "scheduling.x-k8s.io/pod-group"

// coschedulingGroup is what matters of that plugin's PodGroup.
type coschedulingGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		MinMember              int32               `json:"minMember,omitempty"`
		MinResources           corev1.ResourceList `json:"minResources,omitempty"`
		ScheduleTimeoutSeconds *int32              `json:"scheduleTimeoutSeconds,omitempty"`
	} `json:"spec,omitempty"`
	Status any `json:"status,omitempty"`
}

func (c *checker) podGroup(g *schedulingv1alpha2.PodGroup) {
	const path = "spec.schedulingPolicy"
	p := &g.Spec.SchedulingPolicy
	switch {
	case (p.Gang == nil) == (p.Basic == nil):
		c.fault(path, "one of gang and basic is needed", "write gang: {minCount: 1}, or basic: {}")
	case p.Gang != nil && p.Gang.MinCount < 1:
		c.fault(path+".gang.minCount", fmt.Sprintf("%d is less than one pod", p.Gang.MinCount), "write 1 or more")
	}
}

// gangs are the groups of pods that are placed together. Where Kubernetes' own group and one of the plugin have
// one name, Kubernetes' counts.
func (r *resolver) gangs(p *scheduling.Problem) {
	own := map[string]bool{}
	for _, f := range r.in.podGroups {
		g := scheduling.Gang{Namespace: f.obj.Namespace, Name: f.obj.Name, Basic: f.obj.Spec.SchedulingPolicy.Gang == nil}
		if !g.Basic {
			g.MinCount = f.obj.Spec.SchedulingPolicy.Gang.MinCount
		}
		p.Gangs = append(p.Gangs, g)
		own[g.Namespace+"/"+g.Name] = true
	}
	for _, f := range r.in.coscheduling {
		if len(p.GangLabels) == 0 {
			p.GangLabels = []string{coschedulingLabel}
		}
		if own[f.obj.Namespace+"/"+f.obj.Name] {
			r.warn(f.doc, "", "a PodGroup of scheduling.k8s.io has the same name and is used", "rename one of them, and what its pods say")
			continue
		}
		// Without a minimum the plugin holds no pod back.
		least := f.obj.Spec.MinMember
		p.Gangs = append(p.Gangs, scheduling.Gang{Namespace: f.obj.Namespace, Name: f.obj.Name, MinCount: least, Basic: least == 0})
	}
	slices.SortFunc(p.Gangs, func(a, b scheduling.Gang) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// defaultSpread collects what kube-scheduler's default spread counts by. The constraints are configuration, which
// no object of a cluster has.
func (r *resolver) defaultSpread() scheduling.DefaultSpread {
	out := scheduling.DefaultSpread{Services: objects(r.in.services)}
	add := func(kind string, meta *metav1.ObjectMeta, selector *metav1.LabelSelector) {
		out.Owners = append(out.Owners, scheduling.Owner{Kind: kind, Namespace: meta.Namespace, Name: meta.Name, Selector: selector})
	}
	for _, f := range r.in.deployments {
		// The pods made from its template are its own: they have no ReplicaSet yet.
		add("Deployment", &f.obj.ObjectMeta, f.obj.Spec.Selector)
	}
	for _, f := range r.in.replicaSets {
		add("ReplicaSet", &f.obj.ObjectMeta, f.obj.Spec.Selector)
	}
	for _, f := range r.in.statefulSets {
		add("StatefulSet", &f.obj.ObjectMeta, f.obj.Spec.Selector)
	}
	for _, f := range r.in.replicationControllers {
		selector := f.obj.Spec.Selector
		if len(selector) == 0 && f.obj.Spec.Template != nil {
			selector = f.obj.Spec.Template.Labels
		}
		add("ReplicationController", &f.obj.ObjectMeta, &metav1.LabelSelector{MatchLabels: selector})
	}
	slices.SortStableFunc(out.Owners, func(a, b scheduling.Owner) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// replicationController expands one as a ReplicaSet, which does the same.
func (r *resolver) replicationController(f found[*corev1.ReplicationController]) {
	if f.obj.Spec.Template == nil {
		return
	}
	w := workload{doc: f.doc, apiVersion: "v1", meta: &f.obj.ObjectMeta, template: f.obj.Spec.Template}
	w.count = r.missing("ReplicationController", w.meta, orOne(f.obj.Spec.Replicas))
	r.expand(w)
}
