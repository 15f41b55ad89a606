// Package intern has the tables that assign numbers to values, find values by content and cache them:
//
//	Index   hashes to numbers: the base of tables whose entries the caller keeps and compares
//	Bytes   byte strings to numbers, without a pointer per string
//	Table   comparable values to numbers
//	IDs     the IDs of a file to values: a slice for dense IDs, a map for sparse ones
//	Cache   the values of recent keys, by hash
//
// Keys come from untrusted input. Index needs hashes with a secret seed, so that no input can contain keys chosen to
// collide; Bytes and Table have their own seed. The memory of IDs is proportional to its entries, regardless of the
// IDs. Cache may use any hash, because a collision only evicts an entry.
//
// The zero value of each type but Cache is empty and ready to use. None is safe for concurrent use.
package intern
