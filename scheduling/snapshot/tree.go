package snapshot

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// kind is what a node of the tree is, in JSON's terms.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindList
	kindMap
)

func (k kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "a list", "a map"}[k]
}

// node is a parsed document or a part of it. YAML and JSON both become this tree, which keeps what
// neither of their decoders does: the line of everything. Aliases share nodes, so it is a graph
// without cycles.
type node struct {
	kind kind
	line int
	// text is the string, the number as JSON spells it, or the boolean as the author spelled it.
	text string
	// items are the elements of a list or the values of a map, keys (parallel) the map's keys.
	items []*node
	keys  []mapKey
}

type mapKey struct {
	name string
	line int
}

// get returns the value of a key of a map, or nil.
func (n *node) get(name string) *node {
	if n == nil || n.kind != kindMap {
		return nil
	}
	for i, k := range n.keys {
		if k.name == name {
			return n.items[i]
		}
	}
	return nil
}

// str returns the string under a chain of keys, "" if there is none.
func (n *node) str(keys ...string) string {
	for _, k := range keys {
		n = n.get(k)
	}
	if n == nil || n.kind != kindString {
		return ""
	}
	return n.text
}

// lineOf returns the line of the field at path (spelled as in findings), or of the closest parent.
func (n *node) lineOf(path string) int {
	if n == nil {
		return 0
	}
	line := n.line
	for path != "" {
		step, index, rest := cutStep(path)
		path = rest
		if index >= 0 {
			if n.kind != kindList || index >= len(n.items) {
				return line
			}
			n = n.items[index]
			line = n.line
			continue
		}
		i := -1
		for j, k := range n.keys {
			if k.name == step {
				i = j
			}
		}
		if i < 0 {
			return line
		}
		line, n = n.keys[i].line, n.items[i]
	}
	return line
}

// cutStep splits the first step off a path: a name, or an index (-1 if it is a name).
func cutStep(path string) (name string, index int, rest string) {
	path = strings.TrimPrefix(path, ".")
	if strings.HasPrefix(path, `["`) {
		if quoted, err := strconv.QuotedPrefix(path[1:]); err == nil {
			name, _ = strconv.Unquote(quoted)
			return name, -1, strings.TrimPrefix(path[1+len(quoted):], "]")
		}
	}
	if strings.HasPrefix(path, "[") {
		if number, after, ok := strings.Cut(path[1:], "]"); ok {
			if i, err := strconv.Atoi(number); err == nil && i >= 0 {
				return "", i, after
			}
		}
		return path, -1, ""
	}
	if end := strings.IndexAny(path, ".["); end >= 0 {
		return path[:end], -1, path[end:]
	}
	return path, -1, ""
}

// step is one field, key or index on the way from the root to a node; paths are only spelled out when there is
// something to report.
type step struct {
	up    *step
	name  string
	index int
	// quoted marks a key of a map, which may need quotes.
	quoted bool
}

// String spells the path as findings do.
func (s *step) String() string {
	if s == nil {
		return ""
	}
	up := s.up.String()
	switch {
	case s.name == "" && !s.quoted:
		return up + "[" + strconv.Itoa(s.index) + "]"
	case s.quoted && !plainKey(s.name):
		return up + "[" + strconv.Quote(s.name) + "]"
	case up == "":
		return s.name
	}
	return up + "." + s.name
}

// Key spells a map's key as a step of a path: `.cpu`, or `["nvidia.com/gpu"]`.
func pathKey(name string) string {
	if plainKey(name) {
		return "." + name
	}
	return "[" + strconv.Quote(name) + "]"
}

func plainKey(s string) bool {
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
		default:
			return false
		}
	}
	return s != ""
}

// budget bounds how many nodes walks may visit. Aliases make the tree a graph whose walk can be
// exponentially longer than its text (the "billion laughs"). One budget serves all walks over one text.
type budget struct{ left int }

// budgetFor allows a text ten visits a byte: without aliases a walk takes less than one.
func budgetFor(text []byte) *budget { return &budget{10_000 + 10*len(text)} }

func (b *budget) spend() bool {
	b.left--
	return b.left >= 0
}

// within walks the tree and reports whether the budget lasts.
func (n *node) within(b *budget) bool {
	if !b.spend() {
		return false
	}
	for _, item := range n.items {
		if !item.within(b) {
			return false
		}
	}
	return true
}

const (
	tooLarge       = "the document is too large, aliases written out"
	tooLargeRemedy = "split it, or use fewer aliases"
)

// appendJSON writes the tree as JSON, map keys in the order of the document.
func (n *node) appendJSON(b *bytes.Buffer) {
	switch n.kind {
	case kindNull:
		b.WriteString("null")
	case kindBool:
		b.WriteString(strconv.FormatBool(isTrue(n.text)))
	case kindNumber:
		b.WriteString(n.text)
	case kindString:
		writeString(b, n.text)
	case kindList:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.appendJSON(b)
		}
		b.WriteByte(']')
	case kindMap:
		b.WriteByte('{')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			writeString(b, n.keys[i].name)
			b.WriteByte(':')
			item.appendJSON(b)
		}
		b.WriteByte('}')
	}
}

func writeString(b *bytes.Buffer, s string) {
	// Strings always marshal.
	text, _ := json.Marshal(s)
	b.Write(text)
}
