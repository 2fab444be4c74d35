package scheduling

import (
	"testing"

	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

func TestCrowded(t *testing.T) {
	itself := func(class int32) ([]int32, []pack.Cap) { return []int32{class}, nil }
	spread := func(most int32, cp pack.Cap, groups int32) func(int32) ([]int32, []pack.Cap) {
		return func(class int32) ([]int32, []pack.Cap) {
			cp.Max, cp.Group = most, class%groups
			return nil, []pack.Cap{cp}
		}
	}
	owner, counted := pack.Cap{In: true, Owns: true}, pack.Cap{In: true}
	for _, tc := range []struct {
		name, reason  string
		classes, pods int32
		rules         func(class int32) ([]int32, []pack.Cap)
		want          bool
	}{
		{"free", "nothing keeps pods apart", 5000, 1000, func(int32) ([]int32, []pack.Cap) { return nil, nil }, false},
		{"one class", "many nodes, but all alike", 1, maxTrials, itself, false},
		{"at the bound", "nodes times classes may be that many", 256, maxTrials / 256, itself, false},
		{"beyond", "one more pod a class is too much", 256, maxTrials/256 + 1, itself, true},
		{"one group", "the pods of all classes of a group need a node each, 512 of them", 512, 1, spread(1, owner, 1), true},
		{"many groups", "each class may go beside the others", 512, 1, spread(1, owner, 512), false},
		{"wide caps", "ten pods a node need a tenth of the nodes", 512, 1, spread(10, owner, 1), false},
		{"counted only", "a cap that nobody states forces no node", 512, 1, spread(1, counted, 1), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ru := &pack.Rules{Excludes: make([][]int32, tc.classes), Caps: make([][]pack.Cap, tc.classes)}
			var todo []*pending
			for id := range tc.classes {
				ru.Excludes[id], ru.Caps[id] = tc.rules(id)
				todo = append(todo, &pending{class: id, left: tc.pods})
			}
			if got := (&solve{rules: ru}).crowded(todo); got != tc.want {
				t.Errorf("crowded: %v, want %v: %s", got, tc.want, tc.reason)
			}
		})
	}
}

// Both packings begin with the same division, and each takes what it placed off its own copy.
func TestOpeningsShareNothing(t *testing.T) {
	first := []jobInfo{{class: 1, shares: []share{{of: 0, count: 3}, {of: 1, count: 4}}}, {class: 2, shares: []share{{of: 2, count: 5}}}}
	second := copyInfos(first)
	second[0].shares[1].count = 0
	second[0].shares = append(second[0].shares, share{of: 9})
	second[1].class = 7
	if first[0].shares[1].count != 4 || len(first[0].shares) != 2 || first[1].class != 2 || second[1].shares[0].count != 5 {
		t.Errorf("a change of the copy shows: %+v and %+v", first, second)
	}
}
