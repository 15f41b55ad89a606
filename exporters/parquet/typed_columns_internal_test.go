package parquet

import (
	"testing"

	"github.com/ntconv/ntconv"
	"github.com/ntconv/ntconv/internal/tables/typedtable"
	"github.com/ntconv/ntconv/schema"
)

// TestColumnsOfMissingFields checks that events without a payload get few cells, although their type has many fields.
func TestColumnsOfMissingFields(t *testing.T) {
	const events = 100_000
	s := &schema.Schema{Fields: make([]ntconv.Field, 4096)}
	for bytes, want := range map[int64]int{0: anyCells / events, 100 * events: typedtable.MaxFields} {
		table := &typedTable{count: events, variants: []variant{{schema: s, count: events, bytes: bytes}}}
		if got := table.maxColumns(); got != want {
			t.Errorf("%d bytes of payloads: %d columns, want %d", bytes, got, want)
		}
	}
}
