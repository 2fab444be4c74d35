package scheduling

import (
	"fmt"
	"os"
	"testing"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
	"github.com/fleetwright/fleetwright/scheduling/internal/pack"
)

func Finger(t *testing.T, name string, p *Problem) {
	out, _ := os.Create("/tmp/" + name + ".txt")
	defer out.Close()
	c := newCompiler(p, &Options{MinValues: MinValuesBestEffort, Reserved: ReservedStrict, Preferences: PreferencesIgnore})
	if err := c.compile(); err != nil { t.Fatal(err) }
	for _, id := range c.order {
		fmt.Fprintf(out, "class %s %q refused %v\n", c.podNames(id), c.classes[id].key, c.classes[id].refused != nil)
	}
	for i := range c.rows { fmt.Fprintln(out, "row", c.rows[i].t.Name, c.p.Pools[c.rows[i].pool].Name, c.rows[i].prices) }
	for i := range c.nodes { fmt.Fprintln(out, "node", c.nodes[i].node.Name, c.nodes[i].free, c.space.Nodes[i].Domain) }
	fmt.Fprintln(out, c.keyNames, c.domainNames, c.dims, c.reservations)
	sv := newSolve(c, &pack.Budget{})
	d := newDivider(c, sv.start)
	for _, id := range c.order {
		if !c.places(id) { continue }
		fmt.Fprintln(out, "turn", c.podNames(id), c.turn[id], c.depth[id], c.model.KeysOf(id), len(c.model.Classes[id].Owns), len(c.model.Classes[id].In), d.cellsOf(id, c.lastVariant(id)))
	}
	a := sv.attempt([][]*pending{sv.todo(nil)}, pack.Guided(&c.space, sv.rules, sv.budget), "x")
	show := func() {
	for i := range a.result.Runs {
		r := &a.result.Runs[i]
		fmt.Fprint(out, "run ", r.Row, r.Bits, r.Mult, r.Used)
		for _, x := range r.Content { for _, s := range a.jobs[x.Job].shares { fmt.Fprint(out, " ", c.podNames(s.pd.class), s.count, "x", x.Count) } }
		fmt.Fprintln(out)
	}
	for i := range a.result.OnNodes {
		for _, x := range a.result.OnNodes[i] { fmt.Fprint(out, "on ", i); for _, s := range a.jobs[x.Job].shares { fmt.Fprint(out, " ", c.podNames(s.pd.class), s.count, "x", x.Count) }; fmt.Fprintln(out) }
	}
	}
	show()
	a = sv.attempt([][]*pending{sv.todo(nil)}, pack.FirstFit(&c.space, sv.rules, sv.budget), "x")
	show()
	o := sv.run(sv.todo(nil), false)
	o.board.Joins(func(n, cl, v, k int32) { fmt.Fprintln(out, "join", n, c.podNames(cl), v, k) })
	_ = board.Absent
	joins := func(name string, o *outcome) { fmt.Fprintln(out, name, o.name, o.result.Price); o.board.Joins(func(n, cl, v, k int32) { fmt.Fprintln(out, " join", n, c.podNames(cl), v, k) }); for id, n := range o.left { if n > 0 { fmt.Fprint(out, "") ; _ = id } } }
	o = sv.failedFirst(o); joins("failed", o)
	sv.shut(o); joins("shut", o)
	o = sv.gangs(o); joins("gangs", o)
	o = sv.improve(o); joins("improve", o)
}

func (c *compiler) podNames(id int32) string { if len(c.classes[id].pods) == 0 { return "" }; return c.podName(c.classes[id].pods[0]) }

