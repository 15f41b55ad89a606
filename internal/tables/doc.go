// Package tables defines the tables of a trace: names, columns, types, sort order, references, and the descriptions on
// the documentation page. The exporter writes rows of these types and the importer reads them, so the Go types are the
// only definition of the schema.
//
// # Rules of the schema
//
// All types are types on which DuckDB, Spark, ClickHouse, polars and arrow agree: signed integers, double, boolean,
// string, bytes, timestamps in microseconds UTC, lists, and maps of strings. Unsigned 64-bit numbers are stored as the
// signed number with the same bits. A column with the option "optional" is NULL where the Go value is zero. A column in
// which zero and NULL differ is a pointer.
//
// IDs of a table (process_id, thread_id, stack_id, ...) count from 1 in the order of first use and belong to one trace.
// A join of tables of several traces must also compare the column trace, which a dataset and ntconv sql add.
//
// A change of a name, a type or a meaning requires a new Version.
//
// # Views
//
// [Views] generates DuckDB statements that define one view per table over the tables of several traces. Each
// view has the additional column trace.
//
// A view reads the files in place and stores nothing. IDs such as stack_id count from 1 in every trace, so joins must
// also compare the column trace: JOIN stacks USING (trace, stack_id).
package tables
