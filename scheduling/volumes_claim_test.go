package scheduling

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Shorthands: claims, volumes and classes with what a test is about.

func testClaim(name, class, volume string, change ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	c.Spec.VolumeName = volume
	if class != "-" {
		c.Spec.StorageClassName = &class
	}
	if volume != "" {
		c.Annotations = map[string]string{bindCompletedAnnotation: "yes"}
		c.Status.Phase = corev1.ClaimBound
	}
	for _, f := range change {
		f(c)
	}
	return c
}

// testVolume is an EBS volume whose affinity has a term of each text: "key=a,b & key2=c".
func testVolume(name string, terms ...string) *corev1.PersistentVolume {
	o := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	o.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driverEBS, VolumeHandle: "vol-" + name}
	if len(terms) == 0 {
		return o
	}
	o.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}}
	for _, text := range terms {
		var t corev1.NodeSelectorTerm
		for part := range strings.SplitSeq(text, " & ") {
			key, values, ok := strings.Cut(part, "=")
			if !ok {
				continue
			}
			e := corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: strings.Split(values, ",")}
			if key == nodeNameKey {
				t.MatchFields = append(t.MatchFields, e)
			} else {
				t.MatchExpressions = append(t.MatchExpressions, e)
			}
		}
		o.Spec.NodeAffinity.Required.NodeSelectorTerms = append(o.Spec.NodeAffinity.Required.NodeSelectorTerms, t)
	}
	return o
}

// testClass waits for pods unless its name begins with "now".
func testClass(name string, topologies ...string) *storagev1.StorageClass {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	if strings.HasPrefix(name, "now") {
		mode = storagev1.VolumeBindingImmediate
	}
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: driverEBS, VolumeBindingMode: &mode}
	for _, text := range topologies {
		var t corev1.TopologySelectorTerm
		for part := range strings.SplitSeq(text, " & ") {
			if key, values, ok := strings.Cut(part, "="); ok {
				t.MatchLabelExpressions = append(t.MatchLabelExpressions, corev1.TopologySelectorLabelRequirement{Key: key, Values: strings.Split(values, ",")})
			}
		}
		c.AllowedTopologies = append(c.AllowedTopologies, t)
	}
	return c
}

func asDefault(c *storagev1.StorageClass, age time.Duration) *storagev1.StorageClass {
	c.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
	c.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(-age))
	return c
}

// volumePod mounts claims; "name:class" is a generic ephemeral volume, "name:" one of the default class.
func volumePod(name string, claims ...string) *corev1.Pod {
	p := testPod("default", name, nil)
	for i, claim := range claims {
		source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}
		volume := fmt.Sprintf("v%d", i)
		if short, class, ok := strings.Cut(claim, ":"); ok {
			t := &corev1.PersistentVolumeClaimTemplate{}
			if class != "" {
				t.Spec.StorageClassName = &class
			}
			volume, source = short, corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: t}}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: volume, VolumeSource: source})
	}
	return p
}

// termsText prints alternatives in one line.
func termsText(terms [][]Requirement) string {
	var out []string
	for _, t := range terms {
		var parts []string
		for _, r := range t {
			parts = append(parts, strings.Replace(r.String(), "topology.kubernetes.io/", "", 1))
		}
		out = append(out, strings.Join(parts, " & "))
	}
	return strings.Join(out, " | ")
}

const hostname = corev1.LabelHostname

