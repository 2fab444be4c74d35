package catalog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/fleetwright/fleetwright/scheduling"
)

//go:embed ec2.json.gz
var embedded []byte

var embeddedCatalog = sync.OnceValues(func() (*Catalog, error) { return Load(bytes.NewReader(embedded)) })

// Embedded returns the snapshot that is part of this package. It is decoded on the first call and
// shared by all, which is safe because a Catalog never changes.
func Embedded() (*Catalog, error) { return embeddedCatalog() }

// maxSnapshot bounds what Load unpacks; the embedded snapshot has about 2 MB.
const maxSnapshot = 256 << 20

// Load reads a snapshot, plain or gzipped. An error is a *SnapshotError, or the reader's own.
func Load(r io.Reader) (*Catalog, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var s Snapshot
	if err := d.Decode(&s); err != nil {
		return nil, &SnapshotError{Faults: []scheduling.Fault{decodeFault(data, d, err)}}
	}
	if rest := bytes.TrimSpace(data[d.InputOffset():]); len(rest) > 0 {
		return nil, &SnapshotError{Faults: []scheduling.Fault{{Path: line(data, d.InputOffset()), Problem: "something follows the snapshot", Remedy: "remove it"}}}
	}
	return New(s)
}

func readAll(r io.Reader) ([]byte, error) {
	b := bufio.NewReader(r)
	magic, _ := b.Peek(2)
	var in io.Reader = b
	if bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("catalog: snapshot: %w", err)
		}
		in = z
	}
	var data bytes.Buffer
	n, err := data.ReadFrom(io.LimitReader(in, maxSnapshot+1))
	if err != nil {
		return nil, fmt.Errorf("catalog: snapshot: %w", err)
	}
	if n > maxSnapshot {
		return nil, &SnapshotError{Faults: []scheduling.Fault{{Path: "file", Problem: "has more than 256 MiB", Remedy: "give a catalogue snapshot"}}}
	}
	return data.Bytes(), nil
}

func decodeFault(data []byte, d *json.Decoder, err error) scheduling.Fault {
	f := scheduling.Fault{Path: line(data, d.InputOffset()), Problem: err.Error(), Remedy: "give JSON as Save writes it"}
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		f.Path = line(data, syntax.Offset)
	case errors.As(err, &typed):
		f.Path = line(data, typed.Offset) + ", " + typed.Field
		f.Problem = "is a JSON " + typed.Value + ", not a " + typed.Type.String()
	}
	return f
}

func line(data []byte, offset int64) string {
	return fmt.Sprintf("line %d", 1+bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n")))
}

// Save writes the catalogue as JSON that Load reads, a line a type and a region; the same catalogue gives the same
// bytes.
func (c *Catalog) Save(w io.Writer) error {
	s := c.snapshot
	types, regions := s.Types, s.Regions
	s.Types, s.Regions = nil, nil
	head, err := json.Marshal(struct {
		Schema  string   `json:"schema"`
		AsOf    string   `json:"asOf"`
		Sources []Source `json:"sources,omitempty"`
	}{s.Schema, s.AsOf, s.Sources})
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	b.Write(bytes.TrimSuffix(head, []byte("}")))
	if err := saveList(b, "types", types); err != nil {
		return err
	}
	if err := saveList(b, "regions", regions); err != nil {
		return err
	}
	b.WriteString("}\n")
	return b.Flush()
}

func saveList[T any](b *bufio.Writer, name string, list []T) error {
	fmt.Fprintf(b, ",\n%q:[", name)
	for i := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		item, err := json.Marshal(&list[i])
		if err != nil {
			return err
		}
		b.WriteByte('\n')
		b.Write(item)
	}
	_, err := b.WriteString("]")
	return err
}
