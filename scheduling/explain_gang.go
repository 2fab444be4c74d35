package scheduling

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/scheduling/internal/board"
)

// maxInTheWay is how many pods in the way a reason names.
const maxInTheWay = 8

// explainGang tells how far the gang of a class got.
func (f *finisher) explainGang(id int32) Reason {
	for i := range f.c.gangs {
		g := &f.c.gangs[i]
		if !slices.Contains(g.classes, id) {
			continue
		}
		pods := 0
		for _, class := range g.classes {
			pods += len(f.c.classes[class].pods)
		}
		r := Reason{Code: CodeGang, Detail: fmt.Sprintf("gang %s needs %d of its %d waiting pods placed at once", clip(g.name, 100), g.need, pods)}
		var why string
		if r.InTheWay, why = f.firstRefused(g); why != "" {
			r.Detail += "; " + why
		}
		return r
	}
	return Reason{Code: CodeGang}
}

// firstRefused names pods of the gang that fit nowhere even alone, and says why the first does not.
func (f *finisher) firstRefused(g *gang) (names []string, why string) {
	for _, class := range g.classes {
		if f.c.someRowHolds(class) || f.c.someNodeHolds(class) || len(names) == maxInTheWay {
			continue
		}
		cl := &f.c.classes[class]
		if names = append(names, f.c.podName(cl.pods[0])); why == "" {
			var r Reason
			switch k := &f.c.constraints[cl.constraint]; {
			case cl.refused != nil:
				r = *cl.refused
			case k.fault != "":
				r = Reason{Code: CodeInvalid, Detail: k.fault}
			default:
				r = f.c.nearest(cl, k)
			}
			why = names[0] + ": " + r.what()
		}
	}
	slices.Sort(names)
	return names, why
}

// inTheWay names the pods in the domain that the class must not be with, or that must not be with it.
func (x *company) inTheWay(at blocked) []string {
	m, b := &x.f.c.model, x.f.o.board
	owns, in := contains32(m.Classes[x.id].Owns, at.group), contains32(m.Classes[x.id].In, at.group)
	key := m.Groups[at.group].Key
	var names firstNames
	all, old := b.Nodes()
	for i := range all {
		if key != board.Host && b.Domain(i, key) != at.domain {
			continue
		}
		for _, it := range b.Items(i) {
			cl := &m.Classes[it.Class]
			if it.Count > 0 && (owns && contains32(cl.In, at.group) || in && contains32(cl.Owns, at.group)) {
				x.f.namesOn(i, old, it.Class, &names)
			}
		}
	}
	return names
}

// firstNames are the first few names in their order.
type firstNames []string

func (l *firstNames) add(name string) {
	at, known := slices.BinarySearch(*l, name)
	if known || at == maxInTheWay {
		return
	}
	*l = slices.Insert((*l)[:min(len(*l), maxInTheWay-1)], at, name)
}

// namesOn names the pods of a class on a node of the board.
func (f *finisher) namesOn(i, old int, class int32, names *firstNames) {
	placed, at := f.onNode, i
	if i < old {
		for k, p := range f.c.nodes[i].node.Pods {
			if f.c.nodes[i].classes[k] == class {
				names.add(podName(p))
			}
		}
	} else {
		placed, at = f.onRun, int(f.o.runOf[i])
	}
	if int(class) >= len(f.c.classes) {
		return
	}
	if f.classOf == nil {
		f.classOf = make([]int32, f.c.p.PodCount())
		for id := range f.c.classes {
			for _, p := range f.c.classes[id].pods {
				f.classOf[p] = int32(id)
			}
		}
	}
	for _, p := range placed[at] {
		if f.classOf[p] == class {
			names.add(f.c.podName(p))
		}
	}
}
