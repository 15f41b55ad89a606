// Package overview computes totals of a trace: the samples of each kind of profile, garbage collections, exceptions and
// allocations by type, waits for locks, requests, counters, the size of the thread pool, and how events, CPU use and
// pauses are distributed over time. It reads a trace once and keeps totals, so memory does not grow with the trace.
package overview
