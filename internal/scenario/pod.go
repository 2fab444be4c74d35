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
	if kind, owner, ok := strings.Cut(f.str("owner", ""), "/"); ok {
		yes, version := true, "apps/v1"
		if kind == "ReplicationController" {
			version = "v1"
		}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: owner, Controller: &yes}}
	}
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
	p.Spec.Volumes = podVolumes(f)
	standing(p, f)
	return p
}

// standing reads what a pod is to others: its priority, its gang, and whether it is on its way out.
func standing(p *corev1.Pod, f *fields) {
	if s := f.str("priority", ""); s != "" {
		n := f.count("priority", s)
		p.Spec.Priority = &n
	}
	if gang := f.str("gang", ""); gang != "" {
		p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &gang}
	}
	for _, name := range f.list("devices") {
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, corev1.PodResourceClaim{Name: name, ResourceClaimName: &name})
	}
	p.DeletionTimestamp = deleting(f)
	if f.flag("finished") {
		p.Status.Phase = corev1.PodSucceeded
	}
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
	if terms := nodeTerms(f, "affinity"); terms != nil {
		node.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: terms}
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
	if required, preferred := podTerms(f, "apart", app); required != nil || preferred != nil {
		a.PodAntiAffinity, some = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required,
			PreferredDuringSchedulingIgnoredDuringExecution: preferred}, true
	}
	if required, preferred := podTerms(f, "together", app); required != nil || preferred != nil {
		a.PodAffinity, some = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required,
			PreferredDuringSchedulingIgnoredDuringExecution: preferred}, true
	}
	if !some {
		return nil
	}
	return &a
}

// nodeTerms reads terms with | between them, in place of which any of them will do.
func nodeTerms(f *fields, key string) (out []corev1.NodeSelectorTerm) {
	for _, term := range split(f.str(key, ""), "|") {
		out = append(out, nodeTerm(f.parseRequirements(key, term)))
	}
	return out
}

func nodeTerm(rs []scheduling.Requirement) (t corev1.NodeSelectorTerm) {
	for _, r := range rs {
		e := corev1.NodeSelectorRequirement{Key: r.Key, Operator: r.Operator, Values: r.Values}
		if r.Key == nodeName {
			t.MatchFields = append(t.MatchFields, e)
		} else {
			t.MatchExpressions = append(t.MatchExpressions, e)
		}
	}
	return t
}
