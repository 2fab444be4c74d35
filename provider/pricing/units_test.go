package pricing_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Money per hour, money per month, percentages and counts do not take each other's place.
func TestUnitMixUpsDoNotCompile(t *testing.T) {
	const file = "testdata/units/units.go"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(line, "// want error") {
			want = append(want, fmt.Sprint(i+1))
		}
	}
	out, err := exec.Command("go", "build", "-gcflags=-e", "-o", os.DevNull, "./testdata/units").CombinedOutput()
	if err == nil || len(want) < 10 {
		t.Fatalf("it compiles, though %d lines should not", len(want))
	}
	var got []string
	for _, m := range regexp.MustCompile(`units\.go:(\d+):`).FindAllStringSubmatch(string(out), -1) {
		got = append(got, m[1])
	}
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("lines %v do not compile, want %v:\n%s", got, want, out)
	}
}
