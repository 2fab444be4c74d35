package scheduling

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
)

// Groups compiles the problem and returns how many groups of constraints it has.
func Groups(p *Problem) (int, error) {
	c := newCompiler(p, &Options{})
	err := c.compile()
	return len(c.model.Groups), err
}

// State describes all of a snapshot that questions could leave changed.
func State(s *Snapshot) string {
	b := s.board
	all, _ := b.Nodes()
	fields := reflect.ValueOf(b).Elem()
	led, tally := fields.FieldByName("led"), fields.FieldByName("tally")
	out := fmt.Sprintln(all, b.Mark(), b.Lax, s.stale, led.FieldByName("left"), led.FieldByName("nodes"),
		led.FieldByName("reserved"), led.FieldByName("shut"), tally)
	for i := range all {
		row, allowed, open := b.Node(i)
		items := slices.DeleteFunc(slices.Clone(b.Items(i)), func(it board.Item) bool { return it.Count == 0 })
		out += fmt.Sprintln(i, row, allowed, open, items, b.Free(i), b.Closed(int32(i)))
		for g := range s.c.model.Groups {
			if n := b.HostIn(i, int32(g)); n > 0 {
				out += fmt.Sprintln(" group", g, n)
			}
		}
	}
	return out
}
