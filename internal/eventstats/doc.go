// Package eventstats groups the events of a trace by the values of fields and properties, and computes for each group
// the number of events, the bytes of their payloads, and the distribution of a numeric field.
//
// # Exactness
//
// Counts, minima and maxima are exact. Sums of integers are exact, regardless of their size. Sums of floating-point
// numbers are rounded once, so they do not depend on the order of the events. A quantile is the smallest value such
// that at least this share of the values is not greater. It is exact in a group of up to 4,096 values. In a larger
// group, quantiles come from a histogram with 32 steps per power of two: they deviate by at most 1/64 (1.6%) from the
// exact ones, and integers below 64 are still exact.
//
// Memory grows with the number of groups, and up to the limit above with their values, but not with the number of
// events.
package eventstats
