// Command gen makes the embedded snapshot of package catalog from a directory of EC2 facts:
//
//	go run ./provider/catalog/internal/gen -from DIR -o provider/catalog/ec2.json.gz
//
// DIR holds instance-types.json, prices.json, prices-derived.json, zones.json and
// spot-advisor.json. The same directory gives the same snapshot; a test compares it with the
// embedded one.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/catalog/internal/source"
)

func main() {
	from := flag.String("from", "", "directory with the facts")
	to := flag.String("o", "provider/catalog/ec2.json.gz", "file to write")
	flag.Parse()
	if err := run(*from, *to); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	if from == "" {
		return errors.New("-from is missing; name the directory with instance-types.json")
	}
	snapshot, err := source.Read(os.DirFS(from))
	if err != nil {
		return err
	}
	c, err := catalog.New(snapshot)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := c.Save(z); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(to, out.Bytes(), 0o644)
}
