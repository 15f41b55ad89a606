// Package spool sorts more records than fit into memory, in temporary files that disappear when the process ends.
//
// Some formats are sorted by the start of an operation, but a writer learns of an operation when it ends, and names
// come last. Such writers add records with a key, and read them in order when everything is known. A few records stay
// in memory; many are written to a temporary file without a name.
//
// Most records arrive in order. A record that continues one of a few chains is appended to that chain, so a chain needs
// no sorting: it is one run of the merge, regardless of its length. All other records are late. They are sorted when
// they are written, and each sorted part is a run.
//
//	Add ─→ chains (in order) ─→ ┐ memory, ┌ one run per chain       ─→ ┐ merge of at
//	    └→ late records ─ sort ─┘ file    └ one run per sorted part ─→ ┘ most 64 runs ─→ Next
//
// A [File] is such a temporary file. A [SortedSource] sorts the events of a source by time in memory, one window at a
// time.
package spool
