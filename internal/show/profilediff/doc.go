// Package profilediff compares two profiles: which functions, and which totals of the recordings, changed by more than
// the sampling error explains.
//
// [Read] adds up a profile by function and by slice of time. [Compare] compares two of them: it normalizes the values,
// estimates the variance of each from its variation over time, tests every difference, and limits the share of false
// findings among all tests. [Sides] compares the totals of two traces: collections, exceptions, allocations, requests,
// counters. docs/diff.md describes the method for users and gives its assumptions.
//
// # Variance
//
// Consecutive samples of a thread are correlated: a thread that is in a function now is likely to be there a
// millisecond later. The number of samples therefore overstates how much is known. The recording is divided into slices
// of equal length instead (batch means). The variance of a total is estimated from the variance of the slices, for
// several lengths of slices, and the largest estimate is used. It is never less than the variance of
// independent samples with the same weights, nor less than that of the assumed noise between runs.
package profilediff
