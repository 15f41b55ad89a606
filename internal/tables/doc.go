// Package tables defines the tables of a trace: names, columns, types, sort order, references, and the text of the
// documentation page. The exporter writes rows of these types and the importer reads them, so the Go types are the only
// definition of the schema.
//
// # Rules of the schema
//
// All types are types that DuckDB, Spark, ClickHouse, polars and arrow agree on: signed integers, double, boolean,
// string, bytes, timestamps in microseconds UTC, lists, and maps of strings. Unsigned numbers of 64 bits are stored as
// their signed bits. A column with the option "optional" is NULL where the Go value is zero; a column whose zero
// differs from NULL is a pointer.
//
// IDs of a table (process_id, thread_id, stack_id, ...) count from 1 in the order of first use, and belong to one
// trace: a join of tables of several traces must compare the column trace, too, which is in the path of a dataset.
//
// A change of a name, a type or a meaning is a new Version.
package tables
