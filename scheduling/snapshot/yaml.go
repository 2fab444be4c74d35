package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"go.yaml.in/yaml/v3"
)

// syntaxError is a text that cannot be read; line is that of the file.
type syntaxError struct {
	line            int
	problem, remedy string
}

func (e *syntaxError) Error() string { return e.problem }

// chunk is one document of a stream, unparsed.
type chunk struct {
	text []byte
	// line is that of the chunk's first byte, from 1.
	line int
}

// split cuts a stream at the lines that end or begin a document, so that an error in one does not take
// the others with it. No YAML text can have such a line inside a document. Chunks of nothing but
// blanks and comments are dropped.
func split(text []byte) []chunk {
	var out []chunk
	cur := chunk{line: 1}
	start, content, directive := 0, false, false
	flush := func(end, nextLine int) {
		if content {
			cur.text = text[start:end]
			out = append(out, cur)
			cur, start, content = chunk{line: nextLine}, end, false
		}
	}
	line := 1
	for pos := 0; pos < len(text); line++ {
		end := len(text)
		if i := bytes.IndexByte(text[pos:], '\n'); i >= 0 {
			end = pos + i + 1
		}
		row := text[pos:end]
		switch {
		case isMarker(row, "---"):
			flush(pos, line)
			if !directive {
				// What came before it, if anything, was empty; a directive belongs to what follows.
				cur, start = chunk{line: line}, pos
			}
			directive, content = false, hasContent(row[3:])
		case isMarker(row, "..."):
			flush(end, line+1)
			cur, start = chunk{line: line + 1}, end
		default:
			directive = directive || (!content && row[0] == '%')
			content = content || (row[0] != '%' && hasContent(row))
		}
		pos = end
	}
	flush(len(text), line)
	return out
}

// toUTF8 drops a byte order mark; one of UTF-16, which Windows' shells write when told to redirect,
// has the rest decoded.
func toUTF8(text []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		return text[3:]
	case bytes.HasPrefix(text, []byte("\xfe\xff")):
		order = binary.BigEndian
	case !bytes.HasPrefix(text, []byte("\xff\xfe")):
		return text
	}
	units := make([]uint16, 0, len(text)/2)
	for i := 2; i+1 < len(text); i += 2 {
		units = append(units, order.Uint16(text[i:]))
	}
	return []byte(string(utf16.Decode(units)))
}

// body is the chunk without the blank lines, comments and markers before its content.
func (c chunk) body() chunk {
	for len(c.text) > 0 {
		row, rest, _ := bytes.Cut(c.text, []byte{'\n'})
		trimmed := bytes.TrimLeft(row, " \t\r")
		switch {
		case isMarker(row, "---") && hasContent(row[3:]):
			c.text = bytes.TrimLeft(c.text[3:], " \t")
			return c
		case len(trimmed) == 0, trimmed[0] == '#', row[0] == '%', isMarker(row, "---"):
			c.text = rest
			c.line++
		default:
			c.text = c.text[len(row)-len(trimmed):]
			return c
		}
	}
	return c
}

func isMarker(row []byte, marker string) bool {
	return bytes.HasPrefix(row, []byte(marker)) && (len(row) == len(marker) || strings.ContainsRune(" \t\r\n", rune(row[3])))
}

func hasContent(row []byte) bool {
	row = bytes.TrimSpace(row)
	return len(row) > 0 && row[0] != '#'
}

var errorLine = regexp.MustCompile(`^line (\d+): `)

// parseYAML reads one document. The YAML library is third-party code over untrusted text, hence the
// recover: a defect in it becomes an error for that one document.
func parseYAML(c chunk) (root *node, err error) {
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, &syntaxError{line: c.line, problem: fmt.Sprintf("the YAML parser failed: %v", r), remedy: "rewrite the document in plainer YAML"}
		}
	}()
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(c.text))
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, yamlError(err, c.line)
	}
	// What follows the value must be nothing; the library would not look.
	switch err := dec.Decode(&more); {
	case err == nil:
		return nil, &syntaxError{line: c.line + more.Line - 1, problem: "malformed YAML: a second value", remedy: "separate documents by a line of ---"}
	case !errors.Is(err, io.EOF):
		return nil, yamlError(err, c.line)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, nil
	}
	conv := converter{offset: c.line - 1, seen: map[*yaml.Node]*node{}, left: budgetFor(c.text)}
	return conv.convert(doc.Content[0])
}

func yamlError(err error, first int) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if m := errorLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	return &syntaxError{line: first + max(line, 1) - 1, problem: "malformed YAML: " + text, remedy: "check indentation, quotes and brackets near here"}
}

// converter turns the library's nodes into ours.
type converter struct {
	offset int
	// seen holds anchored nodes; nil while one is under way, which is how a cycle shows.
	seen map[*yaml.Node]*node
	// left is what merging may cost.
	left *budget
}

