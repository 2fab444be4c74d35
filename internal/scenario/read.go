package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/fleetwright/fleetwright/scheduling"
)

// Scenario is one file: a problem, how to solve it, and what is expected.
type Scenario struct {
	// Input is the text above the line of dashes.
	Input string
	// Want is the text below it.
	Want    string
	Problem *scheduling.Problem
	Options *scheduling.Options

	showOrder bool
}

const separator = "----\n"

// Parse reads a scenario. The error names the line.
func Parse(text string) (*Scenario, error) {
	input, want, _ := strings.Cut(text, separator)
	s := &Scenario{Input: input, Want: want, Problem: &scheduling.Problem{}}
	b := &builder{s: s, types: map[string]*scheduling.InstanceType{}}
	n := 0
	for raw := range strings.Lines(input) {
		n++
		line := strings.TrimSpace(raw)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := b.line(line); err != nil {
			return nil, fmt.Errorf("scenario: line %d: %w", n, err)
		}
	}
	if s.Options == nil {
		return nil, fmt.Errorf("scenario: no line says solve; add one before the dashes")
	}
	return s, nil
}

// Format returns the file with another expectation.
func (s *Scenario) Format(got string) string { return s.Input + separator + got }

// fields are the keys of one line; each must be used, so that a misspelt one is noticed.
type fields struct {
	values map[string]string
	errs   []string
}

func (f *fields) fail(key, problem string) {
	f.errs = append(f.errs, fmt.Sprintf("%s: %s", key, problem))
}

func (f *fields) str(key, fallback string) string {
	v, ok := f.values[key]
	if !ok {
		return fallback
	}
	delete(f.values, key)
	return v
}

func (f *fields) flag(key string) bool {
	v, ok := f.values[key]
	delete(f.values, key)
	if ok && v != "" {
		f.fail(key, "takes no value")
	}
	return ok
}

func (f *fields) integer(key string, fallback int64) int64 {
	s := f.str(key, "")
	if s == "" {
		return fallback
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		f.fail(key, fmt.Sprintf("%q is not an integer", s))
	}
	return n
}

// count reads a number that may be missing (-): then it is -1.
func (f *fields) count(key, s string) int32 {
	if s == "-" {
		return -1
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		f.fail(key, fmt.Sprintf("%q is not a number", s))
	}
	return int32(n)
}

func (f *fields) list(key string) []string { return split(f.str(key, ""), ",") }

