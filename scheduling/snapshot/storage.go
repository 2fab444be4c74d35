package snapshot

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// bindCompletedAnnotation is how the volume controller says that a claim has its volume.
const bindCompletedAnnotation = "pv.kubernetes.io/bind-completed"

// storage collects the volume objects; made are the claims of StatefulSets, which give way to the
// input's own.
func (r *resolver) storage(made []*corev1.PersistentVolumeClaim) scheduling.Storage {
	s := scheduling.Storage{
		Claims:   objects(r.in.claims),
		Volumes:  objects(r.in.volumes),
		Classes:  objects(r.in.storageClasses),
		CSINodes: objects(r.in.csiNodes),
	}
	have := map[string]*corev1.PersistentVolumeClaim{}
	for i, c := range s.Claims {
		s.Claims[i] = controlled(c)
		have[c.Namespace+"/"+c.Name] = s.Claims[i]
	}
	for _, c := range made {
		if have[c.Namespace+"/"+c.Name] == nil {
			s.Claims = append(s.Claims, c)
			have[c.Namespace+"/"+c.Name] = c
		}
	}
	slices.SortFunc(s.Claims, func(a, b *corev1.PersistentVolumeClaim) int {
		return byName(&corev1.Pod{ObjectMeta: a.ObjectMeta}, &corev1.Pod{ObjectMeta: b.ObjectMeta})
	})
	s.Incomplete = r.missingStorage(have)
	return s
}

// controlled does to a claim that no API server has seen what the volume controller would: one that names
// its volume is bound to it.
func controlled(c *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	if c.Spec.VolumeName == "" || c.UID != "" || !c.CreationTimestamp.IsZero() || metav1.HasAnnotation(c.ObjectMeta, bindCompletedAnnotation) {
		return c
	}
	c = c.DeepCopy()
	metav1.SetMetaDataAnnotation(&c.ObjectMeta, bindCompletedAnnotation, "yes")
	return c
}

// missingStorage reports whether pods to be placed depend on objects of a kind of which the input has none at
// all: whoever made it did not ask for them. Where it has some, those that are not there do not exist.
func (r *resolver) missingStorage(claims map[string]*corev1.PersistentVolumeClaim) bool {
	noClaim, noVolume, noClass := map[string]bool{}, map[string]bool{}, map[string]bool{}
	unbound := func(name *string) {
		if len(r.in.storageClasses) == 0 && (name == nil || *name != "") {
			class := "the default"
			if name != nil {
				class = *name
			}
			noClass[class] = true
		}
	}
	pods := slices.Clip(r.pending)
	for _, d := range r.demands {
		pods = append(pods, d.Template)
	}
	for _, p := range pods {
		for _, v := range p.Spec.Volumes {
			switch {
			case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil && claims[p.Namespace+"/"+p.Name+"-"+v.Name] == nil:
				unbound(v.Ephemeral.VolumeClaimTemplate.Spec.StorageClassName)
			case v.PersistentVolumeClaim != nil:
				name := p.Namespace + "/" + v.PersistentVolumeClaim.ClaimName
				c := claims[name]
				switch {
				case c == nil && len(r.in.claims) == 0:
					noClaim[name] = true
				case c != nil && c.Spec.VolumeName == "":
					unbound(c.Spec.StorageClassName)
				case c != nil && len(r.in.volumes) == 0:
					noVolume[c.Spec.VolumeName] = true
				}
			}
		}
	}
	report := func(missing map[string]bool, problem, remedy string) {
		if len(missing) > 0 {
			r.findings = append(r.findings, Finding{Severity: Warning, Problem: fmt.Sprintf(problem, some(slices.Sorted(maps.Keys(missing)))), Remedy: remedy})
		}
	}
	report(noClaim, "pods use volume claims (%s), and the input has none; their zones are not known", "add them (kubectl get pvc,pv,storageclass -A -o yaml)")
	report(noVolume, "volume claims are bound to volumes (%s), and the input has none; their zones are not known", "add them (kubectl get pv -o yaml)")
	report(noClass, "volumes are to be made by storage classes (%s), and the input has none; whether these wait for pods, and where they make volumes, is not known", "add them (kubectl get storageclass -o yaml)")
	return len(noClaim)+len(noVolume)+len(noClass) > 0
}
