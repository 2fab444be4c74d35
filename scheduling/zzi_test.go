package scheduling

import ("testing";"os";"fmt")

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
