package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/scheduling"
)

func (b *builder) daemonSet(o []string, f *fields) {
	b.s.Problem.DaemonSets = append(b.s.Problem.DaemonSets, pod(o[0], f))
}

// number reads the count of a line's objects.
func (f *fields) number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 100_000 {
		f.fail("count", fmt.Sprintf("%q is not a number from 1 to 100000", s))
	}
	return n
}

// many calls do with the name and number of each object of a line. One alone is called as the line says; numbers are
// padded, so that the order of names is that of numbers.
func (f *fields) many(count, name string, do func(name, number string)) {
	n := f.number(count)
	if n == 1 {
		do(name, "1")
		return
	}
	for i := range n {
		number := fmt.Sprintf("%0*d", len(count), i+1)
		do(name+"-"+number, number)
	}
}

func (b *builder) pods(o []string, f *fields) {
	on := f.str("node", "")
	at := slices.IndexFunc(b.s.Problem.Nodes, func(node scheduling.Node) bool { return node.Name == on })
	if on != "" && at < 0 {
		f.fail("node", fmt.Sprintf("%q is not a node of a line above", on))
		return
	}
	template := pod(o[1], f)
	f.many(o[0], o[1], func(name, number string) {
		p := template.DeepCopy()
		p.Name = name
		numbered(p, number)
		if on == "" {
			b.s.Problem.Pods = append(b.s.Problem.Pods, p)
			return
		}
		p.Spec.NodeName = on
		b.s.Problem.Nodes[at].Pods = append(b.s.Problem.Nodes[at].Pods, p)
	})
}

func (b *builder) demand(o []string, f *fields, buffer bool) {
	b.s.Problem.Demands = append(b.s.Problem.Demands, scheduling.Demand{
		Template: pod(o[1], f), Count: int32(f.number(o[0])), Names: f.list("names"), Buffer: buffer})
}

func (b *builder) gang(o []string, f *fields) {
	b.s.Problem.Gangs = append(b.s.Problem.Gangs, scheduling.Gang{
		Namespace: f.str("namespace", "default"), Name: o[0], MinCount: int32(f.integer("min", 0)), Basic: f.flag("basic")})
}

func (b *builder) commitment(o []string, f *fields) {
	b.s.Problem.Commitments = append(b.s.Problem.Commitments, scheduling.Commitment{
		Name: o[0], Instances: int32(f.integer("instances", 0)), PerHour: f.price("perhour")})
}

func (b *builder) gangLabel(o []string, _ *fields) {
	b.s.Problem.GangLabels = append(b.s.Problem.GangLabels, o[0])
}

func (b *builder) namespace(o []string, f *fields) {
	if b.s.Problem.Namespaces == nil {
		b.s.Problem.Namespaces = map[string]map[string]string{}
	}
	b.s.Problem.Namespaces[o[0]] = f.pairs("labels")
}

func (b *builder) defaults(_ []string, f *fields) {
	b.s.Problem.DefaultSpread.Constraints = spread(f, "")
}

func (b *builder) service(o []string, f *fields) {
	b.s.Problem.DefaultSpread.Services = append(b.s.Problem.DefaultSpread.Services, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: o[0], Namespace: f.str("namespace", "default")},
		Spec:       corev1.ServiceSpec{Selector: f.pairs("selects")}})
}

func (b *builder) owner(o []string, f *fields) {
	kind, name, _ := strings.Cut(o[0], "/")
	b.s.Problem.DefaultSpread.Owners = append(b.s.Problem.DefaultSpread.Owners, scheduling.Owner{
		Kind: kind, Name: name, Namespace: f.str("namespace", "default"), Selector: f.selector("selects", f.str("selects", "all"))})
}

func (b *builder) class(o []string, f *fields) {
	b.s.Problem.Storage.Classes = append(b.s.Problem.Storage.Classes, storageClass(o[0], f))
}

func (b *builder) volume(o []string, f *fields) {
	b.s.Problem.Storage.Volumes = append(b.s.Problem.Storage.Volumes, volume(o[0], f))
}

func (b *builder) claims(o []string, f *fields) {
	template := claim(o[1], f)
	f.many(o[0], o[1], func(name, number string) {
		c := template.DeepCopy()
		c.Name, c.Spec.VolumeName = name, strings.ReplaceAll(c.Spec.VolumeName, "*", number)
		b.s.Problem.Storage.Claims = append(b.s.Problem.Storage.Claims, c)
	})
}

// preferences reads ignore, respect or cap:0.10.
func preferences(f *fields) (p scheduling.PreferencePolicy, most scheduling.Price, ok bool) {
	s := f.str("preferences", "")
	name, limit, _ := strings.Cut(s, ":")
	switch name {
	case "":
		return p, most, false
	case "respect":
	case "ignore":
		p = scheduling.PreferencesIgnore
	case "cap":
		p = scheduling.PreferencesCap
		var err error
		if most, err = scheduling.ParsePrice(limit); err != nil {
			f.fail("preferences", err.Error())
		}
	default:
		f.fail("preferences", fmt.Sprintf("%q is not ignore, respect or cap:PRICE", s))
	}
	return p, most, true
}

func (b *builder) solve(f *fields) {
	o := &scheduling.Options{
		Steps: f.integer("steps", 0), MaxAlternatives: int(f.integer("maxalternatives", 0)), Pools: f.list("pools"),
	}
	choose := func(key, value string) bool {
		got := f.str(key, "")
		if got != "" && got != value {
			f.fail(key, fmt.Sprintf("%q is not %s", got, value))
		}
		return got == value
	}
	o.Preferences, o.PreferenceCap, _ = preferences(f)
	if choose("minvalues", "best-effort") {
		o.MinValues = scheduling.MinValuesBestEffort
	}
	if choose("limits", "one") {
		o.Limits = scheduling.LimitOneFallback
	}
	if choose("reserved", "strict") {
		o.Reserved = scheduling.ReservedStrict
	}
	for _, name := range f.list("first") {
		o.First = append(o.First, "default/"+name)
	}
	b.s.showOrder = choose("show", "order")
	b.s.Options = o
}