func TestVolumeConditions(t *testing.T) {
	local := func(o *corev1.PersistentVolume) *corev1.PersistentVolume {
		o.Spec.CSI, o.Spec.Local = nil, &corev1.LocalVolumeSource{Path: "/data"}
		return o
	}
	labelled := func(o *corev1.PersistentVolume, pairs ...string) *corev1.PersistentVolume {
		o.Labels = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			o.Labels[pairs[i]] = pairs[i+1]
		}
		return o
	}
	deleted := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	static := testClass("static")
	static.Provisioner = noProvisioner
	free := func(o *corev1.PersistentVolume, size string) *corev1.PersistentVolume {
		o.Spec.StorageClassName, o.Spec.Capacity = "static", list("storage", size)
		o.Status.Phase = corev1.VolumeAvailable
		return o
	}
	sized := func(c *corev1.PersistentVolumeClaim) { c.Spec.Resources.Requests = list("storage", "10Gi") }
	type objects = []any
	for _, tc := range []struct {
		name, reason string
		objects      objects
		pod          *corev1.Pod
		terms, fault string
	}{
		{"no claims", "most pods", objects{testClass("gp3")}, volumePod("web"), "", ""},
		{"bound", "the node affinity of the volume", objects{testClaim("a", "gp3", "x"), testVolume("x", zone+"=a")}, volumePod("web", "a"), "zone In [a]", ""},
		{"bound anywhere", "a volume without affinity", objects{testClaim("a", "gp3", "x"), testVolume("x")}, volumePod("web", "a"), "", ""},
		{"bound without a class", "only unbound claims need one", objects{testClaim("a", "", "x"), testVolume("x", zone+"=a")}, volumePod("web", "a"), "zone In [a]", ""},
		{"bound with a missing class", "likewise", objects{testClaim("a", "gone", "x"), testVolume("x", zone+"=a")}, volumePod("web", "a"), "zone In [a]", ""},
		{"alternatives of one label", "terms are alternatives, and these two are one list of values",
			objects{testClaim("a", "", "x"), testVolume("x", zone+"=b", zone+"=a,b")}, volumePod("web", "a"), "zone In [a b]", ""},
		{"alternatives", "of several labels", objects{testClaim("a", "", "x"), testVolume("x", zone+"=b & rack=1", "rack=2")}, volumePod("web", "a"), "rack In [1] & zone In [b] | rack In [2]", ""},
		{"empty term", "matches no node", objects{testClaim("a", "", "x"), testVolume("x", "", zone+"=a")}, volumePod("web", "a"), "zone In [a]", ""},
		{"no terms", "a selector without terms matches no node", objects{testClaim("a", "", "x"), testVolume("x", "")}, volumePod("web", "a"), "",
			"claim default/a is bound to volume x, whose node affinity no node can meet; correct spec.nodeAffinity"},
		{"field", "the name of a node", objects{testClaim("a", "", "x"), testVolume("x", "metadata.name=n1")}, volumePod("web", "a"), "metadata.name In [n1]", ""},
		{"old spelling", "nodes carry the new one", objects{testClaim("a", "", "x"), testVolume("x", corev1.LabelFailureDomainBetaZone+"=a")}, volumePod("web", "a"), "zone In [a]", ""},
		{"driver's spelling", "nodes that do not exist yet have only the common one", objects{testClaim("a", "", "x"), testVolume("x", "topology.ebs.csi.aws.com/zone=a")}, volumePod("web", "a"), "zone In [a]", ""},
		{"local", "a pod that moves leaves its local data behind", objects{testClaim("a", "", "x"), local(testVolume("x", hostname+"=n1"))}, volumePod("web", "a"), "", ""},
		{"local with a zone", "what else is asked still counts", objects{testClaim("a", "", "x"), local(testVolume("x", hostname+"=n1 & "+zone+"=a"))}, volumePod("web", "a"), "zone In [a]", ""},
		{"host of another kind", "such a volume is where it is", objects{testClaim("a", "", "x"), testVolume("x", hostname+"=gone")}, volumePod("web", "a"), "kubernetes.io/hostname In [gone]", ""},
		{"zone labels", "in-tree volumes carry labels instead; a node without such labels passes", objects{testClaim("a", "", "x"), labelled(testVolume("x"), zone, "a__b")}, volumePod("web", "a"),
			"region DoesNotExist & zone DoesNotExist | zone In [a b]", ""},
		{"zone labels and affinity", "both must hold", objects{testClaim("a", "", "x"), labelled(testVolume("x", zone+"=a"), corev1.LabelFailureDomainBetaZone, "a")}, volumePod("web", "a"), "zone In [a]", ""},
		{"unreadable labels", "kube-scheduler ignores them", objects{testClaim("a", "", "x"), labelled(testVolume("x"), zone, "a__")}, volumePod("web", "a"), "", ""},

		{"unbound", "the volume is made where the pod lands", objects{testClaim("a", "gp3", ""), testClass("gp3")}, volumePod("web", "a"), "", ""},
		{"unbound with topologies", "entries are alternatives", objects{testClaim("a", "gp3", ""), testClass("gp3", zone+"=a", zone+"=c")}, volumePod("web", "a"), "zone In [a c]", ""},
		{"empty topology", "matches nothing, unlike no topologies", objects{testClaim("a", "gp3", ""), testClass("gp3", "")}, volumePod("web", "a"), "",
			"claim default/a is not bound, and no node can have a volume of its storage class gp3; correct allowedTopologies"},
		{"class by annotation", "the old way counts before the field", objects{testClaim("a", "other", "", func(c *corev1.PersistentVolumeClaim) {
			c.Annotations = map[string]string{corev1.BetaStorageClassAnnotation: "gp3"}
		}), testClass("gp3", zone+"=a"), testClass("other")}, volumePod("web", "a"), "zone In [a]", ""},
		{"default class", "the newest default counts", objects{testClaim("a", "-", ""), asDefault(testClass("old", zone+"=a"), time.Hour), asDefault(testClass("young", zone+"=b"), time.Minute)},
			volumePod("web", "a"), "zone In [b]", ""},
		{"two defaults of one age", "the first by name", objects{testClaim("a", "-", ""), asDefault(testClass("b", zone+"=b"), 0), asDefault(testClass("a", zone+"=a"), 0)}, volumePod("web", "a"), "zone In [a]", ""},
		{"no default class", "nobody will make the volume", objects{testClaim("a", "-", ""), testClass("gp3")}, volumePod("web", "a"), "",
			"claim default/a is not bound and names no storage class, and there is no default one; name a class"},
		{"no class wanted", "an empty name is not the default", objects{testClaim("a", "", ""), asDefault(testClass("gp3"), 0)}, volumePod("web", "a"), "",
			"claim default/a is not bound and wants no storage class; bind it to a volume, or name a class"},
		{"missing class", "nobody will make the volume", objects{testClaim("a", "gp4", ""), testClass("gp3")}, volumePod("web", "a"), "",
			"claim default/a names storage class gp4, which is missing; create the class"},
		{"immediate", "the volume's zone is chosen without the pod", objects{testClaim("a", "now", ""), testClass("now")}, volumePod("web", "a"), "",
			"claim default/a is not bound, and its storage class now does not wait for pods; wait until it is bound, or use volumeBindingMode WaitForFirstConsumer"},
		{"selected node", "kube-scheduler chose before", objects{testClaim("a", "gp3", "", func(c *corev1.PersistentVolumeClaim) {
			c.Annotations = map[string]string{selectedNodeAnnotation: "n1"}
		}), testClass("gp3", zone+"=a")}, volumePod("web", "a"), "metadata.name In [n1] & zone In [a]", ""},
		{"selected node gone", "it will choose again", objects{testClaim("a", "gp3", "", func(c *corev1.PersistentVolumeClaim) {
			c.Annotations = map[string]string{selectedNodeAnnotation: "gone"}
		}), testClass("gp3")}, volumePod("web", "a"), "", ""},
		{"static class", "only where a free volume is", objects{testClaim("a", "static", "", sized), static, free(local(testVolume("x", hostname+"=n1")), "20Gi"),
			free(local(testVolume("small", hostname+"=n2")), "5Gi")}, volumePod("web", "a"), "kubernetes.io/hostname In [n1]", ""},
		{"static class without volumes", "nobody makes one", objects{testClaim("a", "static", "", sized), static, free(testVolume("small"), "5Gi")}, volumePod("web", "a"), "",
			"claim default/a is not bound, its storage class static makes no volumes, and no free one suits it; add a volume"},

		{"missing claim", "kube-scheduler waits for it", objects{testClass("gp3")}, volumePod("web", "a"), "", "claim default/a is missing; create it"},
		{"claim of another namespace", "claims are namespaced", objects{testClaim("a", "gp3", "", func(c *corev1.PersistentVolumeClaim) { c.Namespace = "other" }), testClass("gp3")}, volumePod("web", "a"), "",
			"claim default/a is missing; create it"},
		{"deleted claim", "the volume goes with it", objects{testClaim("a", "", "x", func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &deleted }), testVolume("x")}, volumePod("web", "a"), "",
			"claim default/a is being deleted; wait until it is gone and create it anew"},
		{"lost claim", "its volume is gone", objects{testClaim("a", "", "x", func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimLost })}, volumePod("web", "a"), "",
			"claim default/a has lost its volume; restore the volume or create the claim anew"},
		{"missing volume", "nothing to mount", objects{testClaim("a", "", "x")}, volumePod("web", "a"), "",
			"claim default/a is bound to volume x, which is missing; restore the volume or create the claim anew"},
		{"deleted volume", "soon nothing to mount", objects{testClaim("a", "", "x"), func() any { o := testVolume("x"); o.DeletionTimestamp = &deleted; return o }()}, volumePod("web", "a"), "",
			"claim default/a is bound to volume x, which is being deleted; create the claim anew"},
		{"half bound", "kube-scheduler waits for the controller", objects{testClaim("a", "", "x", func(c *corev1.PersistentVolumeClaim) { c.Annotations, c.Status.Phase = nil, "" }), testVolume("x")}, volumePod("web", "a"), "",
			"claim default/a is not bound to volume x yet; wait until it is"},

		{"bound by its phase", "a dump without annotations", objects{testClaim("a", "", "x", func(c *corev1.PersistentVolumeClaim) { c.Annotations = nil }), testVolume("x", zone+"=a")}, volumePod("web", "a"), "zone In [a]", ""},

		{"ephemeral, not made yet", "the template's class", objects{testClass("gp3", zone+"=a")}, volumePod("web", "tmp:gp3"), "zone In [a]", ""},
		{"ephemeral of the default class", "as for any claim", objects{asDefault(testClass("gp3", zone+"=b"), 0)}, volumePod("web", "tmp:"), "zone In [b]", ""},
		{"ephemeral of a missing class", "as for any claim", objects{testClass("gp3")}, volumePod("web", "tmp:gp4"), "", "claim default/web-tmp names storage class gp4, which is missing; create the class"},
		{"ephemeral, made", "its claim is called after pod and volume", objects{testClass("gp3"), testVolume("x", zone+"=c"), testClaim("web-tmp", "gp3", "x", func(c *corev1.PersistentVolumeClaim) {
			c.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(volumePod("web"), corev1.SchemeGroupVersion.WithKind("Pod"))}
		})}, volumePod("web", "tmp:gp3"), "zone In [c]", ""},
		{"ephemeral, somebody else's", "kube-scheduler refuses it", objects{testClass("gp3"), testVolume("x", zone+"=c"), testClaim("web-tmp", "gp3", "x")}, volumePod("web", "tmp:gp3"), "",
			"claim default/web-tmp is not the pod's own, as the claim of an ephemeral volume must be; delete it or rename the volume"},

		{"two volumes", "both must be reached", objects{testClaim("a", "", "x"), testVolume("x", zone+"=a,b"), testClaim("b", "", "y"), testVolume("y", zone+"=b,c")}, volumePod("web", "a", "b"), "zone In [b]", ""},
		{"two zones", "nowhere", objects{testClaim("a", "", "x"), testVolume("x", zone+"=a"), testClaim("b", "", "y"), testVolume("y", zone+"=b")}, volumePod("web", "b", "a"), "",
			"claims default/a and default/b are in different zones ([a] and [b]); move one of the volumes"},
		{"contradiction of several labels", "the alternatives are named", objects{testClaim("a", "", "x"), testVolume("x", zone+"=a & rack=1", "rack=2"), testClaim("b", "", "y"), testVolume("y", "rack=3")}, volumePod("web", "a", "b"), "",
			"claims default/a and default/b are on no node together (rack [1] and topology.kubernetes.io/zone [a] or rack [2] and rack [3]); move one of the volumes"},
		{"contradiction of three", "any two go together", objects{testClaim("a", "", "x"), testVolume("x", zone+"=a,b"), testClaim("b", "", "y"), testVolume("y", zone+"=b,c"), testClaim("c", "", "z"), testVolume("z", zone+"=a,c")}, volumePod("web", "a", "b", "c"), "",
			"claims default/a, default/b, default/c are on no node together; move some of the volumes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &Problem{Pods: []*corev1.Pod{tc.pod}, Nodes: []Node{{Name: "n1", Labels: map[string]string{hostname: "n1"}}}}
			addStorage(&p.Storage, tc.objects)
			slices.Reverse(tc.objects)
			q := &Problem{Pods: p.Pods, Nodes: p.Nodes}
			addStorage(&q.Storage, tc.objects)
			got, again := newVolumes(p).of(tc.pod), newVolumes(q).of(tc.pod)
			if termsText(got.terms) != tc.terms || got.fault != tc.fault || (got.code == CodeVolume) != (tc.fault != "") {
				t.Errorf("terms %q, fault %q, code %q; want terms %q, fault %q: %s", termsText(got.terms), got.fault, got.code, tc.terms, tc.fault, tc.reason)
			}
			if termsText(got.terms) != termsText(again.terms) || got.fault != again.fault {
				t.Errorf("with the objects in another order: %q, %q", termsText(again.terms), again.fault)
			}
			if tc.terms == "" && got.terms != nil {
				t.Error("terms are not nil")
			}
		})
	}
}

