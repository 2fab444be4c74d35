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
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fleetwright/fleetwright/scheduling"
)

//go:generate go run ./internal/gen -from $FLEETWRIGHT_DATA/ec2 -o ec2.json.gz

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
		return nil, &SnapshotError{Faults: decodeFaults(data, err)}
	}
	if rest := bytes.TrimLeft(data[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		at := line(data, int64(len(data)-len(rest)))
		return nil, &SnapshotError{[]scheduling.Fault{fault(at, "something follows the snapshot", "remove it")}}
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
	data.Grow(2 << 20)
	n, err := data.ReadFrom(io.LimitReader(in, maxSnapshot+1))
	if err != nil {
		return nil, fmt.Errorf("catalog: snapshot: %w", err)
	}
	if n > maxSnapshot {
		return nil, &SnapshotError{[]scheduling.Fault{fault("file", "has more than 256 MiB", "give a catalogue snapshot")}}
	}
	return data.Bytes(), nil
}

// decodeFaults turns the decoder's error into faults with places, as far as they can be told.
func decodeFaults(data []byte, err error) []scheduling.Fault {
	f := fault("file", err.Error(), "give JSON as Save writes it")
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		f.Path = line(data, syntax.Offset)
	case errors.As(err, &typed):
		f.Path = line(data, typed.Offset)
		if typed.Field != "" {
			f.Path += ", " + typed.Field
		}
		f.Problem = "is a JSON " + typed.Value + ", not " + typed.Type.String()
	case strings.HasPrefix(err.Error(), unknownField):
		name := strings.TrimPrefix(err.Error(), unknownField)
		if at := bytes.Index(data, []byte(name)); at >= 0 && bytes.Count(data, []byte(name)) == 1 {
			f.Path = line(data, int64(at))
		}
		f.Problem, f.Remedy = "unknown field "+name, "remove it or mend its spelling"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		f.Path, f.Problem = line(data, int64(len(data))), "ends too early"
	default:
		if bad := badPrices(data); len(bad) > 0 {
			return bad
		}
	}
	return []scheduling.Fault{f}
}

const unknownField = "json: unknown field "

// badPrices finds the prices that are none; the decoder does not say where they are.
func badPrices(data []byte) []scheduling.Fault {
	type table struct {
		PerHour map[string]json.RawMessage
		PerZone map[string]map[string]json.RawMessage
	}
	var s struct {
		Regions []struct {
			Name           string
			OnDemand, Spot table
		}
	}
	if json.Unmarshal(data, &s) != nil {
		return nil
	}
	var faults []scheduling.Fault
	check := func(at string, prices map[string]json.RawMessage) {
		for _, name := range slices.Sorted(maps.Keys(prices)) {
			var p scheduling.Price
			if json.Unmarshal(prices[name], &p) != nil {
				faults = append(faults, fault(at+"["+quote(name)+"]", string(prices[name])+" is not a price",
					"write a decimal amount per hour"))
			}
		}
	}
	for _, r := range s.Regions {
		for i, t := range []table{r.OnDemand, r.Spot} {
			at := "regions[" + quote(r.Name) + "]." + []string{"onDemand", "spot"}[i]
			check(at+".perHour", t.PerHour)
			for _, z := range slices.Sorted(maps.Keys(t.PerZone)) {
				check(at+".perZone["+quote(z)+"]", t.PerZone[z])
			}
		}
	}
	return faults
}

func line(data []byte, offset int64) string {
	return fmt.Sprintf("line %d", 1+bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n")))
}

// Save writes the catalogue as JSON that Load reads, a line a type and a region; the same
// catalogue gives the same bytes.
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
