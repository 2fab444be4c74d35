package snapshot

import "bytes"

// listText is a YAML list of objects cut into its items, so that a dump of a hundred thousand pods never has more
// than one of them as a tree.
type listText struct {
	// head is the document with an empty list of items.
	head chunk
	// items are sequences of one element.
	items []chunk
}

// hasAnchors tells whether anything looks like an anchor (&name), which can tie items together.
func hasAnchors(text []byte) bool {
	for i := 0; ; i++ {
		next := bytes.IndexByte(text[i:], '&')
		if next < 0 {
			return false
		}
		i += next
		starts := i == 0 || bytes.IndexByte([]byte(" \t\n[{,"), text[i-1]) >= 0
		if starts && i+1 < len(text) && bytes.IndexByte([]byte(" \t\r\n&"), text[i+1]) < 0 {
			return true
		}
	}
}

// splitList cuts a large list in block style, as kubectl prints it: `items:` at the start of a line, its items
// (lines that begin with a dash, all equally indented) and whatever else is at the top level. It is only sure of
// this if every item can be read by itself; quotes that run over lines may fool it.
func splitList(c chunk, atLeast int) (listText, bool) {
	var out listText
	if len(c.text) < atLeast || hasAnchors(c.text) {
		return out, false
	}
	var head []byte
	dash := -1
	start, first := 0, 0
	in := false
	flush := func(end int) {
		if start > 0 && in {
			out.items = append(out.items, chunk{c.text[start:end], first})
		}
		start = 0
	}
	line := c.line
	for pos := 0; pos < len(c.text); line++ {
		end := len(c.text)
		if i := bytes.IndexByte(c.text[pos:], '\n'); i >= 0 {
			end = pos + i + 1
		}
		row := c.text[pos:end]
		indent := len(row) - len(bytes.TrimLeft(row, " "))
		switch {
		case !in && string(bytes.TrimRight(row, " \r\n")) == "items:":
			if dash >= 0 {
				return out, false
			}
			in = true
			head = append(head, "items: []\n"...)
		case in && (dash < 0 || indent == dash) && isDash(row[indent:]):
			flush(pos)
			dash, start, first = indent, pos, line
			head = append(head, '\n')
		case in && indent == 0 && hasContent(row):
			flush(pos)
			in = false
			head = append(head, row...)
		case !in:
			head = append(head, row...)
		default:
			// Blank lines, so that the head's lines keep their numbers.
			head = append(head, '\n')
		}
		pos = end
	}
	flush(len(c.text))
	out.head = chunk{head, c.line}
	return out, len(out.items) > 1
}

func isDash(row []byte) bool {
	return len(row) > 1 && row[0] == '-' && (row[1] == ' ' || row[1] == '\n' || row[1] == '\r')
}
