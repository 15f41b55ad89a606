// Package eventstats groups the events of a trace by the values of fields and properties, and computes for each group
// the number of events, the bytes of their payloads, and the distribution of a numeric field. Package distribution
// states which of these numbers are exact.
//
// Memory grows with the number of groups, and up to distribution.MaxExact with the values of a group, but not with the
// number of events.
package eventstats
