package workload

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// builder gathers the pods of a file.
type builder struct {
	faults
	limit int
	// seen holds the line of every pod's name.
	seen map[string]int
	out  Workload
	// count is the number of pods so far; demands, if set, gathers them in place of out.Pods.
	count   int
	demands *demands
}

// expand appends count pods that look like template. One pod that has no owner bears the name
// itself; replicas are numbered.
func (b *builder) expand(template *corev1.Pod, name string, count int, numbered bool) {
	if left := b.limit - b.count; count > left {
		b.add("", fmt.Sprintf("makes more than %d pods of the file", b.limit), "split the file or lower the number of replicas")
		return
	}
	if b.demands != nil {
		b.demands.expand(b, template, name, count, numbered)
		return
	}
	pods := make([]corev1.Pod, count)
	for i := range pods {
		p := &pods[i]
		*p = *template
		p.Name = name
		if numbered {
			p.Name = replicaName(name, i)
		}
		if line, dup := b.seen[p.Name]; dup {
			b.twice(p.Name, line)
			return
		}
		b.seen[p.Name] = b.line
		b.out.Pods = append(b.out.Pods, p)
		b.count++
	}
}

// replicaName is name-00000 for the first replica.
func replicaName(name string, i int) string {
	buf := make([]byte, 0, len(name)+8)
	buf = append(buf, name...)
	buf = append(buf, '-')
	for pad := 10000; pad > 1 && i < pad; pad /= 10 {
		buf = append(buf, '0')
	}
	return string(strconv.AppendInt(buf, int64(i), 10))
}

// newPod returns a pod with one container. Extended resources are limited to what is requested, as
// Kubernetes demands; so is everything if guaranteed.
func newPod(namespace string, labels map[string]string, requests corev1.ResourceList, guaranteed bool) *corev1.Pod {
	limits := corev1.ResourceList{}
	for name, q := range requests {
		if guaranteed || !slices.Contains([]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}, name) {
			limits[name] = q
		}
	}
	if len(limits) == 0 {
		limits = nil
	}
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Labels: labels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name:      "main",
			Image:     "registry.example.com/main:1",
			Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits},
		}}},
	}
}

// owners returns the reference to the controller that would own a group's pods: a Deployment's are owned
// by its ReplicaSet, a single Pod's by nobody.
func owners(owner, name string) []metav1.OwnerReference {
	ref := metav1.OwnerReference{APIVersion: "apps/v1", Kind: owner, Name: name, Controller: new(true)}
	switch owner {
	case "Deployment":
		ref.Kind = "ReplicaSet"
	case "Job":
		ref.APIVersion = "batch/v1"
	case "Pod":
		return nil
	}
	return []metav1.OwnerReference{ref}
}

// requireNode returns a required node affinity with one term of all the expressions.
func requireNode(expressions []corev1.NodeSelectorRequirement) *corev1.NodeAffinity {
	if len(expressions) == 0 {
		return nil
	}
	return &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: expressions}},
	}}
}

// affinity returns nil if there is none of the three.
func affinity(node *corev1.NodeAffinity, with *corev1.PodAffinity, against *corev1.PodAntiAffinity) *corev1.Affinity {
	if node == nil && with == nil && against == nil {
		return nil
	}
	return &corev1.Affinity{NodeAffinity: node, PodAffinity: with, PodAntiAffinity: against}
}

func spreadOver(key string, maxSkew int32, selector map[string]string) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{
		MaxSkew: maxSkew, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: maps.Clone(selector)},
	}
}

func affinityTerm(key string, selector map[string]string) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: maps.Clone(selector)}}
}

func millis(n int64) resource.Quantity { return *resource.NewMilliQuantity(n, resource.DecimalSI) }

func mebibytes(n int64) resource.Quantity { return *resource.NewQuantity(n<<20, resource.BinarySI) }
