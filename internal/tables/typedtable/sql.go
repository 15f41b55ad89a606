package typedtable

import (
	"fmt"
	"strings"

	"github.com/ntconv/ntconv/internal/tables/parquetwriter"
)

// View returns a statement that creates a view without rows that has the columns of the table, for traces without such events.
func (t *Table) View() string {
	columns := []string{"NULL::VARCHAR AS trace"}
	for _, c := range t.Columns {
		columns = append(columns, fmt.Sprintf("NULL::%s AS \"%s\"", sqlType(c), strings.ReplaceAll(c.Name, `"`, `""`)))
	}
	return fmt.Sprintf("CREATE OR REPLACE VIEW %s AS\n  SELECT %s WHERE false;\n", t.Name, strings.Join(columns, ", "))
}

// sqlType returns the type of a column as DuckDB reads it.
func sqlType(c parquetwriter.ColumnSpec) string {
	name := "VARCHAR"
	switch c.Kind {
	case parquetwriter.KindInt32:
		name = "INTEGER"
	case parquetwriter.KindInt64:
		name = "BIGINT"
	case parquetwriter.KindDouble:
		name = "DOUBLE"
	case parquetwriter.KindBool:
		name = "BOOLEAN"
	case parquetwriter.KindBytes:
		name = "BLOB"
	case parquetwriter.KindTimestamp:
		name = "TIMESTAMPTZ"
	case parquetwriter.KindDate:
		name = "DATE"
	}
	if c.List {
		return name + "[]"
	}
	return name
}
