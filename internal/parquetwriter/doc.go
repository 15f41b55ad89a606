// Package parquetwriter writes Parquet files. It is the only package that imports parquet-go.
//
// A Writer writes rows of a Go type whose fields have parquet tags, as package tables defines them; a ColumnsWriter
// writes a schema that is known only at run time. Both bound their memory by row groups, compress with zstd and write
// equal bytes for equal rows.
package parquetwriter
