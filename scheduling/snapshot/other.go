package snapshot

import (
	"maps"
	"slices"
	"strings"
)

// other puts a document of a kind not read here aside, and says so if the plan misses something by it.
func (l *Loader) other(d Document) {
	group, _, cut := strings.Cut(d.APIVersion, "/")
	if !cut {
		group = ""
	}
	want, known := readKinds[d.Kind]
	_, ours := groups[group]
	switch {
	case known && d.APIVersion != want && (ours || group == "extensions"):
		l.findings = append(l.findings, d.Report(Error, "apiVersion", clip(d.APIVersion)+" is not read for this kind", "use "+want))
		return
	case d.Kind == "CronJob" && group == "batch":
		l.findings = append(l.findings, d.Report(Warning, "", "cron jobs are not expanded; only the jobs they have made count", "add a Job to plan for one run"))
		return
	case ours && closest(d.Kind) != "":
		l.findings = append(l.findings, d.Report(Error, "kind", "unknown kind "+clip(d.Kind), "did you mean "+closest(d.Kind)+"?"))
		return
	}
	// Whoever reads it later has no budget to keep.
	if !d.root.within(l.decoder.left) {
		l.findings = append(l.findings, d.Report(Error, "", tooLarge, tooLargeRemedy))
		return
	}
	d.decoder = nil
	l.rest = append(l.rest, d)
}

// readKinds are the kinds read here, with their versions.
var readKinds = map[string]string{
	"Pod": "v1", "Node": "v1", "Namespace": "v1", "Service": "v1", "LimitRange": "v1",
	"PersistentVolumeClaim": "v1", "PersistentVolume": "v1", "PodTemplate": "v1",
	"DaemonSet": "apps/v1", "Deployment": "apps/v1", "StatefulSet": "apps/v1", "ReplicaSet": "apps/v1",
	"ReplicationController": "v1", "PodGroup": "scheduling.k8s.io/v1alpha2",
	"Job": "batch/v1", "StorageClass": "storage.k8s.io/v1", "CSINode": "storage.k8s.io/v1",
	"PodDisruptionBudget": "policy/v1", "PriorityClass": "scheduling.k8s.io/v1", "RuntimeClass": "node.k8s.io/v1",
	"CapacityBuffer": "autoscaling.x-k8s.io/v1beta1",
}

// groups are the API groups of those kinds.
var groups = map[string]struct{}{
	"": {}, "apps": {}, "batch": {}, "storage.k8s.io": {}, "policy": {}, "scheduling.k8s.io": {}, "node.k8s.io": {},
	"autoscaling.x-k8s.io": {},
}

// closest returns the kind that a misspelt one is likely to be, "" if none is near.
func closest(kind string) string {
	if len(kind) < 3 {
		return ""
	}
	best, least := "", 3
	for _, known := range slices.Sorted(maps.Keys(readKinds)) {
		if d := distance(strings.ToLower(known), strings.ToLower(kind), least); d < least {
			best, least = known, d
		}
	}
	return best
}
