package scheduling

import ("testing";"os";"fmt";"github.com/fleetwright/fleetwright/scheduling/internal/board";"github.com/fleetwright/fleetwright/scheduling/internal/pack")

func TestZZI(t *testing.T) {
	f, err := os.Open("/tmp/zz.json")
	if err != nil { t.Skip() }
	p, err := ReadProblem(f)
	if err != nil { t.Fatal(err) }
	c := newCompiler(p, &Options{})
	if err := c.compile(); err != nil { t.Fatal(err) }
	for id := range c.classes {
		if len(c.classes[id].pods) > 0 && c.podName(c.classes[id].pods[0]) == os.Getenv("ZZPOD") {
			fmt.Println(c.keyNames, "keys", c.model.Classes[id].Owns, c.model.Classes[id].In, c.model.Classes[id].Soft)
			for _, g := range append(c.model.Classes[id].Owns, c.model.Classes[id].In...) { fmt.Println(g, c.groups[g].String(), c.model.Groups[g].Rows != nil, c.model.Groups[g].Opens, c.model.Groups[g].Eligible) }
		}
	}
}

func TestZZB(t *testing.T) {
	f, err := os.Open("/tmp/zz.json")
	if err != nil { t.Skip() }
	p, err := ReadProblem(f)
	if err != nil { t.Fatal(err) }
	c := newCompiler(p, &Options{})
	if err := c.compile(); err != nil { t.Fatal(err) }
	sv := newSolve(c, &pack.Budget{})
	d := newDivider(c, sv.start)
	for id := range c.classes {
		fmt.Println(id, c.podName(c.classes[id].pods[0]), "keys", c.model.KeysOf(int32(id)), c.model.Classes[id])
		for v := range c.variantsOf(int32(id)) {
			vr := c.variantOf(int32(id), int32(v))
			fmt.Println("  variant", v, vr.Mask, vr.Alts, d.cellsOf(int32(id), vr))
		}
	}
	for g := range c.groups { fmt.Println("group", g, c.groups[g].String(), c.model.Groups[g]) }
	b := board.New(&c.model)
	for _, order := range [][]int32{{0,1},{1,0}} {
		m := b.Mark()
		for _, id := range order {
			w := []board.Want{{Class: id, Variant: int32(len(c.variantsOf(id))-1), Count: 1}}
			fmt.Println("place", id, b.Place(id, w[0].Variant, 1))
			fmt.Println("buy", id, b.Buy(w))
		}
		n, _ := b.Nodes(); for i := 1; i < n; i++ { r, bits, _ := b.Node(i); fmt.Println(i, r, bits, b.Items(i)) }
		b.Rollback(m)
	}
}

func TestZZC(t *testing.T) {
	f, err := os.Open("/tmp/zz.json")
	if err != nil { t.Skip() }
	p, err := ReadProblem(f)
	if err != nil { t.Fatal(err) }
	c := newCompiler(p, &Options{})
	if err := c.compile(); err != nil { t.Fatal(err) }
	sv := newSolve(c, &pack.Budget{})
	o := sv.run(sv.todo(nil), false)
	fmt.Println("run left", o.left)
	o2 := sv.failedFirst(o)
	fmt.Println("failedFirst left", o2.left)
	for _, any := range []bool{false, true} {
			s := &quest{sv: sv, b: board.New(&sv.c.model), div: o.div, anyOrder: any, seen: map[string]bool{}}
			b := s.run(o)
			fmt.Println(any, s.steps, s.bestLeft, b != nil)
			if s.best != nil { n, _ := s.best.Nodes(); for i := range n { r, bits, _ := s.best.Node(i); fmt.Println(i, r, bits, s.best.Items(i)) }
			 s.best.Joins(func(n,c,v,k int32) { fmt.Println("join", n, c, v, k) }) }
	}
}

func TestZZD(t *testing.T) {
	f, err := os.Open("/tmp/zz.json")
	if err != nil { t.Skip() }
	p, err := ReadProblem(f)
	if err != nil { t.Fatal(err) }
	c := newCompiler(p, &Options{})
	if err := c.compile(); err != nil { t.Fatal(err) }
	sv := newSolve(c, &pack.Budget{})
	o := sv.run(sv.todo(nil), false)
	s := &quest{sv: sv, b: board.New(&sv.c.model), div: o.div, anyOrder: true, seen: map[string]bool{}, goal: o, left: []int32{1,1}, classes: []int32{1,0}}
	s.places(0, 0, func(node int32) {
		r, bits, _ := s.b.Node(int(node)); fmt.Println("0 on", node, r, bits)
		for v := range int32(2) {
			m := s.b.Mark()
			fmt.Println(" join", v, s.b.Join(1, v, node, 1))
			s.b.Rollback(m)
		}
	})
}

func TestZZE(t *testing.T) {
	f, err := os.Open("/tmp/zz.json")
	if err != nil { t.Skip() }
	p, err := ReadProblem(f)
	if err != nil { t.Fatal(err) }
	c := newCompiler(p, &Options{Preferences: PreferencesIgnore})
	if err := c.compile(); err != nil { t.Fatal(err) }
	sv := newSolve(c, &pack.Budget{})
	o := sv.run(sv.todo(nil), false)
	fmt.Println("run left", o.left, sv.hopeful(o), c.space.Limits != nil)
	for g := range c.groups { fmt.Println("group", g, c.groups[g].String(), c.model.Groups[g]) }
	o = sv.failedFirst(o)
	fmt.Println("ff left", o.left, sv.hopeful(o))
	sv.shut(o)
	fmt.Println("shut left", o.left, sv.hopeful(o))
}

func TestZZF(t *testing.T) {
	f, err := os.Open("/tmp/zz.json")
	if err != nil { t.Skip() }
	p, err := ReadProblem(f)
	if err != nil { t.Fatal(err) }
	for _, pref := range []PreferencePolicy{PreferencesIgnore, PreferencesRespect} {
	c := newCompiler(p, &Options{Preferences: pref})
	if err := c.compile(); err != nil { t.Fatal(err) }
	sv := newSolve(c, &pack.Budget{})
	fmt.Println(c.gangs, c.space.Limits, c.space.Reserved)
	show := func(s string, o *outcome) { fmt.Println(s, o.name, o.left, o.excluded); for g := range c.gangs { fmt.Println("  torn", g, sv.torn(g, o), c.gangs[g].placed(o.left, c)) } }
	o := sv.run(sv.todo(nil), false); show("run", o)
	o = sv.improve(o); show("improve", o)
	o = sv.gangs(o); show("gangs", o)
	o = sv.improve(o); show("improve", o)
	o = sv.gangs(o); show("gangs", o)
	}
}
