// Package schema describes events: the fields, name, task, opcode and keywords of one type and version, the names of a
// field's values, and which events begin and end an interval.
//
// The metadata of a trace describes only the events of self-describing sources. Events of the .NET runtime have neither
// names nor fields in a trace. Machine-wide recorders (Universal.*) and kernel tracepoints declare layouts that differ
// from the payloads they write. A [Schema] combines the metadata with the tables of the runtime's manifests, once per
// type and version.
//
// There are three ways to use the package:
//
//   - [Describe] wraps a source, so that Event.Field and Event.Fields work on every event.
//   - [Table.Of] returns the schema of an event, and [Schema.Values] decodes all of its fields.
//   - [Schema.Project] prepares reading a few fields of many events.
//
// # Which fields an event has
//
//   - Events of Universal.System have fixed layouts, regardless of the metadata. Bytes after the last field are
//     ignored.
//   - An event with fields in its metadata has these fields. In Universal.*, a bare UTF-8 unit is a string with a
//     16-bit length, as one-collect writes it. A kernel tracepoint has its four common fields, and one field of bytes
//     for the rest.
//   - Other events have the layout of the tables: runtime events by ID, events of managed providers by name. An event
//     of a managed provider with neither fields nor payload has no values.
//   - The metadata of a described file may end before the last field of a runtime event, see [DescribeForFile]. The
//     layout of the tables replaces it.
//
// A Schema is immutable and safe for concurrent use. Values borrow the payload: they are valid until the next call of
// the source's Next.
package schema
