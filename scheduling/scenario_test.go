package scheduling_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/golden"
	"github.com/fleetwright/fleetwright/internal/scenario"
	"github.com/fleetwright/fleetwright/scheduling"
)

// TestScenarios solves every file of testdata/solve and compares the rendered plan with the text
// below its dashes. Run with -update to write what the solver does now; commit that only if you
// can explain each change.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/solve/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenario files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(text, []byte("# ")) {
				t.Error("a scenario opens with a paragraph on what it shows and why the answer is right")
			}
			s, err := scenario.Parse(string(text))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			d, got := solveScenario(t, s)
			golden.Check(t, file, s.Format(got))

			// The order of a problem's slices carries no meaning.
			reverse(s.Problem)
			turned, _ := solveScenario(t, s)
			if a, b := marshal(t, d), marshal(t, turned); !bytes.Equal(a, b) {
				t.Errorf("the same problem with its slices reversed gives another plan:\n%s\nand\n%s", a, b)
			}
		})
	}
}

// solveScenario also lets Verify look at the plan: the rendering does not show everything.
func solveScenario(t *testing.T, s *scenario.Scenario) (*scheduling.Document, string) {
	t.Helper()
	plan, err := scheduling.Solve(t.Context(), s.Problem, s.Options)
	if err != nil {
		return nil, "error: " + err.Error() + "\n"
	}
	if err := scheduling.Verify(s.Problem, plan); err != nil {
		t.Errorf("Verify: %v", err)
	}
	d := plan.Document()
	return d, s.Render(d)
}

func reverse(p *scheduling.Problem) {
	slices.Reverse(p.Pods)
	slices.Reverse(p.Pools)
	slices.Reverse(p.Nodes)
	slices.Reverse(p.DaemonSets)
	slices.Reverse(p.Demands)
	slices.Reverse(p.Gangs)
	slices.Reverse(p.Commitments)
	slices.Reverse(p.DefaultSpread.Constraints)
	slices.Reverse(p.DefaultSpread.Services)
	slices.Reverse(p.DefaultSpread.Owners)
	slices.Reverse(p.Storage.Claims)
	slices.Reverse(p.Storage.Volumes)
	slices.Reverse(p.Storage.Classes)
	slices.Reverse(p.Storage.CSINodes)
	for i := range p.Pools {
		p.Pools[i].InstanceTypes = slices.Clone(p.Pools[i].InstanceTypes)
		slices.Reverse(p.Pools[i].InstanceTypes)
		slices.Reverse(p.Pools[i].Requirements)
	}
	for i := range p.Nodes {
		slices.Reverse(p.Nodes[i].Pods)
	}
}

func marshal(t *testing.T, d *scheduling.Document) []byte {
	t.Helper()
	b, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return b
}
