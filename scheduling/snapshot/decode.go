package snapshot

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/internal/spelling"
)

// decoder sets Go values from trees, strictly, and reports everything wrong instead of stopping at the first. It
// does not go by way of JSON: the tree knows lines, and one walk does for reading and checking.
type decoder struct {
	// types caches the fields of struct types.
	types map[reflect.Type]*fields
	// left is what walks over the text at hand may still cost; nil: no bound.
	left *budget
}

// fields are the JSON names of a struct, embedded structs included.
type fields struct {
	byName map[string][]int
	names  []string
}

// report receives one thing wrong at a place.
type report func(sev Severity, path string, line int, problem, remedy string)

type decodeCall struct {
	*decoder
	report report
	full   bool
	// faults counts errors.
	faults int
}

var (
	quantityType  = reflect.TypeFor[resource.Quantity]()
	fieldsV1Type  = reflect.TypeFor[metav1.FieldsV1]()
	unmarshalType = reflect.TypeFor[json.Unmarshaler]()
	bytesType     = reflect.TypeFor[[]byte]()
)

// decode sets *into from n.
func (d *decoder) decode(n *node, into any, r report) {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		r(Error, "", n.line, "cannot decode into this Go value", "pass a non-nil pointer")
		return
	}
	c := decodeCall{decoder: d, report: r}
	c.value(n, v.Elem(), nil)
}

func (c *decodeCall) fault(n *node, at *step, problem, remedy string) {
	c.faults++
	c.report(Error, at.String(), n.line, problem, remedy)
}

func (c *decodeCall) wrongType(n *node, at *step, want string) {
	what := n.kind.String()
	if n.kind == kindBool || n.kind == kindNumber || n.kind == kindString {
		what = fmt.Sprintf("%s is %s", clip(n.text), what)
	} else {
		what = "this is " + what
	}
	remedy := "write " + want
	if want == kindString.String() && (n.kind == kindBool || n.kind == kindNumber) {
		remedy = "put it in quotes"
	}
	c.fault(n, at, fmt.Sprintf("%s where %s belongs", what, want), remedy)
}

// clip shortens a user's text for a message and quotes it.
func clip(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "..."
	}
	return strconv.Quote(s)
}

func (c *decodeCall) value(n *node, v reflect.Value, at *step) {
	if c.full {
		return
	}
	if c.left != nil && !c.left.spend() {
		c.full = true
		c.fault(n, at, tooLarge, tooLargeRemedy)
		return
	}
	if n.kind == kindNull {
		return
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		c.value(n, v.Elem(), at)
		return
	}
	switch t := v.Type(); {
	case t == quantityType:
		c.quantity(n, v, at)
		return
	case t == fieldsV1Type:
		// Who manages which field decides nothing here, and is half of a dump.
		return
	case t == bytesType:
		c.bytes(n, v, at)
		return
	case reflect.PointerTo(t).Implements(unmarshalType):
		c.custom(n, v, at)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		c.structure(n, v, at)
	case reflect.Map:
		c.mapping(n, v, at)
	case reflect.Slice:
		c.list(n, v, at)
	case reflect.Interface:
		c.untyped(n, v, at)
	default:
		c.scalar(n, v, at)
	}
}

func (c *decodeCall) scalar(n *node, v reflect.Value, at *step) {
	switch v.Kind() {
	case reflect.String:
		if n.kind != kindString {
			c.wrongType(n, at, "a string")
			return
		}
		v.SetString(n.text)
	case reflect.Bool:
		if n.kind != kindBool {
			c.wrongType(n, at, "true or false")
			return
		}
		v.SetBool(isTrue(n.text))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		i, ok := integer(n)
		if !ok {
			c.wrongType(n, at, "a whole number")
			return
		}
		if v.OverflowInt(i) {
			c.fault(n, at, fmt.Sprintf("%s is too large", clip(n.text)), fmt.Sprintf("the field holds %d bits", v.Type().Bits()))
			return
		}
		v.SetInt(i)
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(n.text, 64)
		if n.kind != kindNumber || err != nil {
			c.wrongType(n, at, "a number")
			return
		}
		v.SetFloat(f)
	default:
		c.fault(n, at, "fields of Go type "+v.Type().String()+" are not supported", "")
	}
}

