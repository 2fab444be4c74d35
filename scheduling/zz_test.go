package scheduling_test

import (
	"encoding/json"
	"github.com/fleetwright/fleetwright/internal/randproblem"
	"fmt"
	"os"
	"strings"
	"testing"

	. "github.com/fleetwright/fleetwright/scheduling"
)

func TestZZ(t *testing.T) {
	raw, err := os.ReadFile("/tmp/zz.json")
	if err != nil {
		t.Skip()
	}
	p, err := ReadProblem(strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Solve(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range plan.Launches {
		s := plan.Shapes[l.Shape]
		fmt.Printf("shape %d choice %v price %v alts %v labels %v pods", l.Shape, s.Choice, s.Price, s.Alternatives, s.CustomLabels)
		for _, i := range l.Pods {
			fmt.Print(" ", p.PodName(i))
		}
		fmt.Println()
	}
	for _, pl := range plan.Placements {
		fmt.Println("placed", p.PodName(pl.Pod), p.Nodes[pl.Node].Name)
	}
	for _, u := range plan.Unplaced {
		fmt.Println("left", p.PodName(u.Pod), plan.Reasons[u.Reason].Code)
	}
	for _, u := range plan.BindOrder {
		fmt.Print(p.PodName(u), " ")
	}
	fmt.Println(Verify(p, plan))
}

func TestZZSeed(t *testing.T) {
	p := randproblem.New(613, randproblem.TinyConstrained())
	b, _ := json.Marshal(p)
	os.WriteFile("/tmp/zz.json", b, 0o644)
}
