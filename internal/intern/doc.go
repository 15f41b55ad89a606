// Package intern has the tables by which the other packages number, find and remember values:
//
//	Index   hashes to numbers: the base of numbered tables whose entries the caller keeps and compares
//	Bytes   a numbered table of byte strings, kept without a pointer per string
//	Table   a numbered table of comparable values
//	IDs     the IDs of a file to values: a slice for dense IDs, a map for sparse ones
//	Cache   the values of recent keys, by hash
//
// Keys come from untrusted input. Index needs hashes with a secret seed, so that no input can be made of colliding
// keys; Bytes and Table have their own. IDs costs no more than its entries, whatever IDs they have. Cache may use any
// hash: a collision only evicts an entry.
//
// The zero value of each type but Cache is empty and ready to use. None is safe for concurrent use.
package intern
