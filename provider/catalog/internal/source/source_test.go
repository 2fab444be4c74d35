package source_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fleetwright/fleetwright/internal/extdata"
	"github.com/fleetwright/fleetwright/provider/catalog"
	"github.com/fleetwright/fleetwright/provider/catalog/internal/source"
)

// TestEmbeddedIsCurrent compares what the generator would write with what is embedded. The text is
// compared, not its compression, which may change with Go.
func TestEmbeddedIsCurrent(t *testing.T) {
	dir, ok := extdata.Dir("ec2")
	if !ok {
		t.Skipf("the EC2 facts are not here; set %s to the directory that has them", extdata.Env)
	}
	want := save(t, func() (*catalog.Catalog, error) {
		s, err := source.Read(os.DirFS(dir))
		if err != nil {
			return nil, err
		}
		return catalog.New(s)
	})
	if got := save(t, catalog.Embedded); !bytes.Equal(got, want) {
		t.Errorf("the embedded snapshot has %d bytes and the generated one %d, or other content; run the generator (see its doc comment)", len(got), len(want))
	}
}

func save(t *testing.T, get func() (*catalog.Catalog, error)) []byte {
	t.Helper()
	c, err := get()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := c.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var files = fstest.MapFS{
	"instance-types.json": {Data: []byte(`{"asOf":"2026-01-01","types":[{"name":"m5.large","family":"m5","size":"large","vcpu":2,"memoryMiB":8192,"architectures":["x86_64"],"usageClasses":["on-demand","spot"]}]}`)},
	"prices.json":         {Data: []byte(`{"regions":{"us-east-1":{"asOf":"2026-01-02T03:04:05Z","currency":"USD","prices":{"m5.large":0.1,"old.large":1}}}}`)},
	"prices-derived.json": {Data: []byte(`{"observedAsOf":"2026-01-03","currency":"USD","regions":{"eu-west-1":{"m5":[1.1,3,"observed"]}}}`)},
	"zones.json":          {Data: []byte(`{"asOf":"2026-01-04","regions":{"eu-west-1":{"zones":[{"name":"eu-west-1a","id":"euw1-az1"},{"name":"eu-west-1b","id":"euw1-az2"}],"offerings":{"m5.large":"ab"}}}}`)},
	"spot-advisor.json":   {Data: []byte(`{"asOf":"2026-01-05","regions":{"eu-west-1":{"m5.large":[50,1],"old.large":[60,2]}}}`)},
}

func TestRead(t *testing.T) {
	s, err := source.Read(files)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.New(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ region, capacityType, want string }{
		{"us-east-1", catalog.OnDemand, "0.1 quoted 2026-01-02"},
		{"eu-west-1", catalog.OnDemand, "0.11 derived 2026-01-03"},
		{"eu-west-1", catalog.Spot, "0.055 derived 2026-01-05"},
	} {
		p, err := c.Price(row.region, "m5.large", "", row.capacityType)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.PerHour.String() + " " + p.Basis.String() + " " + p.AsOf; got != row.want {
			t.Errorf("%s %s: %s, want %s", row.region, row.capacityType, got, row.want)
		}
	}
	for _, src := range s.Sources {
		if src.AsOf == "" || src.From == "" || src.License == "" {
			t.Errorf("source %q lacks its date, place or licence", src.What)
		}
	}
}

func TestReadFaults(t *testing.T) {
	for name, data := range map[string]*fstest.MapFile{"zones.json": nil, "prices.json": {Data: []byte("{")}, "prices-derived.json": {Data: []byte(`{"regions":{"a":{"m5":["x",1,"y"]}}}`)}} {
		broken := fstest.MapFS{}
		for n, f := range files {
			broken[n] = f
		}
		if broken[name] = data; data == nil {
			delete(broken, name)
		}
		if _, err := source.Read(broken); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s broken: error %v does not name it", name, err)
		}
	}
}
