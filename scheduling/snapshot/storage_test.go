package snapshot

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMissingStorage(t *testing.T) {
	const (
		class    = "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: other}\nprovisioner: ebs.csi.aws.com\n"
		volume   = "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: other}\nspec: {}\n"
		running  = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: r}\nspec: {nodeName: n1, containers: [{name: c}], volumes: [{name: d, persistentVolumeClaim: {claimName: gone}}]}\n"
		claiming = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}\n"
		template = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}], volumes: [{name: d, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: gp3, accessModes: [ReadWriteOnce]}}}}]}\n"
	)
	claim := func(spec string) string {
		return "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {" + spec + "}\n"
	}
	for _, tt := range []struct{ name, reason, text, want string }{
		{"no claims", "nobody asked for any", claiming, "pods use volume claims (default/data), and the input has none"},
		{"another claim", "claims were asked for, and this one is not there", claiming + strings.Replace(claim(""), "name: data", "name: other", 1), ""},
		{"no volumes", "nobody asked for any", claiming + claim("volumeName: pv-1"), "volume claims are bound to volumes (pv-1), and the input has none"},
		{"another volume", "this one is not there", claiming + claim("volumeName: pv-1") + volume, ""},
		{"no classes", "nobody asked for any", claiming + claim("storageClassName: gp3"), "storage classes (gp3), and the input has none"},
		{"no default class", "nobody asked for any", claiming + claim(""), "storage classes (the default), and the input has none"},
		{"another class", "this one is not there", claiming + claim("storageClassName: gp3") + class, ""},
		{"no class wanted", "an empty name is none", claiming + claim(`storageClassName: ""`), ""},
		{"ephemeral volume", "made by a class too", template, "storage classes (gp3), and the input has none"},
		{"running pods", "are where they are", running + nodeN1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := load(t, tt.text)
			got := texts(r.Findings)
			if r.Problem.Storage.Incomplete != (tt.want != "") || (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("incomplete %v, findings %q; want %q: %s", r.Problem.Storage.Incomplete, got, tt.want, tt.reason)
			}
		})
	}
}

func TestClaimsAreBound(t *testing.T) {
	mine := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mine"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "v"}}
	seen := mine.DeepCopy()
	seen.Name, seen.UID = "seen", "u"
	open := mine.DeepCopy()
	open.Name, open.Spec.VolumeName = "open", ""
	var l Loader
	l.Add(Objects{PersistentVolumeClaims: []*corev1.PersistentVolumeClaim{mine, seen, open}})
	for _, c := range l.Result().Problem.Storage.Claims {
		want := c.Name == "mine"
		if got := metav1.HasAnnotation(c.ObjectMeta, bindCompletedAnnotation); got != want {
			t.Errorf("claim %s is bound: %v, want %v: only a claim that no server has seen is taken at its word", c.Name, got, want)
		}
	}
	if len(mine.Annotations) > 0 {
		t.Error("the caller's claim was written")
	}
}