func addStorage(s *Storage, objects []any) {
	for _, o := range objects {
		switch o := o.(type) {
		case *corev1.PersistentVolumeClaim:
			s.Claims = append(s.Claims, o)
		case *corev1.PersistentVolume:
			s.Volumes = append(s.Volumes, o)
		case *storagev1.StorageClass:
			s.Classes = append(s.Classes, o)
		case *storagev1.CSINode:
			s.CSINodes = append(s.CSINodes, o)
		}
	}
}

// Where the storage is not all there, what is missing proves nothing, but what is there still counts.
func TestVolumesUnknown(t *testing.T) {
	unbound := testClaim("a", "gp3", "")
	for _, tc := range []struct {
		name, reason string
		storage      Storage
		pod          *corev1.Pod
		terms, fault string
	}{
		{"no storage at all", "nobody said anything of it", Storage{}, volumePod("web", "a", "tmp:gp3"), "", ""},
		{"claim", "may exist", Storage{Incomplete: true, Classes: []*storagev1.StorageClass{testClass("gp3")}}, volumePod("web", "a"), "", ""},
		{"volume", "may exist", Storage{Incomplete: true, Claims: []*corev1.PersistentVolumeClaim{testClaim("a", "", "x")}}, volumePod("web", "a"), "", ""},
		{"class", "may exist", Storage{Incomplete: true, Claims: []*corev1.PersistentVolumeClaim{unbound}}, volumePod("web", "a"), "", ""},
		{"default class", "may exist", Storage{Incomplete: true, Claims: []*corev1.PersistentVolumeClaim{testClaim("a", "-", "")}}, volumePod("web", "a"), "", ""},
		{"one of two", "the other still binds", Storage{Incomplete: true, Claims: []*corev1.PersistentVolumeClaim{testClaim("b", "", "x")}, Volumes: []*corev1.PersistentVolume{testVolume("x", zone+"=a")}},
			volumePod("web", "a", "b"), "zone In [a]", ""},
		{"immediate", "the class is there and says so", Storage{Incomplete: true, Claims: []*corev1.PersistentVolumeClaim{testClaim("a", "now", "")}, Classes: []*storagev1.StorageClass{testClass("now")}}, volumePod("web", "a"), "",
			"claim default/a is not bound, and its storage class now does not wait for pods; wait until it is bound, or use volumeBindingMode WaitForFirstConsumer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := newVolumes(&Problem{Pods: []*corev1.Pod{tc.pod}, Storage: tc.storage}).of(tc.pod)
			if termsText(got.terms) != tc.terms || got.fault != tc.fault {
				t.Errorf("terms %q, fault %q; want %q, %q: %s", termsText(got.terms), got.fault, tc.terms, tc.fault, tc.reason)
			}
		})
	}
}
