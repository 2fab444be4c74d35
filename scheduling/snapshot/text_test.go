package snapshot

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestScalars holds what Kubernetes' own reading of YAML makes of a value, as JSON.
func TestScalars(t *testing.T) {
	for _, tt := range []struct{ text, want, reason string }{
		{"yes", "true", "YAML 1.1"}, {"Off", "false", "YAML 1.1"}, {"y", "true", "YAML 1.1"}, {"NO", "false", "YAML 1.1"},
		{"yEs", `"yEs"`, "only three spellings are booleans"}, {`"yes"`, `"yes"`, "quoted"}, {"!!str yes", `"yes"`, "tagged"},
		{"true", "true", "a boolean"}, {"~", "null", "null"}, {"", "null", "null"},
		{"12", "12", "kept"}, {"1.50", "1.50", "kept"}, {"-1e3", "-1e3", "kept"},
		{"0x1F", "31", "hexadecimal"}, {"0777", "511", "octal"}, {"0o17", "15", "octal of YAML 1.2"}, {"1_000", "1000", "underscores"}, {"+5", "5", "JSON has no plus"}, {".5", "0.5", "JSON wants a digit"},
		{"2026-01-02", `"2026-01-02"`, "dates are strings"}, {"1:30", `"1:30"`, "no sexagesimals"}, {"1.2.3", `"1.2.3"`, "a version"},
		{"[a, {b: c}]", `["a",{"b":"c"}]`, "flow style"}, {"{1: a, yes: b, ~: c}", `{"1":"a","true":"b","":"c"}`, "keys become strings"},
	} {
		root, err := parseYAML(chunk{[]byte("v: " + tt.text), 1})
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got := string(Document{root: root.items[0]}.JSON()); got != tt.want {
			t.Errorf("%s is %s, want %s: %s", tt.text, got, tt.want, tt.reason)
		}
	}
	for _, text := range []string{".inf", "-.Inf", ".nan", "&a [*a]", "{[a]: b}", "{a: 1, a: 2}", "{<<: 3}", "{<<: [[{a: b}]]}"} {
		if _, err := parseYAML(chunk{[]byte("v: " + text), 1}); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}

func TestMergeKeys(t *testing.T) {
	const text = `
a: &a {x: 1, y1: 1}
b: &b {x: 2, z: 2}
one: {<<: *a, x: 3}
two: {<<: [*a, *b], w: 4}
`
	root, err := parseYAML(chunk{[]byte(text), 1})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"one": `{"x":3,"y1":1}`,
		"two": `{"w":4,"x":1,"y1":1,"z":2}`,
	} {
		if got := string(Document{root: root.get(key)}.JSON()); got != want {
			t.Errorf("%s is %s, want %s: own keys win, then the earlier map", key, got, want)
		}
	}
}

// TestAliasesAreBounded: a few lines must not become gigabytes.
func TestAliasesAreBounded(t *testing.T) {
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 12 {
		a, b := string(rune('a'+i)), string(rune('b'+i))
		bomb += b + "0: &" + b + "0 [" + strings.Repeat("*"+a+"0,", 10) + "]\n"
	}
	lists := "apiVersion: v1\nkind: List\nitems:\n- &a0 {apiVersion: v1, kind: List, items: []}\n"
	for i := range 12 {
		a, b := string(rune('a'+i)), string(rune('b'+i))
		lists += "- &" + b + "0 {apiVersion: v1, kind: List, items: [" + strings.Repeat("*"+a+"0,", 10) + "]}\n"
	}
	merges := "base: &b {"
	for i := range 1000 {
		merges += fmt.Sprintf("k%d: 1, ", i)
	}
	merges += "}\nmany: [" + strings.Repeat("{<<: *b}, ", 1000) + "]\n"
	for _, tt := range []struct{ name, text string }{
		{"in a known kind", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n" + bomb + "spec: {containers: [{name: c, args: *m0}]}\n"},
		{"in a custom value", "apiVersion: v1\nkind: Pod\nmetadata: {name: p, creationTimestamp: *m0}\n"},
		{"in another kind", bomb + "apiVersion: example.com/v1\nkind: Bomb\n"},
		{"lists of lists", lists},
		{"merge keys", "apiVersion: example.com/v1\nkind: Bomb\n" + merges},
	} {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			r := load(t, tt.text)
			if r.Err() == nil || len(r.Rest) > 0 {
				t.Errorf("findings %s, %d documents left: want it refused", texts(r.Findings), len(r.Rest))
			}
			if len(r.Findings) > 100 {
				t.Errorf("%d findings", len(r.Findings))
			}
			if d := time.Since(start); d > 5*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

func TestMalformedJSON(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"missing comma", "{\"a\": 1\n \"b\": 2}", "line 2: malformed JSON: invalid character '\"' after object key:value pair"},
		{"cut off", "{\"a\": [1,\n 2", "line 2: malformed JSON: the text ends within a value"},
		{"trailing comma is YAML", "{\"a\": 1,}", "apiVersion or kind is missing"},
		{"key twice", "{\"a\": 1,\n\"a\": 2}", "line 2: key \"a\" is set twice"},
		{"second value broken", "{\"apiVersion\": \"v1\"}\n{\"a\" 2}", "line 2: malformed JSON"},
		{"deep", strings.Repeat(`{"a":`, 5000), "nested too deeply"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := texts(load(t, tt.text).Findings); !strings.Contains(got, tt.want) {
				t.Errorf("findings %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	root, err := parseYAML(chunk{[]byte("spec:\n  containers:\n  - name: a\n  - resources:\n      requests:\n        nvidia.com/gpu: 1\n        cpu: 2\n"), 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path string
		line int
	}{
		{"", 1}, {"spec", 1}, {"spec.containers", 2}, {"spec.containers[0].name", 3}, {"spec.containers[1]", 4},
		{`spec.containers[1].resources.requests["nvidia.com/gpu"]`, 6}, {"spec.containers[1].resources.requests.cpu", 7},
		{"spec.containers[1].resources.limits.cpu", 4}, {"spec.containers[7].name", 2}, {"metadata.name", 1}, {"spec[", 1}, {`spec["x`, 1}, {"spec.containers.name", 2},
	} {
		if got := root.lineOf(tt.path); got != tt.line {
			t.Errorf("%q is in line %d, want %d", tt.path, got, tt.line)
		}
	}
}
