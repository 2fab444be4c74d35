package scenario

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// pod builds the pod that a line describes. Its selectors of other pods choose by its own label app.
func pod(name string, f *fields) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: f.str("namespace", "default"), Labels: map[string]string{"app": name},
	}}
	maps.Copy(p.Labels, f.pairs("labels"))
	app := p.Labels["app"]
	if owner := f.str("daemonset", ""); owner != "" {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "DaemonSet", Name: owner, Controller: &yes}}
	}
	main := corev1.Container{Name: "main", Resources: corev1.ResourceRequirements{Requests: f.amounts()}}
	main.Ports = ports(f)
	p.Spec.Containers = []corev1.Container{main}
	if r := f.resources("init"); r != nil {
		p.Spec.InitContainers = append(p.Spec.InitContainers,
			corev1.Container{Name: "init", Resources: corev1.ResourceRequirements{Requests: r}})
	}
	if r := f.resources("sidecar"); r != nil {
		always := corev1.ContainerRestartPolicyAlways
		p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{
			Name: "sidecar", RestartPolicy: &always, Resources: corev1.ResourceRequirements{Requests: r}})
	}
	p.Spec.Overhead = f.resources("overhead")
	if r := f.resources("level"); r != nil {
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: r}
	}
	p.Spec.NodeSelector = f.pairs("selector")
	p.Spec.Tolerations = tolerations(f)
	p.Spec.Affinity = affinity(f, app)
	p.Spec.TopologySpreadConstraints = spread(f, app)
	return p
}

func ports(f *fields) (out []corev1.ContainerPort) {
	for _, item := range f.list("port") {
		number, protocol, _ := strings.Cut(item, "/")
		n, err := strconv.ParseInt(number, 10, 32)
		if err != nil {
			f.fail("port", fmt.Sprintf("%q is not a port", item))
		}
		out = append(out, corev1.ContainerPort{
			ContainerPort: int32(n), HostPort: int32(n), Protocol: corev1.Protocol(protocol)})
	}
	return out
}

func tolerations(f *fields) (out []corev1.Toleration) {
	for _, item := range f.list("tolerations") {
		if item == "*" {
			out = append(out, corev1.Toleration{Operator: corev1.TolerationOpExists})
			continue
		}
		kv, effect, _ := strings.Cut(item, ":")
		k, v, equal := strings.Cut(kv, "=")
		t := corev1.Toleration{Key: k, Value: v, Effect: corev1.TaintEffect(effect), Operator: corev1.TolerationOpExists}
		if equal {
			t.Operator = corev1.TolerationOpEqual
		}
		out = append(out, t)
	}
	return out
}

func affinity(f *fields, app string) *corev1.Affinity {
	var a corev1.Affinity
	some := false
	var node corev1.NodeAffinity
	for _, term := range split(f.str("affinity", ""), "|") {
		if node.RequiredDuringSchedulingIgnoredDuringExecution == nil {
			node.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
		}
		r := node.RequiredDuringSchedulingIgnoredDuringExecution
		r.NodeSelectorTerms = append(r.NodeSelectorTerms, nodeTerm(f.parseRequirements("affinity", term)))
		a.NodeAffinity, some = &node, true
	}
	for _, item := range split(f.str("prefer", ""), "|") {
		weight, term, _ := strings.Cut(item, " ")
		n, err := strconv.ParseInt(weight, 10, 32)
		if err != nil {
			f.fail("prefer", fmt.Sprintf("%q does not start with a weight", item))
		}
		node.PreferredDuringSchedulingIgnoredDuringExecution = append(node.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: int32(n), Preference: nodeTerm(f.parseRequirements("prefer", term))})
		a.NodeAffinity, some = &node, true
	}
	podTerms := func(key string) (out []corev1.PodAffinityTerm) {
		for _, topology := range f.list(key) {
			out = append(out, corev1.PodAffinityTerm{TopologyKey: labelKey(topology), LabelSelector: sameApp(app)})
		}
		return out
	}
	if terms := podTerms("antiaffinity"); terms != nil {
		a.PodAntiAffinity, some = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}, true
	}
	if terms := podTerms("together"); terms != nil {
		a.PodAffinity, some = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}, true
	}
	if !some {
		return nil
	}
	return &a
}

func nodeTerm(rs []scheduling.Requirement) (t corev1.NodeSelectorTerm) {
	for _, r := range rs {
		t.MatchExpressions = append(t.MatchExpressions,
			corev1.NodeSelectorRequirement{Key: r.Key, Operator: r.Operator, Values: r.Values})
	}
	return t
}

func sameApp(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

// spread reads zone:1 (hard) and zone:1:soft.
func spread(f *fields, app string) (out []corev1.TopologySpreadConstraint) {
	for _, item := range f.list("spread") {
		parts := strings.Split(item, ":")
		when := corev1.DoNotSchedule
		if len(parts) == 3 && parts[2] == "soft" {
			when, parts = corev1.ScheduleAnyway, parts[:2]
		}
		var skew int64
		var err error
		if len(parts) == 2 {
			skew, err = strconv.ParseInt(parts[1], 10, 32)
		}
		if len(parts) != 2 || err != nil {
			f.fail("spread", fmt.Sprintf("%q is not key:skew or key:skew:soft", item))
			continue
		}
		out = append(out, corev1.TopologySpreadConstraint{
			MaxSkew: int32(skew), TopologyKey: labelKey(parts[0]), WhenUnsatisfiable: when, LabelSelector: sameApp(app)})
	}
	return out
}
