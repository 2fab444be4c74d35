package snapshot

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

// admission does to a pod that no API server has seen what a server would: defaults and the
// admission plugins that change what the scheduler sees.
type admission struct {
	limitRanges    map[string][]*corev1.LimitRange
	runtimeClasses map[string]*nodev1.RuntimeClass
	priorities     map[string]*schedulingv1.PriorityClass
	byDefault      *schedulingv1.PriorityClass
	report         func(d Document, sev Severity, path, problem, remedy string)
}

// seen reports whether a pod has been through an API server.
func seen(p *corev1.Pod) bool { return p.UID != "" || !p.CreationTimestamp.IsZero() }

// admit changes p, which is the caller's own. path is where its spec stands in the document.
func (a *admission) admit(p *corev1.Pod, d Document, path string) {
	a.resources(p)
	a.runtimeClass(p, d, path)
	a.priority(p, d, path)
}

// resources applies, in the server's order: requests default to limits, then the LimitRanges of the
// namespace fill in what is still open.
func (a *admission) resources(p *corev1.Pod) {
	each := func(do func(r *corev1.ResourceRequirements)) {
		for i := range p.Spec.InitContainers {
			do(&p.Spec.InitContainers[i].Resources)
		}
		for i := range p.Spec.Containers {
			do(&p.Spec.Containers[i].Resources)
		}
	}
	each(func(r *corev1.ResourceRequirements) { fill(&r.Requests, r.Limits) })
	if r := p.Spec.Resources; r != nil {
		// A resource that containers request is summed up from them instead.
		limits := maps.Clone(r.Limits)
		each(func(c *corev1.ResourceRequirements) {
			for name := range c.Requests {
				delete(limits, name)
			}
		})
		fill(&r.Requests, limits)
	}
	for _, lr := range a.limitRanges[p.Namespace] {
		for _, item := range lr.Spec.Limits {
			if item.Type != corev1.LimitTypeContainer {
				continue
			}
			limits, requests := containerDefaults(item)
			each(func(r *corev1.ResourceRequirements) {
				fill(&r.Limits, limits)
				fill(&r.Requests, requests)
			})
		}
	}
}

// containerDefaults completes a LimitRange's defaults as the API server does when it stores one: max gives
// the limit, then limit and min give the request.
func containerDefaults(item corev1.LimitRangeItem) (limits, requests corev1.ResourceList) {
	limits, requests = maps.Clone(item.Default), maps.Clone(item.DefaultRequest)
	fill(&limits, item.Max)
	fill(&requests, limits)
	fill(&requests, item.Min)
	return limits, requests
}

// fill copies the amounts that into does not have.
func fill(into *corev1.ResourceList, from corev1.ResourceList) {
	for name, q := range from {
		if _, ok := (*into)[name]; ok {
			continue
		}
		if *into == nil {
			*into = corev1.ResourceList{}
		}
		(*into)[name] = q.DeepCopy()
	}
}

func (a *admission) runtimeClass(p *corev1.Pod, d Document, path string) {
	if p.Spec.RuntimeClassName == nil || *p.Spec.RuntimeClassName == "" {
		return
	}
	path += ".runtimeClassName"
	rc, ok := a.runtimeClasses[*p.Spec.RuntimeClassName]
	if !ok {
		a.report(d, Warning, path, fmt.Sprintf("RuntimeClass %q is not in the input; its overhead and node selector are missing", *p.Spec.RuntimeClassName), "add the RuntimeClass")
		return
	}
	if rc.Overhead != nil && p.Spec.Overhead == nil {
		p.Spec.Overhead = maps.Clone(rc.Overhead.PodFixed)
	}
	if rc.Scheduling == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(rc.Scheduling.NodeSelector)) {
		value := rc.Scheduling.NodeSelector[key]
		if own, ok := p.Spec.NodeSelector[key]; ok && own != value {
			a.report(d, Warning, path, fmt.Sprintf("RuntimeClass %q wants %s=%s, the pod's own node selector %s=%s; the pod's is used", rc.Name, key, value, key, own), "make them agree; the API server refuses such a pod")
			continue
		}
		if p.Spec.NodeSelector == nil {
			p.Spec.NodeSelector = map[string]string{}
		}
		p.Spec.NodeSelector[key] = value
	}
	for _, t := range rc.Scheduling.Tolerations {
		tolerate(&p.Spec, t)
	}
}

// tolerate adds a toleration unless the same one is there.
func tolerate(spec *corev1.PodSpec, t corev1.Toleration) {
	for i := range spec.Tolerations {
		if spec.Tolerations[i].MatchToleration(&t) {
			return
		}
	}
	spec.Tolerations = append(spec.Tolerations, t)
}

// Priorities of the classes that every cluster has.
const (
	nodeCritical    = 2_000_001_000
	clusterCritical = 2_000_000_000
)

func (a *admission) priority(p *corev1.Pod, d Document, path string) {
	if p.Spec.Priority != nil {
		return
	}
	var value int32
	name := p.Spec.PriorityClassName
	class, ok := a.priorities[name]
	if name == "" && a.byDefault != nil {
		class, ok = a.byDefault, true
		p.Spec.PriorityClassName = class.Name
	}
	switch {
	case ok:
		value = class.Value
		if p.Spec.PreemptionPolicy == nil && class.PreemptionPolicy != nil {
			policy := *class.PreemptionPolicy
			p.Spec.PreemptionPolicy = &policy
		}
	case name == "system-node-critical":
		value = nodeCritical
	case name == "system-cluster-critical":
		value = clusterCritical
	case name != "":
		a.report(d, Warning, path+".priorityClassName", fmt.Sprintf("PriorityClass %q is not in the input; the priority counts as 0", name), "add the PriorityClass")
	}
	p.Spec.Priority = &value
}
