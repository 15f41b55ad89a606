// Package parquetfile reads and writes Parquet files. It is the only package that imports parquet-go.
//
// A Writer writes rows of a Go type whose fields have parquet tags, as package tables defines them; a ColumnsWriter writes a schema that
// is known only at run time. Both bound their memory by row groups, compress with zstd and write equal bytes for equal rows.
//
// Open, Reader and ColumnsReader read. They do not use parquet-go, which trusts counts and sizes of pages: a run of 2³¹ values in six bytes,
// or a damaged LZ4 page, costs it all memory, and other damage a panic. The decoders of this package return values as they are asked for,
// so that a reader holds one page and one dictionary of each column, and nothing by a count that the bytes do not back. A file
// that is corrupt or adversarial gives an error within Limits.
package parquetfile