// split cuts s and trims the parts; an empty string has none.
func split(s, sep string) []string {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	parts := strings.Split(s, sep)
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

func (f *fields) pairs(key string) map[string]string {
	var out map[string]string
	for _, item := range f.list(key) {
		k, v, ok := strings.Cut(item, "=")
		if !ok {
			f.fail(key, fmt.Sprintf("%q lacks =", item))
		}
		if out == nil {
			out = map[string]string{}
		}
		out[labelKey(k)] = v
	}
	return out
}

func (f *fields) resources(key string) corev1.ResourceList {
	var out corev1.ResourceList
	for k, v := range f.pairs(key) {
		f.add(&out, k, v)
	}
	return out
}

func (f *fields) add(list *corev1.ResourceList, name, amount string) {
	q, err := resource.ParseQuantity(amount)
	if err != nil {
		f.fail(name, fmt.Sprintf("%q is not a quantity", amount))
		return
	}
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[corev1.ResourceName(name)] = q
}

// amounts reads the plain keys cpu, memory and so on, and resources= for all others.
func (f *fields) amounts() corev1.ResourceList {
	out := f.resources("resources")
	for _, name := range []string{"cpu", "memory", "ephemeral-storage", "pods"} {
		if v := f.str(name, ""); v != "" {
			f.add(&out, name, v)
		}
	}
	return out
}

func (f *fields) taints(key string) []corev1.Taint {
	var out []corev1.Taint
	for _, item := range f.list(key) {
		kv, effect, ok := strings.Cut(item, ":")
		if !ok {
			f.fail(key, fmt.Sprintf("%q lacks :Effect", item))
		}
		k, v, _ := strings.Cut(kv, "=")
		out = append(out, corev1.Taint{Key: k, Value: v, Effect: corev1.TaintEffect(effect)})
	}
	return out
}

func (f *fields) price(key string) scheduling.Price {
	s := f.str(key, "")
	if s == "" {
		return scheduling.Price{}
	}
	p, err := scheduling.ParsePrice(s)
	if err != nil {
		f.fail(key, err.Error())
	}
	return p
}

func (f *fields) requirements(key string) []scheduling.Requirement {
	return f.parseRequirements(key, f.str(key, ""))
}

// parseRequirements reads `zone In [a b]; fam Exists; type Exists min 3`; () stands for no requirement.
func (f *fields) parseRequirements(key, s string) []scheduling.Requirement {
	var out []scheduling.Requirement
	for _, item := range split(s, ";") {
		if item == "()" {
			continue
		}
		head, list, hasList := strings.Cut(item, "[")
		list, tail, closed := strings.Cut(list, "]")
		if hasList != closed {
			f.fail(key, fmt.Sprintf("%q lacks ]", item))
		}
		words := append(strings.Fields(head), strings.Fields(tail)...)
		if len(words) != 2 && !(len(words) == 4 && words[2] == "min") {
			f.fail(key, fmt.Sprintf("%q is not `key Operator [values] min N`", item))
			continue
		}
		r := scheduling.Requirement{
			Key: labelKey(words[0]), Operator: corev1.NodeSelectorOperator(words[1]), Values: strings.Fields(list),
		}
		if len(words) == 4 {
			n, err := strconv.Atoi(words[3])
			if err != nil {
				f.fail(key, fmt.Sprintf("%q is not a number", words[3]))
			}
			r.MinValues = &n
		}
		out = append(out, r)
	}
	return out
}

// nodeName is the field of a node that terms can ask for beside labels.
const nodeName = "metadata.name"

// labelKey spells the short keys out.
func labelKey(s string) string {
	switch s {
	case "zone":
		return corev1.LabelTopologyZone
	case "arch":
		return corev1.LabelArchStable
	case "os":
		return corev1.LabelOSStable
	case "type":
		return corev1.LabelInstanceTypeStable
	case "host":
		return corev1.LabelHostname
	case "capacity":
		return scheduling.CapacityTypeLabel
	case "pool":
		return scheduling.PoolLabel
	case "name":
		return nodeName
	}
	return s
}

// words splits a line at spaces outside double quotes, and takes the quotes away.
func words(line string) (out []string, err error) {
	var w strings.Builder
	quoted, some := false, false
	for _, r := range line {
		switch {
		case r == '"':
			quoted, some = !quoted, true
		case (r == ' ' || r == '\t') && !quoted:
			if some {
				out = append(out, w.String())
			}
			w.Reset()
			some = false
		default:
			w.WriteRune(r)
			some = true
		}
	}
	if quoted {
		return nil, fmt.Errorf("a double quote is not closed")
	}
	if some {
		out = append(out, w.String())
	}
	return out, nil
}

// parseFields reads the words after a verb and its operands.
func parseFields(ws []string) (*fields, error) {
	f := &fields{values: map[string]string{}}
	for _, w := range ws {
		k, v, _ := strings.Cut(w, "=")
		if _, twice := f.values[k]; twice {
			return nil, fmt.Errorf("%s is given twice", k)
		}
		f.values[k] = v
	}
	return f, nil
}

// err reports what went wrong on the line, unknown keys included.
func (f *fields) err() error {
	for k := range f.values {
		f.fail(k, "no such key for this verb")
	}
	if len(f.errs) == 0 {
		return nil
	}
	slices.Sort(f.errs)
	return fmt.Errorf("%s", strings.Join(f.errs, "; "))
}