func (c *converter) convert(y *yaml.Node) (*node, error) {
	if y.Kind == yaml.AliasNode {
		n, ok := c.seen[y.Alias]
		if !ok || n == nil {
			return nil, c.fault(y, fmt.Sprintf("alias *%s refers to what contains it", y.Value), "write the value out")
		}
		return n, nil
	}
	if y.Anchor != "" {
		c.seen[y] = nil
	}
	n := &node{line: y.Line + c.offset}
	var err error
	switch y.Kind {
	case yaml.ScalarNode:
		err = c.scalar(n, y)
	case yaml.SequenceNode:
		n.kind, n.items = kindList, make([]*node, len(y.Content))
		for i, item := range y.Content {
			if n.items[i], err = c.convert(item); err != nil {
				return nil, err
			}
		}
	case yaml.MappingNode:
		err = c.mapping(n, y)
	default:
		err = c.fault(y, "this is no YAML value", "")
	}
	if y.Anchor != "" {
		c.seen[y] = n
	}
	return n, err
}

func (c *converter) fault(y *yaml.Node, problem, remedy string) error {
	return &syntaxError{line: y.Line + c.offset, problem: problem, remedy: remedy}
}

func (c *converter) mapping(n *node, y *yaml.Node) error {
	n.kind = kindMap
	n.keys, n.items = make([]mapKey, 0, len(y.Content)/2), make([]*node, 0, len(y.Content)/2)
	var merges []*node
	var duplicates []error
	has := map[string]int{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, err := c.convert(y.Content[i])
		if err != nil {
			return err
		}
		value, err := c.convert(y.Content[i+1])
		if err != nil {
			return err
		}
		if y.Content[i].ShortTag() == "!!merge" {
			merges = append(merges, value)
			continue
		}
		if key.kind == kindList || key.kind == kindMap {
			return c.fault(y.Content[i], "a key is "+key.kind.String(), "write a plain word as the key")
		}
		name := key.text
		if key.kind == kindBool {
			name = strconv.FormatBool(isTrue(name))
		}
		if first, dup := has[name]; dup {
			duplicates = append(duplicates, c.fault(y.Content[i], fmt.Sprintf("key %q is set twice, first in line %d", name, first), "keep one of them"))
			continue
		}
		has[name] = key.line
		n.keys, n.items = append(n.keys, mapKey{name, key.line}), append(n.items, value)
	}
	if len(duplicates) > 0 {
		return errors.Join(duplicates...)
	}
	return c.merge(n, y, merges, has)
}

// merge adds the keys of `<<: *base`; the map's own keys win, then the earlier base.
func (c *converter) merge(n *node, y *yaml.Node, bases []*node, has map[string]int) error {
	for len(bases) > 0 {
		base := bases[0]
		bases = bases[1:]
		if c.left.left -= len(base.items); !c.left.spend() {
			return c.fault(y, tooLarge, tooLargeRemedy)
		}
		if base.kind == kindList {
			for _, b := range base.items {
				if b.kind == kindList {
					return c.fault(y, "<< merges a list of lists", "give it a map, or a list of maps")
				}
			}
			bases = slices.Concat(base.items, bases)
			continue
		}
		if base.kind != kindMap {
			return c.fault(y, "<< merges "+base.kind.String(), "give it a map, or a list of maps")
		}
		for i, k := range base.keys {
			if _, ok := has[k.name]; !ok {
				has[k.name] = k.line
				n.keys, n.items = append(n.keys, k), append(n.items, base.items[i])
			}
		}
	}
	return nil
}

// scalar resolves a scalar as Kubernetes does, which reads YAML 1.1: yes and on are booleans.
func (c *converter) scalar(n *node, y *yaml.Node) error {
	n.kind, n.text = kindString, y.Value
	switch y.ShortTag() {
	case "!!null":
		n.kind, n.text = kindNull, ""
	case "!!bool":
		n.kind = kindBool
	case "!!int", "!!float":
		text, ok := jsonNumber(y)
		if !ok {
			return c.fault(y, fmt.Sprintf("%q is no number that JSON knows", y.Value), "put it in quotes if it is text")
		}
		n.kind, n.text = kindNumber, text
	case "!!str":
		if y.Style == 0 && isBool11(y.Value) {
			n.kind = kindBool
		}
	}
	return nil
}

func isBool11(s string) bool {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off":
		// All lower, all upper or capitalised; yEs is a string.
		return s == strings.ToLower(s) || s == strings.ToUpper(s) || s[1:] == strings.ToLower(s[1:])
	}
	return false
}

func isTrue(s string) bool {
	switch strings.ToLower(s) {
	case "y", "yes", "on", "true":
		return true
	}
	return false
}

var plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// jsonNumber spells a YAML number (hexadecimal, octal, with underscores...) as JSON does; decimal
// ones stay as they are.
func jsonNumber(y *yaml.Node) (string, bool) {
	if plainNumber.MatchString(y.Value) {
		return y.Value, true
	}
	var v any
	if err := y.Decode(&v); err != nil {
		return "", false
	}
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case uint64:
		return strconv.FormatUint(v, 10), true
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return "", false
		}
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}