// integer reads 3, and 3.0 or 3e0, which YAML to JSON conversion makes 3.
func integer(n *node) (int64, bool) {
	if n.kind != kindNumber {
		return 0, false
	}
	if i, err := strconv.ParseInt(n.text, 10, 64); err == nil {
		return i, true
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

func (c *decodeCall) quantity(n *node, v reflect.Value, at *step) {
	if n.kind != kindString && n.kind != kindNumber {
		c.wrongType(n, at, "a quantity")
		return
	}
	q, problem := parseQuantity(n.text)
	if problem != "" {
		c.fault(n, at, clip(n.text)+" "+problem, "write a number such as 100, 500m or 2Gi")
		return
	}
	v.Set(reflect.ValueOf(q))
}

var exponent = regexp.MustCompile(`[eE][-+]?0*[0-9]{3}`)

// parseQuantity refuses what the library would take an age to compute with: quantities keep their
// exponent, and comparing 1e9999999 with 1 writes out ten million digits.
func parseQuantity(s string) (resource.Quantity, string) {
	if len(s) > 64 || exponent.MatchString(s) {
		return resource.Quantity{}, "is beyond every quantity"
	}
	q, err := resource.ParseQuantity(s)
	if err != nil {
		return q, "is not a quantity"
	}
	return q, ""
}

func (c *decodeCall) bytes(n *node, v reflect.Value, at *step) {
	if n.kind != kindString {
		c.wrongType(n, at, "base64 text")
		return
	}
	b, err := base64.StdEncoding.DecodeString(n.text)
	if err != nil {
		c.fault(n, at, "this is not base64", "encode it")
		return
	}
	v.SetBytes(b)
}

// custom leaves types that know their own JSON form (times, IntOrString, raw extensions) to it.
func (c *decodeCall) custom(n *node, v reflect.Value, at *step) {
	var b bytes.Buffer
	if c.left != nil && !n.within(c.left) {
		c.full = true
		c.fault(n, at, tooLarge, tooLargeRemedy)
		return
	}
	n.appendJSON(&b)
	if err := v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(b.Bytes()); err != nil {
		text := n.text
		if n.kind == kindList || n.kind == kindMap {
			text = b.String()
		}
		c.fault(n, at, fmt.Sprintf("%s cannot be read", clip(text)), "write "+formOf(v.Type()))
	}
}

// formOf says how values of types with a form of their own are written.
func formOf(t reflect.Type) string {
	switch t.Name() {
	case "Time", "MicroTime":
		return "a time such as 2006-01-02T15:04:05Z"
	case "Duration":
		return "a duration such as 1h30m"
	case "IntOrString":
		return "a number or a string"
	}
	return "a " + t.Name()
}

func (c *decodeCall) untyped(n *node, v reflect.Value, at *step) {
	var b bytes.Buffer
	if c.left != nil && !n.within(c.left) {
		c.full = true
		c.fault(n, at, tooLarge, tooLargeRemedy)
		return
	}
	n.appendJSON(&b)
	var value any
	if json.Unmarshal(b.Bytes(), &value) == nil && value != nil {
		v.Set(reflect.ValueOf(value))
	}
}

func (c *decodeCall) list(n *node, v reflect.Value, at *step) {
	if n.kind != kindList {
		c.wrongType(n, at, "a list")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.items), len(n.items)))
	for i, item := range n.items {
		c.value(item, v.Index(i), &step{up: at, index: i})
	}
}

func (c *decodeCall) mapping(n *node, v reflect.Value, at *step) {
	if n.kind != kindMap {
		c.wrongType(n, at, "a map")
		return
	}
	t := v.Type()
	if t.Key().Kind() != reflect.String {
		c.fault(n, at, "fields of Go type "+t.String()+" are not supported", "")
		return
	}
	v.Set(reflect.MakeMapWithSize(t, len(n.items)))
	for i, item := range n.items {
		value := reflect.New(t.Elem()).Elem()
		before := c.faults
		c.value(item, value, &step{up: at, name: n.keys[i].name, quoted: true})
		if c.faults > before {
			continue
		}
		v.SetMapIndex(reflect.ValueOf(n.keys[i].name).Convert(t.Key()), value)
	}
}

func (c *decodeCall) structure(n *node, v reflect.Value, at *step) {
	if n.kind != kindMap {
		c.wrongType(n, at, "a map")
		return
	}
	known := c.fieldsOf(v.Type())
	for i, item := range n.items {
		name := n.keys[i].name
		here := &step{up: at, name: name}
		index, ok := known.byName[name]
		if !ok {
			here.quoted = true
			c.report(Warning, here.String(), n.keys[i].line, fmt.Sprintf("unknown field %s; it has no effect", clip(name)), known.hint(name))
			continue
		}
		c.value(item, fieldByIndex(v, index), here)
	}
}

// fieldByIndex is v.FieldByIndex, making embedded pointers on the way.
func fieldByIndex(v reflect.Value, index []int) reflect.Value {
	for i, x := range index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(x)
	}
	return v
}

func (d *decoder) fieldsOf(t reflect.Type) *fields {
	if f, ok := d.types[t]; ok {
		return f
	}
	f := &fields{byName: map[string][]int{}}
	collect(t, nil, f.byName)
	f.names = slices.Sorted(maps.Keys(f.byName))
	if d.types == nil {
		d.types = map[reflect.Type]*fields{}
	}
	d.types[t] = f
	return f
}

// collect follows encoding/json as far as Kubernetes' types use it: no two fields share a name.
func collect(t reflect.Type, index []int, into map[string][]int) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := append(slices.Clone(index), i)
		switch {
		case name == "-" || (!f.IsExported() && !f.Anonymous):
		case f.Anonymous && name == "":
			e := f.Type
			if e.Kind() == reflect.Pointer {
				e = e.Elem()
			}
			if e.Kind() == reflect.Struct {
				collect(e, at, into)
			}
		case name == "":
			into[f.Name] = at
		default:
			into[name] = at
		}
	}
}

// hint names the known field that an unknown one is probably meant to be.
func (f *fields) hint(name string) string {
	best, least := "", 3
	for _, known := range f.names {
		if strings.EqualFold(known, name) {
			best, least = known, 0
			continue
		}
		if d := distance(known, name, least); d < least && d < len(known) {
			best, least = known, d
		}
	}
	if best == "" {
		return "remove it"
	}
	return fmt.Sprintf("did you mean %q?", best)
}

// distance is the number of insertions, deletions and replacements between two words; anything from most up
// may come back as most.
func distance(a, b string, most int) int {
	if len(a)-len(b) >= most || len(b)-len(a) >= most {
		return most
	}
	return spelling.Distance(a, b)
}
