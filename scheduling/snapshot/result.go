package snapshot

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Result is what a Loader made of its input. Every slice is sorted by namespace and name, whatever
// the order of the input. Objects that needed no change are the input's own, and pods expanded from
// one template share their labels and spec: read them, do not write.
type Result struct {
	// Problem lacks pools: provider/manifest reads them from Rest, the caller attaches instance types.
	Problem scheduling.Problem
	// PodDisruptionBudgets, PriorityClasses and Services are the input's.
	PodDisruptionBudgets []*policyv1.PodDisruptionBudget
	PriorityClasses      []*schedulingv1.PriorityClass
	Services             []*corev1.Service
	// Rest are the documents of other kinds, sorted by place.
	Rest []Document
	// Findings are sorted by place.
	Findings []Finding
}

// Err returns a *[FindingsError] with the findings of severity Error, or nil.
func (r *Result) Err() error { return ErrorOf("snapshot", r.Findings) }

// resolver puts together what the input says in many places.
type resolver struct {
	in       inventory
	admit    admission
	findings []Finding

	nodes map[string]bool
	// bound are the pods on each node, by its name.
	bound   map[string][]*corev1.Pod
	pending []*corev1.Pod
	// demands are the capacity buffers.
	demands []scheduling.Demand
	// taken are the namespace/name of all pods, so that expanded ones get names of their own.
	taken map[string]bool
	// live counts the pods of each controller that need no replacement.
	live map[owner]int
	// indexes are those of the running pods of Indexed jobs.
	indexes map[owner][]int
	// templates are the admitted pods of the DaemonSets.
	templates []*corev1.Pod
	// spare is how many pods may still be made.
	spare int
}

// Result makes a problem of everything read and added so far. It may be called again after more.
func (l *Loader) Result() *Result {
	r := &resolver{findings: slices.Clone(l.findings), taken: map[string]bool{}, live: map[owner]int{}, indexes: map[owner][]int{},
		bound: map[string][]*corev1.Pod{}, nodes: map[string]bool{}, spare: cmp.Or(l.maxPods, maxExpanded)}
	r.settle(&l.in)
	r.prepareAdmission()
	r.pods()
	r.daemonSets()
	claims := r.workloads()
	r.demands = r.buffers()

	out := &Result{Rest: slices.Clone(l.rest)}
	out.Problem = scheduling.Problem{
		Pods:          r.pending,
		Demands:       r.demands,
		Nodes:         r.machines(),
		DaemonSets:    r.templates,
		Storage:       r.storage(claims),
		DefaultSpread: r.defaultSpread(),
	}
	r.gangs(&out.Problem)
	out.Problem.Namespaces = r.namespaces(&out.Problem)
	slices.SortFunc(out.Problem.Pods, byName)
	out.PodDisruptionBudgets = objects(r.in.budgets)
	out.PriorityClasses = objects(r.in.priorityClasses)
	out.Services = objects(r.in.services)
	slices.SortFunc(out.Rest, func(a, b Document) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Object(), b.Object()))
	})
	out.Findings = SortFindings(r.findings)
	return out
}

func byName(a, b *corev1.Pod) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func (r *resolver) warn(d Document, path, problem, remedy string) {
	r.findings = append(r.findings, d.Report(Warning, path, problem, remedy))
}

func (r *resolver) fault(d Document, path, problem, remedy string) {
	r.findings = append(r.findings, d.Report(Error, path, problem, remedy))
}

// settle keeps one object of each name.
func (r *resolver) settle(in *inventory) {
	r.in = inventory{
		pods: unique(r, in.pods), nodes: unique(r, in.nodes), namespaces: unique(r, in.namespaces),
		services: unique(r, in.services), limitRanges: unique(r, in.limitRanges), claims: unique(r, in.claims),
		volumes: unique(r, in.volumes), daemonSets: unique(r, in.daemonSets), deployments: unique(r, in.deployments),
		statefulSets: unique(r, in.statefulSets), replicaSets: unique(r, in.replicaSets), jobs: unique(r, in.jobs),
		storageClasses: unique(r, in.storageClasses), csiNodes: unique(r, in.csiNodes), budgets: unique(r, in.budgets),
		priorityClasses: unique(r, in.priorityClasses), runtimeClasses: unique(r, in.runtimeClasses),
		podTemplates: unique(r, in.podTemplates), buffers: unique(r, in.buffers),
		replicationControllers: unique(r, in.replicationControllers), podGroups: unique(r, in.podGroups),
		coscheduling: unique(r, in.coscheduling),
	}
}

func (r *resolver) prepareAdmission() {
	r.admit = admission{
		limitRanges:    map[string][]*corev1.LimitRange{},
		runtimeClasses: map[string]*nodev1.RuntimeClass{},
		priorities:     map[string]*schedulingv1.PriorityClass{},
		report: func(d Document, sev Severity, path, problem, remedy string) {
			r.findings = append(r.findings, d.Report(sev, path, problem, remedy))
		},
	}
	for _, f := range r.in.limitRanges {
		r.admit.limitRanges[f.obj.Namespace] = append(r.admit.limitRanges[f.obj.Namespace], f.obj)
	}
	for _, f := range r.in.runtimeClasses {
		r.admit.runtimeClasses[f.obj.Name] = f.obj
	}
	for _, f := range r.in.priorityClasses {
		r.admit.priorities[f.obj.Name] = f.obj
		if !f.obj.GlobalDefault {
			continue
		}
		// Of several defaults the server takes the lowest.
		if d := r.admit.byDefault; d == nil || f.obj.Value < d.Value {
			r.admit.byDefault = f.obj
		}
	}
}

// objects drops the places.
func objects[P any, F interface{ object() P }](in []F) []P {
	var out []P
	for _, f := range in {
		out = append(out, f.object())
	}
	return out
}

// namespaces collects labels. Every namespace carries its name as a label, also one that is not in
// the input.
func (r *resolver) namespaces(p *scheduling.Problem) map[string]map[string]string {
	out := map[string]map[string]string{}
	add := func(name string, labels map[string]string) {
		if out[name] != nil {
			return
		}
		labels = maps.Clone(labels)
		if labels == nil {
			labels = map[string]string{}
		}
		labels[corev1.LabelMetadataName] = name
		out[name] = labels
	}
	for _, f := range r.in.namespaces {
		add(f.obj.Name, f.obj.Labels)
	}
	for _, pods := range [][]*corev1.Pod{p.Pods, p.DaemonSets} {
		for _, pod := range pods {
			add(pod.Namespace, nil)
		}
	}
	for _, d := range p.Demands {
		add(d.Template.Namespace, nil)
	}
	for i := range p.Nodes {
		for _, pod := range p.Nodes[i].Pods {
			add(pod.Namespace, nil)
		}
	}
	return out
}
