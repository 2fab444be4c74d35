package catalog

import (
	"bytes"
	"testing"

	"github.com/fleetwright/fleetwright/provider/instancetype"
)

func BenchmarkLoadEmbedded(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(bytes.NewReader(embedded)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInstanceTypes(b *testing.B) {
	c, err := Embedded()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := c.InstanceTypes("us-east-1", Filter{}, instancetype.Settings{}); err != nil {
			b.Fatal(err)
		}
	}
}
