package pprof

import (
	"testing"

	"github.com/ntconv/ntconv"
)

// A profile names the process of each sample and has one list of mappings. The cost of many of both must be their sum
// and not their product, which would be 10^10 steps here.
func TestMappingsOfManyProcesses(t *testing.T) {
	const n = 100_000
	list := make([]*ntconv.Mapping, n)
	for i := range list {
		list[i] = &ntconv.Mapping{Start: uint64(i) << 12, Limit: uint64(i+1) << 12, File: "shop"}
	}
	list[7].Flags = ntconv.MappingMain
	all := make([]*ntconv.Process, n)
	for i := range all {
		all[i] = &ntconv.Process{PID: uint64(i), Mappings: list}
	}
	tables := newTables(false)
	if first := tables.importedMappings(all[3], all, nil); first != 8 || len(tables.Mappings()) != n {
		t.Errorf("mapping %d of %d is the program, want 8 of %d", first, len(tables.Mappings()), n)
	}
}
