package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxDepth bounds how deep JSON may nest; the YAML library has a bound of its own.
const maxDepth = 1000

// parseJSON reads one JSON value after the other (a stream, or one per line).
func parseJSON(c chunk) ([]*node, error) {
	p := jsonParser{dec: json.NewDecoder(bytes.NewReader(c.text)), text: c.text, line: c.line}
	p.dec.UseNumber()
	var out []*node
	for {
		n, err := p.value(0)
		if errors.Is(err, io.EOF) && p.depth == 0 {
			return out, nil
		}
		if err != nil {
			return out, p.fault(err, c.line)
		}
		out = append(out, n)
	}
}

type jsonParser struct {
	dec  *json.Decoder
	text []byte
	// line is that of text[pos].
	pos, line int
	depth     int
}

// at moves on to the current token and returns its line.
func (p *jsonParser) at() int {
	end := min(int(p.dec.InputOffset()), len(p.text))
	p.line += bytes.Count(p.text[p.pos:max(end, p.pos)], []byte{'\n'})
	p.pos = max(end, p.pos)
	return p.line
}

func (p *jsonParser) fault(err error, first int) error {
	var done *syntaxError
	if errors.As(err, &done) {
		return done
	}
	problem, line := err.Error(), p.at()
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		problem = "the text ends within a value"
	case errors.As(err, &syntax):
		end := min(max(int(syntax.Offset)-1, 0), len(p.text))
		line = first + bytes.Count(p.text[:end], []byte{'\n'})
	}
	return &syntaxError{line: line, problem: "malformed JSON: " + problem, remedy: "check commas, quotes and brackets near here"}
}

func (p *jsonParser) value(depth int) (*node, error) {
	p.depth = depth
	tok, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	n := &node{line: p.at()}
	switch v := tok.(type) {
	case nil:
	case bool:
		n.kind, n.text = kindBool, fmt.Sprint(v)
	case json.Number:
		n.kind, n.text = kindNumber, v.String()
	case string:
		n.kind, n.text = kindString, v
	case json.Delim:
		if depth >= maxDepth {
			return nil, &syntaxError{line: n.line, problem: "malformed JSON: nested too deeply", remedy: "check the brackets"}
		}
		return n, p.composite(n, v, depth+1)
	}
	return n, nil
}

func (p *jsonParser) composite(n *node, open json.Delim, depth int) error {
	n.kind = kindList
	if open == '{' {
		n.kind = kindMap
	}
	has := map[string]bool{}
	for p.dec.More() {
		if n.kind == kindMap {
			tok, err := p.dec.Token()
			if err != nil {
				return err
			}
			name, _ := tok.(string)
			line := p.at()
			if has[name] {
				return &syntaxError{line: line, problem: fmt.Sprintf("key %q is set twice", name), remedy: "keep one of them"}
			}
			has[name] = true
			n.keys = append(n.keys, mapKey{name, line})
		}
		item, err := p.value(depth)
		if err != nil {
			return noEOF(err)
		}
		n.items = append(n.items, item)
	}
	_, err := p.dec.Token()
	p.depth = depth - 1
	return noEOF(err)
}

// noEOF marks the end of the text inside a value as unexpected.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
