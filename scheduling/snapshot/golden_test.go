package snapshot

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/golden"
)

// TestBadInput reads a file with every fault there is; what is said about them is for a person to judge.
func TestBadInput(t *testing.T) {
	var l Loader
	if err := l.ReadFS(os.DirFS("testdata"), "bad.yaml"); err != nil {
		t.Fatal(err)
	}
	r := l.Result()
	var b strings.Builder
	fmt.Fprintf(&b, "pods: %s\n\n%s", names(r.Problem.Pods), texts(r.Findings))
	golden.Check(t, "testdata/bad.txt", b.String())
}
