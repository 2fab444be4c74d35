package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

// looks counts pods by what they look like, names aside.
func looks(t *testing.T, out map[string]int, p *corev1.Pod, n int) {
	t.Helper()
	nameless := *p
	nameless.Name = ""
	b, err := json.Marshal(&nameless)
	if err != nil {
		t.Fatal(err)
	}
	out[string(b)] += n
}

// TestDemandsAreThePods reads files both ways.
func TestDemandsAreThePods(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Read(bytes.NewReader(text), file)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ReadDemands(bytes.NewReader(text), file)
		if err != nil {
			t.Fatal(err)
		}
		pods, demands := map[string]int{}, map[string]int{}
		for _, p := range a.Pods {
			looks(t, pods, p, 1)
		}
		for _, d := range b.Demands {
			looks(t, demands, d.Template, int(d.Count))
			if len(d.Names) > int(d.Count) {
				t.Errorf("%s: %d names for %d pods", file, len(d.Names), d.Count)
			}
		}
		if d := cmp.Diff(pods, demands); d != "" || len(b.Pods) > 0 || len(a.Demands) > 0 {
			t.Errorf("%s: %d pods beside the demands, %d demands beside the pods\n%s", file, len(b.Pods), len(a.Demands), d)
		}
		problem, names := scheduling.Problem{Demands: b.Demands}, map[string]bool{}
		for i := range problem.PodCount() {
			names[problem.PodName(int32(i))] = true
		}
		if len(names) != len(a.Pods) {
			t.Errorf("%s: %d different names for %d pods", file, len(names), len(a.Pods))
		}
		a.Pods, b.Demands = nil, nil
		if d := cmp.Diff(a, b); d != "" {
			t.Errorf("%s: what else is read differs:\n%s", file, d)
		}
	}
}

func TestReadDemands(t *testing.T) {
	const head = "pod,group,count,cpu_milli,memory_mib\n"
	for _, tt := range []struct{ name, reason, rows, want, err string }{
		{"count", "one demand, whatever the number", "web,,4000000,100,64\n", "web*4000000[]", ""},
		{"single pods", "of one shape are one demand, with their own names", "a,g,1,100,64\nb,g,,100,64\nc,g,1,200,64\n", "a*2[a b] c*1[c]", ""},
		{"replicas and single pods", "are kept apart", "a,g,1,100,64\nb,g,2,100,64\n", "a*1[a] b*2[]", ""},
		{"none", "no demand", "a,g,0,100,64\n", "", ""},
		{"single after replicas", "web-1 is taken", "web,,2,100,64\nweb-1,,1,100,64\n", "", `line 3: makes a second pod "web-1", the first is of line 2`},
		{"replicas after single", "the same", "web-1,,1,100,64\nweb,,2,100,64\n", "", `line 3: makes a second pod "web-N", the first is of line 2`},
		{"single beside replicas", "web-2 and web-01 are free", "web-2,,1,100,64\nweb,,2,100,64\nweb-01,,1,100,64\n", "web-2*1[web-2] web*2[] web-01*1[web-01]", ""},
		{"stem twice", "both have a web-0", "web,a,2,100,64\nweb,b,2,100,64\n", "", `line 3: makes a second pod "web-N", the first is of line 2`},
		{"single twice", "as in Read", "web,a,1,100,64\nweb,b,1,100,64\n", "", `line 3: makes a second pod "web", the first is of line 2`},
		{"too many", "in sum", "a,,3000000,100,64\nb,,3000000,100,64\n", "", `line 3: makes more than 5000000 pods of the file`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, err := ReadDemands(strings.NewReader(head+tt.rows), "f.csv")
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %s: %s", err, tt.err, tt.reason)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range w.Demands {
				got = append(got, fmt.Sprintf("%s*%d%s", d.Template.Name, d.Count, d.Names))
			}
			if d := cmp.Diff(tt.want, strings.Join(got, " ")); d != "" {
				t.Errorf("%s\n%s", tt.reason, d)
			}
		})
	}
}
