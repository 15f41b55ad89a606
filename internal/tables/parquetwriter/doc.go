// Package parquetwriter writes Parquet files. It is the only package that imports parquet-go.
//
// A Writer writes rows of a Go type whose fields have parquet tags like those of package tables; a ColumnsWriter writes
// a schema that is known only at run time. Both limit the size of row groups, which bounds their memory, compress with
// zstd, and write equal bytes for equal rows.
package parquetwriter
