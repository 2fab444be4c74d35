package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"sigs.k8s.io/yaml"
)

// The embedded cluster is the first thing a newcomer reads, and may copy from. Whatever the loader
// forgives, its objects must be ones that an API server takes: no unknown field, no field twice.
func TestClusterIsStrictKubernetes(t *testing.T) {
	kinds := map[string]func() any{
		"Namespace":           func() any { return new(corev1.Namespace) },
		"Node":                func() any { return new(corev1.Node) },
		"Pod":                 func() any { return new(corev1.Pod) },
		"Service":             func() any { return new(corev1.Service) },
		"LimitRange":          func() any { return new(corev1.LimitRange) },
		"Deployment":          func() any { return new(appsv1.Deployment) },
		"StatefulSet":         func() any { return new(appsv1.StatefulSet) },
		"DaemonSet":           func() any { return new(appsv1.DaemonSet) },
		"Job":                 func() any { return new(batchv1.Job) },
		"PodDisruptionBudget": func() any { return new(policyv1.PodDisruptionBudget) },
		"PriorityClass":       func() any { return new(schedulingv1.PriorityClass) },
	}
	counts, names := map[string]int{}, map[string]bool{}
	for _, doc := range clusterDocuments(t) {
		var head struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
		}
		if err := yaml.Unmarshal(doc.text, &head); err != nil {
			t.Fatalf("%s: %v", doc.place, err)
		}
		if id := head.Kind + " " + head.Metadata.Namespace + "/" + head.Metadata.Name; names[id] {
			t.Errorf("%s: %s is there twice", doc.place, id)
		} else {
			names[id] = true
		}
		counts[head.Kind]++
		if head.Kind == "NodePool" {
			continue // Read strictly by provider/manifest whenever the program runs.
		}
		newObject := kinds[head.Kind]
		if newObject == nil {
			t.Errorf("%s: no type to check kind %q with", doc.place, head.Kind)
			continue
		}
		if err := yaml.UnmarshalStrict(doc.text, newObject()); err != nil {
			t.Errorf("%s: %v", doc.place, err)
		}
	}
	if n := counts["Deployment"] + counts["StatefulSet"] + counts["Job"]; n < 40 {
		t.Errorf("%d workloads; a realistic cluster has at least 40", n)
	}
	for kind := range kinds {
		if counts[kind] == 0 {
			t.Errorf("no %s in the cluster: drop it from this test or show one", kind)
		}
	}
}

type clusterDocument struct {
	place string
	text  []byte
}

// clusterDocuments splits the embedded files at "---" and takes lists apart.
func clusterDocuments(t *testing.T) []clusterDocument {
	t.Helper()
	var docs []clusterDocument
	err := fs.WalkDir(cluster, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(cluster, path)
		if err != nil {
			return err
		}
		if bytes.ContainsAny(text, "\t\r") || !isASCII(text) {
			t.Errorf("%s: tabs, carriage returns or characters beyond ASCII", path)
		}
		for i, part := range strings.Split(string(text), "\n---\n") {
			place := fmt.Sprintf("%s document %d", path, i+1)
			var list struct {
				Kind  string
				Items []any
			}
			if err := yaml.Unmarshal([]byte(part), &list); err != nil {
				t.Fatalf("%s: %v", place, err)
			}
			if list.Kind != "List" {
				docs = append(docs, clusterDocument{place, []byte(part)})
				continue
			}
			for j, item := range list.Items {
				text, err := yaml.Marshal(item)
				if err != nil {
					t.Fatal(err)
				}
				docs = append(docs, clusterDocument{fmt.Sprintf("%s item %d", place, j+1), text})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func isASCII(b []byte) bool {
	return !bytes.ContainsFunc(b, func(r rune) bool { return r > 126 })
}
